"""Options have the effect of the parameters, qrels and runs that they stand for.
Tests of evaluate.py, labellings.py, preferences.py, ties.py."""

import numpy as np
import pandas as pd
import pytest
import small
from brute_force import ranking

import pyterrier_asl as asl
from pyterrier_asl.measures.parsing import parse_measures

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


NAMES = ["AP@7", "R@5", "RR", "Success@2", "ASL@9", "ASL(g=2)@5", "nASL@4", "LexiP"]
NAMES += ["P_Rareness@5", "AP_Rareness@4", "TBG"]
#: Fractional grades.
EXAM = small.frame(QRELS, "label")
EXAM["label"] = EXAM["label"] * 0.55 + EXAM.index % 5 / 10


@pytest.mark.parametrize("rel", [0.25, 0.8, 1.5])
@pytest.mark.parametrize("function", [asl.evaluate, asl.bounds, asl.ties])
def test_a_minimum_grade_is_that_of_binary_grades(function, rel):
    """Of measures with bounds, and of all measures with a grade as an option or a parameter."""
    names = NAMES + ["AP", "P@3", "SetR", "infAP", "Bpref"] * (function is asl.evaluate)
    binary = EXAM.assign(label=(EXAM["label"] >= rel).astype(int))
    graded, plain = (
        function(RUNS, qrels, names, rel=of, lengths=LENGTHS)
        for qrels, of in ((EXAM, rel), (binary, 1))
    )
    numbers = graded.select_dtypes("number").to_numpy()
    expected = pytest.approx(plain.select_dtypes("number").to_numpy(), abs=1e-12, nan_ok=True)
    assert numbers == expected
    if function is asl.evaluate:
        named = [measure.with_params(rel=rel).name for measure in parse_measures(names)]
        again = function(RUNS, EXAM, named, lengths=LENGTHS)
        assert np.array_equal(again.select_dtypes("number").to_numpy(), numbers)
        assert [name.partition(",lengths")[0] for name in graded][2:] == [
            name.removesuffix(")") if "TBG" in name else name for name in named
        ]


@pytest.mark.parametrize("function", [asl.bounds, asl.ties])
def test_means_are_those_of_the_queries_in_the_order_of_the_runs(function):
    by_query = function(RUNS, QRELS, ["R@5", "AP@7"], by_query=True)
    means = by_query.groupby(["name", "measure"], sort=False)[["low", "value", "high"]].mean()
    found = function(RUNS, QRELS, ["R@5", "AP@7"]).set_index(["name", "measure"])
    pd.testing.assert_frame_equal(found[["low", "value", "high"]], means)


@pytest.mark.parametrize(("rel", "k"), [(2, None), (1, 3), (2, 4)])
def test_preferences_are_of_the_minimum_grade_and_of_the_first_documents(rel, k):
    binary = {qid: {d: int(g >= rel) for d, g in docs.items()} for qid, docs in QRELS.items()}
    shorter = {
        name: {q: {d: docs[d] for d in ranking(docs, {}, k=k)} for q, docs in run.items()}
        for name, run in RUNS.items()
    }
    for a, b in (("delta", "alpha"), ("charlie", "bravo")):
        found = asl.preferences(RUNS[a], RUNS[b], QRELS, rel=rel, cutoff=k)
        pd.testing.assert_frame_equal(found, asl.preferences(shorter[a], shorter[b], binary))
    found = asl.preference_matrix(RUNS, QRELS, rel=rel, cutoff=k).pairs()
    pd.testing.assert_frame_equal(found, asl.preference_matrix(shorter, binary).pairs())
    assert not np.array_equal(found["rrLP"], asl.preference_matrix(RUNS, QRELS).pairs()["rrLP"])


def test_where_nothing_is_relevant_it_is_said():
    low = EXAM.assign(label=EXAM["label"] / 4)
    message = "no judged document has a grade of 1 or more .* by AP: give"
    with pytest.warns(UserWarning, match=message):
        assert asl.evaluate(RUNS, low, ["AP", "nDCG@10"])["AP"].sum() == 0
    asl.evaluate(RUNS, low, ["AP(rel=0.25)"])  # and no warning


def test_fractional_grades_of_judges():
    """A judge with twice the grades agrees at twice the threshold."""
    exam = EXAM.assign(label=EXAM["label"] * 2)
    alike = asl.judges(EXAM, {"exam": exam}, rel=0.75, judge_rel={"exam": 1.5}).agreement
    assert "kappa" in set(alike["agreement"]) and set(alike["value"]) == {1}
    other = asl.judges(EXAM, {"exam": exam}, rel=0.75).agreement
    assert set(other["value"]) != {1}
