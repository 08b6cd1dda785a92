"""Compiled loops over postings: scoring, best documents, ranks of judged documents.

For few postings, or without Numba, :mod:`~pyterrier_asl.retrieval.loops` uses NumPy instead. The
retriever and the sweep add up scores in the same loop, so that their scores and ties are equal to
the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt

from ..common.types import Bools, Floats, Ints
from .postings import Int32s, ScoringArrays, WeightedQueries, length_norm, term_score

UInt32s = npt.NDArray[np.uint32]
F = TypeVar("F", bound=Callable[..., Any])


def _compiled(function: F) -> F:
    """The function compiled on first use, without the interpreter's lock, and kept on disk."""
    try:
        return numba.njit(cache=True, nogil=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder can be written: neither the package's, nor the user's
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]


_length_norm, _term_score = _compiled(length_norm), _compiled(term_score)


@_compiled
def best_documents(
    index: ScoringArrays,
    queries: WeightedQueries,
    k1: float,
    b: float,
    depth: int,
) -> tuple[Ints, Int32s, Floats]:
    """Scores Q queries over N documents, and lists the best documents of each query.

    Args:
        index: the postings and the lengths of documents.
        queries: with the weights q_t w_t (k1 + 1).
        k1, b: the parameters of BM25.
        depth: the number of retrieved documents: the best by score, then by docid, ascending.

    Returns:
        Where each query's documents begin, [Q + 1]; the documents, best first; their scores.
    """
    offsets = np.zeros(len(queries.offsets), np.int64)
    postings = np.append(0, np.cumsum(np.diff(index.term_offsets)[queries.terms]))
    size = 1 + np.minimum(np.diff(postings[queries.offsets]), depth).sum()
    best, best_scores = np.empty(size, np.int32), np.empty(size, np.float64)
    scores, seen, docs = _no_scores(len(index.length_ratios))
    for query in range(len(offsets) - 1):
        start = offsets[query]
        candidates = _accumulate(index, queries, query, k1, b, scores, seen, docs)
        end = start + keep_best(docs[:candidates], scores, seen, depth, best[start:])
        sort_by_score(best[start:end], scores, best_scores[start:end])
        offsets[query + 1] = end
        _forget(docs[:candidates], scores, seen)
    size = offsets[-1]
    return offsets, best[:size].copy(), best_scores[:size].copy()


@_compiled
def sort_by_score(docs: Int32s, scores: Floats, sorted_scores: Floats) -> None:
    """Sorts documents by their scores, descending, then by docid."""
    docs.sort()
    docs[:] = docs[np.argsort(-scores[docs], kind="mergesort")]
    sorted_scores[:] = scores[docs]


