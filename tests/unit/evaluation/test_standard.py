"""The standard measures against pytrec_eval and other providers, on unusual cases and real runs."""

import warnings
from collections import defaultdict

import ir_measures
import numpy as np
import pytest
from _standard import GAINED, MEASURES, compare, ours
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import ERR, RR, Judged, nDCG

from pyterrier_asl import evaluate
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.measures.formula import formula

# Unusual cases

QRELS = {
    "graded": {"a": 1, "b": 0, "c": -1, "d": 2, "e": 1, "f": 3, "g": 0, "h": -1},
    "nothing relevant": {"x": 0, "y": 0},
    "not answered": {"a": 1},
    "only below nought": {"m": -1, "n": 1},
    "one": {"d": 1},
}
RUN = {
    "graded": {"a": 5, "z": 6, "c": 7, "b": 4, "d": 3, "y": 2, "g": 3, "h": 1},
    "nothing relevant": {"x": 1, "y": 2, "z": 2},
    "only below nought": {"m": 3, "q": 2, "n": 1},
    "one": {"u": 1},
    "not judged": {"a": 1},
}


@pytest.mark.parametrize(
    ("qrels", "run"),
    [(QRELS, RUN), (QRELS, {"graded": {"z": 1}}), (QRELS, {}), ({"graded": {"a": 1}}, RUN)],
    ids=["full", "partial run", "empty run", "partial qrels"],
)
def test_odd_cases_are_pytrec_evals(qrels, run):
    for measure in [*MEASURES, *GAINED]:
        expected = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
        assert ours(measure, Judgements(qrels), run) == pytest.approx(expected, abs=1e-9), measure
        assert expected.keys() == qrels.keys()


ids = st.sampled_from([*"abcdefgh", "aa", "é", "漢", ""])
# Grades are not below 0: pytrec_eval writes outside of its arrays for grades below -1, and hangs in
# nDCG of a query with grades -1 only. The unusual cases above have grades that it can process.
grade = st.integers(0, 4)
score = st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 2.0, -3.0])


@given(
    qrels=st.dictionaries(
        st.sampled_from(["1", "2", "3"]), st.dictionaries(ids, grade, min_size=1), min_size=1
    ),
    run=st.dictionaries(st.sampled_from(["1", "2", "4"]), st.dictionaries(ids, score, min_size=1)),
)
def test_any_small_run_is_scored_as_by_pytrec_eval(qrels, run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(MEASURES, ir_measures.evaluator(MEASURES, qrels), Judgements(qrels), run)
        compare(GAINED, ir_measures.evaluator(GAINED, qrels), Judgements(qrels), run)


#: Measures of other providers, which order equal scores differently.
ORDERED = [RR @ 1, RR @ 2, RR @ 10, RR(rel=2) @ 5, Judged, Judged @ 1, Judged @ 3, Judged @ 10]


def without_ties(run):
    return {
        qid: {docno: len(docs) - place for place, docno in enumerate(sorted(docs))}
        for qid, docs in run.items()
    }


@pytest.mark.parametrize("measure", ORDERED, ids=str)
def test_measures_of_other_providers_without_ties(measure):
    run = without_ties(RUN)
    qrels = QRELS if "Judged" not in str(measure) else judged_only(QRELS)
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
    found = ours(measure, Judgements(QRELS), run)
    # A query with negative grades only has no judgement, and ir_measures has no value for it.
    assert found == pytest.approx(expected | {q: 0 for q in found if q not in expected}, abs=1e-9)


def judged_only(qrels):
    """Without negative grades, which are no judgements."""
    return {q: {d: g for d, g in docs.items() if g >= 0} for q, docs in qrels.items()}


@pytest.mark.parametrize("cutoff", [1, 3, 10])
def test_gdevals_measures_up_to_its_rounding(cutoff):
    if not ir_measures.gdeval.is_available():
        pytest.skip("gdeval needs perl")
    qrels = {str(n): docs for n, docs in enumerate(QRELS.values(), start=1)}
    run = without_ties({str(n): RUN.get(q, {}) for n, q in enumerate(QRELS, start=1) if q in RUN})
    measures = [ERR @ cutoff, nDCG(dcg="exp-log2") @ cutoff]
    expected = defaultdict(dict)
    for metric in ir_measures.gdeval.iter_calc(measures, qrels, run):
        expected[metric.measure][metric.query_id] = metric.value
    for measure in measures:
        found = ours(measure, Judgements(qrels), run)
        assert found == pytest.approx(expected[measure], abs=5.1e-6)


def test_err_is_for_grades_up_to_4():
    with pytest.raises(ValueError, match="grades up to 4, but a document has grade 5"):
        ours(ERR @ 10, Judgements({"q": {"a": 5}}), {"q": {"a": 1}})


def test_a_measure_defined_at_run_time_is_left_to_its_definition():
    measure = ir_measures.define_byquery(lambda qrels, run: 0.25, name="AP")
    assert formula(measure) is None
    assert measure.calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1}}) == 0.25


def test_exponential_gains_of_high_grades_are_finite():
    """2^grade is infinite for grades from 1024 on; nDCG is a ratio of such gains."""
    grades = {
        "q": {"a": 3000, "b": 2999, "c": 0},
        "r": {"a": 1, "b": 2},
        "s": {"a": 1100.5, "b": 1},
    }
    run = {"q": {"c": 4, "b": 3, "a": 2}, "r": {"a": 2, "b": 1}, "s": {"b": 2, "a": 1}}
    found = evaluate(run, grades, "nDCG(dcg='exp-log2')@10").iloc[:, -1].tolist()
    second, third = 1 / np.log2(3), 1 / 2
    q = (second * 0.5 + third) / (1 + 0.5 * second)
    r = (1 + 3 * second) / (3 + second)
    assert found == pytest.approx([q, r, second], abs=1e-12)
