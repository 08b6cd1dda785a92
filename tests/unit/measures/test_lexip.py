"""LexiP without a cut-off is LexiP@1000000: deeper documents count as not retrieved."""

import numpy as np
import pytest

from pyterrier_asl import LexiP
from pyterrier_asl.judging.judged_run import JudgedRun
from pyterrier_asl.judging.judgements import Judgements


def lexip(ranks, retrieved, measure=LexiP):
    """LexiP of a run with the two relevant documents of a query at these ranks."""
    judgements = Judgements({"q": {"a": 1, "b": 1}})
    found = np.array(ranks, dtype=np.int64)
    run = JudgedRun.from_entries(
        judgements, np.array([retrieved]), np.zeros_like(found), found, np.arange(len(found))
    )
    return measure.values(run)[0]


def test_it_never_inverts_beyond_a_million():
    missing = lexip([1], 2_000_000)
    assert lexip([1, 1_500_001], 2_000_000) == missing
    assert lexip([1, 1_000_000], 2_000_000) > missing
    assert lexip([1, 999_999], 2_000_000) > lexip([1, 1_000_000], 2_000_000)


@pytest.mark.parametrize("ranks", [[], [3], [2, 7], [2, 1_000_001]])
def test_it_is_lexip_at_a_million(ranks):
    assert lexip(ranks, 2_000_000) == lexip(ranks, 2_000_000, LexiP @ 1_000_000)
