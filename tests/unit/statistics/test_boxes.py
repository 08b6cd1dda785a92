"""Extreme t-tests of differences within intervals, against a search over many points."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pyterrier_asl.statistics.boxes import BoxTest, box_test, greatest_t, least_t

boxes = st.lists(st.tuples(st.integers(-4, 8), st.integers(0, 4)), min_size=2, max_size=4).filter(
    lambda some: len({low for low, _ in some}) > 1
)


@given(boxes, st.sampled_from([1.0, 0.1]))
def test_no_point_is_outside(some, unit):
    low = unit * np.array([start for start, _ in some], dtype=float)
    high = low + unit * np.array([width for _, width in some])
    grid = [np.linspace(one, two, 5) for one, two in zip(low, high)]
    points = np.array(list(itertools.product(*grid)))
    tests = stats.ttest_1samp(points[points.std(axis=1) > 1e-9], 0, axis=1)
    assert least_t(low, high) <= tests.statistic.min() + 1e-9
    assert greatest_t(low, high) >= tests.statistic.max() - 1e-9
    test = box_test(low, high)
    if test.verdict == "certain":
        assert tests.pvalue.max() <= 0.05 + 1e-9
        assert (np.sign(tests.statistic) == test.sign).all()
    if test.verdict == "impossible":
        assert tests.pvalue.min() > 0.05 - 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_the_least_is_on_a_chord_between_corners(seed):
    """Corners from all low to all high, by low + high descending; t from sums and squares."""
    generator = np.random.default_rng(seed)
    low = generator.normal(0.3, 0.4, 4)
    low += max(0, 0.05 - low.mean())
    high = low + generator.choice([0.0, 0.2, 2.0], 4)
    corner, corners = low.copy(), [low.copy()]
    for query in np.argsort(-(low + high)):
        corner[query] = high[query]
        corners.append(corner.copy())
    shares = np.linspace(0, 1, 2001)
    least = np.inf
    for one, two in itertools.pairwise(corners):
        sums = one.sum() + shares * (two.sum() - one.sum())
        squares = (one**2).sum() + shares * ((two**2).sum() - (one**2).sum())
        least = min(least, np.sqrt(3 * sums**2 / (4 * squares - sums**2)).min())
    assert least_t(low, high) == pytest.approx(least, rel=1e-5)


def test_the_other_direction_is_a_mirror():
    low, high = np.array([0.2, 0.2, 0.4, 0.3]), np.array([0.25, 0.3, 0.4, 0.4])
    assert least_t(low, high) > 0
    assert greatest_t(-high, -low) == -least_t(low, high)
    assert least_t(-high, -low) == -greatest_t(low, high)
    assert box_test(low, high).sign == 1 and box_test(-high, -low).sign == -1
    low, high = np.array([-0.5, -0.25, -0.5]), np.array([0.25, -0.25, 0.0])  # nowhere positive
    assert high.sum() == 0 and greatest_t(low, high) == 0.0
    assert least_t(-high, -low) == 0.0 and box_test(low, high) == BoxTest("possible", 0)


def test_the_greatest_is_reached():
    low, high = np.array([0.0, 1.0, 3.0]), np.array([0.5, 2.0, 4.0])
    # the middle one is at c = (.5^2 + 3^2) / (.5 + 3), cut to 2
    expected = stats.ttest_1samp([0.5, 2.0, 3.0], 0).statistic
    assert greatest_t(low, high) == pytest.approx(expected)
    plain = stats.ttest_1samp(low, 0).statistic
    assert (least_t(low, low), greatest_t(low, low)) == pytest.approx((plain, plain))


@pytest.mark.parametrize("shift", [0, 5])
def test_of_many_queries_it_is_the_best_of_all_points(shift):
    """The extreme has equal differences, at an end of an interval or between two ends."""
    generator = np.random.default_rng(shift)
    low = generator.normal(0.1 + shift, 0.3, 150)
    high = low + generator.choice([0, 0.1, 0.3], 150)
    points = np.linspace(low.min(), high.max(), 5001)
    values = np.clip(points[:, None], low, high)
    t = values.mean(axis=1) / (values.std(axis=1, ddof=1) / np.sqrt(150))
    assert t.max() <= greatest_t(low, high) <= t.max() * (1 + 1e-5)


def test_memory_grows_with_the_queries_and_not_with_their_square():
    generator = np.random.default_rng(1)
    low = generator.normal(0.1, 0.3, 10_000)
    tracemalloc.start()
    box_test(low, low + 0.1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000 * 8 * 300  # 300 numbers per query, 64 of them for the best points
