"""Preferences between rankings, and the scores of an assessor (preferences.py, assessor.py)."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.scoring import preferences
from pyterrier_asl.scoring.assessor import (
    best_average_precision,
    expected_average_precision,
    expected_success,
    worst_average_precision,
)


def rankings(seed, levels=None):
    """RR_1, RR_2, ... of nine rankings; with few documents many rankings tie."""
    generator = np.random.default_rng(seed)
    levels = generator.integers(0, 7) if levels is None else levels
    return -np.sort(-generator.choice([0, 0, 1 / 5, 1 / 3, 1 / 2, 1], size=(9, levels)))


def compared(a, b):
    """i* and all preferences, by a loop over recall levels."""
    changes = [x - y for x, y in zip(a, b)]
    levels = [i for i, change in enumerate(changes, 1) if change]
    if not levels:
        return 0, dict.fromkeys(preferences.KINDS, 0.0)
    first, last = levels[0], levels[-1]
    return first, {
        "rrLP": changes[first - 1],
        "sgnLP": np.sign(changes[first - 1]),
        "lexirecall": np.sign(changes[last - 1]),
        "RPP": np.mean(np.sign(changes)),
        "RR": changes[0],
    }


def test_queries_are_compared_one_by_one():
    total = np.array([3, 0, 1, 4])
    parts = [rankings(seed, levels) for seed, levels in enumerate(total)]
    values = np.hstack(parts)
    i_star, rrlp = preferences.pairwise_preferences(values, total)
    cubes = {kind: preferences.preference_cube(kind, values, total) for kind in preferences.KINDS}
    assert i_star.shape == rrlp.shape == (36, 4) and cubes["RPP"].shape == (4, 9, 9)
    for q, part in enumerate(parts):
        for pair, (a, b) in enumerate(combinations(range(9), 2)):
            first, expected = compared(part[a].tolist(), part[b].tolist())
            assert (i_star[pair, q], rrlp[pair, q]) == (first, expected["rrLP"])
            for kind, cube in cubes.items():
                assert cube[q, a, b] == -cube[q, b, a] == pytest.approx(expected[kind], abs=1e-15)
    for i in (1, 2, 4):
        at = [part[:, i - 1] if part.shape[1] >= i else np.zeros(9) for part in parts]
        assert preferences.level(values, total, i).tolist() == np.transpose(at).tolist()
        changes = [
            [at_query[a] - at_query[b] for at_query in at] for a, b in combinations(range(9), 2)
        ]
        assert preferences.difference(values, total, i).tolist() == changes


# retrieved, common, relevant: worst, expected and best AP, expected S@1 and S@3, by hand, and from
# another implementation for sets with too many orders to list.
WORKED = [
    *((nothing, 0, 0, 0, 0, 0) for nothing in ((4, 0, 3), (0, 0, 0), (0, 0, 5), (4, 0, 0))),
    ((10, 4, 6), 0.1876984126984127, 0.35239858906525573, 2 / 3, 0.4, 0.8333333333333334),
    ((60, 45, 150), 0.16383585802772554, 0.22967780137239627, 0.3, 0.75, 0.9867036820572764),
]

counts = st.integers(1, 7).flatmap(
    lambda size: st.integers(0, size).flatmap(
        lambda r: st.tuples(st.just(size), st.just(r), st.integers(max(r, 1), 12))
    )
)


def average_precisions(size: int, r: int, n: int) -> list[float]:
    """AP of every order of ``size`` documents, ``r`` of them relevant, straight from AP's formula.

    Exchanging relevant documents does not change AP, and each set of ranks has the same number of
    orders. So one order per set of ranks gives the same mean.
    """
    return [
        sum((i + 1) / (rank + 1) for i, rank in enumerate(ranks)) / n
        for ranks in combinations(range(size), r)
    ]


AVERAGE_PRECISIONS = worst_average_precision, expected_average_precision, best_average_precision


@pytest.mark.parametrize(("counts", "expected"), [(counts, of) for counts, *of in WORKED])
def test_worked_examples(counts, expected):
    found = [function(*counts) for function in AVERAGE_PRECISIONS]
    found += [expected_success(*counts[:2], n=n) for n in (1, 3)]
    assert found == pytest.approx(expected, abs=1e-12)


def test_success_deeper_than_a_judges_documents():
    """Of two judges' topics with 2 and 5 documents; without a common one it stays 0."""
    found = expected_success([2, 2, 5], [0, 1, 1], 4)
    assert found.tolist() == pytest.approx([0, 1, 4 / 5])


@given(counts)
def test_average_precision_over_all_orders(numbers):
    every = average_precisions(*numbers)
    found = [function(*numbers) for function in AVERAGE_PRECISIONS]
    assert found == pytest.approx([min(every), np.mean(every), max(every)], abs=1e-12)


@given(counts, st.integers(1, 10))
def test_success_over_all_orders(numbers, n):
    size, r, _ = numbers
    orders = list(combinations(range(size), r))
    found = np.mean([bool(ranks) and ranks[0] < n for ranks in orders])
    assert expected_success(size, r, n) == pytest.approx(found, abs=1e-12)


def test_topics_at_once_equal_topics_one_by_one():
    topics = [numbers for numbers, *_ in WORKED]
    columns = list(zip(*topics))
    for function in AVERAGE_PRECISIONS:
        assert function(*columns).tolist() == [function(*numbers) for numbers in topics]
        assert function([], [], []).shape == (0,)
    alone = [expected_success(size, r, 3) for size, r, _ in topics]
    assert expected_success(*columns[:2], n=3).tolist() == alone
    assert expected_success([], [], 3).shape == (0,)


def test_a_topic_of_many_documents_keeps_its_digits():
    size = 1_000_000
    # One common document at rank one million: AP is the precision there.
    assert worst_average_precision(size, 1, 1) == pytest.approx(1 / size, rel=1e-12)
    assert expected_success(size, 1, 10) == pytest.approx(10 / size, rel=1e-9)
