"""The numbers of a report equal the numbers of evaluation and analyses (findings.py)."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from _reports import QRELS, QUERIES, RUNS, a_run
from scipy.stats import kendalltau, rankdata

from pyterrier_asl.evaluation.evaluate import evaluate
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.reporting.collect import collect
from pyterrier_asl.reporting.contents import digests

pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 8")


#: Two runs with few queries, for tests of names.
TWO_RUNS = {name: dict(list(RUNS[name].items())[:3]) for name in ("good", "fair")}
FEW_QRELS = dict(list(QRELS.items())[:3])


def means(values: pd.DataFrame) -> pd.DataFrame:
    """The mean of each measure by run."""
    return values.groupby("name", sort=False).mean(numeric_only=True)


@pytest.fixture(scope="module")
def findings():
    return collect(RUNS, QRELS)


def test_the_relevance_grade_is_not_part_of_the_names():
    findings = collect(RUNS, QRELS, ["AP", "ASL@100", "AP(rel=1)"], rel=2)
    assert [each.name for each in findings.rankings] == ["AP", "ASL@100", "AP(rel=1)"]
    expected = means(evaluate(RUNS, QRELS, ["AP(rel=2)", "AP"]))
    np.testing.assert_allclose(findings.rankings[0].means, expected["AP(rel=2)"])
    np.testing.assert_allclose(findings.rankings[2].means, expected["AP"])


#: A collection whose documentation says that grade 2 is relevant.
KNOWN = "irds:msmarco-passage/trec-dl-2019/judged"


def test_default_measures_are_those_of_a_known_collection_with_its_grade():
    known = collect(dataclasses.replace(Evaluation.of(RUNS, QRELS), source=KNOWN), KNOWN)
    expected = means(evaluate(RUNS, QRELS, ["AP(rel=2)", "RR(rel=2)"]))
    found = {each.name: each.means for each in known.rankings}
    assert [*found][:2] == ["nDCG@10", "ASL@1000"] and known.rel == 2
    for name in ("AP", "RR"):
        np.testing.assert_allclose(found[name], expected[f"{name}(rel=2)"])
    findings = collect(TWO_RUNS, FEW_QRELS, dataset="irds:msmarco-passage/dev/small")
    assert [each.name for each in findings.rankings][:2] == ["RR@10", "ASL@1000"]
    assert findings.first.name == "RR@10" and findings.rel == 1


def test_preferences_take_the_grade_of_all_measures():
    assert collect(TWO_RUNS, FEW_QRELS, ["AP(rel=2)", "nDCG@10", "RR(rel=2)"]).rel == 2
    assert collect(TWO_RUNS, FEW_QRELS, ["AP(rel=2)", "RR"]).rel == 1
    runs = dataclasses.replace(Evaluation.of(TWO_RUNS, FEW_QRELS), source=KNOWN)
    assert collect(runs, KNOWN, ["AP", "ASL@100"]).rel == 1  # of the measures, not of the dataset


def test_the_rankings_by_the_measures_of_the_report_are_compared():
    named = {"count": "NumRet", "precision": "AP", "cost": "ASL@9", "ASL": "RR", "n": "nDCG@3"}
    findings = collect(RUNS, QRELS, named)
    compared = ["precision", "cost", "ASL", "n"]  # without the count
    assert [ranking.name for ranking in findings.reordered] == compared
    assert findings.taus.shape == (4, 4)


def test_counts_are_added_up_and_rareness_is_over_the_runs():
    names = ["NumRet", "NumRelRet", "AP_Rareness@10", "P_Rareness@20", "AP_Rareness"]
    by_run = evaluate(RUNS, QRELS, names).groupby("name", sort=False)
    for ranking in collect(RUNS, QRELS, names).rankings:
        how = "sum" if ranking.name in names[:2] else "mean"
        np.testing.assert_allclose(ranking.means, by_run[ranking.name].agg(how))


@pytest.mark.parametrize("highest, first", [(1, "AP"), (2, "nDCG@10")])
def test_without_an_official_measure_grades_decide(highest, first):
    qrels = {q: {d: min(g, highest) for d, g in of.items()} for q, of in FEW_QRELS.items()}
    findings = collect(TWO_RUNS, qrels)
    assert [each.name for each in findings.rankings][:2] == [first, "ASL@1000"]
    assert findings.first.name == first
    assert [each.name for each in findings.decisive][:2] == [first, "ASL@1000"]


def test_documents_judged_irrelevant():
    qrels = {"q": {"a": 0, "b": 1, "c": 2, "d": -1}}
    run = {"a": {"q": {"b": 1.0}}}
    assert collect(run, qrels, ["AP"]).judged_irrelevant == 1
    assert collect(run, qrels, ["AP"], rel=2).judged_irrelevant == 2
    assert collect(run, {"q": {"b": 1}}, ["AP"]).judged_irrelevant == 0


def test_a_system_with_half_the_documents_of_the_deepest_is_not_short():
    runs = {f"s{size}": {"q": {f"d{n}": -n for n in range(size)}} for size in (4, 2, 1)}
    assert collect(runs, {"q": {"d0": 1}}, ["AP"]).short.tolist() == [False, False, True]


def test_rankings_by_gains_and_costs_agree_by_their_directions():
    runs = {f"run{seed}": a_run(seed, QUERIES, noise=3.0) for seed in range(6)}
    findings = collect(runs, QRELS, ["AP", "ASL@30", "LexiP"])
    table = means(evaluate(runs, QRELS, ["AP", "ASL@30", "LexiP"]))
    gains = [table["AP"], -table["ASL@30"], table["LexiP"]]
    for row, a in zip(findings.taus, gains):
        assert row.tolist() == pytest.approx([kendalltau(a, b)[0] for b in gains])
    ranks = np.array([rankdata(-gain, method="min") for gain in gains])
    moves = np.ptp(ranks, axis=0)
    assert moves[findings.movers].tolist() == sorted(moves[moves > 0], reverse=True)
    assert 0 < len(findings.movers) < len(moves)


def test_digests_name_the_input(findings):
    other = {**RUNS, "good": RUNS["fair"]}
    qrels, runs = digests(collect(other, QRELS, ["AP"]).runs)
    before = digests(findings.runs)
    assert qrels == before[0]
    same = [a == b for a, b in zip(runs, before[1])]
    assert same == [name != "good" for name in RUNS]


@pytest.mark.parametrize(("number", "has_rareness"), [(7, False), (8, True)])
def test_rareness_is_a_default_of_eight_runs(number, has_rareness):
    systems = {f"s{seed}": TWO_RUNS["good"] for seed in range(number)}
    names = [ranking.name for ranking in collect(systems, FEW_QRELS).rankings]
    assert ("AP_Rareness@100" in names) is has_rareness
