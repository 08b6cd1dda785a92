"""A document that occurs twice in a ranking is refused, or counts once at its best rank.
Tests of labellings.py."""

import pandas as pd
import pytest

from pyterrier_asl import Qrels, holes

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
