"""Runs larger than memory: blocks of whole queries, and runs in several Parquet files.

A run is read in blocks of whole queries, so that it is never in memory as a whole. A run can also
be a folder of Parquet files, partitioned as by Hive, Spark and PyArrow:

* ``runs/name=bm25/part-0.parquet``: each folder is a run (also ``run=``);
* ``bm25/qid=19335/part-0.parquet``: the folder names the query (also ``query_id=``);
* ``bm25/part-0.parquet``, ``bm25/part-1.parquet``: files of whole queries.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from .columns import QID
from .values import pc

#: Rows of a block. Smaller blocks need more calls; larger blocks do not fit a core's cache.
BLOCK_ROWS = 1 << 16
#: The least bytes of the files that a worker reads together.
_CHUNK_BYTES = 1 << 26

#: The names of columns and folders with the name of the run.
RUN_NAMES = ("name", "run")


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
