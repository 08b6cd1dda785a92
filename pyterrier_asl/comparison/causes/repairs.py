"""Runs without some documents, cut, or with ties broken differently."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...judging.judged_run import JudgedRun
from ...judging.remembered import copy_of
from ...scoring.arrays import Bools, Ints, within_query


def without_documents(run: JudgedRun, gone: Bools) -> JudgedRun:
    """A run and its judgements without some judged documents.

    Args:
        run: the run.
        gone: which of the judged documents, shape (J,).
    """
    judgements = copy_of(run.judgements)
    judgements.grades = np.where(gone, -1.0, judgements.grades)
    places = run.whole_ranking.offsets[run.queries] + run.ranks - 1
    keep = np.ones(len(run.whole_ranking), dtype=bool)
    keep[places[gone[run.pairs]]] = False
    return _without_rows(replace(run, judgements=judgements), keep)


def cut_to(run: JudgedRun, depths: Ints) -> JudgedRun:
    """A run cut at a depth per query, shape (Q,)."""
    offsets = run.whole_ranking.offsets
    return _without_rows(run, within_query(offsets) < np.repeat(depths, np.diff(offsets)))


def thinned(run: JudgedRun, depths: Ints) -> JudgedRun:
    """A run with fewer documents per query, shape (Q,), chosen at random."""
    offsets = run.whole_ranking.offsets
    share = np.repeat(depths / np.maximum(run.retrieved, 1), np.diff(offsets))
    return _without_rows(run, np.random.default_rng(0).random(len(share)) < share)


def _without_rows(run: JudgedRun, keep: Bools) -> JudgedRun:
    """A run with some of the rows of its whole ranking."""
    offsets = run.whole_ranking.offsets
    before = np.concatenate(([0], np.cumsum(keep)))
    first = offsets[run.queries]
    places = first + run.ranks - 1
    ranks = before[places] - before[first] + 1
    entries = (part[keep[places]] for part in (run.queries, ranks, run.pairs))
    return JudgedRun.from_entries(run.judgements, np.diff(before[offsets]), *entries)


def broken(run: JudgedRun, starts: Ints, better: bool) -> JudgedRun:
    """A run with ties broken in favour of relevant documents, or against them.

    Args:
        run: the run.
        starts: the beginning of each group of equal scores in the ranking, and the end of the last.
        better: whether relevant documents come first.
    """
    offsets = run.whole_ranking.offsets[run.queries]
    groups = np.searchsorted(starts, offsets + run.ranks - 1, side="right") - 1
    tied = np.flatnonzero(np.diff(starts)[groups] > 1)
    groups, grades = groups[tied], run.grades[tied]
    order = np.lexsort((-grades if better else grades, groups))
    places = starts[groups] + np.arange(len(groups)) - np.searchsorted(groups, groups)
    if not better:
        last = np.searchsorted(groups, groups, side="right")
        places = starts[groups + 1] + np.arange(len(groups)) - last
    ranks, pairs = run.ranks.copy(), run.pairs.copy()
    ranks[tied], pairs[tied] = places - offsets[tied] + 1, run.pairs[tied[order]]
    return replace(run, ranks=ranks, pairs=pairs)
