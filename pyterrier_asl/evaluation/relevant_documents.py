"""The relevant documents, retrieved or not: of one run with ASL and AP of each, or of many runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..judging.judged_run import JudgedRun
from ..measures import ASL
from ..scoring import search_length as scoring
from ..scoring.groups import within_query

if TYPE_CHECKING:
    from .judged_runs import JudgedRuns

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RelevantDocuments:
    """The R relevant documents of Q queries in one run, in the order of the judgements.

    The order does not depend on the run, so two runs compare document by document.

    Attributes:
        queries: the query number of each, ascending, shape (R,).
        total: how many each query has, shape (Q,).
        lengths: search length of each (Eq. 1, 2), shape (R,).
        precision: precision at each, 0 where it was not retrieved (Eq. 6), shape (R,).
        found: whether it was retrieved, shape (R,).
    """

    queries: Ints
    total: Ints
    lengths: Ints
    precision: Floats
    found: Bools

    @classmethod
    def of(
        cls, run: JudgedRun, *, rel: float = 1, cutoff: int | None = None, missing: str = "pad"
    ) -> RelevantDocuments:
        """Looks them up in a run.

        Args:
            run: the run, whole.
            rel: minimum grade of a relevant document.
            cutoff: k, as in ``ASL@k``.
            missing: as in ``ASL(missing=...)``.
        """
        measure = ASL(rel=rel, cutoff=cutoff, missing=missing)  # checks all three
        relevant = run.view(measure["cutoff"]).relevant(measure["rel"])
        judgements = run.judgements
        wanted = np.flatnonzero((judgements.grades >= measure["rel"]) & (judgements.grades >= 0))
        at = np.searchsorted(wanted, relevant.pairs)
        queries = judgements.queries[wanted]
        lengths = scoring.missing_lengths(
            relevant.found, relevant.retrieved, cutoff=measure["cutoff"], missing=missing
        )[queries]
        lengths[at] = scoring.search_lengths(relevant.ranks, relevant.offsets)
        precision = np.zeros(len(wanted))
        precision[at] = (within_query(relevant.offsets) + 1) / relevant.ranks
        found = np.zeros(len(wanted), dtype=bool)
        found[at] = True
        return cls(queries, relevant.total, lengths, precision, found)

    def mean(self, values: npt.NDArray[np.generic], without: float) -> Floats:
        """The mean of each query's documents, ``without`` where it has none, shape (Q,)."""
        sums = np.bincount(self.queries, weights=values, minlength=len(self.total))
        return np.where(self.total > 0, sums / np.maximum(self.total, 1), without)

    @cached_property
    def asl(self) -> Floats:
        """ASL of each query (Eq. 4), shape (Q,)."""
        return self.mean(self.lengths, 1.0)

    @cached_property
    def asl_of_missing(self) -> Floats:
        """The part of each query's ASL that its missing documents bring in, shape (Q,)."""
        return self.mean(np.where(self.found, 0, self.lengths), 0.0)

    @cached_property
    def recall(self) -> Floats:
        """R@k of each query, shape (Q,)."""
        return self.mean(self.found, 0.0)


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
    def of(cls, runs: JudgedRuns, rel: float = 1, cutoff: int | None = None) -> RelevantRanks:
        """Those of runs that are matched with their judgements.

        >>> from pyterrier_asl.evaluation.judged_runs import JudgedRuns
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

    def documents_of(self, runs: JudgedRuns, qid: Any = None) -> Ints:
        """The columns of the documents of one of the runs' queries; None: of all.

        Raises:
            ValueError: for a query that is not judged.
        """
        if qid is None:
            return np.arange(len(self.pairs))
        known = [str(each) for each in runs.qids]
        if str(qid) not in known:
            raise ValueError(f"query {qid!r} is not judged; those that are look like {known[0]!r}")
        return np.flatnonzero(self.queries == known.index(str(qid)))

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


def relevant_documents(
    judged: JudgedRuns, rel: float = 1, cutoff: int | None = None, missing: str = "pad"
) -> list[RelevantDocuments]:
    """The relevant documents in each of the runs; arguments as of :meth:`RelevantDocuments.of`."""
    return [
        RelevantDocuments.of(run, rel=rel, cutoff=cutoff, missing=missing) for run in judged.runs
    ]
