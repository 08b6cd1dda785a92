"""Tables: best values, widths, and narrow terminals (printed.py, table_lines.py)."""

import io
import re
import sys
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest
from _calls import Terminal

from pyterrier_asl.printing import table_lines, tables
from pyterrier_asl.printing.printed import Part, print_parts
from pyterrier_asl.printing.table_lines import PValue

SCORES = pd.DataFrame(
    {"run": ["one [bold]", "two"], "AP": [0.25, 0.5], "ASL@1000": [186.5, 186.5]}
    | {"ASL(g=10)@1000": [3.0, 2.0], "Judged@10": [1.0, 0.5]}
)
DIRECTIONS = {"AP": True, "ASL@1000": False, "ASL(g=10)@1000": False, "Judged@10": None}


def shown(monkeypatch, file, columns, table=SCORES, **style):
    """The lines of a table in a file of some columns."""
    monkeypatch.setattr(sys, "stdout", file)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    tables.show(table, **{"places": 2, "higher_is_better": DIRECTIONS} | style)
    plain = re.sub(r"\x1b\[\d*m", "", file.getvalue())
    return [line.rstrip() for line in plain.splitlines()]


@pytest.mark.parametrize("width", [24, 25, 31])
def test_wide_text_is_folded_within_the_margin(monkeypatch, width):
    """Each of these letters has two cells."""
    table = {"run": ["a", "漢字" * 9 + "e"], "AP": [0.25, 1.0]}
    lines = shown(monkeypatch, io.StringIO(), width, table)
    for line in lines[3:]:
        assert len(line) + sum(letter in "漢字" for letter in line) <= width
    assert "".join(line.split()[0] for line in lines[3:]) == "".join(table["run"])


def test_columns_are_as_wide_as_their_widest_cell(capsys):
    columns = {"run": ["a", "漢字", "x\ty"], "AP": [0.25, None, 1.0], "of": ["", "é", "abc"]}
    tables.show(columns, higher_is_better={"AP": True}, titles={"of": "author"})
    assert capsys.readouterr().out.splitlines() == [
        "            AP          ",
        " run         ↑   author ",
        "────────────────────────",
        " a      0.2500          ",
        " 漢字        -   é      ",
        r" x\ty   1.0000   abc    ",
    ]
    tables.show({})
    assert capsys.readouterr().out == "\n"


def test_a_pipe_gets_colours_where_they_are_forced(monkeypatch):
    for forced in (True, False):
        monkeypatch.setenv("FORCE_COLOR", "1") if forced else monkeypatch.delenv("FORCE_COLOR")
        printed = io.StringIO()
        with redirect_stdout(printed):
            tables.show(SCORES, higher_is_better=DIRECTIONS)
        assert ("\x1b[" in printed.getvalue()) == forced


def bold(frame: pd.DataFrame) -> list[list[bool]]:
    """Whether the cells of the measures are bold, row by row."""
    text = tables.markdown(frame, higher_is_better=DIRECTIONS)
    rows = [line.split(" | ") for line in text.splitlines()[2:]]
    return [[cell.strip("| ").startswith("**") for cell in row[-4:]] for row in rows]


def test_the_best_goes_by_direction_and_ties_share_it():
    """Nothing is best of one run, or of single queries."""
    assert bold(SCORES) == [[False, True, False, False], [True, True, True, False]]
    assert bold(SCORES.iloc[:1]) == [[False] * 4]
    queries = SCORES.copy()
    queries.insert(1, "qid", ["q", "q"])
    assert bold(queries) == [[False] * 4] * 2


def test_each_group_has_its_best_and_arrows(capsys):
    groups = {"track": ["x", "x", "y", "y", "z"], "run": [*"ababa"], "ASL": [2.0, 1, 4, 8, 0]}
    style = {"group_by": "track", "higher_is_better": {"ASL": False}}
    cells = [line.split(" | ")[2] for line in tables.markdown(groups, **style).splitlines()[2:]]
    assert [cell.startswith("**") for cell in cells] == [False, True, True, False, False]
    tables.show(groups, **style)
    assert "↓" in capsys.readouterr().out


