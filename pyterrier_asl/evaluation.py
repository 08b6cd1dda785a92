"""Many runs, many measures, one judging each: values for every run and query, in one frame.

What the command line and the analyses stand on. Runs are judged one after the other or on several
processes or machines; the result does not depend on how many, byte for byte.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from tqdm.auto import tqdm

from . import acceleration
from .io import load_parquet, read_qrels_table, read_run_table, run_name, save_parquet
from .judging import JudgedRun, Judgements
from .pools import RarenessPool, ranked

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
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
            folder of run files, one file, or several.
        qrels: data frame, file, ir_datasets id, dict of dicts, or a
            :class:`~pyterrier_asl.judging.Judgements` made before.
        measures: measures or their names, or a dict from how a column shall be called to either.
        jobs: how many runs to judge at a time; -1: as many as there are cores.
        backend: joblib's: ``'loky'``, ``'multiprocessing'``, ``'threading'``, or one registered
            with it.
        long: one row for each value, instead of one column for each measure.
        progress: whether to show a progress bar; None: where there is a terminal.

    Returns:
        A frame, runs in the order given and queries in the order of the qrels: ``name``, ``qid``
        (as the qrels hold it), and a column for each measure; with ``long`` ``name``, ``qid``,
        ``measure``, ``value``. Exactly one value for every run, query of the qrels and measure.

    Raises:
        ValueError: for no runs, no or unknown measures; for a run that is empty, shares no query or
            no document with the qrels, or cannot be measured, with its name.

    >>> runs = {"good": {"q": {"a": 2, "x": 1}}, "bad": {"q": {"x": 2, "a": 1}}}
    >>> evaluate(runs, {"q": {"a": 1}}, ["ASL@10", "LexiP"])
       name qid  ASL@10  LexiP
    0  good   q     1.0    1.0
    1   bad   q     2.0    0.5
    """
    sources = _sources(runs)
    judgements = _judgements(qrels)
    scorer = _Scorer(judgements, _measures(measures))
    done = _in_order(scorer, sources, jobs, backend, progress)
    table = np.concatenate([values for values in scorer.finish(done)])
    frame = pd.DataFrame(table, columns=list(scorer.measures))
    queries = len(judgements)
    qids = pd.Series(judgements.qids * len(sources), dtype=None if judgements.qids else object)
    frame.insert(0, "name", np.repeat(np.array(list(sources), dtype=object), queries))
    frame.insert(1, "qid", qids)
    return to_long(frame) if long else frame


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


def means(evaluation: pd.DataFrame) -> pd.DataFrame:
    """Each run's mean of each measure over the queries; a row a run, in the evaluation's order.

    >>> evaluation = pd.DataFrame({"name": ["a", "a"], "qid": [1, 2], "AP": [0.25, 0.75]})
    >>> float(means(evaluation).loc["a", "AP"])
    0.5
    """
    columns = measure_columns(evaluation)
    return pd.DataFrame({column: matrix(evaluation, column).mean(axis=1) for column in columns})


