"""Whatever orders, picks, marks or tests systems does so by ASL as by nASL.

``nASL@k = 1 - (ASL@k - 1) / k``: lower values of one are higher values of the other, and every
difference is -k times as large. Systems, verdicts and p-values must be equal, intervals mirrored.
"""

from typing import Any

import _small
import numpy as np
import pandas as pd
import pytest
from _options import Setting, frames, judged_by, judges_of, people, several, transformers

import pyterrier_asl as asl
from pyterrier_asl.analysis import discriminative_power, stability
from pyterrier_asl.reporting.collect import collect

pytestmark = pytest.mark.filterwarnings("ignore")

K = 10
COST, GAIN = f"ASL@{K}", f"nASL@{K}"
SETTING = Setting("frames", COST)
RUNS, QRELS = frames()
TWO = {name: RUNS[name] for name in ("bravo", "delta")}


def assert_mirrored(cost: Any, gain: Any, low: str, high: str) -> None:
    """Ends of intervals of differences: those of the gain from those of the cost."""
    np.testing.assert_allclose(cost[low], -K * gain[high], atol=1e-9)
    np.testing.assert_allclose(cost[high], -K * gain[low], atol=1e-9)


def assert_same(cost: pd.DataFrame, gain: pd.DataFrame, *columns: str) -> None:
    for column in columns:
        pd.testing.assert_series_equal(
            cost[column].reset_index(drop=True), gain[column].reset_index(drop=True), rtol=1e-9
        )


def by_both(function: Any, *arguments: Any, **options: Any) -> tuple[Any, Any]:
    return tuple(function(*arguments, measure, **options) for measure in (COST, GAIN))


RANKED = "name", "rank", "low", "high", "could_be_best"


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomization"])
def test_compare(test):
    # Wilcoxon's test of n queries with ties takes SciPy 2^n steps in Python.
    qrels = QRELS[QRELS["qid"].isin(_small.QUERIES[:6])] if test == "wilcoxon" else QRELS
    cost, gain = (
        done.table[~done.table["measure"].isin(["rrLP", "sgnLP"])]
        for done in by_both(asl.compare, RUNS, qrels, test=test)
    )
    assert_same(cost, gain, "run", "p", "p_corrected", "wins", "losses", "ties")
    np.testing.assert_allclose(cost["difference"], -K * gain["difference"])
    if test == "t":
        assert_mirrored(cost, gain, "ci_low", "ci_high")


@pytest.mark.parametrize("condition", ["worse", "worse p<.3", "better p<.3", "worse certainly"])
def test_guard(condition):
    compared = [asl.compare(RUNS, QRELS, m, conditions=f"{m} {condition}") for m in (COST, GAIN)]
    outcomes = [[verdict.outcome for verdict in one.verdicts] for one in compared]
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha": 0.4},
        {"alpha": 0.4, "variance": "common"},
        {"unjudged": True, "alpha": 0.4},
        {"judges": judges_of(0.7, 0.5)(SETTING), "people": ["x"]},
    ],
    ids=["plain", "alpha", "variance", "unjudged", "judges"],
)
def test_ranks(options):
    cost, gain = by_both(asl.ranks, RUNS, QRELS, **options)
    assert_same(cost.table, gain.table, *RANKED)
    np.testing.assert_allclose(cost.table["mean"], 1 + K * (1 - gain.table["mean"]))
    pd.testing.assert_frame_equal(cost.better, gain.better)
    pd.testing.assert_frame_equal(cost.p, gain.p)


def test_ranks_over_collections_and_of_scores():
    cost, gain = (asl.ranks(several(), None, measure, alpha=0.4) for measure in (COST, GAIN))
    assert_same(cost.table, gain.table, *RANKED)
    long = asl.evaluate(RUNS, QRELS, GAIN, long=True)
    mirrored = long.assign(value=-long["value"], measure="cost")
    costs = asl.read_scores(mirrored, lower_is_better=["cost"])
    lower, higher = asl.ranks(costs), asl.ranks(asl.read_scores(long))
    assert_same(lower.table, higher.table, *RANKED)


def test_report():
    cost, gain = (found.rankings[0] for found in by_both(collect, RUNS, QRELS))
    assert cost.order.tolist() == gain.order.tolist()
    assert cost.hardest_first == gain.hardest_first
    np.testing.assert_allclose(cost.board.p, gain.board.p)


def test_bounds_and_holes():
    cost, gain = by_both(asl.bounds, RUNS, QRELS)
    for low, high in (("low", "high"), ("high", "low")):
        np.testing.assert_allclose(cost[low], 1 + K * (1 - gain[high]))
    cost, gain = by_both(asl.holes, TWO, QRELS)
    assert cost.difference.verdict == gain.difference.verdict
    assert_same(cost.table, gain.table, "significance", "unjudged")
    np.testing.assert_allclose(cost.difference.low, -K * gain.difference.high)
    np.testing.assert_allclose(cost.difference.high, -K * gain.difference.low)
    assert_same(cost.todo, gain.todo, "qid", "docno", "runs")
    cost, gain = by_both(asl.holes, RUNS, QRELS)
    assert_same(cost.table, gain.table, "a", "b", "verdict")
    assert_mirrored(cost.table, gain.table, "low", "high")


def test_judges():
    given = (QRELS, judges_of(0.7, 0.5)(SETTING), RUNS)
    cost, gain = by_both(asl.judges, *given, draws=30, alpha=0.4, people=["x"], test="t")
    assert_same(cost.agreement, gain.agreement, "judge", "value", "ci_low", "ci_high", "verdict")
    numbers = [name for name in cost.reversals if name != "measure"]
    assert_same(cost.reversals, gain.reversals, *numbers)
    columns = ["judge", "other", "agreement", "difference", "p_corrected", "pairs"]
    assert_same(cost.differences, gain.differences, *columns)


def test_audit():
    given = (RUNS, people())
    cost, gain = (
        asl.audit(*given, measure, judged_by(0.7), all_pairs=True).table for measure in (COST, GAIN)
    )
    pairs = cost["minus"].fillna("") != ""
    assert pairs.sum() == 6
    cost, gain = cost[pairs], gain[pairs]
    for kind in ("ci", "people", "machine"):
        assert_mirrored(cost, gain, f"{kind}_low", f"{kind}_high")


def test_experiment():
    topics = pd.DataFrame({"qid": _small.QUERIES, "query": _small.QUERIES})
    systems = list(transformers(RUNS).values())
    cost, gain = (
        asl.Experiment(systems, topics, QRELS, [measure], baseline=0, correction="holm", ranks=True)
        for measure in (COST, GAIN)
    )
    cost.columns = [name.replace(COST, GAIN) for name in cost]
    others = [name for name in cost if name not in ("name", GAIN)]
    assert others
    pd.testing.assert_frame_equal(cost[others], gain[others])


@pytest.mark.parametrize(
    ("analysis", "options"),
    [(discriminative_power, {"levels": [0.05, 0.5]}), (stability, {"fuzz": 0, "draws": 50})],
)
def test_analyses(analysis, options):
    cost, gain = by_both(analysis, RUNS, QRELS, **options)
    pd.testing.assert_frame_equal(*(found.drop(columns="measure") for found in (cost, gain)))
