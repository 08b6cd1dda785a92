"""What a mean of precisions is about (Alex et al. 2022, Appendix A.1)."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import category

#: What the paper found over its tracks: mean, and one standard deviation.
_PUBLISHED = (0.57, 0.16)


def effective_share(frame: pd.DataFrame) -> Any:
    """The share of the relevant documents that AP is in effect about, for each run.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.effective_share` returned.
    """
    mean, deviation = _PUBLISHED
    paper = pd.DataFrame({"low": [mean - deviation], "high": [mean + deviation], "mean": [mean]})
    shares = alt.Scale(domain=[0, 1])
    percent = alt.Axis(format="%")
    band = alt.Chart(paper).mark_rect(opacity=0.15).encode(
        y=alt.Y("low:Q", scale=shares), y2="high:Q"
    )
    line = alt.Chart(paper).mark_rule(strokeDash=[4, 3]).encode(y="mean:Q")
    points = (
        alt.Chart(frame, width=420, height=280)
        .mark_circle(opacity=0.7)
        .encode(
            x=alt.X("AP:Q", title="AP"),
            y=alt.Y("share:Q", title="share of the relevant documents", axis=percent),
            color=category("track", "track"),
            tooltip=["track", "run", "AP", "share", "pooled"],
        )
    )
    caption = (
        "AP is a mean over all relevant documents, but its value is what the top share of them "
        "gives as a plain mean of search lengths. Each point is a run; dashed and shaded is what "
        f"the paper found over its tracks, {mean:.0%} ± {100 * deviation:.0f}."
    )
    return captioned(alt.layer(band, line, points), "The documents that AP is about", caption)
