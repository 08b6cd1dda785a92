"""Parts of the collection from which a run retrieves nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...io.tables import counted
from ...judging.judged_run import JudgedRun
from ...scoring.arrays import Bools, Ints
from .cause import ALPHA, Cause, percent
from .pair import Pair
from .repairs import without_documents

#: Documents of so many ranges are left out for the difference without them.
_MOST = 10


def long_gaps(has: Bools, queries: Ints) -> list[tuple[int, int]]:
    """Stretches of documents, in the order of their ids, of which a run has none by no chance.

    Stretches are as long as the different queries in a row that retrieve their documents, since
    the documents of one query come together. Above their 90th percentile lengths fall off as an
    exponential, whose scale is that between the 90th and the 99th percentile (peaks over
    threshold), or that of documents missing at random, if that is larger.

    Args:
        has: which documents the run retrieves, shape (N,).
        queries: a query that retrieves each, shape (N,).

    Returns:
        The first and last document of each stretch, the longest stretch first.
    """
    ends = np.flatnonzero(np.concatenate(([True], has, [True])))
    first, last = ends[:-1], ends[1:] - 1  # missing are first..last - 1
    is_new = ~has & np.concatenate(([True], (queries[1:] != queries[:-1]) | has[:-1]))
    number = np.concatenate(([0], np.cumsum(is_new)))
    lengths = number[last] - number[first]
    low, high = np.quantile(lengths, [0.9, 0.99])
    scale = max((high - low) / np.log(10), -1 / np.log1p(-np.clip(has.mean(), 1e-9, 1 - 1e-9)))
    expected = 0.1 * len(lengths) * np.exp(-(lengths - low) / scale)
    longest = np.argsort(expected)[: (expected < ALPHA).sum()]
    return [(int(first[i]), int(last[i]) - 1) for i in longest]


def missing_documents(pair: Pair) -> Cause | None:
    """Ranges of ids of which the other run retrieves documents and a run none, for any query."""
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

    def key(docno: str) -> tuple[int, str]:
        return len(docno.encode()) * is_number, docno

    def repaired() -> Sequence[tuple[JudgedRun, JudgedRun]]:
        keys = [[key(end) for end in both] for both in ends[:_MOST]]
        docnos = map(key, pair.judgements.docnos.to_pylist())
        gone = np.array([any(low <= docno <= high for low, high in keys) for docno in docnos])
        return [(without_documents(pair.a.run, gone), without_documents(pair.b.run, gone))]

    return Cause(
        "missing documents",
        name,
        total / len(docs),
        f"{name} retrieves no document between {first!r} and {last!r}{rest}, where "
        f"{pair.a.name} retrieves {counted(total, 'document')} ({percent(total / len(docs))} of "
        "those that either retrieves first)",
        f"check that the index of {name} holds all parts of the collection",
        is_fact=True,
        repaired=repaired,
    )
