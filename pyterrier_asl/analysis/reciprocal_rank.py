"""How finely can reciprocal rank tell rankings apart at all, beside lexiprecision?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd


def preference_levels(
    n: int, relevant: Sequence[int], *, cutoff: int | None = None
) -> pd.DataFrame:
    """How many different values a ranking of n documents can have (Figure 1).

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
    _check(n, relevant)
    if cutoff is not None and not 1 <= cutoff <= n:
        raise ValueError(f"cutoff is {cutoff}, but a ranking holds 1 to n = {n} documents")
    levels = [_levels(n, m, cutoff) for m in relevant]
    # Python's own integers, because arrangements are soon more than 64 bits can count.
    arrangements = pd.Series([count for _, count in levels], dtype=object)
    return pd.DataFrame(
        {"m": list(relevant), "RR": [count for count, _ in levels], "lexiprecision": arrangements}
    )


def _levels(n: int, m: int, cutoff: int | None) -> tuple[int, int]:
    if cutoff is None or cutoff == n:
        return n - m + 1, math.comb(n, m)
    # At least so many of the m are among the first documents, because no more lie behind.
    least = max(0, m - (n - cutoff))
    found = range(least, min(m, cutoff) + 1)
    first = min(cutoff, n - m + 1)  # the last rank at which the first relevant document can be
    return first + (least == 0), sum(math.comb(cutoff, j) for j in found)


def tie_probability(n: int, relevant: Sequence[int], ranks: Sequence[int]) -> pd.DataFrame:
    """How likely a random ranking ties in reciprocal rank with one that has p_1 (Figure 2).

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
    from scipy.special import gammaln

    _check(n, relevant)
    _check(n, ranks, "rank")
    m, p = (grid.ravel() for grid in np.meshgrid(relevant, ranks, indexing="ij"))
    rest, others = n - p, m - 1
    possible = rest >= others
    gap = np.where(possible, rest - others, 0)
    # Binomials of 50000 documents are beyond doubles; their logarithms are not.
    chosen = gammaln(rest + 1) - gammaln(others + 1) - gammaln(gap + 1)
    arranged = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    probability = np.where(possible, np.exp(chosen - arranged), 0.0)
    return pd.DataFrame({"m": m, "p_1": p, "probability": probability})


def _check(n: int, values: Sequence[int], what: str = "number of relevant documents") -> None:
    wrong = [value for value in values if not 1 <= value <= n]
    if wrong:
        raise ValueError(f"a {what} lies between 1 and n = {n}, but {wrong[0]} does not")
