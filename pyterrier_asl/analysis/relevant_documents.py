"""Every relevant document of one run, retrieved or not: what ASL and AP make of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..judging import JudgedRun
from ..measures import ASL
from ..scoring import search_length as scoring

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
    found: npt.NDArray[np.bool_]

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
        precision[at] = (scoring.within_query(relevant.offsets) + 1) / relevant.ranks
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
