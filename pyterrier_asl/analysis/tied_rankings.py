"""How often can two rankings of a query not be distinguished?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..charts.forms import STEP, alt, bars, by_collection, category, figure
from ..evaluation.preferences import first_differences, recall_levels
from ..scoring.preferences import level
from .registry import DIAZ, JudgedRuns, Queries, analysis


@analysis("ties", DIAZ, "Table 3")
def ties(
    judged: JudgedRuns, queries: Queries, *, rel: float = 1, cutoff: int | None = None
) -> pd.DataFrame:
    """How many pairs of rankings do RR and lexiprecision not distinguish?

    Each pair is the rankings that two systems give the same query. A query without relevant
    documents ties all rankings.

    Returns:
        A row for lexiprecision (rrLP and sgnLP tie alike) and one for reciprocal rank, with
        ``preference``, ``pairs`` of rankings, ``ties`` among them, and ``percent``.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 3.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> ties(runs, {"q": {"d": 1, "e": 1}})
        preference  pairs  ties  percent
    0  rrLP, sgnLP      1     0      0.0
    1           RR      1     1    100.0
    """
    i_star = judged.once(first_differences, rel, cutoff)
    tied = np.stack([np.sum(i_star == 0, axis=0), np.sum(i_star != 1, axis=0)])
    return pd.DataFrame(
        {
            "preference": ["rrLP, sgnLP", "RR"],
            "pairs": len(i_star) * len(queries),
            "ties": queries.of(tied).sum(axis=1),
            "percent": 100 * queries.mean(tied) / max(len(i_star), 1),
        }
    )


@ties.chart
def ties_chart(frame: pd.DataFrame) -> Any:
    """Pairs of rankings that tie, as bars."""
    return figure(
        bars(
            frame, "percent", ".1f",
            x=alt.X("percent:Q", title="tied (%)", scale=alt.Scale(domain=[0, 100])),
            y=alt.Y("preference:N", title=None, sort=None),
            color=category("preference").legend(None),
            tooltip=["preference", "pairs", "ties", alt.Tooltip("percent", format=".2f")],
        ),
        "Rankings that are not distinguished",
        "The share of pairs of rankings, of the same query by two systems, that tie: by "
        "lexiprecision, whose rrLP and sgnLP tie alike, and by reciprocal rank.",
        height=alt.Step(2 * STEP),
    )  # fmt: skip


@analysis("ties-by-rank", DIAZ, "Figure 3")
def tie_probability_by_rank(
    judged: JudgedRuns, queries: Queries, *,
    rel: float = 1, cutoff: int | None = None, deepest: int = 10,
) -> pd.DataFrame:  # fmt: skip
    """How likely is another ranking to tie in RR, by the first rank?

    Args:
        deepest: the last rank p_1 to report.

    Returns:
        A row for each rank, with ``p_1``, ``rankings`` whose first relevant document is there,
        ``pairs`` of such a ranking with another system's for the same query, and ``probability`` of
        a tie in such a pair, not a number where there is none.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 3.

    >>> runs = {name: {"q": {"d": 1}} for name in ("a", "b")} | {"c": {"q": {"x": 2, "d": 1}}}
    >>> tie_probability_by_rank(runs, {"q": {"d": 1}}, deepest=2)
       p_1  rankings  pairs  probability
    0    1         2      4          0.5
    1    2         1      2          0.0
    """
    first = queries.of(level(*judged.once(recall_levels, rel, cutoff), 1))
    ranks = np.arange(1, deepest + 1)
    # How many of each query's rankings have their first relevant document at each rank.
    there = np.stack([np.sum(first == 1 / rank, axis=0) for rank in ranks])
    rankings, others = there.sum(axis=1), len(judged) - 1
    with np.errstate(invalid="ignore"):
        probability = (there * (there - 1)) @ queries.each / (there @ queries.each * others)
    return pd.DataFrame(
        {
            "p_1": ranks,
            "rankings": rankings,
            "pairs": rankings * others,
            "probability": probability,
        }
    )


@tie_probability_by_rank.chart
def ties_by_rank_chart(frame: pd.DataFrame) -> Any:
    """The empirical probability of a tie, by p_1, both logarithmic."""
    return figure(
        alt.Chart(frame[frame["probability"] > 0]).mark_line(point=True),
        "Ties in reciprocal rank with another system",
        "Empirical, by the rank of the first relevant document; both axes are logarithmic.",
        x=alt.X("p_1:Q", title="p₁", scale=alt.Scale(type="log"),
                axis=alt.Axis(values=[1, 2, 3, 5, 10, 20, 50, 100])),
        y=alt.Y("probability:Q", title="Pr(p₁ = p₁′)", scale=alt.Scale(type="log"),
                axis=alt.Axis(tickCount=5)),
        tooltip=["p_1", "rankings", "pairs", alt.Tooltip("probability", format=".4f")],
        **by_collection(frame),
    )  # fmt: skip


@analysis("ties-by-level", DIAZ, "Figure 5")
def ties_by_recall_level(
    judged: JudgedRuns, queries: Queries, *,
    rel: float = 1, cutoff: int | None = None, levels: int = 20,
) -> pd.DataFrame:  # fmt: skip
    """How often do rankings tie in position, by recall level?

    How often two rankings have their i-th relevant document at the same rank. Only queries with i
    relevant documents or more count for level i. Two rankings that both miss the i-th are tied.

    Args:
        levels: how many recall levels to look at.

    Returns:
        A row for each level ``i``, with ``pairs`` of rankings, ``probability`` of the same
        position, and ``both_missing``, the share of pairs in which neither retrieved it.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 5.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> ties_by_recall_level(runs, {"q": {"d": 1, "e": 1}}, levels=2)
       i  pairs  probability  both_missing
    0  1      1          1.0           0.0
    1  2      1          0.0           0.0
    """
    reciprocal, total = judged.once(recall_levels, rel, cutoff)
    first, second = np.triu_indices(len(judged), k=1)
    rows = []
    for i in range(1, levels + 1):
        has = queries.where(total >= i)
        ranks = has.of(level(reciprocal, total, i))
        tied = ranks[first] == ranks[second]
        missing = tied & (ranks[first] == 0)
        whole = len(first) * has.each.sum() or np.nan
        shares = [float(np.sum(pairs @ has.each)) / whole for pairs in (tied, missing)]
        rows.append((i, tied.size, *shares))
    return pd.DataFrame(rows, columns=["i", "pairs", "probability", "both_missing"])


@ties_by_recall_level.chart
def ties_by_level_chart(frame: pd.DataFrame) -> Any:
    """The empirical probability of a tie in position, by recall level."""
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
    )  # fmt: skip
