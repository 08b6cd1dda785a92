"""The charts of search lengths, assessors and leaderboards: drawn, captioned, and complete."""

from __future__ import annotations

from itertools import combinations

import pandas as pd
import pytest

from pyterrier_asl import DocLengths
from pyterrier_asl.analysis import (
    compare_techniques,
    effective_share,
    headroom,
    human_range,
    judge_agreement,
    judge_confusion,
    leaderboards,
    lengths_by_rank,
    reordering,
    satisfaction,
    search_length_changes,
    search_length_distribution,
    system_preferences,
)

alt = pytest.importorskip("altair")

from pyterrier_asl.charts import assessors as draw_assessors  # noqa: E402
from pyterrier_asl.charts import document_lengths as draw_document_lengths  # noqa: E402
from pyterrier_asl.charts import headroom as draw_headroom  # noqa: E402
from pyterrier_asl.charts import hidden_weighting as draw_hidden_weighting  # noqa: E402
from pyterrier_asl.charts import leaderboards as draw_leaderboards  # noqa: E402
from pyterrier_asl.charts import lexiprecision as draw_lexiprecision  # noqa: E402
from pyterrier_asl.charts import reordering as draw_reordering  # noqa: E402
from pyterrier_asl.charts import satisfaction as draw_satisfaction  # noqa: E402
from pyterrier_asl.charts import search_lengths as draw_lengths  # noqa: E402
from pyterrier_asl.charts import techniques as draw_techniques  # noqa: E402

QRELS = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 1, "c": 0}, "q3": {"b": 1, "a": 0}}
ALT = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "c": 1}, "q3": {"b": 1, "a": 0}}
RUNS = {
    "good": {"q1": {"a": 3, "b": 2}, "q2": {"a": 2, "c": 1}, "q3": {"b": 1}},
    "fair": {"q1": {"c": 3, "a": 2, "b": 1}, "q2": {"a": 1}, "q3": {"a": 2, "b": 1}},
    "poor": {"q1": {"c": 3, "x": 2, "a": 1}, "q2": {"c": 2, "a": 1}, "q3": {"a": 1}},
}
LENGTHS = DocLengths.from_dict({"a": 10, "b": 20, "c": 90, "x": 200})
JUDGES = {"person": QRELS, "model": ALT}


@pytest.fixture(scope="module")
def charts():
    return list(made())


def made():
    yield "Search lengths of good", draw_lengths.search_length_distribution(
        search_length_distribution(RUNS, QRELS, cutoff=10)
    )
    yield "good less fair", draw_lengths.search_length_changes(
        search_length_changes(RUNS, QRELS, cutoff=10)
    )
    yield "How much room is left", draw_headroom.headroom(
        headroom({"one": (RUNS, QRELS), "two": (RUNS, ALT)}, cutoff=10)
    )
    yield "From AP to ASL, step by step", draw_reordering.reordering(
        reordering(RUNS, QRELS, cutoff=10, each=True)
    )
    yield "Success at n", draw_satisfaction.satisfaction(
        satisfaction(RUNS, QRELS, assessors={"alt": ALT}, depth=3)
    )
    yield "Human scores and the system's", draw_assessors.human_range(
        human_range(RUNS, QRELS, assessors={"alt": ALT})
    )
    yield "One leaderboard, several judges", draw_leaderboards.leaderboards(
        leaderboards(RUNS, JUDGES)
    )
    yield "Agreement of judges: kappa", draw_leaderboards.judges_agreement(
        judge_agreement(JUDGES), "kappa"
    )
    yield "Lengths of the documents retrieved", draw_document_lengths.lengths_by_rank(
        lengths_by_rank(RUNS, QRELS, lengths=LENGTHS)
    )
    yield "The documents that AP is about", draw_hidden_weighting.effective_share(
        effective_share(RUNS, QRELS)
    )
    yield "good over poor", draw_techniques.compare_techniques(
        compare_techniques(RUNS, QRELS, old="poor", new="good", cutoff=10)
    )
    yield "person against model", draw_leaderboards.judge_confusion(
        judge_confusion(JUDGES), "person", "model"
    )


@pytest.mark.parametrize("place", range(12))
def test_charts_are_drawn_with_title_and_caption(charts, place, tmp_path):
    convert = pytest.importorskip("vl_convert")
    title, chart = charts[place]
    spec = chart.to_dict()
    assert spec["title"]["text"] == title and len(" ".join(spec["title"]["subtitle"])) > 40
    svg = convert.vegalite_to_svg(spec)
    assert svg.startswith("<svg") and title in svg.replace("&#39;", "'").replace("&apos;", "'")
    chart.save(str(tmp_path / "chart.html"))
    assert (tmp_path / "chart.html").stat().st_size > 1000


def test_charts_say_what_they_need():
    with pytest.raises(ValueError, match="no column 'RBO'"):
        draw_leaderboards.judges_agreement(judge_agreement(JUDGES), "RBO")
    with pytest.raises(ValueError, match="there is no pair \\('model', 'person'\\)"):
        draw_leaderboards.judge_confusion(judge_confusion(JUDGES), "model", "person")


def test_every_track_is_in_the_headroom_and_every_system_in_the_leaderboard(charts):
    panels = dict(charts)
    spec = panels["How much room is left"].to_dict()
    for panel in spec["concat"]:
        assert sum(row["tracks"] for row in spec["datasets"][panel["data"]["name"]]) == 2
    parts = panels["One leaderboard, several judges"].to_dict()["datasets"].values()
    shown = {(row["run"], row["judge"]) for part in parts for row in part}
    assert shown == {(run, judge) for run in RUNS for judge in JUDGES}


# Of a track of 129 runs, as TREC-8's; Altair refuses frames of more than 5,000 rows.

MANY = {f"run{number}": run for number, run in enumerate([*RUNS.values()] * 43)}


def data(chart) -> list[list[dict]]:
    """The rows of each data set of a chart as a notebook shows it."""
    return [rows for rows in chart.to_dict()["datasets"].values() if rows]


def test_all_pairs_of_129_systems_are_in_the_chart_of_preferences():
    frame = system_preferences(MANY, QRELS, ["rrLP"])
    (rows,) = data(draw_lexiprecision.system_preferences(frame))
    shown = {frozenset((row["a"], row["b"])) for row in rows}
    assert shown == {frozenset(pair) for pair in combinations(MANY, 2)}


def test_of_129_runs_assessors_and_the_best_have_a_colour_in_success_at_n():
    frame = satisfaction(MANY, QRELS, assessors={"alt": ALT}, depth=50)
    others, named = data(draw_satisfaction.satisfaction(frame))
    best = [name for name, run in MANY.items() if run != RUNS["poor"]][:6]  # which misses q3
    assert {row["curve"] for row in named} == {"alt", *best}
    assert len(others) + len(named) == len(frame) == 130 * 50


def test_the_first_of_129_runs_have_a_panel_of_lengths():
    deep = {name: {"q1": {"a": 0, **{f"d{i}": -i for i in range(1, 300)}}} for name in MANY}
    frame = lengths_by_rank(deep, QRELS, missing_length=1, cutoff=300)
    chart = draw_document_lengths.lengths_by_rank(frame)
    ((first,), told) = data(chart), chart.to_dict()["title"]["subtitle"]
    assert len(first) == 12 * 300
    assert " ".join(told).endswith("The first 12 of 129 runs.")


def test_charts_leave_altairs_limit_to_others():
    with pytest.raises(alt.MaxRowsError):
        alt.Chart(pd.DataFrame({"x": range(5001)})).mark_point().encode(x="x").to_dict()
