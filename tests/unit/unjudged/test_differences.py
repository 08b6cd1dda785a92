"""Differences over all labels (pairs.py)."""

import re

import numpy as np
import pytest

from pyterrier_asl import holes
from pyterrier_asl.unjudged.pairs import verdict_of


def test_a_difference_is_told_by_query():
    good, other = (
        {"q": {"a": 3, "x": 2}, "p": {"a": 1}},
        {"q": {"y": 3, "a": 2}, "p": {"y": 2, "a": 1}},
    )
    qrels = {"q": {"a": 1, "b": 0}, "p": {"a": 1, "b": 0}}
    found = holes({"good": good, "other": other}, qrels, "RR").difference
    assert found.verdict == "open"
    assert (found.difference, found.low, found.high) == (-0.5, -0.5, 0.0)
    assert found.by_query["unjudged"].tolist() == [2, 1]
    assert "open" in found.describe()
    assert "low=-0.5" in repr(found)
    assert not re.search("qids|sides|bounds", repr(found))  # not the long text


@pytest.mark.parametrize("of", [float, np.float64])
def test_the_verdict_by_the_ends_of_a_difference(of):
    for low, high, verdict in ((0.1, 0.2, "BA"), (-0.2, -0.1, "AB")):
        said = "".join(verdict_of(of(low), of(high), higher) for higher in (True, False))
        assert said == verdict
    assert verdict_of(of(-0.1), of(0.1)) == "open" and verdict_of(of(0), of(0)) == "equal"
    # At most 1e-12 is rounding, more is a difference.
    assert verdict_of(of(-1e-12), of(1e-12)) == "equal"
    assert verdict_of(of(1e-12), of(0.1)) == "open" and verdict_of(of(1.1e-12), of(0.1)) == "B"
    assert verdict_of(of(-0.1), of(-1e-12)) == "open" and verdict_of(of(-0.1), of(-1.1e-12)) == "A"
