"""The findings of a report: systems ranked by each measure, and what the runs retrieve.

All numbers come from the analyses; nothing here is about their presentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.asl_options import AslOptions
from ..analysis.best_runs import quality_of
from ..common.types import Bools, Floats, Ints
from ..comparison.result import RunComparison
from ..evaluation.evaluation import Evaluation
from ..evaluation.preferences import PreferenceMatrix
from ..evaluation.relevant_documents import RelevantRanks
from ..leaderboard.ranks import ranks_of
from ..leaderboard.result import Leaderboard
from ..leaderboard.samples import Sample
from ..measures import ASL
from ..measures.directions import added_up
from ..measures.parsing import NamedMeasure
from ..statistics.agreement import kendall_taus
from ..statistics.power import detectable_difference
from ..statistics.rounding import EQUAL
from ..statistics.settings import FEWEST
from ..unjudged.holes import Holes
from .contents import top_documents

#: The number of values by query on a page above which it has those of the best systems only.
MOST = 6_000_000


@dataclass(frozen=True)
class SystemRanking:
    """S systems by one measure on Q queries.

    Attributes:
        named: the measure and its name.
        values: shape (S, Q).
        names: the systems, S of them.
        higher_is_better: the direction; None for a count.
        alpha: the level of significance; intervals cover 1 - alpha.
        is_sum: whether values are added up over the queries, not averaged.
    """

    named: NamedMeasure
    values: Floats
    names: list[str]
    higher_is_better: bool | None
    alpha: float = 0.05
    is_sum: bool = False

    @property
    def name(self) -> str:
        """The measure's name."""
        return self.named.name

    @property
    def kind(self) -> str:
        """The measure's name without parameters."""
        return re.split(r"[@(]", str(self.named.measure or self.name))[0]

    @property
    def description(self) -> str:
        """The measure in words; '' where it is not known."""
        words = (getattr(self.named.measure, name, "") for name in ("PRETTY_NAME", "SHORT_DESC"))
        return ": ".join(filter(None, words)).replace("percentage", "proportion")  # from 0 to 1

    @cached_property
    def means(self) -> Floats:
        """The mean of each system, the sum for a count, shape (S,)."""
        return np.asarray(self.values.sum(axis=1) if self.is_sum else self.values.mean(axis=1))

    @property
    def decimals(self) -> int:
        """Decimals of the values: one for search lengths, four for shares."""
        return 1 if float(np.abs(self.means).max(initial=0)) >= 10 else 4

    def shown(self, value: float, sign: str = "", places: int | None = None) -> str:
        """A value with the decimals of the measure; a positive value has ``sign``."""
        text = f"{value:{sign}.{self.decimals if places is None else places}f}"
        return text.replace("-", "−") if float(text) else text.lstrip("+-")

    @cached_property
    def bold(self) -> list[bool]:
        """For each system whether its mean is shown as the best mean is."""
        best = self.shown(self.means[self.order[0]])
        ranked = len(self.names) > 1 and self.higher_is_better is not None
        return [ranked and self.shown(mean) == best for mean in self.means]

    @cached_property
    def are_equal(self) -> bool:
        """Whether all systems have the same value on each query, but for rounding."""
        ranges = np.ptp(self.values, axis=0)
        return bool((ranges <= EQUAL * np.abs(self.values).max(initial=0)).all())

    @cached_property
    def detectable(self) -> Floats:
        """For each pair a < b the difference that a planned t-test would detect, shape (P,)."""
        a, b = np.triu_indices(len(self.names), k=1)
        return np.asarray(detectable_difference(self.values[a] - self.values[b], alpha=self.alpha))

    @cached_property
    def medians(self) -> Floats:
        """The median of the systems for each query, shape (Q,)."""
        return np.asarray(np.median(self.values, axis=0))

    @cached_property
    def hardest_first(self) -> list[int]:
        """The queries, hardest for the median system first."""
        return [int(query) for query in np.argsort(self.sample.sign * self.medians, kind="stable")]

    @cached_property
    def spreads(self) -> Floats:
        """The standard deviation of the systems for each query, 0 for one system, shape (Q,)."""
        return np.asarray(self.values.std(axis=0, ddof=min(1, len(self.names) - 1)))

    @cached_property
    def sample(self) -> Sample:
        """The values as a sample for :func:`~pyterrier_asl.ranks`."""
        topics = list(range(self.values.shape[1]))
        return Sample(self.names, topics, self.higher_is_better is not False, {"": self.values})

    @property
    def ranks(self) -> Ints:
        """The rank of each system from 1; systems with equal means share the best rank."""
        return self.sample.ranks

    @cached_property
    def order(self) -> Ints:
        """The systems from best to worst; equal systems in their original order."""
        return np.argsort(self.ranks, kind="stable")

    @cached_property
    def board(self) -> Leaderboard | None:
        """The leaderboard of :func:`~pyterrier_asl.ranks`.

        None for fewer than three systems or ten queries, and a measure without a direction.
        """
        systems, queries = self.values.shape
        if systems < 3 or queries < FEWEST or self.higher_is_better is None:
            return None
        return ranks_of({"": self.sample}, self.name, {"alpha": self.alpha})

    def by_system(self, frame: pd.DataFrame) -> Any:
        """A matrix of :attr:`board` with the systems in their original order, shape (S, S)."""
        return frame.loc[self.names, self.names].to_numpy()

    @cached_property
    def better(self) -> Bools:
        """Whether the row's system is significantly better (all pairs), shape (S, S)."""
        if self.board is None:
            return np.zeros((len(self.names),) * 2, dtype=bool)
        return np.asarray(self.by_system(self.board.better))

    @cached_property
    def candidates(self) -> list[int]:
        """The systems that could be the best, the best mean first; none without a board."""
        if self.board is None:
            return []
        return [int(at) for at in self.order[self.board.overall["could_be_best"].to_numpy()]]


