"""How finely can reciprocal rank distinguish rankings at all, beside lexiprecision?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..charts.forms import alt, category, figure, labelled_lines
from .registry import DIAZ, analysis


@analysis("preference-levels", DIAZ, "Figure 1")
def preference_levels(
    n: int, relevant: Sequence[int], *, cutoff: int | None = None
) -> pd.DataFrame:
    """How many values can RR and lexiprecision take, in theory?

    Args:
        n: how many documents there are.
        relevant: numbers m of relevant documents to look at.
        cutoff: rankings hold only their first ``cutoff`` documents.

    Returns:
        A row for each m, with ``m``, ``RR``, the levels of reciprocal rank, and ``lexiprecision``,
        the levels of the lexicographic order, which are all arrangements of relevant documents.

    Raises:
        ValueError: for an m that is not between 1 and n, or a cut-off that is not.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 1 and section 3.3.

    >>> preference_levels(9, [1, 5]).to_dict("list")
    {'m': [1, 5], 'RR': [9, 5], 'lexiprecision': [9, 126]}
    """
    _check_within(n, relevant)
    if cutoff is not None and not 1 <= cutoff <= n:
        raise ValueError(f"cutoff is {cutoff}, but a ranking holds 1 to n = {n} documents")
    levels = [(m, *_levels(n, m, cutoff)) for m in relevant]
    # Python's own integers, because arrangements are soon more than 64 bits can count.
    frame = pd.DataFrame(levels, columns=["m", "RR", "lexiprecision"], dtype=object)
    return frame.astype({"m": np.int64, "RR": np.int64})


@preference_levels.chart
def levels_chart(frame: pd.DataFrame) -> Any:
    """How many values reciprocal rank and lexiprecision can have, in decimal digits."""
    # Beyond doubles for large collections, so that their logarithms are drawn.
    long = frame.melt("m", var_name="order", value_name="levels")
    long["digits"] = [len(str(levels)) for levels in long["levels"]]
    long["levels"] = long["levels"].astype(str)
    drawn = labelled_lines(
        long,
        x=alt.X("m:Q", title="relevant documents m", axis=alt.Axis(tickCount=6)),
        y=alt.Y("digits:Q", title="levels (decimal digits)"),
        color=category("order"),
        tooltip=["m", "order", "digits"],
        point=True,
    )
    return figure(
        drawn,
        "How finely rankings can be distinguished",
        "Levels of reciprocal rank and of lexiprecision, as the number of their decimal "
        "digits: every arrangement of relevant documents is a level of the latter.",
    )


def _levels(n: int, m: int, cutoff: int | None) -> tuple[int, int]:
    if cutoff is None or cutoff == n:
        return n - m + 1, math.comb(n, m)
    # At least so many of the m are among the first documents, because no more lie behind.
    least = max(0, m - (n - cutoff))
    found = range(least, min(m, cutoff) + 1)
    first = min(cutoff, n - m + 1)  # the last rank at which the first relevant document can be
    return first + (least == 0), sum(math.comb(cutoff, j) for j in found)


@analysis("tie-probability", DIAZ, "Figure 2")
def tie_probability(n: int, relevant: Sequence[int], ranks: Sequence[int]) -> pd.DataFrame:
    """How likely is a random ranking to tie in RR, in theory?

    With one whose first relevant document has rank p_1:
    Pr(tie | p_1) = C(n - p_1, m - 1) / C(n, m).

    Args:
        n: how many documents there are.
        relevant: numbers m of relevant documents to look at.
        ranks: ranks p_1 of the first relevant document.

    Returns:
        A row for each m and rank, with ``m``, ``p_1``, ``probability``.

    Raises:
        ValueError: for an m or a rank that is not between 1 and n.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, section 2.

    >>> tie_probability(5, [1, 2], [1, 2, 5])["probability"].round(4).tolist()
    [0.2, 0.2, 0.2, 0.4, 0.3, 0.0]
    """
    from scipy.stats import nhypergeom

    _check_within(n, relevant)
    _check_within(n, ranks, "rank")
    m, p = (grid.ravel() for grid in np.meshgrid(relevant, ranks, indexing="ij"))
    # So likely are p_1 - 1 documents that are not relevant before the first that is.
    probability = nhypergeom.pmf(p - 1, n, n - m, 1)
    return pd.DataFrame({"m": m, "p_1": p, "probability": probability})


@tie_probability.chart
def tie_probability_chart(frame: pd.DataFrame) -> Any:
    """The probability of a tie with a random ranking, by p_1."""
    drawn = labelled_lines(
        frame.assign(line="m = " + frame["m"].astype(str)),
        x=alt.X("p_1:Q", title="p₁", axis=alt.Axis(tickCount=6)),
        y=alt.Y("probability:Q", title="Pr(p₁ = p₁′)", axis=alt.Axis(format="~%", tickCount=6)),
        color=category("line"),
        tooltip=["m", "p_1", alt.Tooltip("probability", format=".5f")],
    )
    return figure(
        drawn,
        "Ties in reciprocal rank with a random ranking",
        "The closed form, by the rank of the first relevant document: the more are "
        "relevant, the likelier a tie near the top.",
    )


def _check_within(
    n: int, values: Sequence[int], what: str = "number of relevant documents"
) -> None:
    wrong = [value for value in values if not 1 <= value <= n]
    if wrong:
        raise ValueError(f"a {what} lies between 1 and n = {n}, but {wrong[0]} does not")
