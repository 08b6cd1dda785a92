"""Matches runs with judgements: rows in ranking order, and the judged documents among them.

Ranking order is by score, descending, and for equal scores by id, descending in plain string order.
An id that occurs twice for a query is counted once, at its best rank.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..common.lazy import pc
from ..common.notices import counted, warn
from ..common.threads import map_parts
from ..common.types import Bools, Ints
from ..io.columns import Columns, run_columns
from ..io.values import arrow_numbers, arrow_text, numpy_numbers, take
from ..scoring.arrays import cumulate, queries_of
from .id_forms import other_form
from .judged_run import JudgedRun
from .judgements import Judgements
from .pair_index import PairIndex, codes, hashes_of
from .ranking import Ranking, equal_rows, rows_by_query

Scores = npt.NDArray[np.float32]
#: The ids at some places.
TextsAt = Callable[[Ints], pa.LargeStringArray]

_HALF = np.uint64(32)


def judge(judgements: Judgements, run: Any) -> JudgedRun:
    """Puts a run in order and matches it with judgements.

    Args:
        judgements: the judgements.
        run: data frame or Arrow table (``query_id``, ``doc_id``, ``score``, or PyTerrier's
            ``qid``, ``docno``), dict of dicts, or iterable of ``ir_measures.ScoredDoc``.

    Raises:
        ValueError: for a missing column or id, a score that is not a number.

    Warns:
        UserWarning: for documents that occur twice in a ranking, which are counted once, at
            their best rank; for a run without judged documents or with constant scores.
    """
    judged = judge_part(judgements, run, "warn")
    if judged.retrieved.any() and len(judgements.docnos) and not len(judged.pairs):
        warn(none_judged(judged))
    if fault := judged.constant_fault:
        warn(f"the run {fault}")
    return judged


def judge_whole(judgements: Judgements, run: Any) -> JudgedRun:
    """Judges a whole run; a run that cannot be an answer to the queries is an error.

    Raises:
        ValueError: where the run or the qrels are empty, or share no query or no document.
    """
    judged = judge_part(judgements, run)
    if not judgements.qids:
        raise ValueError("the qrels are empty: there is nothing to judge by")
    if not len(judged.table.value):
        raise ValueError("the run is empty: it has no rows")
    if not judged.retrieved.any():
        look = _look_like("query", judged.table.answered, judgements.qid_text)
        raise ValueError(f"the run answers none of the {len(judgements)} judged queries: {look}")
    if len(judgements.docnos) and not len(judged.pairs):
        raise ValueError(none_judged(judged))
    return judged


def judge_part(judgements: Judgements, run: Any, duplicates: str | None = None) -> JudgedRun:
    """Judges a part of a run, such as some of its queries.

    Args:
        judgements: the judgements.
        run: see :func:`judge`.
        duplicates: how to treat a document that occurs twice: see :func:`match`; None: as the
            judgements say.

    Raises:
        ValueError: for a document that occurs twice in a ranking, if that is an error.
    """
    table, duplicates = run_columns(run), duplicates or judgements.duplicates
    if judgements.collapse is not None:
        table, duplicates = table.collapsed(judgements.collapse), "best"
    answers, _ = rows_by_query(table, judgements.qid_text)
    if judgements.drop_self:
        answers = answers.without(equal_rows(table.docno, table.qid))
    return match(judgements, table, answers, duplicates)


def rank(run: Any) -> JudgedRun:
    """Orders all queries of a run, in order of first appearance, without judged documents.

    >>> ranked = rank({"q": {"a": 1, "b": 2, "c": 2}})
    >>> ranked.docnos(ranked.ranking).to_pylist()
    ['c', 'b', 'a']
    """
    table = run_columns(run)
    answers, qids = rows_by_query(table)
    return match(Judgements(dict.fromkeys(qids.to_pylist(), {})), table, answers, "warn")


def match(
    judgements: Judgements, table: Columns, answers: Ranking, duplicates: str = "best"
) -> JudgedRun:
    """Puts rows in ranking order and matches them with the judged documents of their query.

    Args:
        judgements: the judgements of Q queries.
        table: the run.
        answers: its rows for each query, in any order; they are put in ranking order.
        duplicates: how to treat an id that occurs twice: ``'error'``, ``'warn'`` or ``'best'``.

    >>> table = run_columns({"q": {"a": 1, "b": 2, "c": 1}})
    >>> run = match(Judgements({"q": {"x": 1, "c": 0}}), table, rows_by_query(table)[0])
    >>> run.ranking.rows.tolist(), run.ranks.tolist(), run.pairs.tolist()
    ([1, 2, 0], [2], [1])
    """
    rows, is_tied = answers.rows, np.empty(len(answers), dtype=bool)
    parts = map_parts(
        partial(_match_part, table, answers, is_tied, judgements.index), answers.offsets
    )
    sizes, queries, ranks, pairs, repeated = map(np.concatenate, zip(*parts))
    if len(repeated) and duplicates == "error":
        raise ValueError(_twice(table, repeated))
    if len(repeated) and duplicates == "warn":
        warn(
            f"the ranking of one query has {counted(len(repeated), 'document')} more than once "
            f"(e.g. {table.ids_of_row(repeated[0])[1]!r}): the measures of this package count it "
            "once, at its best rank; other measures of ir_measures count its last row"
        )
    if len(repeated):
        rows, is_tied = rows[rows >= 0], is_tied[rows >= 0]
    return JudgedRun(
        judgements=judgements,
        table=table,
        whole_ranking=Ranking(cumulate(sizes), rows),
        retrieved=sizes,
        queries=queries,
        ranks=ranks,
        pairs=pairs,
        is_tied=is_tied,
        has_duplicates=len(repeated) > 0,
    )


def _twice(table: Columns, repeated: Ints) -> str:
    """The error message for a run in which documents occur twice."""
    qid, docno = table.ids_of_row(repeated[0])
    rows = equal_rows(table.docno, arrow_text([docno])[0])
    return (
        f"document {docno!r} occurs {np.sum(table.queries[rows] == table.queries[repeated[0]])} "
        f"times in the ranking of query {qid!r} ({counted(len(repeated), 'repeated row')} in the "
        "run): remove the repetitions, or count each document at its best rank: "
        "Qrels(..., duplicates='best') in Python, --duplicates best in commands"
    )


def _match_part(
    table: Columns, answers: Ranking, ties: Bools, known: PairIndex, first: int, last: int
) -> tuple[Ints, ...]:
    """The match of some queries: the number of places of each, the queries,
    ranks and positions of its judged documents, and the repeated rows.

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
    keys, places = known.sorted_keys(query + first, hashes_of(table.docno, known.seed, rows))
    pairs = known.find_keys(keys, places, table.docno, rows)
    equal, repeated = np.flatnonzero(keys[1:] == keys[:-1]), rows[:0]
    if len(equal):
        is_repeated = _are_repeated(
            order, query, texts_at, suspects=places[np.concatenate((equal, equal + 1))]
        )
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
    at = np.flatnonzero(np.isin(order, suspects))
    numbers, different = codes(texts_at(order[at]))
    pairs = query[order[at]] * len(different) + numbers
    is_repeated = np.zeros(len(order), dtype=bool)
    is_repeated[np.delete(at, np.unique(pairs, return_index=True)[1])] = True
    return is_repeated


def none_judged(judged: JudgedRun) -> str:
    """The message for a run that shares no document with the qrels."""
    ours, theirs = judged.table.docno, judged.judgements.docnos
    return f"none of the documents of the run is judged: {_look_like('document', ours, theirs)}"


def _look_like(what: str, ours: pa.LargeStringArray, theirs: pa.LargeStringArray) -> str:
    """The form of ids that no id of the qrels has, or examples of both."""
    if form := other_form(what, ours, theirs):
        return f"it {form}"
    ids, other = (
        ("query ids", "")
        if what == "query"
        else ("ids", "; truncated or prefixed ids, or other qrels?")
    )
    return (
        f"its {ids} look like {ours[0].as_py()!r}, the {ids} of the qrels like "
        f"{theirs[0].as_py()!r}{other}"
    )
