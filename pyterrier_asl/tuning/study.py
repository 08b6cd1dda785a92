"""Trials of a search, and the Optuna study that keeps them.

The setting of a trial depends on the seed and the number of the trial only. So a search and its
resumption have the same trials, for any number of workers.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pyterrier as pt

from ..common.extras import install_command
from ..common.notices import warn
from ..common.parameters import check_whole
from ..common.threads import check_jobs
from .objective import Objective, SearchResult
from .space import Parameter, Setting, describe
from .workers import evaluate_all

try:
    import optuna
except ImportError as error:
    raise ImportError(f"searches need Optuna: {install_command('tune')}") from error


def run_trials(
    objective: Objective,
    *,
    n_trials: int,
    seed: int | None,
    jobs: int,
    storage: Any,
    study_name: str | None,
    verbose: bool,
    first: Mapping[int, Setting] = MappingProxyType({}),
) -> SearchResult:
    """Runs the missing ones of ``n_trials`` trials; see :func:`.search.RandomSearch`.

    Settings of ``first`` are trials before these, by their numbers, and are not in the study.

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
    settings = {**first, **space.settings(n_trials, study.user_attrs["search"]["seed"])}
    keys = {trial: _key(setting) for trial, setting in settings.items()}
    finished = {t.user_attrs["trial"]: t.user_attrs["measures"] for t in study.trials}
    missing = [trial for trial in settings if trial not in finished]
    measured = {keys[trial]: values for trial, values in finished.items() if trial in keys}
    new = {keys[trial]: settings[trial] for trial in missing if keys[trial] not in measured}
    bar = pt.tqdm(
        total=len(settings),
        initial=len(settings) - len(missing),
        desc="searching",
        unit="trial",
        disable=not verbose,
    )
    with bar, _naming(storage):
        results = evaluate_all(objective, list(new.values()), jobs)
        for trial in missing:
            seconds = 0.0
            if keys[trial] not in measured:
                measured[keys[trial]], seconds = next(results)
            values = measured[keys[trial]]
            for name in (name for name, value in values.items() if math.isnan(value)):
                raise ValueError(
                    f"{name} is NaN at {space.describe(settings[trial])}, and NaN cannot be "
                    "compared; run the pipeline with this setting and check its results, or "
                    "narrow the distributions"
                )
            if trial not in first:
                study.add_trial(_trial(objective, trial, settings[trial], values, seconds))
            bar.update()
    result = SearchResult.of(objective, settings, [measured[key] for key in keys.values()])
    if names := result.without_effect():
        warn(
            f"{objective.task.metric} does not depend on {' and '.join(names)} in any of the "
            f"{len(settings)} trials: check that the pipeline uses "
            f"{'this parameter' if len(names) == 1 else 'these parameters'}"
        )
    return result


def _key(setting: Setting) -> tuple[Any, ...]:
    """A key that is equal for equal numbers and texts, and for one and the same object."""
    return tuple((type(v), v) if isinstance(v, (str, int, float)) else id(v) for v in setting)


def _trial(
    objective: Objective, trial: int, setting: Setting, values: dict[str, float], seconds: float
) -> optuna.trial.FrozenTrial:
    """A finished trial with its parameters by name, as if Optuna had suggested them."""
    finished = optuna.trial.create_trial(
        value=values[objective.task.metric],
        params=dict(zip(objective.space.labels, map(_shown, setting))),
        distributions={p.label: _distribution(p) for p in objective.space.parameters},
        user_attrs={"trial": trial, "measures": values},
    )
    finished.datetime_start -= timedelta(seconds=seconds)
    return finished


def _shown(value: Any) -> Any:
    """A value that a database can hold."""
    return value if value is None or isinstance(value, (str, int, float)) else repr(value)


def _distribution(parameter: Parameter) -> optuna.distributions.BaseDistribution:
    """Optuna's distribution of the values of a parameter."""
    kinds = optuna.distributions
    if parameter.values is not None:
        return kinds.CategoricalDistribution(list(map(_shown, parameter.values)))
    low, high = parameter.value(0.0), parameter.value(1.0)
    kind = kinds.IntDistribution if isinstance(low, int) else kinds.FloatDistribution
    return kind(low, high, log="loguniform" in describe(parameter.distribution) and low > 0)


@contextmanager
def _naming(storage: Any) -> Iterator[None]:
    """Names a storage that cannot be written in the error."""
    try:
        yield
    except optuna.exceptions.StorageInternalError as error:
        reason = str(error.__cause__).partition("\n")[0]
        raise OSError(
            f"the storage {getattr(storage, 'url', storage)!r} cannot be written: {reason}; the "
            "same call continues with the trials that are in it"
        ) from error


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
    search = objective.description() | ({} if seed is None else {"seed": int(seed)})
    if "search" not in study.user_attrs:
        study.set_user_attr("search", {"seed": secrets.randbits(32), **search})
    stored = study.user_attrs["search"]
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
