"""What unjudged documents could change: the least and greatest value over all labellings.

A *labelling* makes each document of V (the unjudged documents that some compared run shows)
relevant or not. All functions work on whole runs, query by query, and return ``(low, high)``, each
of shape (Q,). What is exact agrees with enumerating all labellings; what is an *outer* bound
contains it.

One run is :class:`RunDocuments`; two are :class:`PairDocuments`, where a second run that retrieved
nothing gives the bounds of the first one for additive measures, ratios, and first ranks. The loops
are in :mod:`~pyterrier_asl.scoring._kernels` and ``_pair_kernels``, compiled where it pays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Bools, Floats, Ints, cumulate, queries_of, reduce_by_query, sum_by_query
from .compiled import loops
from .lexicographic import NO_CUTOFF

Bounds = tuple[Floats, Floats]

#: In a query of more documents, what each two of them do together would take gigabytes.
_MOST_IN_PAIRS = 4000


@dataclass(frozen=True)
class RunDocuments:
    """One run, already cut: what the loops over its labellings take first, in this order.

    Attributes:
        ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
            (E,).
        offsets: where each query's ranks begin, shape (Q + 1,).
        total: relevant documents of each query, retrieved or not, shape (Q,).
        unjudged: ranks of the retrieved unjudged documents, ascending within a query, shape (U,).
        unjudged_offsets: where each query's begin, shape (Q + 1,).
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
    """Two runs, already cut: what the loops over their labellings take first, in this order.

    Attributes:
        known_a: the rank in A of each judged relevant document that either retrieved, 0 where A has
            it not, shape (E,).
        known_b: the same in B.
        known_offsets: where each query's begin, shape (Q + 1,).
        total: relevant documents of each query, retrieved or not, shape (Q,).
        a: the rank in A of each unjudged document that either retrieved, 0 where A has it not,
            shape (U,).
        b: the same in B.
        offsets: where each query's begin, shape (Q + 1,).
        others: unjudged documents of V that neither retrieved, shape (Q,).
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
    return _fill("_kernels.average_precision", len(run.total), *vars(run).values())


def search_length(run: RunDocuments, missing: Ints, g: int | None = None) -> Bounds:
    """ASL of one run, exact.

    Args:
        run: the run.
        missing: what it pays for a missing document besides its relevant documents, shape (Q,).
        g: only the first ``g`` relevant documents in rank order.

    >>> one = np.array([2]), np.array([0, 1]), np.array([1])
    >>> run = RunDocuments(*one, np.array([1]), np.array([0, 1]), np.array([0]))
    >>> low, high = search_length(run, np.array([11]))
    >>> low.tolist(), high.tolist()
    ([1.0], [2.0])
    """
    return _fill("_kernels.search_length", len(run.total), *vars(run).values(), missing, g or 0)


def lexip(run: RunDocuments, cutoff: int | None = None) -> Bounds:
    """LexiP of one run, exact.

    >>> one = np.array([2]), np.array([0, 1]), np.array([1])
    >>> run = RunDocuments(*one, np.array([1]), np.array([0, 1]), np.array([0]))
    >>> low, high = lexip(run)
    >>> low.tolist(), high.tolist()
    ([0.5], [1.0])
    """
    k = NO_CUTOFF if cutoff is None else cutoff
    return _fill("_kernels.lexip", len(run.total), *vars(run).values(), k)


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
        states: of every retrieved document in rank order 0: irrelevant, 1: relevant, 2: unjudged,
            shape (N,).
        lengths: its words, shape (N,).
        offsets: where each query's documents begin, shape (Q + 1,).
        halflife: and what follows: as in
            :func:`~pyterrier_asl.scoring.time_biased_gain.time_biased_gain`.
    """
    reading = time_per_word * lengths + time_base
    stay, stay_relevant = (
        np.exp2(-(time_summary + reading * p) / halflife) for p in (p_click_nonrel, p_click_rel)
    )
    gain = p_click_rel * p_save
    return _fill(
        "_kernels.time_biased_gain", len(offsets) - 1, states, gain, stay, stay_relevant, offsets
    )


