"""Runs without some documents, cut, or with their ties broken otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...judging.judged_run import JudgedRun
from ...judging.remembered import copy_of
from ...scoring.arrays import Bools, Ints


def without_documents(run: JudgedRun, gone: Bools) -> JudgedRun:
    """A run without some judged documents, which are no more judged either.

    Args:
        run: the run.
        gone: which of the judged documents, shape (J,).
    """
    before = np.concatenate(([0], np.cumsum(gone[run.pairs])))
    ranks = run.ranks - (before[:-1] - before[run.offsets[run.queries]])
    judgements = copy_of(run.judgements)
    judgements.grades = np.where(gone, -1.0, judgements.grades)
    rest = replace(run, judgements=judgements, ranks=ranks)
    return _entries(rest, ~gone[run.pairs], run.retrieved - np.diff(before[run.offsets]))


def cut_to(run: JudgedRun, depths: Ints) -> JudgedRun:
    """A run cut at a depth of its own for each query, shape (Q,)."""
    return _entries(run, run.ranks <= depths[run.queries], np.minimum(run.retrieved, depths))


def thinned(run: JudgedRun, depths: Ints) -> JudgedRun:
    """A run with fewer documents for each query, shape (Q,), chosen at random."""
    offsets = run.whole_ranking.offsets
    share = depths / np.maximum(run.retrieved, 1)
    gone = np.random.default_rng(0).random(offsets[-1]) >= np.repeat(share, np.diff(offsets))
    before = np.concatenate(([0], np.cumsum(gone)))
    first = offsets[run.queries]
    places = first + run.ranks - 1
    rest = replace(run, ranks=run.ranks - (before[places] - before[first]))
    return _entries(rest, ~gone[places], run.retrieved - np.diff(before[offsets]))


def _entries(run: JudgedRun, keep: Bools, retrieved: Ints) -> JudgedRun:
    entries = (part[keep] for part in (run.queries, run.ranks, run.pairs))
    return JudgedRun.from_entries(run.judgements, retrieved, *entries)


def broken(run: JudgedRun, starts: Ints, better: bool) -> JudgedRun:
    """A run whose ties are broken in favour of relevant documents, or against them.

    Args:
        run: the run.
        starts: where each group of equal scores begins in the ranking, and where the last ends.
        better: in favour.
    """
    offsets = run.whole_ranking.offsets[run.queries]
    groups = np.searchsorted(starts, offsets + run.ranks - 1, side="right") - 1
    order = np.lexsort((-run.grades if better else run.grades, groups))
    places = starts[groups] + np.arange(len(groups)) - np.searchsorted(groups, groups)
    if not better:
        last = np.searchsorted(groups, groups, side="right")
        places = starts[groups + 1] + np.arange(len(groups)) - last
    return replace(run, ranks=places - offsets + 1, pairs=run.pairs[order])
