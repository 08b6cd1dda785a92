"""The depth of runs: how many documents systems retrieve, and how many of those are unjudged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..evaluation.judged_runs import JudgedRuns

Floats = npt.NDArray[np.float64]

#: The least depth at which all systems are compared.
_LEAST = 10


@dataclass(frozen=True)
class RunDepths:
    """How deep S runs are, of which the first k documents of each query count.

    Attributes:
        retrieved: documents retrieved for a query, at most k, mean over the queries, shape (S,).
        common: the depth that every system reaches for half of the queries, at least 10.
        unjudged: of the irrelevant documents above all relevant ones, retrieved or missed, the
            unjudged share; NaN where there are none, shape (S,).
    """

    retrieved: Floats
    common: int
    unjudged: Floats

    @classmethod
    def of(cls, runs: JudgedRuns, *, rel: float, cutoff: int) -> RunDepths:
        """Those of runs.

        A missed document comes after all retrieved ones, so every irrelevant one is above it.

        >>> runs = JudgedRuns.of({"a": {"q": {"x": 3, "d": 2, "y": 1}}}, {"q": {"d": 1, "c": 1}})
        >>> RunDepths.of(runs, rel=1, cutoff=1000)
        RunDepths(retrieved=array([3.]), common=10, unjudged=array([1.]))
        """
        retrieved = np.array([run.view(cutoff).retrieved for run in runs.runs])
        common = max(_LEAST, int(np.median(retrieved, axis=1).min()))
        unjudged = np.full(len(runs), np.nan)
        for row, run in enumerate(runs.runs):
            seen = run.view(cutoff)
            relevant = seen.relevant(rel)
            missed = relevant.total - relevant.found
            judged = np.bincount(seen.queries, minlength=len(missed))
            above = np.arange(len(seen.ranks)) - seen.offsets[seen.queries]  # judged ones
            of_relevant = (seen.grades >= rel) & (seen.grades >= 0)
            first = np.arange(len(relevant.ranks)) - relevant.offsets[relevant.queries]
            part = (seen.ranks - 1 - above)[of_relevant].sum()
            part += (missed * (seen.retrieved - judged)).sum()
            whole = (relevant.ranks - 1 - first).sum()
            whole += (missed * (seen.retrieved - relevant.found)).sum()
            if whole:
                unjudged[row] = part / whole
        return cls(retrieved.mean(axis=1), min(common, cutoff), unjudged)

    @property
    def short(self) -> npt.NDArray[np.bool_]:
        """Which systems retrieve less than half as many documents as the deepest, shape (S,)."""
        short: npt.NDArray[np.bool_] = self.retrieved < self.retrieved.max() / 2
        return short

    @property
    def differ(self) -> bool:
        """Whether some system retrieves a tenth less than the deepest."""
        return bool(self.retrieved.min() < 0.9 * self.retrieved.max())
