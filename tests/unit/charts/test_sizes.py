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
    assert 3 * 200 <= wide < 4 * 200 and 3 * 100 <= high < 4 * 100


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


@pytest.mark.parametrize(
    ("limit", "height"),
    [(1000, 1000), (999, 800), (700, 650), (500, 500), (450, 400), (350, 300), (210, 200)],
)
def test_views_are_lowered_as_little_as_fits(limit, height):
    found = lowered({"mark": "bar", "height": 1000}, limit, lambda spec: spec["height"])
    assert found["height"] == height


@pytest.mark.parametrize(("side", "least"), [("width", 8), ("height", 9)])
@pytest.mark.parametrize("step", [5, 8, 9, 20])
def test_rows_and_columns_keep_room_for_their_letters(side, least, step):
    """Names beside rows and above columns are not scaled."""
    spec = {"mark": "bar", side: {"step": step}}
    if side == "width":
        found = fitted(spec, 100, lambda one: 1000 * one["width"]["step"])
    else:
        found = lowered(spec, 100, lambda one: 1000 * one["height"]["step"])
    assert found[side] == {"step": min(step, least)}


def test_a_view_without_a_size_has_that_of_vega_lite_and_at_least_30_pixels():
    view, sized = {"mark": "bar"}, {"mark": "bar", "width": 200, "height": 90}
    assert fitted(view, 301, lambda one: one.get("width", 300))["width"] == pytest.approx(
        301, abs=2
    )
    assert lowered(view, 199, lambda one: one.get("height", 200))["height"] == 160
    for spec in (view, sized):
        assert fitted(spec, 30, lambda one: one.get("width", 300))["width"] == 30
    assert lowered(sized, 20, lambda one: one["height"])["height"] == 30


def test_a_picture_that_cannot_be_narrow_or_wide_enough_is_still_readable():
    assert fitted({"mark": "bar", "width": 300}, 100, lambda one: 500)["width"] == 120
    assert fitted({"mark": "bar", "width": 100}, 500, lambda one: one["width"])["width"] == 400


def test_pictures_are_as_wide_as_the_columns_and_pages_of_acm():
    """acmart has 241.147 points for a column and 506.295 for the text of a page."""
    assert 0 <= 241.147 - WIDTHS["column"] < 1 and 0 <= 506.295 - WIDTHS["page"] < 1


@pytest.mark.parametrize(("width", "columns"), [(400, 3), (319, 3), (314, 2), (209, 1), (50, 1)])
def test_as_many_panels_are_side_by_side_as_fit(width, columns):
    """A panel of 300 pixels can be narrowed to 35%: 105 pixels."""
    panel = {"mark": "bar", "width": 300}
    spec = {"concat": [panel] * 3, "columns": 3}
    found = fitted(spec, width, lambda one: one["columns"] * one["concat"][0]["width"])
    assert found["columns"] == columns
    assert columns * found["concat"][0]["width"] <= max(width, 30)


def test_below_400_pixels_panels_and_legends_are_in_one_column():
    color = {"field": "kind", "legend": {"columns": 3, "orient": "bottom"}}
    panel = {"mark": "bar", "width": 100, "encoding": {"color": color}}
    spec = {"hconcat": [panel, {"layer": [panel, panel], "width": 100}], "resolve": {}}
    wide, narrow = (fitted(spec, width, lambda one: 0) for width in (400, 399))
    assert "hconcat" in wide and "vconcat" not in wide and "resolve" in narrow
    first, second = narrow["vconcat"]
    views = [first, *second["layer"]]
    assert [view["encoding"]["color"]["legend"]["columns"] for view in views] == [1, 1, 1]
    assert first["encoding"]["color"]["legend"]["orient"] == "bottom"
    assert wide["hconcat"][0]["encoding"]["color"]["legend"]["columns"] == 3
    assert spec["hconcat"][0]["encoding"]["color"]["legend"]["columns"] == 3, "a copy is changed"


@pytest.mark.parametrize("caption", [str, str.split])
def test_titles_and_captions_are_broken_into_lines_of_the_width(caption):
    """A letter of a title has about 7.4 pixels, of a caption 6.4."""
    words = "word " * 60
    title = {"text": words, "subtitle": caption(words)}
    panel = {"mark": "bar", "title": title}
    found = fitted({"vconcat": [panel, {"mark": "bar", "title": "short"}]}, 241, lambda one: 0)
    lines = found["vconcat"][0]["title"]
    for text, pixels in ((lines["text"], 7.4), (lines["subtitle"], 6.4)):
        assert " ".join(text) == words.strip()
        assert 241 - 5 * pixels < max(map(len, text)) * pixels <= 241
    assert found["vconcat"][1]["title"] == "short"
