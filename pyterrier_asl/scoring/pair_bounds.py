"""Bounds of the difference of two runs over all labels; see :mod:`~pyterrier_asl.scoring.bounds`.

With a second run that retrieved nothing, they are the bounds of the first run for ratios, first
ranks and search lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..common.types import Bools, Floats, Ints
from .arrays import (
    cumulate,
    divide,
    order_by_query,
    queries_of,
    reduce_by_query,
    sum_by_query,
    within_query,
)
from .bounds import PairDocuments
from .matrices import Bounds, in_blocks, part_of, rows_of, sums_before

#: The most unjudged documents of a query whose pairs fit into memory.
_MOST_IN_PAIRS = 4000
#: The most numbers of relevant documents for which precision bounds are computed at once.
_AT_ONCE = 32


def ratio_of_gains(
    pair: PairDocuments,
    base: Floats,
    counts: Ints,
    steps: Floats,
    ideal: Callable[[int], Floats],
    given: int,
) -> Bounds:
    """R or nDCG, or the difference of two, exact: the gain over the highest possible gain.

    Args:
        pair: the runs.
        base: the gain of judged documents before division, shape (Q,).
        counts: the number of judged documents with at least each gain, shape (Q, G).
        steps: the differences of ascending gains, from 0, shape (G,).
        ideal: the highest gains of 0, 1, 2, ... up to a number of documents of gain 1.
        given: the number of gains, from the lowest, that a label can give.

    >>> none, one, offsets = np.zeros(0, int), np.ones(1, int), np.array([0, 1])
    >>> pair = PairDocuments(none, none, 0 * offsets, 2 * one, one, 0 * one, offsets, 0 * one,
    ...     gains=(np.ones(1), np.zeros(1)))
    >>> ratio_of_gains(pair, np.ones(1), np.array([[2]]), np.ones(1),
    ...     lambda most: np.arange(most + 1.0), 1)
    (array([0.5]), array([0.66666667]))
    """
    weights, offsets, others = pair.weights, pair.offsets, pair.others
    best = ideal(sum(int(of.max(initial=0)) for of in (counts, np.diff(offsets), others)))

    def of_queries(q: slice) -> Bounds:
        low, high = (
            sign
            * _highest_ratio(
                sign * base[q],
                rows_of(sign * weights, part_of(offsets, q), -np.inf),
                others[q],
                counts[q],
                steps,
                given,
                best,
            )
            for sign in (-1, 1)
        )
        return low, high

    return in_blocks(of_queries, offsets)


def _highest_ratio(
    base: Floats,
    weights: Floats,
    others: Ints,
    counts: Ints,
    steps: Floats,
    given: int,
    ideal: Floats,
) -> Floats:
    """The highest ratio of gain to ideal gain; the s best documents have at least a gain.

    Sums of the best weights and ideal gains are concave in s. So a negative ratio is highest with
    one s for all gains, with the documents that were not retrieved. For a ratio from 0 on each gain
    has its own s, independent of the other gains (Dinkelbach 1967).
    """
    weights = -np.sort(-weights, axis=1)
    positive = (weights > 0).sum(axis=1)
    sums = sums_before(weights)
    is_negative = base + steps[:given].sum() * sums[np.arange(len(sums)), positive] < 0
    if not is_negative.any():
        sums = sums[:, : positive.max(initial=0) + 1]
    extra = np.where(is_negative, others, 0)
    windows = np.lib.stride_tricks.sliding_window_view(ideal, sums.shape[1])
    costs = [step * windows[counts[:, g] + extra] for g, step in enumerate(steps[:given])]
    above = ideal[counts[:, given:]] @ steps[given:]
    ratio: Floats = divide(
        base[:, np.newaxis] + steps[:given].sum() * sums, above[:, np.newaxis] + sum(costs)
    ).max(axis=1)
    while given > 1:
        whole, cost = base, above
        for step, of_gain in zip(steps, costs):
            at = (step * sums - ratio[:, np.newaxis] * of_gain).argmax(axis=1)[:, np.newaxis]
            whole = whole + step * np.take_along_axis(sums, at, axis=1)[:, 0]
            cost = cost + np.take_along_axis(of_gain, at, axis=1)[:, 0]
        better = np.where(is_negative, ratio, np.maximum(ratio, divide(whole, cost)))
        if not (better > ratio).any():
            break
        ratio = better
    return ratio


def first_relevant(pair: PairDocuments, worth: Callable[[Floats], Floats]) -> Bounds:
    """RR, Success, or the difference of two, exact.

    Labelling at most one document relevant reaches each bound.

    Args:
        pair: the runs.
        worth: the values for first relevant documents at given ranks; infinite: no such document.

    >>> none, some = np.zeros(0, dtype=np.int64), np.array([0, 1])
    >>> pair = PairDocuments(
    ...     none, none, some * 0, np.zeros(1, int), np.array([2]), np.array([0]), some,
    ...     np.zeros(1, int))
    >>> first_relevant(pair, np.reciprocal)
    (array([0.]), array([0.5]))
    """

    def firsts(known: Ints, unjudged: Ints) -> tuple[Floats, Floats]:
        """The first rank of each query, also if each unjudged document is relevant."""
        known_ranks, ranks = (np.where(r > 0, r, np.inf) for r in (known, unjudged))
        first = reduce_by_query(np.minimum, known_ranks, pair.known_offsets, np.inf)
        return first, np.minimum(np.repeat(first, np.diff(pair.offsets)), ranks)

    (a, with_a), (b, with_b) = firsts(pair.known_a, pair.a), firsts(pair.known_b, pair.b)
    now, moved = worth(a) - worth(b), worth(with_a) - worth(with_b)
    return (
        np.minimum(now, reduce_by_query(np.minimum, moved, pair.offsets, np.inf)),
        np.maximum(now, reduce_by_query(np.maximum, moved, pair.offsets, -np.inf)),
    )


def search_length_difference(
    pair: PairDocuments, missing_a: Ints, missing_b: Ints, nothing: float = 0.0
) -> Bounds:
    """ASL of A less ASL of B, exact.

    Args:
        pair: the runs.
        missing_a: the length of a missing document of A plus A's relevant documents, shape (Q,).
        missing_b: the same for B; 0 for a run that retrieved nothing, to get the bounds of A.
        nothing: the value if no document of a query is relevant; 1 for the bounds of A.
    """
    a, b = (pair.known_a, pair.a, missing_a), (pair.known_b, pair.b, missing_b)

    def of_queries(q: slice) -> Bounds:
        return -_longest(pair, b, a, -nothing, q), _longest(pair, a, b, nothing, q)

    return in_blocks(of_queries, pair.offsets)


def _longest(
    pair: PairDocuments,
    one: tuple[Ints, Ints, Ints],
    two: tuple[Ints, Ints, Ints],
    nothing: float,
    q: slice,
) -> Floats:
    """The greatest difference: a sum over relevant documents, divided by their number.

    Each document adds a number to the sum. The next document that only one run retrieved never adds
    more than the one before it, so that the documents that add most are the best.
    """
    (known_a, a, missing_a), (known_b, b, missing_b) = one, two
    known, offsets = part_of(pair.known_offsets, q), part_of(pair.offsets, q)
    inside = slice(offsets[0], offsets[-1])
    a, b, missing_a, missing_b = a[inside], b[inside], missing_a[q], missing_b[q]
    judged = slice(known[0], known[-1])
    known_a, known_b, known = known_a[judged], known_b[judged], known - known[0]
    sizes, offsets = np.diff(offsets), offsets - offsets[0]
    found_a, found_b = (np.diff(cumulate(ranks > 0)[known]) for ranks in (known_a, known_b))
    lengths = sum_by_query(known_a - known_b, known)
    lengths += (pair.total[q] - found_a) * missing_a - (pair.total[q] - found_b) * missing_b
    only_a, only_b = b == 0, a == 0
    before_a, before_b = (cumulate(is_only) for is_only in (only_a, only_b))
    # The number of a document among A's from the bottom, among B's from the top, from 1.
    number_a = np.repeat(before_a[offsets[1:]], sizes) - before_a[:-1]
    number_b = before_b[1:] - np.repeat(before_b[offsets[:-1]], sizes)
    longest = np.full(len(sizes), -np.inf)
    for others in (0, pair.others[q]):
        n = pair.total[q] + others
        in_a = np.repeat(found_b - n - missing_b + 1, sizes) + a - number_a
        in_b = np.repeat(n - found_a + missing_a - 1, sizes) - b + number_b
        added = np.where(only_a, in_a, np.where(only_b, in_b, a - b))
        best = -np.sort(-rows_of(added, offsets, -np.inf), axis=1)
        start = lengths + others * (missing_a - missing_b)
        start += (found_a - found_b) * ((found_a + found_b + 1) / 2 - n)
        sums = start[:, np.newaxis] + sums_before(best)
        ratios = divide(sums, n[:, np.newaxis] + np.arange(sums.shape[1]), nothing)
        longest = np.maximum(longest, ratios.max(axis=1))
    return longest


def lexicographic_verdicts(pair: PairDocuments) -> Bools:
    """Whether some labelling gives sgnLP = -1, 0, 1, exact.

    Walks down the ranks. Documents at the same rank get the same label, as the runs are equal so
    far; all documents with the same label are a class.

    Returns:
        Shape (Q, 3).
    """
    number, size = len(pair.total), int(np.diff(pair.offsets).max(initial=0))
    irrelevant, relevant = size, size + 1
    queries, known_queries = queries_of(pair.offsets), queries_of(pair.known_offsets)
    runs = (pair.known_a, pair.a), (pair.known_b, pair.b)
    deepest = max(int(ranks.max(initial=0)) for run in runs for ranks in run)
    documents = np.full((2, deepest + 1, number), irrelevant)  # by rank; 0: not retrieved
    for by_rank, (known, unjudged) in zip(documents, runs):
        by_rank[known, known_queries] = relevant
        by_rank[unjudged, queries] = within_query(pair.offsets)
    classes = np.tile(np.arange(size + 2), (number, 1))
    verdicts = np.tile(np.array([False, True, False]), (number, 1))
    rows = np.arange(number)  # the queries that can still be equal
    for of_a, of_b in zip(*documents[:, 1:]):
        a, b = classes[rows, of_a[rows]], classes[rows, of_b[rows]]
        void, fixed = classes[rows, irrelevant], classes[rows, relevant]
        verdicts[rows, 2] |= (a != b) & (a != void) & (b != fixed)
        verdicts[rows, 0] |= (a != b) & (b != void) & (a != fixed)
        differ = ((a == fixed) & (b == void)) | ((a == void) & (b == fixed))
        verdicts[rows[differ], 1] = False
        rows, a, b = rows[~differ], a[~differ, np.newaxis], b[~differ, np.newaxis]
        classes[rows] = np.where(classes[rows] == a, b, classes[rows])
    return verdicts


def average_precision_difference(pair: PairDocuments, base: Floats) -> Bounds:
    """AP or AP_Rareness of A less B, outer bounds.

    Queries with more than 4,000 unjudged documents have infinite bounds.

    Args:
        pair: the runs.
        base: the difference of judged documents times the relevant documents, shape (Q,).
    """
    sizes = np.diff(pair.offsets)
    in_pairs = sizes <= _MOST_IN_PAIRS
    ends = [divide(base, number) for number in (pair.total, pair.total + pair.others)]
    low, high = np.minimum(*ends), np.maximum(*ends)
    low[~in_pairs], high[~in_pairs] = -np.inf, np.inf
    unjudged_of, known_of = (
        list(map(slice, offsets[:-1].tolist(), offsets[1:].tolist()))
        for offsets in (pair.offsets, pair.known_offsets)
    )
    for q in np.flatnonzero(in_pairs & (sizes > 0)).tolist():
        unjudged, known = unjudged_of[q], known_of[q]
        size = unjudged.stop - unjudged.start
        # Minus half of the contributions of two documents together; ascending in each row below.
        alone, shared = np.zeros(size), np.zeros((size, size))
        for sign, ranks, known_ranks, gain, known_gain in zip(
            (1, -1), (pair.a, pair.b), (pair.known_a, pair.known_b), pair.gains, pair.known_gains
        ):
            some, worth = divide(1, ranks[unjudged]), gain[unjudged]
            with_known = _together(some, worth, divide(1, known_ranks[known]), known_gain[known])
            alone += sign * (worth * some + with_known.sum(axis=1))
            shared -= sign / 2 * _together(some, worth, some, worth)
        np.fill_diagonal(shared, -np.inf)
        shared.sort(axis=1)
        halves = np.zeros(shared.shape)  # the sums of the 0, 1, ... highest, by row
        shared.T[:0:-1].cumsum(axis=0, out=halves[1:])
        numbers = pair.total[q], pair.others[q]
        low[q] = -_highest_precision(-low[q], -base[q], *numbers, -alone, halves)
        # With all contributions, of which the lowest are left out.
        alone -= halves[-1]
        high[q] = _highest_precision(high[q], base[q], *numbers, alone, halves[::-1])
    return low, high


def _together(one: Floats, gain: Floats, other: Floats, other_gain: Floats) -> Floats:
    """What two relevant documents with these 1/rank add together: the gain of the first / rank."""
    one, gain = one[:, np.newaxis], gain[:, np.newaxis]
    return np.where(other > one, other_gain * one, gain * other)


def _highest_precision(
    best: float, base: float, total: int, others: int, alone: Floats, with_best: Floats
) -> float:
    """The highest mean of precisions with m = 0, 1, ... relevant unjudged documents.

    Each of the m best documents gets half of its contributions with its best m - 1 others: the sum
    of ``alone`` and of row m - 1 of ``with_best``, a concave function of m, below its tangents. The
    sum of the m best of straight lines is convex in m, so its ratio to a line is highest at an end
    of a range of m. A range whose ends do not exceed the best ratio is skipped. A short range is
    computed at once.
    """
    size = len(alone)
    ranges = [(1, size)]
    while ranges:
        first, last = ranges.pop()
        if last - first < _AT_ONCE:
            worths = alone + with_best[first - 1 : last]
            worths.sort(axis=1)
            wholes = base + worths[:, ::-1].cumsum(axis=1).diagonal(first - 1)
            best = _best_ratio(wholes, total + np.arange(first, last + 1), others).max(initial=best)
            continue
        m = (first + last) // 2
        worth = alone + with_best[m - 1]
        ordered = np.partition(worth, size - m)
        best = max(best, _best_ratio(base + ordered[size - m :].sum(), total + m, others))
        for begin, step in ((first, 1), (last, -1)):
            inner = m - step
            slope = (with_best[inner - 1] - with_best[m - 1]) * -step
            excess = worth + slope * (begin - m) - ordered[size - m]
            whole = base + begin * ordered[size - m] + np.maximum(excess, 0).sum()
            if _best_ratio(whole, total + begin, others) > best:
                ranges.append((min(begin, inner), max(begin, inner)))
    return best


def _best_ratio(whole: float | Floats, relevant: int | Ints, others: int) -> Any:
    """The higher of the ratios with none and with all of the others relevant."""
    return np.maximum(whole / relevant, whole / (relevant + others))


def merge(
    offsets: Ints, pairs: Ints, other_offsets: Ints, other_pairs: Ints, size: int
) -> tuple[Ints, Ints, Ints]:
    """The documents of two runs together, those of the second run alone last.

    Args:
        offsets: the beginning of each query's documents in the first run, shape (Q + 1,).
        pairs: their positions in the judgements, shape (E,).
        other_offsets: the beginning of each query's documents in the second run.
        other_pairs: their positions in the judgements.
        size: the number of judgements.

    Returns:
        The beginning of each query's documents, shape (Q + 1,); the number of each document in the
        first and in the second run, from 1; 0: the run did not retrieve it.

    >>> one, other = (np.array([0, 2]), np.array([4, 2])), (np.array([0, 1]), np.array([2]))
    >>> [array.tolist() for array in merge(*one, *other, 5)]
    [[0, 2], [1, 2], [0, 1]]
    """
    numbers = np.zeros(size, dtype=np.int64)
    numbers[pairs] = np.arange(1, len(pairs) + 1)
    in_first = numbers[other_pairs]
    is_new = in_first == 0
    queries = np.concatenate((queries_of(offsets), queries_of(other_offsets)[is_new]))
    first, second = np.zeros((2, len(queries)), dtype=np.int64)
    first[: len(pairs)] = np.arange(1, len(pairs) + 1)
    second[len(pairs) :] = np.flatnonzero(is_new) + 1
    second[in_first[~is_new] - 1] = np.flatnonzero(~is_new) + 1
    order = order_by_query(queries)
    return offsets + cumulate(is_new)[other_offsets], first[order], second[order]
