"""Conditions of a guard: their syntax, and the conditions that a measure allows."""

from dataclasses import replace

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyterrier_asl import ASL, AP_Rareness, RarenessPool, compare
from pyterrier_asl.comparison.conditions import Condition, are_relevant, parse_condition
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.measures.directions import value_range
from pyterrier_asl.measures.parsing import parse_measures


@pytest.mark.parametrize(
    "text, expected",
    [
        ("AP worse", ("AP", "worse")),
        (" nDCG@10 worse by 2 % p < .05 certainly ", ("nDCG@10", "worse", 2, True, 0.05, True)),
        (
            "ASL(g=10, rel=2)@20 possibly worse by .02 p<.01",
            ("ASL(g=10, rel=2)@20", "worse", 0.02, False, 0.01, False, True),
        ),
    ],
)
def test_what_is_read(text, expected):
    """Measure, how, amount, percent, level, certainly, possibly."""
    assert parse_condition(text) == Condition(text.strip(), *expected)


def test_a_level_and_a_group_are_read():
    assert parse_condition("AP worse p<5%") == replace(
        parse_condition("AP worse p<.05"), text="AP worse p<5%"
    )
    found = parse_condition("AP lower by 2% in any group p < .01")
    assert (found.in_group, found.amount, found.percent, found.level) == (True, 2, True, 0.01)


@pytest.mark.parametrize(
    "measure, grades, expected",
    [(ir_measures.AP, [0, -1], False), (ir_measures.AP, [], False)]
    + [(ir_measures.AP(rel=0), [0, -1], True), (ir_measures.AP(rel=2), [1, 2], True)]
    + [(ASL(rel=9), [1, 2], False), (ir_measures.nDCG @ 10, [0, -2], False)]
    + [(ir_measures.nDCG @ 10, [0, 1], True), (ir_measures.nDCG(gains={1: 0}) @ 10, [0, 1], False)]
    + [(ir_measures.NumRet, [0], True), (ir_measures.NumRet(rel=9), [1], False)]
    + [(ir_measures.Judged @ 10, [0], True)],
)
def test_whether_anything_is_relevant_to_a_measure(measure, grades, expected):
    assert are_relevant(measure, np.array(grades, float)) is expected


@pytest.mark.filterwarnings("ignore:.*fewer than 8")
def test_the_range_of_rareness_depends_on_its_runs():
    """2 - 1/S at alpha = 1 (definitions 3): a document that one of S runs finds."""
    measure = AP_Rareness(alpha=1) @ 10
    assert value_range(measure) == (0, 2)
    assert value_range(measure, 2) == (0, 1.5)
    pool = RarenessPool.from_runs({name: {"q": {name: 1}} for name in "abc"})
    assert value_range(measure(pool=pool, member=True)) == (0, 2 - 1 / 3)
    assert value_range(measure(pool=pool)) == (0, 2 - 1 / 4)  # of a run that joins the pool
    runs = {"a": {"q": {"d": 1}}, "b": {"q": {"e": 1}}}
    conditions = ["AP_Rareness@10 worse by 1.25", "AP_Rareness@10 worse by 1.3"]
    verdicts = compare(runs, {"q": {"d": 1, "e": 0}}, ["RR"], conditions=conditions).verdicts[:2]
    assert [verdict.outcome.name for verdict in verdicts] == ["FAIL", "ERROR"]
    assert "as the mean of A allows 1.25 at most" in verdicts[1].message


@settings(max_examples=6)
@given(
    grades=st.lists(st.integers(-1, 4), min_size=8, max_size=8),
    ranking=st.permutations(range(8)),
    depth=st.integers(1, 8),
    k=st.integers(1, 5),
)
def test_no_value_leaves_its_range(grades, ranking, depth, k):
    """All measures of this package, for runs with one query."""
    qrels = {"q": {f"d{number}": grade for number, grade in enumerate(grades)}}
    run = {"q": {f"d{number}": -float(at) for at, number in enumerate(ranking[:depth])}}
    names = (
        f"ASL@{k} ASL(missing='eq3')@{k} ASL(missing='after')@{k} ASL(g=2)@{k} nASL@{k} LexiP "
        f"ASL(judged_only=True)@{k} TBG(missing_length=0) TBG(missing_length=0)@{k} P@{k} AP "
        f"nDCG(dcg='exp-log2')@{k} ERR@{k} RBP(rel=1) Bpref SetF SetP(relative=True) Rprec "
        f"R@{k} Judged@{k}"
    ).split()
    evaluation = Evaluation.of({"a": run}, qrels)
    for measure in parse_measures(names):
        low, high = value_range(measure.measure)
        value = evaluation.values(measure.measure).item()
        assert low - 1e-12 <= value <= high + 1e-12, measure
