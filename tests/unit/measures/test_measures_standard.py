"""Properties of the standard measures: gains, levels and counts, by hand."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest

from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.measures.standard import formula, gain_levels

GRADED = Judgements({"p": {"a": 3, "b": 1, "c": 1, "d": 0, "e": -1}, "q": {"a": 1}})


def test_gains_that_a_label_can_give():
    """Labels are at most ``highest``; higher judgements have gains that no label gives."""
    levels, attainable, counts = gain_levels(GRADED, formula(ir_measures.nDCG), 2)
    assert (levels.tolist(), attainable) == ([1, 2, 3], 2)
    assert counts.tolist() == [[3, 1, 1], [1, 0, 0]]
    levels, attainable, counts = gain_levels(GRADED, formula(ir_measures.nDCG), 1.5)
    assert (levels.tolist(), attainable) == ([1, 1.5, 3], 2)
    for highest in (-1, 1001, np.inf):
        with pytest.raises(ValueError, match="a best grade of at most 1000, not"):
            gain_levels(GRADED, formula(ir_measures.nDCG), highest)
    assert len(gain_levels(GRADED, formula(ir_measures.nDCG), 1000)[0]) == 1000
