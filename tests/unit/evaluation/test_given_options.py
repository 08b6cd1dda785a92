"""Options have the effect of the parameters, qrels and runs that they stand for.
Tests of evaluate.py, labellings.py, preferences.py, ties.py."""

import numpy as np
import pandas as pd
import pytest
import small

import pyterrier_asl as asl

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RUNS, QRELS = small.RUNS, small.QRELS
LENGTHS = asl.DocLengths.from_dict({f"d{n}": 40.0 * n for n in range(31)}, name="given")


def others():
    """Runs of another seed, among which other documents are rare."""
    return small.collection(seed=2)[0]


@pytest.mark.parametrize("function", [asl.evaluate, asl.bounds, asl.ties])
@pytest.mark.parametrize(
    ("measure", "option", "value"),
    [
        (asl.P_Rareness @ 5, "pool", lambda: asl.RarenessPool.from_runs(others())),
        (asl.P_Rareness(alpha=1.0) @ 5, "rel", lambda: 2),
        (asl.TBG, "lengths", lambda: LENGTHS),
    ],
    ids=["pool", "rel", "lengths"],
)
def test_an_option_completes_the_measure(function, measure, option, value):
    value = value()
    asked = [(measure, {option: value}), (measure(**{option: value}), {})]
    asked += [(measure, {})] * (option != "lengths")
    found, alone, *plain = (
        function(RUNS, QRELS, of, **how).select_dtypes("number").to_numpy() for of, how in asked
    )
    assert np.array_equal(found, alone, equal_nan=True)
    assert not any(np.array_equal(found, other, equal_nan=True) for other in plain)


@pytest.mark.parametrize("function", [asl.evaluate, asl.bounds, asl.ties])
def test_a_minimum_grade_is_that_of_binary_grades(function):
    """Of measures with bounds; those of one grade have no other in the qrels."""
    names = ["AP@7", "R@5", "RR", "Success@2", "ASL@9", "ASL(g=2)@5", "nASL@4", "LexiP"]
    names += ["P_Rareness@5", "AP_Rareness@4", "TBG"]
    binary = {qid: {d: int(g >= 2) for d, g in docs.items()} for qid, docs in QRELS.items()}
    graded, plain = (
        function(RUNS, qrels, names, rel=rel, lengths=LENGTHS).select_dtypes("number").to_numpy()
        for qrels, rel in ((QRELS, 2), (binary, 1))
    )
    assert graded == pytest.approx(plain, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("function", [asl.bounds, asl.ties])
def test_means_are_those_of_the_queries_in_the_order_of_the_runs(function):
    by_query = function(RUNS, QRELS, ["R@5", "AP@7"], by_query=True)
    means = by_query.groupby(["name", "measure"], sort=False)[["low", "value", "high"]].mean()
    found = function(RUNS, QRELS, ["R@5", "AP@7"]).set_index(["name", "measure"])
    pd.testing.assert_frame_equal(found[["low", "value", "high"]], means)


def cut(run, k):
    """The first documents of each query, in trec_eval's order of equal scores."""
    return {
        qid: dict(sorted(docs.items(), key=lambda item: (item[1], item[0]), reverse=True)[:k])
        for qid, docs in run.items()
    }


@pytest.mark.parametrize(("rel", "k"), [(2, None), (1, 3), (2, 4)])
def test_preferences_are_of_the_minimum_grade_and_of_the_first_documents(rel, k):
    binary = {qid: {d: int(g >= rel) for d, g in docs.items()} for qid, docs in QRELS.items()}
    shorter = {name: cut(run, k) for name, run in RUNS.items()}
    for a, b in (("delta", "alpha"), ("charlie", "bravo")):
        found = asl.preferences(RUNS[a], RUNS[b], QRELS, rel=rel, cutoff=k)
        pd.testing.assert_frame_equal(found, asl.preferences(shorter[a], shorter[b], binary))
    found = asl.preference_matrix(RUNS, QRELS, rel=rel, cutoff=k).pairs()
    pd.testing.assert_frame_equal(found, asl.preference_matrix(shorter, binary).pairs())
    assert not np.array_equal(found["rrLP"], asl.preference_matrix(RUNS, QRELS).pairs()["rrLP"])
