"""Relevant documents of a judge, scored as a run by another judge (Trotman and Keeler 2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ir_measures import AP

from ..assessment.judges import Judge, Judges, shared_pairs
from ..measures.parsing import with_options
from ..scoring import assessor as scoring
from ..scoring.arrays import Bools, Floats, Ints

#: The scores of a judge, whose documents have no order, as Table 1 names them.
BOUNDS = ("upper", "expected", "lower")


@dataclass(frozen=True)
class JudgeAsRun:
    """A judge's relevant documents of Q queries, counted against a reference's.

    Attributes:
        name: the judge.
        counts: R', documents that the judge finds relevant; r, those that the reference finds
            relevant too; N_R, documents that the reference finds relevant; shape (Q,) each.
    """

    name: str
    counts: tuple[Ints, Ints, Ints]

    @property
    def means(self) -> dict[str, float]:
        """Means over the queries of R', r, N_R and AP by each of the :data:`BOUNDS`."""
        counts = dict(zip(("retrieved", "common", "relevant"), self.counts))
        by_query = {**counts, **self.average_precision()}
        return {name: float(np.mean(values)) for name, values in by_query.items()}

    def average_precision(self) -> dict[str, Floats]:
        """AP of each query by each of the :data:`BOUNDS`: best order, expected, worst order."""
        return {
            "upper": scoring.best_average_precision(*self.counts),
            "expected": scoring.expected_average_precision(*self.counts),
            "lower": scoring.worst_average_precision(*self.counts),
        }


def judge_as_run(judges: Judges, name: str, reference: str) -> JudgeAsRun:
    """A judge's relevant documents, counted against a reference's.

    Args:
        judges: both, and perhaps others; the queries are those that all of them judged.
        name: the judge whose documents are counted.
        reference: the judge who scores them.

    Raises:
        ValueError: for a judge who finds nothing relevant.

    >>> judges = Judges.of({"a": {"q": {"d": 1, "e": 1}}, "b": {"q": {"d": 1, "f": 1, "g": 1}}})
    >>> [count.tolist() for count in judge_as_run(judges, "b", "a").counts]
    [[3], [1], [2]]
    """
    by, judge = judges.members[reference], judges.members[name]
    for member in (by, judge):
        member.check_finds_relevant()
    at, rows = shared_pairs(by.judgements, judge.judgements)
    both = at[by.relevant[at] & judge.relevant[rows]]

    def count(member: Judge, rows: Ints | Bools) -> Ints:
        judgements = member.judgements
        counts = np.bincount(judgements.queries[rows], minlength=len(judgements))
        return counts[judges.positions[member.name]]

    counts = count(judge, judge.relevant), count(by, both), count(by, by.relevant)
    return JudgeAsRun(name, counts)


def judges_as_runs(judges: Judges, reference: str) -> list[JudgeAsRun]:
    """Every judge but the reference, scored by the reference."""
    others = (name for name in judges.names if name != reference)
    return [judge_as_run(judges, name, reference) for name in others]


def precision_by(judges: Judges, reference: str) -> Floats:
    """AP of the runs by a judge, of the queries that all judged, shape (S, Q)."""
    return judges.values_by(reference, with_options(AP, judges.members[reference].rel))
