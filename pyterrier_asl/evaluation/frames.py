"""An evaluation, the values of runs by query: plain columns, or a frame; averaged and saved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..io.lazy import pd
from ..io.saved_tables import load_table, report_as_damaged_file, save_table
from ..measures.names import added_up
from ..scoring.arrays import Floats

_KIND = "evaluation"
_VERSION = 1
#: Columns of an evaluation that are no measures.
KEYS = ("name", "qid")


@dataclass(frozen=True)
class RunValues:
    """The values of S runs for Q queries, of which a frame can be made.

    Attributes:
        names: what the runs are called.
        qids: the queries.
        columns: for each column the values, shape (S, Q).
        unanswered: how many of the queries each run does not answer.
    """

    names: list[str]
    qids: list[Any]
    columns: dict[str, Floats]
    unanswered: list[int]

    def frame(self) -> pd.DataFrame:
        """A row per run and query; see :func:`frame_of`."""
        return frame_of(self.names, self.qids, self.columns)

    def means(self, measures: Mapping[str, Any]) -> dict[str, Floats]:
        """Each run's mean of these columns, shape (S,).

        Args:
            measures: the measures by the names of their columns.
        """
        return {name: _mean(self.columns[name], measure) for name, measure in measures.items()}


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
    return [column for column in evaluation.columns if column not in KEYS]


def to_long(evaluation: pd.DataFrame) -> pd.DataFrame:
    """One row for each value: name, qid, measure, value; by run, query, and measure.

    >>> import pandas as pd
    >>> to_long(pd.DataFrame({"name": ["a"], "qid": ["q"], "AP": [0.5], "RR": [1.0]}))
      name qid measure  value
    0    a   q      AP    0.5
    1    a   q      RR    1.0
    """
    columns = measure_columns(evaluation)
    keys = evaluation[list(KEYS)].loc[evaluation.index.repeat(len(columns))]
    return keys.reset_index(drop=True).assign(
        measure=np.tile(np.array(columns, dtype=object), len(evaluation)),
        value=evaluation[columns].to_numpy(dtype=np.float64).ravel(),
    )


def matrix(evaluation: pd.DataFrame, measure: str) -> pd.DataFrame:
    """One measure's values by run (rows) and query (columns), in the evaluation's order.

    >>> import pandas as pd
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

    >>> import pandas as pd
    >>> evaluation = pd.DataFrame({"name": ["a", "a"], "AP": [0.25, 0.75], "NumRet": [1000, 10]})
    >>> evaluation.insert(1, "qid", ["q1", "q2"])
    >>> means(evaluation).loc["a"].tolist()
    [0.5, 1010.0]
    """
    by_run = {}
    for column in measure_columns(evaluation):
        values = matrix(evaluation, column)
        mean = _mean(values.to_numpy(), (measures or {}).get(column, column))
        by_run[column] = pd.Series(mean, index=values.index)
    return pd.DataFrame(by_run)


def _mean(values: Floats, measure: Any) -> Floats:
    """The mean of each row's values, or of a count their sum."""
    mean: Floats = values.sum(axis=1) if added_up(measure) else values.mean(axis=1)
    return mean


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
    with report_as_damaged_file(path, _KIND):
        table.validate(full=True)
        frame: pd.DataFrame = table.to_pandas()
        _check_evaluation(frame)
    return frame


def _check_evaluation(evaluation: pd.DataFrame) -> None:
    """That a frame has a row per run and query, and of each run the same queries, in one order."""
    if lacking := set(KEYS) - set(evaluation):
        raise ValueError(f"it has no column {lacking.pop()}")
    if evaluation[list(KEYS)].isna().any(axis=None):
        raise ValueError("runs or queries are missing")
    names, qids = (evaluation[key].to_numpy() for key in KEYS)
    runs = pd.unique(names)
    queries = qids[: len(qids) // max(len(runs), 1)]
    if len(pd.unique(queries)) < len(queries) or not (
        np.array_equal(names, np.repeat(runs, len(queries)))
        and np.array_equal(qids, np.tile(queries, len(runs)))
    ):
        raise ValueError("its runs do not have the same queries, each once")
