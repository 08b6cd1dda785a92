"""Tests of the assumptions of pt.Experiment, pt.Evaluate and ir_measures about a measure.

Tests call PyTerrier and ir_measures. Expected values come from loops (``brute_force``), worked
examples or pytrec_eval.
"""

from __future__ import annotations

import ast
import gzip
import itertools
import json
import math
import os
import pickle
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import brute_force
import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from _systems import QUERIES, Toy, by_query, evaluated, expected, qrels, results, system, topics
from ir_measures.measures import Measure
from scipy import stats

import pyterrier_asl
from pyterrier_asl import ASL, TBG, AP_Rareness, DocLengths, LexiP, P_Rareness, RarenessPool, nASL
from pyterrier_asl.measures import _base as base

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*fewer than 8:UserWarning",
    "ignore:none of the documents of the run:UserWarning",
    "ignore:There are shared pipeline:UserWarning",
)
AP, P, RR = ir_measures.AP, ir_measures.P, ir_measures.RR


@pytest.fixture(scope="module")
def pool():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RarenessPool.from_runs(
            {f"run{i}": results(i, [*QUERIES, "empty"]) for i in range(4)}, name="contract"
        )


@pytest.fixture(scope="module")
def lengths():
    return DocLengths([f"d{i}" for i in range(12)], [20 * (i + 1) for i in range(12)], name="words")


@pytest.fixture(scope="module")
def ours(pool, lengths):
    """One measure of each kind, with the loop that computes its expected value."""
    words = {f"d{i}": 20 * (i + 1) for i in range(12)}
    return {
        ASL: lambda d, g: brute_force.asl(d, g),
        ASL @ 5: lambda d, g: brute_force.asl(d[:5], g, k=5),
        ASL(g=2, missing="after", rel=2): lambda d, g: brute_force.asl(
            d, g, rel=2, missing="after", g=2
        ),
        ASL(missing="eq3") @ 3: lambda d, g: brute_force.asl(d[:3], g, k=3, missing="eq3"),
        nASL @ 5: lambda d, g: 1 - (brute_force.asl(d[:5], g, k=5) - 1) / 5,
        LexiP: lambda d, g: brute_force.lexip(d, g),
        LexiP(rel=2) @ 4: lambda d, g: brute_force.lexip(d[:4], g, rel=2, k=4),
        TBG: lambda d, g: brute_force.tbg(d, g, words),
        TBG(lengths=lengths, halflife=50) @ 5: lambda d, g: brute_force.tbg(d[:5], g, words, h=50),
        P_Rareness(pool=pool, alpha=0) @ 5: lambda d, g: (
            sum(g.get(doc, 0) >= 1 for doc in d[:5]) / 5
        ),
        AP_Rareness(pool=pool, alpha=0): lambda d, g: (
            sum(
                sum(g.get(x, 0) >= 1 for x in d[: i + 1]) / (i + 1)
                for i, doc in enumerate(d)
                if g.get(doc, 0) >= 1
            )
            / sum(grade >= 1 for grade in g.values())
        ),
    }


def ir(frame):
    """The same frame with the column names of ir_measures."""
    return frame.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})


def wide(each):
    """Query -> measure -> value, of metrics or of a per-query frame."""
    if isinstance(each, pd.DataFrame):
        return each.pivot(index="qid", columns="measure", values="value")
    found = {}
    for metric in each:
        key = (metric.query_id, str(metric.measure))
        assert key not in found, f"two values for {key}"
        found[key] = metric.value
    return found


# 1. One finite value for every query of the qrels, in one order of measures


@pytest.mark.parametrize("run", ["full", "partial", "empty", "strange"])
@pytest.mark.parametrize("judged", ["full", "partial", "empty"])
def test_one_finite_metric_for_every_query_of_the_qrels(ours, run, judged):
    frame, judgements = results(1), qrels([*QUERIES, "empty"])
    if run == "partial":
        frame = frame[frame["qid"].isin(QUERIES[2:])]
    elif run == "empty":
        frame = frame.iloc[:0]
    elif run == "strange":
        frame = frame.assign(qid="z" + frame["qid"])
    if judged == "partial":
        judgements = judgements[judgements["qid"].isin(QUERIES[:3])]
    elif judged == "empty":
        judgements = judgements.iloc[:0]
    measures = list(ours)
    metrics = list(ir_measures.iter_calc(measures, ir(judgements), ir(frame)))
    qids = judgements["qid"].unique()
    assert {(m.query_id, str(m.measure)) for m in metrics} == set(
        itertools.product(qids, map(str, measures))
    )
    assert len(metrics) == len(qids) * len(measures)
    assert all(type(m.value) is float and math.isfinite(m.value) for m in metrics)
    found = wide(metrics)
    for measure, loop in ours.items():
        values = expected(loop, frame, judgements, qids) if len(judgements) else []
        assert [found[q, str(measure)] for q in qids] == pytest.approx(values, abs=1e-12)


