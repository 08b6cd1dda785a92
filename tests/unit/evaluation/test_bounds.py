"""Bounds over all labellings, against worked cases and enumeration of all labellings.
Tests of labellings.py."""

import warnings
from random import Random

import ir_measures
import labellings
import pytest

from pyterrier_asl import AP_Rareness, DocLengths, RarenessPool, evaluate, holes
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.labellings import Labelled, bounds, unjudged_of
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge_part
from pyterrier_asl.scoring.pair_bounds import lexicographic_verdicts

EXACT = 1e-9
DOCUMENTS = [f"d{i}" for i in range(7)]


def scored(rankings):
    """Rankings by query as a run; an empty one is not answered."""
    return {
        qid: {doc: -place for place, doc in enumerate(docs)}
        for qid, docs in rankings.items()
        if docs
    }


def of_measure(runs, judged, measure, **options):
    """Rankings by query of several runs, in a measure."""
    judgements = Judgements(judged)
    matched = [judge_part(judgements, scored(run)) for run in runs]
    return Labelled(unjudged_of(matched, [measure], options.get("depth")), measure, **options)


def ends(found, number):
    return [float(of[number]) for of in found]


def test_worked_cases(holes_vectors):
    cases = {f"q{n}": case for n, case in enumerate(holes_vectors["cases"])}
    for k in {case["k"] for case in cases.values()}:
        some = {qid: case for qid, case in cases.items() if case["k"] == k}
        # Lengths of documents differ between the cases.
        runs = [{q: [f"{q}-{d}" for d in case[name]] for q, case in some.items()} for name in "AB"]
        judged = {
            q: {f"{q}-{d}": grade for d, grade in case["judged"].items()}
            for q, case in some.items()
        }
        words = {f"{q}-{d}": n for q, case in some.items() for d, n in case["lengths"].items()}
        first = next(iter(some.values()))
        for name in {**first["one"], **first["pair"]}:
            written = {"RBP(p=0.8)": "RBP(p=0.8, rel=1)", "sgnLP": "RR"}.get(name, name)
            measure = ir_measures.parse_measure(f"{written}@{k}")
            if name == "TBG":
                measure = measure(lengths=DocLengths.from_dict(words, name="some"))
            of = of_measure(runs, judged, measure)
            verdicts = lexicographic_verdicts(of.sides[0].beside(of.sides[1]))
            for number, qid in enumerate(of.judgements.qids):
                one, pair = (some[qid][of_what].get(name) for of_what in ("one", "pair"))
                if name == "sgnLP":
                    assert [sign for sign in (-1, 0, 1) if verdicts[number, sign + 1]] == pair, qid
                    continue
                found = ends(of.sides[0].bounds, number)
                assert found == pytest.approx(one, abs=EXACT), (name, qid)
                low, high = ends(of.difference(0, 1), number)
                if pair and of.measure.is_exact(pair=True):
                    assert [low, high] == pytest.approx(pair, abs=EXACT), (name, qid)
                elif pair:
                    assert low <= pair[0] + EXACT and high >= pair[1] - EXACT, (name, qid)


def drawn(seed, documents, grades, queries):
    """Judgements, and rankings of three runs, for queries of different sizes; some are empty."""
    random = Random(seed)
    judged = {
        f"q{n}": {
            doc: random.choice(grades)
            for doc in random.sample([*documents, "e0", "e1"], random.randint(1, 6))
        }
        for n in random.sample(range(queries), queries)
    }
    size = len(documents)
    runs = [{q: random.sample(documents, random.randint(0, size)) for q in judged} for _ in "abc"]
    return runs, judged


def check(of, runs, judged, value, depth, labels=(0, 1)):
    """The bounds of the first run, and of its difference from the second, of every query.

    Args:
        value: query -> the measure as a function of ranking and grades.
        depth: the depth down to which documents are labelled.
    """
    found = of.sides[0].bounds, of.difference(0, 1)
    exact = of.measure.is_exact(), of.measure.is_exact(pair=True)
    for number, qid in enumerate(of.judgements.qids):
        rankings, measure = [run[qid] for run in runs], value(qid)
        documents = labellings.unjudged(rankings, judged[qid], depth)
        every = labellings.labelled(judged[qid], documents, labels)
        both = [(measure(rankings[0], one), measure(rankings[1], one)) for one in every]
        for of_what, is_exact, values in zip(
            found, exact, ([a for a, _ in both], [a - b for a, b in both])
        ):
            low, high = ends(of_what, number)
            if is_exact:
                assert (low, high) == pytest.approx((min(values), max(values)), abs=EXACT), qid
            else:
                assert low <= min(values) + EXACT and max(values) - EXACT <= high, qid


