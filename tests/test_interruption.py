"""Ctrl-C and kill -9 in the middle: what is finished stays whole, the rest is not there, and doing
it again works.

Each test lets another process work on something long, ends it, and looks at what is left.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from pyterrier_asl import RarenessPool, evaluate
from pyterrier_asl.retrieval.index import TermIndex

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="signals of POSIX"),
    pytest.mark.filterwarnings("ignore:.*fewer than 8"),
]
SIGNALS = [signal.SIGINT, signal.SIGKILL]
#: A process that was started in the background ignores Ctrl-C, and so do those it starts.
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


class Worker:
    """A process that says when it has begun, in a session of its own."""

    def __init__(self, program: str, *arguments: object, temporary: Path) -> None:
        program = LISTEN + textwrap.dedent(program)
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "TMPDIR": str(temporary)},
        )  # fmt: skip
        self.group = self.process.pid

    def wait_for(self, line: str) -> None:
        for said in self.process.stdout:
            if said == line + "\n":
                return
        raise AssertionError(self.process.communicate()[1])

    def end(self, how: int) -> str:
        """Sends the signal as a terminal does, to the group, or kill -9 to the process alone."""
        if how == signal.SIGKILL:
            os.kill(self.process.pid, how)
            self.process.wait(timeout=60)
            return ""
        os.killpg(self.group, how)
        return self.process.communicate(timeout=60)[1]

    def alone(self, seconds: float) -> bool:
        """Whether none of its processes is left, after so long at most."""
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            try:
                os.killpg(self.group, 0)
            except ProcessLookupError:
                return True
            time.sleep(0.1)
        return False

    def close(self) -> None:
        try:
            os.killpg(self.group, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()


@pytest.fixture
def start(tmp_path):
    """Starts workers, and sees to it that none survives the test."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    workers = []

    def begin(program, *arguments):
        workers.append(Worker(program, *arguments, temporary=temporary))
        return workers[-1]

    begin.temporary = temporary
    yield begin
    for worker in workers:
        worker.close()


_EVALUATE = """
    import sys
    from pathlib import Path
    from pyterrier_asl import evaluate
    from pyterrier_asl.evaluation import save_evaluation
    folder, jobs = Path(sys.argv[1]), int(sys.argv[2])
    from pyterrier_asl import evaluation
    show = evaluation.tqdm

    class Telling(show):
        def update(self, n=1):
            print("one is done", flush=True)
            super().update(n)

    evaluation.tqdm = Telling
    qrels = {"q": {"d0": 1, "d5": 1}}
    frame = evaluate(
        {f"run{i}": folder / "run" for i in range(100_000)}, qrels, ["ASL", "AP_Rareness@10"],
        jobs=jobs, progress=False,
    )
    save_evaluation(frame, folder / "evaluation")
"""


@pytest.mark.parametrize("how", SIGNALS, ids=["Ctrl-C", "kill-9"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_evaluation_that_is_ended_leaves_nothing(start, tmp_path, jobs, how):
    """Nothing but values in memory: neither files nor processes, and no evaluation that loads."""
    (tmp_path / "run").write_text("".join(f"q Q0 d{i} {i} {9 - i} x\n" for i in range(9)))
    worker = start(_EVALUATE, tmp_path, jobs)
    worker.wait_for("one is done")
    said = worker.end(how)
    assert worker.process.returncode != 0
    if how == signal.SIGINT:
        assert "KeyboardInterrupt" in said
        left = [path for path in start.temporary.rglob("*") if "scorer" in path.name]
        assert not left, "what was sent to the workers is still there"
    if how == signal.SIGINT or jobs == 1:  # joblib's workers notice after five idle minutes
        assert worker.alone(60), "processes are left"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "tmp"]
    again = evaluate({"run": tmp_path / "run"}, {"q": {"d0": 1, "d5": 1}}, "ASL@10", jobs=jobs)
    assert again["ASL@10"].tolist() == [3.0]  # ranks 1 and 6


_INDEX = """
    import sys
    from pyterrier_asl.retrieval import build
    from pyterrier_asl.retrieval.index import TermIndex
    path, when = sys.argv[1:]

    def documents():
        for i in range(10**9 if when == "counting" else 3000):
            if i == 2000:
                print("at it", flush=True)
            yield {"docno": f"d{i}", "text": f"radio waves {i}"}

    if when == "writing":
        strings = build._write_strings

        def slowly(path, values):
            strings(path, values)
            print("at it", flush=True)
            import time
            time.sleep(600)

        build._write_strings = slowly
    TermIndex.from_documents(documents(), path=path, verbose=False)
"""


@pytest.mark.parametrize("how", SIGNALS, ids=["Ctrl-C", "kill-9"])
@pytest.mark.parametrize("when", ["counting", "writing"])
def test_an_index_that_is_ended_is_not_there(start, tmp_path, when, how):
    path = tmp_path / "index"
    worker = start(_INDEX, path, when)
    worker.wait_for("at it")
    if when == "writing":
        worker.wait_for("at it")
    worker.end(how)
    assert worker.process.returncode != 0 and not path.exists()
    left = [each for each in tmp_path.iterdir() if each.name != "tmp"]
    if how == signal.SIGINT or when == "counting":
        assert left == []
    for each in left:  # of a killed one the folder it wrote to, which is no index
        assert each.name.startswith(".")
        with pytest.raises(FileNotFoundError, match="there is no TermIndex"):
            TermIndex(each)
    again = TermIndex.from_documents([{"docno": "d1", "text": "radio"}], path=path, verbose=False)
    assert again.num_docs == 1


_POOLS = """
    import sys
    from pyterrier_asl import RarenessPool
    path = sys.argv[1]
    docs = {f"d{i}": i % 97 for i in range(30_000)}
    pools = [RarenessPool.from_runs({mark: {"q": docs}}, name=mark) for mark in "ab"]
    pools[0].save(path)
    print("saving", flush=True)
    while True:
        for pool in pools:
            pool.save(path)
"""


@pytest.mark.parametrize("how", SIGNALS, ids=["Ctrl-C", "kill-9"])
def test_a_pool_whose_saving_is_ended_is_the_old_one_or_the_new(start, tmp_path, how):
    path = tmp_path / "pool"
    for wait in (0.0, 0.013, 0.1):
        worker = start(_POOLS, path)
        worker.wait_for("saving")
        time.sleep(wait)
        worker.end(how)
        pool = RarenessPool.load(path)
        assert pool.runs == [pool.name] and pool.name in "ab"
        left = [each.name for each in tmp_path.iterdir() if each.name not in ("pool", "tmp")]
        if how == signal.SIGINT:
            assert left == []
        assert all(name.startswith(".pool.") and name.endswith(".tmp") for name in left)
    pool.save(path)
    assert RarenessPool.load(path) == pool
