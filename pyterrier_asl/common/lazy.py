"""Modules that take long to import, imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Lazy", "alt", "pc", "pd", "pq"]


class Lazy:
    """A module that is imported when one of its attributes is first used.

    >>> Lazy("math").floor(2.5)
    2
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
else:
    alt, pd = Lazy("altair"), Lazy("pandas")
    pc, pq = Lazy("pyarrow.compute"), Lazy("pyarrow.parquet")
