"""``pyterrier-asl compare``: values of SciPy and loops, and conditions that set the status."""

import json
import os
import subprocess
import sys
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import _calls
import brute_force
import numpy as np
import pytest
import scipy.stats
from _calls import rows
from _files import write_qrels, write_run
from click.testing import Result

from pyterrier_asl.statistics.intervals import sign_interval

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


def by_measure(*arguments: str) -> dict[str, dict]:
    return {row["measure"]: row for row in rows(compare("-o", "jsonl", *arguments))}


def rankings(run: str) -> dict[str, list[str]]:
    return {q: brute_force.ranking(RUNS[run][q], QRELS[q]) for q in QUERIES}


def asl(run: str) -> np.ndarray:
    return np.array([brute_force.asl(rankings(run)[q], QRELS[q], k=20) for q in QUERIES])


# Numbers


def test_by_query(files):
    """The preference takes for relevant what LexiP does."""
    found = rows(compare("-m", "LexiP(rel=2) ASL@20 rrLP", "-q", "-o", "jsonl"))
    ranks = {
        run: [brute_force.reciprocal_ranks(rankings(run)[q], QRELS[q], 2) for q in QUERIES]
        for run in RUNS
    }
    expected = {
        "ASL@20": asl("bad") - asl("good"),
        "rrLP": list(map(brute_force.rr_lp, ranks["bad"], ranks["good"])),
    }
    assert list(dict.fromkeys(row["measure"] for row in found)) == ["LexiP(rel=2)", *expected]
    for name, changes in expected.items():
        of_measure = [row for row in found if row["measure"] == name]
        differences = {row["qid"]: row["difference"] for row in of_measure}
        assert differences == pytest.approx(dict(zip(QUERIES, changes)))
        losses = list(differences.values())
        assert losses == sorted(losses, reverse=name != "rrLP")  # the largest loss first


# Formats


def test_tsv_has_names_and_p_values_that_are_not_rounded_to_0(files):
    head, *lines = compare("-o", "tsv", "-m", "ASL@20 rrLP", "-p", "2").stdout.splitlines()
    names = head.split("\t")
    expected = "measure a b difference ci_low ci_high effect wins losses ties p p_corrected test "
    assert names == [*expected.split(), "detectable", "family"]
    row = dict(zip(names, lines[0].split("\t")))
    assert row["a"] == f"{asl('good').mean():.2f}"
    p = scipy.stats.ttest_rel(asl("bad"), asl("good")).pvalue
    assert row["p"] == f"{p:.2g}" and float(row["p"]) > 0
    assert dict(zip(names, lines[1].split("\t")))["a"] == ""


# Conditions


def test_the_condition_sets_the_exit_status(files):
    a, b = asl("good"), asl("bad")
    p = scipy.stats.ttest_rel(b, a).pvalue
    assert b.mean() > a.mean() and 1e-6 < p < 0.05
    result = compare("-m", "AP", "--fail-if", "ASL@20 worse p<.05")
    assert result.exit_code == 1
    holds = f"FAIL: ASL@20 worse p<.05 [{(b - a).mean():+.4g} from A to B"
    assert holds in result.stderr and "Guard: FAIL" in result.stderr
    assert f"p = {p:.4f}]" in result.stderr
    assert "ASL@20" in result.stdout
    result = compare("-m", "AP", "--fail-if", "ASL@20 better", "--fail-if", "nASL@20 higher")
    assert result.exit_code == 0
    assert result.stderr.count("PASS: ") == 2


# Errors


def test_the_interval_of_a_sign_stays_in_its_range(files):
    write_run(RUNS["bad"] | {"q1": RUNS["good"]["q1"]}, "bad.run")
    row = by_measure("-m", "AP sgnLP")["sgnLP"]
    assert (row["wins"], row["losses"], row["ties"]) == (0, 7, 1)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(sign_interval(0, 7, 8)[1:])
    assert row["ci_low"] >= -1 and row["p"] == pytest.approx(2 / 2**7)


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
