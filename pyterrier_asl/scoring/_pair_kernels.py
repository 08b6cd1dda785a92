"""Loops over the labellings of two runs, compiled; see :mod:`~pyterrier_asl.scoring.compiled`.

``a`` and ``b`` are the ranks of a document in both runs, 0 if it was not retrieved. Kernels fill
``low`` and ``high``, shape (Q,), query by query. ``others`` counts the documents of V that neither
run retrieved. :mod:`~pyterrier_asl.scoring.bounds` explains bounds and V.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Floats, Ints
from .compiled import compiled

#: Smaller differences are rounding errors.
_NOTHING = 1e-14
#: The most numbers of relevant documents for which precision bounds are computed at once.
_AT_ONCE = 32


@compiled
def merge(
    offsets: Ints, codes: Ints, other_offsets: Ints, other_codes: Ints, work: Ints
) -> tuple[Ints, Ints, Ints]:
    """The documents of either run: the beginning of each query's; their numbers in each run.

    Numbers are from 1, 0: not retrieved. A code belongs to one query; ``work`` has a 0 per code.
    """
    room = len(codes) + len(other_codes)
    both_offsets = np.zeros(len(offsets), np.int64)
    a, b = np.zeros(room, np.int64), np.zeros(room, np.int64)
    size = 0
    for q in range(len(offsets) - 1):
        for i in range(offsets[q], offsets[q + 1]):
            a[size] = i + 1
            size += 1
            work[codes[i]] = size
        for i in range(other_offsets[q], other_offsets[q + 1]):
            place = work[other_codes[i]] - 1
            if place < 0:
                place = size
                size += 1
            b[place] = i + 1
        both_offsets[q + 1] = size
    return both_offsets, a[:size], b[:size]


@compiled
def layered(
    base: Floats,
    weights: Floats,
    offsets: Ints,
    others: Ints,
    counts: Ints,
    steps: Floats,
    given: int,
    ideal: Floats,
    low: Floats,
    high: Floats,
) -> None:
    """(base + gained) / ideal, if labels can give documents one of several gains.

    ``weights`` ascend within a query. Gains are sums of ``steps``, shape (G,); labels can give the
    first ``given`` gains. ``counts``, shape (Q, G), are the numbers of judged documents with at
    least each gain; ``ideal[m]`` is the highest gain of m documents of gain 1.
    """
    for q in range(len(base)):
        some = weights[offsets[q] : offsets[q + 1]]
        # Signs are floats: for each literal whole number Numba compiles a version.
        high[q] = _most(base[q], some, 1.0, others[q], counts[q], steps, given, ideal)
        low[q] = -_most(-base[q], some, -1.0, others[q], counts[q], steps, given, ideal)


@compiled
def _most(
    base: float,
    weights: Floats,
    sign: float,
    others: int,
    counts: Ints,
    steps: Floats,
    given: int,
    ideal: Floats,
) -> float:
    """The highest ratio, of weights times a sign. The best s documents have at least a gain."""
    sums = _sums_of_best(weights, sign, others)
    room = len(sums) - 1
    whole, above = 0.0, 0.0
    for g in range(len(steps)):
        whole += steps[g] * ideal[counts[g]]
        above += steps[g] * ideal[counts[g]] if g >= given else 0.0
    best = base / whole if whole > 0 else 0.0
    gained, cost = np.empty(room + 1), np.empty(room + 1)
    for _ in range(100):
        for s in range(room + 1):
            gained[s], cost[s] = 0.0, above
        for g in range(given - 1, -1, -1):
            top, top_gained, top_cost = -np.inf, 0.0, 0.0
            for s in range(room + 1):  # at most as many documents as have a smaller gain
                value = gained[s] - best * cost[s]
                if value > top:
                    top, top_gained, top_cost = value, gained[s], cost[s]
                gained[s] = top_gained + steps[g] * sums[s]
                cost[s] = top_cost + steps[g] * ideal[counts[g] + s]
        at, excess = 0, -np.inf
        for s in range(room + 1):
            value = base + gained[s] - best * cost[s]
            if value > excess:
                at, excess = s, value
        if excess <= _NOTHING * max(cost[at], 1.0) or cost[at] <= 0:
            break
        better = (base + gained[at]) / cost[at]
        if better <= best:
            break
        best = better
    return best


@compiled
def _sums_of_best(weights: Floats, sign: float, others: int) -> Floats:
    """The sums of the best 0, 1, 2, ... weights: ``weights``, ascending, times a sign, and a weight
    of 0 for each of ``others``, documents that neither run retrieved."""
    size = len(weights)
    sums = np.zeros(size + others + 1)
    total, skipped = 0.0, 0
    for i in range(size):
        weight = weights[size - 1 - i] if sign > 0 else -weights[i]
        if weight <= 0 and skipped == 0:
            for _ in range(others):
                skipped += 1
                sums[i + skipped] = total
        total += weight
        sums[i + skipped + 1] = total
    for i in range(size + skipped, size + others):
        sums[i + 1] = total
    return sums


@compiled
def bound_search_length_difference(
    known_a: Ints,
    known_b: Ints,
    known_offsets: Ints,
    total: Ints,
    a: Ints,
    b: Ints,
    offsets: Ints,
    others: Ints,
    missing_a: Ints,
    missing_b: Ints,
    low: Floats,
    high: Floats,
) -> None:
    """ASL of A less ASL of B."""
    for q in range(len(total)):
        begin, end, first, last = known_offsets[q], known_offsets[q + 1], offsets[q], offsets[q + 1]
        one, two = known_a[begin:end], known_b[begin:end]
        high[q] = _longest(
            one, two, total[q], a[first:last], b[first:last], others[q], missing_a[q], missing_b[q]
        )
        low[q] = -_longest(
            two, one, total[q], b[first:last], a[first:last], others[q], missing_b[q], missing_a[q]
        )


@compiled
def _longest(
    known_a: Ints,
    known_b: Ints,
    total: int,
    a: Ints,
    b: Ints,
    others: int,
    missing_a: int,
    missing_b: int,
) -> float:
    """The greatest difference, by Dinkelbach's iteration on difference = sum / n."""
    found_a = found_b = lengths = 0
    for i in range(len(known_a)):
        found_a += known_a[i] > 0
        found_b += known_b[i] > 0
        lengths += known_a[i] - known_b[i]
    lengths += (total - found_a) * missing_a - (total - found_b) * missing_b
    longer, shorter = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
    both = np.empty(len(a), np.int64)
    in_a = in_b = in_both = 0
    for i in range(len(a)):
        if b[i] == 0:
            longer[in_a] = a[i]
            in_a += 1
        elif a[i] == 0:
            shorter[in_b] = b[i]
            in_b += 1
        else:
            both[in_both] = a[i] - b[i]
            in_both += 1
    best = -np.inf
    for o in (0, others):
        n = total + o
        crossed = (found_a - found_b) * ((found_a + found_b + 1) / 2 - n)
        start = lengths + o * (missing_a - missing_b) + crossed
        value = start / n if n else 0.0
        for _ in range(100):
            sums, size = start, n
            for change in both[:in_both]:
                if change > value:
                    sums += change
                    size += 1
            gain, some = _best_in_one(longer[:in_a], 1.0, missing_b, found_b - n + 0.5, value)
            sums, size = sums + gain, size + some
            gain, some = _best_in_one(shorter[:in_b], -1.0, missing_a, n - found_a - 0.5, value)
            sums, size = sums + gain, size + some
            if not size or sums / size <= value + _NOTHING:
                break
            value = sums / size
        best = max(best, value)
    return best


