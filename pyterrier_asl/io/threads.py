"""Threads: as many as there are cores, shared by all that reads and matches.

More of them at a time would only wait for each other, and for Python's lock.

Ctrl-C is raised in the main thread between any two steps, also where Python code there has just
taken a lock. Nobody releases that lock then, and whoever needs it waits for ever: the threads of
``concurrent.futures`` do, and so does everyone who uses them later. So the main thread takes no
locks here: it puts into queues and gets from them, each of which is a single step.
"""

from __future__ import annotations

import atexit
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from queue import SimpleQueue
from threading import Thread, local
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Of a thread: ``is_shared`` where it is one of the shared ones.
_this_thread = local()


def cores() -> int:
    """How many cores this process may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return allowed or 1


def map_ahead(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    ahead: int,
    threads: int | None = None,
) -> Iterator[tuple[Item, Result]]:
    """Applies a function on threads, to a bounded number of items beyond the one given out.

    Args:
        function: what to apply.
        items: what to apply it to; taken as there is room.
        ahead: how many items beyond.
        threads: how many threads; None: the shared ones. What runs on one of these gets no more.

    Returns:
        An iterator of each item with its result, in the order of the items. What the function
        raises is raised where its result would come.

    >>> list(map_ahead(len, ["a", "bcd"], ahead=1))
    [('a', 1), ('bcd', 3)]
    """
    if threads is None and getattr(_this_thread, "is_shared", False):
        yield from ((item, function(item)) for item in items)  # waiting, it could wait for itself
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
def iterated_ahead(items: Iterable[Item], ahead: int) -> Iterator[Iterator[Item]]:
    """Iterates on a thread of its own, up to a number of items beyond the one given out.

    Args:
        items: what to iterate over, from now on.
        ahead: how many items beyond.

    Returns:
        A context with an iterator of the items. The thread has ended when it is left.

    >>> with iterated_ahead("abc", ahead=2) as letters:
    ...     list(letters)
    ['a', 'b', 'c']
    """
    made: SimpleQueue[list[Item]] = SimpleQueue()
    room: SimpleQueue[bool] = SimpleQueue()
    for _ in range(ahead):
        room.put(True)

    def iterate(items: Iterable[Item]) -> None:
        try:
            for item in items:
                made.put([item])
                if not room.get():
                    return
        finally:
            made.put([])

    def given_out(call: Call[Iterable[Item], None]) -> Iterator[Item]:
        try:
            while item := made.get():
                room.put(True)
                yield item[0]
        finally:
            room.put(False)
        call.result()

    with Threads(1) as threads:
        try:
            yield given_out(threads.submit(iterate, items))
        finally:
            room.put(False)


class Call(Generic[Item, Result]):
    """A call of a function that a thread makes.

    Attributes:
        item: the argument of the function.
        is_cancelled: whether the call need not be made any more.
    """

    def __init__(self, function: Callable[[Item], Result], item: Item) -> None:
        self.item, self.is_cancelled = item, False
        self._function = function
        self._outcome: SimpleQueue[Callable[[], Result]] = SimpleQueue()

    def make(self) -> None:
        """Makes the call, whether the function returns or raises."""
        if self.is_cancelled:
            return
        try:
            result = self._function(self.item)
        except BaseException as error:
            self._outcome.put(partial(_raise, error))
        else:
            self._outcome.put(lambda: result)

    def result(self) -> Result:
        """The result, once: waits for it, and raises what the function raised."""
        return self._outcome.get()()


def _raise(error: BaseException) -> NoReturn:
    try:
        raise error
    finally:
        del error  # which has this frame in its traceback


class Threads(AbstractContextManager["Threads"]):
    """Threads that make calls, in the order in which these are submitted.

    Args:
        count: how many threads.
        are_shared: whether what they map themselves they do themselves; see `map_ahead`.
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
        """Ends the threads, after the calls that have been submitted."""
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()


def _make_calls(calls: SimpleQueue[Call[Any, Any] | None], are_shared: bool) -> None:
    _this_thread.is_shared = are_shared
    while (call := calls.get()) is not None:
        call.make()
        del call  # and its result, while there is nothing to do


@cache
def _shared() -> Threads:
    # The C library gives freed memory back to the system, which clears it before it gives it out
    # again, unless a block of such a size has been freed: then it keeps as much.
    np.empty((1 << 25) - (1 << 13), dtype=np.uint8)
    threads = Threads(cores(), are_shared=True)
    atexit.register(threads.__exit__)  # as libraries end while a thread still uses them
    return threads


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_shared.cache_clear)
