"""Trials on Optuna: who does which, where they are kept, and how they resume.

A search of n trials is the draws 0 to n - 1. Whoever works on the study asks Optuna for a trial,
whose number nobody else gets, and makes the draw of that number; what a draw holds depends on the
seed and its number alone. So it is the same set of trials however many processes make it, and
whether or not some of them were killed: draws that were begun and not finished are made again at
the end.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyterrier as pt

from .._orphans import end_with
from .objective import Objective, Task, check_finite
from .space import Setting, Space, describe

try:
    import optuna
except ImportError as error:
    raise ImportError("searches need Optuna: pip install 'pyterrier-asl[tune]'") from error

#: How many trials each job is given at a time: more would be begun in vain by a killed search.
_AHEAD = 4

_RECORD, _DRAW, _SEARCH = "record", "draw", "search"


class Trials(NamedTuple):
    """All trials of a search, in the order of their numbers.

    Attributes:
        frame: ``trial``, the number; then the parameters; then the measures.
        settings: the parameters of each, as transformers take them.
    """

    frame: pd.DataFrame
    settings: list[Setting]


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
    task: Task,
    *,
    n_trials: int,
    seed: int | None = None,
    jobs: int = 1,
    sampler: Any = None,
    storage: Any = None,
    study_name: str | None = None,
    verbose: bool = False,
) -> Trials:
    """Makes what is missing of ``n_trials`` trials; arguments as in :func:`.search.RandomSearch`.

    Raises:
        ValueError: for arguments out of range, a study of another search, a measure that is NaN.
    """
    _check(n_trials, seed, jobs, sampler)
    study = _study(space, task, seed, sampler, storage, study_name)
    bar = pt.tqdm(total=n_trials, desc="searching", unit="trial", disable=not verbose)
    bar.update(len(_finished(study, n_trials)))
    best = _Best(task, bar)
    with bar, _evaluating(objective, jobs) as evaluate:
        while missing := _missing(study, n_trials):
            ahead = 1 if jobs == 1 else _AHEAD * _processors(jobs)
            trials = _ask(study, space, n_trials, min(missing, ahead))
            try:
                for measures in evaluate([setting for _, setting in trials]):
                    trial, setting = trials[0]
                    check_finite(measures, space, setting)
                    _tell(study, trial, space, setting, measures, task)
                    trials.pop(0)
                    best.show(measures)
            except BaseException:
                # Ctrl-C can come when the first is told already.
                for trial, _ in trials:
                    study.tell(trial, state=optuna.trial.TrialState.FAIL, skip_if_finished=True)
                raise
    return _trials(study, space, task, n_trials)


def _missing(study: Any, n_trials: int) -> int:
    """How many draws have not been begun or, where all have, are not finished."""
    begun = len(study.get_trials(deepcopy=False))
    return n_trials - begun if begun < n_trials else len(_open_draws(study, n_trials))


def _ask(study: Any, space: Space, n_trials: int, count: int) -> list[tuple[Any, Setting]]:
    """Begins trials of draws that nobody has begun or, where there are none left, finished."""
    trials = []
    for _ in range(count):
        trial = study.ask()
        if trial.number >= n_trials:
            again = _open_draws(study, n_trials)
            if not again:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
                break
            trial.set_user_attr(_DRAW, again[0])
        trials.append((trial, space.setting(_suggest(trial, space))))
    return trials


def _suggest(trial: Any, space: Space) -> Iterator[float]:
    for parameter in space.parameters:
        choices = parameter.dimension.choices
        if choices is None:
            yield trial.suggest_float(parameter.label, 0.0, 1.0)
        else:
            yield trial.suggest_categorical(parameter.label, list(range(choices)))


def _tell(
    study: Any,
    trial: Any,
    space: Space,
    setting: Setting,
    measures: dict[str, float],
    task: Task,
) -> None:
    # Optuna's own parameters are quantiles, so the record says what they stand for.
    shown = {
        label: value if isinstance(value, (str, int, float, bool)) else repr(value)
        for label, value in zip(space.labels, setting)
    }
    trial.set_user_attr(_RECORD, {"parameters": shown, "measures": measures})
    study.tell(trial, measures[task.metric])


def _finished(study: Any, n_trials: int) -> dict[int, Any]:
    """Draw -> the first trial that made it."""
    finished: dict[int, Any] = {}
    for trial in study.get_trials(deepcopy=False):
        draw = trial.user_attrs.get(_DRAW, trial.number)
        if trial.state == optuna.trial.TrialState.COMPLETE and draw < n_trials:
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


def _trials(study: Any, space: Space, task: Task, n_trials: int) -> Trials:
    finished = sorted(_finished(study, n_trials).items())
    settings = [
        space.setting(trial.params[label] for label in space.labels) for _, trial in finished
    ]
    measures = [trial.user_attrs[_RECORD]["measures"] for _, trial in finished]
    columns: dict[str, Any] = {"trial": [draw for draw, _ in finished]}
    for label, values in zip(space.labels, zip(*settings)):
        columns[label] = pd.Series(values, dtype=object).infer_objects()
    columns |= {name: [values[name] for values in measures] for name in task.measures}
    return Trials(pd.DataFrame(columns), settings)


# -- the study ------------------------------------------------------------------------------------


def _study(
    space: Space, task: Task, seed: int | None, sampler: Any, storage: Any, study_name: str | None
) -> Any:
    """The study of this name, made if it is not there; its own seed, where it was given none."""
    if isinstance(storage, str) and storage.startswith("sqlite"):
        # SQLite has one writer at a time; others wait for it longer than its five seconds.
        wait = {"connect_args": {"timeout": 120}}
        storage = optuna.storages.RDBStorage(storage, engine_kwargs=wait)
    with _quiet():
        study = optuna.create_study(
            storage=storage,
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


def _fingerprint(space: Space, task: Task) -> dict[str, Any]:
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
    """Optuna's messages off: the progress bar tells what there is to tell."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _check(n_trials: int, seed: int | None, jobs: int, sampler: Any) -> None:
    if n_trials < 1 or int(n_trials) != n_trials:
        raise ValueError(f"n_trials is {n_trials!r}; it must be 1, 2, 3, ...")
    if jobs == 0 or int(jobs) != jobs:
        raise ValueError(f"jobs is {jobs!r}; it must be 1, 2, 3, ..., or -1 for all processors")
    if seed is not None and (seed < 0 or int(seed) != seed):
        raise ValueError(f"seed is {seed!r}; it must be None or 0, 1, 2, ...")
    if sampler is not None and seed is not None:
        raise ValueError("seed= is for the sampler of random settings; give sampler= its own seed")


