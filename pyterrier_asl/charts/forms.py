"""The forms that charts share: size and colours, cells with numbers, places, and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned

WIDTH, HEIGHT = 360, 240

#: Characters that a caption line over a chart of that width has room for.
CAPTION = 68

#: Okabe and Ito's colours: told apart by all readers.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000")

#: Pixels of a row with a name beside it.
STEP = 18

#: Rows of a long list that are drawn.
MOST = 40


def figure(
    marked: alt.Chart,
    title: str,
    caption: str,
    *,
    height: Any = HEIGHT,
    **channels: Any,
) -> Any:
    """A chart of one mark, in the usual size, under its title and caption.

    Args:
        marked: the chart with its mark.
        title: what it shows.
        caption: how to read it.
        height: pixels, or an Altair step for each row.
        **channels: what is encoded.
    """
    drawn = marked.encode(**channels).properties(width=WIDTH, height=height)
    return captioned(drawn, title, caption, CAPTION)


def rows(frame: pd.DataFrame) -> alt.InlineData:
    """The data of a chart that can have many rows: Altair refuses frames of more than 5,000.

    Args:
        frame: the rows; channels must say the type of each column.
    """
    return alt.InlineData(values=alt.to_values(frame)["values"])


def category(field: str, title: str | None = None, *, domain: Sequence[Any] = ()) -> alt.Color:
    """The colour of a category.

    Args:
        field: its column.
        title: of the legend.
        domain: the categories, where their colours should not depend on which of them occur.
    """
    scale = {"domain": list(domain)} if domain else {}
    return alt.Color(f"{field}:N", title=title, scale=alt.Scale(range=list(COLORS), **scale))


def shape(field: str, title: str | None = None, *, domain: Sequence[Any]) -> alt.Shape:
    """The shape of a category, in one legend with its colour; arguments as of :func:`category`."""
    return alt.Shape(f"{field}:N", title=title, scale=alt.Scale(domain=list(domain)))


def by_collection(frame: pd.DataFrame, column: str = "collection") -> dict[str, Any]:
    """The colour of each collection, where a frame is of several."""
    if column not in frame or frame[column].nunique() < 2:
        return {}
    return {"color": category(column)}


def cells(base: alt.Chart, color: alt.Color, text: alt.Text, dark: str, tooltip: Any) -> Any:
    """Cells of a matrix with a number in each.

    Args:
        base: the chart with rows and columns.
        color: of the cells.
        text: the number.
        dark: where the cell is so dark that the number is white, a Vega expression.
        tooltip: columns to tell.
    """
    shade = base.mark_rect().encode(color=color, tooltip=tooltip)
    number = base.mark_text(fontSize=10).encode(
        text=text, color=alt.condition(dark, alt.value("white"), alt.value("black"))
    )
    return alt.layer(shade, number)


def places(
    frame: pd.DataFrame, across: str, moved: str, *, tooltip: Sequence[str], rank: str = "rank"
) -> Any:
    """The place of every run on several lists: a line is a run, its colour how far it moves.

    Args:
        frame: a row for each list and run, with columns ``run`` and ``rank``.
        across: the column of the lists, which stand in its order.
        moved: the column of places moved, up or down.
        tooltip: columns to tell.
        rank: the column of places.
    """
    lists = list(dict.fromkeys(frame[across]))
    height = max(200, min(700, 14 * frame["run"].nunique()))
    most = frame[moved].abs().groupby(frame["run"]).transform("max")
    base = alt.Chart(
        frame.assign(change=most), width=max(160, 110 * len(lists)), height=height
    ).encode(
        x=alt.X(f"{across}:N", sort=lists, title=None,
                axis=alt.Axis(labelAngle=-20, orient="top")),
        y=alt.Y(f"{rank}:Q", title="place",
                scale=alt.Scale(domain=[1, max(2, int(frame[rank].max()))], reverse=True)),
        detail="run:N",
        color=alt.Color("change:Q", title="places moved", scale=alt.Scale(scheme="viridis")),
        tooltip=list(tooltip),
    )  # fmt: skip
    return alt.layer(base.mark_line(opacity=0.6), base.mark_circle(size=40))


def ranges(base: alt.Chart, low: str, at: str, high: str, title: str) -> Any:
    """A line from one end to the other with a mark between, for each row with its name.

    Args:
        base: the chart with the names along y.
        low: column of the lower end.
        at: column of the mark.
        high: column of the upper end.
        title: of the axis.
    """
    x = alt.X(f"{low}:Q", title=title)
    return alt.layer(
        base.mark_rule(strokeWidth=2).encode(x=x, x2=f"{high}:Q"),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X(f"{at}:Q", title=title)),
    )


def first_of(frame: pd.DataFrame, what: str) -> tuple[pd.DataFrame, str]:
    """The first rows of a long list, and a sentence for the caption that says so."""
    if len(frame) <= MOST:
        return frame, ""
    return frame.head(MOST), f" The first {MOST} of {len(frame)} {what}."
