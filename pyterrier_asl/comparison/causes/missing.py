"""Parts of the collection from which a run retrieves nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ...io.kernels import pc
from ...io.tables import counted
from ...io.values import numpy_numbers, take
from ...scoring.arrays import Bools, Ints
from .cause import Cause, Repaired, percent
from .pair import ALPHA, Pair, without_pairs


def long_gaps(has: Bools, queries: Ints) -> list[tuple[int, int]]:
    """Stretches of documents, in the order of their ids, of which a run has none by no chance.

    The lengths of stretches are counted in documents of different queries, since documents of one
    query come together. Above their 90th percentile they fall off as an exponential, whose scale
    is that between the 90th and the 99th percentile (peaks over threshold).

    Args:
        has: which documents the run retrieves, shape (N,).
        queries: a query that retrieves each, shape (N,).

    Returns:
        The first and last document of each stretch.
    """
    ends = np.flatnonzero(np.concatenate(([True], has, [True])))
    same = np.concatenate(([False], (queries[1:] == queries[:-1]) & ~has[1:] & ~has[:-1]))
    different = np.concatenate(([0], np.cumsum(~has & ~same), [0]))
    different[-1] = different[-2]
    first, last = ends[:-1], ends[1:] - 1  # of documents missing: first..last - 1
    lengths = different[last] - different[first]
    low, high = np.quantile(lengths, [0.9, 0.99])
    share = has.mean()
    scale = (high - low) / np.log(10)
    if 0 < share < 1:
        scale = max(scale, -1 / np.log1p(-share))
    expected = 0.1 * len(lengths) * np.exp(-(lengths - low) / max(scale, 1e-9))
    long = np.flatnonzero((expected < ALPHA) & (lengths > low))
    return [(int(first[i]), int(last[i]) - 1) for i in long]


def missing_documents(pair: Pair) -> list[Cause]:
    """Ranges of ids of which one run retrieves documents and the other none, for any query."""
    depths = np.minimum(pair.a.run.retrieved, pair.b.run.retrieved)
    query = np.full(len(pair.ids), -1)
    docs = []
    for top in (pair.a, pair.b):
        keep = top.ranks <= depths[top.queries]
        docs.append(top.docs[keep])
        query[docs[-1]] = top.queries[keep]
    shown = np.flatnonzero(query >= 0)
    ids = take(pair.ids, shown)
    if len(ids) < 2:
        return []
    lengths = numpy_numbers(pc.binary_length(ids))
    orders = [numpy_numbers(pc.sort_indices(ids)).astype(np.int64)]
    if lengths.min() < lengths.max():  # as numbers
        orders.append(orders[0][np.argsort(lengths[orders[0]], kind="stable")])
    causes = []
    for of_run, side in zip(docs, (pair.swapped(), pair)):
        has = np.zeros(len(pair.ids), dtype=bool)
        has[of_run] = True
        for is_number, order in enumerate(orders):
            if gaps := long_gaps(has[shown[order]], query[shown[order]]):
                causes.append(_missing(side, take(ids, order), gaps, bool(is_number)))
                break
    return causes


def _missing(
    pair: Pair, ids: pa.LargeStringArray, gaps: list[tuple[int, int]], is_number: bool
) -> Cause:
    name, other = pair.b.name, pair.a.name
    ends = [tuple(take(ids, np.array(gap)).to_pylist()) for gap in gaps]
    total = sum(last - first + 1 for first, last in gaps)
    share = total / len(ids)
    first, last = ends[int(np.argmax([b - a for a, b in gaps]))]

    def repaired() -> list[Repaired]:
        docnos = pair.judgements.docnos
        sizes = numpy_numbers(pc.binary_length(docnos)) * is_number
        gone = np.zeros(len(docnos), dtype=bool)
        for low, high in ends:
            inside = pc.and_(pc.greater_equal(docnos, low), pc.less_equal(docnos, high))
            if is_number:
                inside = np.array(
                    [
                        (len(low), low) <= (n, d) <= (len(high), high)
                        for n, d in zip(sizes.tolist(), docnos.to_pylist())
                    ]
                )
            gone |= np.asarray(inside.to_pylist() if isinstance(inside, pa.Array) else inside)
        runs = without_pairs(pair.a.run, gone), without_pairs(pair.b.run, gone)
        return [runs if name == "B" else runs[::-1]]

    return Cause(
        "missing documents",
        name,
        share,
        f"{name} retrieves no document between {first!r} and {last!r}"
        + (f" and in {counted(len(gaps) - 1, 'other range')}" if len(gaps) > 1 else "")
        + f", from where {other} has {counted(total, 'document')} ({percent(share)} of those seen)",
        f"check that the index of {name} holds all parts of the collection",
        is_fact=True,
        repaired=repaired,
    )
