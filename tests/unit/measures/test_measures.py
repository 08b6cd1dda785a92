"""Properties of the measures, on generated rankings; test_generated.py compares with loops."""

import warnings

import hypothesis.strategies as st
import ir_measures
import pytest
from brute_force import ranking, reciprocal_ranks, rr_lp
from hypothesis import given

from pyterrier_asl import ASL, TBG, AP_Rareness, DocLengths, LexiP, P_Rareness, RarenessPool

EXACT = 1e-12

documents = st.sampled_from([f"d{i}" for i in range(12)])
scores = st.dictionaries(documents, st.integers(-3, 6), max_size=12)
grades = st.dictionaries(documents, st.integers(-1, 3), min_size=1, max_size=12)

pytestmark = pytest.mark.filterwarnings("ignore")


def value(measure, run, qrels):
    """A measure of one query's ranking."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure.calc_aggregate({"q": qrels}, {"q": run} if run else {})


@given(scores, grades, st.integers(1, 15), st.integers(1, 4))
def test_irrelevant_documents_never_lower_asl(run, qrels, k, added):
    worse = {**run, **{f"x{i}": score for i, score in enumerate(range(-2, added))}}
    assert value(ASL @ k, worse, qrels) >= value(ASL @ k, run, qrels)


@given(scores, grades)
def test_lexip_is_within_the_limits_of_the_first_relevant_document(run, qrels):
    found = value(LexiP, run, qrels)
    first = max(reciprocal_ranks(ranking(run, qrels), qrels), default=0)
    assert found <= first
    assert found > 1 / (1 / first + 1) if first else found == 0


@given(scores, scores, grades)
def test_lexip_agrees_with_sgnlp(a, b, qrels):
    difference = value(LexiP, a, qrels) - value(LexiP, b, qrels)
    first = rr_lp(*(reciprocal_ranks(ranking(run, qrels), qrels) for run in (a, b)))
    assert (difference > 0) == (first > 0) and (difference < 0) == (first < 0)


@given(scores, grades, st.integers(1, 15))
def test_rareness_at_alpha_0_is_precision(run, qrels, k):
    made = RarenessPool.from_runs({"run": {"q": {"d0": 1}}})
    for ours, theirs in ((P_Rareness, ir_measures.P), (AP_Rareness, ir_measures.AP)):
        found = value(ours(pool=made, alpha=0) @ k, run, qrels)
        assert found == pytest.approx(value(theirs @ k, run, qrels), abs=EXACT)


lengths = st.lists(st.integers(0, 3000), min_size=13, max_size=13)


@given(scores, grades, lengths, st.integers(-3, 7))
def test_an_irrelevant_document_never_raises_tbg(run, qrels, words, score):
    known = DocLengths.from_dict({**{f"d{i}": n for i, n in enumerate(words)}, "x": 100})
    measure = TBG(lengths=known)
    assert value(measure, {**run, "x": score}, qrels) <= value(measure, run, qrels) + EXACT
