"""Statistics by name, against SciPy, least squares, enumeration and published numbers.
Tests of pairwise.py, tests.py, tukey.py."""

import warnings
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from brute_force import holm
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyterrier_asl.statistics import pairwise, tukey
from pyterrier_asl.statistics.agreement import kendall_taus
from pyterrier_asl.statistics.tests import (
    PAIR_TESTS,
    TUKEY_TESTS,
    compare_all,
    compare_differences,
    compare_pair,
    correct,
)


def scores(systems: int, queries: int, seed: int = 0, digits: int | None = None) -> np.ndarray:
    """Values like the values of measures: easy and hard queries, good and bad systems."""
    rng = np.random.default_rng(seed)
    values = rng.random((systems, queries)) + rng.random(queries) + rng.random((systems, 1)) / 2
    return values if digits is None else values.round(digits)


def all_pairs(values: np.ndarray, test: str, correction: str = "none", **options) -> pd.DataFrame:
    names = [f"s{i}" for i in range(len(values))]
    return compare_all(values, names, test=test, correction=correction, **options)


def with_pairs(values: np.ndarray, test: str):
    """Each row of a test with the values of its two systems."""
    return zip(all_pairs(values, test).itertuples(), combinations(values, 2))


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("queries", [3, 7, 50, 60])
def test_paired_t_is_scipys(queries, digits):
    for row, (a, b) in with_pairs(scores(5, queries, digits=digits), "t"):
        expected = scipy.stats.ttest_rel(a, b)
        interval = expected.confidence_interval(0.95)
        assert row.statistic == pytest.approx(expected.statistic)
        assert row.p == pytest.approx(expected.pvalue)
        assert (row.ci_low, row.ci_high) == pytest.approx((interval.low, interval.high))
        assert row.effect == pytest.approx(np.mean(a - b) / np.std(a - b, ddof=1))


def signed_ranks(differences: np.ndarray) -> np.ndarray:
    """The ranks of the differences that are not 0, with their signs."""
    d = differences[differences != 0]
    return np.sign(d) * [np.mean([1 + np.sum(abs(d) < x), np.sum(abs(d) <= x)]) for x in abs(d)]


@pytest.mark.parametrize("queries", [5, 14, 20, 50, 51])
def test_wilcoxon_is_scipys_for_each_pair_by_itself(queries):
    # Pairs of rounded values have zeros or ties, which need other methods, beside pairs without.
    values = np.vstack((scores(3, queries), scores(3, queries, seed=1, digits=1)))
    for row, (a, b) in with_pairs(values, "wilcoxon"):
        expected = scipy.stats.wilcoxon(a, b)
        assert (row.statistic, row.p) == pytest.approx((expected.statistic, expected.pvalue))
        ranks = signed_ranks(a - b)
        assert row.effect == pytest.approx(np.sum(ranks) / np.sum(abs(ranks)))


@settings(max_examples=10)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=8).filter(lambda d: len(set(d)) > 1))
@example([2, -1, 1, 3, 1, 1, -2, 0, 3, 1, 2, -3, 1])  # the most queries
def test_wilcoxon_with_ties_counts_all_signs_of_few_queries(differences):
    """Also with zeros, and to the last bit SciPy's p-value where that is exact."""
    d = np.array(differences, dtype=float)
    found, ranks = compare_pair(d, 0 * d, "wilcoxon"), signed_ranks(d)
    plus, sizes = ranks[ranks > 0].sum(), abs(ranks)
    sums = np.array([*product([0, 1], repeat=len(ranks))]) @ sizes
    share = min(np.mean(sums <= plus), np.mean(sums >= plus))
    assert found.p == pytest.approx(min(1, 2 * share), abs=1e-15)
    assert found.statistic == min(plus, sizes.sum() - plus)
    if len(d) <= 8 and (len(ranks) < len(d) or len({*sizes}) < len(sizes)):
        all_signs = scipy.stats.PermutationMethod()
        assert found.p == scipy.stats.wilcoxon(d, method=all_signs).pvalue


