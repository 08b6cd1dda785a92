"""Methods whose results are kept for each of their arguments, as a cached property's is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

M = TypeVar("M", bound=Callable[..., Any])
T = TypeVar("T")

#: The attribute of an object that holds the results. It is no field of a data class, so that
#: ``dataclasses.replace`` leaves it behind.
RESULTS = "_results"


def remembered(method: M) -> M:
    """A method that computes what it gives once for the same arguments.

    >>> class Squares:
    ...     calls = 0
    ...     @remembered
    ...     def of(self, number):
    ...         self.calls += 1
    ...         return number**2
    >>> squares = Squares()
    >>> squares.of(3), squares.of(3), squares.calls
    (9, 9, 1)
    """

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        results = self.__dict__.setdefault(RESULTS, {})
        key = (method.__name__, *arguments, *options.items())
        if key in results:
            return results[key]
        result = method(self, *arguments, **options)
        if result is not self:  # which would keep itself alive
            results[key] = result
        return result

    return call  # type: ignore[return-value]


def copy_of(thing: T) -> T:
    """A shallow copy that remembers nothing."""
    other = copy.copy(thing)
    other.__dict__.pop(RESULTS, None)
    return other
