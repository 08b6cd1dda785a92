"""Measures that ir_measures' other providers compute, from a run that has been judged here.

The one way to them: whatever asks for such a measure gets the value that the provider gives for the
run's own scores and for the grades as they are, and the measure's default for a query that the
provider says nothing about.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import ir_measures
import numpy as np

from ..io.lazy import pd
from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements
from ..judging.parts import map_at_once
from ..measures.standard import computed
from ..scoring.arrays import Floats

#: Held while a provider computes: runs are judged on threads, for which it need not be made.
_ONE_AT_A_TIME = Lock()


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
    """The run as it stands, with its own scores; of a document that stands twice the best row."""
    rows = judged.table.take(np.sort(judged.whole_ranking.rows))
    return rows.frame("query_id", "doc_id", "score")
