"""Loops over ids on Arrow's buffers, compiled: matching, looking up.

Compiled when enough has been matched to pay for it (see :mod:`~pyterrier_asl.judging.matching`),
for Numba takes a while to load. An id is the bytes ``data[offsets[i]:offsets[i + 1]]``. Every
kernel works on part of its input and lets go of the interpreter's lock, so that
:func:`~pyterrier_asl.judging.parts.map_parts` can put one on every core. Which rows and pairs come
out does not depend on hashes or threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..scoring.arrays import Ints
from ..scoring.compiled import compiled

Int32s = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

SHIFT = np.uint64(32)
_ONE = np.uint64(1)


@compiled
def _same(
    offsets: Ints, data: Bytes, i: int, other_offsets: Ints, other_data: Bytes, j: int
) -> bool:
    """Whether id i of one column is id j of another."""
    begin, other = offsets[i], other_offsets[j]
    length = offsets[i + 1] - begin
    if other_offsets[j + 1] - other != length:
        return False
    for k in range(length):
        if data[begin + k] != other_data[other + k]:
            return False
    return True


@compiled
def match(
    first: int,
    last: int,
    starts: Ints,
    hashes: Hashes,
    rows: Ints,
    offsets: Ints,
    data: Bytes,
    queries: Ints,
    known_starts: Ints,
    known_offsets: Ints,
    known_data: Bytes,
    known_hashes: Hashes,
    entry_starts: Ints,
    entry_ranks: Ints,
    entry_pairs: Ints,
    entries: Ints,
    again: Bytes,
    repeated: Ints,
) -> None:
    """Matches each block's rows with the known ids of its query, and finds rows that stand again.

    One table of hashes a block holds the known ids and the rows seen so far, so that one search
    answers both questions.

    Args:
        first: first block.
        last: block after the last.
        starts: where each block begins, and where the last ends.
        hashes: the hash of each row's id, in ranking order.
        rows: which id each row has; empty: the first has the first, and so on.
        offsets: where each id begins.
        data: bytes of the ids.
        queries: the query of each block.
        known_starts: where each query's known ids begin.
        known_offsets: where each known id begins.
        known_data: bytes of the known ids.
        known_hashes: hashes of the known ids.
        entry_starts: where each block's entries go.
        entry_ranks: for each known id matched the rank of its row, from 1.
        entry_pairs: for each known id matched which it is.
        entries: how many known ids each block has matched.
        again: marks places in ranking order of rows whose id stands above.
        repeated: how many of those each block has.
    """
    keys, values, seen = np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint8)
    for block in range(first, last):
        begin, end = starts[block], starts[block + 1]
        known, stop = known_starts[queries[block]], known_starts[queries[block] + 1]
        size = 16
        while size < 2 * (end - begin + stop - known):
            size *= 2
        if size > len(keys):
            keys, values = np.empty(size, np.uint64), np.empty(size, np.int64)
            seen = np.empty(size, np.uint8)
        values[:size] = -1
        mask = np.uint64(size - 1)
        for pair in range(known, stop):
            place = known_hashes[pair] & mask
            while values[place] >= 0:
                place = (place + _ONE) & mask
            keys[place], values[place], seen[place] = known_hashes[pair], pair, 0
        entry, dropped = entry_starts[block], 0
        for i in range(begin, end):
            row = rows[i] if len(rows) else i
            key = hashes[i]
            place = key & mask
            while True:
                value = values[place]
                if value < 0:  # a row's value stands after those of all known ids
                    keys[place], values[place] = key, len(known_hashes) + row
                    break
                if keys[place] == key:
                    if value >= len(known_hashes):
                        if _same(offsets, data, row, offsets, data, value - len(known_hashes)):
                            again[i] = 1
                            dropped += 1
                            break
                    elif _same(offsets, data, row, known_offsets, known_data, value):
                        if seen[place]:
                            again[i] = 1
                            dropped += 1
                        else:
                            seen[place] = 1
                            entry_ranks[entry] = i - begin + 1 - dropped
                            entry_pairs[entry] = value
                            entry += 1
                        break
                place = (place + _ONE) & mask
        entries[block] = entry - entry_starts[block]
        repeated[block] = dropped


@compiled
def build(
    first: int,
    last: int,
    starts: Ints,
    table_starts: Ints,
    offsets: Ints,
    data: Bytes,
    known_hashes: Hashes,
    table: Int32s,
) -> None:
    """Puts each group's ids into its part of a table of hashes; of equal ids the last."""
    for group in range(first, last):
        for i in range(starts[group], starts[group + 1]):
            slot = _slot(
                table,
                table_starts,
                group,
                known_hashes,
                offsets,
                data,
                i,
                known_hashes[i],
                offsets,
                data,
            )
            table[slot] = i


