"""Runs every system of an experiment once, and scores it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import Measure

from ..evaluation.bounds import labelled_measures
from ..evaluation.judged_runs import JudgedRuns
from ..judging.judgements import Judgements, NothingJudged
from ..measures import LexiP
from ..measures.names import needs_pool, pool_depth, with_pool
from ..measures.pool import RarenessPool
from ..scoring.arrays import Floats
from ..scoring.lexicographic import first_difference
from .arguments import Column
from .recorder import ResultRecorder, Saving, check_results, error_context, with_recorders

#: System number -> query -> measure -> value: what pt.Experiment returns for every query.
Scores = dict[int, dict[Any, dict[str, float]]]


_RUN = {"query_id": "qid", "doc_id": "docno"}


@dataclass(frozen=True)
class Trial:
    """What the systems are tried on, and how."""

    names: list[str]
    topics: pd.DataFrame
    qrels: pd.DataFrame
    filters: dict[str, bool]
    saving: Saving
    running: dict[str, Any]
    quiet: bool

    def judgements(self) -> Judgements:
        """Those that the systems are scored by."""
        qrels = self.qrels
        if self.filters["filter_by_topics"]:
            qrels = qrels[qrels["qid"].isin(self.topics["qid"])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scoring says the same
            return Judgements(qrels)

    def check_test(self, columns: Sequence[Column], baselines: Sequence[int]) -> None:
        """Raises ValueError where measures are to be tested that cannot be, before anything runs.

        A t-test of one query has no p-value; SciPy's Wilcoxon test is an error.
        """
        tested = baselines and any(column.preference is None for column in columns)
        if tested and self.running["test"] == "wilcoxon" and len(self.judgements()) == 1:
            raise ValueError(
                "test='wilcoxon' needs two judged topics or more, and there is 1: give more topics "
                "with judgements, or leave baseline= out"
            )

    def batches(self) -> list[list[str]]:
        """The query ids of each batch of topics; none where there are no batches."""
        size = self.running["batch_size"]
        qids = self.topics["qid"]
        if self.filters["filter_by_qrels"]:
            qids = qids[qids.isin(self.qrels["qid"])]
        starts = range(0, 0 if size is None else len(qids), size or 1)
        return [qids.iloc[start : start + size].tolist() for start in starts]

    def run(
        self, systems: list[Any], measures: Sequence[Measure], perquery: Any, **options: Any
    ) -> Any:
        """Calls pt.Experiment, with the warnings off that do not apply here.

        Args:
            systems: the systems, or their results.
            measures: what to score them by.
            perquery: as in pt.Experiment.
            options: in place of those that the user asked for.
        """
        options = options or self.running
        with warnings.catch_warnings():
            # Of a batch; whole runs are checked.
            warnings.filterwarnings("ignore", category=NothingJudged)
            # Its summaries are replaced.
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
    """Every value of an experiment.

    Attributes:
        names: the systems.
        columns: the measures, in the order asked for.
        scores: the values, by the columns' labels.
        queries: the judged queries, over which means are taken.
        mrt: mean response times, where asked for.
        bounds: the bounds of the means, shape (systems, 2), by the columns' labels, where asked
            for.
    """

    names: list[str]
    columns: list[Column]
    scores: Scores
    queries: list[Any]
    mrt: list[float] | None
    bounds: dict[str, Floats]

    def values(self, column: Column) -> Floats:
        """Those of one column, shape (systems, queries)."""
        each = [
            queries[qid][column.label] for queries in self.scores.values() for qid in self.queries
        ]
        return np.array(each, np.float64).reshape(len(self.scores), len(self.queries))


def score(
    trial: Trial, systems: list[Any], columns: list[Column], mrt: bool, bounds: bool = False
) -> ExperimentValues:
    """Runs every system once and scores it, in one call of pt.Experiment where that will do.

    A pool of all systems is known only when all have run, and pt.Experiment gives away either
    response times or per-query values; then the results are kept, and scored by a second call.
    """
    poolless = [c.measure for c in columns if needs_pool(c.measure)]
    measures = _unique(columns)
    twice = bool(mrt or poolless or not measures)
    preferences = any(c.preference for c in columns)
    keep = _needed(measures) if twice or bounds or preferences else []
    judgements = trial.judgements()
    recorders = [ResultRecorder(name, judgements, keep) for name in trial.names]
    pipelines = with_recorders(systems, recorders, trial.saving, trial.batches())
    scores: Scores = {}
    times = None
    with error_context(recorders, trial.saving):
        if twice:
            table = trial.run(pipelines, ["mrt", *_probe(measures)], False)
            times = table["mrt"].tolist() if mrt else None
        else:
            scores = trial.run(pipelines, measures, "both")[1]
    check_results(recorders, trial.saving)
    _warn_of_depths(columns, recorders)
    if poolless:
        pool = _pool(poolless, recorders)
        columns = [replace(c, measure=with_pool(c.measure, pool)) for c in columns]
    if twice:
        results = [one.frame for one in recorders]
        scored_by = _unique(columns) or [LexiP]
        scores = trial.run(results, scored_by, "both", validate="ignore", verbose=False)[1]
    labelled = _labelled(scores, columns, judgements, recorders)
    known = set(judgements.qid_text.to_pylist())
    queries = [qid for qid in labelled[0] if str(qid) in known]
    limits = _bounds(columns, judgements, recorders) if bounds else {}
    return ExperimentValues(trial.names, columns, labelled, queries, times, limits)


def _bounds(
    columns: list[Column], judgements: Judgements, recorders: list[ResultRecorder]
) -> dict[str, Floats]:
    """The bounds of each system's means, shape (systems, 2), by the columns' labels."""
    runs = [judgements.judge_part(one.frame) for one in recorders]
    measures = {c.label: c.measure for c in columns if c.preference is None}
    names = [str(number) for number in range(len(runs))]
    labelled = labelled_measures(JudgedRuns(names, runs, judgements), measures)
    return {
        label: np.array([np.mean(one.bounds(row), axis=1) for row in range(len(runs))])
        for label, one in labelled.items()
    }


def _unique(columns: list[Column]) -> list[Measure]:
    """The measures, each once."""
    return list(dict.fromkeys(c.measure for c in columns if c.preference is None))


def _needed(measures: list[Measure]) -> list[str]:
    """The columns of results that scoring needs."""
    ready = [m for m in measures if not needs_pool(m)]
    further = ir_measures.run_inputs(ready) if ready else []
    return list(dict.fromkeys(["qid", "docno", "score", *(_RUN.get(c, c) for c in further)]))


def _probe(measures: list[Measure]) -> list[Measure]:
    """As few measures as ask of the systems what all of them do."""
    ready = [m for m in measures if not needs_pool(m)]
    wanting = [m for m in ready if set(_needed([m])) > set(_needed([]))]
    return wanting or ready[:1] or [LexiP]


def _pool(measures: list[Measure], recorders: list[ResultRecorder]) -> RarenessPool:
    """The pool of the experiment's own systems, as deep as the measures need."""
    names = [one.name for one in recorders]
    if len(set(names)) < len(names):
        raise ValueError(f"rareness counts systems by name: give each its own, not {names}")
    depth = pool_depth(measures)
    print(
        f"pt.asl.Experiment: rareness is counted over the {len(names)} systems of the experiment: "
        + ", ".join(names),
        file=sys.stderr,
    )
    return RarenessPool.from_runs(
        {one.name: one.frame for one in recorders}, depth=depth, name="experiment"
    )


