"""The text and the HTML of a comparison."""

from __future__ import annotations

import io
import sys

import pytest

from pyterrier_asl import compare
from pyterrier_asl.comparison.printing import print_comparison

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
    assert "\n\nA: live (baseline)\n" in printed
    html = found._repr_html_()
    assert "<th>measure</th>" in html and "<b>" not in html and "Relevant documents" in html
    assert ("&lt;b&gt;" in html) == ("<b>" in runs)


@pytest.mark.parametrize(("moved", "expected"), [(0, []), (1, ["q1"]), (2, ["q1", "q2"])])
def test_as_many_moved_documents_as_asked_for(moved, expected, capsys):
    found = compare({"live": LIVE, "new": NEW}, QRELS, ["RR"])
    print_comparison(found, "table", moved=moved)
    printed = capsys.readouterr().out
    assert [q for q in QRELS if f"\n {q} " in printed] == expected
    assert ("Relevant documents" in printed) is (moved > 0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("runs", [{"new": NEW}, {"new": NEW, "other": LIVE}])
def test_a_terminal_of_80_columns_shows_the_answer_and_two_blocks(runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    found = compare({"live": LIVE, **runs}, QRELS, ["RR", "ASL@1000", "nDCG@10"])
    for wide in (False, True):
        monkeypatch.setattr("sys.stdout", Terminal())
        print_comparison(found, "table", wide=wide, by_query=True)
        lines = sys.stdout.getvalue().splitlines()
        assert " ".join(lines).startswith(found.sentences()[0].partition(" by ")[0])
        heads = [line for line in lines if "measure" in line.split()[:2]]
        assert [("p (holm)" in line, "wins" in line) for line in heads] == (
            [(True, True)] if wide else [(True, False), (False, True)]
        )
        assert wide or max(map(len, lines)) <= 80
