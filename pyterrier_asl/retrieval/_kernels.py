"""Loops over postings, compiled. Imported when first needed, for Numba takes a while to load."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def transpose(
    offsets: Ints,
    columns: Int32s,
    values: Int32s,
    out_offsets: Ints,
    out: Int32s,
    out_values: Int32s,
) -> None:
    """Transposes a sparse matrix in compressed rows, filling ``out`` and ``out_values``.

    Rows come out in ascending order of the columns' entries whatever the order inside them was, so
    transposing twice also sorts.
    """
    position = out_offsets[:-1].copy()
    for row in range(len(offsets) - 1):
        for entry in range(offsets[row], offsets[row + 1]):
            column = columns[entry]
            out[position[column]] = row
            out_values[position[column]] = values[entry]
            position[column] += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def gather(
    term_offsets: Ints,
    posting_docs: Int32s,
    posting_tfs: Int32s,
    num_docs: int,
    query_offsets: Ints,
    query_terms: Ints,
) -> tuple[Ints, Int32s, Ints, Int32s, Int32s]:
    """The postings of queries as flat arrays, as ``bm25.QueryPostings`` explains them.

    ``slots`` says for each posting which candidate of its query it belongs to.
    """
    pairs = len(query_terms)
    entry_offsets = np.zeros(pairs + 1, np.int64)
    for pair in range(pairs):
        term = query_terms[pair]
        entry_offsets[pair + 1] = entry_offsets[pair] + term_offsets[term + 1] - term_offsets[term]
    slots = np.empty(entry_offsets[pairs], np.int32)
    tfs = np.empty(entry_offsets[pairs], np.int32)
    docs = np.empty(entry_offsets[pairs], np.int32)  # cut to the number of candidates at the end
    candidate_offsets = np.zeros(len(query_offsets), np.int64)
    slot_of = np.full(num_docs, -1, np.int32)
    for query in range(len(query_offsets) - 1):
        start = candidate_offsets[query]
        found = 0
        for pair in range(query_offsets[query], query_offsets[query + 1]):
            entry = entry_offsets[pair]
            term = query_terms[pair]
            for posting in range(term_offsets[term], term_offsets[term + 1]):
                doc = posting_docs[posting]
                if slot_of[doc] < 0:
                    slot_of[doc] = found
                    docs[start + found] = doc
                    found += 1
                slots[entry] = slot_of[doc]
                tfs[entry] = posting_tfs[posting]
                entry += 1
        for candidate in range(start, start + found):
            slot_of[docs[candidate]] = -1
        candidate_offsets[query + 1] = start + found
    candidates = candidate_offsets[len(query_offsets) - 1]
    return candidate_offsets, docs[:candidates].copy(), entry_offsets, slots, tfs


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def bm25(
    candidate_offsets: Ints,
    length_ratios: Floats,
    query_offsets: Ints,
    weights: Floats,
    entry_offsets: Ints,
    slots: Int32s,
    tfs: Int32s,
    k1: float,
    b: float,
) -> Floats:
    """The BM25 score of every candidate."""
    scores = np.zeros(len(length_ratios), np.float64)
    for query in range(len(query_offsets) - 1):
        start = candidate_offsets[query]
        for pair in range(query_offsets[query], query_offsets[query + 1]):
            weight = weights[pair] * (k1 + 1.0)
            for entry in range(entry_offsets[pair], entry_offsets[pair + 1]):
                candidate = start + slots[entry]
                tf = tfs[entry]
                norm = k1 * ((1.0 - b) + b * length_ratios[candidate])
                scores[candidate] += weight * tf / (norm + tf)
    return scores


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def top_k(candidate_offsets: Ints, docs: Int32s, scores: Floats, k: int) -> tuple[Ints, Ints]:
    """Of each query the k best candidates, best first; equal scores by document id, ascending.

    A heap whose root is the worst of the best k, so that a candidate that does not make it costs
    one comparison.
    """
    queries = len(candidate_offsets) - 1
    offsets = np.zeros(queries + 1, np.int64)
    for query in range(queries):
        kept = min(k, candidate_offsets[query + 1] - candidate_offsets[query])
        offsets[query + 1] = offsets[query] + kept
    best = np.empty(offsets[queries], np.int64)
    for query in range(queries):
        heap = best[offsets[query] : offsets[query + 1]]
        size = len(heap)
        start = candidate_offsets[query]
        for i in range(size):
            heap[i] = start + i
        for i in range(size // 2 - 1, -1, -1):
            _sift(heap, i, size, docs, scores)
        for candidate in range(start + size, candidate_offsets[query + 1]):
            if size > 0 and _worse(heap[0], candidate, docs, scores):
                heap[0] = candidate
                _sift(heap, 0, size, docs, scores)
        # Taking the worst away to the end, again and again, leaves the best in front.
        for last in range(size - 1, 0, -1):
            heap[0], heap[last] = heap[last], heap[0]
            _sift(heap, 0, last, docs, scores)
    return offsets, best


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _worse(one: int, other: int, docs: Int32s, scores: Floats) -> bool:
    if scores[one] != scores[other]:
        return bool(scores[one] < scores[other])
    return bool(docs[one] > docs[other])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sift(heap: Ints, root: int, size: int, docs: Int32s, scores: Floats) -> None:
    """Lets the candidate at ``root`` sink until no candidate below it is worse."""
    while True:
        worst = root
        for child in (2 * root + 1, 2 * root + 2):
            if child < size and _worse(heap[child], heap[worst], docs, scores):
                worst = child
        if worst == root:
            return
        heap[root], heap[worst] = heap[worst], heap[root]
        root = worst
