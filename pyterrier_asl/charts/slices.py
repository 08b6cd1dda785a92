"""The chart of each slice of the queries, one below the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from .lazy import alt


def by_slice(draw: Callable[[pd.DataFrame], Any], frame: pd.DataFrame, column: str) -> Any:
    """Draws the rows of each slice by themselves, the slice's name in the title.

    Args:
        draw: makes the chart of a frame, with a title.
        frame: what an analysis returned, called with ``by=``.
        column: its column of slices.
    """
    drawn = []
    for name, part in frame.groupby(column, sort=False):
        rows = part.drop(columns=column).reset_index(drop=True)
        rows.attrs = frame.attrs
        chart = draw(rows)
        chart.title.text = f"{chart.title.text}: {name}"
        drawn.append(chart)
    return alt.vconcat(*drawn).resolve_scale(color="independent")
