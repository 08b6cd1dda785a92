"""Where runs are measured: here, on other processes, or on the machines of a Ray cluster.

Every worker gets the qrels and measures once. What is done where does not change the result: a run
is cut by its files alone (see :mod:`~pyterrier_asl.partitions`), and runs come back in their order.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeAlias

from ._orphans import end_with
from .ahead import Ahead
from .io import begin_run
from .judging import Judgements
from .partitions import PartitionedRun
from .scorer import Part, Scored, Scorer

Task: TypeAlias = tuple[str, Any, bool]
Done: TypeAlias = Scored | list[Part]

#: How many files are read ahead, and of how many bytes together, if they are more than one; and how
#: many at a time.
_FILES, _BYTES, _THREADS = 32, 1 << 25, 2
#: How often Ray does a task anew after the worker or its machine was lost.
_RETRIES = 5


def scored(
    scorer: Scorer, sources: Mapping[str, Any], *, jobs: int, backend: str = "loky"
) -> Iterator[Scored]:
    """Measures runs.

    Args:
        scorer: what to measure by.
        sources: runs by name.
        jobs: how many workers; -1: as many as there are cores, here or in the cluster.
        backend: ``'ray'`` or one of joblib's.

    Returns:
        An iterator of the runs in their order.
    """
    chunks = {name: _chunks(source) for name, source in sources.items()}
    tasks = [(name, chunk, len(each) == 1) for name, each in chunks.items() for chunk in each]
    if backend == "ray":
        done = _by_ray(scorer, map(_from_anywhere, tasks), jobs)
    elif jobs == 1 or len(tasks) == 1:
        done = _one_by_one(scorer, tasks)
    else:
        done = _by_joblib(scorer, map(_from_anywhere, tasks), jobs, backend)
    for name, source in sources.items():
        if len(chunks[name]) == 1:
            one = next(done)
            assert isinstance(one, Scored)
            yield one
        else:
            parts: list[Part] = []
            for each in islice(done, len(chunks[name])):
                assert isinstance(each, list)
                parts += each
            yield scorer.score(name, source, parts)


def _from_anywhere(task: Task) -> Task:
    """The same to a worker that was started in another folder."""
    name, source, alone = task
    if isinstance(source, PartitionedRun):
        return name, source.absolute(), alone
    path = isinstance(source, (str, os.PathLike))
    return name, os.path.abspath(source) if path else source, alone


def _chunks(source: Any) -> list[Any]:
    return list(source.chunks()) if isinstance(source, PartitionedRun) else [source]


def _work(scorer: Scorer, name: str, source: Any, alone: bool) -> Done:
    """Measures a run, or if it is not ``alone`` a part of one as far as that goes."""
    if alone:
        return scorer(name, source)
    return scorer.parts(name, source)


# Here


def _one_by_one(scorer: Scorer, tasks: Iterable[Task]) -> Iterator[Done]:
    with ExitStack() as closing:
        for task in _reading(tasks, closing):
            yield _work(scorer, *task)


def _reading(tasks: Iterable[Task], closing: ExitStack) -> Iterator[Task]:
    """The tasks in their order; the files of some that follow are being read, if they are small."""
    waiting = deque[tuple[Task, int]]()
    threads = closing.enter_context(ThreadPoolExecutor(_THREADS))
    for name, source, alone in tasks:
        size = _size(source)
        while waiting and (
            len(waiting) >= _FILES or size + sum(other for _, other in waiting) > _BYTES
        ):
            yield waiting.popleft()[0]
        source = begin_run(source, threads)
        if isinstance(source, Ahead):
            closing.enter_context(source)
        waiting.append(((name, source, alone), size))
    yield from (task for task, _ in waiting)


def _size(source: Any) -> int:
    path = isinstance(source, (str, os.PathLike))
    return os.path.getsize(source) if path and os.path.isfile(source) else 0


# On processes


def _by_joblib(
    scorer: Scorer, tasks: Iterable[Task], jobs: int, backend: str
) -> Iterator[Done]:
    from joblib import Parallel, delayed

    with _sent(scorer, backend) as work:
        parallel = Parallel(n_jobs=jobs, backend=backend, return_as="generator")
        for done in parallel(delayed(work)(*task) for task in tasks):
            yield _of(scorer.judgements, done)


@contextmanager
def _sent(scorer: Scorer, backend: str) -> Iterator[Callable[..., Done]]:
    """The scorer as something small to send with each run: workers map it from a file, once, so
    that they share what is large in it."""
    if backend == "threading":
        yield partial(_work, scorer)
        return
    folder = tempfile.mkdtemp(prefix="pyterrier_asl-")
    try:
        import joblib

        path = os.path.join(folder, "scorer")
        joblib.dump(scorer, path)
        yield _FromFile(path, os.getpid())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _FromFile:
    """A scorer that is read from its file, written by ``sender``, when a process first needs it."""

    path: str
    sender: int

    def __call__(self, *task: Any) -> Done:
        return _of(_NONE, _work(_read_scorer(self.path, self.sender), *task))


@lru_cache(maxsize=1)
def _read_scorer(path: str, sender: int) -> Scorer:
    import joblib

    end_with(sender, os.path.dirname(path))
    scorer: Scorer = joblib.load(path, mmap_mode="c")
    return scorer


# On a cluster


def _by_ray(scorer: Scorer, tasks: Iterable[Task], jobs: int) -> Iterator[Done]:
    """On a Ray cluster: the one connected to, else that of ``RAY_ADDRESS``, else one made here.

    The scorer is put into the object store once, from where each machine takes it once. A task
    whose worker or machine is lost is done again elsewhere.
    """
    try:
        import ray
    except ImportError:
        raise ImportError(
            "backend='ray' needs Ray: pip install 'pyterrier-asl[ray]'"
        ) from None
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    ahead = 2 * (jobs if jobs > 0 else int(ray.cluster_resources().get("CPU", 1)))
    shipped = ray.put(scorer)
    work = ray.remote(_remotely).options(max_retries=_RETRIES)
    waiting = iter(tasks)
    under_way = deque(work.remote(shipped, *task) for task in islice(waiting, ahead))
    while under_way:
        try:
            done = ray.get(under_way.popleft())
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        under_way.extend(work.remote(shipped, *task) for task in islice(waiting, 1))
        yield _of(scorer.judgements, done)


def _remotely(scorer: Scorer, *task: Any) -> Done:
    return _of(_NONE, _work(scorer, *task))


# Qrels do not travel with the results.

_NONE = Judgements({})


def _of(judgements: Judgements, done: Done) -> Done:
    """The same results as met with these judgements."""
    if isinstance(done, Scored):
        judged = done.judged
        return done if judged is None else replace(done, judged=judged.met_with(judgements))
    return [replace(part, judged=part.judged.met_with(judgements)) for part in done]
