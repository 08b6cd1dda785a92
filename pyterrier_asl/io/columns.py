"""Runs and qrels of every kind, by columns: ids as Arrow text, scores and grades as floats.

They arrive as pandas or Arrow tables, as dicts, as iterators of named tuples, or from files. What
lies behind this module sees one kind of text and one kind of number (see :mod:`.values`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .lazy import pd
from .values import arrow_numbers, as_integers, check_finite, numbers, take, text

#: What a column may be called: ir_measures' name first, then PyTerrier's.
QID = ("query_id", "qid")
DOCNO = ("doc_id", "docno")
SCORE = ("score",)
LABEL = ("relevance", "label")
_ALIASES = {"qid": QID, "docno": DOCNO, "score": SCORE, "label": LABEL}
#: Columns that a run or qrels need not have.
_OPTIONAL = ("rank", "name", "doc_len")


@dataclass(frozen=True)
class Columns:
    """A run or qrels by columns: ids as Arrow text, scores or grades as 64-bit floats.

    Attributes:
        qid: query ids as text, one a row.
        docno: document ids as text, one a row.
        value: score (of a run) or grade (of qrels), one a row, never NaN.
        source: what they were made from, where a further column can be looked up.
    """

    qid: pa.LargeStringArray
    docno: pa.LargeStringArray
    value: npt.NDArray[np.float64]
    source: Any

    def __len__(self) -> int:
        return len(self.value)

    def take(self, rows: npt.NDArray[np.int64]) -> Columns:
        """Some of the rows, without further columns."""
        return Columns(take(self.qid, rows), take(self.docno, rows), self.value[rows], None)

    def frame(self, qid: str, docno: str, value: str) -> pd.DataFrame:
        """The same as a frame with columns of these names, ids as Python's text."""
        ids = pd.DataFrame({qid: self.qid.to_pandas(), docno: self.docno.to_pandas()})
        return ids.astype(object).assign(**{value: self.value})

    def has(self, name: str) -> bool:
        """Whether the source has a column ``name``."""
        return name in _names(self.source)

    def numbers(self, name: str, what: str) -> npt.NDArray[np.float64]:
        """A further column of numbers; NaN where it holds nothing."""
        return numbers(_column(self.source, name, what), what, missing_ok=True)


