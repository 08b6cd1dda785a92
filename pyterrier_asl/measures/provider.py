"""The provider of ir_measures for the measures of this package, and its evaluator."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import ir_measures
from ir_measures import CalcResults, Measure, Metric
from ir_measures.measures import ParamInfo
from ir_measures.providers import Evaluator, Provider
from ir_measures.util import QrelsConverter

from ..common.notices import warn
from . import PluginMeasure
from ._base import own_measures
from .directions import added_up


class JudgedRunEvaluator(Evaluator):  # type: ignore[misc]
    """Scores runs by measures of this package: always one value per query of the qrels.

    Args:
        measures: the measures, in any order; results are ordered by name.
        qrels: judgements in any form that ir_measures takes.
    """

    def __init__(self, measures: Iterable[PluginMeasure], qrels: Any) -> None:
        from ..judging.judgements import Judgements  # imports PyArrow, which is not needed before

        self.judgements = Judgements(qrels)
        if self.judgements.contradiction:
            warn(self.judgements.contradiction.sentence)
        super().__init__(sorted(measures, key=str), self.judgements.qids)
        for rel in sorted({measure["rel"] for measure in self.measures}):
            nothing = self.judgements.num_relevant(rel) == 0
            if nothing.any():
                _log_once(int(nothing.sum()), len(nothing), rel)

    def _columns(self, run: Any) -> list[list[float]]:
        from ..common.threads import map_at_once
        from ..judging.matching import judge

        judged = judge(self.judgements, run)
        return map_at_once(
            lambda measure: measure.values(judged).tolist(), self.measures, len(judged.table)
        )

    def _metrics(self, columns: list[list[float]]) -> Iterator[Metric]:
        return (
            Metric(query_id=qid, measure=measure, value=value)
            for qid, *values in zip(self.qrel_qids, *columns)
            for measure, value in zip(self.measures, values)
        )

    def _means(self, columns: list[list[float]]) -> dict[Measure, float]:
        return {
            measure: math.fsum(values) / (1 if added_up(measure) else len(values) or math.nan)
            for measure, values in zip(self.measures, columns)
        }

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yields one Metric per query and measure, query by query, measures by name."""
        yield from self._metrics(self._columns(run))

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """The mean of each measure over the queries of the qrels, in any order of these."""
        return self._means(self._columns(run))

    def calc(self, run: Any) -> CalcResults:
        """The means and the values per query, from one pass over the run."""
        columns = self._columns(run)
        return CalcResults(self._means(columns), list(self._metrics(columns)))


@cache
def _log_once(queries: int, of: int, rel: float) -> None:
    """Logs what results of ir_measures cannot say in notes."""
    logging.getLogger("pyterrier_asl").warning(
        "queries without a document with a grade of %s or more: %d of %d; for every system their "
        "value is 1 by ASL and nASL, and 0 by LexiP, TBG and rareness with this grade",
        rel,
        queries,
        of,
    )


class Unscored(Measure):  # type: ignore[misc]
    """A measure that is 0 for every query: for systems that ``pt.Experiment`` runs without scoring
    them. ``columns`` are the columns that their results must have, separated by blanks."""

    __name__ = NAME = "Unscored"
    SUPPORTED_PARAMS = {"columns": ParamInfo(dtype=str, default="", desc="columns of a run")}


class _UnscoredEvaluator(Evaluator):  # type: ignore[misc]
    """An evaluator that reads no run and gives every query the default value."""

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        return iter(())


class PluginProvider(Provider):  # type: ignore[misc]
    """
    pyterrier_asl

    Atomized search length, lexicographic precision, rareness and time-biased gain.
    """

    NAME = "pyterrier_asl"
    SUPPORTED_MEASURES = own_measures()

    def supports(self, measure: Measure) -> bool:
        """Whether it computes this measure."""
        return isinstance(measure, Unscored) or bool(super().supports(measure))

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> Evaluator:
        measures = list(measures)
        if all(isinstance(measure, Unscored) for measure in measures):
            return _UnscoredEvaluator(
                measures, QrelsConverter(qrels).as_pd_dataframe()["query_id"].unique().tolist()
            )
        return JudgedRunEvaluator(measures, qrels)

    def run_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """The columns that these measures need in the run."""
        further = {
            column
            for measure in measures
            if isinstance(measure, Unscored)
            for column in measure["columns"].split()
        } | {
            name
            for measure in measures
            if isinstance(measure, PluginMeasure)
            for name in measure.run_columns()
        }
        return [*super().run_inputs(measures), *sorted(further)]


def register() -> None:
    """Registers the provider with ir_measures; it replaces an earlier one of this package."""
    provider = PluginProvider()
    ir_measures.providers.register(provider)
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline[:] = [p for p in pipeline if p.NAME != provider.NAME] + [provider]


register()
