"""Loops over postings that end in ranks, compiled. Imported when first needed, as Numba is slow to.

Every score is made of the same terms, in the same order, as in the retriever's own loop
(``retrieval/_kernels.py``), so that it is the same to the last bit, and with it every tie.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
UInt32s = npt.NDArray[np.uint32]
UInt64s = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def rank_judged(
    term_offsets: Ints,
    posting_docs: Int32s,
    posting_tfs: Int32s,
    norms: Floats,
    query_offsets: Ints,
    query_terms: Ints,
    weights: Floats,
    depth: int,
    id_order: UInt32s,
    costs: Floats,
    judged_offsets: Ints,
    judged_docs: Int32s,
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Scores Q queries over N documents, and says where their judged documents stand.

    Only the judged documents of a query are put in order, which are few; every other document
    counts towards those that it stands above, and that is all.

    Args:
        term_offsets, posting_docs, posting_tfs: the index.
        norms: [N] what is added to f below the fraction bar: k1 ((1 - b) + b l / l_avg).
        query_offsets: [Q + 1] where the terms of each query begin.
        query_terms: their numbers.
        weights: q_t w_t (k1 + 1) of each.
        depth: how many documents a query retrieves: the best by score, then by docid, ascending.
        id_order: [N] each docno's place in ascending order: equal scores rank by it, descending.
        costs: [N] what a document costs those below it.
        judged_offsets: [Q + 1] where the judged documents of each query begin.
        judged_docs: their docids, -1 for one that is not in the index.

    Returns:
        Documents retrieved, [Q]; where each query's entries begin, [Q + 1]; then one entry per
        judged document retrieved, best first: which one it is, its rank, the costs above it.
    """
    queries = len(query_offsets) - 1
    retrieved = np.zeros(queries, np.int64)
    offsets = np.zeros(queries + 1, np.int64)
    which = np.empty(len(judged_docs), np.int64)
    ranks = np.empty(len(judged_docs), np.int64)
    above = np.empty(len(judged_docs), np.float64)
    scores = np.zeros(len(norms), np.float64)
    seen = np.zeros(len(norms), np.bool_)
    docs = np.empty(len(norms) + 1, np.int32)
    best = np.empty(len(norms) + 1, np.int32)
    for query in range(queries):
        found = _accumulate(
            term_offsets, posting_docs, posting_tfs, norms, query_terms, weights,
            query_offsets[query], query_offsets[query + 1], scores, seen, docs,
        )  # fmt: skip
        threshold, last = _threshold(docs[:found], scores, depth)
        kept = _keep_best(docs[:found], scores, threshold, last, best)
        retrieved[query] = kept
        start = offsets[query]
        offsets[query + 1] = start + _place(
            best[:kept], scores, seen, threshold, last, id_order, costs, judged_docs,
            judged_offsets[query], judged_offsets[query + 1],
            which[start:], ranks[start:], above[start:],
        )  # fmt: skip
        for doc in docs[:found]:
            scores[doc] = 0.0
            seen[doc] = False
    size = offsets[queries]
    return retrieved, offsets, which[:size].copy(), ranks[:size].copy(), above[:size].copy()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _accumulate(
    term_offsets: Ints,
    posting_docs: Int32s,
    posting_tfs: Int32s,
    norms: Floats,
    query_terms: Ints,
    weights: Floats,
    first: int,
    last: int,
    scores: Floats,
    seen: Bools,
    docs: Int32s,
) -> int:
    """Adds up the scores of one query's candidates and lists them; says how many they are."""
    found = 0
    for pair in range(first, last):
        weight = weights[pair]
        term = query_terms[pair]
        for posting in range(term_offsets[term], term_offsets[term + 1]):
            doc = posting_docs[posting]
            tf = posting_tfs[posting]
            docs[found] = doc  # written over by the next one if it was there already
            found += not seen[doc]
            seen[doc] = True
            scores[doc] += weight * tf / (norms[doc] + tf)
    return found


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _threshold(docs: Int32s, scores: Floats, depth: int) -> tuple[float, int]:
    """What a document must score to be retrieved, and the last docid that may score just that."""
    everything = np.iinfo(np.int32).max
    if len(docs) <= depth:
        return -np.inf, everything
    threshold, places, tied = _nth_largest(scores[docs], depth)
    if tied == places:
        return threshold, everything
    docs_tied = np.sort(docs[scores[docs] == threshold])
    return threshold, docs_tied[places - 1]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _nth_largest(values: Floats, n: int) -> tuple[float, int, int]:
    """The n-th largest value, how many of the n largest are equal to it, and how many of all.

    Values are counted in bins of equal width, and only the bin with the n-th is sorted: less than
    a third of the time that ``np.partition`` takes.
    """
    low = high = values[0]
    for value in values:
        low = value if value < low else low
        high = value if value > high else high
    scale = 1023.0 / max(high - low, 1e-300)
    bins = np.empty(len(values), np.int16)
    counts = np.zeros(1024, np.int64)
    for i in range(len(values)):
        bins[i] = int((values[i] - low) * scale)
        counts[bins[i]] += 1
    chosen = 1023
    while counts[chosen] < n:
        n -= counts[chosen]
        chosen -= 1
    inside = np.empty(counts[chosen], np.float64)
    size = 0
    for i in range(len(values)):
        if bins[i] == chosen:
            inside[size] = values[i]
            size += 1
    inside.sort()
    found = inside[size - n]
    return found, np.sum(inside[size - n :] == found), np.sum(inside == found)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _keep_best(docs: Int32s, scores: Floats, threshold: float, last: int, best: Int32s) -> int:
    """Writes the documents that are retrieved; says how many."""
    kept = 0
    for doc in docs:
        best[kept] = doc  # written over by the next one if it is not retrieved
        kept += (scores[doc] > threshold) | ((scores[doc] == threshold) & (doc <= last))
    return kept


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _keys(docs: Int32s, scores: Floats, id_order: UInt32s) -> UInt64s:
    """One number per document that orders as ranking does: by 32-bit score, then by docno."""
    # The bits of a float order as the float does, but for the sign; adding 0 makes -0 a 0.
    bits = (scores[docs].astype(np.float32) + np.float32(0)).view(np.uint32)
    keys = np.empty(len(docs), np.uint64)
    for i in range(len(docs)):
        negative = bits[i] >> np.uint32(31)
        ordered = ~bits[i] if negative else bits[i] | np.uint32(1 << 31)
        keys[i] = (np.uint64(ordered) << np.uint64(32)) | np.uint64(id_order[docs[i]])
    return keys


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _place(
    docs: Int32s,
    scores: Floats,
    seen: Bools,
    threshold: float,
    last_tied: int,
    id_order: UInt32s,
    costs: Floats,
    judged_docs: Int32s,
    first: int,
    last: int,
    which: Ints,
    ranks: Ints,
    above: Floats,
) -> int:
    """Writes the retrieved ones of the judged documents ``first`` to ``last``, best first."""
    present = np.empty(last - first, np.int64)
    found = 0
    for judged in range(first, last):
        doc = judged_docs[judged]
        if doc >= 0 and seen[doc]:
            score = scores[doc]
            if score > threshold or (score == threshold and doc <= last_tied):
                present[found] = judged
                found += 1
    if found == 0:
        return 0
    judged_keys = _keys(judged_docs[present[:found]], scores, id_order)
    order = np.argsort(judged_keys)
    judged_keys = judged_keys[order]
    # For each document, the judged documents that it stands above are the first ones; bucket b
    # holds those that stand above exactly b.
    keys = _keys(docs, scores, id_order)
    count = np.zeros(found + 1, np.int64)
    cost = np.zeros(found + 1, np.float64)
    for i in range(len(docs)):
        bucket = _below(judged_keys, keys[i])
        count[bucket] += 1
        cost[bucket] += costs[docs[i]]
    rank = 1
    total = 0.0
    for i in range(found):
        judged = found - 1 - i
        rank += count[judged + 1]
        total += cost[judged + 1]
        which[i] = present[order[judged]]
        ranks[i] = rank
        above[i] = total
    return found


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _below(sorted_keys: UInt64s, key: np.uint64) -> int:
    """How many of the sorted keys are smaller: a binary search without branches to mispredict."""
    below = 0
    size = len(sorted_keys)
    while size > 1:
        half = size // 2
        below += half if sorted_keys[below + half - 1] < key else 0
        size -= half
    return below + int(sorted_keys[below] < key)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def expand(
    top_offsets: Ints,
    top_docs: Int32s,
    doc_offsets: Ints,
    doc_term_ids: Int32s,
    term_weights: Floats,
    own_offsets: Ints,
    own_terms: Ints,
    own_weights: Floats,
    fb_docs: int,
    fb_terms: int,
    gamma: float,
) -> tuple[Ints, Ints, Floats]:
    """Robertson's feedback on term numbers: the weighted terms of Q new queries.

    Args:
        top_offsets, top_docs: [Q + 1] the first documents of each query, best first.
        doc_offsets, doc_term_ids: the terms of each document.
        term_weights: [V] w_t; terms go by number where r_t w_t ties, as numbers are alphabetical.
        own_offsets, own_terms, own_weights: [Q + 1] the terms of each query and their q_t.
        fb_docs, fb_terms, gamma: m, n and what a selected term gains.

    Returns:
        Where the terms of each query begin, [Q + 1]; their numbers; their q_t: its own terms
        first, then those selected, best first. A query without documents has no terms.
    """
    queries = len(own_offsets) - 1
    offsets = np.zeros(queries + 1, np.int64)
    terms = np.empty(len(own_terms) + queries * fb_terms, np.int64)
    weights = np.empty(len(terms), np.float64)
    r = np.zeros(len(term_weights), np.int64)
    seen = np.empty(len(term_weights) + 1, np.int64)
    chosen = np.empty(fb_terms, np.int64)
    for query in range(queries):
        start = end = offsets[query]
        docs = top_docs[top_offsets[query] : top_offsets[query + 1]][:fb_docs]
        if len(docs):
            found = _count_documents(docs, doc_offsets, doc_term_ids, r, seen)
            size = _select(seen[:found], r, term_weights, chosen)
            for own in range(own_offsets[query], own_offsets[query + 1]):
                terms[end] = own_terms[own]
                weights[end] = own_weights[own]
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
