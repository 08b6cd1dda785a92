"""Another assessor as a system, and success at n: by loops over orders, and on real assessors."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from pyterrier_asl.analysis.assessors import (
    BOUNDS,
    assessed_by,
    assessor_scores,
    compare_with_assessors,
    human_range,
    sampled_average_precision,
)
from pyterrier_asl.analysis.judged_runs import JudgedRuns
from pyterrier_asl.analysis.judges import judge_agreement, judge_confusion
from pyterrier_asl.analysis.satisfaction import satisfaction
from pyterrier_asl.evaluation import judgements_of
from pyterrier_asl.io import read_qrels

QRELS = {"q1": {"a": 1, "b": 2, "c": 1, "n": 0}, "q2": {"a": 1, "n": 0}, "q3": {"z": 1}}
ALT = {"q2": {"a": 1, "n": 1, "new": 1}, "q1": {"a": 2, "n": 1, "b": 0, "c": 1}}
RUNS = {
    "good": {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 1}, "q3": {"z": 1}},
    "poor": {"q1": {"n": 3, "b": 2, "x": 1}, "q2": {"n": 2, "a": 1}, "q3": {"y": 2, "z": 1}},
}


def average_precision(order, relevant):
    """AP from its formula."""
    hits = [rank for rank, docno in enumerate(order, start=1) if docno in relevant]
    return sum(place / rank for place, rank in enumerate(hits, start=1)) / len(relevant)


def over_all_orders(qrels, alt):
    """Best, mean and worst AP of the assessor's documents, over every order there is."""
    relevant = {d for d, grade in qrels.items() if grade >= 1}
    documents = [d for d, grade in alt.items() if grade >= 1]
    values = [average_precision(each, relevant) for each in itertools.permutations(documents)]
    return max(values), float(np.mean(values)), min(values)


def dl20_judges(data):
    """Language models as assessors, the grade each calls relevant, and NIST's judgements."""
    folder = data / "assessors" / "dl20"
    files = sorted(folder.glob("dl20.*.txt.gz"))
    judges = {f.name.removeprefix("dl20.").removesuffix(".txt.gz"): f for f in files}
    rel = {name: 1 if name.startswith("binary") else 2 for name in judges}
    return judges.pop("nist"), judges, rel


def test_scores_are_those_of_all_orders():
    frame = assessor_scores(QRELS, {"alt": ALT}, permutations=5000)
    by_topic = np.array([over_all_orders(QRELS[q], ALT[q]) for q in ("q1", "q2")])
    assert frame["topics"].tolist() == [2]  # nobody else judged q3
    assert frame[list(BOUNDS)].to_numpy()[0] == pytest.approx(by_topic.mean(axis=0))
    assert frame["sampled"][0] == pytest.approx(frame["expected"][0], abs=0.01)
    assert frame[["retrieved", "common", "relevant"]].to_numpy()[0].tolist() == [3, 1.5, 2]
    weighted = assessor_scores(QRELS, {"alt": ALT}, weights={"q1": 3, "q2": 1})
    means = (3 * by_topic[0] + by_topic[1]) / 4
    assert weighted[list(BOUNDS)].to_numpy()[0] == pytest.approx(means)


def test_grades_of_the_assessors_are_their_own():
    lenient, strict = (
        assessor_scores(QRELS, {"alt": ALT}, assessor_rel=rel) for rel in (None, {"alt": 2})
    )
    assert lenient["retrieved"][0] == 3 and strict["retrieved"][0] == 0.5
    assert assessor_scores(QRELS, {"alt": ALT}, rel=2)["common"][0] == 0


def test_topics_that_nobody_shares():
    with pytest.raises(ValueError, match="no topic was judged by all"):
        assessor_scores(QRELS, {"alt": {"401": {"a": 1}}})


def test_sampling_is_reproducible_and_by_topic():
    counts = np.array([[5, 2, 4], [8, 3, 5], [1, 1, 1], [4, 0, 3]]).T
    first = sampled_average_precision(*counts, n=500, seed=7)
    assert first.tolist() == sampled_average_precision(*counts, n=500, seed=7).tolist()
    assert first[:2].tolist() == sampled_average_precision(*counts[:, :2], n=500, seed=7).tolist()
    assert first[0] != sampled_average_precision(*counts, n=500, seed=8)[0]
    assert first[2:].tolist() == [1.0, 0.0]


