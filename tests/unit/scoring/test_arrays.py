"""Entries of many queries in flat arrays."""

import numpy as np
import pytest

from pyterrier_asl.scoring.arrays import order_by_query


@pytest.mark.parametrize("highest", [5, 2**15 - 1, 2**15, 2**40])
def test_entries_of_a_query_keep_their_order(highest):
    queries = np.array([highest, 0, highest, -1, 0, highest])
    expected = sorted(range(len(queries)), key=lambda entry: queries[entry])
    assert order_by_query(queries).tolist() == expected


def test_no_entries_have_no_order():
    assert order_by_query(np.empty(0, dtype=np.int64)).tolist() == []
