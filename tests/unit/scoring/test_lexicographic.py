"""Lexicographic order, as rrLP and as LexiP, from the ranks of relevant documents."""

import itertools

import numpy as np
import pytest

from pyterrier_asl.scoring.lexicographic import first_difference, lexip, reciprocal_ranks


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


def test_lexip_of_ten_thousand_relevant_documents():
    rng = np.random.default_rng(5)
    ranks = np.sort(rng.choice(10**6, 10_000, replace=False)) + 1
    gaps = np.diff(ranks, prepend=0).tolist()
    v = 1.0
    for gap in reversed(gaps):
        v = min(1 / (gap + 1) + (1 / gap - 1 / (gap + 1)) * v, 1 / gap)
    assert of_ranks(ranks, 10_000) == pytest.approx(v, abs=1e-15)
    assert of_ranks(range(1, 10_001), 10_000) == 1
    assert 0.5 < of_ranks(range(1, 10_000), 10_000) <= 1  # the last document is missed


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
