"""Audited estimates, their printed explanations, and the draw of the plan (audit_plan.py)."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pyterrier_asl import audit, plan_audit

QIDS = [f"q{number:02}" for number in range(20)]
#: The relevant one of two documents, by people (12 queries) and by the machine (20).
PEOPLE = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0]
MACHINE = [1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1]
#: AP of ``new`` minus AP of ``old`` is 1/2 if ``r`` is relevant, and -1/2 otherwise.
RUNS = {
    "old": {qid: {"n": 2, "r": 1} for qid in QIDS},
    "new": {qid: {"r": 2, "n": 1} for qid in QIDS},
}


def qrels(labels: list[int]) -> dict[str, dict[str, int]]:
    return {qid: {"r": label, "n": 1 - label} for qid, label in zip(QIDS, labels)}


def one_value(people: list[int], n: int = 12) -> list[int]:
    return [*people, *[1] * (n - len(people))]


@pytest.mark.parametrize("target", ["queries-like-these", "these-queries"])
def test_equal_values_have_no_interval(target):
    """People find ``r`` relevant in all 12 queries: AP is 1/2 in all for old, 1 for new."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no other sentence is about them
        found = audit(RUNS, qrels(one_value([])), "AP", qrels(MACHINE), target=target)
    unknown = ["ci_low", "ci_high", "people_low", "people_high", "saved"]
    assert found.table[unknown].isna().all(axis=None)
    assert found.table["people"].tolist() == [0.5, 1, 0.5]
    assert found.table["estimate"].notna().all()
    text = "AP, old and new - old: all 12 audited queries have the value 0.5, so there is no "
    assert f"{text}interval: nothing can be said about the other 8." in found.sentences()
    assert any("AP, new: all 12 audited queries have the value 1," in t for t in found.sentences())
    assert "no interval" in str(found).replace("\n  ", " ")
    whole = audit(RUNS, qrels(one_value([])), "AP", qrels(one_value([]))).sentences()[-1]
    assert whole.endswith("nothing can be said about other queries.")
    one = audit({"new": RUNS["new"]}, qrels(one_value([])), "AP", qrels(MACHINE), target=target)
    assert any("AP, new: all 12 audited queries have the value 1," in t for t in one.sentences())


def test_queries_without_a_relevant_document_are_noted_for_people_and_the_machine():
    lacks = {"r": 0, "n": 0}
    notes = [
        audit(RUNS, qrels(PEOPLE) | by_people, "AP", qrels(MACHINE) | by_machine).notes
        for by_people, by_machine in (({"q03": lacks}, {}), ({}, {"q14": lacks}), ({}, {}))
    ]
    said = "{} has no document with a grade of 1 or more (e.g. '{}'): all runs have the same value"
    assert [note for note in notes[0] if note.startswith(said.format("1 of 12 queries", "q03"))]
    assert [note for note in notes[1] if note.startswith(said.format("1 of 20 queries", "q14"))]
    assert not any("no document with" in note for note in notes[2])


def test_the_interval_of_queries_that_people_judged_all_has_no_width():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        people = qrels(one_value([], 20))
        row = audit(RUNS, people, "AP", qrels(MACHINE), target="these-queries").table.iloc[0]
    assert row["ci_low"] == row["ci_high"] == row["people"] == 0.5 and np.isnan(row["saved"])


def test_an_estimate_that_differs_from_the_difference_of_the_means_is_explained():
    """The three rows have three lambdas, because the variance of the third run differs."""
    draw = np.random.default_rng(2)
    runs = {name: {q: {"r": draw.random(), "n": draw.random()} for q in QIDS} for name in "ab"}
    found = audit(runs, qrels(PEOPLE), "AP", qrels(MACHINE))
    a, b, difference = found.table["estimate"]
    assert abs(b - a - difference) > 1e-4
    assert "Each row has another lambda" in found.note


def test_of_several_that_save_a_draw_at_a_time_one_does(tmp_path):
    plans = [plan_audit(RUNS, None, "AP", qrels(MACHINE), 0.5, seed=seed) for seed in range(8)]
    for attempt in range(3):
        path, start = tmp_path / f"audit{attempt}.tsv", threading.Barrier(len(plans))

        def save(plan, path=path, start=start):
            start.wait()
            try:
                plan.save(path)
            except FileExistsError as error:
                return "queries are drawn once" in str(error)
            return plan.seed

        with ThreadPoolExecutor(len(plans)) as threads:
            outcomes = list(threads.map(save, plans))
        seeds = [outcome for outcome in outcomes if outcome is not True]
        assert len(seeds) == 1 and f'"seed": {seeds[0]},' in path.read_text()
        assert [file.name for file in tmp_path.glob(".*")] == []
