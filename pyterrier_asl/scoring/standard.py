"""The standard measures, from the ranks and grades of judged documents: what trec_eval computes.

Values are those of pytrec_eval, or of ir_measures' own provider where pytrec_eval has no such
measure. ``ranks`` are those of retrieved relevant documents from 1, ascending within a query, shape
(E,), of a ranking that is already cut; ``offsets`` say where each query's begin, shape (Q + 1,);
``total`` how many relevant documents a query has, retrieved or not, and ``retrieved`` how many
documents were retrieved for it, shape (Q,). A query without relevant documents scores 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import (
    Floats,
    Ints,
    offsets_of,
    queries_of,
    reduce_by_query,
    sum_by_query,
    within_query,
)


def ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> Floats:
    """part / whole, 0 where the whole is 0.

    >>> ratio(np.array([1, 0]), np.array([4, 0])).tolist()
    [0.25, 0.0]
    """
    values: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=whole != 0)
    return values


def average_precision(ranks: Ints, offsets: Ints, total: Ints) -> Floats:
    """AP: the sum of the precisions at the relevant documents over all relevant documents.

    >>> average_precision(np.array([1, 4]), np.array([0, 2]), np.array([3])).tolist()
    [0.5]
    """
    return ratio(sum_by_query((within_query(offsets) + 1) / ranks, offsets), total)


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
    """P@k: relevant documents in the first k, over k.

    >>> precision(np.array([0, 2]), 5).tolist()
    [0.4]
    """
    return np.diff(offsets) / cutoff


def recall(offsets: Ints, total: Ints) -> Floats:
    """R@k and SetR: relevant documents retrieved, over all relevant documents.

    >>> recall(np.array([0, 2]), np.array([8])).tolist()
    [0.25]
    """
    return ratio(np.diff(offsets), total)


def success(offsets: Ints) -> Floats:
    """Success@k: 1 where a relevant document was retrieved.

    >>> success(np.array([0, 2, 2])).tolist()
    [1.0, 0.0]
    """
    return (np.diff(offsets) > 0).astype(np.float64)


def r_precision(ranks: Ints, offsets: Ints, total: Ints) -> Floats:
    """Rprec: the precision at the rank R, R the number of relevant documents.

    >>> r_precision(np.array([1, 3]), np.array([0, 2]), np.array([2])).tolist()
    [0.5]
    """
    early = ranks <= np.repeat(total, np.diff(offsets))
    return ratio(sum_by_query(early, offsets), total)


def bpref(irrelevant_above: Ints, offsets: Ints, total: Ints, irrelevant_total: Ints) -> Floats:
    """Bpref: the mean over relevant documents of 1 - min(n, R) / min(N, R).

    Args:
        irrelevant_above: n, the documents judged irrelevant above each relevant one, shape (E,).
        offsets: where each query's begin, shape (Q + 1,).
        total: R, relevant documents of each query, shape (Q,).
        irrelevant_total: N, documents judged irrelevant of each query, shape (Q,).

    >>> bpref(np.array([0, 1]), np.array([0, 2]), np.array([2]), np.array([5])).tolist()
    [0.75]
    """
    found = np.diff(offsets)
    most = np.repeat(total, found)
    whole = np.minimum(np.repeat(irrelevant_total, found), most)
    return ratio(sum_by_query(1 - ratio(np.minimum(irrelevant_above, most), whole), offsets), total)


def interpolated_precision(ranks: Ints, offsets: Ints, total: Ints, level: float) -> Floats:
    """IPrec@x: the best precision from the rank on at which the recall is x.

    As in trec_eval that is where floor(x R + 0.9) relevant documents have been seen.

    Args:
        ranks: see above.
        offsets: see above.
        total: see above.
        level: x, in [0, 1].

    >>> interpolated_precision(np.array([2, 3]), np.array([0, 2]), np.array([2]), 0.5).round(
    ...     4
    ... ).tolist()
    [0.6667]
    """
    seen = within_query(offsets) + 1
    needed = np.repeat((level * total + 0.9).astype(np.int64), np.diff(offsets))
    value = np.where(seen >= needed, seen / ranks, 0.0)
    return reduce_by_query(np.maximum, value, offsets, 0.0)


def set_precision(offsets: Ints, retrieved: Ints, total: Ints, *, relative: bool = False) -> Floats:
    """SetP: relevant documents retrieved, over documents retrieved, or, ``relative``, over what
    would be the most possible.

    >>> set_precision(np.array([0, 2]), np.array([10]), np.array([4]), relative=True).tolist()
    [0.5]
    """
    return ratio(np.diff(offsets), np.minimum(retrieved, total) if relative else retrieved)


def set_f(precision: Floats, recall: Floats, beta: float) -> Floats:
    """SetF: (beta + 1) P R / (R + beta P), with trec_eval beta and not its square.

    >>> set_f(np.array([0.5]), np.array([0.25]), 1.0).round(4).tolist()
    [0.3333]
    """
    return ratio((beta + 1) * precision * recall, recall + beta * precision)


def ndcg(ranks: Ints, gains: Floats, offsets: Ints, ideal: Floats) -> Floats:
    """nDCG: the sum of gains, each over log2(rank + 1), over the most it could be.

    Args:
        ranks: ranks of documents with a gain, shape (E,).
        gains: their gains, shape (E,).
        offsets: where each query's begin, shape (Q + 1,).
        ideal: the same sum for the best possible ranking (see :func:`ideal_dcg`), shape (Q,).

    >>> ndcg(np.array([1, 3]), np.array([2.0, 1.0]), np.array([0, 2]), np.array([2.5])).tolist()
    [1.0]
    """
    return ratio(dcg(ranks, gains, offsets), ideal)


def dcg(ranks: Ints, gains: Floats, offsets: Ints) -> Floats:
    """The sum of gains, each over log2(rank + 1), shape (Q,).

    >>> dcg(np.array([1, 3]), np.array([2.0, 1.0]), np.array([0, 2])).tolist()
    [2.5]
    """
    return sum_by_query(gains / np.log2(ranks + 1), offsets)


def ideal_dcg(gains: Floats, offsets: Ints, cutoff: int | None = None) -> Floats:
    """The discounted gain of the best possible ranking, cut at k, shape (Q,).

    Args:
        gains: gains of all judged documents, shape (J,).
        offsets: where each query's begin, shape (Q + 1,).
        cutoff: k; None: all documents.

    >>> ideal_dcg(np.array([0.0, 1.0, 2.0]), np.array([0, 3]), 1).tolist()
    [2.0]
    """
    gaining = np.flatnonzero(gains > 0)
    queries, gains = queries_of(offsets)[gaining], gains[gaining]
    best = gains[np.lexsort((-gains, queries))]
    offsets = offsets_of(queries, len(offsets) - 1)
    place = within_query(offsets)
    kept = best / np.log2(place + 2)
    return sum_by_query(kept if cutoff is None else np.where(place < cutoff, kept, 0.0), offsets)


def ideal_gains(most: int, cutoff: int | None = None) -> Floats:
    """The discounted gain of 0, 1, ... ``most`` documents of gain 1 in the best order.

    >>> ideal_gains(3, 1).tolist()
    [0.0, 1.0, 1.0, 1.0]
    """
    gained = 1 / np.log2(np.arange(most) + 2)
    if cutoff is not None:
        gained[cutoff:] = 0
    return np.concatenate(([0.0], np.cumsum(gained)))


def exponential(grades: Floats) -> Floats:
    """2^grade - 1, the gain of nDCG's other form and of ERR.

    >>> exponential(np.array([0.0, 1.0, 3.0])).tolist()
    [0.0, 1.0, 7.0]
    """
    gains: Floats = np.exp2(grades) - 1
    return gains


def expected_reciprocal_rank(
    ranks: Ints, grades: Floats, offsets: Ints, *, highest: float = 4
) -> Floats:
    """ERR: the expected reciprocal rank at which a user is satisfied, who is by a document of grade
    g with probability (2^g - 1) / 2^highest.

    Args:
        ranks: ranks of documents with a grade above 0, shape (E,).
        grades: their grades, at most ``highest``, shape (E,).
        offsets: where each query's begin, shape (Q + 1,).
        highest: the best grade that there can be; 4 in gdeval.

    >>> expected_reciprocal_rank(np.array([1, 2]), np.array([4.0, 4.0]), np.array([0, 2])).tolist()
    [0.966796875]
    """
    satisfied = exponential(grades) / 2**highest
    found = np.diff(offsets)
    value, going_on = np.zeros(len(found)), np.ones(len(found))
    for i in range(int(found.max(initial=0))):
        queries = np.flatnonzero(found > i)
        place = offsets[queries] + i
        value[queries] += going_on[queries] * satisfied[place] / ranks[place]
        going_on[queries] *= 1 - satisfied[place]
    return value


#: Where the user of RBP stops for certain, as in cwl_eval.
_RBP_DEPTH = 1000


def rank_biased_precision(ranks: Ints, offsets: Ints, persistence: float) -> Floats:
    """RBP: the share of a user's attention that falls on relevant documents.

    Args:
        ranks: see above.
        offsets: see above.
        persistence: p, in [0, 1].

    >>> rank_biased_precision(np.array([1, 3]), np.array([0, 2]), 0.5).round(9).tolist()
    [0.625]
    """
    return sum_by_query(attention(ranks, persistence), offsets)


def attention(ranks: Ints, persistence: float) -> Floats:
    """The share of a user's attention that a rank gets, p^(rank - 1) over the sum of all.

    >>> attention(np.array([1, 2, 3]), 0.5).round(9).tolist()
    [0.5, 0.25, 0.125]
    """
    every = persistence ** np.arange(_RBP_DEPTH, dtype=np.float64)
    return np.append(every / every.sum(), 0.0)[np.minimum(ranks - 1, _RBP_DEPTH)]
