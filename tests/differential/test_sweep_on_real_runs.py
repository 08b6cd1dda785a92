"""The sweep, on real collections."""

import pytest
from _sweeps import compare
from ir_measures import AP, RR

from pyterrier_asl import ASL, TBG, LexiP
from pyterrier_asl.tuning import bm25_stages
from pyterrier_asl.tuning.collection import load_collection


@pytest.fixture(scope="module")
def times(data):
    """423 articles, 83 queries."""
    return load_collection(str(data / "corpora" / "time"), verbose=False)


@pytest.mark.parametrize("number", [0, 1, 2], ids=["initial", "feedback", "final"])
def test_real_documents(times, number):
    stage = bm25_stages(times.index, num_results=200)[number]
    measures = [AP, TBG(lengths=times.lengths), ASL @ 1000, LexiP, RR]
    assert compare(stage, times, measures, 10) < 1e-9
