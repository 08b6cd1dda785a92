"""Bounds over all labellings, against worked cases and enumeration of all labellings.
Tests of labellings.py."""

import warnings
from random import Random

import ir_measures
import labellings
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyterrier_asl import AP_Rareness, DocLengths, RarenessPool, evaluate, holes
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.labellings import Labelled, bounds, unjudged_of
from pyterrier_asl.judging.judged_run import judge_part
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.scoring.pair_bounds import lexicographic_verdicts

EXACT = 1e-9
DOCUMENTS = [f"d{i}" for i in range(7)]


def scored(docs):
    return {"q": {doc: -place for place, doc in enumerate(docs)}}


def judged_runs(rankings, grades):
    """Rankings of one query (empty ones too), judged."""
    judgements = Judgements({"q": grades})
    return [judge_part(judgements, scored(docs) if docs else {}) for docs in rankings]


def of_measure(runs, measure, **options):
    """Judged rankings in a measure."""
    return Labelled(unjudged_of(runs, [measure], options.get("depth")), measure, **options)


def labelled(rankings, grades, measure, **options):
    """Rankings of one query in a measure."""
    return of_measure(judged_runs(rankings, grades), measure, **options)


def measure_of(name, case):
    name, _, rest = name.partition("(")
    params = {"RBP": "p=0.8, rel=1"}.get(name, rest.rstrip(")"))
    measure = ir_measures.parse_measure(f"{name}({params})@{case['k']}")
    if name == "TBG":
        lengths = DocLengths.from_dict(case["lengths"], name="some")
        measure = measure(lengths=lengths)
    return measure


def test_worked_cases(holes_vectors):
    for case in holes_vectors["cases"]:
        pair = judged_runs((case["A"], case["B"]), case["judged"])
        for name, (low, high) in case["one"].items():
            one = of_measure(pair, measure_of(name, case))
            found = [float(bound[0]) for bound in one.sides[0].bounds]
            assert found == pytest.approx([low, high], abs=EXACT), (name, case)
        for name, expected in case["pair"].items():
            if name == "sgnLP":
                one = of_measure(pair, measure_of("RR", case))
                verdicts = lexicographic_verdicts(one.pair(0, 1).documents)[0]
                assert [sign for sign in (-1, 0, 1) if verdicts[sign + 1]] == expected, case
                continue
            one = of_measure(pair, measure_of(name, case))
            low, high = (float(bound[0]) for bound in one.difference(0, 1))
            if one.measure.is_exact(pair=True):
                assert [low, high] == pytest.approx(expected, abs=EXACT), (name, case)
            else:
                assert low <= expected[0] + EXACT and high >= expected[1] - EXACT, (name, case)


MEASURES = (
    "P@3 R@3 R@7 RR@3 RR Success@3 AP@4 AP nDCG@3 nDCG RBP(p=0.8,rel=1) ASL@4 ASL "
    "ASL(missing='after')@4 ASL(missing='eq3')@4 ASL(g=2)@4 ASL(g=1,missing='eq3') nASL@4 "
    "nASL(g=2)@4 LexiP@3 LexiP"
).split()

rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=7)
grades = st.dictionaries(
    st.sampled_from([*DOCUMENTS, "e0", "e1"]), st.sampled_from([-1, 0, 1, 1]), max_size=6
).filter(bool)


@pytest.mark.parametrize("text", MEASURES)
@settings(max_examples=20)
@given(a=rankings, b=rankings, c=rankings, judged=grades, depth=st.integers(0, 5))
def test_every_labelling(text, a, b, c, judged, depth):
    measure = ir_measures.parse_measure(text)
    k = measure.params.get("cutoff")
    options = {name: measure.params[name] for name in ("missing", "g") if name in measure.params}
    value = labellings.value_of(measure.NAME, k, **options)
    seen = None if k is None else max(k, depth)
    labels = labellings.unjudged((a, b, c), judged, seen)
    both = [(value(a, every), value(b, every)) for every in labellings.labelled(judged, labels)]
    found = labelled((a, b, c), judged, measure, depth=depth)
    check(found.sides[0].bounds, labellings.extremes(one for one, _ in both), True)
    exact = found.measure.is_exact(pair=True)
    check(found.difference(0, 1), labellings.extremes(one - two for one, two in both), exact)