def _warn_of_depths(columns: list[Column], recorders: list[ResultRecorder]) -> None:
    """ASL that fills nothing up rewards a system for returning less."""
    for column in columns:
        if column.measure.params.get("missing", "pad") == "pad":
            continue
        cutoff = column.measure["cutoff"] or np.inf
        depths = [float(np.minimum(one.retrieved, cutoff).mean()) for one in recorders]
        low, high = int(np.argmin(depths)), int(np.argmax(depths))
        if depths[high] > 1.1 * depths[low]:
            warnings.warn(
                f"{column.label} compares rankings as long as they are, and shorter ones do better "
                f"by that: {recorders[low].name!r} retrieved {depths[low]:.1f} documents a query, "
                f"{recorders[high].name!r} {depths[high]:.1f}; missing='pad' measures all at one "
                "depth",
                stacklevel=4,
            )


def _labelled(
    scores: Scores, columns: list[Column], judgements: Judgements, recorders: list[ResultRecorder]
) -> Scores:
    """The values by the columns' labels, preferences among them."""
    preferred = {c.label: _preference(c, judgements, recorders) for c in columns if c.preference}

    def value(system: int, qid: Any, column: Column) -> float:
        if column.preference is None:
            return scores[system][qid][str(column.measure)]
        return preferred[column.label][system].get(str(qid), np.nan)

    return {
        system: {
            qid: {column.label: value(system, qid, column) for column in columns} for qid in queries
        }
        for system, queries in sorted(scores.items())
    }


def _preference(
    column: Column, judgements: Judgements, recorders: list[ResultRecorder]
) -> list[dict[str, float]]:
    """Every system against the baseline: query -> rrLP or sgnLP."""
    measure = column.measure
    assert column.baseline is not None
    kept = [one.judged_run for one in recorders if one.judged_run is not None]
    runs = JudgedRuns([one.name for one in recorders], kept, judgements)
    reciprocal = runs.reciprocal_ranks(measure["rel"], measure["cutoff"], measure["judged_only"])
    total = judgements.num_relevant(measure["rel"])
    _, values = first_difference(reciprocal, reciprocal[column.baseline], total)
    if column.preference == "sgnLP":
        values = np.sign(values)
    qids = judgements.qid_text.to_pylist()
    return [dict(zip(qids, row)) for row in values.tolist()]
