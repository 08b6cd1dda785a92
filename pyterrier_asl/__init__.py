"""Atomized search length, lexicographic precision, rareness and time-biased gain for PyTerrier.

Importing this package makes its measures known to ir_measures, so that they stand in
``pt.Experiment(..., eval_metrics=[ASL, LexiP])`` beside AP and nDCG. What is heavy is imported when
it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

from . import provider as provider  # registers the measures and the provider
from ._lazily import exported
from .measures import ASL, TBG, AP_Rareness, LexiP, P_Rareness, nASL, search_lengths

if TYPE_CHECKING:
    from .acceleration import accelerate
    from .evaluation import evaluate
    from .experiment import Experiment
    from .io import read_qrels, read_run, read_runs
    from .lengths import DocLengths
    from .pools import RarenessPool
    from .preference import preference_matrix, preferences
    from .reporting import report
    from .retrieval.feedback import RobertsonPRF
    from .retrieval.index import TermIndex
    from .tuning import KFoldRandomSearch, RandomSearch, StagedSearch

#: What is imported when it is first used: for type checkers above, for Python by name and module.
_LATER = {
    "DocLengths": "lengths",
    "Experiment": "experiment",
    "KFoldRandomSearch": "tuning",
    "RandomSearch": "tuning",
    "RarenessPool": "pools",
    "RobertsonPRF": "retrieval.feedback",
    "StagedSearch": "tuning",
    "TermIndex": "retrieval.index",
    "accelerate": "acceleration",
    "evaluate": "evaluation",
    "preference_matrix": "preference",
    "preferences": "preference",
    "read_qrels": "io",
    "read_run": "io",
    "read_runs": "io",
    "report": "reporting",
}

__all__ = [
    "ASL",
    "AP_Rareness",
    "DocLengths",
    "Experiment",
    "KFoldRandomSearch",
    "LexiP",
    "P_Rareness",
    "RandomSearch",
    "RarenessPool",
    "RobertsonPRF",
    "StagedSearch",
    "TBG",
    "TermIndex",
    "accelerate",
    "evaluate",
    "nASL",
    "preference_matrix",
    "preferences",
    "read_qrels",
    "read_run",
    "read_runs",
    "report",
    "search_lengths",
]

__getattr__, __dir__ = exported(globals(), _LATER)
