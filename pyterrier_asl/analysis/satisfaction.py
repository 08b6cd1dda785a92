"""How soon is a user satisfied? Success at n (Trotman and Keeler 2011, Figures 1 and 3)."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..judging import JudgedRun
from ..scoring.assessor import expected_success
from ..statistics import confidence_interval
from .assessors import Assessed, assessed_by
from .judged_runs import JudgedRuns, per_track
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]


def satisfaction(
    runs: Any,
    qrels: Any = None,
    *,
    assessors: Any = None,
    depth: int = 10,
    rel: float = 1,
    assessor_rel: Any = None,
    alpha: float = 0.05,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """S@n: the share of queries with a relevant document among the first n.

    Args:
        runs: the runs of one track; or, without qrels, a dict of track -> (runs, qrels).
        qrels: the judgements of the one track.
        assessors: other assessors' judgements of the same topics, name -> qrels, for one track;
            then every curve is over the topics that all of them judged.
        depth: the largest n; 10 is a first page of results.
        rel: minimum grade of a relevant document.
        assessor_rel: the same for the assessors: a number or name -> number; None: as ``rel``.
        alpha: the intervals cover 1 - alpha.
        weights: how much each query counts; for one track.
        by: slices of the queries; for one track.

    Returns:
        One row for each track, system and n, with ``track``, ``system``, ``kind`` (``'run'`` or
        ``'assessor'``), ``n``, ``S@n``, ``ci_low`` and ``ci_high`` (Student's, over queries, cut to
        [0, 1]), ``queries``. An assessor's documents have no order, so his is the value to be
        expected of a random one.

    Source: Trotman and Keeler 2011, Figures 1 and 3.

    >>> runs = {"run": {"q1": {"a": 2, "x": 1}, "q2": {"x": 2, "a": 1}}}
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> satisfaction(runs, qrels, depth=2)[["system", "n", "S@n"]]
      system  n  S@n
    0    run  1  0.5
    1    run  2  1.0
    """
    if depth < 1:
        raise ValueError(f"depth is {depth}, but a user looks at 1 document or more")

    def of_track(_: str, judged: JudgedRuns) -> pd.DataFrame:
        assessed = assessed_by(judged.judgements, assessors or {}, rel, assessor_rel)
        curves = [
            _Curve(system, "run", success(run, depth, rel)[:, assessed.at])
            for system, run in zip(judged.names, judged.runs)
        ]
        curves += [_Curve(each.name, "assessor", _expected(each, depth)) for each in assessed.each]
        return per_slice(assessed.qids, partial(_points, curves, alpha), weights, by)

    return per_track(of_track, runs, qrels, assessors=assessors or None, weights=weights, by=by)


class _Curve(NamedTuple):
    """One system's success at each n for each query, shape (depth, Q)."""

    system: str
    kind: str
    success: Floats


def _points(curves: list[_Curve], alpha: float, queries: Queries) -> pd.DataFrame:
    rows = []
    for system, kind, values in curves:
        for n, one in enumerate(queries.of(values), start=1):
            mean, low, high = confidence_interval(one, alpha=alpha, weights=queries.weights)
            point = {"system": system, "kind": kind, "n": n, "S@n": mean}
            ends = {"ci_low": max(low, 0.0), "ci_high": min(high, 1.0)}
            rows.append({**point, **ends, "queries": len(queries)})
    return pd.DataFrame(rows)


def success(run: JudgedRun, depth: int, rel: float = 1) -> Floats:
    """Whether each query has a relevant document among the first 1, ..., depth; (depth, Q).

    >>> from pyterrier_asl.judging import Judgements
    >>> success(Judgements({"q": {"a": 1}}).judge({"q": {"x": 2, "a": 1}}), 3).tolist()
    [[0.0], [1.0], [1.0]]
    """
    relevant = run.relevant(rel)
    first = np.full(len(relevant.total), np.inf)
    answered = relevant.found > 0
    first[answered] = relevant.ranks[relevant.offsets[:-1][answered]]
    return (first <= np.arange(1, depth + 1)[:, None]).astype(np.float64)


def _expected(assessed: Assessed, depth: int) -> Floats:
    """E[S@n] of an assessor's documents in random order, shape (depth, Q)."""
    counts = assessed.retrieved, assessed.common
    return np.array([expected_success(*counts, n=n) for n in range(1, depth + 1)])
