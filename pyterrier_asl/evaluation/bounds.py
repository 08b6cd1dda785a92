"""Bounds of the values of runs over all labels of unjudged documents, as frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..io.lazy import pd
from ..io.runs import list_runs
from ..judging.judgements import Judgements
from ..judging.unjudged import Unjudged
from ..measures.names import Measures, named_measures, needs_pool
from .automatic_pool import with_pool_of
from .evaluation import Evaluation, iter_judged
from .frames import frame_of
from .inputs import with_rel
from .labellings import Labelled, measure_with_bounds, unjudged_of

#: What a run given alone is called among those it is compared with.
_NAME = "run"


def bounds(
    run: Any,
    qrels: Any,
    measures: Measures,
    *,
    runs: Any = None,
    rel: float | None = None,
    depth: int | None = None,
    highest: float | None = None,
    by_query: bool = False,
) -> pd.DataFrame:
    """The least and the greatest value that a run could have, whatever its unjudged documents are.

    Unjudged documents count as not relevant. The bounds are the extremes over all *labellings* of
    V, the unjudged documents in the top k of this run or of any run it is compared with: each can
    turn out relevant or not (in nDCG of any grade). Nothing is said of documents outside V, and
    nothing of how likely a labelling is. Queries share no labels, so the bounds of a mean are the
    means of the bounds.

    Args:
        run: data frame (``qid``, ``docno``, ``score``), file, dict of dicts, or whatever
            ir_measures takes.
        qrels: data frame, file, ir_datasets id, dict of dicts, or
            :class:`~pyterrier_asl.judging.judgements.Judgements`.
        measures: among ``P``, ``R``, ``RR``, ``Success``, ``AP``, ``nDCG``, ``RBP(rel=...)``,
            ``ASL``, ``nASL``, ``LexiP``, ``TBG``, ``P_Rareness``, ``AP_Rareness``, in any number.
        runs: the runs that this one is compared with, whose unjudged documents belong to V too:
            dict of name -> run, or a folder of run files. A rareness measure without a pool gets
            them, with this one, for its pool.
        rel: the least grade of a relevant document, for measures that do not say it; None: 1.
        depth: V goes down to this rank, where that is deeper than a measure's cut-off.
        highest: the best grade that a label can give in nDCG; None: the best of the qrels.
        by_query: a row for every query, instead of the means.

    Returns:
        ``measure``, (``qid``,) ``value``, ``low``, ``high``, ``unjudged`` (unjudged documents that
        the measure sees in the run; of the mean: in all), ``exact`` (whether some labelling gives
        ``low`` and one ``high``; else they are outer bounds).

    Raises:
        ValueError: for a measure that has no bounds, or with ``judged_only=True``.

    >>> run = {"q": {"a": 3, "x": 2, "b": 1}}
    >>> bounds(run, {"q": {"a": 1, "b": 0}}, ["P@2", "ASL@10"])
      measure  value  low  high  unjudged  exact
    0     P@2    0.5  0.5   1.0         1   True
    1  ASL@10    1.0  1.0   1.0         1   True
    """
    judged = Evaluation.of({_NAME: run}, qrels)
    if runs is not None:
        others = Evaluation.of(runs, judged.judgements)
        names = [_NAME, *(f"{_NAME}:{name}" for name in others.names)]
        judged = Evaluation(names, judged.runs + others.runs, judged.judgements)
    with_grades = [with_rel(measure, rel) for measure in named_measures(measures)]
    named = {measure.name: measure.measure for measure in with_grades}
    parts = []
    for label, of_measure in labelled_measures(judged, named, depth=depth, highest=highest).items():
        low, high = of_measure.bounds(0)
        columns = {
            "measure": label,
            "qid": judged.qids,
            "value": of_measure.side(0).value,
            "low": low,
            "high": high,
            "unjudged": of_measure.retrieved(0),
            "exact": of_measure.measure.is_exact(),
        }
        parts.append(pd.DataFrame(columns))
    frame = pd.concat(parts, ignore_index=True)
    if by_query:
        return frame
    groups = frame.groupby("measure", sort=False)
    means = groups[["value", "low", "high"]].mean()
    means["unjudged"], means["exact"] = groups["unjudged"].sum(), groups["exact"].all()
    return means.reset_index()


def labelled_measures(
    runs: Evaluation,
    measures: Mapping[str, Any],
    *,
    depth: int | None = None,
    highest: float | None = None,
) -> dict[str, Labelled]:
    """Runs that are compared with each other in several measures, by the measures' names.

    Args:
        runs: the runs, with all their rows.
        measures: measures by name; one that lacks a pool gets these runs.
        depth: see :func:`bounds`.
        highest: see :func:`bounds`.
    """
    measures = with_pool_of(runs, measures)
    unjudged = unjudged_of(runs.runs, list(measures.values()), depth)
    return _labelled(unjudged, measures, depth, highest)


def _labelled(
    unjudged: Unjudged,
    measures: Mapping[str, Any],
    depth: int | None = None,
    highest: float | None = None,
) -> dict[str, Labelled]:
    return {
        label: Labelled(unjudged, measure, depth=depth, highest=highest)
        for label, measure in measures.items()
    }


def evaluation_with_bounds(
    runs: Any,
    qrels: Any,
    measures: Mapping[str, Any],
    *,
    long: bool = False,
) -> pd.DataFrame:
    """Values and bounds of several runs that are compared with each other.

    Args:
        runs: see :func:`~pyterrier_asl.evaluate`.
        qrels: see there.
        measures: measures by the names of their columns.
        long: one row for each value, with ``low``, ``high``, ``unjudged`` and ``exact``.

    Returns:
        ``name``, ``qid``, and for each measure its value, and columns of its name with `` low`` and
        `` high``; or with ``long`` as said.
    """
    if isinstance(runs, Evaluation) or any(map(_needs_rows, measures.values())):
        runs = Evaluation.of(runs, qrels)
        names, judgements = runs.names, runs.judgements
        labelled = labelled_measures(runs, measures)
    else:  # one run's rows are in memory at a time, which the system need not find room for
        sources, judgements = list_runs(runs), Judgements.of(qrels)
        judged = (run for _, run in iter_judged(sources, judgements))
        names = list(sources)
        unjudged = unjudged_of(judged, list(measures.values()), keep_rows=False)
        labelled = _labelled(unjudged, measures)
    columns = {}
    for label, of_measure in labelled.items():
        limits = np.array([of_measure.bounds(row) for row in range(len(names))])  # (S, 2, Q)
        columns[label] = of_measure.values()
        columns[f"{label} low"], columns[f"{label} high"] = limits.swapaxes(0, 1)
    frame = frame_of(names, judgements.qids, columns)
    if not long:
        return frame
    parts = []
    for label, of_measure in labelled.items():
        shown = np.concatenate([of_measure.retrieved(row) for row in range(len(names))])
        columns_of = {label: "value", f"{label} low": "low", f"{label} high": "high"}
        part = frame[["name", "qid", *columns_of]].rename(columns=columns_of)
        part.insert(2, "measure", label)
        parts.append(part.assign(unjudged=shown, exact=of_measure.measure.is_exact()))
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def _needs_rows(measure: Any) -> bool:
    """Whether values and bounds need more of a run than where documents are judged or not."""
    return needs_pool(measure) or measure_with_bounds(measure).needs_rows()
