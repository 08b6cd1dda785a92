"""Preferences between rankings, by the definitions and against the published tables."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
import small
from scipy import stats

from pyterrier_asl import evaluate
from pyterrier_asl.evaluation.preferences import PreferenceMatrix, preference_matrix, preferences
from pyterrier_asl.statistics.pairwise import t_test


def ranking(ranks, relevant, depth=600):
    """A run and qrels of one query with the relevant documents at these ranks (None: missing)."""
    at = {rank: f"r{i}" for i, rank in enumerate(ranks) if rank is not None}
    run = {at.get(rank, f"x{rank}"): float(-rank) for rank in range(1, depth)} | {"judged": -1e9}
    return {"q": run}, {"q": {f"r{i}": 1 for i in range(relevant)} | {"judged": 0}}


def by_loop(a, b):
    """i*, rrLP, lexirecall and RPP of two lists of ranks, by the definitions."""
    rr = [[1 / p if p else 0.0 for p in ranks] for ranks in (a, b)]
    deltas = [x - y for x, y in zip(*rr)]
    different = [i for i, delta in enumerate(deltas, 1) if delta != 0]
    signs = [(delta > 0) - (delta < 0) for delta in deltas]
    if not different:
        return 0, 0.0, 0, 0.0
    first, last = different[0], different[-1]
    return first, deltas[first - 1], signs[last - 1], sum(signs) / len(signs)


def test_worked_examples(data):
    for case in json.loads((data.parent / "vectors.json").read_text())["preferences"]:
        n = max(len(case["a"]), len(case["b"]))
        a, b = (case[k] + [None] * (n - len(case[k])) for k in "ab")
        (run_a, qrels), (run_b, _) = ranking(a, n), ranking(b, n)
        row = preferences(run_a, run_b, qrels).iloc[0]
        assert row["rrLP"] == pytest.approx(case["rrLP"], abs=1e-12)
        assert row["sgnLP"] == case["sgnLP"]


def test_every_pair_of_short_rankings_is_compared_as_the_definition_says():
    n, m = 5, 3
    positions = [
        list(p) + [None] * (m - len(p))
        for size in range(m + 1)
        for p in itertools.combinations(range(1, n + 1), size)
    ]
    pairs = {f"q{i}": pair for i, pair in enumerate(itertools.product(positions, repeat=2))}
    both = [{q: ranking(pair[of], m, n + 1)[0]["q"] for q, pair in pairs.items()} for of in (0, 1)]
    frame = preferences(*both, dict.fromkeys(pairs, ranking([], m, 1)[1]["q"]))
    expected = [by_loop(*pair) for pair in pairs.values()]
    found = frame[["i_star", "rrLP", "lexirecall", "RPP"]].to_numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert frame["sgnLP"].tolist() == [np.sign(rrlp) for _, rrlp, *_ in expected]


def test_every_monotone_measure_of_ranks_prefers_the_run_that_dominates():
    """200 random measures: additive, the least or the greatest part, a product of the parts."""
    random, depth, levels = np.random.default_rng(8), 7, 3
    drawn = [
        [
            sorted(random.permutation(depth)[: random.integers(1, levels + 1)] + 1)
            for _ in range(150)
        ]
        for _ in "ab"
    ]
    qrels = {f"q{q}": ranking([], levels)[1]["q"] for q in range(150)}
    a, b = (
        {f"q{q}": ranking(ranks, levels, depth + 1)[0]["q"] for q, ranks in enumerate(of_run)}
        for of_run in drawn
    )
    found = preferences(a, b, qrels)["dominance"].to_numpy()
    assert {*found[~np.isnan(found)]} == {-1, 0, 1} and np.isnan(found).sum() > 20
    at = np.full((2, 150, levels), depth)  # the rank of each level from 0; depth: not retrieved
    for run, query in np.ndindex(2, 150):
        ranks = drawn[run][query]
        at[run, query, : len(ranks)] = np.array(ranks) - 1
    is_higher, is_lower = np.zeros((2, 150), dtype=bool)
    for number in range(200):
        parts = -np.sort(-random.random((levels, depth + 1)).round(number % 3), axis=1)
        parts[:, -1] *= number % 2
        values = parts[np.arange(levels), at]
        combine = (np.sum, np.min, np.max, np.prod)[number % 4]
        measured = combine(values, axis=2)
        difference = (measured[0] - measured[1]).round(12)
        assert np.all(difference[found == 1] >= 0) and np.all(difference[found == -1] <= 0)
        assert np.all(difference[found == 0] == 0)
        is_higher |= difference > 0
        is_lower |= difference < 0
    assert np.all(is_higher & is_lower == np.isnan(found))
    names = ["AP", "RR", "P@3", "R@4", "nDCG@5", "RBP(rel=1)", "LexiP", "nASL@100"]
    values = evaluate({"a": a, "b": b}, qrels, names)[names].to_numpy().reshape(2, 150, -1)
    signs = np.sign((values[0] - values[1]).round(12))
    decided = ~np.isnan(found)
    assert np.all((signs == 0) | (signs == found[:, None]) | ~decided[:, None])


def test_queries_match_the_qrels_and_nothing_relevant_is_no_preference():
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 2}}
    frame = preferences({"q1": {"a": 1}, "q9": {"a": 1}}, {"q2": {"a": 1}}, qrels)
    assert frame[["qid", "sgnLP"]].to_numpy().tolist() == [["q1", 1], ["q2", 0], ["q3", 0]]
    deep = preferences({"q1": {"a": 1}}, {"q3": {"a": 1}}, qrels, rel=2)
    assert deep["sgnLP"].tolist() == [0, 0, -1]


def test_query_ids_stay_what_they_are():
    qrels = pd.DataFrame({"qid": [2, 1], "docno": ["a", "a"], "label": [1, 1]})
    assert preferences({"1": {"a": 1}}, {"2": {"a": 1}}, qrels)["qid"].tolist() == [2, 1]


def test_the_matrix_is_all_the_pairs_with_scipys_tests():
    names = ["bravo", "alpha", "charlie"]
    runs = {**{name: small.RUNS[name] for name in names}, "again": small.RUN}
    qrels = small.QRELS
    matrix = preference_matrix(runs, qrels)
    for (a, run_a), (b, run_b) in itertools.product(runs.items(), repeat=2):
        rrlp = preferences(run_a, run_b, qrels)["rrLP"].to_numpy()
        wins, losses = (rrlp > 0).sum(), (rrlp < 0).sum()
        assert matrix.rrLP.loc[a, b] == pytest.approx(rrlp.mean(), abs=1e-12)
        assert matrix.sgnLP.loc[a, b] == pytest.approx(np.sign(rrlp).mean(), abs=1e-12)
        assert matrix.wins.loc[a, b] == wins and matrix.losses.loc[a, b] == losses
        if not rrlp.any():  # there is no test
            assert math.isnan(matrix.rrLP_p.loc[a, b]) and math.isnan(matrix.sgnLP_p.loc[a, b])
            continue
        expected = stats.ttest_1samp(rrlp, 0).pvalue, stats.binomtest(wins, wins + losses).pvalue
        assert (matrix.rrLP_p.loc[a, b], matrix.sgnLP_p.loc[a, b]) == pytest.approx(expected)
    assert math.isnan(t_test(np.array([0.5])))


def test_cycles_match_a_loop():
    """Six systems, with two relevant documents for each of five queries."""
    random, names, cyclic = np.random.default_rng(4), [*"fabdce"], []
    for _ in range(40):
        reciprocal = -np.sort(-1 / random.integers(1, 9, (6, 5, 2)), axis=2).reshape(6, 10)
        matrix = PreferenceMatrix.of(names, reciprocal, np.full(5, 2))
        for by in ("sgnLP", "rrLP"):
            reach = (getattr(matrix, by) > 0).to_numpy()
            for _ in names:
                reach = reach | (reach.astype(int) @ reach.astype(int) > 0)
            around = [name for at, name in enumerate(names) if reach[at, at]]
            assert sorted(sum(matrix.cycles(by), [])) == sorted(around)
            cyclic += [by] * bool(around)
    assert {*cyclic} == {"sgnLP", "rrLP"}
