"""Workers that measure runs: processes of this machine, threads, or a Ray cluster.

Each worker gets the qrels and measures once. Runs are returned in their order.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeAlias

import joblib

from ..io.atomic import naming_full_disk
from ..io.processes import exit_with_parent, safe_start
from ..io.threads import iterate_ahead
from ..io.workers import explain_killed_workers, worker_pool
from ..judging.judgements import Judgements
from .measuring import MeasuredRun, Measuring, measure_here

Task: TypeAlias = tuple[str, Any]

#: Number of times that Ray repeats a task after its worker or machine was lost.
_RETRIES = 5
#: Seconds without work after which a worker of this machine ends.
_IDLE = 300


def measure_elsewhere(
    measuring: Measuring, sources: Mapping[str, Any], *, jobs: int, backend: str = "loky"
) -> Generator[MeasuredRun]:
    """Measures runs on workers.

    Args:
        measuring: qrels and measures.
        sources: runs by name.
        jobs: number of workers; -1: number of cores, on this machine or in the cluster.
        backend: ``'ray'`` or a backend of joblib that returns results one by one.

    Raises:
        ValueError: for another backend.

    Returns:
        An iterator of the runs in their order; a run that cannot be measured has its error.
    """
    tasks = map(_with_absolute_path, sources.items())
    if backend == "ray":
        done = _by_ray(measuring, tasks, jobs)
    elif backend != "loky":
        done = _by_joblib(measuring, tasks, jobs, backend)
    elif len(sources) == 1:
        done = measure_here(measuring, sources.items())
    else:
        done = _by_processes(measuring, tasks, jobs)
    yield from (_with_judgements(measuring.judgements, run) for run in done)


def _with_absolute_path(task: Task) -> Task:
    """A task with an absolute path, for workers with another current folder."""
    name, source = task
    return name, os.path.abspath(source) if isinstance(source, (str, os.PathLike)) else source


def _work(measuring: Measuring, name: str, source: Any) -> MeasuredRun:
    """Measures a run. The result has no qrels, which need not be sent back."""
    return _with_judgements(_NONE, measuring.run(name, source))


def _results(
    submit: Callable[..., Any],
    result: Callable[[Any], MeasuredRun],
    tasks: Iterable[Task],
    jobs: int,
) -> Iterator[MeasuredRun]:
    """Results of tasks in their order; enough tasks are submitted to keep all workers busy."""
    waiting = iter(tasks)
    submitted = deque(submit(*task) for task in islice(waiting, 2 * jobs))
    while submitted:
        done = result(submitted.popleft())
        submitted.extend(submit(*task) for task in islice(waiting, 1))
        yield done


# On processes


def _by_processes(measuring: Measuring, tasks: Iterable[Task], jobs: int) -> Iterator[MeasuredRun]:
    jobs = int(joblib.effective_n_jobs(jobs))
    if jobs == 1:  # for example in a process that must not start others
        yield from (_work(measuring, *task) for task in tasks)
        return
    pool = _worker_pool(jobs, os.getpid())
    with explain_killed_workers(), _work_for_processes(measuring) as work:
        results = _results(partial(pool.submit, work), lambda job: job.result(), tasks, jobs)
        # On a thread, as Ctrl-C would break a pool while it starts.
        with iterate_ahead(results, ahead=jobs) as done:
            try:
                yield from done
            except BaseException:  # the workers may have ended, and need not finish
                _worker_pool.cache_clear()
                pool.shutdown(kill_workers=True)
                raise


@lru_cache(maxsize=1)
def _worker_pool(jobs: int, sender: int) -> Any:
    """The worker processes of the process ``sender``, which are kept for its next evaluation."""
    return worker_pool(jobs, timeout=_IDLE, initializer=exit_with_parent, initargs=(sender,))


def _by_joblib(
    measuring: Measuring, tasks: Iterable[Task], jobs: int, backend: str
) -> Iterator[MeasuredRun]:
    from joblib.parallel import BACKENDS, EXTERNAL_BACKENDS

    one_by_one = [
        name for name, kind in BACKENDS.items() if getattr(kind, "supports_return_generator", False)
    ]
    if backend not in (usable := {*one_by_one, *EXTERNAL_BACKENDS} - {"sequential"}):
        raise ValueError(
            f"backend {backend!r} cannot measure runs: use one of "
            f"{', '.join(map(repr, sorted({*usable, 'ray'})))}"
        )
    try:
        parallel = joblib.Parallel(n_jobs=jobs, backend=backend, return_as="generator")
    except (ValueError, ImportError) as error:  # a backend in another package
        raise ValueError(
            f"backend {backend!r} cannot be used here ({error}): install its package, or use "
            "'loky', 'ray' or 'threading'"
        ) from error
    with (
        nullcontext(partial(_work, measuring))
        if backend == "threading"
        else _work_for_processes(measuring) as work
    ):
        yield from parallel(joblib.delayed(work)(*task) for task in tasks)


@contextmanager
def _work_for_processes(measuring: Measuring) -> Iterator[Callable[..., MeasuredRun]]:
    """A function that measures runs in other processes.

    The measuring is saved to a file that each worker maps once, so that its arrays are shared.
    """
    with tempfile.TemporaryDirectory(prefix="pyterrier_asl-", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "measuring")
        with naming_full_disk(path):
            joblib.dump(measuring, path)
        yield partial(_work_from_file, path, os.getpid())


def _work_from_file(path: str, sender: int, *task: Any) -> MeasuredRun:
    """Does a task with the measuring in a file of the process ``sender``."""
    return _work(_read_measuring(path, sender), *task)


@lru_cache(maxsize=1)
def _read_measuring(path: str, sender: int) -> Measuring:
    exit_with_parent(sender, os.path.dirname(path))
    measuring: Measuring = joblib.load(path, mmap_mode="c")
    return measuring


# On a cluster


def _by_ray(measuring: Measuring, tasks: Iterable[Task], jobs: int) -> Iterator[MeasuredRun]:
    """On the connected Ray cluster, or the cluster of ``RAY_ADDRESS``, or a new one.

    The measuring is put into the object store once, and each machine copies it once. A task whose
    worker or machine is lost is repeated elsewhere.

    Raises:
        ChildProcessError: for a run whose workers were all killed.
    """
    try:
        import ray
    except ImportError:
        raise ImportError("backend='ray' needs Ray: pip install 'pyterrier-asl[ray]'") from None
    if not ray.is_initialized():
        with safe_start(by_folder=True):  # workers of Ray import from the folder of its start
            ray.init(log_to_driver=False)
    workers = jobs if jobs > 0 else int(ray.cluster_resources().get("CPU", 1))
    work = partial(ray.remote(_work).options(max_retries=_RETRIES).remote, ray.put(measuring))

    def result(job: tuple[str, Any]) -> MeasuredRun:
        name, done = job
        try:
            return ray.get(done)  # type: ignore[no-any-return]
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.WorkerCrashedError as error:
            raise ChildProcessError(
                f"run {name!r}: {_RETRIES + 1} worker processes were killed while they measured "
                "it: if memory ran out, give Ray fewer CPUs per node"
            ) from error

    yield from _results(lambda *task: (task[0], work(*task)), result, tasks, workers)


_NONE = Judgements({})


def _with_judgements(judgements: Judgements, run: MeasuredRun) -> MeasuredRun:
    """The result with these judgements."""
    if run.judged is None:
        return run
    return replace(run, judged=replace(run.judged, judgements=judgements))
