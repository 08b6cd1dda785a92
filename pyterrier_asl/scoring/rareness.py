"""Precision with credit for rare documents (Türkmen, Lease, Kutlu 2023)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..common.types import Floats, Ints
from .arrays import cumulate, distinct, divide, sum_by_query, within_query

#: With fewer systems rareness means little.
FEW = 8


def count_finders(documents: Ints, size: int, groups: Ints | None = None) -> Ints:
    """S_d of each document: the number of runs, or groups of runs, that retrieve it, (D,).

    Args:
        documents: the documents of all runs, from 0, each once per run, shape (N,).
        size: D, the number of documents.
        groups: the group of the run of each document, from 0, shape (N,); None: count runs.

    >>> count_finders(np.array([0, 2, 0]), 3).tolist()
    [2, 0, 1]
    >>> count_finders(np.array([0, 2, 0]), 3, np.array([7, 7, 7])).tolist()
    [1, 0, 1]
    """
    if groups is not None:  # a group counts a document once
        number = int(groups.max(initial=0)) + 1
        documents = distinct(documents * number + groups) // number
    return np.bincount(documents, minlength=size)


def gains(
    finders: Ints, systems: Ints | int, offsets: Ints, *, alpha: float, normalized: bool = False
) -> Floats:
    """The sum of the gains of the first i relevant documents, for each i.

    A relevant document d that S_d of S systems retrieve has R(d) = 1 - S_d/S and the gain
    1 + alpha R(d) (Eq. 2, 3). Normalized, R'(d) = 1 - (S_d - 1)/(S - 1), 0 if S = 1, and the gain
    is (1 - alpha) + alpha R'(d) (Eq. 4). Whole numbers are summed, so alpha = 0 counts exactly.

    Args:
        finders: S_d of each retrieved relevant document in rank order, shape (E,).
        systems: S of its query, with the system itself, shape (E,), or one number for all.
        offsets: the beginning of each query's documents, shape (Q + 1,).
        alpha: the weight of rareness.
        normalized: whether the gain is at most 1.

    Returns:
        Running sums within each query, shape (E,).

    >>> gains(np.array([3, 1]), np.array([3, 3]), np.array([0, 2]), alpha=0.5).round(4).tolist()
    [1.0, 2.3333]
    """
    count = within_query(offsets) + 1
    if normalized:  # the system itself retrieves the document
        finders = np.maximum(finders, 1)
    sums = running_sums(finders, offsets)
    if not normalized:
        return np.asarray(count + alpha * (count - sums / systems))
    rare = np.where(systems > 1, count - (sums - count) / np.maximum(systems - 1, 1), 0.0)
    return (1 - alpha) * count + alpha * rare


def running_sums(values: npt.NDArray[Any], offsets: Ints) -> npt.NDArray[Any]:
    """The sum of the values of a query up to each value; ``offsets`` as in :func:`gains`."""
    running = cumulate(values)
    return running[1:] - np.repeat(running[offsets[:-1]], np.diff(offsets))


def p_rareness(gain: Floats, offsets: Ints, cutoff: int) -> Floats:
    """P_Rareness@k: the gain of the relevant documents in the first k, over k, shape (Q,).

    Args:
        gain: running gains of the relevant documents in the first k (see :func:`gains`), shape
            (E,).
        offsets: the beginning of each query's documents, shape (Q + 1,).
        cutoff: k.

    >>> p_rareness(np.array([1.0, 7 / 3]), np.array([0, 2]), 3).round(4).tolist()
    [0.7778]
    """
    return np.where(np.diff(offsets) > 0, np.concatenate(([0.0], gain))[offsets[1:]], 0.0) / cutoff


def ap_rareness(gain: Floats, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
    """AP_Rareness: the mean over all relevant documents of P_Rareness at their ranks, shape (Q,).

    Args:
        gain: running gains of the retrieved relevant documents (see :func:`gains`), shape (E,).
        ranks: their ranks from 1, ascending within a query, shape (E,).
        offsets: the beginning of each query's documents, shape (Q + 1,).
        total: relevant documents of each query, N_R, shape (Q,).

    >>> ap_rareness(
    ...     np.array([1.0, 7 / 3]), np.array([1, 3]), np.array([0, 2]), np.array([4])
    ... ).round(4).tolist()
    [0.4444]
    """
    return divide(sum_by_query(gain / ranks, offsets), total)
