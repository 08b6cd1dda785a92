"""Where every run has every relevant document, as one matrix: who found what, and how high."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .judged_runs import JudgedRuns

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RelevantRanks:
    """The ranks of all relevant documents in S runs; R documents, query by query.

    Attributes:
        ranks: rank of each document in each run, 0 where it was not retrieved, shape (S, R).
        pairs: which judged document each column is (a position in the judgements), shape (R,).
        total: relevant documents of each query, shape (Q,).
    """

    ranks: Ints
    pairs: Ints
    total: Ints

    @classmethod
    def of(cls, runs: JudgedRuns, *, rel: float = 1, cutoff: int | None = None) -> RelevantRanks:
        """Those of runs that have met their judgements.

        >>> runs = JudgedRuns.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"c": 1, "d": 1}})
        >>> RelevantRanks.of(runs).ranks.tolist()
        [[0, 2]]
        """
        grades = runs.judgements.grades
        pairs = np.flatnonzero((grades >= rel) & (grades >= 0))
        column = np.zeros(len(grades), dtype=np.int64)
        column[pairs] = np.arange(len(pairs))
        ranks = np.zeros((len(runs), len(pairs)), dtype=np.int64)
        for row, run in zip(ranks, runs.runs):
            found = run.view(cutoff).relevant(rel)
            row[column[found.pairs]] = found.ranks
        return cls(ranks, pairs, runs.judgements.num_relevant(rel))

    def of_queries(self, at: Ints) -> RelevantRanks:
        """The documents of some of the queries, in ascending order."""
        here = np.isin(self.queries, at)
        return RelevantRanks(self.ranks[:, here], self.pairs[here], self.total[at])

    @cached_property
    def queries(self) -> Ints:
        """The query number of each document, shape (R,)."""
        return np.repeat(np.arange(len(self.total)), self.total)

    def found(self, depth: int | None = None) -> Bools:
        """Whether each run has each document among its first ``depth``, shape (S, R)."""
        there = self.ranks > 0
        return there if depth is None else there & (self.ranks <= depth)

    def per_query(self, values: Floats) -> Floats:
        """Sums over the documents of each query, shape (..., R) to (..., Q)."""
        has = np.flatnonzero(self.total)
        sums = np.zeros((*values.shape[:-1], len(self.total)))
        if len(has):
            begin = (np.cumsum(self.total) - self.total)[has]
            sums[..., has] = np.add.reduceat(values, begin, axis=-1)
        return sums

    def reciprocal(self, labelled: Bools | None = None) -> Floats:
        """RR_1, RR_2, ... of each query in turn, shape (S, R).

        Args:
            labelled: which documents are known to be relevant, shape (R,). The others count for
                nobody: they are 0 at the end of each query, where a missing document is too, so
                that no two runs differ there.
        """
        there = self.ranks > 0
        if labelled is not None:
            there = there & labelled
        beyond = int(self.ranks.max(initial=0)) + 1
        # Sorted whole, and yet query by query, since each query's ranks have their own range.
        start = self.queries * (beyond + 1)
        ranks = np.sort(start + np.where(there, self.ranks, beyond), axis=1) - start
        return np.where(ranks < beyond, 1 / ranks, 0.0)
