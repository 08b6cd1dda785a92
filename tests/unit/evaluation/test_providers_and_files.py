"""Measures of other providers, and runs in files (providers.py, evaluate.py)."""

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, Compat, NumRet
from small import QRELS as GRADED
from small import RUNS

from pyterrier_asl import evaluate
from pyterrier_asl.evaluation.evaluate import measured
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.measuring import values_by_others
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge

#: All scores tie; the relevant documents are first in the file and last by document id.
TIED = {"q": {**{f"a{i}": 1.0 for i in range(3)}, **{f"x{i}": 1.0 for i in range(7)}}}
QRELS = {"q": {f"a{i}": 1 for i in range(3)}, "unanswered": {"d": 1}}


@pytest.mark.parametrize(
    "ask",
    [
        lambda run, qrels: evaluate({"r": run}, qrels, [AP, NumRet, Compat]),
        lambda run, qrels: Evaluation.of({"r": run}, qrels).values(NumRet),
    ],
)
def test_a_provider_that_refuses_fractions_is_an_error_with_the_remedy(ask):
    message = "NumRet cannot be computed .* fractional grades such as 0.5: round the grades"
    with pytest.raises(ValueError, match=message):
        ask({"q": {"a": 1.0}}, {"q": {"a": 0.5, "b": 1}})


@pytest.mark.parametrize("rel, scale", [(1, 4), (2, 4), (2, 1), (3, 1)])
def test_rel_is_a_threshold_for_all_measures_that_have_it(rel, scale):
    """Fractions are a part of whole grades, and so is the threshold; ir_measures takes 0 and 1."""
    names = ["Rprec", "Bpref", "IPrec({})@0.3", "SetP", "SetR", "SetF", "SetAP", "NumRel", "infAP"]
    forms = [name if "(" in name else f"{name}({{}})" for name in names]
    graded = {q: {d: g - (g == 0 and d < "d2") for d, g in of.items()} for q, of in GRADED.items()}
    given = {q: {d: g / scale for d, g in of.items()} for q, of in graded.items()}
    binary = {q: {d: min(g, 0) + (g >= rel) for d, g in of.items()} for q, of in graded.items()}
    table = evaluate(RUNS, given, [form.format(f"rel={rel / scale:g}") for form in forms])
    whole = [ir_measures.parse_measure(form.format("rel=1")) for form in forms]
    for name, run in RUNS.items():
        metrics = list(ir_measures.iter_calc(whole, binary, run))
        provided = {(metric.query_id, metric.measure): metric.value for metric in metrics}
        for row in table[table["name"] == name].to_numpy():
            expected = [provided.get((row[1], measure), 0) for measure in whole]
            assert row[2:].tolist() == pytest.approx(expected, abs=1e-15)


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


def test_a_query_without_relevant_documents_is_0_where_trec_eval_divides_0_by_0():
    qrels = {"q": {"a": 1, "b": 0}, "without": {"a": 0}, "missed": {"c": 2}}
    run = {qid: {"b": 2.0, "a": 1.0} for qid in qrels}
    found = evaluate(run, qrels, ["IPrec@0.5", "IPrec(rel=2)@0.0"])
    assert found["IPrec@0.5"].tolist() == [0.5, 0, 0]
    assert found["IPrec(rel=2)@0.0"].tolist() == [0, 0, 0]
    nothing = ir_measures.define_byquery(lambda qrels, run: float("nan"), name="nothing")
    assert np.isnan(evaluate(run, qrels, nothing)["nothing"]).all()


@pytest.fixture
def folder(tmp_path):
    """Qrels, and a folder of three runs; one has a score that is not a number."""
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, score in {"a": "1.0", "b": "nan", "c": "2.0"}.items():
        (runs / name).write_text(f"q Q0 d 1 {score} tag\n")
    return tmp_path


def measured_files(folder, measures, *runs):
    runs = runs or [folder / "runs"]
    return measured(list(runs), folder / "qrels", measures, keep_going=True)[""]


def test_a_run_that_cannot_be_measured_is_named(folder):
    found = measured_files(folder, "AP P_Rareness@1")
    assert found.frame()["name"].tolist() == ["a", "c"]
    assert list(found.failures) == ["b"] and str(folder / "runs" / "b") in found.failures["b"]


def test_the_pool_is_of_the_runs_that_can_be_measured(folder):
    alone = measured_files(folder, "P_Rareness@1", folder / "runs" / "a", folder / "runs" / "c")
    found = measured_files(folder, "P_Rareness@1")
    assert found.frame().equals(alone.frame())


def test_no_run_at_all_is_an_error(folder):
    runs = [folder / "runs" / name for name in "bd"]
    for run in runs:
        run.write_text("q Q0 d 1 nan tag\n")
    with pytest.raises(ValueError, match=r"runs.b, line 1: .*not a number"):
        measured_files(folder, "AP", *runs)
