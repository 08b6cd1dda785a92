"""Ctrl-C and kill -9 during a task: finished files are complete, and the task can be repeated.

Each test interrupts a process during a long task and checks the remaining files.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from _files import write_qrels, write_run

from pyterrier_asl import evaluate
from pyterrier_asl.retrieval.index import TermIndex

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="signals of POSIX"),
    pytest.mark.filterwarnings("ignore:.*fewer than 8"),
]
#: A background process ignores Ctrl-C, and so do its child processes.
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


class Worker:
    """A process in a new session that prints when it has begun."""

    def __init__(self, program: str, *arguments: object, temporary: Path) -> None:
        program = LISTEN + textwrap.dedent(program)
        command = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
        pipes = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE)
        env = {**os.environ, "TMPDIR": str(temporary)}
        self.process = subprocess.Popen(
            command, **pipes, text=True, start_new_session=True, env=env
        )
        self.group = self.process.pid

    def wait_for(self, line: str) -> None:
        if line + "\n" not in iter(self.process.stdout.readline, ""):
            raise AssertionError(self.process.communicate()[1])

    def end(self, how: int) -> str:
        """Sends the signal to the process group, as a terminal does, and kill -9 to the process."""
        if how == signal.SIGKILL:
            os.kill(self.process.pid, how)
            self.process.wait(timeout=60)
            return ""
        os.killpg(self.group, how)
        return self.process.communicate(timeout=180)[1]

    def kill_a_worker(self) -> None:
        """Kills a process of the pool with kill -9, as the system does when memory runs out."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        pids = [pid for thread in threads for pid in (thread / "children").read_text().split()]
        lines = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids}
        os.kill(next(pid for pid in lines if b"popen_loky" in lines[pid]), signal.SIGKILL)

    def alone(self, seconds: int) -> bool:
        """Waits until all processes of the worker have ended; False after a time limit."""
        for _ in range(10 * seconds):
            try:
                os.killpg(self.group, 0)
            except ProcessLookupError:
                return True
            time.sleep(0.1)
        return False

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.group, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


@pytest.fixture
def start(tmp_path):
    """Starts workers, and ends them after the test."""
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
    from pyterrier_asl.evaluation import evaluation

    def telling(items, **_):
        for each in items:
            print("one is done", flush=True)
            yield each

    evaluation.progress_bar = telling
    folder, options = Path(sys.argv[1]), {"jobs": int(sys.argv[2]), "progress": False}
    runs = {f"run{i}": folder / "run" for i in range(100_000)}
    frame = evaluate(runs, {"q": {"d0": 1, "d5": 1}}, ["ASL", "AP_Rareness@10"], **options)
    frame.to_parquet(folder / "evaluation")
"""


linux = pytest.mark.skipif(sys.platform != "linux", reason="finds workers in /proc")


@pytest.mark.parametrize(
    ("jobs", "how"),
    [(1, signal.SIGINT), (1, signal.SIGKILL), (2, signal.SIGINT)]
    + [pytest.param(2, "a worker is killed", marks=linux)],
)
def test_an_evaluation_that_is_ended_leaves_nothing(start, tmp_path, jobs, how):
    """No files, no processes, and no saved evaluation that loads."""
    write_run({"q": {f"d{i}": 9 - i for i in range(9)}}, tmp_path / "run")
    worker = start(_EVALUATE, tmp_path, jobs)
    worker.wait_for("one is done")
    if how == "a worker is killed":
        worker.kill_a_worker()
        said = worker.process.communicate(timeout=180)[1]
        assert worker.process.returncode == 1 and "was killed: if memory ran out" in said
    else:
        said = worker.end(how)
        assert worker.process.returncode != 0
        assert how == signal.SIGKILL or "KeyboardInterrupt" in said
    assert worker.alone(60), "processes are left"
    assert not list(start.temporary.iterdir()), "what was sent to the workers is still there"
    assert sorted(os.listdir(tmp_path)) == ["run", "tmp"]
    again = evaluate({"run": tmp_path / "run"}, {"q": {"d0": 1, "d5": 1}}, "ASL@10", jobs=jobs)
    assert again["ASL@10"].tolist() == [3.0]  # ranks 1 and 6


_INDEX = """
    import sys, time
    from pyterrier_asl.retrieval import build
    from pyterrier_asl.retrieval.index import TermIndex
    path, when = sys.argv[1:]

    def documents():
        for i in range(10**9 if when == "counting" else 3000):
            if i == 2000:
                print("at it", flush=True)
            yield {"docno": f"d{i}", "text": f"radio waves {i}"}

    def slowly(path, values):
        print("at it", flush=True)
        time.sleep(600)

    if when == "writing":
        build._write_strings = slowly
    TermIndex.from_documents(documents(), path=path, verbose=False)
