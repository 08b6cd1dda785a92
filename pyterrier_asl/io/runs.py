"""Runs: which there are, and what is in them.

They are listed unread: the runs of files, folders, data sets and dicts. They are read as frames for
people, as Arrow tables for evaluation, one by one or block by block.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa

from .atomic import replacing
from .columns import is_frame, typed_table
from .files import (
    SUFFIXES,
    StrPath,
    check_file,
    file_format,
    local_path,
    parquet_batches,
    read_table,
    with_comments,
)
from .kernels import pc
from .lazy import pd
from .metadata import metadata_lines, parse_metadata
from .partitions import PartitionedRun, RunFile, concatenated, is_partitioned, partitioned_runs
from .prefetch import PrefetchedFile
from .threads import cores, map_ahead
from .trec_text import RUN, iter_columns

T = TypeVar("T")
RunSource: TypeAlias = "StrPath | pd.DataFrame | pa.Table | PartitionedRun"

_RUN = ("qid", "docno", "score")
_RUN_TABLE = (*_RUN, "doc_len")


# Listing runs


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
    while (at := name.rfind(".")) > 0 and name[at:].lower() in SUFFIXES:
        name = name[:at]
    return name


def list_runs(
    source: StrPath | Iterable[StrPath] | Mapping[str, RunSource],
) -> dict[str, RunSource]:
    """Which runs there are, unread.

    Args:
        source: A folder, whose files are taken in the order of their names (hidden files and
            folders inside it are not; a link to nothing or a pipe is listed, and is an error when
            it is read); or a file, or ``"-"`` for standard input; or several of these; or a dict
            from names to files or frames. A folder whose subfolders are called ``key=value`` is a
            partitioned data set (see :mod:`~pyterrier_asl.io.partitions`), a folder in a dict one
            run of several Parquet files.

    Returns:
        From each run's name (see `run_name`; of a dict the keys, as text) to where it is.

    Raises:
        ValueError: If a folder holds no files, two runs have one name, or there is none at all.
        FileNotFoundError: If a path, not one in a dict, is neither file nor folder.

    Example:
        >>> list_runs({"bm25": Path("bm25.run")})
        {'bm25': PosixPath('bm25.run')}
    """
    if isinstance(source, Mapping):
        by_name = {str(name): _of_one_run(run, str(name)) for name, run in source.items()}
        if len(by_name) < len(source):
            raise ValueError(f"two runs have one name as text: {', '.join(map(repr, source))}")
    elif is_frame(source) or isinstance(source, pa.Table):
        raise TypeError("runs given as frames need names: pass a dict from name to frame")
    else:
        paths: list[Any] = [source]
        if isinstance(source, Iterable) and not isinstance(source, (str, os.PathLike)):
            paths = list(source)
        for path in paths:
            if not isinstance(path, (str, os.PathLike)):
                raise TypeError(
                    f"runs are files, a folder, or a dict from name to run, and one of these is a "
                    f"{type(path).__name__}: give it a name, {{'name': run}}"
                )
        by_name = _by_name(map(local_path, paths))
    if not by_name:
        raise ValueError("there are no runs")
    return by_name


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


def _by_name(paths: Iterable[Path]) -> dict[str, RunSource]:
    by_name: dict[str, RunSource] = {}
    places: dict[str, Path] = {}
    for path in paths:
        for name, run in _runs_at(path).items():
            place = run if isinstance(run, Path) else path
            if name in by_name:
                raise ValueError(
                    f"{places[name]} and {place} are both named {name!r}; rename one of them, or "
                    "pass a dict from name to file"
                )
            by_name[name], places[name] = run, place
    return by_name


def _runs_at(path: Path) -> Mapping[str, RunSource]:
    # A pipe or a link to nowhere is an error when it is read, not a run fewer.
    if not path.exists() and not path.is_symlink():
        raise FileNotFoundError(f"there is no file or folder {path}")
    if not path.is_dir():
        return {run_name(path): path}
    if is_partitioned(path):
        return partitioned_runs(path)
    files = sorted(p for p in path.iterdir() if not p.is_dir() and not p.name.startswith("."))
    if not files:
        raise ValueError(f"the folder {path} holds no files")
    return _by_name(files)


# Reading runs


def read_run(source: RunSource) -> pd.DataFrame:
    """Reads a run, with the columns that ``pt.io.read_results`` gives.

    Args:
        source: A run file, ``"-"`` for standard input, or a frame or Arrow table of a run.

    Returns:
        The lines in their order, with columns ``qid`` (str), ``docno`` (str), ``rank`` (int64),
        ``score`` (float64) and ``name`` (str). ``rank`` is what the source says where it holds
        whole numbers only, else the line's place within its query from 0; no measure looks at it.
        ``name`` is the source's, or else its file name as `run_name` gives it. The frame's
        ``attrs["comments"]`` has the lines of a text file that begin with ``#``, if there are any,
        and ``attrs["metadata"]`` the ir_metadata among them.

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


