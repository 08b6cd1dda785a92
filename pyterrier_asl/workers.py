"""Where runs are measured: here, on other processes, or on the machines of a Ray cluster.

Every worker gets the qrels and measures once. What is done where does not change the result: a run
is cut by its files alone (see :mod:`~pyterrier_asl.partitions`), and runs come back in their order.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeAlias

from ._orphans import end_with
from .ahead import Ahead
from .io import RunSource, begin_run
from .judging import Judgements
from .partitions import PartitionedRun
from .scorer import Part, Scored, Scorer

Task: TypeAlias = tuple[str, Any, bool]
Done: TypeAlias = Scored | list[Part]

#: How often Ray does a task anew after the worker or its machine was lost.
_RETRIES = 5


def scored(
    scorer: Scorer, sources: Mapping[str, Any], *, jobs: int, backend: str
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
    here = _stay_here(sources, jobs, backend)
    if not here:
        sources = {name: _from_anywhere(source) for name, source in sources.items()}
    chunks = {name: _chunks(source) for name, source in sources.items()}
    tasks = [(name, chunk, len(each) == 1) for name, each in chunks.items() for chunk in each]
    if here:
        done = _one_by_one(scorer, tasks)
    elif backend == "ray":
        done = _by_ray(scorer, tasks, jobs)
    else:
        done = _by_joblib(scorer, tasks, jobs, backend)
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


@contextmanager
def begun(
    sources: Mapping[str, RunSource], *, jobs: int, backend: str = "loky"
) -> Iterator[dict[str, RunSource]]:
    """Begins to read the first of some runs, where it will be measured in this process.

    Args:
        sources: runs by name.
        jobs: what `scored` will be told.
        backend: likewise.

    Returns:
        A context with the same runs; at its end nothing is read any more.
    """
    with ExitStack() as closing:
        found = dict(sources)
        if found and _stay_here(found, jobs, backend):
            first = next(iter(found))
            found[first] = _begin(found[first], closing)
        yield found


def _begin(source: Any, closing: ExitStack) -> Any:
    """Begins to read a run; with ``closing`` that ends."""
    source = begin_run(source)
    return closing.enter_context(source) if isinstance(source, Ahead) else source


def _stay_here(sources: Mapping[str, Any], jobs: int, backend: str) -> bool:
    """Whether all is done in this process."""
    tasks = sum(len(_chunks(source)) for source in sources.values())
    return backend != "ray" and (jobs == 1 or tasks == 1)


def _from_anywhere(source: Any) -> Any:
    """The same run to a worker that was started in another folder."""
    if isinstance(source, PartitionedRun):
        return source.absolute()
    return os.path.abspath(source) if isinstance(source, (str, os.PathLike)) else source


def _chunks(source: Any) -> list[Any]:
    return list(source.chunks()) if isinstance(source, PartitionedRun) else [source]


def _work(scorer: Scorer, name: str, source: Any, alone: bool) -> Done:
    """Measures a run, or if it is not ``alone`` a part of one as far as that goes."""
    if alone:
        return scorer(name, source)
    return scorer.parts(name, source)


# Here


def _one_by_one(scorer: Scorer, tasks: Iterable[Task]) -> Iterator[Done]:
    """While one run is measured the next is read."""
    with ExitStack() as closing:
        waiting = deque[Task]()
        for name, source, alone in tasks:
            waiting.append((name, _begin(source, closing), alone))
            if len(waiting) > 1:
                yield _work(scorer, *waiting.popleft())
        for task in waiting:
            yield _work(scorer, *task)


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
    """The scorer as something small to send with each run: workers read it from a file, once."""
    if backend == "threading":
        yield partial(_work, scorer)
        return
    folder = tempfile.mkdtemp(prefix="pyterrier_asl-")
    try:
        path = os.path.join(folder, "scorer.pickle")
        with open(path, "wb") as file:
            pickle.dump(scorer, file, protocol=5)
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
    end_with(sender, os.path.dirname(path))
    with open(path, "rb") as file:
        scorer: Scorer = pickle.load(file)
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
