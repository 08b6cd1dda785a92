"""Agreement of judges on documents and on the ranking of systems, in bootstrap draws of queries.

The draws are the same for all judges of the same queries. An interval is centred on the observed
value, because the bootstrap of a rank correlation is biased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from ..evaluation.slices import Queries
from ..measures.names import Measures
from ..scoring.arrays import Floats
from ..statistics.agreement import agreement_of_tables, cohen_kappa
from ..statistics.correlation import kendall_taus, overlaps_of_scores, taus_ap
from ..statistics.intervals import Interval, centred_interval
from ..statistics.rounding import rounded
from .judges import Judge, Judges, shared_pairs, sign_of

#: The coefficients of agreement on documents, on their grades, and on the ranking of systems.
ON_DOCUMENTS = ("agreement", "kappa")
ON_GRADES = {"kappa_grades": None, "kappa_linear": "linear", "kappa_quadratic": "quadratic"}
ON_SYSTEMS = ("tau", "tau_AP", "RBO")

#: The agreement of every two judges.
Agreements: TypeAlias = "dict[frozenset[str], Agreement]"

#: Counts of each of n queries: 1 as observed, then those in each of B draws, shape (1 + B, n).
Draws: TypeAlias = Callable[[int], Floats]


@dataclass(frozen=True)
class Agreement:
    """The agreement of two judges, observed and in each draw.

    Attributes:
        values: kind -> the observed value, and the values of B draws, shape (1 + B,); of grades the
            observed value alone.
        pairs: the number of pairs of query and document that both judged.
        queries: the number of queries.
    """

    values: dict[str, Floats]
    pairs: int
    queries: int

    def rows(self, reference: str, judge: str, alpha: float) -> Iterator[dict[str, Any]]:
        """A row per kind of agreement, with ``value`` and its interval."""
        for kind, values in self.values.items():
            own = interval_of(values, alpha)
            yield {
                "judge": judge,
                "reference": reference,
                "agreement": kind,
                "value": own.mean,
                "ci_low": np.maximum(own.low, -1.0),
                "ci_high": np.minimum(own.high, 1.0),
                "pairs": self.pairs,
                "queries": self.queries,
            }


def interval_of(draws: Floats, alpha: float) -> Interval:
    """The interval of the observed value, which is the first."""
    return centred_interval(float(draws[0]), draws[1:], alpha=alpha)


def draw_queries(queries: int, *, draws: int, seed: int) -> Floats:
    """Draws queries with replacement: the :data:`Draws` of a number of queries.

    >>> counts = draw_queries(3, draws=2, seed=0)
    >>> counts[0].tolist(), counts.sum(axis=1).tolist()
    ([1.0, 1.0, 1.0], [3.0, 3.0, 3.0])
    """
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(queries, np.full(queries, 1 / queries), draws)
    return np.vstack((np.ones(queries), drawn)).astype(np.float64)


def agreement_on_documents(judges: Judges, draws: Draws, *, graded: bool = False) -> Agreements:
    """Share of equal labels and kappa, of every two judges, on the documents that both judged.

    Args:
        judges: the judges.
        draws: how often each of n queries counts.
        graded: also kappa of the grades as they are, NaN where the largest grades of the two
            differ, for they judge on different scales.
    """
    texts = (judge.judgements.qid_text.to_pylist() for judge in judges.members.values())
    qids = sorted({qid for judged in texts for qid in judged})
    counts = draws(len(qids))
    agreements = {}
    for a, b in judges.pairs():
        both = judges.members[a], judges.members[b]
        tables = _label_tables(*both, qids)
        coefficients = agreement_of_tables(np.tensordot(counts, tables, axes=1))
        values = dict(zip(ON_DOCUMENTS, coefficients))
        for kind, weights in ON_GRADES.items() if graded else ():
            values[kind] = np.array([_kappa_of_grades(*both, weights)])
        queries = int((tables.sum(axis=(1, 2)) > 0).sum())
        agreements[frozenset((a, b))] = Agreement(values, int(tables.sum()), queries)
    return agreements


def agreement_on_systems(
    judges: Judges,
    measure: Measures,
    draws: Draws,
    *,
    queries: Queries | None = None,
    p: float = 0.9,
) -> Agreements:
    """tau, tau_AP and RBO of the rankings of the runs by every two judges.

    Args:
        judges: the judges, with runs.
        measure: the measure.
        draws: how often each of n queries counts.
        queries: those that the means are over, of the queries that all judged; None: all.
        p: persistence of RBO.
    """
    used = (Queries(np.arange(len(judges.qids))) if queries is None else queries).counting
    counts = draws(len(used)) * used.each
    counts /= counts.sum(axis=1, keepdims=True)
    scores = {
        name: np.asarray(rounded(sign_of(measure) * (counts @ used.of(values).T)))
        for name, values in judges.values(measure).items()
    }
    agreements = {}
    for (a, x), (b, y) in combinations(scores.items(), 2):
        tau_ap = (taus_ap(x, y) + taus_ap(y, x)) / 2
        coefficients = kendall_taus(x, y), tau_ap, overlaps_of_scores(x, y, p=p)
        pairs = _number_of_pairs(judges, a, b, used)
        values = dict(zip(ON_SYSTEMS, coefficients))
        agreements[frozenset((a, b))] = Agreement(values, pairs, len(used))
    return agreements


def _number_of_pairs(judges: Judges, a: str, b: str, queries: Queries) -> int:
    """The number of pairs of some queries and a document that two judges judged."""
    by_a, by_b = (judges.members[name].judgements for name in (a, b))
    judged, _ = shared_pairs(by_a, by_b)
    return int(np.isin(by_a.queries[judged], queries.of(judges.positions[a])).sum())


def _kappa_of_grades(a: Judge, b: Judge, weights: str | None) -> float:
    if a.judgements.grades.max() != b.judgements.grades.max():
        return float("nan")
    at_a, at_b = shared_pairs(a.judgements, b.judgements)
    return cohen_kappa(a.judgements.grades[at_a], b.judgements.grades[at_b], weights=weights)


def _label_tables(a: Judge, b: Judge, qids: list[str]) -> Floats:
    """Documents of each query by both judges' labels, relevant or not, shape (Q, 2, 2)."""
    at_a, at_b = shared_pairs(a.judgements, b.judgements)
    number = {qid: number for number, qid in enumerate(qids)}
    texts = b.judgements.qid_text.to_pylist()
    queries = np.array([number[qid] for qid in texts], dtype=np.int64)[b.judgements.queries[at_b]]
    labels = a.relevant[at_a].astype(int), b.relevant[at_b].astype(int)
    counts = np.zeros((len(qids), 2, 2))
    np.add.at(counts, (queries, *labels), 1)
    return counts
