"""Runs and judgements from files, folders, frames and ir_datasets; Parquet files of our own.

Text files are read as trec_eval reads them: any white space between columns, blank lines skipped,
the rank column ignored, ids exactly as they stand in the file (``007`` and ``NA`` are ids). Unlike
trec_eval, a line that does not fit is an error that names it. Text must be UTF-8, since ids are
compared with those of other files and frames, where they are Unicode.

Files may be compressed with gzip, bzip2, zstd or LZ4 (their first bytes tell), or be Parquet or
Arrow files (``.parquet``, ``.feather``, ``.arrow``) with columns named as PyTerrier's or
ir_measures' are.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ._atomic import replacing
from ._trec_text import QRELS, RUN, Layout, iter_columns, read_columns
from .ahead import Ahead
from .columns import TEXT_TYPES
from .naming import digest_of
from .partitions import BLOCK_ROWS, PartitionedRun, is_partitioned, partitioned_runs, together

StrPath: TypeAlias = str | os.PathLike[str]
RunSource: TypeAlias = StrPath | pd.DataFrame | pa.Table | PartitionedRun
T = TypeVar("T")

# PyTerrier's name of a column first, then the other names it is known by.
_NAMES = {
    "qid": ("qid", "query_id"),
    "docno": ("docno", "doc_id"),
    "score": ("score",),
    "label": ("label", "relevance"),
    "rank": ("rank",),
    "name": ("name",),
    "doc_len": ("doc_len",),
}
# Columns that a run or qrels need not have.
_OPTIONAL = ("rank", "name", "doc_len")
_TEXT_NAMES = {"label": "grade"}
_RUN = ("qid", "docno", "score")
_RUN_TABLE = (*_RUN, "doc_len")
_QRELS = ("qid", "docno", "label")

_COMPRESSED = {".gz", ".bz2", ".zst", ".zstd", ".lz4"}
_TEXT = {".txt", ".run", ".res", ".trec", ".tsv"}
_FORMATS = {".parquet": "Parquet", ".feather": "Arrow", ".arrow": "Arrow"}
_SUFFIXES = _COMPRESSED | _TEXT | set(_FORMATS)


# Runs


def read_run(source: RunSource) -> pd.DataFrame:
    """Reads a run, with the columns that ``pt.io.read_results`` gives.

    Args:
        source: A run file, or a frame or Arrow table of a run.

    Returns:
        The lines in their order, with columns ``qid`` (str), ``docno`` (str), ``rank`` (int64),
        ``score`` (float64) and ``name`` (str). ``rank`` is what the source says where it holds
        whole numbers only, else the line's place within its query from 0; no measure looks at it.
        ``name`` is the source's, or else its file name as `run_name` gives it.

    Raises:
        ValueError: If the content is no run; the message has the file, the line and its text.
        OSError: If the file cannot be found, read or decompressed.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
        >>> _ = path.write_text("q1 Q0 d7 1 12.5 bm25\\nq1\\tQ0  d3 2 11 bm25\\n")
        >>> read_run(path)
          qid docno  rank  score  name
        0  q1    d7     1   12.5  bm25
        1  q1    d3     2   11.0  bm25
    """
    return _run_frame(source, run_name(source) if isinstance(source, (str, os.PathLike)) else "run")


def read_run_table(source: RunSource) -> pa.Table:
    """Reads what evaluation needs of a run, fast, as an Arrow table.

    Args:
        source: A run file, or a frame or Arrow table of a run, or one in several Parquet files.

    Returns:
        The lines in their order, with columns ``qid`` (string), ``docno`` (string) and ``score``
        (float64), none of them null. Scores may be infinite but not NaN. Where the source is no
        text and has a column ``doc_len``, that comes with it.

    Raises:
        ValueError: If the content is no run; the message has the file, the line and its text.
        OSError: If the file cannot be found, read or decompressed.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
        >>> _ = path.write_text("q1 Q0 d7 1 12.5 bm25\\nq1\\tQ0  d3 2 11 bm25\\n")
        >>> read_run_table(path).to_pylist()[0]
        {'qid': 'q1', 'docno': 'd7', 'score': 12.5}
    """
    return together(iter_run_batches(source))


def iter_run_batches(source: RunSource) -> Iterator[pa.Table]:
    """Reads a run bit by bit, so that it need never be in memory as a whole.

    Args:
        source: What `read_run_table` takes.

    Returns:
        An iterator of tables as `read_run_table` gives them, together the run; at least one. A
        frame, an Arrow table and an Arrow file come in one piece.

    Raises:
        ValueError: If the content is no run; the message has the file, the line and its text.
        OSError: If the file cannot be found, read or decompressed.

    Example:
        >>> frame = pd.DataFrame({"qid": [1], "docno": ["d7"], "score": [12.5]})
        >>> [table.num_rows for table in iter_run_batches(frame)]
        [1]
    """
    if isinstance(source, Ahead) and (begun := source.take()) is not None:
        yield from begun
        return
    if isinstance(source, PartitionedRun):
        for part in source.parts:
            _check_file(part.path)
            yield from _run_batches(part.path, part.qid)
        return
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        _check_file(path)
        form = _typed(path)
        if form is None:
            yield from iter_columns(path, RUN, _RUN)
            return
        if form == "Parquet":
            yield from _run_batches(path)
            return
    yield _read(source, RUN, _RUN_TABLE)


def begin_run(source: RunSource, threads: ThreadPoolExecutor) -> RunSource:
    """Begins to read a file, on another thread, for whoever will ask for it next.

    Args:
        source: What `iter_run_batches` takes.
        threads: Threads to read on.

    Returns:
        The same file, as a path that is to be closed if nobody reads it to its end; any other
        source as it is.
    """
    if isinstance(source, Ahead) or not isinstance(source, (str, os.PathLike)):
        return source
    return Ahead(source, iter_run_batches(source), threads)


def read_runs(
    source: StrPath | Iterable[StrPath] | Mapping[str, RunSource], *, threads: int | None = None
) -> dict[str, pd.DataFrame]:
    """Reads several runs.

    Args:
        source: A folder, whose files are taken in the order of their names (hidden files and
            folders inside it are not); or one file; or several; or a dict from names to files or
            frames.
        threads: How many files to read at a time; by default as many as there are cores.

    Returns:
        From each run's name (see `run_name`; the keys of a dict stay as they are) to its frame as
        `read_run` gives it, in the order of ``source``.

    Raises:
        ValueError: If a folder holds no files, two files have one name, or a file is no run.
        OSError: If a file cannot be found, read or decompressed.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "input.bm25.txt").write_text("q1 Q0 d7 1 12.5 x\\n")
        >>> _ = (folder / "dph.run").write_text("q1 Q0 d3 1 4.5 x\\n")
        >>> list(read_runs(folder))
        ['dph', 'bm25']
    """
    return dict(_in_parallel(_run_frame, run_sources(source), threads))


def iter_run_tables(
    source: StrPath | Iterable[StrPath] | Mapping[str, RunSource], *, threads: int | None = None
) -> Iterator[tuple[str, pa.Table]]:
    """Reads several runs one after the other, so that they need not be in memory together.

    Files are read ahead on other threads, at most ``threads`` of them beyond the one given out.

    Args:
        source: What `read_runs` takes.
        threads: How many files to read at a time; by default as many as there are cores.

    Returns:
        An iterator of (name, table as `read_run_table` gives it), in the order of ``source``.

    Raises:
        ValueError: At once, if a folder holds no files or two files have one name; later, if a file
            is no run.
        OSError: If a file cannot be found, read or decompressed.

    Example:
        >>> frame = pd.DataFrame({"qid": [1], "docno": ["d7"], "score": [12.5]})
        >>> for name, table in iter_run_tables({"bm25": frame}):
        ...     print(name, table.num_rows)
        bm25 1
    """
    return _in_parallel(lambda run, name: read_run_table(run), run_sources(source), threads)


def run_name(path: StrPath) -> str:
    """The name of a run: its file name without TREC's ``input.`` before it and endings behind it.

    The endings taken off, repeatedly and in any case, are ``.gz .bz2 .zst .zstd .lz4 .txt .run
    .res .trec .tsv .parquet .feather .arrow``.

    Args:
        path: The run's file. It need not exist.

    Returns:
        The name, which is never empty.

    Example:
        >>> run_name("runs/input.bm25.b0.4.txt.gz")
        'bm25.b0.4'
    """
    name = Path(path).name
    name = name.removeprefix("input.") or name
    while (at := name.rfind(".")) > 0 and name[at:].lower() in _SUFFIXES:
        name = name[:at]
    return name


def _run_frame(source: RunSource, name: str) -> pd.DataFrame:
    table = _read(source, RUN, ("qid", "docno", "rank", "score", "name"))
    frame = _frame(table.select(_RUN))
    frame.insert(2, "rank", _ranks(table, frame))
    named = "name" in table.column_names and not table["name"].null_count
    frame["name"] = table["name"].to_pandas() if named else pd.Series(name, frame.index, dtype=str)
    return frame


def _ranks(table: pa.Table, frame: pd.DataFrame) -> pd.Series[int]:
    """The ranks in the source, or each row's place within its query where they are no numbers."""
    if "rank" in table.column_names and not table["rank"].null_count:
        try:
            return table["rank"].cast(pa.int64()).to_pandas()  # type: ignore[no-any-return]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass  # Nobody needs them: a run with ranks such as '1.' or '-' is still a run.
    return frame.groupby("qid", sort=False).cumcount().astype("int64")


