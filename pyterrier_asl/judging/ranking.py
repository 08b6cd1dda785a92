"""Rows of a run query by query, in ranking order, and the known ids among them.

Ranking order is by score, descending, and for equal scores by id, descending in plain string order.
An id that occurs twice for a query is counted once, at its best rank.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..common.lazy import pc
from ..common.notices import counted, warn
from ..common.threads import map_parts
from ..common.types import Bools, Ints
from ..io.columns import Columns, run_columns
from ..io.values import arrow_numbers, arrow_text, numpy_numbers, take
from ..scoring.arrays import cumulate, order_by_query, queries_of, ranges_from
from .matching import PairIndex, codes, hashes_of, positions

Scores = npt.NDArray[np.float32]
#: The ids at some places.
TextsAt = Callable[[Ints], pa.LargeStringArray]

_HALF = np.uint64(32)


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


def rank(run: Any, depth: int | None = None) -> tuple[Columns, pa.LargeStringArray, Ranking]:
    """Orders all queries of a run, without judgements.

    Args:
        run: a run of a form of :func:`~.judged_run.judge`.
        depth: keep only the first ``depth`` of each query.

    Returns:
        The run by columns; its query ids in order of first appearance; its rows in ranking order.

    >>> table, qids, ranking = rank({"q": {"a": 1, "b": 2, "c": 2}})
    >>> table.docno.take(ranking.rows).to_pylist()
    ['c', 'b', 'a']
    """
    table = run_columns(run)
    answers, qids = rows_by_query(table)
    unknown = PairIndex(0 * answers.offsets, table.docno[:0])
    return table, qids, match(table, answers, unknown, "warn").ranking.cut(depth)


class Match(NamedTuple):
    """Rows of a run in ranking order, and the positions of known ids in them.

    Attributes:
        ranking: the rows of each query, N of them.
        is_tied: whether the next place of the query has the same score, shape (N,).
        queries: the query of each known id among them, ascending, shape (E,).
        ranks: its rank from 1, ascending within a query, shape (E,).
        pairs: its position among the known ids, shape (E,).
        has_duplicates: whether rows are left out, because their id has a better rank.
    """

    ranking: Ranking
    is_tied: Bools
    queries: Ints
    ranks: Ints
    pairs: Ints
    has_duplicates: bool


def match(table: Columns, answers: Ranking, known: PairIndex, duplicates: str = "best") -> Match:
    """Puts rows in ranking order and matches them with the known ids of their query.

    Args:
        table: the run.
        answers: its rows for each of Q queries, in any order; they are put in ranking order.
        known: ids by query, each id once.
        duplicates: how to treat an id that occurs twice: ``'error'``, ``'warn'`` or ``'best'``.

    >>> table = run_columns({"q": {"a": 1, "b": 2, "c": 1}})
    >>> known = PairIndex(np.array([0, 2]), pa.array(["x", "c"], type=pa.large_string()))
    >>> matched = match(table, rows_by_query(table)[0], known)
    >>> matched.ranking.rows.tolist(), matched.ranks.tolist(), matched.pairs.tolist()
    ([1, 2, 0], [2], [1])
    """
    rows, is_tied = answers.rows, np.empty(len(answers), dtype=bool)
    parts = map_parts(partial(_match_part, table, answers, is_tied, known), answers.offsets)
    sizes, queries, ranks, pairs, repeated = map(np.concatenate, zip(*parts))
    if len(repeated) and duplicates == "error":
        raise ValueError(_twice(table, repeated))
    if len(repeated) and duplicates == "warn":
        warn(
            f"the ranking of one query has {counted(len(repeated), 'document')} more than once "
            f"(e.g. {table.ids_of_row(repeated[0])[1]!r}): the measures of this package count it "
            "once, at its best rank; other measures of ir_measures count its last row",
        )
    if len(repeated):
        rows, is_tied = rows[rows >= 0], is_tied[rows >= 0]
    return Match(Ranking(cumulate(sizes), rows), is_tied, queries, ranks, pairs, len(repeated) > 0)


def _twice(table: Columns, repeated: Ints) -> str:
    """The error message for a run in which documents occur twice."""
    qid, docno = table.ids_of_row(repeated[0])
    rows = equal_rows(table.docno, arrow_text([docno])[0])
    times = np.sum(table.queries[rows] == table.queries[repeated[0]])
    return (
        f"document {docno!r} occurs {times} times in the ranking of query {qid!r} "
        f"({counted(len(repeated), 'repeated row')} in the run): remove the "
        "repetitions, or count each document at its best rank: Qrels(..., duplicates='best') "
        "in Python, --duplicates best in commands"
    )


def _match_part(
    table: Columns, answers: Ranking, ties: Bools, known: PairIndex, first: int, last: int
) -> tuple[Ints, ...]:
    """The match of some queries: the number of places of each, the columns of `Match` from
    ``queries`` to ``pairs``, and the repeated rows.

    Rows are put in ranking order where they are, then -1 for repeated rows: copies of all rows
    would take as long as finding their order.
    """
    offsets = answers.offsets[first : last + 1]
    rows, query = answers.rows[offsets[0] : offsets[-1]], queries_of(offsets)  # from 0
    with np.errstate(over="ignore"):  # beyond 32 bits is infinite, as in trec_eval
        scores = table.value[rows].astype(np.float32)

    def texts_at(places: Ints) -> pa.LargeStringArray:
        return take(table.docno, rows[places])

    order, is_tied = _order(query, scores, texts_at)
    hashes = hashes_of(table.docno, known.seed, rows)
    keys, places = known.sorted_keys(query + first, hashes)
    pairs = known.find_keys(keys, places, table.docno, rows)
    equal, repeated = np.flatnonzero(keys[1:] == keys[:-1]), rows[:0]
    if len(equal):
        suspects = places[np.concatenate((equal, equal + 1))]
        is_repeated = _are_repeated(order, query, texts_at, suspects)
        repeated, order = rows[order[is_repeated]], order[~is_repeated]
    if len(repeated):
        is_tied = _are_tied(query[order], scores[order])
    pairs, query = pairs[order], query[order]
    sizes = np.bincount(query, minlength=last - first)
    judged = np.flatnonzero(pairs >= 0)
    ranks = judged - cumulate(sizes)[query[judged]] + 1
    ties[offsets[0] : offsets[0] + len(order)] = is_tied
    rows[: len(order)], rows[len(order) :] = rows[order], -1
    return sizes, query[judged] + first, ranks, pairs[judged], repeated


def _order(query: Ints, scores: Scores, texts_at: TextsAt) -> tuple[Ints, Bools]:
    """Places in ranking order, and whether each has the score of the next one of its query."""
    order = np.arange(len(scores))
    not_below = np.flatnonzero(scores[1:] >= scores[:-1])
    not_below = not_below[query[not_below] == query[not_below + 1]]
    if np.all(scores[not_below] == scores[not_below + 1]):
        is_tied = np.zeros(len(scores), dtype=bool)
        is_tied[not_below] = True
    else:
        order = np.argsort(_sort_keys(query, scores))
        is_tied = _are_tied(query[order], scores[order])
    if not is_tied.any():
        return order, is_tied
    tied = np.flatnonzero(is_tied | np.append(False, is_tied[:-1]))
    places = np.sort(order[tied])
    keys = arrow_numbers(_sort_keys(query[places], scores[places]))
    by_id = pc.sort_indices(
        pa.table([keys, texts_at(places)], names=["key", "id"]),
        sort_keys=[("key", "ascending"), ("id", "descending")],
    )
    order[tied] = places[numpy_numbers(by_id)]
    return order, is_tied


def _are_tied(query: Ints, scores: Scores) -> Bools:
    """Whether the next place has the same query and the same score."""
    is_tied = np.zeros(len(query), dtype=bool)
    is_tied[:-1] = (query[1:] == query[:-1]) & (scores[1:] == scores[:-1])
    return is_tied


def _sort_keys(query: Ints, scores: Scores) -> npt.NDArray[np.uint64]:
    """Numbers that ascend by query and within a query by descending score."""
    bits = (scores + np.float32(0)).view(np.uint32)  # -0 becomes 0
    keys = np.where(bits >> np.uint32(31), bits, ~bits & np.uint32(0x7FFFFFFF))
    return (query.astype(np.uint64) << _HALF) | keys


def _are_repeated(order: Ints, query: Ints, texts_at: TextsAt, suspects: Ints) -> Bools:
    """Which places of the order have an id that has a better rank for the same query.

    Args:
        order: the places in ranking order.
        query: the query of each place.
        texts_at: the ids of places.
        suspects: the places with an id that can occur again.
    """
    is_suspect = np.zeros(len(order), dtype=bool)
    is_suspect[suspects] = True
    at = np.flatnonzero(is_suspect[order])
    numbers, different = codes(texts_at(order[at]))
    pairs = query[order[at]] * len(different) + numbers
    is_repeated = np.zeros(len(order), dtype=bool)
    is_repeated[np.delete(at, np.unique(pairs, return_index=True)[1])] = True
    return is_repeated
