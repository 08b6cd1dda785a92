"""Two runs and the effect of unjudged documents on their difference."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl import holes, preferences

QRELS = {"q": {"a": 1, "b": 0}, "p": {"a": 1, "b": 0}}
GOOD = {"q": {"a": 3, "x": 2}, "p": {"a": 1}}
BAD = {"q": {"b": 3, "a": 2}, "p": {"b": 2, "a": 1}}


def test_further_runs_keep_their_names_where_they_can():
    found = holes(GOOD, BAD, QRELS, "RR", runs={"A": BAD, "other": GOOD})
    assert list(found.runs.names) == ["A", "B", "A (2)", "other"]


def test_the_row_says_what_the_difference_and_its_test_say():
    found = holes(GOOD, BAD, QRELS, "RR")
    row = found.table.iloc[0]
    assert row[["a", "b", "measure", "verdict"]].tolist() == ["A", "B", "RR", "A"]
    assert row[["difference", "low", "high"]].tolist() == [0.5, 0.5, 0.5]
    assert row["unjudged"] == 1  # x


@pytest.mark.parametrize("qids", [["q"], ["q", "p"]])
def test_the_significance_matches_the_test_if_there_is_one(qids):
    runs = [{qid: run[qid] for qid in qids} for run in (GOOD, BAD)]
    found = holes(*runs, {qid: QRELS[qid] for qid in qids}, "P@1")
    test = found.difference.test
    assert (test is None) == (len(qids) == 1)
    assert found.table["significance"].iloc[0] == (None if test is None else test.verdict)


@pytest.mark.parametrize(("measure", "higher"), [("RR", True), ("ASL@3", False)])
def test_a_positive_difference_is_good_for_a_where_more_is_better(measure, higher):
    found = holes(GOOD, BAD, QRELS, measure)
    assert found.higher_is_better is higher
    assert found.verdict == "A" and (found.difference.difference > 0) == higher


def test_the_chart_has_a_line_per_query_the_widest_first():
    found = holes(GOOD, BAD, QRELS, "P@2")
    drawn = found.chart().to_dict()
    (rows,) = drawn["datasets"].values()
    # q: A has a, x and B has b, a. The unjudged x makes P@2 of A 1/2 or 1. p is fully judged.
    assert [(row["qid"], row["low"], row["high"]) for row in rows] == [("q", 0, 0.5), ("p", 0, 0)]
    assert found.sentences() == [found.describe()] and "2 queries" in str(drawn["title"])


def test_runs_and_names_are_of_two_runs():
    for options in ({"runs": {"c": BAD}}, {"names": ("x", "y")}):
        with pytest.raises(ValueError, match="belong to a comparison of two runs"):
            holes({"a": GOOD, "b": BAD}, None, QRELS, "RR", **options)


def test_the_documents_to_judge_count_all_runs_that_show_them():
    """x is in A and in two further runs, and y is in one further run only."""
    others = {"c": {"q": {"x": 1, "y": 0, "b": -1}}, "d": {"q": {"x": 1, "b": 0}}}
    todo = holes(GOOD, BAD, QRELS, "RR", runs=others).todo.set_index("docno")
    assert todo["runs"].to_dict() == {"x": 3, "y": 1}


#: Rankings with at least one of the judged documents a and n.
RANKINGS = (
    st.permutations(["a", "n", "x", "y"])
    .flatmap(lambda docs: st.integers(1, 4).map(lambda length: docs[:length]))
    .filter(lambda docs: {"a", "n"} & {*docs})
)


@given(RANKINGS, RANKINGS)
def test_verdicts_of_sgnlp_are_those_of_all_labellings(docs_a, docs_b):
    runs = [{"q": {doc: -rank for rank, doc in enumerate(docs)}} for docs in (docs_a, docs_b)]
    qrels = {"q": {"a": 1, "n": 0}}
    given_by = {
        preferences(*runs, {"q": {**qrels["q"], "x": x, "y": y}})["sgnLP"].iloc[0]
        for x, y in product((0, 1), repeat=2)
    }
    (verdicts,) = holes(*runs, qrels, "AP").preferences.to_dict("records")
    expected = {"qid": "q", "b_wins": -1 in given_by, "tie": 0 in given_by, "a_wins": 1 in given_by}
    assert verdicts == expected