def additive(base: Floats, weights: Floats, offsets: Ints) -> Bounds:
    """A measure that each relevant document adds to, or a difference of two, exact.

    Args:
        base: the value now, shape (Q,).
        weights: what each document of V would add, shape (U,).
        offsets: where each query's documents begin, shape (Q + 1,).

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
    given: int | None = None,
) -> Bounds:
    """R or nDCG, or the difference of two, exact: what is gained over the most there could be.

    Args:
        base: what is gained now, not yet divided, shape (Q,).
        weights: what each document that was retrieved would gain with a gain of 1, shape (U,).
        offsets: where each query's documents begin, shape (Q + 1,).
        others: documents of V that were not retrieved, shape (Q,).
        counts: how many documents are judged to have at least each gain, shape (Q, G).
        steps: the gains there are, ascending, each less the one before, shape (G,).
        ideal: the most that 0, 1, 2, ... up to so many documents of gain 1 come to, ascending.
        given: how many of the gains, from the smallest on, a label can give; None: all.

    >>> ratio_of_gains(np.array([1.0]), np.array([1.0]), np.array([0, 1]), np.array([0]),
    ...     np.array([[2]]), np.ones(1), lambda most: np.arange(most + 1.0))
    (array([0.5]), array([0.66666667]))
    """
    most = counts.max(axis=1, initial=0) + np.diff(offsets) + others
    best = ideal(int(most.max(initial=0)))
    given = len(steps) if given is None else given
    return _fill(
        "_pair_kernels.layered",
        len(base),
        base,
        weights[np.lexsort((weights, queries_of(offsets)))],
        offsets,
        others,
        np.ascontiguousarray(counts),  # one kind of array, or the loops are compiled for each
        steps,
        given,
        best,
    )


def first_relevant(pair: PairDocuments, worth: Callable[[Floats], Floats]) -> Bounds:
    """RR, Success, or the difference of two, exact.

    One relevant document at most makes the difference greatest: it leaves the other run's first
    relevant document where it is, or brings it forward itself.

    Args:
        pair: the runs.
        worth: what first relevant documents are worth, by their ranks; infinite: there is none.

    >>> none, some = np.zeros(0, dtype=np.int64), np.array([0, 1])
    >>> pair = PairDocuments(
    ...     none, none, some * 0, np.zeros(1, int), np.array([2]), np.array([0]), some,
    ...     np.zeros(1, int))
    >>> first_relevant(pair, np.reciprocal)
    (array([0.]), array([0.5]))
    """

    def firsts(known: Ints, unjudged: Ints) -> tuple[Floats, Floats]:
        """The first rank of each query, and with each unjudged document relevant."""
        known_ranks, ranks = (np.where(each > 0, each, np.inf) for each in (known, unjudged))
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
        missing_a: what A pays for a missing document besides its relevant documents, shape (Q,).
        missing_b: what B pays.
    """
    both = vars(pair).values()
    return _fill("_pair_kernels.search_length_difference", len(pair), *both, missing_a, missing_b)


def lexicographic_verdicts(pair: PairDocuments) -> Bools:
    """Which of sgnLP = -1, 0, 1 some labelling gives, exact.

    Returns:
        Shape (Q, 3).
    """
    verdicts = np.zeros((len(pair), 3), dtype=np.bool_)
    _kernel("_pair_kernels.lexicographic_verdicts", len(pair.a) + len(pair.known_a))(
        pair.known_a, pair.known_b, pair.known_offsets, pair.a, pair.b, pair.offsets, verdicts
    )
    return verdicts