@compiled
def _slot(
    table: Int32s,
    table_starts: Ints,
    group: int,
    known_hashes: Hashes,
    known_offsets: Ints,
    known_data: Bytes,
    i: int,
    key: Any,
    offsets: Ints,
    data: Bytes,
) -> Any:
    """Where in a group's part of a table id i is; where it is not, the free place for it."""
    low = table_starts[group]
    mask = np.uint64(table_starts[group + 1] - low - 1)
    place, stride = key & mask, (key >> SHIFT) | _ONE  # odd, so that it comes by all places
    while True:
        value = table[low + np.int64(place)]
        if value < 0:
            break
        if known_hashes[value] == key and _same(offsets, data, i, known_offsets, known_data, value):
            break
        place = (place + stride) & mask
    return low + np.int64(place)


@compiled
def find(
    first: int,
    last: int,
    starts: Ints,
    groups: Ints,
    hashes: Hashes,
    offsets: Ints,
    data: Bytes,
    known_offsets: Ints,
    known_data: Bytes,
    known_hashes: Hashes,
    table_starts: Ints,
    table: Int32s,
    out: Ints,
) -> None:
    """Where each row's id stands among the known ones of its group, -1 where it does not."""
    for i in range(starts[first], starts[last]):
        group = groups[i] if len(groups) else 0
        if group < 0:
            out[i] = -1
            continue
        out[i] = table[
            _slot(
                table,
                table_starts,
                group,
                known_hashes,
                known_offsets,
                known_data,
                i,
                hashes[i],
                offsets,
                data,
            )
        ]


@compiled
def number_documents(
    first: int,
    last: int,
    starts: Ints,
    blocks: Ints,
    hashes: Hashes,
    ranks: Ints,
    codes: Ints,
    best: Ints,
    counts: Ints,
) -> None:
    """Numbers the different documents of queries ``first`` to ``last`` over several runs.

    Documents stand by run, then by query; block ``run * Q + query`` of ``blocks`` is the answer of
    a run. ``starts`` says how many documents all runs together have for a query. Two are the same
    if their hashes are. From ``starts`` on ``best`` gets the best rank of each.
    """
    queries = len(starts) - 1
    runs = (len(blocks) - 1) // queries
    for query in range(first, last):
        room = 1
        while room < 2 * (starts[query + 1] - starts[query]):
            room *= 2
        table, known = np.full(room, -1, np.int64), np.empty(room, np.uint64)
        mask, count = np.uint64(room - 1), 0
        for run in range(runs):
            block = run * queries + query
            for i in range(blocks[block], blocks[block + 1]):
                slot = hashes[i] & mask
                while table[slot] >= 0 and known[slot] != hashes[i]:
                    slot = (slot + _ONE) & mask
                if table[slot] < 0:
                    table[slot], known[slot] = count, hashes[i]
                    best[starts[query] + count] = ranks[i]
                    count += 1
                codes[i] = table[slot]
                place = starts[query] + codes[i]
                best[place] = min(best[place], ranks[i])
        counts[query] = count
