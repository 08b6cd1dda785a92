"""Results of methods and functions that are kept for each of their arguments."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

M = TypeVar("M", bound=Callable[..., Any])
T = TypeVar("T")


if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 (as functools names it)
        """``functools.cached_property`` without the lock that it has before Python 3.12.

        A thread with the lock could wait for the shared threads, which could wait for the lock. If
        two threads ask at once, both compute the value.
        """

        def __get__(self, instance: object, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


#: The attribute of an object that holds the results. It is not a field of a data class, so that
#: ``dataclasses.replace`` does not copy it.
RESULTS = "_results"


def remembered(method: M) -> M:
    """A method that computes its result once for the same arguments.

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
        if result is not self:  # a reference to itself would keep the object alive
            results[key] = result
        return result

    return call  # type: ignore[return-value]


class Remembering:
    """An object that keeps the results of functions of it.

    >>> class Numbers(Remembering):
    ...     values = (1, 2)
    >>> Numbers().once(lambda numbers, factor: factor * sum(numbers.values), 10)
    30
    """

    @remembered
    def once(self, make: Callable[..., T], *options: Hashable) -> T:
        """The result of ``make(self, *options)``, computed once."""
        return make(self, *options)


def copy_of(thing: T) -> T:
    """A shallow copy without kept results."""
    other = copy.copy(thing)
    other.__dict__.pop(RESULTS, None)
    return other
