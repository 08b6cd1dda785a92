"""The data that a page has for its scripts, by loops over the rankings."""

import re
from functools import partial
from itertools import combinations
from typing import Any

import brute_force
import numpy as np
import pytest
from _reports import a_run, data_of
from scipy.stats import t

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


def average_precision(docs: list[str], grades: dict[str, int]) -> float:
    ranks = [rank for rank, docno in enumerate(docs, 1) if grades.get(docno)]
    precisions = [number / rank for number, rank in enumerate(ranks, 1)]
    return sum(precisions) / sum(map(bool, grades.values()))


VALUES = {"AP": average_precision, "ASL@15": partial(brute_force.asl, k=15)}


@pytest.mark.parametrize(("name", "depth"), [("AP", 100), ("ASL@15", 15)])
def test_the_documents_to_judge_next_have_their_ranks_and_effects(page, data, name, depth):
    """By adding each document to the qrels; the pairs are of the three best systems."""
    assert data["bounds"].keys() == {"nDCG@10", "AP", "ASL@15"}
    best = sorted(page.findings.first.order[:3].tolist())
    assert data["bounds"][name].keys() == {f"{a},{b}" for a, b in combinations(best, 2)}
    for pair, bounds in data["bounds"][name].items():
        names = ["abcd"[int(number)] for number in pair.split(",")]
        helped = []
        for query, number, *places, effect in bounds["todo"]:
            qid, docno = QIDS[query], data["documents"]["ids"][number]
            shown = [TOPS[system][qid][:depth] for system in names]
            assert docno not in QRELS[qid]
            assert places == [top.index(docno) + 1 if docno in top else None for top in shown]
            now, then = (
                [VALUES[name](top, grades) for top in shown]
                for grades in (QRELS[qid], QRELS[qid] | {docno: 1})
            )
            change = (then[1] - now[1] - then[0] + now[0]) / len(QIDS)
            helped.append(names[(change > 0) == (name == "AP")])
            assert effect == f"{abs(change):.4f} for {helped[-1]}"
        assert len(helped) == 10 and {*helped} <= {*names}
        assert names[("open" in bounds["says"]) and names.index(helped[0])] == helped[0]


def test_every_number_of_a_measure(data):
    """By loops over the values."""
    table = evaluate(RUNS, QRELS, MEASURES).set_index(["name", "qid"])
    quantiles = t.ppf(0.975, len(QIDS) - 1) + t.ppf(0.8, len(QIDS) - 1)
    assert [measure["name"] for measure in data["measures"]] == MEASURES
    for measure, up in zip(data["measures"], (True, True, False, None)):
        values = {n: table.loc[n][measure["name"]].loc[QIDS].to_numpy() for n in RUNS}
        means = [of.sum() if up is None else of.mean() for of in values.values()]
        assert measure["means"] == pytest.approx(means)
        costs = np.array(means) * (1 if up is False else -1)
        assert measure["order"] == np.argsort(costs, kind="stable").tolist()
        assert (measure["higher"], measure["decimals"]) == (up, 1 if max(means) >= 10 else 4)
        pairs = list(combinations(range(4), 2))
        assert measure["differences"] == pytest.approx([means[a] - means[b] for a, b in pairs])
        for (a, b), detectable in zip(pairs, measure["detectable"]):
            deviation = np.std(values["abcd"[a]] - values["abcd"[b]], ddof=1)
            if measure["name"] != "NumRet":
                expected = quantiles * deviation / len(QIDS) ** 0.5
                assert detectable == pytest.approx(expected, rel=1e-3)
        assert (measure["board"] is None) == (up is None)


def test_every_number_of_a_system_and_query(data):
    nDCG = evaluate(RUNS, QRELS, "nDCG@10").groupby("name")["nDCG@10"].mean()
    order = [list(RUNS).index(name) for name in nDCG.sort_values(ascending=False).index]
    assert (data["first"], data["palette"], data["held"]) == (0, order, [0, 1, 2, 3])
    assert (data["cutoff"], data["rel"], data["depths"]) == (1000, 1, [10, 100, 1000])
    assert data["queries"] == QIDS and data["relevant"] == [6] * len(QIDS)
    sizes = [np.mean([len(of) for of in run.values()]) for run in RUNS.values()]
    assert data["retrieved"] == pytest.approx(sizes) and min(sizes) < max(sizes)
    assert data["shortNames"] == data["systems"] == list(RUNS)
    by_measure = [measure["order"][0] for measure in data["measures"][:3]]
    ranks = np.array([measure["ranks"] for measure in data["measures"][:3]])
    assert data["marked"][:3] == by_measure
    moves = np.ptp(ranks, axis=0)
    assert data["marked"][3:] == [int(moves.argmax())] * bool(moves.any())


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
    assert sorted(dict(rows)) == list("0123"[: len(names)])
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
        assert number(cells["detectable"]) == pytest.approx(expected["detectable"], abs=0.06)
        p = f"{expected['p']:.4f}" if expected["p"] >= 1e-4 else "p &lt; 0.0001"
        assert cells["p"].removesuffix(" ✱") == p
        assert cells["p"].endswith("✱") == (expected["p"] <= 0.05)


def number(text: str) -> float:
    return float(text.replace("−", "-"))
