"""Weights and slices mean the same in every analysis that takes a mean over queries.

Equal weights have no effect, a query of weight 2 counts as two queries, and a query of weight 0 is
ignored. Each slice equals the result for only its queries.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyterrier_asl import DocLengths
from pyterrier_asl.analysis.registry import analyses, find_analysis

DOCNOS = [f"d{number}" for number in range(12)]
WEIGHTS = {"q1": 1, "q2": 2, "q3": 0, "q4": 1, "q5": 3, "q6": 1}
SLICES = {"q1": "x", "q2": "y", "q3": "x", "q4": "y", "q5": "x", "q6": "y"}

Grades = dict[str, dict[str, int]]


def made_up() -> tuple[dict[str, dict[str, dict[str, float]]], Grades, Grades]:
    draw = np.random.default_rng(50)  # cycles of preferences in both slices

    def grades() -> Grades:
        return {q: {d: int(draw.integers(0, 3)) for d in DOCNOS[:9]} for q in WEIGHTS}

    runs = {
        name: {q: {d: float(draw.normal()) for d in draw.permutation(DOCNOS)[:8]} for q in WEIGHTS}
        for name in ("a", "b", "c", "d", "e", "f", "g")
    }
    return runs, grades(), grades()


RUNS, QRELS, OTHER = made_up()
GROUPS = {"a": "one", "b": "one", "c": "two"}

#: The options of each analysis, and its columns that are means or depend on means only. Tests and
#: draws of queries depend on the number of queries, not only on their weights.
MEANS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "headroom": ({"cutoff": 10}, ["measure", "best_run", "value", "R@10", "missing_share"]),
    "run-quality": (
        {"cutoff": 10},
        [
            "run",
            "P@20",
            "ASL@g1-10",
            "AP",
            "ASL",
            "R@10",
            "missing_share",
            "Judged@10",
            "unjudged_share",
        ],
    ),
    "compare-techniques": (
        {"old": "a", "new": "b"},
        ["measure", "old", "new", "RRIE", "difference"],
    ),
    "reordering": ({"cutoff": 10}, ["change", "tau", "dValue"]),
    "effective-share": ({}, ["run", "AP", "share"]),
    "collection-statistics": ({}, ["rel/request", "docs/request", "judged/request"]),
    "prediction-from-suffixes": ({}, ["predictor", "percent", "percent_of_untied"]),
    "ties": ({}, ["preference", "percent"]),
    "preference-discrimination": (
        {"tests": ["tukey-randomized"], "draws": 30, "progress": False},
        [],
    ),
    "system-preferences": ({"preferences": ["rrLP", "RPP", "RR"]}, ["a", "b", "mean"]),
    "system-order": ({}, ["system", "mean", "mean_rank", "borda", "mc4_rank", "cycle"]),
    "cycles": ({}, ["a", "b", "c", "weakest"]),
    "tie-probability-by-rank": ({"deepest": 4}, ["p_1", "probability"]),
    "ties-by-recall-level": ({"levels": 5}, ["i", "probability", "both_missing"]),
    "recall-level-needed": ({"levels": 5}, ["i", "cumulative"]),
    "level-correlations": ({"levels": 4}, ["i", "j", "correlation"]),
    "level-regressions": ({"levels": 2, "following": 2}, ["i", "j", "coefficient", "R2"]),
    "missing-labels": (
        {"fractions": [1], "draws": 1, "progress": False},
        ["preference", "ranking", "system", "tied"],
    ),
    "ties-with-missing-labels": ({"fractions": [0.5, 1], "draws": 2, "progress": False}, []),
    "missing-queries": (
        {"fractions": [1], "draws": 1, "progress": False},
        ["preference", "system"],
    ),
    "discriminative-power": ({"measures": ["AP", "P@5"], "test": "t"}, []),
    "stability": ({"measures": ["AP", "P@5"], "draws": 20}, []),
    "agreement-by-number-of-systems": (
        {"measures": ["AP_Rareness@5"], "sizes": [2, 4], "draws": 20},
        ["systems", "tau"],
    ),
    "agreement-by-alpha": ({"measures": ["P_Rareness@5"]}, ["alpha", "tau", "tau_AP"]),
    "rareness-by-pool": (
        {"pools": {"two": ["a", "b"]}, "measure": "P_Rareness@5"},
        ["pool", "run", "value", "rank"],
    ),
    "rareness-without-own-group": (
        {"groups": GROUPS, "measure": "P_Rareness@5"},
        ["run", "value", "value_without", "rank_without"],
    ),
    "rare-finds": ({}, []),  # counts decide the order of the rows
    "assessor-scores": ({}, ["retrieved", "common", "relevant", "upper", "expected", "lower"]),
    "compare-with-assessors": ({}, ["bound", "run", "run_AP", "judge_AP", "difference"]),
    "human-range": ({}, ["who", "low", "tick", "high", "bar", "bar_run"]),
    "satisfaction": ({"depth": 4}, ["system", "n", "S@n"]),
    "lengths-by-rank": (
        {"lengths": DocLengths.from_dict({d: 10 * i for i, d in enumerate(DOCNOS, 1)})},
        ["run", "rank", "kind", "length"],
    ),
    "leaderboards": ({}, ["judge", "run", "value", "rank", "gain", "own_gain"]),
    "leaderboard-agreement": ({"draws": 20}, ["agreement", "value"]),
    "leaderboard-swaps": ({"test": "t", "alpha": 0.9}, []),
}
#: Columns that are corrected over all slices and therefore depend on the other slices.
TOGETHER = ["p_corrected", "significant"]

EACH = pytest.mark.parametrize("name", MEANS)


def made(name: str, runs: Any, qrels: Grades, other: Grades, **more: Any) -> pd.DataFrame:
    """The table of some runs by some judgements."""
    analysis = find_analysis(name)
    assert analysis is not None
    said = {**MEANS[name][0], **more}
    given: list[Any] = [runs] if "runs" in analysis.takes else []
    if "qrels" in analysis.parameters:
        given.append(qrels)
        if "judges" in analysis.parameters:
            said["judges"] = {"other": other}
    else:
        said["judges"] = {"one": qrels, "other": other}
    return analysis.function(*given, **said)


def test_every_analysis_of_queries_is_looked_at():
    weighed = {one.name for one in analyses() if "weights" in one.parameters}
    assert weighed == set(MEANS) == {one.name for one in analyses() if "by" in one.parameters}
    # The other analyses count documents, or do not need queries.
    assert {one.name for one in analyses()} - weighed == {
        "search-length-distribution",
        "search-length-changes",
        "preference-levels",
        "tie-probability",
        "rare-documents",
        "synthetic-systems",
        "judge-agreement",
        "judge-confusion",
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:RarenessPool")
@EACH
def test_equal_weights_are_none(name):
    even = made(name, RUNS, QRELS, OTHER, weights=dict.fromkeys(WEIGHTS, 3.0))
    plain = made(name, RUNS, QRELS, OTHER)
    pd.testing.assert_frame_equal(even, plain, check_dtype=False, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:RarenessPool")
@pytest.mark.parametrize("name", [name for name, (_, columns) in MEANS.items() if columns])
def test_a_weight_is_how_often_a_query_is_there(name):
    def repeated(of: dict[str, Any]) -> dict[str, Any]:
        return {f"{q}-{time}": of[q] for q, weight in WEIGHTS.items() for time in range(weight)}

    runs = {run: repeated(answers) for run, answers in RUNS.items()}
    again = made(name, runs, repeated(QRELS), repeated(OTHER))
    weighed = made(name, RUNS, QRELS, OTHER, weights=WEIGHTS)
    columns = MEANS[name][1]
    assert len(again)
    pd.testing.assert_frame_equal(weighed[columns], again[columns], check_dtype=False, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:RarenessPool")
@EACH
def test_a_slice_is_its_queries_alone(name):
    sliced = made(name, RUNS, QRELS, OTHER, by=SLICES)
    assert set(sliced["slice"]) == {"x", "y"}
    for value in ("x", "y"):
        here = [q for q in WEIGHTS if SLICES[q] == value]
        alone = made(name, RUNS, *({q: of[q] for q in here} for of in (QRELS, OTHER)))
        part = sliced[sliced["slice"] == value].drop(columns="slice").reset_index(drop=True)
        shown = [column for column in alone.columns if column not in TOGETHER]
        pd.testing.assert_frame_equal(part[shown], alone[shown], check_dtype=False, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:RarenessPool")
@EACH
def test_grades_above_1_give_a_warning_without_rel(name):
    with pytest.warns(UserWarning, match="grades go up to 2: give the minimum grade"):
        made(name, RUNS, QRELS, OTHER)
    binary = {q: {d: min(g, 1) for d, g in docs.items()} for q, docs in QRELS.items()}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*grades go up")
        made(name, RUNS, QRELS, OTHER, rel=2)
        made(name, RUNS, binary, binary)


#: Options with which the numbers of an analysis depend on random draws.
DRAWN: dict[str, dict[str, Any]] = {
    "assessor-scores": {"draws": 5},
    "agreement-by-number-of-systems": {"measures": ["AP_Rareness@5"], "sizes": [3], "draws": 5},
    "stability": {"measures": ["AP"], "draws": 5},
    "missing-labels": {"fractions": [0.5], "draws": 2, "progress": False},
    "missing-queries": {"fractions": [0.5], "draws": 2, "progress": False},
    "preference-discrimination": {
        "preferences": ["rrLP"],
        "tests": ["tukey-randomized"],
        "levels": [0.2, 0.4, 0.6, 0.8],
        "draws": 9,
        "progress": False,
    },
    "discriminative-power": {
        "measures": ["AP"],
        "test": "tukey-randomized",
        "levels": [0.2, 0.4, 0.6, 0.8],
        "draws": 9,
    },
    "compare-techniques": {"old": "a", "new": "b", "test": "randomization", "draws": 9},
    "compare-with-assessors": {"test": "randomization", "draws": 9},
    "leaderboards": {"test": "randomization", "draws": 9},
    "leaderboard-swaps": {"test": "tukey-randomized", "alpha": 0.99, "draws": 9},
    "judge-agreement": {"draws": 9},
    "leaderboard-agreement": {"draws": 9},
}


def test_every_analysis_with_a_seed_is_drawn():
    assert {one.name for one in analyses() if "seed" in one.parameters} == {
        *DRAWN,
        "ties-with-missing-labels",  # of missing-labels
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DRAWN)
def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(name):
    analysis = find_analysis(name)
    assert analysis is not None
    given: list[Any] = [RUNS] if "runs" in analysis.takes else []
    judges: dict[str, Any] = {"judges": {"other": OTHER}} if "judges" in analysis.parameters else {}
    if "qrels" in analysis.parameters:
        given.append(QRELS)
    else:
        judges = {"judges": {"one": QRELS, "other": OTHER}}

    def drawn(seed: int) -> pd.DataFrame:
        return analysis.function(*given, **judges, **DRAWN[name], seed=seed)

    first, *others = (drawn(seed) for seed in (1, 1, 2, 3, 4))
    assert first.equals(others[0])
    assert not all(first.equals(other) for other in others[1:])
