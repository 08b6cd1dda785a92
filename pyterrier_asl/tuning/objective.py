"""Objectives of tuning: the measures of a pipeline with a setting of its parameters."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyterrier as pt
from ir_measures import Measure

from ..common.types import Floats
from ..evaluation.facts import Facts
from ..evaluation.measuring import check_provided, values_of
from ..evaluation.run_facts import RunFacts
from ..io.columns import is_frame
from ..io.values import check_queries, text
from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements, judgements_of
from ..judging.matching import judge_part
from ..judging.qrels import matching_of
from ..measures.directions import added_up
from ..measures.formula import formula
from ..measures.parsing import NamedMeasure, needs_pool, one_measure
from .space import Setting, Space, describe, transformers_of


@dataclass(frozen=True)
class TuningTask:
    """The topics, judgements and measures of a search.

    Attributes:
        topics: PyTerrier's frame of queries.
        judgements: the judgements of the topics.
        measures: name -> measure; the first measure is optimised.
        maximize: whether higher is better in this measure.
    """

    topics: pd.DataFrame
    judgements: Judgements
    measures: Mapping[str, Measure]
    maximize: bool

    @property
    def metric(self) -> str:
        """The name of the measure that is optimised."""
        return next(iter(self.measures))


@dataclass(eq=False)
class Objective:
    """Sets the parameters, runs the pipeline and measures its results.

    A call with a setting returns the means over the queries.

    Args:
        pipeline: any.
        space: its parameters.
        task: the topics, judgements and measures.
        batch_size: the number of topics to run together; None: all.
    """

    #: The parallel backend: ``'loky'`` (processes) or ``'threading'``.
    backend: ClassVar[str] = "loky"

    pipeline: pt.Transformer
    space: Space
    task: TuningTask
    batch_size: int | None = None

    def per_query(self, setting: Setting) -> dict[str, Floats]:
        """The value of each measure for each judged query, in the order of the judgements."""
        return self._values(self._judged(setting))

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
        for frame in (task.topics, task.judgements.table.frame("query_id", "doc_id", "relevance")):
            content.update(frame.astype(str).to_csv(index=False).encode())
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

    def facts(self, setting: Setting) -> Facts:
        """What must be known of the results of the pipeline with a setting, and of the qrels."""
        task, run = self.task, self._judged(setting)
        found = RunFacts.of(run, task.measures, list(self._values(run).values()))
        return Facts({"the tuned pipeline": found}, task.judgements, task.measures)

    def _values(self, run: JudgedRun) -> dict[str, Floats]:
        return dict(zip(self.task.measures, values_of([*self.task.measures.values()], run)))

    def _judged(self, setting: Setting) -> JudgedRun:
        """The results of the pipeline with a setting."""
        self.space.set(setting)
        topics = self.task.topics
        size = self.batch_size or len(topics)
        batches = (topics.iloc[start : start + size] for start in range(0, len(topics), size))
        run = pd.concat([_as_run(self.pipeline.transform(batch)) for batch in batches])
        nan = run[run["score"].isna()]
        if len(nan):
            first = nan.iloc[0]
            raise ValueError(
                f"{len(nan)} of the {len(run)} scores are NaN at {self.space.describe(setting)}, "
                f"the first for document {first['doc_id']!r} of query {first['query_id']!r}; NaN "
                "has no rank: narrow the distributions, or make the pipeline return numbers"
            )
        return judge_part(self.task.judgements, run)


def make_task(
    topics: pd.DataFrame, qrels: Any, metric: Any, measures: Iterable[Any] = ()
) -> TuningTask:
    """Checks the arguments of a search, and drops the judgements of other topics.

    Args:
        topics: with a column ``qid``.
        qrels: frame, file, ir_datasets id, or :class:`~pyterrier_asl.Qrels`. A document that occurs
            twice in a ranking is counted once by default.
        metric: the measure to optimise: a Measure, with or without a name of its own, trec_eval's
            name or ir_measures'.
        measures: others to record.

    Raises:
        ValueError: for a metric without a direction, an unknown measure, one that needs a pool or
            that no provider computes, a missing column, two topics with one id, or topics without
            any judgement.
    """
    asked = [
        one_measure(measure if isinstance(measure, (str, NamedMeasure)) else [measure])
        for measure in [metric, *measures]
    ]
    better = asked[0].higher_is_better
    if better is None:
        raise ValueError(
            f"{asked[0].name} has no direction: neither more nor less is better, so it cannot be "
            "optimised; record it with measures="
        )
    recorded = {named.name: named.measure for named in asked}
    if not is_frame(topics):
        raise ValueError(f"topics must be a data frame, not a {type(topics).__name__}")
    if "qid" not in topics.columns:
        raise ValueError(f"the topics have no column 'qid': {list(topics.columns)}")
    check_queries(topics["qid"])
    qids = ids_as_text(topics["qid"], "qid of the topics")
    matching = {"duplicates": "best", **matching_of(qrels)}
    judgements = judgements_of(qrels).of_queries(qids).with_matching(matching)
    for measure in recorded.values():
        if needs_pool(measure):
            raise ValueError(f"{measure} needs a pool of runs, as in {measure.NAME}(pool=...)")
    check_provided([m for m in recorded.values() if formula(m) is None], judgements)
    return TuningTask(topics, judgements, recorded, better)


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
        settings: Mapping[int, Setting],
        measures: list[dict[str, float]],
    ) -> SearchResult:
        """The results of trials, from their settings by number and their measures."""
        labels, task = objective.space.labels, objective.task
        drawn = list(settings.values())
        parts = [
            pd.DataFrame({"trial": list(settings)}, dtype=np.int64),
            pd.DataFrame(drawn, columns=labels, dtype=object).infer_objects(),
            pd.DataFrame(measures, columns=list(task.measures)),
        ]
        return cls(pd.concat(parts, axis=1), drawn, task, labels)

    def extreme_row(self, best: bool = True) -> int:
        """The row of the best trial, or of the worst; of equals the first."""
        values = self.trials[self.task.metric].to_numpy()
        return int(values.argmax() if best == self.task.maximize else values.argmin())

    def without_effect(self) -> list[str]:
        """The parameters on whose value the measure does not depend in any trial.

        Each trial must have another one that differs in the parameter alone, as in a grid, unless
        all trials have the same value.
        """
        values = self.trials[self.task.metric]
        table = pd.DataFrame([list(map(repr, setting)) for setting in self.settings]).assign(
            value=values, all=0
        )
        names = []
        for column, label in enumerate(self.labels):
            others = list(table.columns.drop([column, "value"])) if values.nunique() > 1 else "all"
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


def _as_run(results: pd.DataFrame) -> pd.DataFrame:
    """Results with ids as text and the numeric columns, which measures may need."""
    for name in ("qid", "docno", "score"):
        if name not in results.columns:
            raise ValueError(
                f"the pipeline returns no column {name!r}, only {list(results.columns)}; does it "
                "end in a retriever or reranker?"
            )
    numbers = results.select_dtypes("number").drop(columns=["qid", "docno"], errors="ignore")
    return numbers.assign(
        **{name: ids_as_text(results[name], f"{name} of the results") for name in ("qid", "docno")}
    ).rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})


def ids_as_text(values: pd.Series[Any], what: str) -> npt.NDArray[np.object_]:
    """Ids as text, as runs and qrels are read."""
    return np.asarray(text(values, what).to_numpy(zero_copy_only=False), object)
