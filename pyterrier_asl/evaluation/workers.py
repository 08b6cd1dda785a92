"""Runs measured on workers: processes, threads, or a Ray cluster.

Each worker gets the qrels and measures once. Runs are returned in their order.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from ..common.extras import install_command
from ..io.atomic import naming_full_disk
from ..io.declared import DeclaredFile
from ..judging.judgements import Judgements
from .measuring import MeasuredRun, Measuring

#: Where runs can be measured: processes, threads, and a Ray cluster.
BACKENDS = ("loky", "threading", "ray")
#: Number of times that Ray repeats a task after its worker or machine was lost.
_RETRIES = 3
#: Arrays that workers share start at multiples of this number of bytes.
_ALIGNMENT = 64


def measure_runs(
    measuring: Measuring, sources: Mapping[str, Any], jobs: int, backend: str
) -> Generator[MeasuredRun]:
    """Measures runs on workers.

    Args:
        measuring: qrels and measures.
        sources: runs by name.
        jobs: number of workers; -1: number of cores, on this machine or in the cluster.
        backend: one of :data:`BACKENDS`.

    Returns:
        An iterator of the runs in their order; a run that cannot be measured has its error.

    Raises:
        ChildProcessError: for a run whose worker was killed.
    """
    tasks = [(name, _absolute(source)) for name, source in sources.items()]
    by_backend = _by_ray if backend == "ray" else _by_joblib
    for run in by_backend(measuring, tasks, jobs, backend):
        yield _with_judgements(measuring.judgements, run)


def _absolute(source: Any) -> Any:
    """A file with an absolute path, for workers with another current folder; others unchanged."""
    if isinstance(source, DeclaredFile):
        return replace(source, path=os.path.abspath(source))
    return os.path.abspath(source) if isinstance(source, (str, os.PathLike)) else source


def _work(measuring: Measuring, name: str, source: Any) -> MeasuredRun:
    """Measures a run. The result has no qrels, which need not be sent back."""
    return _with_judgements(Judgements({}), measuring.run(name, source))


def _by_joblib(
    measuring: Measuring, tasks: list[tuple[str, Any]], jobs: int, backend: str
) -> Iterator[MeasuredRun]:
    """On processes or threads of this machine.

    The measuring is saved to a file that each worker maps once, so that its arrays are shared.
    """
    import joblib
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    parallel, done = joblib.Parallel(jobs, backend=backend, return_as="generator"), 0
    with tempfile.TemporaryDirectory(prefix="pyterrier_asl-", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "measuring")
        with naming_full_disk(path):
            _save(measuring, path)
        try:
            for run in parallel(joblib.delayed(_work_from_file)(path, *task) for task in tasks):
                yield run
                done += 1
        except TerminatedWorkerError as error:
            raise ChildProcessError(
                f"run {tasks[done][0]!r} (or a later run): the worker process was killed: if "
                "memory ran out, pass jobs=1"
            ) from error


def _work_from_file(path: str, name: str, source: Any) -> MeasuredRun:
    return _work(_read_measuring(path), name, source)


def _save(measuring: Measuring, path: str) -> None:
    """Saves the measuring, and its arrays to a second file, each where memory is aligned.

    The pickle is complete before the file is opened: if pickling is interrupted by a full disk,
    Python up to 3.13 can end with a segmentation fault.
    """
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(measuring, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    with open(path, "wb") as file:
        file.write(pickle.dumps((content, [array.nbytes for array in arrays])))
    with open(f"{path}.arrays", "wb") as file:
        for array in arrays:
            file.write(array)
            file.write(bytes(_ALIGNMENT - array.nbytes % _ALIGNMENT))


@lru_cache(maxsize=1)
def _read_measuring(path: str) -> Measuring:
    with open(path, "rb") as file:
        content, sizes = pickle.load(file)
    memory = np.memmap(f"{path}.arrays", mode="c")
    starts = accumulate((size + _ALIGNMENT - size % _ALIGNMENT for size in sizes), initial=0)
    arrays = [memory[start : start + size] for start, size in zip(starts, sizes)]
    return pickle.loads(content, buffers=arrays)  # type: ignore[no-any-return]


def _by_ray(
    measuring: Measuring, tasks: list[tuple[str, Any]], jobs: int, backend: str
) -> Iterator[MeasuredRun]:
    """On the connected Ray cluster, or the cluster of ``RAY_ADDRESS``, or a new one.

    The measuring is put into the object store once. A task whose worker or machine is lost is
    repeated elsewhere.
    """
    try:
        import ray
    except ImportError:
        raise ImportError(f"backend={backend!r} needs Ray: {install_command('ray')}") from None
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    workers = jobs if jobs > 0 else int(ray.cluster_resources().get("CPU", 1))
    work, shared = ray.remote(max_retries=_RETRIES)(_work), ray.put(measuring)
    started: deque[Any] = deque()
    for number, (name, source) in enumerate(tasks, 1):
        started.append((name, work.remote(shared, name, source)))
        while started and (len(started) == 2 * workers or number == len(tasks)):
            name, job = started.popleft()
            try:
                yield ray.get(job)
            except ray.exceptions.WorkerCrashedError as error:
                raise ChildProcessError(
                    f"run {name!r}: {_RETRIES + 1} worker processes were killed while they "
                    "measured it: if memory ran out, give Ray fewer CPUs per node"
                ) from error


def _with_judgements(judgements: Judgements, run: MeasuredRun) -> MeasuredRun:
    """The result with these judgements."""
    if run.judged is None:
        return run
    return replace(run, judged=replace(run.judged, judgements=judgements))
