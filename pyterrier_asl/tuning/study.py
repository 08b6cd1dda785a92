"""Trials on Optuna: which settings they try, and how a search resumes.

A search of n trials is the draws 0 to n - 1. Whoever works on the study is given a trial by Optuna,
whose number nobody else gets, and makes the draw of that number; what a draw holds depends on the
seed and its number alone. So it is the same set of trials however many processes make it, and
whether or not some of them were killed: draws that were begun and not finished are made again at
the end.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import secrets
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from ..evaluation.parent import exit_with_parent
from ..io.processes import safe_restarts, safe_start
from ..retrieval._transformer import check_count
from .objective import Objective, SearchResult, TuningTask, check_not_nan
from .space import Setting, Space, describe

try:
    import optuna
    from optuna.trial import TrialState
except ImportError as error:
    raise ImportError("searches need Optuna: pip install 'pyterrier-asl[tune]'") from error

_RECORD, _DRAW, _SEARCH = "record", "draw", "search"


class NumberedSampler(optuna.samplers.BaseSampler):  # type: ignore[misc]
    """Draws every parameter independently and at random, by seed and number of the draw.

    Args:
        seed: from 0.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        return {}

    def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
        return {}

    def sample_independent(
        self, study: Any, trial: Any, param_name: str, param_distribution: Any
    ) -> Any:
        draw = trial.user_attrs.get(_DRAW, trial.number)
        point = np.random.default_rng([self.seed, draw, zlib.crc32(param_name.encode())]).random()
        if isinstance(param_distribution, optuna.distributions.CategoricalDistribution):
            return param_distribution.choices[int(point * len(param_distribution.choices))]
        return float(point)


def run_trials(
    objective: Objective,
    space: Space,
    task: TuningTask,
    *,
    n_trials: int,
    seed: int | None = None,
    jobs: int = 1,
    sampler: Any = None,
    storage: Any = None,
    study_name: str | None = None,
    verbose: bool = False,
) -> SearchResult:
    """Makes what is missing of ``n_trials`` trials; arguments as in :func:`.search.RandomSearch`.

    Raises:
        ValueError: for arguments out of range, a study of another search, a measure that is NaN.
    """
    _check_options(n_trials, seed, jobs, sampler)
    with _quiet():
        study = _study(space, task, seed, sampler, storage, study_name)
        bar = pt.tqdm(total=n_trials, desc="searching", unit="trial", disable=not verbose)
        bar.update(len(_finished(study, n_trials)))

        def show(study: Any, trial: Any) -> None:
            if trial.state == TrialState.COMPLETE:
                bar.set_postfix_str(f"{task.metric} {study.best_value:.4f}", refresh=False)
                bar.update()

        with bar, _workers(objective, jobs) as evaluate:

            def run(trial: Any) -> float:
                _begin(study, trial, n_trials)
                setting = space.setting(_suggest(trial, space))
                measures = evaluate(setting)
                check_not_nan(measures, space, setting)
                trial.set_user_attr(_RECORD, _record(space, setting, measures))
                return measures[task.metric]

            while missing := _missing_trials(study, n_trials):
                study.optimize(run, n_trials=missing, n_jobs=_processors(jobs), callbacks=[show])
    return _search_result(study, space, task, n_trials)


def _missing_trials(study: Any, n_trials: int) -> int:
    """How many draws have not been begun or, where all have, are not finished."""
    begun = len(study.get_trials(deepcopy=False))
    return n_trials - begun if begun < n_trials else len(_open_draws(study, n_trials))


def _begin(study: Any, trial: Any, n_trials: int) -> None:
    """Gives a trial that is one too many the draw of one that was not finished."""
    if trial.number >= n_trials:
        again = _open_draws(study, n_trials)
        if not again:  # another process has been quicker
            study.stop()
            raise optuna.TrialPruned
        trial.set_user_attr(_DRAW, again[0])


def _suggest(trial: Any, space: Space) -> Iterator[float]:
    for parameter in space.parameters:
        if parameter.choices is None:
            yield trial.suggest_float(parameter.label, 0.0, 1.0)
        else:
            yield trial.suggest_categorical(parameter.label, list(range(parameter.choices)))


def _record(space: Space, setting: Setting, measures: dict[str, float]) -> dict[str, Any]:
    """What a trial was: Optuna's own parameters are quantiles."""
    shown = {
        label: value if isinstance(value, (str, int, float, bool)) else repr(value)
        for label, value in zip(space.labels, setting)
    }
    return {"parameters": shown, "measures": measures}


def _finished(study: Any, n_trials: int) -> dict[int, Any]:
    """Draw -> the first trial that made it."""
    finished: dict[int, Any] = {}
    for trial in study.get_trials(deepcopy=False):
        draw = trial.user_attrs.get(_DRAW, trial.number)
        if trial.state == TrialState.COMPLETE and draw < n_trials:
            finished.setdefault(draw, trial)
    return finished


def _open_draws(study: Any, n_trials: int) -> list[int]:
    """The draws that are not finished, those that were begun least often first."""
    finished = _finished(study, n_trials)
    begun = Counter(
        trial.user_attrs.get(_DRAW, trial.number) for trial in study.get_trials(deepcopy=False)
    )
    unfinished = [draw for draw in range(n_trials) if draw not in finished]
    return sorted(unfinished, key=lambda draw: (begun[draw], draw))


