"""Simultaneous intervals of the ranks of S systems, and the p-value of each pair.

The Q topics are a sample. With probability ``1 - alpha`` (asymptotically) every interval contains
the rank that its system has by the mean over the population of topics. The intervals follow from
the pairs of systems: the probability that any pair is put in the wrong order is at most ``alpha``.

The difference of a pair is divided by its standard error. The squared error is a quarter of the
pair's own one and three quarters of the mean over all pairs. The quotient is compared with the
largest quotient of all pairs after the topics' residuals got random signs. Ordered pairs are left
out and the others are compared again. The p-value of a pair is the least ``alpha`` that orders it.

Sources: step-down maxima and their p-values: Romano and Wolf 2005; ranks from pairs: Mogstad,
Romano, Shaikh and Wilhelm 2024; topics as blocks: Carterette 2012; the best: Hsu 1981, in two
steps: Romano, Shaikh and Wolf 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from ..common.parameters import check_name, check_probability
from ..common.types import Bools, Floats, Ints
from .random_signs import sign_vectors, step_down
from .rounding import EQUAL
from .settings import DRAWS, ArrayLike, check_draws

#: The weight of a pair's own squared error; the mean over all pairs has the rest.
VARIANCES = {"averaged": 0.25, "common": 0.0}

#: The number of values in a chunk of draws; they fit into the cache of a core.
_BLOCK = 2**17


@dataclass(frozen=True)
class RankIntervals:
    """Ranks of S systems.

    Attributes:
        low: the best rank that each system can have, from 1, shape (S,).
        high: the worst rank, shape (S,).
        better: whether the row's system is better than the column's, shape (S, S).
        possibly_best: whether each system could be the best, shape (S,); None: not computed.
        difference: weighted mean difference, row less column (with bounds the least), shape (S, S).
        statistic: the difference divided by its standard error, shape (S, S).
        p: the p-value of each pair, adjusted for all pairs, shape (S, S); the diagonal is 1. A pair
            is ordered exactly where it is at most ``alpha``. 0 means less than ``1 / draws``.
        least: for two systems the lower end of the confidence interval of the difference, row less
            column, shape (2, 2); the upper end is minus the entry of the other order. None for more
            systems.
        critical: the critical value of each step; for several judges one list per judge.
        draws: the number of sign vectors.
    """

    low: Ints
    high: Ints
    better: Bools
    possibly_best: Bools | None
    difference: Floats
    statistic: Floats
    p: Floats
    least: Floats | None
    critical: list[Any]
    draws: int


def rank_intervals(
    values: ArrayLike | None = None,
    *,
    lower: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    collections: Sequence[Any] | None = None,
    alpha: float = 0.05,
    variance: str = "averaged",
    draws: int = DRAWS,
    seed: int = 0,
    possibly_best: bool = True,
    progress: bool | None = False,
) -> RankIntervals:
    """Intervals of the ranks of systems that hold for all systems at once.

    Args:
        values: the value of each system and topic, higher is better, shape (S, Q).
        lower: instead of values the least difference, row's system less column's, that each topic
            could have, shape (S, S, Q); the diagonal is ignored.
        weights: the weight of each topic, positive, shape (Q,), only ratios matter; None: equal
            weights, of several collections equal weights of the collections.
        collections: the collection of each topic, at least two topics each; None: one collection.
        alpha: the probability that any pair is put in the wrong order.
        variance: one of :data:`VARIANCES`.
        draws: number of random sign vectors; all 2^Q if these are not more.
        seed: seed of the sign vectors.
        possibly_best: whether to compute which systems could be the best.
        progress: whether to show a progress bar; None: only on a terminal.

    Raises:
        ValueError: for values that are not finite, shapes that do not fit, weights that are not
            positive, a collection of a single topic, or options out of range.

    >>> values = [[0.9, 0.8, 0.9, 0.7, 0.8, 0.9], [0.5, 0.6, 0.4, 0.5, 0.3, 0.5]]
    >>> ranks = rank_intervals([*values, values[1]])
    >>> ranks.low.tolist(), ranks.high.tolist(), ranks.possibly_best.tolist()
    ([1, 2, 2], [1, 3, 3], [True, False, False])
    >>> ranks.p[0].tolist(), float(ranks.p[1, 2])
    ([1.0, 0.0, 0.0], 1.0)
    """
    check_probability("alpha", alpha)
    pairs = Pairs(values, lower, weights, collections, variance, draws, seed)
    if draws == pairs.draws and alpha * draws < 1 - EQUAL:  # else all signs are used
        raise ValueError(f"draws is {draws}: alpha = {alpha:g} needs at least {ceil(1 / alpha):,}")
    p, largest = pairs.p_values(progress)
    better = (p <= alpha + EQUAL / pairs.draws) & (pairs.difference > 0)
    unordered, critical = ~np.eye(len(p), dtype=bool), []
    while unordered.any():
        critical.append(float(pairs.critical(unordered, largest, alpha)[0]))
        rejected = unordered & (pairs.statistic > critical[-1] * (1 + EQUAL))
        if not rejected.any():
            break
        unordered &= ~(rejected | rejected.T)
    remains = better.sum(axis=0) == 0 if possibly_best else None
    if possibly_best and len(p) > 2:  # of two systems the joint test decides
        remains = _possibly_best(pairs, largest, alpha / 2)
    return RankIntervals(
        low=1 + better.sum(axis=0),
        high=len(p) - better.sum(axis=1),
        better=better,
        possibly_best=remains,
        difference=pairs.difference,
        statistic=pairs.statistic,
        p=p,
        least=pairs.difference - critical[0] * np.sqrt(pairs.error) if len(p) == 2 else None,
        critical=critical,
        draws=pairs.draws,
    )


def _possibly_best(pairs: Pairs, largest: Floats, alpha: float) -> Bools:
    """The systems that no other system is better than, by a separate test of each system.

    First, rivals that are surely worse are set aside, at a tenth of alpha. Then the system is
    compared with the other rivals, at the rest of alpha.

    Args:
        largest: the largest statistic of all pairs in each draw.
        alpha: the probability to leave out a system that is the best.
    """
    beaten_by, n = pairs.statistic.max(axis=0), pairs.nth(0.9 * alpha)
    # In no draw is the largest statistic of some pairs above that of all pairs.
    contested = beaten_by <= np.partition(largest, -n)[-n] * (1 + EQUAL)
    rivals = ~np.eye(len(contested), dtype=bool) & contested
    rivals &= ~pairs.exceeding(rivals, largest, 0.1 * alpha, reverse=True)
    return np.asarray(contested & ~pairs.exceeding(rivals, largest, 0.9 * alpha).any(axis=0))


def joint_ranks(by_judge: Sequence[RankIntervals]) -> RankIntervals:
    """Intervals of ranks that hold whichever of several judges is right.

    A pair is ordered if every judge orders it in the same direction. An interval covers the
    intervals of all judges. A system could be the best if it could be by any judge. The p-value of
    a pair is the greatest of all judges, and 1 if judges disagree on the direction. Differences and
    statistics come from the first judge.
    """
    remaining = [judge.possibly_best for judge in by_judge if judge.possibly_best is not None]
    least = [judge.least for judge in by_judge if judge.least is not None]
    ahead = np.any([judge.difference > 0 for judge in by_judge], axis=0)
    return replace(
        by_judge[0],
        low=np.min([judge.low for judge in by_judge], axis=0),
        high=np.max([judge.high for judge in by_judge], axis=0),
        better=np.all([judge.better for judge in by_judge], axis=0),
        possibly_best=np.any(remaining, axis=0) if remaining else None,
        p=np.where(ahead & ahead.T, 1.0, np.max([judge.p for judge in by_judge], axis=0)),
        least=np.min(least, axis=0) if least else None,
        critical=[judge.critical for judge in by_judge],
    )


class Pairs:
    """All ordered pairs of systems, and their statistics with random signs of the residuals.

    The arguments are documented in :func:`rank_intervals`.

    Attributes:
        residuals: the residual of each system and topic, shape (S, Q); the residual of a pair is
            the difference of two rows. With bounds, the residuals of each pair, shape (S, S, Q).
        difference: the mean difference of each pair, shape (S, S).
        error: the squared standard error of each difference, shape (S, S).
        statistic: the difference divided by its error, infinite without error, shape (S, S).
        groups: the topics of each collection.
        signs: sign vectors, shape (Q, N).
        draws: the number of sign vectors, N.
        own_share: the weight of a pair's own squared error.
        scale: 1 divided by the root of the error; 0 for a pair without residuals, shape (S, S).
        shrinkage: the error is recomputed in each draw, which turns a quotient q of a single
            collection into q / sqrt(1 - shrinkage q^2). This grows with q, so only maxima are
            corrected. 0 if errors are recomputed pair by pair, or not at all.
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
        check_name("variance", variance, list(VARIANCES))
        check_draws(draws, seed)
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
        rounding = EQUAL * float(np.abs(array).max(initial=0))
        self.difference[np.abs(self.difference) <= rounding] = 0
        own, systems = _squared_errors(self.residuals, rounding * float(share.max())), len(array)
        self.own_share = VARIANCES[variance]
        mean = own.sum() / max(systems * (systems - 1), 1)
        self.error = self.own_share * own + (1 - self.own_share) * mean
        with np.errstate(divide="ignore", invalid="ignore"):
            self.statistic = np.where(
                self.difference == 0, 0, self.difference / np.sqrt(self.error)
            )
            self.scale = np.where(own > 0, 1 / np.sqrt(self.error), 0)
        self.signs = sign_vectors(draws, array.shape[-1], seed)
        self.draws = int(self.signs.shape[1])
        self.shrinkage = self.own_share / len(self.signs) if len(self.groups) == 1 else 0.0

    def p_values(self, progress: bool | None = False) -> tuple[Floats, Floats]:
        """The p-value of each pair, and the largest statistic of all pairs in each draw.

        Returns:
            Shapes (S, S) and (N,).
        """
        a, b = np.triu_indices(len(self.statistic), k=1)
        larger = np.maximum(np.maximum(self.statistic[a, b], self.statistic[b, a]), 0)
        with np.errstate(divide="ignore"):
            size = 1 / np.sqrt((larger * (1 - EQUAL)) ** -2.0 + self.shrinkage)
        pairs = list(zip(a.tolist(), b.tolist()))

        def statistics(draws: slice) -> Callable[[int], Floats]:
            drawn = Draws(self, draws)
            return lambda number: drawn.either_order(*pairs[number])

        adjusted, largest = step_down(size, statistics, self.draws, progress)
        p = np.ones_like(self.statistic)
        p[a, b] = adjusted
        return np.minimum(p, p.T), self._corrected(largest)

    def largest(self, pairs: Bools, draws: Ints, *, reverse: bool = False) -> Floats:
        """The largest statistic, at least 0, among the pairs of each column, for each draw.

        Args:
            pairs: flags of the pairs, row's system less column's, shape (S, S).
            draws: the numbers of the draws, n of them.
            reverse: whether to use column's system less row's.

        Returns:
            Shape (S, n).
        """
        maxima = np.zeros((len(pairs), len(draws)))
        columns = [(int(j), np.flatnonzero(pairs[:, j])) for j in np.flatnonzero(pairs.any(axis=0))]
        step = max(16, _BLOCK // len(pairs))
        for start in range(0, len(draws), step):
            drawn = Draws(self, draws[start : start + step])
            for j, rows in columns:
                quotients = drawn.quotients(j, rows) if reverse else drawn.quotients(rows, j)
                maxima[j, start : start + step] = quotients.max(axis=0, initial=0)
        return self._corrected(maxima)

    def nth(self, alpha: float) -> int:
        """The critical value at alpha is the n-th largest of the draws, n from 1."""
        return self.draws - ceil((1 - alpha) * self.draws - 1e-9) + 1

    def exceeding(
        self, pairs: Bools, largest: Floats, alpha: float, *, reverse: bool = False
    ) -> Bools:
        """The pairs whose statistic exceeds the critical value of all pairs of their column.

        Args:
            pairs: flags of the pairs, row's system less column's, shape (S, S).
            largest: the largest statistic of all pairs in each draw.
            alpha: the share of draws above a critical value.
            reverse: whether to use column's system less row's.
        """
        tested = self.statistic.T if reverse else self.statistic
        return np.asarray(
            pairs & (tested > self.critical(pairs, largest, alpha, tested, reverse) * (1 + EQUAL))
        )

    def critical(
        self,
        pairs: Bools,
        largest: Floats,
        alpha: float,
        tested: Floats | None = None,
        reverse: bool = False,
    ) -> Floats:
        """The quantile over draws of the largest statistic of all pairs, shape (1,), or by column.

        Only draws that could be among the largest are computed. The critical value of a column is
        as exact as comparing it with the statistics ``tested`` needs.
        """
        n, order, start = self.nth(alpha), np.argsort(-largest, kind="stable"), 0
        values, unknown = np.zeros((1 if tested is None else len(pairs), n)), pairs
        while start < self.draws and unknown.any():
            some = order[start : start + max(n, min(start, 500))]
            maxima = self.largest(unknown, some, reverse=reverse)
            maxima = maxima.max(axis=0, keepdims=True) if tested is None else maxima
            values = np.partition(np.concatenate((values, maxima), axis=1), -n)[:, -n:]
            start += len(some)
            at_least, at_most = values[:, 0], largest[order[min(start, self.draws - 1)]]
            unknown = pairs & (at_least < at_most)
            if tested is not None:
                between = (tested > at_least) & (tested <= at_most * (1 + EQUAL))
                unknown &= (pairs & between).any(axis=0)
        return np.asarray(values[:, 0])

    def _corrected(self, maxima: Floats) -> Floats:
        return np.asarray(maxima / np.sqrt(1 - self.shrinkage * maxima**2))


class Draws:
    """The statistics of pairs in n draws; those of a single collection are not corrected yet."""

    def __init__(self, pairs: Pairs, draws: slice | Ints) -> None:
        self.pairs = pairs
        self.signs = [pairs.signs[group][:, draws].astype(np.float64) for group in pairs.groups]
        # The sum of a pair is the difference of two systems' sums; with bounds it is computed.
        self.by_system = self._sums(pairs.residuals) if pairs.residuals.ndim == 2 else None

    def quotients(self, rows: Any, columns: Any) -> Floats:
        """The statistics of rows' systems less columns', shape (pairs, n); of one pair (n,)."""
        pairs = self.pairs
        totals: list[Floats] = (
            self._sums(pairs.residuals[rows, columns])
            if self.by_system is None
            else [part[rows] - part[columns] for part in self.by_system]
        )
        total = sum(totals[1:], start=totals[0])
        scale = pairs.scale[rows, columns][..., np.newaxis]
        if pairs.shrinkage or not pairs.own_share:
            total *= scale
            return total
        explained = sum(part**2 / len(group) for part, group in zip(totals, pairs.groups))
        return np.asarray(total * scale / np.sqrt(1 - pairs.own_share * explained * scale**2))

    def either_order(self, row: int, column: int) -> Floats:
        """The larger of the statistics of the two orders of a pair, shape (n,)."""
        quotients = self.quotients(row, column)
        if self.by_system is not None:
            return np.abs(quotients, out=quotients)
        return np.maximum(quotients, self.quotients(column, row))

    def _sums(self, residuals: Floats) -> list[Floats]:
        """The sum of signed residuals in each draw, by collection."""
        return [residuals[..., of] @ signs for of, signs in zip(self.pairs.groups, self.signs)]


def _finite(values: ArrayLike | None, lower: ArrayLike | None) -> Floats:
    """Values, or the least differences of pairs with a diagonal of 0, as an array."""
    if (values is None) == (lower is None):
        raise ValueError("give either values or lower")
    array = np.array(values if lower is None else lower, dtype=np.float64)
    form = ["systems", "topics"] if lower is None else ["systems", "systems", "topics"]
    if array.ndim != len(form) or 0 in array.shape or len(set(array.shape[:-1])) > 1:
        raise ValueError(
            f"an array of {' x '.join(form)} is needed, not one of shape {array.shape}"
        )
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
    """The weight of each topic; the weights add up to 1."""
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
    """The sum of each pair's squared residuals; residuals up to ``rounding`` count as 0."""
    error = np.empty((len(residuals), len(residuals)))
    for system, own in enumerate(residuals):
        differences = own if residuals.ndim == 3 else residuals - own
        differences[np.abs(differences) <= rounding] = 0
        error[system] = np.einsum("kq,kq->k", differences, differences)
    return error
