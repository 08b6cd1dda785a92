"""Precision with credit for rare documents (Türkmen, Lease, Kutlu 2023)."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, Ints, sum_by_query, within_query


def count_finders(documents: Ints, size: int, groups: Ints | None = None) -> Ints:
    """S_d of each document: how many runs, or groups of runs, have it, shape (D,).

    Args:
        documents: the documents that runs have, each once a run, from 0, shape (N,).
        size: D, how many documents there are.
        groups: the group of the run of each, from 0, shape (N,); None: count runs.

    >>> count_finders(np.array([0, 2, 0]), 3).tolist()
    [2, 0, 1]
    >>> count_finders(np.array([0, 2, 0]), 3, np.array([7, 7, 7])).tolist()
    [1, 0, 1]
    """
    if groups is not None:  # a group counts a document once
        several = int(groups.max(initial=0)) + 1
        documents = np.unique(documents * several + groups) // several
    return np.bincount(documents, minlength=size)


def gains(
    finders: Ints, systems: Ints, offsets: Ints, *, alpha: float, normalized: bool = False
) -> Floats:
    """The gain of the first i relevant documents together, for each i.

    A relevant document d that S_d of S systems find has R(d) = 1 - S_d/S and gains 1 + alpha R(d)
    (Eq. 2, 3); normalized, R'(d) = 1 - (S_d - 1)/(S - 1), 0 where S = 1, and it gains
    (1 - alpha) + alpha R'(d) (Eq. 4). The sums are of whole numbers, so alpha = 0 counts exactly.

    Args:
        finders: S_d of each retrieved relevant document in rank order, shape (E,).
        systems: S of its query, the system itself among them, shape (E,).
        offsets: where each query's documents begin, shape (Q + 1,).
        alpha: the weight of rareness, in [0, 1].
        normalized: the gain that cannot exceed 1.

    Returns:
        Running sums within each query, shape (E,).

    >>> gains(np.array([3, 1]), np.array([3, 3]), np.array([0, 2]), alpha=0.5).round(4).tolist()
    [1.0, 2.3333]
    """
    count = within_query(offsets) + 1
    if normalized:  # whoever retrieves a document is one of those who find it
        finders = np.maximum(finders, 1)
    running = np.concatenate(([0], np.cumsum(finders)))
    found = running[1:] - np.repeat(running[offsets[:-1]], np.diff(offsets))
    if not normalized:
        plain: Floats = count + alpha * (count - found / systems)
        return plain
    rare = np.where(systems > 1, count - (found - count) / np.maximum(systems - 1, 1), 0.0)
    return (1 - alpha) * count + alpha * rare


def precision(gain: Floats, offsets: Ints, cutoff: int) -> Floats:
    """P_Rareness@k: the gain of the relevant documents in the first k, over k, shape (Q,).

    Args:
        gain: running gains of the relevant documents in the first k (see :func:`gains`), shape
            (E,).
        offsets: where each query's begin, shape (Q + 1,).
        cutoff: k.

    >>> precision(np.array([1.0, 7 / 3]), np.array([0, 2]), 3).round(4).tolist()
    [0.7778]
    """
    last = np.concatenate(([0.0], gain))[offsets[1:]]
    return np.where(np.diff(offsets) > 0, last, 0.0) / cutoff


def average_precision(gain: Floats, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
    """AP_Rareness: the mean over all relevant documents of P_Rareness at their ranks, shape (Q,).

    Args:
        gain: running gains of the retrieved relevant documents (see :func:`gains`), shape (E,).
        ranks: their ranks from 1, ascending within a query, shape (E,).
        offsets: where each query's begin, shape (Q + 1,).
        total: relevant documents of each query, N_R, shape (Q,).

    >>> average_precision(
    ...     np.array([1.0, 7 / 3]), np.array([1, 3]), np.array([0, 2]), np.array([4])
    ... ).round(4).tolist()
    [0.4444]
    """
    return sum_by_query(gain / ranks, offsets) / np.maximum(total, 1)
