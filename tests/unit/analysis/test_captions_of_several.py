"""Captions and legends mention what occurs, and several items, exactly where they occur."""

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
pytestmark = pytest.mark.filterwarnings("ignore")

QRELS = {qid: {"a": 1, "b": 0, "c": 1} for qid in ("q1", "q2", "q3")}
OTHER = {qid: {"a": 1, "b": 1, "c": 0} for qid in QRELS}
LENGTHS = DocLengths.from_dict({"a": 5, "b": 6, "c": 7})


def some_runs(n: int) -> dict[str, dict[str, dict[str, float]]]:
    draw = np.random.default_rng(3)
    return {
        f"run{number}": {qid: dict(zip("abc", map(float, draw.random(3)))) for qid in QRELS}
        for number in range(n)
    }


TRACKS = {f"track{number}": (some_runs(2), QRELS) for number in range(2)}
BEST = headroom(TRACKS)
DIFFERENCES = compare_with_assessors(some_runs(2), QRELS, judges={"y": OTHER}, both_ways=True)
POWER = discriminative_power(some_runs(3), QRELS, ["P@2"], levels=[0.05, 0.01])
PREFERENCES = preference_discrimination(some_runs(3), QRELS, draws=20, progress=False)
SUCCESS = satisfaction(TRACKS)


def first(table: pd.DataFrame, column: str, n: int) -> pd.DataFrame:
    """The rows of the first values of a column."""
    return table[table[column].isin(table[column].unique()[:n])]


def preferences_of(n: int) -> pd.DataFrame:
    """A table of preferences between n systems."""
    pairs = pd.DataFrame({"a": "run0", "b": [f"run{number}" for number in range(1, n)]})
    numbers = {"mean": 0.5, "wins": 2, "losses": 1, "p_corrected": 0.5, "significant": False}
    return pairs.assign(preference="sgnLP", test="sign", **numbers)


def lengths_of(n: int) -> pd.DataFrame:
    return lengths_by_rank(some_runs(n), QRELS, lengths=LENGTHS, cutoff=2)


#: An analysis, its table for n items, the most items without the texts, and the texts:
#: those with a quotation mark are not of the caption.
# fmt: off
CASES: list[Any] = [
    (headroom, lambda n: first(BEST, "track", n), 1, "The best run of each track by each measure",
     "do not compare tracks with different depths"),
    (headroom, lambda n: pd.concat(BEST.head(4).assign(track=f"t{i}") for i in range(n)), 8,
     '"field": "tracks"'),
    (satisfaction, lambda n: first(SUCCESS, "track", n), 1, '"curve": "track0: run0"'),
    (preference_discrimination, lambda n: first(PREFERENCES, "test", n), 1,
     "with the correction of each test"),
    (discriminative_power, lambda n: first(POWER, "level", n), 1, '"orient": "bottom"',
     "is significant."),
    (system_preferences, preferences_of, 12, "columns in the order of rows"),
    (system_preferences, preferences_of, 40, "with a colour other than gray"),
    (lengths_by_rank, lengths_of, 6, "The first 6 of 7 runs."),
    (compare_with_assessors, lambda n: first(DIFFERENCES, "judged_by", n), 1,
     '"qrels, judged by y"'),
]
# fmt: on


@pytest.mark.parametrize("case", CASES, ids=[case[3] for case in CASES])
def test_what_concerns_several_is_mentioned_where_there_are_several(case):
    analysis, table, most, *texts = case
    for n in (most, most + 1):
        chart = analysis.draw(table(n))
        caption = " ".join([chart.title.text, *chart.title.subtitle])
        for text in texts:
            drawn = chart.to_json(validate=False) if text.startswith('"') else caption
            assert (text in drawn) is (n > most), (text, n)


WHOLE = {qid: {"a": 3.0, "b": 2.0, "c": 1.0} for qid in QRELS}
SHORT = {qid: {"a": 3.0, "b": 2.0} for qid in QRELS}  # without the relevant c


@pytest.mark.parametrize(
    ("analysis", "runs", "text"),
    [
        (search_length_distribution, ["x"], "Missing documents were not retrieved: they are"),
        (search_length_changes, ["x", "y"], "Not shown: 3 that neither run retrieved."),
    ],
)
def test_what_occurs_is_mentioned_where_it_occurs(analysis, runs, text):
    for retrieved, mentioned in ((WHOLE, False), (SHORT, True)):
        table = analysis({**dict.fromkeys(runs, SHORT), "x": retrieved}, QRELS)
        assert (text in " ".join(analysis.draw(table).title.subtitle)) is mentioned
