"""Many runs, many measures, one judging each: values for every run and query, in one frame.

What the command line and the analyses stand on. Runs are judged one after the other or on several
processes or machines; the result does not depend on how many, byte for byte.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from ..io.progress import progress_bar
from ..io.qrels import loaded_qrels
from ..io.runs import list_runs
from ..io.saved_tables import error_names, load_table, save_table
from ..judging.judgements import Judgements
from ..measures.names import added_up, named_measures
from ..scoring.arrays import Floats
from .backends import scored
from .scorer import MeasuredRun, Scorer

Measures: TypeAlias = str | Any | Sequence[Any] | Mapping[str, Any]

_KIND = "evaluation"
_VERSION = 1
#: Columns of an evaluation that are no measures.
_KEYS = ("name", "qid")


def evaluate(
    runs: Any,
    qrels: Any,
    measures: Measures,
    *,
    jobs: int = 1,
    backend: str = "loky",
    long: bool = False,
    progress: bool | None = None,
    bounds: bool = False,
    duplicates: str | None = None,
) -> pd.DataFrame:
    """Measures runs, for every query.

    Each run is read once, and judged once for all measures. A rareness measure without a pool gets
    the pool of these runs.

    Args:
        runs: dict of name -> run (data frame, Arrow table, file, or whatever ir_measures takes), a
            folder of run files, one file, or several; or Parquet data sets partitioned by run or
            query (see :mod:`~pyterrier_asl.io.partitions`). A file is read in blocks of whole
            queries, so that it may be larger than memory as long as the rows of a query lie
            together.
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
        duplicates: what a document is that stands twice in a ranking: ``'error'``, the default, or
            ``'best'``: it counts once, at its best rank.

    Returns:
        A frame, runs in the order given and queries in the order of the qrels, with ``name``,
        ``qid`` (as the qrels hold it), and a column for each measure; with ``long`` ``name``,
        ``qid``, ``measure``, ``value``. Exactly one value for every run, query and measure.

    Raises:
        ValueError: for no runs, no or unknown measures; for a run that is empty, shares no query or
            no document with the qrels, or cannot be measured, with its name.

    >>> runs = {"good": {"q": {"a": 2, "x": 1}}, "bad": {"q": {"x": 2, "a": 1}}}
    >>> evaluate(runs, {"q": {"a": 1}}, ["ASL@10", "LexiP"])
       name qid  ASL@10  LexiP
    0  good   q     1.0    1.0
    1   bad   q     2.0    0.5
    """
    if bounds:
        from .bounds import evaluation_with_bounds
        from .judged_runs import JudgedRuns

        judged = JudgedRuns.of(runs, qrels, duplicates=duplicates)
        return evaluation_with_bounds(judged, _measures(measures), long=long)
    frame, _ = measure_runs(
        list_runs(runs), judgements_of(qrels, duplicates), _measures(measures), jobs=jobs,
        backend=backend, progress=progress,
    )  # fmt: skip
    return to_long(frame) if long else frame


def measure_runs(
    sources: Mapping[str, Any], judgements: Judgements, measures: Mapping[str, Any], *,
    jobs: int = 1, backend: str = "loky", progress: bool | None = None, keep_going: bool = False,
) -> tuple[pd.DataFrame, dict[str, Exception]]:  # fmt: skip
    """What :func:`evaluate` does, once each run, measure and judgement is known.

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
        OSError: likewise for a file that cannot be read.
    """
    scorer = Scorer(judgements, dict(measures))
    measured: list[MeasuredRun] = []
    failures: dict[str, Exception] = {}
    with closing(scored(scorer, sources, jobs=jobs, backend=backend)) as runs:
        bar = progress_bar(runs, total=len(sources), desc="runs", unit="run", shown=progress)
        for run in bar:
            if run.error is None:
                measured.append(run)
            elif keep_going:
                failures[run.name] = run.error
            elif isinstance(run.error, ValueError):
                raise ValueError(f"run {run.name!r}: {run.error}") from run.error
            else:
                raise run.error
    names, qids = [run.name for run in measured], judgements.qids
    values = scorer.finish(measured)
    table = np.concatenate(values) if values else np.empty((0, len(measures)))
    return frame_of(names, qids, dict(zip(measures, table.T))), failures


def frame_of(
    names: Sequence[str], qids: Sequence[Any], values: Mapping[str, Floats]
) -> pd.DataFrame:
    """An evaluation from its values.

    Args:
        names: what the runs are called, S of them.
        qids: the queries, Q of them.
        values: for each column those of each run and query, shape (S, Q) or (S * Q,).
    """
    frame = pd.DataFrame({column: value.ravel() for column, value in values.items()})
    frame.insert(0, "name", np.repeat(np.array(names, dtype=object), len(qids)))
    frame.insert(1, "qid", pd.Series(list(qids) * len(names), dtype=None if qids else object))
    return frame


def measure_columns(evaluation: pd.DataFrame) -> list[str]:
    """The columns of an evaluation that are measures."""
    return [column for column in evaluation.columns if column not in _KEYS]


def to_long(evaluation: pd.DataFrame) -> pd.DataFrame:
    """One row for each value: name, qid, measure, value; by run, query, and measure.

    >>> to_long(pd.DataFrame({"name": ["a"], "qid": ["q"], "AP": [0.5], "RR": [1.0]}))
      name qid measure  value
    0    a   q      AP    0.5
    1    a   q      RR    1.0
    """
    columns = measure_columns(evaluation)
    keys = evaluation[list(_KEYS)].loc[evaluation.index.repeat(len(columns))]
    return keys.reset_index(drop=True).assign(
        measure=np.tile(np.array(columns, dtype=object), len(evaluation)),
        value=evaluation[columns].to_numpy(dtype=np.float64).ravel(),
    )


def matrix(evaluation: pd.DataFrame, measure: str) -> pd.DataFrame:
    """One measure's values by run (rows) and query (columns), in the evaluation's order.

    >>> evaluation = pd.DataFrame(
    ...     {"name": ["b", "b", "a", "a"], "qid": [2, 1, 2, 1], "AP": [0.1, 0.2, 0.3, 0.4]}
    ... )
    >>> float(matrix(evaluation, "AP").loc["a", 2])
    0.3
    """
    if measure not in measure_columns(evaluation):
        raise ValueError(
            f"the evaluation has no measure {measure!r}; it has {measure_columns(evaluation)}"
        )
    names = pd.unique(evaluation["name"])
    qids = evaluation["qid"].iloc[: len(evaluation) // max(len(names), 1)]
    values = evaluation[measure].to_numpy(dtype=np.float64).reshape(len(names), len(qids))
    return pd.DataFrame(
        values, index=pd.Index(names, name="name"), columns=pd.Index(qids, name="qid")
    )


def means(evaluation: pd.DataFrame, measures: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Each run's mean of each measure over the queries; a row a run, in the evaluation's order.

    What ir_measures and trec_eval add up, the counts (``NumRet``, ``NumRelRet`` ...), is added up.

    Args:
        evaluation: what :func:`evaluate` gave.
        measures: the measures of columns that are not called as ir_measures calls them.

    >>> evaluation = pd.DataFrame({"name": ["a", "a"], "AP": [0.25, 0.75], "NumRet": [1000, 10]})
    >>> evaluation.insert(1, "qid", ["q1", "q2"])
    >>> means(evaluation).loc["a"].tolist()
    [0.5, 1010.0]
    """
    by_run = {}
    for column in measure_columns(evaluation):
        values = matrix(evaluation, column)
        summed = added_up((measures or {}).get(column, column))
        by_run[column] = values.sum(axis=1) if summed else values.mean(axis=1)
    return pd.DataFrame(by_run)