def run_sources(
    source: StrPath | Iterable[StrPath] | Mapping[str, RunSource],
) -> dict[str, RunSource]:
    """Which runs there are, unread.

    Args:
        source: A folder, whose files are taken in the order of their names (hidden files and
            folders inside it are not); or a file; or several of either; or a dict from names to
            files or frames. A folder whose subfolders are called ``key=value`` is a partitioned
            data set (see :mod:`~pyterrier_asl.partitions`), a folder in a dict one run of several
            Parquet files.

    Returns:
        From each run's name (see `run_name`; the keys of a dict stay as they are) to where it is.

    Raises:
        ValueError: If a folder holds no files, two runs have one name, or there is none at all.

    Example:
        >>> run_sources({"bm25": Path("bm25.run")})
        {'bm25': PosixPath('bm25.run')}
    """
    if isinstance(source, Mapping):
        found = {str(name): _of_one_run(run, str(name)) for name, run in source.items()}
    elif isinstance(source, (pd.DataFrame, pa.Table)):
        raise TypeError("runs given as frames need names: pass a dict from name to frame")
    else:
        paths = [source] if isinstance(source, (str, os.PathLike)) else source
        found = _named(Path(path) for path in paths)
    if not found:
        raise ValueError("there are no runs")
    return found


def _of_one_run(run: RunSource, name: str) -> RunSource:
    if not isinstance(run, (str, os.PathLike)) or not Path(run).is_dir():
        return run
    runs = partitioned_runs(Path(run))
    if len(runs) > 1:
        raise ValueError(
            f"the folder {run} holds {len(runs)} runs (e.g. {next(iter(runs))!r}), not only "
            f"{name!r}: pass the folder itself"
        )
    return next(iter(runs.values()))


