"""The data that a page has for its scripts, by loops over the rankings, and sentences by hand."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import brute_force
import numpy as np
import pytest
from _reports import a_run, unpacked, unpacked_whole

from pyterrier_asl import ranks
from pyterrier_asl.evaluation.preferences import preference_matrix
from pyterrier_asl.io.texts import Texts
from pyterrier_asl.reporting.collect import collect
from pyterrier_asl.reporting.page import DocumentPage, _size
from pyterrier_asl.reporting.summary import Summary

pytest.importorskip("vl_convert", reason="reports need pyterrier-asl[report]")
pytestmark = pytest.mark.filterwarnings("ignore")

#: Twelve queries, four systems, of which one has a short ranking.
QIDS = [f"q{n}" for n in range(12)]
QRELS = {q: {f"d{d}": 2 if d < 2 else int(d < 6) for d in range(9)} for q in QIDS}
RUNS = {name: a_run(n, QIDS, documents=20, noise=0.4 + n) for n, name in enumerate("abcd")}
RUNS["c"]["q3"] = {"d1": 2.0, "d12": 1.0}
TOPS = {
    name: {q: [*map(str, brute_force.ranking(run[q], QRELS[q]))] for q in QIDS}
    for name, run in RUNS.items()
}


@pytest.fixture(scope="module")
def page() -> DocumentPage:
    return DocumentPage(collect(RUNS, QRELS, ["nDCG@10", "AP", "ASL@15", "NumRet"]), Texts())


@pytest.mark.parametrize("systems", ["abcd", "a"])
def test_ranks_can_be_chosen_where_there_are_several_systems(systems):
    found = collect({name: RUNS[name] for name in systems}, QRELS, ["AP", "RR"])
    headings = [heading for _, heading in DocumentPage(found, Texts()).columns]
    ranks_first = ["Ranks it could have"] * (len(systems) > 1)
    assert headings[: len(ranks_first) + 2] == [*ranks_first, "AP", "RR"]


@pytest.fixture(scope="module")
def data(page) -> dict[str, Any]:
    return page.data()


def test_the_first_ten_documents_of_each_ranking(data):
    ids, tops = data["documents"]["ids"], data["tops"]
    numbers = unpacked_whole(tops["documents"], (4, len(QIDS), 10))
    assert tops["depth"] == 10 and tops["systems"] == [0, 1, 2, 3]
    for name, of_system in zip(RUNS, numbers):
        for qid, row in zip(QIDS, of_system):
            assert [ids[n - 1] for n in row if n] == TOPS[name][qid][:10]


def test_the_documents_to_judge_next_are_ten_with_their_ranks_by_both_systems(data):
    """Only documents of the first ten can change nDCG@10."""
    assert data["bounds"].keys() == {"nDCG@10", "AP", "ASL@15"}
    assert data["bounds"]["nDCG@10"].keys() == {f"{a},{b}" for a, b in combinations(range(4), 2)}
    for pair, bounds in data["bounds"]["nDCG@10"].items():
        of_two = [TOPS["abcd"[int(number)]] for number in pair.split(",")]
        unjudged = {(q, d) for tops in of_two for q in QIDS for d in tops[q][:10]} - {
            (q, d) for q in QIDS for d in QRELS[q]
        }
        assert bounds["unjudged"] == len(unjudged) and len(bounds["todo"]) == min(10, len(unjudged))
        for query, number, *places, _ in bounds["todo"]:
            qid, docno = QIDS[query], data["documents"]["ids"][number]
            assert (qid, docno) in unjudged
            for place, tops in zip(places, of_two):
                shown = tops[qid][:15]  # the deepest cut-off of a measure
                assert place == (shown.index(docno) + 1 if docno in shown else None)


def test_preferences_between_systems(data):
    expected = preference_matrix(RUNS, QRELS)
    upper = np.triu_indices(4, k=1)
    wins = unpacked_whole(data["preferences"]["wins"], (4, 4))
    np.testing.assert_array_equal(wins[upper], expected.wins.to_numpy()[upper])
    np.testing.assert_array_equal(wins.T[upper], expected.losses.to_numpy()[upper])
    found = unpacked(data["preferences"]["rrLP"], "<f4", (-1,))
    np.testing.assert_allclose(found, expected.rrLP.to_numpy(float)[upper], rtol=1e-6)


def test_conflicts_are_counted_for_measures_with_a_direction(data):
    """NumRet has none."""
    better = [
        unpacked_whole(measure["judged"]["better"], (4, 4)).astype(bool)
        for measure in data["measures"][:3]
    ]
    conflicts = data["conflicts"]
    assert conflicts["order"] == [0, 1, 2] and data["first"] == 0
    for row, one in enumerate(better):
        for column, other in enumerate(better):
            pairs = [[a, b] for a in range(4) for b in range(4) if one[a, b] and other[b, a]]
            assert conflicts["counts"][row][column] == len(pairs)
            assert conflicts["examples"][row][column] == (pairs[0] if pairs else None)


def test_ranks_whatever_the_unjudged_documents_are_on_a_page(data):
    board = ranks(RUNS, QRELS, "nDCG@10", unjudged=True)
    table, shown = board.overall.set_index("name").loc[[*RUNS]], data["measures"][0]["unjudged"]
    assert shown["low"] == table["low"].tolist() and shown["high"] == table["high"].tolist()
    assert shown["possible"] == table["could_be_best"].tolist()
    better = board.better.loc[[*RUNS], [*RUNS]].to_numpy()
    np.testing.assert_array_equal(unpacked_whole(shown["better"], (4, 4)), better)
    # AP looks deeper than 100 documents, and NumRet has no direction.
    assert [bool(measure["unjudged"]) for measure in data["measures"]] == [1, 0, 1, 0]
    assert [measure["sum"] for measure in data["measures"]] == [False, False, False, True]


def test_the_leaderboard_shows_the_deciding_measure_and_three_usual_ones(page):
    assert page.shown_columns == {"ranks", "retrieved", "m0", "m1", "m2"}
    more = DocumentPage(
        collect(RUNS, QRELS, ["RR", "P@5", "R@5", "AP", "AP@9", "nDCG@10", "ASL@15"]), Texts()
    )
    assert more.shown_columns == {"ranks", "retrieved", "m0", "m6", "m3", "m5"}


@pytest.mark.parametrize("systems", [2, 3, 4])
def test_a_page_has_values_and_ranks_of_as_many_of_the_best_systems_as_fit(page, systems):
    findings, best = page.findings, sorted(page.findings.first.order[:systems].tolist())
    size = sum(_size(ranking.values) for ranking in findings.rankings)
    relevant = sum(grade > 0 for grades in QRELS.values() for grade in grades.values())
    for more, fits in ((0, systems), (-1, max(2, systems - 1))):
        fitting = sorted(findings.first.order[:fits].tolist())
        ranks_only = DocumentPage(findings, Texts(), most_ranks=systems * relevant + more)
        assert ranks_only.shown_ranks.tolist() == fitting
    values = DocumentPage(findings, Texts(), most_values=-(-size * systems // 4))
    assert values.shown_values.tolist() == best


# Sentences, from rankings by hand


def summary(
    systems: int, topics: int = 10, others: tuple[Any, ...] = (), **ranking: Any
) -> Summary:
    """The summary of a ranking of systems in their order, by hand."""
    order = np.arange(systems)
    first = SimpleNamespace(
        **{"names": [f"s{n}" for n in order], "order": order, "ranks": order + 1, "sign": 1}
        | {"values": -order[:, None] * np.ones((systems, 2)), "candidates": order.tolist()}
        | {"better": np.zeros((systems, systems), dtype=bool), "intervals": None}
        | ranking
    )
    findings: Any = SimpleNamespace(decisive=[first, *others], qids=list(range(topics)))
    return Summary(findings, first)  # type: ignore[arg-type]


def better(systems: int, *pairs: tuple[int, int]) -> Any:
    table = np.zeros((systems, systems), dtype=bool)
    table[tuple(np.transpose(pairs))] = True
    return SimpleNamespace(better=table)


@pytest.mark.parametrize(("systems", "pairs"), [(2, 1), (10, 45), (11, 45)])
def test_ordered_pairs_are_counted_among_the_first_ten(systems, pairs):
    ordered = np.triu(np.ones((systems, systems), dtype=bool), k=1)
    assert summary(systems, better=ordered).ordered_first == (pairs, pairs)
    assert summary(systems).ordered_first == (0, pairs)


def test_the_conflict_that_most_measures_have_is_the_example_then_that_of_the_best_systems():
    one, other = better(4, (0, 3), (2, 1)), better(4, (3, 0), (1, 2))
    assert summary(4, others=(one, other)).conflict == (2, [0, 3], [[one], [other]])
    most = [
        better(4, (2, 1), (0, 3)),
        better(4, (2, 1)),
        better(4, (1, 2)),
        better(4, (1, 2), (3, 0)),
    ]
    number, pair, (by_first, by_second) = summary(4, others=most).conflict
    assert (number, pair) == (2, [1, 2])
    assert by_first == most[2:] and by_second == most[:2]
    tied = [better(4, (0, 2), (0, 1)), better(4, (2, 0), (1, 0))]
    assert summary(4, others=tied).conflict[1] == [0, 1], "of equal ones the better systems"
    assert summary(4, others=[better(4, (0, 1)), better(4, (0, 2))]).conflict is None


def intervals(statistic: float) -> Any:
    """Of two systems; 2 standard errors are significant."""
    table = np.array([[0, statistic], [-statistic, 0]])
    return SimpleNamespace(critical=[9.0, 2.0], statistic=table, p=np.full((2, 2), 0.3))


@pytest.mark.parametrize(
    ("statistic", "topics"), [(1.0, 40), (1.9, 12), (0.2001, 1000), (0.2, None), (0, None)]
)
def test_the_topics_that_order_a_pair_grow_with_the_square_of_the_missing_standard_errors(
    statistic, topics
):
    """(2 / statistic)² times the ten topics, rounded up, unless it is 100 times or more."""
    found = summary(2, intervals=intervals(statistic)).next_pair
    assert found == (1, 0.3, topics)


def test_a_pair_that_is_ordered_or_equal_is_not_next():
    ordered = np.array([[False, True], [False, False]])
    assert summary(2, intervals=intervals(1), better=ordered).next_pair is None
    assert summary(2, intervals=intervals(1), values=np.ones((2, 2))).next_pair is None
    assert summary(2).next_pair is None


@pytest.mark.parametrize(
    ("over", "least", "shown"),
    [(2.5, 2.1, ("2.5", "2.1")), (2.14, 2.11, ("2.14", "2.11")), (2.114, 2.111, ("2.114", "2.111"))]
    + [(2.1114, 2.1111, ("", "")), (2.1, 2.5, ("", ""))],
)
def test_standard_errors_have_the_decimals_in_which_they_differ(over, least, shown):
    """System 1 could not be the best, system 2 could; system 0 is ahead of both."""
    table = np.zeros((3, 3))
    table[0, 1:] = over, least
    ahead = SimpleNamespace(difference=table, statistic=table)
    passed_over = summary(3, intervals=ahead, candidates=[0, 2]).passed_over
    assert passed_over == (1, 2, *shown)
    assert summary(3, intervals=ahead, candidates=[0, 1]).passed_over is None
    two = SimpleNamespace(difference=table[:2, :2], statistic=table[:2, :2])
    assert summary(2, intervals=two, candidates=[1]).passed_over is None


def test_a_candidate_below_another_is_named_with_the_other():
    ordered = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    assert summary(3, better=ordered).ordered_candidate == (2, 0)
    assert summary(3, better=ordered, candidates=[0, 1]).ordered_candidate is None
    assert summary(2, better=ordered[1:, 1:]).ordered_candidate is None


def test_the_winner_by_most_measures_is_first():
    others = [better(3, (0, 1)), better(3, (1, 0)), better(3, (1, 0)), better(3, (0, 2))]
    assert summary(3, others=others).other_winners == [(1, others[1:3]), (0, others[:1])]
    first = better(3, (1, 0)).better
    assert summary(3, others=others, better=first).other_winners == [(0, others[:1])]
