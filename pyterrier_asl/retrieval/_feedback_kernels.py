"""Compiled loops of feedback: the terms of the first documents, and the expanded queries."""

from __future__ import annotations

import math

import numpy as np

from ..scoring.arrays import Bools, Floats, Ints
from ._kernels import Int32s, TopDocuments, WeightedQueries, keep_best, sort_by_score
from .compiled import compiled

#: The relative difference of selection values up to which they are equal.
TIE = 1e-9


@compiled
def expand(
    top: TopDocuments,
    doc_offsets: Ints,
    doc_term_ids: Int32s | Ints,
    term_weights: Floats,
    frequencies: Ints,
    num_docs: int,
    own: WeightedQueries,
    fb_docs: int,
    fb_terms: int,
    gamma: float,
    is_rsj: bool,
) -> tuple[Ints, Ints, Floats, Floats]:
    """Robertson's feedback on term numbers; the sweep uses it instead of RobertsonPRF.

    Args:
        top: the first documents of each query.
        doc_offsets, doc_term_ids: the terms of each document.
        term_weights: [V] w_t of ``weights='idf'``.
        frequencies, num_docs: [V] n_t and N.
        own: the terms of each query and their q_t.
        fb_docs, fb_terms, gamma: m, n and the gain of a selected term; terms with equal r_t w_t are
            ordered by number.
        is_rsj: whether terms have relevance weights.

    Returns:
        The weighted terms of Q new queries: where the terms of each query begin, [Q + 1]; their
        numbers; their q_t; their w_t, NaN for the weight of the retriever. The terms of the
        original query come first, then the selected ones, best first. A query without documents
        has no terms.
    """
    queries = len(own.offsets) - 1
    offsets = np.zeros(queries + 1, np.int64)
    terms = np.empty(len(own.terms) + queries * fb_terms, np.int64)
    weights = np.empty(len(terms), np.float64)
    kept_weights = np.full(len(terms), np.nan)
    r = np.zeros(len(term_weights), np.int64)
    values, w = np.empty(len(r), np.float64), term_weights.copy()
    kept = np.empty(len(term_weights), np.bool_)
    seen = np.empty(len(term_weights) + 1, np.int32)
    selected = np.empty(fb_terms + 1, np.int32)
    for query in range(queries):
        start = end = offsets[query]
        docs = top.docs[top.offsets[query] : top.offsets[query + 1]][:fb_docs]
        if len(docs):
            own_end = end = _append_query(own, query, terms, weights, kept_weights, start)
            terms_of_docs = _count_documents(docs, doc_offsets, doc_term_ids, r, seen)
            if is_rsj:
                for term in seen[:terms_of_docs]:
                    w[term] = relevance_weight(r[term], frequencies[term], num_docs, len(docs))
            size = _select_best(seen[:terms_of_docs], r, w, values, kept, fb_terms, selected)
            for term in selected[: size if gamma > 0 else 0]:
                entry = start
                while entry < own_end and terms[entry] != term:
                    entry += 1
                if entry == own_end:
                    entry = end
                    terms[entry], weights[entry] = term, 0.0
                    end += 1
                weights[entry] += gamma
            if is_rsj:
                last, end = end, start
                for entry in range(start, last):
                    term = terms[entry]
                    weight = relevance_weight(r[term], frequencies[term], num_docs, len(docs))
                    terms[end], weights[end], kept_weights[end] = term, weights[entry], weight
                    end += weight > 0  # the next one overwrites it if this one is dropped
                if end == start:  # no term is left: the original query
                    end = _append_query(own, query, terms, weights, kept_weights, start)
            for term in seen[:terms_of_docs]:
                r[term] = 0
        offsets[query + 1] = end
    size = offsets[queries]
    return offsets, terms[:size].copy(), weights[:size].copy(), kept_weights[:size].copy()


@compiled
def _append_query(
    own: WeightedQueries, query: int, terms: Ints, weights: Floats, kept_weights: Floats, end: int
) -> int:
    """Writes the terms of an original query from ``end`` on, and returns the new end."""
    for entry in range(own.offsets[query], own.offsets[query + 1]):
        terms[end], weights[end], kept_weights[end] = own.terms[entry], own.weights[entry], np.nan
        end += 1
    return end


@compiled
def relevance_weight(r: int, n: int, num_docs: int, m: int) -> float:
    """The weight of :func:`~pyterrier_asl.retrieval.weights.relevance_weights`."""
    odds = (r + 0.5) * (num_docs - n - m + r + 0.5)
    return math.log(odds / ((n - r + 0.5) * (m - r + 0.5)))


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
    positive = positive[:size]
    size = keep_best(positive, values, kept, fb_terms, selected)
    if size < len(positive):
        threshold = values[selected[0]]
        for term in selected[:size]:
            threshold = min(threshold, values[term])
        tied = 0
        for term in positive:
            tied += not kept[term] and values[term] != threshold and _tie(threshold, values[term])
        if tied:
            for term in positive:
                if _tie(threshold, values[term]) and _tie(values[term], threshold):
                    values[term] = threshold
                kept[term] = True
            size = keep_best(positive, values, kept, fb_terms, selected)
    sort_by_score(selected[:size], values, np.empty(size, np.float64))
    for place in range(1, size):
        at, term = place, selected[place]
        while at and term < selected[at - 1] and _tie(values[selected[at - 1]], values[term]):
            selected[at] = selected[at - 1]
            at -= 1
        selected[at] = term
    return size


@compiled
def _tie(larger: float, smaller: float) -> bool:
    return larger - smaller <= TIE * larger
