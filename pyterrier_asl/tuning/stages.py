"""Tuning in stages, with the best settings of earlier stages fixed, as in Clarke (2019)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyterrier as pt

from ..common.notices import warn
from ..evaluation.sources import QrelsLike, on_grades
from ..retrieval.feedback import RobertsonPRF
from .objective import Objective, SearchResult, make_task
from .search import objective_for
from .space import Params, Space, truncated

if TYPE_CHECKING:
    from ..retrieval.index import TermIndex


@dataclass(frozen=True)
class Stage:
    """A stage of tuning.

    Attributes:
        name: its name in tables.
        pipeline: the pipeline.
        params: the distributions of its parameters, see :func:`~pyterrier_asl.RandomSearch`.
        handed_to: transformers that also get the best parameters of this stage: the last retrieval
            has the parameters of the first until it is tuned.
    """

    name: str
    pipeline: pt.Transformer
    params: Params
    handed_to: Sequence[pt.Transformer] = field(default=())


@dataclass(frozen=True)
class StagedResult:
    """Results of tuning in stages.

    Attributes:
        pipeline: the last stage's, with the best setting of every stage.
        table: the best and the worst trial of each stage, and the held-out topics. A row for
            each number: ``stage``; ``which`` (``best``, ``worst``); ``trial`` (its number; none for
            held-out topics); ``kind`` (``parameter``, ``measure``); ``name``; ``value``.
        trials: stage -> the frame of all its trials; trial -1 has the parameters before the search,
            trial -2 the parameters of an earlier stage, if they differ.
        settings: stage -> parameter -> the best value.
        notes: sentences on what must be known of the results of the pipeline and the qrels.
    """

    pipeline: pt.Transformer
    table: pd.DataFrame
    trials: dict[str, pd.DataFrame]
    settings: dict[str, dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    @property
    def candidates(self) -> dict[str, str]:
        """The best candidate of each stage: ``defaults``, ``carried over`` or ``trial 17``."""
        rows = self.table[(self.table["which"] == "best") & self.table["trial"].notna()]
        names = {-1: "defaults", -2: "carried over"}
        best = zip(rows["stage"], rows["trial"])
        return {stage: names.get(trial, f"trial {trial}") for stage, trial in best}


def StagedSearch(
    stages: Sequence[Stage],
    topics: pd.DataFrame,
    qrels: QrelsLike,
    metric: Any = "map",
    *,
    measures: Iterable[Any] = (),
    trials_only: bool = False,
    held_out: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]] | None = None,
    n_trials: int = 1000,
    seed: int | None = None,
    jobs: int = 1,
    verbose: bool = False,
    storage: Any = None,
    study_name: str = "StagedSearch",
    sweep: bool | None = None,
) -> StagedResult:
    """Tunes stage after stage, with the best settings of earlier stages fixed.

    Every stage also tries the parameters that its transformers had before the search, and the
    parameters that an earlier stage gave them; they win ties. So the result of a stage is never
    worse than its start. :attr:`StagedResult.candidates` says which one is the best.

    Afterwards the transformers have the best parameters of every stage. If the search fails, they
    have the parameters from before.

    Args:
        stages: in their order; :func:`bm25_stages` gives the paper's.
        topics: queries to tune on.
        qrels: their judgements.
        metric: the measure to optimise in every stage.
        measures: further measures to record.
        trials_only: whether a stage tries random settings only, as in the paper.
        held_out: name -> topics and qrels on which the tuned pipeline is measured at the end; a
            warning names those that contain topics of the tuning.
        n_trials: the number of settings of each stage.
        seed: the seed of the settings; stages draw different settings.
        jobs: the number of settings to try in parallel.
        verbose: whether to show progress.
        storage: the storage of the trials, see :func:`~pyterrier_asl.RandomSearch`. Each stage is a
            study. Its name depends on the results of earlier stages, so that it never continues a
            search with other results.
        study_name: the beginning of the names of the studies.
        sweep: None: sweep if possible; True: sweep or raise an error; False: run the pipeline.

    Raises:
        ValueError: without a stage, for two stages of one name, and as
            :func:`~pyterrier_asl.RandomSearch`.

    References:
        Clarke (2019), Length Normalization in the Era of Neural Rankers, section 4.2.
    """
    from .study import run_trials  # which needs Optuna

    names = [stage.name for stage in stages]
    if not stages or len(set(names)) < len(names):
        raise ValueError(f"give one stage or more, each with another name, not {names}")
    measures = list(measures)
    task = make_task(topics, qrels, metric, measures)
    for name, (other_topics, other_qrels) in (held_out or {}).items():
        make_task(other_topics, other_qrels, metric, measures)  # an error before the trials
        warn_of_tuned_topics(topics, other_topics, name)
    results: dict[str, SearchResult] = {}
    settings: dict[str, dict[str, Any]] = {}
    spaces = [Space(stage.params) for stage in stages]
    defaults = [space.current() for space in spaces]
    with _restoring(stages, spaces):
        for number, (stage, space) in enumerate(zip(stages, spaces)):
            objective = objective_for(stage.pipeline, space, task, sweep=sweep)
            known = [] if trials_only else [defaults[number], space.current()]
            if len(known) > 1 and known[0] == known[1]:
                known.pop()
            best = repr([(name, result.best) for name, result in results.items()])
            digest = hashlib.sha256(best.encode()).hexdigest()[:8]
            results[stage.name] = run_trials(
                objective,
                first={-1 - i: setting for i, setting in enumerate(known) if None not in setting},
                n_trials=n_trials,
                jobs=jobs,
                verbose=verbose,
                storage=storage,
                seed=None if seed is None else seed + number,
                study_name=f"{study_name}-{stage.name}-{digest}",
            )
            settings[stage.name] = dict(zip(space.labels, results[stage.name].best))
            use_settings([stage], settings)
        facts = objective.facts(results[stage.name].best)
        facts.warn()
        rows = [row for name, result in results.items() for row in _table_rows(name, result)]
        for name, held in (held_out or {}).items():
            fixed = fixed_objective(stages[-1].pipeline, *held, [metric, *measures], sweep=sweep)
            rows += mean_rows(name, fixed(()))
    trials = {name: result.trials for name, result in results.items()}
    notes = [*facts.notes, *on_grades(task.judgements, task.measures)]
    return StagedResult(stages[-1].pipeline, table_of(rows), trials, settings, notes)


@contextmanager
def _restoring(stages: Sequence[Stage], spaces: Sequence[Space]) -> Iterator[None]:
    """Gives the transformers their present parameters again if the search fails."""
    before = [
        (transformer, parameter.name, transformer.get_parameter(parameter.name))
        for stage, space in zip(stages, spaces)
        for parameter in space.parameters
        for transformer in (parameter.transformer, *stage.handed_to)
    ]
    try:
        yield
    except BaseException:
        for transformer, name, value in before:
            transformer.set_parameter(name, value)
        raise


def warn_of_tuned_topics(topics: pd.DataFrame, others: pd.DataFrame, name: str) -> None:
    """Warns where a pipeline is tested on topics on which it is tuned.

    Args:
        topics: the topics of the tuning.
        others: the topics of the test.
        name: the name of the test topics in the warning.
    """
    columns = [c for c in ("qid", "query") if c in topics.columns and c in others.columns]
    tuned = set(topics[columns].astype(str).itertuples(index=False, name=None))
    shared = sum(row in tuned for row in others[columns].astype(str).itertuples(False, None))
    if shared:
        warn(
            f"{shared} of the {len(others)} topics of {name!r} are among the {len(topics)} topics "
            "of the tuning: results on these topics do not hold for other topics",
        )


def fixed_objective(
    pipeline: pt.Transformer,
    topics: pd.DataFrame,
    qrels: QrelsLike,
    measures: Iterable[Any],
    *,
    sweep: bool | None = None,
) -> Objective:
    """The objective of a pipeline with its present parameters: the setting is ``()``.

    Args:
        pipeline: the pipeline.
        topics: queries.
        qrels: their judgements.
        measures: one or more, each a measure or its name for trec_eval or ir_measures.
        sweep: None: sweep if possible; True: sweep or raise an error; False: run the pipeline.
    """
    first, *others = measures
    return objective_for(pipeline, Space([]), make_task(topics, qrels, first, others), sweep=sweep)


def bm25_stages(index: TermIndex, *, num_results: int = 1000, weights: str = "idf") -> list[Stage]:
    """The paper's stages: initial retrieval, feedback and final retrieval, over a TermIndex.

    b is uniform on (0, 1) and k1 log-uniform on (.01, 1000), for the first and for the last
    retrieval; m and n are log-uniform on (8, 32) and (4, 32), without decimals; gamma is uniform on
    (0, 1). The last retrieval has the b and k1 of the first until it is tuned.

    Args:
        index: the index of the collection.
        num_results: the number of results that are evaluated.
        weights: the term weights of feedback, ``'idf'`` or ``'rsj'``; see
            :class:`~pyterrier_asl.RobertsonPRF`.

    References:
        Clarke (2019), Length Normalization in the Era of Neural Rankers, Table 1.

    Examples:
        >>> from pyterrier_asl import TermIndex
        >>> documents = [{"docno": "d1", "text": "radio waves"}]
        >>> stages = bm25_stages(TermIndex.from_documents(documents, verbose=False))
        >>> [stage.name for stage in stages]
        ['initial retrieval', 'feedback', 'final retrieval']
    """
    from scipy.stats import loguniform, uniform

    retrieval = {"b": uniform(0, 1), "k1": loguniform(0.01, 1000)}
    feedback = {
        "fb_docs": truncated(loguniform(8, 32)),
        "fb_terms": truncated(loguniform(4, 32)),
        "gamma": uniform(0, 1),
    }
    first, final = index.bm25(num_results=num_results), index.bm25(num_results=num_results)
    prf = RobertsonPRF(index, weights=weights)
    whole = first >> prf >> final
    return [
        Stage("initial retrieval", first, [(first, retrieval)], handed_to=[final]),
        Stage("feedback", whole, [(prf, feedback)]),
        Stage("final retrieval", whole, [(final, retrieval)]),
    ]


def use_settings(stages: Sequence[Stage], settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Sets the best settings of a search in stages, for example on another collection.

    Args:
        stages: stages with the names and parameters of the tuned stages.
        settings: :attr:`StagedResult.settings`.
    """
    for stage in stages:
        for parameter in Space(stage.params).parameters:
            for transformer in (parameter.transformer, *stage.handed_to):
                transformer.set_parameter(parameter.name, settings[stage.name][parameter.label])


def _table_rows(stage: str, result: SearchResult) -> Iterable[tuple[Any, ...]]:
    """The rows of :attr:`StagedResult.table` for the best and the worst trial of a stage."""
    for which in ("best", "worst"):
        row = result.extreme_row(best=which == "best")
        trial = int(result.trials["trial"].iloc[row])
        for label, value in zip(result.labels, result.settings[row]):
            yield (stage, which, trial, "parameter", label, value)
        for name in result.task.measures:
            yield (stage, which, trial, "measure", name, float(result.trials[name].iloc[row]))


def mean_rows(stage: str, values: Mapping[str, float]) -> list[tuple[Any, ...]]:
    """The rows of :attr:`StagedResult.table` for means on other topics."""
    return [(stage, "best", None, "measure", *item) for item in values.items()]


def table_of(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    """The table of :attr:`StagedResult.table` from its rows."""
    return pd.DataFrame(rows, columns=["stage", "which", "trial", "kind", "name", "value"]).astype(
        {"trial": "Int64"}
    )
