"""Tables: which value is best, how wide they are, and what they do on a narrow terminal."""

from __future__ import annotations

import io
import re
import sys

import pandas as pd
import pytest

from pyterrier_asl import tables
from pyterrier_asl.tables import Scores

SCORES = Scores(
    pd.DataFrame(
        {
            "run": ["one [bold]", "two"],
            "AP": [0.25, 0.5],
            "ASL@1000": [186.5, 186.5],
            "ASL(g=10)@1000": [3.0, 2.0],
            "Judged@10": [1.0, 0.5],
        }
    ),
    {"AP": True, "ASL@1000": False, "ASL(g=10)@1000": False},
)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, file: io.StringIO, columns: int) -> list[str]:
    monkeypatch.setattr(sys, "stdout", file)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    tables.show(SCORES, places=2)
    plain = re.sub(r"\x1b\[\d*m", "", file.getvalue())
    return [line.rstrip() for line in plain.splitlines()]


def test_the_best_goes_by_direction_and_ties_share_it():
    assert SCORES.is_best("AP") == [False, True]
    assert SCORES.is_best("ASL@1000") == [True, True]
    assert SCORES.is_best("ASL(g=10)@1000") == [False, True]
    assert SCORES.is_best("Judged@10") == [False, False]


def test_nothing_is_best_of_one_run_or_of_single_queries():
    one = Scores(SCORES.values.iloc[:1], SCORES.higher_is_better)
    assert one.is_best("AP") == [False]
    queries = Scores(SCORES.values.assign(qid=["q", "q"]), SCORES.higher_is_better)
    assert queries.is_best("AP") == [False, False]


@pytest.mark.parametrize("columns", [20, 200])
def test_in_a_pipe_a_table_is_as_wide_as_it_is(monkeypatch, columns):
    lines = shown(monkeypatch, io.StringIO(), columns)
    assert lines[0].split() == ["AP", "ASL", "ASL(g=10)", "Judged"]
    assert lines[3].split() == ["one", "[bold]", "0.25", "186.50", "3.00", "1.00"]
    assert len(lines) == 5


def test_on_a_terminal_that_is_too_narrow_measures_become_rows(monkeypatch):
    lines = shown(monkeypatch, Terminal(), 48)
    assert lines[0].split() == ["measure", "one", "[bold]", "two"]
    assert lines[3].split() == ["ASL@1000", "↓", "186.50", "186.50"]
    assert lines[5].split() == ["Judged@10", "1.00", "0.50"]


def test_where_that_does_not_help_nothing_is_cut_off(monkeypatch):
    lines = shown(monkeypatch, Terminal(), 15)
    assert lines[3].split() == ["one", "[bold]", "0.25", "186.50", "3.00", "1.00"]


def test_without_unicode_there_are_other_arrows(monkeypatch):
    class Ascii(io.StringIO):
        encoding = "ascii"

    text = "\n".join(shown(monkeypatch, Ascii(), 80))
    assert text.isascii() and "@1000 v" in text and "^" in text


def test_latex_escapes_names():
    scores = Scores(pd.DataFrame({"run": ["a_b & c"], "P_Rareness@100": [0.125]}))
    text = tables.latex(scores, places=-1)
    assert r"run & P\_Rareness@100 \\" in text
    assert r"a\_b \& c & 0.125 \\" in text
