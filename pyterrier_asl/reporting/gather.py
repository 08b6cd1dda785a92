"""The numbers of a report, all from the analyses: nothing about how they look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd

from ..analysis.headroom import run_quality
from ..analysis.judged_runs import JudgedRuns
from ..analysis.relevant_ranks import RelevantRanks
from ..analysis.stability import stability
from ..io import official_measures
from ..measures import ASL, TBG, AP_Rareness, LexiP
from ..pools import RarenessPool
from ..requested import Requested, needs_pool, parse_measures, unique
from ..statistics import kendall_tau
from .duels import Duels
from .lost import Lost
from .standings import Standing

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: The measures whose orders of the systems are set side by side, as far as there are such.
_REORDERED = ("AP", "ASL", "LexiP", "AP_Rareness")


@dataclass(frozen=True)
class Findings:
    """What a report is about: S systems, Q queries, R relevant documents.

    Attributes:
        runs: the systems' runs, met with the judgements.
        rel: minimum grade of a relevant document.
        cutoff: k, how deep every ranking is looked at.
        alpha: level of significance.
        standings: the systems by each measure; the first decides who is best.
        quality: ``R@k``, ``missing_share``, ``Judged@k`` and ``unjudged_share`` by system; see
            :func:`~pyterrier_asl.analysis.run_quality`.
        lost: their search lengths.
        ranks: where each has each relevant document.
        duels: all pairs by lexicographic precision; None for a single system.
        judged_only: the systems by ASL, unjudged documents removed.
        stability: how often the better of two systems is so on half of the queries, by measure;
            see :func:`~pyterrier_asl.analysis.stability`. None: not asked for.
    """

    runs: JudgedRuns
    rel: float
    cutoff: int
    alpha: float
    standings: list[Standing]
    quality: pd.DataFrame
    lost: Lost
    ranks: RelevantRanks
    duels: Duels | None
    judged_only: Standing
    stability: pd.DataFrame | None = None

    @property
    def names(self) -> list[str]:
        """The systems."""
        return self.runs.names

    @cached_property
    def asl(self) -> Standing:
        """The systems by ASL at k, whether or not it is one of the measures shown."""
        return self.standing(ASL(rel=self.rel) @ self.cutoff)

    def standing(self, measure: Any) -> Standing:
        """The systems by a measure: the one that is shown, or else one more."""
        for known in self.standings:
            if str(known.asked.measure) == str(measure):
                return known
        name = str(measure(rel=1)) if "rel" in measure.params else str(measure)
        return _standing(self.runs, Requested(name, measure), self.alpha)

    @cached_property
    def reordered(self) -> list[Standing]:
        """The measures whose orders are set side by side: the first shown of each kind."""
        kinds = {each.asked.measure.NAME: each for each in reversed(self.standings)}
        return [kinds[kind] for kind in _REORDERED if kind in kinds]

    @cached_property
    def taus(self) -> Floats:
        """Kendall's tau between the orders of :attr:`reordered`, larger is better in all."""
        scores = [_signed(each) for each in self.reordered]
        return np.array([[kendall_tau(a, b) for b in scores] for a in scores])

    @cached_property
    def movers(self) -> Ints:
        """The systems, those first whose places by :attr:`reordered` lie farthest apart."""
        places = np.array([each.places for each in self.reordered])
        return np.argsort(-np.ptp(places, axis=0), kind="stable")

    @cached_property
    def tau_judged_only(self) -> float:
        """Kendall's tau of ASL and ASL without unjudged documents, NaN for a single system."""
        if len(self.names) < 2:
            return float("nan")
        return kendall_tau(self.asl.means, self.judged_only.means)

    @cached_property
    def finders(self) -> Ints:
        """How many systems retrieve each relevant document, shape (R,)."""
        finders: Ints = self.ranks.found().sum(axis=0)
        return finders

    @cached_property
    def found_by_none(self) -> Ints:
        """How many relevant documents of each query no system retrieves, shape (Q,)."""
        none = (self.finders == 0).astype(np.float64)
        return np.rint(self.ranks.per_query(none)).astype(np.int64)


