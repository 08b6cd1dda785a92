"""Other assessors as systems, on real runs and collections."""

import numpy as np
import pandas as pd
import pytest

from pyterrier_asl import judges
from pyterrier_asl.analysis.assessors import assessor_scores, human_range
from pyterrier_asl.io.qrels import read_qrels


def test_crowd_against_nist_on_core17(data):
    folder = data / "assessors" / "core17"
    pairs, crowd = folder / "qrels.nist_same_pairs.txt", folder / "qrels.crowd.txt"
    both = judges(pairs, {"crowd": crowd}).agreement
    binary = pd.read_csv(folder / "qrels_binary_all_topics.csv.gz", dtype=str)
    binary.columns = ["qid", "docno", "label"]
    two_grades = judges(pairs, {"crowd": binary.astype({"label": int})}).agreement
    assert two_grades["pairs"][0] == both["pairs"][0] == 5947
    assert round(two_grades["value"][0], 2) == 0.63, "63 % by its README"
    judged = {name: read_qrels(path) for name, path in (("nist", pairs), ("crowd", crowd))}
    merged = judged["nist"].merge(judged["crowd"], on=["qid", "docno"], suffixes=("", "_crowd"))
    frames = {}
    for name, qrels in (("same pairs", pairs), ("all pairs", folder / "qrels.nist_full.txt.gz")):
        frames[name] = assessor_scores(qrels, {"crowd": crowd})
    same = (merged["label"] >= 1) == (merged["label_crowd"] >= 1)
    assert both["value"][0] == pytest.approx(same.mean())
    values = []
    for _, topic in merged.groupby("qid"):
        relevant = (topic["label"] >= 1).sum()
        common = ((topic["label"] >= 1) & (topic["label_crowd"] >= 1)).sum()
        values.append(common / relevant if relevant else 0)
    assert frames["same pairs"]["upper"][0] == pytest.approx(np.mean(values))
    # On all documents that NIST judged, the crowd seems far worse, because it judged a sample.
    assert frames["all pairs"]["upper"][0] < frames["same pairs"]["upper"][0]


def test_manual_runs_of_trec8_with_the_best_automatic(data):
    folder = data / "trec8-adhoc"
    table = pd.read_csv(folder / "runs_table.tsv", sep="\t", dtype=str)
    types = table[table["track"] == "adhoc"] if "track" in table else table
    official = (folder / "official-scores.map").read_text().split()
    scores = dict(zip(official[::2], map(float, official[1::2])))
    frame = human_range(folder / "runs", folder / "qrels.txt.gz", judges={}, run_types=types)
    manual = [scores[run] for run in types[types["type"] == "manual"]["run"]]
    automatic = [scores[run] for run in types[types["type"] == "automatic"]["run"]]
    row = frame.iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((min(manual), max(manual)), abs=1e-4)
    assert row["tick"] == pytest.approx(np.mean(manual), abs=1e-4)
    assert row["bar"] == pytest.approx(max(automatic), abs=1e-4)
