"""Files of runs and of qrels, in any format, as Arrow tables.

Text files are read as trec_eval reads them: white space separates columns, blank lines and lines
that begin with ``#`` are skipped, the rank column is ignored, ids are not changed (``007`` and
``NA`` are ids). Unlike in trec_eval, a line of another form is an error that names it. Text must be
UTF-8, as ids are compared with ids of other files and frames, which are Unicode.

Files can be compressed with gzip, bzip2, zstd or LZ4, by their first bytes, or be Parquet or Arrow
files (``.parquet``, ``.feather``, ``.arrow``) with the names of columns of PyTerrier or
ir_measures.

Runs can be larger than memory: they are read in blocks of whole queries. A run can also be a folder
of Parquet files, partitioned as by Hive, Spark and PyArrow:

* ``runs/name=bm25/part-0.parquet``: each folder is a run (also ``run=``);
* ``bm25/qid=19335/part-0.parquet``: the folder names the query (also ``query_id=``);
* ``bm25/part-0.parquet``, ``bm25/part-1.parquet``: files of whole queries.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from .atomic import naming_full_disk
from .columns import QID, column_names, is_frame, typed_table
from .lazy import pd, pq
from .trec_text import COMMENTS, QRELS, RUN, Layout, read_columns
from .values import TEXT_TYPES, as_integers, pc

StrPath: TypeAlias = str | os.PathLike[str]

#: Rows of a block. Smaller blocks need more calls; larger blocks do not fit a core's cache.
BLOCK_ROWS = 1 << 16
#: The least bytes of the files that a worker reads together.
_CHUNK_BYTES = 1 << 26

#: The names of columns and folders with the name of the run.
RUN_NAMES = ("name", "run")

#: Endings that are removed from the name of a run: compression, text, binary formats.
SUFFIXES = frozenset(
    {".gz", ".bz2", ".zst", ".zstd", ".lz4", ".txt", ".run", ".res", ".trec", ".tsv"}
    | {".parquet", ".feather", ".arrow"}
)
_FORMATS = {".parquet": "Parquet", ".feather": "Arrow", ".arrow": "Arrow"}
_MAGIC = {b"PAR1": "Parquet", b"ARRO": "Arrow"}
_TEXT_NAMES = {"label": "grade"}


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
    if isinstance(source, pa.Table):
        return typed_table(source, wanted, f"the {layout.kind} table")
    if is_frame(source):
        return typed_table(source, wanted, f"the {layout.kind} frame")
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"expected a {layout.kind} file or frame, not {type(source).__name__}")
    path = local_path(source)
    check_file(path)
    form = file_format(path)
    if form == "Parquet":
        return typed_table(pa.concat_tables(parquet_batches(path, wanted)), wanted, str(path))
    if form == "Arrow":
        return typed_table(_arrow_file(path, layout), wanted, str(path))
    table = read_columns(path, layout, [_TEXT_NAMES.get(name, name) for name in wanted])
    if layout is QRELS:
        columns = [*table.columns[:2], as_integers(table["grade"])]
        return pa.table(columns, names=wanted, metadata=table.schema.metadata)
    return table


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


def with_comments(frame: pd.DataFrame, table: pa.Table) -> pd.DataFrame:
    """The frame of a table, with the comments of its file as ``attrs["comments"]``, if any."""
    if comments := (table.schema.metadata or {}).get(COMMENTS):
        frame.attrs["comments"] = json.loads(comments)
    return frame


def check_file(path: Path) -> None:
    """Checks that a file exists, can be read, and is not empty.

    Raises:
        OSError: For a folder, a pipe, a link to nothing, or a file without permission.
        ValueError: For an empty file.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file")
    if not path.exists():
        target = f": it is a link to {os.readlink(path)}" if path.is_symlink() else ""
        raise FileNotFoundError(f"there is no file {path}{target}")
    if not path.is_file():
        raise OSError(f"{path} is not a regular file (a pipe, perhaps); write it to a file first")
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty: it has 0 bytes")
    try:
        path.open("rb").close()
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror}") from None


