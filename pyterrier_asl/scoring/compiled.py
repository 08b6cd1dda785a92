"""Functions compiled by Numba. Imported by kernels alone, for Numba takes a while to load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compiles on first use, without the interpreter's lock, and keeps the result on disk.

    Where there is a place that can be written to: beside the function's file, in the user's cache
    or in ``NUMBA_CACHE_DIR``.
    """
    try:
        made: F = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # Numba has found no such place
        made = numba.njit(nogil=True)(function)
    return made
