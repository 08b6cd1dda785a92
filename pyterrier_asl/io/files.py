"""Files of runs and of qrels, in any format, as Arrow tables.

Text files are read as trec_eval reads them: white space separates columns, blank lines and lines
that begin with ``#`` are skipped, the rank column is ignored, ids are not changed (``007`` and
``NA`` are ids). Unlike in trec_eval, a line of another form is an error that names it. Text must be
UTF-8, as ids are compared with ids of other files and frames, which are Unicode.

Other formats are recognised by their first lines (see :mod:`.formats`). Files can be compressed
with gzip, bzip2, zstd or LZ4, by their first bytes, or be Parquet or Arrow files (``.parquet``,
``.feather``, ``.arrow``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..common.lazy import pc, pd, pq
from .columns import is_frame, is_table, pandas_or_arrow, several_texts, typed_table
from .declared import (
    DeclaredFile,
    GradesOfLabels,
    NamesOfColumns,
    column_names,
    find_columns,
    is_rank,
    label_grades,
)
from .formats import cells_of, read_rows, recognise
from .opening import StrPath, decompressed, file_format, local_path, open_file
from .trec_text import QRELS, RANKED, RUN, SCORED, Layout, read_columns
from .values import TEXT_TYPES

#: The names of columns with the name of the run.
RUN_NAMES = ("name", "run")

#: Endings that are removed from the name of a run: compression, text, binary formats.
SUFFIXES = frozenset(
    {".gz", ".bz2", ".zst", ".zstd", ".lz4", ".txt", ".run", ".res", ".trec", ".tsv", ".csv"}
    | {".json", ".jsonl", ".parquet", ".feather", ".arrow"}
)
#: Tables of values that ``pt.Experiment(save_dir=...)`` puts into the folder of its runs.
BY_QUERY = "perquery.csv"
SUMMARIES = ("aggregated.csv", BY_QUERY)
#: What lines without a header can be.
_LAYOUTS = {RUN: (RUN, RANKED, SCORED), QRELS: (QRELS,)}
#: The bytes of a text that hold its first lines.
_HEAD = 1 << 13


def read_table(
    source: StrPath | pd.DataFrame | pa.Table,
    layout: Layout,
    wanted: Sequence[str],
    *,
    columns: NamesOfColumns = None,
    grades: GradesOfLabels = None,
) -> pa.Table:
    """Reads columns of a run or of qrels.

    Args:
        source: A file, or a frame or Arrow table with PyTerrier's or ir_measures' column names.
        layout: The columns of a text file.
        wanted: The columns, by PyTerrier's names.
        columns: The names of columns in a table; lines without names do not need them.
        grades: The grades of labels that are words.

    Returns:
        The wanted columns, as from `typed_table`.

    Raises:
        ValueError: For other content; the message has the file, the line and its text.
        OSError: If the file cannot be found, read or decompressed.
    """
    if isinstance(source, DeclaredFile):
        return read_table(source.path, layout, wanted, columns=source.columns, grades=source.grades)
    names, by_label = column_names(columns), label_grades(grades)
    if is_table(source):
        what = f"the {layout.kind} {'frame' if is_frame(source) else 'table'}"
        return typed_table(pandas_or_arrow(source), wanted, what, names, by_label)
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"expected a {layout.kind} file or frame, not {type(source).__name__}")
    path = local_path(source)
    with open_file(path) as file:
        if saved := file_format(path, file):
            return typed_table(
                read_saved(path, file, saved, wanted, names), wanted, str(path), names, by_label
            )
        return _read_text(path, file, layout, wanted, names, by_label)


def _read_text(
    path: Path,
    file: BufferedReader,
    layout: Layout,
    wanted: Sequence[str],
    columns: Mapping[str, str],
    grades: Mapping[str, float],
) -> pa.Table:
    """The wanted columns of lines, of JSON or of a table below a header."""
    with decompressed(path, file) as stream:
        head = stream.read(_HEAD)
        form = recognise(head, _LAYOUTS[layout], columns.values(), path)
        lines = layout if form is None else form.layout
        if lines is None:
            text = head + stream.read()
        else:
            kept = [name for name in wanted if name in lines.columns]
            kept = kept if lines is layout else [*lines.columns]
            table = read_columns(path, stream, lines, kept, head=head, grades=grades)
    if form is not None and lines is None:
        rows = read_rows(path, text, form)
        return _typed_rows(
            path, rows, wanted, f"{path}, {form.name}, as {layout.kind}", columns, grades
        )
    return _without_single_texts(table) if lines is layout else _with_scores(path, table)


def _without_single_texts(table: pa.Table) -> pa.Table:
    """Qrels with the columns of subtopics and of judges only where there are several."""
    for name in ("iteration", "judge"):
        if name in table.column_names and several_texts(table[name]) is None:
            table = table.drop_columns(name)
    return table


def _typed_rows(
    path: Path,
    rows: pd.DataFrame,
    wanted: Sequence[str],
    what: str,
    columns: Mapping[str, str],
    grades: Mapping[str, float],
) -> pa.Table:
    """The wanted columns of JSON or of a table below a header."""
    table: dict[str, Any] = {}
    for key, name in find_columns(rows.columns, wanted, what, columns).items():
        table[key] = cells_of(path, rows, name, key, grades)
        if key == "score" and is_rank(name, columns):
            table[key] = pc.negate(table[key])
    if "score" in wanted:
        _check_one_run(path, table)
    return _without_single_texts(pa.table(table))


def _with_scores(path: Path, table: pa.Table) -> pa.Table:
    """A run of lines with three or four columns, the third with ranks, or with scores.

    Raises:
        ValueError: where it is not clear which.
    """
    numbers, queries = table[2].to_pandas(), table["qid"].to_pandas()
    if "score" in table.column_names:
        first = numbers - numbers.groupby(queries).cumcount()
        if first.isin([0, 1]).all() and first.groupby(queries).nunique().max() == 1:
            return table
        raise ValueError(
            f"{path} has four columns without a header: they could be a run (qid pid rank score), "
            "but the ranks do not count from 1 in every query, or qrels; write the names of the "
            "columns into the first line, qid docno rank score"
        )
    if (numbers % 1 != 0).any():
        return table.rename_columns(["qid", "docno", "score"])
    if (numbers.groupby(queries).diff() <= 0).any():
        raise ValueError(
            f"{path} has three columns of whole numbers without a header: they could be ranks, as "
            "in MS MARCO, but do not ascend in every query, or scores; write the names of the "
            "columns into the first line, qid docno rank or qid docno score"
        )
    return table.set_column(2, "score", pc.negate(table[2])).append_column(
        "rank", pc.cast(table[2], pa.int64())
    )


def read_saved(
    path: Path,
    file: BufferedReader,
    form: str,
    wanted: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> pa.Table:
    """Reads an Arrow file, or some or all columns of a Parquet file, and checks it.

    Args:
        path: The file, for errors.
        file: The open file.
        form: ``'Parquet'`` or ``'Arrow'``.
        wanted: The columns that are needed of a Parquet file; none: all.
        columns: The names of columns that the caller gives.

    Raises:
        ValueError: If it is damaged, or lacks a column that is wanted.
    """
    try:
        table = (
            parquet_table(path, file, wanted, columns)
            if form == "Parquet"
            else pa.ipc.open_file(file).read_all()
        )
        table.validate(full=not wanted)
        if "score" in wanted:
            _check_one_run(path, dict(zip(table.column_names, table.columns)))
        return table
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as {form}: {error}") from error


def parquet_table(
    path: Path,
    file: BufferedReader,
    wanted: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> pa.Table:
    """The columns of an open Parquet file, whose pages and number of rows are checked.

    Raises:
        pa.ArrowException, OSError, ValueError: If it is damaged or cannot be read.
    """
    metadata = pq.read_metadata(file)
    names = metadata.schema.to_arrow_schema().names
    # A dictionary of names of runs, which repeat in every row, is small.
    runs = [name for name in RUN_NAMES if name in names and "score" in wanted]
    kept = (*runs, *find_columns(names, wanted, str(path), columns).values())
    table = pq.ParquetFile(
        file, metadata=metadata, read_dictionary=runs, page_checksum_verification=True
    ).read([name for name in names if name in kept or not wanted])
    if len(table) != metadata.num_rows:
        raise ValueError(
            f"{path} is damaged: it should have {metadata.num_rows} rows, not {len(table)}"
        )
    return table


def _check_one_run(path: Path, table: Mapping[str, Any]) -> None:
    """Raises ValueError for names of several runs in a column."""
    for name, column in table.items():
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if name in RUN_NAMES and (pa.types.is_integer(kind) or str(kind) in TEXT_TYPES):
            if len(names := pc.unique(column.drop_null()).to_pylist()) > 1:
                raise ValueError(
                    f"{path} holds several runs (its column {name} has {names[0]!r} and "
                    f"{names[1]!r}): save each in a separate file"
                )
