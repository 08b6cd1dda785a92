"""How often do two rankings of a query tie, in theory and in runs?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy  # its submodules load when first used

from ..charts import alt, bars, by_collection, category, figure, tooltips, undrawn
from ..common.lazy import pd
from ..common.notices import counted
from ..evaluation.evaluation import Runs
from ..evaluation.preferences import first_differences, recall_levels
from ..evaluation.sources import QrelsLike
from ..scoring.preferences import level
from .inputs import read
from .registry import DIAZ, analysis


@analysis(DIAZ, "Figure 1")
def preference_levels(
    n: int, relevant: Sequence[int], *, cutoff: int | None = None
) -> pd.DataFrame:
    """How many values can RR and lexiprecision take, in theory?

    Args:
        n: the number of documents.
        relevant: numbers m of relevant documents.
        cutoff: rankings hold only their first ``cutoff`` documents.

    Returns:
        A row for each m, with ``m``, ``RR``, the number of values of reciprocal rank, and
        ``lexiprecision``, the number of values of the lexicographic order, which is the number of
        arrangements of relevant documents.

    Raises:
        ValueError: for an m or a cut-off that is not between 1 and n.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 1 and section 3.3.

    >>> preference_levels(9, [1, 5]).to_dict("list")
    {'m': [1, 5], 'RR': [9, 5], 'lexiprecision': [9, 126]}
    """
    _check_within(n, relevant)
    _check_within(n, [] if cutoff is None else [cutoff], "cut-off")
    levels = [(m, *_levels(n, m, n if cutoff is None else cutoff)) for m in relevant]
    # Python integers, because the number of arrangements soon exceeds 64 bits.
    return pd.DataFrame(levels, columns=["m", "RR", "lexiprecision"], dtype=object).astype(
        {"m": np.int64, "RR": np.int64}
    )


@preference_levels.chart
def levels_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The numbers of values of reciprocal rank and lexiprecision, in decimal digits."""
    # The numbers exceed doubles in large collections, so the numbers of digits are drawn.
    long = frame.melt("m", var_name="order", value_name="levels")
    long["digits"] = [len(str(levels)) for levels in long["levels"]]
    long["levels"] = long["levels"].astype(str)
    return figure(
        alt.Chart(long).mark_line(point=True),
        "How finely rankings can be distinguished",
        "The number of values of reciprocal rank and of lexiprecision, in decimal digits. Every "
        "arrangement of relevant documents is a value of lexiprecision.",
        x=alt.X("m:Q", title="relevant documents m", scale=alt.Scale(type="log")),
        y=alt.Y("digits:Q", title="levels (decimal digits)"),
        color=category("order"),
        tooltip=tooltips("m", "order", "digits"),
    )


def _levels(n: int, m: int, cutoff: int) -> tuple[int, int]:
    least = max(0, m - (n - cutoff))  # relevant documents that do not fit behind the cut-off
    first = min(cutoff, n - m + 1)  # the last rank at which the first relevant document can be
    return first + (least == 0), sum(math.comb(cutoff, j) for j in range(least, min(m, cutoff) + 1))


@analysis(DIAZ, "Figure 2")
def tie_probability(n: int, relevant: Sequence[int], ranks: Sequence[int]) -> pd.DataFrame:
    """How likely is a random ranking to tie in RR, in theory?

    The probability of a tie with a ranking whose first relevant document has rank p_1:
    Pr(tie | p_1) = C(n - p_1, m - 1) / C(n, m).

    Args:
        n: the number of documents.
        relevant: numbers m of relevant documents.
        ranks: ranks p_1 of the first relevant document.

    Returns:
        A row for each m and rank, with ``m``, ``p_1``, ``probability``.

    Raises:
        ValueError: for an m or a rank that is not between 1 and n.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, section 2.

    >>> tie_probability(5, [1, 2], [1, 2, 5])["probability"].round(4).tolist()
    [0.2, 0.2, 0.2, 0.4, 0.3, 0.0]
    """
    _check_within(n, relevant)
    _check_within(n, ranks, "rank")
    m, p = (grid.ravel() for grid in np.meshgrid(relevant, ranks, indexing="ij"))
    # The probability of p_1 - 1 irrelevant documents before the first relevant document.
    probability = scipy.stats.nhypergeom.pmf(p - 1, n, n - m, 1)
    return pd.DataFrame({"m": m, "p_1": p, "probability": probability})


