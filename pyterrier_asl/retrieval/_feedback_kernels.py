"""Robertson's feedback on term numbers, compiled: what the sweep has in place of RobertsonPRF."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from ._kernels import Floats, Int32s, Ints

if TYPE_CHECKING:
    from .bm25 import TopDocuments, WeightedQueries


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def expand(
    top: TopDocuments,
    doc_offsets: Ints,
    doc_term_ids: Int32s,
    term_weights: Floats,
    own: WeightedQueries,
    fb_docs: int,
    fb_terms: int,
    gamma: float,
) -> tuple[Ints, Ints, Floats]:
    """Robertson's feedback on term numbers: the weighted terms of Q new queries.

    Args:
        top: the first documents of each query.
        doc_offsets, doc_term_ids: the terms of each document.
        term_weights: [V] w_t; terms go by number where r_t w_t ties, as numbers are alphabetical.
        own: the terms of each query and their q_t.
        fb_docs, fb_terms, gamma: m, n and what a selected term gains.

    Returns:
        Where the terms of each query begin, [Q + 1]; their numbers; their q_t: its own terms
        first, then those selected, best first. A query without documents has no terms.
    """
    queries = len(own.offsets) - 1
    offsets = np.zeros(queries + 1, np.int64)
    terms = np.empty(len(own.terms) + queries * fb_terms, np.int64)
    weights = np.empty(len(terms), np.float64)
    r = np.zeros(len(term_weights), np.int64)
    seen = np.empty(len(term_weights) + 1, np.int64)
    chosen = np.empty(fb_terms, np.int64)
    for query in range(queries):
        start = end = offsets[query]
        docs = top.docs[top.offsets[query] : top.offsets[query + 1]][:fb_docs]
        if len(docs):
            found = _count_documents(docs, doc_offsets, doc_term_ids, r, seen)
            size = _select(seen[:found], r, term_weights, chosen)
            for pair in range(own.offsets[query], own.offsets[query + 1]):
                terms[end] = own.terms[pair]
                weights[end] = own.weights[pair]
                end += 1
            own_end = end
            for term in chosen[:size]:
                place = start
                while place < own_end and terms[place] != term:
                    place += 1
                if place < own_end:
                    weights[place] += gamma
                else:
                    terms[end] = term
                    weights[end] = gamma
                    end += 1
            for term in seen[:found]:
                r[term] = 0
        offsets[query + 1] = end
    size = offsets[queries]
    return offsets, terms[:size].copy(), weights[:size].copy()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count_documents(
    docs: Int32s, doc_offsets: Ints, doc_term_ids: Int32s, r: Ints, seen: Ints
) -> int:
    """Counts for each term the documents that have it and lists the terms; says how many."""
    found = 0
    for doc in docs:
        for entry in range(doc_offsets[doc], doc_offsets[doc + 1]):
            term = doc_term_ids[entry]
            seen[found] = term
            found += r[term] == 0
            r[term] += 1
    return found


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _select(terms: Ints, r: Ints, term_weights: Floats, chosen: Ints) -> int:
    """Fills ``chosen`` with the terms of the highest r_t w_t > 0, best first; says how many."""
    values = np.empty(len(chosen), np.float64)
    size = 0
    for term in terms:
        value = r[term] * term_weights[term]
        if value <= 0 or (size == len(chosen) and value < values[size - 1]):
            continue
        place = size
        while place > 0 and (
            values[place - 1] < value or (values[place - 1] == value and chosen[place - 1] > term)
        ):
            place -= 1
        size = min(size + 1, len(chosen))
        for i in range(size - 1, place, -1):
            chosen[i], values[i] = chosen[i - 1], values[i - 1]
        if place < size:
            chosen[place], values[place] = term, value
    return size
