"""How a column of whatever kind becomes Arrow text or NumPy numbers, or a clear error.

Runs and qrels arrive as pandas or Arrow tables, as dicts, as iterators of named tuples; their
columns as integers, objects, Arrow strings or categories. Ids are compared as text. Everything
behind this door sees one kind of text and one kind of number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

#: What a column may be called: ir_measures' name first, then PyTerrier's.
QID = ("query_id", "qid")
DOCNO = ("doc_id", "docno")
SCORE = ("score",)
LABEL = ("relevance", "label")

#: Arrow's names of types that are text.
TEXT_TYPES = ("string", "large_string", "string_view")


@dataclass(frozen=True)
class Table:
    """A run or qrels by columns: ids as Arrow text, scores or grades as 64-bit floats.

    Attributes:
        qid: query ids as text, one a row.
        docno: document ids as text, one a row.
        value: score (of a run) or grade (of qrels), one a row, never NaN.
        source: what the table was made from, for whoever needs a further column.
    """

    qid: pa.LargeStringArray
    docno: pa.LargeStringArray
    value: npt.NDArray[np.float64]
    source: Any

    def __len__(self) -> int:
        return len(self.value)

    def has(self, name: str) -> bool:
        """Whether what the table was made from has a column ``name``."""
        return name in _names(self.source)

    def numbers(self, name: str, what: str) -> npt.NDArray[np.float64]:
        """A further column of numbers; NaN where it holds nothing."""
        return numbers(_column(self.source, name), what, missing_ok=True)


def run_table(run: Any) -> Table:
    """A run, whatever it is, by columns.

    Args:
        run: data frame or Arrow table with ``query_id``, ``doc_id``, ``score`` (or PyTerrier's
            ``qid``, ``docno``), dict of dicts, or iterable of ``ir_measures.ScoredDoc``.

    Raises:
        TypeError: for anything else.
        ValueError: for a missing column, an id that is missing, a score that is no number or NaN.
    """
    return _table(run, SCORE, "run", "score")


def qrels_table(qrels: Any) -> Table:
    """Qrels, whatever they are, by columns; see :func:`run_table`.

    Raises:
        ValueError: also for a grade that is infinite.
    """
    table = _table(qrels, LABEL, "qrels", "grade")
    endless = np.isinf(table.value)
    if endless.any():
        raise ValueError(
            f"the grade of the qrels is infinite in {int(endless.sum())} of {len(table)} rows "
            f"(first in row {int(endless.argmax())}); a grade is a finite number"
        )
    return table


def first_of_each(source: Any, rows: npt.NDArray[np.int64], ids: list[str]) -> list[Any]:
    """The query ids as ``source`` itself holds them (integers stay integers), at ``rows``."""
    if isinstance(source, pa.Table) or not hasattr(source, "columns"):
        return ids
    column = _column(source, _pick(source, QID, "qrels"))
    values: list[Any] = column.iloc[rows].tolist()
    return values


def _table(source: Any, value: tuple[str, ...], kind: str, what: str) -> Table:
    if isinstance(source, Table):
        return source
    if isinstance(source, Mapping):
        source = _from_dict(source, kind, value[0], what)
    elif not isinstance(source, pa.Table) and not hasattr(source, "itertuples"):
        source = _from_tuples(source, kind, value[0], what)
    return Table(
        text(_column(source, _pick(source, QID, kind)), f"query id of the {kind}"),
        text(_column(source, _pick(source, DOCNO, kind)), f"document id of the {kind}"),
        numbers(_column(source, _pick(source, value, kind)), f"{what} of the {kind}"),
        source,
    )


def _from_dict(source: Mapping[Any, Any], kind: str, value: str, what: str) -> pa.Table:
    for qid, docs in source.items():
        if not isinstance(docs, Mapping):
            raise TypeError(
                f"a dict {kind} maps query ids to dicts of documents, but {qid!r} maps to a "
                f"{type(docs).__name__}"
            )
    qids = [q for q, docs in source.items() for _ in docs]
    docnos = [d for docs in source.values() for d in docs]
    values = [x for docs in source.values() for x in docs.values()]
    return pa.table(
        {
            QID[0]: _text_array(qids, f"query id of the {kind}"),
            DOCNO[0]: _text_array(docnos, f"document id of the {kind}"),
            value: _objects(values, f"{what} of the {kind}"),
        }
    )


def _from_tuples(source: Iterable[Any], kind: str, value: str, what: str) -> pa.Table:
    if isinstance(source, (str, bytes)) or not isinstance(source, Iterable):
        raise TypeError(
            f"the {kind} must be a data frame, a dict of dicts or an iterable of named tuples, "
            f"not {type(source).__name__} {str(source)[:60]!r}; read a file first "
            f"(pyterrier_asl.read_{kind})"
        )
    rows = list(source)
    try:
        qids, docnos = [row.query_id for row in rows], [row.doc_id for row in rows]
        values = [getattr(row, value) for row in rows]
    except AttributeError:
        for number, row in enumerate(rows):
            lacking = [n for n in (QID[0], DOCNO[0], value) if not hasattr(row, n)]
            if lacking:
                raise TypeError(
                    f"the {kind}'s rows need {lacking}, but row {number} is {str(row)[:80]!r}"
                ) from None
        raise
    return pa.table(
        {
            QID[0]: _text_array(qids, f"query id of the {kind}"),
            DOCNO[0]: _text_array(docnos, f"document id of the {kind}"),
            value: _objects(values, f"{what} of the {kind}"),
        }
    )


def _names(source: Any) -> list[str]:
    if isinstance(source, pa.Table):
        return list(source.column_names)
    return [str(name) for name in source.columns]


def _pick(source: Any, names: tuple[str, ...], kind: str) -> str:
    """The first of ``names`` that is a column of ``source``."""
    present = _names(source)
    for name in names:
        if name in present:
            return name
    raise ValueError(
        f"the {kind} has no column {' or '.join(map(repr, names))}; it has {present}"
    )


def _column(source: Any, name: str) -> Any:
    same = _names(source).count(name)
    if same > 1:
        raise ValueError(f"there are {same} columns called {name!r}: keep one of them")
    return source.column(name) if isinstance(source, pa.Table) else source[name]


def text(values: Any, what: str) -> pa.LargeStringArray:
    """Ids as Arrow text: integers as their digits, categories as their names.

    Args:
        values: pandas Series, Arrow array or list.
        what: how an error calls the column.

    Raises:
        ValueError: for a missing value; for fractions, bytes, and whatever else is no id.
    """
    if len(values) == 0:
        return pa.array([], type=pa.large_string())
    array = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else _to_arrow(values, what)
    if isinstance(array, pa.ChunkedArray):
        array = _in_one(array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        raise ValueError(
            f"the {what} is a column of fractions ({array.type}); ids are text or whole numbers: "
            "convert the column with .astype(str) before any value in it goes missing"
        )
    if array.null_count:
        row = pc.index(array.is_null(), True).as_py()
        raise ValueError(f"the {what} is missing in {array.null_count} rows (first in row {row})")
    if pa.types.is_large_string(array.type):
        return array
    if not (pa.types.is_integer(array.type) or str(array.type) in TEXT_TYPES):
        raise ValueError(f"the {what} must be text or whole numbers, not {array.type}")
    return array.cast(pa.large_string())


def _in_one(chunks: pa.ChunkedArray) -> pa.Array:
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    if str(chunks.type) in TEXT_TYPES:  # together they may be too long for 32-bit offsets
        chunks = chunks.cast(pa.large_string())
    return pa.concat_arrays(chunks.chunks)


def _to_arrow(values: Any, what: str) -> Any:
    dtype: Any = getattr(values, "dtype", None)
    if hasattr(dtype, "categories"):  # which may be of several kinds
        codes = values.cat.codes.to_numpy()
        return text(dtype.categories, what).take(pa.array(codes, mask=codes < 0))
    if dtype is not None and dtype != np.dtype(object):
        return pa.array(values, from_pandas=True)
    repeated = None if dtype is None else _repeated_text(np.asarray(values))
    return _text_array(values, what) if repeated is None else repeated


def _repeated_text(objects: npt.NDArray[np.object_]) -> pa.Array | None:
    """Text of which most rows hold the very string of the row before, as query ids mostly do: it
    need be looked into only once. None where it is something else."""
    addresses = np.frombuffer(objects.tobytes(), dtype=np.intp)
    first = np.flatnonzero(np.diff(addresses, prepend=~addresses[:1]))
    if 4 * len(first) > len(objects):
        return None
    try:
        each = pa.array(objects[first])
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        return None
    if not pa.types.is_string(each.type) or each.null_count:
        return None
    sizes = np.diff(first, append=len(objects))
    return each.cast(pa.large_string()).take(pa.array(np.repeat(np.arange(len(first)), sizes)))


def _text_array(values: Any, what: str) -> pa.Array:
    """Text from Python objects: strings, or anything but fractions whose ``str`` is its id."""
    try:
        array = pa.array(values, from_pandas=True)
        if str(array.type) in TEXT_TYPES:
            return array.cast(pa.large_string())
    except UnicodeEncodeError as error:
        raise _not_unicode(what, error) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        pass  # Kinds are mixed, or numbers are large.
    missing = [row for row, value in enumerate(values) if _is_missing(value)]
    if missing:
        first = missing[0]
        raise ValueError(f"the {what} is missing in {len(missing)} rows (first in row {first})")
    for row, value in enumerate(values):
        if isinstance(value, (float, np.floating, bytes)):
            raise ValueError(
                f"the {what} must be text or a whole number, but row {row} holds {value!r}"
            )
    try:
        return pa.array([str(v) for v in values], type=pa.large_string())
    except UnicodeEncodeError as error:
        raise _not_unicode(what, error) from None


def _not_unicode(what: str, error: UnicodeEncodeError) -> ValueError:
    return ValueError(f"the {what} holds text that is not Unicode: {error}")


def _is_missing(value: Any) -> bool:
    """Whether an object stands for nothing: None, NaN, NaT or NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # of pandas' NA nobody can say what it equals
        return True


