"""What the standard measures say beside their values: gains, levels and counts, by hand."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest

from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.measures.standard import computed, gain_levels

GRADED = Judgements({"p": {"a": 3, "b": 1, "c": 1, "d": 0, "e": -1}, "q": {"a": 1}})
BINARY = Judgements({"p": {"a": 1, "b": 0}, "q": {"a": 1}})


@pytest.mark.parametrize(
    ("judgements", "rel", "grades", "highest", "levels", "counts"),
    [
        # The page has buttons for labels up to 2; documents with each gain or more, by query.
        (BINARY, 1, [0, 1, 2], 1, [1, 2], [[1, 0], [1, 0]]),
        (GRADED, 1, [0, 1, 2, 3], 3, [1, 2, 3], [[3, 1, 1], [1, 0, 0]]),
        (BINARY, 3, [0, 1, 2, 3], 1, [1, 2, 3], [[1, 0, 0], [1, 0, 0]]),
    ],
)
def test_what_the_page_is_told_of_ndcg(judgements, rel, grades, highest, levels, counts):
    measure = computed(ir_measures.nDCG @ 10)
    assert measure.page_data(judgements, rel) == {
        "grades": grades,
        "gains": grades,
        "highest": highest,
        "levels": levels,
        "counts": counts,
    }


def test_what_the_page_is_told_of_other_gains():
    """2^grade - 1; and a grade that counts as another one is shown as the qrels have it."""
    exponential = computed(ir_measures.nDCG(dcg="exp-log2")).page_data(GRADED, 1)
    assert (exponential["gains"], exponential["levels"]) == ([0, 1, 3, 7], [1, 3, 7])
    regraded = computed(ir_measures.nDCG(gains={1: 5, 3: 0})).page_data(GRADED, 1)
    assert (regraded["grades"], regraded["gains"]) == ([0, 1, 2, 3], [0, 5, 2, 0])
    assert (regraded["levels"], regraded["counts"]) == ([2, 5], [[2, 2], [1, 1]])


def test_what_the_page_is_told_of_a_measure_of_relevance():
    assert computed(ir_measures.P @ 5).page_data(GRADED, 2) == {"rel": 2, "relevant": [1, 0]}


def test_gains_that_a_label_can_give():
    """Labels go up to ``highest``; what is judged higher has a gain that no label gives."""
    levels, attainable, counts = gain_levels(GRADED, computed(ir_measures.nDCG), 2)
    assert (levels.tolist(), attainable) == ([1, 2, 3], 2)
    assert counts.tolist() == [[3, 1, 1], [1, 0, 0]]
    levels, attainable, counts = gain_levels(GRADED, computed(ir_measures.nDCG), 1.5)
    assert (levels.tolist(), attainable) == ([1, 1.5, 3], 2)
    for highest in (-1, 1001, np.inf):
        with pytest.raises(ValueError, match="from 0 to the best grade, at most 1000, not"):
            gain_levels(GRADED, computed(ir_measures.nDCG), highest)
    assert len(gain_levels(GRADED, computed(ir_measures.nDCG), 1000)[0]) == 1000
