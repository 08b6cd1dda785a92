"""The text and the HTML of a comparison."""

import sys

import pytest
from _calls import Terminal

from pyterrier_asl import compare
from pyterrier_asl.comparison.reports import print_comparison

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


def test_documents_that_moved_are_printed_where_they_are_asked_for(capsys):
    found = compare({"live": LIVE, "new": NEW}, QRELS, ["RR"])
    for show, expected in ((None, []), ("documents", ["q1", "q2"])):
        print_comparison(found, "table", show=show)
        printed = capsys.readouterr().out
        assert [q for q in QRELS if f"\n {q} " in printed] == expected
        assert ("Relevant documents" in printed) is (show == "documents")
    print_comparison(found, "tsv", show="documents")
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_five_documents_that_moved_are_printed_or_all(capsys):
    """The relevant document of query q<n> moves n ranks down."""
    moves = [3, 1, 7, 5, 2, 8, 6, 4]
    qrels = {f"q{n}": {"a": 1} for n in moves}
    live = {f"q{n}": {"a": 99, **{f"x{i}": i for i in range(9)}} for n in moves}
    new = {q: {**run, "a": 8.5 - int(q[1])} for q, run in live.items()}
    found = compare({"live": live, "new": new}, qrels, ["RR"])
    for all_rows, last in ((False, 4), (True, 1)):
        print_comparison(found, "table", show="documents", all_rows=all_rows)
        lines = capsys.readouterr().out.splitlines()
        expected = [f"q{n}" for n in range(8, last - 1, -1)]
        assert [line[1:3] for line in lines if line[1:3] in qrels] == expected


def test_a_guard_prints_its_measures_alone_unless_all_are_asked_for(capsys):
    found = compare({"live": LIVE, "new": NEW}, QRELS, conditions="RR worse")
    for all_rows in (False, True):
        print_comparison(found, "table", all_rows=all_rows)
        printed = capsys.readouterr().out
        assert " RR " in printed and ("W/L/T: " in printed) is all_rows


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
