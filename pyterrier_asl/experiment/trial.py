"""Trial of the systems of an experiment: each system is run once, recorded and measured."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from ..common.notices import counted, warn
from ..common.types import Floats
from ..evaluation.evaluation import Evaluation
from ..evaluation.measuring import check_provided
from ..evaluation.sources import warn_of_grades
from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements, judgements_of
from ..judging.matching import judge
from ..judging.qrels import matching_of
from ..leaderboard.samples import Sample, checked_sample
from ..measures.formula import formula
from ..measures.parsing import NamedMeasure, needs_pool
from ..measures.provider import Unscored
from ..measures.rareness import check_pooled, warn_of_few
from ..scoring.lexicographic import first_difference
from .arguments import Column
from .recorder import ResultRecorder, Saving, with_recorders


@dataclass(frozen=True)
class Trial:
    """Topics, judgements and options for running and measuring the systems."""

    names: list[str]
    topics: pd.DataFrame
    qrels: Any
    filters: dict[str, bool]
    saving: Saving
    running: dict[str, Any]
    quiet: bool

    @cached_property
    def judged(self) -> Judgements:
        """All judgements. A document that occurs twice in a ranking is counted once by default."""
        judged = judgements_of(self.qrels)
        return judged.with_matching({"duplicates": "best", **matching_of(self.qrels)})

    @cached_property
    def judgements(self) -> Judgements:
        """The judgements that systems are measured by."""
        return (
            self.judged.of_queries(self.topics["qid"])
            if self.filters["filter_by_topics"]
            else self.judged
        )

    @cached_property
    def unjudged_topics(self) -> list[str]:
        """The topics without judgements, whose values are NaN."""
        known, kept = {*self.judgements.qid_text.to_pylist()}, not self.filters["filter_by_qrels"]
        return [qid for qid in self.topics["qid"] if kept and qid not in known]

    def check(self, columns: Sequence[Column], ranks: bool) -> None:
        """Checks what can be known before the systems run.

        Args:
            columns: the measures.
            ranks: whether intervals of ranks are computed.

        Raises:
            ValueError: for a measure that lacks a parameter or that no provider computes, equal
                names of systems among which a document is rare, and too few topics for ranks.
        """
        nothing, others = judge(self.judgements, {}), []
        for measure in (column.measure for column in columns):
            if needs_pool(measure):
                check_pooled(measure)
                if len(set(self.names)) < len(self.names):
                    raise ValueError(
                        f"rareness counts systems by name: give each its own, not {self.names}"
                    )
            elif (own := formula(measure)) is not None:
                own.values(nothing)
            else:
                others.append(measure)
        check_provided(others, self.judgements)
        if ranks:
            checked_sample(Sample(self.names, self.judgements.qids, True, {}), "")

    def run(self, systems: list[Any], measures: Sequence[Any]) -> Any:
        """Calls pt.Experiment, which runs the systems and measures nothing but response times.

        Args:
            systems: the systems, or their results.
            measures: the measures.
        """
        with warnings.catch_warnings():
            # About summaries that are replaced.
            warnings.filterwarnings("ignore", message="Evaluation measures differ")
            return pt.Experiment(
                systems,
                self.topics,
                self.judged.table.frame("qid", "docno", "label"),
                list(measures),
                names=self.names,
                **self.filters,
                **self.running,
                **vars(self.saving),
            )


@dataclass(frozen=True)
class ExperimentValues:
    """All values of an experiment.

    Attributes:
        names: the names of the systems, S of them.
        columns: the measures, in the user's order.
        values: the values by the labels of the columns, shape (S, Q).
        queries: the judged queries, over which means are taken, Q of them.
        unjudged: the topics without judgements.
        mrt: mean response times; None: not measured.
        notes: sentences on what must be known of the results and the qrels.
    """

    names: list[str]
    columns: list[Column]
    values: dict[str, Floats]
    queries: list[str]
    unjudged: list[str]
    mrt: list[float] | None
    notes: Sequence[str] = ()

    @property
    def by_query(self) -> dict[int, dict[str, dict[str, float]]]:
        """Values by system number, query and measure, as pt.Experiment returns them."""
        qids = [*self.queries, *self.unjudged]
        table = np.full((len(self.names), len(qids), len(self.values)), np.nan)
        table[:, : len(self.queries)] = np.stack([*self.values.values()], axis=2)
        return {
            system: {qid: dict(zip(self.values, row)) for qid, row in zip(qids, rows)}
            for system, rows in enumerate(table.tolist())
        }


def score(trial: Trial, systems: list[Any], columns: list[Column], mrt: bool) -> ExperimentValues:
    """Runs every system once, and measures its results as ``evaluate`` does."""
    measures = {c.label: c.measure for c in columns if c.preference is None}
    judgements = trial.judgements
    warn_of_grades(judgements, {column.label: column.measure for column in columns})
    recorders = [ResultRecorder(name, trial.running["batch_size"], mrt) for name in trial.names]
    pipelines = with_recorders(systems, recorders, trial.saving)
    is_unique = len({*trial.names}) == len(trial.names)
    names = [name if is_unique else f"{name} ({at})" for at, name in enumerate(trial.names)]
    ready = _matched(names, recorders, judgements)  # an error comes before any system runs
    # The columns of results that measures need in addition to query, document and score.
    inputs = {*ir_measures.run_inputs([m for m in measures.values() if not needs_pool(m)])}
    unscored = Unscored(columns=" ".join(sorted(inputs - {"query_id", "doc_id", "score"})))
    table = trial.run(pipelines, [unscored, *(["mrt"] if mrt else [])])
    by_name = {**_matched(names, recorders, judgements, known=ready), **ready}
    runs = Evaluation(names, [by_name[name] for name in names], judgements, trial.qrels)
    facts = runs.facts(measures)
    facts.warn()
    if trial.unjudged_topics and not trial.quiet:
        warn(
            f"{counted(len(trial.unjudged_topics), 'topic')} not in the qrels "
            f"(e.g. {trial.unjudged_topics[0]!r}): the values are NaN"
        )
    _show_pool(columns, runs)
    values = runs.columns_of([NamedMeasure(*item) for item in measures.items()])
    values = {
        c.label: values[c.label] if c.preference is None else _preferences(c, runs) for c in columns
    }
    return ExperimentValues(
        names=trial.names,
        columns=columns,
        values=values,
        queries=judgements.qid_text.to_pylist(),
        unjudged=trial.unjudged_topics,
        mrt=table["mrt"].tolist() if mrt else None,
        notes=facts.notes,
    )


def _matched(
    names: list[str],
    recorders: list[ResultRecorder],
    judgements: Judgements,
    known: Container[str] = (),
) -> dict[str, JudgedRun]:
    """The recorded results by name, matched with the judgements; without the known ones."""
    new = {
        name: run
        for name, recorder in zip(names, recorders)
        if name not in known and (run := recorder.run) is not None
    }
    if not new:
        return {}
    matched = Evaluation.of(new, judgements)
    return dict(zip(matched.names, matched.runs))


def _show_pool(columns: list[Column], runs: Evaluation) -> None:
    """Prints the systems of the pool of rareness measures without a pool."""
    if pooled := [column.label for column in columns if needs_pool(column.measure)]:
        print(
            f"pt.asl.Experiment: rareness is counted over the {len(runs)} systems of the "
            f"experiment: {', '.join(runs.names)}",
            file=sys.stderr,
        )
        warn_of_few(pooled, len(runs))


def _preferences(column: Column, runs: Evaluation) -> Floats:
    """The values of rrLP or sgnLP against the baseline, shape (S, Q)."""
    measure = column.measure
    assert column.baseline is not None
    reciprocal = runs.reciprocal_ranks(measure["rel"], measure["cutoff"], measure["judged_only"])
    _, values = first_difference(
        reciprocal, reciprocal[column.baseline], runs.judgements.num_relevant(measure["rel"])
    )
    return np.sign(values) if column.preference == "sgnLP" else values
