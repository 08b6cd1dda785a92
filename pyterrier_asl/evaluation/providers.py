"""Measures that other providers of ir_measures compute, and ours in the place of theirs.

:func:`values_of` is the one way to any measure: one that another provider computes gets the value
that the provider gives for the run's own scores and for the grades as they are, and the measure's
default for a query that the provider says nothing about.

:func:`accelerate` lets ``pt.Experiment`` and ir_measures compute AP, nDCG and their like from the
one judging of a run that ours are computed from, wherever the values are pytrec_eval's in every
case (see :mod:`~pyterrier_asl.measures.standard`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any

import ir_measures
import numpy as np

from ..io.columns import Columns
from ..io.lazy import pd
from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements
from ..judging.matching import codes
from ..judging.parts import map_at_once
from ..measures.provider import JudgedRunEvaluator, PluginProvider
from ..measures.standard import computed
from ..scoring.arrays import Floats

#: Held while a provider computes: runs are judged on threads, for which it need not be made.
_ONE_AT_A_TIME = Lock()
#: Held while the providers of ir_measures are replaced.
_SWITCHING = Lock()


def values_by_others(measures: Sequence[Any], judged: JudgedRun) -> dict[Any, Floats]:
    """The values of measures that are not computed here.

    Args:
        measures: measures of ir_measures' other providers.
        judged: the run, with its rows.

    Returns:
        For each measure one value a query of the qrels, in their order, shape (Q,).

    Raises:
        ValueError: for a measure that no installed provider computes, or not from these runs and
            qrels.

    >>> qrels = Judgements({"q": {"a": 1, "b": 0}, "unanswered": {"a": 1}})
    >>> run = qrels.judge({"q": {"a": 1.0, "b": 1.0}})
    >>> values_by_others([ir_measures.Compat(p=0.8)], run)[ir_measures.Compat(p=0.8)].tolist()
    [1.0, 0.0]
    """
    judgements = judged.judgements
    values = {measure: np.full(len(judgements), float(measure.DEFAULT)) for measure in measures}
    answered = np.flatnonzero(judged.retrieved)
    if not values or not len(answered):
        return values
    number = {judgements.qid_text[row].as_py(): row for row in answered.tolist()}
    rows = _ranked_rows(judged)
    with _ONE_AT_A_TIME:
        metrics = _calculated(list(values), judged, rows)
    for metric in metrics:
        if metric.query_id in number:
            values[metric.measure][number[metric.query_id]] = metric.value
    return values


def values_of(measures: Sequence[Any], judged: JudgedRun) -> list[Floats]:
    """The values of measures, whoever computes them, each of shape (Q,)."""
    ours = {measure: computed(measure) for measure in measures}
    others = values_by_others([measure for measure, own in ours.items() if own is None], judged)

    def values(measure: Any) -> Floats:
        own = ours[measure]
        return others[measure] if own is None else own.values(judged)

    return map_at_once(values, measures, len(judged.table))


def _calculated(measures: list[Any], judged: JudgedRun, run: pd.DataFrame) -> list[Any]:
    """The metrics of the providers; an error names its measure."""
    judgements = judged.judgements
    try:
        return list(judgements.once(_evaluator, *measures).iter_calc(run))
    except Exception as error:  # whatever a provider, or a program that it starts, ends in
        if len(measures) > 1:
            return [metric for m in measures for metric in _calculated([m], judged, run)]
        fractions = judgements.grades[judgements.grades % 1 != 0]
        if len(fractions):
            raise ValueError(
                f"{measures[0]} cannot be computed by ir_measures from fractional grades such as "
                f"{fractions[0]:g}: round the grades, or use a measure that takes fractions, such "
                "as AP, nDCG, ASL or LexiP"
            ) from error
        reason = str(error) or "without a reason"
        raise ValueError(
            f"{measures[0]} cannot be computed by ir_measures, which ended with "
            f"{type(error).__name__} ({reason}): leave it out, or install another provider"
        ) from error


def _evaluator(judgements: Judgements, *measures: Any) -> Any:
    """For the judgements as they are; some providers insist on whole grades being integers."""
    qrels = judgements.table.frame("query_id", "doc_id", "relevance")
    if not np.any(judgements.grades % 1):
        qrels = qrels.astype({"relevance": np.int64})
    return ir_measures.evaluator(measures, qrels)


def _ranked_rows(judged: JudgedRun) -> pd.DataFrame:
    """The rows of the run with their scores; the best row of a document that occurs twice."""
    rows = judged.table.take(np.sort(judged.whole_ranking.rows))
    return rows.frame("query_id", "doc_id", "score")


# Ours in the place of theirs


def accelerate(on: bool = True) -> None:
    """Lets ir_measures and ``pt.Experiment`` compute standard measures with this package.

    What changes is the time: values are those of pytrec_eval, query for query. Left as they are:
    measures that other providers compute in another order of equal scores than trec_eval's
    (``RR@k``, ``Judged@k``, ``RBP``) or round (``ERR``, ``nDCG(dcg='exp-log2')``). It may be called
    while other threads measure: a measurement that has begun is finished as it began.

    Args:
        on: False undoes it.

    >>> accelerate()
    >>> from ir_measures import AP, RR
    >>> ir_measures.calc_aggregate([AP, RR], {"q": {"a": 1}}, {"q": {"b": 2, "a": 1}})
    {AP: 0.5, RR: 0.5}
    >>> accelerate(False)
    """
    pipeline = ir_measures.DefaultPipeline
    with _SWITCHING:
        others = [p for p in pipeline.providers if p.NAME != AcceleratedProvider.NAME]
        # A new list, so that a thread that goes through the old one sees all of its providers.
        pipeline.providers = [AcceleratedProvider(), *others] if on else others


def provided_values(measures: Iterable[Any], judged: JudgedRun) -> list[Floats]:
    """The values of measures computed here, as ir_measures' providers would give them, (Q,) each.

    Args:
        measures: measures of this package, or standard ones.
        judged: the run, with its rows if a document occurs twice.
    """
    others = judged
    if judged.has_duplicates:  # of which ir_measures' providers take the last row
        others = judged.judgements.judge(_last_rows(judged.table))
    own = [computed(measure) for measure in measures]
    return [m.values(others if m.LAST_ROW_COUNTS else judged) for m in own if m is not None]


def is_provided_here(measure: Any) -> bool:
    """Whether ir_measures, as it is set up now, has a measure computed by this package."""
    providers = ir_measures.DefaultPipeline.providers
    first = next((p for p in providers if p.is_available() and p.supports(measure)), None)
    return isinstance(first, PluginProvider)


class AcceleratedEvaluator(JudgedRunEvaluator):
    """Scores runs by our measures and standard ones, from one judging of each run."""

    def _columns(self, run: Any) -> list[list[float]]:
        judged = self.judgements.judge(run)
        return [values.tolist() for values in provided_values(self.measures, judged)]


class AcceleratedProvider(PluginProvider):
    """
    pyterrier_asl, accelerated

    The measures of :class:`~pyterrier_asl.measures.provider.PluginProvider`, and with them the
    standard measures that are the same as pytrec_eval's in every case.
    """

    NAME = "pyterrier_asl_accelerated"

    def supports(self, measure: Any) -> bool:
        """Whether it takes over this measure."""
        computes = computed(measure)
        return computes is not None and computes.as_provided()

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> AcceleratedEvaluator:
        return AcceleratedEvaluator(measures, qrels)


def _last_rows(run: Columns) -> Columns:
    """A run without the earlier of rows for one query and document."""
    qids, docnos = codes(run.qid)[0], codes(run.docno)[0]
    keys = qids * (docnos.max(initial=0) + 1) + docnos
    rows = np.sort(len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1])
    return run.take(rows)
