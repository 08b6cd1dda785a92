"""Which runs there are: the runs of files, folders, data sets and dicts, unread."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import pandas as pd
import pyarrow as pa

from .files import SUFFIXES, StrPath, local_path
from .partitions import PartitionedRun, is_partitioned, partitioned_runs

RunSource: TypeAlias = StrPath | pd.DataFrame | pa.Table | PartitionedRun


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
        From each run's name (see `run_name`; the keys of a dict stay as they are) to where it is.

    Raises:
        ValueError: If a folder holds no files, two runs have one name, or there is none at all.
        FileNotFoundError: If a path, not one in a dict, is neither file nor folder.

    Example:
        >>> list_runs({"bm25": Path("bm25.run")})
        {'bm25': PosixPath('bm25.run')}
    """
    if isinstance(source, Mapping):
        found = {str(name): _of_one_run(run, str(name)) for name, run in source.items()}
    elif isinstance(source, (pd.DataFrame, pa.Table)):
        raise TypeError("runs given as frames need names: pass a dict from name to frame")
    else:
        paths = [source] if isinstance(source, (str, os.PathLike)) else source
        found = _by_name(map(local_path, paths))
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


def _by_name(paths: Iterable[Path]) -> dict[str, RunSource]:
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