@pytest.mark.parametrize("most", [2**21, 30])
def test_queries_have_the_bounds_that_each_has_alone(most, monkeypatch):
    """Eight queries with rankings of different lengths, in a matrix or in several; each run leaves
    one unanswered."""
    monkeypatch.setattr("pyterrier_asl.scoring.matrices.MOST_IN_MATRIX", most)
    random = Random(5)
    judged = {f"q{n}": {f"d{d}": random.randrange(2) for d in range(n)} for n in range(1, 9)}
    runs = []
    for shift in (0, 3):
        sizes = {qid: (3 * n + shift) % 8 for n, qid in enumerate(judged)}
        rankings = {qid: random.sample(DOCUMENTS, size) for qid, size in sizes.items() if size}
        runs.append({qid: scored(docs)["q"] for qid, docs in rankings.items()})
    whole = [judge_part(Judgements(judged), run) for run in runs]
    alone = [judged_runs([run.get(qid, {}) for run in runs], judged[qid]) for qid in judged]
    for text in MEASURES:
        measure = ir_measures.parse_measure(text)
        found, *expected = (
            np.array([*one.sides[0].bounds, *one.difference(0, 1)])
            for one in (of_measure(each, measure) for each in (whole, *alone))
        )
        assert found == pytest.approx(np.hstack(expected))


def check(found, expected, exact):
    low, high = (float(bound[0]) for bound in found)
    if exact:
        assert (low, high) == pytest.approx(expected, abs=EXACT)
    else:
        assert low <= expected[0] + EXACT and expected[1] - EXACT <= high


@given(rankings, rankings, grades, st.integers(1, 7))
def test_every_verdict_of_sgn_lp(a, b, judged, k):
    labels = labellings.unjudged((a, b), judged, k)
    expected = {labellings.sgn_lp(a, b, every, k) for every in labellings.labelled(judged, labels)}
    found = labelled((a, b), judged, ir_measures.RR @ k)
    verdicts = lexicographic_verdicts(found.pair(0, 1).documents)[0]
    assert {sign for sign in (-1, 0, 1) if verdicts[sign + 1]} == expected


few = st.lists(st.sampled_from(DOCUMENTS[:5]), unique=True, max_size=5)
graded = st.dictionaries(
    st.sampled_from([*DOCUMENTS[:5], "e0", "e1"]), st.sampled_from([-1, 0, 1, 2, 3]), max_size=5
).filter(bool)


@given(few, few, few, graded, st.sampled_from([1, 3, None]), st.sampled_from([None, 1, 2]))
def test_graded_ndcg(a, b, c, judged, k, highest):
    text = "nDCG" if k is None else f"nDCG@{k}"
    best = highest or max(1, *judged.values())
    labels = labellings.unjudged((a, b, c), judged, k)
    every = list(labellings.labelled(judged, labels, range(best + 1)))
    value = labellings.value_of("nDCG", k)
    found = labelled((a, b, c), judged, ir_measures.parse_measure(text), highest=highest)
    check(found.sides[0].bounds, labellings.extremes(value(a, one) for one in every), True)
    differences = (value(a, one) - value(b, one) for one in every)
    check(found.difference(0, 1), labellings.extremes(differences), True)


@given(few, few, graded, st.lists(st.sampled_from([50, 500, 20000]), min_size=5, max_size=5))
def test_time_biased_gain(a, b, judged, words):
    words = dict(zip(DOCUMENTS, words))
    measure = ir_measures.parse_measure("TBG")(lengths=DocLengths.from_dict(words, name="words"))
    labels = labellings.unjudged((a, b), judged, None)
    value = labellings.value_of("TBG", None, lengths=words)
    every = [(value(a, one), value(b, one)) for one in labellings.labelled(judged, labels)]
    found = labelled((a, b), judged, measure)
    check(found.sides[0].bounds, labellings.extremes(one for one, _ in every), True)
    check(found.difference(0, 1), labellings.extremes(one - two for one, two in every), False)


