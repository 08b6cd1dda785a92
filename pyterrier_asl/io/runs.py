"""Lists and reads runs.

Runs of files, folders and dicts are listed without reading them. They are read as frames for users,
and as Arrow tables for evaluation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa

from ..common.lazy import pd
from ..common.parameters import one_or_more
from ..common.threads import cores, map_ahead
from .columns import PIPELINE, is_table
from .declared import DeclaredFile, NamesOfColumns
from .files import SUFFIXES, SUMMARIES, read_table
from .opening import StrPath, local_path
from .trec_text import RUN

T = TypeVar("T")
RunSource: TypeAlias = "StrPath | pd.DataFrame | pa.Table"

_RUN = ("qid", "docno", "score")


#: A name with blanks in quotation marks, as pandas writes it.
_QUOTED = re.compile(r'^"([^"]*\s[^"]*)"$')

# Listing runs


def run_name(path: StrPath) -> str:
    """The name of a run: its file name without TREC's ``input.`` and without endings.

    These endings are removed repeatedly, also in upper case: ``.gz .bz2 .zst .zstd .lz4 .txt .run
    .res .trec .tsv .csv .json .jsonl .parquet .feather .arrow``.

    Args:
        path: The run's file. It need not exist.

    Returns:
        The name, which is never empty.

    Example:
        >>> run_name("runs/input.bm25.b0.4.txt.gz")
        'bm25.b0.4'
    """
    name = os.fsencode(Path(path).name).decode("utf-8", "replace")
    name = name.removeprefix("input.") or name
    while (at := name.rfind(".")) > 0 and name[at:].lower() in SUFFIXES:
        name = name[:at]
    return name


def list_runs(
    source: StrPath | Iterable[StrPath] | Mapping[str, RunSource],
) -> dict[str, RunSource]:
    """Lists runs without reading them.

    Args:
        source: A folder: its files in the order of their names, without hidden files and
            subfolders (a link to nothing or a pipe is listed; reading it is an error), and
            without the tables ``aggregated.csv`` and ``perquery.csv`` of an experiment; or a file,
            or ``"-"`` for standard input; or several of these; or a dict from names to files or
            frames.

    Returns:
        The file or frame of each run by name (see `run_name`; for a dict its keys, as text).

    Raises:
        ValueError: For a folder without files, two runs with the same name, or no run.
        FileNotFoundError: For a path, outside a dict, that is neither file nor folder.

    Example:
        >>> list_runs({"bm25": Path("bm25.run")})
        {'bm25': PosixPath('bm25.run')}
    """
    if isinstance(source, Mapping):
        by_name = {str(name): run for name, run in source.items()}
        if len(by_name) < len(source):
            raise ValueError(f"two runs have one name as text: {', '.join(map(repr, source))}")
    elif is_table(source):
        raise TypeError("runs given as frames need names: pass a dict from name to frame")
    else:
        paths = one_or_more(source)
        for path in paths:
            if not isinstance(path, (str, os.PathLike)):
                remedy = PIPELINE if callable(path) else "give it a name, {'name': run}"
                raise TypeError(
                    "runs are files, a folder, or a dict from name to run, but one of these is a "
                    f"{type(path).__name__}: {remedy}"
                )
        places = map(local_path, _without_summaries(paths) if len(paths) > 1 else paths)
        by_name = _by_name(chain.from_iterable(map(_files_at, places)))
    if not by_name:
        raise ValueError("there are no runs")
    return by_name


def declared_runs(
    source: StrPath | Iterable[StrPath], columns: NamesOfColumns
) -> dict[str, RunSource]:
    """The runs of `list_runs`, their files with names of columns.

    >>> declared_runs([Path(__file__)], "docno=_id")["runs.py"].columns
    'docno=_id'
    """
    files: Mapping[str, Any] = list_runs(source)
    return {name: DeclaredFile(file, columns) for name, file in files.items()}


def _by_name(files: Iterable[Path]) -> dict[str, RunSource]:
    by_name: dict[str, RunSource] = {}
    for file in files:
        name = run_name(file)
        if name in by_name:
            raise ValueError(
                f"{by_name[name]} and {file} are both named {name!r}; rename one of them, or pass "
                "a dict from name to file"
            )
        by_name[name] = file
    return by_name


def _without_summaries(paths: list[Any]) -> list[Any]:
    """The paths without the tables that an experiment puts beside its runs."""
    return [path for path in paths if Path(path).name not in SUMMARIES]


def _files_at(path: Path) -> list[Path]:
    # A pipe or a link to nothing is an error when it is read, not a missing run.
    if not path.exists() and not path.is_symlink():
        raise FileNotFoundError(f"there is no file or folder {path}")
    if not path.is_dir():
        return [path]
    files = [p for p in path.iterdir() if not p.is_dir() and not p.name.startswith(".")]
    if not (runs := sorted(_without_summaries(files))):
        raise ValueError(f"the folder {path} holds no runs")
    return runs


# Reading runs


def read_run(source: RunSource, *, columns: NamesOfColumns = None) -> pd.DataFrame:
    """Reads a run with the columns of ``pt.io.read_results``.

    Args:
        source: A run file, ``"-"`` for standard input, or a frame or Arrow table of a run. A file
            has lines of TREC, lines ``qid docno rank`` as in MS MARCO, a table with a header, JSON
            lines, or JSON of query -> document -> score; for names of columns see `read_qrels`. A
            run without scores is ordered by its ranks (score = -rank).
        columns: other names of columns, ``{"docno": "_id", "score": "_score"}`` or ``"docno=_id
            score=_score"``; see `read_qrels`.

    Returns:
        The lines in their order, with columns ``qid`` (str), ``docno`` (str), ``rank`` (int64),
        ``score`` (float64) and ``name`` (str). ``rank`` is the rank in the source if all ranks are
        whole numbers, else the position of the line within its query from 0; no measure uses it.
        ``name`` is the name in the source, or else the `run_name` of the file.

    Raises:
        ValueError: If the content is not a run; the message has the file, the line and its text.
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
    return _run_frame(
        source, run_name(source) if isinstance(source, (str, os.PathLike)) else "run", columns
    )


