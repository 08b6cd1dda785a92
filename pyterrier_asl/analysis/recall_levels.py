"""How many recall levels distinguish two rankings, and do later levels predict the first?"""

from __future__ import annotations

import numpy as np

from ..charts import (
    HEIGHT,
    alt,
    bars,
    by_collection,
    category,
    cells,
    coefficient_colors,
    figure,
    tooltips,
    undrawn,
)
from ..common.lazy import pd
from ..common.types import Floats, Ints
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.preferences import first_differences, recall_levels
from ..evaluation.sources import QrelsLike
from ..scoring.preferences import difference, level, pairwise_preferences
from .inputs import read
from .registry import DIAZ, analysis
from .tables import described


@analysis(DIAZ, "Figure 6")
def recall_level_needed(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    levels: int = 20,
) -> pd.DataFrame:
    """Which recall level i* distinguishes two rankings?

    Args:
        levels: how many recall levels to report.

    Returns:
        A row for each level ``i``, with ``pairs`` of rankings first distinguished there, and
        ``cumulative``, the share of all pairs that are distinguished at that level or before. The
        remaining pairs need more levels, or tie.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 6.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> recall_level_needed(runs, {"q": {"d": 1, "e": 1}}, levels=2)
       i  pairs  cumulative
    0  1      0         0.0
    1  2      1         1.0
    """
    judged, rel = read(runs, qrels, rel)
    i_star, i = judged.once(first_differences, rel, cutoff), np.arange(1, levels + 1)
    needed = [int(np.sum(i_star == level)) for level in i]
    return pd.DataFrame(
        {"i": i, "pairs": needed, "cumulative": np.cumsum(needed) / max(i_star.size, 1)}
    )


@recall_level_needed.chart
def levels_needed_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The share of pairs of rankings distinguished, by recall level."""
    return figure(
        alt.Chart(frame).mark_line(interpolate="step-after"),
        "Recall levels needed to distinguish two rankings",
        "The share of pairs of rankings whose first difference is at this recall level or before.",
        x=alt.X("i:Q", title="recall level i*", scale=alt.Scale(domainMin=1)),
        y=alt.Y("cumulative:Q", title="distinguished", scale=alt.Scale(domain=[0, 1])),
        tooltip=tooltips("i", "pairs", alt.Tooltip("cumulative", format=".3f")),
        **by_collection(frame),
    )


@analysis(DIAZ, "Figure 7a")
def level_correlations(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    levels: int = 8,
) -> pd.DataFrame:
    """How do differences at the recall levels correlate?

    Pearson correlations of the differences δRR_i and δRR_j of two rankings, over all queries with j
    relevant documents or more and all ordered pairs of systems: (a, b) and (b, a). So both
    differences have mean 0, and the correlation does not depend on the order of the systems, as it
    would over pairs in one direction. The paper does not say which direction it takes.

    Args:
        levels: how many recall levels to look at.

    Returns:
        A row for each i < j, with ``i``, ``j``, ``pairs`` of rankings, ``correlation``; NaN where
        no pair differs at one of the two levels.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 7a.
    """
    judged, rel = read(runs, qrels, rel)
    rows = []
    for j in range(2, levels + 1):
        products, pairs = _products(*judged.once(recall_levels, rel, cutoff), range(1, j + 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            correlations = products[-1] / np.sqrt(np.diag(products) * products[-1, -1])
        rows += [(i, j, pairs, value) for i, value in enumerate(correlations[:-1], 1)]
    return pd.DataFrame(sorted(rows), columns=["i", "j", "pairs", "correlation"])


@level_correlations.chart
def level_correlations_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Pearson correlations of differences at two recall levels, as a matrix."""
    return figure(
        cells(
            alt.Chart(frame).encode(
                x=alt.X("j:O", title="δRR at level j", axis=alt.Axis(labelAngle=0)),
                y=alt.Y("i:O", title="δRR at level i"),
            ),
            alt.Color(
                "correlation:Q",
                scale=coefficient_colors(frame["correlation"].dropna()),
                legend=None,
            ),
            "correlation",
            "abs(datum.correlation) > 0.74",
            ["i", "j", "pairs", alt.Tooltip("correlation", format=".3f")],
        ),
        "Correlation of differences at two recall levels",
        "Pearson correlations over all ordered pairs of systems and all queries that have the "
        "deeper level." + undrawn(frame["correlation"]),
        width=HEIGHT,
    )


