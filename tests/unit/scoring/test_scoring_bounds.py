"""Outer bounds of a difference of AP, against loops; evaluation/test_bounds.py enumerates labels.
Tests of bounds.py, matrices.py, pair_bounds.py."""

import numpy as np
import pytest

from pyterrier_asl.scoring import bounds, pair_bounds


def array(values):
    return np.array(values, dtype=np.int64)


def test_documents_that_nobody_retrieved_lower_average_precision():
    """One relevant document is at rank 1; with one missed document more, AP is 1/2."""
    one, none, offsets = array([1]), array([0]), array([0, 1])
    run = bounds.PairDocuments(one, none, offsets, one, none[:0], none[:0], 0 * offsets, one)
    low, high = bounds.average_precision(run)
    assert (low.tolist(), high.tolist()) == ([0.5], [1.0])


# A difference of AP, by pairs of documents, or by single runs for queries with too many


def precision_together(ranks, gains, i, j):
    """The joint contribution of documents i and j to the sum of precisions; i = j: of one."""
    if not ranks[i] or not ranks[j]:
        return 0.0
    earlier = i if ranks[i] < ranks[j] else j
    return gains[earlier] / max(ranks[i], ranks[j])


def greatest_outer_bound(together, known, unjudged, base, total, others):
    """An upper bound with m relevant unjudged documents.

    A document adds its own contribution, its joint contributions with judged relevant documents,
    and half of its m - 1 largest joint contributions with others.
    """
    most = [sorted((together(i, j) for j in unjudged if j != i), reverse=True) for i in unjudged]
    alone = [together(i, i) + sum(together(i, j) for j in known) for i in unjudged]
    values = []
    for m in range(len(unjudged) + 1):
        worth = [own + sum(others[: max(m - 1, 0)]) / 2 for own, others in zip(alone, most)]
        whole = base + sum(sorted(worth, reverse=True)[:m])
        values += [whole / n if n else 0.0 for n in (total + m, total + m + others)]
    return max(values)


@pytest.mark.parametrize(("seed", "size"), [(seed, 14) for seed in range(40)] + [(0, 48), (1, 48)])
def test_the_outer_bound_of_a_difference_of_average_precision(seed, size):
    generator = np.random.default_rng(seed)
    known, unjudged = np.split(np.arange(size), [seed % 4])
    unjudged = unjudged[: generator.integers(0, 11) if size == 14 else size]
    ranks = np.maximum(np.arange(-3, 3 * size // 2 + 1), 0)
    a, b = (generator.permutation(ranks)[:size] for _ in range(2))
    gains = np.ones(size) if seed % 2 else generator.choice([0.25, 0.5, 1.0, 1.5], size)
    total, others = len(known) + generator.integers(0, 2), generator.integers(0, 3)

    def together(i, j):
        return precision_together(a, gains, i, j) - precision_together(b, gains, i, j)

    base = sum(together(i, j) for i in known for j in known if i <= j)
    sizes = (array([0, len(documents)]) for documents in (known, unjudged))
    of_known, of_unjudged = (
        (a[some], b[some], size) for some, size in zip((known, unjudged), sizes)
    )
    of_both = (tuple(gains[some] * (of[some] > 0) for of in (a, b)) for some in (known, unjudged))
    pair = bounds.PairDocuments(*of_known, array([total]), *of_unjudged, array([others]), *of_both)
    low, high = pair_bounds.average_precision_difference(pair, np.array([base]))
    most = greatest_outer_bound(together, known, unjudged, base, total, others)
    least = -greatest_outer_bound(
        lambda i, j: -together(i, j), known, unjudged, -base, total, others
    )
    assert [low[0], high[0]] == pytest.approx([least, most], abs=1e-12)


def bounds_by_reverse_orders(*sizes):
    """Bounds of queries with numbers of unjudged documents, in reverse orders in A and B."""
    none, nothing = np.empty(0, dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    a, b = (np.concatenate([np.arange(1, n + 1)[::step] for n in sizes]) for step in (1, -1))
    offsets, ones = np.cumsum([0, *sizes]), np.ones(len(a))
    known, gains = (none, none, np.zeros_like(offsets)), ((none, none), (ones, ones))
    pair = bounds.PairDocuments(*known, nothing + 1, a, b, offsets, nothing, *gains)
    return np.transpose(pair_bounds.average_precision_difference(pair, nothing * 0.0))


def test_a_query_of_many_documents_needs_no_square_of_them_and_leaves_others_their_bounds():
    assert bounds_by_reverse_orders(20_000).tolist() == [[-np.inf, np.inf]]
    assert list(bounds_by_reverse_orders(4_001, 5)[1]) == list(bounds_by_reverse_orders(5)[0])
