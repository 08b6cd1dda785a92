"""Chances of counts, of scipy.special, which loads in half the time that scipy.stats takes."""

from __future__ import annotations

import numpy as np
import scipy  # its submodules load when first used

from ...scoring.arrays import Floats, Ints

#: The level of each test, under the model that the test names.
ALPHA = 1e-4


def at_least(number: Ints | int, of: Ints | int, rate: float) -> Floats:
    """The chance of so many or more successes, where each of ``of`` has this rate: binomial.

    >>> at_least(np.array([0, 1, 2]), 2, 0.5).round(2).tolist()
    [1.0, 0.75, 0.25]
    """
    some = np.maximum(number, 1)
    tail = scipy.special.betainc(some, np.maximum(of, some) - some + 1, rate)
    return np.asarray(np.where(np.asarray(number) > 0, tail, 1.0))


def is_binomial(counts: Ints, of: Ints, dispersion: float, level: float) -> bool:
    """Whether counts vary as a binomial, or up to so many times as much: chi-squared tests.

    Args:
        counts: the counts, shape (Q,).
        of: each out of how many, shape (Q,).
        dispersion: the variance as a multiple of that of a binomial, which is rejected at the
            level.
        level: the level of the test; that of less variance than a binomial is :data:`ALPHA`.
    """
    rate = counts.sum() / of.sum()
    statistic = ((counts - of * rate) ** 2 / (of * rate * (1 - rate))).sum()
    low, high = scipy.special.chdtr(len(of) - 1, statistic / np.array([1, dispersion]))
    return bool(low >= ALPHA and high < level)
