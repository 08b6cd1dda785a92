"""The forms that charts share."""

from __future__ import annotations

import pandas as pd
import pytest

alt = pytest.importorskip("altair")

from pyterrier_asl.charts import forms  # noqa: E402


def values(layer: alt.Chart) -> pd.DataFrame:
    return layer.data if isinstance(layer.data, pd.DataFrame) else pd.DataFrame(layer.data.values)


def test_each_line_has_its_name_at_its_end_and_no_two_overlap():
    frame = pd.DataFrame(
        {"x": [1, 2] * 4, "y": [0, 1, 0, 0.99, 0, 0.98, 0.5, 0], "line": list("aabbccdd")}
    )
    drawn = forms.labelled_lines(
        frame, x=alt.X("x:Q"), y=alt.Y("y:Q"), color=forms.category("line"), tooltip=["x"]
    )
    lines, names = drawn.layer
    assert lines.to_dict()["encoding"]["color"]["legend"] is None, "the names say it"
    shown = values(names).set_index("line")
    assert list(shown.index) == ["d", "c", "b", "a"] and (shown["x"] == 2).all()
    pixels = shown["y"] * forms.HEIGHT
    assert (pixels.diff().dropna() >= 11.9).all()
    assert shown["y"].between(0, 1).all(), "the axis ends where the lines do"


def test_names_that_are_too_long_to_stand_beside_lines_are_in_a_legend_below():
    names = ["AP_Rareness(alpha=1.0)@100", "P@5"]
    frame = pd.DataFrame({"x": [1, 2] * 2, "y": [0, 1, 2, 3], "line": [*names, *names]})
    drawn = forms.labelled_lines(
        frame, x=alt.X("x:Q"), y=alt.Y("y:Q"), color=forms.category("line"), tooltip=["x"]
    ).to_dict()
    (lines,) = drawn["layer"]
    assert lines["encoding"]["color"]["legend"]["orient"] == "bottom"


def test_a_single_flat_line_keeps_its_place():
    frame = pd.DataFrame({"x": [1, 2], "y": [1.0, 1.0], "line": "a"})
    names = forms.end_labels(frame, x=alt.X("x:Q"), y=alt.Y("y:Q"), color=forms.category("line"))
    assert values(names)["y"].tolist() == [1.0]


@pytest.mark.parametrize("runs", [3, 37, 129])
def test_ranks_name_every_run_and_tell_ties_together(runs):
    names = [f"run{i}" for i in range(runs)]
    ranks = [1, 1, *range(3, runs + 1)]
    frame = pd.concat(
        pd.DataFrame({"run": names, "list": one, "rank": ranks, "moved": 0}) for one in ("p", "q")
    )
    drawn = forms.ranks_on_lists(
        frame, "Ranks", "On lists.", across="list", moved="moved", tooltip=["run", "rank"]
    )
    labels = values(drawn.layer[-1])
    assert sorted(", ".join(labels["run"]).split(", ")) == sorted(names)
    assert labels["run"].iloc[0] == "run0, run1" and set(labels["list"]) == {"q"}
    assert drawn.height >= 12 * runs, "room for each name"
    assert drawn.to_dict()["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == 0
