"""Weights and slices of queries, for means over queries.

Every mean of an analysis over queries is computed by :class:`Queries`, so that ``weights=`` and
``by=`` mean the same in all analyses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..io.lazy import pd
from ..scoring.arrays import Bools, Floats, Ints

#: Weights of queries in calls: by query id, or one per query in their order.
Weights: TypeAlias = "pd.Series[Any] | Mapping[Any, float] | Iterable[float]"

#: Slices of queries in calls: by query id, or one per query in their order.
Slices: TypeAlias = "pd.DataFrame | pd.Series[Any] | Mapping[Any, Any] | Iterable[Any]"


@dataclass(frozen=True)
class Queries:
    """Some of the queries, with weights.

    Attributes:
        at: their positions among all queries, shape (n,).
        weights: their relative weights, shape (n,); None: equal weights.
    """

    at: Ints
    weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.at)

    def of(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of these queries; queries are the last axis."""
        return values[..., self.at]

    def mean(self, values: npt.NDArray[Any]) -> Any:
        """The mean over these queries, the last axis of ``values``.

        >>> float(Queries(np.array([0, 2]), np.array([3.0, 1.0])).mean(np.array([1.0, 7.0, 5.0])))
        2.0
        """
        return np.average(self.of(values), axis=-1, weights=self.weights)

    def where(self, wanted: Bools) -> Queries:
        """The queries among these for which ``wanted``, shape (Q,) of all queries, is true."""
        return self._keep(wanted[self.at])

    @property
    def counting(self) -> Queries:
        """The queries whose weight is not 0."""
        return self._keep(self.each > 0)

    def _keep(self, kept: Bools) -> Queries:
        return Queries(self.at[kept], None if self.weights is None else self.weights[kept])

    @property
    def each(self) -> Floats:
        """The weights, shape (n,)."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def weights_of_all(self, total: int) -> Floats:
        """The weights of all ``total`` queries, 0 for the others."""
        weights = np.zeros(total)
        weights[self.at] = self.each
        return weights


def slices(
    qids: Sequence[Any], weights: Any = None, by: Any = None
) -> Iterator[tuple[Any, Queries]]:
    """The slices of the queries: one of all, or one per value of ``by``.

    Args:
        qids: the query ids.
        weights: the weight of each query: Series or dict by query id, or one number per query in
            their order.
        by: the slice of each query: Series or dict by query id, a frame of topics with ``qid`` and
            one other column, or one value per query in their order.

    Returns:
        Pairs of the value of a slice (None for all queries) and its queries, in order of first
        appearance.

    Raises:
        ValueError: for a query without weight or slice, a weight that is negative or not finite, or
            a slice with all weights 0.

    >>> [(name, q.at.tolist()) for name, q in slices([1, 2, 3], by={1: "a", 2: "b", 3: "a"})]
    [('a', [0, 2]), ('b', [1])]
    """
    weight = None if weights is None else _weights(qids, weights)
    queries = Queries(np.arange(len(qids)), weight)
    if by is None:
        yield None, _with_some_weight("all queries", queries)
        return
    codes, names = pd.factorize(pd.Series(_value_of_each(qids, by, "slice")))
    for code, name in enumerate(names):
        yield name, _with_some_weight(f"slice {name!r}", queries.where(codes == code))


def per_slice(
    qids: Sequence[Any],
    analyse: Callable[[Queries], pd.DataFrame],
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """The analysis of each slice as one frame; with ``by`` its first column is the slice.

    Args:
        qids: the query ids.
        analyse: a function from some of the queries to a frame.
        weights: see :func:`slices`.
        by: see :func:`slices`.

    >>> by = pd.Series({"q1": "short", "q2": "long"}, name="length")
    >>> per_slice(["q1", "q2"], lambda q: pd.DataFrame({"queries": [len(q)]}), by=by)
      length  queries
    0  short        1
    1   long        1
    """
    frames = []
    for value, queries in slices(qids, weights, by):
        frame = analyse(queries)
        if by is not None:
            frame.insert(0, slice_column(by), [value] * len(frame))
        frames.append(frame)
    whole = pd.concat(frames, ignore_index=True)
    whole.attrs = {**frames[0].attrs, "weighted": weights is not None}
    return whole


def _weights(qids: Sequence[Any], weights: Any) -> Floats:
    values = np.asarray(_value_of_each(qids, weights, "weight"), dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"query {qids[at]!r} has the weight {values[at]}: give finite weights, 0 or more"
        )
    return values


def _with_some_weight(name: str, queries: Queries) -> Queries:
    if queries.weights is not None and not queries.weights.any():
        raise ValueError(f"{name}: all weights are 0: give at least one positive weight")
    return queries


def _value_of_each(qids: Sequence[Any], values: Any, what: str) -> list[Any]:
    """A value for each query, found by its id as text."""
    if isinstance(values, pd.DataFrame):
        values = _series(values, what)
    if not isinstance(values, (pd.Series, Mapping)):
        listed = list(values)
        if len(listed) != len(qids):
            raise ValueError(
                f"there are {len(listed)} {what}s for {len(qids)} queries: give one per query, or "
                "a Series or dict by query id"
            )
        return listed
    by_qid = {str(qid): value for qid, value in values.items() if not pd.isna(value)}
    lacking = [qid for qid in qids if str(qid) not in by_qid]
    if lacking:
        like = [f"; the query ids of the {what}s look like {qid!r}" for qid in by_qid][:1]
        raise ValueError(
            f"{len(lacking)} of {len(qids)} queries have no {what} (e.g. {lacking[0]!r}): give "
            f"each query a {what}{''.join(like)}"
        )
    return [by_qid[str(qid)] for qid in qids]


def _series(topics: pd.DataFrame, what: str) -> pd.Series[Any]:
    columns = [column for column in topics.columns if column not in ("qid", "query_id")]
    key = next((column for column in ("qid", "query_id") if column in topics.columns), None)
    if key is None or len(columns) != 1:
        raise ValueError(
            f"a frame of {what}s needs the column qid and one other, but it has "
            f"{list(topics.columns)}: pass topics[['qid', COLUMN]]"
        )
    return topics.set_index(key)[columns[0]]


def slice_column(by: Any) -> str:
    """The name of the column of slices."""
    if isinstance(by, pd.DataFrame):
        return str(_series(by, "slice").name)
    name = getattr(by, "name", None)
    return "slice" if name is None else str(name)
