"""Looks up (group, id) pairs among known ones, for judgements, pools and lengths.

The ids are text and may be many; the groups are small integers (the queries). The known ids are
sorted once, by group and hash. Ids are looked up by their hashes and then compared in full, so that
a lookup does not depend on hashes. No Python code runs per row; NumPy hashes eight bytes of every
id at a time.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..common.lazy import pc
from ..common.threads import map_rows
from ..common.types import Bytes, Ints
from ..io.values import arrays_of, arrow_numbers, ids_of, numpy_numbers, take
from ..scoring.arrays import queries_of
from .remembered import cached_property

Hashes = npt.NDArray[np.uint64]

#: The seed of the hashes of this process: odd and random, so that ids cannot be chosen to collide.
SEED = np.uint64(int.from_bytes(os.urandom(8), sys.byteorder) | 1)

_MULTIPLIER = np.uint64(0x9FB21C651E98DF25)
#: Keeps the first n bytes of eight, for n from 0 to 8.
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)

#: The least bits of a position, so that the numbers of rows that are looked up fit below a key.
_LEAST_BITS = 18

_ONE, _HALF = np.uint64(1), np.uint64(32)
_NONE = arrow_numbers(np.array([-1], dtype=np.int32))[0]


def codes(ids: pa.Array) -> tuple[Ints, pa.Array]:
    """Numbers the different ids in order of first appearance.

    Args:
        ids: n ids.

    Returns:
        The number of each row's id, shape (n,), and the different ids.

    >>> numbers, different = codes(pa.array(["b", "b", "a", "b"], type=pa.large_string()))
    >>> numbers.tolist(), different.to_pylist()
    ([0, 0, 1, 0], ['b', 'a'])
    """
    encoded = pc.dictionary_encode(ids)
    return numpy_numbers(encoded.indices).astype(np.int64), encoded.dictionary


def positions(ids: pa.Array, known: pa.Array) -> Ints:
    """The first place of each id in ``known``, -1 for an unknown id."""
    return numpy_numbers(pc.coalesce(pc.index_in(ids, value_set=known), _NONE)).astype(np.int64)


class PairIndex:
    """Known (group, id) pairs, group by group, for millions of lookups.

    Args:
        offsets: the beginning of each group's ids and the end of the last, shape (G + 1,).
        ids: n ids.
        seed: the seed of the hashes.

    >>> index = PairIndex(np.array([0, 2, 3]), pa.array(["a", "b", "a"], type=pa.large_string()))
    >>> index.find(np.array([1, 0, 1]), pa.array(["a", "b", "b"], type=pa.large_string())).tolist()
    [2, 1, -1]
    """

    def __init__(self, offsets: Ints, ids: pa.LargeStringArray, seed: np.uint64 = SEED) -> None:
        self.offsets, self.ids, self.seed = offsets.astype(np.int64), ids, seed

    @cached_property
    def _sorted(self) -> Hashes:
        """A number of 64 bits for each pair, ascending: its group, some bits of its hash, its
        position. Sorting such numbers is several times faster than sorting positions by keys."""
        keys = self._keys(
            queries_of(self.offsets).astype(np.uint64), hashes_of(self.ids, self.seed)
        )
        return np.sort(keys | np.arange(len(self), dtype=np.uint64))

    def __len__(self) -> int:
        return len(self.ids)

    def __getstate__(self) -> dict[str, Any]:
        """The state with ids as NumPy arrays, which processes share in a file."""
        return {"offsets": self.offsets, "seed": self.seed, "ids": arrays_of(self.ids)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays mapped from a file have a subclass that is slower.
        ids = ids_of(*map(np.asarray, state["ids"]))
        self.__init__(np.asarray(state["offsets"]), ids, np.uint64(state["seed"]))  # type: ignore[misc]

    @property
    def repeated(self) -> Ints:
        """The positions of pairs that occur again later: of equal pairs all but the last."""
        keys = self._sorted & ~self._positions
        if not np.any(keys[1:] == keys[:-1]):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.find(queries_of(self.offsets), self.ids) != np.arange(len(self)))

    def find(self, groups: Ints | None, ids: pa.LargeStringArray) -> Ints:
        """The position of each (group, id) among the known pairs, -1 for an unknown pair.

        Of equal known pairs it is the position of the last.

        Args:
            groups: the group of each pair, -1 for none; None: all are in the first group.
            ids: the id of each pair.
        """
        hashes, every = hashes_of(ids, self.seed), np.arange(len(ids))
        groups = 0 * every if groups is None else groups

        def find_part(part: slice) -> Ints:
            keys, rows = self.sorted_keys(groups[part], hashes[part])
            return self.find_keys(keys, rows, ids, every[part])

        return np.concatenate(map_rows(find_part, len(ids)))

    def sorted_keys(self, groups: Ints, hashes: Hashes) -> tuple[Hashes, Ints]:
        """The keys of pairs, ascending, and the row of each; few different pairs have equal keys.

        Args:
            groups: the group of each pair, -1 for none, shape (n,).
            hashes: the hash of each pair's id, with the seed of this index, shape (n,).
        """
        keys, rows = self._keys(groups.astype(np.uint64), hashes), np.arange(len(hashes))
        if len(keys) > self._positions:
            rows = np.argsort(keys)
            return keys[rows], rows
        keys |= rows.astype(np.uint64)
        keys.sort()
        rows = (keys & self._positions).astype(np.int64)
        keys &= ~self._positions
        return keys, rows

    def find_keys(self, keys: Hashes, rows: Ints, ids: pa.LargeStringArray, which: Ints) -> Ints:
        """The result of :meth:`find`, from the result of :meth:`sorted_keys`.

        Args:
            keys: the keys.
            rows: their rows.
            ids: ids.
            which: the position of each row's id in ``ids``.
        """
        pairs = np.full(len(rows), -1, dtype=np.int64)
        if not len(self) or not len(rows):
            return pairs
        # The part of the known pairs with these groups stays in a core's cache.
        groups = np.minimum(keys[[0, -1]] >> self._group_shift, np.uint64(len(self.offsets) - 2))
        begin, end = self.offsets[groups[0]], self.offsets[groups[1] + _ONE]
        if begin == end:
            return pairs
        part = self._sorted[begin:end]
        places = np.searchsorted(part, keys | self._positions, side="right") - 1
        is_known = (part.take(places, mode="clip") & ~self._positions) == keys
        rows, keys, places = rows[is_known], keys[is_known], begin + places[is_known]
        while len(rows):
            matches = (self._sorted[places] & self._positions).astype(np.int64)
            texts = take(ids, which[rows]), take(self.ids, matches)
            pairs[rows] = matches
            other = numpy_numbers(pc.indices_nonzero(pc.not_equal(*texts))).astype(np.int64)
            pairs[rows[other]] = -1
            # Different ids can have equal keys, which are next to each other.
            other = other[places[other] > 0]
            rows, keys, places = rows[other], keys[other], places[other] - 1
            same = (self._sorted[places] & ~self._positions) == keys
            rows, keys, places = rows[same], keys[same], places[same]
        return pairs

    @property
    def _positions(self) -> np.uint64:
        """A mask of the bits of positions."""
        return np.uint64((1 << max(len(self.ids).bit_length(), _LEAST_BITS)) - 1)

    @property
    def _group_shift(self) -> np.uint64:
        """The number of bits below the group, which is not all ones: the group -1 is unknown."""
        return np.uint64(64 - len(self.offsets).bit_length())

    def _keys(self, groups: Hashes, hashes: Hashes) -> Hashes:
        """The groups and some bits of the hashes, above zeros for a position."""
        keys = groups << self._group_shift
        keys |= hashes >> (np.uint64(64) - self._group_shift)
        keys &= ~self._positions
        return keys


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

    def hash_part(part: slice) -> None:
        which = part if rows is None else rows[part]
        hashes[part] = _hash(offsets[:-1][which], offsets[1:][which], data, seed)

    if len(hashes):
        map_rows(hash_part, len(hashes))
    return hashes


def _hash(begin: Ints, end: Ints, data: Bytes, seed: np.uint64) -> Hashes:
    sizes, heads = end - begin, _eight_bytes(data, begin)
    if sizes.min() < 8:  # shorter ids are padded with zeros
        heads &= _FIRST_BYTES[np.minimum(sizes, 8)]
    state = _mixed(sizes.astype(np.uint64) * _MULTIPLIER, heads, seed)
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
    while len(rows):
        state[rows] = _mixed(state[rows], _eight_bytes(data, begin), seed)
        begin += 8
        goes_on = begin < end
        rows, begin, end = rows[goes_on], begin[goes_on], end[goes_on]


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
    return (groups.astype(np.uint64) * _MULTIPLIER) ^ hashes
