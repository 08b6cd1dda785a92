"""Rows of a run in ranking order, and the known ids among them, query by query.

Rows come in blocks: one block per answered query. Ranking order is by score, descending, and for
equal scores by id, descending in plain string order. An id that occurs twice in a block is counted
once, at its best rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..io.columns import Columns, run_columns
from ..io.lazy import pc
from ..io.notices import counted, warn
from ..io.threads import map_parts
from ..io.values import arrow_numbers, numpy_numbers
from ..scoring.arrays import Ints, cumulate, queries_of
from .judgements import AnswerRows, Ranking, answer_rows
from .matching import PairIndex, codes, hashes_of, ids_at

Scores = npt.NDArray[np.float32]
#: The ids of rows.
TextsAt = Callable[[Ints], pa.LargeStringArray]

_HALF = np.uint64(32)


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
    answers, qids = answer_rows(table.qid, None)
    unknown = PairIndex(np.zeros(len(qids) + 1, dtype=np.int64), table.docno[:0])
    return table, qids, rank_rows(table, answers, unknown, "warn")[0].by_query.cut(depth)


def rank_rows(
    table: Columns, answers: AnswerRows, known: PairIndex, duplicates: str
) -> tuple[AnswerRows, Match]:
    """The rows in ranking order, each document once, and the known documents among them."""
    with np.errstate(over="ignore"):  # beyond 32 bits is infinite, as in trec_eval
        scores = answers.take(table.value).astype(np.float32)
    matched = match(scores, table.docno, answers.moved, answers.offsets, answers.queries, known)
    repeated = answers.rows_at(matched.repeated)
    if len(repeated) and duplicates == "error":
        raise ValueError(_twice(table, repeated))
    if len(repeated) and duplicates == "warn":
        warn(
            f"the ranking of one query has {counted(len(repeated), 'document')} more than once "
            f"(e.g. {table.docno[int(repeated[0])].as_py()!r}): the measures of this package "
            "count it once, at its best rank; other measures of ir_measures count its last row",
        )
    rows = answers.moved if matched.order is None else answers.rows_at(matched.order)
    offsets, ties = matched.starts, matched.ties
    return replace(answers, moved=rows, offsets=offsets, repeated=repeated, ties=ties), matched


def _twice(table: Columns, repeated: Ints) -> str:
    """The error message for a run in which documents occur twice."""
    row = int(repeated[0])
    qid, docno = table.qid[row], table.docno[row]
    is_same = pc.and_(pc.equal(table.qid, qid), pc.equal(table.docno, docno))
    return (
        f"document {docno.as_py()!r} occurs {pc.sum(is_same).as_py()} times in the ranking of "
        f"query {qid.as_py()!r} ({counted(len(repeated), 'repeated row')} in the run): remove the "
        "repetitions, or count each document at its best rank: duplicates='best' in Python, "
        "--duplicates best in commands"
    )


@dataclass(frozen=True)
class Match:
    """Blocks of rows in ranking order, and the positions of known ids in them.

    Attributes:
        order: rows in ranking order, block by block; None: they are in this order.
        starts: the beginning of each block and the end of the last, shape (B + 1,).
        blocks: the block of each known id among them, ascending, shape (E,).
        ranks: its rank from 1, ascending within a block, shape (E,).
        pairs: its position among the known ids, shape (E,).
        repeated: rows that are left out, because their id has a better rank.
        ties: places in the ranking order with the score of the next place of the block, ascending.
    """

    order: Ints | None
    starts: Ints
    blocks: Ints
    ranks: Ints
    pairs: Ints
    repeated: Ints
    ties: Ints


def match(
    scores: Scores,
    ids: pa.LargeStringArray,
    which: Ints | None,
    starts: Ints,
    queries: Ints,
    known: PairIndex,
) -> Match:
    """Puts rows in ranking order and matches them with the known ids of their query.

    Args:
        scores: score of each row, never NaN, shape (n,).
        ids: ids of rows.
        which: the position of each row's id in ``ids``, shape (n,); None: 0, 1, 2, ...
        starts: the beginning of each block and the end of the last, shape (B + 1,).
        queries: the query of each block, a group of ``known``, shape (B,).
        known: ids by query, each id once.

    >>> ids = pa.array(["a", "b", "c", "a"], type=pa.large_string())
    >>> known = PairIndex(np.array([0, 2]), pa.array(["x", "c"], type=pa.large_string()))
    >>> scores = np.array([1, 2, 1, 0], dtype=np.float32)
    >>> matched = match(scores, ids, None, np.array([0, 4]), np.array([0]), known)
    >>> matched.order.tolist(), matched.ranks.tolist(), matched.pairs.tolist()
    ([1, 2, 0], [2], [1])
    >>> matched.repeated.tolist()
    [3]
    """
    parts = map_parts(partial(_match_part, scores, ids, which, starts, queries, known), starts)
    return parts[0] if len(parts) == 1 else _joined(parts, starts)


def _match_part(
    scores: Scores,
    ids: pa.LargeStringArray,
    which: Ints | None,
    starts: Ints,
    queries: Ints,
    known: PairIndex,
    first: int,
    last: int,
) -> Match:
    """The match of some blocks; rows and blocks are numbered from 0."""
    begin, end = starts[first], starts[last]
    starts, queries = starts[first : last + 1] - begin, queries[first:last]
    scores, block = scores[begin:end], queries_of(starts)
    if which is None:
        ids = ids.slice(begin, end - begin)
    else:
        which = which[begin:end]
    texts_at = partial(ids_at, ids, which)
    order, ties = _order(block, scores, texts_at)
    keys, rows_of_keys = known.sorted_keys(queries[block], hashes_of(ids, known.seed, which))
    pairs = known.find_keys(keys, rows_of_keys, ids, which)
    equal = np.flatnonzero(keys[1:] == keys[:-1])
    repeated = equal[:0]
    if len(equal):
        suspects = rows_of_keys[np.concatenate((equal, equal + 1))]
        order, repeated = _without_repeats(order, block, texts_at, suspects)
    if len(repeated):
        starts = cumulate(np.bincount(block[order], minlength=len(queries)))
        keys = _sort_keys(block[order], scores[order])
        ties = np.flatnonzero(keys[1:] == keys[:-1])
    pairs = pairs if order is None else pairs[order]
    judged = np.flatnonzero(pairs >= 0)
    blocks = block[judged if order is None else order[judged]]
    ranks = judged - starts[blocks] + 1
    return Match(order, starts, blocks, ranks, pairs[judged], repeated, ties)


def _joined(parts: Sequence[Match], starts: Ints) -> Match:
    """The match of all blocks from the matches of their parts.

    Args:
        parts: the matches, in the order of their blocks.
        starts: the beginning of each block among all rows.
    """
    first = np.cumsum([0, *(len(part.starts) - 1 for part in parts[:-1])])
    rows = starts[first]
    places = np.cumsum([0, *(part.starts[-1] for part in parts[:-1])])
    order = None
    if any(part.order is not None for part in parts):
        orders = [np.arange(p.starts[-1]) if p.order is None else p.order for p in parts]
        order = np.concatenate([part + row for part, row in zip(orders, rows)])
    return Match(
        order,
        cumulate(np.concatenate([np.diff(part.starts) for part in parts])),
        np.concatenate([part.blocks + block for part, block in zip(parts, first)]),
        np.concatenate([part.ranks for part in parts]),
        np.concatenate([part.pairs for part in parts]),
        np.concatenate([part.repeated + row for part, row in zip(parts, rows)]),
        np.concatenate([part.ties + place for part, place in zip(parts, places)]),
    )


def _order(block: Ints, scores: Scores, texts_at: TextsAt) -> tuple[Ints | None, Ints]:
    """The rows in ranking order (None: they are in this order); the places of ties in it."""
    not_below = np.flatnonzero(scores[1:] >= scores[:-1])
    not_below = not_below[block[not_below] == block[not_below + 1]]
    if not len(not_below):
        return None, not_below
    is_sorted = bool(np.all(scores[not_below] == scores[not_below + 1]))
    if is_sorted:
        order, ties = np.arange(len(scores)), not_below
    else:
        keys = _sort_keys(block, scores)
        order = np.argsort(keys)
        ties = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    is_tied = np.zeros(len(scores), dtype=bool)
    is_tied[ties] = is_tied[ties + 1] = True
    tied = np.flatnonzero(is_tied)
    rows = np.sort(order[tied])
    columns = [arrow_numbers(_sort_keys(block[rows], scores[rows])), texts_at(rows)]
    by_id = pc.sort_indices(
        pa.table(columns, names=["key", "id"]),
        sort_keys=[("key", "ascending"), ("id", "descending")],
    )
    order[tied] = rows[numpy_numbers(by_id)]
    return None if is_sorted and np.all(order[tied] == tied) else order, ties


def _sort_keys(block: Ints, scores: Scores) -> npt.NDArray[np.uint64]:
    """Numbers that ascend by block and within a block by descending score."""
    bits = (scores + np.float32(0)).view(np.uint32)  # -0 becomes 0
    keys = np.where(bits >> np.uint32(31), bits, ~bits & np.uint32(0x7FFFFFFF))
    return (block.astype(np.uint64) << _HALF) | keys


def _without_repeats(
    order: Ints | None, block: Ints, texts_at: TextsAt, suspects: Ints
) -> tuple[Ints | None, Ints]:
    """Keeps each pair of a block and an id once, at its best rank; and the rows left out.

    Args:
        order: the rows in ranking order; None: they are in this order.
        block: the block of each row.
        texts_at: the ids of rows.
        suspects: the rows with a pair that can occur again.
    """
    is_suspect = np.zeros(len(block), dtype=bool)
    is_suspect[suspects] = True
    order = np.arange(len(block)) if order is None else order
    places = np.flatnonzero(is_suspect[order])
    rows = order[places]
    numbers, different = codes(texts_at(rows))
    is_best = np.zeros(len(rows), dtype=bool)
    is_best[np.unique(block[rows] * len(different) + numbers, return_index=True)[1]] = True
    return np.delete(order, places[~is_best]), rows[~is_best]
