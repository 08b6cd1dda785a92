"""Document ids that one source writes differently from the others, or that no other has."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ...io.values import arrow_text, pc, take
from ...judging.judged_run import JudgedRun
from ...judging.judgements import Judgements
from ...judging.matching import FIRST_BYTES, heads_of, of_groups, positions
from ...scoring.arrays import Bools, Ints, cumulate, ranges_from
from .cause import ALPHA, Cause, Pair, Top, at_least, is_spread_less, listed, percent
from .rankings import correlation

#: The number of documents that are looked at; of other ids that are rewritten for them, and of
#: other ids that are not; and of judged documents in the second attempt.
_SAMPLE, _REWRITTEN, _OTHERS, _JUDGED = 100, 600, 10_000, 6_000
#: More than this many ids must be equal to others, and this many to ids of each run.
_FEWEST, _BOTH = 4, 2
#: The longest prefix or suffix and the longest part that is cut off, in characters.
_AFFIX, _CUT = 16, 4
#: The level of the test of forms per query.
_PER_QUERY = 0.05
#: The number of first documents per query among which unknown ones are counted.
_FIRST = 10
#: Unknown documents of real runs: the least variance of their number per query, as a multiple of
#: the binomial one (2.1 to 5.2 on TREC-8 without the labels of documents that only the group of a
#: run retrieved), and the level of its test; the standard errors by which their correlation with
#: the rank is above 0; and the least numbers of unknown and of known documents for both tests.
_DISPERSION, _LEVEL, _TREND, _KNOWN = 2.0, 0.05, 1.645, 20
_REMEDY = "write the ids of documents in one form"

_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_BLANK = dict.fromkeys(map(ord, string.punctuation + string.whitespace), " ")


#: A function that writes ids in another way.
Rewrite = Callable[[Sequence[str]], list[str]]


def _plain(docnos: Sequence[str]) -> list[str]:
    """Ids without case, separators and leading zeros."""
    text = _ZEROS.sub("", "\0".join(["", *docnos, ""]).casefold().translate(_BLANK))
    ids = text.split("\0")[1:-1]
    is_ragged = any(blanks in text for blanks in ("  ", " \0", "\0 "))
    return [" ".join(docno.split()) for docno in ids] if is_ragged else ids


def _part(first: int | None, last: int | None = None) -> Rewrite:
    return lambda docnos: [docno[first:last] for docno in docnos]


#: Ways to write ids: kind and number of characters, which is negative for a part cut off before an
#: id, and two functions that make ids and the right ids equal.
_WRITINGS: dict[tuple[str, int], tuple[Rewrite, Rewrite]] = {
    ("plain", 0): (_plain, _plain),
    **{("prefix", cut): (_part(cut), list) for cut in range(1, _AFFIX + 1)},
    **{("suffix", cut): (_part(None, -cut), list) for cut in range(1, _AFFIX + 1)},
    **{("cut", cut): (list, _part(None, -cut)) for cut in range(1, _CUT + 1)},
    **{("cut", -cut): (list, _part(cut)) for cut in range(1, _CUT + 1)},
}


class Docs(NamedTuple):
    """Documents: the number of the query of each, and its id."""

    queries: Ints
    ids: pa.LargeStringArray

    def take(self, rows: Bools | slice) -> Docs:
        """Some of these documents."""
        chosen = np.arange(len(self.queries))[rows]
        return Docs(self.queries[chosen], take(self.ids, chosen))

    def written(self, write: Rewrite) -> list[tuple[int, str]]:
        """The query and the rewritten id of each document."""
        return list(zip(self.queries.tolist(), write(self.ids.to_pylist())))

    def and_then(self, other: Docs) -> Docs:
        """These documents, then others."""
        ids = pa.concat_arrays([self.ids, other.ids])
        return Docs(np.concatenate((self.queries, other.queries)), ids)


@dataclass(frozen=True)
class Writing:
    """The way in which one source writes ids that others write differently.

    Attributes:
        kind: the kind, as in :data:`_WRITINGS`.
        ours: the function for ids of this source.
        theirs: the function for ids of the others.
        equal: the ids of this source that equal an id of the others for the same query.
        others: the ids that they equal.
    """

    kind: str
    ours: Rewrite
    theirs: Rewrite
    equal: list[str]
    others: list[str]

    @property
    def named(self) -> tuple[str, str]:
        """The name of the cause, and a description of the ids."""
        docno, other = self.equal[0], self.others[0]
        prefix, letters = docno.removesuffix(other), re.compile(r"[^\W_]")
        forms = {
            "id prefix": (
                self.kind == "prefix" and prefix.strip("0"),
                f"with the prefix {prefix!r}",
            ),
            "id suffix": (
                self.kind == "suffix",
                f"with a suffix such as {docno[len(other) :]!r}",
            ),
            "id cut": (self.kind == "cut", "that are cut"),
            "id case": (docno.casefold() == other.casefold(), "in another case"),
            "id separators": (
                letters.findall(docno.casefold()) == letters.findall(other.casefold()),
                "with other separators",
            ),
            "id zeros": (True, "with other leading zeros"),
        }
        return next((name, form) for name, (has, form) in forms.items() if has)

    def cause(self, where: str, share: float, whose: str, repaired: Any = list) -> Cause:
        """The cause, where ``whose`` documents have such ids."""
        (name, form), examples = self.named, listed(list(dict.fromkeys(self.equal)))
        evidence = f"{whose} have ids {form}: {examples}, instead of {self.others[0]!r}"
        return Cause(name, where, share, evidence, _REMEDY, comparable=False, repaired=repaired)


def find_writing(
    found: Docs, wanted: Docs, most: int = _REWRITTEN, *, are_wrong: bool = False
) -> Writing | None:
    """The way in which ids of documents differ from ids of other sources; None: there is none.

    By chance, ids of one query are equal as often as ids of different queries. Where ids of a
    collection contain each other, both directions are equally frequent. The binomial test has the
    sum of both rates.

    Args:
        found: documents that only one source has.
        wanted: documents of the other sources that this source lacks.
        most: the number of these that are rewritten.
        are_wrong: whether ids of this source have forms that no other source has. Then equal ids
            of different queries are no chance: rankings can share most of their documents.
    """
    wanted = wanted.take(np.isin(wanted.queries, found.queries))
    if len(found.ids) <= _FEWEST or not len(wanted.ids):
        return None
    equal = _equal_ids(found, wanted, most)
    kind, cut = max(_WRITINGS, key=lambda writing: len(equal[writing]))
    rows, others = list(equal[kind, cut]), list(equal[kind, cut].values())
    # With fewer equal ids, the test cannot be significant at the lowest rate.
    size = len(found.ids)
    tails = at_least(np.arange(size), size, 1 / (size + 2))
    if len(rows) <= max(_FEWEST, (tails >= ALPHA).sum() - 1):
        return None
    ours, theirs = _WRITINGS[kind, cut]
    number = len(set(zip(found.queries[rows].tolist(), others)))  # many may contain the same id
    back = set(wanted.written(ours)) if ours is not theirs else set()
    reverse = sum(map(back.__contains__, found.written(theirs)))
    pairs = set(wanted.written(theirs))
    frequency = Counter(docno for _, docno in pairs)
    elsewhere = sum(frequency[doc[1]] - (doc in pairs) for doc in found.written(ours))
    chance = 1 + reverse + (0 if are_wrong else elsewhere / max(1, len(set(found.queries)) - 1))
    if at_least(number, size, min(1.0, chance / (size + 2))) >= ALPHA:
        return None
    return Writing(kind, ours, theirs, take(found.ids, np.array(rows)).to_pylist(), others)


def _equal_ids(found: Docs, wanted: Docs, most: int) -> dict[tuple[str, int], dict[int, str]]:
    """The rows of found documents whose id equals a wanted one if written in a way, with this id.

    Args:
        found: the documents that only one source has.
        wanted: the wanted documents of their queries.
        most: the number of wanted documents that are rewritten.
    """
    equal: dict[tuple[str, int], dict[int, str]] = {writing: {} for writing in _WRITINGS}
    docnos, rights = found.ids.to_pylist(), wanted.ids[:_OTHERS].to_pylist()
    plain, others, known = _plain(docnos), _plain(rights[:most]), {}
    if texts := set(plain).intersection(others):
        for query, text, right in zip(wanted.queries.tolist(), others, rights):
            if text in texts:
                known[query, text] = right
    for row, doc in enumerate(zip(found.queries.tolist(), plain)):
        if doc in known:
            equal["plain", 0][row] = known[doc]
    for row, other in zip(*_begin_or_end_alike(found, wanted.take(slice(_OTHERS)))):
        docno, right = docnos[row], rights[other]
        cut, is_rewritten = len(docno) - len(right), other < most
        ways = {
            ("prefix", cut): docno.endswith(right),
            ("suffix", cut): docno.startswith(right),
            ("cut", -cut): is_rewritten and right.startswith(docno),
            ("cut", cut): is_rewritten and right.endswith(docno),
        }
        for way, is_equal in ways.items():
            if is_equal and way in equal:
                equal[way][row] = right
    return equal


def _begin_or_end_alike(found: Docs, wanted: Docs) -> tuple[list[int], list[int]]:
    """The rows of documents of one query of which one id can be the beginning or end of the other.

    Compared are the first and the last eight bytes, or all bytes of the shorter id.
    """
    pairs = []
    for both in ((found.ids, wanted.ids), map(pc.utf8_reverse, (found.ids, wanted.ids))):
        (ours, size), (theirs, other_size) = map(heads_of, both)
        shortest = FIRST_BYTES[min(8, size.min(), other_size.min())]
        keys = of_groups(theirs & shortest, wanted.queries)
        order, wanted_keys = np.argsort(keys), of_groups(ours & shortest, found.queries)
        first, last = (
            np.searchsorted(keys[order], wanted_keys, side) for side in ("left", "right")
        )
        rows = np.repeat(np.arange(len(first)), last - first)
        others = order[ranges_from(first, cumulate(last - first))]
        size, other_size = size[rows], other_size[others]
        shorter = FIRST_BYTES[np.minimum(np.minimum(size, other_size), 8)]
        alike = (size != other_size) & ((ours[rows] ^ theirs[others]) & shorter == 0)
        alike &= found.queries[rows] == wanted.queries[others]
        pairs.append(rows[alike] * len(keys) + others[alike])
    rows, others = np.divmod(np.unique(np.concatenate(pairs)), len(keys))
    return rows.tolist(), others.tolist()


def _first(pair: Pair, top: Top, rows: Bools, most: int = _OTHERS) -> Docs:
    """Documents of a run, best ranks first."""
    best = np.flatnonzero(rows)
    best = best[np.argsort(top.ranks[best], kind="stable")[:most]]
    return Docs(top.queries[best], take(pair.ids, top.docs[best]))


def _missed(pair: Pair, *runs: JudgedRun, most: int = 2 * _SAMPLE, least: float = 1e-9) -> Docs:
    """Judged documents of a grade or more that no run retrieved, of evenly chosen queries."""
    judgements = pair.judgements
    is_missed = judgements.grades >= least
    for run in runs:
        is_missed[run.pairs] = False
    rows = np.flatnonzero(is_missed)
    rows = rows[judgements.queries[rows] % (1 + len(rows) // most) == 0]
    return Docs(judgements.queries[rows], take(judgements.docnos, rows))


def unseen_forms(forms: Ints, others: Ints, level: float = ALPHA) -> Bools:
    """Which ids have a form that no other source has, if they are more than expected by chance.

    The probability that the next id has a new form is estimated as by Good and Turing: the share
    of other ids whose form occurs once, and two standard errors. The test is binomial.

    Args:
        forms: the number of the form of each id that only one source has, shape (N,).
        others: the number of different ids of the other sources with each form.
        level: the level of the test.
    """
    unseen: Bools = others[forms] == 0
    once = (others == 1).sum() + 1
    chance = min(1.0, (once + 2 * np.sqrt(once)) / (others.sum() + 2))
    return unseen & bool(at_least(int(unseen.sum()), len(forms), chance) < level)


def _unseen(pair: Pair) -> Ints:
    """The documents of a run with ids of a form that the other run and the qrels lack.

    Ids of a site or a source can be new together, so the same test of different forms per query
    must be significant, at a higher level.
    """
    size, forms, top = len(pair.judgements), pair.forms, pair.b
    is_ours, is_known = np.zeros((2, len(forms)), dtype=bool)
    is_ours[top.docs[~top.itself]] = is_known[pair.a.docs] = is_known[pair.labels[1]] = True
    is_ours &= ~is_known
    ours, number = np.flatnonzero(is_ours), forms.max(initial=0) + 1
    unseen = unseen_forms(forms[ours], np.bincount(forms[is_known], minlength=number))
    if unseen.any():
        rows = is_ours[top.docs]
        queries, docs = np.concatenate(((pair.a.queries, pair.a.docs), pair.labels), axis=1)
        known = np.unique(forms[docs] * size + queries) // size
        new = np.unique(forms[top.docs[rows]] * size + top.queries[rows]) // size
        unseen &= unseen_forms(new, np.bincount(known, minlength=number), _PER_QUERY).any()
    return ours[unseen]


def document_ids(pair: Pair) -> Cause | None:
    """Documents whose ids a run writes differently from the other run and the qrels."""
    top, unseen = pair.b, _unseen(pair)
    if not len(unseen) and (pair.b.unknown & (top.ranks <= _FIRST)).sum() <= _FEWEST:
        return None
    found = _first(pair, top, pair.b.unknown, _SAMPLE)
    wanted = _missed(pair, top.run).and_then(_first(pair, pair.a, pair.a.only))
    writing = find_writing(found, wanted, are_wrong=len(unseen) > 0)
    if writing is None and (len(unseen) or _has_more_unknown(pair)):
        wanted = _missed(pair, top.run, most=_JUDGED, least=0)
        found = _first(pair, top, top.unknown & np.isin(top.queries, wanted.queries), _SAMPLE)
        writing = find_writing(found, wanted, _JUDGED, are_wrong=len(unseen) > 0)
    if writing and not len(unseen):
        of_other = _known(pair, writing.equal) > _known(pair, writing.others)
        writing = None if of_other or len(_unseen(pair.swapped)) else writing
    share = float(np.isin(top.docs, unseen).mean()) if len(unseen) else 0.0
    if writing is not None:
        last = np.sort(top.ranks[pair.b.unknown])[len(found.ids) - 1]
        share = share or len(writing.equal) / int((top.ranks <= last).sum())
        whose = f"{percent(share)} of the documents of {top.name}"
        repaired = partial(_restored, pair, writing)
        return writing.cause(top.name, share, whose, repaired)
    if not len(unseen):
        return None
    others = [*pair.docnos(pair.a.docs[:1]), *pair.judgements.docnos[:1].to_pylist()]
    evidence = (
        f"{percent(share)} of the documents of {top.name} have ids like "
        f"{listed(pair.docnos(unseen[:3]))}, and {pair.a.name} and the qrels have ids like "
        f"{listed(others)}"
    )
    return Cause("id form", top.name, share, evidence, _REMEDY, comparable=False)


def _known(pair: Pair, docnos: list[str]) -> int:
    """The number of ids that the qrels have, for any query."""
    return int((positions(arrow_text(docnos), pair.judgements.docnos) >= 0).sum())


def _restored(pair: Pair, writing: Writing) -> Sequence[tuple[JudgedRun, JudgedRun]]:
    """The runs, where relevant documents have the right ids."""
    judgements, table = pair.judgements, pair.b.run.table
    missed = _missed(pair, pair.b.run, most=len(judgements.grades))
    qids = judgements.qid_text.to_pylist()
    written = zip(missed.written(writing.theirs), missed.ids.to_pylist())
    right = {(qids[query], text): docno for (query, text), docno in written}
    docnos = table.docno.to_pylist()
    rows = zip(zip(table.qid.to_pylist(), writing.ours(docnos)), docnos)
    new = [right.get(key, docno) for key, docno in rows]
    best = Judgements.of(judgements, "best")
    return [(pair.a.run, best.judge_part(replace(table, docno=arrow_text(new))))]


def qrels_ids(pair: Pair) -> Cause | None:
    """Documents whose ids the qrels write differently from both runs."""
    tops = (pair.a, pair.b)
    if min((~top.judged & (top.ranks <= _FIRST)).sum() for top in tops) <= _FEWEST:
        return None
    found = _missed(pair, *(top.run for top in tops))
    wanted = [_first(pair, top, ~top.judged & np.isin(top.queries, found.queries)) for top in tops]
    writing = find_writing(found, wanted[0].and_then(wanted[1]))
    if writing is None:
        return None
    others = arrow_text(writing.others)
    if min((positions(docs.ids, others) >= 0).sum() for docs in wanted) < _BOTH:
        return None  # one of the runs writes these ids in its own way
    share = len(writing.equal) / len(found.ids)
    whose = f"{percent(share)} of the relevant documents that neither run retrieves"
    return writing.cause("the qrels", share, whose)


def _has_more_unknown(pair: Pair) -> bool:
    """Whether a run has more unknown first documents than the other: binomial, with its rate."""
    ours, theirs = (top.unknown[top.ranks <= _FIRST] for top in (pair.b, pair.a))
    rate = (theirs.sum() + 1) / (len(theirs) + 2)
    return bool(at_least(int(ours.sum()), len(ours), rate) < ALPHA)


def unknown_documents(pair: Pair) -> Cause | None:
    """First documents that neither the other run nor the qrels have, at all ranks alike.

    Wrong ids are equally frequent at all ranks and in all queries. Unjudged documents of a new
    system are more frequent further down and in some queries: their correlation with the rank is
    above 0, and the variance of their number per query is at least :data:`_DISPERSION` times the
    binomial one. With fewer than :data:`_KNOWN` known documents these tests cannot distinguish
    the two, so the runs stay comparable.
    """
    size, both = len(pair.judgements), pair.answered
    first = pair.b.ranks <= _FIRST
    unknown = pair.b.unknown[first]
    of, counts = (
        np.bincount(rows, minlength=size)[both]
        for rows in (pair.b.queries[first], pair.b.queries[first][unknown])
    )
    if not _has_more_unknown(pair):
        return None
    is_testable = min(unknown.sum(), (~unknown).sum()) >= _KNOWN
    if is_testable:
        ranks, group = pair.b.ranks[first], np.zeros(len(unknown), dtype=int)
        trend = correlation(group, ranks, unknown.astype(int), 1)[0]
        if trend > _TREND or not is_spread_less(counts, of, _DISPERSION, _LEVEL):
            return None
    elif 2 * unknown.sum() < len(unknown):
        return None
    name, share = pair.b.name, float(unknown.mean())
    examples = listed(pair.docnos(pair.b.docs[first][unknown][:3]))
    alike = ", at all ranks and in all queries alike" if is_testable else ""
    return Cause(
        "unknown documents",
        name,
        share,
        f"{percent(share)} of the first {_FIRST} documents of {name} are neither judged nor "
        f"retrieved by {pair.a.name}{alike}, e.g. {examples}",
        f"check that {name} has the ids of this collection"
        + ("" if is_testable else ", and judge some of its documents"),
        comparable=not is_testable,
        is_fact=not is_testable,
    )
