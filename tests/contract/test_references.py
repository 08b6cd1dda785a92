"""Functions of runs against loops: small runs, ties, unjudged documents, several collections."""

from itertools import permutations

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


@settings(max_examples=10)
@given(collections(5, 3))
def test_compare(given_runs):
    runs, qrels = given_runs
    compared = asl.compare(runs, qrels, "ASL@4 rrLP sgnLP", alpha=0.1)
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
            low, high = test.confidence_interval(0.9)
            assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
            shift = row["detectable"] * len(a) ** 0.5 / (b - a).std(ddof=1)
            assert shift == pytest.approx(stats.t.ppf([0.95, 0.8], len(a) - 1).sum())
        elif abs(b - a).min() > 1e-9:  # a constant difference
            assert np.isnan(row["p"])
        ranked = [
            [brute_force.ranking(runs[r][q], g) for r in (name, "run0")] for q, g in qrels.items()
        ]
        pairs = [
            [brute_force.reciprocal_ranks(docs, g) for docs in both]
            for both, g in zip(ranked, qrels.values())
        ]
        differences = np.array([brute_force.rr_lp(*pair) for pair in pairs])
        assert table.loc[(name, "rrLP"), "difference"] == pytest.approx(differences.mean())
        signs = table.loc[(name, "sgnLP")]
        assert signs["difference"] == pytest.approx(np.sign(differences).mean())
        up, down = int((differences > 0).sum()), int((differences < 0).sum())
        if up + down and np.ptp(np.sign(differences)):
            assert signs["p"] == pytest.approx(stats.binomtest(up, up + down).pvalue)
    differs = compared.by_query.groupby(["run", "measure"])["difference"].any()
    is_equal = ~differs[table.index].to_numpy()  # equal runs stay in the family
    assert (table.loc[is_equal, ["p", "p_corrected"]] == 1).all(axis=None)
    for _, rows in table.dropna(subset="p").groupby("measure"):
        assert rows["p_corrected"].tolist() == pytest.approx(brute_force.holm(list(rows["p"])))


#: Measures whose bounds of a difference are exact.
RANKED = ["ASL", "P", "RR", "nASL"]


def of_measure(name: str, runs: dict, qrels: dict, k: int = 3) -> list[list[float]]:
    """The values of each run in each query."""
    of = labellings.value_of(name, k)
    return [
        [of(brute_force.ranking(run[q], g), g) for q, g in qrels.items()] for run in runs.values()
    ]


def gains(name: str, rows: list[list[float]]) -> list[list[float]]:
    return [[-value for value in row] for row in rows] if name == "ASL" else rows


def check_board(board, names: list[str], expected: tuple) -> None:
    """Asserts the ranks, pairs, p-values and possible best of a leaderboard."""
    better, _, stays, p = expected
    rows = board.overall.set_index("name")
    for j, name in enumerate(names):
        low = 1 + sum(pair[1] == j for pair in better)
        high = len(names) - sum(pair[0] == j for pair in better)
        assert tuple(rows.loc[name, ["low", "high"]]) == (low, high)
        assert rows.loc[name, "could_be_best"] == (j in stays)
    for j, k in permutations(range(len(names)), 2):
        assert board.better.loc[names[j], names[k]] == ((j, k) in better)
        assert j > k or board.p.loc[names[j], names[k]] == pytest.approx(p[j][k], abs=1e-9)


@settings(max_examples=6, phases=[Phase.generate])
@given(collections(10, 3), st.sampled_from(RANKED), st.sampled_from([0.05, 0.3]), st.booleans())
def test_ranks(given_runs, name, alpha, common):
    """All 1,024 sign vectors of ten topics."""
    runs, qrels = given_runs
    values = of_measure(name, runs, qrels)
    variance = "common" if common else "averaged"
    board = asl.ranks(runs, qrels, f"{name}@3", alpha=alpha, variance=variance)
    expected = brute_force.rank_intervals(gains(name, values), alpha=alpha, common=common)
    check_board(board, list(runs), expected)
    means = {run: np.mean(row) for run, row in zip(runs, values)}
    assert board.table.set_index("name")["mean"].to_dict() == pytest.approx(means)


