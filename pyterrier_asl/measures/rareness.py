"""P_Rareness and AP_Rareness: credit for relevant documents that other systems miss."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.notices import warn
from ..common.types import Bools, Floats, Ints
from ..scoring import rareness as scoring
from ..scoring.arrays import sum_by_query
from ._base import (
    CUTOFF,
    REL,
    Param,
    PluginMeasure,
    check_required,
    count,
    flag,
    real,
    register,
)
from .formula import LabelledRun
from .kinds import Additive, MeanPrecision

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun, Relevant
    from .pool import RarenessPool


def _as_pool(value: object) -> RarenessPool:
    from .pool import RarenessPool  # with everything that reads and matches files

    return RarenessPool.resolve(value)


_PARAMS = {
    "rel": REL,
    "pool": Param(_as_pool, required=True, desc="the runs among which a document is rare"),
    "alpha": Param(real(0, 1), default=0.5, desc="weight of rareness, 0: plain precision"),
    "normalized": Param(flag, default=False, desc="the variant that cannot exceed 1"),
    "depth": Param(
        count, desc="rank to which a run of the pool retrieves a document (default: the cutoff)"
    ),
    "member": Param(
        flag, desc="whether the run is in the pool (default: recognised query by query)"
    ),
}


class _Rareness(PluginMeasure):
    """The base class of both measures."""

    def value_range(self, systems: float = math.inf) -> tuple[float, float]:
        """From 0 to the value of a ranking of documents that no other of S runs retrieves."""
        if (pool := self["pool"]) is not None:
            systems = pool.systems + (not self["member"])  # a run outside the pool joins it
        return 0.0, 1.0 if self["normalized"] else 1 + self["alpha"] * (1 - 1 / systems)

    def needs_rows(self) -> bool:
        """Whether the run's top k is compared with the top k of the runs of the pool."""
        return self["member"] is None

    def tie_gains(self, judged: JudgedRun) -> None:
        """None: the value depends on the finders of each document."""

    def weights(self, view: JudgedRun, documents: JudgedRun) -> Floats:
        """The gain of each document if it is relevant."""
        finders, systems = self._finders(view, documents)
        return self._gains(finders, systems, np.arange(len(finders) + 1))

    def _score(self, view: JudgedRun) -> Floats:
        relevant = view.relevant(self["rel"])
        return self.from_finders(relevant, *self._finders(view, relevant))

    def _finders(self, view: JudgedRun, documents: JudgedRun | Relevant) -> tuple[Ints, Ints]:
        """S_d and S of some documents of a view, shape (E,) each."""
        return self["pool"].finders(  # type: ignore[no-any-return]
            view, documents, depth=self["depth"] or self["cutoff"], member=self["member"]
        )

    def from_finders(self, relevant: Relevant, finders: Ints, systems: Ints | int) -> Floats:
        """The values of a run, from the finders of its relevant documents, shape (Q,).

        Args:
            relevant: its relevant documents.
            finders: S_d of each, shape (E,).
            systems: S.
        """
        return self._of_gains(self._gains(finders, systems, relevant.offsets), relevant)

    def _gains(self, finders: Ints, systems: Ints | int, offsets: Ints) -> Floats:
        """The running gains of relevant documents, from S_d and S."""
        return scoring.gains(
            finders, systems, offsets, alpha=self["alpha"], normalized=self["normalized"]
        )

    @abstractmethod
    def _of_gains(self, gains: Floats, relevant: Relevant) -> Floats:
        """The values of a run from the running gains of its relevant documents."""


def warn_of_few(measures: Iterable[str], systems: int) -> None:
    """Warns if rareness is counted over few systems.

    Args:
        measures: the names of the measures that count it over the evaluated runs.
        systems: the number of these runs.
    """
    if (names := ", ".join(measures)) and systems < scoring.FEW:
        warn(
            f"{systems} system{'s'[: systems - 1]} say{'s' * (systems == 1)} little about rareness "
            f"({scoring.FEW} or more are needed): give {names} a pool of runs (pool=, --pool)",
        )


def check_pooled(measure: Any) -> None:
    """Raises ValueError unless a measure counts rareness over a pool and has no pool yet."""
    if "pool" not in measure.SUPPORTED_PARAMS:
        raise ValueError(f"{measure} is not a rareness measure: give P_Rareness@k or AP_Rareness@k")
    if measure["pool"] is not None:
        raise ValueError(f"{measure} has a pool already, but pools are built here: omit pool=")
    check_required(measure, {**measure.params, "pool": None})


