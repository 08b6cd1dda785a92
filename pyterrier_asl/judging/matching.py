"""Matching of (group, id) pairs with known ones: the join of judgements, pools and lengths.

The ids are text and may be many; the groups are small integers (the queries). Ids are found by
their hashes and compared in full, so that results do not depend on hashes. Nothing happens in
Python per row. Where few ids are sought, Arrow makes a table of these and throws it away; where
many are, a table of the known ids is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..io.kernels import pc
from ..io.values import arrow_numbers, numpy_numbers, take
from ..scoring.arrays import Ints, cumulate, queries_of
from .hashes import SEED, Hashes, are_equal, arrays_of, hashes_of, ids_of, of_groups, repeated_keys
from .parts import fixed_blocks, map_parts
from .remembered import cached_property

#: Fewer ids than this, known and sought together, are not worth a table that is kept, nor are so
#: many known ids for each one sought.
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
    """Where each id stands in ``known`` (its first place), -1 where it does not."""
    places = pc.index_in(ids, value_set=known)
    return numpy_numbers(pc.coalesce(places, _NONE)).astype(np.int64)


def equal_groups(ids: pa.LargeStringArray) -> tuple[Ints, pa.LargeStringArray]:
    """Groups of equal ids that lie together: what a sorted column consists of.

    Args:
        ids: n ids.

    Returns:
        Where each group begins, and where the last ends, shape (S + 1,); its id, S of them.

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
    rest = np.searchsorted(starts, cuts[numpy_numbers(same)])  # of a group of the part before
    return np.delete(starts, rest), take(group_ids, np.delete(np.arange(len(group_ids)), rest))


