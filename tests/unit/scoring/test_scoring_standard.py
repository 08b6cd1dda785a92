"""The formulas of the standard measures, by hand (standard.py)."""

import numpy as np
import pytest

from pyterrier_asl.scoring import standard
from pyterrier_asl.scoring.arrays import sum_by_query


def test_rbp_stops_at_1000_as_in_cwl_eval():
    ranks, offsets = np.array([1, 1000, 1001]), np.array([0, 3])
    weights = [0.999**i for i in range(1000)]
    expected = (weights[0] + weights[-1]) / sum(weights)
    found = sum_by_query(standard.attention(ranks, 0.999), offsets)
    assert found[0] == pytest.approx(expected, abs=1e-12)


def test_err_by_hand():
    found = standard.expected_reciprocal_rank(
        np.array([1, 3]), np.array([1.0, 2.0]), np.array([0, 2, 2])
    )
    assert found.tolist() == pytest.approx([1 / 16 + 15 / 16 * 3 / 16 / 3, 0], abs=1e-12)
