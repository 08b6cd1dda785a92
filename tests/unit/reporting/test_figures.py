"""The figures of a page: axes for any number of systems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from _charts import assert_everything_is_visible, parts

pytest.importorskip("altair")

from pyterrier_asl.reporting.render import FEW, environment  # noqa: E402


def specifications(systems: int, cutoff: int | None = None) -> dict[str, Any]:
    """The figures of a page of so many systems."""
    template = environment().get_template("figures.json.j2")
    return json.loads(template.render(systems=systems, cutoff=cutoff, few=FEW))


def ticks(part: Any, *fields: str) -> Iterator[list[int]]:
    """The ticks of the axes of some fields."""
    if isinstance(part, dict):
        axis = part.get("axis")
        if part.get("field") in fields and isinstance(axis, dict) and "values" in axis:
            yield axis["values"]
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from ticks(inner, *fields)


@pytest.mark.parametrize(
    ("depth", "powers"), [(5, [1]), (99, [1, 10]), (100, [1, 10, 100]), (101, [1, 10, 100])]
)
def test_axes_of_ranks_of_documents_have_powers_of_ten_up_to_the_depth(depth, powers):
    assert list(ticks(specifications(5, depth)["ranks"], "x", "y")) == [powers, powers]


def all_named(name: str, part: Any) -> Iterator[dict[str, Any]]:
    """All scales or axes of a figure."""
    if isinstance(part, dict):
        if isinstance(part.get(name), dict):
            yield part[name]
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from all_named(name, inner)


@pytest.mark.parametrize("systems", [1, 2, 30])
def test_axes_of_ranks_do_not_begin_at_0(systems):
    found = []
    for part in parts(specifications(systems, 100)):
        channels = [part[name] for name in ("x", "y") if isinstance(part.get(name), dict)]
        found += [c for c in channels if c.get("field") == "rank" and c["type"] == "quantitative"]
    assert found
    for channel in found:
        low, high = channel["scale"].get("domain", (1, 2))
        assert low == 1 < high and ("domain" in channel["scale"] or not channel["scale"]["zero"])


@pytest.mark.parametrize("systems", [2, 30])
def test_an_axis_without_labels_has_no_ticks(systems):
    found = [axis for axis in all_named("axis", specifications(systems, 100)) if "labels" in axis]
    assert found and not any(axis["labels"] or axis["ticks"] for axis in found)


@pytest.mark.parametrize(("systems", "angle"), [(2, 0), (3, 0), (4, -30), (12, -30), (13, 0)])
def test_names_of_4_to_12_systems_are_turned_and_more_have_ranks(systems, angle):
    shown = specifications(systems, 100)["loss"]["encoding"]["x"]
    assert shown["axis"]["labelAngle"] == angle
    assert (shown["field"], shown["sort"]["field"]) == (
        "rank" if systems > 12 else "system",
        "rank",
    )


#: Points that only take the pointer, and bars of many systems, which touch.
HIDDEN = [
    {"type": "point", "filled": True, "opacity": 0, "size": 60},
    {"type": "bar", "binSpacing": 0, "strokeWidth": 0},
]
#: Pixels, for all figures except the ranks by several measures.
SIZES = {
    "height": {280, 64},  # a figure, all systems on one query
    "labelLimit": {330},
    "size": {60, 34},  # the area of a point, the length of a tick
    "strokeWidth": set(),
    "thickness": {2},
    "fontSize": set(),
    "tickCount": {3},
    "padding": {12, 0.3},  # pixels, a share of the distance of two measures
    "labelPadding": {10},
    "gradientLength": {180},
}


@pytest.mark.parametrize("systems", [2, 12, 30])
@pytest.mark.parametrize("cutoff", [None, 100])
def test_everything_in_a_figure_is_visible(systems, cutoff):
    for name, figure in specifications(systems, cutoff).items():
        sizes = SIZES | ({"height": {figure.get("height")}} if name == "bump" else {})
        assert_everything_is_visible(figure, sizes, HIDDEN)


@pytest.mark.parametrize(("systems", "height"), [(2, 200), (12, 264), (14, 308), (601, 480)])
def test_the_ranks_by_several_measures_have_22_pixels_for_each_system_within_limits(
    systems, height
):
    assert specifications(systems, 100)["bump"]["height"] == height


def test_the_line_of_a_system_under_the_pointer_is_opaque_and_three_times_as_thick():
    """Points of 60 pixels that nobody sees take the pointer."""
    figure = specifications(30, 100)["bump"]
    lines, points, *_ = figure["layer"]
    [near] = points["params"]
    assert points["mark"]["opacity"] == 0
    assert near["name"] == lines["encoding"]["opacity"]["condition"]["param"]
    near, usual = (
        [lines["encoding"][name]["condition"]["value"], lines["encoding"][name]["value"]]
        for name in ("opacity", "strokeWidth")
    )
    assert near[0] == 1 and 0.1 < near[1] < 0.5 and usual == [3, 1]
    assert lines["encoding"]["opacity"]["condition"]["empty"] is False, "grey without a pointer"


def test_names_at_the_ends_of_lines_have_room():
    """Short names have up to 16 letters, bold ones about 7 pixels each."""
    figure = specifications(30, 100)["bump"]
    assert figure["layer"][-1]["mark"]["dx"] + 16 * 7 <= figure["padding"]["right"] <= 120
    assert [figure["padding"][side] for side in ("left", "top", "bottom")] == [5, 5, 5]


@pytest.mark.parametrize("cutoff", [5, 1000])
def test_missed_documents_are_beyond_a_dashed_line_after_the_last_rank(cutoff):
    """The page draws them at half a ranking after its end; the axis has as much room again."""
    figure = specifications(5, cutoff)["ranks"]
    across, dots_across, up, dots_up, points = figure["layer"]
    [line] = across["data"]["values"]
    assert up["data"] == across["data"] and cutoff < line["at"] < 1.25 * cutoff
    for name in ("x", "y"):
        low, high = points["encoding"][name]["scale"]["domain"]
        assert 0.5 < low < 1 and high == 2 * cutoff
        assert points["encoding"][name]["scale"]["nice"] is False  # the lines have no domain
        assert points["encoding"][name]["axis"]["grid"] is False
    for view, dashes in ((across, [4, 3]), (up, [4, 3]), (dots_across, [1, 3]), (dots_up, [1, 3])):
        assert view["mark"]["strokeDash"] == dashes


@pytest.mark.parametrize(("systems", "touching"), [(12, False), (13, True)])
def test_bars_of_more_than_12_systems_touch(systems, touching):
    mark = specifications(systems, 100)["loss"]["mark"]
    assert ((mark.get("binSpacing"), mark.get("strokeWidth")) == (0, 0)) == touching


def test_a_query_with_more_relevant_documents_has_a_larger_point_within_the_figure():
    encoding = specifications(5, 100)["queries"]["encoding"]
    least, most = encoding["size"]["scale"]["range"]
    # The largest point is ten times as large as the smallest and does not cross the edge.
    assert most > 10 * least >= 10 * 30 and most**0.5 / 2 <= 12
    assert encoding["order"]["sort"] == "descending", "small points are drawn last"
    assert encoding["x"]["scale"]["zero"] is False and "zero" not in encoding["y"]["scale"]
    assert "size" not in specifications(5, None)["queries"]["encoding"]


def test_colours_of_differences_have_their_middle_at_0():
    found = [scale for scale in all_named("scale", specifications(30, 100)) if "domainMid" in scale]
    assert found
    for scale in found:
        assert scale["domainMid"] == 0 and sum(scale["domain"]) == 0
