"""Computations on many rows, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from ..io.threads import cores, map_ahead
from ..scoring.arrays import Ints

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Rows of a part: their arrays stay in a core's cache, and the allocator keeps arrays of this size
#: for the next part instead of returning them to the system.
_PART = 1 << 16
#: Fewer rows do not pay for a second thread.
_ALONE = 2 * _PART


def map_parts(function: Callable[[int, int], Result], starts: Ints) -> list[Result]:
    """Applies a function to parts of the rows, on all cores where there are many.

    Args:
        function: takes the first block of a part and the block after its last.
        starts: the beginning of each block of rows and the end of the last, shape (B + 1,).

    Returns:
        The result of each part, in order; parts do not depend on the number of cores.

    >>> map_parts(lambda first, last: (first, last), np.array([0, 2, 5]))
    [(0, 2)]
    """
    rows = int(starts[-1])
    parts = split_blocks(starts, max(rows // _PART, 1))
    return map_at_once(lambda part: function(*part), parts, rows)


def map_at_once(
    function: Callable[[Item], Result], items: Sequence[Item], rows: int
) -> list[Result]:
    """Applies a function to items, on all cores if they have many rows.

    Args:
        function: the function.
        items: its arguments.
        rows: the number of rows of the items.

    Returns:
        The result for each item, in order.

    >>> map_at_once(len, ["a", "bcd"], 0)
    [1, 3]
    """
    if rows < _ALONE or cores() < 2 or len(items) < 2:
        return [function(item) for item in items]
    return [result for _, result in map_ahead(function, items, ahead=len(items))]


def fixed_blocks(rows: int) -> Ints:
    """Blocks of 4096 rows, for `map_parts`."""
    return np.append(np.arange(0, rows, 4096), rows)


def split_blocks(starts: Ints, parts: int) -> list[tuple[int, int]]:
    """Splits blocks into parts with similar numbers of rows.

    Args:
        starts: the beginning of each block and the end of the last, shape (B + 1,).
        parts: the number of parts, from 1; large blocks make it smaller.

    Returns:
        The first block of each part and the block after its last.

    >>> split_blocks(np.array([0, 2, 5, 9]), 2), split_blocks(np.array([0]), 1)
    ([(0, 2), (2, 3)], [(0, 0)])
    """
    goals = np.arange(1, parts) * (int(starts[-1]) / parts)
    cuts = sorted({0, *np.searchsorted(starts, goals).tolist(), len(starts) - 1})
    return list(pairwise(cuts)) or [(0, 0)]