def _named(paths: Iterable[Path]) -> dict[str, RunSource]:
    found: dict[str, RunSource] = {}
    places: dict[str, Path] = {}
    for path in paths:
        for name, run in _runs_at(path).items():
            place = run if isinstance(run, Path) else path
            if name in found:
                raise ValueError(
                    f"{places[name]} and {place} are both named {name!r}; rename one of them, or "
                    "pass a dict from name to file"
                )
            found[name], places[name] = run, place
    return found


def _runs_at(path: Path) -> Mapping[str, RunSource]:
    if not path.is_dir():
        return {run_name(path): path}
    if is_partitioned(path):
        return partitioned_runs(path)
    return _named(_files_in(path))


def _files_in(folder: Path) -> list[Path]:
    # A pipe or a link to nowhere is an error when it is read, not a run fewer.
    files = sorted(p for p in folder.iterdir() if not p.is_dir() and not p.name.startswith("."))
    if not files:
        raise ValueError(f"the folder {folder} holds no files")
    return files


def _in_parallel(
    read: Callable[[RunSource, str], T], sources: Mapping[str, RunSource], threads: int | None
) -> Iterator[tuple[str, T]]:
    """Applies ``read`` on threads, a bounded number ahead of what has been taken, in order."""
    workers = threads or os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[tuple[str, Future[T]]] = deque()
        for name, source in sources.items():
            ahead.append((name, pool.submit(read, source, name)))
            if len(ahead) > workers:
                yield _taken(ahead)
        while ahead:
            yield _taken(ahead)


