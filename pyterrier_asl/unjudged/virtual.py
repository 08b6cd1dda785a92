"""Values of a run under many labellings at once, a virtual query for each query and labelling."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluation.labellings import Labelled
from ..measures.labelled import Candidates, LabelledRankings, LabelledRun
from ..scoring.arrays import Bools, Floats, Ints, cumulate, ranges_from


def _values_with(
    run: LabelledRun,
    candidates: Candidates,
    queries: Ints,
    virtual: Ints,
    chosen: Ints,
    extra: Ints,
) -> Floats:
    """The values of virtual queries, each a query under a labelling.

    Args:
        run: the run.
        candidates: its documents that count or could count.
        queries: the query of each of the M virtual queries, shape (M,).
        virtual: the virtual query of each relevant document retrieved, ascending.
        chosen: its number among the candidates, in rank order.
        extra: how many unjudged documents are relevant in each, retrieved or not, shape (M,).
    """
    rankings = LabelledRankings(
        queries,
        candidates.ranks[chosen],
        candidates.gains[chosen],
        cumulate(np.bincount(virtual, minlength=len(queries))),
        run.relevant.total[queries] + extra,
        extra,
    )
    return run.measure.labelled_values(run, rankings)


def values_if_only_relevant(labelled: Labelled, side: LabelledRun, codes: Ints) -> Floats:
    """The value of each document's query if no other unjudged document is relevant.

    Args:
        labelled: the measure.
        side: the run.
        codes: the documents, shape (M,).
    """
    candidates = labelled.measure.candidates(side)
    queries, number = labelled.unjudged.queries[codes], _numbers(labelled, candidates, codes)
    relevant = np.flatnonzero(candidates.codes < 0)
    starts = np.searchsorted(candidates.queries[relevant], np.arange(len(labelled.judgements) + 1))
    sizes = np.diff(starts)[queries]
    virtual = np.repeat(np.arange(len(codes)), sizes)
    chosen = relevant[ranges_from(starts[:-1][queries], cumulate(sizes))]
    own = np.flatnonzero(number >= 0)
    virtual = np.concatenate((virtual, number[own]))
    chosen = np.concatenate((chosen, own))
    order = np.lexsort((chosen, virtual))
    return _values_with(
        side,
        candidates,
        queries,
        virtual[order],
        chosen[order],
        np.ones(len(codes), dtype=np.int64),
    )


def _numbers(labelled: Labelled, candidates: Candidates, codes: Ints) -> Ints:
    """The number of each candidate among some unjudged documents; -1: it is none of them."""
    number = np.full(len(labelled.unjudged), -1, dtype=np.int64)
    number[codes] = np.arange(len(codes))
    is_unjudged = candidates.codes >= 0
    numbers = np.full(len(is_unjudged), -1, dtype=np.int64)
    numbers[is_unjudged] = number[candidates.codes[is_unjudged]]
    return numbers


def sampled(labelled: Labelled, side: LabelledRun, codes: Ints, labels: Bools) -> Floats:
    """The values of a run under labellings, shape (N, Q).

    Args:
        labelled: the measure.
        side: the run.
        codes: the documents that are labelled, shape (D,).
        labels: which of them are relevant, shape (N, D).
    """
    candidates, queries = labelled.measure.candidates(side), len(labelled.judgements)
    # A last column for candidates without a label, whose number, -1, is its index.
    others = np.zeros((len(labels), 1), dtype=bool)
    is_relevant = np.hstack((labels, others))[:, _numbers(labelled, candidates, codes)]
    rows, chosen = np.nonzero(is_relevant | (candidates.codes < 0))
    virtual = rows * queries + candidates.queries[chosen]
    extra = np.array(
        [np.bincount(labelled.unjudged.queries[codes[row]], minlength=queries) for row in labels]
    ).reshape(-1)
    every = np.tile(np.arange(queries), len(labels))
    values = _values_with(side, candidates, every, virtual, chosen, extra)
    return values.reshape(-1, queries)


def changes_of_difference(labelled: Labelled, a: int, b: int, codes: Ints) -> Floats:
    """The change of the mean difference A - B if one document alone is relevant, shape (M,)."""
    queries, run_a, run_b = labelled.unjudged.queries[codes], labelled.side(a), labelled.side(b)
    now: Any = run_a.value - run_b.value
    values_a, values_b = (values_if_only_relevant(labelled, run, codes) for run in (run_a, run_b))
    change: Floats = (values_a - values_b - now[queries]) / len(labelled.judgements)
    return change
