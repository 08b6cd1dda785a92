"""The ranking of systems by one measure: means, intervals, and who differs significantly."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..leaderboard.samples import FEWEST, Sample, check_sample
from ..measures.names import NamedMeasure, added_up
from ..measures.standard import computed
from ..scoring.arrays import Bools, Floats, Ints
from ..statistics.intervals import confidence_interval
from ..statistics.rank_intervals import RankIntervals, rank_intervals
from ..statistics.tests import PAIR_TESTS, compare_all


@dataclass(frozen=True)
class SystemRanking:
    """S systems by one measure on Q queries.

    Attributes:
        named: the measure and its name.
        values: shape (S, Q).
        names: the systems, S of them.
        test: which test decides who differs; see
            :func:`~pyterrier_asl.statistics.tests.compare_all`.
        alpha: its level; intervals cover 1 - alpha.
    """

    named: NamedMeasure
    values: Floats
    names: list[str]
    test: str = "t"
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
        return ": ".join(filter(None, (measure.PRETTY_NAME, measure.SHORT_DESC)))

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

    @cached_property
    def gains(self) -> Floats:
        """The means with a sign so that higher is better, shape (S,)."""
        return -self.means if self.higher_is_better is False else self.means

    @cached_property
    def margins(self) -> Floats:
        """Half the width of each mean's interval by Student's t, shape (S,).

        NaN for one query, and for a sum.
        """
        if self.is_sum:
            return np.full(len(self.names), np.nan)
        intervals = [confidence_interval(row, alpha=self.alpha) for row in self.values]
        return np.array([interval.high - interval.mean for interval in intervals])

    @cached_property
    def medians(self) -> Floats:
        """The median of the systems for each query, shape (Q,)."""
        return np.asarray(np.median(self.values, axis=0))

    @cached_property
    def hardest_first(self) -> list[int]:
        """The queries, hardest for the median system first."""
        medians = -self.medians if self.higher_is_better is False else self.medians
        return [int(query) for query in np.argsort(medians, kind="stable")]

    @cached_property
    def spreads(self) -> Floats:
        """The standard deviation of the systems for each query, 0 for one system, shape (Q,)."""
        return np.asarray(self.values.std(axis=0, ddof=min(1, len(self.names) - 1)))

    @cached_property
    def order(self) -> Ints:
        """The systems from best to worst; equal ones in their given order."""
        return np.argsort(-self.gains, kind="stable")

    @cached_property
    def ranks(self) -> Ints:
        """The rank of each system from 1; systems with equal means share the best of theirs."""
        from scipy.stats import rankdata

        return np.asarray(rankdata(-self.gains, method="min"), dtype=np.int64)

    @cached_property
    def comparisons(self) -> pd.DataFrame | None:
        """Every pair; None for a measure without a direction, or a single system."""
        if self.higher_is_better is None or len(self.names) < 2:
            return None
        return compare_all(self.values, self.names, test=self.test, alpha=self.alpha)

    @cached_property
    def own_p(self) -> Floats | None:
        """The p-value of each pair by itself, by the paired test; None as :attr:`comparisons`.

        It is that of :attr:`test`, or, after a test of all systems at once, of the t-test.
        """
        if self.comparisons is None:
            return None
        own = self.comparisons
        if self.test not in PAIR_TESTS:
            own = compare_all(self.values, self.names, test="t", correction="none")
        return own["p"].to_numpy(dtype=np.float64)

    @cached_property
    def deviation_ratio(self) -> float:
        """The largest standard deviation of a system over the queries, over the smallest one."""
        if self.values.shape[1] < 2:
            return 1.0
        deviations = self.values.std(axis=1, ddof=1)
        smallest, largest = float(deviations.min()), float(deviations.max())
        if not largest:
            return 1.0
        return largest / smallest if smallest else float("inf")

    @cached_property
    def differs(self) -> Bools:
        """Flags of pairs of systems that differ significantly, shape (S, S)."""
        differs = np.zeros((len(self.names),) * 2, dtype=bool)
        if self.comparisons is not None:
            differs[np.triu_indices(len(self.names), k=1)] = self.comparisons["significant"]
        return differs | differs.T

    @cached_property
    def intervals(self) -> RankIntervals | None:
        """The ranks that each system could have, which hold for all systems at once.

        None for a single system, fewer than ten queries, a count, and a cost
        without a cut-off, in which one system that fails makes all intervals wide.
        """
        enough = len(self.names) > 1 and self.values.shape[1] >= FEWEST
        measure = self.named.measure
        own = None if measure is None else computed(measure)
        unbounded = own is not None and own.HIGHER_IS_BETTER is False and own.cutoff is None
        if self.higher_is_better is None or not enough or unbounded:
            return None
        values = self.values if self.higher_is_better else -self.values
        return rank_intervals(values, alpha=self.alpha)

    @cached_property
    def cautions(self) -> list[str]:
        """Why :attr:`intervals` may hold less often than they say, or be wide."""
        if self.intervals is None:
            return []
        topics = list(range(self.values.shape[1]))
        sample = Sample(self.names, topics, bool(self.higher_is_better), {"": self.values})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check_sample(sample, self.name)
        return [str(warning.message) for warning in caught]

    @cached_property
    def better(self) -> Bools:
        """Whether the row's system is significantly better than the column's, shape (S, S)."""
        return np.asarray(self.differs & (self.gains[:, None] > self.gains))

    @cached_property
    def groups(self) -> list[tuple[int, int]]:
        """Systems from best to worst that do not differ significantly: see :func:`groups`."""
        return groups(self.differs[np.ix_(self.order, self.order)])

    @cached_property
    def letters(self) -> list[str]:
        """The groups of each system, ``'b'`` or ``'b–d'``, in the order of :attr:`names`."""
        texts = [""] * len(self.names)
        for at, system in enumerate(self.order):
            of = [letter(g) for g, (first, last) in enumerate(self.groups) if first <= at <= last]
            texts[system] = of[0] if len(of) == 1 else f"{of[0]}–{of[-1]}"
        return texts


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


def groups(differs: Bools) -> list[tuple[int, int]]:
    """The longest runs of neighbours in a ranking of which no two differ significantly.

    After one of Tukey's tests, whose least significant difference is the same for all pairs, two
    systems differ exactly where no group holds both. After other tests systems without a common
    group may still not differ; those of one group never do.

    Args:
        differs: which two differ, systems in order, shape (S, S).

    Returns:
        First and last of each group, from the top; each of the S systems is in one of them.

    >>> differs = np.zeros((4, 4), dtype=bool)
    >>> differs[0, 2:] = differs[2:, 0] = True
    >>> groups(differs)
    [(0, 1), (1, 3)]
    """
    last_of: dict[int, int] = {}
    first = 0
    for last in range(len(differs)):
        while differs[first : last + 1, last].any():
            first += 1
        last_of[first] = last
    return list(last_of.items())


def letter(number: int) -> str:
    """The name of a group: a, b, ... z, aa, ab, ...

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
