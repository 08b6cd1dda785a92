"""Which measures this package computes itself, from a judged run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .judging import JudgedRun
from .measures import PluginMeasure

Floats = npt.NDArray[np.float64]


def supports(measure: Any) -> bool:
    """Whether :func:`values` computes this measure."""
    return isinstance(measure, PluginMeasure)


def values(measure: Any, judged: JudgedRun) -> Floats:
    """One value for every query of the qrels, in their order, shape (Q,)."""
    result: Floats = measure.values(judged)
    return result