@pytest.mark.parametrize("queries", [3, 50])
def test_sign_is_the_binomial_test_without_zeros(queries):
    for row, (a, b) in with_pairs(scores(6, queries, digits=1), "sign"):
        wins, losses = int(np.sum(a > b)), int(np.sum(a < b))
        assert row.p == pytest.approx(scipy.stats.binomtest(wins, wins + losses).pvalue)
        assert row.statistic == wins
        assert row.effect == pytest.approx((wins - losses) / (wins + losses))


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("queries", [4, 6, 10])
def test_randomization_of_few_queries_is_scipys_exact_one(queries, digits):
    for row, (a, b) in with_pairs(scores(4, queries, digits=digits), "randomization"):
        expected = scipy.stats.permutation_test(
            (a - b,), np.mean, permutation_type="samples", n_resamples=np.inf
        )
        assert row.p == pytest.approx(expected.pvalue)
        assert row.statistic == pytest.approx(expected.statistic)


@pytest.mark.slow
def test_unpaired_t_is_tukeys_hsd_of_two_groups():
    for row, (a, b) in with_pairs(scores(5, 30), "unpaired-t"):
        expected = scipy.stats.tukey_hsd(a, b)
        interval = expected.confidence_interval(0.95)
        assert row.p == pytest.approx(expected.pvalue[0, 1], abs=1e-8)
        assert row.ci_low == pytest.approx(interval.low[0, 1])
        assert row.ci_high == pytest.approx(interval.high[0, 1])
        pooled = np.sqrt((np.var(a, ddof=1) + np.var(b, ddof=1)) / 2)
        assert row.effect == pytest.approx((a.mean() - b.mean()) / pooled)


@pytest.mark.parametrize("test", PAIR_TESTS)
def test_a_pair_alone_is_the_pair_among_all(test):
    for row, (a, b) in with_pairs(scores(4, 20, digits=1), test):
        alone = compare_pair(a, b, test)
        for column in ("difference", "ci_low", "ci_high", "effect", "p"):
            assert getattr(alone, column) == pytest.approx(getattr(row, column), abs=1e-12)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_randomization_test_draws_the_signs_of_the_ranks(seed):
    """p is the share of these sign vectors with a mean at least as large."""
    differences = np.random.default_rng(1).normal(0.3, 1, 20)
    signs = 1 - 2 * np.random.default_rng(seed).integers(0, 2, (500, 20))
    expected = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) * (1 - 1e-9))
    zero = np.zeros(20)
    assert compare_pair(differences, zero, "randomization", draws=500, seed=seed).p == expected


def test_one_way_tukey_is_scipys():
    values = scores(3, 25)
    frame = all_pairs(values, "tukey")
    expected = scipy.stats.tukey_hsd(*values)
    interval = expected.confidence_interval(0.95)
    first, second = np.triu_indices(3, 1)
    np.testing.assert_allclose(frame["p"], expected.pvalue[first, second], atol=1e-10)
    np.testing.assert_allclose(frame["ci_low"], interval.low[first, second], atol=1e-8)
    np.testing.assert_allclose(frame["ci_high"], interval.high[first, second], atol=1e-8)
    assert frame.attrs["correction"] == "none" and frame.attrs["family"] == 3


def test_two_way_tukey_has_the_residual_of_the_analysis_of_variance():
    """The residual of the least squares of value = system + query."""
    values = scores(3, 12)
    systems, queries = (index.ravel() for index in np.indices(values.shape))
    design = np.hstack((np.eye(3)[systems], np.eye(12)[queries]))
    _, residual, rank, _ = np.linalg.lstsq(design[:, 1:], values.ravel(), rcond=None)
    freedom = values.size - rank
    error = residual.item() / freedom
    frame = compare_all(values, "abc")
    assert (frame.attrs["test"], frame.attrs["correction"]) == ("tukey-two-way", "none")
    assert freedom == 22
    q = frame["difference"].abs() / np.sqrt(error / 12)
    expected = scipy.stats.studentized_range.sf(q, 3, freedom)
    np.testing.assert_allclose(frame["p"], expected, atol=1e-10)
    np.testing.assert_allclose(frame["effect"], frame["difference"] / np.sqrt(error))
    margin = scipy.stats.studentized_range.ppf(0.95, 3, freedom) * np.sqrt(error / 12)
    np.testing.assert_allclose(frame["ci_high"] - frame["difference"], margin, rtol=1e-6)


