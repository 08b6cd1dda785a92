"""Bounds: the lowest and the highest value over all labels of unjudged documents.

A *labelling* makes each document of V (the unjudged documents that a compared run retrieved)
relevant or not. All functions work on whole runs and return ``(low, high)``, each of shape (Q,).
*Exact* bounds equal the lowest and the highest value over all labellings; *outer* bounds contain
these values.

Differences of two runs, and measures of one run whose bounds are those of its difference from a run
that retrieved nothing, are in :mod:`~pyterrier_asl.scoring.pair_bounds`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..common.types import Floats, Ints
from .arrays import cumulate, divide, queries_of, reduce_by_query, sum_by_query, within_query
from .lexicographic import lexip as score_lexip
from .matrices import Bounds, in_blocks, part_of, rows_of, sums_before, sums_from


@dataclass(frozen=True)
class PairDocuments:
    """Two runs after the cut-off; for the bounds of one run, B retrieved nothing.

    Attributes:
        known_a: the rank in A of each judged relevant document that A or B retrieved, 0 if only B
            did, shape (E,).
        known_b: the rank in B.
        known_offsets: the beginning of each query's judged relevant documents, shape (Q + 1,).
        total: relevant documents of each query, retrieved or not, shape (Q,).
        a: the rank in A of each unjudged document that A or B retrieved, 0 if only B did, shape
            (U,). Documents of one run only are in rank order.
        b: the rank in B.
        offsets: the beginning of each query's unjudged documents, shape (Q + 1,).
        others: documents of V that neither run retrieved, shape (Q,).
        known_gains: the gain of each judged relevant document in A and in B, 0 for a run that did
            not retrieve it, shape (E,) each; see :meth:`.Formula.weights`.
        gains: what each unjudged document would gain in A and in B, shape (U,) each.
    """

    known_a: Ints
    known_b: Ints
    known_offsets: Ints
    total: Ints
    a: Ints
    b: Ints
    offsets: Ints
    others: Ints
    known_gains: tuple[Floats, Floats] = (np.empty(0), np.empty(0))
    gains: tuple[Floats, Floats] = (np.empty(0), np.empty(0))

    @property
    def weights(self) -> Floats:
        """What each unjudged document would add to the difference, before division by the ideal."""
        return self.gains[0] - self.gains[1]


def average_precision(run: PairDocuments) -> Bounds:
    """AP of one run, exact: the first s unjudged documents are relevant, or the last s.

    >>> one, none, offsets = np.array([1]), np.array([0]), np.array([0, 1])
    >>> run = PairDocuments(one, none, offsets, one, np.array([2]), none, offsets, one)
    >>> low, high = average_precision(run)
    >>> low.tolist(), high.tolist()
    ([0.5], [1.0])
    """
    precisions = (within_query(run.known_offsets) + 1) / run.known_a
    judged = sum_by_query(precisions, run.known_offsets)[:, np.newaxis]
    # Ranks of all queries in a single ascending order.
    most = max(int(ranks.max(initial=0)) for ranks in (run.known_a, run.a)) + 1
    queries = queries_of(run.offsets)
    relevant_above = (
        np.searchsorted(most * queries_of(run.known_offsets) + run.known_a, most * queries + run.a)
        - run.known_offsets[queries]
    )

    def of_queries(q: slice) -> Bounds:
        offsets = part_of(run.offsets, q)
        # The sum of 1/rank from each relevant document on.
        below = sums_from(rows_of(1 / run.known_a, part_of(run.known_offsets, q), 0.0))
        above = rows_of(relevant_above, offsets, below.shape[1] - 1)
        worth = rows_of(1 / run.a, offsets, 0.0)
        below = np.take_along_axis(below, above, axis=1)
        number = np.arange(1, worth.shape[1] + 1)
        # Each adds its precision, and 1/rank to each relevant document below.
        first = judged[q] + sums_before((above + number) * worth + below)
        last = judged[q] + sums_from((above + 1) * worth + below + sums_from(worth)[:, 1:])
        size = np.diff(offsets)[:, np.newaxis]
        number = np.arange(worth.shape[1] + 1)
        total = run.total[q, np.newaxis]
        fewest = total + run.others[q, np.newaxis] + np.maximum(size - number, 0)
        return divide(last, fewest).min(axis=1), divide(first, total + number).max(axis=1)

    return in_blocks(of_queries, run.known_offsets, run.offsets)


def first_search_lengths(run: PairDocuments, missing: Ints, g: int) -> Bounds:
    """ASL of the first ``g`` relevant documents of one run, exact.

    A further relevant document lowers the mean of g documents, so that at most g labels count.

    Args:
        run: the run.
        missing: the length of a missing document plus the relevant documents retrieved, shape (Q,).
        g: the number of documents, from 1.

    >>> one, none, offsets = np.array([1]), np.array([0]), np.array([0, 1])
    >>> run = PairDocuments(np.array([2]), none, offsets, one, one, none, offsets, none)
    >>> low, high = first_search_lengths(run, np.array([11]), 1)
    >>> low.tolist(), high.tolist()
    ([1.0], [2.0])
    """

    def of_queries(q: slice) -> Bounds:
        known = rows_of(run.known_a, part_of(run.known_offsets, q), np.inf)[:, :g]
        unjudged = rows_of(run.a, part_of(run.offsets, q), np.inf)
        deepest = -np.sort(-np.where(np.isfinite(unjudged), unjudged, 0.0), axis=1)
        deepest = np.where(deepest > 0, deepest, np.inf)
        size, found = np.diff(part_of(run.offsets, q)), np.diff(part_of(run.known_offsets, q))

        def values(labelled: Floats) -> Iterator[Floats]:
            labels = np.minimum(labelled.shape[1], size)
            ranks = np.sort(np.hstack((known, labelled)), axis=1)[:, :g]
            place = np.arange(ranks.shape[1])
            lengths = np.where(np.isfinite(ranks), ranks - place, 0.0)
            for others in (0, run.others[q]):
                number = np.minimum(run.total[q] + labels + others, g)
                sums = np.where(place < number[:, np.newaxis], lengths, 0.0).sum(axis=1)
                retrieved = found + labels
                sums += np.maximum(number - retrieved, 0) * (missing[q] - retrieved)
                yield divide(sums, number, 1.0)

        low, high = np.full(len(size), np.inf), np.full(len(size), -np.inf)
        for s in range(min(g, unjudged.shape[1]) + 1):
            low = np.minimum(low, np.minimum(*values(unjudged[:, :s])))
            high = np.maximum(high, np.maximum(*values(deepest[:, :s])))
        return low, high

    return in_blocks(of_queries, run.known_offsets, run.offsets)


def lexip(run: PairDocuments, cutoff: int | None = None) -> Bounds:
    """LexiP of one run, exact: a smaller gap outweighs all later gaps, so few labels are extreme.

    Lowest: no document or the last one is relevant. Highest: all documents above the last judged
    relevant one (without one: the first document), or all documents.

    >>> one, none, offsets = np.array([1]), np.array([0]), np.array([0, 1])
    >>> run = PairDocuments(np.array([2]), none, offsets, one, one, none, offsets, none)
    >>> low, high = lexip(run)
    >>> low.tolist(), high.tolist()
    ([0.5], [1.0])
    """
    queries = np.concatenate((queries_of(run.known_offsets), queries_of(run.offsets)))
    ranks = np.concatenate((run.known_a, run.a))
    order = np.lexsort((ranks, queries))
    sizes, place = np.diff(run.offsets), within_query(run.offsets)
    deepest = np.repeat(reduce_by_query(np.maximum, run.known_a, run.known_offsets, 0), sizes)
    none = np.zeros(len(place), dtype=np.bool_)
    is_above = np.where(deepest > 0, run.a < deepest, place == 0)
    values = []
    for chosen in (none, place == np.repeat(sizes, sizes) - 1, is_above, ~none):
        kept = order[np.concatenate((np.ones(len(run.known_a), dtype=np.bool_), chosen))[order]]
        offsets = cumulate(np.bincount(queries[kept], minlength=len(sizes)))
        labels = np.diff(cumulate(chosen)[run.offsets])
        for others in (0, run.others):
            values.append(
                score_lexip(ranks[kept], offsets, run.total + labels + others, cutoff=cutoff)
            )
    return np.min(values, axis=0), np.max(values, axis=0)


def time_biased_gain(
    states: npt.NDArray[np.uint8],
    lengths: Floats,
    offsets: Ints,
    *,
    halflife: float,
    p_click_rel: float,
    p_click_nonrel: float,
    p_save: float,
    time_summary: float,
    time_per_word: float,
    time_base: float,
) -> Bounds:
    """TBG of one run, exact: from the last document of a ranking to the first.

    Args:
        states: the state of every retrieved document in rank order, 0: irrelevant, 1: relevant, 2:
            unjudged, shape (N,).
        lengths: its words, shape (N,).
        offsets: the beginning of each query's documents, shape (Q + 1,).
        halflife: this and the other constants: see
            :func:`~pyterrier_asl.scoring.time_biased_gain.time_biased_gain`.
    """
    reading = time_per_word * lengths + time_base
    # The share of users that continue after an irrelevant or a relevant document.
    stay, stay_relevant = (
        np.exp2(-(time_summary + reading * p) / halflife) for p in (p_click_nonrel, p_click_rel)
    )
    gain = p_click_rel * p_save

    def of_queries(q: slice) -> Bounds:
        columns = [rows_of(of, part_of(offsets, q), 0).T for of in (states, stay, stay_relevant)]
        low, high = np.zeros((2, columns[0].shape[1]))
        for state, other, relevant in zip(*(reversed(of) for of in columns)):
            ends = [(gain + relevant * value, other * value) for value in (low, high)]
            low, high = (
                np.where(state == 2, extreme(*end), np.where(state == 1, *end))
                for extreme, end in zip((np.minimum, np.maximum), ends)
            )
        return low, high

    return in_blocks(of_queries, offsets)


def additive(base: Floats, weights: Floats, offsets: Ints) -> Bounds:
    """A measure to which each relevant document adds a weight, or a difference of two, exact.

    Args:
        base: the value of judged documents, shape (Q,).
        weights: the weight of each document of V, shape (U,).
        offsets: the beginning of each query's documents, shape (Q + 1,).

    >>> additive(np.array([0.5]), np.array([0.25, -0.125]), np.array([0, 2]))
    (array([0.375]), array([0.75]))
    """
    down, up = (sum_by_query(clip(weights, 0), offsets) for clip in (np.minimum, np.maximum))
    return base + down, base + up