MEASURES = (
    "P@3 R@3 R@7 RR@3 RR Success@3 AP@4 AP nDCG@3 nDCG RBP(p=0.8,rel=1) ASL@4 ASL "
    "ASL(missing='after')@4 ASL(missing='eq3')@4 ASL(g=2)@4 ASL(g=1,missing='eq3') nASL@4 "
    "nASL(g=2)@4 LexiP@3 LexiP"
).split()


@pytest.mark.parametrize("text", MEASURES)
@pytest.mark.parametrize(("most", "depth"), [(2**21, 0), (30, 5)])
def test_every_labelling(text, most, depth, monkeypatch):
    """Of all queries in one matrix, or in several."""
    monkeypatch.setattr("pyterrier_asl.scoring.matrices.MOST_IN_MATRIX", most)
    runs, judged = drawn(depth, DOCUMENTS, [-1, 0, 1, 1], 16)
    measure = ir_measures.parse_measure(text)
    k = measure.params.get("cutoff")
    options = {name: measure.params[name] for name in ("missing", "g") if name in measure.params}
    value = labellings.value_of(measure.NAME, k, **options)
    seen = None if k is None else max(k, depth)
    found = of_measure(runs, judged, measure, depth=depth)
    check(found, runs, judged, lambda qid: value, seen)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_every_verdict_of_sgn_lp(k):
    runs, judged = drawn(k, DOCUMENTS, [-1, 0, 1, 1], 16)
    found = of_measure(runs[:2], judged, ir_measures.RR @ k)
    verdicts = lexicographic_verdicts(found.sides[0].beside(found.sides[1]))
    for number, qid in enumerate(found.judgements.qids):
        a, b = (run[qid] for run in runs[:2])
        every = labellings.labelled(judged[qid], labellings.unjudged((a, b), judged[qid], k))
        expected = {labellings.sgn_lp(a, b, one, k) for one in every}
        assert {sign for sign in (-1, 0, 1) if verdicts[number, sign + 1]} == expected


FEW, GRADES = DOCUMENTS[:5], [-1, 0, 1, 2, 3]


@pytest.mark.parametrize("highest", [None, 1, 2])
@pytest.mark.parametrize("k", [1, 3, None])
def test_graded_ndcg(k, highest):
    runs, judged = drawn(k or 9, FEW, GRADES, 8)
    best, value = highest or 3, labellings.value_of("nDCG", k)
    measure = ir_measures.nDCG if k is None else ir_measures.nDCG @ k
    found = of_measure(runs, judged, measure, highest=highest)
    check(found, runs, judged, lambda qid: value, k, range(best + 1))


def test_time_biased_gain():
    runs, judged = drawn(2, FEW, GRADES, 20)
    words = dict(zip(FEW, [500, 20000, 50, 500, 50]))
    measure = ir_measures.parse_measure("TBG")(lengths=DocLengths.from_dict(words, name="words"))
    value = labellings.value_of("TBG", None, lengths=words)
    check(of_measure(runs, judged, measure), runs, judged, lambda qid: value, None)


@pytest.mark.filterwarnings("ignore:.*fewer than 8")
@pytest.mark.parametrize(
    ("k", "alpha", "normalized"),
    [(1, 0.5, False), (3, 1.0, False), (3, 0.5, True), (1, 1.0, True), (3, 0.0, False)],
)
@pytest.mark.parametrize("name", ["P_Rareness", "AP_Rareness"])
def test_rareness(name, k, alpha, normalized):
    runs, judged = drawn(k, FEW, GRADES, 12)
    b = {qid: docs or ["d3"] for qid, docs in runs[1].items()}
    pool = {"b": scored(b), "c": scored(dict.fromkeys(b, DOCUMENTS))}
    options = {"alpha": alpha, "normalized": normalized}
    measure = ir_measures.parse_measure(f"{name}@{k}")(pool=RarenessPool.from_runs(pool), **options)
    both = [runs[0], b]
    check(
        of_measure(both, judged, measure),
        both,
        judged,
        lambda qid: labellings.value_of(name, k, pool=[b[qid], DOCUMENTS], **options),
        k,
    )


RUN = {"q": {"a": 3, "x": 2, "b": 1}, "p": {"y": 1}}
QRELS = {"q": {"a": 1, "b": 1}, "p": {"c": 1}}


def test_documents_of_other_runs_can_be_relevant_too():
    alone = bounds(RUN, QRELS, "R@3").loc[0]
    several = {"run": RUN, "other": {"q": {"z": 2, "a": 1}, "p": {"z": 1}}}
    beside = bounds(several, QRELS, "R@3").loc[0]
    assert alone["low"] == 0.5 and beside["low"] == pytest.approx((2 / 3) / 2)


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
