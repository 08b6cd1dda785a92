"""Threads: one per core, shared by all reading and matching.

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
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from itertools import islice
from queue import SimpleQueue
from threading import Thread, local
from typing import Any, Generic, TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")

#: The attribute ``is_shared`` tells whether the current thread is a shared one.
_this_thread = local()


def cores() -> int:
    """The number of cores that this process may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return allowed or 1


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
        yield from (
            (item, function(item)) for item in items
        )  # a shared thread could wait for itself
        return
    with nullcontext(_shared()) if threads is None else Threads(threads) as pool:
        waiting: deque[Call[Item, Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > ahead:
                    first = waiting.popleft()
                    yield first.item, first.result()
            while waiting:
                first = waiting.popleft()
                yield first.item, first.result()
        finally:
            for call in waiting:
                call.is_cancelled = True


@contextmanager
def iterate_ahead(items: Iterable[Item], ahead: int) -> Iterator[Iterator[Item]]:
    """Iterates on another thread, at most ``ahead`` items before they are needed.

    Args:
        items: the items; the iteration begins at once.
        ahead: the number of items.

    Returns:
        A context with an iterator of the items. The thread ends with the context.

    >>> with iterate_ahead("abc", ahead=2) as letters:
    ...     list(letters)
    ['a', 'b', 'c']
    """

    def take_one(iterator: Iterator[Item]) -> list[Item]:
        return list(islice(iterator, 1))

    with Threads(1) as thread:
        iterator = iter(items)
        calls = deque(thread.submit(take_one, iterator) for _ in range(ahead))

        def results() -> Iterator[Item]:
            while item := calls.popleft().result():
                calls.append(thread.submit(take_one, iterator))
                yield item[0]

        try:
            yield results()
        finally:
            for call in calls:
                call.is_cancelled = True


class Call(Generic[Item, Result]):
    """A call of a function on a thread.

    Attributes:
        item: the argument of the function.
        is_cancelled: whether the call is not needed any more.
    """

    def __init__(self, function: Callable[[Item], Result], item: Item) -> None:
        self.item, self.is_cancelled = item, False
        self._function = function
        self._outcome: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def make(self) -> None:
        """Makes the call, unless it is cancelled."""
        if self.is_cancelled:
            return
        try:
            self._outcome.put((self._function(self.item), None))
        except BaseException as error:
            self._outcome.put((None, error))

    def result(self) -> Result:
        """The result, once: waits for it, and raises the error of the function."""
        result, error = self._outcome.get()
        try:
            if error is not None:
                raise error
            return result  # type: ignore[no-any-return]
        finally:
            del error  # its traceback refers to this frame


class Threads(AbstractContextManager["Threads"]):
    """Threads that make calls in the order in which these are submitted.

    Args:
        count: the number of threads.
        are_shared: whether they are shared; see `map_ahead`.
    """

    def __init__(self, count: int, *, are_shared: bool = False) -> None:
        self._calls: SimpleQueue[Call[Any, Any] | None] = SimpleQueue()
        self._threads = [
            Thread(target=_make_calls, args=(self._calls, are_shared), daemon=True)
            for _ in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[[Item], Result], item: Item) -> Call[Item, Result]:
        """Lets a thread call the function with the item."""
        call = Call(function, item)
        self._calls.put(call)
        return call

    def __exit__(self, *error: object) -> None:
        """Ends the threads after all submitted calls."""
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()


def _make_calls(calls: SimpleQueue[Call[Any, Any] | None], are_shared: bool) -> None:
    _this_thread.is_shared = are_shared
    while (call := calls.get()) is not None:
        call.make()
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
