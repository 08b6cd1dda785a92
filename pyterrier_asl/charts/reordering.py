"""Which systems move when the measure changes? (Alex et al. 2022, Table 2.)"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned


def reordering(systems: pd.DataFrame, *, columns: int = 3) -> Any:
    """Systems significantly better than each, before and after each change of measure.

    Args:
        systems: what :func:`~pyterrier_asl.analysis.reordering.reordering` returned with
            ``each=True``.
        columns: panels in a row.
    """
    if "better_before" not in systems.columns:
        raise ValueError("the chart shows each system: call reordering(..., each=True)")
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
                color=alt.Color("track:N", legend=_legend(systems)),
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
