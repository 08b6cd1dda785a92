"""Pairs of runs: single documents, verdicts, and how a difference is told."""

import re

import ir_measures
import labellings
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyterrier_asl import DocLengths, holes
from pyterrier_asl.unjudged.pairs import values_if_only_relevant, verdict_of

DOCUMENTS = [f"d{i}" for i in range(7)]
WORDS = {doc: 100.0 * (1 + place) for place, doc in enumerate(DOCUMENTS)}

PLAIN = ["P@3", "R@3", "RR@3", "Success@3", "AP@4", "nDCG@3", "ASL@4", "nASL@4", "LexiP@3"]
MEASURES = {name: (name[:-2], int(name[-1]), {}) for name in PLAIN} | {
    "RBP(p=0.8, rel=1)": ("RBP", None, {}),
    "ASL(missing='eq3')@4": ("ASL", 4, {"missing": "eq3"}),
    "ASL(g=2)@4": ("ASL", 4, {"g": 2}),
    "TBG": ("TBG", None, {"lengths": WORDS}),
}

rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1, max_size=7)
grades = st.dictionaries(
    st.sampled_from([*DOCUMENTS, "e0", "e1"]), st.sampled_from([-1, 0, 1]), max_size=5
).filter(bool)


def scored(docs):
    return {"q": {doc: -place for place, doc in enumerate(docs)}, "p": {"d0": 2.0, "d1": 1.0}}


def labelled_as(text, rankings, judged):
    name, k, options = MEASURES[text]
    measure = ir_measures.parse_measure(text)
    if name == "TBG":
        measure = measure(lengths=DocLengths.from_dict(WORDS, name="words"))
    value = labellings.value_of(name, k, **options)
    runs = {str(number): scored(docs) for number, docs in enumerate(rankings)}
    return holes(runs, {"q": judged, "p": {"d0": 1}}, measure).labelled, value


@settings(max_examples=12)
@given(rankings, rankings, grades, st.sampled_from(sorted(MEASURES)))
def test_one_document_alone(a, b, judged, text):
    labelled, value = labelled_as(text, (a, b), judged)
    in_query = labelled.judgements.queries[labelled.documents] == 0
    docnos = labelled.judgements.docnos.take(labelled.documents[in_query]).to_pylist()
    for side, docs in enumerate((a, b)):
        found = values_if_only_relevant(labelled, labelled.sides[side])[in_query]
        expected = [value(docs, {**judged, docno: 1}) for docno in docnos]
        assert found.tolist() == pytest.approx(expected, abs=1e-9)


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
