"""How many recall levels does it take to tell two rankings apart, and what do the next ones say?"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .judged_runs import JudgedRuns
from .pairs import level, preferences
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]


def recall_level_needed(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    levels: int = 20,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """At which recall level i* two rankings are first told apart (Figure 6).

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        levels: how many recall levels to report.
        weights: how much each query counts.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each level ``i``, with ``pairs`` of rankings first told apart there, and
        ``cumulative``, the share of all pairs that are told apart at that level or before. What is
        left at the end needs more levels, or ties.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 6.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> recall_level_needed(runs, {"q": {"d": 1, "e": 1}}, levels=2)
       i  pairs  cumulative
    0  1      0         0.0
    1  2      1         1.0
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    i_star, _ = preferences(judged.reciprocal_ranks(rel, cutoff), total)
    told = np.stack([np.sum(i_star == i, axis=0) for i in range(1, levels + 1)])

    def of(queries: Queries) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "i": np.arange(1, levels + 1),
                "pairs": queries.of(told).sum(axis=1),
                "cumulative": np.cumsum(queries.mean(told)) / max(len(i_star), 1),
            }
        )

    return per_slice(judged.qids, of, weights, by)


def level_correlations(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    levels: int = 8,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """Pearson correlations of the differences δRR_i and δRR_j of two rankings (Figure 7a).

    Over all pairs of systems and all queries with j relevant documents or more.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        levels: how many recall levels to look at.
        weights: how much a query's pairs count in the correlation.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each i < j, with ``i``, ``j``, ``pairs`` of rankings, ``correlation``; not a
        number where one of the two levels never differs.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 7a.
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    reciprocal = judged.reciprocal_ranks(rel, cutoff)

    def of(queries: Queries) -> pd.DataFrame:
        rows = []
        for j in range(2, levels + 1):
            products, pairs = _products(reciprocal, total, range(1, j + 1), queries)
            for i in range(1, j):
                scale = np.sqrt(products[i - 1, i - 1] * products[j - 1, j - 1])
                correlation = products[i - 1, j - 1] / scale if scale else np.nan
                rows.append((i, j, pairs, correlation))
        frame = pd.DataFrame(rows, columns=["i", "j", "pairs", "correlation"])
        return frame.sort_values(["i", "j"], ignore_index=True)

    return per_slice(judged.qids, of, weights, by)


def level_regressions(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    levels: int = 4,
    following: int = 4,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """Linear regression of δRR_i on the next levels, δRR_(i+1) to δRR_(i+4) (Figure 7b).

    Over all pairs of systems, both ways round, so that there is no intercept; and over all queries
    with i + 4 relevant documents or more.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        levels: regress δRR_1 to this one.
        following: on how many following levels.
        weights: how much a query's pairs count in the regression.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each i and j, with ``i``, ``j``, ``coefficient`` of δRR_(i+j), ``R2`` of the
        regression and ``pairs`` of rankings that it is about.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 7b.
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    reciprocal = judged.reciprocal_ranks(rel, cutoff)

    def of(queries: Queries) -> pd.DataFrame:
        products = (
            _products(reciprocal, total, range(i, i + following + 1), queries)
            for i in range(1, levels + 1)
        )
        fits = (_regression(i, *found) for i, found in enumerate(products, 1))
        columns = ["i", "j", "coefficient", "R2", "pairs"]
        return pd.DataFrame(chain.from_iterable(fits), columns=columns)

    return per_slice(judged.qids, of, weights, by)


def _regression(
    i: int, products: Floats, pairs: int
) -> list[tuple[int, int, float, float, int]]:
    with_target, among = products[1:, 0], products[1:, 1:]
    coefficients = np.linalg.lstsq(among, with_target, rcond=None)[0]
    explained = coefficients @ with_target
    r2 = explained / products[0, 0] if products[0, 0] else np.nan
    return [(i, j, float(c), float(r2), pairs) for j, c in enumerate(coefficients, 1)]


def _products(
    reciprocal: Floats, total: npt.NDArray[np.int64], levels: range, queries: Queries
) -> tuple[Floats, int]:
    """Sums of δRR_i δRR_j over all pairs of rankings of the queries that have the last level.

    Both ways round δRR has mean 0. Of S values x and y, the differences of all ordered pairs have
    the product sum 2 S² cov(x, y): no pair need be made.
    """
    has = queries.where(total >= levels[-1])
    values = np.stack([has.of(level(reciprocal, total, i)) for i in levels])
    centred = values - values.mean(axis=1, keepdims=True)
    systems = values.shape[1]
    sums = 2 * systems * np.einsum("isq,jsq,q->ij", centred, centred, has.each)
    return sums, systems * (systems - 1) // 2 * len(has)
