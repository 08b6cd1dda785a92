"""The charts of search lengths, assessors and leaderboards: drawn, captioned, and complete."""

import pandas as pd
import pytest

from pyterrier_asl import DocLengths
from pyterrier_asl.analysis import headroom, lengths_by_rank, system_preferences

alt = pytest.importorskip("altair")


QRELS = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 1, "c": 0}, "q3": {"b": 1, "a": 0}}
ALT = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "c": 1}, "q3": {"b": 1, "a": 0}}
RUNS = {
    "good": {"q1": {"a": 3, "b": 2}, "q2": {"a": 2, "c": 1}, "q3": {"b": 1}},
    "fair": {"q1": {"c": 3, "a": 2, "b": 1}, "q2": {"a": 1}, "q3": {"a": 2, "b": 1}},
    "poor": {"q1": {"c": 3, "x": 2, "a": 1}, "q2": {"c": 2, "a": 1}, "q3": {"a": 1}},
}
LENGTHS = DocLengths.from_dict({"a": 10, "b": 20, "c": 90, "x": 200})


def test_every_track_is_in_the_headroom():
    tracks = {"one": (RUNS, QRELS), "two": (RUNS, ALT)}
    spec = headroom.draw(headroom(tracks, cutoff=10)).to_dict()
    for panel in spec["concat"]:
        rows = spec["datasets"][panel["data"]["name"]]
        assert len(rows) == 2 and all(row["best_run"] in row["label"] for row in rows)


# A track of 129 runs, as TREC-8; Altair refuses frames of more than 5,000 rows.

MANY = {f"run{number}": run for number, run in enumerate([*RUNS.values()] * 43)}


def data(chart) -> list[list[dict]]:
    """The rows of each data set of a chart as a notebook shows it."""
    return [rows for rows in chart.to_dict()["datasets"].values() if rows]


@pytest.mark.slow
def test_the_chart_of_preferences_names_all_systems_and_has_the_better_at_the_top_of_its_scale():
    vl_convert = pytest.importorskip("vl_convert")
    drawn = system_preferences.draw(system_preferences(MANY, QRELS, ["rrLP"])).to_dict()
    (panel,) = drawn["concat"]
    color = panel["encoding"]["color"]
    scale = color["condition"]["scale"]
    low, high = scale["domain"]
    assert low < 0 < high and scale["reverse"], "blue, for the row, is above"
    assert color["condition"]["test"] == "datum.significant" and color["value"] == "#eee"
    text = vl_convert.vegalite_to_svg(drawn)
    for name in MANY:
        assert text.count(f">{name}</text>") == 1, "columns are in the order of rows"


def test_the_chart_of_a_few_preferences_marks_what_is_significant():
    few = dict(list(MANY.items())[:3])
    drawn = system_preferences.draw(system_preferences(few, QRELS, ["rrLP"])).to_dict()
    _, dots = drawn["concat"][0]["layer"]
    assert dots["mark"]["type"] == "circle"
    assert {"filter": "datum.significant"} in dots["transform"]


def test_of_many_tracks_the_headroom_counts_those_of_about_one_value():
    """A bin contains its upper end; the best values are at the left."""
    ends, tenths = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], range(10, 0, -1)
    lengths = {"1": 1} | {f"to {end}": 2 for end in ends[1:]} | {"more": 1}
    shares = {f"{n / 10 - 0.1:.1f} to {n / 10:.1f}": 2 for n in tenths}
    values = {
        "ASL": ([*ends, *(end + 0.1 for end in ends)], lengths),
        "AP": ([*(n / 10 for n in tenths), *(n / 10 - 0.05 for n in tenths)], shares),
    }
    for measure, (best, counts) in values.items():
        frame = pd.DataFrame({"measure": measure, "value": best})
        chart = headroom.draw(frame.assign(track=frame.index.map("track{}".format)))
        (panel,), (rows,) = chart.to_dict()["concat"], data(chart)
        assert panel["encoding"]["x"]["sort"] == list(counts)
        assert {row["bin"]: row["tracks"] for row in rows} == counts


def test_the_first_6_of_many_runs_have_a_panel_of_lengths():
    deep = {f"r{n}": {"q1": {"a": 0, **{f"d{i}": -i for i in range(1, 30)}}} for n in range(8)}
    frame = lengths_by_rank(deep, QRELS, missing_length=1, cutoff=20)
    chart = lengths_by_rank.draw(frame)
    ((first,), told) = data(chart), chart.to_dict()["title"]["subtitle"]
    assert len(first) == 6 * 20
    assert " ".join(told).endswith("The first 6 of 8 runs.")


def test_charts_leave_altairs_limit_to_others():
    with pytest.raises(alt.MaxRowsError):
        alt.Chart(pd.DataFrame({"x": range(5001)})).mark_point().encode(x="x").to_dict()
