"""Intervals of ranks: worked cases, plain loops over all sign vectors, and invariances.
Tests of random_signs.py, rounding.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.statistics.rank_intervals import joint_ranks, rank_intervals


def test_worked_cases(ranks_vectors):
    assert len(ranks_vectors["cases"]) == 33
    for case in ranks_vectors["cases"]:
        key = "values" if "values" in case else "lower"
        array, of_one_judge = np.array(case[key], float), 2 if key == "values" else 3
        options = {"collections": case.get("strata"), "weights": case.get("weights")}
        options["variance"] = case.get("variance", "averaged")
        judges = array if array.ndim > of_one_judge else [array]
        by_judge = [rank_intervals(**{key: of}, alpha=case["alpha"], **options) for of in judges]
        result = joint_ranks(by_judge) if len(by_judge) > 1 else by_judge[0]
        name, expected = (case["name"], case["alpha"]), case["expected"]
        ends = (result.low.tolist(), result.high.tolist())
        assert ends == (expected["low"], expected["high"]), name
        assert np.argwhere(result.better).tolist() == expected["better"], name
        assert np.flatnonzero(result.low == 1).tolist() == expected["possibly_first"], name
        if expected["possibly_best"] is not None:
            assert np.flatnonzero(result.possibly_best).tolist() == expected["possibly_best"], name
        assert result.p == pytest.approx(np.array(expected["p"]), abs=1e-12), name
        lists = (result.critical, expected["critical"])
        for critical, wanted in zip(*lists, strict=True) if len(by_judge) > 1 else [lists]:
            assert critical == pytest.approx(wanted, rel=1e-12, abs=1e-12), name


@st.composite
def boards(draw, topics=(2, 6)):
    systems, queries = draw(st.integers(1, 4)), draw(st.integers(*topics))
    row = st.tuples(*[st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.4, 0.5, 0.7, 0.8, 1.0])] * queries)
    return draw(st.lists(row, min_size=systems, max_size=systems))


def board(systems=12, topics=40, seed=0):
    generator = np.random.default_rng(seed)
    means = np.linspace(0.3, 0.7, systems)[:, np.newaxis]
    return means + generator.normal(0, 0.2, topics) + generator.normal(0, 0.15, (systems, topics))


def test_the_draws_match_the_definition():
    values, topics = board(3, 15), 15
    signs = 1 - 2 * np.random.default_rng(7).integers(0, 2, (200, topics))
    residuals = (values - values.mean(axis=1, keepdims=True)) / topics * np.sqrt(topics / 14)
    r = residuals[:, np.newaxis] - residuals
    v = (r**2).sum(axis=-1)
    mean = v.sum() / 6
    t = np.einsum("nq,jkq->njk", signs, r)
    size = np.sqrt((v - t**2 / topics + 3 * mean) / 4)
    largest = (t / size).max(axis=(1, 2))
    critical = rank_intervals(values, draws=200, seed=7).critical[0]
    assert critical == pytest.approx(np.sort(largest)[189], rel=1e-12)


@pytest.mark.parametrize("draws", [512, 300])
def test_p_is_the_smallest_level_that_orders_a_pair(draws):
    values, off = board(16, 9)[4:9], ~np.eye(5, dtype=bool)
    p = rank_intervals(values, draws=draws).p
    assert len(np.unique(p[off])) > 3
    for level in np.unique(p[off & (p > 0) & (p < 1)]):
        ordered = rank_intervals(values, draws=draws, alpha=level).better
        assert np.array_equal(ordered | ordered.T, p <= level)
        ordered = rank_intervals(values, draws=draws, alpha=level - 0.5 / draws).better
        assert np.array_equal(ordered | ordered.T, p < level)


def test_steps_of_the_critical_values_order_what_p_orders():
    """Step-down critical values, with random draws, two collections and bounds."""
    values = board(8, 30, seed=3)
    lower = values[:, np.newaxis] - values
    lower = lower - np.random.default_rng(0).uniform(0, 0.1, lower.shape)
    for array in ({"values": values}, {"lower": lower}):
        for collections in (None, ["a"] * 12 + ["b"] * 18):
            result = rank_intervals(**array, collections=collections, draws=2000)
            last = result.statistic > result.critical[-1] * (1 + 1e-9)
            assert np.array_equal(result.better, last & (result.difference > 0))
            assert np.array_equal(result.better | result.better.T, result.p <= 0.05)


def test_p_of_pairs_without_a_difference_is_1_and_of_a_certain_one_0():
    result = rank_intervals([[1.0] * 20, [0.1 + 0.2] * 20, [0.3] * 20], draws=99)
    assert result.p.tolist() == [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    assert result.draws == 99


@given(boards(topics=(4, 6)), st.sampled_from([0.05, 0.2, 0.5]), st.booleans())
def test_two_systems_have_one_answer(values, alpha, bounded):
    """The interval excludes 0, p is at most alpha and one is the best exactly where it is better"""
    values = np.array([values[0], values[-1]])
    lower = values[:, np.newaxis] - values - 0.05
    array = {"lower": lower} if bounded else {"values": values}
    result = rank_intervals(**array, alpha=alpha)
    ordered = bool(result.better.any())
    low, high = result.least[0, 1], -result.least[1, 0]
    assert low <= high
    assert (low > 0 or high < 0) == ordered == (result.p[0, 1] <= alpha)
    assert (result.possibly_best.sum() == 1) == ordered
    assert rank_intervals(np.vstack((values, values[:1]))).least is None


def test_the_interval_of_a_difference_matches_the_definition():
    values = board(2, 9)
    result = rank_intervals(values)
    differences = values[0] - values[1]
    error = differences.std(ddof=1) / 3
    margin = result.critical[0] * error  # a single pair equals the mean of all pairs
    assert result.least[0, 1] == pytest.approx(differences.mean() - margin)
    assert -result.least[1, 0] == pytest.approx(differences.mean() + margin)


def test_of_several_judges_the_differences_are_those_of_the_first():
    """The judges disagree on two systems; ranks and p-values are among the worked cases."""
    noise = np.random.default_rng(4).normal(0, 0.02, (2, 2, 20))
    values = np.array([[0.9, 0.5], [0.6, 0.8]])[:, :, np.newaxis] + noise
    judges = [rank_intervals(each, possibly_best=False) for each in values]
    joint = joint_ranks(judges)
    assert np.array_equal(joint.difference, judges[0].difference)
    assert np.array_equal(joint.statistic, judges[0].statistic)
    assert joint.least[0, 1] < 0 and joint.least[1, 0] < 0 and joint.possibly_best is None
