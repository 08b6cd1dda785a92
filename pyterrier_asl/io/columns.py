"""Runs and qrels of every kind, by columns: ids as Arrow text, scores and grades as floats.

Callers pass pandas or Arrow tables, dicts, iterators of named tuples, or files. All other modules
get one type of text and one type of number (see :mod:`.values`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..common.lazy import pc, pd
from ..common.notices import excerpt
from .declared import SYNONYMS, column_named, find_columns, grade_of, grades_hint, is_rank
from .values import (
    Codes,
    arrow_numbers,
    arrow_text,
    check_finite,
    codes_of_text,
    numbers,
    take,
    text,
)

#: What to do with a pipeline where a run is wanted.
PIPELINE = "apply the pipeline to topics, or use pt.asl.Experiment"


@dataclass(frozen=True)
class Columns:
    """A run or qrels by columns: ids as Arrow text, scores or grades as 64-bit floats.

    Attributes:
        queries: the number of each row's query id, shape (n,).
        qids: different query ids, among them those of all rows.
        docno: the document id of each row.
        value: the score (of a run) or grade (of qrels) of each row, never NaN.
        source: the original table, with further columns.
        is_collapsed: whether the document ids are cut at a separator.
        iteration: the subtopic of each judgement; None: there is only one.
    """

    queries: Codes
    qids: pa.LargeStringArray
    docno: pa.LargeStringArray
    value: npt.NDArray[np.float64]
    source: Any
    is_collapsed: bool = False
    iteration: pa.LargeStringArray | None = None

    def __len__(self) -> int:
        return len(self.value)

    @property
    def qid(self) -> pa.LargeStringArray:
        """The query id of each row."""
        return take(self.qids, self.queries)

    @property
    def answered(self) -> pa.LargeStringArray:
        """The query ids that have rows, each once."""
        return take(self.qids, np.flatnonzero(np.bincount(self.queries)))

    def ids_of_row(self, row: int) -> tuple[str, str]:
        """The query id and the document id of a row."""
        return self.qids[int(self.queries[row])].as_py(), self.docno[int(row)].as_py()

    def take(self, rows: npt.NDArray[np.int64]) -> Columns:
        """Some of the rows, without further columns."""
        return Columns(
            self.queries[rows], self.qids, take(self.docno, rows), self.value[rows], None
        )

    def frame(self, qid: str, docno: str, value: str) -> pd.DataFrame:
        """A frame with columns of these names, ids as Python text."""
        ids = pd.DataFrame({qid: self.qid.to_pandas(), docno: self.docno.to_pandas()})
        return ids.astype(object).assign(**{value: self.value})

    def collapsed(self, separator: str) -> Columns:
        """The rows with document ids cut at the last separator, once.

        >>> run_columns({"q": {"d#1#2": 1.0, "e": 2.0}}).collapsed("#").docno.to_pylist()
        ['d#1', 'e']
        """
        if self.is_collapsed or not len(self):
            return self
        return replace(self, docno=cut_ids(self.docno, separator), is_collapsed=True)

    def has(self, name: str) -> bool:
        """Whether the source has one column ``name``."""
        return self.source is not None and _names(self.source).count(name) == 1

    def numbers(self, name: str, what: str) -> npt.NDArray[np.float64]:
        """A further column of numbers; missing values are NaN."""
        return numbers(self.source[name], what, missing_ok=True)

    def ranks(self, rows: int) -> npt.NDArray[np.float64]:
        """The ranks of the first rows, NaN for missing ones; none unless the source has numbers."""
        if self.has("rank"):
            with suppress(ValueError):
                return numbers(self.source["rank"][:rows], "rank", missing_ok=True)
        return np.empty(0)


def cut_ids(docnos: pa.LargeStringArray, separator: str) -> pa.LargeStringArray:
    """Document ids without their last separator and what follows it."""
    return pc.list_element(
        pc.split_pattern(docnos, pattern=separator, max_splits=1, reverse=True), 0
    )


def is_frame(source: Any) -> TypeGuard[pd.DataFrame]:
    """Whether something is a data frame; pandas is not imported for this."""
    # Another thread may be importing it.
    return isinstance(source, getattr(sys.modules.get("pandas"), "DataFrame", ()))


def is_table(source: Any) -> bool:
    """Whether something is a data frame or table of pandas, Arrow, Polars, DuckDB, ..."""
    return is_frame(source) or hasattr(source, "__arrow_c_stream__")


def pandas_or_arrow(table: Any) -> pd.DataFrame | pa.Table:
    """A table of another library as an Arrow table; others do not change."""
    return table if is_frame(table) or isinstance(table, pa.Table) else pa.table(table)


def as_frame(table: Any) -> pd.DataFrame:
    """A table of any library as a frame."""
    return table if is_frame(table) else pa.table(table).to_pandas()


def run_columns(run: Any) -> Columns:
    """A run of any form, by columns.

    Args:
        run: data frame or Arrow table with ``query_id``, ``doc_id``, ``score`` (or PyTerrier's
            ``qid``, ``docno``), dict of dicts, or iterable of ``ir_measures.ScoredDoc``.

    Raises:
        TypeError: for anything else.
        ValueError: for a missing column or id, and a score that is not a number.
    """
    return _columns(run, "score", "run", "score")


def qrels_columns(qrels: Any) -> Columns:
    """Qrels of any form, by columns; see :func:`run_columns`.

    Raises:
        ValueError: also for a grade that is infinite.
    """
    return _columns(qrels, "label", "qrels", "grade")


def typed_table(
    source: pd.DataFrame | pa.Table,
    wanted: Sequence[str],
    what: str,
    columns: Mapping[str, str] | None = None,
    grades: Mapping[str, float] | None = None,
) -> pa.Table:
    """The wanted columns of a frame or table, with PyTerrier's names and the types of this package.

    Args:
        source: a table with PyTerrier's or ir_measures' names of columns.
        wanted: ``qid``, ``docno``, ``score``, ``label`` and the optional ``rank``, ``name`` and
            ``doc_len``.
        what: the name of the source in errors.
        columns: the names of columns that the caller gives.
        grades: the grades of labels that are words.

    Returns:
        Ids as large strings; scores and grades as float64; subtopics and judges as text, if there
        are several; other columns unchanged.

    Raises:
        ValueError: for a column that is missing or occurs twice, and as `text` and `numbers`.
    """
    table = {}
    for name, alias in find_columns(_names(source), wanted, what, columns).items():
        values, label = source[alias], f"column {alias} of {what}"
        if name in ("qid", "docno"):
            table[name] = text(values, label)
            try:  # Arrow does not check text that it reads from a file.
                table[name].validate(full=True)
            except pa.ArrowInvalid as error:
                raise ValueError(f"the {label} must be UTF-8 ({error})") from None
        elif name == "score":
            scores = numbers(values, label)
            table[name] = arrow_numbers(-scores if is_rank(alias, columns) else scores)
        elif name == "label":
            table[name] = arrow_numbers(_grades(values, label, grades))
        elif name == "name":
            with suppress(ValueError):  # a run without names has the name of its file
                table[name] = text(values, label)
        elif name in ("iteration", "judge"):
            if (texts := several_texts(values)) is not None:
                table[name] = texts
        else:
            table[name] = _unchanged(values)
    return pa.table(table)


def several_texts(values: Any) -> pa.LargeStringArray | None:
    """Values of any kind as text; None where all are equal."""
    column = _unchanged(values)
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    # A Python text instead of the scalar would make Arrow import pandas.
    texts = pc.fill_null(pc.cast(column, pa.large_string()), arrow_text(["0"])[0])
    return texts if pc.count_distinct(texts).as_py() > 1 else None


def _grades(
    values: Any, what: str, grades: Mapping[str, float] | None = None
) -> npt.NDArray[np.float64]:
    """Grades of labels, which are numbers, or words with grades."""
    try:
        if grades:
            labels = _unchanged(values).to_pylist()
            values = np.array([grade_of(label, grades) for label in labels], dtype=np.float64)
        floats = numbers(values, what)
    except ValueError as error:
        raise ValueError(
            f"{error}{grades_hint(_unchanged(values).to_pylist(), grades or {})}"
        ) from None
    check_finite(floats, what)
    return floats


def _unchanged(values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError):  # numbers and text mixed, or large numbers
        texts = pd.Series(values, dtype=object).map(str, na_action="ignore")
        return pa.array(texts, from_pandas=True)


def first_of_each(source: Any, rows: npt.NDArray[np.int64], ids: list[str]) -> list[Any]:
    """The query ids at ``rows``, of the type that the source has (integers stay integers)."""
    if not _names(source):  # of a dict or of tuples
        return ids
    (name,) = find_columns(_names(source), ["qid"], "the qrels").values()
    column = source[name]
    if isinstance(source, pa.Table):
        return take(column, rows).to_pylist() if pa.types.is_integer(column.type) else ids
    return list(column.iloc[rows].tolist())


def _columns(source: Any, value: str, kind: str, what: str) -> Columns:
    if isinstance(source, Columns):
        return source
    subtopics: Any = []
    if is_table(source):
        source = pandas_or_arrow(source)
        names = find_columns(_names(source), ["qid", "docno", value], f"the {kind}")
        columns = [source[name] for name in names.values()]
        if is_rank(names[value]):
            columns[2] = -numbers(columns[2], f"rank of the {kind}")
        if value == "label" and (name := column_named(_names(source), "iteration", "the qrels")):
            subtopics = source[name]
    elif isinstance(source, Mapping):
        columns, source = _lists_of_dict(source, kind), pa.table({})
    elif isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        rows, source = [*source], pa.table({})
        if rows and all(hasattr(row, "__arrow_c_stream__") for row in rows):
            # ir_measures iterates over a frame of Polars, which gives its columns.
            return _columns(
                pa.table({row.name: pa.chunked_array(row) for row in rows}), value, kind, what
            )
        columns = _lists_of_tuples(rows, kind, value)
        if value == "label" and all(hasattr(row, "iteration") for row in rows):
            subtopics = pa.array([str(row.iteration) for row in rows], pa.large_string())
    else:
        read = f"read a file first (pyterrier_asl.read_{kind})"
        raise TypeError(
            f"the {kind} must be a data frame, a dict of dicts or an iterable of named tuples, not "
            f"{type(source).__name__} {excerpt(source)}; {PIPELINE if callable(source) else read}"
        )
    qid, docno, values = columns
    return Columns(
        *codes_of_text(qid, f"query id of the {kind}"),
        text(docno, f"document id of the {kind}"),
        (_grades if value == "label" else numbers)(values, f"{what} of the {kind}"),
        source,
        iteration=several_texts(subtopics) if len(subtopics) else None,
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


def _lists_of_tuples(rows: Sequence[Any], kind: str, value: str) -> list[list[Any]]:
    names = [SYNONYMS[name][0][-1] for name in ("qid", "docno", value)]
    try:
        return [list(map(attrgetter(name), rows)) for name in names]
    except AttributeError:
        number = [all(hasattr(row, name) for name in names) for row in rows].index(False)
        raise TypeError(
            f"rows of the {kind} need {names}, but row {number} is {excerpt(rows[number])}"
        ) from None


def _names(source: Any) -> list[str]:
    return list(map(str, source.column_names if isinstance(source, pa.Table) else source.columns))
