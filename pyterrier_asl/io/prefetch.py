"""Prefetching: files are read, on other threads, while there is something else to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Semaphore
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

#: Tables of a file that are read before they are asked for; some 2 MB of text each.
_TABLES = 8
#: A file of as many bytes is worth reading while the judgements are got ready.
LARGE = 1 << 23


class PrefetchedFile(os.PathLike[str]):
    """A path whose content is being read: its tables can be taken once.

    Args:
        path: the file.
        tables: reads it, table by table.
        threads: does that, as soon as one is free.
    """

    def __init__(
        self, path: str | os.PathLike[str], tables: Iterator[pa.Table], threads: ThreadPoolExecutor
    ) -> None:
        self._path, self._tables = os.fspath(path), tables
        self._read = SimpleQueue[Any]()  # tables; at the end None or an exception
        self._room = Semaphore(_TABLES)
        self._taken = self._closed = False
        self._reading = threads.submit(self._read_all)

    def __fspath__(self) -> str:
        return self._path

    def __str__(self) -> str:
        return self._path

    def take(self) -> Iterator[pa.Table] | None:
        """The tables, in order, where nobody has taken them yet."""
        if self._taken:
            return None
        self._taken = True
        return self._rest()

    def _rest(self) -> Iterator[pa.Table]:
        with self:
            while (table := self._read.get()) is not None:
                if isinstance(table, Exception):
                    raise table
                self._room.release()
                yield table

    def _read_all(self) -> None:
        end = None
        try:
            for table in self._tables:
                self._read.put(table)
                self._room.acquire()
                if self._closed:
                    break
        except Exception as error:
            end = error
        self._read.put(end)

    def __enter__(self) -> PrefetchedFile:
        return self

    def __exit__(self, *error: object) -> None:
        """Reads no further."""
        self._taken = self._closed = True
        self._room.release()
        if not self._reading.cancel():
            self._reading.result()
        self._tables = iter(())  # what it was is closed as nobody has it
        self._read = SimpleQueue()


@contextmanager
def begun(
    sources: Mapping[str, Any], read: Callable[[str | os.PathLike[str]], Iterator[pa.Table]]
) -> Iterator[Mapping[str, Any]]:
    """Sources, of which the first is being read where it is a large file.

    Args:
        sources: files, and whatever else there is, by name.
        read: reads a file, table by table.

    Returns:
        A context with the same sources. No more is read once it is left.
    """
    name, first = next(iter(sources.items()))
    is_file = isinstance(first, (str, os.PathLike)) and os.path.isfile(first)
    if not is_file or os.path.getsize(first) < LARGE:
        yield sources
        return
    with ThreadPoolExecutor(1) as threads, PrefetchedFile(first, read(first), threads) as file:
        yield {**sources, name: file}
