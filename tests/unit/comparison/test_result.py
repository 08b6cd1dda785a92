"""What a comparison says of itself: sentences for no test, one, several; text, HTML and LaTeX."""

from __future__ import annotations

from pyterrier_asl import compare

QUERIES = ["q1", "q2", "q3"]
QRELS = {qid: {"a": 1, "n": 0} for qid in QUERIES}
LIVE = {qid: {"a": 2, "n": 1} for qid in QUERIES}
NEW = {"q1": {"a": 1, "n": 2}, "q2": {"a": 1, "n": 2}, "q3": {"a": 2, "n": 1}}


def said(new, qids=QUERIES, measures=("RR", "ASL@9"), **options):
    parts = {name: {q: run[q] for q in qids} for name, run in (("live", LIVE), ("new", new))}
    found = compare(parts, {q: QRELS[q] for q in qids}, list(measures), **options)
    return " ".join(found.notes())


def test_one_query_is_no_test():
    text = said(NEW, ["q1"])
    assert "No test can be made: there is only 1 query." in text
    assert "corrected" not in text and "interval" not in text and "without any" not in text


def test_equal_runs_are_no_test():
    text = said(LIVE)
    assert "No test is made: A and B have equal values in every query, by every measure." in text
    assert "corrected" not in text


def test_the_comparisons_that_were_corrected_are_counted():
    assert "p (holm) is corrected over these 4 comparisons." in said(NEW)
    text = said(NEW, measures=["RR", "P@2"])
    assert "over these 3 comparisons; 1 without any difference left out." in text
    assert "p is not corrected for their number." in said(NEW, correction="none")


def test_its_repr_is_what_is_printed_and_no_arrays():
    found = compare({"live": LIVE, "new": NEW}, QRELS, ["RR"], bounds=True)
    assert "array(" not in repr(found) and repr(found).startswith("A: live (baseline)")


def test_the_comparisons_are_said_to_be_planned():
    planned = "The p-values are for comparisons planned before looking at the results"
    assert planned in said(NEW) and planned in said(LIVE)
