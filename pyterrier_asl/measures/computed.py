"""The properties of a measure: its values, its bounds, what it needs, which way is better.

A measure that this package computes is one object, a :class:`Computed`. Ours are such objects
themselves; a standard measure of ir_measures has one (see
:func:`~pyterrier_asl.measures.standard.computed`). The properties of one measure stand in its
class.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring import bounds as bounding
from ..scoring.arrays import Floats, Ints
from ..scoring.bounds import Bounds
from .labelled import Candidates, LabelledPair, LabelledRankings, LabelledRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..judging.judged_run import JudgedRun
    from ..judging.unjudged import Retrieved


class Computed:
    """A measure that this package computes.

    A measure of the ranks of relevant documents defines :meth:`from_ranks` and has values, also
    under many labellings; one that looks at more of a run defines ``_score`` and
    :meth:`labelled_values`. It has bounds where it defines :meth:`bounds`, for a run, or
    :meth:`difference_bounds`, for two; what it does not define follows from what it does.
    """

    #: Whether higher is better; None where neither way is.
    HIGHER_IS_BETTER: bool | None = True
    #: Whether it counts grades, so that a label may be any of them, and not relevance alone.
    USES_GRADES = False
    #: Whether it needs the lengths of documents.
    NEEDS_LENGTHS = False
    #: Whether bounds of a difference take a time that grows with the square of the documents.
    SLOW_DIFFERENCES = False
    #: Which of a document's rows counts where it stands twice for a query: the last, or the best.
    LAST_ROW_COUNTS = False

    # Of a Measure of ir_measures
    NAME: str
    params: dict[str, Any]
    SUPPORTED_PARAMS: Mapping[str, Any]

    if TYPE_CHECKING:

        def __getitem__(self, name: str) -> Any: ...

        def validate_params(self) -> None: ...

    # Input

    @property
    def cutoff(self) -> int | None:
        """The rank below which nothing counts as retrieved; None: there is none."""
        cutoff: int | None = self.params.get("cutoff")
        return cutoff

    @property
    def rel(self) -> float:
        """The least grade of a relevant document."""
        return float(self["rel"] if "rel" in self.SUPPORTED_PARAMS else 1)

    def value_range(self, systems: float = math.inf) -> tuple[float, float]:
        """The lowest and the highest value that a run can have for a query; perhaps infinite.

        Args:
            systems: the number of runs among which a document is rare, where no pool is given.
        """
        return 0.0, 1.0

    def needs_rows(self) -> bool:
        """Whether it looks at more of a run than where its judged documents are."""
        return False

    def run_columns(self) -> list[str]:
        """The columns that a run must have besides query, document and score."""
        return []

    def as_provided(self) -> bool:
        """Whether its values are those of ir_measures' provider for every run: equal scores in
        the same order, and nothing rounded."""
        return True

    def view(self, judged: JudgedRun) -> JudgedRun:
        """A run as the measure sees it."""
        return judged.view(self.cutoff, bool(self.params.get("judged_only")))

    # Values

    def values(self, judged: JudgedRun) -> Floats:
        """Computes one value for every query of the qrels, in their order, shape (Q,).

        Args:
            judged: the run, matched with the qrels.
        """
        raise NotImplementedError

    def _score(self, view: JudgedRun) -> Floats:
        """The values of the queries that have relevant documents, from :meth:`view`."""
        relevant = view.relevant(self["rel"])
        return self.from_ranks(relevant.ranks, relevant.offsets, relevant.total)

    def from_ranks(self, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
        """The formula of a measure of the ranks of relevant documents, shape (Q,).

        Args:
            ranks: ranks of the retrieved relevant documents from 1, ascending within a query, shape
                (E,).
            offsets: where each query's ranks begin, shape (Q + 1,).
            total: relevant documents of each query, retrieved or not, shape (Q,).
        """
        raise TypeError(f"{type(self).__name__} does not say how it scores")

    def from_lengths(self, view: JudgedRun, lengths: Floats, ranking_offsets: Ints) -> Floats:
        """The values of a measure that needs lengths, by the words of a run's documents, (Q,).

        Args:
            view: the run as the measure sees it.
            lengths: words of every retrieved document in rank order, query by query, shape (N,);
                those between two relevant documents count by their sum.
            ranking_offsets: where each query's lengths begin, shape (Q + 1,).
        """
        raise TypeError(f"{self} does not look at lengths")

    # Bounds over all labellings of unjudged documents

    def bounds(self, run: LabelledRun) -> Bounds:
        """The least and the greatest value over all labellings, shape (Q,) each."""
        return self.difference_bounds(LabelledPair(run, run.labels.nothing(self)))

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        """The bounds of A less B; here an outer bound, by those of both runs alone."""
        return bounding.of_difference(pair.a.bounds, pair.b.bounds)

    def is_exact(self, *, pair: bool = False) -> bool:
        """Whether bounds of a run, or of the difference of two, are reached by some labelling."""
        return not pair or type(self).difference_bounds is not Computed.difference_bounds

    @property
    def defines_bounds(self) -> bool:
        """Whether the measure has bounds with parameters that suit."""
        own, base = type(self), Computed
        return (own.bounds, own.difference_bounds) != (base.bounds, base.difference_bounds)

    # Values under labellings

    def labelled_values(self, run: LabelledRun, rankings: LabelledRankings) -> Floats:
        """The values of a run's queries, each under a labelling of its own, shape (M,)."""
        return self.from_ranks(rankings.ranks, rankings.offsets, rankings.total)

    def weights(self, view: JudgedRun, unjudged: Retrieved | None = None) -> Floats:
        """The weight that each relevant document adds to the value, or each unjudged one would add.

        Args:
            view: the run as the measure sees it.
            unjudged: some of its unjudged documents; None: its relevant ones.
        """
        documents = view.relevant(self.rel) if unjudged is None else unjudged
        return self.rank_weights(documents.ranks)

    def rank_weights(self, ranks: Ints) -> Floats:
        """The weight that a relevant document at each of these ranks adds to the value."""
        return np.ones(len(ranks))

    def candidates(self, run: LabelledRun) -> Candidates:
        """The documents of a run that count or could count, with the gain of each."""
        return Candidates.of(run.relevant, run.relevant_weights, run.unjudged, run.weights)