def write_run(
    run: pd.DataFrame, path: StrPath, *, metadata: Mapping[str, Any] | None = None
) -> None:
    """Writes a run as trec_eval reads it, with its ir_metadata at the head.

    Args:
        run: As `read_run` gives it, or results of a pipeline; without ``rank`` documents are
            ranked by score, without ``name`` the run is named by its file.
        path: The file, which is replaced once the new one is whole.
        metadata: What is written at the head. None: ``run.attrs["metadata"]``, if there is any.

    Raises:
        ValueError: If it is no run.
        OSError: If the file cannot be written, or is of another kind.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
        >>> frame = pd.DataFrame({"qid": ["q1"], "docno": ["d7"], "score": [12.5]})
        >>> write_run(frame, path, metadata={"actor": {"team": "A"}})
        >>> print(path.read_text(), read_run(path).attrs["metadata"], sep="")
        # ir_metadata.start
        # actor:
        #   team: A
        # ir_metadata.end
        q1 Q0 d7 0 12.5 bm25
        {'actor': {'team': 'A'}}
    """
    frame = _run_frame(run, run_name(path))
    head = run.attrs.get("metadata", {}) if metadata is None else metadata
    for column in ("qid", "docno", "name"):
        if len(unfit := frame[column][~frame[column].str.fullmatch(r"\S+")]):
            raise ValueError(
                f"{column} {unfit.iloc[0]!r} cannot be written: blanks separate the columns; "
                "rename it, or save Parquet"
            )
    with replacing(path) as beside, open(beside, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in metadata_lines(head))
        file.writelines(
            f"{qid} Q0 {docno} {rank} {score} {name}\n"
            for qid, docno, rank, score, name in frame.itertuples(index=False)
        )


def read_run_table(source: RunSource) -> pa.Table:
    """Reads what evaluation needs of a run, fast, as an Arrow table.

    Args:
        source: A run file, or a frame or Arrow table of a run, or one in several Parquet files.

    Returns:
        The lines in their order, with columns ``qid`` and ``docno`` (Arrow text) and ``score``
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
    return concatenated(iter_run_batches(source))


def loaded_run(run: Any) -> Any:
    """The table of a run in one file or several; whatever else a run may be stays as it is."""
    in_files = isinstance(run, (str, os.PathLike, PartitionedRun))
    return read_run_table(run) if in_files else run


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
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"qid": [1], "docno": ["d7"], "score": [12.5]})
        >>> [table.num_rows for table in iter_run_batches(frame)]
        [1]
    """
    if isinstance(source, PrefetchedFile) and (begun := source.take()) is not None:
        yield from begun
        return
    if isinstance(source, (str, os.PathLike)):
        path = local_path(source)
        check_file(path)
        form = file_format(path)
        if form is None:
            yield from iter_columns(path, RUN, _RUN)
            return
        if form == "Parquet":
            source = PartitionedRun(path.parent, (RunFile(path),))
    if isinstance(source, PartitionedRun):
        for part in source.parts:
            yield from _run_batches(part)
    else:
        yield read_table(source, RUN, _RUN_TABLE)


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
    return dict(_on_threads(_run_frame, list_runs(source), threads))


def iter_runs(
    source: StrPath | Iterable[StrPath] | Mapping[str, Any],
    *,
    threads: int | None = None,
    then: Callable[[str, Any], Any] = lambda _, run: run,
) -> Iterator[tuple[str, Any]]:
    """Reads several runs one after the other, so that they need not be in memory together.

    Files are prefetched on other threads, at most ``threads`` of them beyond the one given out.

    Args:
        source: What `read_runs` takes, or a dict of runs of any kind.
        threads: How many files to read at a time; by default as many as there are cores.
        then: What to do with each, by its name and as `loaded_run` gives it, on these threads.

    Returns:
        An iterator of (name, what ``then`` gives: the run itself), in the order of ``source``.

    Raises:
        ValueError: At once, if a folder holds no files or two files have one name; later, if a file
            is no run.
        OSError: If a file cannot be found, read or decompressed.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
        >>> _ = path.write_text("q1 Q0 d7 1 12.5 bm25\\n")
        >>> for name, table in iter_runs([path]):
        ...     print(name, table.num_rows)
        bm25 1
    """
    return _on_threads(lambda run, name: then(name, loaded_run(run)), list_runs(source), threads)


def _on_threads(
    read: Callable[[RunSource, str], T], sources: Mapping[str, RunSource], threads: int | None
) -> Iterator[tuple[str, T]]:
    workers = threads or cores()
    done = map_ahead(
        lambda item: read(item[1], item[0]), sources.items(), threads=workers, ahead=workers
    )
    return ((name, result) for (name, _), result in done)


def _run_frame(source: RunSource, name: str) -> pd.DataFrame:
    table = read_table(source, RUN, ("qid", "docno", "rank", "score", "name"))
    frame: pd.DataFrame = table.select(_RUN).to_pandas()
    frame.insert(2, "rank", _rank_column(table, frame))
    named = "name" in table.column_names
    frame["name"] = table["name"].to_pandas() if named else pd.Series(name, frame.index, dtype=str)
    frame = with_comments(frame, table)
    try:
        metadata = parse_metadata(frame.attrs.get("comments", ()), name)
    except ValueError as error:  # no number depends on it
        warnings.warn(f"{error}; the run is read without it", stacklevel=3)
        metadata = {}
    if metadata:
        frame.attrs["metadata"] = metadata
    return frame


def _rank_column(table: pa.Table, frame: pd.DataFrame) -> pd.Series[int]:
    """The ranks in the source, or each row's place within its query where they are no numbers."""
    if "rank" in table.column_names and not table["rank"].null_count:
        try:
            return table["rank"].cast(pa.int64()).to_pandas()  # type: ignore[no-any-return]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass  # Nobody needs them: a run with ranks such as '1.' or '-' is still a run.
    return frame.groupby("qid", sort=False).cumcount().astype("int64")


def _run_batches(part: RunFile) -> Iterator[pa.Table]:
    """A run's tables from a Parquet file."""
    path, qid, row = part.path, part.qid, 0
    check_file(path)
    for read in parquet_batches(path, _RUN_TABLE, qid):
        table = typed_table(read, _RUN_TABLE, str(path), row)
        other = -1 if qid is None else pc.not_equal(table["qid"], qid).index(True).as_py()
        if other >= 0:
            held = table["qid"][other].as_py()
            raise ValueError(f"{path} holds query {held!r}, its folder {qid!r}")
        yield table
        row += len(table)