_ORDER = """
    import sys, warnings
    warnings.simplefilter("ignore")
    sys.path.insert(0, {tests!r})
    import ir_measures, pyterrier as pt
    from _systems import qrels, results, topics
    from pyterrier_asl import ASL, LexiP, TBG, nASL
    measures = [TBG, ASL @ 5, nASL, LexiP, ASL(g=1), ir_measures.AP, ir_measures.RR]
    ours = measures[:5]
    run = results(1).rename(columns=dict(qid="query_id", docno="doc_id"))
    judged = qrels().rename(columns=dict(qid="query_id", docno="doc_id", label="relevance"))
    print([(m.query_id, str(m.measure)) for m in ir_measures.iter_calc(ours, judged, run)])
    table = pt.Experiment([results(1), results(2)], topics(), qrels(), measures, names=["a", "b"])
    print(table[sorted(table.columns)].to_json())
"""


@pytest.mark.slow
def test_the_order_of_measures_does_not_depend_on_the_hash_seed():
    code = textwrap.dedent(_ORDER.format(tests=str(Path(__file__).parents[1])))
    said = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(said) == 1
    first, _ = said.pop().splitlines()
    order = [name for qid, name in ast.literal_eval(first) if qid == "q1"]
    assert order == sorted(order) and len(order) == 5


# 2, 3, 9. A measure is its repr


def every_measure(pool, lengths):
    """Measures with many values of their parameters."""
    yield from (
        ASL(rel=rel, g=g, missing=missing, judged_only=judged, cutoff=k)
        for rel, g, missing, judged, k in itertools.product(
            (None, 0, 1, 2, 1.5),
            (None, 1, 10),
            ("pad", "after", "eq3"),
            (False, True),
            (None, 1, 1000),
        )
    )
    yield from (
        nASL(rel=rel, g=g, judged_only=judged, cutoff=k)
        for rel, g, judged, k in itertools.product((1, 2), (None, 3), (False, True), (None, 7, 99))
    )
    yield from (LexiP(judged_only=True), LexiP(rel=2) @ 9)
    yield from (
        kind(pool=pool, alpha=alpha, normalized=normalized, depth=depth, member=member, rel=2) @ 5
        for kind in (P_Rareness, AP_Rareness)
        for alpha, normalized, depth, member in itertools.product(
            (0, 0.1, 0.5, 1, 1e-9), (False, True), (None, 8), (None, True, False)
        )
    )
    yield from (P_Rareness @ 10, AP_Rareness, AP_Rareness(alpha=1), TBG, TBG @ 3)
    yield from (TBG(lengths=lengths, missing_length=0), TBG(lengths=lengths, halflife=1e-3) @ 10)
    yield TBG(
        p_click_rel=0.1,
        p_click_nonrel=1 / 3,
        p_save=1,
        time_summary=0,
        time_per_word=0.1,
        time_base=0,
        missing_length=1e6,
    )


def test_what_a_measure_prints_parses_to_it(pool, lengths):
    printed = {}
    for measure in every_measure(pool, lengths):
        parsed = ir_measures.parse_measure(str(measure))
        assert parsed == measure and str(parsed) == str(measure)
        assert hash(parsed) == hash(measure) and type(parsed) is type(measure)
        assert {n: measure[n] for n in measure.SUPPORTED_PARAMS} == {
            n: parsed[n] for n in parsed.SUPPORTED_PARAMS
        }
        key = tuple(repr(measure[name]) for name in measure.SUPPORTED_PARAMS)
        assert printed.setdefault((measure.NAME, str(measure)), key) == key
        assert pickle.loads(pickle.dumps(measure)) == measure
        # (...) and @k rebuild a measure from its parameters, and must keep them.
        again = measure(rel=1) @ 4
        assert again["cutoff"] == 4 and again["rel"] == 1
        for name in measure.SUPPORTED_PARAMS.keys() - {"cutoff", "rel"}:
            assert again[name] == measure[name]


