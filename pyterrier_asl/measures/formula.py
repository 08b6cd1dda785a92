"""The properties of a measure: its values, bounds, inputs and direction.

Each measure that this package computes is a :class:`Formula`. The measures of this package are
such objects; a standard measure of ir_measures has one (see :func:`formula`). The class of a
measure defines all its properties.

For bounds, V are the documents to label: the unjudged documents in the part of the compared
rankings that the measure uses. One run in a measure, under all labellings of V, is a
:class:`LabelledRun`. The documents of two of them are
:class:`~pyterrier_asl.scoring.bounds.PairDocuments`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from ir_measures import Measure

from ..common.types import Bools, Floats, Ints
from ..judging.remembered import Remembering, cached_property
from ..scoring import bounds as bounding
from ..scoring.arrays import cumulate
from ..scoring.matrices import Bounds
from ..scoring.pair_bounds import merge

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun, Relevant, TiedRun
    from ..scoring.ties import TieGroups


class Formula:
    """A measure that this package computes.

    A measure of the ranks of relevant documents defines :meth:`from_ranks`, from which its values
    follow, also its values for other labels. A measure that uses more of a run defines ``_score``
    and :meth:`labelled_values`. A measure has bounds if it defines :meth:`bounds`, for a run. Those
    of the difference of two runs follow, but :meth:`difference_bounds` can be narrower.
    """

    #: Whether higher is better; None: neither direction is.
    HIGHER_IS_BETTER: bool | None = True
    #: Whether it needs the lengths of documents.
    NEEDS_LENGTHS = False
    #: Whether its bounds depend on the best grade that a label can give.
    HAS_GAINS = False
    #: Whether the time for bounds of a difference grows with the square of the documents.
    SLOW_DIFFERENCES = False

    # Of a Measure of ir_measures
    NAME: str
    params: dict[str, Any]
    SUPPORTED_PARAMS: Mapping[str, Any]

    if TYPE_CHECKING:

        def __getitem__(self, name: str) -> Any: ...

        def validate_params(self) -> None: ...

    # Input

    @property
    def cutoff(self) -> int | None:
        """The rank below which nothing counts as retrieved; None: no cut-off."""
        return self.params.get("cutoff")

    @property
    def rel(self) -> float:
        """The least grade of a relevant document."""
        return float(self["rel"] if "rel" in self.SUPPORTED_PARAMS else 1)

    def value_range(self, systems: float = math.inf) -> tuple[float, float]:
        """The lowest and the highest value of a run for a query; perhaps infinite.

        Args:
            systems: the number of runs among which a document is rare, without a pool.
        """
        return 0.0, 1.0

    def needs_rows(self) -> bool:
        """Whether values depend on more of a run than the ranks of judged documents."""
        return False

    def run_columns(self) -> list[str]:
        """The columns that a run needs in addition to query, document and score."""
        return []

    def view(self, judged: JudgedRun) -> JudgedRun:
        """The part of a run that the measure uses: judged documents only, or cut, if asked."""
        return judged.view(self.cutoff, bool(self.params.get("judged_only")))

    # Values

    def values(self, judged: JudgedRun) -> Floats:
        """Computes one value per query of the qrels, in their order, shape (Q,).

        Args:
            judged: the run, matched with the qrels.
        """
        raise NotImplementedError

    def _score(self, view: JudgedRun) -> Floats:
        """The values of the queries with relevant documents, from :meth:`view`."""
        relevant = view.relevant(self["rel"])
        return self.from_ranks(relevant.ranks, relevant.offsets, relevant.total)

    def from_ranks(self, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
        """The formula of a measure that uses only the ranks of relevant documents, shape (Q,).

        Args:
            ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
                (E,).
            offsets: the beginning of each query's ranks, shape (Q + 1,).
            total: relevant documents of each query, retrieved or not, shape (Q,).
        """
        raise NotImplementedError

    # Values over all orders of equal scores

    def tie_gains(self, judged: JudgedRun) -> Floats | Bools | None:
        """The gain of each entry of a run, at least 0, by which equal scores are ordered for the
        least and the greatest value, shape (E,); None: the value depends on more."""
        return None if self.needs_rows() else judged.grades >= max(self.rel, 0)

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats | None:
        """The mean over all orders of equal scores, shape (Q,); None: it has no closed form.

        Args:
            judged: the run.
            groups: its groups of equal scores, by :meth:`tie_gains`.
        """
        return None

    def over_ties(self, tied: TiedRun, value: Floats) -> Bounds:
        """The least and the greatest value over all orders of equal scores.

        Args:
            tied: the queries of the run with equal scores.
            value: the values of the run, shape (Q,).

        Returns:
            Two arrays of shape (Q,); NaN where they are not known.
        """
        gains = self.tie_gains(tied.run)
        if gains is None:
            return np.full(len(value), np.nan), np.full(len(value), np.nan)
        best, worst = (
            self.values(tied.ordered(gains, best_first=is_best)) for is_best in (True, False)
        )
        low, high = (end([best, worst, value], axis=0) for end in (np.min, np.max))
        return np.where(tied.is_tied, low, value), np.where(tied.is_tied, high, value)

    def mean_over_ties(self, tied: TiedRun, ends: Bounds) -> Floats:
        """The mean over all orders of equal scores, shape (Q,); NaN where it is not known.

        Args:
            tied: the queries of the run with equal scores.
            ends: the result of :meth:`over_ties`.
        """
        mean, gains = None, self.tie_gains(tied.run)
        if gains is not None:
            judged_only = bool(self.params.get("judged_only"))
            mean = self.expected(tied.run, tied.groups(gains, self.cutoff, judged_only=judged_only))
        return np.full(len(ends[0]), np.nan) if mean is None else np.clip(mean, *ends)

    # Bounds over all labellings of unjudged documents

    def bounds(self, run: LabelledRun) -> Bounds:
        """The lowest and the highest value over all labellings, shape (Q,) each."""
        raise NotImplementedError

    def difference_bounds(self, a: LabelledRun, b: LabelledRun) -> Bounds:
        """The bounds of A less B; by default outer bounds, from the bounds of both runs."""
        (low_a, high_a), (low_b, high_b) = a.bounds, b.bounds
        return low_a - high_b, high_a - low_b

    def is_exact(self, *, pair: bool = False) -> bool:
        """Whether some labelling reaches the bounds of a run, or of the difference of two runs."""
        return not pair or type(self).difference_bounds is not Formula.difference_bounds

    # Values under labellings

    def labelled_values(
        self, run: LabelledRun, queries: Ints, relevant: Relevant, gains: Floats
    ) -> Floats:
        """The values of M rankings of a run's queries, each with its own labels, shape (M,).

        Args:
            run: the run.
            queries: the query of each ranking, shape (M,).
            relevant: their relevant documents, one of which is unjudged.
            gains: the gains of these documents in the measure, shape (E,).
        """
        return self.from_ranks(relevant.ranks, relevant.offsets, relevant.total)

    def weights(self, view: JudgedRun, documents: JudgedRun) -> Floats:
        """What each document adds to the value if it is relevant.

        Args:
            view: the result of :meth:`view`.
            documents: some of its documents.
        """
        return self.rank_weights(documents.ranks)

    def rank_weights(self, ranks: Ints) -> Floats:
        """What a relevant document at each of these ranks adds to the value."""
        return np.ones(len(ranks))

    def candidates(self, run: LabelledRun) -> tuple[JudgedRun, Floats]:
        """The documents of a run that are or could be relevant, and the gain of each."""
        return run.candidates, run.weights


#: The classes of the standard measures of ir_measures, by its own classes.
STANDARD: dict[type[Any], type[Any]] = {}


def formula(measure: Measure) -> Formula | None:
    """The :class:`Formula` of a measure; None for a measure that this package does not compute.

    Args:
        measure: a measure of ir_measures or of this package.

    >>> import ir_measures
    >>> formula(ir_measures.AP @ 10).cutoff, formula(ir_measures.infAP)
    (10, None)
    """
    if isinstance(measure, Formula):
        return measure
    standard = STANDARD.get(type(measure))
    return None if standard is None else standard.of(measure)


# Runs under labellings


@dataclass(frozen=True)
class LabelledRun(Remembering):
    """A run in a measure, with its unjudged documents.

    Attributes:
        measure: the measure.
        judged: the run; every retrieved document is an entry (see
            :class:`~pyterrier_asl.judging.unjudged.Unjudged`).
        size: the number of documents of V per query, shape (Q,).
        highest: the best grade of a label.
    """

    measure: Formula
    judged: JudgedRun
    size: Ints
    highest: float

    @cached_property
    def view(self) -> JudgedRun:
        """The part of the run that the measure uses."""
        return self.measure.view(self.judged)

    @cached_property
    def relevant(self) -> Relevant:
        """Its relevant documents."""
        return self.view.relevant(self.measure.rel)

    @cached_property
    def candidates(self) -> JudgedRun:
        """Its documents that are or could be relevant."""
        grades = self.view.grades
        return self.view.where((grades < 0) | (grades >= self.measure.rel))

    @property
    def unjudged(self) -> Ints:
        """The number of unjudged documents that the measure sees, shape (Q,)."""
        return np.bincount(self.view.queries[self.view.grades < 0], minlength=len(self.size))

    @cached_property
    def value(self) -> Floats:
        """Its values with unjudged documents as irrelevant, shape (Q,)."""
        return self.measure.values(self.judged)

    @cached_property
    def bounds(self) -> Bounds:
        """Its bounds, shape (Q,) each."""
        return self.measure.bounds(self)

    @cached_property
    def weights(self) -> Floats:
        """What each candidate adds if it is relevant, before division by the ideal."""
        return self.measure.weights(self.view, self.candidates)

    @property
    def nothing(self) -> LabelledRun:
        """A run that retrieved nothing: the difference from it is the value of the run."""
        from ..judging.judged_run import JudgedRun

        none = np.empty(0, dtype=np.int64)
        nothing = JudgedRun.from_entries(self.judged.judgements, 0 * self.size, none, none, none)
        return replace(self, judged=nothing)

    @property
    def alone(self) -> bounding.PairDocuments:
        """Its documents, beside those of a run that retrieved nothing."""
        return self.beside(self.nothing)

    def beside(self, other: LabelledRun) -> bounding.PairDocuments:
        """The documents of the run, A, and of another, B: relevant ones and unjudged ones."""
        a, b = self.candidates, other.candidates
        grades = a.judgements.grades
        offsets, in_a, in_b = merge(a.offsets, a.pairs, b.offsets, b.pairs, len(grades))
        is_unjudged = grades[np.where(in_a > 0, _pick(a.pairs, in_a), _pick(b.pairs, in_b))] < 0
        (known, known_gains), (unjudged, gains) = (
            (
                (_pick(a.ranks, in_a[kept]), _pick(b.ranks, in_b[kept]), cumulate(kept)[offsets]),
                (_pick(self.weights, in_a[kept]), _pick(other.weights, in_b[kept])),
            )
            for kept in (~is_unjudged, is_unjudged)
        )
        others = self.size - np.diff(unjudged[2])
        return bounding.PairDocuments(
            *known, self.relevant.total, *unjudged, others, known_gains, gains
        )


def _pick(values: npt.NDArray[Any], numbers: Ints) -> Any:
    """The values of documents by their number from 1; 0 for number 0, not retrieved."""
    return np.concatenate((np.zeros(1, dtype=values.dtype), values))[numbers]
