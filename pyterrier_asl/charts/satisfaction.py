"""How soon is a user satisfied? (Trotman and Keeler 2011, Figures 1 and 3.)"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import category


def satisfaction(frame: pd.DataFrame) -> Any:
    """S@n of runs, and of assessors in random order.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.satisfaction.satisfaction` returned.
    """
    frame = frame.rename(columns={"S@n": "share"})
    many = frame["track"].nunique() > 1
    frame["curve"] = frame["track"] + ": " + frame["system"] if many else frame["system"]
    base = alt.Chart(frame, width=420, height=280).encode(
        x=alt.X("n:Q", title="n, documents looked at", axis=alt.Axis(tickMinStep=1)),
        color=category("curve").legend(symbolOpacity=1, symbolType="square"),
    )  # fmt: skip
    lines = base.mark_line(point=True).encode(
        y=alt.Y("share:Q", title="S@n, share of queries satisfied",
                axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        strokeDash=alt.StrokeDash("kind:N", title=None, sort=["run", "assessor"]),
        tooltip=["curve", "kind", "n", "share", "ci_low", "ci_high", "queries"],
    )  # fmt: skip
    band = base.mark_area(opacity=0.12).encode(y="ci_low:Q", y2="ci_high:Q")
    caption = (
        "The share of queries with a relevant document among the first n, with its confidence "
        "interval over queries. An assessor's documents have no order: his curve is what to expect "
        "of a random one."
    )
    return captioned(alt.layer(band, lines), "Success at n", caption)
