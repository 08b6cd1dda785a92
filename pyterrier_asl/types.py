"""Types of arrays, and the check of whole numbers: for all packages."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]


def check_whole(what: str, value: Any, least: int = 1) -> None:
    """Raises ValueError for a value that is not a whole number, or is too small.

    >>> check_whole("depth", 1.5)
    Traceback (most recent call last):
        ...
    ValueError: depth must be a whole number from 1 on, not 1.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{what} must be a whole number from {least} on, not {value!r}")
