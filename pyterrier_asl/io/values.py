"""Converts a column of any type to Arrow text or to 64-bit floats.

Columns hold integers, objects, Arrow strings or categories. Ids are compared as text.

PyArrow's ``array``, ``scalar`` and ``to_numpy`` import pandas, which takes long; `arrow_numbers`,
`arrow_text` and `numpy_numbers` do not.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..common.lazy import pc, pd
from ..common.notices import excerpt
from ..common.types import Bytes, Ints

Codes = npt.NDArray[np.int32]

#: A number, as every reader but Arrow's takes it.
NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?)", re.IGNORECASE | re.ASCII
)

#: Arrow's names of types that are text.
TEXT_TYPES = ("string", "large_string", "string_view")

_NUMBERS = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_null,
)


def arrow_numbers(values: npt.NDArray[Any]) -> pa.Array:
    """Numbers of NumPy as an Arrow array, without a copy if they are contiguous.

    >>> arrow_numbers(np.array([3, 4])).to_pylist()
    [3, 4]
    """
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)]
    )


#: NumPy's names of types that Arrow calls otherwise.
_NUMPY_NAMES = {"float": "float32", "halffloat": "float16"}


def numpy_numbers(array: pa.Array) -> npt.NDArray[Any]:
    """The numbers of an Arrow array without nulls, as a view.

    >>> numpy_numbers(pa.array([3, 4, 5])[1:]).tolist()
    [4, 5]
    """
    name = str(array.type)  # Arrow's own conversion imports pandas before release 26
    kind = np.dtype(_NUMPY_NAMES.get(name, name))
    # Without rows there may be no buffer.
    return np.frombuffer(array.buffers()[1] or b"", kind, len(array), array.offset * kind.itemsize)


def take(column: Any, rows: npt.NDArray[np.integer[Any]]) -> Any:
    """The values of a column of NumPy or Arrow at some rows.

    >>> take(arrow_text(["a", "b"]), np.array([1])).to_pylist()
    ['b']
    """
    return column[rows] if isinstance(column, np.ndarray) else pc.take(column, arrow_numbers(rows))


def arrow_text(texts: Iterable[str]) -> pa.LargeStringArray:
    """Python text as an Arrow array.

    >>> arrow_text(["d1", "", "für"]).to_pylist()
    ['d1', '', 'für']
    """
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return ids_of(ends, np.frombuffer(b"".join(encoded), dtype=np.uint8))


def arrays_of(ids: pa.LargeStringArray) -> tuple[Ints, Bytes]:
    """Arrow text as views of it: the offsets of the ids, and their bytes.

    >>> starts, data = arrays_of(pa.array(["a", "bc"], type=pa.large_string()))
    >>> starts.tolist(), data.tobytes()[:3]
    ([0, 1, 3], b'abc')
    """
    _, ends, data = ids.buffers()  # without rows or without characters there may be no buffer
    return (
        np.frombuffer(ends or bytes(8), dtype=np.int64)[ids.offset :][: len(ids) + 1],
        np.frombuffer(data or bytes(1), dtype=np.uint8),
    )


def ids_of(starts: Ints, data: Bytes) -> pa.LargeStringArray:
    """The Arrow text of such arrays, without a copy.

    >>> ids_of(np.array([0, 1, 3]), np.frombuffer(b"abc", dtype=np.uint8)).to_pylist()
    ['a', 'bc']
    """
    return pa.LargeStringArray.from_buffers(
        len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(data)
    )


def codes_of_text(values: Any, what: str) -> tuple[Codes, pa.LargeStringArray]:
    """Ids as numbers of different ids; for arguments and errors see `text`.

    Returns:
        The number of each row's id, shape (n,), and the different ids.

    >>> numbers, different = codes_of_text(["b", "b", "a", "b"], "id")
    >>> numbers.tolist(), different.to_pylist()
    ([0, 0, 1, 0], ['b', 'a'])
    """
    array = _as_array(values, what)
    if not pa.types.is_dictionary(array.type) or array.null_count or array.dictionary.null_count:
        runs = pc.run_end_encode(text(array, what), run_end_type=pa.int64())
        encoded = pc.dictionary_encode(runs.values)
        sizes = np.diff(numpy_numbers(runs.run_ends), prepend=0)
        return np.repeat(numpy_numbers(encoded.indices), sizes), encoded.dictionary
    numbers = numpy_numbers(pc.cast(array.indices, pa.int32()))
    ids = text(array.dictionary, what)
    encoded = pc.dictionary_encode(ids)
    if len(encoded.dictionary) < len(ids):  # categories such as 1 and '1'
        numbers = numpy_numbers(encoded.indices)[numbers]
    return numbers, encoded.dictionary


def text(values: Any, what: str) -> pa.LargeStringArray:
    """Ids as Arrow text: integers as their digits, categories as their names.

    Args:
        values: pandas Series, Arrow array or list.
        what: the name of the column in errors.

    Raises:
        ValueError: for a missing value, fractions, bytes, and other values that are not ids.
    """
    array = _as_array(values, what)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        raise ValueError(
            f"the {what} is a column of fractions ({array.type}); ids are text or whole numbers: "
            "convert the column with .astype('Int64').astype('string'), which makes '1' of 1.0, "
            "or read it as text"
        )
    if array.null_count:
        raise ValueError(f"the {what} is missing {_where(array.is_null())}")
    if not (pa.types.is_integer(array.type) or str(array.type) in TEXT_TYPES):
        raise ValueError(f"the {what} must be text or whole numbers, not {array.type}")
    return pc.cast(array, pa.large_string())


def _as_array(values: Any, what: str) -> pa.Array:
    """Values as an array of Arrow, also one with a dictionary."""
    if len(values) == 0:
        return arrow_text([])
    array = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else _to_arrow(values, what)
    if isinstance(array, pa.ChunkedArray):
        if str(array.type) in TEXT_TYPES:  # chunks together can be too long for 32-bit offsets
            array = pc.cast(array, pa.large_string())
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    return array


def check_queries(qids: Iterable[Any]) -> None:
    """Raises ValueError where several queries have one id.

    Args:
        qids: the id of each query; a number is the id that its digits are.

    >>> check_queries(["q1", "q0", 3, "q0"])
    Traceback (most recent call last):
        ...
    ValueError: 2 queries have the id 'q0': give each query a different id
    """
    for qid, queries in Counter(map(str, qids)).most_common(1):
        if queries > 1:
            raise ValueError(
                f"{queries} queries have the id {qid!r}: give each query a different id"
            )


def _where(wrong: npt.ArrayLike) -> str:
    """The row of a wrong value, or the number of such rows.

    >>> _where([False, True]), _where([True, False, True])
    ('in row 1', 'in 2 rows (first in row 0)')
    """
    rows = np.flatnonzero(wrong)
    first = f"in row {rows[0]}"
    return first if len(rows) == 1 else f"in {len(rows)} rows (first {first})"


def _to_arrow(values: Any, what: str) -> pa.Array:
    """Values of another library or of Python; objects as text, by ``str``, unless fractions."""
    is_typed = getattr(values, "dtype", object) != np.dtype(object)
    try:
        # Values can be mixed or large, and categories of several types.
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            array = pa.array(values, from_pandas=True)
            if is_typed or str(array.type) in TEXT_TYPES:
                return array
        if (missing := pd.Series(list(values), dtype=object).isna()).any():
            raise ValueError(f"the {what} is missing {_where(missing)}")
        for row, value in enumerate(values):
            if isinstance(value, (float, np.floating, bytes)):
                raise ValueError(
                    f"the {what} must be text or a whole number, but row {row} holds {value!r}"
                )
        return pa.array([str(v) for v in values], type=pa.large_string())
    except UnicodeEncodeError as error:
        raise ValueError(f"the {what} holds text that is not Unicode: {error}") from None


def numbers(values: Any, what: str, missing_ok: bool = False) -> npt.NDArray[np.float64]:
    """Numbers as 64-bit floats; whole numbers beyond 2^53 are rounded.

    Args:
        values: pandas Series, Arrow or NumPy array, or list.
        what: the name of the column in errors.
        missing_ok: whether the column may hold NaN.

    Raises:
        ValueError: for text and other values that are not numbers; for NaN unless ``missing_ok``.
    """
    if len(values) == 0:
        return np.empty(0)
    array = _numeric(values, what)
    if not missing_ok and (bad := np.isnan(array)).any():
        raise ValueError(
            f"the {what} is not a number (NaN) {_where(bad)}; drop these rows or correct them"
        )
    return array


def _numeric(values: Any, what: str) -> npt.NDArray[np.float64]:
    is_arrow = isinstance(values, (pa.Array, pa.ChunkedArray))
    if not is_arrow and getattr(values, "dtype", object) == np.dtype(object):
        return _from_objects(values, what)
    array = values if is_arrow else pa.array(values, from_pandas=True)
    if pa.types.is_dictionary(array.type):
        array = pc.cast(array, array.type.value_type)
    if not any(is_kind(array.type) for is_kind in _NUMBERS):
        raise ValueError(
            f"the {what} must be numbers, but the column holds "
            f"{getattr(values, 'dtype', array.type)} (first {next(iter(array)).as_py()!r}); "
            "convert it with .astype(float)"
        )
    floats = pc.cast(array, pa.float64(), safe=False)
    if floats.null_count:
        floats = pc.coalesce(floats, arrow_numbers(np.array([np.nan]))[0])
    arrays = [*map(numpy_numbers, getattr(floats, "chunks", [floats]))]
    return np.concatenate(arrays) if len(arrays) > 1 else arrays[0]


def _from_objects(values: Any, what: str) -> npt.NDArray[np.float64]:
    for row, value in enumerate(values):
        if isinstance(value, (str, bytes)):
            raise ValueError(f"the {what} must be a number, but row {row} holds the text {value!r}")
    try:
        return np.asarray([np.nan if v is None else v for v in values], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"the {what} must be numbers: {error}") from None


def number_of(value: Any, what: str, *, infinite: bool = False) -> float:
    """A number of a file or frame; NaN for a missing one (None, NaN, empty text).

    Args:
        value: text, a number of Python or NumPy, or None.
        what: its name in errors.
        infinite: whether it may be infinite.

    Raises:
        ValueError: for other values.

    >>> number_of("2", "label"), number_of(" ", "label"), number_of("-inf", "score", infinite=True)
    (2.0, nan, -inf)
    """
    if value is None or value is pd.NA or (isinstance(value, str) and not value.strip()):
        return math.nan
    number: float | None = None
    with suppress(TypeError, ValueError, OverflowError):
        if not isinstance(value, str) or NUMBER.fullmatch(value.strip()):
            number = float(value)
    if number is None or (math.isinf(number) and not infinite):
        raise ValueError(f"the {what} {excerpt(value)} is not a number")
    return number


def check_finite(grades: npt.NDArray[np.float64], what: str) -> None:
    """Raises ValueError for an infinite grade."""
    if (infinite := np.isinf(grades)).any():
        raise ValueError(f"the {what} is infinite {_where(infinite)}; a grade is a finite number")


def as_integers(grades: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Grades as int64 if all are whole numbers, else unchanged."""
    try:
        return pc.cast(grades, pa.int64())
    except pa.ArrowInvalid:
        return grades
