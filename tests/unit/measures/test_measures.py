"""Each measure against its definition as a loop, on generated rankings."""

import warnings

import hypothesis.strategies as st
import ir_measures
import pytest
from brute_force import asl, lexip, ranking, rareness, reciprocal_ranks, rr_lp, tbg
from hypothesis import given, settings

from pyterrier_asl import ASL, TBG, AP_Rareness, DocLengths, LexiP, P_Rareness, RarenessPool, nASL

EXACT = 1e-12

documents = st.sampled_from([f"d{i}" for i in range(12)])
scores = st.dictionaries(documents, st.integers(-3, 6), max_size=12)
grades = st.dictionaries(documents, st.integers(-1, 3), min_size=1, max_size=12)
cutoffs = st.one_of(st.none(), st.integers(1, 15))
rels = st.integers(1, 3)

pytestmark = pytest.mark.filterwarnings("ignore")


def value(measure, run, qrels):
    """A measure of one query's ranking."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure.calc_aggregate({"q": qrels}, {"q": run} if run else {})


@given(
    scores,
    grades,
    rels,
    cutoffs,
    st.sampled_from(["pad", "after", "eq3"]),
    st.one_of(st.none(), st.integers(1, 5)),
    st.booleans(),
)
def test_asl_is_the_loop(run, qrels, rel, k, missing, g, judged_only):
    measure = ASL(rel=rel, g=g, missing=missing, judged_only=judged_only, cutoff=k)
    docs = ranking(run, qrels, judged_only, k)
    expected = asl(docs, qrels, rel, k, missing, g, judged_only)
    assert value(measure, run, qrels) == pytest.approx(expected, abs=EXACT)


@given(scores, grades, rels, cutoffs, st.booleans())
def test_nasl_is_asl_on_a_scale_from_0_to_1(run, qrels, rel, k, judged_only):
    depth = 1000 if k is None else k
    docs = ranking(run, qrels, judged_only, depth)
    expected = 1 - (asl(docs, qrels, rel, depth, judged_only=judged_only) - 1) / depth
    found = value(nASL(rel=rel, judged_only=judged_only, cutoff=k), run, qrels)
    assert found == pytest.approx(expected, abs=EXACT)
    assert 0 <= found <= 1


@given(scores, grades, st.integers(1, 15), st.integers(1, 4))
def test_irrelevant_documents_never_lower_asl(run, qrels, k, added):
    worse = {**run, **{f"x{i}": score for i, score in enumerate(range(-2, added))}}
    assert value(ASL @ k, worse, qrels) >= value(ASL @ k, run, qrels)


@given(scores, grades, rels, cutoffs, st.booleans())
def test_lexip_is_the_loop(run, qrels, rel, k, judged_only):
    docs = ranking(run, qrels, judged_only, k)
    found = value(LexiP(rel=rel, judged_only=judged_only, cutoff=k), run, qrels)
    assert found == pytest.approx(lexip(docs, qrels, rel, k), abs=EXACT)
    first = max(reciprocal_ranks(docs, qrels, rel), default=0)
    assert found <= first
    assert found > 1 / (1 / first + 1) if first else found == 0


@given(scores, scores, grades)
def test_lexip_agrees_with_sgnlp(a, b, qrels):
    difference = value(LexiP, a, qrels) - value(LexiP, b, qrels)
    first = rr_lp(*(reciprocal_ranks(ranking(run, qrels), qrels) for run in (a, b)))
    assert (difference > 0) == (first > 0) and (difference < 0) == (first < 0)


rankings = st.lists(st.permutations([f"d{i}" for i in range(6)]), min_size=1, max_size=4)


@given(
    rankings,
    st.permutations([f"d{i}" for i in range(8)]),
    st.booleans(),
    grades,
    rels,
    st.integers(1, 8),
    st.one_of(st.none(), st.integers(1, 8)),
    st.sampled_from([0, 0.3, 1]),
    st.booleans(),
    st.sampled_from([None, True, False]),
)
def test_rareness_is_the_loop(
    pool, outside, inside, qrels, rel, k, depth, alpha, normalized, member
):
    docs = pool[0] if inside else outside
    made = RarenessPool.from_runs({f"run{i}": {"q": as_run(p)} for i, p in enumerate(pool)})
    parameters = dict(alpha=alpha, normalized=normalized, depth=depth, member=member, rel=rel)
    expected = rareness(docs, qrels, pool, k, **parameters)
    for measure, wanted in zip((P_Rareness, AP_Rareness), expected):
        found = value(measure(pool=made, **parameters) @ k, as_run(docs), qrels)
        assert found == pytest.approx(wanted, abs=EXACT)
        if normalized and depth is None:
            assert found <= 1 + EXACT


@given(rankings, st.permutations([f"d{i}" for i in range(8)]), grades)
def test_average_precision_rareness_without_a_cutoff(pool, docs, qrels):
    made = RarenessPool.from_runs({f"run{i}": {"q": as_run(p)} for i, p in enumerate(pool)})
    _, expected = rareness(docs, qrels, pool, None)
    assert value(AP_Rareness(pool=made), as_run(docs), qrels) == pytest.approx(expected, abs=EXACT)


@given(scores, grades, st.integers(1, 15))
def test_rareness_at_alpha_0_is_precision(run, qrels, k):
    made = RarenessPool.from_runs({"run": {"q": {"d0": 1}}})
    for ours, theirs in ((P_Rareness, ir_measures.P), (AP_Rareness, ir_measures.AP)):
        found = value(ours(pool=made, alpha=0) @ k, run, qrels)
        assert found == pytest.approx(value(theirs @ k, run, qrels), abs=EXACT)


def as_run(docs):
    return {doc: -place for place, doc in enumerate(docs)}


lengths = st.lists(st.integers(0, 3000), min_size=13, max_size=13)


@given(scores, grades, lengths, rels, cutoffs, st.sampled_from([3, 224, 1e6]))
def test_tbg_is_the_loop(run, qrels, words, rel, k, halflife):
    known = {f"d{i}": length for i, length in enumerate(words)}
    measure = TBG(lengths=DocLengths.from_dict(known), halflife=halflife, rel=rel, cutoff=k)
    expected = tbg(ranking(run, qrels, k=k), qrels, known, halflife, rel)
    assert value(measure, run, qrels) == pytest.approx(expected, abs=EXACT)


@given(
    scores,
    grades,
    lengths,
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 9),
    st.floats(0, 1),
    st.floats(0, 9),
)
@settings(max_examples=25)
def test_tbg_with_other_constants(run, qrels, words, rel, nonrel, save, summary, word, base):
    known = {f"d{i}": length for i, length in enumerate(words)}
    measure = TBG(
        lengths=DocLengths.from_dict(known),
        p_click_rel=rel,
        p_click_nonrel=nonrel,
        p_save=save,
        time_summary=summary,
        time_per_word=word,
        time_base=base,
    )
    expected = tbg(
        ranking(run, qrels),
        qrels,
        known,
        click=(rel, nonrel),
        save=save,
        times=(summary, word, base),
    )
    assert value(measure, run, qrels) == pytest.approx(expected, abs=1e-9)


@given(scores, grades, lengths, st.integers(-3, 7))
def test_an_irrelevant_document_never_raises_tbg(run, qrels, words, score):
    known = DocLengths.from_dict({**{f"d{i}": n for i, n in enumerate(words)}, "x": 100})
    measure = TBG(lengths=known)
    assert value(measure, {**run, "x": score}, qrels) <= value(measure, run, qrels) + EXACT
