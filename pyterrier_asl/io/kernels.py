"""Kernels of Arrow, called as functions of ``pyarrow.compute``, which is not imported.

That module builds a documented Python function for each kernel: a quarter of the time of importing
PyArrow, and of evaluating a small file (``benchmarks/start.py``). (Methods of arrays, such as
``take``, import it, too.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyarrow import _compute

#: The options of kernels that have any.
_OPTIONS = {
    "index_in": _compute.SetLookupOptions,
    "run_end_encode": _compute.RunEndEncodeOptions,
    "sort_indices": _compute.SortOptions,
}


class Kernels:
    """Every kernel as a method; what it is given by name are its options.

    >>> Kernels().equal(pa.array([3, 4]), 4).to_pylist()
    [False, True]
    >>> Kernels().index_in(pa.array(["a", "b"]), value_set=pa.array(["b"])).to_pylist()
    [None, 0]
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            chosen = _OPTIONS[name](**options) if options else None
            return _compute.call_function(name.rstrip("_"), list(arguments), chosen)

        return call


pc = Kernels()


def cast(values: pa.Array | pa.ChunkedArray, kind: pa.DataType, *, safe: bool = True) -> Any:
    """Values as another type.

    Raises:
        ArrowInvalid: unless not ``safe``, for a value that it cannot hold.

    >>> cast(pa.array([1.5]), pa.int64(), safe=False).to_pylist()
    [1]
    """
    options = _compute.CastOptions.safe(kind) if safe else _compute.CastOptions.unsafe(kind)
    return _compute.call_function("cast", [values], options)
