"""The properties of a measure: its values, bounds, inputs and direction.

Each measure that this package computes is a :class:`Formula`. The measures of this package are
such objects; a standard measure of ir_measures has one (see
:func:`~pyterrier_asl.measures.standard.formula`). The class of a measure defines all its
properties.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring import bounds as bounding
from ..scoring import pair_bounds, ties
from ..scoring.arrays import Bools, Floats, Ints
from ..scoring.matrices import Bounds
from .labelled import LabelledPair, LabelledRankings, LabelledRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..judging.judged_run import JudgedRun
    from ..judging.ties import TiedRun
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
    #: The row of a document that occurs twice in a ranking: the last (True) or the best.
    LAST_ROW_COUNTS = False

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

    def as_provided(self) -> bool:
        """Whether values equal the provider's of ir_measures for every run: it orders equal scores
        the same way and rounds nothing."""
        return True

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

    def from_lengths(self, view: JudgedRun, lengths: Floats, ranking_offsets: Ints) -> Floats:
        """The values of a measure that needs lengths, from the words of a run's documents, (Q,).

        Args:
            view: the result of :meth:`view`.
            lengths: words of every retrieved document in rank order, query by query, shape (N,);
                lengths between two relevant documents count only by their sum.
            ranking_offsets: the beginning of each query's lengths, shape (Q + 1,).
        """
        raise TypeError(f"{self} does not use lengths")

    # Values over all orders of equal scores

    def tie_gains(self, judged: JudgedRun) -> Floats | Bools | None:
        """The gain of each entry of a run, at least 0, by which equal scores are ordered for the
        least and the greatest value, shape (E,); None: the value depends on more."""
        if self.needs_rows():
            return None
        return (judged.grades >= self.rel) & (judged.grades >= 0)

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats | None:
        """The mean over all orders of equal scores, shape (Q,); None: it has no closed form.

        Args:
            judged: the run.
            groups: its groups of equal scores, by :meth:`tie_gains`.
        """
        return None

    def over_ties(self, tied: TiedRun, value: Floats) -> tuple[Floats, Floats, Floats]:
        """The least, the expected and the greatest value over all orders of equal scores.

        Args:
            tied: the queries of the run with equal scores.
            value: the values of the run, shape (Q,).

        Returns:
            Three arrays of shape (Q,); NaN where it is not known.
        """
        unknown, gains = np.full(len(value), np.nan), self.tie_gains(tied.run)
        if gains is None:
            return unknown, unknown, unknown
        ends = [self.values(tied.ordered(gains, best_first=best)) for best in (True, False)]
        low, high = (
            np.where(tied.is_tied, end([*ends, value], axis=0), value) for end in (np.min, np.max)
        )
        judged_only = bool(self.params.get("judged_only"))
        groups = tied.groups(gains, self.cutoff, judged_only=judged_only)
        mean = self.expected(tied.run, groups)
        return low, unknown if mean is None else np.clip(mean, low, high), high

    # Bounds over all labellings of unjudged documents

    def bounds(self, run: LabelledRun) -> Bounds:
        """The lowest and the highest value over all labellings, shape (Q,) each."""
        raise NotImplementedError

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        """The bounds of A less B; by default outer bounds, from the bounds of both runs."""
        return bounding.of_difference(pair.a.bounds, pair.b.bounds)

    def is_exact(self, *, pair: bool = False) -> bool:
        """Whether some labelling reaches the bounds of a run, or of the difference of two runs."""
        return not pair or type(self).difference_bounds is not Formula.difference_bounds

    @property
    def defines_bounds(self) -> bool:
        """Whether the measure has bounds, perhaps with other parameters."""
        return type(self).bounds is not Formula.bounds

    # Values under labellings

    def labelled_values(self, run: LabelledRun, rankings: LabelledRankings) -> Floats:
        """The values of M rankings of a run's queries, each with its own labels, shape (M,)."""
        return self.from_ranks(rankings.ranks, rankings.offsets, rankings.total)

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


class BoundedByPair(Formula):
    """A measure whose bounds are those of the difference from a run that retrieved nothing."""

    def bounds(self, run: LabelledRun) -> Bounds:
        return self.difference_bounds(LabelledPair(run, run.labels.nothing(self)))


class Additive(BoundedByPair):
    """A measure that is the sum of the weights of the retrieved relevant documents."""

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats | None:
        return ties.gain(groups, self.rank_weights)

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        return bounding.additive(pair.a.value - pair.b.value, pair.weights, pair.offsets)


class FirstRelevant(BoundedByPair):
    """A measure that uses only the rank of the first relevant document."""

    def worth(self, ranks: Floats) -> Floats:
        """The values for first relevant documents at these ranks; infinite: no such document."""
        raise NotImplementedError

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        return pair_bounds.first_relevant(pair.documents, self.worth)


class MeanPrecision(Formula):
    """A measure that is the mean of a precision at the ranks of the relevant documents."""

    SLOW_DIFFERENCES = True

    def bounds(self, run: LabelledRun) -> Bounds:
        low, high = self._pair_bounds(LabelledPair(run, run.labels.nothing(self)))
        least, most = self.value_range()  # for a query with too many unjudged documents
        return np.where(np.isfinite(low), low, least), np.where(np.isfinite(high), high, most)

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        (low, high), (pair_low, pair_high) = (
            super().difference_bounds(pair),
            self._pair_bounds(pair),
        )
        return np.maximum(low, pair_low), np.minimum(high, pair_high)

    def _pair_bounds(self, pair: LabelledPair) -> Bounds:
        return pair_bounds.average_precision_difference(
            pair.documents,
            (pair.a.value - pair.b.value) * pair.a.relevant.total,
            *pair.both_weights,
        )


class RatioOfGains(BoundedByPair):
    """A measure that is the gain of a run divided by the highest possible gain."""

    def gained(self, run: LabelledRun) -> Floats:
        """The gain of a run before it is divided by the ideal gain, shape (Q,)."""
        raise NotImplementedError

    def levels(self, run: LabelledRun) -> tuple[Floats, int, Ints]:
        """The levels of gain, ascending; the number of levels that a label can give; the number of
        judged documents with at least each gain, shape (Q, G)."""
        raise NotImplementedError

    def ideal(self, most: int) -> Floats:
        """The highest gain of 0, 1, 2, ... ``most`` documents of gain 1 each."""
        raise NotImplementedError

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        levels, attainable, counts = self.levels(pair.a)
        return pair_bounds.ratio_of_gains(
            pair.a.once(self.gained) - pair.b.once(self.gained),
            pair.weights,
            pair.offsets,
            pair.others,
            counts,
            np.diff(levels, prepend=0.0),
            self.ideal,
            attainable,
        )
