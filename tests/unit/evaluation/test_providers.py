"""Measures of other providers have the same value from all functions."""

import pytest
from ir_measures import AP, Compat, infAP

from pyterrier_asl import evaluate
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.measuring import values_by_others
from pyterrier_asl.judging.judged_run import judge
from pyterrier_asl.judging.judgements import Judgements

#: All scores tie; the relevant documents are first in the file and last by document id.
TIED = {"q": {**{f"a{i}": 1.0 for i in range(3)}, **{f"x{i}": 1.0 for i in range(7)}}}
QRELS = {"q": {f"a{i}": 1 for i in range(3)}, "unanswered": {"d": 1}}


@pytest.mark.parametrize(
    "ask",
    [
        lambda run, qrels: evaluate({"r": run}, qrels, [AP, infAP, Compat]),
        lambda run, qrels: Evaluation.of({"r": run}, qrels).values(infAP),
    ],
)
def test_a_provider_that_refuses_fractions_is_an_error_with_the_remedy(ask):
    message = "infAP cannot be computed .* fractional grades such as 0.5: round the grades"
    with pytest.raises(ValueError, match=message):
        ask({"q": {"a": 1.0}}, {"q": {"a": 0.5, "b": 1}})


def test_an_unanswered_query_has_the_measures_default(monkeypatch):
    # All measures of ir_measures have the default 0.
    monkeypatch.setattr(type(Compat), "DEFAULT", 0.5)
    measure = Compat(p=0.8)
    judgements = Judgements(QRELS)
    run = judge(judgements, TIED)
    assert values_by_others([measure], run)[measure].tolist() == [1.0, 0.5]
    assert evaluate({"r": TIED}, QRELS, [measure])[str(measure)].tolist() == [1.0, 0.5]
    assert Evaluation.of({"r": TIED}, QRELS).values(measure).tolist() == [[1.0, 0.5]]


def test_what_a_provider_ends_in_names_the_measure():
    # ir_measures' Accuracy divides by the number of irrelevant documents
    with pytest.raises(ValueError, match=r"Accuracy cannot be computed .* ZeroDivisionError"):
        evaluate({"r": {"q": {"a": 1.0}}}, {"q": {"a": 1}}, ["infAP", "Accuracy"])
