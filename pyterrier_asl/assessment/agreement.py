"""Agreement of judges on documents and on the ranking of systems, in bootstrap draws of queries.

The draws are the same for all judges of the same queries. An interval is centred on the observed
value, because the bootstrap of a rank correlation is biased. All agreements of two judges are on
the pairs of query and document that both judged. Tables of the grades of two judges are here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ..common.lazy import pd
from ..common.types import Floats
from ..judging.judgements import shared_pairs
from ..judging.pair_index import positions
from ..measures.parsing import Measures
from ..statistics.agreement import (
    agreement_of_tables,
    cohen_kappa,
    kendall_taus,
    overlaps_of_scores,
    taus_ap,
)
from ..statistics.intervals import Interval, centred_interval
from ..statistics.rounding import rounded
from ..statistics.settings import check_draws
from .judges import Judge, Judges, sign_of

#: The coefficients of agreement on documents, on their grades, and on the ranking of systems.
ON_DOCUMENTS = ("agreement", "kappa")
ON_GRADES = {"kappa_grades": None, "kappa_linear": "linear", "kappa_quadratic": "quadratic"}
ON_SYSTEMS = ("tau", "tau_AP", "RBO")

#: The agreement of every two judges.
Agreements: TypeAlias = "dict[frozenset[str], Agreement]"

#: Counts of each of n queries: 1 as observed, then those in each of B draws, shape (1 + B, n).
Draws: TypeAlias = Callable[[int], Floats]


def each_once(queries: int) -> Floats:
    """No draws: each query once."""
    return np.ones((1, queries))


@dataclass(frozen=True)
class Agreement:
    """The agreement of two judges, observed and in each draw.

    Attributes:
        values: kind -> the observed value, and the values of B draws, shape (1 + B,); of grades the
            observed value alone.
        pairs: the number of pairs of query and document that both judged.
        queries: the number of queries.
        relevant: the shares of the pairs that the first and the second judge find relevant.
    """

    values: dict[str, Floats]
    pairs: int
    queries: int
    relevant: tuple[float, float] = (np.nan, np.nan)

    def rows(self, alpha: float) -> Iterator[dict[str, Any]]:
        """A row per kind of agreement, with ``value`` and its interval."""
        for kind, values in self.values.items():
            value, low, high = interval_of(values, alpha, self.queries)
            yield {
                "agreement": kind,
                "value": value,
                "ci_low": np.maximum(low, -1.0),
                "ci_high": np.minimum(high, 1.0),
                "pairs": self.pairs,
                "queries": self.queries,
                "relevant": self.relevant[1],
                "reference_relevant": self.relevant[0],
            }


def interval_of(draws: Floats, alpha: float, queries: int) -> Interval:
    """The interval of the observed value, which is the first; a single query has none."""
    if queries < 2:
        return Interval(float(draws[0]), float("nan"), float("nan"))
    return centred_interval(float(draws[0]), draws[1:], alpha=alpha)


def draw_queries(queries: int, *, draws: int, seed: int) -> Floats:
    """Draws queries with replacement: the :data:`Draws` of a number of queries.

    >>> counts = draw_queries(3, draws=2, seed=0)
    >>> counts[0].tolist(), counts.sum(axis=1).tolist()
    ([1.0, 1.0, 1.0], [3.0, 3.0, 3.0])
    """
    check_draws(draws, seed)
    drawn = np.random.default_rng(seed).multinomial(queries, np.full(queries, 1 / queries), draws)
    return np.vstack((np.ones(queries), drawn)).astype(np.float64)


def agreement_on_documents(
    judges: Judges, draws: Draws, reference: str | None = None
) -> Agreements:
    """Share of equal labels and kappa, of two judges, on the documents that both judged.

    kappa, and kappa of the grades, is NaN where all labels of a judge are the same. There is no
    kappa of the grades where the largest grades of the two judges differ, as their scales differ.

    Args:
        judges: the judges.
        draws: how often each of n queries counts.
        reference: the judge with whom the others are compared; None: every two are.
    """
    qids = sorted(judges.all_qids)
    counts = draws(len(qids))
    agreements = {}
    for a, b in judges.pairs(reference):
        both = judges.members[a], judges.members[b]
        tables = _label_tables(*both, qids)
        drawn = np.tensordot(counts, tables, axes=1)
        share, kappa = agreement_of_tables(drawn)
        has_both_labels = np.all(drawn.any(axis=1) & drawn.any(axis=2), axis=1)
        values = dict(zip(ON_DOCUMENTS, (share, np.where(has_both_labels, kappa, np.nan))))
        values |= _kappas_of_grades(*both)
        observed, queries = drawn[0], int((tables.sum(axis=(1, 2)) > 0).sum())
        size = max(int(observed.sum()), 1)
        relevant = float(observed[1].sum() / size), float(observed[:, 1].sum() / size)
        agreements[frozenset((a, b))] = Agreement(values, int(observed.sum()), queries, relevant)
    return agreements


def agreement_on_systems(
    judges: Judges, measure: Measures, draws: Draws, reference: str | None = None
) -> Agreements:
    """tau, tau_AP and RBO of the rankings of the runs by two judges.

    Args:
        judges: the judges, with runs. Pass :attr:`.Judges.on_shared_pairs` where only the pairs of
            query and document that all of them judged are to count.
        measure: the measure.
        draws: how often each of n queries counts.
        reference: the judge with whom the others are compared; None: every two are.
    """
    counts = draws(len(judges.qids))
    counts /= counts.sum(axis=1, keepdims=True)
    scores = {
        name: np.asarray(rounded(sign_of(measure) * (counts @ values.T)))
        for name, values in judges.values(measure).items()
    }
    agreements = {}
    for a, b in judges.pairs(reference):
        x, y = scores[a], scores[b]
        tau_ap = (taus_ap(x, y) + taus_ap(y, x)) / 2
        values = dict(zip(ON_SYSTEMS, (kendall_taus(x, y), tau_ap, overlaps_of_scores(x, y))))
        by_a, by_b = (judges.members[name].judgements for name in (a, b))
        pairs = int(np.isin(by_a.queries[shared_pairs(by_a, by_b)[0]], judges.positions[a]).sum())
        agreements[frozenset((a, b))] = Agreement(values, pairs, len(judges.qids))
    return agreements


def agreements_of(
    judges: Judges, measure: Measures | None, draws: Draws, reference: str | None = None
) -> Agreements:
    """The agreements on documents, or with a measure on systems."""
    if measure is None:
        return agreement_on_documents(judges, draws, reference)
    return agreement_on_systems(judges, measure, draws, reference)


def _kappas_of_grades(a: Judge, b: Judge) -> dict[str, Floats]:
    at_a, at_b = shared_pairs(a.judgements, b.judgements)
    if not len(at_a) or a.judgements.grades.max() != b.judgements.grades.max():
        return {}
    grades = a.judgements.grades[at_a], b.judgements.grades[at_b]
    one_class = any(np.ptp(own) == 0 for own in grades)
    return {
        kind: np.array([np.nan if one_class else cohen_kappa(*grades, weights=weights)])
        for kind, weights in ON_GRADES.items()
    }


def _label_tables(a: Judge, b: Judge, qids: list[str]) -> Floats:
    """Documents of each query by both judges' labels, relevant or not, shape (Q, 2, 2)."""
    at_a, at_b = shared_pairs(a.judgements, b.judgements)
    numbers = positions(b.judgements.qid_text, pa.array(qids, b.judgements.qid_text.type))
    labels = a.relevant[at_a].astype(int), b.relevant[at_b].astype(int)
    counts = np.zeros((len(qids), 2, 2))
    np.add.at(counts, (numbers[b.judgements.queries[at_b]], *labels), 1)
    return counts


