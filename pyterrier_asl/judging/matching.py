"""Looks up (group, id) pairs among known ones, for judgements, pools and lengths.

The ids are text and may be many; the groups are small integers (the queries). Ids are looked up by
their hashes and then compared in full, so that results do not depend on hashes. No Python code runs
per row; NumPy hashes eight bytes of every id at a time. For few ids, Arrow builds a table of the
ids looked up and discards it; for many, a table of the known ids is kept.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..io.threads import fixed_blocks, map_parts
from ..io.values import arrow_numbers, numpy_numbers, pc, take
from ..scoring.arrays import Ints, cumulate, queries_of
from .remembered import cached_property

Hashes = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

#: The seed of the hashes of this process: odd and random, so that ids cannot be chosen to collide.
SEED = np.uint64(int.from_bytes(os.urandom(8), sys.byteorder) | 1)

_MULTIPLIER = np.uint64(0x9FB21C651E98DF25)
#: The bytes of an id that NumPy hashes, besides its ends; few ids are longer.
_LONG = 512
#: Keeps the first n bytes of eight, for n from 0 to 8.
FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)

#: A table is kept from this number of known ids and ids looked up together, and up to this number
#: of known ids per id looked up.
_FEW, _MANY_KNOWN = 10_000, 8

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


def equal_groups(ids: pa.LargeStringArray) -> tuple[Ints, pa.LargeStringArray]:
    """Groups of equal adjacent ids.

    Args:
        ids: n ids.

    Returns:
        The beginning of each group and the end of the last, shape (S + 1,); the id of each.

    >>> starts, group_ids = equal_groups(pa.array(["b", "b", "a", "b"], type=pa.large_string()))
    >>> starts.tolist(), group_ids.to_pylist()
    ([0, 2, 3, 4], ['b', 'a', 'b'])
    """
    blocks = fixed_blocks(len(ids))

    def groups_of_part(first: int, last: int) -> tuple[Ints, pa.LargeStringArray]:
        begin, end = blocks[first], blocks[last]
        encoded = pc.run_end_encode(ids.slice(begin, end - begin), run_end_type=pa.int64())
        return begin + numpy_numbers(encoded.run_ends), encoded.values

    ends, texts = zip(*map_parts(groups_of_part, blocks))
    starts, group_ids = np.concatenate(([0], *ends)), pa.concat_arrays(texts)
    cuts = np.array([part[-1] for part in ends[:-1]], dtype=np.int64)
    same = pc.indices_nonzero(pc.equal(take(ids, cuts), take(ids, cuts - 1)))
    rest = np.searchsorted(starts, cuts[numpy_numbers(same)])  # of groups that begin before
    return np.delete(starts, rest), take(group_ids, np.delete(np.arange(len(group_ids)), rest))


class PairIndex:
    """Known (group, id) pairs, group by group, for millions of lookups.

    Args:
        offsets: the beginning of each group's ids and the end of the last, shape (G + 1,).
        ids: n ids.
        seed: the seed of their hashes.

    >>> index = PairIndex(np.array([0, 2, 3]), pa.array(["a", "b", "a"], type=pa.large_string()))
    >>> index.find(np.array([1, 0, 1]), pa.array(["a", "b", "b"], type=pa.large_string())).tolist()
    [2, 1, -1]
    """

    _lookups = 0  #: the number of ids looked up so far

    def __init__(self, offsets: Ints, ids: pa.LargeStringArray, seed: np.uint64 = SEED) -> None:
        self.offsets, self.ids, self.seed = offsets.astype(np.int64), ids, seed

    def __len__(self) -> int:
        return len(self.ids)

    def __getstate__(self) -> dict[str, Any]:
        """The state with ids as NumPy arrays, which processes share in a file."""
        kept = ("offsets", "seed", "hashes", "_table")
        state = {name: value for name, value in self.__dict__.items() if name in kept}
        return {**state, "ids": arrays_of(self.ids)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays mapped from a file have a subclass that is slower.
        arrays = {
            name: tuple(map(np.asarray, value)) if isinstance(value, tuple) else np.asarray(value)
            for name, value in state.items()
        }
        self.__dict__.update(arrays, ids=ids_of(*arrays["ids"]), seed=np.uint64(state["seed"]))

    @cached_property
    def hashes(self) -> Hashes:
        """The hash of each id, shape (n,)."""
        return hashes_of(self.ids, self.seed)

    @cached_property
    def repeated(self) -> Ints:
        """The positions of pairs that occur again later: of equal pairs all but the last."""
        if not len(repeated_keys(self._keys())):
            return np.empty(0, dtype=np.int64)
        order, keys, _ = self._sorted
        earlier: Ints = order[:-1][keys[1:] == keys[:-1]]
        return earlier

    def find(self, groups: Ints | None, ids: pa.LargeStringArray) -> Ints:
        """The position of each (group, id) among the known pairs, -1 for an unknown pair.

        Of equal known pairs it is the position of the last.

        Args:
            groups: the group of each pair, -1 for none; None: all are in the first group.
            ids: the id of each pair.
        """
        if not len(self) or not len(ids):
            return np.full(len(ids), -1, dtype=np.int64)
        blocks, hashes = fixed_blocks(len(ids)), hashes_of(ids, self.seed)
        groups = np.zeros(len(ids), dtype=np.int64) if groups is None else groups
        self.prepare(len(ids))

        def find_part(first: int, last: int) -> Ints:
            begin, end = blocks[first], blocks[last]
            part = ids.slice(begin, end - begin)
            return self.find_hashes(groups[begin:end], hashes[begin:end], part)

        return np.concatenate(map_parts(find_part, blocks))

    def prepare(self, rows: int | None = None) -> None:
        """Builds the table of the known ids, if enough ids are looked up to pay for it.

        Args:
            rows: the number of ids looked up next; None: many.
        """
        if rows is not None:
            self._lookups += rows
            if len(self) + rows < _FEW or len(self) > _MANY_KNOWN * self._lookups:
                return
        self._tags  # noqa: B018 (a cached property)

    def find_hashes(
        self, groups: Ints, hashes: Hashes, ids: pa.LargeStringArray, which: Ints | None = None
    ) -> Ints:
        """The result of :meth:`find`, from hashes of ids with the seed of this index.

        Args:
            groups: the group of each pair, -1 for none.
            hashes: the hash of each pair's id.
            ids: ids.
            which: the position of each pair's id in ``ids``; None: 0, 1, 2, ...
        """
        if not len(self):
            return np.full(len(hashes), -1, dtype=np.int64)
        find = self._find_in_table if "_tags" in self.__dict__ else self._find_once
        pairs = find(groups, hashes)
        rows = np.flatnonzero(pairs >= 0)
        places = rows if which is None else which[rows]
        differs = pc.not_equal(take(ids, places), take(self.ids, pairs[rows]))
        wrong = numpy_numbers(pc.indices_nonzero(differs)).astype(np.int64)
        if len(wrong):  # different ids with the same hash
            unknown = rows[wrong]
            pairs[unknown] = self._search(groups[unknown], take(ids, places[wrong]))
        return pairs

    def _keys(self) -> Hashes:
        """The hash of each pair."""
        return of_groups(self.hashes, queries_of(self.offsets))

    def _find_once(self, groups: Ints, hashes: Hashes) -> Ints:
        """The position of a pair with each hash, -1 for none, by a table of these hashes."""
        numbers, different = codes(arrow_numbers(of_groups(hashes, groups)))
        number_of = positions(arrow_numbers(self._keys()), different)
        pairs = np.full(len(different), -1, dtype=np.int64)
        known = np.flatnonzero(number_of >= 0)
        pairs[number_of[known]] = known  # the last of equal pairs
        return take(pairs, numbers)  # type: ignore[no-any-return]

    def _find_in_table(self, groups: Ints, hashes: Hashes) -> Ints:
        """The position of a pair with each hash, -1 for none, by the table that is kept."""
        pairs = np.full(len(hashes), -1, dtype=np.int64)
        (starts, table), tags = self._table, self._tags
        first, sizes = starts[:-1], np.diff(starts)
        wanted, rows, step = hashes, np.arange(len(hashes)), np.uint64(0)
        if np.any(groups < 0):
            rows = np.flatnonzero(groups >= 0)
            groups, wanted = groups[rows], wanted[rows]
        while len(rows):
            places = _places(first[groups], sizes[groups], wanted, step)
            there = tags[places]
            is_same = there == _tags_of(wanted)
            hits = np.flatnonzero(is_same)
            known = table[places[hits]]
            is_same[hits] = self.hashes[known] == wanted[hits]
            pairs[rows[hits]] = np.where(is_same[hits], known, -1)
            others = np.flatnonzero((there != 0) > is_same)
            rows, groups, wanted = rows[others], groups[others], wanted[others]
            step += _ONE
        return pairs

    @cached_property
    def _table(self) -> tuple[Ints, npt.NDArray[np.int32]]:
        """The beginning of each group's part of the table of hashes; the table."""
        room = 4.0 * np.diff(self.offsets) + 1  # at most a quarter is used: few look twice
        starts = cumulate(2 ** np.ceil(np.log2(room)).astype(np.int64))
        table = np.full(starts[-1], -1, dtype=np.int32)
        queries, is_last = queries_of(self.offsets), np.ones(len(self), dtype=bool)
        is_last[self.repeated] = False

        def fill_part(first: int, last: int) -> None:
            begin, end = self.offsets[first], self.offsets[last]
            waiting, step = begin + np.flatnonzero(is_last[begin:end]), np.uint64(0)
            while len(waiting):
                groups = queries[waiting]
                sizes = starts[groups + 1] - starts[groups]
                places = _places(starts[groups], sizes, self.hashes[waiting], step)
                free = table[places] < 0
                table[places[free]] = waiting[free]  # of several hashes the last
                waiting = waiting[table[places] != waiting]
                step += _ONE

        map_parts(fill_part, self.offsets)
        return starts, table

    @cached_property
    def _tags(self) -> npt.NDArray[np.uint16]:
        """A tag for each place of the table, 0 where it is free.

        It rules out most unknown ids without a look at their hash, which is far away in memory.
        """
        tags = np.append(_tags_of(self.hashes), np.uint16(0))  # the last one is for -1
        return tags[self._table[1]]

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints, pa.LargeStringArray]:
        """The pairs ordered by group and number of the id; their keys; the different ids."""
        numbers, different = codes(self.ids)
        keys = queries_of(self.offsets) * len(different) + numbers
        order = np.argsort(keys, kind="stable")
        return order, keys[order], different

    def _search(self, groups: Ints, ids: pa.LargeStringArray) -> Ints:
        """The result of :meth:`find`, without hashes."""
        order, keys, known = self._sorted
        number = positions(ids, known)
        wanted = np.where(number < 0, -1, groups * len(known) + number)  # no key is below 0
        place = np.searchsorted(keys, wanted, side="right") - 1
        pairs: Ints = np.where(keys[place] == wanted, order[place], -1)
        return pairs


