"""Conditions of a guard: their syntax, and the conditions that a measure allows."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyterrier_asl import ASL, TBG, AP_Rareness, LexiP, P_Rareness, RarenessPool, compare, nASL
from pyterrier_asl.comparison.conditions import (
    Condition,
    are_relevant,
    check_condition,
    parse_condition,
)
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.measures.directions import higher_is_better, value_range
from pyterrier_asl.measures.names import parse_measures


@pytest.mark.parametrize(
    "text, expected",
    [
        ("AP worse", Condition("AP worse", "AP", "worse")),
        (
            " nDCG@10 worse by 2 % p < .05 certainly ",
            Condition(
                "nDCG@10 worse by 2 % p < .05 certainly",
                "nDCG@10",
                "worse",
                amount=2,
                percent=True,
                level=0.05,
                certainly=True,
            ),
        ),
        (
            "ASL(g=10, rel=2)@20 possibly worse by .02 p<.01",
            Condition(
                "ASL(g=10, rel=2)@20 possibly worse by .02 p<.01",
                "ASL(g=10, rel=2)@20",
                "worse",
                amount=0.02,
                level=0.01,
                possibly=True,
            ),
        ),
    ],
)
def test_what_is_read(text, expected):
    assert parse_condition(text) == expected


@pytest.mark.parametrize("text", ["nDCG@10 is worse", "AP RR worse", "AP, RR worse", "AP worse?"])
def test_what_is_not_understood_gets_the_grammar(text):
    with pytest.raises(ValueError, match=r"write MEASURE better\|worse.*possibly worse by AMOUNT"):
        parse_condition(text)


@pytest.mark.parametrize(
    "rest",
    [
        "worse p<.05",
        "worse by .02",
        "worse",
        "worse by 0 p<.05",
        "better by .02 p<.05",
        "lower by .02 p<.05",
        "worse by .02 p<.5",
    ],
)
def test_possibly_needs_an_amount_and_a_level(rest):
    with pytest.raises(ValueError, match="'possibly' needs 'worse', an amount above 0 and a LEVEL"):
        parse_condition(f"nDCG@10 possibly {rest}")


#: Conditions that no runs can meet, with a word of the remedy.
IMPOSSIBLE = [
    ("AP worse by 200%", ir_measures.AP, "100% or less"),
    ("RR worse by 101%", ir_measures.RR, "100% or less"),
    ("nDCG@10 worse by 2", ir_measures.nDCG @ 10, "1 or less"),
    ("nDCG@10 better by 1.1", ir_measures.nDCG @ 10, "1 or less"),
    ("nASL@10 different by 2", nASL @ 10, "1 or less"),
    ("LexiP worse by 2", LexiP, "1 or less"),
    ("ASL@10 better by 91%", ASL @ 10, "90.909% or less"),  # from 11 to 1
    ("ASL@10 lower by 101%", ASL @ 10, "90.909% or less"),
    ("ASL@10 worse by 1001%", ASL @ 10, "1000% or less"),  # from 1 to 11
    ("ASL better by 101%", ASL, "100% or less"),
    ("ASL@1000 worse by 2000", ASL @ 1000, "1000 or less"),
    ("ASL@10 possibly worse by 5000 p<.05", ASL @ 10, "10 or less"),
    ("ASL(missing='eq3')@10 worse by 12", ASL(missing="eq3") @ 10, "11 or less"),
    ("infAP worse by 2", ir_measures.infAP, "1 or less"),
    ("infAP worse by 101%", ir_measures.infAP, "100% or less"),
    ("AP_Rareness@100 worse by 1.6", AP_Rareness @ 100, "1.5 or less"),
    ("P_Rareness@5 worse by 2.1", P_Rareness(alpha=1) @ 5, "2 or less"),
    ("P_Rareness@5 worse by 1.1", P_Rareness(normalized=True) @ 5, "1 or less"),
    (
        "TBG@1 worse by .5",
        TBG @ 1,
        "0.492 or less",
    ),  # a relevant document is saved with probability .64 * .77
    ("NumRet lower by 200%", ir_measures.NumRet, "100% or less"),
    ("AP possibly worse by 2 p<.05", ir_measures.AP, "1 or less"),
    ("AP possibly worse by 101% p<.05", ir_measures.AP, "100% or less"),
    ("rrLP worse by 2", None, "1 or less"),
]
#: Similar conditions that some runs meet.
POSSIBLE = [
    ("AP worse by 100%", ir_measures.AP),
    ("AP worse by 1", ir_measures.AP),
    ("AP better by 200%", ir_measures.AP),
    ("AP different by 200%", ir_measures.AP),
    ("ASL@10 worse by 200%", ASL @ 10),
    ("ASL@10 worse by 10", ASL @ 10),
    ("ASL@10 worse by 1000%", ASL @ 10),
    ("ASL@10 different by 1000%", ASL @ 10),
    ("ASL@10 better by 90%", ASL @ 10),
    ("ASL worse by 5000", ASL),  # a ranking may be deeper than 1000
    ("ASL(missing='eq3')@10 better by 100%", ASL(missing="eq3") @ 10),
    ("infAP worse by 1", ir_measures.infAP),
    ("alpha_DCG@10 worse by 3", ir_measures.alpha_DCG @ 10),
    ("AP_Rareness@100 worse by 1.2", AP_Rareness @ 100),
    ("TBG worse by 3", TBG),
    ("NumRet lower by 30", ir_measures.NumRet),
    ("rrLP worse by 1", None),
]


def direction(measure):
    return True if measure is None else higher_is_better(measure)


@pytest.mark.parametrize("text, measure, remedy", IMPOSSIBLE)
def test_what_nothing_can_meet_is_an_error(text, measure, remedy):
    with pytest.raises(ValueError, match=f"can never hold; write an amount of {remedy}"):
        check_condition(parse_condition(text), measure, direction(measure))


@pytest.mark.parametrize("text, measure", POSSIBLE)
def test_what_some_runs_meet_can_be_asked(text, measure):
    check_condition(parse_condition(text), measure, direction(measure))


@pytest.mark.parametrize(
    "text, measure, words",
    [
        ("NumRet possibly worse by 2 p<.05", ir_measures.NumRet, "neither better nor worse"),
        ("sgnLP possibly worse by .1 p<.05", None, "the sign test, which has no amount"),
        ("rrLP possibly worse by 2% p<.05", None, "leave out the %"),
    ],
)
def test_what_cannot_be_possible(text, measure, words):
    with pytest.raises(ValueError, match=words):
        check_condition(parse_condition(text), measure, direction(measure))


def test_a_loss_is_rejected_by_a_t_test_alone():
    condition = parse_condition("AP possibly worse by .02 p<.05")
    with pytest.raises(ValueError, match="possibly worse needs test='t'"):
        check_condition(condition, ir_measures.AP, True, test="wilcoxon")


@pytest.mark.parametrize(
    "measure, grades, expected",
    [
        (ir_measures.AP, [0, -1], False),
        (ir_measures.AP, [], False),
        (ir_measures.AP(rel=0), [0, -1], True),
        (ir_measures.AP(rel=2), [1, 2], True),
        (ASL(rel=9), [1, 2], False),
        (ir_measures.nDCG @ 10, [0, -2], False),
        (ir_measures.nDCG @ 10, [0, 1], True),
        (ir_measures.nDCG(gains={1: 0}) @ 10, [0, 1], False),
        (ir_measures.NumRet, [0], True),
        (ir_measures.NumRet(rel=9), [1], False),
        (ir_measures.Judged @ 10, [0], True),
    ],
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
    assert value_range(measure(pool=pool)) == (
        0,
        2 - 1 / 4,
    )  # the range of a run that joins the pool
    runs = {"a": {"q": {"d": 1}}, "b": {"q": {"e": 1}}}
    compare(runs, {"q": {"d": 1, "e": 0}}, ["RR"], conditions=["AP_Rareness@10 worse by 1.25"])
    with pytest.raises(ValueError, match="between 0 and 1.25, so the condition can never hold"):
        compare(runs, {"q": {"d": 1, "e": 0}}, ["RR"], conditions=["AP_Rareness@10 worse by 1.3"])


@settings(max_examples=25, deadline=None)
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
    names = [
        f"ASL@{k}",
        f"ASL(missing='eq3')@{k}",
        f"ASL(missing='after')@{k}",
        f"ASL(g=2)@{k}",
        f"ASL(judged_only=True)@{k}",
        f"nASL@{k}",
        "LexiP",
        "TBG(missing_length=0)",
        f"TBG(missing_length=0)@{k}",
        f"P@{k}",
        "AP",
        f"nDCG(dcg='exp-log2')@{k}",
        f"ERR@{k}",
        "RBP(rel=1)",
        "Bpref",
        "SetF",
        "SetP(relative=True)",
        "Rprec",
        f"R@{k}",
        f"Judged@{k}",
    ]
    evaluation = Evaluation.of({"a": run}, qrels)
    for measure in parse_measures(names):
        low, high = value_range(measure.measure)
        value = evaluation.values(measure.measure).item()
        assert low - 1e-12 <= value <= high + 1e-12, measure
