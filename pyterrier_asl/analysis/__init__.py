"""The papers' tables and figures, from any runs and qrels: one file a question.

Each is a function that can be had from here, imported when it is first asked for:

>>> from pyterrier_asl.analysis import ties
>>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
>>> ties(runs, {"q": {"d": 1, "e": 1}})["ties"].tolist()
[0, 1]

Some files are called as the function that they are about. Here such a name is always the function,
whatever was imported before; the file is only where to import from, as in
``from pyterrier_asl.analysis.ties import ties_by_recall_level``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._lazily import exported

if TYPE_CHECKING:
    from .alpha import agreement_by_alpha
    from .assessors import assessor_scores, compare_with_assessors, human_range
    from .collection_statistics import collection_statistics
    from .discrimination import discriminative_power, preference_discrimination
    from .distribution import search_length_changes, search_length_distribution
    from .document_lengths import lengths_by_rank
    from .headroom import headroom, run_quality
    from .hidden_weighting import effective_share, equivalents
    from .judged_runs import JudgedRuns
    from .judges import judge_agreement, judge_confusion
    from .leaderboards import leaderboard_agreement, leaderboard_swaps, leaderboards
    from .missing_labels import missing_labels, missing_queries
    from .number_of_systems import agreement_by_number_of_systems
    from .rare_documents import rare_documents
    from .rareness_pools import agreement_of_pools, pools_by, rareness_by_pool, without_own_group
    from .recall_levels import level_correlations, level_regressions, recall_level_needed
    from .reciprocal_rank import preference_levels, tie_probability
    from .reordering import reordering
    from .satisfaction import satisfaction
    from .stability import stability
    from .suffixes import prediction_from_suffixes
    from .synthetic import synthetic_systems
    from .system_order import cycles, system_order
    from .system_preferences import system_preferences
    from .techniques import compare_techniques, relative_error_reduction
    from .ties import tie_probability_by_rank, ties, ties_by_recall_level

#: What is imported when it is first used: for type checkers above, for Python by name and module.
_LATER = {
    "JudgedRuns": "judged_runs",
    "agreement_by_alpha": "alpha",
    "agreement_by_number_of_systems": "number_of_systems",
    "agreement_of_pools": "rareness_pools",
    "assessor_scores": "assessors",
    "collection_statistics": "collection_statistics",
    "compare_techniques": "techniques",
    "compare_with_assessors": "assessors",
    "cycles": "system_order",
    "discriminative_power": "discrimination",
    "effective_share": "hidden_weighting",
    "equivalents": "hidden_weighting",
    "headroom": "headroom",
    "human_range": "assessors",
    "judge_agreement": "judges",
    "judge_confusion": "judges",
    "leaderboard_agreement": "leaderboards",
    "leaderboard_swaps": "leaderboards",
    "leaderboards": "leaderboards",
    "lengths_by_rank": "document_lengths",
    "level_correlations": "recall_levels",
    "level_regressions": "recall_levels",
    "missing_labels": "missing_labels",
    "missing_queries": "missing_labels",
    "pools_by": "rareness_pools",
    "prediction_from_suffixes": "suffixes",
    "preference_discrimination": "discrimination",
    "preference_levels": "reciprocal_rank",
    "rare_documents": "rare_documents",
    "rareness_by_pool": "rareness_pools",
    "recall_level_needed": "recall_levels",
    "relative_error_reduction": "techniques",
    "reordering": "reordering",
    "run_quality": "headroom",
    "satisfaction": "satisfaction",
    "search_length_changes": "distribution",
    "search_length_distribution": "distribution",
    "stability": "stability",
    "synthetic_systems": "synthetic",
    "system_order": "system_order",
    "system_preferences": "system_preferences",
    "tie_probability": "reciprocal_rank",
    "tie_probability_by_rank": "ties",
    "ties": "ties",
    "ties_by_recall_level": "ties",
    "without_own_group": "rareness_pools",
}

__all__ = [
    "JudgedRuns",
    "agreement_by_alpha",
    "agreement_by_number_of_systems",
    "agreement_of_pools",
    "assessor_scores",
    "collection_statistics",
    "compare_techniques",
    "compare_with_assessors",
    "cycles",
    "discriminative_power",
    "effective_share",
    "equivalents",
    "headroom",
    "human_range",
    "judge_agreement",
    "judge_confusion",
    "leaderboard_agreement",
    "leaderboard_swaps",
    "leaderboards",
    "lengths_by_rank",
    "level_correlations",
    "level_regressions",
    "missing_labels",
    "missing_queries",
    "pools_by",
    "prediction_from_suffixes",
    "preference_discrimination",
    "preference_levels",
    "rare_documents",
    "rareness_by_pool",
    "recall_level_needed",
    "relative_error_reduction",
    "reordering",
    "run_quality",
    "satisfaction",
    "search_length_changes",
    "search_length_distribution",
    "stability",
    "synthetic_systems",
    "system_order",
    "system_preferences",
    "tie_probability",
    "tie_probability_by_rank",
    "ties",
    "ties_by_recall_level",
    "without_own_group",
]

__getattr__, __dir__ = exported(globals(), _LATER)


class _Package(ModuleType):
    """Keeps a function's name for it when Python imports the file that is called the same."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _LATER and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
