"""Loops over the labellings of one run, compiled; see :mod:`~pyterrier_asl.scoring.compiled`.

The first s or the last s of the unjudged documents are relevant. Every kernel fills ``low`` and
``high``, shape (Q,), query by query. ``ranks`` are the ranks of retrieved relevant documents,
``holes`` the ranks of retrieved unjudged documents, both ascending within a query. ``others``
counts the documents of V that were not retrieved. :mod:`~pyterrier_asl.scoring.bounds` explains
bounds and V.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .arrays import Floats, Ints
from .compiled import compiled
from .lexicographic import LEVELS


@compiled
def bound_average_precision(
    ranks: Ints,
    offsets: Ints,
    total: Ints,
    holes: Ints,
    hole_offsets: Ints,
    others: Ints,
    low: Floats,
    high: Floats,
) -> None:
    """AP: each step adds a precision, and 1/rank to each relevant document below."""
    for q in range(len(total)):
        judged_ranks = ranks[offsets[q] : offsets[q + 1]]
        unjudged = holes[hole_offsets[q] : hole_offsets[q + 1]]
        below = np.zeros(len(judged_ranks) + 1)  # the sum of 1/rank from each relevant document on
        judged, further = 0.0, 0.0
        for i in range(len(judged_ranks)):
            judged += (i + 1) / judged_ranks[i]
            last = len(judged_ranks) - 1 - i
            below[last] = below[last + 1] + 1 / judged_ranks[last]
        rest = total[q] + others[q]
        low[q] = judged / rest if rest else 0.0
        high[q] = judged / total[q] if total[q] else 0.0
        added, above = 0.0, 0
        for s in range(len(unjudged)):  # from the top
            while above < len(judged_ranks) and judged_ranks[above] < unjudged[s]:
                above += 1
            added += (above + s + 1) / unjudged[s] + below[above]
            low[q] = min(low[q], (judged + added) / (rest + s + 1))
            high[q] = max(high[q], (judged + added) / (total[q] + s + 1))
        added, above = 0.0, len(judged_ranks)
        for s in range(len(unjudged)):  # from the bottom
            rank = unjudged[len(unjudged) - 1 - s]
            while above > 0 and judged_ranks[above - 1] >= rank:
                above -= 1
            added += (above + 1) / rank + below[above] + further
            further += 1 / rank
            low[q] = min(low[q], (judged + added) / (rest + s + 1))
            high[q] = max(high[q], (judged + added) / (total[q] + s + 1))


@compiled
def bound_search_length(
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
    """ASL of the first ``g`` relevant documents; 0: all.

    The length of a missing document is ``missing`` less the relevant documents retrieved.
    """
    for q in range(len(total)):
        judged_ranks = ranks[offsets[q] : offsets[q + 1]]
        unjudged = holes[hole_offsets[q] : hole_offsets[q + 1]]
        low[q], high[q] = np.inf, -np.inf
        for from_top in (True, False):
            ranked = judged_ranks.sum()
            for s in range(len(unjudged) + 1):
                labelled = unjudged[:s] if from_top else unjudged[len(unjudged) - s :]
                if s:
                    ranked += labelled[-1] if from_top else labelled[0]
                retrieved = len(judged_ranks) + s
                for o in (0, others[q]):
                    n = total[q] + s + o
                    if not n:
                        value = 1.0
                    elif g:
                        value = _first(judged_ranks, labelled, n, missing[q], g)
                    else:
                        lengths = ranked - retrieved * (retrieved - 1) / 2
                        value = (lengths + (n - retrieved) * (missing[q] - retrieved)) / n
                    low[q], high[q] = min(low[q], value), max(high[q], value)


@compiled
def _first(ranks: Ints, holes: Ints, n: int, missing: int, g: int) -> float:
    """The mean search length of the first g of n relevant documents with these ranks."""
    retrieved, size = len(ranks) + len(holes), min(n, g)
    lengths = 0
    for position, rank in enumerate(_first_ranks(ranks, holes, size)):
        lengths += rank - position
    return (lengths + max(size - retrieved, 0) * (missing - retrieved)) / size


@compiled
def _first_ranks(ranks: Ints, holes: Ints, most: int | np.int64) -> Ints:
    """The first ``most`` ranks of both, ascending."""
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
def bound_lexip(
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
    """LexiP: a smaller gap outweighs all later gaps, so only a few labellings are extreme.

    Lowest: no document or the last one is relevant. Highest: all documents above the last judged
    relevant one (without one: the first document), or all documents.
    """
    for q in range(len(total)):
        judged_ranks = ranks[offsets[q] : offsets[q + 1]]
        unjudged = holes[hole_offsets[q] : hole_offsets[q + 1]]
        # np.searchsorted would double the time to compile; further levels have no effect.
        above = 0 if len(judged_ranks) else 1
        while (
            len(judged_ranks)
            and above < min(len(unjudged), LEVELS)
            and unjudged[above] < judged_ranks[-1]
        ):
            above += 1
        low[q], high[q] = np.inf, -np.inf
        for labelled in (unjudged[:0], unjudged[-1:], unjudged[:above], unjudged):
            for o in (0, others[q]):
                value = _embed(judged_ranks, labelled, total[q] + o > len(judged_ranks), cutoff)
                low[q], high[q] = min(low[q], value), max(high[q], value)


@compiled
def _embed(ranks: Ints, holes: Ints, missing: bool, cutoff: int) -> float:
    # For a literal number Numba would compile a second version.
    merged = _first_ranks(ranks, holes, np.int64(LEVELS))
    if not len(merged):
        return 0.0
    value = 1 / (cutoff + 2) if missing else 1.0
    for level in range(len(merged) - 1, -1, -1):
        gap = merged[level] - (merged[level - 1] if level else 0)
        least, most = 1 / (gap + 1), 1 / gap
        value = min(least + (most - least) * value, most)
    return value


@compiled
def bound_time_biased_gain(
    states: npt.NDArray[np.uint8],
    gains: float,
    stay: Floats,
    stay_relevant: Floats,
    offsets: Ints,
    low: Floats,
    high: Floats,
) -> None:
    """TBG from the last document of a ranking to the first.

    ``states``: 0 irrelevant, 1 relevant, 2 unjudged. ``stay``, ``stay_relevant``: the share of
    users that continue after an irrelevant or a relevant document.
    """
    for q in range(len(offsets) - 1):
        least = most = 0.0
        for i in range(offsets[q + 1] - 1, offsets[q] - 1, -1):
            relevant, other = gains + stay_relevant[i] * least, stay[i] * least
            least = min(relevant, other) if states[i] == 2 else relevant if states[i] else other
            relevant, other = gains + stay_relevant[i] * most, stay[i] * most
            most = max(relevant, other) if states[i] == 2 else relevant if states[i] else other
        low[q], high[q] = least, most
