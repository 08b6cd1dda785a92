"""What a comparison prints, draws and says, and every output of a guard (reports.py, result.py,
sentences.py, chart_and_latex.py)."""

import json
import sys
from xml.etree import ElementTree

import pytest
from _calls import Terminal

from pyterrier_asl import compare
from pyterrier_asl.comparison.guard import Outcome, Verdict
from pyterrier_asl.comparison.reports import GuardReports, print_comparison

VERDICTS = {
    "PASS": [Verdict("new", "AP worse", Outcome.PASS, "+0.1 from A to B", {"p": 0.5})],
    "FAIL": [Verdict("new", "AP worse|p", Outcome.FAIL, "50 %, worse", {"p": 0.01})],
    "ERROR": [Verdict("new", "AP worse", Outcome.ERROR, "no test can be made")],
}


def test_an_interrupted_guard_leaves_no_old_file(tmp_path):
    reports = GuardReports("table", tmp_path / "guard.xml")
    reports.report(VERDICTS["PASS"])
    reports.begin(["new"], ["AP worse"])  # then the process is killed
    [error] = ElementTree.parse(tmp_path / "guard.xml").iter("error")
    assert error.get("message") == "the guard did not come to an end"


def test_a_file_that_cannot_be_written_does_not_keep_an_error_from_the_others(tmp_path, capsys):
    junit = tmp_path / "guard.xml"
    junit.write_text("notes of mine")
    reports = GuardReports("jsonl", junit, inputs=[tmp_path / "qrels"])
    with pytest.raises(FileExistsError, match="holds something else"):
        reports.begin(["new"], ["AP worse"])
    reports.report_error(["new"], ["AP worse"], "that one")
    out, err = capsys.readouterr()
    assert junit.read_text() == "notes of mine" and "something else" in err and "that one" in err
    assert json.loads(out.splitlines()[-1]) == {"verdict": "ERROR", "status": 2}
    with pytest.raises(FileExistsError, match="one of the inputs"):
        GuardReports(junit=junit, inputs=[junit]).begin(["new"], ["AP worse"])


# The comparison

QRELS = {qid: {"a": 1, "n": 0} for qid in ("q1", "q2", "q3")}
LIVE = {qid: {"a": 2, "n": 1} for qid in QRELS}
#: In the first two queries the relevant document moves from rank 1 to 2.
NEW = {"q1": {"a": 1, "n": 2}, "q2": {"a": 1, "n": 2}, "q3": {"a": 2, "n": 1}}


@pytest.mark.parametrize("runs", [{"new": NEW}, {"new": NEW, "<b>": LIVE}])
def test_a_result_prints_what_the_command_prints_and_is_shown_as_html(runs, capsys):
    found = compare({"live": LIVE, **runs}, QRELS, ["RR", "ASL@9"])
    print(found)
    printed = capsys.readouterr().out
    print_comparison(found, "table")
    assert printed == capsys.readouterr().out
    assert "\n\nA: live (baseline)" in printed
    html = found._repr_html_()
    assert "<th>measure</th>" in html and "<b>" not in html
    assert ("&lt;b&gt;" in html) == ("<b>" in runs)


def test_documents_that_moved_are_printed_where_they_are_asked_for_five_or_all(capsys):
    """The relevant document of query q<n> moves n ranks down."""
    moves = [3, 1, 7, 5, 2, 8, 6, 4]
    qrels = {f"q{n}": {"a": 1} for n in moves}
    live = {f"q{n}": {"a": 99, **{f"x{i}": i for i in range(9)}} for n in moves}
    new = {q: {**run, "a": 8.5 - int(q[1])} for q, run in live.items()}
    found = compare({"live": live, "new": new}, qrels, ["RR"])
    for show, all_rows, last in (("documents", False, 4), ("documents", True, 1), (None, True, 9)):
        print_comparison(found, "table", show=show, all_rows=all_rows)
        printed = capsys.readouterr().out
        shown = [line[1:3] for line in printed.splitlines() if line[1:3] in qrels]
        assert shown == [f"q{n}" for n in range(8, last - 1, -1)]
        assert ("Relevant documents" in printed) is (show == "documents")
    print_comparison(found, "tsv", show="documents")
    assert len(capsys.readouterr().out.splitlines()) == 9


@pytest.mark.parametrize("runs", [{"new": NEW}, {"new": NEW, "other": LIVE}])
def test_a_terminal_of_80_columns_shows_the_answer_and_a_line_per_measure(runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = ["RR", "ASL(g=10)@1000", "nDCG@10"]
    found = compare({"live": LIVE, **runs}, QRELS, names)
    monkeypatch.setattr("sys.stdout", Terminal())
    print_comparison(found, "table")
    lines = sys.stdout.getvalue().splitlines()
    assert " ".join(lines).startswith(found.sentences()[0].partition(" by ")[0])
    assert max(map(len, lines)) <= 80 and len(lines) <= (24 if len(runs) == 1 else 34)
    for name in names:
        assert sum(f" {name} " in line and "..." not in line for line in lines) >= len(runs)
    assert sum("W/L/T" in line and "measure" in line for line in lines) == 1


def test_the_chart_shows_each_difference_with_its_interval():
    runs = {"live": LIVE, "new": NEW, "same": LIVE}
    found = compare(runs, QRELS, ["RR", "ASL@9"])
    drawn = found.chart().to_dict()
    [rows] = [rows for rows in drawn["datasets"].values() if "ci_low" in rows[0]]
    kept = ["run", "measure", "difference", "ci_low", "ci_high"]
    assert [[row[name] for name in kept] for row in rows] == found.table[kept].to_numpy().tolist()
    assert [row["panel"] for row in rows[:2]] == ["RR ↑", "ASL@9 ↓"]
    assert "over 3 queries, with 95 % intervals" in str(drawn["title"])
    drawn = found.chart("queries").to_dict()
    [rows] = [rows for rows in drawn["datasets"].values() if "qid" in rows[0]]
    assert [row["difference"] for row in rows if row["panel"] == "new, RR ↑"] == [-0.5, -0.5, 0.0]


def test_documents_that_moved_by_hand():
    """Irrelevant documents above, + 1; c is missed by the first run, after 7 of 9 places, and e by
    the second, after 9."""
    qrels = {"q1": {"a": 1, "b": 1, "c": 1, "n": 0}, "q2": {"d": 1, "e": 1, "f": 1}}
    live = {"q1": {"b": 5, "n": 4, "a": 3}, "q2": {"m": 3, "n": 2, "e": 1, "f": 0}}
    new = {"q1": {"n": 5, "m": 4, "b": 3, "a": 2, "c": 1}, "q2": {"f": 1}}
    found = compare({"live": live, "new": new}, qrels, ["ASL@9"])
    expected = [("e", 3, 9, 6, "A"), ("c", 8, 3, -5, "B"), ("b", 1, 3, 2, "both")]
    expected += [("f", 3, 1, -2, "both"), ("a", 2, 3, 1, "both")]
    columns = ["docno", "a", "b", "change", "found"]
    assert [*found.moved[columns].itertuples(index=False, name=None)] == expected
    (numbers,) = found.retrieved.to_dict("records")
    by_runs = {"run": "new", "both": 3, "A": 1, "B": 1, "neither": 1}
    assert numbers == {**by_runs, "nearer": 1, "farther": 2}
