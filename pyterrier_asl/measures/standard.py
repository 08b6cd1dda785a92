"""Standard measures of ir_measures (AP, nDCG, RR and others), one class each.

Values equal the values of pytrec_eval, or of the provider of ir_measures for measures that
pytrec_eval does not have. They are computed from the same matching of a run as the measures of this
package. The formulas are in :mod:`~pyterrier_asl.scoring.standard`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from ir_measures import Measure

from ..common.types import Floats, Ints
from ..scoring import bounds as bounding
from ..scoring import standard as scoring
from ..scoring import ties
from ..scoring.arrays import cumulate, divide, reduce_by_query
from ..scoring.matrices import Bounds
from ._base import own_measures
from .formula import STANDARD, Formula, LabelledRun
from .kinds import Additive, FirstRelevant, MeanPrecision, RatioOfGains

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun, Relevant
    from ..judging.judgements import Judgements
    from ..scoring.ties import TieGroups

#: The best grade of gdeval, on which ERR depends.
_HIGHEST_GRADE = 4

#: The highest grade whose 2^grade is computed without scaling.
_MOST_BITS = 1000

#: The most grades for bounds of nDCG; no scale has so many.
_MOST_GRADES = 1000


@dataclass(frozen=True, repr=False)
class Standard(Formula):
    """A standard measure.

    Attributes:
        measure: the measure of ir_measures.
    """

    measure: Measure

    def __init_subclass__(cls, *, of: Measure | None = None) -> None:
        if of is not None:
            STANDARD[type(of)] = cls

    @classmethod
    def of(cls, measure: Measure) -> Standard | None:
        """The formula of a measure of this class; None: not with these parameters."""
        if isinstance(measure.params.get("rel"), float):  # ir_measures takes whole grades only
            measure(rel=1).validate_params()
            measure.validated = True
        measure.validate_params()
        standard = cls(measure)
        return standard if standard.accepts_params() else None

    def __getitem__(self, name: str) -> Any:
        return self.measure[name]

    def __getattr__(self, name: str) -> Any:
        """Other attributes of the measure: NAME, params, aggregator() and so on."""
        if name == "measure":  # not set yet while an object is copied
            raise AttributeError(name)
        return getattr(self.measure, name)

    def __repr__(self) -> str:
        return repr(self.measure)

    def accepts_params(self) -> bool:
        """Whether this package computes it with these parameters."""
        return bool(self.params.get("rel", 1) > 0 and self.params.get("cutoff", 1) >= 1)

    def values(self, judged: JudgedRun) -> Floats:
        """Computes one value per query of the qrels, in their order, shape (Q,).

        A query without an answer gets 0, as in ir_measures, also in a count.
        """
        return np.where(judged.retrieved > 0, self._score(self.view(judged)), 0.0)


class P(Additive, Standard, of=ir_measures.P):
    """Precision at k."""

    def from_ranks(self, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
        return scoring.precision(offsets, self["cutoff"])

    def rank_weights(self, ranks: Ints) -> Floats:
        return np.full(len(ranks), 1 / self["cutoff"])


class SetR(Standard, of=ir_measures.SetR):
    """Recall of the documents retrieved."""

    def from_ranks(self, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
        return scoring.recall(offsets, total)


class R(RatioOfGains, SetR, of=ir_measures.R):
    """Recall at k."""

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats:
        return divide(
            ties.gain(groups, self.rank_weights), judged.judgements.num_relevant(self.rel)
        )

    def gained(self, run: LabelledRun) -> Floats:
        return np.diff(run.relevant.offsets).astype(np.float64)

    def levels(self, run: LabelledRun) -> tuple[Floats, int, Ints]:
        return np.ones(1), 1, run.relevant.total[:, np.newaxis]

    def ideal(self, most: int) -> Floats:
        return np.arange(most + 1.0)


class RR(FirstRelevant, Standard, of=ir_measures.RR):
    """Reciprocal rank."""

    def from_ranks(self, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
        return scoring.reciprocal_rank(ranks, offsets)

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats:
        return ties.reciprocal_rank(groups)

    def worth(self, ranks: Floats) -> Floats:
        return np.reciprocal(ranks)


class Success(FirstRelevant, Standard, of=ir_measures.Success):
    """Success at k."""

    def from_ranks(self, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
        return scoring.success(offsets)

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats:
        return ties.success(groups)

    def worth(self, ranks: Floats) -> Floats:
        return np.isfinite(ranks).astype(np.float64)


class AP(MeanPrecision, Standard, of=ir_measures.AP):
    """Average precision."""

    def from_ranks(self, ranks: Ints, offsets: Ints, total: Ints) -> Floats:
        return scoring.average_precision(ranks, offsets, total)

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats:
        return divide(ties.average_precision(groups), judged.judgements.num_relevant(self.rel))

    def bounds(self, run: LabelledRun) -> Bounds:
        return bounding.average_precision(run.alone)

    def is_exact(self, *, pair: bool = False) -> bool:
        return not pair


class nDCG(RatioOfGains, Standard, of=ir_measures.nDCG):
    """Normalized discounted cumulative gain."""

    HAS_GAINS = True

    def accepts_params(self) -> bool:
        return super().accepts_params() and all(
            float(gain).is_integer() for gain in (self.params.get("gains") or {}).values()
        )

    def view(self, judged: JudgedRun) -> JudgedRun:
        return super().view(self._regraded(judged))

    def _regraded(self, judged: JudgedRun) -> JudgedRun:
        gains = self.params.get("gains")
        return judged if gains is None else judged.regraded(gains)

    def tie_gains(self, judged: JudgedRun) -> Floats:
        view = self._regraded(judged)
        return self.scaled_gains(view.judgements, view.grades, view.queries)

    def expected(self, judged: JudgedRun, groups: TieGroups) -> Floats:
        return divide(
            ties.gain(groups, self.rank_weights), self.view(judged).judgements.once(_ideal, self)
        )

    def gains_of(self, grades: Floats, shift: Floats | float = 0.0) -> Floats:
        """The gains of grades, exponential ones over 2^shift; negative ones gain nothing."""
        grades = np.maximum(grades, 0)
        return scoring.exponential(grades, shift) if self["dcg"] == "exp-log2" else grades

    def scaled_gains(self, judgements: Judgements, grades: Floats, queries: Ints) -> Floats:
        """The gains, divided by a power of 2 per query, so that high grades are not infinite."""
        is_exponential = self["dcg"] == "exp-log2"
        return self.gains_of(grades, judgements.once(_shifts)[queries] if is_exponential else 0.0)

    def _score(self, view: JudgedRun) -> Floats:
        graded = view.relevant(0)
        gains = self.scaled_gains(
            view.judgements, view.judgements.grades[graded.pairs], graded.queries
        )
        return scoring.ndcg(graded.ranks, gains, graded.offsets, view.judgements.once(_ideal, self))

    def gained(self, run: LabelledRun) -> Floats:
        graded = run.view.relevant(0)
        gains = self.gains_of(run.view.judgements.grades[graded.pairs])
        return scoring.dcg(graded.ranks, gains, graded.offsets)

    def levels(self, run: LabelledRun) -> tuple[Floats, int, Ints]:
        return run.judged.judgements.once(gain_levels, self, run.highest)

    def ideal(self, most: int) -> Floats:
        return scoring.ideal_gains(most, self.cutoff)

    def rank_weights(self, ranks: Ints) -> Floats:
        return 1 / np.log2(ranks + 1)

    def candidates(self, run: LabelledRun) -> tuple[JudgedRun, Floats]:
        """All documents of a run; labels have the lowest gain."""
        least, grades = self.levels(run)[0][0], run.view.grades
        return run.view, np.where(grades < 0, least, self.gains_of(grades))

    def labelled_values(
        self, run: LabelledRun, queries: Ints, relevant: Relevant, gains: Floats
    ) -> Floats:
        levels, _, counts = self.levels(run)
        counts = counts[queries]
        counts[:, 0] += 1  # the label has the lowest gain
        ideal = self.ideal(int(counts.max(initial=0)))[counts] @ np.diff(levels, prepend=0.0)
        return scoring.ndcg(relevant.ranks, gains, relevant.offsets, ideal)


def _shifts(judgements: Judgements) -> Floats:
    """The power of 2 that divides the gains of each query, shape (Q,)."""
    highest = reduce_by_query(np.maximum, judgements.grades, judgements.offsets, 0.0)
    return np.asarray(np.maximum(highest - _MOST_BITS, 0))


def _ideal(judgements: Judgements, measure: nDCG) -> Floats:
    gains = measure.scaled_gains(judgements, judgements.grades, judgements.queries)
    return scoring.ideal_dcg(gains, judgements.offsets, measure.cutoff)


def gain_levels(judgements: Judgements, measure: nDCG, highest: float) -> tuple[Floats, int, Ints]:
    """The gains of nDCG, ascending; the number of gains that a label can give; the number of judged
    documents with at least each gain, shape (Q, G).

    Args:
        judgements: the qrels.
        measure: nDCG.
        highest: the best grade of a label.

    Raises:
        ValueError: for a scale of too many grades.
    """
    if not 0 <= highest <= _MOST_GRADES:
        raise ValueError(
            f"bounds of nDCG need a best grade of at most {_MOST_GRADES}, not {highest:g}: give "
            "highest=, or grades of a smaller scale"
        )
    labels = np.unique([*np.arange(highest + 1), *np.unique(judgements.grades), highest])
    labels = labels[(labels >= 0) & (labels <= highest)]
    regraded = measure.params.get("gains") or {}
    attainable_gains = measure.gains_of(np.array([regraded.get(g, g) for g in labels.tolist()]))
    judged = measure.gains_of(judgements.regraded(regraded).grades)
    levels = np.unique(np.append(attainable_gains, judged))
    levels = levels[levels > 0]
    queries, number = judgements.queries, len(judgements)
    return (
        levels,
        int(np.searchsorted(levels, attainable_gains.max(), side="right")),
        np.array([np.bincount(queries[judged >= level], minlength=number) for level in levels])
        .reshape(-1, number)
        .T.astype(np.int64),
    )


class RBP(Additive, Standard, of=ir_measures.RBP):
    """Rank-biased precision with ``rel``; another provider computes it from grades."""

    def accepts_params(self) -> bool:
        return super().accepts_params() and "rel" in self.params

    def rank_weights(self, ranks: Ints) -> Floats:
        return scoring.attention(ranks, self["p"])


class ERR(Standard, of=ir_measures.ERR):
    """Expected reciprocal rank; gdeval rounds it."""

    def tie_gains(self, judged: JudgedRun) -> Floats:
        return np.maximum(judged.grades, 0)

    def _score(self, view: JudgedRun) -> Floats:
        graded = view.relevant(0)
        grades = view.judgements.grades[graded.pairs]
        if len(grades) and grades.max() > _HIGHEST_GRADE:
            raise ValueError(
                f"ERR needs grades up to {_HIGHEST_GRADE}, but a document has grade "
                f"{grades.max():g}: map the grades to 0 to {_HIGHEST_GRADE} first"
            )
        return scoring.expected_reciprocal_rank(
            graded.ranks, grades, graded.offsets, highest=_HIGHEST_GRADE
        )


class Judged(Standard, of=ir_measures.Judged):
    """The share of the retrieved documents that are judged: neither direction is better."""

    def tie_gains(self, judged: JudgedRun) -> None:
        """None: all judged documents count."""

    HIGHER_IS_BETTER = None

    def _score(self, view: JudgedRun) -> Floats:
        return divide(np.diff(cumulate(view.grades >= 0)[view.offsets]), view.retrieved)


def measures_with_bounds() -> list[str]:
    """The names of the measures that have bounds, standard ones first.

    >>> measures_with_bounds()[:3], measures_with_bounds()[-1]
    (['P', 'R', 'RR'], 'TBG')
    """
    kinds = {**STANDARD, **{type(measure): type(measure) for measure in own_measures()}}
    return [of.NAME for of, kind in kinds.items() if kind.bounds is not Formula.bounds]
