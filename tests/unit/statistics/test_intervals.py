"""Intervals of sign tests by their definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from pyterrier_asl.statistics.intervals import sign_interval


def score(wins: int, losses: int, n: int, delta: float) -> float:
    """The score statistic at a difference; losses maximise the likelihood."""

    def unlikely(lost: float) -> float:
        won, equal = lost + delta, 1 - 2 * lost - delta
        if min(lost, won, equal) < 0:
            return math.inf
        counts = np.array([wins, losses, n - wins - losses])
        return -float(np.sum(np.where(counts > 0, counts * np.log([won, lost, equal]), 0)))

    low, high = max(0, -delta), (1 - delta) / 2
    lost = optimize.minimize_scalar(
        unlikely, bounds=(low + 1e-12, high - 1e-12), method="bounded", options={"xatol": 1e-12}
    ).x
    return (wins - losses - n * delta) / math.sqrt(n * (2 * lost + delta - delta**2))


@pytest.mark.parametrize(("wins", "losses", "n"), [(12, 2, 50), (3, 9, 43), (20, 21, 97)])
def test_the_ends_are_where_the_score_test_begins_to_reject(wins, losses, n):
    mean, low, high = sign_interval(wins, losses, n)
    assert mean == (wins - losses) / n
    assert score(wins, losses, n, low) == pytest.approx(stats.norm.ppf(0.975), abs=1e-4)
    assert score(wins, losses, n, high) == pytest.approx(stats.norm.ppf(0.025), abs=1e-4)


@given(*[st.integers(0, 30)] * 3)
def test_it_is_within_the_range_of_signs_and_symmetric(wins, losses, ties):
    n = max(1, wins + losses + ties)
    mean, low, high = sign_interval(wins, losses, n)
    assert -1 <= low <= mean <= high <= 1
    assert low < high
    assert sign_interval(losses, wins, n) == pytest.approx((-mean, -high, -low), abs=1e-9)