def _taken(ahead: deque[tuple[str, Future[T]]]) -> tuple[str, T]:
    name, future = ahead.popleft()
    return name, future.result()


# Judgements


class UnknownDatasetError(ValueError):
    """ir_datasets has no dataset of this name."""


def read_qrels(source: RunSource) -> pd.DataFrame:
    """Reads judgements.

    Args:
        source: A qrels file; or an ir_datasets id such as ``"vaswani"`` (a file of that name goes
            before it) or ``"irds:vaswani"``; or a frame or Arrow table with PyTerrier's or
            ir_measures' column names.

    Returns:
        The judgements in their order, with columns ``qid`` (str), ``docno`` (str) and ``label``
        (int64 where every grade is a whole number, else float64).

    Raises:
        ValueError: If the content is no qrels; the message has the file, the line and its text.
        OSError: If the file cannot be read, or if it is neither a file nor an id.

    Example:
        >>> read_qrels(pd.DataFrame({"query_id": [7], "doc_id": ["d3"], "relevance": [1.5]}))
          qid docno  label
        0   7    d3    1.5
    """
    return _frame(read_qrels_table(source))


def read_qrels_table(source: RunSource) -> pa.Table:
    """Reads judgements as an Arrow table.

    Args:
        source: What `read_qrels` takes.

    Returns:
        The judgements in their order, with columns ``qid`` (string), ``docno`` (string) and
        ``label`` (int64 where every grade is a whole number, else float64), none of them null.

    Raises:
        ValueError: If the content is no qrels; the message has the file, the line and its text.
        OSError: If the file cannot be read, or if it is neither a file nor an id.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "qrels"
        >>> _ = path.write_text("q1 0 d7 2\\nq1 0 d3 0\\n")
        >>> read_qrels_table(path)["label"].to_pylist()
        [2, 0]
    """
    if isinstance(source, str) and not Path(source).is_file():
        try:
            return _irds_qrels_table(source)
        except UnknownDatasetError as error:
            if not Path(source).exists():  # Else it is a folder, say, and the reader explains.
                raise FileNotFoundError(f"there is no file {source!r}, and {error}") from None
    return _read(source, QRELS, _QRELS)


def irds_qrels(dataset: str) -> pd.DataFrame:
    """The judgements of an ir_datasets dataset, downloaded if they are not on this machine.

    Args:
        dataset: The dataset's id, with or without ``irds:`` before it.

    Returns:
        The judgements as `read_qrels` gives them.

    Raises:
        UnknownDatasetError: If there is no such dataset, a ValueError.
        ValueError: If it has no judgements with a grade per query and document.
        OSError: If they cannot be downloaded.

    Example:
        >>> irds_qrels("vaswani").head(2)  # doctest: +SKIP
          qid docno  label
        0   1  1239      1
        1   1  1502      1
    """
    return _frame(_irds_qrels_table(dataset))


def official_measures(dataset: str) -> list[Any]:
    """The measures that the makers of a dataset report, with the grades they take for relevant.

    Args:
        dataset: The ir_datasets id, with or without ``irds:`` before it.

    Returns:
        The ir_measures measures, in the documentation's order; empty where it names none.

    Raises:
        UnknownDatasetError: If there is no such dataset, a ValueError.

    Example:
        >>> official_measures("msmarco-passage/trec-dl-2020/judged")
        [nDCG@10, RR(rel=2), AP(rel=2)]
        >>> official_measures("vaswani")
        []
    """
    import ir_measures

    documentation = _irds(dataset).documentation() or {}
    return [ir_measures.parse_measure(name) for name in documentation.get("official_measures", [])]


