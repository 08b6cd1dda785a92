"""What are the collections like that a question is asked of?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .judged_runs import JudgedRuns
from .slices import Queries, per_slice


def collection_statistics(
    runs: Any, qrels: Any, *, rel: float = 1, weights: Any = None, by: Any = None
) -> pd.DataFrame:
    """Requests, runs, relevant and retrieved documents (Table 1).

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        weights: how much each request counts in the means; counts are as they are.
        by: what slice each request is in; one row for each.

    Returns:
        One row, with ``requests``, ``runs``, ``rel/request``, ``docs/request`` (retrieved documents
        in the mean over runs and requests, none counting for a request that was not answered),
        ``judged/request``, ``without_relevant``, requests that have no relevant document, and
        ``unanswered``, pairs of run and request without an answer.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 1 (the first four columns).

    >>> runs = {"a": {"q": {"d": 2, "x": 1}}, "b": {"q": {"d": 1}}}
    >>> collection_statistics(runs, {"q": {"d": 1, "e": 1}}).T[0].to_dict()
    ... # doctest: +NORMALIZE_WHITESPACE
    {'requests': 1.0, 'runs': 2.0, 'rel/request': 2.0, 'docs/request': 1.5, 'judged/request': 2.0,
     'without_relevant': 0.0, 'unanswered': 0.0}
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    retrieved = np.stack([run.retrieved for run in judged.runs])
    documents = np.bincount(judged.judgements.queries, minlength=len(total))

    def of(queries: Queries) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "requests": [len(queries)],
                "runs": [len(judged)],
                "rel/request": [queries.mean(total)],
                "docs/request": [queries.mean(retrieved).mean()],
                "judged/request": [queries.mean(documents)],
                "without_relevant": [int(np.sum(queries.of(total) == 0))],
                "unanswered": [int(np.sum(queries.of(retrieved) == 0))],
            }
        )

    return per_slice(judged.qids, of, weights, by)