@analysis(DIAZ, "Figure 7b")
def level_regressions(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    levels: int = 4,
    following: int = 4,
    standardized: bool = False,
) -> pd.DataFrame:
    """Do the following recall levels predict the difference at a level?

    Linear regression of δRR_i on the next levels, δRR_(i+1) to δRR_(i+4), over all ordered pairs of
    systems, so that there is no intercept; and over all queries with i + 4 relevant documents or
    more.

    Args:
        levels: the last level i that is regressed on the next levels.
        following: the number of next levels.
        standardized: give coefficients of differences divided by their standard deviations, which
            do not depend on the scale of a level. The axis of the paper's figure ends at 1.

    Returns:
        A row for each i and j, with ``i``, ``j``, ``coefficient`` of δRR_(i+j), ``R2`` of the
        regression and the number of ``pairs`` of rankings.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 7b.
    """
    judged, rel = read(runs, qrels, rel)
    levels_of_runs = judged.once(recall_levels, rel, cutoff)

    rows = []
    for i in range(1, levels + 1):
        products, pairs = _products(*levels_of_runs, range(i, i + following + 1))
        with_target, among = products[1:, 0], products[1:, 1:]
        coefficients = np.linalg.lstsq(among, with_target, rcond=None)[0]
        coefficients[~among.any(axis=1)] = np.nan  # the level is equal in all rankings
        r2 = coefficients @ with_target / products[0, 0] if products[0, 0] else np.nan
        if standardized:
            with np.errstate(invalid="ignore", divide="ignore"):
                coefficients = coefficients * np.sqrt(np.diag(among) / products[0, 0])
        rows += [(i, j, float(c), float(r2), pairs) for j, c in enumerate(coefficients, 1)]
    return described(
        pd.DataFrame(rows, columns=["i", "j", "coefficient", "R2", "pairs"]),
        standardized=standardized,
    )