def _objects(values: list[Any], what: str) -> pa.Array:
    return pa.array(numbers(values, what))


def numbers(values: Any, what: str, missing_ok: bool = False) -> npt.NDArray[np.float64]:
    """Numbers as 64-bit floats.

    Args:
        values: pandas Series, Arrow or NumPy array, or list.
        what: how an error calls the column.
        missing_ok: whether NaN may stand in it.

    Raises:
        ValueError: for text, for a value that is no number, for NaN unless ``missing_ok``.
    """
    if len(values) == 0:
        return np.empty(0)
    array = _numeric(values, what)
    bad = np.isnan(array)
    if bad.any() and not missing_ok:
        raise ValueError(
            f"the {what} is not a number (NaN) in {int(bad.sum())} of {len(array)} rows "
            f"(first in row {int(bad.argmax())}); drop these rows or mend what made them"
        )
    return array


def _numeric(values: Any, what: str) -> npt.NDArray[np.float64]:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        kind = values.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise ValueError(f"the {what} must be numbers, not {kind}")
        array: npt.NDArray[np.float64] = values.cast(pa.float64(), safe=False).to_numpy(
            **({} if isinstance(values, pa.ChunkedArray) else {"zero_copy_only": False})
        )
        return array
    if getattr(values, "dtype", object) == np.dtype(object):
        return _from_objects(values, what)
    if getattr(values.dtype, "kind", "O") not in "iufb":
        raise ValueError(
            f"the {what} must be numbers, but the column holds {values.dtype} "
            f"(first {next(iter(values))!r}); convert it with .astype(float)"
        )
    if isinstance(values, np.ndarray):
        return values.astype(np.float64)
    array = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return array


def _from_objects(values: Any, what: str) -> npt.NDArray[np.float64]:
    for row, value in enumerate(values):
        if isinstance(value, (str, bytes)):
            raise ValueError(f"the {what} must be a number, but row {row} holds the text {value!r}")
    try:
        return np.asarray([np.nan if v is None else v for v in values], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"the {what} must be numbers: {error}") from None
