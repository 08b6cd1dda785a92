"""Modules that take long to import, imported when something of them is first asked for.

Measuring a file and printing a table needs none of them. (``import scipy`` does this by itself.)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Lazy", "pd", "pq"]


class Lazy:
    """Stands for a module until something of it is asked for.

    >>> Lazy("math").floor(2.5)
    2
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.parquet as pq
else:
    pd, pq = Lazy("pandas"), Lazy("pyarrow.parquet")
