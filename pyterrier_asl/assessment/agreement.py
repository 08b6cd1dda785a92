"""Agreement of judges on documents and on the ranking of systems, in bootstrap draws of queries.

The draws are the same for all judges of the same queries. An interval is centred on the observed
value, because the bootstrap of a rank correlation is biased.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from ..measures.names import Measures
from ..scoring.arrays import Floats
from ..statistics.agreement import agreement_of_tables
from ..statistics.correlation import kendall_taus, overlaps_of_scores, taus_ap
from ..statistics.rounding import rounded
from .judges import Judge, Judges, shared_pairs, sign_of

#: The coefficients of agreement on documents, and on the ranking of systems.
ON_DOCUMENTS = ("agreement", "kappa")
ON_SYSTEMS = ("tau", "tau_AP", "RBO")

#: Counts of each of n queries: 1 as observed, then those in each of B draws, shape (1 + B, n).
Draws: TypeAlias = Callable[[int], Floats]


@dataclass(frozen=True)
class Agreements:
    """The agreement of every two judges, observed and in each draw.

    Attributes:
        values: kind -> two judges -> the observed value, and those of B draws, shape (1 + B,).
        queries: two judges -> the number of queries.
    """

    values: dict[str, dict[frozenset[str], Floats]]
    queries: dict[frozenset[str], int]


def draw_queries(queries: int, *, n_resamples: int, seed: int) -> Floats:
    """Draws queries with replacement: the :data:`Draws` of a number of queries.

    >>> counts = draw_queries(3, n_resamples=2, seed=0)
    >>> counts[0].tolist(), counts.sum(axis=1).tolist()
    ([1.0, 1.0, 1.0], [3.0, 3.0, 3.0])
    """
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(queries, np.full(queries, 1 / queries), n_resamples)
    return np.vstack((np.ones(queries), drawn)).astype(np.float64)


def agreement_on_documents(judges: Judges, draws: Draws) -> Agreements:
    """Share of equal labels and kappa, of every two judges, on the documents that both judged."""
    texts = (judge.judgements.qid_text.to_pylist() for judge in judges.members.values())
    qids = sorted({qid for judged in texts for qid in judged})
    counts = draws(len(qids))
    agreements = Agreements({kind: {} for kind in ON_DOCUMENTS}, {})
    for a, b in judges.pairs():
        tables = _label_tables(judges.members[a], judges.members[b], qids)
        pair = frozenset((a, b))
        agreements.queries[pair] = int((tables.sum(axis=(1, 2)) > 0).sum())
        coefficients = agreement_of_tables(np.tensordot(counts, tables, axes=1))
        for kind, values in zip(ON_DOCUMENTS, coefficients):
            agreements.values[kind][pair] = values
    return agreements


def agreement_on_systems(judges: Judges, measure: Measures, draws: Draws) -> Agreements:
    """tau, tau_AP and RBO of the rankings of the runs by every two judges."""
    queries = len(judges.qids)
    counts = draws(queries) / queries
    scores = {
        name: np.asarray(rounded(sign_of(measure) * (counts @ values.T)))
        for name, values in judges.values(measure).items()
    }
    agreements = Agreements({kind: {} for kind in ON_SYSTEMS}, {})
    for (a, x), (b, y) in combinations(scores.items(), 2):
        pair = frozenset((a, b))
        agreements.queries[pair] = queries
        agreements.values["tau"][pair] = kendall_taus(x, y)
        agreements.values["tau_AP"][pair] = (taus_ap(x, y) + taus_ap(y, x)) / 2
        agreements.values["RBO"][pair] = overlaps_of_scores(x, y)
    return agreements


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
