"""How much of the error a technique takes away (Alex et al. 2022, Table 1)."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned


def compare_techniques(frame: pd.DataFrame) -> Any:
    """The relative reduction in error by each measure.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.techniques.compare_techniques` returned, without
            slices.
    """
    old, new = frame.attrs.get("old", "old"), frame.attrs.get("new", "new")
    drawn = (
        alt.Chart(frame, width=360, height=alt.Step(34))
        .mark_bar()
        .encode(
            x=alt.X("RRIE:Q", title="relative reduction in error", axis=alt.Axis(format="%")),
            y=alt.Y("measure:N", sort=None, title=None),
            color=alt.Color("significant:N", title="significant"),
            tooltip=["measure", "old", "new", "RRIE", "difference", "ci_low", "ci_high",
                     "p_corrected"],
        )
    )  # fmt: skip
    caption = (
        f"The part of the distance to the best possible value, 1, that {new} saves over {old}. "
        f"Significant: {frame.attrs.get('test', 't')} test at {frame.attrs.get('alpha', 0.05)}, "
        f"correction {frame.attrs.get('correction')} over {frame.attrs.get('family', len(frame))} "
        "comparisons."
    )
    return captioned(drawn, f"{new} over {old}", caption)
