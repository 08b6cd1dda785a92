"""The figures and tables of Türkmen, Lease and Kutlu, New Metrics to Encourage Innovation, 2023."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import CAPTION, HEIGHT, STEP, WIDTH, category, figure, places, shape


def synthetic_systems(frame: pd.DataFrame) -> Any:
    """The ranks of a system that finds rare and of one that finds common documents (Figure 1).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.synthetic_systems`.
    """
    return figure(
        alt.Chart(frame).mark_line(interpolate="step-after"),
        "Made-up systems among real ones",
        "The rank by P_Rareness of a system that finds documents nobody else has, and of "
        "one that finds what most have, by how many they find.",
        x=alt.X("documents:Q", title="relevant documents retrieved"),
        y=alt.Y("rank:Q", title="rank", scale=alt.Scale(reverse=True, domainMin=1)),
        color=_alpha(),
        strokeDash=alt.StrokeDash("system:N", title=None),
        tooltip=["system", "alpha", "documents", alt.Tooltip("value", format=".3f"), "rank"],
    )


def agreement_by_alpha(frame: pd.DataFrame, coefficient: str | None = None) -> Any:
    """Agreement with the order without rareness, by the weight of rareness (Figure 2).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.agreement_by_alpha`; of several collections
            with a column ``collection``.
        coefficient: ``'tau'`` or ``'tau_AP'``; None: both.
    """
    if coefficient not in (None, *_TITLES):
        raise ValueError(f"coefficient is {coefficient!r}, but it is 'tau' or 'tau_AP'")
    keys = [name for name in ("measure", "alpha", "collection") if name in frame]
    wanted = list(_TITLES) if coefficient is None else [coefficient]
    long = frame.melt(keys, wanted, "coefficient", "agreement").replace({"coefficient": _TITLES})
    by = {"strokeDash": alt.StrokeDash("collection:N")} if "collection" in frame else {}
    return figure(
        alt.Chart(long).mark_line(point=True),
        "The order of systems by the weight of rareness",
        "Agreement with the order at α = 0, that of plain precision or average precision.",
        x=alt.X("alpha:Q", title="α"),
        y=alt.Y("agreement:Q", title="agreement", scale=alt.Scale(zero=False)),
        color=category("measure"),
        column=alt.Column("coefficient:N", title=None),
        tooltip=["measure", "alpha", "coefficient", alt.Tooltip("agreement", format=".3f")],
        **by,
    )


def agreement_by_number_of_systems(frame: pd.DataFrame) -> Any:
    """tau of sampled systems with their order among all, with its standard error (Table 3).

    Args:
        frame: of
            :func:`~pyterrier_asl.analysis.agreement_by_number_of_systems`.
    """
    ends = frame.assign(
        low=frame["tau"] - frame["standard_error"], high=frame["tau"] + frame["standard_error"]
    )
    base = alt.Chart(ends).encode(
        x=alt.X("systems:Q", title="systems N", scale=alt.Scale(type="log", base=2)),
        color=category("measure"),
    )
    line = base.mark_line(point=True).encode(
        y=alt.Y("tau:Q", title="Kendall's τ", scale=alt.Scale(zero=False)),
        tooltip=["measure", "systems", alt.Tooltip("tau", format=".4f")],
    )
    error = base.mark_rule().encode(y="low:Q", y2="high:Q")
    chart = alt.layer(error, line).properties(width=WIDTH, height=HEIGHT)
    caption = (
        "Agreement of the order of sampled systems with the one they have among all, with "
        "its standard error."
    )
    return captioned(chart, "Rareness among a few systems", caption, CAPTION)


def rare_documents(frame: pd.DataFrame) -> Any:
    """How rare the relevant documents of the queries are (Table 4, all documents).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.rare_documents`.
    """
    counts = pd.cut(frame["rareness"], [i / 20 for i in range(21)], include_lowest=True)
    bars = counts.value_counts(sort=False).reset_index(drop=True).rename("documents").to_frame()
    bars = bars.assign(low=[i / 20 for i in range(20)], high=[i / 20 for i in range(1, 21)])
    return figure(
        alt.Chart(bars).mark_bar(),
        "How rare relevant documents are",
        "R(d) = 1 − S_d/S of every relevant document; 1: nobody finds it.",
        x=alt.X("low:Q", title="rareness R(d)", bin="binned"),
        x2="high:Q",
        y=alt.Y("documents:Q", title="relevant documents"),
        tooltip=["low", "high", "documents"],
    )


def stability(frame: pd.DataFrame) -> Any:
    """How often two systems come out in their usual order on some of the queries (Table 2).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.stability`.
    """
    kinds = ["absolute", "relative"]
    long = frame.melt(["measure", "queries", "draws"], kinds, "fuzz", "stability")
    return figure(
        alt.Chart(long).mark_point(filled=True, size=70, opacity=1),
        "Stability of the order of two systems",
        f"The share of {int(frame['draws'].max())} draws of {int(frame['queries'].max())} queries "
        "that put two systems in their usual order, in the mean over pairs. An absolute fuzz "
        "favours measures on a wide scale: compare them by the relative one.",
        height=alt.Step(STEP),
        x=alt.X("stability:Q", title="stability", scale=alt.Scale(zero=False)),
        y=alt.Y("measure:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        color=category("fuzz", "fuzz", domain=kinds),
        shape=shape("fuzz", "fuzz", domain=kinds),
        tooltip=["measure", "fuzz", alt.Tooltip("stability", format=".4f"), "queries", "draws"],
    )


def rareness_by_pool(frame: pd.DataFrame) -> Any:
    """The place of every run with rareness counted over each pool of runs (section 5.4).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.rareness_by_pool`.
    """
    drawn = places(frame, "pool", "moved", tooltip=["run", "pool", "member", "value", "rank"])
    caption = (
        "Places by a rareness measure with S_d counted over all runs, at the left, and over some "
        "of them only; a line is a run, its colour how many places it moves at most."
    )
    return captioned(drawn, "Who looks rare by which runs", caption, CAPTION)


def without_own_group(frame: pd.DataFrame) -> Any:
    """The place of every run with rareness counted without its group's other runs (section 5.4).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.without_own_group`.
    """
    lists = {"rank": "by all runs", "rank_without": "without its own group"}
    moved = frame.assign(moved=frame["rank"] - frame["rank_without"])
    keys = ["run", "group", "runs_of_group", "moved"]
    long = moved.melt(keys, list(lists), "list", "place").replace({"list": lists})
    drawn = places(long, "list", "moved", rank="place", tooltip=[*keys, "place"])
    caption = (
        "Places by a rareness measure with all runs counted, and without the other runs of the "
        "run's own group, which often find the same and so make each other's finds common."
    )
    return captioned(drawn, "Rareness without one's own group", caption, CAPTION)


_TITLES = {"tau": "Kendall's τ", "tau_AP": "τ AP"}


def _alpha() -> alt.Color:
    return alt.Color("alpha:O", title="α", scale=alt.Scale(scheme="viridis"))
