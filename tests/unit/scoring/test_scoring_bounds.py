"""Bounds over all labellings of a query, against enumeration of the labellings.
Tests of bounds.py, matrices.py, pair_bounds.py."""

import itertools

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


@pytest.mark.parametrize("seed", range(30))
def test_a_ratio_of_gains_is_highest_for_some_numbers_of_the_best_documents(seed):
    """Queries of up to 12 documents, of which ever fewer have at least each of three gains."""
    generator = np.random.default_rng(seed)
    sizes, others = generator.integers(0, 13, 4), generator.integers(0, 4, 4)
    weights = generator.normal(generator.normal(), 1, sizes.sum())
    base, steps = 3 * generator.normal(size=4), generator.uniform(0.5, 3, 3)
    counts = -np.sort(-generator.integers(0, 6, (4, 3)), axis=1)
    ideal = np.concatenate(([0], np.cumsum(1 / np.log2(np.arange(2, 40)))))
    given = int(generator.integers(1, 4))
    offsets = np.cumsum([0, *sizes])
    low, high = pair_bounds.ratio_of_gains(
        base, weights, offsets, others, counts, steps, lambda most: ideal[: most + 1], given
    )
    for q, part in enumerate(np.split(weights, offsets[1:-1])):
        for sign, found in ((1, high[q]), (-1, low[q])):
            best = np.cumsum([0, *sorted([*sign * part, *[0] * others[q]], reverse=True)])
            ratios = []
            for numbers in itertools.product(range(len(best)), repeat=given):
                if list(numbers) == sorted(numbers, reverse=True):
                    more = np.array([*numbers, *[0] * (3 - given)])
                    whole = sign * base[q] + steps @ best[more]
                    cost = steps @ ideal[counts[q] + more]
                    ratios.append(whole / cost if cost else 0.0)
            assert sign * found == pytest.approx(max(ratios), abs=1e-12)


# A difference of AP, by pairs of documents, or by single runs for queries with too many

QUERIES = 3
GENERATOR = np.random.default_rng(11)
#: Four documents, the first two judged relevant; ranks, 0: not retrieved.
RANKS = np.array(
    [[GENERATOR.permutation([0, 1, 2, 3, 5])[:4] for _ in range(QUERIES)] for _ in "AB"]
)
TOTAL, OTHERS = np.array([2, 3, 2]), np.array([0, 1, 2])


def mean_precision(ranks, gains, relevant, total):
    """The sum of gains up to each relevant document by its rank, by the number of relevant."""
    found = sorted(
        (rank, gain) for rank, gain, is_it in zip(ranks, gains, relevant) if rank and is_it
    )
    running = np.cumsum([gain for _, gain in found])
    return sum(running / np.array([rank for rank, _ in found])) / total if found else 0.0


@pytest.mark.parametrize("gains", [np.ones(4), np.array([1.0, 0.5, 0.25, 0.75])])
def test_bounds_of_a_difference_of_average_precision_contain_every_labelling(gains):
    offsets = 2 * np.arange(QUERIES + 1)
    known, unjudged = RANKS[:, :, :2].reshape(2, -1), RANKS[:, :, 2:]
    tiled = np.tile(gains, QUERIES).reshape(QUERIES, 4)
    known_gains = [tiled[:, :2].ravel() * (ranks > 0) for ranks in known]
    ranks = unjudged.reshape(2, -1)
    pair = bounds.PairDocuments(*known, offsets, TOTAL, *ranks, offsets, OTHERS)
    of_unjudged = tiled[:, 2:].ravel()
    now = [[mean_precision(ranks, gains, (1, 1, 0, 0), 1) for ranks in of_run] for of_run in RANKS]
    low, high = pair_bounds.average_precision_difference(
        pair, np.subtract(*now), (*known_gains,), (*(of_unjudged * (ranks > 0)),)
    )
    for q in range(QUERIES):
        more = np.arange(OTHERS[q] + 1)  # relevant documents that no run retrieves
        values = [
            np.subtract(
                *(
                    mean_precision(of_run[q], gains, (1, 1, *labels), TOTAL[q] + sum(labels) + more)
                    for of_run in RANKS
                )
            )
            for labels in itertools.product((0, 1), repeat=2)
        ]
        assert low[q] <= np.min(values) + 1e-12 and np.max(values) - 1e-12 <= high[q]
        assert -1 <= low[q] and high[q] <= 1


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
    pair = bounds.PairDocuments(
        a[known],
        b[known],
        array([0, len(known)]),
        array([total]),
        a[unjudged],
        b[unjudged],
        array([0, len(unjudged)]),
        array([others]),
    )
    low, high = pair_bounds.average_precision_difference(
        pair,
        np.array([base]),
        (gains[known] * (a[known] > 0), gains[known] * (b[known] > 0)),
        (gains[unjudged] * (a[unjudged] > 0), gains[unjudged] * (b[unjudged] > 0)),
    )
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
    pair = bounds.PairDocuments(
        none, none, np.zeros_like(offsets), nothing + 1, a, b, offsets, nothing
    )
    return np.transpose(
        pair_bounds.average_precision_difference(pair, nothing * 0.0, (none, none), (ones, ones))
    )


def test_a_query_of_many_documents_needs_no_square_of_them():
    assert bounds_by_reverse_orders(20_000).tolist() == [[-np.inf, np.inf]]


def test_a_query_of_many_documents_leaves_other_queries_their_bounds():
    assert list(bounds_by_reverse_orders(4_001, 5)[1]) == list(bounds_by_reverse_orders(5)[0])