def save_evaluation(
    evaluation: pd.DataFrame, path: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Saves an evaluation as Parquet; one that is there is replaced only by a whole one.

    Args:
        evaluation: what :func:`evaluate` gave.
        path: where to.
        force: whether a file that holds no evaluation is overwritten.
    """
    table = pa.Table.from_pandas(evaluation, preserve_index=False)
    save_table(table, path, kind=_KIND, version=_VERSION, force=force)


def load_evaluation(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Loads what :func:`save_evaluation` saved.

    Raises:
        ValueError: where the file is damaged, of another kind, or holds no evaluation.
        OSError: where it cannot be read.
    """
    table = load_table(path, kind=_KIND, version=_VERSION)
    with error_names(path, _KIND):
        table.validate(full=True)
        frame: pd.DataFrame = table.to_pandas()
        _check_evaluation(frame)
    return frame


def _check_evaluation(evaluation: pd.DataFrame) -> None:
    """That a frame has a row per run and query, and of each run the same queries, in one order."""
    if lacking := set(_KEYS) - set(evaluation):
        raise ValueError(f"it has no column {lacking.pop()}")
    if evaluation[list(_KEYS)].isna().any(axis=None):
        raise ValueError("runs or queries are missing")
    rows = pd.MultiIndex.from_frame(evaluation[list(_KEYS)])
    runs, queries = (evaluation[key].unique().tolist() for key in _KEYS)
    if not rows.equals(pd.MultiIndex.from_product([runs, queries])):
        raise ValueError("its runs do not have the same queries, each once")


# What is asked for


def judgements_of(qrels: Any, duplicates: str | None = None) -> Judgements:
    """Judgements from whatever :func:`evaluate` takes, for runs with or without duplicates."""
    if isinstance(qrels, Judgements):
        return qrels.taking(duplicates)
    judgements = Judgements(loaded_qrels(qrels), duplicates=duplicates or "error")
    pa.default_memory_pool().release_unused()  # Arrow keeps the memory of the table, which is gone.
    return judgements


def _measures(measures: Measures) -> dict[str, Any]:
    """Measures by the names of their columns."""
    named = {one.name: one.measure for one in named_measures(measures)}
    if taken := named.keys() & set(_KEYS):
        raise ValueError(f"{taken.pop()!r} is no name for a column of values: choose another")
    return named
