"""Does what comes after the first relevant document tell which of two rankings has it first?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .judged_runs import JudgedRuns
from .pairs import all_pairs, by_query
from .slices import Queries, per_slice

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def prediction_from_suffixes(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """How often the sign of δRR_1 is predicted from the ranks p_2, ..., p_m alone (Table 2).

    Over the pairs of rankings of a query whose reciprocal ranks differ, first by sgnLP of the
    ranks from the second on, then by δRR_2. A predictor that ties does not predict: ``percent``,
    the paper's number, counts it as wrong.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document. The paper's table has 1 on all collections.
        cutoff: look at the first ``cutoff`` documents only.
        weights: how much a query's pairs count in the percentages.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each predictor, with ``predictor``, ``pairs`` of rankings, ``right``, ``ties``,
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
    counts = np.zeros((2, 2, len(total)), dtype=np.int64)  # right or tied, predictor, query
    pairs = np.zeros(len(total), dtype=np.int64)
    for query, part in enumerate(by_query(judged.reciprocal_ranks(rel, cutoff), total)):
        if part.shape[1]:
            pairs[query], counts[..., query] = _predicted(part)

    def of(queries: Queries) -> pd.DataFrame:
        share = queries.each / queries.each.sum()
        of_all, (right, tied) = queries.of(pairs) @ share, queries.of(counts) @ share
        with np.errstate(invalid="ignore", divide="ignore"):
            return pd.DataFrame(
                {
                    "predictor": ["sgnLP", "δRR_2"],
                    "pairs": queries.of(pairs).sum(),
                    "right": queries.of(counts)[0].sum(axis=-1),
                    "ties": queries.of(counts)[1].sum(axis=-1),
                    "percent": 100 * right / of_all,
                    "percent_of_untied": 100 * right / (of_all - tied),
                }
            )

    return per_slice(judged.qids, of, weights, by)


def _predicted(part: Floats) -> tuple[int, Ints]:
    """Pairs of a query whose RR differs; of those, right and tied ones of each predictor."""
    suffix = part[:, 1:]
    second = suffix[:, :1] if suffix.shape[1] else np.zeros((len(part), 1))
    better = part[:, :1] > part[:, 0]  # each pair once, the better ranking first
    predicted = np.stack([p[better] for p in (all_pairs(suffix)[1], second - second.T)])
    counts = np.stack([np.sum(predicted > 0, axis=1), np.sum(predicted == 0, axis=1)])
    return int(better.sum()), counts.astype(np.int64)
