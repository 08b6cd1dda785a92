"""The data that a page has for its scripts, by loops over the rankings."""

import re
from itertools import combinations
from typing import Any

import brute_force
import numpy as np
import pytest
from _reports import a_run, data_of

from pyterrier_asl import compare, evaluate, report
from pyterrier_asl.evaluation.preferences import preference_matrix
from pyterrier_asl.io.texts import Texts
from pyterrier_asl.reporting.collect import collect
from pyterrier_asl.reporting.page import Page

pytest.importorskip("vl_convert", reason="reports need pyterrier-asl[report]")
pytestmark = pytest.mark.filterwarnings("ignore")

#: Twelve queries, four systems, of which one has a short ranking.
QIDS = [f"q{n}" for n in range(12)]
QRELS = {q: {f"d{d}": 2 if d < 2 else int(d < 6) for d in range(9)} for q in QIDS}
RUNS = {name: a_run(n, QIDS, documents=20, noise=0.4 + n) for n, name in enumerate("abcd")}
MEASURES = ["nDCG@10", "AP", "ASL@15", "NumRet"]
RUNS["c"]["q3"] = {"d1": 2.0, "d12": 1.0}
TOPS = {
    name: {q: [*map(str, brute_force.ranking(run[q], QRELS[q]))] for q in QIDS}
    for name, run in RUNS.items()
}


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(collect(RUNS, QRELS, MEASURES), Texts())


@pytest.fixture(scope="module")
def data(page) -> dict[str, Any]:
    return page.data()


def test_the_first_ten_documents_of_each_ranking(data):
    ids, tops = data["documents"]["ids"], data["tops"]
    numbers = np.reshape(tops["documents"], (4, len(QIDS), 10))
    assert tops["depth"] == 10 and data["held"] == [0, 1, 2, 3]
    for name, of_system in zip(RUNS, numbers):
        for qid, row in zip(QIDS, of_system):
            assert [ids[n - 1] for n in row if n] == TOPS[name][qid][:10]


def test_the_documents_to_judge_next_are_ten_with_their_ranks_by_both_systems(page, data):
    """Only documents of the first ten can change nDCG@10; of the three best systems."""
    best = sorted(page.findings.first.order[:3].tolist())
    assert data["bounds"].keys() == {"nDCG@10", "AP", "ASL@15"}
    assert data["bounds"]["nDCG@10"].keys() == {f"{a},{b}" for a, b in combinations(best, 2)}
    for pair, bounds in data["bounds"]["nDCG@10"].items():
        of_two = [TOPS["abcd"[int(number)]] for number in pair.split(",")]
        unjudged = {(q, d) for tops in of_two for q in QIDS for d in tops[q][:10]} - {
            (q, d) for q in QIDS for d in QRELS[q]
        }
        assert len(bounds["todo"]) == min(10, len(unjudged))
        for query, number, *places, _ in bounds["todo"]:
            qid, docno = QIDS[query], data["documents"]["ids"][number]
            assert (qid, docno) in unjudged
            for place, tops in zip(places, of_two):
                shown = tops[qid][:10]
                assert place == (shown.index(docno) + 1 if docno in shown else None)


def test_preferences_between_systems(page, data):
    expected = preference_matrix(RUNS, QRELS)
    upper = np.triu_indices(4, k=1)
    wins = np.reshape(data["preferences"]["wins"], (4, 4))
    assert page.findings.preferences.cycles() == expected.cycles()
    np.testing.assert_array_equal(wins[upper], expected.wins.to_numpy()[upper])
    np.testing.assert_array_equal(wins.T[upper], expected.losses.to_numpy()[upper])
    found = np.array(data["preferences"]["rrLP"])
    np.testing.assert_allclose(found, expected.rrLP.to_numpy(float)[upper], rtol=1e-6)


@pytest.mark.parametrize("names", ["dbca", "ca"])
def test_means_and_ranks_by_system_and_measure(names):
    """The table and the data, of runs, queries and documents in another order."""
    runs = {name: dict(reversed(RUNS[name].items())) for name in names}
    page = report(runs, QRELS, MEASURES[:3]).html
    means = evaluate(RUNS, QRELS, MEASURES[:3]).groupby("name")[MEASURES[:3]].mean()
    body = page[page.index('<table id="board"') : page.index('id="board-empty"')]
    rows = re.findall(r'<tr data-system="(\d+)".*?>(.*?)</tr>', body, re.S)
    assert {system for system, _ in rows} == set("0123"[: len(names)])
    for system, row in rows:
        shown = re.findall(r'data-measure="(\d)" data-value="([^"]*)"', row)
        found = {MEASURES[int(at)]: float(value) for at, value in shown}
        assert found == pytest.approx(means.loc[names[int(system)]].to_dict())
    for measure in data_of(page)["measures"]:
        assert measure["means"] == pytest.approx(means.loc[[*names], measure["name"]].tolist())


def test_the_table_of_two_systems_has_the_interval_of_compare():
    page = report({name: RUNS[name] for name in "ca"}, QRELS, MEASURES[:3]).html
    rows = re.findall(r'<tr data-measure="(\d)">(.*?)</tr>', page, re.S)
    assert len(rows) == 3
    table = compare({name: RUNS[name] for name in "ac"}, QRELS, MEASURES[:3], baseline="c").table
    for at, row in rows:
        cells = dict(re.findall(r'data-label="(\w+)">(.*?)</td>', row))
        [expected] = table[table["measure"] == MEASURES[int(at)]].to_dict("records")
        low, high = map(number, cells["interval"].strip("[]").split(", "))
        assert low < number(cells["difference"]) < high
        found = [number(cells[name]) for name in ("baseline", "run", "difference")] + [low, high]
        names = ("a", "b", "difference", "ci_low", "ci_high")
        assert found == pytest.approx([expected[name] for name in names], abs=0.06)
        assert [int(cells["wins"]), int(cells["losses"])] == [expected["wins"], expected["losses"]]


def number(text: str) -> float:
    return float(text.replace("−", "-"))
