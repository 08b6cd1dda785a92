"""Sentences on identical and nearly empty runs, on topics, and on runs with unjudged documents."""

import numpy as np
import pytest
from small import collection

import pyterrier_asl as asl
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.leaderboard.odd_runs import odd_runs
from pyterrier_asl.reporting.collect import collect

TOPICS = [f"q{number:02}" for number in np.random.default_rng(1).permutation(12)]
QRELS = {qid: {"d": 1, "e": 0} for qid in TOPICS}


def run_of(*docnos, topics=12):
    return {qid: {docno: -at for at, docno in enumerate(docnos)} for qid in TOPICS[:topics]}


def test_identical_runs_have_the_same_documents_in_the_same_order():
    """In `other` an unjudged document differs, in `later` the order below the judged documents, so
    that both have the values of `b` by every measure; scores and the order of rows do not count."""
    same = {q: {d: 7 * s for d, s in reversed(of.items())} for q, of in run_of(*"dxey").items()}
    runs = {"b": run_of(*"dxey"), "other": run_of(*"dzey"), "later": run_of(*"dxeyv"), "a": same}
    runs |= {"c": run_of(*"edxy"), "third": run_of(*"edxy")}
    assert odd_runs(Evaluation.of(runs, QRELS), {}) == [
        "b and a are identical: the same documents in the same order",
        "c and third are identical: the same documents in the same order",
    ]
    values = asl.evaluate(runs, QRELS, ["AP", "RR"]).groupby("name")["AP"].mean()
    assert values["b"] == values["other"] == values["later"] != values["c"]


@pytest.mark.parametrize("cutoff", [4, 40])
def test_nearly_empty_runs_have_less_than_a_tenth_of_the_median_run(cutoff):
    """Of 12 topics the median run has 120 documents in the first 10, edge a tenth of them."""
    docnos = [f"x{number}" for number in range(30)]
    full = {name: run_of(*docnos[:20], "d", at) for at, name in zip("efg", "zyx")}
    least, edge = run_of("d", *docnos[:9], topics=1), run_of("d")
    few = {qid: {"d": 1} for qid in TOPICS[1:4]}
    runs = full | {"edge": edge, "least": least, "few": few, **{f"f{n}": full["z"] for n in "12"}}
    notes = asl.ranks(runs, QRELS, f"P@{cutoff}").notes
    said = [note for note in notes if "nearly empty" in note]
    first, median = {4: (4, 48), 40: (10, 120)}[cutoff]
    assert said == [
        f"few is nearly empty: it has 3 documents at the first {first} ranks of 12 queries, the "
        f"median run {median} (likewise least)"
    ]
    page = collect(runs, QRELS, [f"P@{cutoff}", "AP"])
    assert set(said) < set(page.notes) and "z, f1 and f2 are identical" in " ".join(page.notes)


def test_topics_in_which_all_systems_have_the_same_value_are_counted():
    runs = {"a": run_of(*"de"), "b": run_of(*"ed"), "c": run_of(*"exd")}
    for run in runs.values():
        run |= dict.fromkeys(TOPICS[4:7], {"e": 2, "d": 1})
    sentence = "All 3 systems have the same RR for 3 of 12 topics."
    board = asl.ranks(runs, QRELS, "RR")
    assert sentence in board.sentences() and sentence in str(board).replace("\n  ", " ")
    assert sentence in collect(runs, QRELS, ["RR"]).rankings[0].board.sentences()
    scores = asl.read_scores(asl.evaluate(runs, QRELS, ["RR"]))
    assert sentence in asl.ranks(scores).sentences()
    two = " ".join(asl.ranks({"a": runs["a"], "c": runs["c"]}, QRELS, "RR").sentences())
    assert "Both systems have the same RR for 3 of 12 topics." in two
    differ, alike = {"a": run_of(*"de"), "b": run_of(*"ed")}, dict.fromkeys("xyz", run_of(*"de"))
    for others in (differ, alike):  # none of the topics, and all of them, which is said elsewhere
        assert "have the same RR for" not in " ".join(
            asl.ranks(others, QRELS, "RR").sentences()[2:]
        )
    both = {"one": (runs, QRELS), "two": (runs, {qid: {"d": 0, "x": 1} for qid in TOPICS})}
    said = " ".join(asl.ranks(both, measures="RR").sentences())
    assert "for 6 of 24 topics." in said


def with_unjudged(others):
    """11 runs: 03 and 07 retrieve six unjudged documents alone, the others so many in all.

    One document is found by both of the two: alone, each has less."""
    runs = {f"{n:02}": run_of("d", f"s{n % others}", "e") for n in range(11) if n not in (3, 7)}
    runs |= {"07": run_of("u1", "d", "u2", "u3", *"ef", "deep"), "03": run_of("u1", *"vwxd")}
    return {name: runs[name] for name in sorted(runs, reverse=True)}


@pytest.mark.parametrize(("others", "share"), [(6, 50), (5, 55), (7, None)])
def test_runs_that_alone_retrieve_half_of_the_unjudged_documents_are_named(others, share):
    """07 has u1, u2 and u3 and 03 u1, v, w and x to rank 5, f and deep being deeper."""
    runs = with_unjudged(others)
    said = [s for s in asl.ranks(runs, QRELS, "P@5", unjudged=True).sentences() if "alone" in s]
    sentence = (
        f"2 of 11 runs (03 and 07) alone retrieved {share} % of the {12 * (6 + others)} unjudged "
        "documents: leave them out to see the ranks of the others."
    )
    assert said == ([] if share is None else [sentence])
    assert not any("alone" in s for s in asl.ranks(runs, QRELS, "P@5").sentences())


def test_a_run_that_alone_retrieves_half_of_the_unjudged_documents_is_named():
    runs = {name: run for name, run in with_unjudged(5).items() if name in ("00", "01", "02", "07")}
    [said] = [s for s in asl.ranks(runs, QRELS, "P@5", unjudged=True).sentences() if "alone" in s]
    assert said.startswith("1 of 4 runs (07) alone retrieved") and "leave it out to see" in said


def test_unjudged_documents_of_each_judge_and_collection_are_said():
    runs, other = with_unjudged(6), {qid: {"d": 1, "e": 0, "u1": 0, "v": 0} for qid in TOPICS}
    said = asl.ranks(runs, QRELS, "P@5", unjudged=True, judges={"m": other}).sentences()
    alone = [sentence.partition(" alone")[0] for sentence in said if "alone" in sentence]
    assert alone == ["By qrels 2 of 11 runs (03 and 07)"]  # of m it is 4 of 10
    several = {"one": (runs, QRELS), "two": (runs, other)}
    said = asl.ranks(several, measures="P@5", unjudged=True).sentences()
    assert [s.partition(" of 11")[0] for s in said if "alone" in s] == ["one: 2"]


def test_a_usual_collection_has_no_odd_runs():
    runs, qrels = collection(queries=14)
    assert not [n for n in asl.ranks(runs, qrels, "AP").notes if "identical" in n or "nearly" in n]
