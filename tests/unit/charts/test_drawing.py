"""The parts and the scales that charts share (drawing.py, scales.py)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

alt = pytest.importorskip("altair")

from pyterrier_asl.charts import drawing, scales  # noqa: E402


def values(layer: alt.Chart) -> pd.DataFrame:
    return layer.data if isinstance(layer.data, pd.DataFrame) else pd.DataFrame(layer.data.values)


def on_lists(lists: dict) -> alt.LayerChart:
    """Runs run0, run1, ... by their ranks on each list."""
    frame = pd.concat(
        pd.DataFrame({"list": name, "rank": ranks, "moved": 1}) for name, ranks in lists.items()
    )
    frame["run"] = [f"run{number}" for number in frame.index]
    options = {"across": "list", "moved": "moved", "tooltip": ["run", "rank"]}
    return drawing.ranks_on_lists(frame, "R", "On lists.", **options)


@pytest.mark.parametrize("runs", [3, 129])
def test_ranks_name_the_first_40_runs_and_tell_ties_together(runs):
    drawn = on_lists(dict.fromkeys("pq", [1, 1, *range(3, runs + 1)]))
    labels = values(drawn.layer[-1])
    names = {f"run{number}" for number in range(min(runs, 40))}
    assert {*values(drawn.layer[0])["run"]} == names, "others are not seen"
    assert sorted(", ".join(labels["run"]).split(", ")) == sorted(names)
    assert labels["run"].iloc[0] == "run0, run1" and set(labels["list"]) == {"q"}
    assert drawn.height == 12 * min(max(10, runs), 40), "a line for each name"
    axis = drawn.to_dict()["layer"][0]["encoding"]["x"]["axis"]
    assert drawn.width == 2 * 130 and axis["labelLimit"] < 130, "names of lists do not touch"
    assert axis["labelAngle"] == 0 and not axis["domain"] and not axis["ticks"]


@pytest.mark.parametrize(
    ("lists", "name", "angle", "lines"),
    [(4, "x" * 7, 0, 1), (4, "x" * 8, -40, 1), (3, "x" * 8, 0, 1)]
    + [(2, "by all the runs of it", 0, 2), (2, "a long name in three lines", 0, 3)],
)
def test_names_of_lists_are_turned_where_more_than_three_have_over_eight_letters(
    lists, name, angle, lines
):
    """Names of several words are broken into lines, of 12 pixels each."""
    drawn = on_lists({f"{name}{number}": [1, 2] for number in range(lists)})
    axis = drawn.to_dict()["layer"][0]["encoding"]["x"]["axis"]
    assert (axis["labelAngle"], axis["labelPadding"]) == (angle, 3 + 12 * (lines - 1))


def test_a_run_below_the_first_40_on_one_list_is_drawn_where_it_is_above():
    drawn = on_lists({"p": range(1, 51), "q": range(50, 0, -1)})
    lines, points, names = map(values, drawn.layer)
    assert lines["run"].nunique() == 50 and points["rank"].max() == 40 and len(points) == 80
    assert drawn.layer[0].mark.clip is True, "lines end at the lowest rank"
    assert sorted(names["run"]) == sorted(f"run{i}" for i in range(10, 50))
    caption = " ".join(drawn.title.subtitle)
    assert caption.endswith("Ranks 1 to 40 of 50: lines below these ranks are cut off.")
    assert on_lists({"p": range(1, 41)}).title.subtitle == ["On lists."], "40 runs are all drawn"


#: A function, what it is given, and its ends or ticks.
ENDS = [
    # A twentieth of room around finite values
    (scales.around, [], [-0.05, 0.05]),
    (scales.around, [float("nan"), 2], [1.95, 2.05]),
    (scales.around, [float("inf"), 0, 1], [-0.05, 1.05]),
    (scales.around, [-3, 1], [-3.2, 1.2]),
    # Powers of ten up to the first that reaches the largest value
    *((scales.powers_of_ten, most, [1, 10]) for most in (0, 1, 10)),
    *((scales.powers_of_ten, most, [1, 10, 100]) for most in (11, 100)),
    (scales.powers_of_ten, 1000.5, [1, 10, 100, 1000, 10**4]),
    # Nothing, a quarter and the most of counts
    (drawing.some_values, pd.Series([0, 3, 8]), [0, 2, 8]),
    (drawing.some_values, pd.Series([9]), [0, 2, 9]),
    (drawing.some_values, pd.Series([0]), [0]),
    (drawing.some_values, pd.Series([1]), [0, 1]),
]


@pytest.mark.parametrize(("function", "given", "expected"), ENDS)
def test_ends_and_ticks(function, given, expected):
    assert function(given) == pytest.approx(expected)


def test_colours_of_collections_are_for_several():
    frame = pd.DataFrame({"collection": ["a", "a"], "value": [1, 2]})
    assert drawing.by_collection(frame) == drawing.by_collection(frame[["value"]]) == {}
    two = drawing.by_collection(frame.assign(collection=["a", "b"]))
    assert two["color"].to_dict()["field"] == "collection"
    assert drawing.by_collection(frame.assign(track=["a", "b"]), "track")


def test_scales_of_shares_end_at_1_and_are_the_same_for_panels():
    assert scales.up_to_1([0.97, float("nan")])["domain"] == [0.9, 1]
    assert scales.up_to_1([0.97, 0.43])["domain"] == [0.4, 1]
    assert scales.up_to_1([-0.33])["domain"] == [-0.4, 1]
    assert scales.up_to_1([])["domain"] == [0.9, 1]


@pytest.mark.parametrize(
    "values, domain", [([0.2], [0, 1]), ([0, 1], [0, 1]), ([-0.01, 1], [-1, 1]), ([], [0, 1])]
)
def test_colours_of_coefficients_have_both_signs_if_a_value_is_negative(values, domain):
    scale = scales.coefficient_colors(values)
    assert scale["domain"] == domain
    assert (scale["reverse"] is True) == (domain[0] < 0), "1 is blue, and -1 orange"


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("most", [2, 12, 13, 14, 24, 25, 37, 60, 61, 128, 1000, 1201])
def test_ticks_of_counts_are_the_first_and_all_round_numbers_in_at_most_12_steps(least, most):
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200) if most - least <= 12 * s)
    expected = sorted({least, *(n for n in range(least, most + 1) if n % step == 0)})
    assert scales.whole_numbers(least, most) == expected


def test_numbers_at_the_ends_of_axes_stand_at_their_ticks():
    frame = pd.DataFrame({"x": [1, 2], "y": [1, 2]})
    base = alt.Chart(frame).mark_point().encode(x="x:Q", y=alt.Y("y:Q", axis=alt.Axis(format="d")))
    spec = drawing.captioned(alt.hconcat(alt.layer(base, base), base), "T", "C.").to_dict()
    charts = *spec["hconcat"][0]["layer"], spec["hconcat"][1]
    axes = [chart["encoding"][name]["axis"] for chart in charts for name in ("x", "y")]
    assert [axis["labelFlush"] for axis in axes] == [False] * 6
    assert axes[1]["format"] == "d"
    alt.hconcat(drawing.captioned(base, "T", "C."), drawing.captioned(base, "T", "C.")).to_dict()


@pytest.mark.parametrize(
    ("tied", "more"), [(1, ""), (3, ", run1, run2"), (4, ", run1, run2 and 1 more")]
)
def test_three_of_the_runs_with_one_rank_are_named(tied, more):
    assert values(on_lists({"p": [1] * tied}).layer[-1])["run"].tolist() == ["run0" + more]


@pytest.mark.parametrize("systems", [2, 12, 13, 100])
def test_a_matrix_has_room_for_names_of_rows_and_names_up_to_12_columns(systems):
    order = [f"s{number}" for number in range(systems)]
    base = alt.Chart(pd.DataFrame({"a": order, "b": order})).mark_rect()
    drawn = drawing.square(base, "a", "b", order).to_dict()
    assert drawn["width"] == drawn["height"] == max(160, 12 * systems)
    x, y = drawn["encoding"]["x"], drawn["encoding"]["y"]
    assert (x["field"], y["field"]) == ("b", "a") and x["sort"] == y["sort"] == order
    assert x["axis"]["labels"] == x["axis"]["ticks"] == (systems <= 12)
    assert y["axis"].get("labels", True) and x["axis"]["labelAngle"] == -90


@pytest.mark.parametrize("rows", [0, 39, 40, 41])
def test_of_a_long_list_40_rows_are_drawn(rows):
    shown, sentence = drawing.first_of(pd.DataFrame({"n": range(rows)}), "pairs")
    assert shown["n"].tolist() == list(range(min(rows, 40)))
    assert sentence == (" The first 40 of 41 pairs." if rows == 41 else "")


def test_numbers_of_bars_are_at_their_right_and_of_negative_bars_at_0():
    frame = pd.DataFrame({"value": [2.0, -1.0], "name": ["a", "b"]})
    drawn = drawing.bars(frame, "value", ".1f", x=alt.X("value:Q", title="t"), y=alt.Y("name:N"))
    bar, number = drawn.to_dict()["layer"]
    assert bar["encoding"]["x"]["field"] == "value"
    assert number["transform"] == [{"calculate": "max(0, datum['value'])", "as": "end"}]
    assert number["encoding"]["x"] == {"field": "end", "title": "t", "type": "quantitative"}
    assert number["encoding"]["text"]["format"] == ".1f"
    assert number["mark"]["align"] == "left" and number["mark"]["dx"] == 3


def test_panels_in_rows_are_in_the_order_of_the_table_and_rows_as_high_as_asked():
    frame = pd.DataFrame({"x": [1, 2, 3], "of": ["b", "a", "b"]})
    panel = alt.layer(alt.Chart().mark_point().encode(x="x:Q"), data=frame)
    drawn = drawing.in_rows(panel, "of", frame["of"], rows=2).to_dict()
    assert drawn["facet"]["row"]["sort"] == ["b", "a"]
    assert drawn["spec"]["height"] == {"step": 36}
    assert drawing.in_rows(panel, "of", frame["of"]).to_dict()["spec"]["height"] == {"step": 18}
    figure = drawing.figure(alt.Chart(frame).mark_point(), "T", "c" * 150, rows=0.5, x="x:Q")
    assert figure.to_dict()["height"] == {"step": drawing.STEP / 2}
    wide = drawing.captioned(figure, "T", "c" * 150, drawing.WIDE_CAPTION).to_dict()["title"]
    for title, longest in ((figure.to_dict()["title"], 48), (wide, 90)):
        assert [*map(len, title["subtitle"])][0] == longest
        assert title["offset"] == 12, "a line below the caption"


def test_charts_are_four_to_three_and_have_a_legend_of_two_columns_below():
    drawn = drawing.figure(alt.Chart(pd.DataFrame({"x": [1]})).mark_point(), "T", "C.").to_dict()
    assert drawn["width"] / drawn["height"] == 4 / 3
    legend = drawing.category("x").to_dict()["legend"]
    titles = [drawing.category("x", "runs"), drawing.shape("x", "runs", domain=[1])]
    assert [channel.to_dict()["title"] for channel in titles] == ["runs", "runs"]
    assert legend == {"orient": "bottom", "columns": 2, "symbolOpacity": 1, "labelLimit": 0}
    assert drawing.yes_or_no("x").to_dict()["legend"]["labelExpr"] == "datum.value ? 'yes' : 'no'"


def test_rows_far_from_the_others_are_named_instead_of_drawn():
    """Three times the distance of the quartiles, 2.75 and 6: 15 would be far by 1.5 times it."""
    values = [16, 2, 4, 3, 6, 2, 5, 6, 4, 15, -10.5, 4]
    assert np.quantile(values, [0.25, 0.75]).tolist() == [2.75, 6]
    frame = pd.DataFrame({"system": [*"lbcdefghijak"], "x": values, "y": 1.0})
    frame.loc[3, "y"] = 99  # no distance of quartiles: nothing is far
    drawn, sentence = scales.without_outliers(frame, "x", "y")
    assert drawn["system"].tolist() == [*"bcdefghijk"]
    assert sentence == " Far from the others and not drawn: l and a."
    assert scales.without_outliers(frame.head(9), "x")[1] == ""
    assert scales.without_outliers(drawn.iloc[[0] * 10], "x")[1] == ""
