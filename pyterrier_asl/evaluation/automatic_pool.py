"""The automatic pool: the measured runs themselves, for a rareness measure that names no pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..measures.names import needs_pool, pool_depth, with_pool
from ..measures.pool import RarenessPool, top_documents

if TYPE_CHECKING:
    from .evaluation import Evaluation


def with_pool_of(
    runs: Evaluation,
    measures: Mapping[str, Any],
    groups: Mapping[str, str] | None = None,
    name: str = "runs",
) -> dict[str, Any]:
    """The measures, with these runs for the pool of a rareness measure that has none.

    Args:
        runs: the runs, with their rows.
        measures: measures by name.
        groups: run -> group; see :class:`~pyterrier_asl.RarenessPool`.
        name: what to call the pool.
    """
    if not any(map(needs_pool, measures.values())):
        return dict(measures)
    depth = pool_depth(measures.values())
    tops = {run: top_documents(run, judged, depth) for run, judged in zip(runs.names, runs.runs)}
    return with_pool_of_tops(tops, measures, groups, name)


def with_pool_of_tops(
    tops: Mapping[str, pa.Table],
    measures: Mapping[str, Any],
    groups: Mapping[str, str] | None = None,
    name: str = "runs",
) -> dict[str, Any]:
    """Adds the pool as `with_pool_of` does, from the top documents of the runs."""
    depth = pool_depth(measures.values())
    pool = RarenessPool.from_tops(tops, depth=depth, groups=groups, name=name)
    return {label: with_pool(measure, pool) for label, measure in measures.items()}
