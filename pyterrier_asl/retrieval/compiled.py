"""Loops that Numba compiles for large inputs; for small inputs they run as plain Python.

All functions of a module of loops are compiled, for NumPy arrays. Callers get a function from
:func:`loop`, for a number of steps: plain Python finishes a small number of steps before Numba
would be loaded. Without Numba all loops are plain Python.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: The number of steps of plain loops, in all calls, that take as long as loading Numba.
ENOUGH = 200_000

_steps = 0
#: Two threads that load Numba at the same time can wait for ever.
_LOADING = RLock()


def loop(function: F, steps: int) -> F:
    """A loop: plain Python, or compiled once enough steps have been computed.

    Args:
        function: the function of a module of loops.
        steps: the approximate number of steps of the next call.

    >>> from pyterrier_asl.retrieval._kernels import length_norm
    >>> loop(length_norm, 0).__name__
    'length_norm'
    """
    global _steps
    _steps += steps
    if _steps < ENOUGH or not _has_numba():
        return function
    return getattr(compile_loops(function.__module__), function.__name__)  # type: ignore[no-any-return]


@cache
def _has_numba() -> bool:
    """Whether Numba is installed; warns if it is not."""
    if find_spec("numba"):
        return True
    warnings.warn(
        "Numba is not installed, so that long loops take many times as long: pip install numba",
        stacklevel=2,
    )
    return False


def compile_loops(module: str) -> ModuleType:
    """A module of loops, compiled on first use, without the interpreter's lock, and kept on disk.

    The cache is the first folder that can be written: next to the module's file, in the user's
    cache or ``NUMBA_CACHE_DIR``. Compiling takes seconds; a line on stderr announces it.
    """
    with _LOADING:
        return _compile(module)


@cache
def _compile(module: str) -> ModuleType:
    _announce()
    plain, numba_module = import_module(module), ModuleType(module)
    # Compiled functions call each other, not the plain functions.
    namespace = vars(numba_module)
    namespace.update(vars(plain))
    for name, value in vars(plain).items():
        if isinstance(value, FunctionType) and value.__module__ == module:
            namespace[name] = _jit(FunctionType(value.__code__, namespace, name))
    return numba_module


def _jit(function: Callable[..., Any]) -> Any:
    import numba

    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # there is no folder for the cache
        return numba.njit(nogil=True)(function)


@cache
def _announce() -> None:
    """Prints a line when Numba first compiles a loop."""
    from numba.core import event

    class Announcement(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            event.unregister("numba:compile", self)
            print("Compiling (a few seconds, once per machine)", file=sys.stderr)

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", Announcement())
