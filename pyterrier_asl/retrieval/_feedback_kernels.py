"""Compiled loops of feedback: the terms of the first documents, and the expanded queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..scoring.arrays import Bools, Floats, Ints
from ..scoring.compiled import compiled
from ._kernels import Int32s, keep_best, sort_by_score

if TYPE_CHECKING:
    from .bm25 import TopDocuments, WeightedQueries


@compiled
def expand(
    top: TopDocuments,
    doc_offsets: Ints,
    doc_term_ids: Int32s | Ints,
    term_weights: Floats,
    own: WeightedQueries,
    fb_docs: int,
    fb_terms: int,
    gamma: float,
) -> tuple[Ints, Ints, Floats]:
    """Robertson's feedback on term numbers; the sweep uses it instead of RobertsonPRF.

    Args:
        top: the first documents of each query.
        doc_offsets, doc_term_ids: the terms of each document.
        term_weights: [V] w_t; terms with equal r_t w_t are ordered by number.
        own: the terms of each query and their q_t.
        fb_docs, fb_terms, gamma: m, n and the gain of a selected term.

    Returns:
        The weighted terms of Q new queries: where the terms of each query begin, [Q + 1]; their
        numbers; their q_t. The terms of the original query come first, then the selected ones, best
        first. A query without documents has no terms.
    """
    queries = len(own.offsets) - 1
    offsets = np.zeros(queries + 1, np.int64)
    terms = np.empty(len(own.terms) + queries * fb_terms, np.int64)
    weights = np.empty(len(terms), np.float64)
    r = np.zeros(len(term_weights), np.int64)
    values = np.empty(len(term_weights), np.float64)
    kept = np.empty(len(term_weights), np.bool_)
    seen = np.empty(len(term_weights) + 1, np.int32)
    selected = np.empty(fb_terms + 1, np.int32)
    for query in range(queries):
        start = end = offsets[query]
        docs = top.docs[top.offsets[query] : top.offsets[query + 1]][:fb_docs]
        if len(docs):
            first, last = own.offsets[query], own.offsets[query + 1]
            for entry in range(first, last):
                terms[end], weights[end] = own.terms[entry], own.weights[entry]
                end += 1
            own_end = end
            terms_of_docs = _count_documents(docs, doc_offsets, doc_term_ids, r, seen)
            size = _select_best(
                seen[:terms_of_docs], r, term_weights, values, kept, fb_terms, selected
            )
            for term in selected[:size]:
                entry = start
                while entry < own_end and terms[entry] != term:
                    entry += 1
                if entry == own_end:
                    entry = end
                    terms[entry], weights[entry] = term, 0.0
                    end += 1
                weights[entry] += gamma
            for term in seen[:terms_of_docs]:
                r[term] = 0
        offsets[query + 1] = end
    size = offsets[queries]
    return offsets, terms[:size].copy(), weights[:size].copy()


@compiled
def _count_documents(
    docs: Int32s, doc_offsets: Ints, doc_term_ids: Int32s | Ints, r: Ints, seen: Int32s
) -> int:
    """Counts the documents with each term, lists the terms, and returns their number."""
    size = 0
    for doc in docs:
        for entry in range(doc_offsets[doc], doc_offsets[doc + 1]):
            term = doc_term_ids[entry]
            seen[size] = term
            size += r[term] == 0
            r[term] += 1
    return size


@compiled
def _select_best(
    terms: Int32s,
    r: Ints,
    term_weights: Floats,
    values: Floats,
    kept: Bools,
    fb_terms: int,
    selected: Int32s,
) -> int:
    """Writes the terms of the highest r_t w_t > 0, best first, and returns their number."""
    positive = np.empty(len(terms), np.int32)
    size = 0
    for term in terms:
        values[term] = r[term] * term_weights[term]
        if values[term] > 0:
            positive[size] = term
            size += 1
    size = keep_best(positive[:size], values, kept, fb_terms, selected)
    sort_by_score(selected[:size], values, np.empty(size, np.float64))
    return size
