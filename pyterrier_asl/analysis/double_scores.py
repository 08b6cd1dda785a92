"""Rankings by scores that are compared as 64-bit numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..scoring.arrays import within_query
from .registry import JudgedRuns


def by_double_scores(runs: JudgedRuns) -> JudgedRuns:
    """Ranks runs by their scores as 64-bit numbers.

    trec_eval compares 32-bit ones, and so do all measures here: scores that differ in the eighth
    digit only tie, and the document id decides. Programs that read scores as Python or NumPy do
    rank such documents otherwise, which changes a few of TREC-8's runs.

    Args:
        runs: runs that were judged from their rows.

    >>> run = {"q": {"a": 1.00000002, "b": 1.00000001}}
    >>> runs = JudgedRuns.of({"run": run}, {"q": {"a": 1}})
    >>> [judged.runs[0].ranks.tolist() for judged in (runs, by_double_scores(runs))]
    [[2], [1]]
    """
    judged = [runs.judgements.judge_whole(_reranked(run.table)) for run in runs.runs]
    return JudgedRuns(runs.names, judged, runs.judgements, runs.source)


def _reranked(table: object) -> pa.Table:
    """A run whose scores are positions by 64-bit scores, which 32 bits hold exactly."""
    columns = {name: getattr(table, name) for name in ("qid", "docno")}
    run = pa.table({**columns, "score": pa.array(table.value)})  # type: ignore[attr-defined]
    order = pc.sort_indices(
        run, sort_keys=[("qid", "ascending"), ("score", "descending"), ("docno", "descending")]
    )
    run = run.take(order)
    is_first = pc.not_equal(run["qid"][1:], run["qid"][:-1]).to_numpy()
    offsets = np.concatenate(([0], np.flatnonzero(is_first) + 1, [len(run)]))
    return run.set_column(2, "score", pa.array(-within_query(offsets).astype(np.float64)))
