"""Tables: which value is best, how wide they are, and what they do on a narrow terminal."""

from __future__ import annotations

import io
import re
import sys
from contextlib import redirect_stdout

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pyterrier_asl.io import machine_readable, tables

SCORES = pd.DataFrame(
    {
        "run": ["one [bold]", "two"],
        "AP": [0.25, 0.5],
        "ASL@1000": [186.5, 186.5],
        "ASL(g=10)@1000": [3.0, 2.0],
        "Judged@10": [1.0, 0.5],
    }
)
DIRECTIONS = {"AP": True, "ASL@1000": False, "ASL(g=10)@1000": False, "Judged@10": None}


@pytest.fixture(scope="module", autouse=True)
def outside_notebooks():
    """As if no other test had imported IPython, where Rich would print every table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "IPython", raising=False)
        yield


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, file: io.StringIO, columns: int) -> list[str]:
    monkeypatch.setattr(sys, "stdout", file)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    tables.show(SCORES, places=2, higher_is_better=DIRECTIONS)
    plain = re.sub(r"\x1b\[\d*m", "", file.getvalue())
    return [line.rstrip() for line in plain.splitlines()]


TEXT = st.text(st.sampled_from("aé €漢́👍\x1b\n\t|"), max_size=4)
#: What columns hold, by their titles.
CELLS = {
    **dict.fromkeys(["run", " é ", "漢", "", "a\tb"], st.one_of(TEXT, st.none())),
    **dict.fromkeys(["AP", "P@5", "@1", "x@1"], st.one_of(st.floats(-9, 9), st.none())),
}


@st.composite
def columns_of_tables(draw: st.DrawFn) -> dict[str, list[object]]:
    titles = draw(st.lists(st.sampled_from(list(CELLS)), unique=True))
    rows = draw(st.integers(0, 4))
    return {title: draw(st.lists(CELLS[title], min_size=rows, max_size=rows)) for title in titles}


class Pipe(io.StringIO):
    def isatty(self) -> bool:
        return False


@given(columns_of_tables(), st.booleans(), st.sampled_from(["", "run", "漢"]))
def test_a_pipe_gets_what_rich_prints_to_it(columns, of_measures, group_by):
    directions = {"AP": True, "P@5": None, "@1": False} if of_measures else {}
    style = {"higher_is_better": directions, "group_by": group_by, "titles": {"AP": "AP of all"}}
    printed, expected = Pipe(), io.StringIO()
    with redirect_stdout(printed):
        tables.show(columns, **style)
    console = Console(file=expected, width=10_000)
    console.print(tables.rich_table(columns, tables.Style(**style)))
    assert printed.getvalue() == expected.getvalue()


def test_a_pipe_gets_colours_where_they_are_forced(monkeypatch):
    for forced in (True, False):
        if forced:
            monkeypatch.setenv("FORCE_COLOR", "1")
        else:
            monkeypatch.delenv("FORCE_COLOR")
        printed = Pipe()
        with redirect_stdout(printed):
            tables.show(SCORES, higher_is_better=DIRECTIONS)
        assert ("\x1b[" in printed.getvalue()) == forced


def bold(frame: pd.DataFrame) -> list[list[bool]]:
    """Which cells of the measures are bold, row by row."""
    text = tables.markdown(frame, higher_is_better=DIRECTIONS)
    rows = [line.split(" | ") for line in text.splitlines()[2:]]
    return [[cell.strip("| ").startswith("**") for cell in row[-4:]] for row in rows]


def test_the_best_goes_by_direction_and_ties_share_it():
    assert bold(SCORES) == [[False, True, False, False], [True, True, True, False]]


def test_nothing_is_best_of_one_run_or_of_single_queries():
    assert bold(SCORES.iloc[:1]) == [[False] * 4]
    queries = SCORES.copy()
    queries.insert(1, "qid", ["q", "q"])
    assert bold(queries) == [[False] * 4] * 2


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


def test_on_a_terminal_that_is_wide_enough_runs_stay_rows(monkeypatch):
    lines = shown(monkeypatch, Terminal(), 80)
    assert lines[0].split() == ["AP", "ASL", "ASL(g=10)", "Judged"]
    assert lines[4].split() == ["two", "0.50", "186.50", "2.00", "0.50"]


def test_where_that_does_not_help_nothing_is_cut_off(monkeypatch):
    lines = shown(monkeypatch, Terminal(), 15)
    assert lines[3].split() == ["one", "[bold]", "0.25", "186.50", "3.00", "1.00"]


def test_without_unicode_there_are_other_arrows(monkeypatch):
    class Ascii(io.StringIO):
        encoding = "ascii"

    text = "\n".join(shown(monkeypatch, Ascii(), 80))
    assert text.isascii() and "@1000 v" in text and "^" in text


def test_latex_escapes_names():
    scores = pd.DataFrame({"run": ["a_b & c"], "P_Rareness@100": [0.125]})
    text = tables.latex(scores, places=-1, higher_is_better={"P_Rareness@100": True})
    assert r"run & P\_Rareness@100 \\" in text
    assert r"a\_b \& c & 0.125 \\" in text


def test_no_zero_has_a_sign(capsys):
    frame = pd.DataFrame({"a": [-1e-9, -0.0, -0.00006]})
    for form in ("table", "tsv", "latex", "markdown"):
        tables.write(frame, form)
        text = capsys.readouterr().out
        assert "-0.0000" not in text and "-0.0001" in text
    assert machine_readable.format_value(-0.0, -1) == "0.0"


def test_latex_has_the_best_bold():
    text = tables.latex(SCORES, places=1, higher_is_better=DIRECTIONS)
    assert r"two & \textbf{0.5} & \textbf{186.5} & \textbf{2.0} & 0.5 \\" in text


def test_latex_sets_numbers_to_the_right():
    scores = pd.DataFrame({"run": ["a", "b"], "AP": [0.5, 0.25], "better": [True, False]})
    assert r"\begin{tabular}{lrl}" in tables.latex(scores)


def test_what_is_missing_in_each_form(capsys):
    frame = pd.DataFrame({"a": [None, "x"], "b": [1.5, float("nan")], "c": [True, pd.NA]})
    tables.write(frame, "tsv")
    assert capsys.readouterr().out == "a\tb\tc\n\t1.5000\ttrue\nx\t\t\n"
    tables.write(frame, "jsonl")
    assert capsys.readouterr().out == (
        '{"a": null, "b": 1.5, "c": true}\n{"a": "x", "b": null, "c": null}\n'
    )
    tables.write(frame, "markdown")
    assert "| - | 1.5000 | yes |" in capsys.readouterr().out


def test_a_long_list_is_shortened_for_people_and_whole_for_programs():
    runs = [f"run{number}" for number in range(52)]
    frame = pd.DataFrame({"docno": ["d1", "d2"], "found_by": [runs, runs[:2]]})
    table = tables.markdown(frame)
    assert "| run0, run1, run2, run3 and 48 more |" in table and "| run0, run1 |" in table
    assert list(machine_readable.tsv_lines(frame))[1] == "d1\t" + " ".join(runs)


def test_equal_neighbours_are_shown_once_with_an_empty_line_between_groups(capsys):
    frame = pd.DataFrame({"qid": ["a", "a", "b", "a"], "rank": [1, 2, 3, 4]})
    tables.show(frame, group_by="qid")
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert rows[2:] == ["a 1", "2", "", "b 3", "", "a 4"]
