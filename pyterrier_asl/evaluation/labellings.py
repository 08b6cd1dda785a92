"""Runs in a measure, over all labellings of the unjudged documents that they show.

V, the documents to be labelled, are the unjudged ones that any of the compared runs shows in the
part of its ranking that the measure looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..io.values import check_whole
from ..judging.judged_run import JudgedRun, Relevant
from ..judging.remembered import remembered
from ..judging.unjudged import Retrieved, Unjudged, unjudged
from ..measures import PluginMeasure
from ..scoring import bounds as bounding
from ..scoring import standard as scoring
from ..scoring.arrays import Floats, Ints
from ..scoring.bounds import Bounds, PairDocuments, RunDocuments
from . import standard as acceleration
from .standard import gains_of

#: Grades of which nDCG's bounds try each; no scale has as many.
_MOST_GRADES = 1000


def require_bounds(measure: Any) -> None:
    """Raises ValueError for a measure that has no bounds, by its name."""
    if measure.params.get("judged_only"):
        raise ValueError(f"{measure} removes unjudged documents: it has no bounds")
    if "unjudged" in measure.params:
        raise ValueError(f"{measure} is itself a bound: leave out unjudged=")
    if measure.NAME not in _DIFFERENCES or not acceleration.supports(measure):
        raise ValueError(f"{measure} has no bounds; {', '.join(_DIFFERENCES)} have")
    measure.validate_params()


def has_bounds(measure: Any) -> bool:
    """Whether a measure has bounds."""
    try:
        require_bounds(measure)
    except ValueError:
        return False
    return True


def is_exact(measure: Any, *, pair: bool = False) -> bool:
    """Whether bounds of a run, or of the difference of two, are reached by some labelling."""
    if not pair:
        return bool(measure.NAME != "AP_Rareness")
    inexact = ("AP", "AP_Rareness", "LexiP", "TBG")
    return measure.NAME not in inexact and not measure.params.get("g")


def cutoff_of(measure: Any) -> int | None:
    """How deep a measure looks."""
    ours = isinstance(measure, PluginMeasure)  # of which some have one by default
    cutoff: int | None = measure["cutoff"] if ours else measure.params.get("cutoff")
    return cutoff


def unjudged_of(
    runs: Sequence[JudgedRun], measures: Sequence[Any], depth: int | None = None
) -> Unjudged:
    """The unjudged documents that matter in these measures.

    Args:
        runs: the compared runs.
        measures: the measures.
        depth: label what stands in the first ``depth``, where that is deeper than a cut-off.

    Raises:
        ValueError: for a depth that is no whole number from 0 on.
    """
    if depth is not None:
        check_whole("depth", depth, 0)
    depths = [cutoff_of(measure) for measure in measures]
    deepest = None if None in depths else max([depth or 0, *(k or 0 for k in depths)])
    return Unjudged(runs, deepest)


@dataclass(frozen=True)
class Side:
    """A run as a measure sees it.

    Attributes:
        judged: the run.
        view: the same with the measure's gains for grades, and cut.
        relevant: its relevant documents.
        unjudged: its unjudged documents.
        value: its value now, shape (Q,).
        weights: what each unjudged document would gain by a label of 1, but for the ideal.
        known: the same of each relevant document (but in nDCG, whose gains differ).
    """

    judged: JudgedRun
    view: JudgedRun
    relevant: Relevant
    unjudged: Retrieved
    value: Floats
    weights: Floats
    known: Floats

    @remembered
    def missing_cost(self, measure: Any) -> Ints:
        """What a missing document costs it in ASL, besides its relevant documents."""
        cost: Ints = measure.missing_lengths(self.view) + self.relevant.found
        return cost

    @remembered
    def gained(self, measure: Any) -> Floats:
        """nDCG, not yet divided by the ideal."""
        graded = self.view.relevant(0)
        gains = gains_of(measure, self.view.judgements.grades[graded.pairs])
        return scoring.dcg(graded.ranks, gains, graded.offsets)


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
        require_bounds(measure)
        self.measure, self.unjudged = measure, unjudged
        self.judgements = unjudged.runs[0].judgements
        self.cutoff, self.depth = cutoff_of(measure), depth
        self.seen = None if self.cutoff is None else max(self.cutoff, depth or 0)
        self.documents = unjudged.shown(self.seen)  # V, by number
        queries = unjudged.queries[self.documents]
        self.size = np.bincount(queries, minlength=len(self.judgements))
        best = max(1.0, self.rel, float(self.judgements.grades.max(initial=1)))
        self.highest = best if highest is None else float(highest)

    def __len__(self) -> int:
        return len(self.unjudged.runs)

    @property
    def rel(self) -> float:
        """The least grade of a relevant document."""
        rel = self.measure["rel"] if "rel" in self.measure.SUPPORTED_PARAMS else 1
        return float(1 if rel is None else rel)

    @remembered
    def side(self, run: int) -> Side:
        """One of the runs."""
        judged = self.unjudged.runs[run]
        value = acceleration.values(self.measure, judged)
        gains = self.measure.params.get("gains")
        view = (judged if gains is None else judged.regraded(gains)).view(self.cutoff)
        documents = self.unjudged.retrieved[run].cut(self.cutoff)
        relevant = view.relevant(self.rel)
        weights, known = _worth(self.measure, view, relevant, documents)
        return Side(judged, view, relevant, documents, value, weights, known)

    @cached_property
    def nothing(self) -> Side:
        """A run that retrieved nothing, beside which a difference is the other's value."""
        empty, zeros = self.judgements.judge({}), np.zeros(len(self.judgements))
        relevant, documents = empty.relevant(self.rel), unjudged(empty)
        return Side(empty, empty, relevant, documents, zeros, zeros[:0], zeros[:0])

    def values(self) -> Floats:
        """What every run has now, shape (S, Q)."""
        return np.array([self.side(run).value for run in range(len(self))])

    def retrieved(self, run: int) -> Ints:
        """How many unjudged documents the measure sees in a run, shape (Q,)."""
        return np.diff(self.side(run).unjudged.offsets)

    @remembered
    def bounds(self, run: int) -> Bounds:
        """The bounds of a run, shape (Q,) each."""
        side, name = self.side(run), self.measure.NAME
        others = self.size - self.retrieved(run)
        if isinstance(self.measure, PluginMeasure) and name != "AP_Rareness":
            return self.measure.bounds(side.judged, self.unjudged.retrieved[run], others)
        if name == "AP":
            one, some = side.relevant, side.unjudged
            return bounding.average_precision(
                RunDocuments(one.ranks, one.offsets, one.total, some.ranks, some.offsets, others)
            )
        return self._found(side, self.nothing)

    def difference(self, a: int, b: int) -> Bounds:
        """The bounds of run a's value less run b's, shape (Q,) each."""
        if is_exact(self.measure, pair=True):
            return self._found(self.side(a), self.side(b))
        outer = bounding.of_difference(self.bounds(a), self.bounds(b))
        if self.measure.NAME in ("AP", "AP_Rareness"):
            return bounding.intersect(outer, self._found(self.side(a), self.side(b)))
        return outer

    def _found(self, a: Side, b: Side) -> Bounds:
        find = _DIFFERENCES[self.measure.NAME]
        assert find is not None
        return find(self, a, b)

    # What two runs have in common

    def merged(self, a: Side, b: Side) -> tuple[Ints, Ints, Ints]:
        """The unjudged documents of either (see :func:`~pyterrier_asl.scoring.bounds.merge`)."""
        one, two = a.unjudged, b.unjudged
        return bounding.merge(one.offsets, one.codes, two.offsets, two.codes, len(self.unjudged))

    def known(self, a: Side, b: Side) -> tuple[Ints, Ints, Ints]:
        """The judged relevant documents of either, likewise."""
        one, two = a.relevant, b.relevant
        size = len(self.judgements.docnos)
        return bounding.merge(one.offsets, one.pairs, two.offsets, two.pairs, size)

    def pair(self, a: Side, b: Side) -> PairDocuments:
        """Two runs as the formulas take them."""
        offsets, one, two = self.merged(a, b)
        known_offsets, known_one, known_two = self.known(a, b)
        return PairDocuments(
            _pick(a.relevant.ranks, known_one),
            _pick(b.relevant.ranks, known_two),
            known_offsets,
            a.relevant.total,
            _pick(a.unjudged.ranks, one),
            _pick(b.unjudged.ranks, two),
            offsets,
            self.size - np.diff(offsets),
        )

    @cached_property
    def gains(self) -> tuple[Floats, int, Ints]:
        """The gains of nDCG, ascending; how many of them a label can give; how many documents are
        judged to have at least each, shape (Q, G)."""
        if not 0 <= self.highest <= _MOST_GRADES:
            raise ValueError(
                f"bounds of nDCG are over labels from 0 to the best grade, at most {_MOST_GRADES}, "
                f"not {self.highest:g}: give highest=, or grades of a smaller scale"
            )
        gains = self.measure.params.get("gains") or {}
        grades = np.unique(self.judgements.grades)
        labels = np.append(np.arange(self.highest + 1), grades[grades >= 0])
        labels = np.append(labels[labels <= self.highest], self.highest)
        given = gains_of(self.measure, np.array([gains.get(x, x) for x in labels.tolist()], float))
        judged = gains_of(self.measure, self.judgements.regraded(gains).grades)
        levels = np.unique(np.append(given, judged))
        levels = levels[levels > 0]
        queries, number = self.judgements.queries, len(self.judgements)
        counts = [np.bincount(queries[judged >= level], minlength=number) for level in levels]
        attainable = int(np.searchsorted(levels, given.max(), side="right"))
        return levels, attainable, np.array(counts).reshape(-1, number).T.astype(np.int64)


