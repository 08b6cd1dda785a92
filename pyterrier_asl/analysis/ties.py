"""How often can two rankings of a query not be told apart?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .judged_runs import JudgedRuns
from .pairs import by_query, level, preferences
from .slices import Queries, per_slice


def ties(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """Ties between the rankings that two systems give the same query (Table 3).

    A query without relevant documents ties all rankings.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        weights: how much each query counts.
        by: what slice each query is in; one table for each.

    Returns:
        A row for lexiprecision (rrLP and sgnLP tie alike) and one for reciprocal rank, with
        ``preference``, ``pairs`` of rankings, ``ties`` among them, and ``percent``.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 3.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> ties(runs, {"q": {"d": 1, "e": 1}})
        preference  pairs  ties  percent
    0  rrLP, sgnLP      1     0      0.0
    1           RR      1     1    100.0
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    i_star, _ = preferences(judged.reciprocal_ranks(rel, cutoff), total)
    tied = np.stack([np.sum(i_star == 0, axis=0), np.sum(i_star != 1, axis=0)])
    pairs = len(i_star)

    def of(queries: Queries) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "preference": ["rrLP, sgnLP", "RR"],
                "pairs": pairs * len(queries),
                "ties": queries.of(tied).sum(axis=1),
                "percent": 100 * queries.mean(tied) / max(pairs, 1),
            }
        )

    return per_slice(judged.qids, of, weights, by)


def tie_probability_by_rank(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    deepest: int = 10,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """How likely another system's ranking ties with one in reciprocal rank, by its rank p_1.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        deepest: the last rank p_1 to report.
        weights: how much a query's pairs count in the probability.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each rank, with ``p_1``, ``rankings`` whose first relevant document is there,
        ``pairs`` of such a ranking with another system's for the same query, and ``probability`` of
        a tie in such a pair, not a number where there is none.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 3.

    >>> runs = {name: {"q": {"d": 1}} for name in ("a", "b")} | {"c": {"q": {"x": 2, "d": 1}}}
    >>> tie_probability_by_rank(runs, {"q": {"d": 1}}, deepest=2)
       p_1  rankings  pairs  probability
    0    1         2      4          0.5
    1    2         1      2          0.0
    """
    judged = JudgedRuns.of(runs, qrels)
    first = level(judged.reciprocal_ranks(rel, cutoff), judged.judgements.num_relevant(rel), 1)
    ranks = np.arange(1, deepest + 1)
    # How many of each query's rankings have their first relevant document at each rank.
    there = np.stack([np.sum(first == 1 / rank, axis=0) for rank in ranks])
    others = len(judged) - 1

    def of(queries: Queries) -> pd.DataFrame:
        here = queries.of(there)
        with np.errstate(invalid="ignore"):
            probability = (here * (here - 1)) @ queries.each / (here @ queries.each * others)
        rankings = here.sum(axis=1)
        return pd.DataFrame(
            {
                "p_1": ranks,
                "rankings": rankings,
                "pairs": rankings * others,
                "probability": probability,
            }
        )

    return per_slice(judged.qids, of, weights, by)


def ties_by_recall_level(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    levels: int = 20,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """How often two rankings have their i-th relevant document at the same rank.

    Only queries with i relevant documents or more count for level i. Two rankings that both miss
    the i-th are tied.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        levels: how many recall levels to look at.
        weights: how much a query's pairs count in the shares.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each level ``i``, with ``pairs`` of rankings, ``probability`` of the same
        position, and ``both_missing``, the share of pairs in which neither retrieved it.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 5.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> ties_by_recall_level(runs, {"q": {"d": 1, "e": 1}}, levels=2)
       i  pairs  probability  both_missing
    0  1      1          1.0           0.0
    1  2      1          0.0           0.0
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    pairs, tied, missing = np.zeros((3, levels, len(total)), dtype=np.int64)
    for query, part in enumerate(by_query(judged.reciprocal_ranks(rel, cutoff), total)):
        for i in range(min(levels, part.shape[1])):
            values, counts = np.unique(part[:, i], return_counts=True)
            alike = counts * (counts - 1) // 2
            pairs[i, query] = len(judged) * (len(judged) - 1) // 2
            tied[i, query] = alike.sum()
            missing[i, query] = alike[values == 0].sum()

    def of(queries: Queries) -> pd.DataFrame:
        whole = queries.of(pairs) @ queries.each
        with np.errstate(invalid="ignore"):
            return pd.DataFrame(
                {
                    "i": np.arange(1, levels + 1),
                    "pairs": queries.of(pairs).sum(axis=1),
                    "probability": queries.of(tied) @ queries.each / whole,
                    "both_missing": queries.of(missing) @ queries.each / whole,
                }
            )

    return per_slice(judged.qids, of, weights, by)
