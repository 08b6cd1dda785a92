"""Paired t-tests of differences that are only known to lie within bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.types import Floats
from .intervals import upper_t

#: The number of points for which t is computed in full precision.
_BEST = 64


@dataclass(frozen=True)
class BoxTest:
    """Result of a paired two-tailed t-test for all differences within bounds (a box).

    Attributes:
        verdict: ``'certain'`` (significant in one direction for all differences in the box),
            ``'impossible'`` (significant for none), or ``'possible'`` (neither was shown).
        sign: the direction of a certain test, 1 or -1; else 0.
    """

    verdict: str
    sign: int


def box_test(low: Floats, high: Floats, alpha: float = 0.05) -> BoxTest:
    """A paired two-tailed t-test of differences within bounds.

    Args:
        low: the lower bound of each query's difference, shape (Q,), two queries at least.
        high: the upper bound, shape (Q,).
        alpha: the level of significance.

    >>> box_test(np.array([0.1, 0.2, 0.15, 0.12]), np.array([0.11, 0.22, 0.15, 0.13])).verdict
    'certain'
    >>> box_test(np.array([-0.1, 0.2]), np.array([0.25, 0.3])).verdict
    'possible'
    """
    critical = upper_t(alpha / 2, len(low) - 1)
    greatest, least = greatest_t(low, high), least_t(low, high)
    if sign := int(least >= critical) - int(greatest <= -critical):
        return BoxTest("certain", sign)
    return BoxTest("impossible" if greatest < critical and least > -critical else "possible", 0)


def greatest_t(low: Floats, high: Floats) -> float:
    """An upper bound of t over the boxes; t reaches it if the mean can be positive.

    At the maximum, all differences inside their boxes are equal to sum x^2 / sum x.

    >>> greatest_t(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    inf
    >>> greatest_t(np.array([1.0, 3.0]), np.array([2.0, 4.0])).__round__(6)
    5.0
    """
    if high.sum() <= 0:
        return -least_t(-high, -low) if high.sum() < 0 else 0.0
    if high.min() > 0 and low.max() <= high.min():  # all can be equal
        return float("inf")
    ends = np.unique(np.concatenate((low, high)))
    _, sums, squares = _outside((ends[1:] + ends[:-1]) / 2, low, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = squares / sums
    points = np.concatenate((ends, inner[(inner > ends[:-1]) & (inner < ends[1:])]))
    # Sums of squares lose digits. They only select the points for which t is computed in full.
    best = np.argsort(-_rounded_t(points, low, high), kind="stable")[:_BEST]
    return float(_t(np.clip(points[best, None], low, high)).max())


def _outside(points: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """The number of boxes that hold each point, and the sums of the other boxes' nearest ends.

    Returns:
        The numbers, the sums, and the sums of squares, one for each point.
    """
    lows, highs = np.sort(low), np.sort(high)
    below = np.searchsorted(highs, points, side="right")
    above = np.searchsorted(lows, points, side="right")

    def ends(power: int) -> Floats:
        """The sums of the powers of the ends nearest to each point."""
        up_to, until = (np.append(0.0, np.cumsum(ends**power)) for ends in (highs, lows))
        return np.asarray(up_to[below] + (until[-1] - until[above]))

    return (above - below).astype(np.float64), ends(1), ends(2)


def _rounded_t(points: Floats, low: Floats, high: Floats) -> Floats:
    """Student's t, from sums of squares, of the differences in the boxes nearest to a point."""
    n, centre = len(low), (low.mean() + high.mean()) / 2  # sums around it lose few digits
    moved = points - centre
    within, sums, squares = _outside(moved, low - centre, high - centre)
    sums, squares = sums + within * moved, squares + within * moved**2
    mean, variance = centre + sums / n, np.maximum(squares - sums**2 / n, 0) / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            np.nan_to_num(mean / np.sqrt(variance / n), nan=0.0, posinf=np.inf, neginf=-np.inf)
        )


def least_t(low: Floats, high: Floats) -> float:
    """A lower bound of t over the boxes.

    If the mean is always positive, the least t has the greatest sum of squares for its sum. The
    corners that switch from low to high in the order of low + high, and the chords between them,
    bound that sum of squares.

    >>> least_t(np.array([1.0, 3.0]), np.array([1.0, 3.0])).__round__(6)
    2.0
    """
    if low.sum() <= 0:
        return -greatest_t(-high, -low)
    order = np.argsort(-(low + high), kind="stable")
    width, slope = (high - low)[order], (low + high)[order]
    sums = low.sum() + np.concatenate(([0.0], np.cumsum(width)))
    squares = (low**2).sum() + np.concatenate(([0.0], np.cumsum(width * slope)))
    # t^2 = (n - 1) / (n squares / sum^2 - 1); on a chord squares = a + slope sum
    a = squares[:-1] - slope * sums[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.clip(np.where(a < 0, -2 * a / slope, sums[1:]), sums[:-1], sums[1:])
    n, points = len(low), np.concatenate((sums, best))
    largest = float((n * np.concatenate((squares, a + slope * best)) / points**2 - 1).max())
    return float("inf") if largest <= 1e-15 else float(np.sqrt((n - 1) / largest))


def _t(values: Floats) -> Floats:
    """Student's t of each row."""
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.nan_to_num(mean / error, nan=0.0, posinf=np.inf, neginf=-np.inf))