@tie_probability.chart
def tie_probability_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The probability of a tie with a random ranking, by p_1."""
    frame = frame.assign(line="m = " + frame["m"].astype(str))
    return figure(
        alt.Chart(frame).mark_line(),
        "Ties in reciprocal rank with a random ranking",
        "The closed form, by the rank of the first relevant document. With more relevant "
        "documents a tie at rank 1 is more likely: its probability is m/n.",
        x=alt.X("p_1:Q", title="p₁"),
        y=alt.Y("probability:Q", title="Pr(p₁ = p₁′)", axis=alt.Axis(format="~%")),
        color=category("line", domain=list(dict.fromkeys(frame["line"]))),
        tooltip=tooltips("m", "p_1", alt.Tooltip("probability", format=".5f")),
    )


def _check_within(
    n: int, values: Sequence[int], what: str = "number of relevant documents"
) -> None:
    for wrong in (value for value in values if not 1 <= value <= n):
        raise ValueError(f"a {what} must be between 1 and n = {n}, but {wrong} is not")


@analysis(DIAZ, "Table 3")
def ties(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
) -> pd.DataFrame:
    """How many pairs of rankings do RR and lexiprecision not distinguish?

    A pair consists of the rankings of two systems for one query. For a query without relevant
    documents all rankings tie.

    Returns:
        A row for lexiprecision (rrLP and sgnLP have the same ties) and one for reciprocal rank,
        with ``preference``, ``pairs`` of rankings, ``ties`` among them, and ``percent``.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 3.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> ties(runs, {"q": {"d": 1, "e": 1}})
        preference  pairs  ties  percent
    0  rrLP, sgnLP      1     0      0.0
    1           RR      1     1    100.0
    """
    judged, rel = read(runs, qrels, rel)
    i_star = judged.once(first_differences, rel, cutoff)
    tied = np.array([np.sum(i_star == 0), np.sum(i_star != 1)])
    return pd.DataFrame(
        {
            "preference": ["rrLP, sgnLP", "RR"],
            "pairs": i_star.size,
            "ties": tied,
            "percent": 100 * tied / max(i_star.size, 1),
        }
    )


@ties.chart
def ties_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Pairs of rankings that tie, as bars."""
    return figure(
        bars(
            frame,
            "percent",
            ".1f",
            x=alt.X("percent:Q", title="tied (%)", scale=alt.Scale(domain=[0, 100])),
            y=alt.Y("preference:N", title=None, sort=None),
            color=category("preference").legend(None),
            tooltip=tooltips("preference", "pairs", "ties", alt.Tooltip("percent", format=".2f")),
        ),
        "Rankings that are not distinguished",
        f"The share of {counted(int(frame['pairs'].max()), 'pair')} of rankings by two systems for "
        "one query that tie: by lexiprecision (rrLP and sgnLP have the same ties), and by "
        "reciprocal rank.",
        rows=2,
    )


@analysis(DIAZ, "Figure 3")
def tie_probability_by_rank(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    deepest: int = 10,
) -> pd.DataFrame:
    """How likely is another ranking to tie in RR, by the first rank?

    Args:
        deepest: the last rank p_1 to report.

    Returns:
        A row for each rank, with ``p_1``, the number of ``rankings`` with their first relevant
        document at this rank, ``pairs`` of such a ranking with another system's for the same query,
        and ``probability`` of a tie in such a pair, NaN without pairs.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 3.

    >>> runs = {name: {"q": {"d": 1}} for name in ("a", "b")} | {"c": {"q": {"x": 2, "d": 1}}}
    >>> tie_probability_by_rank(runs, {"q": {"d": 1}}, deepest=2)
       p_1  rankings  pairs  probability
    0    1         2      4          0.5
    1    2         1      2          0.0
    """
    judged, rel = read(runs, qrels, rel)

    first, ranks = level(*judged.once(recall_levels, rel, cutoff), 1), np.arange(1, deepest + 1)
    # The number of rankings of each query with the first relevant document at each rank.
    counts = np.stack([np.sum(first == 1 / rank, axis=0) for rank in ranks])
    rankings = counts.sum(axis=1)
    pairs = rankings * (len(judged) - 1)
    with np.errstate(invalid="ignore"):
        probability = (counts * (counts - 1)).sum(axis=1) / pairs
    return pd.DataFrame(
        {"p_1": ranks, "rankings": rankings, "pairs": pairs, "probability": probability}
    )


@tie_probability_by_rank.chart
def ties_by_rank_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The empirical probability of a tie, by p_1, both logarithmic."""
    return figure(
        alt.Chart(frame[frame["probability"] > 0]).mark_line(point=True),
        "Ties in reciprocal rank with another system",
        "The share of ties, by the rank of the first relevant document; both axes are "
        "logarithmic. Ranks without a tie are left out.",
        x=alt.X(
            "p_1:Q",
            title="p₁",
            scale=alt.Scale(type="log", domain=[1, max(2, int(frame["p_1"].max()))]),
        ),
        y=alt.Y("probability:Q", title="Pr(p₁ = p₁′)", scale=alt.Scale(type="log")),
        tooltip=tooltips("p_1", "rankings", "pairs", alt.Tooltip("probability", format=".4f")),
        **by_collection(frame),
    )


@analysis(DIAZ, "Figure 5")
def ties_by_recall_level(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    levels: int = 20,
) -> pd.DataFrame:
    """How often do rankings tie in position, by recall level?

    How often two rankings have their i-th relevant document at the same rank. Only queries with i
    relevant documents or more count for level i. Two rankings that both miss the i-th document tie.

    Args:
        levels: the number of recall levels.

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
    judged, rel = read(runs, qrels, rel)
    reciprocal, total = judged.once(recall_levels, rel, cutoff)
    first, second = np.triu_indices(len(judged), k=1)

    rows = []
    for i in range(1, levels + 1):
        ranks = level(reciprocal, total, i)[:, total >= i]
        tied = ranks[first] == ranks[second]
        parts = tied, tied & (ranks[first] == 0)
        rows.append((i, tied.size, *(int(part.sum()) / (tied.size or np.nan) for part in parts)))
    return pd.DataFrame(rows, columns=["i", "pairs", "probability", "both_missing"])


@ties_by_recall_level.chart
def ties_by_level_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The empirical probability of a tie in position, by recall level."""
    return figure(
        alt.Chart(frame).mark_line(point=True),
        "Ties in position by recall level",
        "How often two systems have their i-th relevant document at the same rank, or both "
        "miss it." + undrawn(frame["probability"]),
        x=alt.X("i:Q", title="recall level i", scale=alt.Scale(domainMin=1)),
        y=alt.Y("probability:Q", title="Pr(pᵢ = pᵢ′)", scale=alt.Scale(domain=[0, 1])),
        tooltip=tooltips(
            "i",
            "pairs",
            alt.Tooltip("probability", format=".3f"),
            alt.Tooltip("both_missing", format=".3f"),
        ),
        **by_collection(frame),
    )
