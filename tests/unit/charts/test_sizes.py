"""Charts as wide as a column or a page of a paper: measured in the picture that is drawn."""

from __future__ import annotations

import struct
from pathlib import Path

import pandas as pd
import pytest

from pyterrier_asl.charts.forms import captioned
from pyterrier_asl.charts.saving import (
    PIXELS,
    WIDTHS,
    fitted,
    lowered,
    save_chart,
    without_titles,
)

alt = pytest.importorskip("altair")
pytest.importorskip("vl_convert")

FRAME = pd.DataFrame({"run": ["bm25", "a rather long name"], "AP": [0.2, 0.3], "kind": ["x", "y"]})


def bars(**size):
    chart = alt.Chart(FRAME, **size).mark_bar().encode(x="AP:Q", y="run:N", color="kind:N")
    return captioned(chart, "A title", "A caption that says how to read what is drawn. " * 3)


def size_of(path: Path) -> tuple[int, int]:
    """Width and height, from the header of a PNG."""
    header = path.read_bytes()[16:24]
    return struct.unpack(">II", header)


def panels():
    plain = alt.Chart(FRAME, width=200).mark_bar().encode(x="AP:Q", y="run:N")
    return captioned(alt.hconcat(plain, plain), "A title", "A caption.")


@pytest.mark.slow
@pytest.mark.parametrize(
    "chart, width",
    [(bars(width=360), "page"), (bars(width=900), "column"), (panels(), 400), (panels(), "column")],
)
def test_the_whole_picture_is_as_wide_as_asked(tmp_path, chart, width):
    path = tmp_path / "chart.png"
    save_chart(chart, path, width=width)
    points = WIDTHS[width] if isinstance(width, str) else width
    assert size_of(path)[0] == pytest.approx(PIXELS * points, abs=8 * PIXELS)
    assert size_of(path)[0] <= PIXELS * points


def test_pictures_have_three_pixels_for_each_of_the_chart(tmp_path):
    chart = alt.Chart(FRAME, width=200, height=100).mark_point()
    save_chart(chart, tmp_path / "chart.png")
    wide, high = size_of(tmp_path / "chart.png")
    assert wide >= 3 * 200 and high >= 3 * 100


def test_a_chart_without_title_keeps_the_names_of_its_slices():
    plain = without_titles(bars().to_dict())
    assert "title" not in plain and plain["mark"]["type"] == "bar"
    one = captioned(alt.Chart(FRAME).mark_point(), "Ties: short", "C")
    slices = without_titles(alt.vconcat(one, one).to_dict())
    assert [part["title"] for part in slices["vconcat"]] == ["short", "short"]


def test_a_width_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="width 'broad' is none of column, page"):
        save_chart(bars(), tmp_path / "chart.svg", width="broad")


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param(lambda view: view + 90, id="names beside the view"),
        pytest.param(lambda view: max(view + 90, 230), id="names on the view"),
        pytest.param(lambda view: max(view + 90, 300 - view), id="a title over a narrow view"),
    ],
)
def test_a_few_drawings_find_the_width_of_a_view(beside):
    drawn = []

    def measured(spec):
        drawn.append(spec)
        return beside(spec["width"])

    found = fitted({"mark": "bar", "width": 360, "height": 100}, 241, measured)
    assert 241 - 2 <= beside(found["width"]) <= 241
    assert found["height"] == 100 and len(drawn) <= 9


@pytest.mark.parametrize("names", [0, 40.5, 100])
@pytest.mark.parametrize("slope", [0.7, 1, 2.3])
def test_a_picture_is_never_wider_than_asked(names, slope):
    for width in range(180, 900, 13):
        spec = {"mark": "bar", "width": 360, "height": 100}
        found = fitted(spec, width, lambda one: names + slope * one["width"])
        assert width - 2 <= names + slope * found["width"] <= width


def test_a_square_view_stays_square():
    found = fitted({"mark": "rect", "width": 900, "height": 900}, 241, lambda one: one["width"])
    assert found["height"] == found["width"] <= 241


@pytest.mark.parametrize(("limit", "height"), [(1000, 1000), (999, 800), (700, 650), (210, 200)])
def test_views_are_lowered_as_little_as_fits(limit, height):
    found = lowered({"mark": "bar", "height": 1000}, limit, lambda spec: spec["height"])
    assert found["height"] == height
