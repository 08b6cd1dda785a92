"""The figures and tables of Diaz, Best-Case Retrieval Evaluation, 2023.

The frames of several collections can be drawn into one chart: give each a column ``collection``
and concatenate them.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import (
    CAPTION,
    HEIGHT,
    STEP,
    WIDTH,
    by_collection,
    category,
    cells,
    figure,
    first_of,
    rows,
    shape,
)

#: Colour and dash of each preference: told apart by all readers, and in print without colours.
_STYLES = {"RR": ("#117733", [1, 0]), "rrLP": ("#cc3311", [6, 3]), "sgnLP": ("#0077bb", [2, 2])}


def collection_statistics(frame: pd.DataFrame) -> Any:
    """Relevant, judged and retrieved documents of a request (Table 1).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.collection_statistics`.
    """
    kinds = ["rel/request", "judged/request", "docs/request"]
    keys = [name for name in ("collection", "requests", "runs") if name in frame]
    long = frame.melt(keys, kinds, "kind", "documents")
    long["kind"] = long["kind"].str.removesuffix("/request")
    several = {"row": alt.Row("collection:N", title=None)} if "collection" in frame else {}
    empty = int(frame["without_relevant"].sum()), int(frame["unanswered"].sum())
    return figure(
        alt.Chart(long).mark_bar(),
        "The collection, request by request",
        f"Documents a request in the mean, on a logarithmic axis: relevant (rel), judged, and "
        f"retrieved by a run (docs). {int(frame['requests'].sum())} requests, {empty[0]} of them "
        f"without relevant documents; {int(frame['runs'].sum())} runs, which left {empty[1]} "
        "requests unanswered.",
        height=alt.Step(2 * STEP),
        x=alt.X("documents:Q", title="documents a request", scale=alt.Scale(type="symlog"),
                axis=alt.Axis(values=[0, *(10**power for power in range(7))])),
        y=alt.Y("kind:N", title=None, sort=None),
        color=category("kind").legend(None),
        tooltip=[*keys, "kind", alt.Tooltip("documents", format=".1f")],
        **several,
    )  # fmt: skip


def prediction_from_suffixes(frame: pd.DataFrame) -> Any:
    """How often later relevant documents predict the first (Table 2).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.prediction_from_suffixes`.
    """
    kinds = {"percent": "all", "percent_of_untied": "those it does not tie"}
    long = frame.melt(["predictor", "pairs"], list(kinds), "of", "share").replace({"of": kinds})
    return figure(
        alt.Chart(long).mark_bar(),
        "The first relevant document, predicted",
        "How often the relevant documents after the first tell which of two rankings has the first "
        "one higher: of all pairs of rankings whose reciprocal ranks differ, and of those that the "
        "predictor tells apart. By chance: 50.",
        height=alt.Step(STEP),
        x=alt.X("share:Q", title="right (%)", scale=alt.Scale(domain=[0, 100])),
        y=alt.Y("predictor:N", title=None, sort=None),
        yOffset=alt.YOffset("of:N", sort=list(kinds.values())),
        color=category("of", "pairs", domain=list(kinds.values())),
        tooltip=["predictor", "of", "pairs", alt.Tooltip("share", format=".2f")],
    )


def ties(frame: pd.DataFrame) -> Any:
    """Pairs of rankings that tie (Table 3).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.ties`.
    """
    return figure(
        alt.Chart(frame).mark_bar(),
        "Rankings that cannot be told apart",
        "The share of pairs of rankings, of the same query by two systems, that tie: by "
        "lexiprecision, whose rrLP and sgnLP tie alike, and by reciprocal rank.",
        height=alt.Step(2 * STEP),
        x=alt.X("percent:Q", title="tied (%)", scale=alt.Scale(domain=[0, 100])),
        y=alt.Y("preference:N", title=None, sort=None),
        color=category("preference").legend(None),
        tooltip=["preference", "pairs", "ties", alt.Tooltip("percent", format=".2f")],
    )


def system_preferences(frame: pd.DataFrame) -> Any:
    """The mean preference of every two systems, as a matrix for each kind.

    Args:
        frame: of :func:`~pyterrier_asl.analysis.system_preferences`.
    """
    first = frame[frame["preference"] == frame["preference"].iloc[0]] if len(frame) else frame
    gains = first.set_index("a")["mean"], -first.set_index("b")["mean"]
    order = pd.concat(gains).groupby(level=0).mean().sort_values(ascending=False).index.tolist()
    panels = [
        _matrix(f"{kind}, test: {test}", part, order)
        for (kind, test), part in frame.groupby(["preference", "test"], sort=False)
    ]
    caption = (
        "The mean preference for the row's system over the column's: blue prefers the row, orange "
        "the column; a dot marks what is significant after correction. Systems stand in the order "
        "of the first kind."
    )
    drawn = alt.concat(*panels, columns=2).resolve_scale(color="independent")
    return captioned(drawn, "Which of two systems is preferred", caption)


def _matrix(title: str, frame: pd.DataFrame, order: list[str]) -> Any:
    """One kind of preference: of two systems there is one row, and the other is it turned round."""
    told = frame[["a", "b", "mean", "wins", "losses", "p_corrected", "significant"]].round(4)
    most = max(float(told["mean"].abs().max()), 1e-9)
    side = max(160, min(600, 14 * len(order)))
    axis = {"sort": order, "title": None}
    base = (
        alt.Chart(rows(told), title=title, width=side, height=side)
        .transform_calculate(turned="[false, true]")
        .transform_flatten(["turned"])
        .transform_calculate(
            row="datum.turned ? datum.b : datum.a",
            column="datum.turned ? datum.a : datum.b",
            preference="datum.turned ? -datum.mean : datum.mean",
            won="datum.turned ? datum.losses : datum.wins",
            lost="datum.turned ? datum.wins : datum.losses",
        )
        .encode(
            x=alt.X("column:N", axis=alt.Axis(labelAngle=-90, labelOverlap=True), **axis),
            y=alt.Y("row:N", axis=alt.Axis(labelOverlap=True), **axis),
        )
    )
    scale = alt.Scale(scheme="blueorange", domain=[most, -most])
    shade = base.mark_rect().encode(
        color=alt.Color("preference:Q", title="mean", scale=scale),
        tooltip=["row:N", "column:N", alt.Tooltip("preference:Q", format=".4f"), "won:Q", "lost:Q",
                 alt.Tooltip("p_corrected:Q", format=".4f")],
    )  # fmt: skip
    dot = base.mark_circle(size=12, color="black").transform_filter("datum.significant")
    return alt.layer(shade, dot)


def system_order(frame: pd.DataFrame) -> Any:
    """The systems' places by mean preference, Borda and MC4.

    Args:
        frame: of :func:`~pyterrier_asl.analysis.system_order`.
    """
    methods = {"mean_rank": "mean", "borda_rank": "Borda", "mc4_rank": "MC4"}
    long = frame.melt(["system", "cycle"], list(methods), "method", "place")
    long = long.replace({"method": methods})
    in_circles = int((frame["cycle"] > 0).sum())
    return figure(
        alt.Chart(long).mark_point(filled=True, size=55, opacity=0.8),
        "The order that preferences put systems in",
        "Places by three ways to aggregate preferences; systems that a way cannot tell apart share "
        f"one. {in_circles} of {len(frame)} systems are preferred to each other in a circle, which "
        "no order does justice to.",
        height=alt.Step(STEP),
        x=alt.X("place:Q", title="place", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("system:N", title=None, sort=None),
        color=category("method", domain=list(methods.values())),
        shape=shape("method", domain=list(methods.values())),
        tooltip=["system", "method", "place", "cycle"],
    )


def cycles(frame: pd.DataFrame) -> Any:
    """Triples of systems that are preferred in a circle, by the weakest of the preferences.

    Args:
        frame: of :func:`~pyterrier_asl.analysis.cycles`.
    """
    shown, rest = first_of(frame, "circles")
    names = [f"{a} > {b} > {c}" for a, b, c in zip(shown["a"], shown["b"], shown["c"])]
    caption = (
        "Each of three systems is preferred to the next, and the last to the first; the bar is the "
        "weakest of the three mean preferences." if names else
        "There are no circles: of no three systems is each preferred to the next."
    )  # fmt: skip
    return figure(
        alt.Chart(shown.assign(circle=names)).mark_bar(color=_STYLES["sgnLP"][0]),
        "Systems preferred in a circle",
        caption + rest,
        height=alt.Step(STEP),
        x=alt.X("weakest:Q", title="weakest mean preference"),
        y=alt.Y("circle:N", title=None, sort=None, axis=alt.Axis(labelLimit=300)),
        tooltip=["a", "b", "c", alt.Tooltip("weakest:Q", format=".4f")],
    )


def preference_levels(frame: pd.DataFrame) -> Any:
    """How many values reciprocal rank and lexiprecision can have (Figure 1, in numbers).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.preference_levels`.
    """
    # Beyond doubles for large collections, so that their logarithms are drawn.
    long = frame.melt("m", var_name="order", value_name="levels")
    long["digits"] = [len(str(levels)) for levels in long["levels"]]
    long["levels"] = long["levels"].astype(str)
    return figure(
        alt.Chart(long).mark_line(point=True),
        "How finely rankings can be told apart",
        "Levels of reciprocal rank and of lexiprecision, as the number of their decimal "
        "digits: every arrangement of relevant documents is a level of the latter.",
        x=alt.X("m:Q", title="relevant documents m"),
        y=alt.Y("digits:Q", title="levels (decimal digits)"),
        color=category("order"),
        tooltip=["m", "order", "digits"],
    )


def tie_probability(frame: pd.DataFrame) -> Any:
    """The probability of a tie with a random ranking, by p_1 (Figure 2).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.tie_probability`.
    """
    return figure(
        alt.Chart(frame).mark_line(),
        "Ties in reciprocal rank with a random ranking",
        "The closed form, by the rank of the first relevant document: the more are "
        "relevant, the likelier a tie near the top.",
        x=alt.X("p_1:Q", title="p₁"),
        y=alt.Y("probability:Q", title="Pr(p₁ = p₁′)"),
        color=alt.Color("m:O", title="m", scale=alt.Scale(scheme="viridis")),
        tooltip=["m", "p_1", alt.Tooltip("probability", format=".5f")],
    )


def tie_probability_by_rank(frame: pd.DataFrame) -> Any:
    """The empirical probability of a tie, by p_1, both logarithmic (Figure 3).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.tie_probability_by_rank`.
    """
    seen = frame[frame["probability"] > 0]
    return figure(
        alt.Chart(seen).mark_line(point=True),
        "Ties in reciprocal rank with another system",
        "Empirical, by the rank of the first relevant document; both axes are logarithmic.",
        x=alt.X("p_1:Q", title="p₁", scale=alt.Scale(type="log")),
        y=alt.Y("probability:Q", title="Pr(p₁ = p₁′)", scale=alt.Scale(type="log")),
        tooltip=["p_1", "rankings", "pairs", alt.Tooltip("probability", format=".4f")],
        **by_collection(frame),
    )


def ties_by_recall_level(frame: pd.DataFrame) -> Any:
    """The empirical probability of a tie in position, by recall level (Figure 5).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.ties_by_recall_level`.
    """
    return figure(
        alt.Chart(frame).mark_line(point=True),
        "Ties in position by recall level",
        "How often two systems have their i-th relevant document at the same rank, or both "
        "miss it.",
        x=alt.X("i:Q", title="recall level i"),
        y=alt.Y("probability:Q", title="Pr(pᵢ = pᵢ′)", scale=alt.Scale(domain=[0, 1])),
        tooltip=["i", "pairs", alt.Tooltip("probability", format=".3f"),
                 alt.Tooltip("both_missing", format=".3f")],
        **by_collection(frame),
    )


def recall_level_needed(frame: pd.DataFrame) -> Any:
    """The share of pairs of rankings told apart, by recall level (Figure 6).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.recall_level_needed`.
    """
    return figure(
        alt.Chart(frame).mark_line(interpolate="step-after"),
        "Recall levels needed to tell two rankings apart",
        "The share of pairs of rankings whose first difference is at this recall level or "
        "before.",
        x=alt.X("i:Q", title="recall level i*"),
        y=alt.Y("cumulative:Q", title="told apart", scale=alt.Scale(domain=[0, 1])),
        tooltip=["i", "pairs", alt.Tooltip("cumulative", format=".3f")],
        **by_collection(frame),
    )


def level_correlations(frame: pd.DataFrame) -> Any:
    """Pearson correlations of differences at two recall levels (Figure 7a).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.level_correlations`.
    """
    base = alt.Chart(frame).encode(
        x=alt.X("j:O", title="δRR at level j"), y=alt.Y("i:O", title="δRR at level i")
    )
    chart = cells(
        base,
        alt.Color(
            "correlation:Q", title="correlation", scale=alt.Scale(scheme="blues", domain=[0, 1])
        ),
        alt.Text("correlation:Q", format=".2f"),
        "datum.correlation > 0.6",
        ["i", "j", "pairs", alt.Tooltip("correlation", format=".3f")],
    ).properties(width=HEIGHT, height=HEIGHT)
    caption = (
        "Pearson correlations over all pairs of systems and all queries that have the "
        "deeper level."
    )
    return captioned(chart, "How alike differences at two recall levels are", caption, CAPTION)


def level_regressions(frame: pd.DataFrame) -> Any:
    """Coefficients of the next recall levels (Figure 7b).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.level_regressions`.
    """
    labelled = frame.assign(
        level=[f"{i} (R² = {r2:.2f})" for i, r2 in zip(frame["i"], frame["R2"])]
    )
    return figure(
        alt.Chart(labelled).mark_line(point=True),
        "What the next recall levels say",
        "Coefficients of a linear regression of the difference at level i on those at the "
        "next levels, with the share of variance it explains.",
        x=alt.X("j:O", title="j", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("coefficient:Q", title="coefficient of δRRᵢ₊ⱼ"),
        color=category("level", "i"),
        tooltip=["i", "j", alt.Tooltip("coefficient", format=".3f")],
    )


def missing_labels(frame: pd.DataFrame) -> Any:
    """Agreement with reciprocal rank on all labels, as labels go (Figure 8a).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.missing_labels`.
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
    return captioned(chart, "Agreement as labels go", caption, CAPTION)


def missing_queries(frame: pd.DataFrame) -> Any:
    """Agreement with reciprocal rank on all queries, as queries go (Figure 8b).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.missing_queries`.
    """
    chart = _with_band(frame, "system", "sign agreement, two systems", "query fraction")
    caption = (
        "Mean preferences over some of the queries against mean reciprocal rank over all; "
        "lines are means over samples, bands one standard deviation."
    )
    return captioned(chart, "Agreement as queries go", caption, CAPTION)


def ties_as_labels_go(frame: pd.DataFrame) -> Any:
    """Tied rankings as labels are removed (Figure 9).

    Args:
        frame: of :func:`~pyterrier_asl.analysis.missing_labels`.
    """
    # sgnLP and rrLP tie alike.
    seen = frame[frame["preference"] != "sgnLP"]
    chart = _with_band(seen, "tied", "fraction tied", "label fraction", zero=True)
    caption = (
        "Pairs of rankings that tie; lines are means over samples, bands one standard "
        "deviation. sgnLP ties as rrLP does."
    )
    return captioned(chart, "Ties as labels go", caption, CAPTION)


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
    return alt.layer(band, line).properties(width=WIDTH, height=HEIGHT)