class PairIndex:
    """Known (group, id) pairs, group by group, to be looked up by the million.

    Args:
        offsets: where each group's ids begin, and where the last end, shape (G + 1,).
        ids: the ids, n of them.
        seed: of their hashes.

    >>> index = PairIndex(np.array([0, 2, 3]), pa.array(["a", "b", "a"], type=pa.large_string()))
    >>> index.find(np.array([1, 0, 1]), pa.array(["a", "b", "b"], type=pa.large_string())).tolist()
    [2, 1, -1]
    """

    _sought = 0  #: how many ids have been looked up

    def __init__(self, offsets: Ints, ids: pa.LargeStringArray, seed: np.uint64 = SEED) -> None:
        self.offsets, self.ids, self.seed = offsets.astype(np.int64), ids, seed

    def __len__(self) -> int:
        return len(self.ids)

    def __getstate__(self) -> dict[str, Any]:
        """Ids as NumPy arrays, and their hashes if computed: processes share these in a file."""
        computed = ("hashes", "_table")
        return {
            "offsets": self.offsets,
            "ids": arrays_of(self.ids),
            "seed": self.seed,
            **{name: value for name, value in self.__dict__.items() if name in computed},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays mapped from a file are of a subclass, which is slower.
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
        """The positions of pairs that stand again later: all but the last of equals."""
        if not len(repeated_keys(self._keys())):
            return np.empty(0, dtype=np.int64)
        order, keys, _ = self._sorted
        earlier: Ints = order[:-1][keys[1:] == keys[:-1]]
        return earlier

    def find(self, groups: Ints | None, ids: pa.LargeStringArray) -> Ints:
        """The position of each (group, id) among the known pairs (the last of equals), -1 where it
        is not known.

        Args:
            groups: the group of each, -1 for none; None: the first and only group for all.
            ids: their ids.
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
        """Makes a table of the known ids, if so many ids have been sought that it pays.

        Args:
            rows: how many are sought next; None: many.
        """
        if rows is not None:
            self._sought += rows
            if len(self) + rows < _FEW or len(self) > _MANY_KNOWN * self._sought:
                return
        self._tags  # noqa: B018 (which is kept, as the table is)

    def find_hashes(
        self, groups: Ints, hashes: Hashes, ids: pa.LargeStringArray, which: Ints | None = None
    ) -> Ints:
        """What :meth:`find` gives, by the hashes of the ids with the seed of these.

        Args:
            groups: the group of each, -1 for none.
            hashes: their hashes.
            ids: their ids.
            which: which of the ids each has; None: the first has the first, and so on.
        """
        if not len(self):
            return np.full(len(hashes), -1, dtype=np.int64)
        has_table = "_tags" in self.__dict__
        find = self._find_in_table if has_table else self._find_once
        pairs = find(groups, hashes)
        rows = np.flatnonzero(pairs >= 0)
        places = rows if which is None else which[rows]
        same = are_equal(arrays_of(ids), places, arrays_of(self.ids), pairs[rows])
        if not same.all():  # ids that differ have one hash
            wrong = rows[~same]
            pairs[wrong] = self._search(groups[wrong], take(ids, places[~same]))
        return pairs

    def _keys(self) -> Hashes:
        """The hash of each pair."""
        return of_groups(self.hashes, queries_of(self.offsets))

    def _find_once(self, groups: Ints, hashes: Hashes) -> Ints:
        """The position of a pair of each hash, -1 where there is none, by a table of these."""
        numbers, different = codes(arrow_numbers(of_groups(hashes, groups)))
        number_of = positions(arrow_numbers(self._keys()), different)
        pairs = np.full(len(different), -1, dtype=np.int64)
        known = np.flatnonzero(number_of >= 0)
        pairs[number_of[known]] = known  # of several the last
        found: Ints = pairs[numbers]
        return found

    def _find_in_table(self, groups: Ints, hashes: Hashes) -> Ints:
        """The position of a pair of each hash, -1 where there is none, by the table of these."""
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
            found = table[places[hits]]
            is_same[hits] = self.hashes[found] == wanted[hits]
            pairs[rows[hits]] = np.where(is_same[hits], found, -1)
            others = np.flatnonzero((there != 0) > is_same)
            rows, groups, wanted = rows[others], groups[others], wanted[others]
            step += _ONE
        return pairs

    @cached_property
    def _table(self) -> tuple[Ints, npt.NDArray[np.int32]]:
        """Where each group's part of the table of hashes begins; the table."""
        room = 4.0 * np.diff(self.offsets) + 1  # at most a quarter is taken: few look twice
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
                table[places[free]] = waiting[free]  # of several the last
                waiting = waiting[table[places] != waiting]
                step += _ONE

        map_parts(fill_part, self.offsets)
        return starts, table

    @cached_property
    def _tags(self) -> npt.NDArray[np.uint16]:
        """A tag for each place of the table, 0 where it is free: most ids are known by it not to be
        there, without a look at a hash far away."""
        tags = np.append(_tags_of(self.hashes), np.uint16(0))  # the last for -1
        return tags[self._table[1]]

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints, pa.LargeStringArray]:
        """The pairs in the order of their numbers; these; the different ids."""
        numbers, different = codes(self.ids)
        keys = queries_of(self.offsets) * len(different) + numbers
        order = np.argsort(keys, kind="stable")
        return order, keys[order], different

    def _search(self, groups: Ints, ids: pa.LargeStringArray) -> Ints:
        """What :meth:`find` gives, without hashes."""
        order, keys, known = self._sorted
        number = positions(ids, known)
        wanted = np.where((number < 0) | (groups < 0), -1, groups * len(known) + number)
        place = np.searchsorted(keys, wanted, side="right") - 1
        pairs: Ints = np.where(keys[place] == wanted, order[place], -1)
        return pairs


def _places(first: Ints, sizes: Ints, hashes: Hashes, step: np.uint64) -> Ints:
    """Where hashes may be in their parts of a table, whose sizes are powers of two.

    A hash that finds its place taken goes on by a stride of its own, which comes by all places.
    """
    places = (hashes if not step else hashes + (hashes >> _HALF | _ONE) * step).astype(np.int64)
    places &= sizes - 1
    places += first
    return places


def _tags_of(hashes: Hashes) -> npt.NDArray[np.uint16]:
    """Some bits of each hash, of which those of the place are independent; never 0."""
    return (hashes >> np.uint64(48)).astype(np.uint16) | np.uint16(1)
