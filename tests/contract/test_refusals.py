"""Errors of rare mistakes: each names what is wrong, its value and the remedy."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from _small import collection

import pyterrier_asl as asl
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.tuning.objective import make_task

RUNS, QRELS = collection()
SCORES = pd.DataFrame(
    [
        (name, f"q{topic}", measure, topic / 12)
        for name in ("old", "new")
        for topic in range(12)
        for measure in ("AP", "RR")
    ],
    columns=["name", "qid", "measure", "value"],
)
LABELS = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "label": [0]})


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a rank below the ranking": (
        lambda: asl.analysis.tie_probability(10, [1], [11]),
        "rank must be between 1 and n = 10, but 11 is not",
    ),
    "a cut-off below the ranking": (
        lambda: asl.analysis.preference_levels(9, [1], cutoff=10),
        "cut-off must be between 1 and n = 9, but 10 is not",
    ),
    "no depth": (
        lambda: asl.analysis.satisfaction(RUNS, QRELS, depth=0),
        "depth must be a whole number from 1 on, not 0",
    ),
    "no judge": (lambda: asl.judges(QRELS, {}), "no judge to compare with the reference"),
    "no qrels": (lambda: Evaluation.of(RUNS), "qrels are needed: a frame, a file"),
    "another way with conflicts": (
        lambda: asl.merge_labels(QRELS, LABELS, conflicts="mine"),
        "must be 'error' or 'official', not 'mine'",
    ),
    "a collection named as all together": (
        lambda: asl.ranks({"overall": (RUNS, QRELS), "x": (RUNS, QRELS)}, measures="AP"),
        "a collection is called 'overall', as all together are: rename it",
    ),
    "a single run": (
        lambda: asl.compare({"alpha": RUNS["alpha"]}, QRELS),
        "there is only the run 'alpha': compare two at least",
    ),
    "a single system with scores": (
        lambda: asl.compare(asl.read_scores(SCORES[SCORES["name"] == "old"])),
        "there is only the run 'old': compare two at least",
    ),
    "no file of scores": (lambda: asl.read_scores([]), "no files of scores are given"),
    "a report of scores": (
        lambda: asl.report(asl.read_scores(SCORES)),
        "a report needs runs and qrels: 'compare' and 'ranks' take scores",
    ),
    "an infinite score": (
        lambda: asl.read_scores(SCORES.replace({"value": {1 / 12: float("inf")}})),
        "row 2, column value: 'inf' is not a number",
    ),
    "weights that are too large": (
        lambda: (
            asl.TermIndex.from_documents({"docno": name, "text": text} for name, text in TEXTS)
            .bm25(k1=1e308)
            .search("rare rare rare")
        ),
        "query weights are too large with k1=1e\\+308",
    ),
    "two measures as the objective": (
        lambda: make_task(TOPICS, QRELS, "AP nDCG"),
        "names several measures",
    ),
}
TEXTS = [("d0", "rare"), *((f"d{number}", "frequent") for number in range(1, 9))]
TOPICS = pd.DataFrame({"qid": ["q1"], "query": ["rare"]})


@pytest.mark.filterwarnings("ignore:there are only 12 topics")
@pytest.mark.parametrize("mistake", REFUSED)
def test_an_error_names_the_mistake(mistake):
    function, message = REFUSED[mistake]
    with pytest.raises(ValueError, match=message):
        function()


@pytest.mark.parametrize(
    ("judges_", "what"),
    [
        (QRELS, "a DataFrame"),
        ({"q1": {"d1": 1}}, "one qrels"),
        ("qrels.txt", "a str"),
        ([QRELS], "a list"),
    ],
)
@pytest.mark.parametrize(
    "function",
    [
        lambda judges_: asl.judges(QRELS, judges_),
        lambda judges_: asl.ranks(RUNS, QRELS, "AP", judges=judges_),
        lambda judges_: asl.report(RUNS, QRELS, judges=judges_),
        lambda judges_: asl.analysis.assessor_scores(QRELS, judges_),
        lambda judges_: asl.analysis.satisfaction(RUNS, QRELS, judges=judges_),
    ],
)
def test_judges_are_a_dict_from_name_to_qrels(function, judges_, what):
    with pytest.raises(TypeError, match=f"judges is a dict from name to qrels, not {what}"):
        function(judges_)


@pytest.mark.parametrize(
    "function",
    [
        lambda: asl.judges(QRELS, {"qrels": QRELS}, reference="qrels"),
        lambda: asl.ranks(RUNS, QRELS, "AP", judges={"qrels": QRELS}),
        lambda: asl.analysis.assessor_scores(QRELS, {"qrels": QRELS}),
        lambda: asl.analysis.satisfaction(RUNS, QRELS, judges={"qrels": QRELS}),
    ],
)
def test_no_judge_has_the_name_of_the_judge_of_the_qrels(function):
    with pytest.raises(ValueError, match="and another are both called 'qrels': rename one"):
        function()


#: Calls with random draws.
RANDOM: dict[str, Callable[..., Any]] = {
    "ranks": lambda **how: asl.ranks(RUNS, QRELS, "AP", **how),
    "judges": lambda **how: asl.judges(QRELS, {"m": QRELS}, RUNS, **how),
    "stability": lambda **how: asl.analysis.stability(RUNS, QRELS, ["AP"], **how),
    "missing_labels": lambda **how: asl.analysis.missing_labels(RUNS, QRELS, **how),
    "preference_discrimination": lambda **how: asl.analysis.preference_discrimination(
        RUNS, QRELS, tests=["tukey-randomized"], **how
    ),
    "agreement_by_number_of_systems": lambda **how: asl.analysis.agreement_by_number_of_systems(
        RUNS, QRELS, **how
    ),
}


@pytest.mark.filterwarnings("ignore:there are only 12 topics")
@pytest.mark.parametrize("function", RANDOM)
@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"draws": 0}, "draws must be a whole number from 1 on, not 0"),
        ({"draws": 2.0}, "draws must be a whole number from 1 on, not 2.0"),
        ({"seed": -1}, "seed must be a whole number from 0 on, not -1"),
        ({"seed": "a"}, "seed must be a whole number from 0 on, not 'a'"),
    ],
)
def test_draws_and_seeds_are_whole_numbers(function, how, message):
    with pytest.raises(ValueError, match=message):
        RANDOM[function](**how)


def test_labels_are_a_frame_or_a_file():
    with pytest.raises(TypeError, match="labels are a frame or a file, not a dict"):
        asl.merge_labels(QRELS, {"q1": {"d1": 1}})
