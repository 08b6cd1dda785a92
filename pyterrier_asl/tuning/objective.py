"""Objectives of tuning: the measures of a pipeline with a setting of its parameters."""

from __future__ import annotations

import hashlib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyterrier as pt
from ir_measures import Measure

from ..evaluation.inputs import warn_of_grades
from ..io.columns import is_frame, typed_table
from ..io.values import text
from ..judging.judgements import Judgements
from ..measures.directions import higher_is_better
from ..measures.names import NamedMeasure, added_up, one_measure
from ..scoring.arrays import Floats
from .space import Setting, Space, describe, transformers_of

_IR_MEASURES = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}


@dataclass(frozen=True)
class TuningTask:
    """The topics, judgements and measures of a search.

    Attributes:
        topics: PyTerrier's frame of queries.
        qrels: ``query_id``, ``doc_id``, ``relevance`` of the topics, ids as text.
        measures: name -> measure; the first measure is optimised.
        maximize: whether higher is better in this measure.
    """

    topics: pd.DataFrame
    qrels: pd.DataFrame
    measures: Mapping[str, Measure]
    maximize: bool

    @property
    def metric(self) -> str:
        """The name of the measure that is optimised."""
        return next(iter(self.measures))


class Objective(ABC):
    """The measures of a setting; a call with a setting returns the means over the queries."""

    #: The parallel backend: ``'loky'`` (processes) or ``'threading'``.
    backend: ClassVar[str]

    def __init__(self, pipeline: pt.Transformer, space: Space, task: TuningTask) -> None:
        self.pipeline = pipeline
        self.space = space
        self.task = task

    @abstractmethod
    def per_query(self, setting: Setting) -> dict[str, Floats]:
        """The value of each measure for each judged query, queries in one order."""

    def means(self, values: Mapping[str, Floats]) -> dict[str, float]:
        """The means of values by query; the sums of counts."""
        return {
            name: math.fsum(values[name]) / (1 if added_up(measure) else len(values[name]))
            for name, measure in self.task.measures.items()
        }

    def description(self) -> dict[str, Any]:
        """The properties that are equal for searches that share trials.

        Of the pipeline the text of all parts, without the values of tuned parameters and addresses.
        """
        space, task = self.space, self.task
        content = hashlib.sha256()
        for frame in (task.topics.astype(str), task.qrels.astype(str)):
            content.update(frame.to_csv(index=False).encode())
        with space.restore_at_end():
            space.set(space.setting([0.5] * len(space.parameters)))
            text = " ".join(map(repr, transformers_of(self.pipeline)))
        return {
            "pipeline": re.sub(r" at 0x[0-9a-fA-F]+", "", text),
            "parameters": {p.label: describe(p.distribution) for p in space.parameters},
            "measures": [str(measure) for measure in task.measures.values()],
            "topics and qrels": content.hexdigest()[:16],
        }

    def __call__(self, setting: Setting) -> dict[str, float]:
        return self.means(self.per_query(setting))


def make_task(
    topics: pd.DataFrame, qrels: pd.DataFrame, metric: Any, measures: Iterable[Any] = ()
) -> TuningTask:
    """Checks the arguments of a search, and drops the judgements of other topics.

    Args:
        topics: with a column ``qid``.
        qrels: PyTerrier's columns (``qid``, ``docno``, ``label``) or ir_measures'.
        metric: the measure to optimise: a Measure, with or without a name of its own, trec_eval's
            name or ir_measures'.
        measures: others to record.

    Raises:
        ValueError: for a metric without a direction, an unknown measure, a missing column, or
            topics without any judgement.
    """
    recorded = {}
    for measure in [metric, *measures]:
        is_one = isinstance(measure, (str, NamedMeasure))
        named = one_measure(measure if is_one else [measure])
        recorded[named.name] = named.measure
    first = next(iter(recorded))
    better = higher_is_better(recorded[first])
    if better is None:
        raise ValueError(
            f"{first} has no direction: neither more nor less is better, so it cannot be "
            "optimised; record it with measures="
        )
    judged = _judgements_of(topics, qrels)
    warn_of_grades(Judgements(judged), recorded)
    return TuningTask(topics, judged, recorded, better)


def _judgements_of(topics: pd.DataFrame, qrels: pd.DataFrame) -> pd.DataFrame:
    """The judgements of the topics, with ir_measures' names of columns."""
    for what, frame in {"topics": topics, "qrels": qrels}.items():
        if not is_frame(frame):
            raise ValueError(f"{what} must be a data frame, not a {type(frame).__name__}")
    if "qid" not in topics.columns:
        raise ValueError(f"the topics have no column 'qid': {list(topics.columns)}")
    table = typed_table(qrels, tuple(_IR_MEASURES), "the frame of qrels")
    renamed: pd.DataFrame = table.rename_columns(list(_IR_MEASURES.values())).to_pandas()
    judged = renamed[renamed["query_id"].isin(ids_as_text(topics["qid"], "qid of the topics"))]
    if judged.empty:
        raise ValueError(
            f"none of the {len(topics)} topics is judged: ids of topics look like "
            f"{topics['qid'].head(1).tolist()}, ids in the {len(qrels)} judgements like "
            f"{renamed['query_id'].head(1).tolist()}"
        )
    return judged.reset_index(drop=True)


