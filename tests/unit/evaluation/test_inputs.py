"""The default of the lowest relevant grade."""

import warnings

import ir_measures
import numpy as np
import pytest

import pyterrier_asl as asl
from pyterrier_asl.evaluation.evaluate import measured
from pyterrier_asl.evaluation.inputs import default_rel, grades_hint, official_of, with_rel
from pyterrier_asl.measures.names import named_measures, official_rel

#: A collection whose makers take a grade of 2 for relevant; its description needs no download.
KNOWN = "irds:msmarco-passage/trec-dl-2019/judged"


def test_the_rel_of_a_known_collection_is_the_default():
    official = [ir_measures.nDCG @ 10, ir_measures.RR(rel=2), ir_measures.AP(rel=2)]
    assert official_of(KNOWN) == official
    assert default_rel(KNOWN) == 2 and default_rel(KNOWN, 1) == 1
    assert official_of({"q": {"d": 1}}) == [] and default_rel({"q": {"d": 1}}) == 1
    assert official_rel([ir_measures.nDCG @ 10]) is None


def test_one_hint_with_the_number_of_documents(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 3\nq 0 c 0\nq 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n")

    def hint(*measures, rel=None):
        done = measured([tmp_path / "run"], str(tmp_path / "qrels"), measures, rel=rel)[""]
        return grades_hint(done.judgements.grades, done.measures, rel=rel)

    assert hint("AP").startswith("2 of 4 judged documents have a grade from 1 to below 2")
    assert hint("AP", rel=1) == hint("AP(rel=2)", "RR") == hint("nDCG") == ""


GRADED = {f"q{n}": {"a": 1, "b": 2} for n in range(30)}
RUNS = {name: {qid: {name: 2, "x": 1} for qid in GRADED} for name in "ab"}


@pytest.mark.parametrize(
    ("call", "with_rel"),
    [
        (lambda **rel: asl.ranks(RUNS, GRADED, "AP", **rel), {"rel": 2}),
        (lambda **rel: asl.judges(GRADED, {"m": GRADED}, draws=5, **rel), {"rel": 2}),
        (lambda **rel: asl.audit(RUNS, GRADED, "AP", GRADED, **rel), {"rel": 2}),
        (
            lambda **rel: asl.compare(dict.fromkeys("xy", (RUNS, GRADED)), None, "AP", **rel),
            {"rel": 2},
        ),
        (lambda **rel: asl.judges(GRADED, {"m": GRADED}, draws=5, **rel), {"judge_rel": {"m": 2}}),
    ],
)
@pytest.mark.filterwarnings("default:.*judged documents have a grade from:UserWarning")
def test_calls_without_a_minimum_grade_warn(call, with_rel):
    with pytest.warns(UserWarning, match="30 of 60 judged documents have a grade from 1"):
        call()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*judged documents have a grade from")
        call(**with_rel)


def test_no_hint_where_grades_do_not_exceed_one():
    assert grades_hint(np.array([0.0, 1.0])) == grades_hint(np.array([])) == ""
    # With a minimum of 2 no document would be relevant, or the same documents.
    assert grades_hint(np.array([0, 1, 1.5])) == grades_hint(np.array([0, 2, 3])) == ""
    assert "1 of 3" in grades_hint(np.array([0.0, 1.5, 2.0]))


@pytest.mark.parametrize(
    ("measure", "rel", "judge_rel", "expected"),
    [
        ("AP", None, None, ir_measures.AP),
        ("AP", 2, None, ir_measures.AP(rel=2)),
        ("AP", 2.0, None, ir_measures.AP(rel=2)),
        ("AP(rel=2)", 1, None, ir_measures.AP(rel=2)),
        ("AP(rel=2)", None, None, ir_measures.AP(rel=2)),
        ("AP(rel=1)", 2, None, ir_measures.AP(rel=1)),
        ("AP(rel=2)", 1, 3, ir_measures.AP(rel=3)),
        ("AP(rel=2)", None, 1, ir_measures.AP(rel=1)),
        ("AP", 2, 3.0, ir_measures.AP(rel=3)),
        ("nDCG@10", 2, 3, ir_measures.nDCG @ 10),
    ],
)
def test_a_judges_grade_beats_the_measures_and_that_beats_the_option(
    measure, rel, judge_rel, expected
):
    (named,) = named_measures(measure)
    computed = with_rel(named, rel, judge_rel)
    assert computed.measure == expected
    if measure != "AP(rel=1)":  # its name has rel, although ir_measures prints AP
        assert computed.name == str(expected)


def test_a_grade_that_a_measure_does_not_take_is_an_error():
    (named,) = named_measures("AP")
    for rels in ({"rel": 1.5}, {"judge_rel": 1.5}):
        with pytest.raises(ValueError, match="does not take"):
            with_rel(named, **rels)
