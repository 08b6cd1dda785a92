"""Tests of the assumptions of pt.Experiment, pt.Evaluate and ir_measures about a measure.

Tests call PyTerrier and ir_measures. Expected values come from loops (``brute_force``).
"""

import ast
import itertools
import math
import pickle
import subprocess
import sys
import textwrap
import warnings
from functools import partial
from pathlib import Path

import brute_force
import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from _calls import python
from _systems import QUERIES, Toy, by_query, expected, qrels, results, system, topics
from ir_measures.measures import Measure

import pyterrier_asl
from pyterrier_asl import ASL, TBG, AP_Rareness, DocLengths, LexiP, P_Rareness, RarenessPool, nASL
from pyterrier_asl.measures import _base as base

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*fewer than 8:UserWarning",
    "ignore:none of the documents of the run:UserWarning",
    "ignore:There are shared pipeline:UserWarning",
)
WORDS = {f"d{i}": 20 * (i + 1) for i in range(12)}


@pytest.fixture(scope="module")
def pool():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RarenessPool.from_runs(
            {f"run{i}": results(i, [*QUERIES, "empty"]) for i in range(4)}, name="contract"
        )


@pytest.fixture(scope="module")
def lengths():
    return DocLengths.from_dict(WORDS, name="words")


@pytest.fixture(scope="module")
def ours(pool, lengths):
    """One measure of each kind, with the loop that computes its expected value."""
    asl, lexip, tbg = brute_force.asl, brute_force.lexip, brute_force.tbg
    rareness = partial(brute_force.rareness, pool=[[]], alpha=0)  # without rareness: P and AP
    return {
        ASL: lambda d, g: asl(d, g),
        ASL @ 5: lambda d, g: asl(d[:5], g, k=5),
        ASL(g=2, missing="after", rel=2): lambda d, g: asl(d, g, rel=2, missing="after", g=2),
        ASL(missing="eq3") @ 3: lambda d, g: asl(d[:3], g, k=3, missing="eq3"),
        nASL @ 5: lambda d, g: 1 - (asl(d[:5], g, k=5) - 1) / 5,
        LexiP: lambda d, g: lexip(d, g),
        LexiP(rel=2) @ 4: lambda d, g: lexip(d[:4], g, rel=2, k=4),
        TBG: lambda d, g: tbg(d, g, WORDS),
        TBG(lengths=lengths, halflife=50) @ 5: lambda d, g: tbg(d[:5], g, WORDS, h=50),
        P_Rareness(pool=pool, alpha=0) @ 5: lambda d, g: rareness(d, g, k=5)[0],
        AP_Rareness(pool=pool, alpha=0): lambda d, g: rareness(d, g, k=None)[1],
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
    [printed] = {python(code, PYTHONHASHSEED=seed) for seed in ("0", "12345")}
    order = [name for qid, name in ast.literal_eval(printed.splitlines()[0]) if qid == "q1"]
    assert order == sorted(order) and len(order) == 5


def every_measure(pool, lengths):
    """Measures with many values of their parameters."""
    rel, g, missing = (None, 0, 1, 2, 1.5), (None, 1, 10), ("pad", "after", "eq3")
    options = itertools.product(rel, g, missing, (False, True), (None, 1, 1000))
    names = ("rel", "g", "missing", "judged_only", "cutoff")
    yield from (ASL(**dict(zip(names, values))) for values in options)
    options = itertools.product((1, 2), (None, 3), (False, True), (None, 7, 99))
    names = ("rel", "g", "judged_only", "cutoff")
    yield from (nASL(**dict(zip(names, values))) for values in options)
    yield from (LexiP(judged_only=True), LexiP(rel=2) @ 9)
    alpha, member = (0, 0.1, 0.5, 1, 1e-9), (None, True, False)
    names = ("alpha", "normalized", "depth", "member")
    for values in itertools.product(alpha, (False, True), (None, 8), member):
        for kind in (P_Rareness, AP_Rareness):
            yield kind(pool=pool, rel=2, **dict(zip(names, values))) @ 5
    yield from (P_Rareness @ 10, AP_Rareness, AP_Rareness(alpha=1), TBG, TBG @ 3)
    yield from (TBG(lengths=lengths, missing_length=0), TBG(lengths=lengths, halflife=1e-3) @ 10)
    times = {"time_summary": 0, "time_per_word": 0.1, "time_base": 0, "missing_length": 1e6}
    yield TBG(p_click_rel=0.1, p_click_nonrel=1 / 3, p_save=1, **times)


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
    assert ASL != ir_measures.AP and (ASL == "ASL") is False


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


def test_measures_say_which_way_is_better():
    lower = {m for m in (ASL, nASL, LexiP, P_Rareness, AP_Rareness, TBG) if not m.HIGHER_IS_BETTER}
    assert lower == {ASL} and (ASL(g=1) @ 10).HIGHER_IS_BETTER is False
    assert [m.DEFAULT for m in (ASL, ASL @ 10, nASL, LexiP, TBG)] == [1001, 11, 0, 0, 0]


def _as(kind, frame):
    """The same frame with ids of another type."""
    ids = [name for name in ("qid", "docno") if name in frame.columns]
    if kind == "integers":
        return frame.assign(**{name: frame[name].str[1:].astype("int64") for name in ids})
    return frame.astype(dict.fromkeys(ids, kind))


@pytest.mark.parametrize("kind", ["object", "category", "string[pyarrow]", "integers"])
@pytest.mark.parametrize("perquery", [False, True, "both"])
def test_pt_experiment_with_columns_of_every_kind(kind, perquery):
    frames = [_as(kind, frame) for frame in (results(1), topics(), qrels())]
    answer = pt.Experiment(
        frames[:1], *frames[1:], [ASL @ 5, LexiP], perquery=perquery, names=["a"]
    )
    loop = expected(lambda d, g: brute_force.asl(d[:5], g, k=5), results(1), qrels())
    if perquery is not True:
        averages = answer.averages if perquery else answer
        assert averages["ASL@5"][0] == pytest.approx(np.mean(loop))
    if perquery:
        each = wide(answer.perquery if perquery == "both" else answer)
        assert each["ASL@5"].tolist() == pytest.approx(loop) and len(each) == 6


def test_saved_results_are_reused(ours, tmp_path):
    """A TREC file has no doc_len: then TBG needs lengths=."""
    saving = {"save_dir": str(tmp_path), "save_format": "trec"}
    made, measures = {"a": system(1), "b": system(2)}, [m for m in ours if m != TBG]
    first = pt.Experiment(made, topics(), qrels(), measures, **saving)
    again = pt.Experiment(made, topics(), qrels(), measures, **saving, save_mode="reuse")
    pd.testing.assert_frame_equal(again, first, check_exact=True)
    assert [one.calls for one in made.values()] == [1, 1]
    with pytest.raises(ValueError, match="no known length .* as in TBG.lengths="):
        pt.Experiment(made, topics(), qrels(), [TBG], **saving, save_mode="reuse")


def test_validation_knows_what_tbg_needs(lengths):
    short = Toy("a", results(1).drop(columns="doc_len"))
    with pytest.raises(ValueError, match="doc_len"):
        pt.Experiment([short], topics(), qrels(), [TBG], validate="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pt.Experiment([short], topics(), qrels(), [TBG(lengths=lengths), ASL], validate="error")


PROVIDERS = ir_measures.DefaultPipeline.providers


def _state():
    registry = ir_measures.measures.registry
    mine = {n: m for n, m in registry.items() if type(m).__module__.startswith("pyterrier_asl.")}
    return [provider.NAME for provider in PROVIDERS], mine


def test_registering_again_changes_nothing():
    """Measures and the provider that were registered before are replaced, as by a reload."""
    before, [provider] = _state(), [p for p in PROVIDERS if p.NAME == "pyterrier_asl"]
    pyterrier_asl.measures.provider.register()
    again = ASL(g=1)
    for measure in [*before[1].values(), again]:
        base.register(measure)
    assert ir_measures.measures.registry["ASL"] is again
    base.register(before[1]["ASL"])
    assert _state() == before and len(before[1]) == 6
    assert [p is provider for p in PROVIDERS if p.NAME == "pyterrier_asl"] == [False]


_RELOAD = """
    import importlib, ir_measures, pyterrier_asl
    old = pyterrier_asl.ASL @ 10
    for name in "asl lexip rareness tbg provider pool lengths _base provider".split():
        importlib.reload(importlib.import_module("pyterrier_asl.measures." + name))
    importlib.reload(pyterrier_asl)
    providers = [p.NAME for p in ir_measures.DefaultPipeline.providers]
    measures = [old, pyterrier_asl.ASL @ 10, ir_measures.parse_measure("ASL@10")]
    values = [m.calc_aggregate({"q": {"a": 1}}, {"q": {"x": 2, "a": 1}}) for m in measures]
    again = len(providers) - len({*providers})
    print(providers.count("pyterrier_asl"), again, old == measures[1], values)
"""


@pytest.mark.slow
def test_reloading_leaves_one_provider_and_one_of_each_measure():
    assert python(textwrap.dedent(_RELOAD)) == "1 0 True [2.0, 2.0, 2.0]"


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
    assert "Unscored" not in {*ir_measures.measures.registry, *dir(pyterrier_asl)}
    assert set(ir_measures.run_inputs([TBG])) == {"query_id", "doc_id", "score", "doc_len"}
    assert set(ir_measures.run_inputs([ASL])) == {"query_id", "doc_id", "score"}