@dataclass(frozen=True)
class Findings:
    """The content of a report: S systems, Q queries, R relevant documents.

    Attributes:
        runs: the systems' runs, matched with the judgements.
        alpha: the level of significance.
        rel: minimum grade of a relevant document.
        cutoff: k, the depth to which every run is read.
        rankings: the systems by each measure.
        command: the command line of the report, '' for a call from Python.
        comparison: two systems by all measures, the first is the baseline; None: not two.
        of_all: the leaderboard by :attr:`first` over all collections, whichever judge is right, or
            for all labels of unjudged documents; None: none of these was asked for.
        notes: sentences on what must be known of the runs and the qrels.
        doubts: sentences on runs with which no comparison can be trusted.
        bounds: what unjudged documents could change between the best systems; see
            :func:`~pyterrier_asl.reporting.collect.bounds_of_best`.
    """

    runs: Evaluation
    alpha: float
    rel: float
    cutoff: int
    rankings: list[SystemRanking]
    command: str
    comparison: RunComparison | None
    of_all: Leaderboard | None
    notes: list[str]
    doubts: list[str]
    bounds: dict[str, dict[tuple[int, int], Holes]]

    @property
    def names(self) -> list[str]:
        """The systems."""
        return self.runs.names

    @property
    def qids(self) -> list[Any]:
        """The queries."""
        return self.runs.qids

    @cached_property
    def first(self) -> SystemRanking:
        """The measure that decides who is best; see :func:`deciding`."""
        return deciding(self.rankings)

    @cached_property
    def decisive(self) -> list[SystemRanking]:
        """The measures with a direction, :attr:`first` before the others."""
        ranked = [ranking for ranking in self.rankings if ranking.higher_is_better is not None]
        return [self.first, *(ranking for ranking in ranked if ranking is not self.first)]

    @property
    def scope(self) -> str:
        """What all parts but :attr:`of_all` are about, such as ``In dl19``; '' without it."""
        if self.of_all is None:
            return ""
        if self.of_all.means is not None:
            return f"In {self.of_all.means.columns[0]}"
        return (
            "By the qrels alone"
            if len(self.of_all.judges) > 1
            else "With unjudged documents as not relevant"
        )

    @property
    def of_all_scope(self) -> str:
        """What :attr:`of_all` is about, such as ``Over all collections``."""
        board: Any = self.of_all
        scope = "whichever judge is right" if len(board.judges) > 1 else ""
        if board.means is not None:
            scope = "over all collections"
        labels = "whatever the labels of unjudged documents are" * bool(board.unjudged)
        return ", ".join(filter(None, [scope, labels])).capitalize()

    @cached_property
    def favoured(self) -> tuple[pd.DataFrame, list[str]]:
        """The favour of each run by each judge in the first collection, and sentences on it."""
        if self.of_all is None or not self.of_all.judge_summaries:
            return pd.DataFrame(), []
        summary = next(iter(self.of_all.judge_summaries.values()))
        frame = pd.DataFrame() if summary.favoured is None else summary.favoured
        none = ["No run is shown to be favoured."] * (len(frame) > 0)
        sentences = [text for of in summary.favours().values() for text in of] or none
        return frame, [*sentences, *summary.untested]

    @property
    def among_judges(self) -> dict[str, pd.DataFrame]:
        """The agreement of every two judges of the first collection, if there are three or more."""
        if self.of_all is None or len(self.of_all.judges) < 3:
            return {}
        return next(iter(self.of_all.judge_summaries.values())).matrices

    @cached_property
    def held(self) -> Ints:
        """The systems with values by query on the page: all, or the best of very many."""
        return np.sort(self.first.order[: max(2, MOST // self.numbers)])

    def conflicts(self, ranking: SystemRanking, other: SystemRanking) -> Ints:
        """Pairs of systems that two measures order in opposite directions, shape (C, 2).

        The first system of a pair is better by the first measure.
        """
        return np.argwhere(ranking.better & other.better.T)

    def equal_to(self, ranking: SystemRanking) -> list[SystemRanking]:
        """The other measures with the same value for each system on each query."""
        largest = EQUAL * float(np.abs(ranking.values).max(initial=0))
        return [
            other
            for other in self.decisive
            if other is not ranking and np.abs(other.values - ranking.values).max() <= largest
        ]

    @cached_property
    def relevant(self) -> RelevantRanks:
        """The rank of each relevant document in each run."""
        return RelevantRanks.of(self.runs, rel=self.rel, cutoff=self.cutoff)

    @cached_property
    def quality(self) -> pd.DataFrame:
        """``missing_share`` and ``unjudged_share``; see :func:`.analysis.run_quality`."""
        of_runs = quality_of(self.runs, AslOptions(self.rel, self.cutoff))
        return of_runs.set_index("run").loc[self.names]

    @cached_property
    def preferences(self) -> PreferenceMatrix:
        """All pairs of systems by lexicographic precision."""
        return PreferenceMatrix.of(self.names, self.relevant.reciprocal(), self.relevant.total)

    @property
    def numbers(self) -> int:
        """The number of values, ranks and first documents by query of a system on the page."""
        return (len(self.rankings) + self.top) * len(self.qids) + len(self.finders)

    @cached_property
    def retrieved(self) -> Floats:
        """Documents retrieved per query, at most k, mean over the queries, shape (S,)."""
        return np.array([run.view(self.cutoff).retrieved.mean() for run in self.runs.runs])

    @property
    def short(self) -> Bools:
        """Flags of systems that retrieve less than half as much as the deepest, shape (S,)."""
        return np.asarray(self.retrieved < self.retrieved.max() / 2)

    @cached_property
    def tops(self) -> pd.DataFrame:
        """The first documents of the systems."""
        return top_documents(self.runs, self.held, self.top)

    @property
    def top(self) -> int:
        """The number of first documents that are shown: 10, or k if that is less."""
        return min(10, self.cutoff)

    @property
    def docnos(self) -> set[str]:
        """The relevant documents, the documents in top tens, and the documents to judge next."""
        relevant = self.runs.judgements.docnos.take(self.relevant.pairs)
        return {*relevant.to_pylist(), *self.tops["docno"], *(docno for _, docno in self.to_judge)}

    @cached_property
    def to_judge(self) -> list[tuple[int, str]]:
        """The documents to judge next by :attr:`bounds`: number of the query, and id."""
        number = {qid: at for at, qid in enumerate(self.qids)}
        listed = (todo for of_measure in self.todo.values() for todo in of_measure.values())
        return sorted(
            {(number[q], d) for todo in listed for q, d in zip(todo["qid"], todo["docno"])}
        )

    @cached_property
    def todo(self) -> dict[str, dict[tuple[int, int], pd.DataFrame]]:
        """Ten documents to judge for each open pair of :attr:`bounds`, as :attr:`.Holes.todo`.

        A document that alone changes nothing that is shown is left out.
        """
        return {
            ranking.name: {
                systems: first.loc[[float(ranking.shown(w)) > 0 for w in first["weight"].abs()]]
                for systems, pair in self.bounds.get(ranking.name, {}).items()
                if pair.is_open
                for first in [pair.describe_documents(pair.order[:10])]
            }
            for ranking in self.rankings
        }

    @cached_property
    def asl(self) -> SystemRanking:
        """The systems by ASL at k, which may not be one of the measures shown."""
        named = NamedMeasure(f"ASL@{self.cutoff}", ASL(rel=self.rel) @ self.cutoff)
        shown = [asl for asl in self.rankings if str(asl.named.measure) == str(named.measure)]
        return shown[0] if shown else ranking_of(self.runs, named, self.alpha)

    @cached_property
    def judged_irrelevant(self) -> int:
        """The number of documents judged not relevant; negative grades are no judgements."""
        grades = self.runs.judgements.grades
        return int(((grades >= 0) & (grades < self.rel)).sum())

    @cached_property
    def reordered(self) -> list[SystemRanking]:
        """The measures whose rankings are compared, :attr:`first` before the others.

        More than 8 do not fit the figure.
        """
        return self.decisive[:8]

    @cached_property
    def taus(self) -> Floats:
        """Kendall's tau between the rankings of :attr:`reordered`."""
        gains = np.array([ranking.sample.sign * ranking.means for ranking in self.reordered])
        return np.array([kendall_taus(np.tile(row, (len(gains), 1)), gains) for row in gains])

    @cached_property
    def movers(self) -> Ints:
        """The systems whose ranks by :attr:`reordered` differ, the largest range first."""
        moves: Ints = np.ptp([ranking.ranks for ranking in self.reordered], axis=0)
        return np.argsort(-moves, kind="stable")[: np.count_nonzero(moves)]

    @cached_property
    def finders(self) -> Ints:
        """The number of systems that retrieve each relevant document, shape (R,)."""
        return np.asarray(self.relevant.found().sum(axis=0))

    def missed_by_all(self, depth: int) -> Ints:
        """The number of relevant documents by query in no system's top ``depth``, shape (Q,)."""
        missed = ~self.relevant.found(depth).any(axis=0)
        return np.bincount(self.relevant.queries[missed], minlength=len(self.relevant.total))


def deciding(rankings: list[SystemRanking]) -> SystemRanking:
    """The first measure with a direction, else the first."""
    return next(
        (ranking for ranking in rankings if ranking.higher_is_better is not None), rankings[0]
    )


def ranking_of(runs: Evaluation, named: NamedMeasure, alpha: float) -> SystemRanking:
    """The systems by a measure."""
    values, up = runs.values(named.measure), named.higher_is_better
    return SystemRanking(named, values, runs.names, up, alpha, added_up(named.measure))
