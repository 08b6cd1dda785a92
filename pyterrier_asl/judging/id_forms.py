"""Ids of queries and documents that a run writes in another form than the qrels, or another run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from ..common.notices import counted

#: The longest prefix or suffix, in characters, and the most ids in which one is looked for.
_AFFIX, _SAMPLE = 16, 2000
#: The fewest ids that must be there once rewritten.
_FEWEST = 2


@dataclass(frozen=True)
class Form:
    """A form in which one side writes ids and the other does not.

    Attributes:
        kind: ``'prefix'``, ``'suffix'``, ``'part'`` (a suffix that begins with a separator and
            differs by id) or ``'plain'`` (letter case, leading zeros, separators).
        text: the prefix, the suffix or the separator.
        is_theirs: whether the other side has it.
    """

    kind: str
    text: str = ""
    is_theirs: bool = False

    def has(self, name: str) -> bool:
        """Whether an id is in this form."""
        if self.kind == "part":
            return self.text in name
        return name.startswith(self.text) if self.kind == "prefix" else name.endswith(self.text)

    def plain(self, name: str) -> str:
        """The id without the prefix or suffix.

        >>> Form("prefix", "v2-").plain("v2-d1"), Form("part", "#").plain("d1#3")
        ('d1', 'd1')
        """
        if self.kind == "part":
            return name.rpartition(self.text)[0] if self.text in name else name
        remove = name.removeprefix if self.kind == "prefix" else name.removesuffix
        return remove(self.text)

    def pairs(self, ours: Iterable[str], theirs: Iterable[str]) -> dict[str, str]:
        """The ids of ours that are among theirs once rewritten, with their ids."""
        if self.kind == "plain":
            return _plain_pairs(list(ours), list(theirs))
        known = {self.plain(name) if self.is_theirs else name: name for name in theirs}
        own = {name: name if self.is_theirs else self.plain(name) for name in ours}
        return {name: known[text] for name, text in own.items() if text in known}

    def is_systematic(self, found: dict[str, str], ours: Set[str], theirs: Set[str]) -> bool:
        """Whether at least two ids, and half of those of one form, are there once rewritten.

        Args:
            found: the result of :meth:`pairs`.
            ours: our ids.
            theirs: the ids of the other side.
        """
        lacking, missing = ours - theirs, theirs - ours
        if self.kind == "plain":
            kinds = Counter(map(_signature, found))
            of_form = Counter(map(_signature, lacking))
            return any(number * 2 >= of_form[kind] for kind, number in kinds.items() if number > 1)
        own, other = (missing, ours) if self.is_theirs else (lacking, theirs)
        sizes = [sum(map(self.has, own))] + [len(lacking)] * self.is_theirs
        if self.text[-1 if self.kind == "prefix" else 0].isdigit():
            sizes = [len(lacking)]  # some numbers always begin or end like others: d2 and d289
        is_half = any(2 * len(found) >= size for size in sizes)
        return len(found) >= _FEWEST and is_half and not any(map(self.has, other))


@lru_cache(maxsize=1 << 16)  # runs share the ids of their qrels
def _without_zeros(name: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", name.lower())


@lru_cache(maxsize=1 << 16)  # runs share the ids of their qrels
def _without_separators(name: str) -> str:
    name = _without_zeros(name)
    return re.sub(r"[\W_]+", "", name) or name


def _plain_pairs(ours: Sequence[str], theirs: Sequence[str]) -> dict[str, str]:
    """Ids that are equal but for letter case, else also leading zeros, else also separators.

    >>> _plain_pairs(["D11_00", "d2-5"], ["d1_10", "d11_00", "d25"])
    {'D11_00': 'd11_00', 'd2-5': 'd25'}
    """
    found: dict[str, str] = {}
    for plain in (str.lower, _without_zeros, _without_separators):
        known = {plain(name): name for name in theirs}
        keys = ((name, plain(name)) for name in ours if name not in found)
        found |= {name: known[key] for name, key in keys if key in known}
    return {name: found[name] for name in ours if name in found}


def _signature(name: str) -> tuple[bool, bool, str, bool]:
    """Letter case, separators, and whether a number has a leading zero."""
    return (
        name != name.lower(),
        name != name.upper(),
        "".join(sorted(set(re.sub(r"[^\W_]", "", name)))),
        re.search(r"(?<![0-9])0[0-9]", name) is not None,
    )


def find_form(ours: Set[str], theirs: Set[str]) -> tuple[Form, dict[str, str]] | None:
    """The form of ours that theirs lack, and the ids in it with their ids; None: there is none.

    >>> find_form({"1", "2", "10"}, {"01", "02", "10"})[1]
    {'1': '01', '2': '02'}
    >>> find_form({"301", "302", "d"}, {"30_1", "30_2", "d"})[1]
    {'301': '30_1', '302': '30_2'}
    >>> find_form({"x1", "x2", "x3"}, {"1", "2"})[0].text, find_form({"11", "12"}, {"1", "2"})
    ('x', None)
    """
    lacking, missing = sorted(ours - theirs), sorted(theirs - ours)
    if len(lacking) < _FEWEST or len(missing) < _FEWEST:
        return None
    votes = Counter(_affixes(lacking, missing, False))
    votes.update(_affixes(missing, lacking, True))
    forms = [Form("plain"), *(form for form, number in votes.most_common(3) if number > 1)]
    found = [(form, form.pairs(lacking, missing)) for form in forms]
    listed = [(f, pairs) for f, pairs in found if pairs and f.is_systematic(pairs, ours, theirs)]
    return max(listed, key=lambda item: len(item[1]), default=None)


def describe_form(what: str, form: Form, alike: Mapping[str, str]) -> str:
    """The form of ids in words, with the remedy.

    >>> describe_form("query", Form("plain"), {"1": "01", "2": "02"})
    "writes 2 query ids in another form ('1' for '01'): write them alike"
    """
    ours, theirs = next(iter(alike.items()))
    remedy = "write them alike"
    if form.kind == "part" and not form.is_theirs:
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


def _affixes(long: list[str], short: list[str], is_theirs: bool) -> Iterator[Form]:
    """A form for each id that is a short id and a prefix or suffix."""
    known, lengths = set(short), sorted(set(map(len, short)), reverse=True)
    for name in long[:: 1 + len(long) // _SAMPLE]:
        for length in lengths:
            if not 0 < len(name) - length <= _AFFIX:
                continue
            if name[-length:] in known:
                yield Form("prefix", name[:-length], is_theirs)
            if name[:length] in known:
                text = name[length:]
                yield Form("suffix", text, is_theirs)
                if not text[0].isalnum() and text[0] not in text[1:]:
                    yield Form("part", text[0], is_theirs)
