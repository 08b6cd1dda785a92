"""The form of ids: their groups of digits and letters."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

#: The class of each byte of an id: digit (9), capital (A), other letter (a), or the byte.
_CLASS = np.arange(256, dtype=np.uint8)
_CLASS[ord("0") : ord("9") + 1] = ord("9")
_CLASS[ord("A") : ord("Z") + 1] = ord("A")
_CLASS[ord("a") : ord("z") + 1] = _CLASS[128:] = ord("a")


def forms_of(ids: pa.LargeStringArray) -> pa.LargeStringArray:
    """The form of each id: its groups of digits and letters, each as one character.

    >>> forms_of(pa.array(["FT911-1", "v2-77", "7"], pa.large_string())).to_pylist()
    ['A9-9', 'a9-9', '9']
    """
    ids = pa.concat_arrays([ids])  # without an offset
    ends = np.frombuffer(ids.buffers()[1], np.int64, len(ids) + 1)
    kinds = _CLASS[np.frombuffer(ids.buffers()[2] or b"", np.uint8)[: ends[-1]]]
    begins = np.concatenate(([0], kinds))[:-1] != kinds
    begins[ends[:-1][ends[:-1] < len(kinds)]] = True
    ends = np.concatenate(([0], np.cumsum(begins)))[ends]
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(kinds[begins].tobytes())]
    return pa.Array.from_buffers(pa.large_string(), len(ids), buffers)
