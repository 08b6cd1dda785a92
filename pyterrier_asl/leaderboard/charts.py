"""The charts of a leaderboard."""

from __future__ import annotations

import numpy as np

from ..charts.drawing import (
    BESIDE_NAMES,
    CROWDED,
    ROW,
    alt,
    category,
    figure,
    inline_rows,
    ranges,
    tooltips,
)
from ..charts.scales import around, whole_numbers
from ..common.lazy import pd
from ..common.notices import counted
from .numbers import STAR, confidence

#: The most pixels of a chart of topics; of more topics some have no names.
_MOST_WIDE = 2400


def chart_of_queries(values: pd.DataFrame, measure: str) -> alt.TopLevelMixin:
    """The value of each system (rows) for each topic, the lowest median at the left."""
    order = [str(topic) for topic in values.median().sort_values(kind="stable").index]
    cells = values.set_axis(list(map(str, values)), axis=1)
    cells = cells.melt(ignore_index=False, var_name="topic").reset_index()
    return figure(
        alt.Chart(inline_rows(cells))
        .mark_rect()
        .encode(
            x=alt.X("topic:N", sort=order, axis=alt.Axis(labelAngle=-90, ticks=False)),
            y=alt.Y("name:N", sort=[*values.index], title=None),
            color=alt.Color("value:Q", title=measure),
            tooltip=tooltips("name:N", "topic:N", "value:Q"),
        ),
        f"{measure} by topic",
        f"{counted(len(order), 'topic')}, the lowest median at the left.",
        rows=CROWDED,
        width=max(BESIDE_NAMES, min(ROW * len(order), _MOST_WIDE)),
    )


def chart_of_ranks(
    rows: pd.DataFrame, measure: str, topics: int, alpha: float
) -> alt.TopLevelMixin:
    """The intervals of ranks, the best mean first.

    Args:
        rows: :attr:`Leaderboard.overall`, with the ``star`` of each system.
        measure: the name of the measure.
        topics: the number of topics.
        alpha: the probability that any pair is put in the wrong order.
    """
    rows = rows.assign(
        low=rows["low"].astype(int), could_be_best=np.where(rows["could_be_best"], "yes", "no")
    )
    base = alt.Chart(inline_rows(rows)).encode(
        y=alt.Y("name:N", sort=rows["name"].tolist(), title=None),
        color=category("could_be_best", "could be the best", domain=("yes", "no")),
        tooltip=tooltips("name:N", "mean:Q", "rank:Q", "low:Q", "high:Q", "could_be_best:N"),
    )
    most = int(rows["high"].max())
    return figure(
        ranges(
            base,
            "low",
            "rank",
            "high",
            "rank",
            axis=alt.Axis(values=whole_numbers(1, most), format="d"),
            scale=alt.Scale(domain=around([1, most])),
        )
        + base.mark_text(align="left", dx=7, dy=3).encode(
            x=alt.X("high:Q", title="rank"), text="star:N"
        ),
        f"Ranks by {measure}",
        f"{counted(topics, 'topic')}; with {confidence(alpha)} confidence all "
        "intervals hold at once. Dot: the rank by the mean."
        + f" {STAR}: significantly worse than a system with the best mean."
        * bool(rows["star"].any()),
        rows=CROWDED,
    )
