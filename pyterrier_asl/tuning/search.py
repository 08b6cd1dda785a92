"""Random search over any pipeline: pt.GridSearch with distributions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias, get_args

import pandas as pd
import pyterrier as pt

from ..common.parameters import check_name, taking_other_names
from ..evaluation.sources import QrelsLike, refuse, warn_of_grades
from .objective import Objective, TuningTask, make_task
from .space import Params, Space, transformers_of
from .sweep import NotSwept, Sweep

ReturnType: TypeAlias = Literal["opt_pipeline", "best_setting", "both", "trials"]


@taking_other_names
def RandomSearch(
    pipeline: pt.Transformer,
    params: Params,
    topics: pd.DataFrame,
    qrels: QrelsLike,
    metric: Any = "map",
    *,
    measures: Iterable[Any] = (),
    n_trials: int = 1000,
    seed: int | None = None,
    jobs: int = 1,
    verbose: bool = False,
    batch_size: int | None = None,
    return_type: ReturnType = "opt_pipeline",
    storage: Any = None,
    study_name: str | None = None,
    sweep: bool | None = None,
) -> Any:
    """Tunes a pipeline by random settings of its parameters, and keeps the best.

    It has the arguments and results of ``pt.GridSearch``, and takes distributions as well as lists
    of values. If all parameters have lists, each setting of the grid is tried once, in order.
    Measures are optimised in their direction: ``ASL@1000`` is minimised. Means are over the topics
    given that are judged (``pt.GridSearch``: over all queries of the qrels). The first of equally
    good settings is taken. A warning names parameters on which the measure does not depend in any
    trial.

    The setting of a trial depends on the seed and the number of the trial only: any number of
    ``jobs`` gives the same table. A setting that is drawn twice is measured once. With ``storage``
    every finished trial is saved, and a search that was interrupted continues when it is started
    again. ``n_trials`` is the total number, which a later search can raise. The study keeps a
    description of its pipeline, parameters, measures, topics and judgements, and refuses another
    search.

    If the pipeline is BM25 over a :class:`~pyterrier_asl.TermIndex`, or ``bm25 >> RobertsonPRF >>
    bm25``, and the measures allow it, settings are scored by a sweep (see
    :mod:`pyterrier_asl.tuning.sweep`), which gives the same values many times faster.

    Args:
        pipeline: a pipeline whose transformers have ``set_parameter()``.
        params: transformer -> name of a parameter -> its distribution: a SciPy distribution
            (``uniform(0, 1)``, ``loguniform(.01, 1000)``, ``randint(1, 11)``),
            :func:`~pyterrier_asl.tuning.truncated` of a distribution for whole numbers, or a list
            of values; a tuple, which could be a range, is refused. For two equal transformers,
            which cannot both be keys of a dict, give pairs: ``[(first, {...}), (second, {...})]``.
        topics: queries to tune on.
        qrels: their judgements.
        metric: the measure to optimise, or its name for trec_eval or ir_measures.
        measures: further measures to record in each trial.
        n_trials: the number of settings, including the settings of an interrupted search; of a
            grid at most all settings, otherwise a random sample of them.
        seed: the seed of the settings; None: a random seed.
        jobs: the number of settings to try in parallel, in processes, or in threads for a sweep.
            -1: the number of processors.
        verbose: whether to show progress.
        batch_size: the number of topics to run together; None: all.
        return_type: ``'opt_pipeline'``, the pipeline given, whose parameters now have the best
            setting; ``'best_setting'``, its value and a list of (transformer, name, value);
            ``'both'``, pipeline, value and list;
            ``'trials'``, a frame of all trials: ``trial``, a column for each parameter and for each
            measure; its ``attrs["notes"]`` say what must be known of the results with the best
            setting, for which the pipeline runs once more, and of the qrels. The pipeline keeps
            its own parameters with ``'best_setting'`` and ``'trials'``, and where the search fails.
        storage: the storage of the trials: a URL such as ``'sqlite:///search.db'``, or an Optuna
            storage. The study has parameters, value and duration of each trial.
        study_name: the name of the search in the storage.
        sweep: None: sweep if possible; True: sweep or raise an error; False: run the pipeline.

    Raises:
        ValueError: for invalid arguments, a measure that is NaN, or the study of another search.
        ChildProcessError: for a worker process that was killed.
        NotSwept: with ``sweep=True`` where the sweep does not apply.

    References:
        Bergstra and Bengio (2012), Random Search for Hyper-Parameter Optimization.

    Examples:
        >>> from scipy.stats import loguniform, uniform
        >>> from pyterrier_asl import TermIndex
        >>> index = TermIndex.from_documents(
        ...     [
        ...         {"docno": "d1", "text": "radio waves, the scattering of waves, radio"},
        ...         {"docno": "d2", "text": "radio"},
        ...         {"docno": "d3", "text": "the voltage of a transistor"},
        ...         {"docno": "d4", "text": "ferrite cores"},
        ...         {"docno": "d5", "text": "a transistor and its voltage at length"},
        ...     ],
        ...     verbose=False,
        ... )
        >>> topics = pd.DataFrame({"qid": ["q1"], "query": ["radio"]})
        >>> qrels = pd.DataFrame({"qid": ["q1"], "docno": ["d2"], "label": [1]})
        >>> bm25 = index.bm25()
        >>> space = {bm25: {"b": uniform(0, 1), "k1": loguniform(0.01, 1000)}}
        >>> value, setting = RandomSearch(
        ...     bm25, space, topics, qrels, "ASL@10", n_trials=5, seed=1, return_type="best_setting"
        ... )
        >>> value, [name for _, name, _ in setting]
        (1.0, ['b', 'k1'])
    """
    check_name("return_type", return_type, get_args(ReturnType))
    task = make_task(topics, qrels, metric, measures)
    warn_of_grades(task.judgements, task.measures)
    return _search(
        pipeline,
        params,
        task,
        return_type,
        batch_size=batch_size,
        sweep=sweep,
        n_trials=n_trials,
        seed=seed,
        jobs=jobs,
        verbose=verbose,
        storage=storage,
        study_name=study_name,
    )


def _search(
    pipeline: pt.Transformer,
    params: Params,
    task: TuningTask,
    return_type: str,
    *,
    batch_size: int | None,
    sweep: bool | None,
    **trials: Any,
) -> Any:
    """The result of :func:`RandomSearch`; ``trials`` are options of :func:`.study.run_trials`."""
    from .study import run_trials  # which needs Optuna

    space = Space(params)
    with space.restore_at_end():
        objective = objective_for(pipeline, space, task, batch_size=batch_size, sweep=sweep)
        result = run_trials(objective, **trials)
        facts = objective.facts(result.best)
    facts.warn()
    result.trials.attrs["notes"] = facts.notes
    if return_type in ("opt_pipeline", "both"):
        space.set(result.best)
    best = result.value, [(p.transformer, p.name, v) for p, v in zip(space.parameters, result.best)]
    return {
        "opt_pipeline": pipeline,
        "best_setting": best,
        "both": (pipeline, *best),
        "trials": result.trials,
    }[return_type]


@taking_other_names
def KFoldRandomSearch(
    pipeline: pt.Transformer,
    params: Params,
    topics_list: Sequence[pd.DataFrame],
    qrels: QrelsLike,
    metric: Any = "map",
    *,
    measures: Iterable[Any] = (),
    n_trials: int = 1000,
    seed: int | None = None,
    jobs: int = 1,
    verbose: bool = False,
    batch_size: int | None = None,
    storage: Any = None,
    study_name: str | None = None,
    sweep: bool | None = None,
) -> tuple[pd.DataFrame, list[list[tuple[pt.Transformer, str, Any]]]]:
    """Tunes a pipeline for each fold on the topics of the other folds, and runs it on that fold.

    Like ``pt.KFoldGridSearch``. The pipeline keeps its parameters.

    Args:
        pipeline: a pipeline whose transformers have ``set_parameter()``.
        params: the distributions of its parameters, see :func:`RandomSearch`.
        topics_list: the folds, two or more.
        qrels: judgements of all topics, or a list of the frames of each fold.
        metric: the measure to optimise.
        measures: these and the other arguments are those of :func:`RandomSearch`.
        n_trials: the number of settings of each fold.
        seed: the seed of the settings, the same for each fold.
        jobs: the number of settings to try in parallel.
        verbose: whether to show progress.
        batch_size: the number of topics to run together; None: all.
        storage: the storage of the trials.
        study_name: the name of the searches in the storage; the number of the fold is added.
        sweep: None: sweep if possible; True: sweep or raise an error; False: run the pipeline.

    Returns:
        The results for the topics of all folds, each from the pipeline tuned on the other folds;
        and the setting of each fold, a list of (transformer, name, value).

    Raises:
        ValueError: for fewer than two folds, a topic in two folds, and as :func:`RandomSearch`.
    """
    if isinstance(topics_list, int):
        raise ValueError(
            f"topics_list is a list of frames of topics, one per fold, not {topics_list!r}: "
            "[topics[fold::5] for fold in range(5)] makes five"
        )
    if len(topics_list) < 2:
        raise ValueError(f"give two folds of topics or more, not {len(topics_list)}")
    _check_folds(topics_list)
    if isinstance(qrels, (list, tuple)):
        if len(qrels) != len(topics_list):
            raise ValueError(f"there are {len(topics_list)} folds and {len(qrels)} frames of qrels")
        qrels = pd.concat(list(qrels)).drop_duplicates(ignore_index=True)
    measures = list(measures)
    whole = make_task(pd.concat(topics_list), qrels, metric, measures)
    warn_of_grades(whole.judgements, whole.measures)
    results, settings = [], []
    for fold, held_out in enumerate(topics_list):
        others = pd.concat([*topics_list[:fold], *topics_list[fold + 1 :]], ignore_index=True)
        task = make_task(others, qrels, metric, measures)
        with Space(params).restore_at_end():
            _, _, setting = _search(
                pipeline,
                params,
                task,
                "both",
                batch_size=batch_size,
                sweep=sweep,
                n_trials=n_trials,
                seed=seed,
                jobs=jobs,
                verbose=verbose,
                storage=storage,
                study_name=f"{study_name or 'RandomSearch'}-fold{fold + 1}",
            )
            results.append(pipeline.transform(held_out))
            settings.append(setting)
    return pd.concat(results, ignore_index=True), settings


def _check_folds(folds: Sequence[pd.DataFrame]) -> None:
    """Raises ValueError for folds that are no frames of topics, or share a topic."""
    fold_of: dict[str, int] = {}
    for number, fold in enumerate(folds, 1):
        if not isinstance(fold, pd.DataFrame) or "qid" not in fold.columns:
            what = list(fold.columns) if isinstance(fold, pd.DataFrame) else repr(fold)
            raise ValueError(
                "topics_list must be a list of frames, each with the topics of a fold and a column "
                f"'qid'; fold {number} is {what}"
            )
        for qid in fold["qid"].astype(str).unique():
            if fold_of.setdefault(qid, number) != number:
                raise ValueError(
                    f"topic {qid!r} is in fold {fold_of[qid]} and in fold {number}, so a pipeline "
                    "would be tuned and tested on it; give folds without common topics"
                )


def objective_for(
    pipeline: pt.Transformer,
    space: Space,
    task: TuningTask,
    *,
    batch_size: int | None = None,
    sweep: bool | None,
) -> Objective:
    """The sweep if it applies and ``sweep`` allows it, else the pipeline.

    Raises:
        ValueError: for a parameter of a transformer that is not in the pipeline.
    """
    inside = set(map(id, transformers_of(pipeline)))
    for parameter in space.parameters:
        if id(parameter.transformer) not in inside:
            raise ValueError(
                f"params tunes {parameter.name!r} of {parameter.transformer}, which is not in the "
                f"pipeline {pipeline}: give the object that the pipeline holds, not an equal one"
            )
    if sweep:
        refuse("is for pipelines, not for sweep=True", batch_size=batch_size)
    if sweep is not False:
        try:
            return Sweep(pipeline, space, task)
        except NotSwept:
            if sweep:
                raise
    return Objective(pipeline, space, task, batch_size)