@dataclass(frozen=True)
class SearchResult:
    """Results of a search.

    Attributes:
        trials: ``trial``, then the parameters, then the measures.
        settings: the parameters of each trial, as transformers take them.
        task: the task of the search.
        labels: the names of the parameters' columns.
    """

    trials: pd.DataFrame
    settings: list[Setting]
    task: TuningTask
    labels: list[str]

    @classmethod
    def of(
        cls,
        objective: Objective,
        numbers: Iterable[int],
        settings: list[Setting],
        measures: list[dict[str, float]],
    ) -> SearchResult:
        """The results of trials, from their numbers, settings and measures."""
        labels, task = objective.space.labels, objective.task
        parts = [
            pd.DataFrame({"trial": list(numbers)}, dtype=np.int64),
            pd.DataFrame(settings, columns=labels, dtype=object).infer_objects(),
            pd.DataFrame(measures, columns=list(task.measures)),
        ]
        return cls(pd.concat(parts, axis=1), settings, task, labels)

    def extreme_row(self, best: bool = True) -> int:
        """The row of the best trial, or of the worst; of equals the first."""
        values = self.trials[self.task.metric].to_numpy()
        return int(values.argmax() if best == self.task.maximize else values.argmin())

    def without_effect(self) -> list[str]:
        """The parameters on whose value the measure does not depend in any trial.

        Each trial must have another one that differs in the parameter alone, as in a grid, unless
        all trials have the same value.
        """
        table = pd.DataFrame([list(map(repr, setting)) for setting in self.settings])
        values = self.trials[self.task.metric]
        table = table.assign(value=values, all=0)
        names = []
        for column, label in enumerate(self.labels):
            others = [*range(len(self.labels)), "all"] if values.nunique() > 1 else [column, "all"]
            others.remove(column)
            counts = table.groupby(others)[[column, "value"]].nunique()
            if (counts[column] > 1).all() and (counts["value"] == 1).all():
                names.append(label)
        return names

    @property
    def best(self) -> Setting:
        """The best setting."""
        return self.settings[self.extreme_row()]

    @property
    def value(self) -> float:
        """The best value."""
        return float(self.trials[self.task.metric].iloc[self.extreme_row()])


class PipelineObjective(Objective):
    """Sets the parameters, runs the pipeline and scores its results with ir_measures.

    Args:
        pipeline: any.
        space: its parameters.
        task: the topics, judgements and measures.
        batch_size: the number of topics to run together; None: all.
    """

    backend = "loky"

    def __init__(
        self,
        pipeline: pt.Transformer,
        space: Space,
        task: TuningTask,
        batch_size: int | None = None,
    ) -> None:
        super().__init__(pipeline, space, task)
        self.batch_size = batch_size

    def per_query(self, setting: Setting) -> dict[str, Floats]:
        """The value of each measure for each judged query, in ascending order of query ids."""
        run = self._run(setting)
        values = {(m.measure, m.query_id): m.value for m in self._evaluator.iter_calc(run)}
        qids = sorted(set(self.task.qrels["query_id"]))
        return {
            name: np.array([values.get((measure, q), measure.DEFAULT) for q in qids], np.float64)
            for name, measure in self.task.measures.items()
        }

    def _run(self, setting: Setting) -> pd.DataFrame:
        self.space.set(setting)
        topics = self.task.topics
        size = self.batch_size or max(len(topics), 1)
        batches = [topics.iloc[start : start + size] for start in range(0, len(topics), size)]
        run = pd.concat([_as_run(self.pipeline.transform(batch)) for batch in batches])
        nan = run["score"].isna()
        if nan.any():
            first = run[nan].iloc[0]
            raise ValueError(
                f"{nan.sum()} of the {len(run)} scores are NaN at {self.space.describe(setting)}, "
                f"the first for document {first['doc_id']!r} of query {first['query_id']!r}; NaN "
                "has no rank: narrow the distributions, or make the pipeline return numbers"
            )
        return run

    @cached_property
    def _evaluator(self) -> Any:
        return ir_measures.evaluator(list(self.task.measures.values()), self.task.qrels)

    def __getstate__(self) -> dict[str, Any]:
        # Each process creates its evaluator.
        return {name: value for name, value in vars(self).items() if name != "_evaluator"}


def _as_run(results: pd.DataFrame) -> pd.DataFrame:
    """Results with ids as text and the numeric columns, which measures may need."""
    for name in ("qid", "docno", "score"):
        if name not in results.columns:
            raise ValueError(
                f"the pipeline returns no column {name!r}, only {list(results.columns)}; does it "
                "end in a retriever or reranker?"
            )
    numbers = results.select_dtypes("number").drop(columns=["qid", "docno"], errors="ignore")
    ids = {name: ids_as_text(results[name], f"{name} of the results") for name in ("qid", "docno")}
    return numbers.assign(**ids).rename(columns=_IR_MEASURES)


def ids_as_text(values: pd.Series[Any], what: str) -> npt.NDArray[np.object_]:
    """Ids as text, as runs and qrels are read."""
    return np.asarray(text(values, what).to_numpy(zero_copy_only=False), object)


def check_not_nan(measures: Mapping[str, float], space: Space, setting: Setting) -> None:
    """Raises ValueError where a measure is NaN, with the setting."""
    for name, value in measures.items():
        if math.isnan(value):
            raise ValueError(
                f"{name} is NaN at {space.describe(setting)}, and NaN cannot be compared; run the "
                "pipeline with this setting and check its results, or narrow the distributions"
            )