"""


@pytest.mark.parametrize("when", ["counting", "writing"])
def test_an_index_that_is_ended_is_not_there(start, tmp_path, when):
    path = tmp_path / "index"
    worker = start(_INDEX, path, when)
    for _ in range(2 if when == "writing" else 1):
        worker.wait_for("at it")
    worker.end(signal.SIGINT)
    assert worker.process.returncode != 0
    assert [each.name for each in tmp_path.iterdir()] == ["tmp"]
    again = TermIndex.from_documents([{"docno": "d1", "text": "radio"}], path=path, verbose=False)
    assert again.num_docs == 1


#: Short documents, and topics and qrels for tuning.
_WORLD = """
    import sys, time
    import pandas as pd
    import pyterrier as pt
    from scipy.stats import uniform
    from pyterrier_asl import RandomSearch, TermIndex
    from pyterrier_asl.tuning import StagedSearch, bm25_stages

    words = ["radio", "wave", "scatter", "voltage", "core", "ferrite", "noise"]
    documents = [
        {"docno": f"d{i}", "text": " ".join(words[i * j % 7] for j in range(1, 3 + i % 9))}
        for i in range(40)
    ]
    index = TermIndex.from_documents(documents, verbose=False)
    topics = pd.DataFrame({"qid": ["1", "2"], "query": ["radio wave", "voltage noise core"]})
    qrels = [(q, f"d{i}", 1) for q in "12" for i in range(int(q), 40, 7)]
    qrels = pd.DataFrame(qrels, columns=["qid", "docno", "label"])

    def tune(what, **options):
        options = {"n_trials": 12, "seed": 1} | options
        if what == "stages":
            return StagedSearch(bm25_stages(index), topics, qrels, "AP", **options).table
        bm25 = index.bm25(b=0.5)
        try:
            return RandomSearch(
                bm25, {bm25: {"b": uniform(0, 1), "k1": uniform(0, 9)}}, topics, qrels, "ASL@10",
                sweep=what == "sweep", return_type="trials", **options,
            )
        finally:
            assert bm25.b == 0.5, "the pipeline lost its own parameters"
"""

_TUNE = """
    what, jobs, storage = sys.argv[1], int(sys.argv[2]), sys.argv[3] or None

    class Telling(pt.tqdm):
        # A progress bar that tells the test of every trial, and takes its time.

        def update(self, n=1):
            if n:
                sys.stdout.write("one is done\\n")  # threads share it
                sys.stdout.flush()
                time.sleep(0.1)

    pt.tqdm = Telling
    tune(what, jobs=jobs, storage=storage)