def is_frame(source: Any) -> TypeGuard[pd.DataFrame]:
    """Whether something is a frame of pandas, which need not be imported to see that it is not."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def run_columns(run: Any) -> Columns:
    """A run, whatever it is, by columns.

    Args:
        run: data frame or Arrow table with ``query_id``, ``doc_id``, ``score`` (or PyTerrier's
            ``qid``, ``docno``), dict of dicts, or iterable of ``ir_measures.ScoredDoc``.

    Raises:
        TypeError: for anything else.
        ValueError: for a missing column, an id that is missing, a score that is no number or NaN.
    """
    return _columns(run, SCORE, "run", "score")


def qrels_columns(qrels: Any) -> Columns:
    """Qrels, whatever they are, by columns; see :func:`run_columns`.

    Raises:
        ValueError: also for a grade that is infinite.
    """
    columns = _columns(qrels, LABEL, "qrels", "grade")
    check_finite(columns.value, "grade of the qrels")
    return columns


def typed_table(
    source: pd.DataFrame | pa.Table, wanted: Sequence[str], what: str, first_row: int = 0
) -> pa.Table:
    """The wanted columns of a frame or table, by PyTerrier's names and with our types.

    Args:
        source: has them by PyTerrier's or ir_measures' names.
        wanted: ``qid``, ``docno``, ``score``, ``label`` and, which may be missing, ``rank``,
            ``name`` and ``doc_len``.
        what: how an error calls the source.
        first_row: the number of its first row, where it is a part of something larger.

    Returns:
        Ids as large strings; scores as float64; grades as int64 where all are whole numbers, else
        float64; other columns as they are.

    Raises:
        ValueError: for a column that is missing or there twice, and as `text` and `numbers`.
    """
    table = {}
    for name, alias in column_names(_names(source), wanted, what).items():
        values, label = _column(source, alias, what), f"column {alias} of {what}"
        if name in ("qid", "docno"):
            table[name] = text(values, label, first_row)
            try:  # Arrow does not look at text that it reads from a file.
                table[name].validate(full=True)
            except pa.ArrowInvalid as error:
                raise ValueError(f"the {label} must be UTF-8 ({error})") from None
        elif name == "score":
            table[name] = arrow_numbers(numbers(values, label, first_row=first_row))
        elif name == "label":
            grades = numbers(values, label, first_row=first_row)
            check_finite(grades, label, first_row)
            table[name] = as_integers(arrow_numbers(grades))
        elif name == "name":
            with suppress(ValueError):  # Nobody needs it: a run without names has its file's.
                table[name] = text(values, label, first_row)
        else:
            table[name] = _as_it_is(values)
    return pa.table(table)


def column_names(present: Iterable[Any], wanted: Sequence[str], what: str) -> dict[str, str]:
    """From each wanted column to its name among those present; only optional ones may be missing.

    Raises:
        ValueError: where one is missing, or there by both of its names.
    """
    there = list(map(str, present))
    found = {}
    for name in wanted:
        aliases = [alias for alias in reversed(_ALIASES.get(name, (name,))) if alias in there]
        if len(aliases) > 1:
            raise ValueError(f"{what} has both {' and '.join(aliases)}: keep one of them")
        if aliases:
            [found[name]] = aliases
        elif name not in _OPTIONAL:
            raise ValueError(
                f"{what} has no column {' or '.join(reversed(_ALIASES[name]))}; "
                f"it has {', '.join(there) or 'none'}"
            )
    return found


def _as_it_is(values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.ChunkedArray):
        return values
    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException:  # numbers and text mixed
        return pa.array(values.map(str, na_action="ignore"), from_pandas=True)


def first_of_each(source: Any, rows: npt.NDArray[np.int64], ids: list[str]) -> list[Any]:
    """The query ids as ``source`` itself holds them (integers stay integers), at ``rows``."""
    if isinstance(source, pa.Table) or not hasattr(source, "columns"):
        return ids
    column = _column(source, _pick(_names(source), QID, "qrels"), "qrels")
    if isinstance(column.dtype, pd.StringDtype):
        return ids
    values: list[Any] = column.iloc[rows].tolist()
    return values


def _columns(source: Any, value: tuple[str, ...], kind: str, what: str) -> Columns:
    if isinstance(source, Columns):
        return source
    if isinstance(source, pa.Table) or hasattr(source, "itertuples"):
        present = _names(source)
        picked = [_pick(present, aliases, kind) for aliases in (QID, DOCNO, value)]
        found = [_column(source, name, f"the {kind}") for name in picked]
    elif isinstance(source, Mapping):
        found, source = _lists_of_dict(source, kind), pa.table({})
    else:
        found, source = _lists_of_tuples(source, kind, (QID[0], DOCNO[0], value[0])), pa.table({})
    return Columns(
        text(found[0], f"query id of the {kind}"),
        text(found[1], f"document id of the {kind}"),
        numbers(found[2], f"{what} of the {kind}"),
        source,
    )


def _lists_of_dict(source: Mapping[Any, Any], kind: str) -> list[list[Any]]:
    for qid, docs in source.items():
        is_dict = isinstance(docs, Mapping)
        if is_frame(docs) or (is_dict and isinstance(next(iter(docs.values()), None), Mapping)):
            raise ValueError(
                f"this is a dict from name to {kind}, where one {kind} is wanted: pass the one "
                f"called {qid!r}"
            )
        if not is_dict:
            raise TypeError(
                f"a dict {kind} maps query ids to dicts of documents, but {qid!r} maps to a "
                f"{type(docs).__name__}"
            )
    return [
        [qid for qid, docs in source.items() for _ in docs],
        [docno for docs in source.values() for docno in docs],
        [value for docs in source.values() for value in docs.values()],
    ]


def _lists_of_tuples(source: Any, kind: str, names: tuple[str, ...]) -> list[list[Any]]:
    if isinstance(source, (str, bytes)) or not isinstance(source, Iterable):
        raise TypeError(
            f"the {kind} must be a data frame, a dict of dicts or an iterable of named tuples, "
            f"not {type(source).__name__} {str(source)[:60]!r}; read a file first "
            f"(pyterrier_asl.read_{kind})"
        )
    rows = list(source)
    try:
        return [list(map(attrgetter(name), rows)) for name in names]
    except AttributeError:
        for number, row in enumerate(rows):
            if lacking := [name for name in names if not hasattr(row, name)]:
                raise TypeError(
                    f"the {kind}'s rows need {lacking}, but row {number} is {str(row)[:80]!r}"
                ) from None
        raise


def _names(source: Any) -> list[str]:
    return list(map(str, source.column_names if isinstance(source, pa.Table) else source.columns))


def _pick(present: list[str], names: tuple[str, ...], kind: str) -> str:
    """The first of ``names`` that is there."""
    if matching := [name for name in names if name in present]:
        return matching[0]
    raise ValueError(f"the {kind} has no column {' or '.join(map(repr, names))}; it has {present}")


def _column(source: Any, name: str, what: str) -> Any:
    same = _names(source).count(name)
    if same > 1:
        raise ValueError(f"{what}: there are {same} columns called {name!r}: keep one of them")
    return source.column(name) if isinstance(source, pa.Table) else source[name]
