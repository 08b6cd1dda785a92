"""Which of two systems is preferred, for all pairs and kinds of preferences?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..statistics import compare_differences
from .judged_runs import JudgedRuns
from .pairs import KINDS, named_pairs, preference_cube
from .slices import Queries, per_slice


def system_preferences(
    runs: Any,
    qrels: Any = None,
    preferences: Sequence[str] = ("rrLP", "sgnLP", "lexirecall", "RPP"),
    *,
    rel: float = 1,
    cutoff: int | None = None,
    correction: str | None = "auto",
    alpha: float = 0.05,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """The mean preference of every pair of systems, exact, with a test.

    rrLP, RPP and differences of reciprocal rank get the t-test for pairs, sgnLP and lexirecall,
    which are signs, the sign test; with weights, which that test cannot take, the t-test.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        preferences: some of rrLP, sgnLP, lexirecall, RPP, RR.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        correction: over all pairs of one kind; ``'auto'`` is Holm's.
        alpha: the level of significance.
        weights: how much each query counts.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each kind and pair, with ``preference``, ``a``, ``b``, ``mean`` (positive prefers
        a) with ``ci_low`` and ``ci_high``, ``effect`` (see :mod:`pyterrier_asl.statistics`),
        ``wins`` and ``losses`` of a in queries, ``test``, ``p``, ``p_corrected``, ``family``,
        ``dropped`` (pairs without any difference) and ``significant``.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Eq. 2 and 3; lexirecall: Diaz and Mitra,
    2023; RPP: Diaz and Ferraro, 2022.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> found = system_preferences(runs, {"q": {"d": 1, "e": 1}})
    >>> found[["preference", "a", "b", "mean", "wins", "losses"]].round(4)
       preference  a  b    mean  wins  losses
    0        rrLP  a  b -0.1667     0       1
    1       sgnLP  a  b -1.0000     0       1
    2  lexirecall  a  b -1.0000     0       1
    3         RPP  a  b -0.5000     0       1
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    reciprocal = judged.reciprocal_ranks(rel, cutoff)
    cubes = {kind: preference_cube(kind, reciprocal, total) for kind in preferences}
    first, second = np.triu_indices(len(judged), k=1)

    def of(queries: Queries) -> pd.DataFrame:
        tables = []
        for kind, cube in cubes.items():
            values = cube[queries.at][:, first, second].T
            found = compare_differences(
                values, named_pairs(judged.names), correction=correction, alpha=alpha,
                test="sign" if KINDS[kind] and queries.weights is None else "t",
                weights=queries.weights,
            )  # fmt: skip
            tables.append(
                pd.DataFrame(
                    {
                        "preference": kind, "a": found["a"], "b": found["b"],
                        "mean": found["difference"], "ci_low": found["ci_low"],
                        "ci_high": found["ci_high"], "effect": found["effect"],
                        "wins": np.sum(values > 0, axis=1), "losses": np.sum(values < 0, axis=1),
                        "test": found.attrs["test"], "p": found["p"],
                        "p_corrected": found["p_corrected"], "family": found.attrs["family"],
                        "dropped": found.attrs["dropped"], "significant": found["significant"],
                    }
                )
            )  # fmt: skip
        return pd.concat(tables, ignore_index=True)

    return per_slice(judged.qids, of, weights, by)