def test_runs_are_rows_in_a_pipe_and_on_a_wide_terminal(monkeypatch):
    for file, width in ((io.StringIO(), 200), (Terminal(), 80)):
        lines = [line.split() for line in shown(monkeypatch, file, width)]
        assert lines[0] == ["AP", "ASL", "ASL(g=10)", "Judged"]
        assert lines[3:] == [
            ["one", "[bold]", "0.25", "186.50", "3.00", "1.00"],
            ["two", "0.50", "186.50", "2.00", "0.50"],
        ]


def test_on_a_terminal_that_is_too_narrow_measures_become_rows(monkeypatch):
    lines = shown(monkeypatch, Terminal(), 48)
    assert lines[0].split() == ["measure", "one", "[bold]", "two"]
    assert lines[3].split() == ["ASL@1000", "↓", "186.50", "186.50"]
    assert lines[5].split() == ["Judged@10", "1.00", "0.50"]


def many(rows: int, measures: int = 2) -> dict[str, list[object]]:
    """Runs r0, r1, ... by measures M0, M1, ..., the last run the best."""
    columns = {f"M{number}@1000": [row / rows for row in range(rows)] for number in range(measures)}
    return {"run": [f"r{row}" for row in range(rows)], **columns}


def directions(measures: int) -> dict[str, bool]:
    return {f"M{number}@1000": True for number in range(measures)}


def test_what_does_not_fit_a_terminal_is_in_two_blocks(monkeypatch):
    style = {"higher_is_better": directions(9), "places": 4}
    lines = shown(monkeypatch, Terminal(), 60, many(12, 9), **style)
    assert max(map(len, lines)) <= 60
    headers = [line.split() for line in lines if "M" in line]
    assert headers == [["M0", "M1", "M2", "M3", "M4"], ["M5", "M6", "M7", "M8"]]
    assert sum(line.startswith(" r3 ") for line in lines) == 2
    [wide, *_] = shown(monkeypatch, Terminal(), 60, many(12, 9), **style, wide=True)
    assert len(wide.split()) == 9


def test_columns_beyond_two_blocks_are_named(monkeypatch):
    style = {"higher_is_better": directions(7), "places": 4}
    lines = shown(monkeypatch, Terminal(), 30, many(12, 7), **style)
    assert max(map(len, lines[:-2])) <= 30
    assert " ".join(lines[-2:]).endswith("(--all): M4@1000, M5@1000, M6@1000")


def test_long_names_fold_and_none_is_cut(monkeypatch):
    lines = shown(monkeypatch, Terminal(), 16)
    folded = "".join("".join(line[:9].split()) for line in lines[3:6])
    assert folded.startswith("one[bold]") and "0.25" in "".join(lines)


@pytest.mark.parametrize(("rows", "kept"), [(1, 1), (15, 15), (16, 10), (61, 10)])
def test_a_terminal_shows_the_first_rows_of_a_long_table(monkeypatch, rows, kept):
    style = {"higher_is_better": directions(2)}
    lines = shown(monkeypatch, Terminal(), 80, many(rows), **style)
    assert sum(line.startswith(" r") for line in lines[3:]) == kept
    assert (lines[-1] == f" ... {rows - kept} more (--all)") == (kept < rows)
    everything = shown(monkeypatch, Terminal(), 80, many(rows), **style, all_rows=True)
    assert len(everything) == rows + 3
    assert len(shown(monkeypatch, io.StringIO(), 80, many(rows), **style)) == rows + 3


