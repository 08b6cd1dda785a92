"""Conditions that must hold whatever the unjudged documents are; bounds beside differences."""

from __future__ import annotations

import math

import pytest

from pyterrier_asl import compare, holes
from pyterrier_asl.comparison.conditions import parse_condition
from pyterrier_asl.comparison.guard import Outcome

QUERIES = [f"q{i}" for i in range(6)]
QRELS = {qid: {"a": 1, "b": 1, "n": 0} for qid in QUERIES}
LIVE = {qid: {"a": 3, "b": 2, "n": 1} for qid in QUERIES}
#: One judged document between the relevant ones: worse by any labelling.
WORSE = {qid: {"n": 4, "a": 3 + i % 2, "b": 2} for i, qid in enumerate(QUERIES)}
#: Unjudged documents above them: better, perhaps.
OTHER = {qid: {f"x{i % 2}": 4, "a": 3, "b": 2} for i, qid in enumerate(QUERIES)}


def verdict(new, condition, **options):
    runs = {"live": LIVE, "new": new}
    (found,) = compare(runs, QRELS, conditions=[condition], **options).verdicts
    return found


def test_certainly_is_read():
    assert parse_condition("nDCG@10 worse by 2% p<.05 certainly").certainly
    assert not parse_condition("nDCG@10 worse").certainly


@pytest.mark.parametrize("condition", ["RR worse", "RR worse p<.05"])
def test_what_is_certain_fails(condition):
    found = verdict(WORSE, f"{condition} certainly", measures=["RR"])
    assert found.outcome is Outcome.FAIL and "whatever the unjudged" in found.message


def test_what_is_only_possible_passes_with_a_note():
    assert verdict(OTHER, "RR worse", measures=["RR"]).outcome is Outcome.FAIL
    found = verdict(OTHER, "RR worse certainly", measures=["RR"])
    assert found.outcome is Outcome.PASS and "possible, not certain" in found.message


def test_what_does_not_hold_passes():
    found = verdict(WORSE, "RR better certainly", measures=["RR"])
    assert found.outcome is Outcome.PASS and "possible" not in found.message


@pytest.mark.parametrize(
    "condition, words",
    [
        ("Bpref worse certainly", "Bpref has no bounds"),
        ("sgnLP worse certainly", "leave out certainly"),
        ("RR worse p<.05 certainly", "test='t'"),
    ],
)
def test_what_cannot_be_certain_is_refused(condition, words):
    test = "sign" if "test=" in words else "t"
    with pytest.raises(ValueError, match=words):
        compare({"live": LIVE, "new": OTHER}, QRELS, ["RR"], conditions=[condition], test=test)


def test_bounds_beside_differences():
    table = compare({"live": LIVE, "new": OTHER}, QRELS, ["RR", "ASL@9", "Bpref"], bounds=True)
    rows = table.summary.set_index("measure")
    expected = holes(OTHER, LIVE, QRELS, "ASL@9").difference
    assert rows.loc["ASL@9", ["low", "high"]].tolist() == [expected.low, expected.high]
    assert rows.loc["RR", "difference"] == rows.loc["RR", "low"] == -0.5
    assert math.isnan(rows.loc["Bpref", "low"]) and math.isnan(rows.loc["sgnLP", "high"])
    assert "low" not in compare({"live": LIVE, "new": OTHER}, QRELS, ["RR"]).summary
