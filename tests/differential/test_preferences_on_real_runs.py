"""Preferences between rankings, on real runs and collections."""

from __future__ import annotations

import pytest

import pyterrier_asl as asl
from pyterrier_asl.evaluation.preferences import (
    preference_matrix,
)


@pytest.mark.data
def test_discriminative_power_on_dl_2020_is_the_published_one(data):
    """Diaz 2023, Table 3 (ties) and Table 4 (significant pairs, with Holm's correction)."""
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    qrels = asl.read_qrels(data / "dl20-passage" / "qrels.txt")
    runs = asl.read_runs(data / "dl20-passage" / "runs")
    matrix = preference_matrix(runs, qrels, rel=2)
    pairs = matrix.pairs()
    assert len(pairs) == 59 * 58 // 2 and matrix.queries == 54
    ties = 1 - (pairs["sgnLP +"] + pairs["sgnLP -"]) / matrix.queries
    assert round(100 * ties.mean(), 2) == 2.58
    for name, published in (("rrLP", 39.04), ("sgnLP", 39.45)):
        reject = multitest.multipletests(pairs[f"{name} p-value"].fillna(1), 0.05, "holm")[0]
        assert round(100 * reject.mean(), 2) == published