@pytest.mark.parametrize("test", ["randomization", "tukey-randomized"])
def test_randomised_tests_have_ten_thousand_draws_by_default(test):
    values = np.random.default_rng(1).normal(size=(3, 20))
    by_default, chosen, other = (
        compare_all(values, "abc", test=test, **options)["p"].tolist()
        for options in ({}, {"draws": 10_000, "seed": 0}, {"draws": 9_999})
    )
    assert by_default == chosen != other


def test_signs_of_a_randomization_test_do_not_depend_on_the_other_pairs(monkeypatch):
    """190 pairs need several chunks of pairs and of draws; 21 pairs need one of pairs."""
    monkeypatch.setattr(pairwise, "CHUNK", 1000)
    values, options = scores(20, 20), dict(test="randomization", draws=300)
    few, many = (all_pairs(some, **options) for some in (values[:7], values))
    pairs = many.set_index(["a", "b"])["p"]
    np.testing.assert_array_equal(pairs.loc[list(zip(few["a"], few["b"]))], few["p"])
    again = all_pairs(values[:7], **options, seed=1)
    assert not np.array_equal(again["p"], few["p"])


def test_randomized_tukey_draws_all_exchanges_at_any_size(monkeypatch):
    """Several chunks of draws give what one array of whole numbers gives, of any unit."""
    monkeypatch.setattr(tukey, "CHUNK", 2000)
    numbers, draws, unit = np.round(scores(10, 20) * 10).astype(np.int64), 100, 1e5 / 3
    drawn = np.broadcast_to(numbers.T, (draws, *numbers.T.shape))
    largest = np.ptp(np.random.default_rng(0).permuted(drawn, axis=2).sum(axis=1), axis=1)
    frame = all_pairs(numbers * unit, "tukey-randomized", draws=draws)
    sums = np.round(np.abs(frame["difference"].to_numpy()) * 20 / unit)
    as_large = np.sum(largest >= sums[:, None], axis=1)
    np.testing.assert_allclose(frame["p"], (as_large + 1) / (draws + 1), atol=1e-12)
    assert 0.05 < frame["p"].median() < 1
    margin = np.sort(largest)[-5] * unit / 20
    np.testing.assert_allclose(frame["ci_low"], frame["difference"] - margin)
    np.testing.assert_allclose(frame["ci_high"], frame["difference"] + margin)
    again = all_pairs(numbers * unit, "tukey-randomized", draws=draws, seed=1)
    assert not np.array_equal(again["p"], frame["p"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "freedom"), [(17, 16), (30, 29), (59, 58 * 53), (129, 128 * 49), (300, 299 * 49)]
)
def test_studentized_range_for_many_values_is_scipys(groups, freedom):
    q = np.random.default_rng(groups).uniform(0, 14, 400)
    found = tukey._studentized_range_sf(q, groups, freedom)
    expected = scipy.stats.studentized_range.sf(q[:40], groups, freedom)
    np.testing.assert_allclose(found[:40], expected, rtol=0, atol=1e-9)
    assert np.all(np.diff(found[np.argsort(q)]) <= 1e-9)
    ends = tukey._studentized_range_sf(np.array([*q, np.inf, np.nan, 0]), groups, freedom)
    assert ends[-3] == 0 and np.isnan(ends[-2]) and ends[-1] == pytest.approx(1)


def test_studentized_range_for_few_values_is_scipys_to_its_ends():
    """If only the systems differ, the statistic is infinite; 0 divided by 0 is NaN."""
    q = np.array([3.0, np.inf, 0.5, np.nan, 3.0, 0.0])
    found = tukey._studentized_range_sf(q, 3, 12)
    expected = scipy.stats.studentized_range.sf(q[[0, 2]], 3, 12)
    three, half = expected
    assert found == pytest.approx([three, 0, half, np.nan, three, 1], nan_ok=True)
    none = tukey._studentized_range_sf(np.array([np.inf, np.nan]), 3, 12)
    assert none == pytest.approx([0, np.nan], nan_ok=True)


