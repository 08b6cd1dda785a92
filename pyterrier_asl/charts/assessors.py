"""Other assessors scored as systems (Trotman and Keeler 2011, Figure 2 and Table 1)."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import CAPTION, STEP, WIDTH, category, ranges


def human_range(ranges: pd.DataFrame) -> Any:
    """Bars of the system, lines from the worst to the best of the assessor, a tick where expected.

    Args:
        ranges: what :func:`~pyterrier_asl.analysis.human_range` returned.
    """
    base = alt.Chart(ranges, width=alt.Step(56), height=280).encode(
        x=alt.X("who:N", sort=None, title=None, axis=alt.Axis(labelAngle=-30, labelLimit=240)),
        tooltip=["who", "low", "tick", "high", "bar", "bar_run", "topics"],
    )
    bars = base.mark_bar(opacity=0.5).encode(
        y=alt.Y("bar:Q", title="MAP", scale=alt.Scale(domain=[0, 1])),
        color=category("bar_run", "bar"),
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


def assessor_scores(frame: pd.DataFrame) -> Any:
    """The MAP of each assessor's documents, from the worst order to the best (section 4).

    Args:
        frame: what :func:`~pyterrier_asl.analysis.assessor_scores` returned.
    """
    base = alt.Chart(frame, width=WIDTH, height=alt.Step(2 * STEP)).encode(
        y=alt.Y("assessor:N", sort=None, title=None),
        tooltip=["assessor", "lower", "expected", "upper", "topics", "retrieved", "common"],
    )
    caption = (
        "Another assessor's relevant documents scored as a run by the original assessor: a line "
        "from the worst order to the best, the point where a random one is expected."
    )
    drawn = ranges(base, "lower", "expected", "upper", "MAP")
    return captioned(drawn, "How other assessors score as runs", caption, CAPTION)


def compare_with_assessors(frame: pd.DataFrame) -> Any:
    """The difference of every run from every assessor, with its interval (Table 1).

    Args:
        frame: what :func:`~pyterrier_asl.analysis.compare_with_assessors` returned.
    """
    base = alt.Chart().encode(
        y=alt.Y("run:N", title=None, sort=None),
        color=category("significant", "significant", domain=[False, True]),
        tooltip=["run", "assessor", "judged_by", "bound", "run_AP", "assessor_AP", "difference",
                 "ci_low", "ci_high", "p", "p_corrected", "effect", "topics"],
    )  # fmt: skip
    zero = alt.Chart().mark_rule(color="gray", strokeDash=[3, 3]).encode(x=alt.datum(0))
    layers = alt.layer(zero, ranges(base, "ci_low", "difference", "ci_high", "run less assessor"))
    against = frame["assessor"] + ", judged by " + frame["judged_by"]
    drawn = layers.properties(width=150, height=alt.Step(STEP), data=frame.assign(against=against))
    faceted = drawn.facet(
        row=alt.Row("against:N", title=None, sort=None, header=alt.Header(labelOrient="top")),
        column=alt.Column("bound:N", title=None, sort=None),
    )
    about = frame.attrs
    caption = (
        "AP of each run less that of the assessor's documents in the best order, in a random one "
        f"as expected, and in the worst, with its interval. Significant: {about.get('test', 't')} "
        f"test at {about.get('alpha', 0.05)}, correction {about.get('correction')} over "
        f"{about.get('family', len(frame))} comparisons."
    )
    return captioned(faceted, "Runs against other assessors", caption)
