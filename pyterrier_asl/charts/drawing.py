"""Parts that charts share: captions, sizes, colours, bars, cells, ranks, ranges."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from ..common.lazy import alt as alt
from ..common.lazy import pd
from .scales import whole_numbers

#: The size of a view. With its axis it is some 300 pixels wide: as wide as the column of a paper it
#: has letters of 8 points.
WIDTH, HEIGHT = 240, 180

#: The width of the view beside names, and of each of two charts side by side.
BESIDE_NAMES, PANEL = 170, 220

#: Points of a paper per pixel of a chart: letters of 10 pixels have 8 points.
POINTS = 0.8

#: Characters of a caption line over a chart of the usual width.
CAPTION = 48

#: Characters of a caption line over two charts side by side.
WIDE_CAPTION = 90

#: Okabe and Ito's colours: distinguished by all readers.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000")

#: Pixels of a row with a name at its left.
STEP = 18

#: Pixels of a row in a crowded chart, which can have very many rows.
ROW = 12

#: The height of a row in a crowded chart, as a multiple of STEP.
CROWDED = ROW / STEP

#: Pixels of letters in a chart, as at its axes.
LETTERS = 10

#: Options of a point, and its radius in pixels: Vega's size is the area of a square around it.
POINT: dict[str, Any] = {"filled": True, "size": 60, "opacity": 1}
RADIUS = math.sqrt(POINT["size"]) / 2

#: Pixels between a point or a bar and its name, and of a bar below its name.
GAP, BAR = 3, 5

#: Dashes and gaps of lines that show no data.
DASHED = [4, 3]

#: Pixels of a long name at the left of a chart.
LONG_NAME = 130

#: The label of an axis that breaks a measure's name before its parameters, a Vega expression.
TWO_LINES = r"split(replace(datum.label, '(', '\n('), '\n')"

#: The pattern where a label of several words is broken, and the label as a Vega expression.
_BREAK = "(.{8,}?) "
IN_LINES = rf"split(replace(datum.label, regexp('{_BREAK}', 'g'), '$1\n'), '\n')"

#: The most characters of a name that fits above or below a narrow column.
SHORT = 8

#: The most systems with names along both sides of a matrix.
FEW_COLUMNS = 12

#: The number of rows of a long list that are drawn.
MOST = 40


def figure(
    marked: alt.TopLevelMixin,
    title: str,
    caption: str,
    *,
    width: int | None = None,
    height: Any = HEIGHT,
    rows: float | None = None,
    **channels: Any,
) -> alt.TopLevelMixin:
    """A chart in the usual size, under its title and caption.

    Args:
        marked: the chart with its mark, or several layers.
        title: the content, in a few words.
        caption: how to read the chart.
        width: pixels; None: the usual width, of rows the one beside names.
        height: pixels, or an Altair step per row.
        rows: the height of each row, as a multiple of STEP; replaces ``height``.
        **channels: the encoding channels.
    """
    usual, height = (WIDTH, height) if rows is None else (BESIDE_NAMES, alt.Step(rows * STEP))
    return captioned(
        marked.encode(**channels).properties(width=width or usual, height=height), title, caption
    )


def captioned(
    chart: alt.TopLevelMixin, title: str, caption: str, width: int = CAPTION
) -> alt.TopLevelMixin:
    """The chart under a title and a caption.

    Args:
        chart: an Altair chart.
        title: the content, in a few words.
        caption: how to read the chart; it is broken into lines.
        width: characters per line.
    """
    return finished(
        chart.properties(
            title=alt.TitleParams(
                title,
                subtitle=textwrap.wrap(caption, width),
                anchor="start",
                subtitleColor="gray",
                offset=ROW,
            )
        )
    )


#: The beginning of an HTML tag, and a character that looks like it.
_TAG, _LIKE_IT = re.compile("<(?=[a-zA-Z/!?])"), "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"


def finished(part: Any) -> Any:
    """A part of a chart without HTML tags in its data, names and titles, and with tidy axes.

    A page holds a chart in a script, which a run called ``</script>`` would end. The chart is safe
    whatever saves it.

    The numbers of axes are apart, and at their ticks; Vega moves those at the ends inwards. This is
    set for each axis, as a chart with a configuration cannot be combined with others.

    >>> finished(["</script><img>", "a < b"])
    ['‹/script>‹img>', 'a < b']
    """
    if isinstance(part, str):
        return _TAG.sub(_LIKE_IT, part)
    if isinstance(part, (list, tuple)):
        return [finished(value) for value in part]
    if isinstance(part, dict):
        return {finished(name): finished(value) for name, value in part.items()}
    if isinstance(part, pd.DataFrame):
        texts = {
            str(name): column.map(finished)
            for name, column in part.items()
            if column.dtype.kind not in "biuf"
        }
        return part.assign(**texts).rename(columns=finished)
    if isinstance(part, alt.SchemaBase):
        for name, value in part._kwds.items():
            part[name] = finished(value)
    if isinstance(part, (alt.X, alt.Y)) and part["axis"] is not None:
        given = {} if part["axis"] is alt.Undefined else part["axis"].to_dict()
        part["axis"] = alt.Axis(**{"labelSeparation": GAP, **given, "labelFlush": False})
    return part


def in_rows(
    panel: alt.TopLevelMixin, column: str, order: Iterable[Any], *, rows: float = 1
) -> alt.TopLevelMixin:
    """A panel for each value of a column, one below the other, its name above it.

    Args:
        panel: the layers of one panel.
        column: the column.
        order: the values of the column, which may repeat.
        rows: the height of each row of a panel, as a multiple of STEP.
    """
    return panel.properties(width=BESIDE_NAMES, height=alt.Step(rows * STEP)).facet(
        row=alt.Row(
            f"{column}:N",
            title=None,
            sort=list(dict.fromkeys(order)),
            header=alt.Header(labelOrient="top", labelAnchor="start"),
        )
    )


def bars(frame: pd.DataFrame, value: str, text: str, **channels: Any) -> alt.TopLevelMixin:
    """Horizontal bars with the number at the right of each bar, for negative bars at 0.

    Args:
        frame: one row per bar.
        value: the column of lengths.
        text: the format of the numbers.
        **channels: the encoding channels.
    """
    base, end = alt.Chart(frame).encode(**channels), channels["x"].copy()
    end.shorthand = "end:Q"
    return alt.layer(
        base.mark_bar(),
        base.transform_calculate(end=f"max(0, datum['{value}'])")
        .mark_text(align="left", dx=GAP, fontSize=LETTERS)
        .encode(x=end, text=alt.Text(f"{value}:Q", format=text), color=alt.value("#444")),
    )


def inline_rows(frame: pd.DataFrame) -> alt.InlineData:
    """The data of a chart with many rows: Altair refuses frames of more than 5,000 rows.

    Args:
        frame: the rows; channels must say the type of each column.
    """
    return alt.InlineData(values=alt.to_values(frame)["values"])


def category(field: str, title: str | None = None, *, domain: Sequence[Any] = ()) -> alt.Color:
    """The colour of a category.

    Args:
        field: the column.
        title: the title of the legend.
        domain: the categories, if colours must not depend on which categories occur.
    """
    return alt.Color(
        f"{field}:N",
        title=title,
        scale=alt.Scale(range=list(COLORS), domain=list(domain) or alt.Undefined),
        legend=alt.Legend(orient="bottom", columns=2, symbolOpacity=1, labelLimit=0),
    )


def yes_or_no(field: str) -> alt.Color:
    """The colour of a column of truth values, which has the title of its name."""
    color = category(field, field, domain=[False, True])
    color["legend"].labelExpr = "datum.value ? 'yes' : 'no'"
    return color


def shape(field: str, title: str | None = None, *, domain: Sequence[Any]) -> alt.Shape:
    """The shape of a category, in the same legend as its colour, :func:`category`."""
    return alt.Shape(f"{field}:N", title=title, scale=alt.Scale(domain=list(domain)))


def by_collection(frame: pd.DataFrame, column: str = "collection") -> dict[str, Any]:
    """The colour of each collection, if a frame has several collections."""
    return {"color": category(column)} if column in frame and frame[column].nunique() > 1 else {}


def cells(
    base: alt.Chart, color: alt.Color, value: str, dark: str, tooltip: Any
) -> alt.TopLevelMixin:
    """Cells of a matrix with a number in each.

    Args:
        base: the chart with rows and columns.
        color: the colour of the cells.
        value: the column of the number, which has two decimals.
        dark: the condition for white numbers on dark cells, a Vega expression.
        tooltip: columns of the tooltip.
    """
    return alt.layer(
        base.mark_rect().encode(color=color, tooltip=tooltip),
        base.mark_text(fontSize=LETTERS).encode(
            text=alt.Text(f"{value}:Q", format=".2f"),
            color=alt.condition(dark, alt.value("white"), alt.value("black")),
        ),
    )


def square(base: alt.Chart, row: str, column: str, order: Sequence[str]) -> alt.TopLevelMixin:
    """A chart with the same systems along both sides, with room for their names.

    Above :data:`FEW_COLUMNS` systems the columns have no names; they are in the order of the rows.

    Args:
        base: the chart with its mark, or without.
        row: the column of the systems along y.
        column: the column of the systems along x.
        order: the systems.
    """
    side = max(160, ROW * len(order))
    axis = {"labelOverlap": "parity", "labelLimit": 120}
    named = len(order) <= FEW_COLUMNS
    across = alt.Axis(labelAngle=-90, labels=named, ticks=named, **axis)
    return base.properties(width=side, height=side).encode(
        x=alt.X(f"{column}:N", sort=order, title=None, axis=across),
        y=alt.Y(f"{row}:N", sort=order, title=None, axis=alt.Axis(**axis)),
    )


def ranks_on_lists(
    frame: pd.DataFrame,
    title: str,
    caption: str,
    *,
    across: str,
    moved: str,
    tooltip: Sequence[str],
    rank: str = "rank",
) -> alt.TopLevelMixin:
    """The rank of each run on several lists: one line per run, coloured by the ranks it moves.

    Args:
        frame: one row per list and run, with columns ``run`` and ``rank``.
        title: the content, in a few words.
        caption: how to read the chart.
        across: the column of the lists, in the order of the frame.
        moved: the column of ranks moved, up or down.
        tooltip: columns of the tooltip.
        rank: the column of ranks.
    """
    lists = list(dict.fromkeys(frame[across]))
    runs, deepest = frame["run"].nunique(), int(frame[rank].max())
    if runs > MOST:
        caption += f" Ranks 1 to {MOST} of {runs}: lines below these ranks are cut off."
        frame = frame[frame["run"].isin(frame.loc[frame[rank] <= MOST, "run"])]
        deepest = MOST
    frame = frame.assign(change=frame[moved].abs().groupby(frame["run"]).transform("max"))
    points = frame[frame[rank] <= deepest]
    at_last = points[points[across] == lists[-1]].groupby([across, rank], as_index=False)
    x = alt.X(f"{across}:N", sort=lists, title=None, axis=_axis_of_lists(lists))
    y = alt.Y(
        f"{rank}:Q",
        title="rank",
        axis=alt.Axis(values=whole_numbers(1, deepest), format="d", grid=False),
        scale=alt.Scale(domain=[0.5, deepest + 0.5], reverse=True),
    )
    color = alt.Color(
        "change:Q",
        title="ranks moved",
        scale=alt.Scale(scheme="viridis"),
        legend=alt.Legend(orient="bottom", values=some_values(frame["change"]), format="d"),
    )
    lines, circles = (
        alt.Chart(inline_rows(rows)).encode(x=x, y=y, color=color) for rows in (frame, points)
    )
    # Altair cannot infer the types of inline rows.
    typed = (f"{name}:{'Q' if frame[name].dtype.kind in 'iuf' else 'N'}" for name in tooltip)
    return figure(
        alt.layer(
            lines.mark_line(opacity=0.6, clip=True).encode(detail=alt.Detail("run:N")),
            circles.mark_point(**POINT).encode(tooltip=tooltips(*typed)),
            alt.Chart(at_last["run"].agg(_one_label))
            .mark_text(align="left", dx=RADIUS + GAP, fontSize=LETTERS)
            .encode(x=x, y=y, text=alt.Text("run:N")),
        ),
        title,
        caption,
        width=130 * len(lists),
        height=ROW * max(10, min(runs, MOST)),
    )


def _axis_of_lists(lists: Sequence[Any]) -> alt.Axis:
    """The names of lists above them, turned where many are long."""
    return alt.Axis(
        labelAngle=-40 if len(lists) > 3 and max(map(len, map(str, lists))) > SHORT else 0,
        labelLimit=120,
        labelExpr=IN_LINES,
        labelPadding=GAP + ROW * max(len(re.findall(_BREAK, str(name))) for name in lists),
        ticks=False,
        orient="top",
        domain=False,
        labelOverlap=False,
    )


def _one_label(names: pd.Series[str]) -> str:
    """One label for the names of runs that share a rank."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def tooltips(*columns: str | alt.Tooltip) -> list[alt.Tooltip]:
    """Columns of a tooltip. From a name Altair would need 2 ms for each channel."""
    return [alt.Tooltip(shown) if isinstance(shown, str) else shown for shown in columns]


