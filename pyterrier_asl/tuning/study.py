"""Trials of a search on Optuna: their settings, storage and workers, and how a search resumes.

A search of n trials makes the draws 0 to n - 1. Optuna gives each process a trial with another
number, and the process makes the draw of this number, which depends only on the seed and the
number. So the trials do not depend on the number of processes, nor on killed processes: unfinished
draws are repeated at the end.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import secrets
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyterrier as pt

from ..io.processes import exit_with_parent
from ..io.threads import Threads, check_jobs
from ..io.workers import explain_killed_workers, worker_pool
from ..retrieval.bm25 import check_count
from ..statistics.inputs import check_draws
from .objective import Objective, SearchResult, check_not_nan
from .space import Setting, Space, describe

try:
    import optuna
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise ImportError("searches need Optuna: pip install 'pyterrier-asl[tune]'") from error

_RECORD, _DRAW, _SEARCH = "record", "draw", "search"


class NumberedSampler(optuna.samplers.RandomSampler):  # type: ignore[misc]
    """Draws every parameter independently, from the seed and the number of the draw.

    Args:
        seed: the seed, from 0.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()  # without the seed, which would have to be below 2**32
        self.seed = seed

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: optuna.distributions.BaseDistribution,
    ) -> Any:
        numbers = [self.seed, _draw_of(trial), zlib.crc32(param_name.encode())]
        point = np.random.default_rng(numbers).random()
        if isinstance(param_distribution, optuna.distributions.CategoricalDistribution):
            return param_distribution.choices[int(point * len(param_distribution.choices))]
        return float(point)


def run_trials(
    objective: Objective,
    *,
    n_trials: int,
    seed: int | None,
    jobs: int,
    storage: Any,
    study_name: str | None,
    verbose: bool,
    sampler: Any = None,
) -> SearchResult:
    """Runs the missing ones of ``n_trials`` trials; see :func:`.search.RandomSearch`.

    Raises:
        ValueError: for arguments out of range, a study of another search, a measure that is NaN.
        OSError: for a storage that cannot be written, such as on a full disk.
    """
    import joblib

    if not objective.space.parameters:
        raise ValueError(
            "there is no parameter to tune; give for instance "
            "{bm25: {'b': scipy.stats.uniform(0, 1)}}"
        )
    _check_options(n_trials, seed, jobs, sampler)
    jobs = int(joblib.effective_n_jobs(jobs))

    def search(is_interrupted: Callable[[], bool] = lambda: False) -> SearchResult:
        with _quiet(), _naming_storage(storage):
            study = _open_study(objective, seed, sampler, storage, study_name)
            _run_open_draws(study, objective, n_trials, jobs, verbose, is_interrupted)
        return _search_result(study, objective, n_trials)

    return search() if jobs == 1 else _without_ctrl_c(search)


@contextmanager
def _naming_storage(storage: Any) -> Iterator[None]:
    """Names the storage that cannot be written; Optuna names none, and fails in several ways."""
    try:
        yield
    except Exception as error:
        for cause in (error, error.__context__):
            if isinstance(cause, optuna.exceptions.StorageInternalError):
                reason = str(cause.__cause__).partition("\n")[0]
                raise OSError(
                    f"the storage {getattr(storage, 'url', storage)!r} cannot be written: "
                    f"{reason}; the same call continues with the trials that are in it"
                ) from error
        raise


def _without_ctrl_c(search: Callable[[Callable[[], bool]], SearchResult]) -> SearchResult:
    """Searches in a thread, where Ctrl-C does not reach Optuna; see :mod:`..io.threads`.

    After Ctrl-C the trials that have begun are finished.
    """
    interrupted: list[bool] = []
    with Threads(1) as thread:
        try:
            return thread.submit(search, lambda: bool(interrupted)).result()
        except KeyboardInterrupt:
            interrupted.append(True)
            raise


