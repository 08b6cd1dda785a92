"""Search lengths and their means: ASL (Alex, Hall, Metzler: Atomized Search Length, 2022)."""

from __future__ import annotations

import numpy as np

from ..common.types import Floats, Ints
from .arrays import sum_by_query, within_query

#: The depth of every ranking without a cut-off.
DEFAULT_DEPTH = 1000

#: How a relevant document that was not retrieved is counted.
MISSING = ("pad", "after", "eq3")

#: Upper ends of bins of search lengths: about three to a power of ten.
_BIN_ENDS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def search_lengths(ranks: Ints, offsets: Ints) -> Ints:
    """Eq. 2: the rank of each relevant document less the number of relevant documents above.

    Args:
        ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
            (E,).
        offsets: the beginning of each query's ranks, shape (Q + 1,).

    Returns:
        The search length of each document (irrelevant documents above, plus 1), shape (E,).

    >>> search_lengths(np.array([1, 4, 6]), np.array([0, 3])).tolist()
    [1, 3, 4]
    """
    return ranks - within_query(offsets)


def missing_costs(
    relevant: Ints,
    retrieved: Ints,
    *,
    cutoff: int | None = None,
    missing: str = "pad",
    fill: Ints | None = None,
) -> Ints:
    """The search length of a missing document plus the relevant documents retrieved, per query.

    ``'pad'`` fills a shorter ranking with irrelevant documents to depth k (1000 without a cut-off)
    and puts the document right after. ``'after'`` puts it right after the retrieved documents.
    ``'eq3'`` is the printed Eq. 3, the number of irrelevant documents retrieved. If no document
    was retrieved, it is k + 1.

    Args:
        relevant: relevant documents retrieved, shape (Q,).
        retrieved: documents retrieved, shape (Q,).
        cutoff: k, the cut-off of the rankings.
        missing: one of :data:`MISSING`.
        fill: the number of irrelevant documents to fill with, shape (Q,); None: no limit.

    Returns:
        Shape (Q,).

    >>> missing_costs(np.array([3]), np.array([6]), cutoff=10).tolist()
    [11]
    """
    k = cutoff or DEFAULT_DEPTH
    filled = k if fill is None else np.minimum(k, relevant + fill)
    ends = {"pad": np.maximum(retrieved, filled) + 1, "after": retrieved + 1, "eq3": retrieved}
    return np.where(retrieved == 0, k + 1, ends[missing])


def mean_search_length(
    ranks: Ints,
    offsets: Ints,
    total: Ints,
    costs: Ints,
    *,
    g: int | None = None,
) -> Floats:
    """ASL of each query: the mean search length of all its relevant documents (Eq. 4).

    Args:
        ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
            (E,).
        offsets: the beginning of each query's ranks, shape (Q + 1,).
        total: relevant documents of each query, shape (Q,).
        costs: the result of :func:`missing_costs`, shape (Q,).
        g: only the first ``g`` relevant documents in rank order, missing ones last (Eq. 5).

    Returns:
        The mean of each query, shape (Q,), 1 or more (0 with ``'eq3'``), 1 is best; 1 for a query
        without relevant documents.

    >>> mean_search_length(
    ...     np.array([1, 4, 6]), np.array([0, 3]), np.array([4]), np.array([11])
    ... ).tolist()
    [4.0]
    """
    found, above = np.diff(offsets), within_query(offsets)
    number = total if g is None else np.minimum(total, g)
    lengths = np.where(above < np.repeat(number, found), ranks - above, 0)
    sums = sum_by_query(lengths, offsets) + np.maximum(number - found, 0) * (costs - found)
    return np.where(number > 0, sums / np.maximum(number, 1), 1.0)


def normalized(asl: Floats, cutoff: int) -> Floats:
    """nASL = 1 - (ASL@k - 1)/k: in [0, 1], 1 is best.

    >>> normalized(np.array([1.0, 4.0, 11.0]), 10).tolist()
    [1.0, 0.7, 0.0]
    """
    return 1 - (asl - 1) / cutoff


def bin_ends(deepest: int) -> list[int]:
    """Upper ends of logarithmic bins of search lengths from 1; the last end is the deepest.

    >>> bin_ends(40)
    [1, 3, 10, 30, 40]
    """
    return [end for end in _BIN_ENDS if end < deepest] + [deepest]
