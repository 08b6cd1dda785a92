"""A judge's relevant documents, scored as a run by another judge (Trotman and Keeler 2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ir_measures import AP

from ..evaluation.slices import Queries
from ..measures.names import with_options
from ..scoring import assessor as scoring
from ..scoring.arrays import Floats, Ints
from .judges import Judges, query_numbers, shared_pairs

#: The scores of a judge, whose documents have no order, as Table 1 names them.
BOUNDS = ("upper", "expected", "lower")


@dataclass(frozen=True)
class JudgeAsRun:
    """A judge's relevant documents of Q queries, counted against a reference's.

    Attributes:
        name: the judge.
        retrieved: R', documents that the judge finds relevant, shape (Q,).
        common: r, those that the reference finds relevant too, shape (Q,).
        relevant: N_R, documents that the reference finds relevant, shape (Q,).
    """

    name: str
    retrieved: Ints
    common: Ints
    relevant: Ints

    @property
    def counts(self) -> tuple[Ints, Ints, Ints]:
        """R', r and N_R."""
        return self.retrieved, self.common, self.relevant

    def means(self, queries: Queries) -> dict[str, float]:
        """Means over some queries of R', r, N_R and AP by each of the :data:`BOUNDS`."""
        counts = dict(zip(("retrieved", "common", "relevant"), self.counts))
        by_query = {**counts, **self.average_precision()}
        return {name: float(queries.mean(values)) for name, values in by_query.items()}

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
    queries = query_numbers(by.judgements, judge.judgements)
    at, rows = shared_pairs(by.judgements, judge.judgements)
    both = by.judgements.queries[at[by.relevant[at] & judge.relevant[rows]]]
    relevant = queries[judge.relevant & (queries >= 0)], both, by.judgements.queries[by.relevant]
    counts = (np.bincount(own, minlength=len(by.judgements)) for own in relevant)
    return JudgeAsRun(name, *(count[judges.positions[reference]] for count in counts))


def judges_as_runs(judges: Judges, reference: str) -> list[JudgeAsRun]:
    """Every judge but the reference, scored by the reference."""
    return [judge_as_run(judges, name, reference) for name in judges.others(reference)]


def precision_by(judges: Judges, reference: str) -> Floats:
    """AP of the runs by a judge, of the queries that all judged, shape (S, Q)."""
    measure = with_options(AP, judges.members[reference].rel)
    return judges.runs_by(reference).values(measure)[:, judges.positions[reference]]