def _run_open_draws(
    study: optuna.Study,
    objective: Objective,
    n_trials: int,
    jobs: int,
    verbose: bool,
    is_interrupted: Callable[[], bool],
) -> None:
    space, metric = objective.space, objective.task.metric
    bar = pt.tqdm(total=n_trials, desc="searching", unit="trial", disable=not verbose)
    bar.update(len(_finished_trials(study, n_trials)))

    def show(study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.state == TrialState.COMPLETE:
            bar.set_postfix_str(f"{metric} {study.best_value:.4f}", refresh=False)
            bar.update()

    with bar, _workers(objective, jobs) as evaluate:

        def run(trial: optuna.Trial) -> float:
            if is_interrupted():
                study.stop()
                raise optuna.TrialPruned
            _reassign(study, trial, n_trials)
            setting = space.setting(_suggest(trial, space))
            measures = evaluate(setting)
            check_not_nan(measures, space, setting)
            trial.set_user_attr(_RECORD, _record(space, setting, measures))
            return measures[metric]

        while not is_interrupted() and (draws := _open_draws(study, n_trials)):
            study.optimize(run, n_trials=len(draws), n_jobs=jobs, callbacks=[show])


def _draw_of(trial: optuna.Trial | FrozenTrial) -> int:
    """The number of a trial's draw."""
    return int(trial.user_attrs.get(_DRAW, trial.number))


def _reassign(study: optuna.Study, trial: optuna.Trial, n_trials: int) -> None:
    """Reassigns a surplus trial to an unfinished draw."""
    if trial.number >= n_trials:
        draws = _open_draws(study, n_trials)
        if not draws:  # another process has finished the last draw
            study.stop()
            raise optuna.TrialPruned
        trial.set_user_attr(_DRAW, draws[0])


def _suggest(trial: optuna.Trial, space: Space) -> Iterator[float]:
    for parameter in space.parameters:
        if parameter.choices is None:
            yield trial.suggest_float(parameter.label, 0.0, 1.0)
        else:
            yield trial.suggest_categorical(parameter.label, list(range(parameter.choices)))


def _record(space: Space, setting: Setting, measures: dict[str, float]) -> dict[str, Any]:
    """Parameters and measures of a trial; Optuna's parameters are quantiles."""
    shown = {
        label: value if isinstance(value, (str, int, float, bool)) else repr(value)
        for label, value in zip(space.labels, setting)
    }
    return {"parameters": shown, "measures": measures}


def _finished_trials(study: optuna.Study, n_trials: int) -> dict[int, FrozenTrial]:
    """The first finished trial of each draw."""
    finished: dict[int, FrozenTrial] = {}
    for trial in study.get_trials(deepcopy=False):
        if trial.state == TrialState.COMPLETE and _draw_of(trial) < n_trials:
            finished.setdefault(_draw_of(trial), trial)
    return finished


def _open_draws(study: optuna.Study, n_trials: int) -> list[int]:
    """The draws that have not begun; else the unfinished draws, least often begun first."""
    finished = _finished_trials(study, n_trials)
    begun = Counter(map(_draw_of, study.get_trials(deepcopy=False)))
    unfinished = [draw for draw in range(n_trials) if draw not in finished]
    unfinished.sort(key=lambda draw: begun[draw])
    return [draw for draw in unfinished if not begun[draw]] or unfinished


def _search_result(study: optuna.Study, objective: Objective, n_trials: int) -> SearchResult:
    space, trials = objective.space, dict(sorted(_finished_trials(study, n_trials).items()))
    settings = [
        space.setting(trial.params[label] for label in space.labels) for trial in trials.values()
    ]
    measures = [trial.user_attrs[_RECORD]["measures"] for trial in trials.values()]
    return SearchResult.of(objective, trials, settings, measures)


# -- the study ------------------------------------------------------------------------------------


def _open_study(
    objective: Objective, seed: int | None, sampler: Any, storage: Any, study_name: str | None
) -> optuna.Study:
    """Opens the study of this name, or creates it; with a random seed if it has none."""
    study = optuna.create_study(
        storage=open_storage(storage),
        study_name=study_name or ("RandomSearch" if storage is not None else None),
        direction="maximize" if objective.task.maximize else "minimize",
        load_if_exists=storage is not None,
        sampler=sampler,
    )
    search = _fingerprint(objective)
    if seed is not None:
        search["seed"] = int(seed)
    stored = study.user_attrs.get(_SEARCH)
    if stored is None:
        stored = {"seed": secrets.randbits(32), **search}
        study.set_user_attr(_SEARCH, stored)
    for name, value in search.items():
        if stored.get(name) != value:
            raise ValueError(
                f"the study {study.study_name!r} belongs to another search: its {name} "
                f"{'is' if name == 'seed' else 'are'} {stored.get(name)!r}, now {value!r}; give "
                "another study_name=, or the arguments of that search"
            )
    if sampler is None:
        study.sampler = NumberedSampler(stored["seed"])
    return study


def open_storage(storage: Any, attempts: int = 10) -> Any:
    """Opens a storage of Optuna by its URL; a storage and None are returned unchanged.

    Args:
        storage: a URL, a storage of Optuna, or None.
        attempts: the number of attempts while other processes create the same tables.

    Raises:
        ValueError: for a URL without a database, and anything else.
    """
    if storage is None or isinstance(storage, optuna.storages.BaseStorage):
        return storage
    if not isinstance(storage, str):
        raise ValueError(
            f"storage must be the URL of a database, such as sqlite:///search.db, or an Optuna "
            f"storage, not {storage!r}"
        )
    # SQLite has one writer at a time, and its default of five seconds is too short to wait for it.
    wait = {"connect_args": {"timeout": 120}} if storage.startswith("sqlite") else None
    while True:
        try:
            return optuna.storages.RDBStorage(storage, engine_kwargs=wait)
        except Exception as error:  # of SQLAlchemy, or of the driver of the database
            reason = str(error).partition("\n")[0]
            attempts -= 1
            # If another process creates the same tables now, the next attempt finds them.
            if not attempts or not re.search(r"(?i)already exists|\bunique\b", reason):
                raise ValueError(
                    f"the storage {storage!r} cannot be opened: {reason}; give the URL of a "
                    "database that can be written, such as sqlite:///search.db"
                ) from error
            time.sleep(0.2)


def _fingerprint(objective: Objective) -> dict[str, Any]:
    """The properties that are equal for searches that share trials."""
    space, task = objective.space, objective.task
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
    """Turns off Optuna's messages, because a progress bar and exceptions replace them."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _check_options(n_trials: int, seed: int | None, jobs: int, sampler: Any) -> None:
    check_count("n_trials", n_trials)
    check_jobs(jobs)
    if seed is not None:
        check_draws(n_trials, seed)
    if sampler is not None and seed is not None:
        raise ValueError("seed= belongs to random settings; give a seed to the sampler instead")


# -- workers --------------------------------------------------------------------------------------


@contextmanager
def _workers(objective: Objective, jobs: int) -> Iterator[Callable[[Setting], dict[str, float]]]:
    """The objective, in ``jobs`` processes if threads would wait for each other."""
    if jobs == 1 or objective.backend == "threading":
        yield objective
        return
    import cloudpickle

    sent = cloudpickle.dumps(objective), os.getpid(), os.getcwd()
    with worker_pool(jobs, initializer=_start_worker, initargs=sent) as pool:

        @explain_killed_workers()
        def evaluate(setting: Setting) -> dict[str, float]:
            return pool.submit(_evaluate, setting).result()  # type: ignore[no-any-return]

        yield evaluate


#: The objective of a worker, which is sent once, not with every setting.
_sent: list[Objective] = []


def _start_worker(pickled: bytes, sender: int, folder: str) -> None:
    exit_with_parent(sender)
    os.chdir(folder)
    _sent[:] = [pickle.loads(pickled)]


def _evaluate(setting: Setting) -> dict[str, float]:
    return _sent[0](setting)
