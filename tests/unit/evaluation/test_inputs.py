"""The default of the lowest relevant grade (sources.py)."""

import warnings

import ir_measures
import pytest

import pyterrier_asl as asl
from pyterrier_asl.evaluation import sources
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.measures.defaults import official_rel
from pyterrier_asl.measures.parsing import named_measures
from pyterrier_asl.reporting.collect import collect

#: A collection whose makers take a grade of 2 for relevant; its description needs no download.
KNOWN = "irds:msmarco-passage/trec-dl-2019/judged"


def test_the_rel_of_a_known_collection_is_the_default():
    official = [ir_measures.nDCG @ 10, ir_measures.RR(rel=2), ir_measures.AP(rel=2)]
    assert sources.official_of(KNOWN) == official
    assert sources.default_rel(KNOWN) == 2 and sources.default_rel(KNOWN, 1) == 1
    assert sources.official_of({"q": {"d": 1}}) == [] and sources.default_rel({"q": {"d": 1}}) == 1
    assert official_rel([ir_measures.nDCG @ 10]) is None


def test_queries_without_documents_do_not_hide_what_a_dict_of_runs_is():
    run = {"empty": {}, "q": {"d": 1.0}, "also": {}}
    assert list(sources.named_runs(run)) == ["run"]
    assert asl.evaluate(run, {"q": {"d": 1}}, "AP")["AP"].tolist() == [1.0]
    assert list(sources.named_runs({"empty": {}, "a": run})) == ["empty", "a"]


def warnings_of(grades, names, *arguments):
    """The warnings of grades of documents of one query, for measures or, without names, rel."""
    measures = None if names is None else {m.name: m.measure for m in named_measures(names)}
    judgements = Judgements({"q": {f"d{n}": grade for n, grade in enumerate(grades)}})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sources.warn_of_grades(judgements, measures, *arguments)
    return [str(warning.message) for warning in caught]


def test_a_minimum_grade_of_any_measure_or_no_measure_with_one_is_no_warning():
    assert len(warnings_of([1, 3, 0, 1], "AP")) == 1
    assert warnings_of([1, 3, 0, 1], ["AP", "ASL(rel=2)"]) == []
    assert warnings_of([1, 3, 0, 1], "nDCG") == warnings_of([1, 3, 0, 1], "AP", None, 1) == []


# With a minimum of 2 no document of some would be relevant, or the same documents.
@pytest.mark.parametrize(
    ("grades", "low"),
    [([-1, 0, 0.5, 1, 1.5, 2, 3], 2), ([1, 2], 1), ([1, 1.5], 0), ([0.5, 2], 0), ([0, 1], 0)],
)
def test_grades_from_1_to_below_2_are_counted_where_others_are_2_or_more(grades, low):
    warned = warnings_of(grades, None)
    assert len(warned) == bool(low)
    judged = sum(grade >= 0 for grade in grades)
    assert all(text.startswith(f"{low} of {judged} judged documents") for text in warned)
    assert all(("2 for the passages of TREC DL" in text) == (3 in grades) for text in warned)


GRADED = {f"q{n}": {"a": 1, "b": 2} for n in range(30)}
RUNS = {name: {qid: {name: 2, "x": 1} for qid in GRADED} for name in "ab"}


@pytest.mark.parametrize(
    ("call", "with_rel"),
    [
        (lambda **rel: asl.ranks(RUNS, GRADED, "AP", **rel), {"rel": 2}),
        (lambda **rel: asl.evaluate(RUNS, GRADED, "AP", **rel), {"rel": 2}),
        (lambda **rel: asl.bounds(RUNS, GRADED, "AP@9", **rel), {"rel": 1}),
        (lambda **rel: asl.holes(RUNS, GRADED, "AP@9", **rel), {"rel": 2}),
        (lambda **rel: asl.search_lengths(RUNS["a"], GRADED, **rel), {"rel": 1}),
        (lambda **rel: asl.preferences(RUNS["a"], RUNS["b"], GRADED, **rel), {"rel": 1}),
        (lambda **rel: asl.preference_matrix(RUNS, GRADED, **rel), {"rel": 2}),
        (lambda **rel: collect(RUNS, GRADED, ["AP", "RR"], **rel), {"rel": 1}),
        (lambda **rel: asl.judges(GRADED, {"m": GRADED}, draws=5, **rel), {"rel": 2}),
        (lambda **rel: asl.audit(RUNS, GRADED, "AP", GRADED, **rel), {"rel": 2}),
        (lambda **rel: asl.judges(GRADED, {"m": GRADED}, draws=5, **rel), {"judge_rel": {"m": 2}}),
    ],
)
def test_calls_without_a_minimum_grade_note_it_or_warn(call, with_rel):
    """A result without notes warns; none does both."""
    for options in ({}, with_rel):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = call(**options)
        notes = getattr(result, "notes", getattr(result, "attrs", {}).get("notes", ()))
        said = [*map(str, notes), *(str(warning.message) for warning in caught)]
        said = [text for text in said if "judged documents have a grade from 1" in text]
        assert [text.startswith("30 of 60") for text in said] == [True] * (not options)


@pytest.mark.parametrize(
    ("measure", "rel", "judge_rel", "expected"),
    [("AP", None, None, ir_measures.AP), ("AP", 2, None, ir_measures.AP(rel=2))]
    + [("AP", 2.0, None, ir_measures.AP(rel=2)), ("AP(rel=2)", 1, None, ir_measures.AP(rel=2))]
    + [("AP(rel=2)", None, None, ir_measures.AP(rel=2))]
    + [("AP(rel=1)", 2, None, ir_measures.AP(rel=1)), ("AP(rel=2)", 1, 3, ir_measures.AP(rel=3))]
    + [("AP(rel=2)", None, 1, ir_measures.AP(rel=1)), ("AP", 2, 3.0, ir_measures.AP(rel=3))]
    + [("nDCG@10", 2, 3, ir_measures.nDCG @ 10)],
)
def test_a_judges_grade_beats_the_measures_and_that_beats_the_option(
    measure, rel, judge_rel, expected
):
    (named,) = named_measures(measure)
    computed = sources.with_rel(named, rel, judge_rel)
    assert computed.measure == expected
    if measure != "AP(rel=1)":  # its name has rel, although ir_measures prints AP
        assert computed.name == str(expected)


def test_a_grade_that_a_measure_does_not_take_is_an_error():
    (named,) = named_measures("infAP")
    message = "'infAP' does not take rel=-1 .infAP: rel must be a whole number"
    with pytest.raises(ValueError, match=message):
        sources.with_rel(named, -1)
    with pytest.raises(ValueError, match="number from 0"):
        sources.with_rel(named, judge_rel=-1)


@pytest.mark.parametrize("highest", [0, -1])
def test_qrels_of_which_nothing_is_relevant_are_warned_of(highest):
    """As a guard, which cannot test; with rel=0 all judged documents are relevant."""
    said = f"no judged document has a grade of 1 or more (the highest is {highest}), so that"
    for measures in ("AP", "nDCG@10", None):
        [warning] = warnings_of([-1, highest], measures)
        assert warning == f"{said} nothing is relevant: check the qrels"
    assert warnings_of([-1, highest], "AP(rel=0)") == warnings_of([], "AP") == []
