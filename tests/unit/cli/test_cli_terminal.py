"""Commands at a terminal of 80 columns print the answer first and tables that fit."""

import re
import sys

import numpy as np
import pytest
from _calls import Terminal
from _files import write_run

from pyterrier_asl.cli import main

TOPICS = [f"q{number:02}" for number in range(12)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Qrels, and runs r00, r01, ...; the last run is the best."""
    folder, generator = tmp_path_factory.mktemp("terminal"), np.random.default_rng(0)
    lines = [f"{qid} 0 d{k} {int(k < 3)}\n" for qid in TOPICS for k in range(8)]
    (folder / "qrels").write_text("".join(lines))
    (folder / "runs").mkdir()
    for number in range(20):
        scores = generator.normal(-np.arange(8) * number / 10, size=(12, 8))
        run = {q: {f"d{k}": round(s, 4) for k, s in enumerate(of)} for q, of in zip(TOPICS, scores)}
        write_run(run, folder / "runs" / f"r{number:02}.run")
    return folder


@pytest.fixture
def shown(files, monkeypatch):
    """The lines that a command prints to a terminal."""

    def lines(*arguments):
        terminal = Terminal()
        monkeypatch.chdir(files)
        monkeypatch.delitem(sys.modules, "IPython", raising=False)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("TERM", "xterm")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal)
            main.main(arguments, standalone_mode=False)
        return re.sub(r"\x1b\[\d*m", "", terminal.getvalue()).splitlines()

    return lines


@pytest.mark.filterwarnings("ignore:there are only 12 topics")
@pytest.mark.parametrize("command", ["evaluate", "ranks"])
def test_the_answer_comes_first_and_tables_fit(shown, command):
    lines = shown(command, "qrels", "runs/")
    assert max(map(len, lines)) <= 80
    assert re.search("the best mean|could be the best", lines[0])
    assert " ... 10 more (--all)" in lines
    everything = shown(command, "qrels", "runs/", "--all")
    assert not any("--all" in line for line in everything)
    names = [line.split()[0] for line in everything if re.match(r" r\d\d ", line)]
    assert set(names) == {f"r{run:02}" for run in range(20)}


def test_evaluate_shows_the_best_of_many_runs(shown):
    lines = shown("evaluate", "qrels", "runs/", "-m", "AP ASL@10")
    assert "Best mean AP first:" in lines
    rows = [line.split() for line in lines if re.match(r" r\d\d ", line)]
    values = [float(row[1]) for row in rows]
    assert len(rows) == 10 and values == sorted(values, reverse=True)
    assert all(re.fullmatch(r"\d\.\d", row[2]) for row in rows)
    given = shown("evaluate", "qrels", "runs/", "-m", "AP", "--all")
    assert [line.split()[0] for line in given[-20:]] == [f"r{run:02}" for run in range(20)]


@pytest.mark.filterwarnings("ignore:there are only 12 topics")
def test_stars_are_explained_where_there_are_any(shown):
    best, near, worst = [f"runs/r{run:02}.run" for run in (19, 18, 0)]
    legend = "*: significantly worse than a run with the best mean (all pairs: corrected p at most"
    for runs, options, is_there in (
        ((best, worst), ["--ranks"], True),
        ((best, worst), [], False),
        ((best, near), ["--ranks"], False),
    ):
        text = " ".join(" ".join(shown("evaluate", "qrels", *runs, "-m", "AP", *options)).split())
        assert (legend in text) == is_there


def test_wide_tables_have_all_columns_in_one_block(shown):
    lines = shown("evaluate", "qrels", "runs/r01.run", "runs/r02.run", "runs/r03.run", "--all")
    assert sum(line.startswith(" r01 ") for line in lines) == 1
    assert max(map(len, lines)) > 80
