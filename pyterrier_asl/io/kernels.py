"""Kernels of Arrow, called as functions of ``pyarrow.compute`` without importing it.

That module builds a Python function with documentation for each kernel. This takes a quarter of the
time to import PyArrow, and of evaluating a small file (``benchmarks/start.py``). Methods of arrays,
such as ``take``, import it, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyarrow import _compute

#: The classes of the options of kernels.
_OPTIONS = {
    "index_in": _compute.SetLookupOptions,
    "run_end_encode": _compute.RunEndEncodeOptions,
    "sort_indices": _compute.SortOptions,
}


class Kernels:
    """Every kernel as a method; its keyword arguments are options.

    >>> Kernels().equal(pa.array([3, 4]), 4).to_pylist()
    [False, True]
    >>> Kernels().index_in(pa.array(["a", "b"]), value_set=pa.array(["b"])).to_pylist()
    [None, 0]
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            return _compute.call_function(
                name.rstrip("_"), list(arguments), _OPTIONS[name](**options) if options else None
            )

        return call


pc = Kernels()


def cast(values: pa.Array | pa.ChunkedArray, kind: pa.DataType, *, safe: bool = True) -> Any:
    """Values as another type.

    Raises:
        ArrowInvalid: if ``safe``, for a value that the type cannot represent.

    >>> cast(pa.array([1.5]), pa.int64(), safe=False).to_pylist()
    [1]
    """
    options = _compute.CastOptions.safe(kind) if safe else _compute.CastOptions.unsafe(kind)
    return _compute.call_function("cast", [values], options)