def _search_result(study: Any, space: Space, task: TuningTask, n_trials: int) -> SearchResult:
    finished = sorted(_finished(study, n_trials).items())
    settings = [
        space.setting(trial.params[label] for label in space.labels) for _, trial in finished
    ]
    measures = [trial.user_attrs[_RECORD]["measures"] for _, trial in finished]
    columns: dict[str, Any] = {"trial": [draw for draw, _ in finished]}
    for label, values in zip(space.labels, zip(*settings)):
        columns[label] = pd.Series(values, dtype=object).infer_objects()
    columns |= {name: [values[name] for values in measures] for name in task.measures}
    return SearchResult(pd.DataFrame(columns), settings, task, space.labels)


# -- the study ------------------------------------------------------------------------------------


def _study(
    space: Space,
    task: TuningTask,
    seed: int | None,
    sampler: Any,
    storage: Any,
    study_name: str | None,
) -> Any:
    """The study of this name, made if it is not there; its own seed, where it was given none."""
    study = optuna.create_study(
        storage=open_storage(storage),
        study_name=study_name or ("RandomSearch" if storage is not None else None),
        direction="maximize" if task.maximize else "minimize",
        load_if_exists=storage is not None,
        sampler=sampler,
    )
    search = _fingerprint(space, task)
    known = study.user_attrs.get(_SEARCH)
    if known is None:
        search["seed"] = secrets.randbits(32) if seed is None else int(seed)
        study.set_user_attr(_SEARCH, search)
        known = search
    search["seed"] = known["seed"] if seed is None else int(seed)
    for name, value in search.items():
        if known.get(name) != value and not (name == "seed" and sampler is not None):
            raise ValueError(
                f"the study {study.study_name!r} is of another search: its {name} "
                f"{'is' if name == 'seed' else 'are'} {known.get(name)!r}, now {value!r}; give "
                "another study_name=, or what it was begun with"
            )
    if sampler is None:
        study.sampler = NumberedSampler(known["seed"])
    return study


def open_storage(storage: Any) -> Any:
    """A storage of Optuna by its URL; one that is there already, or none, is returned as it is.

    Raises:
        ValueError: for a URL that leads to no database, and what is no storage.
    """
    if storage is None or isinstance(storage, optuna.storages.BaseStorage):
        return storage
    if not isinstance(storage, str):
        raise ValueError(
            f"storage must be the URL of a database, such as sqlite:///search.db, or an Optuna "
            f"storage, not {storage!r}"
        )
    # SQLite has one writer at a time; others wait for it longer than its five seconds.
    wait = {"connect_args": {"timeout": 120}} if storage.startswith("sqlite") else None
    try:
        return optuna.storages.RDBStorage(storage, engine_kwargs=wait)
    except Exception as error:  # SQLAlchemy's, or that of the database's own driver
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"the storage {storage!r} cannot be opened: {reason}; give the URL of a database, such "
            "as sqlite:///search.db"
        ) from error


def _fingerprint(space: Space, task: TuningTask) -> dict[str, Any]:
    """What must be the same for two searches to share their trials."""
    content = hashlib.sha256()
    for frame in (task.topics.astype(str), task.qrels.astype(str)):
        content.update(frame.to_csv(index=False).encode())
    return {
        "parameters": {p.label: describe(p.distribution) for p in space.parameters},
        "measures": [str(measure) for measure in task.measures.values()],
        "topics and qrels": content.hexdigest()[:16],
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """Optuna's messages off: progress bar and exceptions tell what there is to tell."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _check_options(n_trials: int, seed: int | None, jobs: int, sampler: Any) -> None:
    check_count("n_trials", n_trials)
    if jobs == 0 or int(jobs) != jobs:
        raise ValueError(f"jobs is {jobs!r}; it must be 1, 2, 3, ..., or -1 for all processors")
    if seed is not None and (seed < 0 or int(seed) != seed):
        raise ValueError(f"seed is {seed!r}; it must be None or 0, 1, 2, ...")
    if sampler is not None and seed is not None:
        raise ValueError("seed= is for the sampler of random settings; give sampler= its own seed")


# -- one after another, or several at once --------------------------------------------------------


@contextmanager
def _workers(objective: Objective, jobs: int) -> Iterator[Callable[[Setting], dict[str, float]]]:
    """The objective, made to run in ``jobs`` processes where threads would wait for each other."""
    if jobs == 1 or objective.backend == "threading":
        yield objective
        return
    import cloudpickle
    from joblib.externals.loky import ProcessPoolExecutor

    sent = cloudpickle.dumps(objective), os.getpid(), os.getcwd()
    with safe_start():
        executor = ProcessPoolExecutor(_processors(jobs), initializer=_start_worker, initargs=sent)
        executor.submit(os.getpid)  # which starts all of them
    safe_restarts(executor)
    with executor:
        yield lambda setting: executor.submit(_evaluate, setting).result()


def _processors(jobs: int) -> int:
    import joblib

    return int(joblib.effective_n_jobs(jobs))


#: In a worker, the objective: it is sent once, not with every setting.
_sent: list[Objective] = []


def _start_worker(pickled: bytes, sender: int, folder: str) -> None:
    exit_with_parent(sender)
    os.chdir(folder)
    _sent[:] = [pickle.loads(pickled)]


def _evaluate(setting: Setting) -> dict[str, float]:
    return _sent[0](setting)
