"""``pyterrier-asl compare``: values of SciPy and loops, and conditions that set the status."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import brute_force
import ir_measures
import numpy as np
import pytest
import scipy.stats
from _files import write_qrels, write_run
from click.testing import CliRunner, Result

from pyterrier_asl.cli import main
from pyterrier_asl.comparison.conditions import check_condition, parse_condition
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
    return CliRunner().invoke(main, ["compare", *arguments])


def compare(*arguments: str) -> Result:
    return call("qrels", "good.run", "bad.run", *arguments)


def rows(result: Result) -> list[dict]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def by_measure(*arguments: str) -> dict[str, dict]:
    return {row["measure"]: row for row in rows(compare("-o", "jsonl", *arguments))}


def rankings(run: str) -> dict[str, list[str]]:
    return {q: brute_force.ranking(RUNS[run][q], QRELS[q]) for q in QUERIES}


def asl(run: str) -> np.ndarray:
    return np.array([brute_force.asl(rankings(run)[q], QRELS[q], k=20) for q in QUERIES])


def rr_lp(rel: float = 1) -> np.ndarray:
    """rrLP of bad against good, by query."""
    good, bad = (
        [brute_force.reciprocal_ranks(rankings(run)[q], QRELS[q], rel) for q in QUERIES]
        for run in ("good", "bad")
    )
    return np.array([brute_force.rr_lp(b, a) for a, b in zip(good, bad)])


# Numbers


def test_preferences_take_for_relevant_what_lexip_does(files):
    assert by_measure("-m", "LexiP(rel=2) rrLP")["rrLP"]["difference"] == pytest.approx(
        rr_lp(2).mean()
    )


def test_by_query(files):
    found = rows(compare("-m", "ASL@20 rrLP", "-q", "-o", "jsonl"))
    assert list(dict.fromkeys(row["measure"] for row in found)) == ["ASL@20", "rrLP"]
    expected = {
        "ASL@20": dict(zip(QUERIES, asl("bad") - asl("good"))),
        "rrLP": dict(zip(QUERIES, rr_lp())),
    }
    for name, changes in expected.items():
        of_measure = [row for row in found if row["measure"] == name]
        differences = {row["qid"]: row["difference"] for row in of_measure}
        assert differences == pytest.approx(changes)
        losses = list(differences.values())
        assert losses == sorted(losses, reverse=name == "ASL@20")  # the largest loss first


def search_length(run: str, qid: str, docno: str) -> int:
    """Search lengths at depth 20; a missed document follows the last document."""
    ranking, wanted = rankings(run)[qid], brute_force.relevant(QRELS[qid])
    if docno not in ranking:
        return 20 - len(wanted & set(ranking)) + 1
    return sum(other not in wanted for other in ranking[: ranking.index(docno)]) + 1


def test_documents_that_moved(files):
    found = rows(compare("-m", "ASL@20", "--show", "documents", "-o", "jsonl"))
    expected = {
        (q, d): search_length("bad", q, d) - search_length("good", q, d)
        for q in QUERIES
        for d in brute_force.relevant(QRELS[q])
    }
    assert {(row["qid"], row["docno"]): row["change"] for row in found} == {
        (q, d): change
        for (q, d), change in expected.items()
        if change and any(d in rankings(name)[q] for name in RUNS)
    }
    sizes = [abs(row["change"]) for row in found]
    assert sizes == sorted(sizes, reverse=True)
    for row in found:
        runs = [name for name in RUNS if row["docno"] in rankings(name)[row["qid"]]]
        expected_found = {("good", "bad"): "both", ("good",): "A", ("bad",): "B"}
        assert row["found"] == expected_found[tuple(runs)]


# Formats


def test_table_says_who_is_who_and_what_was_done(files):
    text = compare("-q").stdout
    lines = text.splitlines()
    assert lines[0].startswith("bad is significantly worse than good by ASL@1000 (ASL(g=10)@1000: ")
    lines = lines[lines.index("") :]
    assert lines[1] == "A: good (baseline), B: bad"
    head = "measure A B B - A from to p W/L/T"
    assert " ".join(lines[3].split()) == head and lines[5].startswith(" ASL@1000 ↓")
    text = " ".join(text.split())
    assert "p: t-test for pairs (sgnLP: sign test), two-sided" in text and "over 8 queries" in text
    assert "B - A by query, the largest loss" in text and "Those that moved" not in text
    assert "Those that moved farthest" in compare("--show", "documents").stdout


def test_tsv_has_names_and_p_values_that_are_not_rounded_to_0(files):
    head, *lines = compare("-o", "tsv", "-m", "ASL@20 rrLP", "-p", "2").stdout.splitlines()
    names = head.split("\t")
    assert (
        names
        == (
            "measure a b difference ci_low ci_high effect wins losses ties p p_corrected test "
            "detectable family"
        ).split()
    )
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
    assert f"p = {p:.4g}]" in result.stderr
    assert "ASL@20" in result.stdout
    result = compare("-m", "AP", "--fail-if", "ASL@20 better", "--fail-if", "nASL@20 higher")
    assert result.exit_code == 0
    assert result.stderr.count("PASS: ") == 2


def test_a_guard_prints_its_answer_first_and_its_measures_alone(files):
    """The order of both streams is that of a terminal."""
    command = ["qrels", "good.run", "bad.run", "--fail-if", "AP worse p<.05"]
    lines = CliRunner().invoke(main, ["compare", *command]).output.splitlines()
    assert lines[0].startswith("FAIL: AP worse p<.05 [") and "Guard: FAIL" in lines
    assert [line.split()[0] for line in lines if line.startswith(" AP")] == ["AP"]
    assert lines[-1].startswith(" AP ") and max(map(len, lines[-3:])) <= 80
    assert "The p-values are for comparisons planned" in " ".join(
        call(*command, "--all").stdout.split()
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("AP worse p<2", "the condition 'AP worse p<2'"),
        (
            "Judged@10 worse",
            "Judged@10 has no direction: more is neither better nor worse; write higher, lower",
        ),
        ("rrLP worse by 5%", "leave out the %"),
        ("P worse", "'P' names several measures"),
        ("AP worse by 1e400", "can never hold: 1e400 is infinite"),
        ("sgnLP worse by 2", "no run can be worse by 2, as sgnLP allows 1 at most"),
    ],
)
def test_what_cannot_be_asked_of_a_measure(files, text, message):
    result = compare("--fail-if", text)
    assert result.exit_code == 2 and message in result.stderr
    check_condition(parse_condition("Judged@10 higher"), ir_measures.Judged @ 10, None)


# Errors


def test_files_of_one_name_are_distinguished(files):
    (files / "new").mkdir()
    (files / "new" / "good.run").write_text((files / "bad.run").read_text())
    lines = call("qrels", "good.run", "new/good.run").stdout.splitlines()
    assert "A: good.run (baseline), B: new/good.run" in lines


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["good.run", "."], ". is a folder, not a file"),
        (["good.run", "good.run"], "are one file: name two runs"),
        (["good.run", "link.run"], "are one file: name two runs"),
    ],
)
def test_what_cannot_be_compared(files, arguments, message):
    (files / "link.run").symlink_to(files / "good.run")
    result = call("qrels", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr.splitlines()[-1]


def test_help_teaches_the_grammar():
    text = call("--help").stdout
    assert "better|worse|lower|higher|different [by AMOUNT] [p<LEVEL]" in text
    assert "MEASURE below|above VALUE" in " ".join(text.split())
    assert "RUN_A is the baseline" in text and "exit status" in text


def test_a_run_that_leaves_queries_unanswered_fails(files):
    write_run({q: RUNS["good"][q] for q in QUERIES if q not in ("q3", "q5")}, "new.run")
    asked = ["qrels", "good.run", "new.run", "-m", "AP", "--fail-if", "AP worse p<.0001"]
    result = call(*asked)
    assert result.exit_code == 1 and "Guard: FAIL" in result.stderr
    assert "does not answer 2 of 8 queries (e.g. 'q3')" in result.stderr
    allowed = call(*asked, "--allow-missing")
    assert allowed.exit_code == 0 and "Guard: PASS" in allowed.stderr
    note = "new does not answer 2 of 8 queries (e.g. 'q3'); each counts with the worst value"
    assert note in " ".join(call(*asked, "--allow-missing", "--all").stdout.split())
    assert f"Note: {note}" in call(*asked, "-o", "tsv").stderr
    # Reversed, the baseline lacks them; without conditions nothing fails.
    assert call("qrels", "new.run", "good.run", "--fail-if", "AP worse").exit_code == 2
    assert call(*asked[:5]).exit_code == 0


def test_the_interval_of_a_sign_stays_in_its_range(files):
    write_run(RUNS["bad"] | {"q1": RUNS["good"]["q1"]}, "bad.run")
    row = by_measure("-m", "AP sgnLP")["sgnLP"]
    assert (row["wins"], row["losses"], row["ties"]) == (0, 7, 1)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(sign_interval(0, 7, 8)[1:])
    assert row["ci_low"] >= -1 and row["p"] == pytest.approx(2 / 2**7)


@pytest.mark.parametrize(
    ("variable", "option", "expected"),
    [("true", [], True), ("true", ["--no-github"], False), ("", [], False)]
    + [("", ["--github"], True), ("false", [], False)],
)
def test_annotations_are_printed_where_github_runs_the_guard(
    files, monkeypatch, variable, option, expected
):
    monkeypatch.setenv("GITHUB_ACTIONS", variable)
    result = compare("--fail-if", "AP worse", *option)
    assert ("::error title=" in result.stderr) is expected


# Errors in every output

OUTPUTS = ["-o", "jsonl", "--junit", "guard.xml", "--summary", "guard.md", "--github"]


def outcomes(result: Result) -> dict[str, str]:
    """The outcome in each output of a guard."""
    suite = ElementTree.parse("guard.xml").getroot()
    counts = int(suite.get("failures")), int(suite.get("errors"))
    annotated = result.stderr.split("::error title=")[1:]
    return {
        "status": {0: "PASS", 1: "FAIL", 2: "ERROR"}[result.exit_code],
        "stderr": result.stderr.partition("Guard: ")[2].split()[0],
        "jsonl": json.loads(result.stdout.splitlines()[-1])["verdict"],
        "junit": "ERROR" if counts[1] else "FAIL" if counts[0] else "PASS",
        "summary": Path("guard.md").read_text().splitlines()[0].removeprefix("## Guard: "),
        "github": min((text.partition("%3A")[0] for text in annotated), default="PASS"),
    }


@pytest.mark.filterwarnings("ignore:the qrels judge")
@pytest.mark.parametrize(
    "arguments, message",
    [
        (["qrels", "good.run", "gone.run"], "there is no file gone.run"),
        (["qrels", "good.run", "short.run"], "short.run, line 1"),
        (["short.run", "good.run", "bad.run"], "short.run, line 1"),
        (["empty", "good.run", "bad.run"], "empty"),
        (["irrelevant", "good.run", "bad.run"], "no judged document is relevant"),
        (["contradictory", "good.run", "bad.run"], "the qrels contradict themselves"),
        (["qrels", "good.run", "bad.run", "--rel", "9"], "no judged document is relevant"),
        (["qrels", "good.run", "bad.run", "-m", "Foo"], "no such measure"),
        (["qrels", "good.run", "bad.run", "-m", "TBG"], "have no known length"),
        (
            ["qrels", "good.run", "bad.run", "--fail-if", "RR worse by 101%"],
            "as the mean of A allows",
        ),
        (["qrels", "good.run", "bad.run", "--fail-if", "RR is worse"], "write MEASURE better"),
        (["qrels", "good.run", "bad.run", "--show", "text"], "'text' is not one of 'means'"),
        (["qrels", "good.run", "bad.run", "--test", "foo"], "is not one of 't'"),
        (["qrels", "good.run", "bad.run", "--foo"], "No such option"),
        (["qrels", "good.run"], "Missing argument"),
        (["qrels", "", "good.run", "bad.run"], "an argument is empty, perhaps a variable"),
        (["qrels", "good.run", "bad.run", "--fail-if", ""], "the value of --fail-if is empty"),
        (["one", "good.run", "bad.run", "--fail-if", "RR worse p<.05"], "only one query"),
    ],
)
def test_an_error_reaches_every_output(files, arguments, message):
    Path("short.run").write_text("q1 Q0\n")
    Path("empty").write_text("")
    Path("one").write_text("q1 0 d1 1\n")
    judged = Path("qrels").read_text()
    Path("irrelevant").write_text(judged.replace(" 1\n", " 0\n").replace(" 2\n", " 0\n"))
    Path("contradictory").write_text(f"{judged}q1 0 d0 {1 - min(QRELS['q1']['d0'], 1)}\n")
    passed = compare("--fail-if", "AP better", *OUTPUTS)
    assert set(outcomes(passed).values()) == {"PASS"}
    result = call(*arguments, "--fail-if", "AP worse", *OUTPUTS)
    assert set(outcomes(result).values()) == {"ERROR"}, outcomes(result)
    for text in (result.stderr, result.stdout, Path("guard.md").read_text()):
        assert message.replace("`", "") in " ".join(text.split())
    assert message in Path("guard.xml").read_text().replace("&apos;", "'").replace("&quot;", '"')


def test_a_fault_of_the_program_reaches_every_output(files, monkeypatch):
    """No fault is known, so SciPy has one."""

    def broken(*_, **__):
        raise ZeroDivisionError("of SciPy")

    monkeypatch.setattr(scipy.special, "stdtr", broken)
    assert set(outcomes(compare("--fail-if", "AP worse", *OUTPUTS)).values()) == {"ERROR"}
    assert "ZeroDivisionError: of SciPy" in Path("guard.xml").read_text()


def test_the_outputs_of_a_guard_go_with_a_condition(files):
    for option in ("--summary", "--junit"):
        result = compare(option, "guard")
        assert result.exit_code == 2 and "go with --fail-if" in result.stderr
        assert not Path("guard").exists()


SCRIPT = """\
set -u
pyterrier-asl compare qrels good.run "$1" -m 'AP ASL@20' --fail-if "$2" \
    -o jsonl --junit guard.xml --summary guard.md --github > out.jsonl 2> err.txt
echo $? > status
"""


@pytest.mark.slow
def test_a_guard_in_a_shell_script_says_each_outcome_everywhere(files):
    Path("guard.sh").write_text(SCRIPT)
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    for run, condition, outcome in [
        ("bad.run", "AP better p<.05", "PASS"),
        ("bad.run", "ASL@20 possibly worse by 50% p<.05", "FAIL"),
        ("gone.run", "AP worse p<.05", "ERROR"),
        ("good2.run", "AP possibly worse by .02 p<.05", "PASS"),
        ("bad.run", "AP worse by 200%", "ERROR"),
    ]:
        Path("good2.run").write_text(Path("good.run").read_text())
        subprocess.run(["sh", "guard.sh", run, condition], env=environment, check=True)
        result = SimpleNamespace(
            exit_code=int(Path("status").read_text()),
            stdout=Path("out.jsonl").read_text(),
            stderr=Path("err.txt").read_text(),
        )
        assert set(outcomes(result).values()) == {outcome}, (condition, outcomes(result))
