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
from ..scoring.arrays import Floats, Ints
from ..scoring.bounds import RunDocuments
from ..scoring.matrices import Bounds
from ..scoring.pair_bounds import PairDocuments, merge

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun, Relevant
    from ..judging.judgements import Judgements
    from ..judging.unjudged import Retrieved
    from .formula import Formula


@dataclass(frozen=True)
class Labels:
    """The documents to label, V.

    Attributes:
        judgements: the judgements that the runs are matched with, Q queries.
        size: the number of documents of V per query, shape (Q,).
        documents: the number of unjudged documents of all compared runs.
        highest: the best grade of a label.
    """

    judgements: Judgements
    size: Ints
    documents: int
    highest: float

    @remembered
    def nothing(self, measure: Formula) -> LabelledRun:
        """A run that retrieved nothing: the difference of a run from it is the run's value."""
        from ..judging.judged_run import judge
        from ..judging.unjudged import unjudged

        empty = judge(self.judgements, {})
        return LabelledRun(measure, empty, unjudged(empty), self)


@dataclass(frozen=True)
class LabelledRun(Remembering):
    """A run in a measure, with its unjudged documents.

    Attributes:
        measure: the measure.
        judged: the run.
        shown: its unjudged documents, down to any depth.
        labels: the documents to label.
    """

    measure: Formula
    judged: JudgedRun
    shown: Retrieved
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
    def unjudged(self) -> Retrieved:
        """Its unjudged documents down to the cut-off of the measure."""
        return self.shown.cut(self.measure.cutoff)

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
        """What each unjudged document would add with a gain of 1, before division by the ideal."""
        return self.measure.weights(self.view, self.unjudged)

    @cached_property
    def relevant_weights(self) -> Floats:
        """What each relevant document adds."""
        return self.measure.weights(self.view)

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
    def _merged(self) -> tuple[Ints, Ints, Ints]:
        """The unjudged documents of either, as :func:`.pair_bounds.merge` returns them."""
        a, b = self.a.unjudged, self.b.unjudged
        return merge(a.offsets, a.codes, b.offsets, b.codes, self.a.labels.documents)

    @cached_property
    def _merged_relevant(self) -> tuple[Ints, Ints, Ints]:
        """The judged relevant documents of either, in the same form."""
        a, b, judgements = self.a.relevant, self.b.relevant, self.a.labels.judgements
        return merge(a.offsets, a.pairs, b.offsets, b.pairs, len(judgements.docnos))

    @property
    def offsets(self) -> Ints:
        """The beginning of each query's unjudged documents of either, shape (Q + 1,)."""
        return self._merged[0]

    @property
    def others(self) -> Ints:
        """The number of documents of V that neither run retrieved, shape (Q,)."""
        return self.a.labels.size - np.diff(self.offsets)

    @property
    def both_weights(self) -> tuple[Floats, Floats]:
        """The weights of unjudged documents in A and in B; 0 if a run did not retrieve them."""
        _, in_a, in_b = self._merged
        return _pick(self.a.weights, in_a), _pick(self.b.weights, in_b)

    @property
    def weights(self) -> Floats:
        """What each unjudged document would add to the difference, before division by the ideal."""
        in_a, in_b = self.both_weights
        return in_a - in_b

    @property
    def both_relevant_weights(self) -> tuple[Floats, Floats]:
        """The weights of judged relevant documents in A and in B."""
        _, in_a, in_b = self._merged_relevant
        return _pick(self.a.relevant_weights, in_a), _pick(self.b.relevant_weights, in_b)

    @cached_property
    def documents(self) -> PairDocuments:
        """The runs as an argument for the formulas of pairs."""
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
    """The values of documents by their number from 1; 0 for number 0, not retrieved."""
    return np.concatenate((np.zeros(1, dtype=values.dtype), values))[numbers]


@dataclass(frozen=True)
class Candidates:
    """The documents of a run that are or could be relevant, in rank order.

    Attributes:
        queries: the query of each document, ascending, shape (C,).
        ranks: its rank, ascending within a query.
        gains: its gain in the measure if it is relevant.
        codes: its number among the unjudged documents; -1: a judged relevant document.
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
