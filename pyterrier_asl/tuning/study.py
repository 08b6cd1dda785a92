"""Trials of a search: their settings, their workers, and the Optuna study that keeps them.

The setting of a trial depends on the seed and the number of the trial only. So a search and its
resumption have the same trials, for any number of workers.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import secrets
from collections.abc import Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import joblib
import numpy as np
import pyterrier as pt

from ..io.extras import install_command
from ..io.threads import check_jobs
from ..statistics.inputs import check_whole
from .objective import Objective, SearchResult, check_not_nan
from .space import Setting, Space, describe, transformers_of

try:
    import optuna
except ImportError as error:
    raise ImportError(f"searches need Optuna: {install_command('tune')}") from error

_TRIAL, _MEASURES, _PARAMETERS, _SEARCH = "trial", "measures", "parameters", "search"


def run_trials(
    objective: Objective,
    *,
    n_trials: int,
    seed: int | None,
    jobs: int,
    storage: Any,
    study_name: str | None,
    verbose: bool,
) -> SearchResult:
    """Runs the missing ones of ``n_trials`` trials; see :func:`.search.RandomSearch`.

    Raises:
        ValueError: for arguments out of range, a study of another search, a measure that is NaN.
        ChildProcessError: for a worker process that was killed.
        OSError: for a storage that cannot be written, such as on a full disk.
    """
    space = objective.space
    if not space.parameters:
        raise ValueError(
            "there is no parameter to tune; give for instance "
            "{bm25: {'b': scipy.stats.uniform(0, 1)}}"
        )
    check_whole("n_trials", n_trials)
    check_jobs(jobs)
    if seed is not None:
        check_whole("seed", seed, 0)
    study = _open_study(objective, seed, storage, study_name)
    seed = study.user_attrs[_SEARCH]["seed"]
    settings = [
        space.setting(np.random.default_rng([seed, trial]).random(len(space.parameters)))
        for trial in range(n_trials)
    ]
    finished = {t.user_attrs[_TRIAL]: t.user_attrs[_MEASURES] for t in study.trials}
    missing = [trial for trial in range(n_trials) if trial not in finished]
    bar = pt.tqdm(
        total=n_trials,
        initial=n_trials - len(missing),
        desc="searching",
        unit="trial",
        disable=not verbose,
    )
    with bar, _errors_that_say_what_to_do(storage):
        results = _evaluate_all(objective, [settings[trial] for trial in missing], jobs)
        for trial, measures in zip(missing, results):
            check_not_nan(measures, space, settings[trial])
            study.add_trial(_finished_trial(objective, trial, settings[trial], measures))
            finished[trial] = measures
            bar.update()
    measured = [finished[trial] for trial in range(n_trials)]
    return SearchResult.of(objective, range(n_trials), settings, measured)


def _finished_trial(
    objective: Objective, trial: int, setting: Setting, measures: Mapping[str, float]
) -> optuna.trial.FrozenTrial:
    shown = {
        label: value if isinstance(value, (str, int, float, bool)) else repr(value)
        for label, value in zip(objective.space.labels, setting)
    }
    return optuna.trial.create_trial(
        value=measures[objective.task.metric],
        user_attrs={_TRIAL: trial, _PARAMETERS: shown, _MEASURES: measures},
    )


# -- workers --------------------------------------------------------------------------------------


def _evaluate_all(
    objective: Objective, settings: list[Setting], jobs: int
) -> Iterator[dict[str, float]]:
    """The measures of each setting, in order, from joblib's threads or processes."""
    in_processes = objective.backend == "loky" and joblib.effective_n_jobs(jobs) > 1
    sent: Any = objective
    if in_processes:  # pickled once, with functions that pickle alone refuses
        sent = pickle.dumps(joblib.wrap_non_picklable_objects(objective))
    workers = joblib.Parallel(jobs, backend=objective.backend, return_as="generator")
    results: Iterator[dict[str, float]] = workers(
        joblib.delayed(_evaluate)(sent, setting) for setting in settings
    )
    return results


def _evaluate(sent: Objective | bytes, setting: Setting) -> dict[str, float]:
    return (_unpickle(sent) if isinstance(sent, bytes) else sent)(setting)


@lru_cache(maxsize=1)  # each process unpickles the objective once
def _unpickle(pickled: bytes) -> Objective:
    objective: Objective = pickle.loads(pickled)
    return objective


@contextmanager
def _errors_that_say_what_to_do(storage: Any) -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "a worker process was killed, perhaps because memory ran out: search again with fewer "
            "jobs; with storage= the search continues after its finished trials"
        ) from error
    except optuna.exceptions.StorageInternalError as error:
        reason = str(error.__cause__).partition("\n")[0]
        raise OSError(
            f"the storage {getattr(storage, 'url', storage)!r} cannot be written: {reason}; the "
            "same call continues with the trials that are in it"
        ) from error


# -- the study ------------------------------------------------------------------------------------


def _open_study(
    objective: Objective, seed: int | None, storage: Any, study_name: str | None
) -> optuna.Study:
    """Opens the study of this name, or creates it; with a random seed if it has none."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        storage=open_storage(storage),
        study_name=study_name or ("RandomSearch" if storage is not None else None),
        direction="maximize" if objective.task.maximize else "minimize",
        load_if_exists=storage is not None,
    )
    optuna.logging.set_verbosity(verbosity)
    search = _fingerprint(objective) | ({} if seed is None else {"seed": int(seed)})
    stored = study.user_attrs.get(_SEARCH)
    if stored is None:
        stored = {"seed": secrets.randbits(32), **search}
        study.set_user_attr(_SEARCH, stored)
    for name, value in search.items():
        if stored.get(name) != value:
            raise ValueError(
                f"the study {study.study_name!r} belongs to another search: its {name} "
                f"{'are' if name.endswith('s') else 'is'} {stored.get(name)!r}, now {value!r}; "
                "give another study_name=, or the arguments of that search"
            )
    return study


def open_storage(storage: Any) -> Any:
    """Opens a storage of Optuna by its URL; a storage and None are returned unchanged.

    Raises:
        ValueError: for a URL without a database, and anything else.
    """
    if storage is None or isinstance(storage, optuna.storages.BaseStorage):
        return storage
    try:
        return optuna.storages.RDBStorage(storage)
    except Exception as error:  # of SQLAlchemy, or of the driver of the database
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"the storage {storage!r} cannot be opened: {reason}; give the URL of a database that "
            "can be written, such as sqlite:///search.db, or an Optuna storage"
        ) from error


def _fingerprint(objective: Objective) -> dict[str, Any]:
    """The properties that are equal for searches that share trials."""
    space, task = objective.space, objective.task
    content = hashlib.sha256()
    for frame in (task.topics.astype(str), task.qrels.astype(str)):
        content.update(frame.to_csv(index=False).encode())
    return {
        "pipeline": _pipeline_text(objective.pipeline, space),
        "parameters": {p.label: describe(p.distribution) for p in space.parameters},
        "measures": [str(measure) for measure in task.measures.values()],
        "topics and qrels": content.hexdigest()[:16],
    }


def _pipeline_text(pipeline: pt.Transformer, space: Space) -> str:
    """A pipeline as text, without the values of its tuned parameters and without addresses."""
    with space.restore_at_end():
        space.set(space.setting([0.5] * len(space.parameters)))
        # The text of a pipeline has the names of its parts, without their parameters.
        text = " ".join(map(repr, transformers_of(pipeline)))
        return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
