"""The standard measures against pytrec_eval and ir_measures' own providers: odd cases, and every
real run with every parameter."""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import (
    AP,
    ERR,
    RBP,
    RR,
    Bpref,
    IPrec,
    Judged,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    SetRelP,
    Success,
    nDCG,
)

from pyterrier_asl import ASL, accelerate, acceleration, matching
from pyterrier_asl.io import read_qrels_table, read_run_table, run_name
from pyterrier_asl.judging import Judgements, rank
from pyterrier_asl.scoring import standard

GAINS = {-1: 1, 0: 2, 1: 0, 2: 5}

#: What accelerate() hands over: values are pytrec_eval's whatever the run.
MEASURES = [
    AP, AP @ 10, AP @ 100, AP(rel=2), AP(judged_only=True), AP(judged_only=True) @ 20,
    RR, RR(rel=2), RR(judged_only=True),
    P @ 1, P @ 5, P @ 20, P @ 100, P @ 2000, P(rel=2) @ 10, P(judged_only=True) @ 10,
    R @ 10, R @ 1000, R(rel=2) @ 100, R(judged_only=True) @ 100,
    nDCG, nDCG @ 1, nDCG @ 10, nDCG @ 2000, nDCG(judged_only=True), nDCG(judged_only=True) @ 20,
    Success @ 1, Success @ 10, Success(rel=2) @ 5, Success(judged_only=True) @ 1,
    Rprec, Rprec(rel=2), Rprec(judged_only=True), Bpref, Bpref(rel=2), Bpref(rel=3),
    IPrec @ 0.0, IPrec @ 0.1, IPrec @ 0.25, IPrec @ 0.333, IPrec @ 1.0, IPrec(rel=2) @ 0.5,
    IPrec(judged_only=True) @ 0.5,
    SetP, SetP(rel=2), SetP(judged_only=True), SetRelP, SetRelP(judged_only=True),
    SetR, SetR(rel=2), SetF, SetF(beta=0.5), SetF(beta=2.0), SetF(rel=2, judged_only=True),
    SetAP, SetAP(rel=2), SetAP(judged_only=True),
    NumRelRet, NumRet(rel=2), NumRel, NumQ, Judged,
]  # fmt: skip
#: Apart, for ir_measures counts with any other measure, perhaps of judged documents only.
COUNTED = [NumRet]
#: The same with other gains: apart, for ir_measures lets them leak into nDCG without any.
GAINED = [nDCG(gains=GAINS), nDCG(gains=GAINS) @ 10, nDCG(gains=GAINS, judged_only=True) @ 10]


def ours(measure, judgements, run) -> dict[str, float]:
    values = acceleration.values(measure, judgements.judge(run))
    return dict(zip(judgements.qid_text.to_pylist(), values.tolist()))


def theirs(evaluator, measures, run) -> dict:
    """Values by measure and query, 0 where ir_measures says nothing else."""
    values = defaultdict(dict)
    for metric in evaluator.iter_calc(run):
        values[metric.measure][metric.query_id] = metric.value
    return values


def compare(measures, evaluator, judgements, run) -> float:
    """The largest difference on one run, over measures and queries."""
    expected, judged, worst = theirs(evaluator, measures, run), judgements.judge(run), 0.0
    qids = judgements.qid_text.to_pylist()
    for measure in measures:
        assert acceleration.supports(measure), measure
        values = acceleration.values(measure, judged)
        reference = np.array([expected[measure].pop(qid) for qid in qids])
        if measure.NAME == "IPrec":  # nothing judged retrieved: trec_eval divides 0 by 0, we say 0
            reference = np.nan_to_num(reference)
        assert not expected[measure], f"{measure} has queries that the qrels have not"
        difference = np.abs(values - reference)
        where = int(difference.argmax())
        assert difference[where] <= 1e-9, (
            f"{measure}, query {qids[where]}: {values[where]!r}, not {reference[where]!r}"
        )
        worst = max(worst, float(difference[where]))
    return worst


# Odd cases

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


@pytest.mark.parametrize("measure", [*MEASURES, *COUNTED, *GAINED], ids=str)
@pytest.mark.parametrize(
    ("qrels", "run"),
    [(QRELS, RUN), (QRELS, {"graded": {"z": 1}}), (QRELS, {}), ({"graded": {"a": 1}}, RUN)],
    ids=["full", "partial run", "empty run", "partial qrels"],
)
def test_odd_cases_are_pytrec_evals(measure, qrels, run):
    expected = ir_measures.calc([measure], qrels, run)
    accelerate()
    try:
        actual = ir_measures.calc([measure], qrels, run)
        assert isinstance(
            ir_measures.evaluator([measure], qrels), acceleration.AcceleratedEvaluator
        )
    finally:
        accelerate(False)
    by_query = {metric.query_id: metric.value for metric in expected.per_query}
    assert {m.query_id: m.value for m in actual.per_query} == pytest.approx(by_query, abs=1e-9)
    assert len(actual.per_query) == len(expected.per_query) == len(qrels)
    assert actual.aggregated[measure] == pytest.approx(expected.aggregated[measure], abs=1e-9)


