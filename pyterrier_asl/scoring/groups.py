"""Flat arrays that hold the entries of many queries, one query after the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def cumulate(sizes: Ints) -> Ints:
    """Where each of groups of these sizes begins, and where the last ends, shape (Q + 1,).

    >>> cumulate(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate(([0], np.cumsum(sizes)))


def offsets_of(sorted_codes: Ints, n: int) -> Ints:
    """Where each of the codes 0..n-1 begins in an ascending array of codes, shape (n + 1,).

    >>> offsets_of(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return cumulate(np.bincount(sorted_codes, minlength=n).astype(np.int64))


def within_query(offsets: Ints) -> Ints:
    """How many entries of the same query come before each entry.

    Args:
        offsets: where each query's entries begin, shape (Q + 1,).

    >>> within_query(np.array([0, 2, 2, 5])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
