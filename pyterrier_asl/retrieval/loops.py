"""Loops over postings: with NumPy for few postings, compiled for many.

Both give the same results to the last bit. The compiled loops, in
:mod:`~pyterrier_asl.retrieval._kernels`, are several times as fast, but Numba takes half a second
to load, and longer to compile them for the first time.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise

import numpy as np

from ..common.types import Floats, Ints
from ..scoring.arrays import cumulate
from .postings import Int32s, ScoringArrays, WeightedQueries, length_norm, term_score

#: The postings that NumPy scores, in all calls, in the time in which Numba is loaded.
_ENOUGH = 20_000_000

_scored = 0


def document_scores(
    index: ScoringArrays,
    queries: WeightedQueries,
    k1: float,
    b: float,
    docs: Ints,
    offsets: Ints,
) -> Floats:
    """The scores of given documents, by the formula of :func:`best_documents`.

    Args:
        index: the postings and the lengths of documents.
        queries: Q of them, with the weights q_t w_t (k1 + 1).
        k1, b: the parameters of BM25.
        docs: docids, query by query, shape (D,).
        offsets: where each query's documents begin, shape (Q + 1,).

    Returns:
        Their scores, shape (D,); 0 for a document without a term of the query.
    """
    norms = length_norm(k1, b, index.length_ratios[docs])
    scores = np.zeros(len(docs))
    for query, (begin, end) in enumerate(pairwise(offsets.tolist())):
        terms = slice(queries.offsets[query], queries.offsets[query + 1])
        for term, weight in zip(queries.terms[terms], queries.weights[terms]):
            postings = slice(index.term_offsets[term], index.term_offsets[term + 1])
            containing, tfs = index.posting_docs[postings], index.posting_tfs[postings]
            # A document behind all postings gets the place of the last one, which has another id.
            places = np.searchsorted(containing[:-1], docs[begin:end])
            rows = begin + np.flatnonzero(containing[places] == docs[begin:end])
            scores[rows] += term_score(weight, tfs[places[rows - begin]], norms[rows])
    return scores


def best_documents(
    index: ScoringArrays, queries: WeightedQueries, k1: float, b: float, depth: int
) -> tuple[Ints, Int32s, Floats]:
    """The best documents of each query and their scores, by NumPy, or compiled for many postings.

    For arguments and results see :func:`._kernels.best_documents`.
    """
    global _scored
    sizes = np.diff(index.term_offsets)[queries.terms]
    _scored += int(sizes.sum()) + len(index.length_ratios) * (len(queries.offsets) - 1) // 8
    if _scored >= _ENOUGH and find_spec("numba"):
        from . import _kernels

        return _kernels.best_documents(index, queries, k1, b, depth)
    norms = length_norm(k1, b, index.length_ratios)
    best_docs, best_scores = [np.empty(0, np.int32)], [np.empty(0)]
    for first, last in zip(queries.offsets[:-1], queries.offsets[1:]):
        scores, seen = np.zeros(len(norms)), np.zeros(len(norms), dtype=np.bool_)
        for term, weight in zip(queries.terms[first:last], queries.weights[first:last]):
            postings = slice(index.term_offsets[term], index.term_offsets[term + 1])
            docs, tfs = index.posting_docs[postings], index.posting_tfs[postings]
            scores[docs] += term_score(weight, tfs, norms[docs])
            seen[docs] = True
        docs = np.flatnonzero(seen).astype(np.int32)
        docs = docs[np.argsort(-scores[docs], kind="stable")[:depth]]
        best_docs.append(docs)
        best_scores.append(scores[docs])
    offsets = cumulate(np.array([len(docs) for docs in best_docs[1:]], dtype=np.int64))
    return offsets, np.concatenate(best_docs), np.concatenate(best_scores)