@_compiled
def rank_judged(
    index: ScoringArrays,
    queries: WeightedQueries,
    k1: float,
    b: float,
    depth: int,
    id_order: UInt32s,
    costs: Floats,
    judged_offsets: Ints,
    judged_docs: Int32s,
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Scores Q queries as :func:`best_documents` does, and ranks their judged documents.

    Only the few judged documents of a query are sorted; every other document is counted for the
    judged documents that it ranks above.

    Args:
        index, queries, k1, b, depth: see :func:`best_documents`.
        id_order: [N] the ranks of docnos in ascending order; equal scores rank by it, descending.
        costs: [N] the cost of a document for the documents below it.
        judged_offsets: [Q + 1] where the judged documents of each query begin.
        judged_docs: their docids, -1 for one that is not in the index.

    Returns:
        The number of retrieved documents, [Q]; where each query's entries begin, [Q + 1]; then one
        entry per retrieved judged document, best first: its number, its rank, the costs above it.
    """
    offsets = np.zeros(len(queries.offsets), np.int64)
    retrieved = np.zeros(len(offsets) - 1, np.int64)
    which = np.empty(len(judged_docs), np.int64)
    ranks = np.empty(len(judged_docs), np.int64)
    above = np.empty(len(judged_docs), np.float64)
    scores, seen, docs = _no_scores(len(index.length_ratios))
    best = np.empty(len(docs), np.int32)
    for query in range(len(retrieved)):
        start = offsets[query]
        candidates = _accumulate(index, queries, query, k1, b, scores, seen, docs)
        kept = keep_best(docs[:candidates], scores, seen, depth, best)
        retrieved[query] = kept
        offsets[query + 1] = start + _rank_present(
            best[:kept],
            scores,
            seen,
            id_order,
            costs,
            judged_docs,
            judged_offsets[query],
            judged_offsets[query + 1],
            which[start:],
            ranks[start:],
            above[start:],
        )
        _forget(docs[:candidates], scores, seen)
    size = offsets[-1]
    return retrieved, offsets, which[:size].copy(), ranks[:size].copy(), above[:size].copy()


@_compiled
def _no_scores(num_docs: int) -> tuple[Floats, Bools, Int32s]:
    """What :func:`_accumulate` fills, before the first query."""
    scores, seen = np.zeros(num_docs, np.float64), np.zeros(num_docs, np.bool_)
    return scores, seen, np.empty(num_docs + 1, np.int32)


@_compiled
def _accumulate(
    index: ScoringArrays,
    queries: WeightedQueries,
    query: int,
    k1: float,
    b: float,
    scores: Floats,
    seen: Bools,
    docs: Int32s,
) -> int:
    """Adds up the scores of a query's candidates, lists them, and returns their number."""
    # Compiled loops are quicker over plain arrays than over the members of a tuple.
    term_offsets, posting_docs, posting_tfs, length_ratios = index
    candidates = 0
    for entry in range(queries.offsets[query], queries.offsets[query + 1]):
        weight, term = queries.weights[entry], queries.terms[entry]
        for posting in range(term_offsets[term], term_offsets[term + 1]):
            doc = posting_docs[posting]
            docs[candidates] = doc  # the next one overwrites it if this one is in the list
            candidates += not seen[doc]
            seen[doc] = True
            scores[doc] += _term_score(
                weight, posting_tfs[posting], _length_norm(k1, b, length_ratios[doc])
            )
    return candidates


@_compiled
def _forget(docs: Int32s, scores: Floats, seen: Bools) -> None:
    """Resets the scores of these documents after :func:`_accumulate`."""
    scores[docs] = 0.0
    seen[docs] = False


@_compiled
def _nth_largest(values: Floats, n: int) -> float:
    """The n-th largest value.

    Values are counted in bins of equal width, and only the bin with the n-th value is sorted. This
    takes less than a third of the time of ``np.partition``.
    """
    low = values.min()
    bins = ((values - low) * (1023.0 / max(values.max() - low, 1e-300))).astype(np.int16)
    counts = np.bincount(bins, minlength=1024)
    chosen = 1023
    while counts[chosen] < n:
        n -= counts[chosen]
        chosen -= 1
    inside = np.sort(values[bins == chosen])
    return float(inside[len(inside) - n])


@_compiled
def keep_best(docs: Int32s, scores: Floats, seen: Bools, depth: int, best: Int32s) -> int:
    """Writes the best documents, resets ``seen`` of the others, and returns their number."""
    if len(docs) <= depth:
        best[: len(docs)] = docs
        return len(docs)
    values = scores[docs]
    # A document with the score of the threshold is retrieved if its docid is at most the last.
    threshold = _nth_largest(values, depth)
    last = np.sort(docs[values == threshold])[depth - (values > threshold).sum() - 1]
    kept = 0
    for i in range(len(docs)):
        best[kept] = docs[i]  # the next one overwrites it if this one is not retrieved
        seen[docs[i]] = (values[i] > threshold) | ((values[i] == threshold) & (docs[i] <= last))
        kept += seen[docs[i]]
    return kept


@_compiled
def _key(score: float, id_order: np.uint32) -> np.uint64:
    """A number that sorts like the ranking: by 32-bit score, then by docno."""
    # The bits of a float sort like the float, except for the sign; adding 0 turns -0 into 0.
    bits = np.float32(np.float32(score) + np.float32(0)).view(np.uint32)
    ordered = ~bits if bits >> np.uint32(31) else bits | np.uint32(1 << 31)
    return (np.uint64(ordered) << np.uint64(32)) | np.uint64(id_order)


@_compiled
def _rank_present(
    docs: Int32s,
    scores: Floats,
    seen: Bools,
    id_order: UInt32s,
    costs: Floats,
    judged_docs: Int32s,
    first: int,
    last: int,
    which: Ints,
    ranks: Ints,
    above: Floats,
) -> int:
    """Ranks the retrieved documents among the judged ones ``first`` to ``last``, best first."""
    present, keys = np.empty(last - first, np.int32), np.empty(last - first, np.uint64)
    size = 0
    for judged in range(first, last):
        doc = judged_docs[judged]
        if doc >= 0 and seen[doc]:
            present[size], keys[size] = judged, _key(scores[doc], id_order[doc])
            size += 1
    if size == 0:
        return 0
    order = np.argsort(keys[:size])
    present, keys = present[order], keys[order]
    # A document ranks above the first b of the sorted judged documents; bucket b counts these
    # documents.
    count, cost = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.float64)
    for doc in docs:
        bucket = np.searchsorted(keys, _key(scores[doc], id_order[doc]))
        count[bucket] += 1
        cost[bucket] += costs[doc]
    documents_above, costs_above = 0, 0.0
    for i in range(size):
        documents_above += count[size - i]
        costs_above += cost[size - i]
        which[i], ranks[i], above[i] = present[size - 1 - i], 1 + documents_above, costs_above
    return size
