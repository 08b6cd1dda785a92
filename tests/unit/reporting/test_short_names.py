"""Truncated names stay different."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyterrier_asl.reporting.page import short_names


@pytest.mark.parametrize("most", [9, 16])
@given(st.lists(st.text("ab", min_size=1, max_size=40), unique=True, max_size=8))
@example([f"bm25-tuned-with-a-long-description-{at}" for at in range(30)])
@example([f"{at}-then-a-long-end-that-is-the-same-for-all" for at in range(30)])
@example([f"begins-alike-{at}-and-ends-alike-as-well" for at in range(30)])
def test_short_names_stay_different(most, names):
    short = short_names(names, most)
    assert len(set(short)) == len(names) and all(len(name) <= most for name in short)
