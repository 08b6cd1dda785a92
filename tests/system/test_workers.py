"""Processes that evaluate runs are kept for the next call, and replaced if they are lost."""

import multiprocessing
import os
import signal

import pytest

from pyterrier_asl import evaluate

QRELS = {"q": {"d": 1}}
FIRST, SECOND = {"q": {"d": 2.0, "x": 1.0}}, {"q": {"x": 2.0, "d": 1.0}}
RUNS = {"first": FIRST, "second": SECOND, "again": FIRST, "last": SECOND}


def reciprocal_ranks(runs: dict[str, object]) -> list[float]:
    return evaluate(runs, QRELS, "RR", jobs=2, progress=False)["RR"].tolist()


class Traced(dict):
    """A run that notes which process reads it."""

    def __init__(self, run: dict[str, dict[str, float]], folder: str) -> None:
        super().__init__(run)
        self.folder = folder

    def __reduce__(self):
        return _note, (dict(self), self.folder)


def _note(run, folder):
    open(os.path.join(folder, str(os.getpid())), "w").close()
    return run


class Deadly(dict):
    """A run that ends the process that reads it, as a lack of memory does."""

    def __reduce__(self):
        return _die, (os.getpid(),)


def _die(sender):
    if os.getpid() != sender:
        os.kill(os.getpid(), signal.SIGKILL)
    return FIRST


def test_the_same_processes_evaluate_the_next_runs(tmp_path):
    for _ in range(3):
        runs = {name: Traced(run, str(tmp_path)) for name, run in RUNS.items()}
        assert reciprocal_ranks(runs) == [1.0, 0.5, 1.0, 0.5]
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert 1 <= len(workers) <= 2 and os.getpid() not in workers


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_after_a_worker_was_killed_the_next_evaluation_has_others():
    message = "^run 'a' .or a later run.: the worker process was killed: if memory ran"
    with pytest.raises(ChildProcessError, match=message):
        reciprocal_ranks({"a": Deadly(FIRST), **RUNS})
    assert reciprocal_ranks(RUNS) == [1.0, 0.5, 1.0, 0.5]


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_an_evaluation_within_a_process_that_must_not_have_others(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    assert reciprocal_ranks(RUNS) == [1.0, 0.5, 1.0, 0.5]  # no other process uses its workers
    with multiprocessing.get_context(method).Pool(1) as pool:
        waiting = pool.apply_async(reciprocal_ranks, (RUNS,))
        assert waiting.get(timeout=120) == [1.0, 0.5, 1.0, 0.5]
        # A process that Ray has started before handles the signal of terminate(), so it would stay.
        pool.close()
        pool.join()
