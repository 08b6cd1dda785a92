"""Acceleration: ir_measures and ``pt.Experiment`` compute standard measures with this package.

Only measures whose values always agree with pytrec_eval are computed here (see
:mod:`~pyterrier_asl.measures.standard`), from the same matched run as the measures of this package.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any

import ir_measures
import numpy as np

from ..common.types import Floats
from ..io.columns import Columns
from ..judging.judged_run import JudgedRun
from ..judging.matching import judge
from ..judging.pair_index import codes
from ..measures.formula import formula
from ..measures.provider import JudgedRunEvaluator, PluginProvider

#: Held while the providers of ir_measures are replaced.
_SWITCHING = Lock()


def accelerate(on: bool = True) -> None:
    """Lets ir_measures and ``pt.Experiment`` compute standard measures with this package.

    The values of each query agree with pytrec_eval; only the time changes. Other providers keep
    the measures for which they order equal scores differently from trec_eval (``RR@k``, ``RBP``),
    count negative grades (``Judged``), or round (``ERR``, ``nDCG(dcg='exp-log2')``). Other threads
    may measure during the call: they finish with the providers with which they began.

    Args:
        on: False restores the other providers.

    >>> accelerate()
    >>> from ir_measures import AP, RR
    >>> ir_measures.calc_aggregate([AP, RR], {"q": {"a": 1}}, {"q": {"b": 2, "a": 1}})
    {AP: 0.5, RR: 0.5}
    >>> accelerate(False)
    """
    pipeline = ir_measures.DefaultPipeline
    with _SWITCHING:
        others = [p for p in pipeline.providers if p.NAME != AcceleratedProvider.NAME]
        # A new list, so that a thread that iterates over the old one sees all of its providers.
        pipeline.providers = [AcceleratedProvider(), *others] if on else others


def provided_values(measures: Iterable[Any], judged: JudgedRun) -> list[Floats]:
    """The values of measures as ir_measures' providers would give them, shape (Q,) each.

    Args:
        measures: measures that this package computes.
        judged: the run, with its rows if a document occurs twice.
    """
    others = judged
    if judged.has_duplicates:  # ir_measures' providers take the last row of a document
        others = judge(judged.judgements, _last_rows(judged.table))
    own = filter(None, map(formula, measures))
    return [m.values(others if m.LAST_ROW_COUNTS else judged) for m in own]


class AcceleratedEvaluator(JudgedRunEvaluator):
    """Computes the measures of this package and standard ones from one matched run."""

    def _columns(self, run: Any) -> list[list[float]]:
        judged = judge(self.judgements, run)
        return [values.tolist() for values in provided_values(self.measures, judged)]


class AcceleratedProvider(PluginProvider):
    """
    pyterrier_asl, accelerated

    The measures of :class:`~pyterrier_asl.measures.provider.PluginProvider`, and the standard
    measures whose values always agree with pytrec_eval.
    """

    NAME = "pyterrier_asl_accelerated"

    def supports(self, measure: Any) -> bool:
        """Whether it computes this measure."""
        computes = formula(measure)
        return computes is not None and computes.as_provided()

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> AcceleratedEvaluator:
        return AcceleratedEvaluator(measures, qrels)


def _last_rows(run: Columns) -> Columns:
    """The last row of each query and document of a run."""
    docnos = codes(run.docno)[0]
    keys = run.queries * (docnos.max(initial=0) + 1) + docnos
    return run.take(np.sort(len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]))
