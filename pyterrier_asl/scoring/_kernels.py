"""Loops over the labellings of one run, compiled; see :mod:`~pyterrier_asl.scoring.compiled`.

The first s or the last s of the unjudged documents are relevant. Every kernel fills ``low`` and
``high``, shape (Q,), query by query. ``ranks`` are those of retrieved relevant documents, ``holes``
those of retrieved unjudged ones, both ascending within a query; ``others`` counts the unjudged
documents of V that were not retrieved. What the bounds are is explained in
:mod:`~pyterrier_asl.scoring.bounds`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .arrays import Floats, Ints
from .compiled import compiled
from .lexicographic import LEVELS


@compiled
def average_precision(
    ranks: Ints,
    offsets: Ints,
    total: Ints,
    holes: Ints,
    hole_offsets: Ints,
    others: Ints,
    low: Floats,
    high: Floats,
) -> None:
    """AP: each step adds the precision at one document and 1/rank to every relevant one below."""
    for q in range(len(total)):
        known = ranks[offsets[q] : offsets[q + 1]]
        some = holes[hole_offsets[q] : hole_offsets[q + 1]]
        below = np.zeros(len(known) + 1)  # the sum of 1/rank from each relevant document on
        judged, further = 0.0, 0.0
        for i in range(len(known)):
            judged += (i + 1) / known[i]
            last = len(known) - 1 - i
            below[last] = below[last + 1] + 1 / known[last]
        rest = total[q] + others[q]
        low[q] = judged / rest if rest else 0.0
        high[q] = judged / total[q] if total[q] else 0.0
        added, above = 0.0, 0
        for s in range(len(some)):  # from the top
            while above < len(known) and known[above] < some[s]:
                above += 1
            added += (above + s + 1) / some[s] + below[above]
            low[q] = min(low[q], (judged + added) / (rest + s + 1))
            high[q] = max(high[q], (judged + added) / (total[q] + s + 1))
        added, above = 0.0, len(known)
        for s in range(len(some)):  # from the bottom
            rank = some[len(some) - 1 - s]
            while above > 0 and known[above - 1] >= rank:
                above -= 1
            added += (above + 1) / rank + below[above] + further
            further += 1 / rank
            low[q] = min(low[q], (judged + added) / (rest + s + 1))
            high[q] = max(high[q], (judged + added) / (total[q] + s + 1))


@compiled
def search_length(
    ranks: Ints,
    offsets: Ints,
    total: Ints,
    holes: Ints,
    hole_offsets: Ints,
    others: Ints,
    missing: Ints,
    g: int,
    low: Floats,
    high: Floats,
) -> None:
    """ASL of the first ``g`` relevant documents; 0: of all.

    ``missing`` less the relevant documents retrieved is the length of one that was not.
    """
    for q in range(len(total)):
        known = ranks[offsets[q] : offsets[q + 1]]
        some = holes[hole_offsets[q] : hole_offsets[q + 1]]
        low[q], high[q] = np.inf, -np.inf
        for from_top in (True, False):
            ranked = known.sum()
            for s in range(len(some) + 1):
                labelled = some[:s] if from_top else some[len(some) - s :]
                if s:
                    ranked += labelled[-1] if from_top else labelled[0]
                found = len(known) + s
                for o in (0, others[q]):
                    n = total[q] + s + o
                    if not n:
                        value = 1.0
                    elif g:
                        value = _first(known, labelled, n, missing[q], g)
                    else:
                        lengths = ranked - found * (found - 1) / 2
                        value = (lengths + (n - found) * (missing[q] - found)) / n
                    low[q], high[q] = min(low[q], value), max(high[q], value)


@compiled
def _first(ranks: Ints, holes: Ints, n: int, missing: int, g: int) -> float:
    """The mean search length of the first g of n relevant documents, retrieved at these ranks."""
    found, wanted = len(ranks) + len(holes), min(n, g)
    lengths = 0
    for position, rank in enumerate(_merged(ranks, holes, wanted)):
        lengths += rank - position
    return (lengths + max(wanted - found, 0) * (missing - found)) / wanted


@compiled
def _merged(ranks: Ints, holes: Ints, most: int | np.int64) -> Ints:
    """The first ranks of both, ascending, ``most`` of them."""
    merged = np.empty(min(len(ranks) + len(holes), most), np.int64)
    i = j = 0
    for position in range(len(merged)):
        if j == len(holes) or (i < len(ranks) and ranks[i] < holes[j]):
            merged[position] = ranks[i]
            i += 1
        else:
            merged[position] = holes[j]
            j += 1
    return merged


@compiled
def lexip(
    ranks: Ints,
    offsets: Ints,
    total: Ints,
    holes: Ints,
    hole_offsets: Ints,
    others: Ints,
    cutoff: int,
    low: Floats,
    high: Floats,
) -> None:
    """LexiP: a smaller gap outweighs all that follows, so few labellings can be extreme.

    Least: nothing or the last document, for all judged relevant ones stay where they are. Greatest:
    all above the last judged relevant document (or, without one, the first), and those below it
    only where some relevant document is missing anyway.
    """
    for q in range(len(total)):
        known = ranks[offsets[q] : offsets[q + 1]]
        some = holes[hole_offsets[q] : hole_offsets[q + 1]]
        # NumPy's search would take as long to compile as all the rest; more levels do not count.
        above = 0 if len(known) else 1
        while len(known) and above < min(len(some), LEVELS) and some[above] < known[-1]:
            above += 1
        low[q], high[q] = np.inf, -np.inf
        for labelled in (some[:0], some[-1:], some[:above], some):
            for o in (0, others[q]):
                value = _lexip(known, labelled, total[q] + o > len(known), cutoff)
                low[q], high[q] = min(low[q], value), max(high[q], value)


@compiled
def _lexip(ranks: Ints, holes: Ints, missing: bool, cutoff: int) -> float:
    # Of a whole number that is written out Numba would compile a copy.
    merged = _merged(ranks, holes, np.int64(LEVELS))
    if not len(merged):
        return 0.0
    value = 1 / (cutoff + 2) if missing else 1.0
    for level in range(len(merged) - 1, -1, -1):
        gap = merged[level] - (merged[level - 1] if level else 0)
        least, most = 1 / (gap + 1), 1 / gap
        value = min(least + (most - least) * value, most)
    return value


@compiled
def time_biased_gain(
    states: npt.NDArray[np.uint8],
    gains: float,
    stay: Floats,
    stay_relevant: Floats,
    offsets: Ints,
    low: Floats,
    high: Floats,
) -> None:
    """TBG from the last document of a ranking to the first.

    ``states``: 0 irrelevant, 1 relevant, 2 unjudged; ``stay``: the share of users that goes on
    after a document, by whether it is relevant.
    """
    for q in range(len(offsets) - 1):
        least = most = 0.0
        for i in range(offsets[q + 1] - 1, offsets[q] - 1, -1):
            relevant, other = gains + stay_relevant[i] * least, stay[i] * least
            if states[i] == 2:
                least = min(relevant, other)
            else:
                least = relevant if states[i] else other
            relevant, other = gains + stay_relevant[i] * most, stay[i] * most
            if states[i] == 2:
                most = max(relevant, other)
            else:
                most = relevant if states[i] else other
        low[q], high[q] = least, most
