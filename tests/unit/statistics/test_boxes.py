"""t-tests over boxes against a search over many points of the boxes."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pyterrier_asl.statistics.boxes import box_test, greatest_t, least_t

boxes = st.lists(st.tuples(st.integers(-4, 8), st.integers(0, 4)), min_size=2, max_size=4).filter(
    lambda some: len({low for low, _ in some}) > 1
)


def points(low, high):
    grid = [np.linspace(one, two, 5) for one, two in zip(low, high)]
    return (np.array(point) for point in itertools.product(*grid))


@pytest.mark.slow
@settings(max_examples=60)
@given(boxes)
def test_no_point_is_outside(some):
    low = np.array([start for start, _ in some], dtype=float)
    high = low + np.array([width for _, width in some])
    found = []
    for point in points(low, high):
        if point.std() > 1e-9:
            found.append(stats.ttest_1samp(point, 0).statistic)
    least, greatest = least_t(low, high), greatest_t(low, high)
    assert least <= min(found) + 1e-9
    assert greatest >= max(found) - 1e-9
    test = box_test(low, high)
    p_values = [
        stats.ttest_1samp(point, 0).pvalue for point in points(low, high) if point.std() > 1e-9
    ]
    if test.verdict == "certain":
        assert max(p_values) <= 0.05 + 1e-9
    if test.verdict == "impossible":
        assert min(p_values) > 0.05 - 1e-9


def test_the_greatest_is_reached():
    low, high = np.array([0.0, 1.0, 3.0]), np.array([0.5, 2.0, 4.0])
    # the middle one is at c = (.5^2 + 3^2) / (.5 + 3), cut to 2
    expected = stats.ttest_1samp([0.5, 2.0, 3.0], 0).statistic
    assert greatest_t(low, high) == pytest.approx(expected)


def test_no_boxes_are_a_plain_test():
    values = np.array([0.2, 0.1, 0.4, -0.1, 0.3])
    plain = stats.ttest_1samp(values, 0).statistic
    assert least_t(values, values) == pytest.approx(plain)
    assert greatest_t(values, values) == pytest.approx(plain)


def test_one_query_is_too_few():
    with pytest.raises(ValueError, match="two queries"):
        box_test(np.array([1.0]), np.array([2.0]))


@pytest.mark.parametrize("shift", [0, 5])
def test_of_many_queries_it_is_the_best_of_all_points(shift):
    """Where differences are equal inside their boxes, at some end of a box or between two ends."""
    generator = np.random.default_rng(shift)
    low = generator.normal(0.1 + shift, 0.3, 150)
    high = low + generator.choice([0, 0.1, 0.3], 150)
    points = np.linspace(low.min(), high.max(), 20_001)
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
    assert peak < 10_000 * 8 * 300  # 300 numbers a query, 64 of them for the best points
