"""Captions and legends mention several tracks, levels or systems exactly where there are several.

Each case is drawn for the most items without the text, and for one item more.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from pyterrier_asl import DocLengths
from pyterrier_asl.analysis import (
    compare_with_assessors,
    discriminative_power,
    headroom,
    judge_confusion,
    lengths_by_rank,
    preference_discrimination,
    satisfaction,
    search_length_changes,
    search_length_distribution,
    system_preferences,
)

pytest.importorskip("altair")

QRELS = {qid: {"a": 1, "b": 0, "c": 1} for qid in ("q1", "q2", "q3")}
OTHER = {qid: {"a": 1, "b": 1, "c": 0} for qid in QRELS}
THIRD = {qid: {"a": 0, "b": 1, "c": 1} for qid in QRELS}
LENGTHS = DocLengths.from_dict({"a": 5, "b": 6, "c": 7})


def some_runs(n: int) -> dict[str, dict[str, dict[str, float]]]:
    draw = np.random.default_rng(3)
    return {
        f"run{number}": {qid: dict(zip("abc", map(float, draw.random(3)))) for qid in QRELS}
        for number in range(n)
    }


def judges(n: int) -> dict[str, dict[str, dict[str, int]]]:
    return dict(list({"x": QRELS, "y": OTHER, "z": THIRD}.items())[:n])


def tracks(n: int) -> dict[str, Any]:
    return {f"track{number}": (some_runs(2), QRELS) for number in range(n)}


def preferences_by(tests: list[str]) -> Any:
    return preference_discrimination(some_runs(3), QRELS, tests=tests, draws=20, progress=False)


def power_at(levels: list[float]) -> Any:
    return discriminative_power(some_runs(3), QRELS, levels=levels, draws=20)


TESTS, LEVELS = ["paired", "tukey-randomized"], [0.05, 0.01]

#: An analysis, its table for n items, the most items without the text, and the text.
CASES = [
    (headroom, lambda n: headroom(tracks(n)), 1, "The best run of each track by each measure"),
    (headroom, lambda n: headroom(tracks(n)), 1, "do not compare tracks with different depths"),
    (satisfaction, lambda n: satisfaction(tracks(n)), 1, '"curve": "track0: run0"'),
    (
        preference_discrimination,
        lambda n: preferences_by(TESTS[:n]),
        1,
        "with the correction of each test",
    ),
    (discriminative_power, lambda n: power_at(LEVELS[:n]), 1, '"orient": "bottom"'),
    (discriminative_power, lambda n: power_at(LEVELS[-n:]), 1, "is significant."),
    (
        search_length_distribution,
        lambda n: search_length_distribution(some_runs(n), QRELS),
        1,
        "The best of 2 runs by ASL.",
    ),
    (
        search_length_changes,
        lambda n: search_length_changes(some_runs(n), QRELS),
        2,
        "Of 3 runs by ASL",
    ),
    (
        system_preferences,
        lambda n: system_preferences(some_runs(n), QRELS),
        12,
        "columns in the order of rows",
    ),
    (
        lengths_by_rank,
        lambda n: lengths_by_rank(some_runs(n), QRELS, lengths=LENGTHS),
        6,
        "The first 6 of 7 runs.",
    ),
    (judge_confusion, lambda n: judge_confusion(judges(n)), 2, "Grades of judges"),
    (
        compare_with_assessors,
        lambda n: compare_with_assessors(some_runs(2), QRELS, judges={"y": OTHER}, both_ways=n > 1),
        1,
        "judged by ",
    ),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("analysis", "table", "most", "text"), CASES, ids=[case[-1] for case in CASES]
)
def test_what_concerns_several_is_mentioned_where_there_are_several(analysis, table, most, text):
    for n in (most, most + 1):
        spec = analysis.draw(table(n)).to_dict()
        title = spec["title"]
        drawn = json.dumps({**spec, "title": [title["text"], " ".join(title["subtitle"])]})
        assert (text in drawn) == (n > most), n
