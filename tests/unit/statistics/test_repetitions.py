"""Repetitions, groups of queries and the number of queries: the worked examples."""

import numpy as np
import pytest
from scipy import stats

from pyterrier_asl.statistics.groups import group_differences
from pyterrier_asl.statistics.power import detectable_difference, queries_needed
from pyterrier_asl.statistics.repetitions import compare_repetitions


def test_repetitions(repetitions_vectors):
    for case in repetitions_vectors["cases"]:
        answer, found = case["answer"], compare_repetitions(case["a"], case["b"])
        low, high = answer["interval"] or (None, None)
        of_half = ("share", "half_any_repetitions", "half_twice_queries")
        expected = [
            answer["mean_d"],
            low,
            high,
            answer["t"],
            answer["p"],
            *map(answer.get, of_half),
        ]
        difference, ci_low, ci_high, _, t, p = found.comparison
        numbers = [difference, ci_low, ci_high, t, p, *(getattr(found, name) for name in of_half)]
        as_floats = np.array(expected, float)
        assert numbers == pytest.approx(as_floats, rel=1e-9, abs=1e-15, nan_ok=True), case["name"]
        if answer["df"]:
            quantiles = stats.t.ppf([0.975, 0.8], answer["df"]).sum()
            assert found.detectable == pytest.approx(quantiles * answer["Var"] ** 0.5)
        pooled = stats.ttest_rel(np.mean(case["b"], axis=0), np.mean(case["a"], axis=0)).pvalue
        if max(answer["u"]) > 0:  # the t of the means is another one
            assert abs(p - pooled) > 1e-3 or np.isnan(pooled)


def test_repetitions_of_one_query_have_no_test():
    assert np.isnan(compare_repetitions([[0.1], [0.2]], [[0.4]]).comparison.p)


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


def sample(s, queries):
    """Differences with the standard deviation s."""
    values = stats.zscore(np.random.default_rng(queries).normal(size=queries), ddof=1)
    return values * s


def test_the_number_of_queries(repetitions_vectors):
    for case in repetitions_vectors["queries"]:
        d, alpha = sample(case["s"], case["Q"]), case["alpha"]
        needed = queries_needed(d, case["delta"], alpha=alpha)
        assert needed == (case["n"], case["n_by_s"])
        detectable = detectable_difference(d, alpha=alpha)
        assert detectable == pytest.approx(case["detectable, two quantiles of t"], rel=1e-9)
        assert detectable != pytest.approx(case["detectable, noncentral t"], rel=1e-9)


def test_nothing_is_detectable_where_no_test_can_be_made():
    for constant in ([0.3], [0.1, 0.1], [0.1, 0.3 - 0.2, 0.1]):
        assert np.isnan(detectable_difference(constant))
        assert np.isnan(queries_needed(constant, 0.1)).all()
