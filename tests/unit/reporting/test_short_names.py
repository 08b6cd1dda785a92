"""Truncated names stay different."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.reporting.page import short_names


@pytest.mark.parametrize(
    "names",
    [
        [f"bm25-tuned-with-a-long-description-{at}" for at in range(30)],
        [f"{at}-then-a-long-end-that-is-the-same-for-all" for at in range(30)],
        [f"begins-alike-{at}-and-ends-alike-as-well" for at in range(30)],
        ["a", "b"],
    ],
)
def test_names_stay_different(names):
    short = short_names(names)
    assert len(set(short)) == len(names)
    assert all(len(name) <= 16 for name in short)


@given(st.lists(st.text("ab", min_size=1, max_size=40), unique=True, max_size=8))
def test_whatever_the_names_are(names):
    short = short_names(names, 9)
    assert len(set(short)) == len(names) and all(len(name) <= 9 for name in short)
