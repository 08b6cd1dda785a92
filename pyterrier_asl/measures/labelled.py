"""Runs in a measure, under all labellings of their unjudged documents.

V, the documents to label, are the unjudged documents in the part of the compared rankings that the
measure uses. One run is a :class:`LabelledRun`, two runs are a :class:`LabelledPair`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..judging.remembered import Remembering, cached_property, remembered
from ..scoring.arrays import Floats, Ints, cumulate
from ..scoring.bounds import RunDocuments
from ..scoring.matrices import Bounds
from ..scoring.pair_bounds import PairDocuments, merge

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun, Relevant
    from ..judging.judgements import Judgements
    from .formula import Formula


@dataclass(frozen=True)
class Labels:
    """The documents to label, V.

    Attributes:
        judgements: the judgements of the runs, V among them, Q queries.
        size: the number of documents of V per query, shape (Q,).
        highest: the best grade of a label.
    """

    judgements: Judgements
    size: Ints
    highest: float

    @remembered
    def nothing(self, measure: Formula) -> LabelledRun:
        """A run that retrieved nothing: the difference of a run from it is the run's value."""
        from ..judging.judged_run import JudgedRun

        none = np.empty(0, dtype=np.int64)
        empty = JudgedRun.from_entries(self.judgements, 0 * self.size, none, none, none)
        return LabelledRun(measure, empty, self)


@dataclass(frozen=True)
class LabelledRun(Remembering):
    """A run in a measure, with its unjudged documents.

    Attributes:
        measure: the measure.
        judged: the run; every retrieved document is an entry (see
            :class:`~pyterrier_asl.judging.unjudged.Unjudged`).
        labels: the documents to label.
    """

    measure: Formula
    judged: JudgedRun
    labels: Labels

    @cached_property
    def view(self) -> JudgedRun:
        """The part of the run that the measure uses."""
        return self.measure.view(self.judged)

    @cached_property
    def relevant(self) -> Relevant:
        """Its relevant documents."""
        return self.view.relevant(self.measure.rel)

    @cached_property
    def unjudged(self) -> JudgedRun:
        """Its unjudged documents."""
        return self.view.where(self.view.grades < 0)

    @cached_property
    def candidates(self) -> JudgedRun:
        """Its documents that are or could be relevant."""
        grades = self.view.grades
        return self.view.where((grades < 0) | (grades >= self.measure.rel))

    @cached_property
    def value(self) -> Floats:
        """Its values with unjudged documents as irrelevant, shape (Q,)."""
        return self.measure.values(self.judged)

    @cached_property
    def bounds(self) -> Bounds:
        """Its bounds, shape (Q,) each."""
        return self.measure.bounds(self)

    @cached_property
    def weights(self) -> Floats:
        """What each candidate adds if it is relevant, before division by the ideal."""
        return self.measure.weights(self.view, self.candidates)

    @cached_property
    def documents(self) -> RunDocuments:
        """The run as an argument for the formulas of bounds."""
        return RunDocuments(
            self.relevant.ranks,
            self.relevant.offsets,
            self.relevant.total,
            self.unjudged.ranks,
            self.unjudged.offsets,
            self.labels.size - np.diff(self.unjudged.offsets),
        )


@dataclass(frozen=True)
class LabelledPair:
    """Two runs in a measure, with their unjudged documents."""

    a: LabelledRun
    b: LabelledRun

    @cached_property
    def _merged(self) -> list[tuple[Ints, Ints, Ints]]:
        """The judged relevant, and the unjudged documents of either (see :func:`.merge`)."""
        a, b = self.a.candidates, self.b.candidates
        grades = a.judgements.grades
        offsets, in_a, in_b = merge(a.offsets, a.pairs, b.offsets, b.pairs, len(grades))
        is_unjudged = grades[np.where(in_a > 0, _pick(a.pairs, in_a), _pick(b.pairs, in_b))] < 0
        return [
            (cumulate(kept)[offsets], in_a[kept], in_b[kept])
            for kept in (~is_unjudged, is_unjudged)
        ]

    @property
    def offsets(self) -> Ints:
        """The beginning of each query's unjudged documents of either, shape (Q + 1,)."""
        return self._merged[1][0]

    @property
    def others(self) -> Ints:
        """The number of documents of V that neither run retrieved, shape (Q,)."""
        return self.a.labels.size - np.diff(self.offsets)

    @property
    def both_weights(self) -> list[tuple[Floats, Floats]]:
        """The weights in A and in B of judged relevant and of unjudged documents; 0 if a run did
        not retrieve them."""
        a, b = self.a.weights, self.b.weights
        return [(_pick(a, in_a), _pick(b, in_b)) for _, in_a, in_b in self._merged]

    @property
    def weights(self) -> Floats:
        """What each unjudged document would add to the difference, before division by the ideal."""
        in_a, in_b = self.both_weights[1]
        return in_a - in_b

    @cached_property
    def documents(self) -> PairDocuments:
        """The runs as an argument for the formulas of pairs."""
        a, b = self.a.candidates.ranks, self.b.candidates.ranks
        known, unjudged = (
            (_pick(a, in_a), _pick(b, in_b), offsets) for offsets, in_a, in_b in self._merged
        )
        return PairDocuments(*known, self.a.relevant.total, *unjudged, self.others)


def _pick(values: npt.NDArray[Any], numbers: Ints) -> Any:
    """The values of documents by their number from 1; 0 for number 0, not retrieved."""
    return np.concatenate((np.zeros(1, dtype=values.dtype), values))[numbers]


@dataclass(frozen=True)
class LabelledRankings:
    """M rankings of a run's queries, each with its own labels.

    Attributes:
        queries: the query of each ranking, shape (M,).
        ranks: ranks of the retrieved relevant documents, ascending within a ranking, shape (E,).
        gains: their gains in the measure, shape (E,).
        offsets: the beginning of each ranking's documents, shape (M + 1,).
        total: relevant documents, retrieved or not, shape (M,).
        extra: the number of unjudged documents among them, shape (M,).
    """

    queries: Ints
    ranks: Ints
    gains: Floats
    offsets: Ints
    total: Ints
    extra: Ints
