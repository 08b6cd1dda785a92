"""How good is the best run of each track? (Alex et al. 2022, Figures 1 to 4.)"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .captions import captioned
from .forms import COLORS, figure

#: Where the bins end: shares by tenths, search lengths in steps that double or so.
_SHARES = np.round(np.arange(0.1, 1.01, 0.1), 1)
_LENGTHS = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, np.inf])


def headroom(frame: pd.DataFrame, *, columns: int = 2) -> Any:
    """Figures 1 to 4: tracks by the value of their best run.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.headroom` returned.
        columns: panels in a row.
    """
    panels = [
        _panel(str(measure), part)
        for measure, part in frame.groupby("measure", sort=False)
    ]
    caption = (
        "Tracks by the best of their runs; the best possible value is at the left. P@20 and AP "
        "make a task look solved whose relevant documents are far down; ASL says how far. A "
        "search length cannot be much larger than the runs are deep."
    )
    drawn = alt.concat(*panels, columns=columns).resolve_scale(x="independent")
    return captioned(drawn, "How much room is left", caption)


def run_quality(frame: pd.DataFrame) -> Any:
    """Every run by AP and by ASL, and how much of its ASL nobody can see.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.run_quality` returned.
    """
    beside = [name for name in frame.columns if name.startswith(("R@", "Judged@"))]
    return figure(
        alt.Chart(frame).mark_circle(size=50, opacity=0.8),
        "At the top, and over all relevant documents",
        "Each point is a run; the best are at the upper right. The lighter, the more of its search "
        "length comes from relevant documents that it did not retrieve.",
        x=alt.X("AP:Q", title="AP"),
        y=alt.Y("ASL:Q", title="ASL", scale=alt.Scale(reverse=True, zero=False)),
        color=alt.Color("missing_share:Q", title="missing share of ASL",
                        scale=alt.Scale(scheme="viridis", domain=[0, 1]),
                        legend=alt.Legend(format="%")),
        tooltip=["run", "P@20", "ASL@g1-10", "AP", "ASL", "missing_share", "unjudged_share",
                 *beside],
    )  # fmt: skip


def _panel(measure: str, part: pd.DataFrame) -> Any:
    lengths = measure.startswith("ASL")
    codes, names = _bins(part["value"], lengths)
    frame = part.assign(bin=[names[code] for code in codes])
    everything = pd.DataFrame({"bin": names})
    counts = frame.groupby("bin").agg(
        tracks=("track", "size"), which=("track", lambda each: ", ".join(map(str, each)))
    )
    shown = everything.merge(counts.reset_index(), on="bin", how="left")
    shown = shown.fillna({"tracks": 0, "which": ""})
    counted = alt.Axis(format="d", values=_whole(int(shown["tracks"].max())))
    return (
        alt.Chart(shown, title=measure, width=260, height=160)
        .mark_bar(color=COLORS[0])
        .encode(
            x=alt.X("bin:N", sort=names, title=None, axis=alt.Axis(labelAngle=-45)),
            y=alt.Y("tracks:Q", title="tracks", axis=counted),
            tooltip=["bin", "tracks", "which"],
        )
    )


def _whole(most: int) -> list[int]:
    """Some whole numbers up to the largest count."""
    return list(range(0, most + 1, max(1, most // 5)))


def _bins(values: pd.Series[float], lengths: bool) -> tuple[Any, list[str]]:
    """The bin of each value, and the bins' names, best first."""
    if lengths:
        codes = np.searchsorted(_LENGTHS, values.to_numpy(), side="left")
        names = ["1", *(f"to {end:g}" for end in _LENGTHS[1:-1]), "more"]
        return codes, names
    codes = np.searchsorted(_SHARES, values.to_numpy() - 1e-9, side="left")
    names = [f"{end - 0.1:.1f} to {end:.1f}" for end in _SHARES]
    return len(names) - 1 - np.minimum(codes, len(names) - 1), names[::-1]