def gather(
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    rel: float | None = None,
    cutoff: int = 1000,
    alpha: float = 0.05,
    test: str = "tukey-two-way",
    lengths: Any = None,
    groups: Mapping[str, str] | None = None,
    stable: bool = False,
) -> Findings:
    """Measures and compares systems.

    Args:
        runs: dict of name -> run, folder of run files, list of them, or JudgedRuns.
        qrels: frame, file, or ir_datasets id.
        measures: names, measures, or None for :func:`measures_to_show`.
        rel: minimum grade of a relevant document, for measures that do not say it; None: what the
            official measures of an ir_datasets id say, else 1.
        cutoff: k, how deep every ranking is looked at.
        alpha: level of significance.
        test: see :func:`~pyterrier_asl.statistics.compare_all`.
        lengths: for TBG: a DocLengths, its name or file, or ``'irds:ID'``.
        groups: run -> group, for rareness; see :class:`~pyterrier_asl.RarenessPool`.
        stable: whether to look at half of the queries, many times.

    Raises:
        ValueError: for runs, qrels or measures that cannot be used.
    """
    official = _official(qrels)
    if rel is None:
        rel = max((one.params["rel"] for one in official if "rel" in one.params), default=1)
    rel = int(rel) if float(rel).is_integer() else rel  # ir_measures wants whole ones whole
    judged = JudgedRuns.of(runs, qrels)
    asked = (
        [*measures_to_show(len(judged), cutoff, lengths), *_asked(official)]
        if measures is None
        else _asked(measures)
    )
    full = [_completed(one, rel, lengths) for one in asked]
    standings = [
        _standing(judged, one, alpha, test) for one in _with_pool(unique(full), judged, groups)
    ]
    quality = run_quality(judged, rel=rel, cutoff=cutoff).set_index("run").loc[judged.names]
    ranks = RelevantRanks.of(judged, rel=rel, cutoff=cutoff)
    without = ASL(rel=rel, judged_only=True) @ cutoff
    return Findings(
        judged, rel, cutoff, alpha, standings, quality, Lost.of(judged, rel=rel, cutoff=cutoff),
        ranks, Duels.of(judged.names, ranks.reciprocal(), ranks.total),
        _standing(judged, Requested(str(without), without), alpha, test),
        _stability(judged, standings) if stable else None,
    )  # fmt: skip


def _stability(runs: JudgedRuns, standings: list[Standing]) -> pd.DataFrame | None:
    """The stability of the measures by which systems can be better; None for a single system."""
    better = [each for each in standings if each.asked.higher_is_better is not None]
    if len(runs) < 2 or not better or len(runs.qids) < 2:
        return None
    frame = stability(runs, runs.judgements, [each.asked.measure for each in better])
    frame["measure"] = [each.name for each in better]
    frame["significant"] = [int(each.differs.sum()) // 2 for each in better]
    frame["pairs"] = len(runs) * (len(runs) - 1) // 2
    return frame


def _official(qrels: Any) -> list[Any]:
    """The measures that the makers of an ir_datasets dataset report."""
    is_id = isinstance(qrels, str) and not Path(qrels).exists()
    return official_measures(qrels) if is_id else []


def _completed(one: Requested, rel: float, lengths: Any) -> Requested:
    """The measure with what it does not say, under its name: the page says once what rel is."""
    given = one.given(rel=rel if rel != 1 else None, lengths=lengths)
    return Requested(one.name, given.measure)


def measures_to_show(systems: int, cutoff: int = 1000, lengths: Any = None) -> list[Requested]:
    """The measures of a report for which none are named.

    >>> [one.name for one in measures_to_show(1)]
    ['ASL@1000', 'ASL(g=10)@1000', 'LexiP', 'AP', 'nDCG@10', 'RR', 'R@1000', 'Judged@10']
    """
    ours = [ASL @ cutoff, ASL(g=10) @ cutoff, LexiP]
    rare = [AP_Rareness @ 100] if systems > 1 else []
    timed = [] if lengths is None else [TBG]
    beside = [
        ir_measures.AP, ir_measures.nDCG @ 10, ir_measures.RR, ir_measures.R @ cutoff,
        ir_measures.Judged @ 10,
    ]  # fmt: skip
    return [Requested(str(one), one) for one in (*ours, *rare, *timed, *beside)]


def _asked(measures: Any) -> list[Requested]:
    """Measures however they were named."""
    listed = [measures] if isinstance(measures, str) else list(_several(measures))
    return [
        one
        for each in listed
        for one in (parse_measures(each) if isinstance(each, str) else [Requested(str(each), each)])
    ]


def _several(measures: Any) -> Iterable[Any]:
    return measures if isinstance(measures, (list, tuple, set)) else [measures]


def _with_pool(
    asked: list[Requested], runs: JudgedRuns, groups: Mapping[str, str] | None
) -> list[Requested]:
    """Rareness measures that name no pool get that of the runs, each a member of it."""
    depths = [
        one.measure["depth"] or one.measure["cutoff"] for one in asked if needs_pool([one])
    ]
    if not depths:
        return asked
    tables = {name: run.table for name, run in zip(runs.names, runs.runs)}
    deepest = None if None in depths else max(depths)
    pool = RarenessPool.from_runs(tables, depth=deepest, groups=groups, name="runs")
    with_pool = []
    for one in asked:
        own = needs_pool([one]) and "member" not in one.measure.params
        with_pool.append(one.given(pool=pool, member=True) if own else one.given(pool=pool))
    return with_pool


def _standing(
    runs: JudgedRuns, asked: Requested, alpha: float, test: str = "tukey-two-way"
) -> Standing:
    return Standing(asked, runs.values(asked.measure), runs.names, test, alpha)


def _signed(standing: Standing) -> Floats:
    """Means of which larger is better."""
    return -standing.means if standing.asked.higher_is_better is False else standing.means
