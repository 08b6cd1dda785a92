"""``pyterrier-asl compare``: errors in every output of a guard, and its status."""

import json
import os
import subprocess
import sys
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import _calls
import numpy as np
import pytest
import scipy.stats
from _files import write_qrels, write_run
from click.testing import Result

QUERIES = [f"q{number}" for number in range(1, 9)]
DOCNOS = [f"d{number}" for number in range(12)]


def made_up(seed: int) -> tuple[dict, dict]:
    """Qrels and two runs; the second run is worse."""
    draw = np.random.default_rng(seed)
    grades = {q: {d: int(draw.integers(0, 3)) for d in DOCNOS[:8]} for q in QUERIES}
    runs: dict[str, dict] = {"good": {}, "bad": {}}
    for q in QUERIES:
        for name, skill in (("good", 2.0), ("bad", 0.3)):
            scores = {d: skill * grades[q].get(d, 0) + draw.normal() for d in DOCNOS}
            runs[name][q] = dict(sorted(scores.items(), key=lambda item: -item[1])[:9])
    return grades, runs


QRELS, RUNS = made_up(1)


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """The folder the command is run in: qrels, good.run, bad.run."""
    monkeypatch.chdir(tmp_path)
    write_qrels(QRELS, "qrels")
    for name, run in RUNS.items():
        write_run(run, f"{name}.run")
    return tmp_path


def call(*arguments: str) -> Result:
    return _calls.call("compare", *arguments)


TWO = ["qrels", "good.run", "bad.run"]


def compare(*arguments: str) -> Result:
    return call(*TWO, *arguments)


def test_a_chart_of_groups_is_of_the_table_that_is_shown(files):
    Path("groups").write_text("".join(f"{q}\tg{n % 2}\n" for n, q in enumerate(QUERIES)))
    compare("-m", "AP", "--groups", "groups", "--show", "groups", "--chart", "a.html")
    assert "Runs compared with good in groups of queries" in Path("a.html").read_text()


# Errors in every output

OUTPUTS = ["-o", "jsonl", "--junit", "guard.xml"]


def outcomes(result: Result) -> dict[str, str]:
    """The outcome in each output of a guard."""
    suite = ElementTree.parse("guard.xml").getroot()
    counts = int(suite.get("failures")), int(suite.get("errors"))
    return {
        "status": {0: "PASS", 1: "FAIL", 2: "ERROR"}[result.exit_code],
        "stderr": result.stderr.partition("Guard: ")[2].split()[0],
        "jsonl": json.loads(result.stdout.splitlines()[-1])["verdict"],
        "junit": "ERROR" if counts[1] else "FAIL" if counts[0] else "PASS",
    }


ONE_RUN = ["qrels", "good.run"]
#: Arguments, and what the error says.
ERRORS = [
    ([*ONE_RUN, "gone.run"], "there is no file gone.run"),
    ([*ONE_RUN, "short.run"], "short.run, line 1"),
    (["short.run", *TWO[1:]], "short.run, line 1"),
    (["empty", *TWO[1:]], "empty"),
    (["irrelevant", *TWO[1:]], "no judged document is relevant"),
    (["contradictory", *TWO[1:]], "the qrels judge 1 document twice, differently"),
    ([*TWO, "--rel", "9"], "no judged document is relevant"),
    ([*TWO, "-m", "Foo"], "no such measure"),
    ([*TWO, "-m", "TBG"], "have no known length"),
    ([*TWO, "--fail-if", "RR worse by 101%"], "as the mean of A allows"),
    ([*TWO, "--fail-if", "RR is worse"], "write MEASURE better"),
    (ONE_RUN, "Missing argument"),
    (["one", *TWO[1:], "--fail-if", "RR worse p<.05"], "only one query"),
]


def test_an_error_reaches_every_output(files):
    Path("short.run").write_text("q1 Q0\n")
    Path("empty").write_text("")
    Path("one").write_text("q1 0 d1 1\n")
    judged = Path("qrels").read_text()
    Path("irrelevant").write_text(judged.replace(" 1\n", " 0\n").replace(" 2\n", " 0\n"))
    Path("contradictory").write_text(f"{judged}q1 0 d0 {1 - min(QRELS['q1']['d0'], 1)}\n")
    for condition, outcome in (("AP better", "PASS"), ("ASL@20 worse p<.05", "FAIL")):
        assert set(outcomes(compare("--fail-if", condition, *OUTPUTS)).values()) == {outcome}
    for arguments, message in ERRORS:
        Path("guard.xml").unlink()
        result = call(*arguments, "--fail-if", "AP worse", *OUTPUTS)
        assert set(outcomes(result).values()) == {"ERROR"}, (arguments, outcomes(result))
        for text in (result.stderr, result.stdout):
            assert message.replace("`", "") in " ".join(text.split())
        assert message in unescape(Path("guard.xml").read_text())
    scores = ["--scores", "gone.csv", "--fail-if", "AP worse", *OUTPUTS]
    for named, run in ((["live", "new"], "new"), (["--scores", "b.csv"], "b")):
        assert json.loads(call(*scores, *named).stdout.splitlines()[0])["run"] == run


def test_a_fault_of_the_program_reaches_every_output(files, monkeypatch):
    """No fault is known, so SciPy has one."""

    def broken(*_, **__):
        raise ZeroDivisionError("of SciPy")

    monkeypatch.setattr(scipy.special, "stdtr", broken)
    assert set(outcomes(compare("--fail-if", "AP worse", *OUTPUTS)).values()) == {"ERROR"}
    assert "ZeroDivisionError: of SciPy" in Path("guard.xml").read_text()


@pytest.mark.skipif(os.name != "posix", reason="pipes are closed otherwise on Windows")
@pytest.mark.parametrize(
    ("condition", "status", "chart"), [("AP worse", 1, ["--chart", "a.html"]), ("AP better", 0, [])]
)
def test_a_closed_pipe_changes_neither_files_nor_the_status(files, condition, status, chart):
    """As in ``pyterrier-asl compare ... 2>&1 | true``."""
    read, write = os.pipe()
    os.close(read)
    options = ["--fail-if", condition, "--junit", "guard.xml", *chart]
    command = [sys.executable, "-m", "pyterrier_asl", "compare", *TWO, *options]
    done = subprocess.run(command, stdout=write, stderr=write)
    os.close(write)
    assert done.returncode == status
    assert ElementTree.parse("guard.xml").getroot().get("failures") == str(status)
    assert not chart or Path("a.html").stat().st_size > 1000
