"""Trial of the systems of an experiment: each system is run once, recorded and scored."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import Measure

from ..evaluation.evaluation import Evaluation
from ..evaluation.inputs import warn_of_grades
from ..evaluation.providers import is_provided_here, provided_values
from ..judging.judged_run import NothingJudged, judge
from ..judging.judgements import Judgements
from ..leaderboard.samples import Sample, check_sample
from ..measures.names import needs_pool
from ..measures.provider import Unscored
from ..measures.rareness import check_pooled, warn_of_few
from ..measures.standard import formula
from ..scoring.arrays import Floats
from ..scoring.lexicographic import first_difference
from .arguments import Column
from .recorder import ResultRecorder, Saving, with_recorders

#: Values by system number, query and measure, as pt.Experiment returns them.
Scores = dict[int, dict[Any, dict[str, float]]]


@dataclass(frozen=True)
class Trial:
    """Topics, judgements and options for running and scoring the systems."""

    names: list[str]
    topics: pd.DataFrame
    qrels: pd.DataFrame
    filters: dict[str, bool]
    saving: Saving
    running: dict[str, Any]
    quiet: bool

    @cached_property
    def judgements(self) -> Judgements:
        """The judgements that systems are scored by."""
        qrels = self.qrels
        if self.filters["filter_by_topics"]:
            qrels = qrels[qrels["qid"].isin(self.topics["qid"])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pt.Experiment warns of the same
            return Judgements(qrels)

    def check(self, columns: Sequence[Column], ranks: bool) -> None:
        """Checks what can be known before the systems run.

        Args:
            columns: the measures.
            ranks: whether intervals of ranks are computed.

        Raises:
            ValueError: for a measure that lacks a parameter, equal names of systems among which a
                document is rare, and too few topics for ranks.
        """
        nothing = judge(self.judgements, {})
        for measure in (column.measure for column in columns):
            if needs_pool(measure):
                check_pooled(measure)
                if len(set(self.names)) < len(self.names):
                    raise ValueError(
                        f"rareness counts systems by name: give each its own, not {self.names}"
                    )
            elif (own := formula(measure)) is not None:
                own.values(nothing)
        if ranks:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # ranks warn of the same
                check_sample(Sample(self.names, self.judgements.qids, True, {}), "")

    def run(
        self, systems: list[Any], measures: Sequence[Measure], perquery: Any, **options: Any
    ) -> Any:
        """Calls pt.Experiment without the warnings that do not apply here.

        Args:
            systems: the systems, or their results.
            measures: the measures.
            perquery: see pt.Experiment.
            options: options that replace the user's.
        """
        options = options or {**self.running, **self.saving.options}
        with warnings.catch_warnings():
            # About one batch; whole runs are checked.
            warnings.filterwarnings("ignore", category=NothingJudged)
            # About summaries that are replaced.
            warnings.filterwarnings("ignore", message="Evaluation measures differ")
            if self.quiet:
                warnings.filterwarnings("ignore", message=r"\d+ topic\(s\) not found in qrels")
            return pt.Experiment(
                systems,
                self.topics,
                self.qrels,
                list(measures),
                names=self.names,
                perquery=perquery,
                dataframe=perquery is False,
                **self.filters,
                **options,
            )


@dataclass(frozen=True)
class ExperimentValues:
    """All values of an experiment.

    Attributes:
        names: the names of the systems.
        columns: the measures, in the user's order.
        scores: the values, by the columns' labels.
        queries: the judged queries, over which means are taken.
        mrt: mean response times; None: not measured.
    """

    names: list[str]
    columns: list[Column]
    scores: Scores
    queries: list[Any]
    mrt: list[float] | None

    def values(self, column: Column) -> Floats:
        """The values of a column, shape (systems, queries)."""
        rows = [[of[qid][column.label] for qid in self.queries] for of in self.scores.values()]
        return np.array(rows, np.float64).reshape(len(rows), len(self.queries))


def score(trial: Trial, systems: list[Any], columns: list[Column], mrt: bool) -> ExperimentValues:
    """Runs every system once and scores it.

    The results of each system are matched with the qrels once, when they are recorded. They give
    the values of the measures of this package, pools and preferences. pt.Experiment
    computes the other measures in the call that runs the systems. It returns either response times
    or per-query values; for response times the results are kept and scored by a second call.
    """
    measures = dict.fromkeys(c.measure for c in columns if c.preference is None)
    own = [m for m in measures if needs_pool(m) or is_provided_here(m)]
    theirs = [m for m in measures if m not in own] + [Unscored(columns=_inputs(own))]
    judgements = trial.judgements
    warn_of_grades(judgements, {column.label: column.measure for column in columns})
    kept_columns = ["qid", "docno", "score", *_inputs(own).split()]
    keep = kept_columns if mrt or any(map(_needs_rows, own)) else []
    batch_size = trial.running["batch_size"]
    recorders = [ResultRecorder(name, judgements, keep, batch_size) for name in trial.names]
    pipelines = with_recorders(systems, recorders, trial.saving)
    times, scores = None, {}
    if mrt:
        times = trial.run(pipelines, ["mrt", theirs[-1]], False)["mrt"].tolist()
    else:
        scores = trial.run(pipelines, theirs, "both")[1]
    for recorder in recorders:
        recorder.close()
    if mrt:
        results = [recorder.frame for recorder in recorders]
        scores = trial.run(results, theirs, "both", validate="ignore", verbose=False)[1]
    runs = Evaluation(
        trial.names, [r.judged_run for r in recorders if r.judged_run is not None], judgements
    )
    _show_pool(columns, runs)
    labelled = _values_by_label(scores, columns, runs)
    queries = [qid for qid in labelled[0] if str(qid) in set(judgements.qid_text.to_pylist())]
    return ExperimentValues(trial.names, columns, labelled, queries, times)


def _inputs(measures: list[Measure]) -> str:
    """The columns of results that measures need in addition to query, document and score."""
    ready = [m for m in measures if not needs_pool(m)]
    further = sorted(set(ir_measures.run_inputs(ready)) if ready else ())
    return " ".join(c for c in further if c not in ("query_id", "doc_id", "score"))


def _needs_rows(measure: Measure) -> bool:
    """Whether a measure is computed from all rows of the results."""
    own = formula(measure)
    rows = own is None or own.needs_rows() or own.LAST_ROW_COUNTS
    return rows and not needs_pool(measure)


def _show_pool(columns: list[Column], runs: Evaluation) -> None:
    """Prints the systems of the pool of rareness measures without a pool."""
    pooled = [column.label for column in columns if needs_pool(column.measure)]
    if not pooled:
        return
    print(
        f"pt.asl.Experiment: rareness is counted over the {len(runs)} systems of the experiment: "
        + ", ".join(runs.names),
        file=sys.stderr,
    )
    warn_of_few(pooled, len(runs))


def _values_by_label(scores: Scores, columns: list[Column], runs: Evaluation) -> Scores:
    """The values of pt.Experiment and of this package, by the columns' labels."""
    theirs = set(next(iter(next(iter(scores.values())).values()), {}))
    own = {
        c.label: _own_values(c, runs)
        for c in columns
        if c.preference or str(c.measure) not in theirs
    }
    number = {qid: row for row, qid in enumerate(runs.judgements.qid_text.to_pylist())}

    def value(system: int, qid: Any, column: Column) -> float:
        if column.label not in own:
            return scores[system][qid][str(column.measure)]
        row = number.get(str(qid))
        return np.nan if row is None else own[column.label][system][row]

    return {
        system: {
            qid: {column.label: value(system, qid, column) for column in columns}
            for qid in sorted(queries, key=lambda qid: number.get(str(qid), len(number)))
        }
        for system, queries in sorted(scores.items())
    }


def _own_values(column: Column, runs: Evaluation) -> list[list[float]]:
    """The values of a measure, or of rrLP or sgnLP against the baseline, by system and query."""
    measure = column.measure
    if needs_pool(measure):
        return list(runs.values(measure).tolist())
    if column.preference is None:
        return [provided_values([measure], run)[0].tolist() for run in runs.runs]
    assert column.baseline is not None
    reciprocal = runs.reciprocal_ranks(measure["rel"], measure["cutoff"], measure["judged_only"])
    total = runs.judgements.num_relevant(measure["rel"])
    _, values = first_difference(reciprocal, reciprocal[column.baseline], total)
    return list((np.sign(values) if column.preference == "sgnLP" else values).tolist())
