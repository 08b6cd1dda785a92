"""Confidence intervals of means."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # its submodules load when first used, so that importing this module is quick

from ..common.parameters import check_probability
from .rounding import EQUAL
from .settings import ArrayLike, finite_vectors


class Interval(NamedTuple):
    """A mean and its confidence interval."""

    mean: float
    low: float
    high: float


def wilson_interval(shares: ArrayLike, *, alpha: float = 0.05) -> Interval:
    """The mean of values in [0, 1], such as successes, and Wilson's score interval of it.

    Unlike Student's interval it stays within [0, 1], and has a width if all values are 0 or all 1.

    Args:
        shares: 1 for a query with success, 0 for a query without; or a probability of success, for
            which the interval is wider than necessary. Shape (queries,).
        alpha: intervals cover 1 - alpha.

    Returns:
        :class:`Interval`, with mean, low, high.

    Source: Wilson (1927).

    >>> mean, low, high = wilson_interval([1, 1, 1, 1])
    >>> print(f"{mean:.3f} [{low:.3f}, {high:.3f}]")
    1.000 [0.510, 1.000]
    """
    check_probability("alpha", alpha)
    values = finite_vectors(shares)[0]
    mean, queries = float(values.mean()), float(values.size)
    squared = float(scipy.special.ndtri(alpha / 2)) ** 2
    centre = mean + squared / (2 * queries)
    margin = math.sqrt(squared * (mean * (1 - mean) / queries + squared / (4 * queries**2)))
    ends = ((centre + side) / (1 + squared / queries) for side in (-margin, margin))
    return Interval(mean, *(max(0.0, min(1.0, end)) for end in ends))


# From scipy.special, which loads in half the time of scipy.stats.
@lru_cache(maxsize=4096)
def upper_t(probability: float, freedom: int) -> float:
    """The value that Student's t exceeds with a probability."""
    return -float(scipy.special.stdtrit(freedom, probability))


@lru_cache(maxsize=4096)  # all pairs of many systems have few different counts
def sign_interval(wins: int, losses: int, queries: int, *, alpha: float = 0.05) -> Interval:
    """The mean of a sign such as sgnLP and its score interval, which stays within [-1, 1].

    Args:
        wins: queries with sign 1.
        losses: queries with sign -1.
        queries: all queries, with those of sign 0.
        alpha: intervals cover 1 - alpha.

    Returns:
        :class:`Interval`: (wins - losses) / queries, and the range of differences of the two shares
        that a score test does not reject, each tested with the losses most likely under it.

    Source: Tango 1998, Equivalence test and confidence interval for the difference in proportions
    for the paired-sample design.

    >>> mean, low, high = sign_interval(12, 2, 50)
    >>> print(f"{mean:.3f} [{low:.3f}, {high:.3f}]")
    0.200 [0.061, 0.345]
    """
    mean = (wins - losses) / queries
    critical = -float(scipy.special.ndtri(alpha / 2))

    def excess(delta: float, side: int) -> float:
        """The score at a difference, less its critical value; it falls as the difference rises."""
        b = (2 * queries - wins + losses) * delta - wins - losses
        root = math.sqrt(max(b * b + 8 * queries * losses * delta * (1 - delta), 0))
        lost = (root - b) / (4 * queries)
        error = math.sqrt(max(queries * (2 * lost + delta * (1 - delta)), 0))
        return wins - losses - queries * delta - side * critical * error

    def end(side: int) -> float:
        if mean == -side:  # all queries have this sign
            return float(-side)
        # The search does not start at the mean, where the score of ties alone is 0/0.
        return bisect(lambda delta: side * excess(delta, side) >= 0, mean - side * 1e-9, -side)

    return Interval(mean, end(1), end(-1))


def bisect(reached: Callable[[float], bool], start: float, end: float) -> float:
    """The number where a condition begins to hold, by bisection.

    Args:
        reached: the condition; it does not hold at the start, and holds from some number on.
        start: where the search begins.
        end: where the search ends; below or above the start.

    >>> round(bisect(lambda x: x * x >= 2, 0, 2), 9)
    1.414213562
    """
    while abs(end - start) > 1e-13 * max(abs(start), abs(end)):
        middle = (start + end) / 2
        if middle in (start, end):
            break
        start, end = (start, middle) if reached(middle) else (middle, end)
    return end


def centred_interval(observed: float, draws: ArrayLike, *, alpha: float = 0.05) -> Interval:
    """A bootstrap percentile interval, moved so that the observed value is in its middle.

    The bootstrap of a rank correlation is biased: two rankings agree less in a sample with
    repetitions than in the sample itself. Therefore only the width of the interval is used.

    Args:
        observed: the value of the sample.
        draws: the values of bootstrap samples, shape (B,); NaN is left out.
        alpha: intervals cover 1 - alpha.

    Returns:
        :class:`Interval` with the observed value as its mean. The ends are NaN if that is NaN.

    >>> [round(end, 3) for end in centred_interval(0.9, [0.7, 0.8, 0.85, 0.95], alpha=0.5)]
    [0.9, 0.85, 0.95]
    """
    check_probability("alpha", alpha)
    values = np.asarray(draws, dtype=np.float64)
    if np.isnan(observed) or np.isnan(values).all():
        return Interval(observed, float("nan"), float("nan"))
    low, high = np.nanquantile(values, [alpha / 2, 1 - alpha / 2])
    return Interval(observed, observed - float(high - low) / 2, observed + float(high - low) / 2)


def bootstrap_p(observed: float, draws: ArrayLike) -> float:
    """The two-sided p of a difference: below alpha exactly where :func:`centred_interval` lacks 0.

    Args:
        observed: the difference in the sample.
        draws: its values in bootstrap samples, shape (B,); NaN is left out.

    Returns:
        p; 0 where it is less than 2 / (B + 1), the least of B draws. NaN without a value.

    >>> [round(bootstrap_p(of, [0.1, 0.2, 0.3, 0.4]), 2) for of in (0.2, 0.06)]
    [0.0, 0.6]
    """
    values = np.sort(np.asarray(draws, dtype=np.float64))
    values = values[~np.isnan(values)]
    if np.isnan(observed) or len(values) < 2:
        return float("nan")
    if abs(observed) <= EQUAL:
        return 1.0
    # Half the width of the interval from the k-th value to the k-th last
    halves = ((values[::-1] - values) / 2)[: (len(values) + 1) // 2]
    k = np.interp(abs(observed), halves[::-1], np.arange(len(halves))[::-1])
    p = 2 * float(k) / (len(values) - 1)
    return p if p >= 2 / (len(values) + 1) else 0.0
