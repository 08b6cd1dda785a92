"""Lexicographic comparison of rankings (Diaz: Best-Case Retrieval Evaluation, 2023)."""

from __future__ import annotations

import numpy as np

from ..common.types import Floats, Ints
from .arrays import cumulate, ranges_from, reduce_by_query, within_query

#: The k of a ranking without a cut-off, at which missing documents are counted.
NO_CUTOFF = 10**6


def reciprocal_ranks(ranks: Ints, offsets: Ints, total: Ints) -> Floats:
    """RR_i of every relevant document, 0 if it was not retrieved.

    Args:
        ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
            (E,).
        offsets: the beginning of each query's ranks, shape (Q + 1,).
        total: relevant documents of each query, retrieved or not, shape (Q,).

    Returns:
        1/p_1, 1/p_2, ... of each query in turn, shape (total.sum(),).

    >>> reciprocal_ranks(np.array([1, 4]), np.array([0, 2]), np.array([3])).tolist()
    [1.0, 0.25, 0.0]
    """
    begin = cumulate(total)
    values = np.zeros(begin[-1])
    values[ranges_from(begin[:-1], offsets)] = 1 / ranks
    return values


def first_difference(a: Floats, b: Floats, total: Ints) -> tuple[Ints, Floats]:
    """The first level at which two rankings differ, and the difference: i* and rrLP.

    rrLP(a, b) = RR_i*(a) - RR_i*(b), where i* is the first i at which they differ. Its sign is
    sgnLP; a positive sign prefers a.

    Args:
        a: the reciprocal ranks of one ranking, shape (total.sum(),), or of several, (...,
            total.sum()).
        b: the reciprocal ranks of the other ranking, in the same shape.
        total: relevant documents of each query, shape (Q,).

    Returns:
        i* from 1 (0 if no i differs) and rrLP in [-1, 1] (then 0), both of shape (..., Q).

    >>> first_difference(np.array([1, 1 / 3, 1 / 6]), np.array([1, 1 / 2, 0]), np.array([3]))
    (array([2]), array([-0.16666667]))
    """
    difference = np.asarray(a - b)
    offsets, size = cumulate(total), difference.shape[-1]
    first = reduce_by_query(
        np.minimum, np.where(difference != 0, np.arange(size), size), offsets, size
    )
    value = np.take_along_axis(np.insert(difference, size, 0.0, axis=-1), first, axis=-1)
    return np.where(first < size, first - offsets[:-1] + 1, 0), value


def dominance(a: Floats, b: Floats, total: Ints) -> Floats:
    """Which ranking every measure of the ranks of relevant documents prefers.

    Ranking a dominates b if no RR_i of a is lower and one is higher. Then every measure that never
    falls when a relevant document moves up prefers a (after the orderings of Moffat and Mackenzie).

    Args:
        a: the reciprocal ranks of one ranking, shape (total.sum(),), or of several, (...,
            total.sum()).
        b: the reciprocal ranks of the other ranking, in the same shape.
        total: relevant documents of each query, shape (Q,).

    Returns:
        1 (a), -1 (b), 0 (all are equal) or NaN (neither), shape (..., Q).

    >>> a, b = np.array([1, 1 / 3, 1 / 2]), np.array([1, 1 / 4, 1.0])
    >>> dominance(a, b, np.array([2, 1])).tolist(), dominance(a, b, np.array([3])).tolist()
    ([1.0, -1.0], [nan])
    """
    offsets = cumulate(total)
    above, below = (reduce_by_query(np.logical_or, s, offsets, False) for s in (a > b, a < b))
    return np.where(above & below, np.nan, 1.0 * above - below)


#: Further relevant documents change LexiP by less than 2^-64, below the precision of floats.
LEVELS = 64


def lexip(ranks: Ints, offsets: Ints, total: Ints, *, cutoff: int | None = None) -> Floats:
    """LexiP of each query: an embedding of the lexicographic order into [0, 1].

    With gaps g_1 = p_1, g_i = p_i - p_(i-1), from the last retrieved relevant document to the
    first, v_i = 1/(g_i+1) + (1/g_i - 1/(g_i+1)) v_(i+1); after the last v is 1 if every relevant
    document was retrieved, else 1/(k+2).

    Args:
        ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
            (E,).
        offsets: the beginning of each query's ranks, shape (Q + 1,).
        total: relevant documents of each query, shape (Q,).
        cutoff: k; None: :data:`NO_CUTOFF`.

    Returns:
        v_1 of each query, shape (Q,), 1 is best, 0 if no relevant document was retrieved;
        1/(p_1 + 1) < LexiP <= RR.

    >>> lexip(np.array([1, 3, 6]), np.array([0, 3]), np.array([3])).round(4).tolist()
    [0.6944]
    """
    retrieved = np.diff(offsets)
    gaps = ranks.copy()
    gaps[1:] -= np.where(within_query(offsets)[1:] > 0, ranks[:-1], 0)
    value = np.where(retrieved == total, 1.0, 1 / ((cutoff or NO_CUTOFF) + 2))
    order = np.argsort(-retrieved, kind="stable")  # queries with an i-th document come first
    deepest = int(retrieved.max(initial=0))
    with_ith = np.searchsorted(-retrieved[order], -np.arange(1, deepest + 1), side="right")
    for i in range(min(deepest, LEVELS), 0, -1):
        queries = order[: with_ith[i - 1]]
        g = gaps[offsets[queries] + i - 1]
        low, high = 1 / (g + 1), 1 / g
        value[queries] = np.minimum(low + (high - low) * value[queries], high)
    return np.where(retrieved > 0, value, 0.0)