def test_different_parameters_print_differently(pool, lengths):
    other = RarenessPool.from_runs({"run0": results(9)}, name="contract")
    assert str(AP_Rareness(pool=pool)) != str(AP_Rareness(pool=other))
    renamed = DocLengths(["d0"], [1], name="words")
    assert str(TBG(lengths=lengths)) != str(TBG(lengths=renamed))
    table = pt.Experiment(
        [results(1)], topics(), qrels(), [AP_Rareness(pool=pool) @ 5, AP_Rareness(pool=other) @ 5]
    )
    assert len(set(table.columns)) == 3 and table.iloc[0, 1] != table.iloc[0, 2]


def test_order_and_spelling_of_parameters_do_not_matter():
    assert ASL(g=2, rel=2) @ 10 == ASL(rel=2.0, cutoff=10)(g=np.int64(2))
    assert ASL(rel=1, g=None, missing="pad", judged_only=False) == ASL
    assert ASL != AP and (ASL == "ASL") is False


# 10. Parameters


@pytest.mark.parametrize(
    ("measure", "params", "says"),
    [
        (ASL, {"cutoff": 0}, "ASL: cutoff must be a whole number from 1 to 2147483647, not 0"),
        (ASL, {"cutoff": 10.0}, "cutoff must be a whole number"),
        (ASL, {"cutoff": True}, "cutoff must be a whole number"),
        (ASL, {"g": -3}, "ASL: g must be a whole number from 1 to 2147483647, not -3"),
        (ASL, {"missing": "last"}, "missing must be one of 'pad', 'after', 'eq3', not 'last'"),
        (ASL, {"rel": -1}, "rel must be a number from 0"),
        (ASL, {"rel": float("nan")}, "rel must be a number from 0"),
        (ASL, {"judged_only": 1}, "judged_only must be True or False, not 1"),
        (ASL, {"depth": 5}, "ASL has no parameter 'depth'; it has cutoff, rel, g"),
        (nASL, {"missing": "pad"}, "nASL has no parameter 'missing'"),
        (LexiP, {"cutoff": "10"}, "LexiP: cutoff must be a whole number"),
        (P_Rareness, {"alpha": 2}, "alpha must be a number from 0 to 1, not 2"),
        (P_Rareness, {"alpha": -0.1}, "alpha must be a number from 0 to 1"),
        (P_Rareness, {"pool": 3}, "pool must be a RarenessPool .*, its name or a file, not 3"),
        (AP_Rareness, {"pool": "no such"}, "RarenessPool.load.file. loads a saved one"),
        (AP_Rareness, {"member": "yes"}, "member must be True or False"),
        (TBG, {"halflife": 0}, "halflife must be a number above 0, not 0"),
        (TBG, {"p_save": 1.5}, "p_save must be a number from 0 to 1"),
        (TBG, {"missing_length": -1}, "missing_length must be a number from 0"),
        (TBG, {"lengths": "no such"}, "a DocLengths, an existing file, or the name"),
    ],
)
def test_parameters_out_of_range_are_said_when_the_measure_is_made(measure, params, says):
    with pytest.raises(ValueError, match=says):
        measure(**params)
    if set(params) == {"cutoff"}:
        with pytest.raises(ValueError, match=says):
            measure @ params["cutoff"]


def test_numbers_of_numpy_are_numbers(pool):
    same = [
        (ASL @ np.int64(10), ASL @ 10),
        (ASL(g=np.int32(3), rel=np.float64(2)), ASL(g=3, rel=2)),
        (ASL(judged_only=np.True_), ASL(judged_only=True)),
        (TBG(halflife=np.float64(100)), TBG(halflife=100)),
        (AP_Rareness(pool=pool, alpha=np.float32(0.5)), AP_Rareness(pool=pool)),
        (AP_Rareness(pool=pool, alpha=1), AP_Rareness(pool=pool, alpha=1.0)),
        (ASL(g=None), ASL),
    ]
    for one, other in same:
        assert one == other and str(one) == str(other) and "np." not in str(one)