@given(st.lists(st.one_of(st.floats(0, 1), st.just(float("nan"))), min_size=1, max_size=12))
def test_corrections_are_their_definitions_and_leave_out_nan(p):
    given_p = [value for value in p if not np.isnan(value)]
    by_hand = {
        "none": given_p,
        "bonferroni": [min(1.0, value * len(given_p)) for value in given_p],
        "holm": holm(given_p),
        "bh": scipy.stats.false_discovery_control(given_p) if given_p else [],
    }
    for method, expected in by_hand.items():
        array = np.array([p])
        found = correct(array, method)
        assert (found.family, found.dropped) == (len(given_p), len(p) - len(given_p))
        np.testing.assert_allclose(found.p[~np.isnan(array)], expected)
        assert np.isnan(found.p[np.isnan(array)]).all()  # of the same shape
        np.testing.assert_array_equal(array, [p])


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomization"])
def test_differences_are_the_pairs_they_came_from(test):
    values = scores(4, 20, digits=1)
    differences = [a - b for a, b in combinations(values, 2)]
    found = compare_differences(differences, [*combinations("abcd", 2)], test=test)
    expected = compare_all(values, "abcd", test=test)
    pd.testing.assert_frame_equal(found, expected.drop(columns=["mean_a", "mean_b"]))
    assert found.attrs == expected.attrs


@pytest.mark.parametrize("test", [test for test in PAIR_TESTS if test != "unpaired-t"])
def test_systems_that_never_differ_are_dropped_and_counted(test):
    values = np.vstack([scores(3, 20), scores(3, 20)[:1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = all_pairs(values, test)
    same = (frame["a"] == "s0") & (frame["b"] == "s3")
    assert frame.loc[same, ["p", "p_corrected", "effect"]].isna().all(axis=None)
    assert frame.loc[same, ["difference", "ci_low", "ci_high"]].eq(0).all(axis=None)
    assert not frame.loc[same, "significant"].any()
    assert frame.loc[~same, "p"].notna().all()
    assert (frame.attrs["family"], frame.attrs["dropped"]) == (5, 1)


@pytest.mark.parametrize("test", [test for test in PAIR_TESTS if test != "unpaired-t"])
def test_without_variance_there_is_no_test(test):
    """Equal differences may differ by rounding, of the values and not of the differences."""
    a = np.random.default_rng(0).random(20) + 7
    for b, moved in ((a - 0.5, 0.5), (a + 1e-3, -1e-3), (a[:1] - 2, 2)):
        result = compare_pair(a[: len(b)], b, test)
        assert result.difference == pytest.approx(moved) and np.isnan(result[1:]).all()
    for equal in (a, a + 1e-10):
        assert compare_pair(a, equal, test).p == 1
    assert compare_pair(a, np.sort(a) - 0.2, test).p < 0.5


@pytest.mark.parametrize("test", PAIR_TESTS + TUKEY_TESTS)
def test_one_query_says_nothing_and_one_system_has_no_pairs(test):
    frame = compare_all([[0.1], [0.2]], ["a", "b"], test=test)
    assert frame["p"].isna().all() and not frame["significant"].any()
    assert (frame.attrs["family"], frame.attrs["dropped"]) == (0, 1)
    assert frame.loc[0, "difference"] == pytest.approx(-0.1)
    alone = compare_all([[0.1, 0.2]], ["a"], test=test)
    none = compare_differences(np.zeros((0, 4)), [])
    for empty in (alone, none):
        assert empty.empty and {"a", "b", "difference", "p_corrected"} < set(empty)


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=2, max_size=15))
def test_kendall_taus_of_many_are_scipys_to_the_last_bit(triples):
    a, b, c = np.array(triples, dtype=float).T / 3
    rows, others = np.array([a, a, b]), np.array([b, c, -b])
    expected = [scipy.stats.kendalltau(*pair).statistic for pair in zip(rows, others)]
    np.testing.assert_array_equal(kendall_taus(rows, others), expected)
