"""The formulas of standard measures, from the ranks and grades of judged documents.

Values equal the values of pytrec_eval, or of the provider of ir_measures for measures that
pytrec_eval does not have. Rankings are cut before. ``ranks`` are the ranks of retrieved relevant
documents from 1, ascending within a query, shape (E,); ``offsets`` the beginning of each query's
ranks, shape (Q + 1,). ``total`` is the number of relevant documents of a query, retrieved or not,
and ``retrieved`` the number of documents retrieved for it, shape (Q,). A query without relevant
documents has the value 0.
"""

from __future__ import annotations

import numpy as np

from ..common.types import Floats, Ints
from .arrays import divide, offsets_of, queries_of, sum_by_query, within_query


def average_precision(ranks: Ints, offsets: Ints, total: Ints) -> Floats:
    """AP: the sum of the precisions at relevant documents, divided by all relevant documents.

    >>> average_precision(np.array([1, 4]), np.array([0, 2]), np.array([3])).tolist()
    [0.5]
    """
    return divide(sum_by_query((within_query(offsets) + 1) / ranks, offsets), total)


def reciprocal_rank(ranks: Ints, offsets: Ints) -> Floats:
    """RR: 1 over the rank of the first relevant document.

    >>> reciprocal_rank(np.array([4, 5]), np.array([0, 2, 2])).tolist()
    [0.25, 0.0]
    """
    answered = np.flatnonzero(np.diff(offsets))
    values = np.zeros(len(offsets) - 1)
    values[answered] = 1 / ranks[offsets[answered]]
    return values


def precision(offsets: Ints, cutoff: int) -> Floats:
    """P@k: relevant documents in the first k, divided by k.

    >>> precision(np.array([0, 2]), 5).tolist()
    [0.4]
    """
    return np.diff(offsets) / cutoff


def recall(offsets: Ints, total: Ints) -> Floats:
    """R@k and SetR: relevant documents retrieved, divided by all relevant documents.

    >>> recall(np.array([0, 2]), np.array([8])).tolist()
    [0.25]
    """
    return divide(np.diff(offsets), total)


def success(offsets: Ints) -> Floats:
    """Success@k: 1 if a relevant document was retrieved, else 0.

    >>> success(np.array([0, 2, 2])).tolist()
    [1.0, 0.0]
    """
    return (np.diff(offsets) > 0).astype(np.float64)


def ndcg(ranks: Ints, gains: Floats, offsets: Ints, ideal: Floats) -> Floats:
    """nDCG: the sum of gains / log2(rank + 1), divided by its highest possible value.

    Args:
        ranks: ranks of documents with a gain, shape (E,).
        gains: their gains, shape (E,).
        offsets: the beginning of each query's documents, shape (Q + 1,).
        ideal: the sum for the best possible ranking (see :func:`ideal_dcg`), shape (Q,).

    >>> ndcg(np.array([1, 3]), np.array([2.0, 1.0]), np.array([0, 2]), np.array([2.5])).tolist()
    [1.0]
    """
    return divide(dcg(ranks, gains, offsets), ideal)


def dcg(ranks: Ints, gains: Floats, offsets: Ints) -> Floats:
    """DCG: the sum of gains / log2(rank + 1), shape (Q,).

    >>> dcg(np.array([1, 3]), np.array([2.0, 1.0]), np.array([0, 2])).tolist()
    [2.5]
    """
    return sum_by_query(gains / np.log2(ranks + 1), offsets)


def ideal_dcg(gains: Floats, offsets: Ints, cutoff: int | None = None) -> Floats:
    """The DCG of the best possible ranking, cut at k, shape (Q,).

    Args:
        gains: gains of all judged documents, shape (J,).
        offsets: the beginning of each query's documents, shape (Q + 1,).
        cutoff: k; None: all documents.

    >>> ideal_dcg(np.array([0.0, 1.0, 2.0]), np.array([0, 3]), 1).tolist()
    [2.0]
    """
    gaining = np.flatnonzero(gains > 0)
    queries, gains = queries_of(offsets)[gaining], gains[gaining]
    offsets = offsets_of(queries, len(offsets) - 1)
    place = within_query(offsets)
    kept = gains[np.lexsort((-gains, queries))] / np.log2(place + 2)
    return sum_by_query(kept if cutoff is None else np.where(place < cutoff, kept, 0.0), offsets)


def ideal_gains(most: int, cutoff: int | None = None) -> Floats:
    """The DCG of 0, 1, ... ``most`` documents of gain 1 in the best order.

    >>> ideal_gains(3, 1).tolist()
    [0.0, 1.0, 1.0, 1.0]
    """
    gained = 1 / np.log2(np.arange(most) + 2)
    if cutoff is not None:
        gained[cutoff:] = 0
    return np.concatenate(([0.0], np.cumsum(gained)))


def exponential(grades: Floats, shift: Floats | float = 0.0) -> Floats:
    """2^grade - 1, the gain of ERR and of nDCG with ``dcg='exp-log2'``, divided by 2^shift.

    >>> exponential(np.array([0.0, 1.0, 3.0])).tolist()
    [0.0, 1.0, 7.0]
    """
    return np.asarray(np.exp2(grades - shift) - np.exp2(-np.asarray(shift)))


def expected_reciprocal_rank(
    ranks: Ints, grades: Floats, offsets: Ints, *, highest: float = 4
) -> Floats:
    """ERR: the expected reciprocal rank at which a user is satisfied.

    A document of grade g satisfies the user with probability (2^g - 1) / 2^highest.

    Args:
        ranks: ranks of documents with a grade above 0, shape (E,).
        grades: their grades, at most ``highest``, shape (E,).
        offsets: the beginning of each query's documents, shape (Q + 1,).
        highest: the best possible grade; 4 in gdeval.

    >>> expected_reciprocal_rank(np.array([1, 2]), np.array([4.0, 4.0]), np.array([0, 2])).tolist()
    [0.966796875]
    """
    satisfied = exponential(grades) / 2**highest
    sizes = np.diff(offsets)
    value, unsatisfied = np.zeros(len(sizes)), np.ones(len(sizes))
    for i in range(int(sizes.max(initial=0))):
        queries = np.flatnonzero(sizes > i)
        place = offsets[queries] + i
        value[queries] += unsatisfied[queries] * satisfied[place] / ranks[place]
        unsatisfied[queries] *= 1 - satisfied[place]
    return value


#: The last rank that a user of RBP looks at, as in cwl_eval.
_RBP_DEPTH = 1000


def attention(ranks: Ints, persistence: float) -> Floats:
    """RBP's share of a user's attention for each rank: p^(rank - 1), divided by the sum of all.

    Args:
        ranks: any ranks, from 1.
        persistence: p, in [0, 1].

    >>> attention(np.array([1, 2, 3]), 0.5).round(9).tolist()
    [0.5, 0.25, 0.125]
    """
    weights = persistence ** np.arange(_RBP_DEPTH, dtype=np.float64)
    return np.append(weights / weights.sum(), 0.0)[np.minimum(ranks - 1, _RBP_DEPTH)]
