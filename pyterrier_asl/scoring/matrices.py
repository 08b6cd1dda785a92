"""Matrices whose rows are the documents of a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..common.types import Floats, Ints

Bounds = tuple[Floats, Floats]

#: The most elements of a matrix, unless a single query has more.
MOST_IN_MATRIX = 2**21


def in_blocks(of_queries: Callable[[slice], Bounds], *offsets: Ints) -> Bounds:
    """Bounds of all queries, block by block, so that the matrices of a block fit into memory.

    Args:
        of_queries: the bounds of some queries.
        offsets: the beginning of each query's documents, of one kind or several, shape (Q + 1,).
    """
    sizes = np.sum([np.diff(ends) for ends in offsets], axis=0) + 1
    first, parts = 0, [(np.empty(0), np.empty(0))]
    while first < len(sizes):
        areas = np.maximum.accumulate(sizes[first:]) * np.arange(1, len(sizes) - first + 1)
        last = first + max(int(np.searchsorted(areas, MOST_IN_MATRIX, side="right")), 1)
        parts.append(of_queries(slice(first, min(last, len(sizes)))))
        first = last
    low, high = map(np.concatenate, zip(*parts))
    return low, high


def part_of(offsets: Ints, q: slice) -> Ints:
    """The beginning of the documents of some queries, and the end of the last."""
    return offsets[q.start : q.stop + 1]


def rows_of(values: npt.NDArray[Any], offsets: Ints, nothing: float) -> npt.NDArray[Any]:
    """The values of each query as a row; ``nothing`` follows in shorter rows.

    >>> rows_of(np.array([3, 1, 2]), np.array([0, 1, 1, 3]), 0).tolist()
    [[3, 0], [0, 0], [1, 2]]
    """
    sizes = np.diff(offsets)
    kind = np.result_type(values, np.float64) if isinstance(nothing, float) else values.dtype
    rows = np.full((len(sizes), sizes.max(initial=0)), nothing, dtype=kind)
    rows[np.arange(rows.shape[1]) < sizes[:, np.newaxis]] = values[offsets[0] : offsets[-1]]
    return rows


def sums_before(values: Floats) -> Floats:
    """The sums of the first 0, 1, 2, ... values of each row.

    >>> sums_before(np.array([[1.0, 2.0]])), sums_from(np.array([[1.0, 2.0]]))
    (array([[0., 1., 3.]]), array([[3., 2., 0.]]))
    """
    sums = np.zeros((len(values), values.shape[1] + 1))
    values.cumsum(axis=1, out=sums[:, 1:])
    return sums


def sums_from(values: Floats) -> Floats:
    """The sum of each row from each value on, and 0."""
    return sums_before(values[:, ::-1])[:, ::-1]
