"""The standard measures, on real runs and collections."""

from collections import defaultdict
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from _standard import GAINED, MEASURES, compare, ours
from ir_measures import AP, ERR, RBP, RR, Judged, P, nDCG

from pyterrier_asl import evaluate, read_qrels, read_runs, ties
from pyterrier_asl.io.runs import read_run_table, run_name
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import rank

ORDERED = [RR @ 1, RR @ 2, RR @ 10, RR(rel=2) @ 5, Judged @ 1, Judged @ 3, Judged @ 10]


@pytest.mark.parametrize("track", ["dl20-passage", "robust03", "trec8-adhoc"])
def test_every_real_run_is_scored_as_by_pytrec_eval(data: Path, track):
    """Every run by pytrec_eval's RR, P@100 and AP; every eighth by all measures and parameters
    (all of them with PYTERRIER_ASL_ALL=1)."""
    import os

    qrels = next(read_qrels(path) for path in (data / track).glob("qrels.txt*"))
    judgements = Judgements(qrels)
    qrels = qrels.set_axis(["query_id", "doc_id", "relevance"], axis=1)
    core = [RR, P @ 100, AP]
    evaluators = [(m, ir_measures.evaluator(m, qrels)) for m in (core, MEASURES, GAINED)]
    paths = sorted((data / track / "runs").iterdir())
    every = 1 if os.environ.get("PYTERRIER_ASL_ALL") else 8
    for number, path in enumerate(paths):
        run = read_run_table(path).to_pandas()
        run = run.iloc[:, :3].set_axis(["query_id", "doc_id", "score"], axis=1)
        run = run.astype({"query_id": object, "doc_id": object})
        parts = evaluators if number % every == 0 else evaluators[:1]
        for measures, evaluator in parts:
            try:
                compare(measures, evaluator, judgements, run)
            except AssertionError as error:
                raise AssertionError(f"run {run_name(path)}: {error}") from None


@pytest.mark.parametrize("track", ["dl20-passage", "robust03", "trec8-adhoc"])
def test_real_runs_are_scored_as_by_other_providers_in_one_order(data: Path, track):
    """Every 32nd run, with scores replaced by ranks, so that nothing ties."""
    qrels = next(read_qrels(path) for path in (data / track).glob("qrels.txt*"))
    judgements, cwl = Judgements(qrels), ir_measures.cwl_eval.is_available()
    qrels = qrels.set_axis(["query_id", "doc_id", "relevance"], axis=1)
    exact = [*ORDERED, *([RBP(rel=1), RBP(rel=2, p=0.99)] if cwl else [])]
    rounded = [ERR @ 20, nDCG(dcg="exp-log2") @ 20] if ir_measures.gdeval.is_available() else []
    paths = sorted((data / track / "runs").iterdir())[::32]
    for path in paths:
        ranked = rank(read_run_table(path))
        run, rows = ranked.table, ranked.ranking.rows
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


def test_real_runs_over_all_orders_of_equal_scores(data: Path):
    """The numbers in the guide, and random orders of the run with most ties."""
    files = data / "dl20-passage"
    runs = read_runs(files / "runs")
    table = ties(runs, files / "qrels.txt", nDCG @ 10).set_index("name")
    ends = table.loc["DoRA_Large_1k", ["low", "expected", "value", "high"]]
    assert [round(float(end), 3) for end in ends] == [0.004, 0.207, 0.266, 0.899]
    assert ((table["high"] - table["low"]) > 0).sum() == 29
    ranks = table[["value", "expected"]].rank(ascending=False, method="min")
    assert (ranks["value"] != ranks["expected"]).sum() == 8
    run = runs["DoRA_Large_1k"]
    random, means = np.random.default_rng(3), []
    for _ in range(30):
        shuffled = run.sample(frac=1, random_state=random)
        order = shuffled.sort_values("score", ascending=False, kind="stable")
        falling = order.assign(score=-np.arange(len(order), dtype=float))
        means.append(evaluate({"x": falling}, files / "qrels.txt", nDCG @ 10)["nDCG@10"].mean())
    assert ends["expected"] == pytest.approx(np.mean(means), abs=4 * np.std(means) / 30**0.5)