def test_what_a_measure_cannot_do_without_is_said():
    for call in (
        lambda m: m.calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1}}),
        lambda m: pt.Experiment([results(1)], topics(), qrels(), [m]),
    ):
        with pytest.raises(ValueError, match="P_Rareness needs cutoff: write P_Rareness@k"):
            call(P_Rareness)
        with pytest.raises(ValueError, match=r"AP_Rareness needs pool: write AP_Rareness\(pool="):
            call(AP_Rareness @ 10)


# 3. Pickled, and in workers


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_measures_travel_to_joblib_workers(ours, backend):
    joblib = pytest.importorskip("joblib")
    runs = [results(1), results(2)]
    measures = list(ours)
    found = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(evaluated)(measures, run) for run in runs
    )
    for run, answer in zip(runs, found):
        for measure, loop in ours.items():
            values = [answer[q][str(measure)] for q in QUERIES]
            assert values == pytest.approx(expected(loop, run, qrels()), abs=1e-12)


_WORKER = """
    import pickle, sys, warnings
    warnings.simplefilter("ignore")
    measures, run, judged = pickle.load(sys.stdin.buffer)
    from ir_measures import calc_aggregate, parse_measure
    means = calc_aggregate(measures, judged, run)
    print([(str(m), means[m], parse_measure(str(m)) == m) for m in measures])
"""


def test_pickled_measures_bring_pools_and_lengths_to_another_process(ours, pool):
    with_own = [measure for measure in ours if measure != TBG]  # TBG takes lengths from runs
    measures = [AP_Rareness(pool=pool, alpha=1) @ 5, *with_own]
    judged, run = by_query(qrels(), "label"), by_query(results(1), "score")
    run = {qid: docs for qid, docs in run.items() if qid != "q1"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_WORKER)],
        input=pickle.dumps((measures, run, judged)),
        capture_output=True,
        check=True,
    )
    means = ir_measures.calc_aggregate(measures, judged, run)
    expected = [(str(measure), means[measure], True) for measure in measures]
    assert ast.literal_eval(done.stdout.decode()) == expected


# 4, 5. Batches, and unanswered queries


@pytest.mark.parametrize("size", [1, 2, 4, 100])
@pytest.mark.parametrize("plan", ["linear", "tree"])
def test_batches_are_as_the_whole(ours, size, plan):
    measures = [*ours, AP]
    options = {"plan": plan, "verbose": False}
    made = [system(1), system(2)]
    whole = pt.Experiment(made, topics(), qrels(), measures, perquery=True, **options)
    parts = pt.Experiment(
        made, topics(), qrels(), measures, perquery=True, batch_size=size, **options
    )
    second = [wide(each[each["name"] == "toy2"]) for each in (parts, whole)]
    pd.testing.assert_frame_equal(*second, check_exact=True)
    found = wide(whole[whole["name"] == "toy1"]).loc[QUERIES]
    for measure, loop in ours.items():
        values = expected(loop, results(1), qrels())
        assert found[str(measure)].tolist() == pytest.approx(values, abs=1e-12)


def test_means_are_over_every_query_of_the_qrels(ours):
    short = results(1, QUERIES[:2])
    table = pt.Experiment([Toy("a", short)], topics(), qrels(), list(ours))
    for measure, loop in ours.items():
        values = expected(loop, short, qrels())
        assert table[str(measure)][0] == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "worst"),
    [
        (ASL, 1001),
        (ASL @ 10, 11),
        (ASL(g=1) @ 10, 11),
        (ASL(missing="after"), 1001),
        (ASL(missing="eq3") @ 10, 11),
        (ASL(judged_only=True), 1001),
        (nASL, 0),
        (nASL @ 10, 0),
        (LexiP, 0),
        (TBG, 0),
    ],
)
def test_an_unanswered_query_gets_the_worst_value(measure, worst):
    run, judged = results(1, ["q1"]), qrels(["q1", "q2"])
    each = pt.Experiment([run], topics(["q1", "q2"]), judged, [measure], perquery=True)
    assert each["value"].tolist()[1] == worst == measure.DEFAULT
    values = {m.query_id: m.value for m in measure.iter_calc(ir(judged), ir(run.iloc[:0]))}
    assert values == {"q1": worst, "q2": worst}


