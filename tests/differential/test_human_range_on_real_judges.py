"""The human range on real judges, against merged frames, statsmodels and SciPy."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from statsmodels.stats.inter_rater import cohens_kappa

import pyterrier_asl as asl
from pyterrier_asl.io.qrels import read_qrels


def test_kappa_and_tau_of_a_range_are_on_the_pairs_that_all_judged(data):
    """A second person judged a third of the documents, and no document of four topics."""
    folder = data / "assessors" / "dl20"
    names = {"nist": "nist", "second": "binary-gpt4o", "machine": "umbrela-gpt4"}
    qrels = {name: read_qrels(folder / f"dl20.{file}.txt.gz") for name, file in names.items()}
    some_topics = sorted(qrels["nist"]["qid"].unique())[4:]
    judged = qrels["second"][qrels["second"]["qid"].isin(some_topics)]
    qrels["second"] = judged.sample(frac=1 / 3, random_state=1)
    files = sorted((data / "dl20-passage" / "runs").glob("*.gz"))[::6]
    runs = {file.name: asl.read_run(file) for file in files}
    judges = {name: qrels[name] for name in ("second", "machine")}
    options = {"people": ["second"], "reference": "nist", "rel": 2, "judge_rel": {"second": 1}}
    report = asl.judges(qrels["nist"], judges, runs, ["P(rel=2)@10"], draws=20, **options)
    rows = report.agreement[report.agreement["judge"] == "machine"].set_index("agreement")

    merged = qrels["nist"]
    for name in ("second", "machine"):
        merged = merged.merge(qrels[name], on=["qid", "docno"], suffixes=("", f"_{name}"))
    relevant = {
        "nist": merged["label"] >= 2,
        "second": merged["label_second"] >= 1,
        "machine": merged["label_machine"] >= 2,
    }

    def kappa(a, b):
        return cohens_kappa(pd.crosstab(relevant[a], relevant[b]).to_numpy()).kappa

    means = {}
    for name, labels in relevant.items():
        of_judge = merged[["qid", "docno"]].assign(label=labels.astype(int))
        values = asl.evaluate(runs, of_judge, ["P@10"]).groupby("name", sort=False)["P@10"]
        means[name] = values.mean().round(12)

    def tau(a, b):
        return scipy.stats.kendalltau(means[a], means[b]).statistic

    for kind, agreement in (("kappa", kappa), ("tau", tau)):
        human = agreement("nist", "second")
        less = np.mean([agreement("machine", person) - human for person in ("nist", "second")])
        assert rows.loc[kind, "human_low"] == pytest.approx(human)
        assert rows.loc[kind, "less_human"] == pytest.approx(less)
        assert rows.loc[kind, "value"] == pytest.approx(agreement("nist", "machine"))
        assert rows.loc[kind, "human_pairs"] == rows.loc[kind, "pairs"] == len(merged)
        assert rows.loc[kind, "queries"] == len(some_topics) == 50
    assert rows.loc["tau", "measure"] == "P(rel=2)@10"
    assert all(a != b for a, b in pairwise(rows["value"]))
