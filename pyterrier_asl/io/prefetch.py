"""Prefetching: files are read, on other threads, while there is something else to do."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from threading import Semaphore
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

#: Tables of a file that are read before they are asked for; some 2 MB of text each.
_TABLES = 96
#: How many files are prefetched, and of how many bytes together, if they are more than one; and how
#: many at a time.
_FILES, _BYTES, _THREADS = 32, 1 << 25, 2
#: A file of as many bytes is worth reading while the judgements are got ready.
_LARGE = 1 << 23

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """How many cores this process may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return allowed or 1


def map_ahead(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int, ahead: int
) -> Iterator[tuple[Item, Result]]:
    """Applies a function on threads, to a bounded number of items beyond the one given out.

    Args:
        function: what to apply.
        items: what to apply it to; taken as there is room.
        threads: how many threads.
        ahead: how many items beyond.

    Returns:
        An iterator of each item with its result, in the order of the items. What the function
        raises is raised where its result would come.

    >>> list(map_ahead(len, ["a", "bcd"], threads=2, ahead=1))
    [('a', 1), ('bcd', 3)]
    """
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque[tuple[Item, Future[Result]]]()
        for item in items:
            waiting.append((item, pool.submit(function, item)))
            if len(waiting) > ahead:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()


class PrefetchedFile(os.PathLike[str]):
    """A path whose content is being read: its tables can be taken once.

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
    if not is_file or os.path.getsize(first) < _LARGE:
        yield sources
        return
    with ThreadPoolExecutor(1) as threads, PrefetchedFile(first, read(first), threads) as file:
        yield {**sources, name: file}


def prefetch(
    sources: Iterable[Any], read: Callable[[str | os.PathLike[str]], Iterator[pa.Table]]
) -> Generator[Any, None, None]:
    """Sources in their order; the files among those that follow are being read, if they are small.

    Args:
        sources: files, and whatever else there is, which stays as it is.
        read: reads a file, table by table.

    Returns:
        An iterator in which each file is a `PrefetchedFile`. No more is read once it is closed.
    """
    waiting = deque[tuple[Any, int]]()
    with ExitStack() as closing:
        threads = closing.enter_context(ThreadPoolExecutor(_THREADS))
        for source in sources:
            is_path = isinstance(source, (str, os.PathLike))
            size = os.path.getsize(source) if is_path and os.path.isfile(source) else 0
            while waiting and (
                len(waiting) >= _FILES or size + sum(other for _, other in waiting) > _BYTES
            ):
                yield waiting.popleft()[0]
            if is_path:
                source = PrefetchedFile(source, read(source), threads)
                closing.enter_context(source)
            waiting.append((source, size))
        yield from (source for source, _ in waiting)