def test_a_query_without_relevant_documents_distinguishes_no_systems(ours):
    judged = qrels().assign(label=0)
    for run in (results(1), results(1).iloc[:0]):
        for measure in ours:
            worth = 1 if measure.NAME in ("ASL", "nASL") else 0
            assert {m.value for m in measure.iter_calc(ir(judged), ir(run))} == {worth}


# 6. The direction


def test_measures_say_which_way_is_better():
    lower = {m for m in (ASL, nASL, LexiP, P_Rareness, AP_Rareness, TBG) if not m.HIGHER_IS_BETTER}
    assert lower == {ASL} and (ASL(g=1) @ 10).HIGHER_IS_BETTER is False


# 7. Columns of every kind


def _as(kind, frame):
    """The same frame with ids of another type."""
    ids = [name for name in ("qid", "docno") if name in frame.columns]
    if kind == "integers":
        return frame.assign(**{name: frame[name].str[1:].astype("int64") for name in ids})
    if kind == "mixed":
        return frame.assign(**{n: frame[n].str[1:].astype("int64").astype(object) for n in ids})
    dtype = {"object": object, "category": "category", "arrow": "string[pyarrow]"}[kind]
    return frame.astype({name: dtype for name in ids})


@pytest.mark.parametrize(
    ("run_kind", "qrels_kind"),
    [
        *itertools.product(["object", "category", "arrow"], repeat=2),
        *itertools.product(["integers", "mixed"], repeat=2),
    ],
)
def test_columns_of_every_kind(run_kind, qrels_kind):
    text = run_kind not in ("integers", "mixed")
    run, judged = _as(run_kind, results(1)), _as(qrels_kind, qrels())
    loops = {
        ASL @ 5: lambda d, g: brute_force.asl(d[:5], g, k=5),
        LexiP: lambda d, g: brute_force.lexip(d, g),
    }
    found = wide(ir_measures.iter_calc(list(loops), ir(judged), ir(run)))
    qids = judged["qid"].drop_duplicates().tolist()
    for measure, loop in loops.items():
        values = expected(loop, results(1), qrels()) if text else _numbered(loop)
        assert [found[qid, str(measure)] for qid in qids] == pytest.approx(values, abs=1e-12)
    kinds = {type(qid) for qid, _ in found}
    assert kinds == {str} if text else kinds == {int}  # as the qrels hold them


def _numbered(loop):
    """The same results with ids as numbers; without ties the order is the same."""
    assert not results(1).duplicated(["qid", "score"]).any()
    return expected(loop, results(1), qrels())


@pytest.mark.parametrize("kind", ["object", "category", "arrow", "integers"])
@pytest.mark.parametrize("perquery", [False, True, "both"])
def test_pt_experiment_with_columns_of_every_kind(kind, perquery):
    answer = pt.Experiment(
        [_as(kind, results(1))],
        _as(kind, topics()),
        _as(kind, qrels()),
        [ASL @ 5, LexiP],
        perquery=perquery,
        names=["a"],
    )
    loop = expected(lambda d, g: brute_force.asl(d[:5], g, k=5), results(1), qrels())
    if perquery is not True:
        averages = answer.averages if perquery else answer
        assert averages["ASL@5"][0] == pytest.approx(np.mean(loop))
    if perquery:
        each = wide(answer.perquery if perquery == "both" else answer)
        assert each["ASL@5"].tolist() == pytest.approx(loop) and len(each) == 6


# 8. Queries on one side only


def test_queries_of_the_run_alone_are_ignored_and_of_the_qrels_alone_are_missed():
    run = results(1, ["q1", "q2", "x1"])
    judged = qrels(["q1", "q3"])
    found = {m.query_id: m.value for m in (ASL @ 5).iter_calc(ir(judged), ir(run))}
    values = expected(lambda d, g: brute_force.asl(d[:5], g, k=5), run, judged, ["q1", "q3"])
    assert found == dict(zip(["q1", "q3"], values)) and found["q3"] == 6


# Through ir_measures: dicts, iterators, TREC files, and all ways to call it


def _files(tmp_path):
    run, judged = results(1), qrels()
    (tmp_path / "qrels").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, d, g in judged.itertuples(index=False))
    )
    lines = [f"{r.qid} Q0 {r.docno} {r.rank} {r.score} x\n" for r in run.itertuples()]
    with gzip.open(tmp_path / "run.gz", "wt") as file:
        file.writelines(lines)
    return str(tmp_path / "qrels"), str(tmp_path / "run.gz")