# -- one after another, or several at once --------------------------------------------------------

Evaluate = Callable[[Sequence[Setting]], Iterator[dict[str, float]]]


@contextmanager
def _evaluating(objective: Objective, jobs: int) -> Iterator[Evaluate]:
    """Evaluates settings in their order, in ``jobs`` threads or processes."""
    if jobs == 1:
        yield lambda settings: map(objective, settings)
        return
    import joblib

    with tempfile.TemporaryDirectory(prefix="pyterrier_asl-") as folder:
        shipped: Any = objective
        if objective.backend == "loky":
            shipped = _Shipped(objective, Path(folder) / "objective.pickle")
        with joblib.Parallel(jobs, backend=objective.backend, return_as="generator") as parallel:
            yield lambda settings: parallel(joblib.delayed(shipped)(s) for s in settings)


def _processors(jobs: int) -> int:
    import joblib

    return int(joblib.effective_n_jobs(jobs))


class _Shipped:
    """An objective that is sent to each process once, not with every setting."""

    def __init__(self, objective: Objective, path: Path) -> None:
        import cloudpickle

        path.write_bytes(cloudpickle.dumps(objective))
        self.path, self.sender = path, os.getpid()

    def __call__(self, setting: Setting) -> dict[str, float]:
        return _unpacked(self.path, self.sender)(setting)


@lru_cache(maxsize=1)
def _unpacked(path: Path, sender: int) -> Objective:
    import pickle

    end_with(sender, path.parent)
    objective: Objective = pickle.loads(path.read_bytes())
    return objective


class _Best:
    """Shows the best value so far beside the progress bar."""

    def __init__(self, task: Task, bar: Any) -> None:
        self.task, self.bar = task, bar
        self.value: float | None = None

    def show(self, measures: dict[str, float]) -> None:
        """Counts a trial."""
        value = measures[self.task.metric]
        better = max if self.task.maximize else min
        self.value = value if self.value is None else better(self.value, value)
        self.bar.set_postfix_str(f"{self.task.metric} {self.value:.4f}", refresh=False)
        self.bar.update()
