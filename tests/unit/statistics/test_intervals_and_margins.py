"""Intervals, tests of non-inferiority, and favours (intervals.py, noninferiority.py, favour.py)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from pyterrier_asl.statistics.favour import favours
from pyterrier_asl.statistics.intervals import sign_interval
from pyterrier_asl.statistics.pairwise import non_inferiority


@pytest.mark.parametrize("margin", [0.01, 0.02, 0.3])
@pytest.mark.parametrize("queries", [2, 8, 50])
def test_it_is_a_one_sided_t_test_against_the_margin(queries, margin):
    gains = np.random.default_rng(queries).normal(-0.01, 0.1, queries)
    result = non_inferiority(gains, margin)
    expected = stats.ttest_1samp(gains, -margin, alternative="greater")
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_the_power_matches_the_noncentral_t(alpha):
    gains = np.random.default_rng(3).normal(0, 0.1, 20)
    error = gains.std(ddof=1) / np.sqrt(20)
    power = stats.nct(19, 0.05 / error).sf(stats.t.isf(alpha, 19))
    assert non_inferiority(gains, 0.05, alpha=alpha).power == pytest.approx(power)


@pytest.mark.parametrize("gain", [0.1, -0.019, -0.5])
def test_without_variance_there_is_no_test_but_for_equal_systems(gain):
    assert np.isnan([non_inferiority([gain] * queries, 0.02).p for queries in (1, 5)]).all()
    assert non_inferiority([0.0] * 5, 0.02).p == 0
    with pytest.raises(ValueError, match="give 0 < alpha < 1"):
        non_inferiority([0.1, 0.2], 0.02, alpha=1)


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


def test_worked_cases(favoured_theil_sen_vectors):
    for case in favoured_theil_sen_vectors["cases"]:
        slope, favour, p = favours(case["judge"], case["people"])
        assert slope == pytest.approx(case["slope"], abs=1e-12)
        assert favour == pytest.approx(case["favour"], abs=1e-12)
        assert p == pytest.approx(case["p"], abs=1e-12)


def test_random_signs_follow_the_seed():
    people = np.random.default_rng(0).random((6, 15))
    judge = people + np.random.default_rng(1).random((6, 15)) / 2
    judge[0] += 0.03
    drawn = {seed: favours(judge, people, draws=200, seed=seed)[2][0] for seed in (0, 1)}
    signs = 1 - 2 * np.random.default_rng(1).integers(0, 2, (200, 15))

    def favour_of(kept):
        m, p = judge[:, kept].mean(axis=1), people[:, kept].mean(axis=1)
        above = m - stats.theilslopes(m, p).slope * p
        return above - above.mean()

    favour = favour_of(np.arange(15))
    without = np.array([favour_of(np.delete(np.arange(15), q)) for q in range(15)]).T
    residuals = (favour[:, None] - without) * 14 / 15 * np.sqrt(15 / 14)
    residuals -= residuals.mean(axis=1, keepdims=True)
    own = (residuals**2).sum(axis=1)
    largest = []
    for s in signs:
        total = residuals @ s
        error = (own - total**2 / 15) / 4 + 0.75 * own.mean()
        largest.append((total / np.sqrt(error)).max())
    observed = (favour / np.sqrt(own / 4 + 0.75 * own.mean()))[0]
    assert favour.argmax() == 0
    assert drawn[1] == np.mean(np.array(largest) >= observed) != drawn[0]


def test_a_favour_without_variance_has_no_p():
    people = np.random.default_rng(1).random((6, 10))  # all differences vary by rounding
    slope, favour, p = favours(people + [[0.3], *[[0.0]] * 5], people)
    assert slope == pytest.approx(1)
    assert favour == pytest.approx([0.25, *[-0.05] * 5])
    assert np.isnan(p).tolist() == [True, *[False] * 5]
    assert favours(people, people * 0 + 0.5)[0] == 0  # people see no difference
