"""Does what comes after the first relevant document tell which of two rankings has it first?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .judged_runs import JudgedRuns
from .pairs import all_pairs, by_query


def prediction_from_suffixes(
    runs: Any, qrels: Any, *, rel: float = 1, cutoff: int | None = None
) -> pd.DataFrame:
    """How often the sign of δRR_1 is predicted from the ranks p_2, ..., p_m alone (Table 2).

    Over the pairs of rankings of a query whose reciprocal ranks differ, first by sgnLP of the
    ranks from the second on, then by δRR_2. A predictor that ties does not predict: ``percent``,
    the paper's number, counts it as wrong.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id.
        rel: minimum grade of a relevant document. The paper's table has 1 on all collections.
        cutoff: look at the first ``cutoff`` documents only.

    Returns:
        A row for each predictor: ``predictor``, ``pairs`` of rankings, ``right``, ``ties``,
        ``percent`` right, and ``percent_of_untied`` right among those the predictor does not tie.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 2.

    >>> runs = {"a": {"q": {"d": 3, "e": 2}}, "b": {"q": {"x": 3, "d": 2, "e": 1}}}
    >>> prediction_from_suffixes(runs, {"q": {"d": 1, "e": 1}})
      predictor  pairs  right  ties  percent  percent_of_untied
    0     sgnLP      1      1     0    100.0              100.0
    1     δRR_2      1      1     0    100.0              100.0
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    counts = np.zeros((2, 2), dtype=np.int64)  # predictor by right and tied
    pairs = 0
    for part in by_query(judged.reciprocal_ranks(rel, cutoff), total):
        if not part.shape[1]:
            continue
        suffix = part[:, 1:]
        second = suffix[:, :1] if suffix.shape[1] else np.zeros((len(part), 1))
        target = np.sign(part[:, :1] - part[:, 0])
        better = target > 0  # each pair once, the better ranking first
        pairs += int(better.sum())
        for row, predictor in enumerate((all_pairs(suffix)[1], second - second.T)):
            counts[row] += np.sum(predictor[better] > 0), np.sum(predictor[better] == 0)
    right, tied = counts.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return pd.DataFrame(
            {
                "predictor": ["sgnLP", "δRR_2"],
                "pairs": pairs,
                "right": right,
                "ties": tied,
                "percent": 100 * right / np.float64(pairs),
                "percent_of_untied": 100 * right / (pairs - tied).astype(np.float64),
            }
        )
