"""Time-biased gain (Smucker, Clarke 2012)."""

from __future__ import annotations

import numpy as np

from ..common.types import Floats, Ints
from .arrays import queries_of, sum_by_query, within_query


def time_biased_gain(
    ranks: Ints,
    offsets: Ints,
    lengths: Floats,
    ranking_offsets: Ints,
    *,
    halflife: float = 224,
    p_click_rel: float = 0.64,
    p_click_nonrel: float = 0.39,
    p_save: float = 0.77,
    time_summary: float = 4.4,
    time_per_word: float = 0.018,
    time_base: float = 7.8,
) -> Floats:
    """TBG of each query: relevant documents a user is expected to save before giving up.

    TBG = sum_k g_k 2^(-T(k)/h), g_k = p_click_rel * p_save for a relevant document, else 0; T(1) =
    0, T(k) = sum_(j<k) [time_summary + (time_per_word l_j + time_base) P_j], P the probability of a
    click. The words above a document are summed separately from the other times, and within the
    query, so that no value depends on other queries.

    Args:
        ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
            (E,).
        offsets: the beginning of each query's ranks, shape (Q + 1,).
        lengths: words of every retrieved document in rank order, query by query, shape (N,).
        ranking_offsets: the beginning of each query's lengths, shape (Q + 1,).
        halflife: h, seconds after which half of the users have stopped.
        p_click_rel: probability of a click on a relevant summary.
        p_click_nonrel: probability of a click on any other summary.
        p_save: probability of saving a relevant document after reading it.
        time_summary: seconds to read a summary.
        time_per_word: seconds to read a word.
        time_base: seconds to read a document without words.

    Returns:
        Expected relevant documents saved, shape (Q,), from 0; higher is better.

    >>> time_biased_gain(
    ...     np.array([1, 3]), np.array([0, 2]), np.array([500.0, 1000, 200]), np.array([0, 3])
    ... ).round(6).tolist()
    [0.942448]
    """
    relevant = within_query(offsets)  # relevant documents above
    place = ranking_offsets[queries_of(offsets)] + ranks - 1
    words_relevant = _sums_before(lengths[place], offsets)
    words_other = _sums_before(lengths, ranking_offsets)[place] - words_relevant
    time = (
        time_summary * (ranks - 1)
        + p_click_rel * (time_per_word * words_relevant + time_base * relevant)
        + p_click_nonrel * (time_per_word * words_other + time_base * (ranks - 1 - relevant))
    )
    with np.errstate(over="ignore"):  # after very many half-lives the share is 0
        return sum_by_query(p_click_rel * p_save * np.exp2(-time / halflife), offsets)


def _sums_before(values: Floats, offsets: Ints) -> Floats:
    """The sum of the values above each value within its query."""
    above = np.zeros(len(values))
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist()):
        if end - begin > 1:
            above[begin + 1 : end] = np.cumsum(values[begin : end - 1])
    return above