@pytest.mark.parametrize("kind", ["frames", "dicts", "tuples", "generators", "files"])
def test_every_kind_of_input_and_every_way_to_call(ours, kind, tmp_path):
    run, judged = results(1), qrels()

    def made():
        if kind == "frames":
            return ir(judged), ir(run)
        if kind == "dicts":
            return by_query(judged, "label"), by_query(run, "score")
        if kind == "files":
            paths = _files(tmp_path)
            return ir_measures.read_trec_qrels(paths[0]), ir_measures.read_trec_run(paths[1])
        rows = [ir_measures.ScoredDoc(r.qid, r.docno, r.score) for r in run.itertuples()]
        grades = [ir_measures.Qrel(r.qid, r.docno, r.label) for r in judged.itertuples()]
        return (grades, rows) if kind == "tuples" else (iter(grades), iter(rows))

    loops = {m: loop for m, loop in ours.items() if m != TBG}  # no doc_len in most of these
    measures = [*loops, AP]
    found = wide(ir_measures.iter_calc(measures, *made()))
    aggregate = ir_measures.calc_aggregate(measures, *made())
    both = ir_measures.calc(measures, *made())
    one, two = made()
    evaluator = ir_measures.evaluator(measures, one)
    if kind in ("frames", "dicts", "tuples"):  # types that can be read twice
        assert wide(evaluator.iter_calc(two)) == found == wide(evaluator.iter_calc(two))
        assert evaluator.calc_aggregate(two) == pytest.approx(aggregate)
    for measure, loop in loops.items():
        values = expected(loop, run, judged)
        assert [found[q, str(measure)] for q in QUERIES] == pytest.approx(values, abs=1e-12)
        assert aggregate[measure] == pytest.approx(np.mean(values), abs=1e-12)
        assert both.aggregated[measure] == pytest.approx(np.mean(values), abs=1e-12)
        assert measure.calc_aggregate(*made()) == pytest.approx(np.mean(values), abs=1e-12)
        assert measure.calc(*made()).aggregated == pytest.approx(np.mean(values), abs=1e-12)
        assert [m.value for m in measure.calc(*made()).per_query] == pytest.approx(values)
    assert wide(both.per_query) == found


@pytest.mark.parametrize("perquery", [False, True])
def test_pt_evaluate(ours, perquery):
    answer = pt.Evaluate(results(1), qrels(), metrics=[*ours, AP], perquery=perquery)
    for measure, loop in ours.items():
        values = expected(loop, results(1), qrels())
        if perquery:
            assert [answer[q][str(measure)] for q in QUERIES] == pytest.approx(values, abs=1e-12)
        else:
            assert answer[str(measure)] == pytest.approx(np.mean(values), abs=1e-12)


def test_worked_examples_in_pt_experiment(data):
    """Worked examples, through pt.Experiment instead of ir_measures."""
    examples = json.loads((data.parent / "vectors.json").read_text())
    for case in examples["asl"]:
        names = [name for name in case if "ASL" in name]
        run = pd.DataFrame(
            {"qid": "q", "docno": case["ranking"], "score": -np.arange(len(case["ranking"]))}
        )
        judged = pd.DataFrame({"qid": "q", "docno": case["relevant"], "label": 1})
        measures = [ir_measures.parse_measure(name) for name in names]
        table = pt.Experiment([run], topics(["q"]), judged, measures, validate="ignore")
        for name, measure in zip(names, measures):
            assert table[str(measure)][0] == pytest.approx(case[name], abs=1e-9)


@pytest.mark.parametrize("k", [1, 3, 5, 8])
def test_rareness_without_rareness_is_pytrec_evals_precision(pool, k):
    measures = {
        P_Rareness(pool=pool, alpha=0) @ k: P @ k,
        AP_Rareness(pool=pool, alpha=0) @ k: AP @ k,
    }
    each = pt.Experiment(
        [results(1), results(7)],
        topics(),
        qrels(),
        [*measures, *measures.values()],
        perquery=True,
        names=["a", "b"],
    )
    table = each.pivot(index=["name", "qid"], columns="measure", values="value")
    for ours, theirs in measures.items():
        assert table[str(ours)].tolist() == pytest.approx(table[str(theirs)].tolist(), abs=1e-12)


