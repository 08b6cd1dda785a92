"""The figures of Diaz, Best-Case Retrieval Evaluation, 2023.

The frames of several collections can be drawn into one chart: give each a column ``collection``
and concatenate them.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned

_WIDTH, _HEIGHT = 360, 240

#: Characters that a caption line over such a chart has room for.
_CAPTION = 68

#: Colour and dash of each preference: told apart by all readers, and in print without colours.
_STYLES = {"RR": ("#117733", [1, 0]), "rrLP": ("#cc3311", [6, 3]), "sgnLP": ("#0077bb", [2, 2])}


def preference_levels(frame: pd.DataFrame) -> Any:
    """How many values reciprocal rank and lexiprecision can have (Figure 1, in numbers).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.reciprocal_rank.preference_levels`.
    """
    # Beyond doubles for large collections, so that their logarithms are drawn.
    long = frame.melt("m", var_name="order", value_name="levels")
    long["digits"] = [len(str(levels)) for levels in long["levels"]]
    long["levels"] = long["levels"].astype(str)
    chart = _sized(
        alt.Chart(long)
        .mark_line(point=True)
        .encode(
            x=alt.X("m:Q", title="relevant documents m"),
            y=alt.Y("digits:Q", title="levels (decimal digits)"),
            color=alt.Color("order:N", title=None),
            tooltip=["m", "order", "digits"],
        )
    )
    caption = (
        "Levels of reciprocal rank and of lexiprecision, as the number of their decimal "
        "digits: every arrangement of relevant documents is a level of the latter."
    )
    return captioned(chart, "How finely rankings can be told apart", caption, _CAPTION)


def tie_probability(frame: pd.DataFrame) -> Any:
    """The probability of a tie with a random ranking, by p_1 (Figure 2).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.reciprocal_rank.tie_probability`.
    """
    chart = _sized(
        alt.Chart(frame)
        .mark_line()
        .encode(
            x=alt.X("p_1:Q", title="p₁"),
            y=alt.Y("probability:Q", title="Pr(p₁ = p₁′)"),
            color=alt.Color("m:O", title="m", scale=alt.Scale(scheme="viridis")),
            tooltip=["m", "p_1", alt.Tooltip("probability", format=".5f")],
        )
    )
    caption = (
        "The closed form, by the rank of the first relevant document: the more are "
        "relevant, the likelier a tie near the top."
    )
    return captioned(chart, "Ties in reciprocal rank with a random ranking", caption, _CAPTION)


def tie_probability_by_rank(frame: pd.DataFrame) -> Any:
    """The empirical probability of a tie, by p_1, both logarithmic (Figure 3).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.ties.tie_probability_by_rank`.
    """
    seen = frame[frame["probability"] > 0]
    chart = _sized(
        alt.Chart(seen)
        .mark_line(point=True)
        .encode(
            x=alt.X("p_1:Q", title="p₁", scale=alt.Scale(type="log")),
            y=alt.Y("probability:Q", title="Pr(p₁ = p₁′)", scale=alt.Scale(type="log")),
            tooltip=["p_1", "rankings", "pairs", alt.Tooltip("probability", format=".4f")],
            **_by_collection(frame),
        )
    )
    caption = (
        "Empirical, by the rank of the first relevant document; both axes are logarithmic."
    )
    return captioned(chart, "Ties in reciprocal rank with another system", caption, _CAPTION)


def ties_by_recall_level(frame: pd.DataFrame) -> Any:
    """The empirical probability of a tie in position, by recall level (Figure 5).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.ties.ties_by_recall_level`.
    """
    chart = _sized(
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X("i:Q", title="recall level i"),
            y=alt.Y("probability:Q", title="Pr(pᵢ = pᵢ′)", scale=alt.Scale(domain=[0, 1])),
            tooltip=["i", "pairs", alt.Tooltip("probability", format=".3f"),
                     alt.Tooltip("both_missing", format=".3f")],
            **_by_collection(frame),
        )
    )  # fmt: skip
    caption = (
        "How often two systems have their i-th relevant document at the same rank, or both "
        "miss it."
    )
    return captioned(chart, "Ties in position by recall level", caption, _CAPTION)


def recall_level_needed(frame: pd.DataFrame) -> Any:
    """The share of pairs of rankings told apart, by recall level (Figure 6).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.recall_levels.recall_level_needed`.
    """
    chart = _sized(
        alt.Chart(frame)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("i:Q", title="recall level i*"),
            y=alt.Y("cumulative:Q", title="told apart", scale=alt.Scale(domain=[0, 1])),
            tooltip=["i", "pairs", alt.Tooltip("cumulative", format=".3f")],
            **_by_collection(frame),
        )
    )
    caption = (
        "The share of pairs of rankings whose first difference is at this recall level or "
        "before."
    )
    return captioned(chart, "Recall levels needed to tell two rankings apart", caption, _CAPTION)


def level_correlations(frame: pd.DataFrame) -> Any:
    """Pearson correlations of differences at two recall levels (Figure 7a).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.recall_levels.level_correlations`.
    """
    base = alt.Chart(frame).encode(
        x=alt.X("j:O", title="δRR at level j"), y=alt.Y("i:O", title="δRR at level i")
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "correlation:Q", title="correlation", scale=alt.Scale(scheme="blues", domain=[0, 1])
        ),
        tooltip=["i", "j", "pairs", alt.Tooltip("correlation", format=".3f")],
    )
    numbers = base.mark_text(fontSize=10).encode(
        text=alt.Text("correlation:Q", format=".2f"),
        color=alt.condition("datum.correlation > 0.6", alt.value("white"), alt.value("black")),
    )
    chart = alt.layer(cells, numbers).properties(width=_HEIGHT, height=_HEIGHT)
    caption = (
        "Pearson correlations over all pairs of systems and all queries that have the "
        "deeper level."
    )
    return captioned(chart, "How alike differences at two recall levels are", caption, _CAPTION)


def level_regressions(frame: pd.DataFrame) -> Any:
    """Coefficients of the next recall levels (Figure 7b).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.recall_levels.level_regressions`.
    """
    labelled = frame.assign(
        level=[f"{i} (R² = {r2:.2f})" for i, r2 in zip(frame["i"], frame["R2"])]
    )
    chart = _sized(
        alt.Chart(labelled)
        .mark_line(point=True)
        .encode(
            x=alt.X("j:O", title="j", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("coefficient:Q", title="coefficient of δRRᵢ₊ⱼ"),
            color=alt.Color("level:N", title="i"),
            tooltip=["i", "j", alt.Tooltip("coefficient", format=".3f")],
        )
    )
    caption = (
        "Coefficients of a linear regression of the difference at level i on those at the "
        "next levels, with the share of variance it explains."
    )
    return captioned(chart, "What the next recall levels say", caption, _CAPTION)


def missing_labels(frame: pd.DataFrame) -> Any:
    """Agreement with reciprocal rank on all labels, as labels go (Figure 8a).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.missing_labels.missing_labels`.
    """
    # Of two rankings sgnLP and rrLP say the same.
    ranking = frame[frame["preference"] != "sgnLP"]
    left = _with_band(ranking, "ranking", "sign agreement, two rankings", "label fraction")
    right = _with_band(frame, "system", "sign agreement, two systems", "label fraction")
    # Each has its own preferences, and colours go by their place among them.
    both = alt.hconcat(left, right)
    chart = both.resolve_scale(color="independent", strokeDash="independent")
    caption = (
        "Preferences on some of the labels against reciprocal rank on all; lines are means "
        "over samples, bands one standard deviation."
    )
    return captioned(chart, "Agreement as labels go", caption, _CAPTION)


def missing_queries(frame: pd.DataFrame) -> Any:
    """Agreement with reciprocal rank on all queries, as queries go (Figure 8b).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.missing_labels.missing_queries`.
    """
    chart = _with_band(frame, "system", "sign agreement, two systems", "query fraction")
    caption = (
        "Mean preferences over some of the queries against mean reciprocal rank over all; "
        "lines are means over samples, bands one standard deviation."
    )
    return captioned(chart, "Agreement as queries go", caption, _CAPTION)


def ties_as_labels_go(frame: pd.DataFrame) -> Any:
    """Tied rankings as labels are removed (Figure 9).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.missing_labels.missing_labels`.
    """
    # sgnLP and rrLP tie alike.
    seen = frame[frame["preference"] != "sgnLP"]
    chart = _with_band(seen, "tied", "fraction tied", "label fraction", zero=True)
    caption = (
        "Pairs of rankings that tie; lines are means over samples, bands one standard "
        "deviation. sgnLP ties as rrLP does."
    )
    return captioned(chart, "Ties as labels go", caption, _CAPTION)


def _with_band(
    frame: pd.DataFrame, value: str, title: str, across: str, *, zero: bool = False
) -> alt.LayerChart:
    """Means over samples as lines, one standard deviation as bands."""
    means = frame.groupby(["fraction", "preference"])[value].agg(["mean", "std"]).reset_index()
    means = means.fillna({"std": 0}).assign(
        low=lambda m: m["mean"] - m["std"], high=lambda m: m["mean"] + m["std"]
    )
    shown = [name for name in _STYLES if name in set(means["preference"])]
    colors = alt.Scale(domain=shown, range=[_STYLES[name][0] for name in shown])
    dashes = alt.Scale(domain=shown, range=[_STYLES[name][1] for name in shown])
    # The bands are faint, the legend is not.
    legend = alt.Legend(symbolOpacity=1, symbolType="stroke", symbolStrokeWidth=2)
    base = alt.Chart(means).encode(
        x=alt.X("fraction:Q", title=across),
        color=alt.Color("preference:N", title=None, scale=colors, legend=legend),
    )
    band = base.mark_area(opacity=0.2).encode(
        y=alt.Y("low:Q", title=title, scale=alt.Scale(zero=zero)),
        y2="high:Q",
    )
    line = base.mark_line().encode(
        y=alt.Y("mean:Q", title=title, scale=alt.Scale(zero=zero)),
        strokeDash=alt.StrokeDash("preference:N", title=None, scale=dashes),
        tooltip=["fraction", "preference", alt.Tooltip("mean", format=".3f"),
                 alt.Tooltip("std", format=".3f")],
    )  # fmt: skip
    return alt.layer(band, line).properties(width=_WIDTH, height=_HEIGHT)


def _by_collection(frame: pd.DataFrame) -> dict[str, Any]:
    if "collection" not in frame.columns:
        return {}
    return {"color": alt.Color("collection:N", title=None)}


def _sized(chart: Any) -> Any:
    return chart.properties(width=_WIDTH, height=_HEIGHT)