@settings(max_examples=3, phases=[Phase.generate])
@given(collections(10, 3), st.sampled_from(RANKED))
def test_ranks_for_all_labels(given_runs, name):
    """The least difference of each pair by enumeration of the labellings of each query."""
    runs, qrels = given_runs
    of, lower = labellings.value_of(name, 3), np.zeros((3, 3, 10))
    for q, (qid, grades) in enumerate(qrels.items()):
        rankings = [brute_force.ranking(run[qid], grades) for run in runs.values()]
        documents = labellings.unjudged(rankings, grades, 3)
        every = labellings.labelled(grades, documents)
        every = np.array(gains(name, [[of(docs, given) for docs in rankings] for given in every]))
        lower[:, :, q] = (every[:, :, None] - every[:, None]).min(axis=0)
    board = asl.ranks(runs, qrels, f"{name}@3", unjudged=True, alpha=0.3)
    expected = brute_force.rank_intervals(None, alpha=0.3, lower=lower.tolist())
    check_board(board, list(runs), expected)


@settings(max_examples=3, phases=[Phase.generate])
@given(collections(6, 2), collections(5, 2))
def test_ranks_of_two_collections(one, two):
    """Each collection has half of the weight, and its topics are drawn apart."""
    board = asl.ranks({"one": one, "two": two}, measures="ASL@3", alpha=0.3)
    rows = [a + b for a, b in zip(of_measure("ASL", *one), of_measure("ASL", *two))]
    collection = ["one"] * 6 + ["two"] * 5
    expected = brute_force.rank_intervals(gains("ASL", rows), collection, alpha=0.3)
    check_board(board, list(one[0]), expected)


@settings(max_examples=3, phases=[Phase.generate])
@given(collections(10, 3), collections(10, 1))
def test_ranks_whichever_judge_is_right(given_runs, other):
    """The least and the greatest rank by two judges of the same topics."""
    runs, qrels = given_runs
    board = asl.ranks(runs, qrels, "ASL@3", judges={"other": other[1]}, alpha=0.3)
    by_judge = [gains("ASL", of_measure("ASL", runs, by)) for by in (qrels, other[1])]
    found = [brute_force.rank_intervals(rows, alpha=0.3) for rows in by_judge]
    rows = board.table.set_index("name")
    for j, name in enumerate(runs):
        low = min(1 + sum(pair[1] == j for pair in better) for better, *_ in found)
        high = max(3 - sum(pair[0] == j for pair in better) for better, *_ in found)
        assert tuple(rows.loc[name, ["low", "high"]]) == (low, high)
        assert rows.loc[name, "could_be_best"] == any(j in stays for _, _, stays, _ in found)
        for k, against in enumerate(runs):
            ordered = all((j, k) in better for better, *_ in found)
            assert board.better.loc[name, against] == ordered


@settings(max_examples=8)
@given(
    collections(8, 3),
    collections(8, 1),
    st.integers(3, 8),
    st.sampled_from(["ASL", "AP", "RR"]),
    st.sampled_from(["queries-like-these", "these-queries"]),
)
def test_audit(given_runs, other, size, name, target):
    """People have judged the first queries, a machine has judged all."""
    runs, machine = given_runs
    people = dict(list(other[1].items())[:size])
    by_people = np.array(of_measure(name, runs, people))
    by_machine = np.array(of_measure(name, runs, machine))
    found = asl.audit(runs, people, f"{name}@3", machine, target=target, alpha=0.1)
    rows = [(row, None) for row in range(3)] + [(1, 0), (2, 0)]
    for (row, less), estimate in zip(rows, found.table.to_dict("records"), strict=True):
        h, f = (x[row] - (0 if less is None else x[less]) for x in (by_people, by_machine))
        theta, variance, weight, freedom = brute_force.prediction_powered(
            h, f[:size], f[size:], target
        )
        assert estimate["run"] == f"run{row}"
        assert estimate["minus"] == ("" if less is None else f"run{less}")
        assert estimate["estimate"] == pytest.approx(theta)
        assert estimate["people"] == pytest.approx(h.mean())
        assert estimate["machine"] == pytest.approx(f.mean())
        assert estimate["lambda"] == pytest.approx(weight)
        ends = estimate["ci_low"], estimate["ci_high"]
        if np.ptp(h) < 1e-12:
            ends = [*ends, estimate["people_low"], estimate["people_high"]]
            # Of these queries all are known where people have judged them all.
            known = size == 8 and target == "these-queries"
            assert ends == pytest.approx([theta if known else np.nan] * 4, nan_ok=True)
            assert np.isnan(estimate["saved"])
            continue
        margin = stats.t.ppf(0.95, freedom) * variance**0.5
        assert ends == pytest.approx((theta - margin, theta + margin))
        alone = h.var(ddof=1) / size * (1 if target == "queries-like-these" else 1 - size / 8)
        margin = stats.t.ppf(0.95, size - 1) * alone**0.5
        assert estimate["people_high"] - estimate["people"] == pytest.approx(margin)
        if variance > 1e-12:
            assert estimate["saved"] == pytest.approx(size * (alone / variance - 1))