def test_runs_against_assessors():
    frame = compare_with_assessors(RUNS, QRELS, assessors={"alt": ALT}, both_ways=True)
    assert len(frame) == 2 * 3 * 2 and frame.attrs["family"] + frame.attrs["dropped"] == 12
    upper = frame[(frame["bound"] == "upper") & (frame["judged_by"] == "original")]
    assert upper["run"].tolist() == ["good", "poor"]
    poor = np.array([1 / 2 / 3, 1 / 2])  # q1: b of three at rank 2; q2: a at rank 2
    best = np.array([over_all_orders(QRELS[q], ALT[q])[0] for q in ("q1", "q2")])
    row = upper.iloc[1]
    assert (row["run_AP"], row["assessor_AP"]) == pytest.approx((poor.mean(), best.mean()))
    assert row["p"] == pytest.approx(scipy.stats.ttest_rel(poor, best).pvalue)
    # The other way round: the original's documents, and the runs, by the alternate's judgements.
    turned = frame[frame["judged_by"] == "alt"]
    assert turned["assessor"].unique().tolist() == ["original"]
    expected = np.mean([over_all_orders(ALT[q], QRELS[q])[1] for q in ("q1", "q2")])
    assert turned[turned["bound"] == "expected"]["assessor_AP"].iloc[0] == pytest.approx(expected)
    good = np.mean([average_precision("abc", {"a", "n", "c"}), 1 / 3])
    assert turned["run_AP"].iloc[0] == pytest.approx(good)
    published = compare_with_assessors(RUNS, QRELS, assessors={"alt": ALT}, as_published=True)
    assert published.attrs["correction"] is None
    assert published["p"].equals(published["p_corrected"])


def test_human_range_by_hand():
    types = pd.DataFrame({"run": ["poor", "good"], "type": ["manual", "automatic"]})
    frame = human_range(RUNS, QRELS, assessors={"alt": ALT}, run_types=types).set_index("who")
    lines = np.mean([over_all_orders(QRELS[q], ALT[q]) for q in ("q1", "q2")], axis=0)
    assert frame.loc["alt", ["high", "tick", "low"]].tolist() == pytest.approx(lines.tolist())
    assert frame.loc["alt", ["bar", "bar_run"]].tolist() == [1.0, "good"]
    assert frame.loc["manual runs", ["low", "tick", "high"]].tolist() == [pytest.approx(1 / 3)] * 3
    with pytest.raises(ValueError, match="run_types does not have the runs \\['poor'\\]"):
        human_range(RUNS, QRELS, assessors={}, run_types={"good": "manual"})


def test_satisfaction_by_hand():
    frame = satisfaction(RUNS, QRELS, assessors={"alt": ALT}, depth=3, rel=1)
    curves = frame.pivot(index="system", columns="n", values="S@n")
    assert curves.loc["good"].tolist() == [1, 1, 1]
    assert curves.loc["poor"].tolist() == [0, 1, 1]
    # q1: a and c of a, n, c; q2: a of a, n, new. The first of a random order, the first two.
    assert curves.loc["alt"].tolist() == pytest.approx([(2 / 3 + 1 / 3) / 2, (1 + 2 / 3) / 2, 1])
    assert frame["queries"].unique().tolist() == [2]
    alone = satisfaction(RUNS, QRELS, depth=1)
    assert alone["S@n"].tolist() == pytest.approx([1, 0]) and alone["queries"].tolist() == [3, 3]
    assert (frame["ci_low"] >= 0).all() and (frame["ci_high"] <= 1).all()


# --- Real assessors -------------------------------------------------------------------------------


def test_closed_form_against_ten_thousand_permutations(data):
    nist, judges, rel = dl20_judges(data)
    own = rel.pop("nist")
    frame = assessor_scores(nist, judges, rel=own, assessor_rel=rel, permutations=10_000)
    print("\n", frame.round(5).to_string())
    # A topic's mean of 10,000 APs is off by .004 at the very most, the mean of 54 by far less.
    assert np.abs(frame["expected"] - frame["sampled"]).max() < 5e-4
    assessed = assessed_by(judgements_of(nist), judges, own, rel).each[0]
    sampled = sampled_average_precision(assessed.retrieved, assessed.common, assessed.relevant)
    worst = np.abs(assessed.average_precision()["expected"] - sampled).max()
    print(f"largest difference of one topic, {assessed.name}: {worst:.5f}")
    assert worst < 5e-3


