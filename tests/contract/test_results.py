"""The attributes of the result classes, and that type checkers see them."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from _charts import assert_is_readable

import pyterrier_asl as asl

QRELS = {f"q{number}": {"a": 1, "b": number % 2} for number in range(12)}
RUNS = {
    name: {q: dict(zip(order, (3, 2, 1))) for q in QRELS}
    for name, order in {"x": "abc", "y": "bca", "z": "cab"}.items()
}
RESULTS = {
    asl.Leaderboard: lambda runs: asl.ranks(runs, QRELS, "RR"),
    asl.AllPairs: lambda runs: asl.holes(runs, None, QRELS, "P@2"),
    asl.Holes: lambda runs: asl.holes(runs["x"], runs["y"], QRELS, "P@2"),
    asl.JudgeReport: lambda runs: asl.judges(QRELS, {"again": QRELS}, runs, "RR", draws=20),
    asl.Audit: lambda runs: asl.audit(runs, QRELS, "RR", machine=QRELS),
    asl.RunComparison: lambda runs: asl.compare(runs, QRELS, "RR"),
}
#: Sentences about a difference between runs.
DIFFERENT = re.compile(r"\bbest run\b|has the best|better than|\blead|reverse|another sign|\bnan\b")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
def test_every_result_has_table_sentences_chart_latex_and_html(kind):
    found = RESULTS[kind](RUNS)
    assert type(found) is kind
    assert isinstance(found.table, pd.DataFrame) and len(found.table)
    assert found.sentences()
    assert_is_readable(found.chart().to_dict())
    assert r"\begin{tabular}" in found.to_latex()
    assert "<table" in found._repr_html_()
    for sentence in found.sentences():
        assert " ".join(sentence.split()) in " ".join(str(found).split())
    for sentence in RESULTS[kind](dict.fromkeys(RUNS, RUNS["y"])).sentences():
        assert not DIFFERENT.search(sentence), "the runs are equal"


TABLES = {
    "evaluate": lambda: asl.evaluate(RUNS, QRELS, ["RR", "AP"]),
    "evaluate, long": lambda: asl.evaluate(RUNS, QRELS, ["RR", "AP"], long=True),
    "bounds": lambda: asl.bounds(RUNS, QRELS, ["RR"]),
    "preferences": lambda: asl.preferences(RUNS["x"], RUNS["y"], QRELS),
    "search_lengths": lambda: asl.search_lengths(RUNS["x"], QRELS),
    "pairs": lambda: asl.ranks(RUNS, QRELS, "RR").pairs(),
    "scores": lambda: asl.read_scores(asl.evaluate(RUNS, QRELS, ["RR"])).systems(["z", "x"]).rows,
    **{kind.__name__: lambda kind=kind: RESULTS[kind](RUNS).table for kind in RESULTS},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TABLES)
def test_rows_of_a_table_are_numbered(name):
    table = TABLES[name]()
    assert table.index.tolist() == list(range(len(table)))
