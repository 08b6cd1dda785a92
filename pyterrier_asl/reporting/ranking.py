"""The ranking of systems by one measure: means, intervals, and which pairs are ordered."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..leaderboard.ranks import note_on_weak
from ..leaderboard.samples import FEWEST, Sample, check_sample, worst_value
from ..measures.names import NamedMeasure, added_up
from ..scoring.arrays import Bools, Floats, Ints
from ..statistics.rank_intervals import RankIntervals, rank_intervals


@dataclass(frozen=True)
class SystemRanking:
    """S systems by one measure on Q queries.

    Attributes:
        named: the measure and its name.
        values: shape (S, Q).
        names: the systems, S of them.
        alpha: level of significance; intervals cover 1 - alpha.
    """

    named: NamedMeasure
    values: Floats
    names: list[str]
    alpha: float = 0.05

    @property
    def name(self) -> str:
        """The measure's name."""
        return self.named.name

    @property
    def kind(self) -> str:
        """The measure's name without parameters."""
        return str(self.named.measure.NAME)

    @property
    def description(self) -> str:
        """The measure in words; '' where it is not known."""
        measure = self.named.measure
        if measure is None:
            return ""
        parts = filter(None, (measure.PRETTY_NAME, measure.SHORT_DESC))
        return ": ".join(parts).replace("percentage", "proportion")  # values are from 0 to 1

    @property
    def higher_is_better(self) -> bool | None:
        """The measure's direction; None for a count."""
        return self.named.higher_is_better

    @property
    def is_sum(self) -> bool:
        """Whether the measure is a count, which is added up over the queries, not averaged."""
        return added_up(self.named.measure)

    @cached_property
    def means(self) -> Floats:
        """The mean of each system, of a count the sum, shape (S,)."""
        return np.asarray(self.values.sum(axis=1) if self.is_sum else self.values.mean(axis=1))

    @property
    def sign(self) -> int:
        """1, or -1 where lower values are better."""
        return self.sample.sign

    @cached_property
    def gains(self) -> Floats:
        """The means with a sign so that higher is better, shape (S,)."""
        return self.sign * self.means

    @cached_property
    def medians(self) -> Floats:
        """The median of the systems for each query, shape (Q,)."""
        return np.asarray(np.median(self.values, axis=0))

    @cached_property
    def hardest_first(self) -> list[int]:
        """The queries, hardest for the median system first."""
        return [int(query) for query in np.argsort(self.sign * self.medians, kind="stable")]

    @cached_property
    def spreads(self) -> Floats:
        """The standard deviation of the systems for each query, 0 for one system, shape (Q,)."""
        return np.asarray(self.values.std(axis=0, ddof=min(1, len(self.names) - 1)))

    @cached_property
    def sample(self) -> Sample:
        """The values as :func:`~pyterrier_asl.ranks` has them."""
        topics, up = list(range(self.values.shape[1])), self.higher_is_better is not False
        worst = worst_value(self.named.measure, up)
        return Sample(self.names, topics, up, {"": self.values}, worst=worst)

    @property
    def ranks(self) -> Ints:
        """The rank of each system from 1; systems with equal means share the best of theirs."""
        return self.sample.ranks

    @cached_property
    def order(self) -> Ints:
        """The systems from best to worst; equal ones in their given order."""
        return np.argsort(self.ranks, kind="stable")

    @cached_property
    def intervals(self) -> RankIntervals | None:
        """The ranks that each system could have, which hold for all systems at once, and the p of
        each pair, as :func:`~pyterrier_asl.ranks` has them.

        None for a single system, fewer than ten queries, and a measure without a direction.
        """
        enough = len(self.names) > 1 and self.values.shape[1] >= FEWEST
        if self.higher_is_better is None or not enough:
            return None
        return rank_intervals(self.sign * self.values, alpha=self.alpha)

    @cached_property
    def cautions(self) -> list[str]:
        """Why :attr:`intervals` may hold less often than they say, or be wide."""
        if self.intervals is None:
            return []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check_sample(self.sample, self.name)
        of_weak = note_on_weak(self.sample, self.name, self.intervals, {"alpha": self.alpha})
        return [*(str(warning.message) for warning in caught), *filter(None, [of_weak])]

    @property
    def better(self) -> Bools:
        """Whether the row's system is ordered above the column's, shape (S, S)."""
        if self.intervals is None:
            return np.zeros((len(self.names),) * 2, dtype=bool)
        return self.intervals.better

    @property
    def candidates(self) -> list[int]:
        """The systems that could be the best, the best mean first; none without intervals."""
        if self.intervals is None or self.intervals.possibly_best is None:
            return []
        return [int(at) for at in self.order if self.intervals.possibly_best[at]]


@dataclass(frozen=True)
class ScoreRanking(SystemRanking):
    """S systems by scores that others computed, of a measure that may not be known.

    Attributes:
        up: whether more of it is better.
    """

    up: bool | None = None

    @property
    def kind(self) -> str:
        """The measure's name without parameters."""
        return re.split(r"[@(]", self.name)[0]

    @property
    def higher_is_better(self) -> bool | None:
        """The measure's direction."""
        return self.up

    @property
    def is_sum(self) -> bool:
        """Never: scores are averaged."""
        return False
