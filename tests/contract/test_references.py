"""``compare``, ``holes`` and ``judges`` against loops: small runs, ties, unjudged documents."""

from __future__ import annotations

from itertools import combinations

import brute_force
import labellings
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import stats

import pyterrier_asl as asl

pytestmark = pytest.mark.filterwarnings("ignore")

DOCS = ["d1", "d2", "d10", "D1", "é", "7"]
SCORES = st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 2.0, -1.0])
RANKING = st.dictionaries(st.sampled_from(DOCS), SCORES, min_size=1)
GRADES = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 2), min_size=2)


def collections(queries: int, runs: int) -> st.SearchStrategy[tuple[dict, dict]]:
    """Runs and qrels; every run has a judged document in the first query."""
    qids = [f"q{number}" for number in range(queries)]

    def made(drawn: list) -> tuple[dict, dict]:
        qrels, *rankings = drawn
        qrels = {"q0": {**qrels[0], "d1": 1}, **dict(zip(qids[1:], qrels[1:]))}
        found = {
            f"run{n}": {"q0": {**run[0], "d1": 0.5}, **dict(zip(qids[1:], run[1:]))}
            for n, run in enumerate(rankings)
        }
        return found, qrels

    def of_queries(part: st.SearchStrategy) -> st.SearchStrategy:
        return st.lists(part, min_size=queries, max_size=queries)

    parts = [of_queries(GRADES), *[of_queries(RANKING)] * runs]
    return st.tuples(*parts).map(list).map(made)


def values(run: dict, qrels: dict, k: int) -> np.ndarray:
    """ASL@k of each query."""
    return np.array(
        [brute_force.asl(brute_force.ranking(run[q], g, k=k), g, k=k) for q, g in qrels.items()]
    )


@settings(max_examples=25)
@given(collections(5, 3))
def test_compare(given_runs):
    runs, qrels = given_runs
    compared = asl.compare(runs, qrels, "ASL@4", causes=False)
    table = compared.table.set_index(["run", "measure"])
    for name in ("run1", "run2"):
        a, b = (values(runs[run], qrels, 4) for run in ("run0", name))
        row = table.loc[(name, "ASL@4")]
        assert (row["a"], row["b"]) == pytest.approx((a.mean(), b.mean()))
        assert row["difference"] == pytest.approx((b - a).mean())
        assert row["wins"] == (b < a - 1e-12).sum() and row["losses"] == (b > a + 1e-12).sum()
        assert row["wins"] + row["losses"] + row["ties"] == len(qrels)
        if np.ptp(b - a) > 1e-9:
            test = stats.ttest_rel(b, a)
            assert row["p"] == pytest.approx(test.pvalue)
            low, high = test.confidence_interval()
            assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
        pairs = [
            [
                brute_force.reciprocal_ranks(brute_force.ranking(runs[run][q], g), g)
                for run in (name, "run0")
            ]
            for q, g in qrels.items()
        ]
        differences = np.array([brute_force.rr_lp(*pair) for pair in pairs])
        assert table.loc[(name, "rrLP"), "difference"] == pytest.approx(differences.mean())
        signs = table.loc[(name, "sgnLP")]
        assert signs["difference"] == pytest.approx(np.sign(differences).mean())
        up, down = int((differences > 0).sum()), int((differences < 0).sum())
        if up + down:
            assert signs["p"] == pytest.approx(stats.binomtest(up, up + down).pvalue)
    differs = compared.by_query.groupby(["run", "measure"])["difference"].any()
    is_equal = ~differs[table.index].to_numpy()  # equal values need no test
    tested = table[~is_equal].dropna(subset="p")
    assert tested["p_corrected"].tolist() == pytest.approx(brute_force.holm(list(tested["p"])))
    assert (table.loc[is_equal, ["p", "p_corrected"]] == 1).all(axis=None)


@settings(max_examples=25)
@given(collections(2, 2), st.sampled_from(["ASL", "AP", "P", "RR"]))
def test_holes(given_runs, name):
    """Bounds of the difference by enumeration of the labellings of each query."""
    runs, qrels = given_runs
    k, low, high = 3, 0.0, 0.0
    of = labellings.value_of(name, k)
    for qid, grades in qrels.items():
        rankings = [brute_force.ranking(run[qid], grades, k=k) for run in runs.values()]
        documents = labellings.unjudged(rankings, grades, k)
        ends = labellings.extremes(
            of(rankings[0], labelled) - of(rankings[1], labelled)
            for labelled in labellings.labelled(grades, documents)
        )
        low, high = low + ends[0] / 2, high + ends[1] / 2
    found = asl.holes(*runs.values(), qrels, f"{name}@{k}").table.iloc[0]
    assert found["low"] <= low + 1e-9 and high <= found["high"] + 1e-9
    if found["exact"]:
        assert (found["low"], found["high"]) == pytest.approx((low, high))
    worse, better = ("A", "B") if name == "ASL" else ("B", "A")
    if found["exact"] and low > 1e-9:
        assert found["verdict"] == better
    if found["exact"] and high < -1e-9:
        assert found["verdict"] == worse
    if found["exact"] and low < -1e-9 and high > 1e-9:
        assert found["verdict"] == "open"


def kappa(a: list[bool], b: list[bool]) -> float:
    n = len(a)
    observed = sum(x == y for x, y in zip(a, b)) / n
    expected = sum(sum(x == c for x in a) * sum(y == c for y in b) for c in (True, False)) / n**2
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")


def tau(a: np.ndarray, b: np.ndarray) -> float:
    """Kendall's tau of means without ties."""
    pairs = list(combinations(range(len(a)), 2))
    return sum(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i, j in pairs) / len(pairs)


@settings(max_examples=10, phases=[Phase.generate])
@given(collections(4, 3), st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_judges(given_runs, shifts):
    """A judge of the same documents, whose grades are shifted in some queries."""
    runs, qrels = given_runs
    judge = {
        qid: {doc: 1 if doc == "d1" else (grade + shift) % 3 for doc, grade in grades.items()}
        for (qid, grades), shift in zip(qrels.items(), shifts)
    }
    found = asl.judges(qrels, {"x": judge}, runs, "ASL@4", draws=5).agreement
    value: dict[str, float] = found.set_index("agreement")["value"].to_dict()
    relevant = [
        [grade >= 1 for grades in by.values() for grade in grades.values()] for by in (qrels, judge)
    ]
    assert value["agreement"] == pytest.approx(np.mean(np.equal(*relevant)))
    assert value["kappa"] == pytest.approx(kappa(*relevant), nan_ok=True)
    means = [
        np.array([values(run, by, 4).mean() for run in runs.values()]) for by in (qrels, judge)
    ]
    if all(np.diff(np.sort(mean)).min() > 1e-9 for mean in means):
        assert value["tau"] == pytest.approx(tau(*means))
