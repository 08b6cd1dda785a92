"""Tests over boxes of differences, and repetitions (boxes.py, repetitions.py)."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pyterrier_asl.statistics.boxes import BoxTest, box_test, greatest_t, least_t
from pyterrier_asl.statistics.groups import group_differences
from pyterrier_asl.statistics.power import detectable_difference, queries_needed
from pyterrier_asl.statistics.repetitions import compare_repetitions

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


def test_repetitions(repetitions_vectors):
    for case in repetitions_vectors["cases"]:
        answer, found = case["answer"], compare_repetitions(case["a"], case["b"])
        low, high = answer["interval"] or (None, None)
        of_half = ("share", "half_any_repetitions", "half_twice_queries")
        expected = [answer[name] for name in ("mean_d", "t", "p", *of_half)] + [low, high]
        difference, *ends, _, t, p = found.comparison
        numbers = [difference, t, p, *(getattr(found, name) for name in of_half), *ends]
        as_floats = np.array(expected, float)
        assert numbers == pytest.approx(as_floats, rel=1e-9, abs=1e-15, nan_ok=True), case["name"]
        if answer["df"]:
            quantiles = stats.t.ppf([0.975, 0.8], answer["df"]).sum()
            assert found.detectable == pytest.approx(quantiles * answer["Var"] ** 0.5)
        pooled = stats.ttest_rel(np.mean(case["b"], axis=0), np.mean(case["a"], axis=0)).pvalue
        if max(answer["u"]) > 0:  # the t of the means is another one
            assert abs(p - pooled) > 1e-3 or np.isnan(pooled)


def test_groups(groups_vectors):
    for case in groups_vectors["cases"]:
        a, b, names = np.array(case["a"]), np.array(case["b"]), sorted(set(case["group"]))
        codes = [names.index(name) for name in case["group"]]
        found = group_differences(b - a, codes, np.abs([a, b]).max())
        answer, of_groups = case["answer"], map(case["answer"]["groups"].get, names)
        p = np.array(answer["p"], float)
        assert found.depends == pytest.approx(p, abs=1e-12, nan_ok=True), case["name"]
        keys = ("n", "mean", "shrunken", "p")
        expected = [[group.get(key, np.nan) for key in keys] for group in of_groups]
        numbers = np.array([found.queries, found.difference, found.shrunken, found.p]).T
        assert numbers == pytest.approx(np.array(expected, float), abs=1e-12, nan_ok=True)


def test_groups_of_five_queries_have_no_test():
    found = group_differences(np.arange(15.0) - 3, [0] * 5 + [1] * 6 + [2] * 4)
    assert np.isnan(found.depends) and np.isnan(found.p).tolist() == [True, False, True]
    assert np.isnan(group_differences(np.arange(8.0), [0] * 4 + [1] * 4).p).all()


def test_the_number_of_queries(repetitions_vectors):
    for case in repetitions_vectors["queries"]:
        alpha, normal = case["alpha"], np.random.default_rng(case["Q"]).normal(size=case["Q"])
        d = stats.zscore(normal, ddof=1) * case["s"]  # the standard deviation
        assert queries_needed(d, case["delta"], alpha=alpha) == (case["n"], case["n_by_s"])
        detectable = detectable_difference(d, alpha=alpha)
        assert detectable == pytest.approx(case["detectable, two quantiles of t"], rel=1e-9)
        assert detectable != pytest.approx(case["detectable, noncentral t"], rel=1e-9)


def test_nothing_is_detectable_where_no_test_can_be_made():
    for constant in ([0.3], [0.1, 0.1], [0.1, 0.3 - 0.2, 0.1]):
        assert np.isnan(detectable_difference(constant))
        assert np.isnan(queries_needed(constant, 0.1)).all()
    assert np.isnan(compare_repetitions([[0.1], [0.2]], [[0.4]]).comparison.p)
