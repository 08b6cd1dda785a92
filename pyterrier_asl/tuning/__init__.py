"""Tuning: random search over any pipeline, in stages, and a fast sweep over a TermIndex."""

from .search import KFoldRandomSearch, RandomSearch
from .space import truncated
from .stages import Stage, StagedResult, StagedSearch, bm25_stages, use_settings
from .sweep import NotSwept

__all__ = [
    "KFoldRandomSearch",
    "NotSwept",
    "RandomSearch",
    "Stage",
    "StagedResult",
    "StagedSearch",
    "bm25_stages",
    "truncated",
    "use_settings",
]
