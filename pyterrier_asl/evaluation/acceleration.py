"""Standard measures from a judged run, in place of ir_measures' own providers.

:func:`accelerate` lets ``pt.Experiment`` and ir_measures compute AP, nDCG and their like from the
one judging of a run that ours are computed from, wherever the values are pytrec_eval's in every
case (see :mod:`~pyterrier_asl.measures.standard`).
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any

import ir_measures
import numpy as np

from ..io.columns import Columns
from ..judging.judged_run import JudgedRun
from ..judging.matching import codes
from ..measures.provider import JudgedRunEvaluator, PluginProvider
from ..measures.standard import computed
from ..scoring.arrays import Floats

#: Held while the providers of ir_measures are replaced.
_SWITCHING = Lock()


def accelerate(on: bool = True) -> None:
    """Lets ir_measures, and with it ``pt.Experiment``, compute its standard measures by us.

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
        judged: the run, with its rows where a document stands twice.
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
