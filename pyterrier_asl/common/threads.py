"""Threads, one per core, for reading, matching and measuring.

More threads would only wait for each other and for Python's global lock.

Ctrl-C raises KeyboardInterrupt in the main thread between any two steps, also right after Python
code there has taken a lock. Such a lock is never released, and every thread that needs it waits for
ever; this happens to the threads of ``concurrent.futures``. So the main thread takes no locks here:
it puts into queues and gets from them, each in a single step.
"""

from __future__ import annotations

import atexit
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from itertools import pairwise
from numbers import Integral
from queue import SimpleQueue
from threading import Thread, local
from typing import Any, TypeVar

import numpy as np

from .types import Ints

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Rows of a part: their arrays stay in a core's cache, and the allocator keeps arrays of this size
#: for the next part instead of returning them to the system.
_PART = 1 << 16

#: The attribute ``is_shared`` tells whether the current thread is a shared one.
_this_thread = local()


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_jobs(jobs: Any) -> None:
    """Raises ValueError unless a number of workers is 1, 2, 3, ..., or -1 for all cores."""
    if isinstance(jobs, bool) or not isinstance(jobs, Integral) or jobs == 0 or jobs < -1:
        raise ValueError(f"jobs must be 1, 2, 3, ..., or -1 for all cores, not {jobs!r}")


def map_ahead(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    ahead: int,
    threads: int | None = None,
) -> Iterator[tuple[Item, Result]]:
    """Applies a function to items on threads, at most ``ahead`` items before they are needed.

    Args:
        function: the function.
        items: its arguments.
        ahead: the number of items that are processed before they are needed.
        threads: the number of threads; None: the shared threads. A call on a shared thread uses no
            other threads.

    Returns:
        An iterator of each item with its result, in the order of the items. An error of the
        function is raised in the place of its result.

    >>> list(map_ahead(len, ["a", "bcd"], ahead=1))
    [('a', 1), ('bcd', 3)]
    """
    if threads is None and getattr(_this_thread, "is_shared", False):
        # A shared thread could wait for itself.
        yield from ((item, function(item)) for item in items)
        return
    is_over = False

    def make(item: Item, outcome: SimpleQueue[Any]) -> None:
        try:
            outcome.put((None if is_over else function(item), None))
        except BaseException as error:
            outcome.put((None, error))

    with nullcontext(_shared()) if threads is None else Threads(threads) as pool:
        waiting: deque[tuple[Item, SimpleQueue[Any]]] = deque()
        try:
            for item in items:
                waiting.append((item, SimpleQueue()))
                pool.calls.put(partial(make, *waiting[-1]))
                if len(waiting) > ahead:
                    yield waiting[0][0], _result(waiting.popleft()[1])
            while waiting:
                yield waiting[0][0], _result(waiting.popleft()[1])
        finally:
            is_over = True


def _result(outcome: SimpleQueue[Any]) -> Any:
    """The result of a call: waits for it, and raises its error."""
    result, error = outcome.get()
    try:
        if error is not None:
            raise error
        return result
    finally:
        del error  # its traceback refers to this frame


def map_parts(function: Callable[[int, int], Result], starts: Ints) -> list[Result]:
    """Applies a function to parts of the rows, on all cores where there are many.

    Args:
        function: takes the first block of a part and the block after its last.
        starts: the beginning of each block of rows and the end of the last, shape (B + 1,).

    Returns:
        The result of each part, in order; parts do not depend on the number of cores.

    >>> map_parts(lambda first, last: (first, last), np.array([0, 2, 5]))
    [(0, 2)]
    """
    rows = int(starts[-1])
    return map_at_once(
        lambda part: function(*part), split_blocks(starts, max(rows // _PART, 1)), rows
    )


def map_at_once(
    function: Callable[[Item], Result], items: Sequence[Item], rows: int
) -> list[Result]:
    """Applies a function to items, on all cores if they have many rows.

    Args:
        function: the function.
        items: its arguments.
        rows: the number of rows of the items.

    Returns:
        The result for each item, in order.

    >>> map_at_once(len, ["a", "bcd"], 0)
    [1, 3]
    """
    if rows < 2 * _PART or cores() < 2 or len(items) < 2:  # a second thread would not pay
        return [function(item) for item in items]
    return [result for _, result in map_ahead(function, items, ahead=len(items))]


def map_rows(function: Callable[[slice], Result], rows: int) -> list[Result]:
    """Applies a function to slices of rows, on all cores where there are many.

    >>> map_rows(lambda rows: (int(rows.start), int(rows.stop)), 5)
    [(0, 5)]
    """
    starts = np.append(np.arange(0, rows, 4096), rows)
    return map_parts(lambda first, last: function(slice(starts[first], starts[last])), starts)


def split_blocks(starts: Ints, parts: int) -> list[tuple[int, int]]:
    """Splits blocks into parts with similar numbers of rows.

    Args:
        starts: the beginning of each block and the end of the last, shape (B + 1,).
        parts: the number of parts, from 1; large blocks make it smaller.

    Returns:
        The first block of each part and the block after its last.

    >>> split_blocks(np.array([0, 2, 5, 9]), 2), split_blocks(np.array([0]), 1)
    ([(0, 2), (2, 3)], [(0, 0)])
    """
    goals = np.arange(1, parts) * (int(starts[-1]) / parts)
    cuts = {0, *np.searchsorted(starts, goals).tolist(), len(starts) - 1}
    return list(pairwise(sorted(cuts))) or [(0, 0)]


class Threads(AbstractContextManager["Threads"]):
    """Threads that make the calls that are put into ``calls``, in order.

    Args:
        count: the number of threads.
        are_shared: whether they are shared; see `map_ahead`.
    """

    def __init__(self, count: int, *, are_shared: bool = False) -> None:
        self.calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = [
            Thread(target=_make_calls, args=(self.calls, are_shared), daemon=True)
            for _ in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def __exit__(self, *error: object) -> None:
        """Ends the threads after all calls."""
        for _ in self._threads:
            self.calls.put(None)
        for thread in self._threads:
            thread.join()


def _make_calls(calls: SimpleQueue[Callable[[], None] | None], are_shared: bool) -> None:
    _this_thread.is_shared = are_shared
    while (call := calls.get()) is not None:
        call()
        del call  # frees its result while the thread waits


@cache
def _shared() -> Threads:
    # The C library returns freed memory to the system, which clears it before the next use. After
    # a block of this size has been freed, the library keeps as much memory.
    np.empty((1 << 25) - (1 << 13), dtype=np.uint8)
    threads = Threads(cores(), are_shared=True)
    atexit.register(threads.__exit__)  # libraries end while threads still use them
    return threads


if hasattr(os, "register_at_fork"):  # a forked process does not have the threads
    os.register_at_fork(after_in_child=_shared.cache_clear)
