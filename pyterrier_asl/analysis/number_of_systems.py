"""Is rareness among a few systems the rareness among many?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..measures import AP_Rareness, P_Rareness
from .double_scores import by_double_scores
from .judged_runs import JudgedRuns
from .rareness_values import RarenessValues, checked_rareness, gain_line
from .slices import Queries, per_slice

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Numbers in the largest array at a time.
_CHUNK = 2**22


def agreement_by_number_of_systems(
    runs: Any,
    qrels: Any = None,
    measures: Sequence[Any] | None = None,
    *,
    sizes: Sequence[int] = (2, 4, 8, 16, 32, 64),
    draws: int = 1000,
    weights: Any = None,
    by: Any = None,
    seed: int = 0,
    as_published: bool = False,
) -> pd.DataFrame:
    """Kendall's tau between the order of N sampled systems and their order among all (Table 3).

    Algorithm 1: N systems are drawn, S_d and S counted on them alone, and their order by that
    compared with the order the same systems have where all are counted. Two systems say only
    "the same" or "reversed": tau of N = 2 is a share of draws, and its mean over draws scatters.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        measures: rareness measures without a pool, or their names; None: ``P_Rareness@100`` and
            ``AP_Rareness@100`` with alpha 1, as in the paper.
        sizes: numbers N of systems; those above the number of runs are left out.
        draws: how often to draw for each.
        weights: how much each query counts in a mean.
        by: what slice each query is in; one table for each.
        seed: of the draws; the same seed gives the same numbers.
        as_published: on rankings by 64-bit scores.

    Returns:
        A row for each measure and N, with ``measure``, ``systems``, ``tau`` (tau-b, mean over
        draws), ``standard_error`` of that mean, ``draws``, and ``undefined``, draws in which all
        systems are tied and that are left out.

    Source: Türkmen, Lease and Kutlu, 2023, Algorithm 1 and Table 3.
    """
    judged = JudgedRuns.of(runs, qrels)
    judged = by_double_scores(judged) if as_published else judged
    if measures is None:
        measures = [P_Rareness(alpha=1) @ 100, AP_Rareness(alpha=1) @ 100]
    apart = {str(m): RarenessValues.of(judged, m) for m in map(checked_rareness, measures)}
    possible = [size for size in sizes if 2 <= size <= len(judged)]

    def of(queries: Queries) -> pd.DataFrame:
        count = np.zeros(len(judged.qids))
        count[queries.at] = queries.each
        rows = []
        for name, parts in apart.items():
            for size in possible:
                tau = _taus(parts, count, _drawn(len(judged), size, draws, seed + size))
                known = tau[~np.isnan(tau)]
                error = known.std(ddof=1) / np.sqrt(known.size) if known.size > 1 else np.nan
                mean = known.mean() if known.size else np.nan
                rows.append((name, size, mean, error, draws, tau.size - known.size))
        columns = ["measure", "systems", "tau", "standard_error", "draws", "undefined"]
        return pd.DataFrame(rows, columns=columns)

    return per_slice(judged.qids, of, weights, by)


def _drawn(systems: int, size: int, draws: int, seed: int) -> Ints:
    """Systems drawn without replacement, shape (draws, size)."""
    generator = np.random.default_rng(seed)
    everyone = np.tile(np.arange(systems), (draws, 1))
    return generator.permuted(everyone, axis=1)[:, :size]


def _taus(parts: RarenessValues, weights: Floats, drawn: Ints) -> Floats:
    """tau of each draw, from a matrix of systems by systems: see ``mean_parts``."""
    base, shared = parts.mean_parts(weights)
    everyone, size = len(base), drawn.shape[1]
    a, b = gain_line(everyone, parts.alpha, parts.normalized)
    among_all = a * base - b * shared.sum(axis=1)
    a, b = gain_line(size, parts.alpha, parts.normalized)
    taus = np.empty(len(drawn))
    step = max(1, _CHUNK // size**2)
    for begin in range(0, len(drawn), step):
        some = drawn[begin : begin + step]
        among_some = a * base[some] - b * shared[some[:, :, None], some[:, None, :]].sum(axis=2)
        taus[begin : begin + step] = tau_b(among_some, among_all[some])
    return taus


def tau_b(first: Floats, second: Floats) -> Floats:
    """Kendall's tau-b of many pairs of score vectors, row by row.

    Scores that differ by no more than rounding are tied.

    Args:
        first: shape (D, N).
        second: shape (D, N).

    Returns:
        Shape (D,), not a number where all scores of a row are tied.

    >>> tau_b(np.array([[3.0, 2, 1]]), np.array([[3.0, 1, 2]])).round(4).tolist()
    [0.3333]
    """
    a, b = (np.sign(_rounded(x[:, :, None] - x[:, None, :])) for x in (first, second))
    agree = np.einsum("dij,dij->d", a, b)
    untied = np.einsum("dij,dij->d", a, a) * np.einsum("dij,dij->d", b, b)
    with np.errstate(invalid="ignore"):
        tau: Floats = agree / np.sqrt(untied)
    return tau


def _rounded(differences: Floats) -> Floats:
    return np.where(np.abs(differences) > 1e-12, differences, 0.0)
