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


def at_least_of_row(table: Ints) -> float:
    """The chance of so many or more in the first cell, given all margins: Fisher's exact test.

    Args:
        table: shape (2, 2).

    >>> round(at_least_of_row(np.array([[2, 0], [0, 2]])), 4)
    0.1667
    """
    row, column, total = int(table[0].sum()), int(table[:, 0].sum()), int(table.sum())
    number = np.arange(table[0, 0], min(row, column) + 1)
    number = number[column - number <= total - row]

    def ways(n: int, k: Ints | int) -> Floats:
        return np.asarray(-np.log(n + 1) - scipy.special.betaln(n - k + 1, np.add(k, 1)))

    logs = ways(row, number) + ways(total - row, column - number) - ways(total, column)
    return float(np.exp(logs).sum())


def is_spread_less(counts: Ints, of: Ints, dispersion: float, level: float) -> bool:
    """Whether counts vary less than so many times as much as a binomial: chi-squared test.

    Args:
        counts: the counts, shape (Q,).
        of: each out of how many, shape (Q,).
        dispersion: the variance as a multiple of that of a binomial.
        level: the level of the test.
    """
    rate = counts.sum() / of.sum()
    statistic = ((counts - of * rate) ** 2 / (of * rate * (1 - rate))).sum()
    return bool(scipy.special.chdtr(len(of) - 1, statistic / dispersion) < level)
