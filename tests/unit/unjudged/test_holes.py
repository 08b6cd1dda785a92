"""Two runs and what unjudged documents could change between them."""

from __future__ import annotations

import pytest

from pyterrier_asl import holes

QRELS = {"q": {"a": 1, "b": 0}, "p": {"a": 1, "b": 0}}
GOOD = {"q": {"a": 3, "x": 2}, "p": {"a": 1}}
BAD = {"q": {"b": 3, "a": 2}, "p": {"b": 2, "a": 1}}


def test_further_runs_keep_their_names_where_they_can():
    found = holes(GOOD, BAD, QRELS, "RR", runs={"A": BAD, "other": GOOD})
    assert list(found.runs.names) == ["A", "B", "A (2)", "other"]


def test_the_row_says_what_the_difference_and_its_test_say():
    found = holes(GOOD, BAD, QRELS, "RR")
    row = found.row().iloc[0]
    assert row[["a", "b", "measure", "verdict"]].tolist() == ["A", "B", "RR", "A"]
    assert row[["difference", "low", "high"]].tolist() == [0.5, 0.5, 0.5]
    assert row["unjudged"] == 1  # x


@pytest.mark.parametrize("qids", [["q"], ["q", "p"]])
def test_the_significance_is_that_of_the_test_if_there_is_one(qids):
    runs = [{qid: run[qid] for qid in qids} for run in (GOOD, BAD)]
    found = holes(*runs, {qid: QRELS[qid] for qid in qids}, "P@1")
    test = found.difference.test
    assert (test is None) == (len(qids) == 1)
    assert found.verdicts()["significance"] == (None if test is None else test.verdict)


@pytest.mark.parametrize(("measure", "higher"), [("RR", True), ("ASL@3", False)])
def test_a_positive_difference_is_good_for_a_where_more_is_better(measure, higher):
    found = holes(GOOD, BAD, QRELS, measure)
    assert found.higher_is_better is higher
    assert found.verdict == "A" and (found.difference.difference > 0) == higher


def test_a_page_lists_the_first_documents_to_judge():
    run = {"q": {"a": -12, **{f"d{rank}": -rank for rank in range(12)}}}
    found = holes(run, {"q": {"a": 1}}, QRELS, "P@12")
    todo = found.todo["docno"].tolist()
    assert len(todo) == 12
    for most, options in ((10, {}), (3, {"most": 3})):
        page = found.to_dict(**options)
        assert [row["docno"] for row in page["todo"]] == todo[:most]
        assert [row["qid"] for row in page["queries"]] == ["q", "p"]
        assert page["verdict"] == "open"
