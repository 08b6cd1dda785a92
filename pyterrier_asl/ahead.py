"""A file that is being read while there is something else to do."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias

import pyarrow as pa

#: Tables read before they are asked for; some 2 MB of text each.
_AHEAD = 32

Taken: TypeAlias = "pa.Table | None"


class Ahead(os.PathLike[str]):
    """A path, and what stands there: its tables can be taken once.

    Args:
        path: the file.
        tables: reads it, table by table; a thread begins with that at once.
    """

    def __init__(self, path: str | os.PathLike[str], tables: Iterator[pa.Table]) -> None:
        self._path, self._tables = os.fspath(path), tables
        self._thread = ThreadPoolExecutor(1)
        self._waiting = deque[Future[Taken]]()
        self._taken = False
        for _ in range(_AHEAD):
            self._read_one()

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
            while (table := self._waiting.popleft().result()) is not None:
                self._read_one()
                yield table

    def _read_one(self) -> None:
        self._waiting.append(self._thread.submit(next, self._tables, None))

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *error: object) -> None:
        """Reads no further."""
        self._taken = True
        self._thread.shutdown(cancel_futures=True)
        self._waiting.clear()
        self._tables = iter(())  # what it was is closed as nobody has it
