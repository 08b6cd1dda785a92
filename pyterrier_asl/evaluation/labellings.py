"""Compared runs in a measure, over all labellings of the unjudged documents that they show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..io.values import check_whole
from ..judging.judged_run import JudgedRun
from ..judging.remembered import remembered
from ..judging.unjudged import Unjudged
from ..measures.computed import Computed
from ..measures.labelled import LabelledPair, LabelledRun, Labels
from ..measures.standard import computed, measures_with_bounds
from ..scoring.arrays import Floats, Ints
from ..scoring.bounds import Bounds


def measure_with_bounds(measure: Any) -> Computed:
    """The object that computes a measure's bounds.

    Raises:
        ValueError: for a measure that has no bounds, by its name.
    """
    if measure.params.get("judged_only"):
        raise ValueError(f"{measure} removes unjudged documents: it has no bounds")
    if "unjudged" in measure.params:
        raise ValueError(f"{measure} is itself a bound: leave out unjudged=")
    computes = computed(measure)
    if computes is None or not computes.defines_bounds:
        raise ValueError(f"{measure} has no bounds; {', '.join(measures_with_bounds())} have")
    computes.validate_params()
    return computes


def has_bounds(measure: Any) -> bool:
    """Whether a measure has bounds."""
    try:
        measure_with_bounds(measure)
    except ValueError:
        return False
    return True


def unjudged_of(
    runs: Iterable[JudgedRun],
    measures: Sequence[Any],
    depth: int | None = None,
    *,
    keep_rows: bool = True,
) -> Unjudged:
    """The unjudged documents that matter in these measures.

    Args:
        runs: the compared runs.
        measures: measures that have bounds.
        depth: label what stands in the first ``depth``, where that is deeper than a cut-off.
        keep_rows: whether the rows of the runs are needed further on.

    Raises:
        ValueError: for a depth that is no whole number from 0 on.
    """
    if depth is not None:
        check_whole("depth", depth, 0)
    depths = [measure_with_bounds(measure).cutoff for measure in measures]
    deepest = None if None in depths else max([depth or 0, *(k or 0 for k in depths)])
    return Unjudged(runs, deepest, keep_rows=keep_rows)


class Labelled:
    """Compared runs in one measure.

    Args:
        unjudged: the runs with their unjudged documents (see :func:`unjudged_of`).
        measure: one that has bounds.
        depth: label what stands in the first ``depth``, where that is deeper than the cut-off.
        highest: the best grade that a label can give; None: the best of the qrels.

    Raises:
        ValueError: for a measure that has no bounds.
    """

    def __init__(
        self,
        unjudged: Unjudged,
        measure: Any,
        *,
        depth: int | None = None,
        highest: float | None = None,
    ) -> None:
        self.measure, self.unjudged = measure_with_bounds(measure), unjudged
        self.judgements = unjudged.runs[0].judgements
        self.cutoff, self.depth, self.rel = self.measure.cutoff, depth, self.measure.rel
        self.seen = None if self.cutoff is None else max(self.cutoff, depth or 0)
        self.documents = unjudged.shown(self.seen)  # V, by number
        queries = unjudged.queries[self.documents]
        size = np.bincount(queries, minlength=len(self.judgements))
        best = max(1.0, self.rel, float(self.judgements.grades.max(initial=1)))
        self.highest = best if highest is None else float(highest)
        self.labels = Labels(self.judgements, size, len(unjudged), self.highest)

    def __len__(self) -> int:
        return len(self.unjudged.runs)

    @remembered
    def side(self, run: int) -> LabelledRun:
        """One of the runs."""
        unjudged = self.unjudged
        return LabelledRun(self.measure, unjudged.runs[run], unjudged.retrieved[run], self.labels)

    def pair(self, a: int, b: int) -> LabelledPair:
        """Two of the runs."""
        return LabelledPair(self.side(a), self.side(b))

    def values(self) -> Floats:
        """What every run has now, shape (S, Q)."""
        return np.array([self.side(run).value for run in range(len(self))])

    def retrieved(self, run: int) -> Ints:
        """How many unjudged documents the measure sees in a run, shape (Q,)."""
        return np.diff(self.side(run).unjudged.offsets)

    def bounds(self, run: int) -> Bounds:
        """The bounds of a run, shape (Q,) each."""
        return self.side(run).bounds

    def difference(self, a: int, b: int) -> Bounds:
        """The bounds of run a's value less run b's, shape (Q,) each."""
        return self.measure.difference_bounds(self.pair(a, b))
