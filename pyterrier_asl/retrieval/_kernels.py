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
    scratch = np.empty(num_docs + 1, np.int32)
    for query in range(len(query_offsets) - 1):
        start = candidate_offsets[query]
        first, last = query_offsets[query], query_offsets[query + 1]
        found = _candidates(term_offsets, posting_docs, query_terms[first:last], slot_of, scratch)
        docs[start : start + found] = scratch[:found]
        candidate_offsets[query + 1] = start + found
        for pair in range(first, last):
            entry = entry_offsets[pair]
            term = query_terms[pair]
            for posting in range(term_offsets[term], term_offsets[term + 1]):
                slots[entry] = slot_of[posting_docs[posting]]
                tfs[entry] = posting_tfs[posting]
                entry += 1
        for candidate in range(start, start + found):
            slot_of[docs[candidate]] = -1
    candidates = candidate_offsets[len(query_offsets) - 1]
    return candidate_offsets, docs[:candidates].copy(), entry_offsets, slots, tfs


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _candidates(
    term_offsets: Ints, posting_docs: Int32s, terms: Ints, slot_of: Int32s, docs: Int32s
) -> int:
    """Writes the documents of any of the terms, ascending, and to ``slot_of`` their places."""
    found = 0
    for term in terms:
        for posting in range(term_offsets[term], term_offsets[term + 1]):
            doc = posting_docs[posting]
            if slot_of[doc] < 0:
                slot_of[doc] = found
                docs[found] = doc
                found += 1
    if found > len(slot_of) // 32:  # passing by every document is then quicker than sorting
        found = 0
        for doc in range(len(slot_of)):
            docs[found] = (
                doc  # stays if the document is one; an if would be guessed wrong too often
            )
            found += slot_of[doc] >= 0
    else:
        docs[:found] = np.sort(docs[:found])
    for slot in range(found):
        slot_of[docs[slot]] = slot
    return found


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
def top_k(candidate_offsets: Ints, scores: Floats, k: int) -> tuple[Ints, Ints]:
    """Of each query the k best candidates, best first; of equal scores the first come first.

    The k-th best score is found without sorting, what reaches it is kept in order, and only that is
    sorted, stably.
    """
    queries = len(candidate_offsets) - 1
    offsets = np.zeros(queries + 1, np.int64)
    for query in range(queries):
        kept = min(k, candidate_offsets[query + 1] - candidate_offsets[query])
        offsets[query + 1] = offsets[query] + kept
    best = np.empty(offsets[queries], np.int64)
    keys = np.empty(k, np.uint64), np.empty(k, np.uint64)
    spare = np.empty(k, np.int64)
    for query in range(queries):
        kept = best[offsets[query] : offsets[query + 1]]
        start, end = candidate_offsets[query], candidate_offsets[query + 1]
        _keep(scores[start:end], kept)
        size = len(kept)
        _sort(scores[start:end], kept, spare[:size], keys[0][:size], keys[1][:size])
        kept += start
    return offsets, best


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _keep(scores: Floats, kept: Ints) -> None:
    """Fills ``kept`` with the positions of the highest scores, ascending; of equals the first."""
    size = len(kept)
    if size == len(scores):
        for position in range(size):
            kept[position] = position
        return
    last = np.partition(scores, len(scores) - size)[len(scores) - size]
    equals = size
    for score in scores:
        if score > last:
            equals -= 1
    found = 0
    for position in range(len(scores)):
        if scores[position] > last or (scores[position] == last and equals > 0):
            if scores[position] == last:
                equals -= 1
            kept[found] = position
            found += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sort(
    scores: Floats,
    kept: Ints,
    spare: Ints,
    keys: npt.NDArray[np.uint64],
    spares: npt.NDArray[np.uint64],
) -> None:
    """Sorts positions by their scores, descending and stably: by the bits, eight at a time.

    The bits of a double order as the double does once the sign bit is turned round, and all bits
    where it was set.
    """
    for i in range(len(kept)):
        keys[i] = np.float64(scores[kept[i]] + 0.0).view(np.uint64)  # -0. + 0. is 0.
        if keys[i] < np.uint64(1 << 63):
            keys[i] = ~(keys[i] | np.uint64(1 << 63))
    counts = np.empty(256, np.int64)
    for shift in range(0, 64, 8):
        counts[:] = 0
        for key in keys:
            counts[(key >> np.uint64(shift)) & np.uint64(255)] += 1
        if counts[(keys[0] >> np.uint64(shift)) & np.uint64(255)] == len(keys):
            continue
        total = 0
        for digit in range(256):
            counts[digit], total = total, total + counts[digit]
        for i in range(len(keys)):
            digit = (keys[i] >> np.uint64(shift)) & np.uint64(255)
            spares[counts[digit]], spare[counts[digit]] = keys[i], kept[i]
            counts[digit] += 1
        keys[:], kept[:] = spares, spare
