"""``pyterrier-asl compare``: values of SciPy and loops, and conditions that set the status."""

from __future__ import annotations

import gzip
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
import pandas as pd
import pytest
import scipy.stats
from click.testing import CliRunner, Result

import pyterrier_asl
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
    lines = (f"{q} 0 {d} {grade}\n" for q, docs in QRELS.items() for d, grade in docs.items())
    (tmp_path / "qrels").write_text("".join(lines))
    for name, run in RUNS.items():
        lines = (f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items())
        (tmp_path / f"{name}.run").write_text("".join(lines))
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


def lexip(run: str) -> np.ndarray:
    return np.array([brute_force.lexip(rankings(run)[q], QRELS[q]) for q in QUERIES])


def rr_lp(rel: float = 1) -> np.ndarray:
    """rrLP of bad against good, by query."""
    good, bad = (
        [brute_force.reciprocal_ranks(rankings(run)[q], QRELS[q], rel) for q in QUERIES]
        for run in ("good", "bad")
    )
    return np.array([brute_force.rr_lp(b, a) for a, b in zip(good, bad)])


def holm(p: dict[str, float]) -> dict[str, float]:
    """Holm's correction, as a loop."""
    corrected, largest = {}, 0.0
    for done, name in enumerate(sorted(p, key=lambda name: p[name])):
        largest = max(largest, min(1.0, (len(p) - done) * p[name]))
        corrected[name] = largest
    return corrected


# Numbers


def test_means_tests_and_intervals_match_scipy(files):
    found = by_measure("-m", "ASL@20 LexiP rrLP sgnLP")
    assert list(found) == ["ASL@20", "LexiP", "rrLP", "sgnLP"]
    for name, values in {"ASL@20": asl, "LexiP": lexip}.items():
        a, b = values("good"), values("bad")
        test = scipy.stats.ttest_rel(b, a)
        interval = test.confidence_interval(0.95)
        row = found[name]
        assert (row["a"], row["b"]) == pytest.approx((a.mean(), b.mean()))
        assert row["difference"] == pytest.approx((b - a).mean())
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(interval))
        assert row["effect"] == pytest.approx((b - a).mean() / (b - a).std(ddof=1))
        assert row["p"] == pytest.approx(test.pvalue)
        better = a - b if name == "ASL@20" else b - a
        assert row["wins"] == sum(better > 0) and row["losses"] == sum(better < 0)
        assert row["wins"] + row["losses"] + row["ties"] == len(QUERIES)
    value = rr_lp()
    wins, losses = int(sum(value > 0)), int(sum(value < 0))
    assert found["rrLP"]["a"] is found["rrLP"]["b"] is None
    assert found["rrLP"]["difference"] == pytest.approx(value.mean())
    assert found["rrLP"]["p"] == pytest.approx(scipy.stats.ttest_1samp(value, 0).pvalue)
    assert found["sgnLP"]["difference"] == pytest.approx((wins - losses) / len(QUERIES))
    assert losses == len(QUERIES) and found["sgnLP"]["p"] is None  # no variance, no test
    assert (found["sgnLP"]["wins"], found["sgnLP"]["losses"]) == (wins, losses)
    assert all(row["p_corrected"] == row["p"] for row in found.values())  # one run


def test_other_tests_and_corrections(files):
    a, b = asl("good"), asl("bad")
    found = by_measure("-m", "ASL@20 sgnLP", "--test", "wilcoxon", "--correction", "none")
    assert found["ASL@20"]["p"] == pytest.approx(scipy.stats.wilcoxon(b - a).pvalue)
    assert found["ASL@20"]["p_corrected"] == found["ASL@20"]["p"]
    assert (found["ASL@20"]["test"], found["sgnLP"]["test"]) == ("wilcoxon", "sign")
    found = by_measure("-m", "ASL@20", "--test", "randomization", "--correction", "bonferroni")
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(a))).reshape(len(a), -1).T
    as_large = np.abs(signs @ (b - a)) >= abs((b - a).sum()) - 1e-9
    assert found["ASL@20"]["p"] == pytest.approx(as_large.mean())
    found = by_measure("-m", "ASL@20", "--test", "sign")
    worse = int(sum(b > a))
    assert found["ASL@20"]["p"] == pytest.approx(
        scipy.stats.binomtest(worse, worse + int(sum(b < a))).pvalue
    )