def _pick(values: npt.NDArray[Any], numbers: Ints) -> Any:
    """The values of documents by their number from 1; 0 where a run does not have them."""
    return np.concatenate((np.zeros(1, dtype=values.dtype), values))[numbers]


def _worth(
    measure: Any, view: JudgedRun, relevant: Relevant, documents: Retrieved
) -> tuple[Floats, Floats]:
    """The weights of a run's unjudged documents, and of its relevant ones (see :class:`Side`)."""
    ranks, name = documents.ranks, measure.NAME
    if name == "nDCG":
        return 1 / np.log2(ranks + 1), np.ones(0)
    if name == "RBP":
        p = measure["p"]
        return scoring.attention(ranks, p), scoring.attention(relevant.ranks, p)
    if name in ("P_Rareness", "AP_Rareness"):
        scale = measure["cutoff"] if name == "P_Rareness" else 1
        return measure.gains(view, documents) / scale, measure.gains(view) / scale
    weight = 1 / measure["cutoff"] if name == "P" else 1.0
    return np.full(len(ranks), weight), np.full(len(relevant.ranks), weight)


def _weights(labelled: Labelled, a: Side, b: Side) -> tuple[Floats, Ints]:
    """What each document moves the difference by, but for the ideal; where each query's begin."""
    offsets, one, two = labelled.merged(a, b)
    return _pick(a.weights, one) - _pick(b.weights, two), offsets


