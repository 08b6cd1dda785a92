"""Loops that Numba compiles where there is enough to do, and plain Python where there is not.

A module of loops has functions of NumPy arrays, marked by :func:`compiled`. As they stand they are
Python. Whoever calls them asks :func:`loops` for them and says how much there is to do: little is
done before Numba would be loaded, let alone have compiled anything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: Steps of plain loops, in one go or in many, that take about as long as loading Numba does.
ENOUGH = 200_000

#: The modules whose loops have been compiled, or loaded as they were compiled before.
COMPILED: set[str] = set()

_steps = 0
#: Held while Numba is loaded.
_LOADING = RLock()


def compiled(function: F) -> F:
    """Marks a function of a module of loops."""
    function.is_loop = True  # type: ignore[attr-defined]
    return function


def loops(module: str, steps: int) -> ModuleType:
    """A module of loops: in Python, or compiled once enough steps have been computed to pay for it.

    Args:
        module: its name.
        steps: how many wait, roughly.

    >>> from pyterrier_asl.scoring import _pair_kernels
    >>> loops(_pair_kernels.__name__, 0) in (_pair_kernels, compile_loops(_pair_kernels.__name__))
    True
    """
    global _steps
    _steps += steps
    return import_module(module) if _steps < ENOUGH else compile_loops(module)


def compile_loops(module: str) -> ModuleType:
    """A module of loops, compiled on first use, without the interpreter's lock, and kept on disk.

    Where there is a place that can be written to: beside the module's file, in the user's cache or
    in ``NUMBA_CACHE_DIR``. What is not kept there yet takes seconds, and a line on stderr says so.
    Threads wait for the first of them: two that load Numba at once can wait for ever.
    """
    with _LOADING:
        return _compile(module)


@cache
def _compile(module: str) -> ModuleType:
    _announce()
    COMPILED.add(module)
    plain, made = import_module(module), ModuleType(module)
    # Compiled functions find each other where they are, not where the plain ones are.
    namespace = vars(made)
    namespace.update(vars(plain))
    for name, value in vars(plain).items():
        if not getattr(value, "is_loop", False):
            continue
        if value.__module__ != module:
            namespace[name] = getattr(compile_loops(value.__module__), name)
        else:
            copy = FunctionType(value.__code__, namespace, name, value.__defaults__)
            namespace[name] = _jit(copy)
    return made


def _jit(function: Callable[..., Any]) -> Any:
    import numba

    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # Numba has found no place to keep the result
        return numba.njit(nogil=True)(function)


@cache
def _announce() -> None:
    """Has Numba say once that it compiles."""
    from numba.core import event

    class Announcement(event.Listener):  # type: ignore[misc]
        started = False

        def on_start(self, event: Any) -> None:
            if not self.started:
                self.started = True
                print("Compiling (a few seconds, once per machine)", file=sys.stderr)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Announcement())
