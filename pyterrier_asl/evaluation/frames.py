"""An evaluation, the values of runs by query: plain columns, or a frame; averaged and saved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..io.lazy import pd
from ..io.names import names_of
from ..io.saved_tables import load_table, report_as_damaged_file, save_table
from ..io.tables import ALL, counted
from ..measures.names import added_up
from ..scoring.arrays import Floats
from ..statistics.rounding import shared_ranks

if TYPE_CHECKING:
    from .evaluation import Evaluation

_KIND = "evaluation"
_VERSION = 1
#: Columns of an evaluation that are no measures.
KEYS = ("name", "qid")


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
        mean = mean_of(values.to_numpy(), (measures or {}).get(column, column))
        by_run[column] = pd.Series(mean, index=values.index)
    return pd.DataFrame(by_run)


def mean_of(values: Floats, measure: Any) -> Floats:
    """The mean of each row's values, or of a count their sum."""
    mean: Floats = values.sum(axis=1) if added_up(measure) else values.mean(axis=1)
    return mean


def answers(evaluation: Evaluation) -> list[str]:
    """Sentences on which runs have the best means, the runs that are best most often first."""
    names, queries = evaluation.names, counted(len(evaluation.qids), "query", "queries")
    if len(names) < 2:
        return []
    means = evaluation.means
    measures: dict[tuple[str, ...], list[str]] = {}
    for name, up in evaluation.higher_is_better.items():
        if up is not None:
            best = (shared_ranks(means[name] if up else -means[name]) == 1).tolist()
            measures.setdefault(tuple(compress(names, best)), []).append(name)
    return [
        f"All runs have the same mean {names_of(by)} over {queries}."
        if len(best) == len(names)
        else f"{names_of(best)} {'has' if len(best) == 1 else 'share'} the best mean "
        f"{names_of(by, len(by))} over {queries}."
        for best, by in sorted(measures.items(), key=lambda item: -len(item[1]))
    ]


def sort_of_many(evaluation: Evaluation, few: int) -> str:
    """The first measure with a direction, of more runs than a few; else ''."""
    directed = (name for name, up in evaluation.higher_is_better.items() if up is not None)
    return next(directed, "") if len(evaluation) > few else ""


def unanswered_notes(unanswered: Mapping[str, int], queries: int, most: int = 5) -> list[str]:
    """A sentence for each run that does not answer all queries, for ``most`` of them."""
    sentences = [
        f"{run} does not answer {missing} of {queries} queries; each counts with the worst value"
        for run, missing in unanswered.items()
    ]
    more = len(sentences) - most
    if more <= 0:
        return sentences
    others = "does 1 other run" if more == 1 else f"do {more} other runs"
    return [*sentences[:most], f"nor {others} answer all queries"]


def printed_columns(
    evaluation: Evaluation, *, by_query: bool = False, summary: bool = True, sort: str = ""
) -> dict[str, list[Any]]:
    """The values of an evaluation as columns of a table to print.

    Args:
        evaluation: measured runs.
        by_query: a row per run and query instead of one per run.
        summary: then, whether a row of means, called ``all``, follows each run's queries.
        sort: the measure by which runs are ordered, best first; '': as they were given.

    Returns:
        Columns ``run``, with ``by_query`` also ``qid``, and one for each measure.

    Raises:
        ValueError: where ``sort`` is not one of the measures.
    """
    directions = evaluation.higher_is_better
    if sort and sort not in directions:
        raise ValueError(f"cannot sort by {sort!r}, only by one of {', '.join(directions)}")
    means = evaluation.means
    order = list(range(len(evaluation)))
    if sort:
        sign = 1 if directions[sort] is False else -1
        order.sort(key=(sign * means[sort]).tolist().__getitem__)
    runs = [evaluation.names[row] for row in order]
    if not by_query:
        return {"run": runs} | {name: mean[order].tolist() for name, mean in means.items()}
    qids = list(evaluation.qids)
    if summary and any(str(qid) == ALL for qid in qids):
        raise ValueError(
            f"a query is called {ALL!r}, as the rows of means are: leave these out (-n), "
            "or rename the query"
        )
    rows = [*qids, *([ALL] if summary else [])]
    shown: dict[str, list[Any]] = {
        "run": [run for run in runs for _ in rows],
        "qid": rows * len(runs),
    }
    for name, values in evaluation.columns.items():
        if summary:
            values = np.column_stack((values, means[name]))
        shown[name] = values[order].ravel().tolist()
    return shown


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