def read_run_table(source: RunSource) -> pa.Table:
    """Reads the columns of a run that evaluation needs, as an Arrow table.

    Args:
        source: A run file, or a frame or Arrow table of a run.

    Returns:
        The lines in their order, with columns ``qid`` and ``docno`` (Arrow text) and ``score``
        (float64), none of them null. Scores can be infinite but not NaN. Columns ``rank`` and
        ``doc_len`` of the source are included; ranks that are not whole numbers are null.

    Raises:
        ValueError: If the content is not a run; the message has the file, the line and its text.
        OSError: If the file cannot be found, read or decompressed.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
        >>> _ = path.write_text("q1 Q0 d7 1 12.5 bm25\\nq1\\tQ0  d3 2 11 bm25\\n")
        >>> read_run_table(path).to_pylist()[0]
        {'qid': 'q1', 'docno': 'd7', 'score': 12.5, 'rank': 1}
    """
    return read_table(source, RUN, (*_RUN, "rank", "doc_len"))


def load_run(run: Any) -> Any:
    """The table of a run file; a run of another form is returned unchanged."""
    return read_run_table(run) if isinstance(run, (str, os.PathLike)) else run


def read_runs(
    source: StrPath | Iterable[StrPath] | Mapping[str, RunSource],
    *,
    columns: NamesOfColumns = None,
) -> dict[str, pd.DataFrame]:
    """Reads several runs.

    Args:
        source: A folder: its files in the order of their names, without hidden files and
            subfolders; or one file; or several; or a dict from names to files or frames.
        columns: other names of columns; see `read_run`.

    Returns:
        The frame of each run, as from `read_run`, by name (see `run_name`; for a dict its keys), in
        the order of ``source``.

    Raises:
        ValueError: For a folder without files, two files with the same name, or a file that is not
            a run.
        OSError: If a file cannot be found, read or decompressed.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "input.bm25.txt").write_text("q1 Q0 d7 1 12.5 x\\n")
        >>> _ = (folder / "dph.run").write_text("q1 Q0 d3 1 4.5 x\\n")
        >>> list(read_runs(folder))
        ['dph', 'bm25']
    """
    runs = list_runs(source)
    return dict(_on_threads(lambda name: _run_frame(runs[name], name, columns), runs))


def iter_runs(
    source: StrPath | Iterable[StrPath] | Mapping[str, Any],
    *,
    then: Callable[[str, Any], Any] = lambda _, run: run,
) -> Iterator[tuple[str, Any]]:
    """Reads several runs one after the other, so that they are not in memory together.

    Files are prefetched on other threads, at most one per core before they are needed.

    Args:
        source: A source of `read_runs`, or a dict of runs of any form.
        then: A function of a name and a result of `load_run`, called on these threads.

    Returns:
        An iterator of (name, result of ``then``: the run), in the order of ``source``.

    Raises:
        ValueError: At once, for a folder without files or two files with the same name; later, for
            a file that is not a run.
        OSError: If a file cannot be found, read or decompressed.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
        >>> _ = path.write_text("q1 Q0 d7 1 12.5 bm25\\n")
        >>> for name, table in iter_runs([path]):
        ...     print(name, table.num_rows)
        bm25 1
    """
    runs = list_runs(source)
    return _on_threads(lambda name: then(name, load_run(runs[name])), runs)


def _on_threads(read: Callable[[str], T], names: Iterable[str]) -> Iterator[tuple[str, T]]:
    # Threads of their own, as a call on a shared thread uses no other threads.
    return map_ahead(read, names, threads=cores(), ahead=cores())


def _run_frame(source: RunSource, name: str, columns: NamesOfColumns) -> pd.DataFrame:
    table = read_table(source, RUN, (*_RUN, "rank", "name"), columns=columns)
    frame: pd.DataFrame = table.select(_RUN).to_pandas()
    frame.insert(2, "rank", _rank_column(table, frame))
    named = "name" in table.column_names
    names = table["name"].to_pandas() if named else pd.Series(name, frame.index, dtype=str)
    # Few names are different: a pattern for each row takes ten times as long as reading.
    frame["name"] = names.replace({n: n[1:-1] for n in names.unique() if _QUOTED.match(n)})
    return frame


def _rank_column(table: pa.Table, frame: pd.DataFrame) -> pd.Series[int]:
    """The ranks in the source if all are whole numbers, else positions within the query."""
    if "rank" in table.column_names and not table["rank"].null_count:
        # Measures ignore ranks: a run with ranks such as '1.' or '-' is a run.
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return table["rank"].cast(pa.int64()).to_pandas()  # type: ignore[no-any-return]
    return frame.groupby("qid", sort=False).cumcount().astype("int64")