"""


@pytest.fixture(scope="module")
def tuned():
    """The call of tuning, and its result without an interruption."""
    names = {}
    exec(textwrap.dedent(_WORLD), names)
    return names["tune"], {what: names["tune"](what) for what in ("pipeline", "sweep", "stages")}


def finished_trials(storage):
    """Study and number -> the record of a trial."""
    import optuna

    return {
        (name, trial.number): trial.user_attrs
        for name in optuna.get_all_study_names(storage)
        for trial in optuna.load_study(study_name=name, storage=storage).get_trials()
        if trial.state == optuna.trial.TrialState.COMPLETE
    }


@pytest.mark.parametrize(
    ("what", "jobs", "how"),
    [("pipeline", 2, signal.SIGKILL), ("sweep", 2, signal.SIGINT), ("stages", 1, signal.SIGKILL)],
)
def test_tuning_that_is_ended_goes_on_from_its_storage(start, tmp_path, tuned, what, jobs, how):
    tune, expected = tuned
    storage = f"sqlite:///{tmp_path / 'trials.db'}"
    done = 14 if what == "stages" else 5  # the first stage has twelve trials
    not_kept = 3 if what == "stages" else 0  # the parameters before a stage are measured again
    worker = start(_WORLD + _TUNE, what, jobs, storage)
    for _ in range(done + not_kept):
        worker.wait_for("one is done")
    worker.end(how)
    assert worker.process.returncode != 0
    before = finished_trials(storage)
    assert len(before) >= done, "what was finished is lost"
    again = tune(what, storage=storage)
    pd.testing.assert_frame_equal(again, expected[what])
    after = finished_trials(storage)
    assert {key: after[key] for key in before} == before
    assert len(after) == (36 if what == "stages" else 12), "a finished trial was made again"


#: For each number n that it reads, a copy of this process does a task, and kills itself before its
#: n-th change of files in a folder. What tasks import is imported once, because it takes longest.
_KILLED = """
    import importlib, os, pkgutil, signal, sys
    import pyterrier_asl
    from pyterrier_asl.cli import main

    for module in pkgutil.walk_packages(pyterrier_asl.__path__, "pyterrier_asl."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    folder, *words = sys.argv[1:]
    CHANGES = ("os.rename", "os.remove", "os.link", "os.chmod", "os.mkdir")

    def task(left):
        def hook(event, arguments):
            nonlocal left
            writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if (writes or event in CHANGES) and str(arguments[0]).startswith(folder):
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.addaudithook(hook)
        if words[0] != "index":
            main(words)
        documents = [{"docno": f"d{i}", "text": f"radio wave {i}"} for i in range(9)]
        pyterrier_asl.TermIndex.from_documents(documents, path=words[1], verbose=False)
        sys.exit()

    for line in sys.stdin:
        child = os.fork()
        if not child:
            task(int(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def is_killed(worker: Worker, moment: int) -> bool:
    """Whether the task of a process of ``_KILLED`` has so many changes of files."""
    worker.process.stdin.write(f"{moment}\n")
    worker.process.stdin.flush()
    status = worker.process.stdout.readline()
    assert status in ("0\n", f"{-signal.SIGKILL}\n"), status or worker.process.stderr.read()
    return status != "0\n"


#: Commands by their output file, and whether they replace it.
_COMMANDS = {
    "page.html": ("report qrels a b -m AP -o", True),
    "pool.parquet": ("pool a b -o", True),
    "todo.tsv": ("holes qrels a b -m AP --export", False),
    "draw.tsv": ("plan-audit none a b --judge m=qrels -m AP --width .9 -o", False),
    "merged": ("labels qrels labels -o", True),
    "ranks.html": ("ranks qrels a b -m AP --chart", True),
    "index": ("index", False),
}


@pytest.mark.parametrize("name", _COMMANDS)
def test_a_killed_command_leaves_its_output_whole_or_absent(start, tmp_path, monkeypatch, name):
    """Killed before each change of a file, first without an output, then with an older one."""
    monkeypatch.chdir(tmp_path)
    for run, n in (("a", 1), ("b", 2)):
        write_run({q: {f"d{(i + n * q) % 7}": -i for i in range(5)} for q in range(12)}, run)
    write_qrels({q: {f"d{d}": (q + d) % 2 for d in range(6)} for q in range(12)}, "qrels")
    write_qrels({q: {"d6": 1} for q in range(12)}, "labels")
    command, replaces = _COMMANDS[name]
    folder = tmp_path / "outputs"
    folder.mkdir()
    worker = start(_KILLED, folder, *command.split(), folder / name)

    def outputs():
        """The contents of all files except temporary files."""
        files = [path for path in folder.rglob("*") if path.is_file()]
        inside = {path.relative_to(folder): path.read_bytes() for path in files}
        return {path: text for path, text in inside.items() if not path.parts[0].startswith(".")}

    kept = [outputs()]
    while not kept[-1] and is_killed(worker, len(kept)):
        kept.append(outputs())
    whole = outputs()
    assert {path.parts[0] for path in whole} == {name}
    assert len(kept) > 2 and kept[-1] in ({}, whole)
    moment = 1
    while replaces and is_killed(worker, moment):
        assert outputs() == whole
        moment += 1
    assert outputs() == whole
