"""What every search for a cause has: the two runs, tests of counts, the cause, runs without it.

The tests use scipy.special, which loads in half the time of scipy.stats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import scipy  # its submodules load when first used

from ...io.notices import counted
from ...io.values import numpy_numbers, pc, take
from ...judging.judged_run import JudgedRun
from ...judging.judgements import Judgements
from ...judging.matching import codes, positions
from ...judging.remembered import cached_property, copy_of
from ...scoring.arrays import Bools, Floats, Ints, queries_of, within_query

#: The level of each test.
ALPHA = 1e-4
#: The number of first documents per run, and their least and greatest number per query.
_ROWS, _LEAST, _MOST = 5_000, 10, 50
#: The number of ids of the qrels whose form is looked at.
_QRELS_IDS = 2_000

#: The class of each byte of an id: digit (9), capital (A), other letter (a), or the byte.
_CLASS = np.arange(256, dtype=np.uint8)
_CLASS[ord("0") : ord("9") + 1] = ord("9")
_CLASS[ord("A") : ord("Z") + 1] = ord("A")
_CLASS[ord("a") : ord("z") + 1] = _CLASS[128:] = ord("a")


@dataclass(frozen=True)
class Cause:
    """A cause of a difference, as found by a test of two runs.

    Attributes:
        name: the name of the cause.
        where: where it was found: ``'A'``, ``'B'``, ``'A and B'`` or ``'the qrels'``.
        share: the share of the documents or queries that have it.
        evidence: a sentence with its numbers and examples.
        remedy: what to do.
        comparable: whether the two runs can still be compared.
        is_fact: whether undamaged runs have it, too. A fact is named only where it explains a
            tenth of the difference or more.
        queries: the queries that have it, shape (Q,); None: it does not belong to queries.
        repaired: returns pairs of the other run and this run, both without the cause.
    """

    name: str
    where: str
    share: float
    evidence: str
    remedy: str
    comparable: bool = True
    is_fact: bool = False
    queries: Bools | None = None
    repaired: Callable[[], Iterable[tuple[JudgedRun, JudgedRun]]] = list


def percent(share: float) -> str:
    """A share as a percentage.

    >>> percent(0.5), percent(0.004), percent(0)
    ('50 %', '0.4 %', '0 %')
    """
    return f"{100 * share:.{1 if 0 < share < 0.095 else 0}f} %"


def listed(values: Sequence[Any]) -> str:
    """The first three values.

    >>> listed(["a", "b", "c", "d"])
    "'a', 'b', 'c'"
    """
    return ", ".join(repr(value) for value in values[:3])


def of_queries(found: Bools, qids: Sequence[Any]) -> str:
    """The number of queries, their share, and the first of them.

    >>> of_queries(np.array([True, False]), ["q1", "q2"])
    "1 query (50 %, e.g. 'q1')"
    """
    which = [qids[q] for q in np.flatnonzero(found)[:3]]
    number = counted(int(found.sum()), "query", "queries")
    return f"{number} ({percent(float(found.mean()))}, e.g. {listed(which)})"


def at_least(number: Ints | int, of: Ints | int, rate: float) -> Floats:
    """Binomial probability of ``number`` or more successes in ``of`` trials with this rate.

    >>> at_least(np.array([0, 1, 2]), 2, 0.5).round(2).tolist()
    [1.0, 0.75, 0.25]
    """
    some = np.maximum(number, 1)
    tail = scipy.special.betainc(some, np.maximum(of, some) - some + 1, rate)
    return np.asarray(np.where(np.asarray(number) > 0, tail, 1.0))


def is_spread_less(counts: Ints, of: Ints, dispersion: float, level: float) -> bool:
    """Whether the variance of counts is below a multiple of the binomial one: chi-squared test.

    Args:
        counts: the counts, shape (Q,).
        of: the number of trials of each count, shape (Q,).
        dispersion: the multiple.
        level: the level of the test.
    """
    rate = counts.sum() / of.sum()
    statistic = ((counts - of * rate) ** 2 / (of * rate * (1 - rate))).sum()
    return bool(scipy.special.chdtr(len(of) - 1, statistic / dispersion) < level)


# Two runs


def forms_of(ids: pa.LargeStringArray) -> pa.LargeStringArray:
    """The form of each id: its groups of digits and letters, each as one character.

    >>> forms_of(pa.array(["FT911-1", "v2-77", "7"], pa.large_string())).to_pylist()
    ['A9-9', 'a9-9', '9']
    """
    ids = pa.concat_arrays([ids])  # without an offset
    ends = np.frombuffer(ids.buffers()[1], np.int64, len(ids) + 1)
    kinds = _CLASS[np.frombuffer(ids.buffers()[2] or b"", np.uint8)[: ends[-1]]]
    begins = np.concatenate(([0], kinds))[:-1] != kinds
    begins[ends[:-1][ends[:-1] < len(kinds)]] = True
    ends = np.concatenate(([0], np.cumsum(begins)))[ends]
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(kinds[begins].tobytes())]
    return pa.Array.from_buffers(pa.large_string(), len(ids), buffers)


@dataclass(frozen=True)
class Top:
    """The first documents of a run for each query, N of them.

    Attributes:
        name: ``'A'`` or ``'B'``.
        run: the run.
        queries: the query of each document, ascending, shape (N,).
        ranks: its rank from 1, shape (N,).
        docs: its number in :attr:`Pair.ids`, shape (N,).
        judged: whether it is judged for this query, shape (N,).
        only: whether it is not among the other run's first documents for this query, shape (N,).
        itself: whether it is the query itself, shape (N,).
    """

    name: str
    run: JudgedRun
    queries: Ints
    ranks: Ints
    docs: Ints
    judged: Bools
    only: Bools
    itself: Bools

    @cached_property
    def unknown(self) -> Bools:
        """Which documents neither the other run nor the qrels have for their query."""
        return self.only & ~self.judged & ~self.itself


@dataclass(frozen=True)
class Pair:
    """A run, and the other run that it is compared with.

    Attributes:
        a: the first documents of the other run.
        b: the first documents of this run.
        ids: the different ids of these documents, D of them.
        forms: the number of the form of each of these ids, then of M other ids of the qrels, shape
            (D + M,).
        labels: query and document of evenly chosen labels; documents are numbers below D + M.
        orders: the documents in the order of their ids, and in that of ids as numbers.
    """

    a: Top
    b: Top
    ids: pa.LargeStringArray
    forms: Ints
    labels: tuple[Ints, Ints]
    orders: tuple[Ints, Ints]

    @classmethod
    def of(cls, a: JudgedRun, b: JudgedRun) -> Pair:
        """Numbers the first documents of two runs together."""
        judgements, tops = a.judgements, []
        depth = int(np.clip(_ROWS // max(1, len(judgements)), _LEAST, _MOST))
        rankings = [run.whole_ranking.cut(depth) for run in (a, b)]
        queries = np.concatenate([queries_of(ranking.offsets) for ranking in rankings])
        begin = len(rankings[0])
        docnos = [run.docnos(ranking) for run, ranking in zip((a, b), rankings)]
        chosen = slice(None, None, 1 + len(judgements.docnos) // _QRELS_IDS)
        docs, ids = codes(pa.concat_arrays([*docnos, judgements.docnos[chosen]]))
        forms, (docs, of_qrels) = codes(forms_of(ids))[0], np.split(docs, [len(queries)])
        labels = judgements.queries[chosen], of_qrels
        ids = ids[: docs.max(initial=-1) + 1]
        keys = [pa.array(part) for part in np.split(queries * len(ids) + docs, [begin])]
        only = [positions(keys[i], keys[1 - i]) < 0 for i in range(2)]
        itself = positions(ids, judgements.qid_text)[docs] == queries
        parts = zip(*(np.split(part, [begin]) for part in (queries, docs, itself)))
        for name, run, ranking, (query, doc, own), new in zip("AB", (a, b), rankings, parts, only):
            judged = np.zeros(len(doc), dtype=bool)
            shown = (run.ranks <= depth) & (run.grades >= 0)
            judged[ranking.offsets[run.queries[shown]] + run.ranks[shown] - 1] = True
            ranks = within_query(ranking.offsets) + 1
            tops.append(Top(name, run, query, ranks, doc, judged, new, own))
        by_text = numpy_numbers(pc.sort_indices(ids)).astype(np.int64)
        lengths = numpy_numbers(pc.binary_length(ids))[by_text]
        orders = by_text, by_text[np.argsort(lengths, kind="stable")]
        return cls(tops[0], tops[1], ids, forms, labels, orders)

    @property
    def judgements(self) -> Judgements:
        """The qrels of both."""
        return self.a.run.judgements

    @property
    def qids(self) -> list[Any]:
        """The ids of the queries."""
        return self.judgements.qids

    def docnos(self, docs: Ints) -> list[str]:
        """Ids by document number."""
        docnos: list[str] = take(self.ids, docs).to_pylist()
        return docnos

    @property
    def swapped(self) -> Pair:
        """The same pair with the runs exchanged."""
        return replace(self, a=self.b, b=self.a)

    @property
    def answered(self) -> Bools:
        """The queries that both answer, shape (Q,)."""
        return (self.a.run.retrieved > 0) & (self.b.run.retrieved > 0)

    @property
    def labelled(self) -> tuple[Ints, Ints]:
        """Query and document of all labels of the first documents, for any query."""
        docs = positions(self.judgements.docnos, self.ids)
        return self.judgements.queries[docs >= 0], docs[docs >= 0]


# Runs without a cause


def without_documents(run: JudgedRun, gone: Bools) -> JudgedRun:
    """A run and its judgements without some judged documents.

    Args:
        run: the run.
        gone: which of the judged documents, shape (J,).
    """
    judgements = copy_of(run.judgements)
    judgements.grades = np.where(gone, -1.0, judgements.grades)
    places = run.whole_ranking.offsets[run.queries] + run.ranks - 1
    keep = np.ones(len(run.whole_ranking), dtype=bool)
    keep[places[gone[run.pairs]]] = False
    return _without_rows(replace(run, judgements=judgements), keep)


def cut_to(run: JudgedRun, depths: Ints) -> JudgedRun:
    """A run cut at a depth per query, shape (Q,)."""
    offsets = run.whole_ranking.offsets
    return _without_rows(run, within_query(offsets) < np.repeat(depths, np.diff(offsets)))


def thinned(run: JudgedRun, depths: Ints) -> JudgedRun:
    """A run with fewer documents per query, shape (Q,), chosen at random."""
    offsets = run.whole_ranking.offsets
    share = np.repeat(depths / np.maximum(run.retrieved, 1), np.diff(offsets))
    return _without_rows(run, np.random.default_rng(0).random(len(share)) < share)


def _without_rows(run: JudgedRun, keep: Bools) -> JudgedRun:
    """A run with some of the rows of its whole ranking."""
    offsets = run.whole_ranking.offsets
    before = np.concatenate(([0], np.cumsum(keep)))
    first = offsets[run.queries]
    places = first + run.ranks - 1
    ranks = before[places] - before[first] + 1
    entries = (part[keep[places]] for part in (run.queries, ranks, run.pairs))
    return JudgedRun.from_entries(run.judgements, np.diff(before[offsets]), *entries)


def broken(run: JudgedRun, starts: Ints) -> Iterator[JudgedRun]:
    """A run with ties broken in favour of relevant documents, then against them.

    Args:
        run: the run.
        starts: the beginning of each group of equal scores in the ranking, and the end of the last.
    """
    offsets, sizes = run.whole_ranking.offsets[run.queries], np.diff(starts)
    places = offsets + run.ranks - 1
    tied = np.flatnonzero(np.repeat(sizes > 1, sizes)[places])
    groups, grades = np.searchsorted(starts, places[tied], side="right") - 1, run.grades[tied]
    before = np.searchsorted(groups, groups)
    best = starts[groups] + np.arange(len(groups)) - before
    judged = np.bincount(groups, minlength=len(sizes))[groups]
    for places, keys in ((best, -grades), (best + sizes[groups] - judged, grades)):
        ranks, pairs = run.ranks.copy(), run.pairs.copy()
        ranks[tied] = places - offsets[tied] + 1
        pairs[tied] = run.pairs[tied[np.lexsort((keys, groups))]]
        yield replace(run, ranks=ranks, pairs=pairs)
