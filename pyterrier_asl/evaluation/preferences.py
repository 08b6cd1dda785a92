"""Preferences between two rankings and of all pairs of systems: sgnLP, rrLP, lexirecall, RPP.

A preference compares the ranks of the relevant documents of one query. Two systems are compared by
its mean over the queries. Preferences are exact: rankings are not reduced to numbers first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from ..common.lazy import pd
from ..common.parameters import check_name
from ..common.types import Floats, Ints
from ..measures import LexiP
from ..scoring.lexicographic import dominance, first_difference
from ..scoring.preferences import pairwise_preferences, preference_cube
from ..statistics.pairwise import cycle_numbers, sign_test, t_test
from .evaluation import Evaluation
from .facts import with_notes
from .sources import warn_of_grades

# Two rankings


def preferences(
    run_a: Any,
    run_b: Any,
    qrels: Any,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
) -> pd.DataFrame:
    """Preferences between two rankings for each query of the qrels.

    Args:
        run_a: file, data frame (``qid``, ``docno``, ``score``, or ir_measures' names), dict of
            dicts, or iterable of ``ir_measures.ScoredDoc``.
        run_b: another run, in any of these forms.
        qrels: file, ir_datasets id, data frame (``qid``, ``docno``, ``label``, or ir_measures'
            names), dict of dicts, iterable of ``ir_measures.Qrel``, or
            :class:`~pyterrier_asl.Qrels`.
        rel: minimum grade of a relevant document; None: 1.
        cutoff: number of documents to look at; None: all.

    Returns:
        A frame with one row per query. Except in ``i_star``, a positive number prefers ``run_a``, a
        negative number ``run_b``, and 0 neither; all are 0 for a query without relevant documents.

        * ``qid``;
        * ``i_star``: the first recall level (from 1) at which the rankings differ, 0 if none does;
        * ``rrLP``: the difference of the reciprocal ranks at this level, in [-1, 1];
        * ``sgnLP``: its sign;
        * ``lexirecall``: the sign of the difference at the last recall level with a difference;
        * ``RPP``: recall-paired preference, the mean of the signs over all recall levels;
        * ``dominance``: the sign of all differences, where no two have different signs: every
          measure of the ranks of relevant documents that never falls when one moves up prefers this
          run. NaN where it depends on the measure.

    Raises:
        ValueError: for parameters out of range, bad columns or values, an empty run or empty qrels,
            a run that shares no document with the qrels.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Eq. 2 and 3. lexirecall: Diaz and Mitra,
    Recall, Robustness, and Lexicographic Evaluation, 2023; RPP: Diaz and Ferraro, Offline Retrieval
    Evaluation Without Evaluation Metrics, 2022.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> first = {"q": {"a": 9, "x": 8, "b": 7, "y": 6, "z": 5, "c": 4}}
    >>> second = {"q": {"a": 9, "b": 8, "x": 7}}
    >>> preferences(first, second, qrels).round(4)
      qid  i_star    rrLP  sgnLP  lexirecall  RPP  dominance
    0   q       2 -0.1667     -1           1  0.0        NaN
    """
    judged, rel, (a, b), total = _levels({"run_a": run_a, "run_b": run_b}, qrels, rel, cutoff)
    i_star, rrlp = first_difference(a, b, total)
    cubes = judged.once(preference_cubes, ("lexirecall", "RPP"), rel, cutoff)
    columns = {
        "qid": judged.qids,
        "i_star": i_star,
        "rrLP": rrlp,
        "sgnLP": np.sign(rrlp).astype(np.int64),
        "lexirecall": cubes["lexirecall"][:, 0, 1].astype(np.int64),
        "RPP": cubes["RPP"][:, 0, 1],
        "dominance": dominance(a, b, total),
    }
    return with_notes(pd.DataFrame(columns), {"": judged.facts({})})


# Many systems


@dataclass(frozen=True, eq=False)
class PreferenceMatrix:
    """All pairs of S systems: row against column.

    A positive number prefers the system of the row. The p-values on the diagonal, and of systems
    that differ on no query, are NaN.

    Attributes:
        names: the systems.
        queries: the number of queries.
        rrLP: mean rrLP.
        rrLP_p: p-values of a two-sided paired t-test.
        wins: the number of queries that prefer the system of the row.
        losses: the number of queries that prefer the system of the column.
        sgnLP_p: p-values of a two-sided sign test of wins against losses.
        notes: sentences on what must be known of the runs and the qrels.
    """

    names: list[str]
    queries: int
    rrLP: pd.DataFrame
    rrLP_p: pd.DataFrame
    wins: pd.DataFrame
    losses: pd.DataFrame
    sgnLP_p: pd.DataFrame
    notes: Sequence[str] = field(default=(), repr=False)

    @classmethod
    def of(cls, names: list[str], reciprocal: Floats, total: Ints) -> PreferenceMatrix:
        """Compares systems by their reciprocal ranks.

        Args:
            names: the systems, S of them.
            reciprocal: RR_1, RR_2, ... of each query's relevant documents, shape (S, total.sum()).
            total: relevant documents of each query, shape (Q,).
        """
        systems, queries = len(names), len(total)
        _, values = pairwise_preferences(reciprocal, total)
        pairs = np.triu_indices(systems, k=1)
        rrlp, p = np.zeros((2, systems, systems))
        wins = np.zeros((systems, systems), dtype=np.int64)
        rrlp[pairs] = values.sum(axis=-1) / queries
        p[pairs] = t_test(values)
        wins[pairs], wins.T[pairs] = (values > 0).sum(axis=-1), (values < 0).sum(axis=-1)
        p += p.T
        np.fill_diagonal(p, np.nan)

        def table(values: npt.NDArray[Any]) -> pd.DataFrame:
            return pd.DataFrame(values, index=names, columns=names)

        return cls(
            names=names,
            queries=queries,
            rrLP=table(rrlp - rrlp.T),
            rrLP_p=table(p),
            wins=table(wins),
            losses=table(wins.T.copy()),
            sgnLP_p=table(sign_test(wins, wins.T)),
        )

    @cached_property
    def sgnLP(self) -> pd.DataFrame:
        """Mean sgnLP: the share of wins minus the share of losses."""
        return (self.wins - self.losses) / self.queries

    def pairs(self) -> pd.DataFrame:
        """A frame with one row per pair of systems, in the order of the matrix."""
        a, b = np.triu_indices(len(self.names), k=1)
        names = np.array(self.names, dtype=object)
        return pd.DataFrame(
            {
                "a": names[a],
                "b": names[b],
                "rrLP": self.rrLP.to_numpy()[a, b],
                "rrLP p-value": self.rrLP_p.to_numpy()[a, b],
                "sgnLP": self.sgnLP.to_numpy()[a, b],
                "sgnLP +": self.wins.to_numpy()[a, b],
                "sgnLP -": self.losses.to_numpy()[a, b],
                "sgnLP p-value": self.sgnLP_p.to_numpy()[a, b],
            }
        )

    def cycles(self, by: str = "sgnLP") -> list[list[str]]:
        """Cycles of systems: each system is preferred to the next one in the cycle.

        Mean preferences need not be transitive. Cycles that share systems are joined.

        Args:
            by: ``'sgnLP'`` or ``'rrLP'``: the mean preference.

        Returns:
            The sets of systems, largest first, each in the order of :attr:`names`; none if the
            preferences are transitive.
        """
        check_name("by", by, ("sgnLP", "rrLP"))
        numbers = cycle_numbers(getattr(self, by).to_numpy() > 0)
        return [[*compress(self.names, numbers == n)] for n in range(1, numbers.max() + 1)]


def preference_matrix(
    runs: Mapping[str, Any],
    qrels: Any,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
) -> PreferenceMatrix:
    """Compares all pairs of systems by lexicographic precision, exactly.

    Args:
        runs: name -> run; see :func:`preferences`.
        qrels: see :func:`preferences`.
        rel: minimum grade of a relevant document; None: 1.
        cutoff: number of documents to look at; None: all.

    Raises:
        ValueError: as :func:`preferences`, with the name of the run; for fewer than two runs.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Eq. 2 and 3.

    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> def run(*ranks):
    ...     return {f"q{q}": {**{f"x{i}": 9 - i for i in range(r - 1)}, "a": 1}
    ...             for q, r in enumerate(ranks, 1)}
    >>> matrix = preference_matrix({"A": run(1, 2, 3), "B": run(2, 3, 1), "C": run(3, 1, 2)}, qrels)
    >>> print(matrix.wins)
       A  B  C
    A  0  2  1
    B  1  0  2
    C  2  1  0
    >>> matrix.cycles(), matrix.cycles("rrLP")
    ([['A', 'B', 'C']], [])
    """
    if not isinstance(runs, Mapping) or len(runs) < 2:
        raise ValueError("a preference matrix needs at least two runs: give a dict of name -> run")
    judged, _, reciprocal, total = _levels(runs, qrels, rel, cutoff)
    facts = judged.facts({})
    facts.warn()
    return replace(PreferenceMatrix.of(judged.names, reciprocal, total), notes=facts.notes)


# Recall levels


def _levels(
    runs: Mapping[str, Any], qrels: Any, rel: float | None, cutoff: int | None
) -> tuple[Evaluation, float, Floats, Ints]:
    measure = LexiP(rel=1 if rel is None else rel, cutoff=cutoff)  # which checks rel and cutoff
    judged = Evaluation.of(runs, qrels)
    warn_of_grades(judged.judgements, None, rel)
    return judged, measure["rel"], *recall_levels(judged, measure["rel"], measure["cutoff"])


def recall_levels(
    runs: Evaluation, rel: float = 1, cutoff: int | None = None
) -> tuple[Floats, Ints]:
    """The recall levels of all rankings.

    Args:
        runs: S runs, matched with the qrels of Q queries.
        rel: minimum grade of a relevant document.
        cutoff: number of documents to look at; None: all.

    Returns:
        ``reciprocal``, RR_1, RR_2, ... of each query's relevant documents, shape (S, total.sum()),
        and ``total``, the relevant documents of each query, shape (Q,).
    """
    return runs.reciprocal_ranks(rel, cutoff), runs.judgements.num_relevant(rel)


def preferences_for(runs: Evaluation, rel: float) -> dict[str, Floats]:
    """rrLP, sgnLP and dominance for each run over the first, shape (S, Q) each."""
    reciprocal, total = recall_levels(runs, rel)
    _, preferred = first_difference(reciprocal, reciprocal[0], total)
    return {
        "rrLP": preferred,
        "sgnLP": np.sign(preferred),
        "dominance": dominance(reciprocal, reciprocal[0], total),
    }


def first_differences(runs: Evaluation, rel: float = 1, cutoff: int | None = None) -> Ints:
    """i* of every pair of systems a < b for every query, shape (S (S - 1) / 2, Q)."""
    return pairwise_preferences(*recall_levels(runs, rel, cutoff))[0]


def preference_cubes(
    runs: Evaluation, kinds: Iterable[str], rel: float = 1, cutoff: int | None = None
) -> dict[str, Floats]:
    """Several kinds of preferences by their names; see :func:`preference_cube`."""
    levels = recall_levels(runs, rel, cutoff)
    return {kind: preference_cube(kind, *levels) for kind in kinds}
