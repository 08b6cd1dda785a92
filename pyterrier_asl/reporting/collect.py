"""The numbers of a report, all from the analyses; nothing about their presentation."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.best_runs import run_quality
from ..analysis.discrimination import stability
from ..evaluation.automatic_pool import with_pool_of
from ..evaluation.grades import default_rel, official_of, rel_beside
from ..evaluation.judged_runs import JudgedRuns
from ..evaluation.labellings import has_bounds
from ..evaluation.preferences import PreferenceMatrix
from ..evaluation.relevant_documents import RelevantRanks
from ..io.digests import digest_of
from ..io.metadata import metadata_lines, read_metadata
from ..io.runs import list_runs
from ..leaderboard.ranks import ranks
from ..leaderboard.result import Leaderboard
from ..measures import ASL
from ..measures.names import NamedMeasure, default_measures, named_measures, unique
from ..measures.standard import computed
from ..scoring.arrays import Floats, Ints
from ..scoring.preferences import by_query
from ..statistics.correlation import kendall_tau
from ..statistics.rank_intervals import RankIntervals
from .ranking import SystemRanking
from .retrieved import LengthHistogram, RunDepths, TopTens

#: The measures whose rankings of the systems are compared, those of them that are shown.
_REORDERED = ("AP", "ASL", "LexiP", "AP_Rareness")

#: Numbers of pairs and queries whose bounds are computed without being asked for.
_FEW_BOUNDS = 20_000

#: The deepest cut-off of measures whose bounds are computed.
_DEEPEST_BOUNDS = 100

#: Documents of top tens in a page: beyond that, only those of the best systems.
_MOST_TOPS = 200_000


@dataclass(frozen=True)
class Provenance:
    """The origin of a report.

    Attributes:
        version: that of this package.
        command: the command line, '' for a call from Python.
        qrels: digest of the judgements (BLAKE2b, 128 bits), of ids and grades as they were read.
        runs: likewise of each run, of query ids, document ids and scores in their order.
        metadata: the ir_metadata of each run, 'key: value' by line; '' for a run without.
    """

    version: str
    command: str
    qrels: str
    runs: list[str]
    metadata: list[str]

    @classmethod
    def of(cls, runs: JudgedRuns, command: str = "", sources: Any = None) -> Provenance:
        """That of a report on runs.

        Args:
            runs: the runs.
            command: the command line.
            sources: what the runs were made from, whose metadata is shown.

        >>> judged = JudgedRuns.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> Provenance.of(judged).runs == Provenance.of(judged).runs
        True
        """
        judgements = runs.judgements
        return cls(
            version("pyterrier-asl"),
            command,
            digest_of(
                [judgements.qid_text, judgements.offsets, judgements.docnos, judgements.grades]
            ),
            [digest_of([of.qid, of.docno, of.value]) for of in (run.table for run in runs.runs)],
            _metadata(sources, runs.names),
        )


def _metadata(sources: Any, names: list[str]) -> list[str]:
    """The ir_metadata of runs as text."""
    listed = {} if sources is None or isinstance(sources, JudgedRuns) else list_runs(sources)
    texts = []
    for name in names:
        source = listed.get(name)
        metadata = getattr(source, "attrs", {}).get("metadata", {})
        if isinstance(source, (str, os.PathLike)):
            with contextlib.suppress(ValueError, OSError):  # no number depends on it
                metadata = read_metadata(source)
        lines = [line.removeprefix("# ") for line in metadata_lines(metadata)[1:-1]]
        texts.append("\n".join(lines))
    return texts


@dataclass(frozen=True)
class Findings:
    """The content of a report: S systems, Q queries, R relevant documents.

    Attributes:
        runs: the systems' runs, matched with the judgements.
        rel: minimum grade of a relevant document.
        cutoff: k, the depth to which every run is read.
        alpha: level of significance.
        rankings: the systems by each measure; the first decides who is best.
        quality: ``R@k``, ``missing_share``, ``Judged@k`` and ``unjudged_share`` by system; see
            :func:`~pyterrier_asl.analysis.run_quality`.
        lengths: their search lengths.
        relevant: the rank of each relevant document in each run.
        preferences: all pairs by lexicographic precision; None for a single system.
        judged_only: the systems by ASL, unjudged documents removed.
        depths: how many documents the systems retrieve.
        tops: the first documents of the best systems.
        provenance: version, command and digests.
        whatever_unjudged: measure -> the ranks that systems could have whatever their unjudged
            documents are, for measures whose bounds were asked for, or take no time.
        stability: how often the better of two systems is so on half of the queries, by measure;
            see :func:`~pyterrier_asl.analysis.stability`. None: not computed.
    """

    runs: JudgedRuns
    rel: float
    cutoff: int
    alpha: float
    rankings: list[SystemRanking]
    quality: pd.DataFrame
    lengths: LengthHistogram
    relevant: RelevantRanks
    preferences: PreferenceMatrix | None
    judged_only: SystemRanking
    depths: RunDepths
    tops: TopTens
    provenance: Provenance
    whatever_unjudged: dict[str, RankIntervals]
    stability: pd.DataFrame | None = None

    @property
    def names(self) -> list[str]:
        """The systems."""
        return self.runs.names

    @cached_property
    def asl(self) -> SystemRanking:
        """The systems by ASL at k, whether or not it is one of the measures shown."""
        return self._asl_at(self.cutoff)

    @cached_property
    def asl_common(self) -> SystemRanking:
        """The systems by ASL at the median depth of the shallowest of them."""
        return self._asl_at(self.depths.common)

    def _asl_at(self, depth: int) -> SystemRanking:
        measure = ASL(rel=self.rel) @ depth
        shown = [each for each in self.rankings if str(each.named.measure) == str(measure)]
        name = NamedMeasure(f"ASL@{depth}", measure)
        return shown[0] if shown else _ranking(self.runs, name, self.alpha, self.rankings[0].test)

    @cached_property
    def first(self) -> SystemRanking:
        """The measure that decides who is best: the first with a direction, else the first."""
        return _deciding(self.rankings)

    @cached_property
    def decisive(self) -> list[SystemRanking]:
        """The measures by which systems can be ranked, :attr:`first` before the others."""
        ranked = [ranking for ranking in self.rankings if ranking.higher_is_better is not None]
        return [self.first, *(ranking for ranking in ranked if ranking is not self.first)]

    def conflicts(self, one: SystemRanking, other: SystemRanking) -> Ints:
        """Pairs of systems about which two measures conflict, C of them, shape (C, 2).

        The first system of a pair is significantly better by one measure, and significantly worse
        by the other.
        """
        return np.argwhere(one.better & other.better.T)

    @cached_property
    def judged_irrelevant(self) -> int:
        """How many documents are judged not relevant; negative grades are no judgements."""
        grades = self.runs.judgements.grades
        return int(((grades >= 0) & (grades < self.rel)).sum())

    @cached_property
    def grades(self) -> Floats:
        """The grades that a label can have: 0 and those of the judgements, ascending.

        At least 0 and the least relevant grade; where there are more than ten, the whole numbers up
        to the highest.
        """
        grades = self.runs.judgements.grades
        labels = np.unique([0.0, *grades[grades >= 0]])
        if labels[-1] < self.rel:
            labels = np.append(labels, self.rel)
        return labels if len(labels) <= 10 else np.arange(np.ceil(labels[-1]) + 1)

    @cached_property
    def reordered(self) -> list[SystemRanking]:
        """The measures whose rankings are compared: the first shown of each kind.

        Where runs differ in depth, ASL at their common depth follows ASL.
        """
        kinds = {each.kind: each for each in reversed(self.rankings)}
        shown = [kinds[kind] for kind in _REORDERED if kind in kinds]
        if self.depths.differ and "ASL" in kinds:
            shown.insert(shown.index(kinds["ASL"]) + 1, self.asl_common)
        return shown

    @cached_property
    def taus(self) -> Floats:
        """Kendall's tau between the rankings of :attr:`reordered`."""
        gains = [each.gains for each in self.reordered]
        return np.array([[kendall_tau(a, b) for b in gains] for a in gains])

    @cached_property
    def movers(self) -> Ints:
        """The systems, those first whose ranks by :attr:`reordered` lie farthest apart."""
        ranks = np.array([each.ranks for each in self.reordered])
        return np.argsort(-np.ptp(ranks, axis=0), kind="stable")

    @cached_property
    def tau_judged_only(self) -> float:
        """Kendall's tau of ASL and ASL without unjudged documents.

        NaN for a single system, and where no document is judged irrelevant: ASL is 1 for all.
        """
        if len(self.names) < 2 or not self.judged_irrelevant:
            return float("nan")
        return kendall_tau(self.asl.means, self.judged_only.means)

    @cached_property
    def correlation_with_recall(self) -> float:
        """Pearson's correlation of ASL at k and R at k over the systems; NaN below three."""
        recall = self.quality[f"R@{self.cutoff}"].to_numpy()
        if len(self.names) < 3 or not (np.ptp(recall) and np.ptp(self.asl.means)):
            return float("nan")
        return float(np.corrcoef(self.asl.means, recall)[0, 1])

    @cached_property
    def levels(self) -> Ints:
        """The rank of each system in the lexicographic order of a query's rankings, from 0.

        Equal rankings are alike: the sign of a difference is sgnLP. Shape (S, Q).
        """
        return _lexicographic_levels(self.relevant.reciprocal(), self.relevant.total)

    @cached_property
    def finders(self) -> Ints:
        """How many systems retrieve each relevant document, shape (R,)."""
        finders: Ints = self.relevant.found().sum(axis=0)
        return finders

    def missed_by_all(self, depth: int) -> Ints:
        """How many relevant documents of each query no system has in its top ``depth``, (Q,)."""
        missed = ~self.relevant.found(depth).any(axis=0)
        return np.bincount(self.relevant.queries[missed], minlength=len(self.relevant.total))


