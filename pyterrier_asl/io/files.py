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

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from ..common.lazy import pc, pd, pq
from .atomic import naming_full_disk
from .columns import column_names, is_frame, is_table, pandas_or_arrow, typed_table
from .formats import Format, cells_of, read_rows, recognise
from .trec_text import QRELS, RANKED, RUN, Layout, open_text, read_columns
from .values import TEXT_TYPES, as_integers

StrPath: TypeAlias = str | os.PathLike[str]

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
_FORMATS = {".parquet": "Parquet", ".feather": "Arrow", ".arrow": "Arrow"}
_MAGIC = {b"PAR1": "Parquet", b"ARRO": "Arrow"}
#: What lines without a header can be.
_LAYOUTS = {RUN: (RUN, RANKED), QRELS: (QRELS,)}
#: The bytes of a text that hold its first lines.
_HEAD = 1 << 13


def read_table(
    source: StrPath | pd.DataFrame | pa.Table, layout: Layout, wanted: Sequence[str]
) -> pa.Table:
    """Reads columns of a run or of qrels.

    Args:
        source: A file, or a frame or Arrow table with PyTerrier's or ir_measures' column names.
        layout: The columns of a text file.
        wanted: The columns, by PyTerrier's names.

    Returns:
        The wanted columns, as from `typed_table`.

    Raises:
        ValueError: For other content; the message has the file, the line and its text.
        OSError: If the file cannot be found, read or decompressed.
    """
    if is_table(source):
        what = f"the {layout.kind} {'frame' if is_frame(source) else 'table'}"
        return typed_table(pandas_or_arrow(source), wanted, what)
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"expected a {layout.kind} file or frame, not {type(source).__name__}")
    path = local_path(source)
    check_file(path)
    if form := file_format(path):
        return typed_table(_saved_file(path, form, wanted), wanted, str(path))
    with open_text(path) as stream:
        other = recognise(bytes(stream.read(_HEAD)), _LAYOUTS[layout])
    if other is not None and other.layout is None:
        return _read_other(path, other, layout, wanted)
    if other is not None and other.layout is RANKED:
        return _by_rank(path, read_columns(path, RANKED, RANKED.columns), wanted)
    names = [name for name in wanted if name in layout.columns]
    table = read_columns(path, layout, names, first_ranks="name" not in names)
    if layout is QRELS:
        table = table.set_column(2, "label", as_integers(table["label"]))
        if len(table["iteration"].chunk(0).dictionary) == 1:
            return table.drop_columns("iteration")
    return table


def _read_other(path: Path, form: Format, layout: Layout, wanted: Sequence[str]) -> pa.Table:
    """The wanted columns of JSON or of a table below a header."""
    with open_text(path) as stream:
        rows = read_rows(path, stream.read(), form)
    names = column_names(rows.columns, wanted, f"{path}, {form}, as {layout.kind}")
    table = pa.table({name: cells_of(path, rows, name, key) for key, name in names.items()})
    if layout is RUN:
        _check_one_run(path, table)
    return typed_table(table, wanted, str(path))


def _by_rank(path: Path, table: pa.Table, wanted: Sequence[str]) -> pa.Table:
    """A run of three columns, the last of which has ranks or scores."""
    numbers = table[2].to_pandas()
    is_whole = bool((numbers % 1 == 0).all())
    is_rank = is_whole and bool((numbers.groupby(table["qid"].to_pandas()).diff() <= 0).sum() == 0)
    if is_whole and not is_rank:
        raise ValueError(
            f"{path} has three columns of whole numbers without a header: they could be ranks, as "
            "in MS MARCO, but do not ascend in every query, or scores; write the names of the "
            "columns into the first line, qid docno rank or qid docno score"
        )
    names = ["qid", "docno", "rank" if is_rank else "score"]
    return typed_table(table.rename_columns(names), wanted, str(path))


def local_path(source: StrPath) -> Path:
    """The path of a source; for ``"-"`` a file with the content of standard input."""
    if source != "-":
        return Path(source)
    folder = tempfile.mkdtemp(prefix="pyterrier_asl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "stdin"
    with naming_full_disk(path), path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def check_file(path: Path) -> None:
    """Checks that a file exists and can be read.

    Raises:
        OSError: For a folder, a pipe, a link to nothing, or a file without permission.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file")
    if not path.exists():
        target = f": it is a link to {os.readlink(path)}" if path.is_symlink() else ""
        raise FileNotFoundError(f"there is no file {path}{target}")
    if not path.is_file():
        raise OSError(f"{path} is not a regular file (a pipe, perhaps); write it to a file first")
    try:
        path.open("rb").close()
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror}") from None


def file_format(path: Path) -> str | None:
    """``'Parquet'`` or ``'Arrow'``, by the first bytes or the name; None for text."""
    with path.open("rb") as file:
        return _MAGIC.get(file.read(4)) or _FORMATS.get(path.suffix.lower())


def read_arrow(path: Path) -> pa.Table:
    """Reads a whole file in Arrow's format, and checks that its buffers have all rows.

    Raises:
        pa.ArrowException, OSError: If it is damaged or cannot be read.
    """
    table = pa.ipc.open_file(str(path)).read_all()
    table.validate()
    return table


def _saved_file(path: Path, form: str, wanted: Sequence[str]) -> pa.Table:
    """The columns of an Arrow file, or the wanted ones of a Parquet file, unchanged."""
    try:
        table = read_arrow(path) if form == "Arrow" else _parquet_file(path, wanted)
        if "score" in wanted:
            _check_one_run(path, table)
        return table
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as {form}: {error}") from error


def _parquet_file(path: Path, wanted: Sequence[str]) -> pa.Table:
    names = pq.read_schema(path).names
    columns = column_names(names, wanted, str(path)).values()
    # A dictionary of names of runs, which repeat in every row, is small.
    runs = [name for name in RUN_NAMES if name in names and "score" in wanted]
    with pq.ParquetFile(path, read_dictionary=runs) as parquet:
        table = parquet.read([name for name in names if name in (*runs, *columns)])
        if len(table) != (expected := parquet.metadata.num_rows):
            raise ValueError(f"{path} is damaged: it should have {expected} rows, not {len(table)}")
    return table


def _check_one_run(path: Path, table: pa.Table) -> None:
    """Raises ValueError for names of several runs in a column."""
    for name, column in zip(table.column_names, table.columns):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if name not in RUN_NAMES or not (pa.types.is_integer(kind) or str(kind) in TEXT_TYPES):
            continue
        names = pc.unique(column.drop_null()).to_pylist()
        if len(names) > 1:
            raise ValueError(
                f"{path} holds several runs (its column {name} has {names[0]!r} and "
                f"{names[1]!r}): save each in a separate file"
            )
