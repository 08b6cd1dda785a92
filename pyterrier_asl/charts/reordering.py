"""Which systems move when the measure changes? (Alex et al. 2022, Table 2.)"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import STEP, category, ranges


def reordering(frame: pd.DataFrame, *, columns: int = 3) -> Any:
    """How far each change of measure moves the systems; with ``each=True``, every system.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.reordering` returned.
        columns: panels of systems in a row.
    """
    return _systems(frame, columns) if "better_before" in frame else _summary(frame)


def _summary(frame: pd.DataFrame) -> Any:
    """The largest dSort and tau of each change, with one standard deviation over tracks."""
    panels = []
    for value, title in (("dSort", "dSort (% of the systems)"), ("tau", "Kendall's τ")):
        spread = frame[f"{value}_sd"].fillna(0)
        ends = frame.assign(low=frame[value] - spread, high=frame[value] + spread)
        base = alt.Chart(ends, width=200, height=alt.Step(STEP)).encode(
            y=alt.Y("change:N", title=None, sort=None, axis=alt.Axis(labelLimit=200)),
            tooltip=["change", "from", "to", value, f"{value}_sd", "moved", "tracks", "systems"],
        )
        panels.append(ranges(base, "low", value, "high", title))
    caption = (
        "By how much the system that moves farthest moves, as a share of the systems, and how far "
        "the orders before and after agree; lines are one standard deviation over tracks."
    )
    return captioned(alt.hconcat(*panels), "From AP to ASL, step by step", caption)


def _systems(systems: pd.DataFrame, columns: int) -> Any:
    """Systems significantly better than each, before and after each change of measure."""
    most = int(systems[["better_before", "better_after"]].to_numpy().max())
    scale = alt.Scale(domain=[0, max(most, 1)])
    line = pd.DataFrame({"at": [0, max(most, 1)]})
    panels = []
    for change, part in systems.groupby("change", sort=False):
        points = (
            alt.Chart(part, width=200, height=200)
            .mark_circle(opacity=0.6)
            .encode(
                x=alt.X("better_before:Q", scale=scale, title=f"better by {part['from'].iloc[0]}"),
                y=alt.Y("better_after:Q", scale=scale, title=f"better by {part['to'].iloc[0]}"),
                color=category("track", "track").legend(_legend(systems)),
                tooltip=["track", "run", "better_before", "better_after", "dSort"],
            )
        )
        diagonal = alt.Chart(line).mark_line(color="gray", strokeDash=[3, 3]).encode(x="at", y="at")
        panels.append(alt.layer(diagonal, points).properties(title=str(change)))
    caption = (
        "For every system, how many others are better than it (by 10 % and a paired t-test), "
        "before and after the change of measure. On the dashed line nothing changes; the distance "
        "from it, in percent of the systems, is dSort."
    )
    return captioned(alt.concat(*panels, columns=columns), "From AP to ASL, step by step", caption)


def _legend(systems: pd.DataFrame) -> Any:
    return alt.Legend(title="track") if systems["track"].nunique() > 1 else None
