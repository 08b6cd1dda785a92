"""Which of known (group, id) pairs is this one? The join under judgements, pools and lengths.

The ids are text and may be many; the groups are small integers (the queries). Everything happens on
Arrow's and NumPy's arrays, nothing in Python per row.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]


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
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary


def positions(ids: pa.LargeStringArray, known: pa.LargeStringArray) -> Ints:
    """Where each id stands in ``known`` (its first place), -1 where it does not."""
    found = pc.index_in(ids, value_set=known)
    array: Ints = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return array


class PairIndex:
    """Known (group, id) pairs, each once, to be looked up by the million.

    Args:
        groups: the group of each pair, shape (n,).
        ids: the id of each pair, n of them.

    >>> index = PairIndex(np.array([0, 0, 1]), pa.array(["a", "b", "a"], type=pa.large_string()))
    >>> index.find(np.array([1, 0, 1]), pa.array(["a", "b", "b"], type=pa.large_string())).tolist()
    [2, 1, -1]
    """

    def __init__(self, groups: Ints, ids: pa.LargeStringArray) -> None:
        ids_codes, self._ids = codes(ids)
        keys = groups * len(self._ids) + ids_codes
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def __len__(self) -> int:
        return len(self._keys)

    def repeated(self) -> Ints:
        """The positions of pairs that stand again later: all but the last of equals."""
        same = self._keys[1:] == self._keys[:-1]
        return self._order[:-1][same]

    def find(self, groups: Ints, ids: pa.LargeStringArray) -> Ints:
        """The position of each (group, id) among the known pairs, -1 where it is not known."""
        if not len(self) or not len(groups):
            return np.full(len(groups), -1, dtype=np.int64)
        row_codes, different = codes(ids)
        known = positions(different, self._ids)[row_codes]
        return self._look_up(groups, known)

    def _look_up(self, groups: Ints, known: Ints) -> Ints:
        keys = np.where(known < 0, -1, groups * len(self._ids) + known)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found: Ints = np.where(self._keys[place] == keys, self._order[place], -1)
        return found
