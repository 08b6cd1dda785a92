"""A document that occurs twice in a ranking is refused, or counts once at its best rank.
Tests of labellings.py, providers.py."""

import ir_measures
import pandas as pd
import pytest
from ir_measures import AP, RR, nDCG

from pyterrier_asl import ASL, Qrels, holes
from pyterrier_asl.evaluation.providers import accelerate

QRELS = {"q": {"a": 1}, "r": {"a": 1}}
#: In query q, document a is first and last.
TWICE = pd.DataFrame(
    [("q", "a", 9.0), ("q", "b", 8.0), ("q", "c", 7.0), ("q", "a", 1.0), ("r", "a", 1.0)],
    columns=["qid", "docno", "score"],
)
SAYS = "document 'a' occurs 2 times in the ranking of query 'q'.*duplicates='best'"


#: The same rankings, each document once.
ONCE = TWICE.drop_duplicates(["qid", "docno"])
#: A ranking with unjudged documents, so that bounds are wide.
OTHER = pd.DataFrame(
    [("q", "d", 9.0), ("q", "a", 8.0), ("r", "b", 2.0), ("r", "a", 1.0)],
    columns=["qid", "docno", "score"],
)


@pytest.mark.parametrize("measure", ["ASL@3", "nDCG@2", "AP_Rareness@5"])
def test_bounds_count_each_document_once(measure):
    with pytest.raises(ValueError, match=SAYS):
        holes({"x": TWICE, "y": OTHER}, QRELS, measure)
    found = holes({"x": TWICE, "y": OTHER}, Qrels(QRELS, duplicates="best"), measure)
    once = holes({"x": ONCE, "y": OTHER}, QRELS, measure)
    assert found.describe() == once.describe()
    pd.testing.assert_frame_equal(found.difference.by_query, once.difference.by_query)
    pd.testing.assert_frame_equal(found.todo, once.todo)
    pd.testing.assert_frame_equal(found.table, once.table)


@pytest.mark.parametrize("measure", [AP, RR, nDCG])
def test_acceleration_changes_no_standard_measure(measure):
    run = TWICE.set_axis(["query_id", "doc_id", "score"], axis=1)
    plain = ir_measures.calc_aggregate([measure], QRELS, run)
    accelerate()
    try:
        with pytest.warns(UserWarning, match="more than once.*best rank.*last row"):
            quick = ir_measures.calc_aggregate([measure, ASL @ 10], QRELS, run)
    finally:
        accelerate(False)
    assert quick[measure] == pytest.approx(plain[measure]) and plain[measure] < 1
    assert quick[ASL @ 10] == 1.0
