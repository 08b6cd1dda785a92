"""Evaluation of runs by measures: one value for every run, query and measure, in one frame.

Runs are judged one after the other or on several
processes or machines; the result does not depend on how many, byte for byte.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa

from ..io.columns import is_frame
from ..io.lazy import pd
from ..io.names import shared_systems
from ..io.progress import progress_bar
from ..io.runs import list_runs
from ..judging.judgements import Judgements
from ..judging.labels import qrels_with
from ..measures.names import Measures, named_measures
from .frames import KEYS, RunValues, to_long
from .measuring import MeasuredRun, Scorer
from .workers import score_runs


def evaluate(
    runs: Any,
    qrels: Any = None,
    measures: Measures = (),
    *,
    jobs: int = 1,
    backend: str = "loky",
    long: bool = False,
    progress: bool | None = None,
    bounds: bool = False,
    duplicates: str | None = None,
    drop_self: bool = False,
    common: bool = False,
    labels: Any = None,
) -> pd.DataFrame:
    """Measures runs, for every query.

    Each run is read once, and judged once for all measures. A rareness measure without a pool gets
    the pool of these runs.

    Args:
        runs: dict of name -> run (data frame, Arrow table, file, or whatever ir_measures takes), a
            folder of run files, one file, or several; a data frame by itself is one run, called
            ``run``; or Parquet data sets partitioned by run or
            query (see :mod:`~pyterrier_asl.io.partitions`). A file is read in blocks of whole
            queries, so that it may be larger than memory as long as the rows of a query lie
            together.
            Without qrels: a dict of track -> (runs, qrels).
        qrels: data frame, file, ir_datasets id, dict of dicts, or a
            :class:`~pyterrier_asl.judging.judgements.Judgements` made before.
        measures: measures or their names, or a dict from how a column shall be called to either.
        jobs: how many runs to judge at a time; -1: as many as there are cores.
        backend: where: processes on this machine (``'loky'``), another of joblib's backends that
            gives results one by one (``'threading'``), or ``'ray'``: the nodes of a Ray cluster,
            all of which see the files by the same paths. The result is the same, byte for byte.
        long: one row for each value, instead of one column for each measure.
        progress: whether to show a progress bar; None: where there is a terminal.
        bounds: also what each value could be, whatever the unjudged documents of these runs are:
            columns of the measure's name with `` low`` and `` high``, or with ``long`` ``low``,
            ``high``, ``unjudged`` and ``exact`` (see :func:`~pyterrier_asl.bounds`). The runs are
            held in memory then, and judged by this process.
        duplicates: how to treat a document that occurs twice in a ranking: ``'error'``, the
            default, or ``'best'``: it counts once, at its best rank.
        drop_self: whether documents with the id of their query are left out of rankings, as for
            collections whose queries are documents (ArguAna, Quora).
        common: whether systems that a track lacks are left out; else they are an error.
        labels: labels of documents that the qrels do not judge, merged with them: what
            :func:`~pyterrier_asl.merge_labels` takes; of one collection.

    Returns:
        A frame, runs in the order given and queries in the order of the qrels, with ``name``,
        ``qid`` (as the qrels hold it), and a column for each measure; with ``long`` ``name``,
        ``qid``, ``measure``, ``value``. Exactly one value for every run, query and measure. Of
        several tracks first ``track``.

    Raises:
        ValueError: for no runs, a system that a track lacks, no or unknown measures; for a run that
            is empty, shares no query or no document with the qrels, or cannot be measured, with its
            name.

    >>> runs = {"good": {"q": {"a": 2, "x": 1}}, "bad": {"q": {"x": 2, "a": 1}}}
    >>> evaluate(runs, {"q": {"a": 1}}, ["ASL@10", "LexiP"])
       name qid  ASL@10  LexiP
    0  good   q     1.0    1.0
    1   bad   q     2.0    0.5
    """
    qrels = qrels_with(qrels, labels, duplicates)
    if bounds and (jobs != 1 or backend != "loky"):
        raise ValueError("jobs and backend are for values without bounds: leave them out")
    if common and qrels is not None:
        raise ValueError("common is for several collections: leave it out")
    if qrels is None:
        pairs = list(runs.values()) if isinstance(runs, Mapping) else [runs]
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError(
                "qrels are needed: a frame, a file, or an ir_datasets id; without them runs are a "
                "dict of track -> (runs, qrels)"
            )
        several = {str(track): (list_runs(of_track), by) for track, (of_track, by) in runs.items()}
        shared = shared_systems(
            {track: list(pair[0]) for track, pair in several.items()}, common=common
        )
        frames = {
            track: evaluate(
                {name: of_track[name] for name in shared},
                judgements,
                measures,
                jobs=jobs,
                backend=backend,
                long=long,
                progress=progress,
                bounds=bounds,
                duplicates=duplicates,
                drop_self=drop_self,
            )
            for track, (of_track, judgements) in several.items()
        }
        return pd.concat(frames, names=["track"]).reset_index("track").reset_index(drop=True)
    if is_frame(runs) or isinstance(runs, pa.Table):
        runs = {"run": runs}
    if bounds:
        from .bounds import evaluation_with_bounds

        named = _measures(measures)
        judgements = Judgements.of(qrels, duplicates, drop_self)
        return evaluation_with_bounds(runs, judgements, named, long=long)
    values, _ = measure_runs(
        list_runs(runs),
        Judgements.of(qrels, duplicates, drop_self),
        _measures(measures),
        jobs=jobs,
        backend=backend,
        progress=progress,
    )
    frame = values.frame()
    return to_long(frame) if long else frame


def measure_runs(
    sources: Mapping[str, Any],
    judgements: Judgements,
    measures: Mapping[str, Any],
    *,
    jobs: int = 1,
    backend: str = "loky",
    progress: bool | None = None,
    keep_going: bool = False,
) -> tuple[RunValues, dict[str, Exception]]:
    """Measures runs, as :func:`evaluate` does, from their sources, judgements and measures.

    Args:
        sources: runs by name.
        judgements: the qrels.
        measures: measures by the names of their columns.
        jobs: see :func:`evaluate`.
        backend: see :func:`evaluate`.
        progress: see :func:`evaluate`.
        keep_going: whether a run that cannot be measured is left out.

    Returns:
        The values of the runs that could be measured, and why others could not, by name.

    Raises:
        ValueError: without ``keep_going`` for a run that cannot be measured, with its name.
        OSError: without ``keep_going`` for a file that cannot be read.
    """
    scorer = Scorer(judgements, dict(measures))
    measured: list[MeasuredRun] = []
    failures: dict[str, Exception] = {}
    with closing(score_runs(scorer, sources, jobs=jobs, backend=backend)) as runs:
        bar = progress_bar(runs, total=len(sources), desc="runs", unit="run", shown=progress)
        for run in bar:
            for note in run.notes:
                warnings.warn(f"run {run.name!r}: {note}", stacklevel=3)
            if run.error is None:
                measured.append(run)
            elif keep_going:
                failures[run.name] = run.error
            elif isinstance(run.error, ValueError):
                raise ValueError(f"run {run.name!r}: {run.error}") from run.error
            else:
                raise run.error
    names, qids = [run.name for run in measured], judgements.qids
    values = np.array(scorer.finish(measured)).reshape(len(names), len(qids), len(measures))
    columns = (np.ascontiguousarray(values[:, :, column]) for column in range(len(measures)))
    unanswered = [run.unanswered for run in measured]
    return RunValues(names, qids, dict(zip(measures, columns)), unanswered), failures


def _measures(measures: Measures) -> dict[str, Any]:
    """Measures by the names of their columns."""
    named = {measure.name: measure.measure for measure in named_measures(measures)}
    if taken := named.keys() & set(KEYS):
        raise ValueError(f"{taken.pop()!r} is no name for a column of values: choose another")
    return named
