"""Names that do not exist, other names of arguments, and words for numbers
(parameters.py, notices.py)."""

import io
import sys

import pytest
import small
from _calls import call

import pyterrier_asl
from pyterrier_asl.common.notices import progress_bar
from pyterrier_asl.common.parameters import check_names

RUNS, QRELS = small.RUNS, small.QRELS


def test_names_are_compared_as_text_and_the_first_unknown_one_is_named():
    check_names("groups", {1: "g"}, ["1", "2"], "runs")
    with pytest.raises(ValueError, match=r"of 0, 1, 2, 3, 4, 5, 6, 7, and 2 more\)"):
        check_names("groups", {"z": "g"}, range(10), "runs")
    with pytest.raises(ValueError, match="groups names 'bm52', .*: did you mean 'bm25'"):
        check_names("groups", ["bm25", "bm52", "plh"], ["bm25", "dph", "pl2"], "runs")


@pytest.mark.parametrize(
    ("on_terminal", "shown", "is_bar"),
    [(True, None, True), (False, None, False), (False, True, True), (True, False, False)]
    + [(None, None, False)],  # a windowed program has no stderr
)
def test_a_bar_is_for_terminals_or_where_it_is_asked_for(monkeypatch, on_terminal, shown, is_bar):
    stderr = io.StringIO()
    stderr.isatty = lambda: on_terminal
    monkeypatch.setattr(sys, "stderr", None if on_terminal is None else stderr)
    items = [1, 2]
    assert list(progress_bar(items, desc="measuring", shown=shown)) == items
    assert ("measuring: 100%" in stderr.getvalue()) == is_bar


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("compare q r --latex", "Error: no option --latex: write -o latex\n"),
        ("holes q r --budget 200", "Error: no option --budget: write --most\n"),
        ("holes q r --top 9", "Error: no option --top: write --most\n"),
        ("ranks q r --random-state 2", "Error: no option --random-state: write --seed\n"),
        (
            "compare --track t q r",
            "no option --track: this command takes one collection; 'evaluate',",
        ),
        ("ranks q r --repetitions _", "no option --repetitions: only 'compare' takes several runs"),
        ("report q r --repetitions _", "no option --repetitions: only 'compare' takes several"),
        ("tune vaswani --n-trials 9", "Error: no option --n-trials: write --trials\n"),
        ("evaluate q r --metrics map", "Error: no option --metrics: write -m\n"),
        ("report q r --latex", "No such option"),  # its -o is for pages
        ("demo --latex", "No such option"),
    ],
)
def test_a_command_shows_its_own_name_of_an_option(command, message):
    assert message in call(*command.split()).stderr


@pytest.mark.parametrize(
    ("function", "other", "name"),
    [("evaluate", "metrics", "measures"), ("compare", "metric", "measures")]
    + [("ranks", "random_state", "seed"), ("judges", "random_state", "seed")]
    + [("audit", "metrics", "measures"), ("report", "metrics", "measures")]
    + [("plan_audit", "random_state", "seed")],
)
def test_a_function_shows_its_own_name_of_an_argument(function, other, name):
    message = rf"^{function}\(\) has no argument '{other}': write {name}=$"
    with pytest.raises(TypeError, match=message):
        getattr(pyterrier_asl, function)(RUNS, QRELS, **{other: 1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'budget'"):
        getattr(pyterrier_asl, function)(RUNS, QRELS, budget=1)
