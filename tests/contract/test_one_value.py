"""All entry points of the package and pt.Experiment give the same value of a measure.

Each entry point computes all measures once, on runs with ties, with fractional grades and with
unanswered queries. The others are compared with ``evaluate``, whose values other tests check.
"""

import json
from functools import cache

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from _files import write_qrels, write_run
from click.testing import CliRunner

from pyterrier_asl import RarenessPool, compare, evaluate
from pyterrier_asl.cli.evaluate import command
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.measures.names import with_pool
from pyterrier_asl.reporting.collect import collect

#: The measures of the installed providers of ir_measures and of this package.
MEASURES = (
    "AP AP@5 AP(rel=2) Bpref infAP IPrec@0.2 nDCG nDCG@5 P@5 R@5 RR Rprec SetAP SetF SetP "
    "SetP(relative=True) SetR Success@5 NumQ NumRel NumRet NumRet(rel=1) AP(judged_only=True) "
    "Compat Compat(p=0.8) Accuracy Accuracy@5 BPM(T=1.0,max_rel=3)@5 SDCG(max_rel=3)@5 "
    "NERR8(max_rel=3)@5 NERR9(max_rel=3)@5 NERR10(max_rel=3) NERR11(max_rel=3) INST(max_rel=3) "
    "INSQ(max_rel=3) RBP(rel=1) RR@5 Judged@5 ERR@5 nDCG(dcg='exp-log2')@5 ASL@10 nASL@10 "
    "ASL(g=1)@10 LexiP AP_Rareness@5 P_Rareness@5 TBG(missing_length=100)"
).split()
#: Measures whose providers order equal scores differently from trec_eval, or round.
OTHER_ORDER = {"RBP(rel=1)", "RR@5", "Judged@5"}
ROUNDED = {"ERR@5", "nDCG(dcg='exp-log2')@5"}
#: Measures that ir_measures computes from whole grades only.
WHOLE_ONLY = {"infAP"}
#: Measures for which providers of ir_measures refuse fractional grades, unlike this package.
PYTREC_EVAL = set(MEASURES[:23])


def run_of(seed, queries, tied):
    rng = np.random.default_rng(seed)
    rows = [
        (str(q), f"d{d}", float(score // 3 if tied else score) + 0.25)
        for q in queries
        for d, score in zip(rng.permutation(16)[:10], rng.permutation(100))
    ]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    frame = frame.sort_values(["qid", "score"], ascending=[True, False], kind="stable")
    return frame.assign(rank=frame.groupby("qid").cumcount())


@cache
def case(name):
    """Two runs and their qrels."""
    queries = [1, 2, 3, 4]
    answered = queries[:3] if name == "missing" else queries
    rng = np.random.default_rng(7)
    step = 0.5 if name == "fractions" else 1
    qrels = pd.DataFrame(
        [
            (str(q), f"d{d}", step * int(grade))
            for q in queries
            for d, grade in enumerate(rng.permutation([0, 0, 0, 0, 1, 1, 2, 2, 3, 0]))
        ],
        columns=["qid", "docno", "label"],
    )
    if step == 1:
        qrels["label"] = qrels["label"].astype(int)
    runs = {f"run{i}": run_of(i, answered, name == "ties") for i in (1, 2)}
    measures = [m for m in MEASURES if name != "fractions" or m not in WHOLE_ONLY]
    frame = evaluate(runs, qrels, measures, long=True)
    expected = {(run, qid, m): v for run, qid, m, v in frame.itertuples(index=False)}
    return runs, qrels, measures, expected


def by_judged_runs(runs, qrels, measures, folder):
    judged = Evaluation.of(runs, qrels)
    return {
        (name, qid, measure): value
        for measure in measures
        for name, row in zip(judged.names, judged.values(measure).tolist())
        for qid, value in zip(judged.qids, row)
    }


def by_compare(runs, qrels, measures, folder):
    found = compare(runs, qrels, measures).by_query
    return {
        (name, row.qid, row.measure): value
        for row in found[~found["measure"].isin(["rrLP", "sgnLP"])].itertuples()
        for name, value in (("run1", row.a), ("run2", row.b))
    }


def by_report(runs, qrels, measures, folder):
    return {
        (name, qid, ranking.name): value
        for ranking in collect(runs, qrels, measures).rankings
        for name, row in zip(ranking.names, ranking.values.tolist())
        for qid, value in zip(list(dict.fromkeys(qrels["qid"])), row)
    }


def by_command_line(runs, qrels, measures, folder):
    for name, run in runs.items():
        write_run(run, folder / name)
    write_qrels(qrels, folder / "qrels")
    files = [str(folder / name) for name in ("qrels", *runs)]
    words = [*"-q -n -o jsonl -m".split(), " ".join(measures), *files]
    said = CliRunner().invoke(command, words)
    assert said.exit_code == 0, said.output
    rows = [json.loads(line) for line in said.stdout.splitlines()]
    return {(row["run"], row["query_id"], row["measure"]): row["value"] for row in rows}


def by_pt_experiment(runs, qrels, measures, folder):
    asked = measures
    if (qrels["label"] % 1).any():
        asked = [m for m in asked if m not in PYTREC_EVAL | OTHER_ORDER | ROUNDED]
    topics = pd.DataFrame({"qid": list(dict.fromkeys(qrels["qid"])), "query": "q"})
    pool = RarenessPool.from_runs(runs)  # evaluate builds this pool
    parsed = {with_pool(ir_measures.parse_measure(m), pool): m for m in asked}
    names = {str(measure): m for measure, m in parsed.items()}
    # With both at once, ir_measures may count judged documents for NumRet.
    judged_only = [measure for measure in parsed if "judged_only" in measure.params]
    frames = [
        pt.Experiment(list(runs.values()), topics, qrels, some, names=list(runs), perquery=True)
        for some in (judged_only, [m for m in parsed if m not in judged_only])
        if some
    ]
    return {
        (row.name, row.qid, names[row.measure]): row.value
        for frame in frames
        for row in frame.itertuples(index=False)
    }


@pytest.mark.filterwarnings("ignore:.*fewer than 8:UserWarning")
@pytest.mark.parametrize("kind", ["ties", "fractions", "missing"])
@pytest.mark.parametrize(
    "ask", [by_judged_runs, by_compare, by_report, by_command_line, by_pt_experiment]
)
def test_one_value(ask, kind, tmp_path):
    runs, qrels, measures, expected = case(kind)
    found = ask(runs, qrels, measures, tmp_path)
    always = ("Compat", "LexiP", "P_Rareness", "AP_Rareness")
    assert {m for _, _, m in found} >= {m for m in measures if m.startswith(always)}
    for key, value in found.items():
        theirs = ask is by_pt_experiment
        if theirs and kind == "ties" and key[2] in OTHER_ORDER:
            continue
        places = 5e-6 if theirs and key[2] in ROUNDED else 1e-6 if theirs else 1e-12
        assert value == pytest.approx(expected[key], abs=places), key
    asked = {m for _, _, m in found}
    assert len(found) == 2 * 4 * len(asked)