# Everything pt.Experiment does with a measure


def test_perquery_in_all_its_values(ours):
    made = {"a": system(1), "b": system(2)}
    table = pt.Experiment(made, topics(), qrels(), list(ours))
    each = pt.Experiment(made, topics(), qrels(), list(ours), perquery=True)
    both = pt.Experiment(made, topics(), qrels(), list(ours), perquery="both")
    pd.testing.assert_frame_equal(both.averages, table)
    pd.testing.assert_frame_equal(both.perquery, each)
    assert len(each) == 2 * 6 * len(ours)
    means = each.groupby(["name", "measure"])["value"].mean()
    for name, measure in itertools.product(made, ours):
        column = table.set_index("name").loc[name, str(measure)]
        assert column == pytest.approx(means[name, str(measure)])


def test_baseline_and_correction(ours):
    made = {"a": system(1), "b": system(2), "c": system(3)}
    measures = [nASL @ 5, LexiP, AP]
    table = pt.Experiment(
        made, topics(), qrels(), measures, baseline="a", correction="holm"
    ).set_index("name")
    runs = {"a": results(1), "b": results(2), "c": results(3)}
    loops = {
        "nASL@5": lambda d, g: 1 - (brute_force.asl(d[:5], g, k=5) - 1) / 5,
        "LexiP": lambda d, g: brute_force.lexip(d, g),
    }
    for label, loop in loops.items():
        values = {name: np.array(expected(loop, run, qrels())) for name, run in runs.items()}
        for name in "bc":
            assert table.loc[name, f"{label} +"] == (values[name] > values["a"] + 1e-12).sum()
            assert table.loc[name, f"{label} -"] == (values[name] < values["a"] - 1e-12).sum()
            p = stats.ttest_rel(values[name], values["a"]).pvalue
            assert table.loc[name, f"{label} p-value"] == pytest.approx(p)
        assert f"{label} p-value corrected" in table.columns


def test_the_tree_plan_is_the_linear_one(ours):
    first = system(1)

    class Top(pt.Transformer):
        def __init__(self, n):
            self.n = n

        def transform(self, inp):
            return inp[inp["rank"] < self.n]

        def __repr__(self):
            return f"Top({self.n})"

    made = {"a": first, "b": first >> Top(5), "c": first >> Top(5) >> Top(2)}
    linear = pt.Experiment(made, topics(), qrels(), list(ours))
    first.calls = 0
    tree = pt.Experiment(made, topics(), qrels(), list(ours), plan="tree", verbose=False)
    pd.testing.assert_frame_equal(tree[linear.columns], linear, check_exact=True)
    assert first.calls == 1


@pytest.mark.parametrize("save_format", ["trec", pickle])
def test_saved_results_are_reused(ours, tmp_path, save_format):
    saving = {"save_dir": str(tmp_path), "save_format": save_format}
    made = {"a": system(1), "b": system(2)}
    # doc_len is not in a TREC file: then TBG needs lengths=
    measures = [m for m in ours if m != TBG or save_format is pickle]
    first = pt.Experiment(made, topics(), qrels(), measures, **saving)
    again = pt.Experiment(made, topics(), qrels(), measures, **saving, save_mode="reuse")
    pd.testing.assert_frame_equal(again, first, check_exact=True)
    assert [one.calls for one in made.values()] == [1, 1]
    if save_format == "trec":
        with pytest.raises(ValueError, match="no known length .* as in TBG.lengths="):
            pt.Experiment(made, topics(), qrels(), [TBG], **saving, save_mode="reuse")


def test_filters(ours):
    some = qrels(QUERIES[:4])
    for options, queries in [
        ({"filter_by_qrels": True}, QUERIES[1:4]),
        ({"filter_by_topics": False}, QUERIES[:4]),
        ({}, QUERIES[1:4]),
    ]:
        table = pt.Experiment([system(1)], topics(QUERIES[1:]), some, list(ours), **options)
        answered = results(1, QUERIES)
        answered = answered[answered["qid"].isin(QUERIES[1:])]
        for measure, loop in ours.items():
            values = expected(loop, answered, some, queries)
            assert table[str(measure)][0] == pytest.approx(np.mean(values), abs=1e-12)