def _additive(labelled: Labelled, a: Side, b: Side) -> Bounds:
    return bounding.additive(a.value - b.value, *_weights(labelled, a, b))


def _recall(labelled: Labelled, a: Side, b: Side) -> Bounds:
    weights, offsets = _weights(labelled, a, b)
    base = (a.relevant.found - b.relevant.found).astype(np.float64)
    counts = a.relevant.total[:, np.newaxis]
    return bounding.ratio_of_gains(
        base,
        weights,
        offsets,
        labelled.size - np.diff(offsets),
        counts,
        np.ones(1),
        lambda most: np.arange(most + 1.0),
    )


def _ndcg(labelled: Labelled, a: Side, b: Side) -> Bounds:
    weights, offsets = _weights(labelled, a, b)
    levels, given, counts = labelled.gains
    return bounding.ratio_of_gains(
        a.gained(labelled.measure) - b.gained(labelled.measure),
        weights,
        offsets,
        labelled.size - np.diff(offsets),
        counts,
        np.diff(levels, prepend=0.0),
        lambda most: ideal_gains(most, labelled.cutoff),
        given,
    )


@cache
def ideal_gains(most: int, cutoff: int | None) -> Floats:
    """The discounted gain of 0, 1, ... ``most`` documents of gain 1 in the best order."""
    gained = 1 / np.log2(np.arange(most) + 2)
    if cutoff is not None:
        gained[cutoff:] = 0
    return np.concatenate(([0.0], np.cumsum(gained)))


def _first(labelled: Labelled, a: Side, b: Side) -> Bounds:
    worth = np.reciprocal if labelled.measure.NAME == "RR" else _is_found
    return bounding.first_relevant(labelled.pair(a, b), worth)


def _is_found(ranks: Floats) -> Floats:
    return np.isfinite(ranks).astype(np.float64)


def _search_length(labelled: Labelled, a: Side, b: Side) -> Bounds:
    measure = labelled.measure
    costs = (side.missing_cost(measure) for side in (a, b))
    low, high = bounding.search_length_difference(labelled.pair(a, b), *costs)
    if measure.NAME == "nASL":
        return -high / measure["cutoff"], -low / measure["cutoff"]
    return low, high


def _average(labelled: Labelled, a: Side, b: Side) -> Bounds:
    some, known = labelled.merged(a, b)[1:], labelled.known(a, b)[1:]
    return bounding.average_precision_difference(
        labelled.pair(a, b),
        (a.value - b.value) * a.relevant.total,
        (_pick(a.weights, some[0]), _pick(b.weights, some[1])),
        (_pick(a.known, known[0]), _pick(b.known, known[1])),
    )


#: How to bound a difference; None: by the bounds of both runs alone.
_DIFFERENCES: dict[str, Callable[[Labelled, Side, Side], Bounds] | None] = {
    "P": _additive,
    "R": _recall,
    "RR": _first,
    "Success": _first,
    "AP": _average,
    "nDCG": _ndcg,
    "RBP": _additive,
    "ASL": _search_length,
    "nASL": _search_length,
    "LexiP": None,
    "TBG": None,
    "P_Rareness": _additive,
    "AP_Rareness": _average,
}
