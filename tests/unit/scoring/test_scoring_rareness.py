"""Gains of rareness are their definition, document by document (rareness.py)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.scoring.rareness import gains

#: For each query, its systems and the finders of its relevant documents.
QUERIES = st.lists(
    st.integers(1, 6).flatmap(
        lambda systems: st.tuples(
            st.just(systems), st.lists(st.integers(1, systems), min_size=0, max_size=5)
        )
    ),
    min_size=1,
    max_size=4,
)


def gain(finders: int, systems: int, alpha: float, normalized: bool) -> float:
    if not normalized:
        return 1 + alpha * (1 - finders / systems)
    rareness = 1 - (finders - 1) / (systems - 1) if systems > 1 else 0
    return 1 - alpha + alpha * rareness


@pytest.mark.parametrize("normalized", [False, True])
@given(QUERIES, st.floats(0, 1))
def test_gains_are_sums_over_the_first_relevant_documents(normalized, queries, alpha):
    offsets = np.cumsum([0, *(len(finders) for _, finders in queries)])
    all_finders = np.array([one for _, finders in queries for one in finders], np.int64)
    systems = np.repeat([number for number, _ in queries], np.diff(offsets))
    found = gains(all_finders, systems, offsets, alpha=alpha, normalized=normalized)
    expected = [
        sum(gain(one, number, alpha, normalized) for one in finders[: i + 1])
        for number, finders in queries
        for i in range(len(finders))
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)
