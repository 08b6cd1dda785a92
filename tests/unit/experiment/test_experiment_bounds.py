"""Bounds beside the means of an experiment."""

from __future__ import annotations

import pandas as pd
import pytest

from pyterrier_asl import Experiment, bounds

TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["chess", "go"]})
QRELS = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "label": [1, 1]})


def results(*docnos):
    return pd.DataFrame({"qid": ["1", "1", "2", "2"], "docno": docnos, "score": [2, 1] * 2})


SYSTEMS = {"one": results("a", "x", "y", "b"), "two": results("z", "a", "b", "y")}


def test_bounds_stand_beside_means():
    table = Experiment(SYSTEMS, TOPICS, QRELS, ["AP", "ASL@2"], bounds=True)
    assert list(table) == ["name", "AP", "AP low", "AP high", "ASL@2", "ASL@2 low", "ASL@2 high"]
    for number, (name, other) in enumerate((("one", "two"), ("two", "one"))):
        expected = bounds(SYSTEMS[name], QRELS, ["AP", "ASL@2"], runs={other: SYSTEMS[other]})
        for row, label in enumerate(["AP", "ASL@2"]):
            found = table.loc[number, [label, f"{label} low", f"{label} high"]].tolist()
            assert found == pytest.approx(expected.loc[row, ["value", "low", "high"]].tolist())


def test_values_are_the_same_without():
    table = Experiment(SYSTEMS, TOPICS, QRELS, ["AP", "ASL@2"], bounds=True)
    plain = Experiment(SYSTEMS, TOPICS, QRELS, ["AP", "ASL@2"])
    pd.testing.assert_frame_equal(table[list(plain)], plain)