@pytest.mark.parametrize(
    ("groups", "kept"),
    [(2, [*range(5), *range(30, 35)]), (5, [0, 1, 12, 13, 24, 25, 36, 37, 48, 49]), (6, range(10))],
)
def test_of_a_few_groups_the_first_rows_of_each_are_shown(monkeypatch, groups, kept):
    table = {"track": np.repeat([*"abcdef"[:groups]], 60 // groups).tolist(), **many(60, 1)}
    lines = shown(monkeypatch, Terminal(), 80, table, group_by="track")
    assert lines[-1] == " ... 50 more (--all)"
    numbers = [int(name[1:]) for line in lines for name in line.split() if re.match(r"r\d", name)]
    assert numbers == [*kept]


def test_a_terminal_shows_costs_above_1_with_one_decimal(monkeypatch):
    style = {"higher_is_better": DIRECTIONS, "places": 4}
    row = shown(monkeypatch, Terminal(), 80, **style)[4]
    assert row.split() == ["two", "0.5000", "186.5", "2.0", "0.5000"]
    assert shown(monkeypatch, io.StringIO(), 80, **style)[4].split()[2] == "186.5000"
    below = {"run": ["a", "b"], "cost": [0.25, 1.0]}
    rows = shown(monkeypatch, Terminal(), 80, below, places=4, higher_is_better={"cost": False})
    assert rows[-1].split() == ["b", "1.0000"]


def test_notebooks_show_directions_and_terminals_without_unicode_other_arrows(monkeypatch):
    text = tables.html(SCORES, higher_is_better=DIRECTIONS)
    assert "<th>run</th><th>AP ↑</th><th>ASL@1000 ↓</th>" in text and "<th>Judged@10</th>" in text

    class Ascii(io.StringIO):
        encoding = "ascii"

    text = "\n".join(shown(monkeypatch, Ascii(), 80))
    assert text.isascii() and "@1000 v" in text and "^" in text


def test_latex_escapes_names_and_has_the_best_bold():
    scores = pd.DataFrame({"run": ["a_b & c"], "P_Rareness@100": [0.125]})
    text = tables.latex(scores, places=-1, higher_is_better={"P_Rareness@100": True})
    assert r"run & P\_Rareness@100 \\" in text and r"a\_b \& c & 0.125 \\" in text
    assert r"$<$a$|$b$>$ & 0.5000 \\" in tables.latex({"run": ["<a|b>"], "AP": [0.5]})
    text = tables.latex(SCORES.assign(better=[True, False]), places=1, higher_is_better=DIRECTIONS)
    assert r"\begin{tabular}{lrrrrl}" in text
    assert r"two & \textbf{0.5} & \textbf{186.5} & \textbf{2.0} & 0.5 & no \\" in text


@pytest.mark.parametrize(
    ("name", "cell"),
    [("<b>", r"\<b>"), ("*", r"\*"), ("`k`", r"\`k\`"), ("[x](y)", r"\[x\](y)")]
    + [("__a_b_", r"\_\_a_b\_"), ("a\\|b", r"a\\\|b"), ("C:\\new", "C:\\new"), ("p<.05", "p<.05")],
)
def test_markdown_prints_names_as_they_are(name, cell):
    text = tables.markdown({"run": [name], name: [0.5]})
    assert text.splitlines()[0] == f"| run | {cell} |"
    assert text.splitlines()[2] == f"| {cell} | 0.5000 |"


def test_no_zero_has_a_sign(capsys):
    frame = pd.DataFrame({"a": [-1e-9, -0.0, -0.00006]})
    for form in ("table", "tsv", "latex", "markdown"):
        tables.write(frame, form)
        text = capsys.readouterr().out
        assert "-0.0000" not in text and "-0.0001" in text
    assert table_lines.format_value(-0.0, -1) == "0.0"


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
    assert list(table_lines.separated_lines(frame))[1] == "d1\t" + " ".join(runs)


def test_equal_neighbours_are_shown_once_with_an_empty_line_between_groups(capsys):
    frame = pd.DataFrame({"qid": ["a", "a", "b", "a"], "rank": [1, 2, 3, 4]})
    tables.show(frame, group_by="qid")
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert rows[2:] == ["a 1", "2", "", "b 3", "", "a 4"]


def test_a_number_and_its_percent_sign_stay_on_one_line(capsys):
    for words in range(90, 101):
        print_parts([Part(f"{'x' * words} 95 % of the pairs")])
        lines = capsys.readouterr().out.splitlines()
        assert not any(line.startswith("  %") for line in lines)
        assert " ".join(" ".join(lines).split()).endswith("x 95 % of the pairs")


def test_p_values_have_the_places_that_are_asked_for():
    for places, cell in ((-1, "0.05003"), (0, "0.05"), (4, "0.0500"), (1, "<0.1")):
        assert tables.markdown({"p": [0.05003]}, places=places).endswith(f"| {cell} |\n")


def test_a_p_value_in_a_column_of_other_numbers_is_not_rounded_to_0():
    cells = {"value": [0.25, 0.00001, PValue(0.00001), PValue("nan")]}
    lines = tables.markdown(cells).splitlines()[2:]
    assert [line.strip("| ") for line in lines] == ["0.2500", "0.0000", "<0.0001", "-"]
