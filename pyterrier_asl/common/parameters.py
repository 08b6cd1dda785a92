"""Checks of parameters: numbers, probabilities and names of choices."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any


def check_probability(what: str, value: float) -> None:
    """Raises ValueError unless the value is a number above 0 and below 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{what} is {value!r}, but it is a probability: give 0 < {what} < 1")


def check_whole(what: str, value: Any, least: int = 1) -> None:
    """Raises ValueError for a value that is not a whole number, or is too small.

    >>> check_whole("depth", 1.5)
    Traceback (most recent call last):
        ...
    ValueError: depth must be a whole number from 1 on, not 1.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{what} must be a whole number from {least} on, not {value!r}")


def check_name(what: str, name: str | None, allowed: Sequence[str | None]) -> None:
    """Raises ValueError unless a name is one of the allowed ones."""
    if name not in allowed:
        raise ValueError(f"{what} {name!r} is unknown: use one of {', '.join(map(repr, allowed))}")
