"""The command analyze, on real runs and collections."""

from __future__ import annotations

import pytest
from _calls import analyzed as rows


def test_the_published_ties_of_dl20(data):
    folder = data / "dl20-passage"
    found = rows("ties", str(folder / "qrels.txt"), str(folder / "runs"), "--rel", "2")
    percent = {row["preference"]: row["percent"] for row in found}
    assert percent == pytest.approx({"rrLP, sgnLP": 2.58, "RR": 50.30}, abs=0.005)
