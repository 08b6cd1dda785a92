"""In what order do preferences put many systems, and is there one at all?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .judged_runs import JudgedRuns
from .pairs import preference_cube
from .places import EQUAL, ranks
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def system_order(
    runs: Any,
    qrels: Any = None,
    preference: str = "sgnLP",
    *,
    rel: float = 1,
    cutoff: int | None = None,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """The systems in order by three ways to aggregate preferences.

    * ``mean``: the mean preference over all other systems and all queries.
    * ``borda``: in each query a system gets a point for each system it is preferred to and half a
      point for each tie; the mean over queries. With sgnLP it is the order of ``mean``.
    * ``mc4``: a walker at a system looks at another, drawn evenly, and moves there if more queries
      prefer it. Systems are ordered by where the walker stays in the long run; then, without those,
      by where he stays among the rest; and so on, since where one system beats all others he stays
      there and MC4 by itself says nothing more.

    Nothing but the data breaks ties: systems that a method cannot tell apart share a rank.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        preference: rrLP, sgnLP, lexirecall, RPP or RR.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        weights: how much each query counts.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each system, by ``mc4_rank`` and ``mean``, with ``system``, ``mean`` and
        ``mean_rank``, ``borda`` and ``borda_rank``, ``mc4_round`` (from 1, the round in which the
        walker stays with it), ``mc4`` (how much of the time) and ``mc4_rank``, and ``cycle``: a
        number from 1 that systems share which are preferred to each other in a circle by the mean,
        0 for a system in none. See :func:`cycles`.

    Source: Borda (1781); MC4: Dwork, Kumar, Naor and Sivakumar, Rank Aggregation Methods for the
    Web, 2001; both for preferences between rankings: Diaz and Ferraro, 2022.

    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> def run(*ranks):
    ...     return {f"q{q}": {**{f"x{i}": 9 - i for i in range(r - 1)}, "a": 1}
    ...             for q, r in enumerate(ranks, 1)}
    >>> runs = {"A": run(1, 2, 3), "B": run(2, 3, 1), "C": run(3, 1, 2), "D": run(4, 4, 4)}
    >>> found = system_order(runs, qrels)
    >>> found[["system", "mean_rank", "borda", "mc4_round", "mc4_rank", "cycle"]]
      system  mean_rank  borda  mc4_round  mc4_rank  cycle
    0      A          1    2.0          1         1      1
    1      B          1    2.0          1         1      1
    2      C          1    2.0          1         1      1
    3      D          4    0.0          2         4      0
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    cube = preference_cube(preference, judged.reciprocal_ranks(rel, cutoff), total)

    def of(queries: Queries) -> pd.DataFrame:
        mean, points, majority = _aggregated(cube, queries)
        others = max(len(judged) - 1, 1)
        rounds, stays = mc4(majority)
        frame = pd.DataFrame(
            {
                "system": judged.names,
                "mean": mean.sum(axis=1) / others,
                "mean_rank": ranks(mean.sum(axis=1) / others),
                "borda": points,
                "borda_rank": ranks(points),
                "mc4_round": rounds,
                "mc4": stays,
                "mc4_rank": ranks(stays - rounds),
                "cycle": _cycle_numbers(mean > EQUAL),
            }
        )
        return frame.sort_values(
            ["mc4_rank", "mean_rank", "system"], ignore_index=True, kind="stable"
        )

    return per_slice(judged.qids, of, weights, by)


