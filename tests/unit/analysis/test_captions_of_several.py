"""Captions and legends mention what occurs, and several items, exactly where they occur."""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyterrier_asl import DocLengths
from pyterrier_asl.analysis import (
    compare_with_assessors,
    discriminative_power,
    headroom,
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


def many_tracks(n: int) -> Any:
    return pd.concat(headroom(tracks(1)).assign(track=f"t{number}") for number in range(n))


def preferences_by(tests: list[str]) -> Any:
    draws = {"draws": 20} if "tukey-randomized" in tests else {}
    return preference_discrimination(some_runs(3), QRELS, tests=tests, progress=False, **draws)


def power_at(levels: list[float]) -> Any:
    return discriminative_power(some_runs(3), QRELS, levels=levels)


@cache
def preferences_of_41() -> Any:
    return system_preferences(some_runs(41), QRELS, ["sgnLP"])


def preferences_of(n: int) -> Any:
    table, names = preferences_of_41(), list(some_runs(n))
    return table[table["a"].isin(names) & table["b"].isin(names)]


@cache
def differences_of_20() -> Any:
    return compare_with_assessors(some_runs(20), QRELS, judges={"y": OTHER, "z": THIRD}, test="t")


TESTS, LEVELS = ["paired", "tukey-randomized"], [0.05, 0.01]

#: An analysis, its table for n items, the most items without the texts, and the texts.
# fmt: off
CASES = [
    (headroom, lambda n: headroom(tracks(n)), 1, "The best run of each track by each measure",
     "do not compare tracks with different depths"),
    (headroom, lambda n: many_tracks(n), 8, '"field": "tracks"'),
    (satisfaction, lambda n: satisfaction(tracks(n)), 1, '"curve": "track0: run0"'),
    (preference_discrimination, lambda n: preferences_by(TESTS[:n]), 1,
     "with the correction of each test"),
    (discriminative_power, lambda n: power_at(LEVELS[:n]), 1, '"orient": "bottom"'),
    (discriminative_power, lambda n: power_at(LEVELS[-n:]), 1, "is significant."),
    (search_length_distribution, lambda n: search_length_distribution(some_runs(n), QRELS), 1,
     "The best of 2 runs by ASL."),
    (search_length_changes, lambda n: search_length_changes(some_runs(n), QRELS), 2,
     "Of 3 runs by ASL"),
    (system_preferences, preferences_of, 12, "columns in the order of rows"),
    (system_preferences, preferences_of, 40, "with a colour other than gray"),
    (lengths_by_rank, lambda n: lengths_by_rank(some_runs(n), QRELS, lengths=LENGTHS), 6,
     "The first 6 of 7 runs."),
    (compare_with_assessors,
     lambda n: compare_with_assessors(some_runs(2), QRELS, judges={"y": OTHER}, both_ways=n > 1), 1,
     "judged by "),
    (compare_with_assessors,
     lambda n: differences_of_20()[lambda table: table["run"].isin(some_runs(n))], 19,
     "The best 19 of 20 runs."),
]
# fmt: on


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=[case[3] for case in CASES])
def test_what_concerns_several_is_mentioned_where_there_are_several(case):
    analysis, table, most, *texts = case
    for n in (most, most + 1):
        spec = analysis.draw(table(n)).to_dict()
        title = spec["title"]
        drawn = json.dumps({**spec, "title": [title["text"], " ".join(title["subtitle"])]})
        assert [text in drawn for text in texts] == [n > most] * len(texts), n


WHOLE = {qid: {"a": 3.0, "b": 2.0, "c": 1.0} for qid in QRELS}
SHORT = {qid: {"a": 3.0, "b": 2.0} for qid in QRELS}  # without the relevant c


#: An analysis, its table with something and without it, and the texts of both.
# fmt: off
OCCURRENCES = [
    (search_length_distribution,
     lambda found: search_length_distribution({"x": WHOLE if found else SHORT}, QRELS), "",
     " Missing documents were not retrieved: they are counted at the end of the ranking."),
    (search_length_changes,
     lambda found: search_length_changes({"x": WHOLE if found else SHORT, "y": SHORT}, QRELS), "",
     " Not shown: 3 that neither run retrieved."),
]
# fmt: on


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("analysis", "table", "with_it", "without"),
    OCCURRENCES,
    ids=["missing documents", "retrieved by neither"],
)
def test_what_occurs_is_mentioned_where_it_occurs(analysis, table, with_it, without):
    for found, text, other in ((True, with_it, without), (False, without, with_it)):
        caption = " ".join(analysis.draw(table(found)).to_dict()["title"]["subtitle"])
        assert text.strip() in caption and (not other or other.strip() not in caption), found