class Pools:
    """Judged runs as the pool of a rareness measure without one.

    Only the entries of the runs are used, as only relevant documents have a gain.

    Args:
        measure: the measure.
        runs: S judged runs of Q queries.

    Raises:
        ValueError: for another measure, or a measure that has a pool.
    """

    def __init__(self, measure: Any, runs: Sequence[JudgedRun]) -> None:
        check_pooled(measure)
        self.measure = measure
        rel, cutoff = measure["rel"], measure["cutoff"]
        self._relevant = [run.view(cutoff).relevant(rel) for run in runs]
        self._retrieved = [run.view(measure["depth"] or cutoff).relevant(rel).pairs for run in runs]
        self._judged = len(runs[0].judgements.grades)

    @classmethod
    def of_runs(cls, evaluation: Any, measure: Any) -> Pools:
        """The runs of an evaluation, for ``evaluation.once``."""
        return cls(measure, evaluation.runs)

    def counts(self, members: Bools | None = None, groups: Ints | None = None) -> tuple[Ints, int]:
        """S_d of every judged document, 0 where it is not relevant, and S.

        Args:
            members: whether each run is in the pool, shape (S,); None: all.
            groups: the group of each run, from 0: count groups instead of runs, shape (S,).
        """
        runs = np.arange(len(self._retrieved))[slice(None) if members is None else members]
        retrieved = [self._retrieved[run] for run in runs]
        documents = np.concatenate([np.empty(0, dtype=np.int64), *retrieved])
        codes = runs if groups is None else groups[runs]
        of_documents = None if groups is None else np.repeat(codes, list(map(len, retrieved)))
        return scoring.count_finders(documents, self._judged, of_documents), len(np.unique(codes))

    def values(self, members: Bools | None = None, groups: Ints | None = None) -> Floats:
        """The values of all runs, shape (S, Q); each run outside the pool joins it separately.

        The arguments are the arguments of :meth:`counts`.
        """
        counts, systems = self.counts(members, groups)
        if members is None:
            members = np.full(len(self._retrieved), self.measure["member"] is not False)
        return np.array(
            [
                self.measure.from_finders(
                    relevant,
                    counts[relevant.pairs] + (joins and np.isin(relevant.pairs, retrieved)),
                    systems + joins,
                )
                for joins, relevant, retrieved in zip(~members, self._relevant, self._retrieved)
            ]
        )

    def mean_parts(self) -> tuple[Floats, Floats]:
        """The parts of the mean over queries, for pools that change often.

        A run's mean over queries is ``a * base - b * shared[:, pool].sum()`` where a document that
        S_d of the pool find gains a - b S_d.

        Returns:
            ``base``, shape (S,), and ``shared``, the part of a row's base that is for documents
            that the column's run retrieves, shape (S, S).
        """

        gain = self.measure(alpha=1, normalized=False)  # 2 - S_d in a pool of one
        size = len(self._retrieved)
        base, shared = np.zeros(size), np.zeros((size, size))
        for run, relevant in enumerate(self._relevant):
            base[run] = gain.from_finders(relevant, 0 * relevant.pairs, 1).mean() / 2
            for other, retrieved in enumerate(self._retrieved):
                finders = np.isin(relevant.pairs, retrieved).astype(np.int64)
                shared[run, other] = 2 * base[run] - gain.from_finders(relevant, finders, 1).mean()
        return base, shared


class _P_Rareness(Additive, _Rareness):
    """
    Precision with credit for rare documents. A relevant document that S(d) of the pool's S runs
    have in their top k gains 1 + alpha (1 - S(d)/S).

    ::

        P_Rareness@k = 1/k Σ Rel(d) (1 + alpha R(d))   over the first k documents d
        R(d) = 1 - S(d)/S

    In [0, 1 + alpha (1 - 1/S)] for a pool of S runs, higher is better; ``alpha=0`` is P@k.
    ``normalized=True`` (Eq. 4) is at most 1.
    A run outside the pool is scored as if it joined it.

    Mehmet Deniz Türkmen, Matthew Lease, Mucahid Kutlu: New Metrics to Encourage Innovation and
    Diversity in Information Retrieval Approaches. 2023, Eq. 1-4.
    """

    __name__ = NAME = "P_Rareness"
    PRETTY_NAME = "Rareness-based Precision at k"
    SHORT_DESC = "Precision at k with credit for relevant documents that other systems miss."
    SUPPORTED_PARAMS = {
        "cutoff": Param(count, required=True, desc="ranking cutoff threshold"),
        **_PARAMS,
    }

    def _of_gains(self, gains: Floats, relevant: Relevant) -> Floats:
        return scoring.p_rareness(gains, relevant.offsets, self["cutoff"])

    def weights(self, view: JudgedRun, documents: JudgedRun) -> Floats:
        """What each document adds if it is relevant."""
        return np.asarray(super().weights(view, documents) / self["cutoff"])

    def labelled_values(
        self, run: LabelledRun, queries: Ints, relevant: Relevant, gains: Floats
    ) -> Floats:
        """The values of M rankings of a run's queries, each with its own labels, shape (M,)."""
        return sum_by_query(gains, relevant.offsets)


class _AP_Rareness(MeanPrecision, _Rareness):
    """
    Average precision with credit for rare documents, the mean over all relevant documents of
    P_Rareness at their ranks.

    ::

        AP_Rareness@k = 1/N Σ Rel(d_i) P_Rareness@i   over the ranks i = 1 ... k, N relevant ones

    Rareness is counted at one depth: ``depth``, by default the cutoff, by default the depth of the
    pool. In [0, 1 + alpha (1 - 1/S)], higher is better; ``alpha=0`` is AP@k.

    Mehmet Deniz Türkmen, Matthew Lease, Mucahid Kutlu: New Metrics to Encourage Innovation and
    Diversity in Information Retrieval Approaches. 2023, Eq. 5.
    """

    __name__ = NAME = "AP_Rareness"
    PRETTY_NAME = "Rareness-based Average Precision"
    SHORT_DESC = "Average precision with credit for relevant documents that other systems miss."
    SUPPORTED_PARAMS = {"cutoff": CUTOFF, **_PARAMS}

    def _of_gains(self, gains: Floats, relevant: Relevant) -> Floats:
        return scoring.ap_rareness(gains, relevant.ranks, relevant.offsets, relevant.total)

    def is_exact(self, *, pair: bool = False) -> bool:
        """Whether bounds are exact: they are outer bounds."""
        return False

    def labelled_values(
        self, run: LabelledRun, queries: Ints, relevant: Relevant, gains: Floats
    ) -> Floats:
        """The values of M rankings of a run's queries, each with its own labels, shape (M,)."""
        return self._of_gains(scoring.running_sums(gains, relevant.offsets), relevant)


P_Rareness = _P_Rareness()
AP_Rareness = _AP_Rareness()
register(P_Rareness, AP_Rareness)