@level_regressions.chart
def level_regressions_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Coefficients of the next recall levels, a line for each level."""
    standardized = "standardized " if frame.attrs.get("standardized") else ""
    return figure(
        alt.Chart(
            frame.assign(level=[f"{i} (R² {r2:.2f})" for i, r2 in zip(frame["i"], frame["R2"])])
        ).mark_line(point=True),
        "Regression on the next recall levels",
        f"{standardized}coefficients of a linear regression of the difference at level i on the "
        "differences at the next levels; one line per level i, with the share of variance "
        "explained.".capitalize()
        + undrawn(frame["R2"]),
        x=alt.X("j:O", title="j", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("coefficient:Q", title=f"{standardized}coefficient of δRRᵢ₊ⱼ"),
        color=category("level"),
        tooltip=tooltips("i", "j", alt.Tooltip("coefficient", format=".3f")),
    )


def _products(reciprocal: Floats, total: Ints, levels: range) -> tuple[Floats, int]:
    """Sums of δRR_i δRR_j over all pairs of rankings of the queries that have the last level.

    Over ordered pairs δRR has mean 0. The differences of all ordered pairs of S values x and y have
    the product sum 2 S² cov(x, y), so the pairs are not needed.
    """
    has = total >= levels[-1]
    values = np.stack([level(reciprocal, total, i)[:, has] for i in levels])
    centred = values - values.mean(axis=1, keepdims=True)
    systems = values.shape[1]
    sums = 2 * systems * np.einsum("isq,jsq->ij", centred, centred)
    return sums, systems * (systems - 1) // 2 * int(has.sum())


#: The attribute that names the predictor with the larger ``percent_of_untied``.
_BETTER = "better on untied pairs"


@analysis(DIAZ, "Table 2")
def prediction_from_suffixes(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
) -> pd.DataFrame:
    """Do later relevant documents predict the first?

    How often the sign of δRR_1 is predicted from the ranks p_2, ..., p_m, over the pairs of
    rankings of a query whose reciprocal ranks differ: first by sgnLP of the ranks from the second
    on, then by δRR_2. A tie of the predictor is no prediction: ``percent``, the paper's number,
    counts it as wrong. sgnLP seldom ties. Of the pairs that a predictor does not tie, δRR_2 can
    predict more: on DL 2020 passages it is right on 94.1 %, and sgnLP on 93.0 %.

    Args:
        rel: minimum grade of a relevant document. The paper's table has 1 on all collections.

    Returns:
        A row for each predictor, with ``predictor``, ``pairs`` of rankings, ``right``, ``ties``,
        ``percent`` right, and ``percent_of_untied`` right among the pairs without a tie. ``attrs``
        name the predictor that is ``better on untied pairs``.
    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 2.

    >>> runs = {"a": {"q": {"d": 3, "e": 2}}, "b": {"q": {"x": 3, "d": 2, "e": 1}}}
    >>> prediction_from_suffixes(runs, {"q": {"d": 1, "e": 1}})
      predictor  pairs  right  ties  percent  percent_of_untied
    0     sgnLP      1      1     0    100.0              100.0
    1     δRR_2      1      1     0    100.0              100.0
    """
    judged, rel = read(runs, qrels, rel)

    pairs, right, tied = judged.once(_predictions, rel, cutoff)
    with np.errstate(invalid="ignore", divide="ignore"):
        frame = pd.DataFrame(
            {
                "predictor": ["sgnLP", "δRR_2"],
                "pairs": pairs,
                "right": right,
                "ties": tied,
                "percent": 100 * right / pairs,
                "percent_of_untied": 100 * right / (pairs - tied),
            }
        )
    untied = frame.set_index("predictor")["percent_of_untied"]
    return described(frame, **({_BETTER: untied.idxmax()} if untied.nunique() > 1 else {}))


def _predictions(judged: Evaluation, rel: float, cutoff: int | None) -> tuple[int, Ints, Ints]:
    """Pairs with different RR; right and tied pairs among them by each predictor, (2,)."""
    reciprocal, total = recall_levels(judged, rel, cutoff)
    first, second = (difference(reciprocal, total, i) for i in (1, 2))
    after = np.delete(reciprocal, (np.cumsum(total) - total)[total > 0], axis=1)
    _, suffix = pairwise_preferences(after, np.maximum(total - 1, 0))
    predicted = np.stack([suffix, second])
    return (
        int(np.sum(first != 0)),
        np.sum(predicted * first > 0, axis=(1, 2)),
        np.sum((predicted == 0) & (first != 0), axis=(1, 2)),
    )


@prediction_from_suffixes.chart
def suffixes_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The shares of pairs in which later relevant documents predict the first, as bars."""
    kinds = {"percent": "all", "percent_of_untied": "untied"}
    long = frame.melt(["predictor", "pairs"], list(kinds), "of", "share").replace({"of": kinds})
    return figure(
        bars(
            long,
            "share",
            ".1f",
            x=alt.X("share:Q", title="right (%)", scale=alt.Scale(domain=[0, 100])),
            y=alt.Y("predictor:N", title=None, sort=None),
            yOffset=alt.YOffset("of:N", sort=list(kinds.values())),
            color=category("of", "pairs", domain=list(kinds.values())).legend(orient="bottom"),
            tooltip=tooltips("predictor", "of", "pairs", alt.Tooltip("share", format=".2f")),
        ),
        "The first relevant document, predicted",
        "How often the later relevant documents predict which of two rankings has the first "
        "relevant document higher: of all pairs of rankings with different reciprocal ranks, and "
        "of the pairs that the predictor does not tie. Chance level: 50 % of the untied pairs."
        f"{f' On these {frame.attrs[_BETTER]} predicts better.' if _BETTER in frame.attrs else ''}"
        + undrawn(long["share"]),
        rows=1,
    )
