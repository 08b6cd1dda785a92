"""A file that is being read while there is something else to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Semaphore

import pyarrow as pa

#: Tables read before they are asked for; some 2 MB of text each.
_AHEAD = 96


class Ahead(os.PathLike[str]):
    """A path, and what stands there: its tables can be taken once.

    Args:
        path: the file.
        tables: reads it, table by table.
        threads: does that, as soon as one is free. Files are to be taken in the order in which they
            come here: those before may have to be taken first.
    """

    def __init__(
        self, path: str | os.PathLike[str], tables: Iterator[pa.Table], threads: ThreadPoolExecutor
    ) -> None:
        self._path, self._tables = os.fspath(path), tables
        self._read = SimpleQueue[pa.Table | Exception | None]()
        self._room = Semaphore(_AHEAD)
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

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *error: object) -> None:
        """Reads no further."""
        self._taken = self._closed = True
        self._room.release()
        if not self._reading.cancel():
            self._reading.result()
        self._tables = iter(())  # what it was is closed as nobody has it
        self._read = SimpleQueue()
