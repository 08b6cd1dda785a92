"""Differences over all labels, and numbers that are refused (pairs.py)."""

import re

import numpy as np
import pytest

from pyterrier_asl import bounds, holes
from pyterrier_asl.analysis.incomplete_judgements import missing_labels
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.relevant_documents import RelevantRanks
from pyterrier_asl.unjudged.pairs import verdict_of


def test_a_difference_is_told_by_query():
    good, other = (
        {"q": {"a": 3, "x": 2}, "p": {"a": 1}},
        {"q": {"y": 3, "a": 2}, "p": {"y": 2, "a": 1}},
    )
    qrels = {"q": {"a": 1, "b": 0}, "p": {"a": 1, "b": 0}}
    found = holes({"good": good, "other": other}, qrels, "RR").difference
    assert found.verdict == "open"
    assert (found.difference, found.low, found.high) == (-0.5, -0.5, 0.0)
    assert found.by_query["unjudged"].tolist() == [2, 1]
    assert "open" in found.describe()
    assert "low=-0.5" in repr(found)
    assert not re.search("qids|sides|bounds", repr(found))  # not the long text


@pytest.mark.parametrize("of", [float, np.float64])
def test_the_verdict_by_the_ends_of_a_difference(of):
    for low, high, verdict in ((0.1, 0.2, "BA"), (-0.2, -0.1, "AB")):
        said = "".join(verdict_of(of(low), of(high), higher) for higher in (True, False))
        assert said == verdict
    assert verdict_of(of(-0.1), of(0.1)) == "open" and verdict_of(of(0), of(0)) == "equal"
    # At most 1e-12 is rounding, more is a difference.
    assert verdict_of(of(-1e-12), of(1e-12)) == "equal"
    assert verdict_of(of(1e-12), of(0.1)) == "open" and verdict_of(of(1.1e-12), of(0.1)) == "B"
    assert verdict_of(of(-0.1), of(-1e-12)) == "open" and verdict_of(of(-0.1), of(-1.1e-12)) == "A"


A, B = {"q": {"d": 2, "x": 1}}, {"q": {"y": 2, "d": 1}}
AB, QRELS = {"A": A, "B": B}, {"q": {"d": 1}}
NO_DEPTH = (1.5, -1, float("nan"), True, "3")
FROM_0 = "depth must be a whole number from 0 on, not"


def found(number):
    return RelevantRanks.of(Evaluation.of({"a": A}, QRELS), 1).found(number)


@pytest.mark.parametrize(
    ("call", "values", "words"),
    [
        (found, (2.5, 1.5, 0, -1, float("nan"), True, "3"), "depth .* whole number from 1 on, not"),
        (lambda depth: holes(AB, QRELS, "RR", depth=depth), NO_DEPTH, FROM_0),
        (lambda depth: bounds(A, QRELS, "P@3", depth=depth), NO_DEPTH, FROM_0),
        (
            lambda draws: missing_labels(AB, {"q": {"d": 1, "x": 1}}, draws=draws),
            (0,),
            "draws must be a whole number from 1 on, not 0",
        ),
        (
            lambda alpha: holes(AB, QRELS, "RR", alpha=alpha),
            (2, -1, 0, 1, float("nan")),
            "it is a probability: give 0 < alpha < 1",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, values, words):
    for value in values:
        with pytest.raises(ValueError, match=words):
            call(value)
