"""What are the collections like that a question is asked of?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .judged_runs import JudgedRuns


def collection_statistics(runs: Any, qrels: Any, *, rel: float = 1) -> pd.DataFrame:
    """Requests, runs, relevant and retrieved documents (Table 1).

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id.
        rel: minimum grade of a relevant document.

    Returns:
        One row: ``requests``, ``runs``, ``rel/request``, ``docs/request`` (retrieved documents in
        the mean over runs and requests, none counting for a request that was not answered),
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
    return pd.DataFrame(
        {
            "requests": [len(total)],
            "runs": [len(judged)],
            "rel/request": [total.mean()],
            "docs/request": [retrieved.mean()],
            "judged/request": [len(judged.judgements.grades) / len(total)],
            "without_relevant": [int(np.sum(total == 0))],
            "unanswered": [int(np.sum(retrieved == 0))],
        }
    )