ids = st.sampled_from([*"abcdefgh", "aa", "é", "漢", ""])
# Not below 0: pytrec_eval writes in front of its arrays below -1, and does not come back from nDCG
# of a query whose only grades are -1; the odd cases above hold what it can bear.
grade = st.integers(0, 4)
score = st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 2.0, -3.0])


@settings(max_examples=60, deadline=None)
@given(
    qrels=st.dictionaries(
        st.sampled_from(["1", "2", "3"]), st.dictionaries(ids, grade, min_size=1), min_size=1
    ),
    run=st.dictionaries(
        st.sampled_from(["1", "2", "4"]), st.dictionaries(ids, score, min_size=1)
    ),
)
def test_any_small_run_is_scored_as_by_pytrec_eval(qrels, run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(MEASURES, ir_measures.evaluator(MEASURES, qrels), Judgements(qrels), run)
        compare(COUNTED, ir_measures.evaluator(COUNTED, qrels), Judgements(qrels), run)
        compare(GAINED, ir_measures.evaluator(GAINED, qrels), Judgements(qrels), run)


# Measures of other providers, whose order of equal scores differs: compared where nothing ties

ORDERED = [RR @ 1, RR @ 2, RR @ 10, RR(rel=2) @ 5, Judged @ 1, Judged @ 3, Judged @ 10]


def without_ties(run):
    return {
        qid: {docno: len(docs) - place for place, docno in enumerate(sorted(docs))}
        for qid, docs in run.items()
    }


@pytest.mark.parametrize("measure", ORDERED, ids=str)
def test_measures_of_other_providers_without_ties(measure):
    run = without_ties(RUN)
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([measure], QRELS, run)}
    assert ours(measure, Judgements(QRELS), run) == pytest.approx(expected, abs=1e-9)


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


def test_exponential_gains_by_hand():
    # Grades 1, 0, 3 in this order; the best order is 3, 1.
    found = ours(nDCG(dcg="exp-log2"), Judgements({"q": {"a": 1, "b": 0, "c": 3}}),
                 {"q": {"a": 3, "b": 2, "c": 1}})  # fmt: skip
    assert found["q"] == pytest.approx((1 + 7 / 2) / (7 + 1 / np.log2(3)))


def test_rbp_by_hand():
    run = {"q": {"a": 4, "x": 3, "b": 2}}
    found = ours(RBP(rel=1, p=0.5), Judgements({"q": {"a": 1, "b": 1}}), run)["q"]
    assert found == pytest.approx(0.5 * (1 + 0.25), abs=1e-12)


def test_rbp_stops_at_1000_as_in_cwl_eval():
    ranks, offsets = np.array([1, 1000, 1001]), np.array([0, 3])
    weights = [0.999**i for i in range(1000)]
    expected = (weights[0] + weights[-1]) / sum(weights)
    found = standard.rank_biased_precision(ranks, offsets, 0.999)
    assert found[0] == pytest.approx(expected, abs=1e-12)


def test_err_by_hand_and_its_limit():
    found = standard.expected_reciprocal_rank(
        np.array([1, 3]), np.array([1.0, 2.0]), np.array([0, 2, 2])
    )
    assert found.tolist() == pytest.approx([1 / 16 + 15 / 16 * 3 / 16 / 3, 0], abs=1e-12)
    with pytest.raises(ValueError, match="grades up to 4, and a document has grade 5"):
        ours(ERR @ 10, Judgements({"q": {"a": 5}}), {"q": {"a": 1}})


# What is taken over, and what is not


@pytest.mark.parametrize(
    "measure",
    [RR @ 10, Judged @ 10, ERR @ 10, nDCG(dcg="exp-log2") @ 10, RBP(rel=1), RBP, P(rel=0) @ 5,
     nDCG(gains={1: 1.5}), ir_measures.infAP],
    ids=str,
)  # fmt: skip
def test_what_could_differ_is_left_to_its_provider(measure):
    assert not acceleration.AcceleratedProvider().supports(measure)


def test_a_measure_defined_at_run_time_is_left_to_its_definition():
    measure = ir_measures.define_byquery(lambda qrels, run: 0.25, name="AP")
    assert not acceleration.supports(measure)
    accelerate()
    try:
        assert measure.calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1}}) == 0.25
    finally:
        accelerate(False)


def test_accelerate_can_be_repeated_and_undone():
    pipeline = ir_measures.DefaultPipeline.providers
    before = list(pipeline)
    accelerate()
    accelerate()
    assert len(pipeline) == len(before) + 1
    accelerate(False)
    accelerate(False)
    assert pipeline == before


def test_one_judging_serves_our_measures_and_standard_ones(monkeypatch):
    judged = []
    judge = Judgements.judge
    monkeypatch.setattr(Judgements, "judge", lambda self, run: judged.append(1) or judge(self, run))
    accelerate()
    try:
        ir_measures.calc([ASL @ 10, AP, nDCG @ 10], QRELS, RUN)
    finally:
        accelerate(False)
    assert len(judged) == 1