def collect(
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    dataset: str | None = None,
    rel: float | None = None,
    cutoff: int = 1000,
    alpha: float = 0.05,
    test: str = "t",
    lengths: Any = None,
    groups: Mapping[str, str] | None = None,
    duplicates: str | None = None,
    unjudged: bool = False,
    stable: bool = False,
    command: str = "",
) -> Findings:
    """Measures and compares systems.

    Args:
        runs: dict of name -> run, folder of run files, list of them, or JudgedRuns.
        qrels: frame, file, or ir_datasets id.
        measures: names, measures, or None for the default measures.
        dataset: an ir_datasets id, whose official measure decides by default.
        rel: minimum grade of a relevant document, for measures that do not say it; None: for
            default measures that of the official measures of an ir_datasets id, else 1.
        cutoff: k, the depth to which every run is read.
        alpha: level of significance.
        test: see :func:`~pyterrier_asl.statistics.tests.compare_all`.
        lengths: for TBG: a DocLengths, its name or file, or ``'irds:ID'``.
        groups: run -> group, for rareness; see :class:`~pyterrier_asl.RarenessPool`.
        duplicates: what a document is that stands twice in a ranking; see
            :func:`~pyterrier_asl.evaluate`.
        unjudged: whether to compute ranks whatever the unjudged documents are, which can take
            minutes; few systems always get them.
        stable: whether to compare the systems on half of the queries, many times.
        command: the command line behind the report.

    Raises:
        ValueError: for runs, qrels or measures that cannot be used.
    """
    judged = JudgedRuns.of(runs, qrels, duplicates=duplicates)
    if measures is None:
        rel = default_rel(qrels, rel)
        named = _defaults(judged, qrels, dataset, lengths is not None, cutoff)
    else:
        named = named_measures(measures)
        rel = rel_beside(one.measure for one in named) if rel is None else rel
        rel = 1 if rel is None else rel
    rel = int(rel) if float(rel).is_integer() else rel  # ir_measures wants whole ones whole
    # The page says rel once, not in every name.
    given = {"rel": rel if rel != 1 else None, "lengths": lengths}
    full = unique(NamedMeasure(one.name, one.given(**given).measure) for one in named)
    pooled = with_pool_of(judged, {one.name: one.measure for one in full}, groups)
    rankings = [_ranking(judged, NamedMeasure(*each), alpha, test) for each in pooled.items()]
    quality = run_quality(judged, rel=rel, cutoff=cutoff).set_index("run").loc[judged.names]
    relevant = RelevantRanks.of(judged, rel=rel, cutoff=cutoff)
    without = ASL(rel=rel, judged_only=True) @ cutoff
    return Findings(
        judged,
        rel,
        cutoff,
        alpha,
        rankings,
        quality,
        LengthHistogram.of(judged, rel=rel, cutoff=cutoff),
        relevant,
        PreferenceMatrix.of(judged.names, relevant.reciprocal(), relevant.total)
        if len(judged) > 1
        else None,
        _ranking(judged, NamedMeasure(str(without), without), alpha, test),
        RunDepths.of(judged, rel=rel, cutoff=cutoff),
        _tops(judged, rankings),
        Provenance.of(judged, command, runs),
        _whatever_unjudged(judged, rankings, unjudged),
        _stability(judged, rankings) if stable else None,
    )


