"""Loops over postings, by NumPy where they are few, else compiled.

Both give the same results to the last bit. The compiled loops, in
:mod:`~pyterrier_asl.retrieval._kernels`, are several times as fast, but Numba takes half a second
to load, and longer to compile them for the first time.
"""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..scoring.arrays import Floats, Ints, cumulate, queries_of
from ..scoring.compiled import loops
from . import _kernels

if TYPE_CHECKING:
    from .bm25 import WeightedQueries
    from .term_statistics import ScoringArrays

Int32s = npt.NDArray[np.int32]

#: The number of NumPy's steps in the time of a step of Python.
_AT_ONCE = 100


def _compiled(steps: int) -> ModuleType | None:
    """The compiled loops, where they pay."""
    kernels = loops(_kernels.__name__, steps // _AT_ONCE)
    return None if kernels is _kernels else kernels


def _read_only(*arrays: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Arrays as mapped files have them: loops are not compiled again for those in memory."""
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def transpose(
    offsets: Ints,
    columns: Int32s,
    values: Int32s,
    out_offsets: Ints,
    out: Int32s,
    out_values: Int32s,
) -> None:
    """Transposes a sparse matrix in compressed rows; see :func:`_kernels.transpose`.

    >>> rows, values = np.empty((2, 3), dtype=np.int32)
    >>> matrix = np.array([0, 1, 3]), np.array([1, 0, 1]), np.array([5, 6, 7])
    >>> transpose(*matrix, np.array([0, 1, 3]), rows, values)
    >>> rows.tolist(), values.tolist()
    ([1, 0, 1], [6, 5, 7])
    """
    if (kernels := _compiled(10 * len(columns))) is not None:
        matrix = _read_only(offsets, columns, values)
        kernels.transpose(*matrix, out_offsets, out, out_values)
        return
    order = np.argsort(columns, kind="stable")
    out[:], out_values[:] = queries_of(offsets)[order], values[order]


def count_entries(
    offsets: Ints, columns: Int32s, values: Int32s, num_columns: int
) -> tuple[bool, Ints, Ints, Ints]:
    """Sums up a sparse matrix in compressed rows; see :func:`_kernels.count_entries`.

    >>> ascending, *sums = count_entries(np.array([0, 1, 3]), np.array([1, 0, 1]), np.arange(3), 2)
    >>> ascending, [numbers.tolist() for numbers in sums]
    (True, [[0, 3], [1, 2], [1, 2]])
    """
    if (kernels := _compiled(10 * len(columns))) is not None:
        counted: tuple[bool, Ints, Ints, Ints] = kernels.count_entries(
            *_read_only(offsets, columns, values), num_columns
        )
        return counted
    rows = queries_of(offsets)
    ascending = bool(np.all((np.diff(columns) > 0) | (np.diff(rows) > 0)))
    row_sums = np.diff(cumulate(values.astype(np.int64))[offsets])
    sizes = np.bincount(columns, minlength=num_columns)
    column_sums = np.bincount(columns, weights=values, minlength=num_columns).astype(np.int64)
    return ascending, row_sums, column_sums, sizes


def document_scores(
    index: ScoringArrays,
    queries: WeightedQueries,
    k1: float,
    b: float,
    docs: Ints,
    offsets: Ints,
) -> Floats:
    """Scores given documents as :func:`best_documents` does.

    Args:
        index: the postings and the lengths of documents.
        queries: Q of them, with the weights q_t w_t (k1 + 1).
        k1, b: the parameters of BM25.
        docs: docids, query by query, shape (D,).
        offsets: where each query's documents begin, shape (Q + 1,).

    Returns:
        Their scores, 0 for a document without a term of the query, shape (D,).
    """
    norms = _kernels.length_norm(k1, b, index.length_ratios[docs])
    scores = np.zeros(len(docs))
    for query, (begin, end) in enumerate(pairwise(offsets.tolist())):
        terms = slice(queries.offsets[query], queries.offsets[query + 1])
        for term, weight in zip(queries.terms[terms], queries.weights[terms]):
            postings = slice(index.term_offsets[term], index.term_offsets[term + 1])
            containing, tfs = index.posting_docs[postings], index.posting_tfs[postings]
            places = np.searchsorted(containing, docs[begin:end])
            places = np.minimum(places, len(containing) - 1)
            rows = begin + np.flatnonzero(containing[places] == docs[begin:end])
            scores[rows] += _kernels.term_score(weight, tfs[places[rows - begin]], norms[rows])
    return scores


def best_documents(
    index: ScoringArrays, queries: WeightedQueries, k1: float, b: float, depth: int
) -> tuple[Ints, Int32s, Floats]:
    """Scores queries, and lists the best documents of each; see :func:`_kernels.best_documents`."""
    sizes = np.diff(index.term_offsets)[queries.terms]
    pairs = len(index.length_ratios) * (len(queries.offsets) - 1)
    if (kernels := _compiled(int(sizes.sum()) + pairs // 8)) is not None:
        mapped = _read_only(index.term_offsets, index.posting_docs, index.posting_tfs)
        index = index._replace(**dict(zip(index._fields, mapped)))
        best: tuple[Ints, Int32s, Floats] = kernels.best_documents(index, queries, k1, b, depth)
        return best
    norms = _kernels.length_norm(k1, b, index.length_ratios)
    best_docs, best_scores = [np.empty(0, np.int32)], [np.empty(0)]
    for first, last in zip(queries.offsets[:-1], queries.offsets[1:]):
        scores, seen = np.zeros(len(norms)), np.zeros(len(norms), dtype=np.bool_)
        for term, weight in zip(queries.terms[first:last], queries.weights[first:last]):
            postings = slice(index.term_offsets[term], index.term_offsets[term + 1])
            docs, tfs = index.posting_docs[postings], index.posting_tfs[postings]
            scores[docs] += _kernels.term_score(weight, tfs, norms[docs])
            seen[docs] = True
        docs = np.flatnonzero(seen).astype(np.int32)
        docs = docs[np.argsort(-scores[docs], kind="stable")[:depth]]
        best_docs.append(docs)
        best_scores.append(scores[docs])
    offsets = cumulate(np.array([len(docs) for docs in best_docs[1:]], dtype=np.int64))
    return offsets, np.concatenate(best_docs), np.concatenate(best_scores)
