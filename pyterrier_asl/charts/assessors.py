"""The range of human scores beside a system's (Trotman and Keeler 2011, Figure 2)."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned


def human_range(ranges: pd.DataFrame) -> Any:
    """Bars of the system, lines from the worst to the best of the assessor, a tick where expected.

    Args:
        ranges: what :func:`~pyterrier_asl.analysis.assessors.human_range` returned.
    """
    base = alt.Chart(ranges, width=alt.Step(56), height=280).encode(
        x=alt.X("who:N", sort=None, title=None, axis=alt.Axis(labelAngle=-30, labelLimit=240)),
        tooltip=["who", "low", "tick", "high", "bar", "bar_run", "topics"],
    )
    bars = base.mark_bar(opacity=0.5).encode(
        y=alt.Y("bar:Q", title="MAP", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("bar_run:N", title="bar"),
    )
    lines = base.mark_rule(strokeWidth=2, color="black").encode(y="low:Q", y2="high:Q")
    ticks = base.mark_tick(thickness=3, size=22, color="black").encode(y="tick:Q")
    caption = (
        "Line: an assessor's relevant documents scored as a run by the original assessor, from "
        "the worst order to the best, with a tick where a random order is expected; for manual "
        "runs from the worst to the best, with a tick at the mean. Bar: the system, or the best "
        "automatic run."
    )
    return captioned(alt.layer(bars, lines, ticks), "Human scores and the system's", caption, 70)
