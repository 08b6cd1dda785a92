"""Ids of queries and documents that one side writes in another form than the other.

Each form is a rewriting of ids (:data:`REWRITINGS`), a constant prefix or suffix, or a length to
which ids are cut. It is looked for where one side lacks ids of the other.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from ..common.notices import counted

#: The longest prefix or suffix, in characters, and the most ids in which one is looked for.
_AFFIX, _SAMPLE = 16, 2000
#: The fewest ids that must be there once rewritten.
_FEWEST = 2
#: The fewest characters of ids that are cut: shorter ids begin others by chance.
_LEAST_CUT = 8

Rewriting = Callable[[str], str]


def _replace(pattern: str, by: str = "", flags: int = 0) -> Rewriting:
    return partial(re.compile(pattern, re.MULTILINE | flags).sub, by)


#: Rewritings of ids, tried one after the other, the first ones first. A text of several lines is
#: rewritten line by line.
REWRITINGS: dict[str, Rewriting] = {
    "percent-encoding": unquote,
    "HTML entities": html.unescape,
    "NFC": partial(unicodedata.normalize, "NFC"),
    "NFKC": partial(unicodedata.normalize, "NFKC"),
    "b'...'": _replace(r"^b(['\"])(.*)\1$", r"\2"),
    "str_('...')": _replace(r"^(?:(?:np|numpy)\.)?str_\((['\"]?)(.*)\1\)$", r"\2"),
    "quotation marks": _replace(r"^(['\"\u2018\u201c\xab])(.*)['\"\u2019\u201d\xbb]$", r"\2"),
    "angle brackets": _replace(r"^<(.*)>$", r"\1"),
    "scheme": _replace(r"^(?:[a-z][a-z0-9+.-]*://(?:www\.)?|www\.)", "", re.IGNORECASE),
    "last part": _replace(r"^.*[/\\](?=[^/\\\n])|[/\\]+$"),
    "extension": _replace(r"(?<=.)(?:\.[A-Za-z][A-Za-z0-9]{0,4})+$"),
    "letter case": str.lower,
    "leading zeros": _replace(r"(?<![0-9])0+(?=[0-9])"),
    ".0": _replace(r"(?<=[0-9])\.0+$"),
    "separators": _replace(r"[^\w\n]+|_+"),
}
#: Rewritings after which different documents can have one id: only one side is rewritten by them.
_SHORTENING = frozenset({"last part", "extension"})
#: Whether our ids are shortened, and theirs.
_SIDES = ((False, False), (True, False), (False, True))


def _rewritten(names: Sequence[str], shorten: bool) -> Iterator[list[str]]:
    """The ids after one rewriting, after two, and so on."""

    def rewrite(texts: list[str], item: tuple[str, Rewriting]) -> list[str]:
        name, rewriting = item
        if name in _SHORTENING and not shorten:
            return texts
        lines = rewriting("\n".join(texts)).split("\n")  # as a whole, for speed
        return lines if len(lines) == len(texts) else [*map(rewriting, texts)]

    return accumulate(REWRITINGS.items(), rewrite, initial=list(names))


@lru_cache(maxsize=8)  # runs share the ids of their qrels
def _keys(names: frozenset[str]) -> dict[str, str]:
    """Each id after all rewritings."""
    *_, keys = _rewritten([*names], True)
    return dict(zip(names, keys))


def _signatures(names: Sequence[str]) -> dict[str, Any]:
    """Of each id, the rewritings that change it, and its separators."""
    levels = [*_rewritten(names, True)]
    changes = zip(*([a != b for a, b in zip(*pair)] for pair in zip(levels, levels[1:])))
    separators = (frozenset(re.sub(r"[^\W_]", "", name)) for name in names)
    return dict(zip(names, zip(changes, separators)))


def _are_half(some: Iterable[str], names: Set[str]) -> bool:
    """Whether some of the ids are at least two, and half of those of one form."""
    forms = _signatures([*names])
    of_form, found = Counter(forms.values()), Counter(forms[name] for name in some)
    return any(2 * number >= of_form[form] for form, number in found.items() if number >= _FEWEST)


class Form:
    """A form in which one side writes ids and the other does not: equal after rewritings."""

    def pairs(self, ours: Set[str], theirs: Set[str]) -> dict[str, str]:
        """The ids of ours that theirs lack and have once rewritten, with their ids.

        >>> sorted(Form().pairs({"D1_00", "d2-5", "/a/d7.json"}, {"d1_10", "d1_00", "d25", "d7"}))
        ['/a/d7.json', 'D1_00', 'd2-5']
        """
        lacking, every = sorted(ours - theirs), _keys(frozenset(theirs))
        keys = {*_keys(frozenset(lacking)).values()} & {*every.values()}
        some = [name for name, key in every.items() if key in keys and name not in ours]
        pairs: dict[str, str] = {}
        for side in _SIDES if len(some) >= _FEWEST else ():
            for left, right in zip(*map(_rewritten, (lacking, some), side)):
                times = Counter(right)
                known = {key: name for key, name in zip(right, some) if times[key] == 1}
                pairs = {o: known[key] for o, key in zip(lacking, left) if key in known} | pairs
        return {name: pairs[name] for name in lacking if name in pairs}

    def is_systematic(self, pairs: Mapping[str, str], ours: Set[str], theirs: Set[str]) -> bool:
        """Whether at least two ids, and half of those of one form, are there once rewritten.

        Args:
            pairs: the result of :meth:`pairs`.
            ours: our ids.
            theirs: the ids of the other side.
        """
        known = {*pairs.values()}
        return len(known) >= _FEWEST and (
            _are_half(pairs, ours - theirs) or _are_half(known, theirs - ours)
        )


@dataclass(frozen=True)
class Affix(Form):
    """A prefix or suffix that one side has and the other does not.

    Attributes:
        kind: ``'prefix'``, ``'suffix'`` or ``'part'`` (a suffix that begins with a separator and
            differs by id).
        text: the prefix, the suffix or the separator.
        is_theirs: whether the other side has it.
    """

    kind: str
    text: str
    is_theirs: bool = False

    def has(self, name: str) -> bool:
        """Whether an id is in this form."""
        if self.kind == "part":
            return self.text in name
        return name.startswith(self.text) if self.kind == "prefix" else name.endswith(self.text)

    def plain(self, name: str) -> str:
        """The id without the prefix or suffix.

        >>> Affix("prefix", "v2-").plain("v2-d1"), Affix("part", "#").plain("d1#3")
        ('d1', 'd1')
        """
        if self.kind == "part":
            return name.rpartition(self.text)[0] if self.text in name else name
        return (
            name.removeprefix(self.text) if self.kind == "prefix" else name.removesuffix(self.text)
        )

    def pairs(self, ours: Set[str], theirs: Set[str]) -> dict[str, str]:
        """See :meth:`Form.pairs`."""
        known = {self.plain(name) if self.is_theirs else name: name for name in theirs - ours}
        own = {n: n if self.is_theirs else self.plain(n) for n in sorted(ours - theirs)}
        return {name: known[text] for name, text in own.items() if text in known}

    def is_systematic(self, pairs: Mapping[str, str], ours: Set[str], theirs: Set[str]) -> bool:
        """See :meth:`Form.is_systematic`; no id of the other side may have the affix."""
        lacking, missing = ours - theirs, theirs - ours
        own, other = (missing, ours) if self.is_theirs else (lacking, theirs)
        sizes = [sum(map(self.has, own))] + [len(lacking)] * self.is_theirs
        if self.text[-1 if self.kind == "prefix" else 0].isdigit():
            sizes = [len(lacking) + 1]  # some numbers always begin or end like others: d2 and d289
        is_half = any(2 * len(pairs) >= size for size in sizes)
        return len(pairs) >= _FEWEST and is_half and not any(map(self.has, other))


@dataclass(frozen=True)
class Cut(Form):
    """Ids of one side that are the first characters of ids of the other side.

    Attributes:
        length: the number of characters.
        is_theirs: whether theirs are cut.
    """

    length: int
    is_theirs: bool = False

    def pairs(self, ours: Set[str], theirs: Set[str]) -> dict[str, str]:
        """See :meth:`Form.pairs`; the head of several ids is the head of none."""
        whole, cut = (ours, theirs) if self.is_theirs else (theirs, ours)
        heads = [(name[: self.length], name) for name in sorted(whole) if len(name) > self.length]
        times, lacking = Counter(head for head, _ in heads), cut - whole
        pairs = [pair for pair in heads if times[pair[0]] == 1 and pair[0] in lacking]
        return {name: head for head, name in pairs} if self.is_theirs else dict(pairs)

    def is_systematic(self, pairs: Mapping[str, str], ours: Set[str], theirs: Set[str]) -> bool:
        """See :meth:`Form.is_systematic`; no id of the side that is cut may be longer.

        Where most are cut within a number, all ids that are lacking must be cut.
        """
        whole, cut = (ours, theirs) if self.is_theirs else (theirs, ours)
        of_length = sum(len(name) == self.length for name in cut - whole)
        numbers = sum(max(pair, key=len)[self.length - 1 :][:2].isdigit() for pair in pairs.items())
        least = len(cut - whole) if 2 * numbers > len(pairs) else of_length / 2
        return len(pairs) >= max(_FEWEST, least) and max(map(len, cut)) == self.length


def find_form(ours: Set[str], theirs: Set[str]) -> tuple[Form, dict[str, str]] | None:
    """The form of ours that theirs lack, and the ids in it with their ids; None: there is none.

    >>> find_form({"1", "2", "10"}, {"01", "02", "10"})[1]
    {'1': '01', '2': '02'}
    >>> find_form({"301", "302", "d"}, {"30_1", "30_2", "d"})[1]
    {'301': '30_1', '302': '30_2'}
    >>> find_form({"x1", "x2", "x3"}, {"1", "2"})[0].text, find_form({"11", "12"}, {"1", "2"})
    ('x', None)
    """
    lacking, missing = ours - theirs, theirs - ours
    if len(lacking) < _FEWEST or len(missing) < _FEWEST:
        return None
    votes = Counter(_affixes(sorted(lacking), missing, False))
    votes.update(_affixes(sorted(missing), lacking, True))
    forms: list[Form] = [Form()]
    forms += [form for form, number in votes.most_common(3) if number > 1]
    for is_theirs, cut, whole in ((False, ours, theirs), (True, theirs, ours)):
        length = max(map(len, cut))
        if _LEAST_CUT <= length < max(map(len, whole)):
            forms.append(Cut(length, is_theirs))
    found = [(form, form.pairs(ours, theirs)) for form in forms]
    listed = [(f, pairs) for f, pairs in found if f.is_systematic(pairs, ours, theirs)]
    return max(listed, key=lambda item: len(item[1]), default=None)


def describe_form(what: str, form: Form, alike: Mapping[str, str]) -> str:
    """The form of ids in words, with the remedy.

    >>> describe_form("query", Form(), {"1": "01", "2": "02"})
    "writes 2 query ids in another form ('1' for '01'): write them alike"
    """
    ours, theirs = next(iter(alike.items()))
    remedy = "write them alike"
    if isinstance(form, Affix) and form.kind == "part" and not form.is_theirs:
        remedy = f"Qrels(..., collapse={form.text!r}) or --collapse evaluates passages as documents"
    number = counted(len(alike), f"{what} id")
    return f"writes {number} in another form ({ours!r} for {theirs!r}): {remedy}"


def other_form(what: str, ours: pa.Array, theirs: pa.Array) -> str:
    """The form of our ids that theirs lack, in words; '' if there is none.

    >>> other_form("query", pa.array(["1", "2"]), pa.array(["01", "02"]))[:29]
    'writes 2 query ids in another'
    """
    found = find_form(set(ours.to_pylist()), set(theirs.to_pylist()))
    return "" if found is None else describe_form(what, *found)


def _affixes(long: list[str], short: Set[str], is_theirs: bool) -> Iterator[Form]:
    """A form for each id that is a short id and a prefix or suffix."""
    lengths = sorted(set(map(len, short)), reverse=True)
    for name in long[:: 1 + len(long) // _SAMPLE]:
        for length in (some for some in lengths if 0 < len(name) - some <= _AFFIX):
            if name[-length:] in short:
                yield Affix("prefix", name[:-length], is_theirs)
            if name[:length] in short:
                text = name[length:]
                yield Affix("suffix", text, is_theirs)
                if not text[0].isalnum() and text[0] not in text[1:]:
                    yield Affix("part", text[0], is_theirs)
