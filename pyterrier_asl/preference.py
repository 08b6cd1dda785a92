"""Two rankings compared, and systems by all their pairs: sgnLP, rrLP, lexirecall, RPP.

A preference is made query by query from the ranks of the relevant documents; how two systems
compare is its mean over the queries. Everything is exact: no number is put in place of a ranking.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .judging import JudgedRun, Judgements
from .measures import LexiP
from .scoring.lexicographic import first_difference, reciprocal_ranks

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Numbers in the largest array that a comparison of many systems makes at a time.
_CHUNK = 2**23


# Two rankings


def preferences(
    run_a: Any, run_b: Any, qrels: Any, *, rel: float = 1, cutoff: int | None = None
) -> pd.DataFrame:
    """Which of two rankings is preferred, for every query of the qrels.

    Args:
        run_a: data frame (``qid``, ``docno``, ``score``, or ir_measures' names), dict of dicts, or
            iterable of ``ir_measures.ScoredDoc``.
        run_b: likewise.
        qrels: data frame (``qid``, ``docno``, ``label``, or ir_measures' names), dict of dicts, or
            iterable of ``ir_measures.Qrel``.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.

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
    import pandas as pd

    levels = RecallLevels(Judgements(qrels), rel=rel, cutoff=cutoff)
    a, b = levels.of("run_a", run_a), levels.of("run_b", run_b)
    i_star, rrlp = first_difference(a, b, levels.total)
    return pd.DataFrame(
        {
            "qid": levels.judgements.qids,
            "i_star": i_star,
            "rrLP": rrlp,
            "sgnLP": np.sign(rrlp).astype(np.int64),
            "lexirecall": last_sign(a, b, levels.total),
            "RPP": recall_paired(a, b, levels.total),
        }
    )


def preference_summary(preferences: pd.DataFrame) -> pd.Series[float]:
    """What the preferences of all queries say together.

    Args:
        preferences: what :func:`preferences` returned.

    Returns:
        ``queries``; ``rrLP``, its mean; ``rrLP p-value`` of a two-sided paired t-test; ``sgnLP``,
        its mean; ``sgnLP +`` and ``sgnLP -``, in how many queries the first and the second run is
        preferred; ``sgnLP p-value`` of a two-sided sign test without the queries that prefer
        neither. Where no query differs no test can be made: p is not a number.

    >>> import pandas as pd
    >>> preference_summary(pd.DataFrame({"rrLP": [0.5, -0.25, 0.0, 0.125]})).round(4).to_dict()
    ... # doctest: +NORMALIZE_WHITESPACE
    {'queries': 4.0, 'rrLP': 0.0938, 'rrLP p-value': 0.5908,
     'sgnLP': 0.25, 'sgnLP +': 2.0, 'sgnLP -': 1.0, 'sgnLP p-value': 1.0}
    """
    import pandas as pd

    rrlp = preferences["rrLP"].to_numpy(dtype=np.float64)
    wins, losses = int((rrlp > 0).sum()), int((rrlp < 0).sum())
    return pd.Series(
        {
            "queries": float(len(rrlp)),
            "rrLP": float(rrlp.mean()),
            "rrLP p-value": float(t_test(rrlp)),
            "sgnLP": float(np.sign(rrlp).mean()),
            "sgnLP +": float(wins),
            "sgnLP -": float(losses),
            "sgnLP p-value": float(sign_test(wins, losses)),
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

    @cached_property
    def sgnLP(self) -> pd.DataFrame:
        """Mean sgnLP, the share of wins less that of losses."""
        return (self.wins - self.losses) / self.queries

    def pairs(self) -> pd.DataFrame:
        """The same as a list: one row for each pair of systems, the first of them before."""
        import pandas as pd

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
        """Systems that no order can do justice to: each is preferred to the next, round and round.

        Mean preferences need not be transitive. Systems of one cycle, or of cycles that share
        systems, stand together.

        Args:
            by: ``'sgnLP'`` or ``'rrLP'``, whose mean says which of two systems is preferred.

        Returns:
            The sets of systems, largest first, each in the order of :attr:`names`; none where the
            preferences are transitive.
        """
        from scipy.sparse.csgraph import connected_components

        _, part = connected_components(self._preferred(by), connection="strong")
        parts = [np.flatnonzero(part == number) for number in np.unique(part)]
        parts.sort(key=lambda members: (-len(members), members[0]))
        return [[self.names[i] for i in members] for members in parts if len(members) > 1]

    def circular_triples(self, by: str = "sgnLP") -> int:
        """How many triples of systems prefer each other in a circle."""
        preferred = self._preferred(by).astype(np.int64)
        return int(np.trace(preferred @ preferred @ preferred)) // 3

    def _preferred(self, by: str) -> npt.NDArray[np.bool_]:
        if by not in ("sgnLP", "rrLP"):
            raise ValueError(f"by must be 'sgnLP' or 'rrLP', not {by!r}")
        preferred: npt.NDArray[np.bool_] = getattr(self, by).to_numpy() > 0
        return preferred


def preference_matrix(
    runs: Mapping[str, Any], qrels: Any, *, rel: float = 1, cutoff: int | None = None
) -> PreferenceMatrix:
    """Compares every system with every other by lexicographic precision, exactly.

    Args:
        runs: name -> run, each as in :func:`preferences`.
        qrels: as in :func:`preferences`.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.

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
    levels = RecallLevels(Judgements(qrels), rel=rel, cutoff=cutoff)
    reciprocal = np.stack([levels.of(f"run {name!r}", run) for name, run in runs.items()])
    return _matrix([str(name) for name in runs], reciprocal, levels.total)


def _matrix(names: list[str], reciprocal: Floats, total: Ints) -> PreferenceMatrix:
    import pandas as pd

    systems, queries = len(names), len(total)
    rrlp, p = np.zeros((2, systems, systems))
    wins = np.zeros((systems, systems), dtype=np.int64)
    step = max(1, _CHUNK // max(1, reciprocal.shape[1]))
    for a in range(systems):
        for begin in range(a + 1, systems, step):
            others = slice(begin, min(begin + step, systems))
            _, value = first_difference(reciprocal[a], reciprocal[others], total)
            rrlp[a, others] = value.sum(axis=-1) / queries
            p[a, others] = t_test(value)
            wins[a, others] = (value > 0).sum(axis=-1)
            wins[others, a] = (value < 0).sum(axis=-1)
    p += p.T
    np.fill_diagonal(p, np.nan)

    def table(values: npt.NDArray[Any]) -> pd.DataFrame:
        return pd.DataFrame(values, index=names, columns=names)

    return PreferenceMatrix(
        names, queries, table(rrlp - rrlp.T), table(p), table(wins), table(wins.T.copy()),
        table(sign_test(wins, wins.T)),
    )  # fmt: skip


# What both are made of


class RecallLevels:
    """The reciprocal ranks RR_1, RR_2, ... of every query's relevant documents, run by run.

    Attributes:
        judgements: the qrels; Q queries.
        total: relevant documents of each query, shape (Q,).

    Args:
        judgements: the qrels.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        judged_only: whether unjudged documents are removed first.
    """

    def __init__(
        self, judgements: Judgements, *, rel: float = 1, cutoff: int | None = None,
        judged_only: bool = False,
    ) -> None:  # fmt: skip
        checked = LexiP(rel=rel, cutoff=cutoff, judged_only=judged_only)
        self.judgements = judgements
        self.total = judgements.num_relevant(checked["rel"])
        self._rel, self._view = checked["rel"], (checked["cutoff"], checked["judged_only"])

    def of(self, name: str, run: Any) -> Floats:
        """Those of a run, shape (total.sum(),); an error names the run by ``name``."""
        try:
            return self.of_judged(self.judgements.judge_whole(run))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    def of_judged(self, judged: JudgedRun) -> Floats:
        """Those of a run that has met the qrels."""
        relevant = judged.view(*self._view).relevant(self._rel)
        return reciprocal_ranks(relevant.ranks, relevant.offsets, relevant.total)


def last_sign(a: Floats, b: Floats, total: Ints) -> Ints:
    """The sign of the difference at the last recall level at which two rankings differ.

    Args:
        a: reciprocal ranks of one ranking, shape (total.sum(),).
        b: those of the other.
        total: relevant documents of each query, shape (Q,).

    Returns:
        -1, 0 or 1 for each query, shape (Q,).

    >>> last_sign(np.array([1, 1 / 3, 1 / 6]), np.array([1, 1 / 2, 0]), np.array([3])).tolist()
    [1]
    """
    _, value = first_difference(a[::-1], b[::-1], total[::-1])
    return np.sign(value[::-1]).astype(np.int64)


def recall_paired(a: Floats, b: Floats, total: Ints) -> Floats:
    """The mean, over the recall levels of each query, of the signs of the differences.

    Args:
        a: reciprocal ranks of one ranking, shape (total.sum(),).
        b: those of the other.
        total: relevant documents of each query, shape (Q,).

    Returns:
        RPP in [-1, 1], 0 for a query without relevant documents, shape (Q,).
    """
    queries = np.repeat(np.arange(len(total)), total)
    signs = np.bincount(queries, weights=np.sign(a - b), minlength=len(total))
    rpp: Floats = signs / np.maximum(total, 1)
    return rpp


def t_test(differences: Floats) -> Floats:
    """Two-sided p-values of a paired t-test, given the differences of the pairs.

    Args:
        differences: shape (..., Q).

    Returns:
        Shape (...); not a number where all differences are equal to 0, or there is only one.
    """
    from scipy.special import stdtr

    differences = np.asarray(differences, dtype=np.float64)
    queries = differences.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = differences.mean(axis=-1)
        t = mean / np.sqrt(differences.var(axis=-1, ddof=1) / queries) if queries > 1 else np.nan
    p: Floats = 2 * stdtr(max(queries - 1, 1), -np.abs(t)) + np.zeros(differences.shape[:-1])
    return p


def sign_test(wins: Any, losses: Any) -> Floats:
    """Two-sided p-values of a sign test: how likely wins and losses lie as far apart by chance.

    Args:
        wins: how often one was preferred.
        losses: how often the other was, shaped alike. Cases that prefer neither do not count.

    Returns:
        Exact binomial probabilities; not a number where nothing was preferred.

    >>> sign_test([8, 3, 0], [1, 3, 0]).round(4).tolist()
    [0.0391, 1.0, nan]
    """
    from scipy.stats import binom

    wins, losses = np.asarray(wins), np.asarray(losses)
    one_sided = binom.cdf(np.minimum(wins, losses), wins + losses, 0.5)
    p: Floats = np.where(wins + losses > 0, np.minimum(1.0, 2 * one_sided), np.nan)
    return p
