"""Rows of a run, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..common.lazy import pc
from ..common.types import Ints
from ..io.columns import Columns
from ..io.values import numpy_numbers, take
from ..scoring.arrays import cumulate, order_by_query, queries_of, ranges_from
from .pair_index import codes, positions


@dataclass(frozen=True)
class Ranking:
    """Rows of a run, query by query, best first.

    Attributes:
        offsets: the beginning of each query's rows and the end of the last, shape (Q + 1,).
        rows: the row of the run at each place, shape (N,).
    """

    offsets: Ints
    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def queries(self) -> Ints:
        """The query number at each place."""
        return queries_of(self.offsets)

    def cut(self, k: int | None) -> Ranking:
        """The first ``k`` of each query."""
        sizes = np.diff(self.offsets)
        if k is None or not np.any(sizes > k):
            return self
        kept = cumulate(np.minimum(sizes, k))
        return Ranking(kept, self.rows[ranges_from(self.offsets[:-1], kept)])

    def without(self, rows: Ints) -> Ranking:
        """All but some rows."""
        keep = np.isin(self.rows, rows, invert=True)
        return Ranking(cumulate(keep)[self.offsets], self.rows[keep])


def rows_by_query(
    table: Columns, known: pa.LargeStringArray | None = None
) -> tuple[Ranking, pa.LargeStringArray]:
    """The rows of a run that answer each query, in the order of the run, and the queries.

    Args:
        table: the run.
        known: the queries; None: all of the run, in order of first appearance.

    >>> from pyterrier_asl.io.columns import run_columns
    >>> rows, queries = rows_by_query(run_columns({"b": {"x": 1, "y": 1}, "a": {"x": 1}}))
    >>> rows.offsets.tolist(), rows.rows.tolist(), queries.to_pylist()
    ([0, 2, 3], [0, 1, 2], ['b', 'a'])
    """
    is_first = np.ones(len(table.queries) + 1, dtype=bool)
    np.not_equal(table.queries[1:], table.queries[:-1], out=is_first[1:-1])
    starts = np.flatnonzero(is_first)
    query = table.queries[starts[:-1]].astype(np.int64)
    if known is None:
        query, known = codes(take(table.qids, query))
    else:
        query = positions(table.qids, known)[query]
    ends = np.cumsum(np.bincount(query + 1, minlength=len(known) + 1))
    order = order_by_query(query)[ends[0] :]
    bounds = cumulate(np.diff(starts)[order])
    return Ranking(bounds[ends - ends[0]], ranges_from(starts[order], bounds)), known


def equal_rows(texts: pa.LargeStringArray, others: Any) -> Ints:
    """The rows in which two columns, or a column and a value of Arrow, have the same text."""
    return numpy_numbers(pc.indices_nonzero(pc.equal(texts, others))).astype(np.int64)