def save_evaluation(evaluation: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Saves an evaluation as Parquet; a file that is there is replaced only by a whole one."""
    table = pa.Table.from_pandas(evaluation, preserve_index=False)
    save_parquet(table, path, kind=_KIND, version=_VERSION)


def load_evaluation(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Loads what :func:`save_evaluation` saved."""
    frame: pd.DataFrame = load_parquet(path, kind=_KIND, version=_VERSION).to_pandas()
    return frame


# What is asked for


def _sources(runs: Any) -> dict[str, Any]:
    """Runs by name."""
    if isinstance(runs, Mapping):
        sources = {str(name): run for name, run in runs.items()}
    elif hasattr(runs, "columns") or hasattr(runs, "column_names"):
        raise TypeError("a run given as a frame needs a name: pass a dict from name to frame")
    else:
        sources = _files(runs)
    if not sources:
        raise ValueError("there are no runs to evaluate")
    return sources


def _files(runs: Any) -> dict[str, Any]:
    one = isinstance(runs, (str, os.PathLike))
    paths = [Path(runs)] if one else [Path(run) for run in runs]
    if one and paths[0].is_dir():
        paths = sorted(p for p in paths[0].iterdir() if p.is_file() and p.name[0] != ".")
        if not paths:
            raise ValueError(f"the folder {runs} holds no files")
    sources: dict[str, Any] = {}
    for path in paths:
        other = sources.setdefault(run_name(path), path)
        if other is not path:
            raise ValueError(
                f"{other} and {path} are both named {run_name(path)!r}; rename one of them, or "
                "pass a dict from name to file"
            )
    return sources


def _judgements(qrels: Any) -> Judgements:
    if isinstance(qrels, Judgements):
        return qrels
    return Judgements(read_qrels_table(qrels) if isinstance(qrels, (str, os.PathLike)) else qrels)


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


# One run


@dataclass(frozen=True)
class _Scored:
    """What is left of a run when it has been measured."""

    name: str
    values: Floats
    top: pa.Table | None = None
    judged: tuple[Ints, Ints, Ints, Ints] | None = None


class _Scorer:
    """Qrels and measures, ready for any run; what a worker gets, once."""

    def __init__(self, judgements: Judgements, measures: dict[str, Any]) -> None:
        self.judgements, self.measures = judgements, measures
        self._pooled = [name for name, measure in measures.items() if _wants_pool(measure)]
        self._others = [
            measure for measure in measures.values() if not acceleration.supports(measure)
        ]
        self._evaluator: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_evaluator": None}

    def __call__(self, name: str, source: Any) -> _Scored:
        """Measures a run, but for what needs the pool of all."""
        try:
            run = read_run_table(source) if isinstance(source, (str, os.PathLike)) else source
            judged = self.judgements.judge_whole(run)
            others = self._by_others(judged)
            values = np.full((len(self.judgements), len(self.measures)), np.nan)
            for column, (label, measure) in enumerate(self.measures.items()):
                if acceleration.supports(measure) and label not in self._pooled:
                    values[:, column] = acceleration.values(measure, judged)
                elif label not in self._pooled:
                    values[:, column] = others[measure]
            if not self._pooled:
                return _Scored(name, values)
            top = ranked(name, judged.table, self._depth)
        except ValueError as error:
            raise ValueError(f"run {name!r}: {error}") from error
        return _Scored(
            name, values, top, (judged.retrieved, judged.queries, judged.ranks, judged.pairs)
        )

    @property
    def _depth(self) -> int | None:
        """How deep the pool of the runs has to be."""
        asked = [self.measures[name] for name in self._pooled]
        depths = [measure["depth"] or measure["cutoff"] for measure in asked]
        return None if None in depths else max(depths)

    def finish(self, done: Iterator[_Scored]) -> list[Floats]:
        """Adds what needs the pool of all runs, made of what each has left."""
        scored = list(done)
        if not self._pooled:
            return [each.values for each in scored]
        tables = [each.top for each in sorted(scored, key=lambda each: each.name)]
        pool = RarenessPool(pa.concat_tables(tables), name="runs", depth=self._depth, groups={})
        for column, (label, measure) in enumerate(self.measures.items()):
            if label in self._pooled:
                member = True if measure["member"] is None else measure["member"]
                given = measure(pool=pool, member=member)
                for each in scored:
                    assert each.judged is not None
                    judged = JudgedRun.from_entries(self.judgements, *each.judged)
                    each.values[:, column] = acceleration.values(given, judged)
        return [each.values for each in scored]

    def _by_others(self, judged: JudgedRun) -> dict[Any, Floats]:
        """The values of the measures that ir_measures' other providers compute."""
        if not self._others:
            return {}
        known, table = self.judgements, judged.table
        if self._evaluator is None:
            qrels = pd.DataFrame(
                {
                    "query_id": known.qid_text.take(known.queries).to_pandas().astype(object),
                    "doc_id": known.docnos.to_pandas().astype(object),
                    "relevance": known.grades.astype(np.int64),
                }
            )
            self._evaluator = ir_measures.evaluator(self._others, qrels)
        run = pd.DataFrame(
            {
                "query_id": table.qid.to_pandas().astype(object),
                "doc_id": table.docno.to_pandas().astype(object),
                "score": table.value,
            }
        )
        number = {qid: row for row, qid in enumerate(known.qid_text.to_pylist())}
        values = {measure: np.full(len(known), float(measure.DEFAULT)) for measure in self._others}
        for metric in self._evaluator.iter_calc(run):
            if metric.query_id in number:
                values[metric.measure][number[metric.query_id]] = metric.value
        return values


def _wants_pool(measure: Any) -> bool:
    return "pool" in measure.SUPPORTED_PARAMS and measure.params.get("pool") is None


# Many runs


def _in_order(
    scorer: _Scorer, sources: Mapping[str, Any], jobs: int, backend: str, progress: bool | None
) -> Iterator[_Scored]:
    """Measures all runs, and gives them out in their order."""
    shown: Any = tqdm(
        total=len(sources), desc="runs", unit="run",
        disable=None if progress is None else not progress,
    )  # fmt: skip
    with shown:
        for done in _scored(scorer, sources, jobs, backend):
            shown.update()
            yield done


def _scored(
    scorer: _Scorer, sources: Mapping[str, Any], jobs: int, backend: str
) -> Iterator[_Scored]:
    if jobs == 1:
        yield from (scorer(name, source) for name, source in sources.items())
        return
    from joblib import Parallel, delayed

    with _sent(scorer, backend) as work:
        parallel = Parallel(n_jobs=jobs, backend=backend, return_as="generator")
        yield from parallel(delayed(work)(name, source) for name, source in sources.items())


@contextmanager
def _sent(scorer: _Scorer, backend: str) -> Iterator[Any]:
    """The scorer as something small to send with each run: workers read it from a file, once."""
    if backend == "threading":
        yield scorer
        return
    folder = tempfile.mkdtemp(prefix="pyterrier_asl-")
    try:
        path = os.path.join(folder, "scorer.pickle")
        with open(path, "wb") as file:
            pickle.dump(scorer, file, protocol=5)
        yield _FromFile(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _FromFile:
    """A scorer that is read from its file when a process first needs it."""

    path: str

    def __call__(self, name: str, source: Any) -> _Scored:
        return _read_scorer(self.path)(name, source)


@lru_cache(maxsize=1)
def _read_scorer(path: str) -> _Scorer:
    with open(path, "rb") as file:
        scorer: _Scorer = pickle.load(file)
    return scorer