def _defaults(
    runs: JudgedRuns, qrels: Any, dataset: str | None, lengths: bool, cutoff: int
) -> list[NamedMeasure]:
    """The measures of a report for someone who names none.

    First comes the official one of the collection, else nDCG@10 where relevant documents have
    different grades, else AP; ASL is the second.
    """
    official = [NamedMeasure(str(one), one) for one in official_of(qrels) or official_of(dataset)]
    usual = default_measures(several=len(runs) > 1, lengths=lengths, cutoff=cutoff, brief=True)
    grades = runs.judgements.grades
    usual_first = "nDCG@10" if len(np.unique(grades[grades > 0])) > 1 else "AP"
    first = official[:1] or [measure for measure in usual if measure.name == usual_first]
    return unique([*first, *usual, *official])


def _tops(runs: JudgedRuns, rankings: list[SystemRanking]) -> TopTens:
    """The top ten of the systems, as many of the best as the page can hold."""
    most = max(2, _MOST_TOPS // (10 * max(len(runs.qids), 1)))
    return TopTens.of(runs, np.sort(_deciding(rankings).order[:most]))


def _deciding(rankings: list[SystemRanking]) -> SystemRanking:
    return next((each for each in rankings if each.higher_is_better is not None), rankings[0])


def _whatever_unjudged(
    runs: JudgedRuns, rankings: list[SystemRanking], wanted: bool
) -> dict[str, RankIntervals]:
    """Measure -> the ranks that systems could have whatever their unjudged documents are."""
    if not wanted and len(runs) ** 2 * len(runs.qids) > _FEW_BOUNDS:
        return {}
    ranked = {
        ranking.name: ranking.named.measure
        for ranking in rankings
        if ranking.intervals is not None and _looks_no_deeper(ranking.named.measure)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page has the cautions of each ranking
        boards = {
            name: ranks(runs, measure=measure, unjudged=True, alpha=rankings[0].alpha)
            for name, measure in ranked.items()
        }
    return {name: _in_order(board, runs.names) for name, board in boards.items()}


def _looks_no_deeper(measure: Any) -> bool:
    """Whether a measure has bounds, and a cut-off of at most :data:`_DEEPEST_BOUNDS`."""
    own = computed(measure)
    cutoff = None if own is None else own.cutoff
    return has_bounds(measure) and cutoff is not None and cutoff <= _DEEPEST_BOUNDS


def _in_order(board: Leaderboard, names: list[str]) -> RankIntervals:
    """The intervals of a leaderboard, systems in the order of ``names``."""
    table = board.table.set_index("name").loc[names]
    better, statistic = (
        frame.loc[names, names].to_numpy() for frame in (board.better, board.statistic)
    )
    low, high = (table[end].to_numpy(dtype=np.int64) for end in ("low", "high"))
    best = table["could_be_best"].to_numpy(dtype=bool)
    means = table["mean"].to_numpy(dtype=np.float64)
    return RankIntervals(low, high, better, best, means[:, None] - means, statistic, board.critical)


def _stability(runs: JudgedRuns, rankings: list[SystemRanking]) -> pd.DataFrame | None:
    """The stability of the measures that have a direction; None for a single system or query."""
    better = [each for each in rankings if each.higher_is_better is not None]
    if len(runs) < 2 or not better or len(runs.qids) < 2:
        return None
    frame = stability(runs, runs.judgements, [each.named.measure for each in better])
    frame["measure"] = [each.name for each in better]
    frame["significant"] = [int(each.differs.sum()) // 2 for each in better]
    frame["pairs"] = len(runs) * (len(runs) - 1) // 2
    return frame


def _ranking(runs: JudgedRuns, named: NamedMeasure, alpha: float, test: str) -> SystemRanking:
    return SystemRanking(named, runs.values(named.measure), runs.names, test, alpha)


def _lexicographic_levels(reciprocal: Floats, total: Ints) -> Ints:
    """The rank of every ranking in the lexicographic order of a query's rankings.

    Args:
        reciprocal: RR_1, RR_2, ... of each query's relevant documents, shape (S, total.sum()).
        total: relevant documents of each query, shape (Q,).

    Returns:
        From 0, the best; rankings that no recall level distinguishes share one. Shape (S, Q).

    >>> reciprocal = np.array([[0.5, 0.0], [1.0, 0.0], [0.5, 0.0]])
    >>> _lexicographic_levels(reciprocal, np.array([2])).tolist()
    [[1], [0], [1]]
    """
    levels = np.zeros((len(reciprocal), len(total)), dtype=np.int64)
    for query, part in enumerate(by_query(reciprocal, total)):
        if part.shape[1]:
            order = np.lexsort(-part.T[::-1])
            new = np.any(np.diff(part[order], axis=0) != 0, axis=1)
            levels[order, query] = np.append(0, np.cumsum(new))
    return levels
