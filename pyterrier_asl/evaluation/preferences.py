"""Preferences between two rankings and of all pairs of systems: sgnLP, rrLP, lexirecall, RPP.

A preference is made query by query from the ranks of the relevant documents; how two systems
compare is its mean over the queries. Everything is exact: no number is put in place of a ranking.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..io.lazy import pd
from ..measures import LexiP
from ..scoring.arrays import Bools, Floats, Ints
from ..scoring.lexicographic import first_difference
from ..scoring.preferences import pairwise_preferences, preference_cube
from ..statistics.pairwise import cycle_numbers, sign_test, t_test
from .evaluation import Evaluation

# Two rankings


def preferences(
    run_a: Any,
    run_b: Any,
    qrels: Any,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    duplicates: str | None = None,
) -> pd.DataFrame:
    """Which of two rankings is preferred, for every query of the qrels.

    Args:
        run_a: file, data frame (``qid``, ``docno``, ``score``, or ir_measures' names), dict of
            dicts, or iterable of ``ir_measures.ScoredDoc``.
        run_b: another run, in any of these forms.
        qrels: file, ir_datasets id, data frame (``qid``, ``docno``, ``label``, or ir_measures'
            names), dict of dicts, or iterable of ``ir_measures.Qrel``.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        duplicates: see :func:`~pyterrier_asl.evaluate`.

    Returns:
        A frame with one row for each query. In all but ``i_star`` a positive number prefers
        ``run_a``, a negative one ``run_b``, and 0 neither; a query without relevant documents has
        0 throughout.

        * ``qid``;
        * ``i_star``: the first recall level (from 1) at which the two differ, 0 where none does;
        * ``rrLP``: the difference of the reciprocal ranks there, in [-1, 1];
        * ``sgnLP``: its sign;
        * ``lexirecall``: the sign of the difference at the last recall level that differs;
        * ``RPP``: recall-paired preference, the mean of the signs over all recall levels.

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
      qid  i_star    rrLP  sgnLP  lexirecall  RPP
    0   q       2 -0.1667     -1           1  0.0
    """
    runs = {"run_a": run_a, "run_b": run_b}
    judged, (a, b), total = _levels(runs, qrels, rel, cutoff, duplicates)
    i_star, rrlp = first_difference(a, b, total)
    cubes = judged.once(preference_cubes, ("lexirecall", "RPP"), rel, cutoff)
    return pd.DataFrame(
        {
            "qid": judged.qids,
            "i_star": i_star,
            "rrLP": rrlp,
            "sgnLP": np.sign(rrlp).astype(np.int64),
            "lexirecall": cubes["lexirecall"][:, 0, 1].astype(np.int64),
            "RPP": cubes["RPP"][:, 0, 1],
        }
    )


# Many systems


@dataclass(frozen=True)
class PreferenceMatrix:
    """Every system compared with every other: row against column, S systems.

    A positive number prefers the row's system. Systems that differ on no query have p-values that
    are not a number, so has the diagonal.

    Attributes:
        names: the systems.
        queries: how many queries were compared.
        rrLP: mean rrLP.
        rrLP_p: p-values of a two-sided paired t-test.
        wins: in how many queries the row's system is preferred.
        losses: in how many the column's.
        sgnLP_p: p-values of a two-sided sign test of wins against losses.
    """

    names: list[str]
    queries: int
    rrLP: pd.DataFrame
    rrLP_p: pd.DataFrame
    wins: pd.DataFrame
    losses: pd.DataFrame
    sgnLP_p: pd.DataFrame

    @classmethod
    def of(cls, names: list[str], reciprocal: Floats, total: Ints) -> PreferenceMatrix:
        """Compares systems whose reciprocal ranks are given.

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
        wins[pairs] = (values > 0).sum(axis=-1)
        wins.T[pairs] = (values < 0).sum(axis=-1)
        p += p.T
        np.fill_diagonal(p, np.nan)

        def table(values: npt.NDArray[Any]) -> pd.DataFrame:
            return pd.DataFrame(values, index=names, columns=names)

        return cls(
            names,
            queries,
            table(rrlp - rrlp.T),
            table(p),
            table(wins),
            table(wins.T.copy()),
            table(sign_test(wins, wins.T)),
        )

    @cached_property
    def sgnLP(self) -> pd.DataFrame:
        """Mean sgnLP, the share of wins less that of losses."""
        return (self.wins - self.losses) / self.queries

    def pairs(self) -> pd.DataFrame:
        """A frame with one row for each pair of systems, in the order of the matrix."""
        a, b = np.triu_indices(len(self.names), k=1)
        names = np.array(self.names, dtype=object)
        columns = {
            "rrLP": self.rrLP,
            "rrLP p-value": self.rrLP_p,
            "sgnLP": self.sgnLP,
            "sgnLP +": self.wins,
            "sgnLP -": self.losses,
            "sgnLP p-value": self.sgnLP_p,
        }
        values = {name: matrix.to_numpy()[a, b] for name, matrix in columns.items()}
        return pd.DataFrame({"a": names[a], "b": names[b], **values})

    def cycles(self, by: str = "sgnLP") -> list[list[str]]:
        """Cycles of systems, each of which is preferred to the next.

        Mean preferences need not be transitive. Systems of one cycle, or of cycles that share
        systems, stand together.

        Args:
            by: ``'sgnLP'`` or ``'rrLP'``, whose mean says which of two systems is preferred.

        Returns:
            The sets of systems, largest first, each in the order of :attr:`names`; none where the
            preferences are transitive.
        """
        numbers = cycle_numbers(self._preferred(by))
        members = (np.flatnonzero(numbers == cycle) for cycle in range(1, numbers.max() + 1))
        return [[self.names[system] for system in cycle] for cycle in members]

    def circular_triples(self, by: str = "sgnLP") -> int:
        """How many triples of systems prefer each other in a cycle."""
        preferred = self._preferred(by).astype(np.int64)
        return int(np.trace(preferred @ preferred @ preferred)) // 3

    def _preferred(self, by: str) -> Bools:
        if by not in ("sgnLP", "rrLP"):
            raise ValueError(f"by must be 'sgnLP' or 'rrLP', not {by!r}")
        preferred: Bools = getattr(self, by).to_numpy() > 0
        return preferred


def preference_matrix(
    runs: Mapping[str, Any],
    qrels: Any,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    duplicates: str | None = None,
) -> PreferenceMatrix:
    """Compares every system with every other by lexicographic precision, exactly.

    Args:
        runs: name -> run; see :func:`preferences`.
        qrels: see :func:`preferences`.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        duplicates: see :func:`~pyterrier_asl.evaluate`.

    Raises:
        ValueError: as :func:`preferences`, naming the run; for fewer than two runs.

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
        raise ValueError("a preference matrix needs a dict of two runs at least, name -> run")
    judged, reciprocal, total = _levels(runs, qrels, rel, cutoff, duplicates)
    return PreferenceMatrix.of(judged.names, reciprocal, total)


# What both are made of


def _levels(
    runs: Mapping[str, Any], qrels: Any, rel: float, cutoff: int | None, duplicates: str | None
) -> tuple[Evaluation, Floats, Ints]:
    measure = LexiP(rel=rel, cutoff=cutoff)  # checks both
    judged = Evaluation.of(runs, qrels, duplicates=duplicates)
    return judged, *recall_levels(judged, measure["rel"], measure["cutoff"])


def recall_levels(
    runs: Evaluation, rel: float = 1, cutoff: int | None = None
) -> tuple[Floats, Ints]:
    """The recall levels of every ranking: what comparisons of many runs start from.

    Args:
        runs: S runs, judged on Q queries.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.

    Returns:
        ``reciprocal``, RR_1, RR_2, ... of each query's relevant documents, shape (S, total.sum()),
        and ``total``, the relevant documents of each query, shape (Q,).
    """
    return runs.reciprocal_ranks(rel, cutoff), runs.judgements.num_relevant(rel)


def first_differences(runs: Evaluation, rel: float = 1, cutoff: int | None = None) -> Ints:
    """i* of every pair of systems a < b for every query, shape (S (S - 1) / 2, Q)."""
    return pairwise_preferences(*recall_levels(runs, rel, cutoff))[0]


def preference_cubes(
    runs: Evaluation, kinds: Iterable[str], rel: float = 1, cutoff: int | None = None
) -> dict[str, Floats]:
    """Several kinds of preferences by their names; see :func:`preference_cube`."""
    levels = recall_levels(runs, rel, cutoff)
    return {kind: preference_cube(kind, *levels) for kind in kinds}
