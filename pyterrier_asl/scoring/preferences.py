"""Preferences between every two rankings of a query.

Lexicographic order is transitive within a query. In this order two rankings first differ at the
lowest level at which neighbours between them first differ. So all pairs of S rankings take S times
S steps, for any number of relevant documents.
"""

from __future__ import annotations

import numpy as np

from ..common.types import Floats, Ints


def all_pairs(reciprocal: Floats) -> tuple[Ints, Floats]:
    """i* and rrLP of every two rankings of a query.

    Args:
        reciprocal: RR_1, RR_2, ... of each ranking, descending, shape (S, m).

    Returns:
        i* from 1, 0 if no level differs, and rrLP of the row's ranking against the column's, each
        of shape (S, S).

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Eq. 2.

    >>> i_star, rrlp = all_pairs(np.array([[1, 1 / 2, 0], [1, 1 / 4, 1 / 5], [1, 1 / 2, 0]]))
    >>> i_star.tolist()
    [[0, 2, 0], [2, 0, 2], [0, 2, 0]]
    >>> rrlp[0].tolist()
    [0.0, 0.25, 0.0]
    """
    systems, levels = reciprocal.shape
    if not levels:
        return np.zeros((systems, systems), dtype=np.int64), np.zeros((systems, systems))
    order = np.lexsort(-reciprocal.T[::-1])
    differs = np.diff(reciprocal[order], axis=0) != 0
    neighbours = np.where(differs.any(axis=1), differs.argmax(axis=1), levels)
    first = np.full((systems, systems), levels)
    first[:, 1:] = np.where(np.tri(systems, systems - 1, -1, dtype=bool), levels, neighbours)
    first = np.minimum.accumulate(first, axis=1)
    place = np.empty(systems, dtype=np.int64)
    place[order] = np.arange(systems)
    where = np.minimum(first, first.T)[place[:, None], place]
    here = np.take_along_axis(np.pad(reciprocal, ((0, 0), (0, 1))), where, axis=1)
    return np.where(where < levels, where + 1, 0), here - here.T


def by_query(reciprocal: Floats, total: Ints) -> list[Floats]:
    """RR_1, RR_2, ... of every ranking, shape (S, total[q]), for each query.

    Args:
        reciprocal: reciprocal ranks, shape (S, total.sum()).
        total: relevant documents of each query, shape (Q,).
    """
    return np.split(reciprocal, np.cumsum(total), axis=1)[:-1]


#: The kinds of :func:`preference`, and whether values are signs, for a sign test.
KINDS: dict[str, bool] = {
    "rrLP": False,
    "sgnLP": True,
    "lexirecall": True,  # the last level first
    "RPP": False,
    "RR": False,
}


def preference(kind: str, reciprocal: Floats) -> Floats:
    """One kind of preference between every two rankings of a query.

    Args:
        kind: one of :data:`KINDS`; ``'RR'`` is the difference of the reciprocal ranks.
        reciprocal: RR_1, RR_2, ... of each ranking, shape (S, m).

    Returns:
        Shape (S, S), positive if the row's ranking is preferred; all 0 if m is 0.

    >>> both = np.array([[1, 1 / 3, 1 / 6], [1, 1 / 2, 0]])
    >>> {kind: preference(kind, both)[0, 1].round(4).item() for kind in KINDS}
    {'rrLP': -0.1667, 'sgnLP': -1.0, 'lexirecall': 1.0, 'RPP': 0.0, 'RR': 0.0}
    """
    if kind == "RPP":
        systems, levels = reciprocal.shape
        signs = (np.sign(values[:, None] - values) for values in reciprocal.T)
        return np.asarray(sum(signs, start=np.zeros((systems, systems))) / max(levels, 1))
    i_star, rrlp = all_pairs(reciprocal[:, ::-1] if kind == "lexirecall" else reciprocal)
    if kind == "RR":
        return np.where(i_star == 1, rrlp, 0.0)
    return np.asarray(np.sign(rrlp) if KINDS[kind] else rrlp)


def preference_cube(kind: str, reciprocal: Floats, total: Ints) -> Floats:
    """One kind of preference for every query, shape (Q, S, S).

    Raises:
        ValueError: for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"there is no preference {kind!r}: use one of {', '.join(KINDS)}")
    return np.stack([preference(kind, part) for part in by_query(reciprocal, total)])


def pairwise_preferences(reciprocal: Floats, total: Ints) -> tuple[Ints, Floats]:
    """i* and rrLP of every pair of systems a < b, in the order of :func:`numpy.triu_indices`.

    Args:
        reciprocal: reciprocal ranks, shape (S, total.sum()).
        total: relevant documents of each query, shape (Q,).

    Returns:
        Two arrays of shape (S (S - 1) / 2, Q).
    """
    upper = np.triu_indices(len(reciprocal), k=1)
    of_queries = [[of[upper] for of in all_pairs(part)] for part in by_query(reciprocal, total)]
    i_star, rrlp = map(np.column_stack, zip(*of_queries))
    return i_star, rrlp


def level(reciprocal: Floats, total: Ints, i: int) -> Floats:
    """RR_i of every ranking, 0 for a query with fewer than i relevant documents.

    Args:
        reciprocal: reciprocal ranks, shape (S, total.sum()).
        total: relevant documents of each query, shape (Q,).
        i: the recall level, from 1.

    Returns:
        Shape (S, Q).

    >>> level(np.array([[1, 0.5, 0.25]]), np.array([2, 0, 1]), 2).tolist()
    [[0.5, 0.0, 0.0]]
    """
    has = np.flatnonzero(total >= i)
    values = np.zeros((len(reciprocal), len(total)))
    values[:, has] = reciprocal[:, (np.cumsum(total) - total)[has] + i - 1]
    return values


def difference(reciprocal: Floats, total: Ints, i: int) -> Floats:
    """δRR_i of every pair of systems a < b, a less b; see :func:`level`.

    Returns:
        Shape (S (S - 1) / 2, Q).
    """
    values = level(reciprocal, total, i)
    first, second = np.triu_indices(len(values), k=1)
    return np.asarray(values[first] - values[second])