# Grades


def grade_bins(grades: Floats) -> Floats:
    """The lower ends of the bins of grades; whole grades are their own bins.

    Fractional grades, such as means of several labels, have bins from each whole number to the
    next; where no grade is above 1, bins of width .1.

    >>> grade_bins(np.array([0.0, 1.7, 2.0, 2.99])).tolist()
    [0.0, 1.0, 2.0, 2.0]
    >>> grade_bins(np.array([0.04, 0.3, 1.0])).tolist(), grade_bins(np.array([0.0, 7.0])).tolist()
    ([0.0, 0.3, 1.0], [0.0, 7.0])
    """
    width = 1 if grades.max() > 1 else 0.1
    return np.round(np.floor(np.round(grades / width, 9)) * width, 9)


def confusion_of(judges: Judges) -> pd.DataFrame:
    """Counts documents by the grades of the reference and of each other judge.

    Returns:
        ``reference``, ``judge``, ``grade_a``, ``grade_b``, ``pairs``, ``share_of_a``; fractional
        grades are in bins, by their lower ends (:func:`grade_bins`).

    Raises:
        ValueError: for a judge who has judged nothing that the reference has.
    """
    parts = {}
    for pair in judges.pairs(judges.names[0]):
        both = [judges.members[name].judgements for name in pair]
        at = shared_pairs(*both)
        if not len(at[0]):
            raise ValueError(
                f"judges {pair[0]!r} and {pair[1]!r} have no query and document in common: are the "
                "ids alike?"
            )
        a, b = (grade_bins(own.grades)[rows] for own, rows in zip(both, at))
        counts = pd.crosstab(a, b, rownames=["grade_a"], colnames=["grade_b"]).stack()
        parts[pair] = pd.DataFrame(
            {"pairs": counts, "share_of_a": counts / counts.groupby(level=0).transform("sum")}
        ).reset_index()
    return pd.concat(parts, names=["reference", "judge"]).reset_index([0, 1]).reset_index(drop=True)


def counts_by_grade(confusion: pd.DataFrame) -> pd.DataFrame:
    """The grades of the reference as rows for each judge, the grades of the judge as columns."""
    rows = pd.MultiIndex.from_frame(confusion[["judge", "grade_a"]].drop_duplicates())
    counts = confusion.pivot(index=["judge", "grade_a"], columns="grade_b", values="pairs")
    counts = counts.reindex(rows).astype("Int64").reset_index()
    counts.columns = ["judge", "grade", *(f"{grade:g}" for grade in counts.columns[2:])]
    return counts