@pytest.mark.filterwarnings("ignore:.*fewer than 8")
@given(
    few,
    few.filter(bool),
    graded,
    st.sampled_from([1, 3]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
def test_rareness(a, b, judged, k, alpha, normalized):
    pool = RarenessPool.from_runs({"b": scored(b), "c": scored(DOCUMENTS)})
    labels = labellings.unjudged((a, b), judged, k)
    for name in ("P_Rareness", "AP_Rareness"):
        measure = ir_measures.parse_measure(f"{name}@{k}")(
            pool=pool, alpha=alpha, normalized=normalized
        )
        value = labellings.value_of(
            name, k, pool=[b, DOCUMENTS], alpha=alpha, normalized=normalized
        )
        every = [(value(a, one), value(b, one)) for one in labellings.labelled(judged, labels)]
        found, exact = labelled((a, b), judged, measure), name == "P_Rareness"
        check(found.sides[0].bounds, labellings.extremes(one for one, _ in every), exact)
        differences = labellings.extremes(one - two for one, two in every)
        check(found.difference(0, 1), differences, exact)


RUN = {"q": {"a": 3, "x": 2, "b": 1}, "p": {"y": 1}}
QRELS = {"q": {"a": 1, "b": 1}, "p": {"c": 1}}


def test_documents_of_other_runs_can_be_relevant_too():
    alone = bounds(RUN, QRELS, "R@3").loc[0]
    several = {"run": RUN, "other": {"q": {"z": 2, "a": 1}, "p": {"z": 1}}}
    beside = bounds(several, QRELS, "R@3").loc[0]
    assert alone["low"] == 0.5 and beside["low"] == pytest.approx((2 / 3) / 2)


@pytest.mark.filterwarnings("ignore:.*fewer than 8")
@pytest.mark.parametrize(
    "text", ["ASL@3", "nASL@3", "LexiP", "ASL(g=1)@3", "TBG(missing_length=9)", "P_Rareness@3"]
)
def test_best_and_worst_as_measures(text):
    measure = ir_measures.parse_measure(text)
    if "pool" in measure.SUPPORTED_PARAMS:
        pool = {"other": {"q": {"a": 2, "x": 1}, "p": {"z": 1}}, "run": RUN}
        measure = measure(pool=RarenessPool.from_runs(pool))
    frame = bounds(RUN, QRELS, measure, by_query=True).set_index("qid")
    low, high = ("low", "high") if measure.HIGHER_IS_BETTER else ("high", "low")
    for which, column in (("worst", low), ("best", high)):
        values = {one.query_id: one.value for one in measure(unjudged=which).iter_calc(QRELS, RUN)}
        assert values == pytest.approx(frame[column].to_dict())


def test_bounds_enclose_the_values_of_evaluate():
    runs = {"one": RUN, "two": {"q": {"z": 2, "a": 1}, "p": {"c": 1}}}
    keys = ["name", "qid", "measure", "value"]
    frame = bounds(runs, QRELS, ["R@3", "nDCG@3"], by_query=True)
    assert frame[keys].equals(evaluate(runs, QRELS, ["R@3", "nDCG@3"], long=True)[keys])
    assert (frame["low"] <= frame["value"]).all() and (frame["value"] <= frame["high"]).all()
    assert list(frame)[4:] == ["low", "high", "unjudged", "exact"]


@pytest.mark.parametrize(
    "measures",
    [["R@3", "AP"], ["AP", "TBG(missing_length=9)"], ["AP", "P_Rareness@2"]],
    ids=["read one by one", "lengths need the rows", "the pool needs the rows"],
)
def test_bounds_match_runs_in_memory(measures):
    runs = {"one": RUN, "two": {"q": {"z": 2, "a": 1}, "p": {"c": 1}}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warning of a pool of two runs
        read = bounds(runs, QRELS, measures, by_query=True)
        kept = bounds(Evaluation.of(runs, QRELS), QRELS, measures, by_query=True)
    assert read.equals(kept)


def test_bounds_of_a_difference_with_thousands_of_unjudged_documents_hold_every_labelling():
    """Nine of ten runs find 'd', so its gain is less than that of the unjudged documents."""
    deep = {"d": 5000.0} | {f"u{rank}": 5000.0 - rank for rank in range(1, 4300)}
    a, b, qrels = {"q": deep}, {"q": {"x": 1.0}}, {"q": {"d": 1, "x": 0}}
    pool = RarenessPool.from_runs({f"other{n}": {"q": {"d": 1.0}} for n in range(8)})
    measure = AP_Rareness(pool=pool) @ 5000
    found = holes({"a": a, "b": b}, qrels, measure).difference
    values = []
    for size in (0, 1, 93, 4000):
        labels = {f"u{rank}": 1 for rank in range(4300 - size, 4300)}
        value_a, value_b = (
            evaluate(run, {"q": qrels["q"] | labels}, [measure])[str(measure)].item()
            for run in (a, b)
        )
        values.append(value_b - value_a)
    assert -2 < found.low <= min(values) and max(values) <= found.high < 2


@pytest.mark.parametrize("function", [bounds, evaluate])
def test_empty_qrels_are_refused_before_runs_are_read(function):
    with pytest.raises(ValueError, match="^the qrels are empty: give qrels"):
        function({"a": "no such file"}, {}, ["P@1"])
