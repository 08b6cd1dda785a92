"""Values of one run under many labellings at a time, each query under each as one of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..evaluation.labellings import Labelled, Side, ideal_gains
from ..evaluation.standard import gains_of
from ..scoring import lexicographic, rareness, search_length, standard
from ..scoring.arrays import Bools, Floats, Ints, cumulate, ranges_from
from ..scoring.time_biased_gain import time_biased_gain


@dataclass(frozen=True)
class Candidates:
    """The documents of a run that count or could count, in rank order.

    Attributes:
        queries: the query of each, ascending, shape (C,).
        ranks: its rank, ascending within a query.
        gains: what it gains in the measure where it is relevant.
        codes: which unjudged document it is; -1: a judged relevant one.
    """

    queries: Ints
    ranks: Ints
    gains: Floats
    codes: Ints


def candidates_of(labelled: Labelled, side: Side) -> Candidates:
    """The documents of a run that count or could; a label of nDCG gains the least there is."""
    documents, measure = side.unjudged, labelled.measure
    known = side.relevant
    gains, new = side.known, side.weights
    if measure.NAME == "nDCG":
        known = side.view.relevant(0)
        gains = gains_of(measure, side.view.judgements.grades[known.pairs])
        new = np.full(len(documents.ranks), labelled.gains[0][0])
    queries = np.concatenate((known.queries, documents.queries))
    ranks = np.concatenate((known.ranks, documents.ranks))
    codes = np.concatenate((np.full(len(known.ranks), -1), documents.codes))
    order = np.lexsort((ranks, queries))
    every = np.concatenate((gains, new))
    return Candidates(queries[order], ranks[order], every[order], codes[order])


def values_with(
    labelled: Labelled,
    side: Side,
    candidates: Candidates,
    queries: Ints,
    virtual: Ints,
    chosen: Ints,
    extra: Ints,
) -> Floats:
    """The values of queries, each under a labelling of its own.

    Args:
        labelled: the measure.
        side: the run.
        candidates: its documents.
        queries: which query each is, shape (M,).
        virtual: for each relevant document retrieved, of which of the M it is, ascending.
        chosen: which of the candidates it is, in rank order.
        extra: how many unjudged documents are relevant in each, retrieved or not, shape (M,).
    """
    measure, name = labelled.measure, labelled.measure.NAME
    ranks, gains = candidates.ranks[chosen], candidates.gains[chosen]
    offsets = cumulate(np.bincount(virtual, minlength=len(queries)))
    total = side.relevant.total[queries] + extra
    sums = np.bincount(virtual, weights=gains, minlength=len(queries)).astype(np.float64)
    if name in ("P", "RBP", "P_Rareness"):
        return sums
    if name == "R":
        return standard.recall(offsets, total)
    if name == "Success":
        return standard.success(offsets)
    if name == "RR":
        return standard.reciprocal_rank(ranks, offsets)
    if name == "LexiP":
        return lexicographic.lexip(ranks, offsets, total, cutoff=labelled.cutoff)
    if name == "AP":
        return standard.average_precision(ranks, offsets, total)
    if name == "AP_Rareness":
        running = np.concatenate(([0.0], np.cumsum(gains)))
        gained = running[1:] - np.repeat(running[offsets[:-1]], np.diff(offsets))
        return rareness.average_precision(gained, ranks, offsets, total)
    if name == "nDCG":
        return standard.ndcg(ranks, gains, offsets, _ideal(labelled, queries, extra))
    if name == "TBG":
        return _time(labelled, side, queries, ranks, offsets)
    missing = side.missing_cost(measure)[queries] - np.diff(offsets)
    lengths = search_length.mean_search_length(ranks, offsets, total, missing, g=measure["g"])
    return search_length.normalized(lengths, labelled.cutoff or 0) if name == "nASL" else lengths


def _ideal(labelled: Labelled, queries: Ints, extra: Ints) -> Floats:
    levels, _, counts = labelled.gains
    counts = counts[queries]
    counts[:, 0] += extra  # a label gives the least gain
    best = ideal_gains(int(counts.max(initial=0)), labelled.cutoff)
    ideal: Floats = best[counts] @ np.diff(levels, prepend=0.0)
    return ideal


def _time(labelled: Labelled, side: Side, queries: Ints, ranks: Ints, offsets: Ints) -> Floats:
    """TBG, whose rankings are repeated for each labelling."""
    measure, ranking = labelled.measure, side.view.ranking
    lengths, sizes = measure.lengths_of(side.view), np.diff(ranking.offsets)[queries]
    begin = cumulate(sizes)
    rows = np.arange(begin[-1]) + np.repeat(ranking.offsets[:-1][queries] - begin[:-1], sizes)
    return time_biased_gain(ranks, offsets, lengths[rows], begin, **measure.constants())


def alone(labelled: Labelled, side: Side, codes: Ints) -> Floats:
    """The value of each document's query if it alone of the unjudged ones were relevant.

    Args:
        labelled: the measure.
        side: the run.
        codes: the documents, shape (M,).
    """
    candidates = candidates_of(labelled, side)
    queries, number = labelled.unjudged.queries[codes], _numbers(labelled, candidates, codes)
    known = np.flatnonzero(candidates.codes < 0)
    starts = np.searchsorted(candidates.queries[known], np.arange(len(labelled.judgements) + 1))
    sizes = np.diff(starts)[queries]
    virtual = np.repeat(np.arange(len(codes)), sizes)
    chosen = known[ranges_from(starts[:-1][queries], cumulate(sizes))]
    own = np.flatnonzero(number >= 0)
    virtual = np.concatenate((virtual, number[own]))
    chosen = np.concatenate((chosen, own))
    order = np.lexsort((chosen, virtual))
    return values_with(
        labelled,
        side,
        candidates,
        queries,
        virtual[order],
        chosen[order],
        np.ones(len(codes), dtype=np.int64),
    )


def _numbers(labelled: Labelled, candidates: Candidates, codes: Ints) -> Ints:
    """Which of some unjudged documents each candidate is; -1: none of them."""
    number = np.full(len(labelled.unjudged), -1, dtype=np.int64)
    number[codes] = np.arange(len(codes))
    is_unjudged = candidates.codes >= 0
    found = np.full(len(is_unjudged), -1, dtype=np.int64)
    found[is_unjudged] = number[candidates.codes[is_unjudged]]
    return found


def sampled(labelled: Labelled, side: Side, codes: Ints, labels: Bools) -> Floats:
    """The values of a run under labellings, shape (N, Q).

    Args:
        labelled: the measure.
        side: the run.
        codes: the documents that are labelled, shape (D,).
        labels: which of them are relevant, shape (N, D).
    """
    candidates, queries = candidates_of(labelled, side), len(labelled.judgements)
    # A last column for candidates without a label, whose number, -1, is its index.
    others = np.zeros((len(labels), 1), dtype=bool)
    of_candidates = np.hstack((labels, others))[:, _numbers(labelled, candidates, codes)]
    rows, chosen = np.nonzero(of_candidates | (candidates.codes < 0))
    virtual = rows * queries + candidates.queries[chosen]
    extra = np.array(
        [np.bincount(labelled.unjudged.queries[codes[row]], minlength=queries) for row in labels]
    ).reshape(-1)
    every = np.tile(np.arange(queries), len(labels))
    values = values_with(labelled, side, candidates, every, virtual, chosen, extra)
    return values.reshape(-1, queries)


def difference_alone(labelled: Labelled, a: int, b: int, codes: Ints) -> Floats:
    """How much the mean difference A - B changes if one document alone is relevant, shape (M,)."""
    queries, one, two = labelled.unjudged.queries[codes], labelled.side(a), labelled.side(b)
    now: Any = one.value - two.value
    changed = alone(labelled, one, codes) - alone(labelled, two, codes)
    change: Floats = (changed - now[queries]) / len(labelled.judgements)
    return change