@compiled
def _best_in_one(
    ranks: Ints, sign: float, missing: int, linear: float, value: float
) -> tuple[float, int]:
    """The highest sum - sign i^2 / 2 + linear i over the i best documents, less value i; its i.

    A document adds its rank less ``missing``, times the sign. ``ranks`` ascend; the highest ranks
    are the best if the sign is 1.
    """
    best = gain = most = 0.0
    some = 0
    for i in range(1, len(ranks) + 1):
        rank = ranks[len(ranks) - i] if sign > 0 else ranks[i - 1]
        gain += sign * (rank - missing)
        whole = gain - sign * 0.5 * i * i + linear * i
        if whole - value * i > best:
            best, most, some = whole - value * i, whole, i
    return most, some


@compiled
def lexicographic_verdicts(
    known_a: Ints,
    known_b: Ints,
    known_offsets: Ints,
    a: Ints,
    b: Ints,
    offsets: Ints,
    verdicts: Any,
) -> None:
    """Which of sgnLP = -1, 0, 1 some labelling gives: ``verdicts``, shape (Q, 3)."""
    for q in range(len(offsets) - 1):
        begin, end, first, last = known_offsets[q], known_offsets[q + 1], offsets[q], offsets[q + 1]
        size = last - first
        relevant, irrelevant = size, size + 1
        depth = 0
        for i in range(begin, end):
            depth = max(depth, known_a[i], known_b[i])
        for i in range(first, last):
            depth = max(depth, a[i], b[i])
        at_a, at_b = np.empty(depth + 1, np.int64), np.empty(depth + 1, np.int64)
        for t in range(depth + 1):
            at_a[t], at_b[t] = irrelevant, irrelevant
        for i in range(begin, end):
            at_a[known_a[i]], at_b[known_b[i]] = relevant, relevant
        parent = np.empty(size + 2, np.int64)
        for i in range(size + 2):
            parent[i] = i
            if i < size:
                at_a[a[first + i]], at_b[b[first + i]] = i, i
        possible = True
        for t in range(1, depth + 1):  # documents at rank 0 were not retrieved
            one, two = _root(parent, at_a[t]), _root(parent, at_b[t])
            if one == two:
                continue
            fixed, void = _root(parent, relevant), _root(parent, irrelevant)
            verdicts[q, 2] |= one != void and two != fixed
            verdicts[q, 0] |= two != void and one != fixed
            if (one == fixed and two == void) or (one == void and two == fixed):
                possible = False
                break
            parent[one] = two
        verdicts[q, 1] = possible


