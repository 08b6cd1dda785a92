"""P_Rareness and AP_Rareness: credit for relevant documents that other systems miss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..scoring import rareness as scoring
from ..scoring.arrays import Floats, Ints, sum_by_query
from ._base import CUTOFF, REL, UNJUDGED, Param, PluginMeasure, count, flag, real, register
from .computed import Additive, MeanPrecision
from .labelled import LabelledRankings, LabelledRun

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun, Relevant
    from ..judging.unjudged import Retrieved
    from .pool import RarenessPool


def _as_pool(value: object) -> RarenessPool:
    """The pool that a value means; what reads and matches files is imported now."""
    from .pool import RarenessPool

    return RarenessPool.resolve(value)


_PARAMS = {
    "rel": REL,
    "pool": Param(_as_pool, required=True, desc="the runs that rareness is counted over"),
    "alpha": Param(real(0, 1), default=0.5, desc="weight of rareness, 0: plain precision"),
    "normalized": Param(flag, default=False, desc="the variant that cannot exceed 1"),
    "depth": Param(
        count, desc="how deep a run of the pool must have a document (default: the cutoff)"
    ),
    "member": Param(
        flag, desc="whether the run is one of the pool (default: recognised query by query)"
    ),
}


class _Rareness(PluginMeasure):
    """Base class of the two measures: the running gain of the relevant documents."""

    def value_range(self, systems: float = math.inf) -> tuple[float, float]:
        """The highest value is that of a ranking of documents that no other run of S finds."""
        if (pool := self["pool"]) is not None:
            systems = pool.systems + (not self["member"])  # a run that is not of the pool joins it
        return 0.0, 1.0 if self["normalized"] else 1 + self["alpha"] * (1 - 1 / systems)

    def needs_rows(self) -> bool:
        """Whether the run's top k has to be compared with those of the pool's runs."""
        return self["member"] is None or super().needs_rows()

    def weights(self, view: JudgedRun, unjudged: Retrieved | None = None) -> Floats:
        """The gain of each relevant document of a run, or of each unjudged one if relevant."""
        return self.gains(view, unjudged)

    def gains(
        self, view: JudgedRun, unjudged: Retrieved | None = None, *, running: bool = False
    ) -> Floats:
        """The gain of each relevant document, or of each unjudged one if it were relevant.

        Args:
            view: the run, already cut.
            unjudged: some of its unjudged documents; None: its relevant ones.
            running: whether to add the gains of the documents above.
        """
        from ..io.values import take

        documents: Relevant | Retrieved
        if unjudged is None:
            documents = relevant = view.relevant(self["rel"])
            docnos = take(view.judgements.docnos, relevant.pairs)
        else:
            documents, docnos = unjudged, take(view.table.docno, unjudged.rows)
        finders, systems = self["pool"].finders(
            view, documents, docnos, depth=self["depth"] or self["cutoff"], member=self["member"]
        )
        offsets = documents.offsets if running else np.arange(len(docnos) + 1)
        return scoring.gains(
            finders, systems, offsets, alpha=self["alpha"], normalized=self["normalized"]
        )

    def credits(self, ranks: Ints, total: Ints) -> tuple[Floats, Floats]:
        """The credit to each run for a gain of 1 of each document, and the divisors of the sums.

        Args:
            ranks: rank of each relevant document in each run, 0 where it was not retrieved, shape
                (S, R).
            total: relevant documents of each query, shape (Q,).

        Returns:
            Shapes (S, R) and (Q,).
        """
        raise NotImplementedError


class _P_Rareness(Additive, _Rareness):
    """
    Precision with credit for rare documents. A relevant document that S(d) of the pool's S runs
    have in their top k gains 1 + alpha (1 - S(d)/S).

    ::

        P_Rareness@k = 1/k Σ Rel(d) (1 + alpha R(d))   over the first k documents d
        R(d) = 1 - S(d)/S

    In [0, 2 - 1/S], higher is better; ``alpha=0`` is P@k. ``normalized=True`` (Eq. 4) is bounded by
    1. A run that is not of the pool is scored as if it joined it.

    Mehmet Deniz Türkmen, Matthew Lease, Mucahid Kutlu: New Metrics to Encourage Innovation and
    Diversity in Information Retrieval Approaches. 2023, Eq. 1-4.
    """

    __name__ = "P_Rareness"
    NAME = __name__
    PRETTY_NAME = "Rareness-based Precision at k"
    SHORT_DESC = "Precision at k with credit for relevant documents that other systems miss."
    SUPPORTED_PARAMS = {
        "cutoff": Param(count, required=True, desc="ranking cutoff threshold"),
        **_PARAMS,
        "unjudged": UNJUDGED,
    }

    def _score(self, judged: JudgedRun) -> Floats:
        offsets = judged.relevant(self["rel"]).offsets
        return scoring.precision(self.gains(judged, running=True), offsets, self["cutoff"])

    def credits(self, ranks: Ints, total: Ints) -> tuple[Floats, Floats]:
        """The credit to each run for a gain of 1 of each document, and the divisors of the sums."""
        credit = ((ranks > 0) & (ranks <= self["cutoff"])).astype(np.float64)
        return credit, np.full(len(total), float(self["cutoff"]))

    def weights(self, view: JudgedRun, unjudged: Retrieved | None = None) -> Floats:
        """The weight of each relevant document of a run, or of each unjudged one if relevant."""
        cutoff: int = self["cutoff"]
        return self.gains(view, unjudged) / cutoff

    def labelled_values(self, run: LabelledRun, rankings: LabelledRankings) -> Floats:
        """The values of a run's queries, each under a labelling of its own, shape (M,)."""
        return sum_by_query(rankings.gains, rankings.offsets)


