"""Notes on a run: ties that decide its values, and queries among its documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..io.tables import counted
from ..judging.judged_run import OwnIds
from ..measures.names import needs_pool
from ..measures.standard import computed
from ..scoring.arrays import Floats
from .providers import values_of

#: Changes of a mean from which on ties are noted; of means above 1 a share of the mean.
_LEAST_CHANGE = 0.01
#: The share of queries from which on ids that are numbers can be no chance.
_LEAST_SHARE = 0.1


def tie_note(measures: Mapping[str, Any], values: Sequence[Floats], tied: Iterable[Any]) -> str:
    """A sentence on the means that ties change; '' where they change none by more than .01.

    Measures that need a pool or the rows of a run are left out.

    Args:
        measures: measures by their names.
        values: the values of a run by each, shape (Q,).
        tied: :attr:`~pyterrier_asl.judging.judged_run.JudgedRun.with_ties_reversed` of its parts.

    >>> from ir_measures import RR
    >>> from pyterrier_asl.judging.judgements import Judgements
    >>> run = Judgements({"q": {"a": 1}}).judge({"q": {"a": 1.0, "b": 1.0}})
    >>> tie_note({"RR": RR}, [np.array([0.5])], [run.with_ties_reversed]).partition("; ")[2]
    'ascending, mean RR would be 1.000 instead of 0.500'
    """
    others = [run for run in tied if run is not None]
    shown = []
    for (label, measure), now in zip(measures.items() if others else (), values):
        own = computed(measure)
        if own is None or own.needs_rows() or needs_pool(measure):
            continue
        then = now.copy()
        for run in others:
            then = np.where(run.retrieved > 0, values_of([measure], run)[0], then)
        old, new = now.mean(), then.mean()
        if abs(new - old) > _LEAST_CHANGE * max(1.0, abs(old)):
            shown.append(f"mean {label} would be {new:.3f} instead of {old:.3f}")
    if not shown:
        return ""
    return (
        "documents with equal scores are ordered by id, descending, as in trec_eval; ascending, "
        + ", ".join(shown)
    )


def own_ids_note(parts: Sequence[OwnIds], answered: int) -> str:
    """A sentence on queries that retrieve a document with their own id; '' if it can be chance.

    Args:
        parts: what parts of the run have.
        answered: the number of queries that the run answers.

    >>> own_ids_note([OwnIds(near=2, queries=3, has_text=True)], answered=4).partition(",")[0]
    "3 of 4 queries retrieve a document with the query's own id"
    """
    near = sum(part.near for part in parts)
    by_chance = near < 2 or near < _LEAST_SHARE * answered
    if not near or (by_chance and not any(part.has_text for part in parts)):
        return ""
    number = sum(part.queries for part in parts)
    return (
        f"{number} of {counted(answered, 'query', 'queries')} retrieve a document with the query's "
        "own id, as if the query were in the collection; leave it out with drop_self=True "
        "(--drop-self)"
    )