def _irds(dataset: str) -> Any:
    # Importing ir_datasets takes half a second and makes folders in the user's home.
    import ir_datasets

    name = dataset.removeprefix("irds:")
    try:
        return ir_datasets.load(name)
    except KeyError:
        raise UnknownDatasetError(f"ir_datasets has no dataset {name!r}") from None


def _irds_qrels_table(dataset: str) -> pa.Table:
    loaded = _irds(dataset)
    fields = ("query_id", "doc_id", "relevance")
    if not loaded.has_qrels() or not set(fields) <= set(loaded.qrels_cls()._fields):
        raise ValueError(
            f"the ir_datasets dataset {dataset!r} has no judgements with a grade per query and "
            "document; some of the datasets below it may"
        )
    try:
        rows = [(qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in loaded.qrels_iter()]
    except RuntimeError as error:  # What ir_datasets raises when every source has failed.
        raise OSError(f"the qrels of {dataset!r} cannot be downloaded: {error}") from error
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(dict(zip(fields, map(pa.array, columns), strict=True)))
    return _conformed(table, _QRELS, f"the qrels of {dataset!r}")


# What both have in common


def _read(source: RunSource, layout: Layout, wanted: Sequence[str]) -> pa.Table:
    if isinstance(source, pa.Table):
        return _conformed(source, wanted, f"the {layout.kind} table")
    if isinstance(source, pd.DataFrame):
        what = f"the {layout.kind} frame"
        names = _present(source.columns, wanted, what).values()
        return _conformed(pa.table({name: _arrow(source[name]) for name in names}), wanted, what)
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"expected a {layout.kind} file or frame, not {type(source).__name__}")
    path = Path(source)
    _check_file(path)
    form = _typed(path)
    if form == "Parquet":
        return _conformed(pa.concat_tables(_parquet(path, wanted)), wanted, str(path))
    if form == "Arrow":
        return _conformed(_arrow_file(path), wanted, str(path))
    table = read_columns(path, layout, [_TEXT_NAMES.get(name, name) for name in wanted])
    if layout is QRELS:
        table = table.rename_columns(wanted)
        return table.set_column(2, "label", _whole(table["label"]))
    return table


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if not path.is_file():
        raise OSError(f"{path} is not a regular file (a pipe, perhaps); write it to a file first")
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty: it has 0 bytes")
    try:
        path.open("rb").close()
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror}") from None


def _typed(path: Path) -> str | None:
    """What typed format a file has; None if it is text."""
    with path.open("rb") as file:
        magic = file.read(6)
    known = {b"PAR1": "Parquet", b"ARROW1": "Arrow"}
    return known.get(magic) or known.get(magic[:4]) or _FORMATS.get(path.suffix.lower())


def _arrow_file(path: Path) -> pa.Table:
    try:
        with pa.OSFile(str(path)) as file:
            return pa.ipc.open_file(file).read_all()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as a file of Arrow's: {error}") from error


def _parquet(path: Path, wanted: Sequence[str], qid: str | None = None) -> Iterator[pa.Table]:
    """The tables of a Parquet file, batch by batch, at least one; ``qid`` is that of all rows
    where it has no column of them."""
    try:
        with pq.ParquetFile(path) as parquet:
            there = parquet.schema_arrow.names
            if any(name in there for name in _NAMES["qid"]):
                qid = None
            columns = _present(there if qid is None else ["qid", *there], wanted, str(path))
            read = [name for name in columns.values() if name in there]
            batches = parquet.iter_batches(BLOCK_ROWS, columns=read)
            if not parquet.metadata.num_rows:
                batches = iter([pa.RecordBatch.from_pylist([], parquet.read(columns=read).schema)])
            for batch in batches:
                table = pa.Table.from_batches([batch])
                if qid is not None:
                    table = table.append_column("qid", _repeated(qid, len(table)))
                yield table
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as a file of Parquet's: {error}") from error


def _repeated(text: str, rows: int) -> pa.Array:
    return pa.array([text], pa.string()).take(pa.array(np.zeros(rows, dtype=np.int64)))


