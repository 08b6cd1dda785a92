"""Threads: as many as there are cores, shared by all that reads and matches.

More of them at a time would only wait for each other, and for Python's lock.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache
from threading import local
from typing import TypeVar

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
    with nullcontext(_shared()) if threads is None else ThreadPoolExecutor(threads) as pool:
        waiting = deque[tuple[Item, Future[Result]]]()
        try:
            for item in items:
                waiting.append((item, pool.submit(function, item)))
                if len(waiting) > ahead:
                    first, future = waiting.popleft()
                    yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:
            for _, future in waiting:
                future.cancel()


@cache
def _shared() -> ThreadPoolExecutor:
    # The C library gives freed memory back to the system, which clears it before it gives it out
    # again, unless a block of such a size has been freed: then it keeps as much.
    np.empty((1 << 25) - (1 << 13), dtype=np.uint8)
    return ThreadPoolExecutor(
        cores(), "pyterrier_asl", initializer=setattr, initargs=(_this_thread, "is_shared", True)
    )


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_shared.cache_clear)
