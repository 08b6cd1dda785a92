"""How does the order of systems change with the weight of rareness?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..measures import AP_Rareness, P_Rareness
from ..scoring.agreement import tau_ap
from ..statistics import kendall_tau
from .double_scores import by_double_scores
from .judged_runs import JudgedRuns
from .places import rounded
from .rareness_values import RarenessValues, checked_rareness
from .slices import Queries, per_slice

#: 0, 0.1, ..., 1.
ALPHAS: tuple[float, ...] = tuple(i / 10 for i in range(11))


def agreement_by_alpha(
    runs: Any,
    qrels: Any = None,
    measures: Sequence[Any] | None = None,
    *,
    alphas: Sequence[float] = ALPHAS,
    weights: Any = None,
    by: Any = None,
    as_published: bool = False,
) -> pd.DataFrame:
    """Agreement of the order of systems with the one at alpha 0, that of P or AP (Figure 2).

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns. They are
            the pool.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        measures: rareness measures without a pool, or their names; their own alpha does not
            matter. None: ``P_Rareness@100`` and ``AP_Rareness@100``.
        alphas: weights of rareness.
        weights: how much each query counts in a mean.
        by: what slice each query is in; one table for each.
        as_published: on rankings by 64-bit scores.

    Returns:
        A row for each measure and alpha, with ``measure``, ``alpha``, ``tau`` (Kendall's tau-b) and
        ``tau_AP``, with the order at alpha 0 as the true one.

    Source: Türkmen, Lease and Kutlu, 2023, Figure 2.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 2, "x": 1}}}
    >>> agreement_by_alpha(runs, {"q": {"d": 1, "e": 1}}, ["P_Rareness@2"], alphas=[0, 1])
            measure  alpha  tau  tau_AP
    0  P_Rareness@2    0.0  1.0     1.0
    1  P_Rareness@2    1.0  1.0     1.0
    """
    judged = JudgedRuns.of(runs, qrels)
    judged = by_double_scores(judged) if as_published else judged
    measures = [P_Rareness @ 100, AP_Rareness @ 100] if measures is None else measures
    apart = {str(m): RarenessValues.of(judged, m) for m in map(checked_rareness, measures)}
    everyone = np.ones(len(judged), dtype=bool)

    def of(queries: Queries) -> pd.DataFrame:
        rows = []
        for name, parts in apart.items():
            means = [
                rounded(queries.mean(replace(parts, alpha=alpha).of_pool(everyone)))
                for alpha in (0.0, *alphas)
            ]
            for alpha, mean in zip(alphas, means[1:]):
                row = (kendall_tau(mean, means[0]), tau_ap(mean, means[0]))
                rows.append((name, float(alpha), *row))
        return pd.DataFrame(rows, columns=["measure", "alpha", "tau", "tau_AP"])

    return per_slice(judged.qids, of, weights, by)
