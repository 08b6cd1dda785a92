"""Formulas on arrays, against values by hand and loops (arrays.py, rareness.py, standard.py,
time_biased_gain.py), and rankings in lexicographic order (lexicographic.py)."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.scoring import standard
from pyterrier_asl.scoring.arrays import order_by_query, sum_by_query
from pyterrier_asl.scoring.lexicographic import first_difference, lexip, reciprocal_ranks
from pyterrier_asl.scoring.rareness import gains
from pyterrier_asl.scoring.time_biased_gain import time_biased_gain


@pytest.mark.parametrize("highest", [5, 2**15 - 1, 2**15, 2**40])
def test_entries_of_a_query_keep_their_order(highest):
    queries = np.array([highest, 0, highest, -1, 0, highest])
    expected = sorted(range(len(queries)), key=lambda entry: queries[entry])
    assert order_by_query(queries).tolist() == expected
    assert order_by_query(queries[:0]).tolist() == []


def test_fractions_of_words_are_summed_within_their_query():
    ranks, offsets = np.array([3, 3]), np.array([0, 1, 2])
    words = np.array([1e9, 1e9, 1.0, 0.1, 0.2, 0.3])
    both = time_biased_gain(ranks, offsets, words, np.array([0, 3, 6]))
    alone = time_biased_gain(ranks[1:], offsets[:2], words[3:], np.array([0, 3]))
    assert both[1] == alone[0]
    seconds = 2 * 4.4 + 0.39 * (0.018 * (0.1 + 0.2) + 2 * 7.8)
    assert alone[0] == pytest.approx(0.64 * 0.77 * 2 ** (-seconds / 224), abs=1e-15)


def test_rbp_stops_at_1000_as_in_cwl_eval():
    ranks, offsets = np.array([1, 1000, 1001]), np.array([0, 3])
    weights = [0.999**i for i in range(1000)]
    expected = (weights[0] + weights[-1]) / sum(weights)
    found = sum_by_query(standard.attention(ranks, 0.999), offsets)
    assert found[0] == pytest.approx(expected, abs=1e-12)


def test_err_by_hand():
    found = standard.expected_reciprocal_rank(
        np.array([1, 3]), np.array([1.0, 2.0]), np.array([0, 2, 2])
    )
    assert found.tolist() == pytest.approx([1 / 16 + 15 / 16 * 3 / 16 / 3, 0], abs=1e-12)


#: For each query, its systems and the finders of its relevant documents.
QUERIES = st.lists(
    st.integers(1, 6).flatmap(
        lambda systems: st.tuples(
            st.just(systems), st.lists(st.integers(0, systems), min_size=0, max_size=5)
        )
    ),
    min_size=1,
    max_size=4,
)


def gain(finders: int, systems: int, alpha: float, normalized: bool) -> float:
    if not normalized:
        return 1 + alpha * (1 - finders / systems)
    rareness = 1 - (max(finders, 1) - 1) / (systems - 1) if systems > 1 else 0
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


def of_ranks(ranks, relevant, cutoff=None):
    """LexiP of one query."""
    ranks = np.array(ranks, dtype=np.int64)
    return lexip(ranks, np.array([0, len(ranks)]), np.array([relevant]), cutoff=cutoff)[0]


def test_lexip_orders_as_sgnlp_does_for_all_rankings_of_nine_documents():
    """All pairs of sets of ranks of up to 4 of 1 to 4 relevant documents."""
    pairs = 0
    for relevant in range(1, 5):
        retrieved = [
            ranks
            for found in range(relevant + 1)
            for ranks in itertools.combinations(range(1, 10), found)
        ]
        values = [of_ranks(ranks, relevant, cutoff=9) for ranks in retrieved]
        reciprocal = [[1 / r for r in ranks] + [0] * (relevant - len(ranks)) for ranks in retrieved]
        for (p, x), (q, y) in itertools.combinations(zip(reciprocal, values), 2):
            pairs += 1
            assert (x > y) == (p > q) and (x < y) == (p < q), (p, q)
    assert pairs == 42_105


@pytest.mark.parametrize(("gap", "deep"), [(1, 51), (10, 8), (30, 5)])
def test_lexip_ties_only_in_depth(gap, deep):
    """Rankings with many equal first ranks tie in doubles; no pair is inverted."""
    for equal in range(60):
        head = np.arange(1, equal + 1) * gap
        better, worse = (np.append(head, head.max(initial=0) + last) for last in (gap, gap + 1))
        x, y = (of_ranks(ranks, len(ranks)) for ranks in (better, worse))
        assert x >= y
        if equal < deep - 2:
            assert x > y, equal


def test_lexip_of_several_queries_matches_each():
    """Queries with different numbers of relevant documents, without any, and without results."""
    queries = [([], 2), ([2, 3, 9], 3), ([], 0), ([1], 4), ([4, 5], 2)]
    ranks, offsets, total = flat(queries)
    for cutoff in (None, 10):
        expected = [of_ranks(*query, cutoff=cutoff) for query in queries]
        assert lexip(ranks, offsets, total, cutoff=cutoff).tolist() == expected
    assert lexip(ranks[:0], offsets[:1], total[:0]).tolist() == []


def flat(queries):
    """Ranks, offsets and numbers of relevant documents of several queries."""
    ranks = np.array(sum((found for found, _ in queries), []), dtype=np.int64)
    offsets = np.cumsum([0, *(len(found) for found, _ in queries)])
    return ranks, offsets, np.array([relevant for _, relevant in queries])


def test_reciprocal_ranks_of_several_queries():
    values = reciprocal_ranks(*flat([([2, 5], 3), ([], 0), ([], 2), ([1], 1)]))
    assert values.tolist() == [1 / 2, 1 / 5, 0, 0, 0, 1]


def test_where_rankings_first_differ():
    """Three queries, of 3, 0 and 2 relevant documents; two rankings against a third at once."""
    total = np.array([3, 0, 2])
    other = np.array([1, 1 / 2, 0, 1 / 3, 0])
    rankings = np.array([[1, 1 / 2, 1 / 9, 1 / 3, 0], [1, 1 / 3, 1 / 4, 1 / 4, 1 / 5]])
    i_star, rrlp = first_difference(rankings, other, total)
    assert i_star.tolist() == [[3, 0, 0], [2, 0, 1]]
    np.testing.assert_allclose(rrlp, [[1 / 9, 0, 0], [-1 / 6, 0, -1 / 12]], atol=1e-15)
