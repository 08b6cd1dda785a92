"""The standard measures of ir_measures from a judged run, for who asks for them to be fast.

Any measure that :func:`supports` accepts is computed from the one judging of a run that ours are
computed from, in the one order that all of them see (see :mod:`~pyterrier_asl.judging.judgements`).
:func:`accelerate` lets ``pt.Experiment`` and ir_measures compute AP, nDCG and their like so too,
wherever the values are pytrec_eval's in every case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

import ir_measures
import numpy as np

from ..io.columns import Columns
from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements
from ..judging.matching import codes
from ..measures import PluginMeasure
from ..measures.provider import JudgedRunEvaluator, PluginProvider
from ..scoring import standard as scoring
from ..scoring.arrays import Floats, Ints, cumulate

#: The best grade that gdeval knows, on which ERR depends.
_HIGHEST = 4

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


def supports(measure: Any) -> bool:
    """Whether :func:`values` computes this measure with these parameters."""
    if isinstance(measure, PluginMeasure):
        return True
    if hasattr(measure, "runtime_impl") or measure.NAME not in _SCORES:
        return False  # what was made by ir_measures.define may have any name
    measure.validate_params()
    params = measure.params
    if params.get("rel", 1) < 1 or (measure.NAME == "RBP" and "rel" not in params):
        return False
    if not all(float(to).is_integer() for to in (params.get("gains") or {}).values()):
        return False
    return bool(params.get("cutoff", 1) >= 1)


def values(measure: Any, judged: JudgedRun) -> Floats:
    """One value for every query of the qrels, in their order, shape (Q,).

    A query that was not answered gets 0 from a standard measure, whatever it counts; this is what
    ir_measures does.

    Args:
        measure: one that :func:`supports` accepts.
        judged: the run, matched with the qrels.
    """
    if isinstance(measure, PluginMeasure):
        ours: Floats = measure.values(judged)
        return ours
    gains = measure.params.get("gains")
    judged = judged if gains is None else judged.regraded(gains)
    view = judged.view(measure.params.get("cutoff"), bool(measure.params.get("judged_only")))
    scores = _SCORES[measure.NAME](measure, view)
    return np.where(judged.retrieved > 0, scores, 0.0)


# What each measure is of a run already cut.


def _ranked(measure: Any, view: JudgedRun) -> tuple[Ints, Ints, Ints]:
    relevant = view.relevant(measure["rel"])
    return relevant.ranks, relevant.offsets, relevant.total


def _recall(measure: Any, view: JudgedRun) -> Floats:
    return scoring.recall(*_ranked(measure, view)[1:])


def _bpref(measure: Any, view: JudgedRun) -> Floats:
    relevant = view.relevant(measure["rel"])
    is_relevant = view.grades >= measure["rel"]
    is_irrelevant = ~is_relevant & (view.grades >= 0)
    irrelevant = cumulate(is_irrelevant)
    above = irrelevant[1:][is_relevant] - irrelevant[view.offsets[relevant.queries]]
    judged_irrelevant = view.judgements.num_graded(0, measure["rel"])
    return scoring.bpref(above, relevant.offsets, relevant.total, judged_irrelevant)


def _iprec(measure: Any, view: JudgedRun) -> Floats:
    level = float(f"{measure['recall']:.2f}")  # as ir_measures hands it to pytrec_eval
    return scoring.interpolated_precision(*_ranked(measure, view), level)


def _set_p(measure: Any, view: JudgedRun) -> Floats:
    relevant = view.relevant(measure["rel"])
    relative = "relative" in measure.SUPPORTED_PARAMS and measure["relative"]
    return scoring.set_precision(
        relevant.offsets, view.retrieved, relevant.total, relative=relative
    )


def _ndcg(measure: Any, view: JudgedRun) -> Floats:
    graded = view.relevant(0)
    gains = gains_of(measure, view.judgements.grades[graded.pairs])
    ideal = view.judgements.once(_ideal, measure)
    return scoring.ndcg(graded.ranks, gains, graded.offsets, ideal)


def _ideal(judgements: Judgements, measure: Any) -> Floats:
    gains = gains_of(measure, judgements.grades)
    return scoring.ideal_dcg(gains, judgements.offsets, measure.params.get("cutoff"))


def gains_of(measure: Any, grades: Floats) -> Floats:
    """What grades gain in nDCG; negative ones nothing."""
    grades = np.maximum(grades, 0)
    return scoring.exponential(grades) if measure["dcg"] == "exp-log2" else grades


def _err(measure: Any, view: JudgedRun) -> Floats:
    graded = view.relevant(0)
    grades = view.judgements.grades[graded.pairs]
    if len(grades) and grades.max() > _HIGHEST:
        raise ValueError(
            f"ERR is made for grades up to {_HIGHEST}, and a document has grade {grades.max():g}: "
            "map the grades to 0 to 4 first"
        )
    return scoring.expected_reciprocal_rank(graded.ranks, grades, graded.offsets, highest=_HIGHEST)


def _num_ret(measure: Any, view: JudgedRun) -> Floats:
    counts = view.relevant(measure["rel"]).found if "rel" in measure.params else view.retrieved
    return counts.astype(np.float64)


_SCORES: dict[str, Callable[[Any, JudgedRun], Floats]] = {
    "AP": lambda measure, view: scoring.average_precision(*_ranked(measure, view)),
    "RR": lambda measure, view: scoring.reciprocal_rank(*_ranked(measure, view)[:2]),
    "P": lambda measure, view: scoring.precision(_ranked(measure, view)[1], measure["cutoff"]),
    "R": _recall,
    "Success": lambda measure, view: scoring.success(_ranked(measure, view)[1]),
    "Rprec": lambda measure, view: scoring.r_precision(*_ranked(measure, view)),
    "Bpref": _bpref,
    "IPrec": _iprec,
    "SetP": _set_p,
    "SetR": _recall,
    "SetF": lambda measure, view: scoring.set_f(
        _set_p(measure, view), _recall(measure, view), measure["beta"]
    ),
    "SetAP": lambda measure, view: _set_p(measure, view) * _recall(measure, view),
    "nDCG": _ndcg,
    "ERR": _err,
    "RBP": lambda measure, view: scoring.rank_biased_precision(
        *_ranked(measure, view)[:2], measure["p"]
    ),
    "Judged": lambda measure, view: scoring.ratio(np.diff(view.offsets), view.retrieved),
    "NumRet": _num_ret,
    "NumRel": lambda measure, view: _ranked(measure, view)[2].astype(np.float64),
    "NumQ": lambda measure, view: np.ones(len(view.judgements)),
}


# The way into ir_measures


class AcceleratedEvaluator(JudgedRunEvaluator):
    """Scores runs by our measures and standard ones, from one judging of each run."""

    def _columns(self, run: Any) -> list[list[float]]:
        judged = self.judgements.judge(run)
        theirs = judged
        if judged.has_duplicates:  # of which ir_measures' providers take the last row
            theirs = self.judgements.judge(_last_rows(judged.table))
        return [
            values(measure, judged if isinstance(measure, PluginMeasure) else theirs).tolist()
            for measure in self.measures
        ]


class AcceleratedProvider(PluginProvider):
    """
    pyterrier_asl, accelerated

    The measures of :class:`~pyterrier_asl.measures.provider.PluginProvider`, and with them the
    standard measures that are the same as pytrec_eval's in every case.
    """

    NAME = "pyterrier_asl_accelerated"

    def supports(self, measure: Any) -> bool:
        """Whether it takes over this measure."""
        return supports(measure) and not _differs(measure)

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> AcceleratedEvaluator:
        return AcceleratedEvaluator(measures, qrels)


def _last_rows(run: Columns) -> Columns:
    """A run without the earlier of rows for one query and document."""
    qids, docnos = codes(run.qid)[0], codes(run.docno)[0]
    keys = qids * (docnos.max(initial=0) + 1) + docnos
    rows = np.sort(len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1])
    return run.take(rows)


def _differs(measure: Any) -> bool:
    """Whether the provider that ir_measures has for it orders equal scores otherwise or rounds."""
    if measure.NAME in ("RR", "Judged"):
        return "cutoff" in measure.params
    if measure.NAME == "nDCG":
        return bool(measure["dcg"] != "log2")
    return bool(measure.NAME in ("ERR", "RBP"))