@compiled
def _root(parent: Ints, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@compiled
def precision_gains(
    a: Ints,
    b: Ints,
    gain_a: Floats,
    gain_b: Floats,
    known_a: Ints,
    known_b: Ints,
    known_gain_a: Floats,
    known_gain_b: Floats,
) -> tuple[Floats, Floats]:
    """The contributions of unjudged documents to a difference of sums of precisions of a query.

    Returns:
        The contribution of each with the judged relevant ones, shape (U,), and minus half of the
        additional contribution of each pair, shape (U, U), -inf on the diagonal.
    """
    size = len(a)
    alone, pairs = np.empty(size), np.empty((size, size))
    one, two = _reciprocals(a), _reciprocals(b)
    known_one, known_two = _reciprocals(known_a), _reciprocals(known_b)
    for i in range(size):
        alone[i] = gain_a[i] * one[i] - gain_b[i] * two[i]
        for j in range(len(known_a)):
            alone[i] += _both(one[i], known_one[j], gain_a[i], known_gain_a[j])
            alone[i] -= _both(two[i], known_two[j], gain_b[i], known_gain_b[j])
        for j in range(i):
            half = _both(two[i], two[j], gain_b[i], gain_b[j]) / 2
            pairs[i, j] = pairs[j, i] = half - _both(one[i], one[j], gain_a[i], gain_a[j]) / 2
        pairs[i, i] = -np.inf
    return alone, pairs


@compiled
def _reciprocals(ranks: Ints) -> Floats:
    """1/rank, and 0 for documents that were not retrieved."""
    reciprocals = np.zeros(len(ranks))
    for i in range(len(ranks)):
        if ranks[i] > 0:
            reciprocals[i] = 1 / ranks[i]
    return reciprocals


@compiled
def _both(one: float, other: float, gain: float, other_gain: float) -> float:
    """What two relevant documents with these 1/rank add together: the gain of the first / rank."""
    return other_gain * one if other > one else gain * other


# NumPy is as fast here as compiled loops, which take six seconds to compile.


def precision_bounds(
    low: float,
    high: float,
    base: float,
    total: int,
    others: int,
    alone: Floats,
    pairs: Floats,
) -> tuple[float, float]:
    """An outer bound for a difference of AP or AP_Rareness.

    Args:
        low: the lower bound if no document below is relevant.
        high: the upper bound.
        base: the sum of precisions of judged documents in A less the sum in B.
        total: relevant documents of the query.
        others: unjudged documents that neither run retrieved.
        alone: the contribution of each unjudged document, shape (U,).
        pairs: -inf, then minus half of its contributions with every other, ascending, shape (U, U).
    """
    halves = np.zeros(pairs.shape)  # minus half of the 0, 1, ... lowest contributions, by row
    pairs.T[:0:-1].cumsum(axis=0, out=halves[1:])
    low = -_highest_ratio(-low, -base, total, others, -alone, halves)
    alone = alone - halves[-1]  # with all contributions, of which the lowest are left out
    return low, _highest_ratio(high, base, total, others, alone, halves[::-1])


def _highest_ratio(
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
            best = _ratio(wholes, total + np.arange(first, last + 1), others).max(initial=best)
            continue
        m = (first + last) // 2
        worth = alone + with_best[m - 1]
        ordered = np.partition(worth, size - m)
        best = max(best, _ratio(base + ordered[size - m :].sum(), total + m, others))
        for begin, step in ((first, 1), (last, -1)):
            inner = m - step
            slope = (with_best[inner - 1] - with_best[m - 1]) * -step
            excess = worth + slope * (begin - m) - ordered[size - m]
            whole = base + begin * ordered[size - m] + np.maximum(excess, 0).sum()
            if _ratio(whole, total + begin, others) > best:
                ranges.append((min(begin, inner), max(begin, inner)))
    return best


def _ratio(whole: float | Floats, relevant: int | Ints, others: int) -> Any:
    """The higher of the ratios with none and with all of the others relevant."""
    return np.maximum(whole / relevant, whole / (relevant + others))
