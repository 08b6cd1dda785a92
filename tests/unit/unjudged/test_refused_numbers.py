"""Invalid options raise errors that name the option, the value and the remedy (holes.py)."""

import pytest

from pyterrier_asl import bounds, holes
from pyterrier_asl.analysis.incomplete_judgements import missing_labels
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.relevant_documents import RelevantRanks

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