class _AP_Rareness(MeanPrecision, _Rareness):
    """
    Average precision with credit for rare documents, the mean over all relevant documents of
    P_Rareness at their ranks.

    ::

        AP_Rareness@k = 1/N Σ Rel(d_i) P_Rareness@i   over the ranks i = 1 ... k, N relevant ones

    Rareness is counted at one depth throughout: ``depth``, by default the cutoff, without either
    the whole depth of the pool. In [0, 2 - 1/S], higher is better; ``alpha=0`` is AP@k.

    Mehmet Deniz Türkmen, Matthew Lease, Mucahid Kutlu: New Metrics to Encourage Innovation and
    Diversity in Information Retrieval Approaches. 2023, Eq. 5.
    """

    __name__ = "AP_Rareness"
    NAME = __name__
    PRETTY_NAME = "Rareness-based Average Precision"
    SHORT_DESC = "Average precision with credit for relevant documents that other systems miss."
    SUPPORTED_PARAMS = {"cutoff": CUTOFF, **_PARAMS}

    def _score(self, judged: JudgedRun) -> Floats:
        relevant = judged.relevant(self["rel"])
        gains = self.gains(judged, running=True)
        return scoring.average_precision(gains, relevant.ranks, relevant.offsets, relevant.total)

    def credits(self, ranks: Ints, total: Ints) -> tuple[Floats, Floats]:
        """The credit to each run for a gain of 1 of each document, and the divisors of the sums."""
        credit = scoring.average_precision_credits(ranks, total, self["cutoff"])
        return credit, np.maximum(total, 1).astype(np.float64)

    def is_exact(self, *, pair: bool = False) -> bool:
        """Whether bounds are exact: they are outer ones."""
        return False

    def labelled_values(self, run: LabelledRun, rankings: LabelledRankings) -> Floats:
        """The values of a run's queries, each under a labelling of its own, shape (M,)."""
        offsets = rankings.offsets
        running = np.concatenate(([0.0], np.cumsum(rankings.gains)))
        gained = running[1:] - np.repeat(running[offsets[:-1]], np.diff(offsets))
        return scoring.average_precision(gained, rankings.ranks, offsets, rankings.total)


P_Rareness = _P_Rareness()
AP_Rareness = _AP_Rareness()
register(P_Rareness)
register(AP_Rareness)
