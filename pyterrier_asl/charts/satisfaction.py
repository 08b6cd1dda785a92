"""How soon is a user satisfied? (Trotman and Keeler 2011, Figures 1 and 3.)"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import COLORS, category, rows


def satisfaction(frame: pd.DataFrame) -> Any:
    """S@n of runs, and of assessors in random order.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.satisfaction` returned.
    """
    frame = frame.rename(columns={"S@n": "share"}).round(4)
    many = frame["track"].nunique() > 1
    frame["curve"] = frame["track"] + ": " + frame["system"] if many else frame["system"]
    named = _named(frame)
    others = frame[~frame["curve"].isin(named)]
    x = alt.X("n:Q", title="n, documents looked at", axis=alt.Axis(tickMinStep=1))
    y = alt.Y("share:Q", title="S@n, share of queries satisfied",
              axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))  # fmt: skip
    base = alt.Chart(rows(frame[frame["curve"].isin(named)]), width=420, height=280).encode(
        x=x, color=category("curve", domain=named).legend(symbolOpacity=1, symbolType="square")
    )
    lines = base.mark_line(point=True).encode(
        y=y,
        strokeDash=alt.StrokeDash("kind:N", title=None, sort=["run", "assessor"]),
        tooltip=["curve:N", "kind:N", "n:Q", "share:Q", "ci_low:Q", "ci_high:Q", "queries:Q"],
    )
    band = base.mark_area(opacity=0.12).encode(y="ci_low:Q", y2="ci_high:Q")
    behind = alt.Chart(rows(others)).mark_line(color="lightgray", strokeWidth=1).encode(
        x=x, y=y, detail="curve:N", tooltip=["curve:N", "n:Q", "share:Q"]
    )  # fmt: skip
    caption = (
        "The share of queries with a relevant document among the first n, with its confidence "
        "interval over queries. An assessor's documents have no order: his curve is what to expect "
        "of a random one."
    )
    if len(others):
        caption += (
            " In colours: the assessors, and the best at the last n; in gray: "
            f"{others['curve'].nunique()} others."
        )
    return captioned(alt.layer(behind, band, lines), "Success at n", caption)


def _named(frame: pd.DataFrame) -> list[str]:
    """The curves that get a colour: all, as they stand; of too many assessors, then the best."""
    ends = frame.groupby("curve", sort=False).last()
    if len(ends) > len(COLORS):
        ends = ends.sort_values(["kind", "share"], ascending=[True, False], kind="stable")
    return list(ends.index[: len(COLORS)])
