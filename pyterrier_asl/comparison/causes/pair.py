"""Two runs matched with the same qrels, and the first documents of each, numbered together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ...io.values import take
from ...judging.judged_run import JudgedRun
from ...judging.judgements import Judgements
from ...judging.matching import codes
from ...judging.remembered import cached_property, copy_of
from ...scoring.arrays import Bools, Ints, queries_of, within_query

#: The rate of false alarms of each test, under the model that the test names.
ALPHA = 1e-4
#: How many documents per run are looked at, and how many per query at least and at most.
_ROWS, _LEAST, _MOST = 10_000, 10, 100


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
    """

    name: str
    run: JudgedRun
    queries: Ints
    ranks: Ints
    docs: Ints
    judged: Bools


@dataclass(frozen=True)
class Pair:
    """The baseline A and a run B.

    Attributes:
        a: the first documents of the baseline.
        b: those of the run.
        ids: the different ids of both, and of relevant documents.
        relevant: query and number in ``ids`` of the relevant documents, some of them if many.
    """

    a: Top
    b: Top
    ids: pa.LargeStringArray
    relevant: tuple[Ints, Ints]

    @classmethod
    def of(cls, a: JudgedRun, b: JudgedRun) -> Pair:
        """Numbers the first documents of two runs together."""
        depth = int(np.clip(_ROWS // max(1, len(a.judgements)), _LEAST, _MOST))
        rankings = [run.whole_ranking.cut(depth) for run in (a, b)]
        judgements = a.judgements
        relevant = np.flatnonzero(judgements.grades > 0)
        relevant = relevant[:: 1 + len(relevant) // _ROWS]
        docnos = [r.docnos(ranking) for r, ranking in zip((a, b), rankings)]
        docs, ids = codes(pa.concat_arrays([*docnos, take(judgements.docnos, relevant)]))
        parts = np.split(docs, np.cumsum([len(ranking) for ranking in rankings]))
        tops = []
        for name, run, ranking, part in zip("AB", (a, b), rankings, parts):
            judged = np.zeros(len(part), dtype=bool)
            shown = (run.ranks <= depth) & (run.grades >= 0)
            judged[ranking.offsets[run.queries[shown]] + run.ranks[shown] - 1] = True
            queries, ranks = queries_of(ranking.offsets), within_query(ranking.offsets) + 1
            tops.append(Top(name, run, queries, ranks, part, judged))
        return cls(tops[0], tops[1], ids, (judgements.queries[relevant], parts[2]))

    @property
    def judgements(self) -> Judgements:
        """The qrels of both."""
        return self.a.run.judgements

    def swapped(self) -> Pair:
        """The same pair, asked about A."""
        return replace(self, a=self.b, b=self.a)

    @cached_property
    def keys(self) -> tuple[Ints, Ints]:
        """A number of query and document for each document of A and of B."""
        size = len(self.ids)
        return self.a.queries * size + self.a.docs, self.b.queries * size + self.b.docs

    @cached_property
    def unknown(self) -> Bools:
        """Which documents of B are neither judged nor among A's first for their query."""
        return ~self.b.judged & ~np.isin(self.keys[1], self.keys[0])

    @cached_property
    def answered(self) -> Bools:
        """The queries that both answer, shape (Q,)."""
        return (self.a.run.retrieved > 0) & (self.b.run.retrieved > 0)


# The same runs without something


def without_pairs(run: JudgedRun, pairs: Bools) -> JudgedRun:
    """A run without some judged documents, which are no more judged either.

    Args:
        run: the run.
        pairs: which of the judged documents, shape (J,).
    """
    gone = pairs[run.pairs]
    before = np.concatenate(([0], np.cumsum(gone)))
    ranks = run.ranks - (before[:-1] - before[run.offsets[run.queries]])
    judgements = copy_of(run.judgements)
    judgements.grades = np.where(pairs, -1.0, judgements.grades)
    retrieved = run.retrieved - np.diff(before[run.offsets])
    keep = ~gone
    return JudgedRun.from_entries(
        judgements, retrieved, run.queries[keep], ranks[keep], run.pairs[keep]
    )


def cut_to(run: JudgedRun, depths: Ints) -> JudgedRun:
    """A run cut at a depth of its own for each query, shape (Q,)."""
    keep = run.ranks <= depths[run.queries]
    return JudgedRun.from_entries(
        run.judgements,
        np.minimum(run.retrieved, depths),
        run.queries[keep],
        run.ranks[keep],
        run.pairs[keep],
    )
