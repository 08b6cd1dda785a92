"""Many runs, many measures, one judging each: values for every run and query, in one frame.

What the command line and the analyses stand on. Runs are judged one after the other or on several
processes or machines; the result does not depend on how many, byte for byte.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from ir_measures.measures.base import SumAgg
from tqdm.auto import tqdm

from .io import load_parquet, read_qrels_table, run_sources, save_parquet
from .judging import Judgements
from .scorer import Scorer
from .workers import scored

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
) -> pd.DataFrame:
    """Measures runs, for every query.

    Each run is read once, and judged once for all measures. A rareness measure without a pool gets
    the pool of these runs.

    Args:
        runs: dict of name -> run (data frame, Arrow table, file, or whatever ir_measures takes), a
            folder of run files, one file, or several; or Parquet data sets partitioned by run or
            query (see :mod:`~pyterrier_asl.partitions`). A file is read in blocks of whole queries,
            so that it may be larger than memory as long as the rows of a query lie together.
        qrels: data frame, file, ir_datasets id, dict of dicts, or a
            :class:`~pyterrier_asl.judging.Judgements` made before.
        measures: measures or their names, or a dict from how a column shall be called to either.
        jobs: how many runs to judge at a time; -1: as many as there are cores.
        backend: where: processes on this machine (``'loky'``) or another of joblib's backends; or
            ``'ray'``: the nodes of a Ray cluster, all of which see the files by the same paths. The
            result is the same, byte for byte.
        long: one row for each value, instead of one column for each measure.
        progress: whether to show a progress bar; None: where there is a terminal.

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
    sources = run_sources(runs)
    scorer = Scorer(judgements_of(qrels), _measures(measures))
    shown: Any = tqdm(
        scored(scorer, sources, jobs=jobs, backend=backend), total=len(sources), desc="runs",
        unit="run", disable=None if progress is None else not progress,
    )  # fmt: skip
    values = np.concatenate(scorer.finish(shown))
    frame = frame_of(list(sources), scorer.judgements.qids, dict(zip(scorer.measures, values.T)))
    return to_long(frame) if long else frame


def frame_of(
    names: Sequence[str], qids: Sequence[Any], values: Mapping[str, npt.NDArray[np.float64]]
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
        added_up = _is_count((measures or {}).get(column, column))
        by_run[column] = values.sum(axis=1) if added_up else values.mean(axis=1)
    return pd.DataFrame(by_run)


def _is_count(measure: Any) -> bool:
    try:
        known = ir_measures.parse_measure(measure) if isinstance(measure, str) else measure
    except (ValueError, NameError):
        return False  # a column may be called anything
    return isinstance(known.aggregator(), SumAgg)


def save_evaluation(evaluation: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Saves an evaluation as Parquet; a file that is there is replaced only by a whole one."""
    table = pa.Table.from_pandas(evaluation, preserve_index=False)
    save_parquet(table, path, kind=_KIND, version=_VERSION)


def load_evaluation(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Loads what :func:`save_evaluation` saved."""
    frame: pd.DataFrame = load_parquet(path, kind=_KIND, version=_VERSION).to_pandas()
    return frame


# What is asked for


def judgements_of(qrels: Any) -> Judgements:
    """Judgements from whatever :func:`evaluate` takes."""
    if isinstance(qrels, Judgements):
        return qrels
    if not isinstance(qrels, (str, os.PathLike)):
        return Judgements(qrels)
    judgements = Judgements(read_qrels_table(qrels))
    pa.default_memory_pool().release_unused()  # Arrow keeps the memory of the table, which is gone.
    return judgements


def _measures(measures: Measures) -> dict[str, Any]:
    """Measures by the names of their columns."""
    if isinstance(measures, str) or not hasattr(measures, "__iter__"):
        measures = [measures]
    named = measures.items() if isinstance(measures, Mapping) else [(str(m), m) for m in measures]
    made = {}
    for name, measure in named:
        if name in made or name in _KEYS:
            raise ValueError(f"the measure {name!r} is asked for twice, or is no name for a column")
        made[name] = ir_measures.parse_measure(measure) if isinstance(measure, str) else measure
    if not made:
        raise ValueError("no measure is asked for: pass some, such as [ASL@1000, LexiP]")
    return made
