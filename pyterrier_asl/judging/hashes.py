"""Hashes of many ids at a time, by NumPy: each step takes eight bytes of every id."""

from __future__ import annotations

import os
import sys

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..scoring.arrays import Ints
from .parts import fixed_blocks, map_parts

Hashes = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

#: The seed of the hashes of this process: odd and random, so that ids cannot be chosen to collide.
SEED = np.uint64(int.from_bytes(os.urandom(8), sys.byteorder) | 1)

_MULTIPLIER = np.uint64(0x9FB21C651E98DF25)
_HALF = np.uint64(32)

#: The bytes of an id that NumPy hashes, besides its ends; few ids are longer.
_LONG = 512

#: Keeps the first n bytes of eight, for n from 0 to 8.
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)


def arrays_of(ids: pa.LargeStringArray) -> tuple[Ints, Bytes]:
    """Arrow text as views of it: the offsets of the ids, and their bytes.

    >>> starts, data = arrays_of(pa.array(["a", "bc"], type=pa.large_string()))
    >>> starts.tolist(), data.tobytes()[:3]
    ([0, 1, 3], b'abc')
    """
    _, ends, data = ids.buffers()
    offsets, text = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint8)
    if len(ids):
        offsets = np.frombuffer(ends, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
        text = np.frombuffer(data, dtype=np.uint8) if data is not None and data.size else text
    return offsets, text


def ids_of(starts: Ints, data: Bytes) -> pa.LargeStringArray:
    """The Arrow text of such arrays, without a copy.

    >>> ids_of(np.array([0, 1, 3]), np.frombuffer(b"abc", dtype=np.uint8)).to_pylist()
    ['a', 'bc']
    """
    return pa.LargeStringArray.from_buffers(
        len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(data)
    )


def hashes_of(ids: pa.LargeStringArray, seed: np.uint64 = SEED, rows: Ints | None = None) -> Hashes:
    """A hash of 64 bits for each id.

    The state begins with the size; the id's first eight bytes are mixed in, its last eight if it is
    longer, and the bytes between them in steps of eight if it is longer than sixteen. After each
    step the state is multiplied by the seed, a secret odd number, so that ids cannot be chosen to
    collide.

    Args:
        ids: the ids.
        seed: the seed of the hashes.
        rows: the positions of the ids to hash, shape (n,); None: all n ids.

    Returns:
        Shape (n,).

    >>> one, other, again = hashes_of(pa.array(["d1", "d2", "d1"], type=pa.large_string()))
    >>> bool(one == again), bool(one == other)
    (True, False)
    """
    offsets, data = arrays_of(ids)
    hashes = np.empty(len(ids) if rows is None else len(rows), dtype=np.uint64)
    blocks = fixed_blocks(len(hashes))

    def hash_part(first: int, last: int) -> None:
        part = slice(blocks[first], blocks[last])
        if rows is None:
            begin, end = offsets[:-1][part], offsets[1:][part]
        else:
            begin, end = offsets[rows[part]], offsets[1:][rows[part]]
        hashes[part] = _hash(begin, end, data, seed)

    if len(hashes):
        map_parts(hash_part, blocks)
    return hashes


def _hash(begin: Ints, end: Ints, data: Bytes, seed: np.uint64) -> Hashes:
    sizes = end - begin
    state = _mixed(sizes.astype(np.uint64) * _MULTIPLIER, _heads(data, begin, sizes), seed)
    longest = sizes.max()
    if longest > 8:
        longer = _mixed(state, _eight_bytes(data, np.maximum(end - 8, begin)), seed)
        state = longer if sizes.min() > 8 else np.where(sizes > 8, longer, state)
    if longest > 16:
        _mix_between(state, begin, end, data, seed)
    state ^= state >> _HALF
    return state


def _mix_between(state: Hashes, begin: Ints, end: Ints, data: Bytes, seed: np.uint64) -> None:
    """Mixes the bytes between the first and the last eight into the state of long ids."""
    rows = np.flatnonzero(end - begin > 16)
    begin, end = begin[rows] + 8, end[rows] - 8
    for _ in range(_LONG // 8):
        state[rows] = _mixed(state[rows], _eight_bytes(data, begin), seed)
        begin += 8
        goes_on = begin < end
        rows, begin, end = rows[goes_on], begin[goes_on], end[goes_on]
        if not len(rows):
            return
    from hashlib import blake2b

    for row, first, last in zip(rows.tolist(), begin.tolist(), end.tolist()):
        rest = blake2b(data[first:last].tobytes(), digest_size=8, key=seed.tobytes())
        state[row] ^= np.frombuffer(rest.digest(), dtype="<u8")[0]


def _eight_bytes(data: Bytes, begin: Ints) -> Hashes:
    """The eight bytes from each place on as numbers, with zeros after the end of the data."""
    if len(data) < 8:
        data = np.append(data, np.zeros(8, dtype=np.uint8))
    words: Hashes = np.ndarray(len(data) - 7, dtype="<u8", buffer=data, strides=(1,))
    last = len(words) - 1
    if begin.max() <= last:
        return words[begin]
    beyond = np.maximum(begin - last, 0)
    last_words: Hashes = words[begin - beyond] >> (8 * beyond).astype(np.uint64)
    return last_words


def _heads(data: Bytes, begin: Ints, sizes: Ints) -> Hashes:
    """The first eight bytes of ids; shorter ids are padded with zeros."""
    heads = _eight_bytes(data, begin)
    if sizes.min() < 8:
        heads &= _FIRST_BYTES[np.minimum(sizes, 8)]
    return heads


def _mixed(state: Hashes, word: Hashes, seed: np.uint64) -> Hashes:
    state = state ^ word
    state *= _MULTIPLIER
    state ^= state >> _HALF
    state *= seed
    return state


def of_groups(hashes: Hashes, groups: Ints) -> Hashes:
    """Keys of hashes in groups: equal hashes in different groups have different keys.

    >>> hashes = hashes_of(pa.array(["d", "d", "d"], type=pa.large_string()))
    >>> len(set(of_groups(hashes, np.array([0, 1, 1])).tolist()))
    2
    """
    keys = groups.astype(np.uint64)
    keys *= _MULTIPLIER
    keys ^= hashes
    return keys


def repeated_keys(keys: Hashes) -> Hashes:
    """The keys that occur more than once, ascending.

    >>> repeated_keys(np.array([3, 1, 3, 2, 3], dtype=np.uint64)).tolist()
    [3]
    >>> repeated_keys(np.array([3, 1], dtype=np.uint64)).tolist()
    []
    """
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.unique(again) if len(again) else again  # np.unique imports numpy.ma
