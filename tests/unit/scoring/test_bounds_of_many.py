"""Bounds of a difference of AP where a query has too many unjudged documents to look at pairs."""

from itertools import product

import numpy as np
import pytest

from pyterrier_asl.scoring import bounds
from pyterrier_asl.scoring.bounds import PairDocuments, average_precision_difference

QUERIES = 3
GENERATOR = np.random.default_rng(11)
#: Of four documents the first two are judged relevant; ranks, 0: not retrieved.
RANKS = np.array(
    [[GENERATOR.permutation([0, 1, 2, 3, 5])[:4] for _ in range(QUERIES)] for _ in "AB"]
)
TOTAL, OTHERS = np.array([2, 3, 2]), np.array([0, 1, 2])


def mean_precision(ranks, gains, relevant, total):
    """The running gain at each relevant document by its rank, over how many are relevant."""
    found = sorted(
        (rank, gain) for rank, gain, is_it in zip(ranks, gains, relevant) if rank and is_it
    )
    running = np.cumsum([gain for _, gain in found])
    return sum(running / np.array([rank for rank, _ in found])) / total if found else 0.0


@pytest.mark.parametrize("gains", [np.ones(4), np.array([1.0, 0.5, 0.25, 0.75])])
@pytest.mark.parametrize("most", [0, 4000])
def test_they_contain_every_labelling(gains, most, monkeypatch):
    monkeypatch.setattr(bounds, "_MOST_IN_PAIRS", most)
    offsets = 2 * np.arange(QUERIES + 1)
    known, unjudged = RANKS[:, :, :2].reshape(2, -1), RANKS[:, :, 2:].reshape(2, -1)
    pair = PairDocuments(*known, offsets, TOTAL, *unjudged, offsets, OTHERS)
    tiled = np.tile(gains, QUERIES).reshape(QUERIES, 4)
    known_gains = [tiled[:, :2].ravel() * (ranks > 0) for ranks in known]
    unjudged_gains = [tiled[:, 2:].ravel() * (ranks > 0) for ranks in unjudged]
    now = [[mean_precision(ranks, gains, (1, 1, 0, 0), 1) for ranks in of_run] for of_run in RANKS]
    low, high = average_precision_difference(
        pair, np.subtract(*now), (*unjudged_gains,), (*known_gains,)
    )
    for q in range(QUERIES):
        values = [
            np.subtract(
                *(
                    mean_precision(of_run[q], gains, (1, 1, *labels), TOTAL[q] + sum(labels) + o)
                    for of_run in RANKS
                )
            )
            for labels in product((0, 1), repeat=2)
            for o in range(OTHERS[q] + 1)
        ]
        assert low[q] <= min(values) + 1e-12 and max(values) - 1e-12 <= high[q]
        assert -1 <= low[q] and high[q] <= 1


def test_a_query_of_many_documents_needs_no_square_of_them():
    size = 20_000
    ranks = np.arange(1, size + 1)
    none, ends = np.empty(0, dtype=np.int64), np.array([0, 0])
    pair = PairDocuments(
        none, none, ends, np.array([1]), ranks, ranks[::-1], np.array([0, size]), np.array([0])
    )
    ones = np.ones(size)
    low, high = average_precision_difference(pair, np.zeros(1), (ones, ones), (none, none))
    assert -1 <= low[0] < 0 < high[0] <= 1
