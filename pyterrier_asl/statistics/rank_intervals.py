"""Simultaneous intervals of the ranks of S systems.

The Q topics are a sample. With probability ``1 - alpha`` (asymptotically) every interval holds the
rank that its system has by the mean over the population of topics. The intervals follow from pairs:
the probability that any pair of systems is put in the wrong order is at most ``alpha``. A pair's
difference is divided by its standard error, whose square is averaged with that of all pairs, and
compared with the largest such quotient of all pairs where the topics' residuals get random signs;
pairs that are ordered are then left out, and the rest is compared again.

Sources: step-down maxima: Romano and Wolf 2005; ranks from pairs: Mogstad, Romano, Shaikh and
Wilhelm 2024; topics as blocks: Carterette 2012; the best: Hsu 1981.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .inputs import ArrayLike, Floats, Ints, check_name, check_probability
from .rounding import EQUAL

Bools = NDArray[np.bool_]

#: How a pair's squared error is computed: averaged with that of all pairs, or the latter alone.
VARIANCES = ("averaged", "common")

#: The greatest error of statistics in single precision, relative and absolute.
_SINGLE = 1e-4

#: The number of values in a chunk of draws, which a core's cache holds.
_BLOCK = 2**18


@dataclass(frozen=True)
class RankIntervals:
    """Ranks of S systems.

    Attributes:
        low: the best rank that each can have, from 1, shape (S,).
        high: the worst, shape (S,).
        better: whether the row's system is better than the column's, shape (S, S).
        possibly_best: whether each could be the best, by a test of its own, shape (S,); None
            where it was not computed.
        difference: weighted mean difference, row less column (with bounds the least), (S, S).
        statistic: the same divided by its standard error, shape (S, S).
        critical: the critical value of each step; of several judges a list for each.
    """

    low: Ints
    high: Ints
    better: Bools
    possibly_best: Bools | None
    difference: Floats
    statistic: Floats
    critical: list[Any]


def rank_intervals(
    values: ArrayLike | None = None,
    *,
    lower: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    collections: Sequence[Any] | None = None,
    alpha: float = 0.05,
    variance: str = "averaged",
    draws: int = 10_000,
    seed: int = 0,
    possibly_best: bool = True,
    progress: bool | None = False,
) -> RankIntervals:
    """Intervals of the ranks of systems that hold for all of them at once.

    Args:
        values: of each system and topic, higher is better, shape (S, Q).
        lower: instead of values the least difference, row's system less column's, that each topic
            could have, shape (S, S, Q); the diagonal is not looked at.
        weights: of each topic, positive, shape (Q,), only ratios matter; None: equal, and of
            several collections each counts the same.
        collections: the collection of each topic, which have two topics at least; None: one.
        alpha: the probability that some pair is put in the wrong order.
        variance: one of :data:`VARIANCES`.
        draws: how many random sign vectors; all 2^Q where that is not more.
        seed: seed of these.
        possibly_best: whether to compute which systems could be the best.
        progress: whether to show a progress bar; None: where there is a terminal.

    Raises:
        ValueError: for values that are not finite, shapes that do not fit, weights that are not
            positive, a collection of a single topic, or options out of range.

    >>> values = [[0.9, 0.8, 0.9, 0.7, 0.8, 0.9], [0.5, 0.6, 0.4, 0.5, 0.3, 0.5]]
    >>> ranks = rank_intervals([*values, values[1]])
    >>> ranks.low.tolist(), ranks.high.tolist(), ranks.possibly_best.tolist()
    ([1, 2, 2], [1, 3, 3], [True, False, False])
    """
    check_probability("alpha", alpha)
    pairs = Pairs(values, lower, weights, collections, variance, draws, seed)
    systems = len(pairs.difference)
    nth = pairs.draws - ceil((1 - alpha) * pairs.draws - 1e-9) + 1
    unordered = ~np.eye(systems, dtype=bool)
    # Where all sign vectors are enumerated, a statistic can be equal to its critical value.
    precision = np.float32 if pairs.are_random else np.float64
    largest = pairs.largest(unordered, np.arange(pairs.draws), precision, progress)
    critical_values = np.partition(largest, -nth, axis=1)[:, -nth].astype(np.float64)
    remains = np.asarray(~pairs.exceeds(critical_values).any(axis=0)) if possibly_best else None
    better, critical = np.zeros_like(unordered), []
    while unordered.any():
        critical.append(pairs.nth_largest(unordered, largest.max(axis=0), nth))
        rejected = unordered & pairs.exceeds(critical[-1])
        if not rejected.any():
            break
        better |= rejected
        unordered &= ~(rejected | rejected.T)
    low, high = 1 + better.sum(axis=0), systems - better.sum(axis=1)
    return RankIntervals(low, high, better, remains, pairs.difference, pairs.statistic, critical)


def joint_ranks(by_judge: Sequence[RankIntervals]) -> RankIntervals:
    """Intervals of ranks that hold whichever of several judges is right.

    A pair is ordered where every judge orders it so, an interval covers those of all judges, and
    a system could be the best where it could be by any judge. Differences and statistics are those
    of the first judge.
    """
    first = by_judge[0]
    remaining = [judge.possibly_best for judge in by_judge if judge.possibly_best is not None]
    return RankIntervals(
        np.min([judge.low for judge in by_judge], axis=0),
        np.max([judge.high for judge in by_judge], axis=0),
        np.all([judge.better for judge in by_judge], axis=0),
        np.any(remaining, axis=0) if remaining else None,
        first.difference,
        first.statistic,
        [judge.critical for judge in by_judge],
    )


def p_of_pair(
    values: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    collections: Sequence[Any] | None = None,
    variance: str = "averaged",
    draws: int = 10_000,
    seed: int = 0,
) -> float:
    """The two-sided p-value of a pair of systems; see :func:`rank_intervals` for the arguments.

    The share of sign vectors whose statistic is as large; the observed value is one of random ones.

    >>> p_of_pair([[0.5, 0.7, 0.4, 0.9, 0.3], [0.4, 0.6, 0.5, 0.7, 0.2]])
    0.25
    """
    pairs = Pairs(values, None, weights, collections, variance, draws, seed)
    if len(pairs.difference) != 2:
        raise ValueError(f"a pair is two systems, not {len(pairs.difference)}")
    largest = pairs.largest(~np.eye(2, dtype=bool), np.arange(pairs.draws)).max(axis=0)
    as_large = int((largest >= abs(pairs.statistic[0, 1]) * (1 - EQUAL)).sum())
    return (1 + as_large) / (1 + pairs.draws) if pairs.are_random else as_large / pairs.draws


class Pairs:
    """All ordered pairs of systems, and their statistics with random signs of the residuals.

    Args are those of :func:`rank_intervals`.

    Attributes:
        residuals: of each system and topic, shape (S, Q), a pair's being the difference of two
            systems'; with bounds of each pair, (S, S, Q).
        difference: the mean difference of each pair, shape (S, S).
        error: the squared error of each pair, shape (S, S).
        groups: the topics of each collection.
        signs: sign vectors, shape (Q, N).
        draws: how many sign vectors there are, N.
        are_random: whether these are random ones, not all that there are.
        common: whether all pairs have the same squared error.
    """

    def __init__(
        self,
        values: ArrayLike | None,
        lower: ArrayLike | None,
        weights: ArrayLike | None,
        collections: Sequence[Any] | None,
        variance: str,
        draws: int,
        seed: int,
    ) -> None:
        check_name("variance", variance, VARIANCES)
        if draws < 1:
            raise ValueError(f"draws is {draws}: give at least 1")
        array = _finite(values, lower)
        self.groups = _groups(collections, array.shape[-1])
        share = _shares(weights, self.groups, array.shape[-1])
        self.residuals = np.empty_like(array)
        for group in self.groups:
            within = share[group] / share[group].sum()
            factor = share[group] / np.sqrt(1 - 2 * within + (within**2).sum())
            centred = array[..., group] - (array[..., group] @ within)[..., np.newaxis]
            self.residuals[..., group] = centred * factor
        self.difference = array @ share
        if lower is None:
            self.difference = self.difference[:, np.newaxis] - self.difference
            # What systems have in common is in no difference, and would cost single precision.
            self.residuals -= self.residuals.mean(axis=0)
        rounding = EQUAL * float(np.abs(array).max(initial=0))
        self.difference[np.abs(self.difference) <= rounding] = 0
        self.error = _squared_errors(self.residuals, rounding * float(share.max()))
        self.signs = _signs(draws, array.shape[-1], seed)
        self.draws = int(self.signs.shape[1])
        self.are_random = self.draws != 2 ** len(self.signs)
        self.common = variance == "common"

    @cached_property
    def mean_error(self) -> float:
        """The mean squared error of all ordered pairs."""
        systems = len(self.error)
        return float(self.error.sum() / max(systems * (systems - 1), 1))

    @cached_property
    def statistic(self) -> Floats:
        """The statistic of each pair, infinite where there is no error."""
        size = np.sqrt(self.mean_error if self.common else (self.error + self.mean_error) / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = self.difference / size
        return np.where(self.difference == 0, 0, statistic)

    def exceeds(self, critical: float | Floats) -> Bools:
        """The pairs whose statistics exceed a critical value, or one of each column."""
        return np.asarray((self.statistic > critical * (1 + EQUAL)) & (self.difference > 0))

    def largest(
        self, pairs: Bools, draws: Ints, dtype: Any = np.float64, progress: bool | None = False
    ) -> NDArray[Any]:
        """The largest statistic, 0 at least, of the pairs with each column's system.

        Args:
            pairs: which pairs, row's system less column's, shape (S, S).
            draws: with the signs of which draws, n of them.
            dtype: of the numbers.
            progress: whether to show a progress bar.

        Returns:
            Shape (S, n).
        """
        from tqdm.auto import tqdm

        maxima = np.zeros((len(pairs), len(draws)), dtype)
        residuals, by_value = self.residuals.astype(dtype, copy=False), self.residuals.ndim == 2
        rows: dict[int, Any] = {int(j): pairs[:, j] for j in np.flatnonzero(pairs.any(axis=0))}
        for j, chosen in rows.items():
            # A system's statistic against itself is 0, which no maximum is below.
            every = chosen.sum() == len(pairs) - 1
            rows[j] = slice(None) if every else np.flatnonzero(chosen)
        step = max(16, _BLOCK // len(pairs))
        starts = range(0, len(draws), step)
        disable = None if progress is None else not progress
        for start in tqdm(starts, desc="ranks", disable=disable, leave=False):
            signs = self.signs[:, draws[start : start + step]].astype(dtype)
            sums = [residuals[..., group] @ signs[group] for group in self.groups if by_value]
            for j, row in rows.items():
                if by_value:
                    totals = [part[row] - part[j] for part in sums]
                else:
                    totals = [residuals[row, j][:, group] @ signs[group] for group in self.groups]
                quotients = self._quotients(totals, row, j, dtype)
                maxima[j, start : start + step] = quotients.max(axis=0, initial=0)
        if len(self.groups) == 1 and not self.common:
            # With the error recomputed the quotient q becomes this, which grows with q.
            maxima *= np.sqrt(2 / (1 - maxima**2 / len(self.signs)))
        return maxima

    def nth_largest(self, pairs: Bools, before: NDArray[Any], n: int) -> float:
        """The n-th largest, over the draws, of the largest statistic of pairs, in double precision.

        It is computed for those draws only that could be among the n.

        Args:
            pairs: which pairs.
            before: the largest statistic of these and further pairs in each draw.
            n: from 1.
        """
        bound = before * (1 + _SINGLE) + _SINGLE
        order, values, nth = np.argsort(-bound, kind="stable"), np.empty(0), -np.inf
        while len(values) < len(order) and nth < bound[order[len(values)]]:
            some = order[len(values) : max(n, 2 * len(values))]
            values = np.concatenate((values, self.largest(pairs, some).max(axis=0)))
            nth = float(np.partition(values, -n)[-n])
        return nth

    @cached_property
    def _reciprocal_errors(self) -> Floats:
        size = self.mean_error if self.common else self.error + self.mean_error
        with np.errstate(divide="ignore"):
            return np.where(self.error > 0, 1 / np.sqrt(size), 0)

    def _quotients(self, totals: list[NDArray[Any]], row: Any, j: int, dtype: Any) -> NDArray[Any]:
        """The statistics of some pairs; of a single collection their errors are not recomputed."""
        if self.common or len(self.groups) == 1:
            total = sum(totals[1:], start=totals[0])
            total *= self._reciprocal_errors[row, j, np.newaxis].astype(dtype)
            return total
        explained = sum(part**2 / len(group) for part, group in zip(totals, self.groups))
        error = (self.error[row, j, np.newaxis] + self.mean_error).astype(dtype) - explained
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = sum(totals) / np.sqrt(error / 2)
        return np.where(self.error[row, j, np.newaxis] > 0, statistic, 0)


def _finite(values: ArrayLike | None, lower: ArrayLike | None) -> Floats:
    """Values, or the least differences of pairs with a diagonal of 0, as an array."""
    if (values is None) == (lower is None):
        raise ValueError("give either values or lower")
    array = np.array(values if lower is None else lower, dtype=np.float64)
    form = "systems x topics" if lower is None else "systems x systems x topics"
    square = lower is None or (array.ndim == 3 and array.shape[0] == array.shape[1])
    if array.ndim != (2 if lower is None else 3) or 0 in array.shape or not square:
        raise ValueError(f"an array of {form} is needed, not one of shape {array.shape}")
    if lower is not None:
        array[np.diag_indices(len(array))] = 0
    for *systems, topic in np.argwhere(~np.isfinite(array)).tolist()[:1]:
        raise ValueError(
            f"the value of system {' less '.join(map(str, systems))} for topic {topic} is "
            f"{array[(*systems, topic)]}: give finite values"
        )
    return array


def _groups(collections: Sequence[Any] | None, topics: int) -> list[Ints]:
    """The topics of each collection."""
    if collections is not None and len(collections) != topics:
        raise ValueError(f"{len(collections)} topics have a collection, and there are {topics}")
    names = np.zeros(topics) if collections is None else np.array(collections, dtype=str)
    groups = [np.flatnonzero(names == name) for name in np.unique(names)]
    for group in groups:
        if len(group) == 1:
            which = "the sample" if collections is None else f"collection {str(names[group[0]])!r}"
            raise ValueError(f"{which} has a single topic: at least two are needed")
    return groups


def _shares(weights: ArrayLike | None, groups: list[Ints], topics: int) -> Floats:
    """The weight of each topic; all of them are 1 together."""
    if weights is None:
        sizes = np.empty(topics)
        for group in groups:
            sizes[group] = len(groups) * len(group)
        return 1 / sizes
    share = np.asarray(weights, dtype=np.float64)
    if share.shape != (topics,) or not np.isfinite(share).all() or share.min() <= 0:
        raise ValueError(f"give each of the {topics} topics a positive, finite weight")
    return np.asarray(share / share.sum())


def _squared_errors(residuals: Floats, rounding: float) -> Floats:
    """The sum of each pair's squared residuals, where those of the size of rounding are 0."""
    error = np.empty((len(residuals), len(residuals)))
    for system, own in enumerate(residuals):
        differences = own if residuals.ndim == 3 else residuals - own
        differences[np.abs(differences) <= rounding] = 0
        error[system] = np.einsum("kq,kq->k", differences, differences)
    return error


@lru_cache(maxsize=1)
def _signs(draws: int, topics: int, seed: int) -> NDArray[np.int8]:
    """Sign vectors, shape (Q, N): all that there are, or random ones.

    The last ones are kept, read-only: the measures and judges of one collection share them.
    """
    if 2**topics <= draws:
        bits = np.arange(2**topics) >> np.arange(topics)[:, np.newaxis] & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, (draws, topics)).T
    signs = np.ascontiguousarray(1 - 2 * bits.astype(np.int8))
    signs.setflags(write=False)
    return signs