def _run_batches(path: Path, qid: str | None = None) -> Iterator[pa.Table]:
    """A run's tables from a Parquet file."""
    row = 0
    _check_one_run(path)
    for read in _parquet(path, _RUN_TABLE, qid):
        table = _conformed(read, _RUN_TABLE, str(path), row)
        other = -1 if qid is None else pc.index(pc.not_equal(table["qid"], qid), True).as_py()
        if other >= 0:
            held = table["qid"][other].as_py()
            raise ValueError(f"{path} holds query {held!r}, its folder {qid!r}")
        yield table
        row += len(table)


def _check_one_run(path: Path) -> None:
    """That a column ``name`` does not name several, by what a Parquet file says of its columns."""
    try:
        about = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return  # Who reads it says what is wrong.
    names = set()
    for group in map(about.row_group, range(about.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema == "name" and (known := column.statistics) is not None:
                names |= {known.min, known.max} if known.has_min_max else set()
    if len(names) > 1:
        raise ValueError(
            f"{path} holds several runs (its column name has {min(names)!r} and {max(names)!r}): "
            "save each in a file of its own, or partition them by name"
        )


def _present(columns: Iterable[str], wanted: Sequence[str], source: str) -> dict[str, str]:
    """From each wanted column to its name among ``columns``; only rank and name may be missing."""
    there = list(columns)
    found = {}
    for name in wanted:
        aliases = [alias for alias in _NAMES[name] if alias in there]
        if len(aliases) > 1:
            raise ValueError(f"{source} has both {' and '.join(aliases)}: keep one of them")
        if aliases:
            [found[name]] = aliases
            if (same := there.count(*aliases)) > 1:
                raise ValueError(
                    f"{source}: there are {same} columns called {aliases[0]!r}: keep one of them"
                )
        elif name not in _OPTIONAL:
            raise ValueError(
                f"{source} has no column {' or '.join(_NAMES[name])}; "
                f"it has {', '.join(map(str, there)) or 'none'}"
            )
    return found


def _arrow(column: pd.Series[Any]) -> pa.ChunkedArray:
    try:
        array = pa.Array.from_pandas(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # Numbers and strings mixed.
        array = pa.Array.from_pandas(column.map(str, na_action="ignore"))
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _conformed(table: pa.Table, wanted: Sequence[str], source: str, row: int = 0) -> pa.Table:
    """The wanted columns by PyTerrier's names and with our types, or an error about ``source``, in
    which this is the ``row``-th row and those that follow."""
    convert = {"qid": _ids, "docno": _ids, "score": _scores, "label": _grades, "name": _strings}
    columns = {}
    for name, alias in _present(table.column_names, wanted, source).items():
        column = table[alias]
        try:
            columns[name] = convert[name](column) if name in convert else column
        except _WrongValue as error:
            raise ValueError(f"{source}, column {alias}: {error.at(row)}") from None
        except ValueError as error:
            raise ValueError(f"{source}, column {alias}: {error}") from None
    return pa.table(columns)


def _strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string())


def _ids(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    _no_missing(column.is_null(), column, "is missing; every row needs an id")
    kind = column.type
    if len(column) and not (pa.types.is_integer(kind) or str(kind) in TEXT_TYPES):
        raise ValueError(f"ids must be strings or integers, not {kind}")
    text = column.cast(pa.string())
    try:
        text.validate(full=True)  # of a file nobody has looked yet
    except pa.ArrowInvalid as error:
        raise ValueError(f"ids must be UTF-8 ({error})") from None
    return text


def _scores(column: pa.ChunkedArray) -> pa.ChunkedArray:
    numbers = _numbers(column)
    _no_missing(pc.is_nan(numbers), numbers, "is not a number")
    return numbers


def _grades(column: pa.ChunkedArray) -> pa.ChunkedArray:
    numbers = _numbers(column)
    _no_missing(pc.invert(pc.is_finite(numbers)), numbers, "is not a number that can be a grade")
    return _whole(numbers)


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        # whole numbers beyond 2^53 as the nearest
        numbers = column.cast(pa.float64(), safe=not pa.types.is_integer(column.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"must hold numbers, not {column.type} ({error})") from None
    _no_missing(numbers.is_null(), numbers, "is missing; every row needs a number")
    return numbers


def _no_missing(wrong: pa.ChunkedArray, column: pa.ChunkedArray, why: str) -> None:
    at = pc.index(wrong, True).as_py()
    if at >= 0:
        raise _WrongValue(column[at].as_py(), at, why)


class _WrongValue(ValueError):
    """A value that cannot be used."""

    def at(self, row: int) -> str:
        """What is wrong, where the column begins at this row."""
        value, number, why = self.args
        return f"the value {value!r} in row {row + number} {why}"


def _whole(grades: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return grades.cast(pa.int64())
    except pa.ArrowInvalid:  # Some have a fraction.
        return grades


def _frame(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas()  # type: ignore[no-any-return]


# Parquet files of our own

_KIND = b"pyterrier_asl.kind"
_VERSION = b"pyterrier_asl.version"
_DIGEST = b"pyterrier_asl.digest"


def save_parquet(table: pa.Table, path: StrPath, *, kind: str, version: int) -> None:
    """Saves a table as a Parquet file that says what it is.

    The file is written beside the old one and takes its place when it is whole. It says what is in
    it, its version, and the digest of its content, by which a damaged one is known.

    Args:
        table: What to save. Its schema's metadata is kept.
        path: Where to.
        kind: What it is, such as ``"doc_lengths"``.
        version: The version of this kind's format.

    Raises:
        OSError: If it cannot be written; a file that was there is then unchanged.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "lengths.parquet"
        >>> lengths = pa.table({"docno": ["d1"], "words": [12]})
        >>> save_parquet(lengths, path, kind="doc_lengths", version=1)
        >>> load_parquet(path, kind="doc_lengths", version=1).to_pylist()
        [{'docno': 'd1', 'words': 12}]
        >>> load_parquet(path, kind="rareness_pool", version=1)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: ...lengths.parquet is a pyterrier_asl doc_lengths file, not a rareness_pool file
    """
    about = {_KIND: kind, _VERSION: str(version), _DIGEST: _digest(table)}
    metadata = {**(table.schema.metadata or {}), **about}
    with replacing(path) as beside:
        pq.write_table(table.replace_schema_metadata(metadata), beside, compression="zstd")


def load_parquet(path: StrPath, *, kind: str, version: int) -> pa.Table:
    """Loads a table that `save_parquet` saved.

    Args:
        path: The file.
        kind: What it must be.
        version: The version of the format it must have.

    Returns:
        The table, with the metadata it was saved with in ``table.schema.metadata``.

    Raises:
        ValueError: If it is no file of ours, of another kind or another version, or damaged.
        OSError: If it cannot be found or read.
    """
    path = Path(path)
    _check_file(path)
    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a pyterrier_asl {kind} file: {error}") from error
    metadata = dict(table.schema.metadata or {})
    found, written, digest = (
        metadata.pop(key, b"").decode(errors="replace") for key in (_KIND, _VERSION, _DIGEST)
    )
    if not found:
        raise ValueError(f"{path} is a Parquet file, but not a pyterrier_asl {kind} file")
    if found != kind:
        raise ValueError(f"{path} is a pyterrier_asl {found} file, not a {kind} file")
    if written != str(version):
        raise ValueError(
            f"{path} is a {kind} file of format version {written}, this pyterrier_asl reads "
            f"version {version}; make the file anew with this release, or use the one that wrote it"
        )
    table = table.replace_schema_metadata(metadata or None)
    try:
        whole = digest == _digest(table)
    except UnicodeDecodeError:
        whole = False
    if not whole:
        raise ValueError(
            f"{path} is damaged: its content is not what was saved; make the file anew"
        )
    return table


def _digest(table: pa.Table) -> str:
    """The digest of the names, types, metadata and values of a table."""
    about = sorted((table.schema.metadata or {}).items())
    content: list[Any] = [repr((about, table.num_rows)).encode()]
    for field in table.schema:
        content.append(repr((field.name, str(field.type))).encode())
        column = table[field.name].combine_chunks()
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if column.null_count:
            content.append(column.is_null().to_numpy(zero_copy_only=False))
            column = column.drop_null()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            content.append(column.cast(pa.large_string()))
        elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            content.append(column.to_numpy())
        else:
            content.append(repr(column.to_pylist()).encode())
    return digest_of(content)
