"""Kinds of measures whose bounds follow from a few properties."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ..common.types import Floats, Ints
from ..scoring import bounds as bounding
from ..scoring import pair_bounds, ties
from ..scoring.arrays import sum_by_query
from ..scoring.matrices import Bounds
from .formula import Formula, LabelledRun

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun
    from ..scoring.ties import TieGroups


class BoundedByPair(Formula):
    """A measure whose bounds are those of the difference from a run that retrieved nothing."""

    def bounds(self, run: LabelledRun) -> Bounds:
        return self.difference_bounds(run, run.nothing)


class Additive(BoundedByPair):
    """A measure that is the sum of the weights of the retrieved relevant documents."""

    def from_ranks(self, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
        return sum_by_query(self.rank_weights(ranks), offsets)

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats | None:
        return ties.gain(groups, self.rank_weights)

    def difference_bounds(self, a: LabelledRun, b: LabelledRun) -> Bounds:
        pair = a.beside(b)
        return bounding.additive(a.value - b.value, pair.weights, pair.offsets)


class FirstRelevant(BoundedByPair):
    """A measure that uses only the rank of the first relevant document."""

    @abstractmethod
    def worth(self, ranks: Floats) -> Floats:
        """The values for first relevant documents at these ranks; infinite: no such document."""

    def difference_bounds(self, a: LabelledRun, b: LabelledRun) -> Bounds:
        return pair_bounds.first_relevant(a.beside(b), self.worth)


class MeanPrecision(Formula):
    """A measure that is the mean of a precision at the ranks of the relevant documents."""

    SLOW_DIFFERENCES = True

    def bounds(self, run: LabelledRun) -> Bounds:
        low, high = self._pair_bounds(run, run.nothing)
        least, most = self.value_range()  # for a query with too many unjudged documents
        return np.where(np.isfinite(low), low, least), np.where(np.isfinite(high), high, most)

    def difference_bounds(self, a: LabelledRun, b: LabelledRun) -> Bounds:
        low, high = super().difference_bounds(a, b)
        pair_low, pair_high = self._pair_bounds(a, b)
        return np.maximum(low, pair_low), np.minimum(high, pair_high)

    def _pair_bounds(self, a: LabelledRun, b: LabelledRun) -> Bounds:
        return pair_bounds.average_precision_difference(
            a.beside(b), (a.value - b.value) * a.relevant.total
        )


class RatioOfGains(BoundedByPair):
    """A measure that is the gain of a run divided by the highest possible gain."""

    @abstractmethod
    def gained(self, run: LabelledRun) -> Floats:
        """The gain of a run before it is divided by the ideal gain, shape (Q,)."""

    @abstractmethod
    def levels(self, run: LabelledRun) -> tuple[Floats, int, Ints]:
        """The levels of gain, ascending; the number of levels that a label can give; the number of
        judged documents with at least each gain, shape (Q, G)."""

    @abstractmethod
    def ideal(self, most: int) -> Floats:
        """The highest gain of 0, 1, 2, ... ``most`` documents of gain 1 each."""

    def difference_bounds(self, a: LabelledRun, b: LabelledRun) -> Bounds:
        levels, attainable, counts = self.levels(a)
        return pair_bounds.ratio_of_gains(
            a.beside(b),
            a.once(self.gained) - b.once(self.gained),
            counts,
            np.diff(levels, prepend=0.0),
            self.ideal,
            attainable,
        )