def some_values(counts: pd.Series[Any]) -> list[int]:
    """Some whole numbers up to the largest, for a legend."""
    most = int(counts.max())
    return sorted({0, most // 4, most})


def ranges(
    base: alt.Chart, low: str, at: str, high: str, title: str | None, **axis: Any
) -> alt.TopLevelMixin:
    """A line with a mark for each row.

    Args:
        base: the chart with the names along y.
        low: column of the lower end.
        at: column of the mark.
        high: column of the upper end.
        title: title of the axis.
        **axis: other options of the axis, such as ``scale``.
    """
    return alt.layer(
        base.mark_rule(strokeWidth=2).encode(
            x=alt.X(f"{low}:Q", title=title, **axis), x2=alt.X2(f"{high}:Q")
        ),
        base.mark_point(**POINT).encode(x=alt.X(f"{at}:Q", title=title)),
    )


def undrawn(values: pd.Series[Any]) -> str:
    """A sentence for the caption: the number of undefined values, which are not drawn.

    >>> undrawn(pd.Series([1.0, float("nan")])), undrawn(pd.Series([1.0]))
    (' Undefined, so not drawn: 1 of 2.', '')
    >>> undrawn(pd.Series([], dtype=float))
    ' There is nothing to draw.'
    """
    if values.empty:
        return " There is nothing to draw."
    number = int(values.isna().sum())
    return f" Undefined, so not drawn: {number} of {len(values)}." if number else ""


def first_of(frame: pd.DataFrame, what: str, most: int = MOST) -> tuple[pd.DataFrame, str]:
    """The first rows of a long list, and a sentence for the caption; '' for all rows."""
    return frame.head(most), f" The first {most} of {len(frame)} {what}." * (len(frame) > most)
