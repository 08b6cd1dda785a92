"""Atomized search length, lexicographic precision, rareness and time-biased gain for PyTerrier.

Importing this package makes its measures known to ir_measures, so that they stand in
``pt.Experiment(..., eval_metrics=[ASL, LexiP])`` beside AP and nDCG. What is heavy is imported when
it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

from . import provider as provider  # registers the measures and the provider
from .lengths import DocLengths
from .measures import ASL, TBG, AP_Rareness, LexiP, P_Rareness, nASL, search_lengths
from .pools import RarenessPool

#: Public names that are imported when they are first used, and where they live.
_LATER = {
    "Experiment": "experiment",
    "TermIndex": "retrieval.index",
    "accelerate": "acceleration",
    "evaluate": "evaluation",
    "RobertsonPRF": "retrieval.feedback",
    "preferences": "preference",
    "preference_matrix": "preference",
    "read_qrels": "io",
    "read_run": "io",
    "read_runs": "io",
    "report": "reporting",
    "RandomSearch": "tuning",
    "KFoldRandomSearch": "tuning",
    "StagedSearch": "tuning",
}

__all__ = [
    "ASL",
    "AP_Rareness",
    "DocLengths",
    "LexiP",
    "P_Rareness",
    "RarenessPool",
    "TBG",
    "nASL",
    "search_lengths",
    *_LATER,
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
