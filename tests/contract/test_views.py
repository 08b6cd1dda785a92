"""Options reach every view of a result, and what a view prints is a number of its table.

The rows of options are those of :mod:`_options`.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import pytest
from _options import CALLS, ROWS, Setting, frames, of, several
from test_options import setting_of, with_option

import pyterrier_asl as asl

pytestmark = pytest.mark.filterwarnings("ignore")

SETTING = Setting("frames")
RUNS, QRELS = frames()
TWO = {name: RUNS[name] for name in ("bravo", "alpha")}


def drawn(result: Any) -> str:
    """The rows of a chart with their marks and its text; data sets are named by their contents."""
    return json.dumps(result.chart().to_dict(validate=False), sort_keys=True)


VIEWS: dict[str, Callable[[Any], Any]] = {
    "text": str,
    "LaTeX": lambda result: result.to_latex(),
    "HTML": lambda result: result._repr_html_(),
    "chart": drawn,
}
#: Options of the calls that return a result, and the views that do not show them.
SEEN = {
    "compare": {"baseline": "", "test": "", "correction": "", "alpha": ""},
    "ranks": {"alpha": "", "unjudged": "", "judges": ""},
    "judges": {"people": "", "reference": "", "alpha": ""},
    "audit": {"target": "", "baseline": "", "all_pairs": "", "alpha": "", "name": "chart LaTeX"},
    "holes of two": {"alpha": "chart", "depth": ""},
    "holes": {"depth": "chart"},
}


def viewed(result: Any) -> dict[str, Any]:
    return {name: view(result) for name, view in VIEWS.items()}


@cache
def before(call: str, setting: Setting, alpha: float | None) -> dict[str, Any]:
    options = {} if alpha is None else {"alpha": alpha}
    return viewed(CALLS[call].result(setting, "plain", options))


@pytest.mark.parametrize(("call", "option"), [(call, name) for call in SEEN for name in SEEN[call]])
def test_an_option_reaches_every_view(call, option):
    setting = setting_of(call, option, SETTING)
    plain = before(call, setting, of(ROWS[call][option].given, setting).get("alpha"))
    after = viewed(with_option(call, setting, option))
    assert {name for name in VIEWS if plain[name] == after[name]} == set(SEEN[call][option].split())


def test_the_seed_reaches_the_test():
    """Of more queries than can have all their sign vectors tested."""
    tables = {name: asl.evaluate(*pair, "AP@10", long=True) for name, pair in several().items()}
    rows = [table.assign(qid=name + table["qid"]) for name, table in tables.items()]
    scores = asl.read_scores(pd.concat(rows))
    found = [
        asl.compare(scores, measures="AP@10", seed=seed, test="randomization").table["p"].iloc[0]
        for seed in (None, 0, 5)
    ]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("call", ["audit", "compare", "ranks"])
def test_the_level_of_intervals_is_printed_in_percent(call):
    text = str(CALLS[call].result(SETTING, "plain", {"alpha": 0.1}))
    assert "90 %" in text and "95 %" not in text


def test_the_unjudged_documents_of_two_runs_are_counted_over_all_queries():
    judged = set(zip(QRELS["qid"], QRELS["docno"]))
    pairs = {pair for run in TWO.values() for pair in zip(run["qid"], run["docno"])} - judged
    assert asl.holes(TWO, QRELS, "AP@99").table["unjudged"].tolist() == [len(pairs)]


@pytest.mark.parametrize("call", ["bounds", "search_lengths", "preferences", "preference_matrix"])
def test_rows_and_names_in_another_order_give_the_same_table(call):
    """Of calls with a command the tables are compared with what it prints; see test_options.py."""
    tables = [CALLS[call].python(*frames(), "AP@10"), CALLS[call].result(SETTING, "plain", {})]
    if call == "preference_matrix":
        names = sorted(RUNS)
        tables = [table.rrLP.loc[names, names].reset_index(names="name") for table in tables]
    by = tables[0].select_dtypes(exclude="number").columns.tolist()
    found = [table.sort_values(by).reset_index(drop=True) for table in tables]
    pd.testing.assert_frame_equal(*found, check_dtype=False)
