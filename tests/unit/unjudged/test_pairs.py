"""Pairs of runs: labels, single documents, samples, verdicts and the matrix."""

import re

import ir_measures
import labellings
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl import DocLengths
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.judging.judged_run import judge_part
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.measures.parsing import NamedMeasure
from pyterrier_asl.unjudged.holes import labelled_runs
from pyterrier_asl.unjudged.pairs import difference_of, values_if_only_relevant, verdict_of

DOCUMENTS = [f"d{i}" for i in range(7)]
WORDS = {doc: 100.0 * (1 + place) for place, doc in enumerate(DOCUMENTS)}

MEASURES = {
    "P@3": ("P", 3, {}),
    "R@3": ("R", 3, {}),
    "RR@3": ("RR", 3, {}),
    "Success@3": ("Success", 3, {}),
    "AP@4": ("AP", 4, {}),
    "nDCG@3": ("nDCG", 3, {}),
    "RBP(p=0.8, rel=1)": ("RBP", None, {}),
    "ASL@4": ("ASL", 4, {}),
    "ASL(missing='eq3')@4": ("ASL", 4, {"missing": "eq3"}),
    "ASL(g=2)@4": ("ASL", 4, {"g": 2}),
    "nASL@4": ("nASL", 4, {}),
    "LexiP@3": ("LexiP", 3, {}),
    "TBG": ("TBG", None, {"lengths": WORDS}),
}

rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1, max_size=7)
grades = st.dictionaries(
    st.sampled_from([*DOCUMENTS, "e0", "e1"]), st.sampled_from([-1, 0, 1]), max_size=5
).filter(bool)


def scored(docs):
    return {"q": {doc: -place for place, doc in enumerate(docs)}, "p": {"d0": 2.0, "d1": 1.0}}


def runs_of(rankings, judged):
    judgements = Judgements({"q": judged, "p": {"d0": 1}})
    runs = [judge_part(judgements, scored(docs)) for docs in rankings]
    return Evaluation([str(i) for i in range(len(runs))], runs, judgements)


def labelled_as(text, rankings, judged):
    name, k, options = MEASURES[text]
    measure = ir_measures.parse_measure(text)
    if name == "TBG":
        measure = measure(lengths=DocLengths.from_dict(WORDS, name="words"))
    value = labellings.value_of(name, k, **options)
    return labelled_runs(runs_of(rankings, judged), NamedMeasure(text, measure)), value


@given(rankings, rankings, grades, st.sampled_from(sorted(MEASURES)))
def test_one_document_alone(a, b, judged, text):
    labelled, value = labelled_as(text, (a, b), judged)
    in_query = labelled.judgements.queries[labelled.documents] == 0
    docnos = labelled.judgements.docnos.take(labelled.documents[in_query]).to_pylist()
    for side, docs in enumerate((a, b)):
        found = values_if_only_relevant(labelled, labelled.sides[side])[in_query]
        expected = [value(docs, {**judged, docno: 1}) for docno in docnos]
        assert found.tolist() == pytest.approx(expected, abs=1e-9)


QRELS = {"q": {"a": 1, "b": 0}, "p": {"a": 1, "b": 0}}
GOOD = {"q": {"a": 3, "x": 2}, "p": {"a": 1}}
BAD = {"q": {"b": 3, "a": 2}, "p": {"b": 2, "a": 1}}
OTHER = {"q": {"y": 3, "a": 2}, "p": {"y": 2, "a": 1}}


def test_a_difference_is_told_by_query():
    runs = Evaluation.of({"good": GOOD, "other": OTHER}, QRELS)
    found = difference_of(runs, labelled_runs(runs, NamedMeasure("RR", ir_measures.RR)), 0, 1)
    assert found.verdict == "open" and found.better is None
    assert (found.difference, found.low, found.high) == (-0.5, -0.5, 0.0)
    assert found.by_query["unjudged"].tolist() == [2, 1]
    assert "open" in found.describe()
    assert "low=-0.5" in repr(found)
    assert not re.search("qids|pair|bounds", repr(found))  # not the long text


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
