"""Another assessor as a system, and success at n, against loops over orders.
Tests of assessors.py, judges_as_runs.py, success_at_n.py."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import small
from brute_force import precisions, ranking

from pyterrier_asl.analysis.assessors import assessor_scores, compare_with_assessors, human_range
from pyterrier_asl.analysis.judges_as_runs import BOUNDS
from pyterrier_asl.analysis.success_at_n import satisfaction

QRELS = {"q1": {"a": 1, "b": 2, "c": 1, "n": 0}, "q2": {"a": 1, "n": 0}, "q3": {"z": 1}}
ALT = {"q2": {"a": 1, "n": 1, "new": 1}, "q1": {"a": 2, "n": 1, "b": 0, "c": 1}}
RUNS = {
    "good": {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 1}, "q3": {"z": 1}},
    "poor": {"q1": {"n": 3, "b": 2, "x": 1}, "q2": {"n": 2, "a": 1}, "q3": {"y": 2, "z": 1}},
}


def average_precision(order, relevant):
    """AP from its formula."""
    return sum(precision for precision, _ in precisions(order, relevant).values()) / len(relevant)


def over_all_orders(qrels, alt):
    """Best, mean and worst AP of the assessor's documents over all orders."""
    relevant = {d for d, grade in qrels.items() if grade >= 1}
    documents = [d for d, grade in alt.items() if grade >= 1]
    values = [average_precision(each, relevant) for each in itertools.permutations(documents)]
    return max(values), float(np.mean(values)), min(values)


def test_scores_match_all_orders():
    frame = assessor_scores(QRELS, {"alt": ALT})
    by_topic = np.array([over_all_orders(QRELS[q], ALT[q]) for q in ("q1", "q2")])
    assert frame["topics"].tolist() == [2]  # nobody else judged q3
    assert frame[list(BOUNDS)].to_numpy()[0] == pytest.approx(by_topic.mean(axis=0))
    assert frame[["retrieved", "common", "relevant"]].to_numpy()[0].tolist() == [3, 1.5, 2]


def test_grades_of_the_assessors_are_their_own():
    assert assessor_scores(QRELS, {"alt": ALT}, judge_rel={"alt": 2})["retrieved"][0] == 0.5
    assert assessor_scores(QRELS, {"alt": ALT}, rel=2)["common"][0] == 0


def test_runs_against_assessors():
    frame = compare_with_assessors(RUNS, QRELS, judges={"alt": ALT}, both_ways=True)
    assert len(frame) == 2 * 3 * 2 and frame.attrs["family"] + frame.attrs["dropped"] == 12
    upper = frame[(frame["bound"] == "upper") & (frame["judged_by"] == "qrels")]
    assert upper["run"].tolist() == ["good", "poor"]
    poor = np.array([1 / 2 / 3, 1 / 2])  # q1: b of three at rank 2; q2: a at rank 2
    orders = np.array([over_all_orders(QRELS[q], ALT[q]) for q in ("q1", "q2")]).T
    for row, judge in zip(frame[frame["run"] == "poor"].head(3).itertuples(), orders):
        assert (row.run_AP, row.judge_AP) == pytest.approx((poor.mean(), judge.mean()))
    assert row.bound == "lower"
    assert row.p == pytest.approx(scipy.stats.ttest_rel(poor, judge).pvalue)
    # Reversed: the documents of the original and the runs, by the judgements of the alternate.
    turned = frame[frame["judged_by"] == "alt"]
    assert turned["judge"].unique().tolist() == ["qrels"]
    expected = np.mean([over_all_orders(ALT[q], QRELS[q])[1] for q in ("q1", "q2")])
    assert turned[turned["bound"] == "expected"]["judge_AP"].iloc[0] == pytest.approx(expected)
    good = np.mean([average_precision("abc", {"a", "n", "c"}), 1 / 3])
    assert turned["run_AP"].iloc[0] == pytest.approx(good)
    published = compare_with_assessors(RUNS, QRELS, judges={"alt": ALT}, as_published=True)
    assert published.attrs["correction"] == "none"
    assert published["p"].equals(published["p_corrected"])


