"""The causes of the difference between a run and the baseline, with what is left without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ...evaluation.providers import values_of
from ...judging.judged_run import JudgedRun
from ...scoring.arrays import Floats
from .cause import Cause
from .ids import document_ids, qrels_ids, unknown_documents
from .labels import unjudged_documents
from .missing import missing_documents
from .pair import Pair
from .queries import exchanged_queries, repeated_rankings, unanswered_queries
from .rankings import own_queries, reversed_scores, short_rankings, tied_scores

#: Asked about B, and then about A.
_OF_ONE: tuple[Callable[[Pair], list[Cause]], ...] = (
    document_ids,
    unknown_documents,
    unanswered_queries,
    repeated_rankings,
    short_rankings,
    reversed_scores,
    tied_scores,
    own_queries,
)
#: Asked about both.
_OF_BOTH = (exchanged_queries, qrels_ids, missing_documents, unjudged_documents)

#: A fact is named where it explains so much of the difference.
EXPLAINS = 0.1
COLUMNS = ("cause", "where", "share", "evidence", "effect", "comparable", "remedy")


def find_causes(
    a: JudgedRun, b: JudgedRun, measure: Any, values: tuple[Floats, Floats]
) -> pd.DataFrame:
    """The causes of the difference between two runs that are not the systems.

    Args:
        a: the baseline.
        b: the run.
        measure: the measure of which effects are.
        values: its values for both, by query, each of shape (Q,).

    Returns:
        A row per cause: ``cause``; ``where``, what has it; ``share`` of documents or queries;
        ``evidence``; ``effect``, the mean difference that is left without it, NaN where it cannot
        be computed; ``comparable``, whether the runs can be compared; ``remedy``.
    """
    pair = Pair.of(a, b)
    causes = [cause for find in _OF_BOTH for cause in find(pair)]
    causes += [cause for find in _OF_ONE for side in (pair, pair.swapped()) for cause in find(side)]
    difference = float((values[1] - values[0]).mean())
    rows = []
    for cause in causes:
        left = _left(cause, measure, values)
        explained = np.abs(np.array(left) - difference).max(initial=0)
        if cause.is_fact and not explained >= EXPLAINS * abs(difference) > 0:
            continue
        far = max(left, key=lambda value: abs(value - difference), default=np.nan)
        rows.append(
            (
                cause.name,
                cause.where,
                cause.share,
                cause.evidence,
                far,
                cause.comparable,
                cause.remedy,
            )
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _left(cause: Cause, measure: Any, values: tuple[Floats, Floats]) -> list[float]:
    """The mean differences that are left without a cause."""
    if cause.repaired is not None:
        pairs = [[values_of([measure], run)[0] for run in runs] for runs in cause.repaired()]
        return [float((b - a).mean()) for a, b in pairs]
    if cause.queries is None or cause.queries.all():
        return []
    return [float((values[1] - values[0])[~cause.queries].mean())]
