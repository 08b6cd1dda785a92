"""The figures of a page: axes for any number of systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from _charts import assert_everything_is_visible, parts

pytest.importorskip("altair")

from pyterrier_asl.reporting.figures import specifications  # noqa: E402


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
    ("systems", "step"),
    [(2, 1), (12, 1), (13, 2), (25, 5), (61, 10), (121, 20), (600, 50), (601, 100), (1201, 200)]
    + [(2400, 200), (2401, 500), (6001, 1000)],
)
def test_axes_of_ranks_have_the_first_and_every_round_rank(systems, step):
    for name, figure in specifications(systems, 100).items():
        for axis in ticks(figure, "rank", "row", "column"):
            assert axis == sorted({1, *range(step, systems + 1, step)}), name
        found = len(list(ticks(figure, "rank", "row", "column")))
        # Axes of up to 12 systems have names, except for the ranks by several measures.
        has_ranks = {"bump"} if systems <= 12 else {"bump", "loss", "matrix", "judged"}
        assert (found > 0) == (name in has_ranks)


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
    axis = specifications(systems, 100)["loss"]["encoding"]["x"]["axis"]
    assert axis["labelAngle"] == angle and ("values" in axis) == (systems > 12)


#: Points that only take the pointer, and bars of many systems, which touch.
HIDDEN = [
    {"type": "circle", "opacity": 0, "size": 60},
    {"type": "bar", "binSpacing": 0, "strokeWidth": 0},
]


@pytest.mark.parametrize("systems", [2, 12, 30])
@pytest.mark.parametrize("cutoff", [None, 100])
def test_everything_in_a_figure_is_visible(systems, cutoff):
    for figure in specifications(systems, cutoff).values():
        assert_everything_is_visible(figure, HIDDEN)


def test_colours_of_differences_have_their_middle_at_0():
    found = [scale for scale in all_named("scale", specifications(30, 100)) if "domainMid" in scale]
    assert found
    for scale in found:
        assert scale["domainMid"] == 0 and sum(scale["domain"]) == 0
