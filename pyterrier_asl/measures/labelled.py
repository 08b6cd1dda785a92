"""Runs in a measure, under all labellings of the unjudged documents that they show.

V, the documents to be labelled, are the unjudged ones that any of the compared runs shows in the
part of its ranking that the measure looks at. One run is a :class:`LabelledRun`, two are a
:class:`LabelledPair`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..judging.remembered import Remembering, cached_property, remembered
from ..scoring import bounds as bounding
from ..scoring.arrays import Floats, Ints
from ..scoring.bounds import Bounds, PairDocuments, RunDocuments

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun, Relevant
    from ..judging.judgements import Judgements
    from ..judging.unjudged import Retrieved
    from .computed import Computed


@dataclass(frozen=True)
class Labels:
    """The documents to be labelled, V.

    Attributes:
        judgements: the judgements that the runs are matched with; Q queries.
        size: how many documents of V each query has, shape (Q,).
        documents: how many unjudged documents the compared runs have in all.
        highest: the best grade that a label can give.
    """

    judgements: Judgements
    size: Ints
    documents: int
    highest: float

    @remembered
    def nothing(self, measure: Computed) -> LabelledRun:
        """A run that retrieved nothing: the difference from it is the value of the other run."""
        from ..judging.unjudged import unjudged

        empty = self.judgements.judge({})
        return LabelledRun(measure, empty, unjudged(empty), self)


@dataclass(frozen=True)
class LabelledRun(Remembering):
    """A run in a measure, with the unjudged documents that it shows.

    Attributes:
        measure: the measure.
        judged: the run.
        shown: its unjudged documents, however deep.
        labels: the documents to be labelled.
    """

    measure: Computed
    judged: JudgedRun
    shown: Retrieved
    labels: Labels

    @cached_property
    def view(self) -> JudgedRun:
        """The run as the measure sees it."""
        return self.measure.view(self.judged)

    @cached_property
    def relevant(self) -> Relevant:
        """Its relevant documents."""
        return self.view.relevant(self.measure.rel)

    @cached_property
    def unjudged(self) -> Retrieved:
        """Its unjudged documents, as deep as the measure looks."""
        return self.shown.cut(self.measure.cutoff)

    @cached_property
    def value(self) -> Floats:
        """Its value with unjudged documents as irrelevant, shape (Q,)."""
        return self.measure.values(self.judged)

    @cached_property
    def bounds(self) -> Bounds:
        """Its bounds, shape (Q,) each."""
        return self.measure.bounds(self)

    @cached_property
    def weights(self) -> Floats:
        """The weight that each unjudged document would add with a gain of 1, but for the ideal."""
        return self.measure.weights(self.view, self.unjudged)

    @cached_property
    def relevant_weights(self) -> Floats:
        """The weight that each relevant document adds."""
        return self.measure.weights(self.view)

    @cached_property
    def documents(self) -> RunDocuments:
        """The run as the formulas of bounds take it."""
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
    """Two runs in a measure, with the unjudged documents that they show."""

    a: LabelledRun
    b: LabelledRun

    @cached_property
    def _merged(self) -> tuple[Ints, Ints, Ints]:
        """The unjudged documents of either (see :func:`~pyterrier_asl.scoring.bounds.merge`)."""
        a, b = self.a.unjudged, self.b.unjudged
        return bounding.merge(a.offsets, a.codes, b.offsets, b.codes, self.a.labels.documents)

    @cached_property
    def _merged_relevant(self) -> tuple[Ints, Ints, Ints]:
        """The judged relevant documents of either, in the same form."""
        a, b = self.a.relevant, self.b.relevant
        size = len(self.a.labels.judgements.docnos)
        return bounding.merge(a.offsets, a.pairs, b.offsets, b.pairs, size)

    @property
    def offsets(self) -> Ints:
        """The beginning of each query's unjudged documents of either, shape (Q + 1,)."""
        return self._merged[0]

    @property
    def others(self) -> Ints:
        """The number of documents of V that neither shows, shape (Q,)."""
        return self.a.labels.size - np.diff(self.offsets)

    @property
    def both_weights(self) -> tuple[Floats, Floats]:
        """The weights of unjudged documents in A and in B; 0 where one is not retrieved."""
        _, in_a, in_b = self._merged
        return _pick(self.a.weights, in_a), _pick(self.b.weights, in_b)

    @property
    def weights(self) -> Floats:
        """The weight that each unjudged document would add to the difference, but for the ideal."""
        in_a, in_b = self.both_weights
        return in_a - in_b

    @property
    def both_relevant_weights(self) -> tuple[Floats, Floats]:
        """The weights of judged relevant documents in A and in B."""
        _, in_a, in_b = self._merged_relevant
        return _pick(self.a.relevant_weights, in_a), _pick(self.b.relevant_weights, in_b)

    @cached_property
    def documents(self) -> PairDocuments:
        """The runs as the formulas of pairs take them."""
        offsets, in_a, in_b = self._merged
        relevant_offsets, relevant_in_a, relevant_in_b = self._merged_relevant
        return PairDocuments(
            _pick(self.a.relevant.ranks, relevant_in_a),
            _pick(self.b.relevant.ranks, relevant_in_b),
            relevant_offsets,
            self.a.relevant.total,
            _pick(self.a.unjudged.ranks, in_a),
            _pick(self.b.unjudged.ranks, in_b),
            offsets,
            self.others,
        )


def _pick(values: npt.NDArray[Any], numbers: Ints) -> Any:
    """The values of documents by their number from 1; 0 where a run does not have them."""
    return np.concatenate((np.zeros(1, dtype=values.dtype), values))[numbers]


@dataclass(frozen=True)
class Candidates:
    """The documents of a run that count or could count, in rank order.

    Attributes:
        queries: the query of each, ascending, shape (C,).
        ranks: its rank, ascending within a query.
        gains: its gain in the measure where it is relevant.
        codes: which unjudged document it is; -1: a judged relevant one.
    """

    queries: Ints
    ranks: Ints
    gains: Floats
    codes: Ints

    @classmethod
    def of(
        cls, relevant: Relevant, gains: Floats, unjudged: Retrieved, new_gains: Floats
    ) -> Candidates:
        """Merges judged and unjudged documents, with the gain of each."""
        queries = np.concatenate((relevant.queries, unjudged.queries))
        ranks = np.concatenate((relevant.ranks, unjudged.ranks))
        codes = np.concatenate((np.full(len(relevant.ranks), -1), unjudged.codes))
        order = np.lexsort((ranks, queries))
        both = np.concatenate((gains, new_gains))
        return cls(queries[order], ranks[order], both[order], codes[order])


@dataclass(frozen=True)
class LabelledRankings:
    """M rankings of a run's queries, each under a labelling of its own.

    Attributes:
        queries: which query each is of, shape (M,).
        ranks: ranks of the retrieved relevant documents, ascending within a ranking, shape (E,).
        gains: their gains in the measure, shape (E,).
        offsets: where each ranking's begin, shape (M + 1,).
        total: relevant documents, retrieved or not, shape (M,).
        extra: how many of them are unjudged documents, shape (M,).
    """

    queries: Ints
    ranks: Ints
    gains: Floats
    offsets: Ints
    total: Ints
    extra: Ints
