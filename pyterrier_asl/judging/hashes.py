"""Hashes of ids, computed for many at a time by NumPy, eight bytes of each in one step."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ..io.prefetch import cores
from ..scoring.arrays import Ints
from ._kernels import MULTIPLIER, SHIFT, Bytes, Hashes, split_blocks

Result = TypeVar("Result")

#: Of the hashes that this process makes, odd; whoever makes up ids cannot know it.
SEED = np.uint64(int.from_bytes(os.urandom(8), sys.byteorder) | 1)

#: Rows of a part: what is computed from them stays in a core's cache, and the allocator keeps
#: arrays of that size for the next part instead of giving them back to the system.
_PART = 1 << 14
#: Fewer rows than this are not worth a second thread.
_ALONE = 8 * _PART
#: What of an id lies behind as many bytes is hashed by a loop: few ids are so long.
_LONG = 512

#: Keeps the first n bytes of eight, for n from 0 to 8.
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)


def map_parts(function: Callable[[int, int], Result], starts: Ints) -> list[Result]:
    """Applies a function to parts of the rows, on all cores where there are many.

    Args:
        function: is given the first block of a part and the one after its last.
        starts: where each block of rows begins, and where the last ends, shape (B + 1,).

    Returns:
        What it gives of each part, in order; they are the same for any number of cores.

    >>> map_parts(lambda first, last: (first, last), np.array([0, 2, 5]))
    [(0, 2)]
    """
    rows = int(starts[-1])
    parts = split_blocks(starts, max(rows // _PART, 1))
    threads = min(cores(), len(parts)) if rows >= _ALONE else 1
    if threads < 2:
        return [function(first, last) for first, last in parts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda part: function(*part), parts))


def fixed_blocks(rows: int) -> Ints:
    """Blocks of 4096 rows, for `map_parts`."""
    return np.append(np.arange(0, rows, 4096), rows)


def arrays_of(ids: pa.LargeStringArray) -> tuple[Ints, Bytes]:
    """Arrow text as NumPy's arrays, which are views of it: where each id begins and ends; bytes.

    >>> starts, data = arrays_of(pa.array(["a", "bc"], type=pa.large_string()))
    >>> starts.tolist(), data.tobytes()[:3]
    ([0, 1, 3], b'abc')
    """
    _, ends, data = ids.buffers()
    offsets, text = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint8)
    if len(ids):
        offsets = np.frombuffer(ends, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
        text = np.frombuffer(data, dtype=np.uint8) if data is not None and data.size else text
    # One kind of array, or the loops are compiled for each.
    offsets.flags.writeable = text.flags.writeable = False
    return offsets, text


def ids_of(starts: Ints, data: Bytes) -> pa.LargeStringArray:
    """Arrow text of such arrays, also without a copy.

    >>> ids_of(np.array([0, 1, 3]), np.frombuffer(b"abc", dtype=np.uint8)).to_pylist()
    ['a', 'bc']
    """
    return pa.LargeStringArray.from_buffers(
        len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(data)
    )


def hashes_of(ids: pa.LargeStringArray, seed: np.uint64 = SEED) -> Hashes:
    """A hash of 64 bits for each id.

    After each step the state is multiplied by the seed, an odd number that nobody else knows, so
    that no ids can be made up whose hashes are alike. Those of the compiled loops are the same.

    Args:
        ids: n ids.
        seed: of these hashes.

    Returns:
        Shape (n,).

    >>> one, other, again = hashes_of(pa.array(["d1", "d2", "d1"], type=pa.large_string()))
    >>> bool(one == again), bool(one == other)
    (True, False)
    """
    if not len(ids):
        return np.empty(0, dtype=np.uint64)
    offsets, data = arrays_of(ids)
    hashes = np.empty(len(ids), dtype=np.uint64)
    blocks = fixed_blocks(len(ids))

    def hash_part(first: int, last: int) -> None:
        rows = slice(blocks[first], blocks[last])
        hashes[rows] = _hash(offsets[rows.start : rows.stop + 1], data, seed)

    map_parts(hash_part, blocks)
    return hashes


def _hash(offsets: Ints, data: Bytes, seed: np.uint64) -> Hashes:
    if offsets[-1] + 8 > len(data):  # behind the last id there must be eight bytes to be read
        data = np.append(data[offsets[0] : offsets[-1]], np.zeros(8, dtype=np.uint8))
        offsets = offsets - offsets[0]
    words = np.ndarray(len(data) - 7, dtype="<u8", buffer=data, strides=(1,))
    begin, left = offsets[:-1].copy(), np.diff(offsets)
    state = left.astype(np.uint64) * MULTIPLIER
    rows, hashes = np.arange(len(left)), np.empty_like(state)
    for _ in range(_LONG // 8):
        word = words[begin]
        if left.min() < 8:
            word &= _FIRST_BYTES[np.minimum(left, 8)]
        state = _mixed(state, word, seed)
        goes_on = left >= 8
        if not goes_on.any():
            hashes[rows] = state
            break
        if not goes_on.all():
            ended, others = np.flatnonzero(~goes_on), np.flatnonzero(goes_on)
            hashes[rows[ended]] = state[ended]
            rows, begin, left, state = rows[others], begin[others], left[others], state[others]
        begin += 8
        left -= 8
    else:
        for row, first, size, value in zip(*(a.tolist() for a in (rows, begin, left, state))):
            hashes[row] = _hash_rest(data[first : first + size].tobytes(), value, int(seed))
    hashes ^= hashes >> SHIFT
    return hashes


def _hash_rest(rest: bytes, state: int, seed: int) -> int:
    """What becomes of the state of one long id by the rest of its bytes."""
    multiplier, mask = int(MULTIPLIER), (1 << 64) - 1
    for begin in range(0, len(rest) + 1, 8):
        state = (state ^ int.from_bytes(rest[begin : begin + 8], "little")) * multiplier & mask
        state = (state ^ state >> 32) * seed & mask
    return state


def _mixed(state: Hashes, word: Hashes, seed: np.uint64) -> Hashes:
    state = state ^ word
    state *= MULTIPLIER
    state ^= state >> SHIFT
    state *= seed
    return state


def of_groups(hashes: Hashes, groups: Ints) -> Hashes:
    """Keys of hashes in groups: those of one hash differ where their groups do.

    >>> hashes = hashes_of(pa.array(["d", "d", "d"], type=pa.large_string()))
    >>> len(set(of_groups(hashes, np.array([0, 1, 1])).tolist()))
    2
    """
    keys = groups.astype(np.uint64)
    keys *= MULTIPLIER
    keys ^= hashes
    return keys


def repeated_keys(keys: Hashes) -> Hashes:
    """The keys that stand more than once, ascending.

    >>> repeated_keys(np.array([3, 1, 3, 2, 3], dtype=np.uint64)).tolist()
    [3]
    >>> repeated_keys(np.array([3, 1], dtype=np.uint64)).tolist()
    []
    """
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.unique(again) if len(again) else again  # np.unique imports numpy.ma
