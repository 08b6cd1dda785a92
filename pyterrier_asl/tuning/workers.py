"""Settings measured on workers: threads, or processes."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import Any

import joblib

from .objective import Objective
from .space import Setting


def evaluate_all(
    objective: Objective, settings: list[Setting], jobs: int
) -> Iterator[tuple[dict[str, float], float]]:
    """Measures and seconds of each setting, in order.

    Raises:
        ChildProcessError: for a worker process that was killed.
    """
    in_processes = objective.backend == "loky" and joblib.effective_n_jobs(jobs) > 1
    sent: Any = (  # pickled once, with functions that pickle alone refuses
        pickle.dumps(joblib.wrap_non_picklable_objects(objective)) if in_processes else objective
    )
    workers = joblib.Parallel(jobs, backend=objective.backend, return_as="generator")
    try:
        yield from workers(joblib.delayed(_evaluate)(sent, setting) for setting in settings)
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "a worker process was killed, perhaps because memory ran out: search again with fewer "
            "jobs; with storage= the search continues after its finished trials"
        ) from error


def _evaluate(sent: Objective | bytes, setting: Setting) -> tuple[dict[str, float], float]:
    begin = time.perf_counter()
    measures = (_unpickle(sent) if isinstance(sent, bytes) else sent)(setting)
    return measures, time.perf_counter() - begin


@lru_cache(maxsize=1)  # each process unpickles the objective once
def _unpickle(pickled: bytes) -> Objective:
    return pickle.loads(pickled)  # type: ignore[no-any-return]
