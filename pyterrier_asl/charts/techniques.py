"""How much of the error a technique takes away (Alex et al. 2022, Table 1)."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .forms import category, figure


def compare_techniques(frame: pd.DataFrame) -> Any:
    """The relative reduction in error by each measure.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.compare_techniques` returned, without
            slices.
    """
    about = frame.attrs
    several = frame["track"].nunique() > 1 if "track" in frame else False
    row = alt.Row("track:N", title=None, sort=None, header=alt.Header(labelOrient="top"))
    named = isinstance(about.get("old"), str) and isinstance(about.get("new"), str)
    old, new = (about[name] if named else f"the {name} run" for name in ("old", "new"))
    caption = (
        f"The part of the distance to the best possible value, 1, that {new} saves over {old}. "
        f"Significant: {about.get('test', 't')} test at {about.get('alpha', 0.05)}, correction "
        f"{about.get('correction')} over {about.get('family', len(frame))} comparisons."
    )
    return figure(
        alt.Chart(frame).mark_bar(),
        f"{new} over {old}".capitalize() if not named else f"{new} over {old}",
        caption,
        height=alt.Step(34),
        x=alt.X("RRIE:Q", title="relative reduction in error", axis=alt.Axis(format="%")),
        y=alt.Y("measure:N", sort=None, title=None),
        color=category("significant", "significant", domain=[False, True]),
        tooltip=["measure", "old", "new", "RRIE", "difference", "ci_low", "ci_high",
                 "p_corrected"],
        **({"row": row} if several else {}),
    )  # fmt: skip
