"""ASL by hand where documents are missing."""

import pytest

from pyterrier_asl import ASL, nASL

#: Without the unjudged x and u, the ranking is n1, a, n2; b and c are missing.
RUN = {"q": {"x": 9, "n1": 8, "a": 7, "u": 6, "n2": 5}}
QRELS = {"q": {"n4": 0, "b": 1, "a": 2, "n2": 0, "u": -1, "n1": 0, "c": 1, "n3": 0}}


@pytest.mark.parametrize(("cutoff", "missing"), [(2, 2), (4, 4), (5, 5), (9, 5), (None, 5)])
def test_judged_only_fills_with_the_irrelevant_judgements_down_to_the_cutoff(cutoff, missing):
    """A missing document is below four irrelevant ones if the cut-off admits them."""
    asl = ASL(judged_only=True, cutoff=cutoff)
    assert asl.calc_aggregate(QRELS, RUN) == pytest.approx((2 + 2 * missing) / 3)
    two = nASL(judged_only=True, g=2) @ (cutoff or 1000)
    expected = 1 - ((2 + missing) / 2 - 1) / (cutoff or 1000)
    assert two.calc_aggregate(QRELS, RUN) == pytest.approx(expected)


@pytest.mark.parametrize(("rel", "value"), [(1, (2 + 2 * 5) / 3), (2, 2)])
def test_what_is_below_the_minimum_grade_is_irrelevant(rel, value):
    assert ASL(judged_only=True, rel=rel).calc_aggregate(QRELS, RUN) == pytest.approx(value)
    fewer = {"q": {"n1": 8}}
    missing = {1: 5, 2: 7}[rel]  # n1 to n4, or these, b and c
    assert ASL(judged_only=True, rel=rel).calc_aggregate(QRELS, fewer) == missing