def file_format(path: Path) -> str | None:
    """``'Parquet'`` or ``'Arrow'``, by the first bytes or the name; None for text."""
    with path.open("rb") as file:
        magic = file.read(4)
    return _MAGIC.get(magic) or _FORMATS.get(path.suffix.lower())


def read_arrow(path: Path) -> pa.Table:
    """Reads a whole file in Arrow's format, and checks that its buffers have all rows.

    Raises:
        pa.ArrowException, OSError: If it is damaged or cannot be read.
    """
    with pa.OSFile(str(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    table.validate()
    return table


def _arrow_file(path: Path, layout: Layout) -> pa.Table:
    try:
        table = read_arrow(path)
        if layout is RUN:
            _check_one_run(path, table, {})
        return table
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as an Arrow file: {error}") from error


def parquet_batches(
    path: Path, wanted: Sequence[str], qid: str | None = None
) -> Iterator[pa.Table]:
    """The wanted columns of a Parquet file, unchanged, in batches; at least one batch.

    Args:
        path: The file.
        wanted: The columns, by PyTerrier's names.
        qid: The query of all rows, for a file without a column of queries.
    """
    seen: dict[str, Any] = {}
    try:
        with pq.ParquetFile(path) as parquet:
            schema, metadata = parquet.schema_arrow, parquet.metadata
        # A dictionary of names of runs, which repeat in every row, is small.
        texts = [f.name for f in schema if f.name in RUN_NAMES and str(f.type) in TEXT_TYPES]
        with pq.ParquetFile(path, metadata=metadata, read_dictionary=texts) as parquet:
            names = schema.names
            if any(name in names for name in QID):
                qid = None
            columns = column_names(names if qid is None else ["qid", *names], wanted, str(path))
            naming = set(RUN_NAMES) if "score" in wanted else set()
            read = [name for name in names if name in naming.union(columns.values())]
            expected, rows = parquet.metadata.num_rows, 0
            batches = parquet.iter_batches(BLOCK_ROWS, columns=read)
            tables = (pa.Table.from_batches([batch]) for batch in batches)
            for table in tables if expected else [parquet.read(columns=read)]:
                rows += len(table)
                if naming:
                    _check_one_run(path, table, seen)
                if qid is not None:
                    table = table.append_column("qid", pa.repeat(qid, len(table)))
                yield table
            if rows != expected:
                raise ValueError(
                    f"{path} is damaged: it should have {expected} rows, and has {rows}"
                )
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a Parquet file: {error}") from error


def _check_one_run(path: Path, table: pa.Table, seen: dict[str, Any]) -> None:
    """Raises ValueError for names of several runs in a column; ``seen``: the names so far."""
    for name, column in zip(table.column_names, table.columns):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if name not in RUN_NAMES or not (pa.types.is_integer(kind) or str(kind) in TEXT_TYPES):
            continue
        for value in pc.unique(column.drop_null()).to_pylist():
            if seen.setdefault(name, value) != value:
                raise ValueError(
                    f"{path} holds several runs (its column {name} has {seen[name]!r} and "
                    f"{value!r}): save each in a separate file, or partition them by name"
                )


@dataclass(frozen=True)
class RunFile:
    """A file of a run.

    Attributes:
        path: the file.
        qid: the query of all rows; None: the file has a column of queries.
    """

    path: Path
    qid: str | None = None


@dataclass(frozen=True)
class PartitionedRun:
    """A run in several files, or some of them.

    Attributes:
        folder: their folder, for errors.
        parts: the files.
    """

    folder: Path
    parts: tuple[RunFile, ...]

    def absolute(self) -> PartitionedRun:
        """The run with absolute paths, for workers in other folders."""
        parts = tuple(replace(part, path=part.path.absolute()) for part in self.parts)
        return PartitionedRun(self.folder.absolute(), parts)

    def chunks(self) -> list[PartitionedRun]:
        """The files in groups, each enough work for a worker; groups depend on the files alone."""
        chunks: list[list[RunFile]] = []
        size = _CHUNK_BYTES
        for part in self.parts:
            if size >= _CHUNK_BYTES:
                chunks.append([])
                size = 0
            chunks[-1].append(part)
            size += part.path.stat().st_size
        return [PartitionedRun(self.folder, tuple(chunk)) for chunk in chunks]


def is_partitioned(folder: Path) -> bool:
    """Whether a folder has subfolders called ``key=value``, as partitioned data sets do."""
    return any("=" in path.name and path.is_dir() for path in folder.iterdir())


def partitioned_runs(folder: Path) -> dict[str, PartitionedRun]:
    """The runs of a folder of Parquet files.

    Args:
        folder: a data set partitioned by run, by query, by both, or just into files.

    Returns:
        The runs by name, files in the order of their paths. Without partitions by run, one run
        with the name of the folder.

    Raises:
        ValueError: for a folder without Parquet files, with other folders or files, or with a run
            without a name.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("bm25", "dph"):
    ...     (folder / f"name={name}").mkdir()
    ...     (folder / f"name={name}" / "part-0.parquet").touch()
    >>> list(partitioned_runs(folder))
    ['bm25', 'dph']
    """
    import pyarrow.dataset as ds

    schema = pa.schema([(key, pa.string()) for key in (*RUN_NAMES, *QID)])
    files_of: dict[str, list[RunFile]] = {}
    for path in sorted(_files(folder)):
        if path.suffix != ".parquet":
            raise ValueError(
                f"the folder {folder} holds runs in Parquet files, but {path} does not end in "
                ".parquet: rename or remove it"
            )
        keys = ds.get_partition_keys(
            ds.HivePartitioning(schema).parse(path.relative_to(folder).as_posix())
        )
        name = next((keys[key] for key in RUN_NAMES if key in keys), folder.name)
        if name is None:
            raise ValueError(f"the run of {path} has no name: rename its folder")
        qid = next((keys[key] for key in QID if key in keys), None)
        files_of.setdefault(name, []).append(RunFile(path, qid))
    if not files_of:
        raise ValueError(f"the folder {folder} holds no Parquet files")
    return {name: PartitionedRun(folder, tuple(parts)) for name, parts in files_of.items()}


def _files(folder: Path) -> Iterator[Path]:
    """The files of a data set, without files of other programs: ``_SUCCESS``, ``.crc``."""
    for place, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in folders:
            if not name.startswith(tuple(f"{key}=" for key in (*RUN_NAMES, *QID))):
                raise ValueError(
                    f"the folder {folder} holds runs in Parquet files, but its folder {name!r} is "
                    "neither a run nor a query: rename it to name=... or qid=..., or pass a dict "
                    "from name to folder"
                )
        yield from (Path(place) / name for name in files if not name.startswith((".", "_")))


def query_blocks(tables: Iterator[pa.Table], rows: int | None = None) -> Iterator[pa.Table]:
    """A run's rows in blocks of whole queries, if the rows of each query are adjacent.

    Args:
        tables: the run's rows in order, in tables of any size.
        rows: the least number of rows of a block, except the last; by default `BLOCK_ROWS`.

    Example:
        >>> tables = [pa.table({"qid": list(qids)}) for qids in ("aab", "bbc", "cd")]
        >>> [block["qid"].to_pylist() for block in query_blocks(iter(tables), rows=2)]
        [['a', 'a'], ['b', 'b', 'b'], ['c', 'c'], ['d']]
    """
    rows = BLOCK_ROWS if rows is None else rows
    held: list[pa.Table] = []
    for table in filter(len, tables):
        held.append(table)
        if sum(map(len, held)) < rows:
            continue
        whole, held = _cut(held)
        if whole:
            yield concat(whole)
    if held:
        yield concat(held)


def concat(tables: Iterable[pa.Table]) -> pa.Table:
    """The rows of tables, which can have different columns and types of numbers."""
    return pa.concat_tables(tables, promote_options="permissive")


def _cut(tables: Sequence[pa.Table]) -> tuple[list[pa.Table], list[pa.Table]]:
    """The tables before the first row of the last query, and the other tables."""
    last = tables[-1]["qid"][-1]
    for number, table in reversed(list(enumerate(tables))):
        others = pc.indices_nonzero(pc.not_equal(table["qid"], last))
        if len(others):
            at = others[-1].as_py() + 1
            before, after = [*tables[:number], table[:at]], [table[at:], *tables[number + 1 :]]
            return before, [table for table in after if len(table)]
    return [], list(tables)