def test_models_as_assessors_of_dl20(data):
    nist, judges, rel = dl20_judges(data)
    runs = JudgedRuns.of(data / "dl20-passage" / "runs", nist)
    own = rel.pop("nist")
    options = {"assessors": judges, "rel": own, "assessor_rel": rel}
    pair = runs.select(["p_d2q_rm3_duo", "terrier-BM25"])
    tests = compare_with_assessors(pair, as_published=True, **options)
    shown = tests.pivot(index=["run", "bound"], columns="assessor", values="p")
    print("\nTable 1 for DL 2020, p of run against assessor:\n", shown.round(3).to_string())
    ranges = human_range(runs, **options)
    print(ranges.round(3).to_string())
    assert ranges["bar_run"].unique().tolist() == ["p_d2q_rm3_duo"]
    assert (ranges["low"] <= ranges["tick"]).all() and (ranges["tick"] <= ranges["high"]).all()
    curves = satisfaction(pair, **options).pivot(index="system", columns="n", values="S@n")
    print(curves.round(3).to_string())
    assert (curves.diff(axis=1).iloc[:, 1:] >= 0).all(axis=None)


def test_crowd_against_nist_on_core17(data):
    folder = data / "assessors" / "core17"
    pairs, crowd = folder / "qrels.nist_same_pairs.txt", folder / "qrels.crowd.txt"
    both = judge_agreement({"nist": pairs, "crowd": crowd})
    print("\n", both.round(3).to_string())
    print(judge_confusion({"nist": pairs, "crowd": crowd}).to_string())
    binary = pd.read_csv(folder / "qrels_binary_all_topics.csv.gz", dtype=str)
    binary.columns = ["qid", "docno", "label"]
    two_grades = judge_agreement({"nist": pairs, "crowd": binary.astype({"label": int})})
    print("the crowd's two grades:", two_grades["agreement"][0], "(63 % by its README)")
    assert two_grades["pairs"][0] == both["pairs"][0] == 5947
    assert round(two_grades["agreement"][0], 2) == 0.63
    judged = {name: read_qrels(path) for name, path in (("nist", pairs), ("crowd", crowd))}
    merged = judged["nist"].merge(judged["crowd"], on=["qid", "docno"], suffixes=("", "_crowd"))
    frames = {}
    for name, qrels in (("same pairs", pairs), ("all pairs", folder / "qrels.nist_full.txt.gz")):
        frames[name] = assessor_scores(qrels, {"crowd": crowd}, permutations=2000)
        print(name, "\n", frames[name].round(4).to_string())
    same = (merged["label"] >= 1) == (merged["label_crowd"] >= 1)
    assert both["agreement"][0] == pytest.approx(same.mean())
    values = []
    for _, topic in merged.groupby("qid"):
        relevant = (topic["label"] >= 1).sum()
        common = ((topic["label"] >= 1) & (topic["label_crowd"] >= 1)).sum()
        values.append(common / relevant if relevant else 0)
    assert frames["same pairs"]["upper"][0] == pytest.approx(np.mean(values))
    # Judged by everything NIST judged, the crowd, who saw a sample, seems far worse.
    assert frames["all pairs"]["upper"][0] < frames["same pairs"]["upper"][0]
    assert frames["same pairs"]["sampled"][0] == pytest.approx(
        frames["same pairs"]["expected"][0], abs=5e-3
    )


def test_manual_runs_of_trec8_beside_the_best_automatic(data):
    folder = data / "trec8-adhoc"
    table = pd.read_csv(folder / "runs_table.tsv", sep="\t", dtype=str)
    types = table[table["track"] == "adhoc"] if "track" in table else table
    official = (folder / "official-scores.map").read_text().split()
    scores = dict(zip(official[::2], map(float, official[1::2])))
    frame = human_range(folder / "runs", folder / "qrels.txt.gz", assessors={}, run_types=types)
    print("\n", frame.round(4).to_string())
    manual = [scores[run] for run in types[types["type"] == "manual"]["run"]]
    automatic = [scores[run] for run in types[types["type"] == "automatic"]["run"]]
    row = frame.iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((min(manual), max(manual)), abs=1e-4)
    assert row["tick"] == pytest.approx(np.mean(manual), abs=1e-4)
    assert row["bar"] == pytest.approx(max(automatic), abs=1e-4)
