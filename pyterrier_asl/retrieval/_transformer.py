"""Base class of the transformers over an index: validation, equality by parameters."""

from __future__ import annotations

import inspect
import math
from functools import cache
from typing import Any, ClassVar

import pandas as pd
import pyterrier as pt

HELP_URL = "https://pyterrier.readthedocs.io/en/latest/ext/pyterrier-asl/index.html"


class ParameterisedTransformer(pt.Transformer):  # type: ignore[misc]
    """A transformer that equals another with the same index and parameters."""

    #: The names of its parameters: the index, then the keyword arguments.
    _attributes: ClassVar[tuple[str, ...]]

    def _values(self) -> list[Any]:
        return [getattr(self, name) for name in self._attributes]

    def __repr__(self) -> str:
        index, *values = self._values()
        keywords = (f"{name}={value!r}" for name, value in zip(self._attributes[1:], values))
        return f"{type(self).__name__}({', '.join([repr(index), *keywords])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._values() == other._values()

    def __hash__(self) -> int:
        # Without the parameters, which a grid search changes while this is the key of a dict.
        return hash((type(self).__name__, self._values()[0]))


def validate_any(inp: pd.DataFrame, transformer: pt.Transformer) -> Any:
    """``pt.validate.any``; from PyTerrier 1.1 on its errors name the transformer."""
    return pt.validate.any(inp, **({"context": transformer} if _takes_context() else {}))


@cache
def _takes_context() -> bool:
    return "context" in inspect.signature(pt.validate.any).parameters


def check_count(name: str, value: float) -> None:
    """Raises ValueError unless the value is 1, 2, 3, ..."""
    if value < 1 or int(value) != value:
        raise ValueError(f"{name} is {value!r}; it must be 1, 2, 3, ...")


def check_not_negative(name: str, value: float | None, *, optional: bool = False) -> None:
    """Raises ValueError unless the value is finite and at least 0, or None if ``optional``."""
    if not (optional if value is None else 0 <= value < math.inf):
        raise ValueError(
            f"{name} is {value!r}; it must be {'None or ' * optional}a finite number, 0 or more"
        )