def test_human_range_by_hand():
    types = pd.DataFrame({"run": ["poor", "good"], "type": ["manual", "automatic"]})
    frame = human_range(RUNS, QRELS, judges={"alt": ALT}, run_types=types).set_index("who")
    lines = np.mean([over_all_orders(QRELS[q], ALT[q]) for q in ("q1", "q2")], axis=0)
    assert frame.loc["alt", ["high", "tick", "low"]].tolist() == pytest.approx(lines.tolist())
    assert frame.loc["alt", ["bar", "bar_run"]].tolist() == [1.0, "good"]
    # The original judge as a run, and the system, by the judgements of the other judge.
    lines = np.mean([over_all_orders(ALT[q], QRELS[q]) for q in ("q1", "q2")], axis=0)
    assert frame.loc["qrels", ["high", "tick", "low"]].tolist() == pytest.approx(lines.tolist())
    good = np.mean([average_precision("abc", {"a", "n", "c"}), 1 / 3])
    assert frame.loc["qrels", ["judged_by", "bar"]].tolist() == ["alt", pytest.approx(good)]
    assert frame.loc["manual runs", ["low", "tick", "high"]].tolist() == [pytest.approx(1 / 3)] * 3
    manual = human_range(RUNS, QRELS, run_types={"poor": "automatic", "good": "manual"})
    assert manual["bar_run"].tolist() == ["poor"]  # the best automatic run, not the best of all
    people = human_range(RUNS, QRELS, run_types=dict.fromkeys(RUNS, "manual"))
    poor = (1 / 6 + 1 / 2 + 1 / 2) / 3  # by all three queries
    assert people.loc[0, ["low", "tick", "high"]].tolist() == pytest.approx(
        [poor, (1 + poor) / 2, 1]
    )
    with pytest.raises(ValueError, match="run_types does not have the runs \\['poor'\\]"):
        human_range(RUNS, QRELS, run_types={"good": "manual"})
    with pytest.raises(ValueError, match="give judges, or the types of the runs"):
        human_range(RUNS, QRELS)


def test_satisfaction_by_hand():
    frame = satisfaction(RUNS, QRELS, judges={"alt": ALT}, depth=3, rel=1)
    curves = frame.pivot(index="system", columns="n", values="S@n")
    assert curves.loc["good"].tolist() == [1, 1, 1]
    assert curves.loc["poor"].tolist() == [0, 1, 1]
    # q1: a and c of a, n, c; q2: a of a, n, new. Success at 1 and at 2 of a random order.
    assert curves.loc["alt"].tolist() == pytest.approx([(2 / 3 + 1 / 3) / 2, (1 + 2 / 3) / 2, 1])
    assert frame["queries"].unique().tolist() == [2]
    alone = satisfaction(RUNS, QRELS, depth=1)
    assert alone["S@n"].tolist() == pytest.approx([1, 0]) and alone["queries"].tolist() == [3, 3]
    assert (frame["ci_low"] >= 0).all() and (frame["ci_high"] <= 1).all()


def test_success_of_runs_counts_the_queries_that_every_judge_has():
    frame = satisfaction(small.RUNS, small.QRELS, judges={"uneven": small.JUDGE}, depth=2)
    shared = [qid for qid in small.QRELS if qid in small.JUDGE]
    for row in frame[frame["kind"] == "run"].to_dict("records"):
        run = {**dict.fromkeys(small.QRELS, {}), **small.RUNS[row["system"]]}
        first = {
            qid: any(grades.get(doc, 0) > 0 for doc in ranking(run[qid], {}, k=row["n"]))
            for qid, grades in small.QRELS.items()
        }
        of_shared, of_all = (np.mean([first[q] for q in qids]) for qids in (shared, first))
        assert row["S@n"] == pytest.approx(of_shared) != pytest.approx(of_all)
        assert row["queries"] == len(shared)


def test_satisfaction_by_fractional_grades():
    qrels = {"q1": {"a": 0.5, "b": 2.0}, "q2": {"a": 1.0, "b": 1.5}}
    runs = {"run": {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}}}
    assert satisfaction(runs, qrels, depth=2, rel=1.5)["S@n"].tolist() == [0.5, 1]
