"""How long are the documents that a run puts first? (Clarke 2019.)"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import category, rows

#: Panels that are drawn.
_MOST = 12


def lengths_by_rank(frame: pd.DataFrame, *, columns: int = 3) -> Any:
    """Mean length of the retrieved documents, relevant and not, at each rank.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.lengths_by_rank` returned.
        columns: panels, one a run, in a row; the first 12 runs have one.
    """
    kinds = ["relevant", "not relevant"]
    runs = list(dict.fromkeys(frame["run"]))
    shown = frame[frame["kind"].isin(kinds) & frame["run"].isin(runs[:_MOST])]
    base = alt.Chart(rows(shown.round(1)), width=260, height=180).encode(
        x=alt.X("rank:Q", title="rank"),
        color=category("kind", domain=kinds),
        tooltip=["run:N", "rank:Q", "kind:N", "length:Q", "documents:Q"],
    )
    points = base.mark_circle(opacity=0.4, size=18).encode(y=alt.Y("length:Q", title="mean length"))
    trend = base.transform_loess("rank", "length", groupby=["run", "kind"]).mark_line().encode(
        y="length:Q", tooltip=alt.value(None)
    )
    drawn = alt.layer(points, trend).facet(
        facet=alt.Facet("run:N", title=None, sort=runs),
        columns=columns,
    )
    caption = (
        "Mean over queries of the length of the document at each rank, and its trend. Where "
        "documents that are not relevant are long too, a user pays for them in time, which "
        "measures that do not know lengths never notice."
    )
    if len(runs) > _MOST:
        caption += f" The first {_MOST} of {len(runs)} runs."
    return captioned(drawn, "Lengths of the documents retrieved", caption)
