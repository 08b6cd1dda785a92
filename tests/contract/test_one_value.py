"""All entry points of the package give the same value of a measure.

Each entry point computes all measures once, on runs with ties, with fractional grades and with
unanswered queries. The others are compared with ``evaluate``, whose values other tests check.
"""

from functools import cache

import pandas as pd
import pyterrier as pt
import pytest
from _calls import call, rows
from _files import write_qrels, write_run
from small import collection, frame

from pyterrier_asl import Experiment, compare, evaluate
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.reporting.collect import collect
from pyterrier_asl.tuning.stages import fixed_objective

#: The measures of the installed providers of ir_measures and of this package.
MEASURES = (
    "AP AP@5 AP(rel=2) Bpref infAP IPrec@0.2 nDCG nDCG@5 P@5 R@5 RR Rprec SetAP SetF SetP "
    "SetP(relative=True) SetR Success@5 NumQ NumRel NumRet NumRet(rel=1) AP(judged_only=True) "
    "Compat Compat(p=0.8) Accuracy Accuracy@5 BPM(T=1.0,max_rel=3)@5 SDCG(max_rel=3)@5 "
    "NERR8(max_rel=3)@5 NERR9(max_rel=3)@5 NERR10(max_rel=3) NERR11(max_rel=3) INST(max_rel=3) "
    "INSQ(max_rel=3) RBP(rel=1) RR@5 Judged@5 ERR@5 nDCG(dcg='exp-log2')@5 ASL@10 nASL@10 "
    "ASL(g=1)@10 LexiP AP_Rareness@5 P_Rareness@5 TBG(missing_length=100)"
).split()
#: Measures that ir_measures computes from whole grades only.
WHOLE_ONLY = set(
    "infAP Bpref IPrec@0.2 Rprec SetAP SetF SetP SetP(relative=True) NumQ NumRel NumRet "
    "NumRet(rel=1)".split()
)


@cache
def case(name):
    """Two runs with ties and without one query, and their qrels."""
    given, grades = collection(queries=4, systems=2)
    keys, ways = ["qid", "score", "docno"], [True, False, False]
    # Values of cwl_eval depend on the order of rows with equal scores.
    rows = {run: frame(of).sort_values(keys, ascending=ways) for run, of in given.items()}
    runs = {run: own.assign(rank=own.groupby("qid").cumcount()) for run, own in rows.items()}
    qrels = frame(grades, "label")
    if name == "fractions":
        qrels["label"] /= 2
    measures = [m for m in MEASURES if name != "fractions" or m not in WHOLE_ONLY]
    table = evaluate(runs, qrels, measures, long=True)
    expected = {(run, qid, m): v for run, qid, m, v in table.itertuples(index=False)}
    return runs, qrels, measures, expected


def by_judged_runs(runs, qrels, measures, folder):
    judged = Evaluation.of(runs, qrels)
    for measure in measures:
        for name, row in zip(judged.names, judged.values(measure).tolist()):
            yield from ((name, qid, measure, value) for qid, value in zip(judged.qids, row))


def by_compare(runs, qrels, measures, folder):
    found = compare(runs, qrels, measures).by_query
    for row in found[~found["measure"].isin(["rrLP", "sgnLP"])].itertuples():
        yield from ((n, row.qid, row.measure, v) for n, v in zip(runs, (row.a, row.b)))


def by_report(runs, qrels, measures, folder):
    qids = list(dict.fromkeys(qrels["qid"]))
    for ranking in collect(runs, qrels, measures).rankings:
        for name, row in zip(ranking.names, ranking.values.tolist()):
            yield from ((name, qid, ranking.name, value) for qid, value in zip(qids, row))


def by_command_line(runs, qrels, measures, folder):
    for name, run in runs.items():
        write_run(run, folder / name)
    write_qrels(qrels, folder / "qrels")
    files = [str(folder / name) for name in ("qrels", *runs)]
    done = call("evaluate", *"-q -n -o jsonl -m".split(), " ".join(measures), *files)
    for row in rows(done):
        yield row["run"], row["query_id"], row["measure"], row["value"]


def by_experiment(runs, qrels, measures, folder):
    topics = pd.DataFrame({"qid": list(dict.fromkeys(qrels["qid"])), "query": "q"})
    options = {"names": list(runs), "perquery": True}
    found = Experiment(list(runs.values()), topics, qrels, measures, **options)
    yield from found[["name", "qid", "measure", "value"]].itertuples(index=False)


def by_tuning(runs, qrels, measures, folder):
    """The values of a pipeline's only setting."""
    topics = pd.DataFrame({"qid": list(dict.fromkeys(qrels["qid"])), "query": "q"})
    alone = [m for m in measures if "Rareness" not in m]
    for name, run in runs.items():
        objective = fixed_objective(pt.Transformer.from_df(run), topics, qrels, alone)
        for measure, values in objective.per_query(()).items():
            yield from ((name, q, measure, v) for q, v in zip(topics["qid"], values.tolist()))


@pytest.mark.filterwarnings("ignore:.*say little about rareness:UserWarning")
@pytest.mark.parametrize("kind", ["whole", "fractions"])
@pytest.mark.parametrize(
    "ask", [by_judged_runs, by_compare, by_report, by_command_line, by_experiment, by_tuning]
)
def test_one_value(ask, kind, tmp_path):
    runs, qrels, measures, expected = case(kind)
    found = {tuple(key): value for *key, value in ask(runs, qrels, measures, tmp_path)}
    pooled = {m for m in measures if "Rareness" in m}
    assert {m for _, _, m in found} >= {*measures} - (pooled if ask is by_tuning else set())
    for key, value in found.items():
        assert value == pytest.approx(expected[key], abs=1e-12), key
    asked = {m for _, _, m in found}
    assert len(found) == 2 * 4 * len(asked)
