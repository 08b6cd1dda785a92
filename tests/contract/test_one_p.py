"""One question has one answer: the p of the table, the guard and Experiment."""

import numpy as np
import pandas as pd
import pytest
from small import frame

import pyterrier_asl as asl

MEASURES = ["AP", "nDCG@5", "ASL@10"]


def data(seed: int) -> tuple[dict, dict]:
    """Qrels, and four runs: with ties, an equal run, one query or few."""
    draw = np.random.default_rng(seed)
    qids = [f"q{n:02}" for n in range([1, 2, 5, 12, 25, 40][seed % 6])]
    qrels = {q: {f"d{n}": int(draw.integers(0, 3)) for n in range(8)} | {"d9": 1} for q in qids}
    skills = {"base": 1.0, "good": 2.5, "bad": 0.1}
    runs = {
        name: {
            q: {d: round(skill * grade + draw.normal(), seed % 3) for d, grade in qrels[q].items()}
            for q in qids
        }
        for name, skill in skills.items()
    }
    return qrels, runs | {"same": runs["base"]}


def same(first: float, second: float) -> bool:
    return first == pytest.approx(second, rel=1e-12, abs=1e-300, nan_ok=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("seed", "correction"), [*enumerate(["holm", "bonferroni"] * 3)])
def test_table_guard_and_experiment_have_one_p(seed, correction):
    """With ties, equal runs, one query, costs, and two baselines."""
    qrels, runs = data(seed)
    topics = pd.DataFrame({"qid": list(qrels), "query": "x"})
    results = {name: frame(run) for name, run in runs.items()}
    baselines = ["base", "good"]
    table = asl.Experiment(
        list(results.values()),
        topics,
        frame(qrels, "label"),
        MEASURES,
        names=list(results),
        baseline=[list(results).index(name) for name in baselines],
        correction=correction,
    ).set_index("name")
    for baseline in baselines:
        conditions = [f"{measure} different p<.05" for measure in MEASURES]
        options = {"baseline": baseline, "correction": correction}
        compared = asl.compare(runs, qrels, conditions=conditions, **options)
        rows = compared.table.set_index(["run", "measure"])
        verdicts = {(v.run, v.condition.split()[0]): v for v in compared.verdicts}
        for (run, measure), row in rows.iterrows():
            column = f"{measure} vs {baseline} p-value"
            assert same(table.loc[run, column], row["p"])
            assert same(table.loc[run, f"{column} corrected"], row["p_corrected"])
            verdict = verdicts[run, measure]
            assert same(verdict.numbers["p"], row["p_corrected"])
            assert (verdict.outcome.name == "ERROR") == np.isnan(row["p"])
            if verdict.outcome.name != "ERROR":
                is_different = row["p_corrected"] < 0.05 and row["difference"] != 0
                assert verdict.outcome.name == ("FAIL" if is_different else "PASS")
