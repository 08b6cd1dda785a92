from .assessors import assessor_scores, compare_with_assessors, human_range
from .best_runs import headroom, run_quality
from .collections_and_lengths import collection_statistics, lengths_by_rank
from .discrimination import discriminative_power, preference_discrimination, stability
from .finders import rare_documents, rare_finds
from .incomplete_judgements import missing_labels, missing_queries
from .inputs import Evaluation
from .preferred_systems import cycles, system_order, system_preferences
from .rareness_agreement import agreement_by_alpha, agreement_by_number_of_systems
from .rareness_pools import (
    agreement_of_pools,
    pools_by,
    rareness_by_pool,
    rareness_without_own_group,
    synthetic_systems,
)
from .recall_levels import (
    level_correlations,
    level_regressions,
    prediction_from_suffixes,
    recall_level_needed,
)
from .reordered_systems import reordering
from .search_lengths import (
    effective_share,
    equivalents,
    search_length_changes,
    search_length_distribution,
)
from .success_at_n import satisfaction
from .techniques import compare_techniques, relative_error_reduction
from .tied_rankings import (
    preference_levels,
    tie_probability,
    tie_probability_by_rank,
    ties,
    ties_by_recall_level,
)

__all__ = [
    "Evaluation",
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
    "rare_finds",
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
    "rareness_without_own_group",
]