def average_precision_difference(
    pair: PairDocuments,
    base: Floats,
    gains: tuple[Floats, Floats],
    known_gains: tuple[Floats, Floats],
) -> Bounds:
    """AP or AP_Rareness of A less that of B, an outer bound.

    What two documents add together is looked at in queries of up to 4,000 unjudged documents; where
    there are more, the bound is what A and B can be each by itself, and much wider.

    Args:
        pair: the runs.
        base: the difference now, times the number of relevant documents, shape (Q,).
        gains: what each unjudged document gains in A and in B, shape (U,) each; 1 in
            AP, and 0 where the run has it not.
        known_gains: the same for the judged relevant ones.
    """
    sizes = np.diff(pair.offsets)
    in_pairs = sizes <= _MOST_IN_PAIRS
    kernels = loops(f"{__package__}._pair_kernels", int(np.sum(sizes[in_pairs] ** 2)))
    low, high = np.zeros(len(pair)), np.zeros(len(pair))
    if not in_pairs.all():
        low, high = of_difference(
            _by_itself(pair, pair.known_a, pair.a, known_gains[0], gains[0]),
            _by_itself(pair, pair.known_b, pair.b, known_gains[1], gains[1]),
        )
    for q in np.flatnonzero(in_pairs):
        some, known = (slice(*of[q : q + 2]) for of in (pair.offsets, pair.known_offsets))
        alone, pairs = kernels.precision_gains(
            pair.a[some],
            pair.b[some],
            gains[0][some],
            gains[1][some],
            pair.known_a[known],
            pair.known_b[known],
            known_gains[0][known],
            known_gains[1][known],
        )
        pairs.sort(axis=1)  # NumPy's is several times as fast as Numba's
        low[q], high[q] = kernels.precision_bounds(
            base[q], pair.total[q], pair.others[q], alone, pairs
        )
    return low, high


def _by_itself(
    pair: PairDocuments, known: Ints, unjudged: Ints, known_gains: Floats, gains: Floats
) -> Bounds:
    """AP or AP_Rareness of one of two runs: AP times the least and the greatest gain there is."""

    def retrieved_ranks(ranks: Ints, offsets: Ints) -> tuple[Ints, Ints]:
        ascending = ranks[np.lexsort((ranks, queries_of(offsets)))]
        return ascending[ascending > 0], cumulate(ranks > 0)[offsets]

    shown, shown_offsets = retrieved_ranks(unjudged, pair.offsets)
    others = pair.others + np.diff(pair.offsets) - np.diff(shown_offsets)
    relevant = retrieved_ranks(known, pair.known_offsets)
    low, high = average_precision(RunDocuments(*relevant, pair.total, shown, shown_offsets, others))
    retrieved = np.concatenate((known_gains[known > 0], gains[unjudged > 0]))
    return low * retrieved.min(initial=1.0), high * retrieved.max(initial=0.0)


def of_difference(a: Bounds, b: Bounds) -> Bounds:
    """The difference of two values each of which has bounds, an outer bound.

    >>> of_difference((np.array([0.5]), np.array([1.0])), (np.array([0.25]), np.array([0.5])))
    (array([0.]), array([0.75]))
    """
    return a[0] - b[1], a[1] - b[0]


def intersect(one: Bounds, other: Bounds) -> Bounds:
    """What lies within both of two outer bounds."""
    return np.maximum(one[0], other[0]), np.minimum(one[1], other[1])


def _fill(kernel: str, queries: int, *arguments: Any) -> Bounds:
    """Calls a kernel, ``MODULE.NAME``, that fills low and high."""
    low, high = np.empty(queries), np.empty(queries)
    _kernel(kernel, sum(map(np.size, arguments)))(*arguments, low, high)
    return low, high


def _kernel(name: str, steps: int) -> Callable[..., Any]:
    """A kernel, ``MODULE.NAME``, for so many steps."""
    module, name = name.split(".")
    kernel: Callable[..., Any] = getattr(loops(f"{__package__}.{module}", steps), name)
    return kernel


def merge(
    offsets: Ints, codes: Ints, other_offsets: Ints, other_codes: Ints, size: int
) -> tuple[Ints, Ints, Ints]:
    """The documents of either of two runs.

    Args:
        offsets: where each query's documents of one run begin, shape (Q + 1,).
        codes: which documents they are, below ``size``, each of one query, shape (E,).
        other_offsets: where those of the other run begin.
        other_codes: which they are.
        size: how many documents there are in all.

    Returns:
        Where each query's documents begin, shape (Q + 1,); for each its number in the one run and
        in the other, from 1, and 0 where it is not there.

    >>> one, other = (np.array([0, 2]), np.array([4, 2])), (np.array([0, 1]), np.array([2]))
    >>> [array.tolist() for array in merge(*one, *other, 5)]
    [[0, 2], [1, 2], [0, 1]]
    """
    work = np.zeros(size, dtype=np.int64)
    kernel = _kernel("_pair_kernels.merge", len(codes) + len(other_codes))
    merged: tuple[Ints, Ints, Ints] = kernel(offsets, codes, other_offsets, other_codes, work)
    return merged
