"""Postings by NumPy and by compiled loops are equal to the last bit (_kernels.py)."""

import numpy as np
import pytest

from pyterrier_asl.retrieval import _kernels, loops
from pyterrier_asl.retrieval.postings import ScoringArrays, WeightedQueries

DOCS, TERMS = 60, 25


@pytest.fixture(scope="module")
def matrix():
    """Frequencies of 25 terms in 60 documents; one term is in no document."""
    generator = np.random.default_rng(7)
    sizes = (0, *generator.integers(1, DOCS, TERMS - 1))
    rows = [np.sort(generator.choice(DOCS, size, replace=False)) for size in sizes]
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    columns = np.concatenate(rows).astype(np.int32)
    return offsets, columns, generator.integers(1, 9, len(columns)).astype(np.int32)


@pytest.mark.parametrize("depth", [1, 5, 1000])
def test_the_best_documents_are_the_same(matrix, depth, monkeypatch):
    """By NumPy for few postings, and for many without Numba; compiled for many."""
    generator = np.random.default_rng(depth)
    lengths = generator.integers(1, 5, DOCS) / 2.0  # few values, so that scores tie
    index = ScoringArrays(*matrix, lengths)
    offsets = np.array([0, 3, 3, 10])
    terms = generator.integers(0, TERMS, 10)
    queries = WeightedQueries(offsets, terms, generator.integers(-2, 5, 10).astype(np.float64))
    by_numpy = loops.best_documents(index, queries, 1.2, 0.75, depth)
    monkeypatch.setattr(loops, "_ENOUGH", 0)
    by_loops = loops.best_documents(index, queries, 1.2, 0.75, depth)
    monkeypatch.setattr(_kernels, "best_documents", None)
    monkeypatch.setattr(loops, "find_spec", lambda name: None)
    without_numba = loops.best_documents(index, queries, 1.2, 0.75, depth)
    assert [*map(np.ndarray.tolist, without_numba)] == [*map(np.ndarray.tolist, by_numpy)]
    for ours, theirs in zip(by_numpy, by_loops):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    assert (np.diff(by_numpy[0]) <= depth).all() and len(by_numpy[1])


@pytest.mark.parametrize("seed", range(12))
def test_of_tied_documents_those_of_the_lowest_docids_are_kept(seed):
    """Whether ties are cut at the depth or not; the documents come in any order."""
    generator = np.random.default_rng(seed)
    docs = generator.permutation(40)[: generator.integers(1, 30)].astype(np.int32)
    scores = generator.integers(0, 4, 40).astype(np.float64)
    for depth in (1, 3, max(len(docs) - 1, 1), len(docs)):
        expected = sorted(docs.tolist(), key=lambda doc: (-scores[doc], doc))[:depth]
        for keep_best in (_kernels.keep_best, _kernels.keep_best.py_func):
            seen, best = np.zeros(40, np.bool_), np.full(depth + 1, -1, np.int32)
            seen[docs] = True
            kept = keep_best(docs, scores, seen, depth, best)
            assert sorted(best[:kept].tolist()) == sorted(expected)
            assert len(docs) <= depth or np.flatnonzero(seen).tolist() == sorted(expected)


def test_zeros_of_both_signs_tie_and_are_ordered_by_docid():
    docs, scores = np.array([3, 1, 2], dtype=np.int32), np.array([9.0, -0.0, 0.0, -0.0])
    ordered = np.empty(3)
    _kernels.sort_by_score(docs, scores, ordered)
    assert docs.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(ordered, 0)


def test_loops_that_cannot_be_kept_are_compiled():
    """Numba keeps no functions without a file, as in an installation that cannot be written."""
    namespace = {}
    exec("def twice(x):\n    return 2 * x", namespace)
    twice = _kernels._compiled(namespace["twice"])
    assert twice(21) == 42 and twice.signatures
