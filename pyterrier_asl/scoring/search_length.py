"""Search lengths and their means: ASL (Alex, Hall, Metzler: Atomized Search Length, 2022)."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, Ints, sum_by_query, within_query

#: The depth at which every ranking is measured where no cut-off is given.
DEFAULT_DEPTH = 1000

#: What a relevant document that was not retrieved is taken for.
MISSING = ("pad", "after", "eq3")


def search_lengths(ranks: Ints, offsets: Ints) -> Ints:
    """Eq. 2: the rank of each relevant document less the relevant documents above it.

    Args:
        ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
            (E,).
        offsets: where each query's ranks begin, shape (Q + 1,).

    Returns:
        One search length (irrelevant documents above, + 1) a rank, shape (E,); 1 is best.

    >>> search_lengths(np.array([1, 4, 6]), np.array([0, 3])).tolist()
    [1, 3, 4]
    """
    return ranks - within_query(offsets)


def missing_lengths(
    found: Ints,
    retrieved: Ints,
    *,
    cutoff: int | None = None,
    missing: str = "pad",
    fill: Ints | None = None,
) -> Ints:
    """The search length of a relevant document that was not retrieved, for each query.

    ``'pad'`` fills a shorter ranking with irrelevant documents up to depth k (1000 without a
    cut-off) and puts the document right after; ``'after'`` puts it right after the list as it is;
    ``'eq3'`` is the printed Eq. 3, the irrelevant documents retrieved. Nothing retrieved at all is
    k + 1.

    Args:
        found: relevant documents retrieved, shape (Q,).
        retrieved: documents retrieved, shape (Q,).
        cutoff: k, the depth at which the rankings were cut.
        missing: one of :data:`MISSING`.
        fill: the most irrelevant documents there are to fill with, shape (Q,); None: no limit.

    Returns:
        Search lengths, shape (Q,).

    >>> missing_lengths(np.array([3]), np.array([6]), cutoff=10).tolist()
    [8]
    """
    k = DEFAULT_DEPTH if cutoff is None else cutoff
    filled = k if fill is None else np.minimum(k, found + fill)
    ends = {"pad": np.maximum(retrieved, filled) + 1, "after": retrieved + 1, "eq3": retrieved}
    return np.where(retrieved == 0, k + 1, ends[missing] - found)


def mean_search_length(
    ranks: Ints,
    offsets: Ints,
    total: Ints,
    missing_length: Ints,
    *,
    g: int | None = None,
) -> Floats:
    """ASL of each query: the mean search length of all its relevant documents (Eq. 4).

    Args:
        ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
            (E,).
        offsets: where each query's ranks begin, shape (Q + 1,).
        total: relevant documents of each query, shape (Q,).
        missing_length: what a relevant document not retrieved counts, shape (Q,).
        g: only the first ``g`` relevant documents in rank order, missing ones last (Eq. 5).

    Returns:
        One mean a query, shape (Q,), from 1 (best) on (``'eq3'`` from 0); 1 where nothing is
        relevant.

    >>> mean_search_length(
    ...     np.array([1, 4, 6]), np.array([0, 3]), np.array([4]), np.array([8])
    ... ).tolist()
    [4.0]
    """
    lengths = search_lengths(ranks, offsets)
    wanted = total if g is None else np.minimum(total, g)
    first = within_query(offsets) < np.repeat(wanted, np.diff(offsets))
    lost = wanted - np.minimum(np.diff(offsets), wanted)
    sums = sum_by_query(np.where(first, lengths, 0), offsets) + lost * missing_length
    return np.where(wanted > 0, sums / np.maximum(wanted, 1), 1.0)


def normalized(asl: Floats, cutoff: int) -> Floats:
    """nASL = 1 - (ASL@k - 1)/k: in [0, 1], 1 is best.

    >>> normalized(np.array([1.0, 4.0, 11.0]), 10).tolist()
    [1.0, 0.7, 0.0]
    """
    return 1 - (asl - 1) / cutoff
