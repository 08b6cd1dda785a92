"""Input that may be of several kinds, checked with whatever PyTerrier there is."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import pandas as pd
import pyterrier as pt


def validate_any(inp: pd.DataFrame, transformer: Any) -> Any:
    """``pt.validate.any``, with errors that name the transformer where PyTerrier (1.1) can."""
    return pt.validate.any(inp, **({"context": transformer} if _takes_context() else {}))


@cache
def _takes_context() -> bool:
    return "context" in inspect.signature(pt.validate.any).parameters