class Additive(Computed):
    """A measure that is the sum of the weights of the retrieved relevant documents."""

    def bounds(self, run: LabelledRun) -> Bounds:
        return bounding.additive(run.value, run.weights, run.unjudged.offsets)

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        return bounding.additive(pair.a.value - pair.b.value, pair.weights, pair.offsets)


class FirstRelevant(Computed):
    """A measure of the rank of the first relevant document."""

    def worth(self, ranks: Floats) -> Floats:
        """The values for first relevant documents at these ranks; infinite: there is none."""
        raise NotImplementedError

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        return bounding.first_relevant(pair.documents, self.worth)


class MeanPrecision(Computed):
    """A measure that is the mean, over the relevant documents, of a precision at their ranks."""

    SLOW_DIFFERENCES = True

    def bounds(self, run: LabelledRun) -> Bounds:
        return self._pair_bounds(LabelledPair(run, run.labels.nothing(self)))

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        return bounding.intersect(super().difference_bounds(pair), self._pair_bounds(pair))

    def _pair_bounds(self, pair: LabelledPair) -> Bounds:
        return bounding.average_precision_difference(
            pair.documents,
            (pair.a.value - pair.b.value) * pair.a.relevant.total,
            pair.both_weights,
            pair.both_relevant_weights,
        )


class RatioOfGains(Computed):
    """A measure that is the gain of a run over the greatest gain possible."""

    def gained(self, run: LabelledRun) -> Floats:
        """The gain of a run, not yet divided by the ideal one, shape (Q,)."""
        raise NotImplementedError

    def levels(self, run: LabelledRun) -> tuple[Floats, int, Ints]:
        """The levels of gain, ascending; how many of them a label can give; how many documents
        are judged to have at least each, shape (Q, G)."""
        raise NotImplementedError

    def ideal(self, most: int) -> Floats:
        """The greatest gain of 0, 1, 2, ... ``most`` documents of gain 1 each."""
        raise NotImplementedError

    def difference_bounds(self, pair: LabelledPair) -> Bounds:
        levels, attainable, counts = self.levels(pair.a)
        return bounding.ratio_of_gains(
            pair.a.once(self.gained) - pair.b.once(self.gained),
            pair.weights,
            pair.offsets,
            pair.others,
            counts,
            np.diff(levels, prepend=0.0),
            self.ideal,
            attainable,
        )
