"""Rows put in ranking order and matched with known ids, query by query.

The rows come in blocks, each the answer to one query. In ranking order means by score, descending,
and equal scores by id, descending in plain string order; an id that stands twice in a block counts
once, where it ranks best. As in :mod:`~pyterrier_asl.judging.matching` there are two ways to the
same result.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..io.values import arrow_numbers, numpy_numbers, take
from ..scoring.arrays import Ints, cumulate, queries_of, ranges_from
from .matching import PairIndex, arrays_of, codes

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Match:
    """Blocks of rows in ranking order, and where in them known ids stand.

    Attributes:
        order: rows in ranking order, block by block; None: as they stand.
        starts: where in it each block begins, and where the last ends, shape (B + 1,).
        blocks: the block of each known id among them, ascending, shape (E,).
        ranks: its rank from 1, ascending within a block, shape (E,).
        pairs: which of the known ids it is, shape (E,).
        repeated: a row for each that was left out, because its id ranks better elsewhere.
    """

    order: Ints | None
    starts: Ints
    blocks: Ints
    ranks: Ints
    pairs: Ints
    repeated: Ints


def match(
    scores: Scores, ids: pa.LargeStringArray, starts: Ints, queries: Ints, known: PairIndex
) -> Match:
    """Puts rows in ranking order and matches them with the known ids of their query.

    Args:
        scores: score of each row, never NaN, shape (n,).
        ids: id of each row.
        starts: where each block begins, and where the last ends, shape (B + 1,).
        queries: the query of each block, a group of ``known``, shape (B,).
        known: ids by query, each once.

    >>> ids = pa.array(["a", "b", "c", "a"], type=pa.large_string())
    >>> known = PairIndex(np.array([0, 2]), pa.array(["x", "c"], type=pa.large_string()))
    >>> scores = np.array([1, 2, 1, 0], dtype=np.float32)
    >>> found = match(scores, ids, np.array([0, 4]), np.array([0]), known)
    >>> found.order.tolist(), found.ranks.tolist(), found.pairs.tolist(), found.repeated.tolist()
    ([1, 2, 0], [2], [1], [3])
    """
    join = known.compiled(len(ids))
    if join is None:
        return _by_arrow(scores, ids, starts, queries, known)
    return _by_loops(join, scores, ids, starts, queries, known)


def _by_loops(
    join: ModuleType,
    scores: Scores,
    ids: pa.LargeStringArray,
    starts: Ints,
    queries: Ints,
    known: PairIndex,
) -> Match:
    buffers = arrays_of(ids)
    order = _sorted(join, scores, buffers, starts)
    sizes = np.diff(starts)
    room = cumulate(np.minimum(sizes, np.diff(known.offsets)[queries]))
    ranks, pairs = np.empty((2, room[-1]), dtype=np.int64)
    entries, dropped = np.zeros((2, len(sizes)), dtype=np.int64)
    again = np.zeros(len(ids), dtype=np.uint8)
    join.parallel_for(
        join.match,
        starts,
        np.empty(0, dtype=np.int64) if order is None else order,
        *buffers,
        queries,
        known.offsets,
        *arrays_of(known.ids),
        known.hashes,
        known.seed,
        room,
        ranks,
        pairs,
        entries,
        again,
        dropped,
    )
    filled = ranges_from(room[:-1], cumulate(entries))
    blocks = np.repeat(np.arange(len(sizes)), entries)
    repeated = np.empty(0, dtype=np.int64)
    if dropped.any():
        order = np.arange(len(ids)) if order is None else order
        repeated, order = order[again > 0], order[again == 0]
        starts = cumulate(sizes - dropped)
    return Match(order, starts, blocks, ranks[filled], pairs[filled], repeated)


def _sorted(
    join: ModuleType, scores: Scores, buffers: tuple[Ints, npt.NDArray[np.uint8]], starts: Ints
) -> Ints | None:
    """The rows in ranking order, None where they stand in it."""
    unsorted = np.zeros(len(starts) - 1, dtype=np.uint8)
    join.parallel_for(join.find_unsorted, starts, scores, *buffers, unsorted)
    if not unsorted.any():
        return None
    order = np.arange(len(scores))
    join.parallel_for(join.sort, starts, scores, *buffers, unsorted, order)
    return order


def _by_arrow(
    scores: Scores, ids: pa.LargeStringArray, starts: Ints, queries: Ints, known: PairIndex
) -> Match:
    block = queries_of(starts)
    numbers, different = codes(ids)
    order, repeated = _without_repeats(
        _in_order(block, scores, ids), block * len(different) + numbers
    )
    pairs = known.search(queries[block], numbers, different)[order]
    if len(repeated):
        starts = cumulate(np.bincount(block[order], minlength=len(starts) - 1))
    judged = np.flatnonzero(pairs >= 0)
    blocks = block[order[judged]]
    return Match(order, starts, blocks, judged - starts[blocks] + 1, pairs[judged], repeated)


def _in_order(block: Ints, scores: Scores, ids: pa.LargeStringArray) -> Ints:
    """The rows of each block by score, then by id, both descending."""
    order = np.arange(len(block))
    not_below = (block[1:] == block[:-1]) & (scores[1:] >= scores[:-1])
    unsorted = np.isin(block, block[1:][not_below])
    if unsorted.any():
        part = np.flatnonzero(unsorted)
        columns = [arrow_numbers(block[part]), arrow_numbers(scores[part]), take(ids, part)]
        rows = pa.table(columns, names=["block", "score", "id"])
        keys = [("block", "ascending"), ("score", "descending"), ("id", "descending")]
        order[part] = part[numpy_numbers(pc.sort_indices(rows, sort_keys=keys))]
    return order


def _without_repeats(order: Ints, pairs: Ints) -> tuple[Ints, Ints]:
    """Leaves each pair of a block and an id once, where it ranks best; and the rows left out."""
    kept = np.zeros(len(order), dtype=bool)
    kept[np.unique(pairs[order], return_index=True)[1]] = True
    return order[kept], order[~kept]
