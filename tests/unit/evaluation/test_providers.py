"""Measures of other providers have the same value from all functions."""

import ir_measures
import numpy as np
import pandas as pd
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


def test_ties_are_left_to_the_provider_everywhere():
    measure = Compat(p=0.8)
    theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], QRELS, TIED)}
    assert theirs["q"] == pytest.approx(1.0)
    evaluated = evaluate({"r": TIED}, QRELS, [measure])
    judged = Evaluation.of({"r": TIED}, QRELS)
    assert evaluated[str(measure)].tolist() == judged.values(measure)[0].tolist()
    assert evaluated[str(measure)].tolist() == [theirs["q"], theirs["unanswered"]]


def test_fractional_grades_are_not_truncated():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    qrels = {"q": {"a": 0.25, "b": 0.75, "c": 0.5}}
    frame = pd.DataFrame(
        [("q", docno, grade) for docno, grade in qrels["q"].items()],
        columns=["query_id", "doc_id", "relevance"],
    )
    (theirs,) = ir_measures.iter_calc([Compat(p=0.8)], frame, run)
    assert 0 < theirs.value < 1
    for values in (
        evaluate({"r": run}, qrels, [Compat(p=0.8)])["Compat(p=0.8)"].to_numpy(),
        Evaluation.of({"r": run}, qrels).values("Compat(p=0.8)")[0],
    ):
        assert values == pytest.approx([theirs.value])


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


def test_values_of_the_runs_own_pool():
    runs = {"a": {"q": {"d": 2.0, "e": 1.0}}, "b": {"q": {"e": 2.0, "f": 1.0}}}
    qrels = {"q": {"d": 1, "e": 1}}
    values = Evaluation.of(runs, qrels).values("P_Rareness(alpha=1)@2")
    evaluated = evaluate(runs, qrels, ["P_Rareness(alpha=1)@2"])
    assert np.array_equal(values.ravel(), evaluated["P_Rareness(alpha=1)@2"])
    assert values.ravel().tolist() == [(1.5 + 1) / 2, 1 / 2]
