"""Flat arrays of the entries of many queries, query by query."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..common.types import Bools, Floats, Ints


def cumulate(sizes: Ints | Bools) -> Ints:
    """The beginning of each group with these sizes and the end of the last, shape (Q + 1,).

    >>> cumulate(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate(([0], np.cumsum(sizes)))


def offsets_of(queries: Ints, n: int) -> Ints:
    """The beginning of each query 0..n-1 in ascending query numbers, shape (n + 1,).

    >>> offsets_of(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return cumulate(np.bincount(queries, minlength=n))


def queries_of(offsets: Ints) -> Ints:
    """The query of each entry.

    Args:
        offsets: the beginning of each query's entries and the end of the last, shape (Q + 1,).

    >>> queries_of(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def order_by_query(queries: Ints) -> Ints:
    """The order of entries query by query; entries of a query keep their order.

    Args:
        queries: the query of each entry, shape (n,).

    >>> order_by_query(np.array([2, 0, 2, -1])).tolist()
    [3, 1, 0, 2]
    """
    limits = np.iinfo(np.int16)
    if len(queries) and limits.min <= queries.min() and queries.max() <= limits.max:
        queries = queries.astype(np.int16)  # NumPy sorts these by counting
    return np.argsort(queries, kind="stable")


def within_query(offsets: Ints) -> Ints:
    """The number of entries of the same query before each entry; see :func:`queries_of`.

    >>> within_query(np.array([0, 2, 2, 5])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def ranges_from(starts: Ints, offsets: Ints) -> Ints:
    """start, start + 1, ... for the entries of each query; see :func:`queries_of`.

    >>> ranges_from(np.array([5, 9, 0]), np.array([0, 2, 2, 5])).tolist()
    [5, 6, 0, 1, 2]
    """
    ranges, shifts = np.arange(offsets[-1]), starts - offsets[:-1]
    if shifts.any():
        ranges += np.repeat(shifts, np.diff(offsets))
    return ranges


def reduce_by_query(
    ufunc: np.ufunc, values: npt.NDArray[Any], offsets: Ints, nothing: Any
) -> npt.NDArray[Any]:
    """Reduces each query's values, on the last axis, by a ufunc; see :func:`queries_of`.

    Args:
        ufunc: a function such as ``np.minimum``.
        values: shape (..., E).
        offsets: the beginning of each query's values, shape (Q + 1,).
        nothing: the result for a query without values.

    Returns:
        Shape (..., Q).

    >>> reduce_by_query(np.minimum, np.array([3, 2, 5]), np.array([0, 2, 2, 3]), 9).tolist()
    [2, 9, 5]
    """
    has = np.flatnonzero(np.diff(offsets))
    reduced = np.full((*values.shape[:-1], len(offsets) - 1), nothing, dtype=values.dtype)
    if len(has):
        reduced[..., has] = ufunc.reduceat(values, offsets[has], axis=-1)
    return reduced


def sum_by_query(values: npt.NDArray[Any], offsets: Ints) -> Floats:
    """The sum of each query's values, added in their order, shape (Q,); see :func:`queries_of`.

    >>> sum_by_query(np.array([0.5, 0.25, 2.0]), np.array([0, 2, 2, 3])).tolist()
    [0.75, 0.0, 2.0]
    """
    # Sums of empty arrays are integers.
    return np.bincount(queries_of(offsets), values, len(offsets) - 1).astype(np.float64, copy=False)


def distinct(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The different numbers, ascending; by sorting, as NumPy counts them.

    ``np.unique`` alone hashes whole numbers since NumPy 2.3: of a million 50 times slower.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    return np.unique(numbers, return_counts=True)[0]


def divide(sums: npt.ArrayLike, numbers: npt.NDArray[Any], nothing: float = 0.0) -> Floats:
    """Sums by numbers from 0 on; ``nothing`` where the number is 0.

    >>> divide(np.array([1, 0]), np.array([4, 0])).tolist()
    [0.25, 0.0]
    """
    ratios = np.full(np.broadcast(sums, numbers).shape, nothing)
    return np.asarray(np.divide(sums, numbers, out=ratios, where=numbers > 0))