def test_rel_is_for_preferences_and_for_measures_that_do_not_say(files):
    found = by_measure("-m", "ASL@20 rrLP", "--rel", "2")
    assert list(found) == ["ASL(rel=2)@20", "rrLP"]
    assert found["rrLP"]["difference"] == pytest.approx(rr_lp(2).mean())


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
    found = rows(compare("-m", "ASL@20", "--documents", "-o", "jsonl"))
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
    assert "Those that moved farthest" in compare("--documents").stdout


def test_tsv_has_names_and_p_values_that_are_not_rounded_to_0(files):
    head, *lines = compare("-o", "tsv", "-m", "ASL@20 rrLP", "-p", "2").stdout.splitlines()
    names = head.split("\t")
    assert names == [
        "measure",
        "a",
        "b",
        "difference",
        "ci_low",
        "ci_high",
        "effect",
        "wins",
        "losses",
        "ties",
        "p",
        "p_corrected",
        "test",
        "detectable",
        "family",
    ]
    row = dict(zip(names, lines[0].split("\t")))
    assert row["a"] == f"{asl('good').mean():.2f}"
    p = scipy.stats.ttest_rel(asl("bad"), asl("good")).pvalue
    assert row["p"] == f"{p:.2g}" and float(row["p"]) > 0
    assert dict(zip(names, lines[1].split("\t")))["a"] == ""


def test_latex(files):
    text = compare("-o", "latex", "-m", "ASL@20", "-p", "3").stdout
    assert r"\toprule" in text
    assert rf"good & \textbf{{{asl('good').mean():.3f}}}" in text
    p = scipy.stats.ttest_rel(asl("bad"), asl("good")).pvalue
    assert p < 0.05 and f"bad & {asl('bad').mean():.3f}$^{{-}}$" in text


def test_two_tables_do_not_fit_into_one_file(files):
    result = compare("-q", "--documents", "-o", "tsv")
    assert result.exit_code == 2 and "-q and --documents are two tables" in result.stderr


# Conditions


def test_the_condition_sets_the_exit_status(files):
    a, b = asl("good"), asl("bad")
    p = scipy.stats.ttest_rel(b, a).pvalue
    assert b.mean() > a.mean() and 1e-6 < p < 0.05
    result = compare("-m", "AP", "--fail-if", "ASL@20 worse p<.05")
    assert result.exit_code == 1
    holds = f"FAIL: ASL@20 worse p<.05 [{(b - a).mean():+.4g} from A to B"
    assert holds in result.stderr and "Guard: FAIL" in result.stderr
    assert f"p = {p:.4g}, a t-test" in result.stderr
    assert "ASL@20" in result.stdout
    result = compare("-m", "AP", "--fail-if", "ASL@20 better", "--fail-if", "nASL@20 higher")
    assert result.exit_code == 0
    assert result.stderr.count("PASS: ") == 2


def test_p_of_a_condition_is_that_of_the_table_whatever_else_is_asked(files):
    p = scipy.stats.ttest_rel(asl("bad"), asl("good")).pvalue
    asked = ["--fail-if", f"ASL@20 worse p<{1.01 * p}"]
    others = ["--fail-if", "LexiP different p<1e-9", "--fail-if", "AP worse by 100%"]
    for shown in (["-m", "AP"], [], ["-m", "ASL@20 AP RR nDCG"], others):
        result = compare(*asked, *shown, "-o", "jsonl")
        assert result.exit_code == 1 and f"p = {p:.4g}, a t-test" in result.stderr
    Path("other.run").write_text(Path("bad.run").read_text())
    three = ["qrels", "good.run", "bad.run", "other.run", *asked]
    assert f"p = {2 * p:.4g} by holm over 2 runs" in call(*three).stderr
    assert call(*three).exit_code == 0 and call(*three, "--correction", "none").exit_code == 1


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


def test_conditions_on_preferences_and_with_rel(files):
    assert compare("-m", "AP", "--fail-if", "rrLP worse").exit_code == 1
    assert compare("-m", "AP", "--fail-if", "sgnLP better").exit_code == 0
    result = compare("-m", "AP", "-l", "2", "--fail-if", "ASL@20 worse")
    assert "ASL(rel=2)@20" in result.stdout and "FAIL: ASL@20 worse" in result.stderr