# Real runs


@pytest.mark.parametrize("fast", [False, True], ids=["arrow", "loops"])
@pytest.mark.parametrize("track", ["dl20-passage", "robust03", "trec8-adhoc"])
def test_every_real_run_is_scored_as_by_pytrec_eval(data: Path, track, fast, monkeypatch):
    """Every run by pytrec_eval's RR, P@100 and AP; every eighth by all measures and parameters
    (all of them with PYTERRIER_ASL_ALL=1)."""
    import os

    monkeypatch.setattr(matching, "ENOUGH", 0 if fast else np.inf)
    table = next(read_qrels_table(path) for path in (data / track).glob("qrels.txt*"))
    qrels = table.to_pandas().rename(
        columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    )
    judgements = Judgements(table)
    core = [RR, P @ 100, AP]
    evaluators = [(m, ir_measures.evaluator(m, qrels)) for m in (core, MEASURES, COUNTED, GAINED)]
    paths = sorted((data / track / "runs").iterdir())
    every = 1 if os.environ.get("PYTERRIER_ASL_ALL") else 8
    worst, whole = 0.0, 0
    for number, path in enumerate(paths):
        run = read_run_table(path).to_pandas()
        run.columns = ["query_id", "doc_id", "score"]
        run = run.astype({"query_id": object, "doc_id": object})
        parts = evaluators if number % every == 0 and fast else evaluators[:1]
        whole += len(parts) > 1
        for measures, evaluator in parts:
            try:
                worst = max(worst, compare(measures, evaluator, judgements, run))
            except AssertionError as error:
                raise AssertionError(f"run {run_name(path)}: {error}") from None
    measures = len([*MEASURES, *COUNTED, *GAINED])
    print(
        f"{track}: RR, P@100, AP of {len(paths)} runs, {measures} measures of "
        f"{whole}: largest difference from ir_measures' providers {worst:.1e}"
    )


@pytest.mark.parametrize("track", ["dl20-passage", "robust03", "trec8-adhoc"])
def test_real_runs_are_scored_as_by_other_providers_in_one_order(data: Path, track):
    """Every 16th run, its scores replaced by its places in our order, so that nothing ties."""
    table = next(read_qrels_table(path) for path in (data / track).glob("qrels.txt*"))
    qrels = table.to_pandas().set_axis(["query_id", "doc_id", "relevance"], axis=1)
    judgements, cwl = Judgements(table), ir_measures.cwl_eval.is_available()
    exact = [*ORDERED, *([RBP(rel=1), RBP(rel=2, p=0.99)] if cwl else [])]
    rounded = [ERR @ 20, nDCG(dcg="exp-log2") @ 20] if ir_measures.gdeval.is_available() else []
    paths = sorted((data / track / "runs").iterdir())[::16]
    for path in paths:
        run, _, ranking = rank(read_run_table(path))
        rows = ranking.rows
        frame = pd.DataFrame(
            {
                "query_id": run.qid.take(rows).to_pandas().astype(object),
                "doc_id": run.docno.take(rows).to_pandas().astype(object),
                "score": -np.arange(len(rows), dtype=float),
            }
        )
        compare(exact, ir_measures.evaluator(exact, qrels), judgements, frame)
        expected = defaultdict(dict)
        for metric in ir_measures.gdeval.iter_calc(rounded, qrels, frame) if rounded else ():
            expected[metric.measure][metric.query_id] = metric.value
        for measure in rounded:
            found = ours(measure, judgements, frame)
            assert found == pytest.approx({q: 0 for q in found} | expected[measure], abs=5.1e-6)
    print(f"{track}: {', '.join(map(str, [*exact, *rounded]))} of {len(paths)} runs")


@pytest.mark.parametrize("perquery", [False, True])
def test_an_experiment_is_the_same_accelerated(data: Path, perquery):
    import pyterrier as pt

    folder = data / "dl20-passage"
    qrels = read_qrels_table(folder / "qrels.txt").to_pandas()
    runs = [read_run_table(p).to_pandas() for p in sorted((folder / "runs").iterdir())[:3]]
    topics = pd.DataFrame({"qid": qrels["qid"].unique(), "query": "x"})
    metrics = [AP, RR, P @ 20, nDCG @ 10, RR @ 10, R @ 100, NumRelRet, ASL @ 1000]

    def experiment():
        return pt.Experiment(runs, topics, qrels, metrics, names=["a", "b", "c"], perquery=perquery)

    plain = experiment()
    accelerate()
    try:
        fast = experiment()
    finally:
        accelerate(False)
    if perquery:
        keys = ["name", "qid", "measure"]
        plain, fast = (f.sort_values(keys).reset_index(drop=True) for f in (plain, fast))
    else:  # pt.Experiment has them in whatever order values arrived
        plain, fast = plain.sort_index(axis=1), fast.sort_index(axis=1)
    pd.testing.assert_frame_equal(fast, plain, check_exact=False, rtol=0, atol=1e-9)