def test_validation_knows_what_tbg_needs(lengths):
    short = Toy("a", results(1).drop(columns="doc_len"))
    with pytest.raises(ValueError, match="doc_len"):
        pt.Experiment([short], topics(), qrels(), [TBG], validate="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pt.Experiment([short], topics(), qrels(), [TBG(lengths=lengths), ASL], validate="error")


# 11. Registering a measure several times has no effect


def _state():
    pipeline = ir_measures.DefaultPipeline.providers
    names = [provider.NAME for provider in pipeline]
    registry = ir_measures.measures.registry
    mine = {n: m for n, m in registry.items() if type(m).__module__.startswith("pyterrier_asl.")}
    return names, mine


_RELOAD = """
    import importlib, sys, warnings
    warnings.simplefilter("ignore")
    import ir_measures, pyterrier_asl
    from pyterrier_asl import ASL, DocLengths, RarenessPool
    for name in ("measures.asl", "measures.lexip", "measures.rareness", "measures.tbg", "measures",
                 "measures.provider", "measures.pool", "measures.lengths", "measures._base"):
        importlib.reload(sys.modules["pyterrier_asl." + name])
        importlib.reload(sys.modules["pyterrier_asl.measures.provider"])
    importlib.reload(pyterrier_asl)
    providers = [p.NAME for p in ir_measures.DefaultPipeline.providers]
    assert providers.count("pyterrier_asl") == 1, providers
    assert providers == sorted(set(providers), key=providers.index), providers
    names = [n for n, m in ir_measures.measures.registry.items()
             if type(m).__module__.startswith("pyterrier_asl.")]
    assert sorted(names) == ["AP_Rareness", "ASL", "LexiP", "P_Rareness", "TBG", "nASL"], names
    old, new = ASL @ 10, pyterrier_asl.ASL @ 10
    qrels, run = {"q": {"a": 1}}, {"q": {"x": 2, "a": 1}}
    print(old.calc_aggregate(qrels, run), new.calc_aggregate(qrels, run), old == new,
          ir_measures.parse_measure("ASL@10").calc_aggregate(qrels, run),
          pyterrier_asl.TBG(missing_length=1).calc_aggregate(qrels, {"q": {"a": 1}}))
    import pyterrier as pt, pandas as pd
    print(pt.Experiment([pd.DataFrame({"qid": ["q"], "docno": ["a"], "score": [1.0]})],
          pd.DataFrame({"qid": ["q"], "query": ["x"]}),
          pd.DataFrame({"qid": ["q"], "docno": ["a"], "label": [1]}), [old, new, "map"],
          names=["run"]).to_json())
    del sys.modules["pyterrier_asl"]
    import pyterrier_asl
    assert [p.NAME for p in ir_measures.DefaultPipeline.providers].count("pyterrier_asl") == 1
"""


@pytest.mark.slow
def test_reloading_leaves_one_provider_and_one_of_each_measure():
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_RELOAD)], capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    first, second = said.stdout.splitlines()
    assert first == "2.0 2.0 True 2.0 0.4928"
    assert json.loads(second)["ASL@10"] == {"0": 1.0}


def test_registering_again_changes_nothing():
    before = _state()
    pyterrier_asl.measures.provider.register()
    for measure in before[1].values():
        base.register(measure)
    assert _state() == before and before[0].count("pyterrier_asl") == 1 and len(before[1]) == 6


def test_a_foreign_measure_of_the_same_name_is_refused():
    class Other(Measure):
        NAME = __name__ = "ASL"

    registry = ir_measures.measures.registry
    mine = registry["ASL"]
    registry["ASL"] = Other()
    try:
        with pytest.raises(RuntimeError, match="ir_measures has another measure 'ASL'"):
            base.register(mine)
        assert type(registry["ASL"]) is Other
    finally:
        registry["ASL"] = mine


def test_providers_of_others_stay():
    names, _ = _state()
    assert {"pytrec_eval", "gdeval", "judged"} <= set(names)
    assert ir_measures.DefaultPipeline.supports(ASL @ 10)
    assert set(ir_measures.run_inputs([TBG])) == {"query_id", "doc_id", "score", "doc_len"}
    assert set(ir_measures.run_inputs([ASL])) == {"query_id", "doc_id", "score"}
