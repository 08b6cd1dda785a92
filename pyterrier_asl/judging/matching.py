"""Matching of (group, id) pairs with known ones: the join of judgements, pools and lengths.

The ids are text and may be many; the groups are small integers (the queries). Everything happens on
Arrow's and NumPy's arrays, nothing in Python per row, in one of two ways with the same results: by
PyArrow's functions, or by the compiled loops of :mod:`~pyterrier_asl.judging._kernels`, some ten
times as fast: where enough is looked up in an index to pay for loading Numba, or it is loaded.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..io.values import arrow_numbers, numpy_numbers
from ..scoring.arrays import Ints, cumulate, queries_of
from ..scoring.compiled import COMPILED, compile_loops

#: The number of rows looked up in an index from which loading the compiled loops pays: about as
#: many as PyArrow's way takes as long for as loading does. Infinite: the loops are never used.
ENOUGH = 1_000_000

#: Of the hashes that this process makes, odd; whoever makes up ids cannot know it.
SEED = np.uint64(int.from_bytes(os.urandom(8), sys.byteorder) | 1)

#: The module of the compiled loops.
LOOPS = __name__.rpartition(".")[0] + "._kernels"

_NONE = arrow_numbers(np.array([-1], dtype=np.int32))[0]


def loops_are_loaded() -> bool:
    """Whether this process has loaded the compiled loops, so that using them costs nothing."""
    return LOOPS in COMPILED


def codes(ids: pa.LargeStringArray) -> tuple[Ints, pa.LargeStringArray]:
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


def positions(ids: pa.LargeStringArray, known: pa.LargeStringArray) -> Ints:
    """Where each id stands in ``known`` (its first place), -1 where it does not."""
    places = pc.index_in(ids, value_set=known)
    return numpy_numbers(pc.fill_null(places, _NONE)).astype(np.int64)


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
    encoded = pc.run_end_encode(ids, run_end_type=pa.int64())
    starts = np.concatenate(([0], numpy_numbers(encoded.run_ends)))
    return starts, encoded.values


def fixed_blocks(rows: int) -> Ints:
    """Blocks of 4096 rows, for `parallel_for`."""
    return np.append(np.arange(0, rows, 4096), rows)


def arrays_of(ids: pa.LargeStringArray) -> tuple[Ints, npt.NDArray[np.uint8]]:
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


def hashes_of(ids: pa.LargeStringArray, seed: np.uint64 = SEED) -> npt.NDArray[np.uint64]:
    """The hash of each id, by the compiled loops."""
    kernels = compile_loops(LOOPS)

    hashes = np.empty(len(ids), dtype=np.uint64)
    kernels.parallel_for(kernels.hashes, fixed_blocks(len(ids)), *arrays_of(ids), seed, hashes)
    return hashes


def ids_of(starts: Ints, data: npt.NDArray[np.uint8]) -> pa.LargeStringArray:
    """Arrow text of such arrays, also without a copy.

    >>> ids_of(np.array([0, 1, 3]), np.frombuffer(b"abc", dtype=np.uint8)).to_pylist()
    ['a', 'bc']
    """
    return pa.LargeStringArray.from_buffers(
        len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(data)
    )


class PairIndex:
    """Known (group, id) pairs, group by group, to be looked up by the million.

    Args:
        offsets: where each group's ids begin, and where the last end, shape (G + 1,).
        ids: the ids, n of them.

    >>> index = PairIndex(np.array([0, 2, 3]), pa.array(["a", "b", "a"], type=pa.large_string()))
    >>> index.find(np.array([1, 0, 1]), pa.array(["a", "b", "b"], type=pa.large_string())).tolist()
    [2, 1, -1]
    """

    def __init__(self, offsets: Ints, ids: pa.LargeStringArray) -> None:
        self.offsets, self.ids, self.seed = offsets.astype(np.int64), ids, SEED
        self.rows = 0  # that have been looked up

    def __len__(self) -> int:
        return len(self.ids)

    def __getstate__(self) -> dict[str, Any]:
        """All in NumPy's arrays, and with the hashes, if there are: so that processes can share it
        from one file."""
        made = ("hashes", "_table")
        return {
            "offsets": self.offsets,
            "ids": arrays_of(self.ids),
            "seed": self.seed,
            **{name: value for name, value in self.__dict__.items() if name in made},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Mapped from a file, arrays are of a kind that the compiled loops do not know.
        arrays = {
            name: tuple(map(np.asarray, value)) if isinstance(value, tuple) else np.asarray(value)
            for name, value in state.items()
        }
        self.__dict__.update(
            arrays, rows=0, ids=ids_of(*arrays["ids"]), seed=np.uint64(state["seed"])
        )

    def repeated(self) -> Ints:
        """The positions of pairs that stand again later: all but the last of equals."""
        if self.compiled(0) is not None:
            return self._table[2]
        order, keys, _ = self._sorted
        earlier: Ints = order[:-1][keys[1:] == keys[:-1]]
        return earlier

    def compiled(self, rows: int) -> ModuleType | None:
        """The compiled loops, where the rows looked up here so far and these are worth loading
        them, or where this process has loaded them; else None.

        PyArrow goes through the known pairs, too, whenever something is looked up.

        Args:
            rows: how many rows are to be looked up.
        """
        self.rows += rows + len(self) if rows else 0
        is_loaded = ENOUGH != np.inf and loops_are_loaded()
        if "_table" not in self.__dict__ and not is_loaded and max(self.rows, len(self)) < ENOUGH:
            return None
        return compile_loops(LOOPS)

    def find(self, groups: Ints | None, ids: pa.LargeStringArray) -> Ints:
        """The position of each (group, id) among the known pairs (the last of equals), -1 where it
        is not known.

        Args:
            groups: the group of each, -1 for none; None: the first and only group for all.
            ids: their ids.
        """
        if not len(self) or not len(ids):
            return np.full(len(ids), -1, dtype=np.int64)
        join = self.compiled(len(ids))
        if join is None:
            return self.search(
                np.zeros(1, dtype=np.int64) if groups is None else groups, *codes(ids)
            )
        pairs = np.empty(len(ids), dtype=np.int64)
        join.parallel_for(
            join.find,
            fixed_blocks(len(ids)),
            np.empty(0, dtype=np.int64) if groups is None else groups,
            *arrays_of(ids),
            *arrays_of(self.ids),
            self.hashes,
            self.seed,
            *self._table[:2],
            pairs,
        )
        return pairs

    @cached_property
    def hashes(self) -> npt.NDArray[np.uint64]:
        """The hash of each id, shape (n,)."""
        return hashes_of(self.ids, self.seed)

    @cached_property
    def _table(self) -> tuple[Ints, npt.NDArray[np.int32], Ints]:
        """Where each group's part of the table of hashes begins; the table; the repeated pairs."""
        kernels = compile_loops(LOOPS)

        room = 2.0 * np.diff(self.offsets) + 1  # at most half of it is taken
        starts = cumulate(2 ** np.ceil(np.log2(room)).astype(np.int64))
        table = np.full(starts[-1], -1, dtype=np.int32)
        again = np.zeros(len(self), dtype=np.uint8)
        kernels.parallel_for(
            kernels.build, self.offsets, starts, *arrays_of(self.ids), self.hashes, table, again
        )
        return starts, table, np.flatnonzero(again)

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints, pa.LargeStringArray]:
        """The pairs in the order of their numbers; these; the different ids."""
        numbers, different = codes(self.ids)
        keys = queries_of(self.offsets) * len(different) + numbers
        order = np.argsort(keys, kind="stable")
        return order, keys[order], different

    def search(self, groups: Ints, numbers: Ints, different: pa.LargeStringArray) -> Ints:
        """What :meth:`find` gives, by PyArrow and NumPy whatever the work so far.

        Args:
            groups: as of :meth:`find`.
            numbers: the number of each row's id, as :func:`codes` gives it.
            different: the different ids.
        """
        if not len(self) or not len(numbers):
            return np.full(len(numbers), -1, dtype=np.int64)
        order, keys, known = self._sorted
        number = positions(different, known)[numbers]
        wanted = np.where((number < 0) | (groups < 0), -1, groups * len(known) + number)
        place = np.searchsorted(keys, wanted, side="right") - 1
        pairs: Ints = np.where(keys[place] == wanted, order[place], -1)
        return pairs
