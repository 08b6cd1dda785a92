"""Pools of worker processes, which import nothing from the current folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import joblib
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.backend.context import LokyContext
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import ParallelBackendBase

from .processes import safe_start


class _SafeProcess(LokyContext.Process):  # type: ignore[misc]
    """A worker that is started by `safe_start`."""

    def start(self) -> None:
        with safe_start():
            super().start()


class _SafeContext(LokyContext):  # type: ignore[misc]
    Process = _SafeProcess


def worker_pool(jobs: int, **options: Any) -> ProcessPoolExecutor:
    """A pool of processes that share the cores, each with the number of threads of joblib.

    An executor of loky replaces a worker that has become large. Its context starts all its workers;
    ``joblib.Parallel(return_as="generator")`` accepts no context, so that its later workers would
    import from the current folder.

    Args:
        jobs: the number of processes, from 1.
        options: other arguments of loky's ``ProcessPoolExecutor``.
    """
    threads = str(max(joblib.cpu_count() // jobs, 1))
    env = {name: os.environ.get(name, threads) for name in ParallelBackendBase.MAX_NUM_THREADS_VARS}
    with safe_start():  # the locks of a pool start a process, too
        return ProcessPoolExecutor(jobs, context=_SafeContext(), env=env, **options)


@contextmanager
def explain_killed_workers() -> Iterator[None]:
    """Explains in one sentence that a worker was killed, also before a job was submitted.

    Raises:
        ChildProcessError: if a worker was killed.
    """
    try:
        yield
    except TerminatedWorkerError as error:
        signals = re.search(r"\{(\w+)", str(error))
        raise ChildProcessError(
            f"a worker process was killed{f' ({signals[1]})' if signals else ''}, and its results "
            "are lost: start again; if memory ran out, pass jobs=1"
        ) from error