def _places(first: Ints, sizes: Ints, hashes: Hashes, step: np.uint64) -> Ints:
    """The places of hashes in their parts of a table, whose sizes are powers of two.

    A hash whose place is taken goes on by an odd stride of its own, which reaches all places.
    """
    places = (hashes if not step else hashes + (hashes >> _HALF | _ONE) * step).astype(np.int64)
    places &= sizes - 1
    places += first
    return places


def _tags_of(hashes: Hashes) -> npt.NDArray[np.uint16]:
    """Some bits of each hash, independent of its place; never 0."""
    return (hashes >> np.uint64(48)).astype(np.uint16) | np.uint16(1)


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
        heads &= FIRST_BYTES[np.minimum(sizes, 8)]
    return heads


def heads_of(ids: pa.LargeStringArray) -> tuple[Hashes, Ints]:
    """The first eight bytes of each id, n of them, as a number, and its size in bytes.

    >>> heads, sizes = heads_of(pa.array(["a", "a b"], type=pa.large_string()))
    >>> (heads & FIRST_BYTES[1]).tolist(), sizes.tolist()
    ([97, 97], [1, 3])
    """
    offsets, data = arrays_of(ids)
    sizes = np.diff(offsets)
    return _heads(data, offsets[:-1], sizes), sizes


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
