"""What every result class has, and how tables and measures are named."""

import pickle
import re

import pandas as pd
import pytest
from _charts import assert_is_readable

import pyterrier_asl as asl
from pyterrier_asl import analysis

pytestmark = pytest.mark.filterwarnings("ignore")

QRELS = {f"q{number}": {"a": 1, "b": number % 2} for number in range(12)}
RUNS = {
    name: {q: dict(zip(order, (3, 2, 1))) for q in QRELS}
    for name, order in {"x": "abc", "y": "bca", "z": "cab"}.items()
}
TWO = {name: RUNS[name] for name in "xy"}
RESULTS = {
    asl.Leaderboard: lambda runs: asl.ranks(runs, QRELS, "RR"),
    asl.Holes: lambda runs: asl.holes(runs, QRELS, "P@2"),
    asl.JudgeReport: lambda runs: asl.judges(
        QRELS, {"again": QRELS}, runs, "RR", draws=20, test="t"
    ),
    asl.Audit: lambda runs: asl.audit(runs, QRELS, "RR", machine=QRELS),
    asl.RunComparison: lambda runs: asl.compare(runs, QRELS, "RR"),
}
#: Sentences about a difference between runs.
DIFFERENT = re.compile(r"\bbest run\b|has the best|better than|\blead|reverse|another sign|\bnan\b")


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
def test_every_result_has_table_sentences_chart_latex_and_html(kind):
    """It can be pickled and compared."""
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
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    pd.testing.assert_frame_equal(again.table, found.table)
    assert found == found and found != again and len({found, again}) == 2


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


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_a_table_are_numbered(name):
    table = TABLES[name]()
    assert table.index.tolist() == list(range(len(table)))


#: Calls whose tables name the measure.
NAMED = {
    "holes": lambda m: asl.holes(TWO, QRELS, m).table,
    "bounds": lambda m: asl.bounds(RUNS, QRELS, m),
    "evaluate": lambda m: asl.evaluate(RUNS, QRELS, m, long=True),
    "discriminative_power": lambda m: analysis.discriminative_power(RUNS, QRELS, m),
    "stability": lambda m: analysis.stability(RUNS, QRELS, m, draws=2),
    "compare_techniques": lambda m: analysis.compare_techniques(
        RUNS, QRELS, old="x", new="y", measures=m
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_measure_has_the_name_that_the_caller_gave(name):
    for given in ("P_2", {"mine": "P@2"}):
        column = "mine" if isinstance(given, dict) else given
        assert set(NAMED[name](given)["measure"]) == {column}


def test_the_sentences_of_bounds_name_the_measure_as_the_caller_did():
    assert asl.holes(RUNS, QRELS, "P_2").sentences()[0].startswith("P_2: 2 open of 3 pairs")
    assert asl.holes(TWO, QRELS, "P_2").describe().startswith("P_2: y - x")
    rareness = asl.holes(TWO, QRELS, "P_Rareness@2")
    assert rareness.difference.measure == "P_Rareness@2", "as in evaluate, without its pool"