def cycles(
    runs: Any,
    qrels: Any = None,
    preference: str = "sgnLP",
    *,
    rel: float = 1,
    cutoff: int | None = None,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """Triples of systems of which each is preferred to the next, round and round.

    Mean preferences need not be transitive, but for those that are differences of one value a
    system, as RR. What no order can do justice to should be known.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        preference: rrLP, sgnLP, lexirecall, RPP or RR.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        weights: how much each query counts.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each circular triple, with ``a``, ``b``, ``c``, each preferred to the next and c
        to a, and ``weakest``, the smallest of the three mean preferences; largest first. Any circle
        of more systems of which all pairs are decided holds such a triple.
    """
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    cube = preference_cube(preference, judged.reciprocal_ranks(rel, cutoff), total)

    def of(queries: Queries) -> pd.DataFrame:
        return _triples(_aggregated(cube, queries)[0], judged.names)

    return per_slice(judged.qids, of, weights, by)


def _triples(mean: Floats, names: list[str]) -> pd.DataFrame:
    """The circular triples in mean preferences."""
    preferred = mean > EQUAL
    rows = []
    for a in range(len(names)):
        # b and c after a in the list of systems, so that each circle is found once.
        b, c = np.nonzero(np.outer(preferred[a], preferred[:, a]) & preferred)
        for second, third in zip(b[(b > a) & (c > a)], c[(b > a) & (c > a)]):
            weakest = min(mean[a, second], mean[second, third], mean[third, a])
            rows.append((names[a], names[second], names[third], weakest))
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "weakest"])
    return frame.sort_values("weakest", ascending=False, ignore_index=True, kind="stable")


def mc4(majority: Bools) -> tuple[Ints, Floats]:
    """MC4 carried on until every system has its place.

    Args:
        majority: whether most queries prefer the column's system to the row's, shape (S, S).

    Returns:
        The round, from 1, in which the walker stays with a system in the long run when he starts
        anywhere among those of no earlier round, and how much of the time he does; shape (S,).

    >>> rounds, stays = mc4(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=bool))
    >>> rounds.tolist(), stays.tolist()
    ([1, 2, 3], [1.0, 1.0, 1.0])
    """
    rounds = np.zeros(len(majority), dtype=np.int64)
    stays = np.zeros(len(majority))
    left = np.arange(len(majority))
    while left.size:
        share = _long_run(majority[np.ix_(left, left)])
        there = share > 0
        rounds[left[there]] = rounds.max() + 1
        stays[left[there]] = share[there]
        left = left[~there]
    return rounds, stays


def _long_run(majority: Bools) -> Floats:
    """Where a walker is in the long run who starts anywhere; exactly 0 where he is not to stay."""
    from scipy.sparse.csgraph import connected_components

    systems = len(majority)
    moves = majority / systems
    np.fill_diagonal(moves, 0)
    np.fill_diagonal(moves, 1 - moves.sum(axis=1))
    # Squared often enough for 2^50 steps; the rows are kept distributions.
    for _ in range(50):
        moves = moves @ moves
        moves /= moves.sum(axis=1, keepdims=True)
    _, part = connected_components(majority, connection="strong")
    leaves = np.zeros(part.max() + 1, dtype=bool)
    leaves[part[np.nonzero(majority & (part[:, None] != part))[0]]] = True
    return np.where(leaves[part], 0.0, moves.mean(axis=0))


def _aggregated(cube: Floats, queries: Queries) -> tuple[Floats, Floats, Bools]:
    """Mean preferences, Borda points, and whether most queries prefer the column's system."""
    share = queries.each / queries.each.sum()
    some = cube[queries.at]
    mean = np.tensordot(share, some, axes=1)
    signs = np.tensordot(share, np.sign(some), axes=1)
    # A win is a point and a tie half of one, so with itself a system has half a point too many.
    points = (signs.sum(axis=1) + len(signs)) / 2 - 0.5
    return mean, points, signs < -EQUAL


def _cycle_numbers(preferred: Bools) -> Ints:
    """0 for a system in no circle, else the number of its circle, the largest first."""
    from scipy.sparse.csgraph import connected_components

    _, part = connected_components(preferred, connection="strong")
    sizes = np.bincount(part)
    order = np.argsort(-sizes, kind="stable")
    number = np.zeros(len(sizes), dtype=np.int64)
    number[order] = np.arange(1, len(sizes) + 1)
    number[sizes == 1] = 0
    circle: Ints = number[part]
    return circle
