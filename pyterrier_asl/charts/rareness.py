"""The figures of Türkmen, Lease and Kutlu, New Metrics to Encourage Innovation, 2023."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

_WIDTH, _HEIGHT = 360, 240


def synthetic_systems(frame: pd.DataFrame) -> alt.Chart:
    """The ranks of a system that finds rare and of one that finds common documents (Figure 1).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.synthetic.synthetic_systems`.
    """
    return _sized(
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


def agreement_by_alpha(frame: pd.DataFrame, coefficient: str = "tau") -> alt.Chart:
    """Agreement with the order without rareness, by the weight of rareness (Figure 2).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.alpha.agreement_by_alpha`, of several collections
            with a column ``collection``.
        coefficient: ``'tau'`` or ``'tau_AP'``.
    """
    if coefficient not in ("tau", "tau_AP"):
        raise ValueError(f"coefficient is {coefficient!r}, but it is 'tau' or 'tau_AP'")
    by = {"strokeDash": alt.StrokeDash("collection:N")} if "collection" in frame.columns else {}
    return _sized(
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


def agreement_by_number_of_systems(frame: pd.DataFrame) -> alt.LayerChart:
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
    return _sized(alt.layer(error, line))


def rare_documents(frame: pd.DataFrame) -> alt.Chart:
    """How rare the relevant documents of the queries are (Table 4, all documents).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.rare_documents.rare_documents`.
    """
    counts = pd.cut(frame["rareness"], [i / 20 for i in range(21)], include_lowest=True)
    bars = counts.value_counts(sort=False).reset_index(drop=True).rename("documents").to_frame()
    bars = bars.assign(low=[i / 20 for i in range(20)], high=[i / 20 for i in range(1, 21)])
    return _sized(
        alt.Chart(bars)
        .mark_bar()
        .encode(
            x=alt.X("low:Q", title="rareness R(d)", bin="binned"),
            x2="high:Q",
            y=alt.Y("documents:Q", title="relevant documents"),
            tooltip=["low", "high", "documents"],
        )
    )


_TITLES = {"tau": "Kendall's τ", "tau_AP": "τ AP"}


def _alpha() -> alt.Color:
    return alt.Color("alpha:O", title="α", scale=alt.Scale(scheme="viridis"))


def _sized(chart: Any) -> Any:
    return chart.properties(width=_WIDTH, height=_HEIGHT)
