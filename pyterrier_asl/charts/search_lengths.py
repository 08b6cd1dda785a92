"""Search lengths document by document (Alex et al. 2022, Figures 5 and 6)."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import category


def search_length_distribution(distribution: pd.DataFrame) -> Any:
    """Figure 5: how many relevant documents have which search length in one run.

    Args:
        distribution: what
            :func:`~pyterrier_asl.analysis.search_length_distribution` returned.
    """
    long = _labelled(distribution).melt(
        ["length", "low"], ["found", "missing"], "documents", "count"
    )
    bars = (
        alt.Chart(long)
        .mark_bar()
        .encode(
            x=alt.X("length:N", sort=alt.SortField("low"), title="search length"),
            y=alt.Y("count:Q", title="relevant documents"),
            color=category("documents", domain=["found", "missing"]),
            tooltip=["length", "documents", "count"],
        )
    )
    about = distribution.attrs
    caption = (
        f"{about['optimal']} of {int(distribution['documents'].sum())} relevant documents have no "
        f"irrelevant one above them; the mean over queries, ASL, is {about['ASL']:.1f}. Missing "
        "documents were not retrieved: they lie at the end because the ranking ends there."
    )
    return captioned(bars, f"Search lengths of {about['run']}", caption)


def search_length_changes(changes: pd.DataFrame) -> Any:
    """Figure 6: by how much one run's search lengths differ from another's.

    Args:
        changes: what :func:`~pyterrier_asl.analysis.search_length_changes` returned.
    """
    about = changes.attrs
    frame = _labelled(changes)
    sides = [f"{about['a']} better", "same", f"{about['b']} better"]
    frame["side"] = [sides[0] if h < 0 else sides[2] if h > 0 else sides[1] for h in frame["high"]]
    bars = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("length:N", sort=alt.SortField("low"), title="difference of search lengths"),
            y=alt.Y("documents:Q", title="relevant documents"),
            color=category("side", domain=sides),
            tooltip=["length", "documents", "from_missing"],
        )
    )
    caption = (
        f"Search length in {about['a']} less that in {about['b']}, for each relevant document: "
        f"{about['wins']} are shorter, {about['losses']} longer, {about['same']} the same. At the "
        "ends stand documents that only one of the two retrieved."
    )
    return captioned(bars, f"{about['a']} less {about['b']}", caption)


def _labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Bins with a name: 1 to 100."""
    ends = zip(frame["low"], frame["high"])
    names = [f"{low}" if low == high else f"{low} to {high}" for low, high in ends]
    return pd.DataFrame(frame.assign(length=names).reset_index(drop=True).to_dict("list"))
