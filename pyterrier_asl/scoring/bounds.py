"""Bounds: the lowest and the highest value over all labels of unjudged documents.

A *labelling* makes each document of V (the unjudged documents that a compared run retrieved)
relevant or not. All functions work on whole runs, query by query, and return ``(low, high)``, each
of shape (Q,). *Exact* bounds equal the lowest and the highest value over all labellings; *outer*
bounds contain these values.

One run is :class:`RunDocuments`, two runs are :class:`PairDocuments`. With a second run that
retrieved nothing, functions of pairs give the bounds of the first run for additive measures,
ratios, and first ranks. The loops are in :mod:`~pyterrier_asl.scoring._kernels` and
``_pair_kernels``; they are compiled for large inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _kernels, _pair_kernels
from .arrays import Bools, Floats, Ints, queries_of, reduce_by_query, sum_by_query
from .compiled import loop
from .lexicographic import NO_CUTOFF

Bounds = tuple[Floats, Floats]

#: The most unjudged documents of a query whose pairs fit into memory.
_MOST_IN_PAIRS = 4000


@dataclass(frozen=True)
class RunDocuments:
    """One run after the cut-off: the first arguments of loops over its labellings, in order.

    Attributes:
        ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
            (E,).
        offsets: the beginning of each query's ranks, shape (Q + 1,).
        total: relevant documents of each query, retrieved or not, shape (Q,).
        unjudged: ranks of the retrieved unjudged documents, ascending within a query, shape (U,).
        unjudged_offsets: the beginning of each query's unjudged documents, shape (Q + 1,).
        others: unjudged documents of V that were not retrieved, shape (Q,).
    """

    ranks: Ints
    offsets: Ints
    total: Ints
    unjudged: Ints
    unjudged_offsets: Ints
    others: Ints


@dataclass(frozen=True)
class PairDocuments:
    """Two runs after the cut-off: the first arguments of loops over labellings, in order.

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
    """

    known_a: Ints
    known_b: Ints
    known_offsets: Ints
    total: Ints
    a: Ints
    b: Ints
    offsets: Ints
    others: Ints

    def __len__(self) -> int:
        return len(self.total)


def average_precision(run: RunDocuments) -> Bounds:
    """AP of one run, exact.

    >>> one = np.array([1]), np.array([0, 1]), np.array([1])
    >>> run = RunDocuments(*one, np.array([2]), np.array([0, 1]), np.array([1]))
    >>> low, high = average_precision(run)
    >>> low.tolist(), high.tolist()
    ([0.5], [1.0])
    """
    return _fill(_kernels.bound_average_precision, len(run.total), *vars(run).values())


def search_length(run: RunDocuments, missing: Ints, g: int | None = None) -> Bounds:
    """ASL of one run, exact.

    Args:
        run: the run.
        missing: the length of a missing document plus the relevant documents retrieved, shape (Q,).
        g: only the first ``g`` relevant documents in rank order.

    >>> one = np.array([2]), np.array([0, 1]), np.array([1])
    >>> run = RunDocuments(*one, np.array([1]), np.array([0, 1]), np.array([0]))
    >>> low, high = search_length(run, np.array([11]))
    >>> low.tolist(), high.tolist()
    ([1.0], [2.0])
    """
    return _fill(_kernels.bound_search_length, len(run.total), *vars(run).values(), missing, g or 0)


def lexip(run: RunDocuments, cutoff: int | None = None) -> Bounds:
    """LexiP of one run, exact.

    >>> one = np.array([2]), np.array([0, 1]), np.array([1])
    >>> run = RunDocuments(*one, np.array([1]), np.array([0, 1]), np.array([0]))
    >>> low, high = lexip(run)
    >>> low.tolist(), high.tolist()
    ([0.5], [1.0])
    """
    return _fill(_kernels.bound_lexip, len(run.total), *vars(run).values(), cutoff or NO_CUTOFF)


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
    """TBG of one run, exact.

    Args:
        states: the state of every retrieved document in rank order, 0: irrelevant, 1: relevant, 2:
            unjudged, shape (N,).
        lengths: its words, shape (N,).
        offsets: the beginning of each query's documents, shape (Q + 1,).
        halflife: this and the other constants: see
            :func:`~pyterrier_asl.scoring.time_biased_gain.time_biased_gain`.
    """
    reading = time_per_word * lengths + time_base
    stay, stay_relevant = (
        np.exp2(-(time_summary + reading * p) / halflife) for p in (p_click_nonrel, p_click_rel)
    )
    gain = p_click_rel * p_save
    return _fill(
        _kernels.bound_time_biased_gain,
        len(offsets) - 1,
        states,
        gain,
        stay,
        stay_relevant,
        offsets,
    )


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


def ratio_of_gains(
    base: Floats,
    weights: Floats,
    offsets: Ints,
    others: Ints,
    counts: Ints,
    steps: Floats,
    ideal: Callable[[int], Floats],
    given: int,
) -> Bounds:
    """R or nDCG, or the difference of two, exact: the gain over the highest possible gain.

    Args:
        base: the gain of judged documents before division, shape (Q,).
        weights: what each retrieved document of V adds with a gain of 1, shape (U,).
        offsets: the beginning of each query's documents, shape (Q + 1,).
        others: documents of V that were not retrieved, shape (Q,).
        counts: the number of judged documents with at least each gain, shape (Q, G).
        steps: the differences of ascending gains, from 0, shape (G,).
        ideal: the highest gains of 0, 1, 2, ... up to a number of documents of gain 1.
        given: the number of gains, from the lowest, that a label can give.

    >>> ratio_of_gains(np.array([1.0]), np.array([1.0]), np.array([0, 1]), np.array([0]),
    ...     np.array([[2]]), np.ones(1), lambda most: np.arange(most + 1.0), 1)
    (array([0.5]), array([0.66666667]))
    """
    most = counts.max(axis=1, initial=0) + np.diff(offsets) + others
    best = ideal(int(most.max(initial=0)))
    return _fill(
        _pair_kernels.layered,
        len(base),
        base,
        weights[np.lexsort((weights, queries_of(offsets)))],
        offsets,
        others,
        np.ascontiguousarray(counts),  # loops are compiled for each kind of array
        steps,
        given,
        best,
    )


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
    low = reduce_by_query(np.minimum, moved, pair.offsets, np.inf)
    high = reduce_by_query(np.maximum, moved, pair.offsets, -np.inf)
    return np.minimum(now, low), np.maximum(now, high)


def search_length_difference(pair: PairDocuments, missing_a: Ints, missing_b: Ints) -> Bounds:
    """ASL of A less ASL of B, exact (fractional programming: Dinkelbach 1967).

    Args:
        pair: the runs.
        missing_a: the length of a missing document of A plus A's relevant documents, shape (Q,).
        missing_b: the same for B.
    """
    arguments = *vars(pair).values(), missing_a, missing_b
    return _fill(_pair_kernels.bound_search_length_difference, len(pair), *arguments)


def lexicographic_verdicts(pair: PairDocuments) -> Bools:
    """Whether some labelling gives sgnLP = -1, 0, 1, exact.

    Returns:
        Shape (Q, 3).
    """
    verdicts = np.zeros((len(pair), 3), dtype=np.bool_)
    loop(_pair_kernels.lexicographic_verdicts, len(pair.a) + len(pair.known_a))(
        pair.known_a, pair.known_b, pair.known_offsets, pair.a, pair.b, pair.offsets, verdicts
    )
    return verdicts


def average_precision_difference(
    pair: PairDocuments,
    base: Floats,
    gains: tuple[Floats, Floats],
    known_gains: tuple[Floats, Floats],
) -> Bounds:
    """AP or AP_Rareness of A less B, outer bounds.

    Queries with more than 4,000 unjudged documents have infinite bounds.

    Args:
        pair: the runs.
        base: the difference of judged documents times the relevant documents, shape (Q,).
        gains: the gain of each unjudged document in A and in B, shape (U,) each; 1 in AP, 0 if the
            run did not retrieve it.
        known_gains: the gains of the judged relevant documents.
    """
    sizes = np.diff(pair.offsets)
    in_pairs = sizes <= _MOST_IN_PAIRS
    precision_gains = loop(_pair_kernels.precision_gains, int(np.sum(sizes[in_pairs] ** 2)))
    ends = [
        np.divide(base, number, out=np.zeros(len(pair)), where=pair.total > 0)
        for number in (pair.total, pair.total + pair.others)
    ]
    low, high = np.minimum(*ends), np.maximum(*ends)
    low[~in_pairs], high[~in_pairs] = -np.inf, np.inf
    unjudged_of, known_of = (
        list(map(slice, offsets[:-1].tolist(), offsets[1:].tolist()))
        for offsets in (pair.offsets, pair.known_offsets)
    )
    for q in np.flatnonzero(in_pairs & (sizes > 0)).tolist():
        unjudged, known = unjudged_of[q], known_of[q]
        alone, pairs = precision_gains(
            pair.a[unjudged],
            pair.b[unjudged],
            gains[0][unjudged],
            gains[1][unjudged],
            pair.known_a[known],
            pair.known_b[known],
            known_gains[0][known],
            known_gains[1][known],
        )
        pairs.sort(axis=1)  # several times as fast as in Numba
        low[q], high[q] = _pair_kernels.precision_bounds(
            low[q], high[q], base[q], pair.total[q], pair.others[q], alone, pairs
        )
    return low, high


def of_difference(a: Bounds, b: Bounds) -> Bounds:
    """Outer bounds of the difference of two values, from the bounds of each.

    >>> of_difference((np.array([0.5]), np.array([1.0])), (np.array([0.25]), np.array([0.5])))
    (array([0.]), array([0.75]))
    """
    return a[0] - b[1], a[1] - b[0]


def _fill(kernel: Callable[..., None], queries: int, *arguments: Any) -> Bounds:
    """Calls a kernel that fills low and high."""
    low, high = np.empty(queries), np.empty(queries)
    loop(kernel, sum(map(np.size, arguments)))(*arguments, low, high)
    return low, high


def merge(
    offsets: Ints, codes: Ints, other_offsets: Ints, other_codes: Ints, size: int
) -> tuple[Ints, Ints, Ints]:
    """The documents of two runs together.

    Args:
        offsets: the beginning of each query's documents in the first run, shape (Q + 1,).
        codes: their codes below ``size``; a code belongs to one query, shape (E,).
        other_offsets: the beginning of each query's documents in the second run.
        other_codes: their codes.
        size: the number of codes.

    Returns:
        The beginning of each query's documents, shape (Q + 1,); the number of each document in the
        first and in the second run, from 1; 0: the run did not retrieve it.

    >>> one, other = (np.array([0, 2]), np.array([4, 2])), (np.array([0, 1]), np.array([2]))
    >>> [array.tolist() for array in merge(*one, *other, 5)]
    [[0, 2], [1, 2], [0, 1]]
    """
    work = np.zeros(size, dtype=np.int64)
    kernel = loop(_pair_kernels.merge, len(codes) + len(other_codes))
    return kernel(offsets, codes, other_offsets, other_codes, work)
