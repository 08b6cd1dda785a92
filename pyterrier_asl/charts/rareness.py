"""The figures of Türkmen, Lease and Kutlu, New Metrics to Encourage Innovation, 2023."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned

_WIDTH, _HEIGHT = 360, 240

#: Characters that a caption line over such a chart has room for.
_CAPTION = 68


def synthetic_systems(frame: pd.DataFrame) -> Any:
    """The ranks of a system that finds rare and of one that finds common documents (Figure 1).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.synthetic.synthetic_systems`.
    """
    chart = _sized(
        alt.Chart(frame)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("documents:Q", title="relevant documents retrieved"),
            y=alt.Y("rank:Q", title="rank", scale=alt.Scale(reverse=True, domainMin=1)),
            color=_alpha(),
            strokeDash=alt.StrokeDash("system:N", title=None),
            tooltip=["system", "alpha", "documents", alt.Tooltip("value", format=".3f"), "rank"],
        )
    )
    caption = (
        "The rank by P_Rareness of a system that finds documents nobody else has, and of "
        "one that finds what most have, by how many they find."
    )
    return captioned(chart, "Made-up systems among real ones", caption, _CAPTION)


def agreement_by_alpha(frame: pd.DataFrame, coefficient: str = "tau") -> Any:
    """Agreement with the order without rareness, by the weight of rareness (Figure 2).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.alpha.agreement_by_alpha`, of several collections
            with a column ``collection``.
        coefficient: ``'tau'`` or ``'tau_AP'``.
    """
    if coefficient not in ("tau", "tau_AP"):
        raise ValueError(f"coefficient is {coefficient!r}, but it is 'tau' or 'tau_AP'")
    by = {"strokeDash": alt.StrokeDash("collection:N")} if "collection" in frame.columns else {}
    chart = _sized(
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X("alpha:Q", title="α"),
            y=alt.Y(f"{coefficient}:Q", title=_TITLES[coefficient], scale=alt.Scale(zero=False)),
            color=alt.Color("measure:N", title=None),
            tooltip=["measure", "alpha", alt.Tooltip(coefficient, format=".3f")],
            **by,
        )
    )
    caption = "Agreement with the order at α = 0, that of plain precision or average precision."
    return captioned(chart, "The order of systems by the weight of rareness", caption, _CAPTION)


def agreement_by_number_of_systems(frame: pd.DataFrame) -> Any:
    """tau of sampled systems with their order among all, with its standard error (Table 3).

    Args:
        frame: of
            :func:`~pyterrier_asl.analysis.number_of_systems.agreement_by_number_of_systems`.
    """
    ends = frame.assign(
        low=frame["tau"] - frame["standard_error"], high=frame["tau"] + frame["standard_error"]
    )
    base = alt.Chart(ends).encode(
        x=alt.X("systems:Q", title="systems N", scale=alt.Scale(type="log", base=2)),
        color=alt.Color("measure:N", title=None),
    )
    line = base.mark_line(point=True).encode(
        y=alt.Y("tau:Q", title="Kendall's τ", scale=alt.Scale(zero=False)),
        tooltip=["measure", "systems", alt.Tooltip("tau", format=".4f")],
    )
    error = base.mark_rule().encode(y="low:Q", y2="high:Q")
    chart = _sized(alt.layer(error, line))
    caption = (
        "Agreement of the order of sampled systems with the one they have among all, with "
        "its standard error."
    )
    return captioned(chart, "Rareness among a few systems", caption, _CAPTION)


def rare_documents(frame: pd.DataFrame) -> Any:
    """How rare the relevant documents of the queries are (Table 4, all documents).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.rare_documents.rare_documents`.
    """
    counts = pd.cut(frame["rareness"], [i / 20 for i in range(21)], include_lowest=True)
    bars = counts.value_counts(sort=False).reset_index(drop=True).rename("documents").to_frame()
    bars = bars.assign(low=[i / 20 for i in range(20)], high=[i / 20 for i in range(1, 21)])
    chart = _sized(
        alt.Chart(bars)
        .mark_bar()
        .encode(
            x=alt.X("low:Q", title="rareness R(d)", bin="binned"),
            x2="high:Q",
            y=alt.Y("documents:Q", title="relevant documents"),
            tooltip=["low", "high", "documents"],
        )
    )
    caption = "R(d) = 1 − S_d/S of every relevant document; 1: nobody finds it."
    return captioned(chart, "How rare relevant documents are", caption, _CAPTION)


_TITLES = {"tau": "Kendall's τ", "tau_AP": "τ AP"}


def _alpha() -> alt.Color:
    return alt.Color("alpha:O", title="α", scale=alt.Scale(scheme="viridis"))


def _sized(chart: Any) -> Any:
    return chart.properties(width=_WIDTH, height=_HEIGHT)
