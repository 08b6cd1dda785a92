"""The causes of the difference between a run and the baseline, with what is left without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

#: Asked about both runs at once, and about one of them at a time.
_OF_BOTH = (qrels_ids, exchanged_queries, unjudged_documents)
_OF_ONE: tuple[Callable[[Pair], Cause | None], ...] = (
    document_ids,
    unknown_documents,
    unanswered_queries,
    repeated_rankings,
    missing_documents,
    short_rankings,
    reversed_scores,
    tied_scores,
    own_queries,
)

#: A fact is named where it explains so much of the difference.
_EXPLAINS = 0.1
COLUMNS = ("cause", "where", "share", "evidence", "effect", "comparable", "remedy")


def find_causes(
    a: JudgedRun, b: JudgedRun, measure: Any, values: tuple[Floats, Floats]
) -> pd.DataFrame:
    """The causes of the difference between two runs other than the systems.

    Args:
        a: the baseline.
        b: the run.
        measure: the measure that effects are computed by.
        values: its values for both by query, each of shape (Q,).

    Returns:
        A row per cause: ``cause``; ``where``, what has it; ``share`` of documents or queries;
        ``evidence``; ``effect``, the mean difference that is left without it, NaN where it cannot
        be computed; ``comparable``, whether the runs can be compared; ``remedy``.
    """
    pair, difference, rows = Pair.of(a, b), values[1] - values[0], []
    for side, cause in _causes(pair):
        left = list(_left(cause, side is pair, measure, difference))
        far = max(left, key=lambda value: abs(value - difference.mean()), default=np.nan)
        explained, whole = abs(far - difference.mean()), abs(difference.mean())
        if not cause.is_fact or explained >= _EXPLAINS * whole > 0:
            values_of_row = vars(cause) | {"cause": cause.name, "effect": far}
            rows.append({name: values_of_row[name] for name in COLUMNS})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _causes(pair: Pair) -> Iterator[tuple[Pair, Cause]]:
    """The causes, each with the pair where it was found."""
    for sides, finders in (((pair,), _OF_BOTH), ((pair, pair.swapped), _OF_ONE)):
        for find in finders:
            for side in sides:
                if (cause := find(side)) is not None:
                    yield side, cause


def _left(cause: Cause, is_b: bool, measure: Any, difference: Floats) -> Iterator[float]:
    """The mean differences, B less A, that are left without a cause."""
    if cause.repaired is not None:
        for runs in cause.repaired():
            other, this = (values_of([measure], run)[0].mean() for run in runs)
            yield float(this - other if is_b else other - this)
    elif cause.queries is not None and not cause.queries.all():
        yield float(difference[~cause.queries].mean())
