"""Parts of the collection that are missing in a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ...io.notices import counted
from ...io.values import numpy_numbers, pc
from ...judging.judged_run import JudgedRun
from ...scoring.arrays import Bools, Ints
from .cause import ALPHA, Cause, Pair, percent, without_documents

#: The number of ranges that are left out to compute the effect.
_MOST = 10


def long_gaps(has: Bools, queries: Ints) -> list[tuple[int, int]]:
    """Ranges of documents, in the order of ids, that a run lacks and that are too long for chance.

    Documents of one query are often neighbours, so the length of a range is the number of changes
    from one query to the next in it. Lengths above the 90th percentile are taken for exponential
    (peaks over threshold). The scale comes from the 90th and 99th percentiles, or from documents
    missing at random, whichever is larger.

    Args:
        has: which documents the run retrieves, shape (N,).
        queries: a query for which each is retrieved, shape (N,).

    Returns:
        The first and last document of each range, the longest range first.
    """
    ends = np.flatnonzero(np.concatenate(([True], has, [True])))
    first, last = ends[:-1], ends[1:] - 1  # missing are first..last - 1
    is_new = ~has & np.concatenate(([True], (queries[1:] != queries[:-1]) | has[:-1]))
    number = np.concatenate(([0], np.cumsum(is_new)))
    lengths = number[last] - number[first]
    at_random = -1 / np.log1p(-np.clip(has.mean(), 1e-9, 1 - 1e-9))
    if 0.1 * len(lengths) * np.exp(-lengths.max() / at_random) >= ALPHA:
        return []  # even if no other document were missing
    low, high = np.quantile(lengths, [0.9, 0.99])
    scale = max((high - low) / np.log(10), at_random)
    expected = 0.1 * len(lengths) * np.exp(-(lengths - low) / scale)
    longest = np.argsort(expected)[: (expected < ALPHA).sum()]
    return [(int(first[i]), int(last[i]) - 1) for i in longest]


def _between(ids: pa.LargeStringArray, first: str, last: str, is_number: bool) -> Bools:
    """Which ids lie between two ids, in the order of their texts, or that of numbers."""
    lengths = numpy_numbers(pc.binary_length(ids)) if is_number else np.zeros(len(ids))
    low, high = (len(docno.encode()) if is_number else 0 for docno in (first, last))
    above = (lengths > low) | (lengths == low) & _truths(pc.greater_equal(ids, first))
    below = (lengths < high) | (lengths == high) & _truths(pc.less_equal(ids, last))
    return np.asarray(above & below)


def _truths(values: pa.BooleanArray) -> Bools:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=bool)


def missing_documents(pair: Pair) -> Cause | None:
    """Ranges of ids in which the other run retrieves documents and this run retrieves none."""
    depths = np.minimum(pair.a.run.retrieved, pair.b.run.retrieved)
    query = np.full(len(pair.ids), -1)
    for top in (pair.b, pair.a):
        keep = top.ranks <= depths[top.queries]
        query[top.docs[keep]] = top.queries[keep]
    has = np.zeros(len(query), dtype=bool)
    has[pair.b.docs] = True
    orders = []
    for order, is_number in zip(pair.orders, (False, True)):
        docs = order[query[order] >= 0]
        gaps = long_gaps(has[docs], query[docs]) if has[docs].any() else []
        orders.append((sum(last - first + 1 for first, last in gaps), is_number, docs, gaps))
    total, is_number, docs, gaps = max(orders, key=lambda order: order[:2])
    if not gaps:
        return None
    name = pair.b.name
    ends = [pair.docnos(docs[list(gap)]) for gap in gaps]
    first, last = ends[0]
    rest = f", and in {counted(len(gaps) - 1, 'other range')}" if len(gaps) > 1 else ""

    def repaired() -> Sequence[tuple[JudgedRun, JudgedRun]]:
        ids = pair.judgements.docnos
        gone = np.any([_between(ids, low, high, is_number) for low, high in ends[:_MOST]], axis=0)
        return [(without_documents(pair.a.run, gone), without_documents(pair.b.run, gone))]

    return Cause(
        "missing documents",
        name,
        total / len(docs),
        f"{name} retrieves no document between {first!r} and {last!r}{rest}, where "
        f"{pair.a.name} retrieves {counted(total, 'document')} ({percent(total / len(docs))} of "
        "the first documents of both)",
        f"check that the index of {name} holds all parts of the collection",
        is_fact=True,
        repaired=repaired,
    )