def test_identical_runs_hold_no_condition(files):
    (files / "same.run").write_text((files / "good.run").read_text())
    guards = [x for how in ("worse", "better", "different p<1") for x in ("--fail-if", f"AP {how}")]
    result = call("qrels", "good.run", "same.run", *guards)
    assert result.exit_code == 0
    equal = "over 8 queries, equal values in every query, so there is no difference to test]"
    assert f"PASS: AP different p<1 [+0 from A to B (+0.00 %), {equal}" in result.stderr
    unmoved = "(in B with fewer irrelevant documents above: 0; with more: 0)"
    same = call("qrels", "good.run", "same.run", "--documents")
    assert unmoved in " ".join(same.stdout.split())


@pytest.mark.parametrize(
    "text",
    [
        "AP",
        "worse",
        "AP bad",
        "AP worse by",
        "AP worse p<",
        "AP worse p>.05",
        "AP worse .05",
        "AP worse by 2 percent",
        "AP worse by -1",
        "AP worse p<2",
    ],
)
def test_what_is_no_condition(files, text):
    result = compare("--fail-if", text)
    assert result.exit_code == 2
    assert result.stdout == "" and f"the condition {text!r}" in result.stderr


@pytest.mark.parametrize(
    "text, message",
    [
        ("Foo worse", "'Foo': there is no such measure"),
        (
            "Judged@10 worse",
            "Judged@10 has no direction: more is neither better nor worse; write higher, lower",
        ),
        ("rrLP worse by 5%", "leave out the %"),
        ("P worse", "a condition has one measure"),
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
        (["good.run", "gone"], "there is no file gone"),
        (["good.run", "."], ". is a folder, not a file"),
        (["good.run", "good.run"], "are one file: name two runs"),
        (["good.run", "./good.run"], "are one file: name two runs"),
        (["good.run", "link.run"], "are one file: name two runs"),
        (["good.run", "other"], "other': the run answers none of the 8"),
        (["good.run", "short"], "short, line 1"),
        (["good.run", "bad.run", "-m", "TBG"], "retrieved documents have no known length"),
    ],
)
def test_what_cannot_be_compared(files, arguments, message):
    (files / "other").write_text("x1 Q0 d1 1 2.0 tag\n")
    (files / "short").write_text("q1 Q0\n")
    (files / "link.run").symlink_to(files / "good.run")
    result = call("qrels", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr.splitlines()[-1]


@pytest.mark.filterwarnings("default:.*judged documents have a grade")
def test_hint_where_grades_exceed_1(files):
    assert "Warning: " in compare("-m", "AP").stderr


def test_help_teaches_the_grammar():
    text = call("--help").stdout
    assert "better|worse|lower|higher|different [by AMOUNT] [p<LEVEL]" in text
    assert "RUN_A is the baseline" in text and "exit status" in text


# The guard's three outcomes


def without(run: str, qids: list[str], path: Path) -> None:
    """The run without some queries."""
    kept = {q: docs for q, docs in RUNS[run].items() if q not in qids}
    lines = (f"{q} Q0 {d} 0 {s} t\n" for q, docs in kept.items() for d, s in docs.items())
    path.write_text("".join(lines))


def test_a_run_that_leaves_queries_unanswered_fails(files):
    without("good", ["q3", "q5"], Path("new.run"))
    asked = ["qrels", "good.run", "new.run", "-m", "AP", "--fail-if", "AP worse p<.0001"]
    result = call(*asked)
    assert result.exit_code == 1 and "Guard: FAIL" in result.stderr
    assert "leaves 2 queries unanswered that good answers, e.g. 'q3'" in result.stderr
    allowed = call(*asked, "--allow-missing")
    assert allowed.exit_code == 0 and "Guard: PASS" in allowed.stderr
    note = "new does not answer 2 of 8 queries; each counts with the worst value"
    assert note in " ".join(call(*asked, "--allow-missing", "--all").stdout.split())
    assert f"Note: {note}" in call(*asked, "-o", "tsv").stderr
    # Reversed, the baseline lacks them; without conditions nothing fails.
    assert call("qrels", "new.run", "good.run", "--fail-if", "AP worse").exit_code == 2
    assert call(*asked[:5]).exit_code == 0


def test_one_query_is_not_enough_for_a_test(files):
    Path("one").write_text("".join(f"q1 0 {d} {grade}\n" for d, grade in QRELS["q1"].items()))
    result = call("one", "good.run", "bad.run", "-m", "AP", "--fail-if", "AP worse p<.05")
    assert result.exit_code == 2 and "Guard: ERROR" in result.stderr
    assert "no test can be made: there is only one query" in result.stderr


def test_a_damaged_file_is_an_error_and_no_verdict(files):
    whole = gzip.compress(Path("bad.run").read_bytes(), mtime=0)
    Path("bad.run.gz").write_bytes(whole[: len(whole) // 2])
    result = call("qrels", "good.run", "bad.run.gz", "--fail-if", "AP worse")
    assert result.exit_code == 2 and "bad.run.gz" in result.stderr


def test_a_fault_of_the_program_is_an_error_and_no_verdict(files, monkeypatch):
    """No fault is known, so SciPy has one."""

    def broken(*_, **__):
        raise ZeroDivisionError("of SciPy")

    monkeypatch.setattr(scipy.special, "stdtr", broken)
    result = call("qrels", "good.run", "bad.run", "--fail-if", "AP worse")
    assert result.exit_code == 2
    assert "ZeroDivisionError: of SciPy (--traceback shows where)" in result.stderr


def test_verdicts_for_programs(files):
    asked = ["-m", "AP", "--fail-if", "AP worse p<.05", "--fail-if", "AP better"]
    result = compare(*asked, "-o", "jsonl", "--junit", "verdicts.xml", "--github")
    assert result.exit_code == 1
    *_, first, second, last = [json.loads(line) for line in result.stdout.splitlines()]
    assert (first["condition"], first["outcome"]) == ("AP worse p<.05", "FAIL")
    assert (second["condition"], second["outcome"]) == ("AP better", "PASS")
    assert last == {"verdict": "FAIL", "status": 1}
    suite = ElementTree.parse("verdicts.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [case.get("name") for case in suite] == ["AP worse p<.05", "AP better"]
    assert suite[0].find("failure") is not None and suite[1].find("failure") is None
    assert "::error title=FAIL%3A AP worse p<.05::bad: " in result.stderr
    assert "::notice title=PASS%3A AP better::" in result.stderr


def test_several_runs_against_one(files):
    without("bad", ["q1"], Path("other.run"))
    asked = ["qrels", "good.run", "bad.run", "other.run", "-m", "AP ASL@20"]
    found = rows(call(*asked, "-o", "jsonl"))
    assert list(dict.fromkeys(row["run"] for row in found)) == ["bad", "other"]
    two = {row["measure"]: row for row in rows(compare("-m", "AP ASL@20", "-o", "jsonl"))}
    for row in found[:4]:
        others = {"p_corrected": 0, "run": 0, "family": 0}
        assert row["run"] == "other" or {**row, **others} == {**two[row["measure"]], **others}
    for measure in ("AP", "ASL@20"):
        p = {row["run"]: row["p"] for row in found if row["measure"] == measure}
        corrected = {r["run"]: r["p_corrected"] for r in found if r["measure"] == measure}
        assert corrected == pytest.approx(holm(p))
    lines = call(*asked, "-o", "latex").stdout.splitlines()
    assert [line.split(" & ")[0] for line in lines if " & " in line][1:] == ["good", "bad", "other"]


def test_documents_that_neither_run_retrieved_are_counted_as_such(files):
    counts = {"both": 0, "A": 0, "B": 0, "neither": 0}
    for q in QUERIES:
        for d in brute_force.relevant(QRELS[q]):
            found = tuple(d in rankings(name)[q] for name in ("good", "bad"))
            counts[
                {(True, True): "both", (True, False): "A", (False, True): "B"}.get(found, "neither")
            ] += 1
    text = " ".join(compare("-m", "ASL@20", "--documents").stdout.split())
    assert f"Retrieved by both runs: {counts['both']} (in B " in text
    assert f"Retrieved by A only: {counts['A']}; by B only: {counts['B']}; by neither: " in text
    assert f"by neither: {counts['neither']}." in text


def test_the_interval_of_a_sign_stays_in_its_range(files):
    write_run(Path("bad.run"), RUNS["bad"] | {"q1": RUNS["good"]["q1"]})
    row = by_measure("-m", "AP sgnLP")["sgnLP"]
    assert (row["wins"], row["losses"], row["ties"]) == (0, 7, 1)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(sign_interval(0, 7, 8)[1:])
    assert row["ci_low"] >= -1 and row["p"] == pytest.approx(2 / 2**7)


def test_in_python_from_frames(files):
    frames = {
        name: pd.DataFrame(
            [(q, d, s) for q, docs in run.items() for d, s in docs.items()],
            columns=["qid", "docno", "score"],
        )
        for name, run in RUNS.items()
    }
    compared = pyterrier_asl.compare(
        frames, QRELS, ["AP", "ASL@20"], baseline="bad", conditions=["AP better p<.05"]
    )
    assert (compared.baseline, compared.runs) == ("bad", ["good"])
    there = {row["measure"]: row for row in compared.table.to_dict("records")}
    assert there["ASL@20"]["difference"] == pytest.approx((asl("good") - asl("bad")).mean())
    assert [one.outcome.name for one in compared.verdicts] == ["FAIL"]


OPTIONS = [
    (["--rel", "2"], {"rel": 2}),
    (["--test", "randomization", "--seed", "5"], {"test": "randomization", "seed": 5}),
    (["--test", "wilcoxon"], {"test": "wilcoxon"}),
    (["--alpha", ".3"], {"alpha": 0.3}),
    (["--duplicates", "best"], {"duplicates": "best"}),
    (["--drop-self"], {"drop_self": True}),
    (["--pool", "pool"], {"pool": "pool"}),
    (["--lengths", "words-of-12"], {"lengths": "words-of-12"}),
    (["--labels", "labels"], {"labels": "labels"}),
    (["--correction", "bonferroni"], {"correction": "bonferroni"}),
    (["--no-causes"], {"causes": False}),
    (
        ["--fail-if", "AP worse", "--allow-missing"],
        {"conditions": "AP worse", "allow_missing": True},
    ),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("words", "arguments"), OPTIONS, ids=lambda value: str(value)[:30])
def test_an_option_is_handed_on_and_changes_the_answer(files, words, arguments):
    """With another value than the default; of 12 queries random signs are drawn."""
    Path("pool").mkdir()
    for n, run in enumerate((RUNS["good"], RUNS["bad"], {"q1": {"d1": 1.0}})):
        run = {f"q{k}": run[f"q{1 + (k - 1) % len(run)}"] for k in range(1, 13)}
        write_run(Path("pool") / f"{n}.run", run)
    Path("words-of-12").write_text("".join(f"d{n} {100 * n + 1}\n" for n in range(12)))
    Path("labels").write_text("".join(f"{q} 0 d{n} 1\n" for q in QUERIES for n in (8, 9, 10)))
    twelve = [f"q{n}" for n in range(1, 13)]
    own, other = (
        {q: RUNS[name][QUERIES[n % 8]] | {"d11": 0.1 * n} for n, q in enumerate(twelve)}
        for name in ("good", "bad")
    )
    own = {q: {q: 9.0} | docs for q, docs in own.items()} if "drop_self" in arguments else own
    own = {q: docs for q, docs in own.items() if q != "q7"} if "conditions" in arguments else own
    other |= {"q1": {"d9": 3.0, "d1": 2.0}}
    Path("more").write_text(
        "".join(
            f"{q} 0 {d} {QRELS[QUERIES[n % 8]][d]}\n"
            for n, q in enumerate(twelve)
            for d in DOCNOS[:8]
        )
    )
    write_run(Path("a.run"), own)
    write_run(Path("b.run"), other, twice="duplicates" in arguments)
    write_run(Path("c.run"), {q: dict(list(docs.items())[:2]) for q, docs in other.items()})
    measures = (
        "AP P_Rareness@3" if "pool" in arguments else "AP TBG" if "lengths" in arguments else "AP"
    )
    command = ["more", "a.run", "b.run", "c.run", "-m", measures, "-o", "jsonl"]
    result = call(*command, *words)
    expected = pyterrier_asl.compare(["a.run", "b.run", "c.run"], "more", measures, **arguments)
    shown = [json.loads(line) for line in result.stdout.splitlines()][: len(expected.table)]
    table = json.loads(expected.table.to_json(orient="records", double_precision=15))
    assert len(shown) == len(table)
    for row, by_function in zip(shown, table):
        for name, value in by_function.items():
            is_number = isinstance(value, float)
            assert row[name] == (pytest.approx(value, rel=1e-9) if is_number else value)
    plain = call(*command)
    assert (plain.stdout, plain.stderr, plain.exit_code) != (
        result.stdout,
        result.stderr,
        result.exit_code,
    )


def write_run(path: Path, run: dict, *, twice: bool = False) -> None:
    """A run file, with its first row twice."""
    lines = [f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items()]
    path.write_text("".join([*lines, *lines[:1] * twice]))


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
        (["qrels", "good.run", "bad.run", "-q", "--documents"], "are two tables"),
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
