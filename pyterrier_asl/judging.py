"""Run + qrels -> :class:`JudgedRun`: order, ties, duplicates, cut-offs, ids.

The one place where a run is put in order and met with its judgements. Every measure, preference and
analysis starts from a :class:`JudgedRun`, so that in one experiment all of them see the same
ranking:

1. by score, descending, compared as 32-bit floats (as trec_eval does); equal scores by document id,
   descending, in plain string order; a ``rank`` column is ignored;
2. a document that stands twice in a query's ranking counts once, at its best rank;
3. ``judged_only`` removes unjudged documents (negative grades count as unjudged);
4. a cut-off cuts.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .columns import Table, first_of_each, qrels_table, run_table
from .matching import PairIndex, codes, positions

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Judgements:
    """Qrels, made ready once for any number of runs.

    Attributes:
        qids: the query ids, as the qrels themselves hold them, in order of first appearance.
        qid_text: the same as text.
        offsets: where each query's judged documents begin, shape (Q + 1,).
        docnos: the judged documents, query by query, J of them.
        grades: their grades, shape (J,).
        queries: the query number of each, shape (J,).

    Args:
        qrels: data frame or Arrow table (``query_id``, ``doc_id``, ``relevance``, or PyTerrier's
            ``qid``, ``docno``, ``label``), dict of dicts, or iterable of ``ir_measures.Qrel``.

    Raises:
        ValueError: for a missing column or id, or a grade that is not a number.

    >>> judgements = Judgements({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}})
    >>> judgements.qids, judgements.num_relevant(1).tolist()
    (['q1', 'q2'], [1, 1])
    """

    def __init__(self, qrels: Any) -> None:
        table = qrels_table(qrels)
        queries, self.qid_text = codes(table.qid)
        rows = np.argsort(queries, kind="stable") if np.any(np.diff(queries) < 0) else None
        docnos, grades = table.docno, table.value
        if rows is not None:
            queries, docnos, grades = queries[rows], docnos.take(pa.array(rows)), grades[rows]
        index = PairIndex(queries, docnos)
        repeated = index.repeated()
        if len(repeated):
            warnings.warn(
                f"{len(repeated)} documents are judged twice for one query (e.g. "
                f"{docnos[int(repeated[0])].as_py()!r}); the last judgement counts",
                stacklevel=2,
            )
            keep = np.delete(np.arange(len(queries)), repeated)
            queries, docnos, grades = queries[keep], docnos.take(pa.array(keep)), grades[keep]
            index = PairIndex(queries, docnos)
        self.queries, self.docnos, self.grades, self.index = queries, docnos, grades, index
        self.offsets = _offsets(queries, len(self.qid_text))
        self.qids = self._original_qids(table)
        self._relevant: dict[float, Ints] = {}

    def _original_qids(self, table: Table) -> list[Any]:
        first = positions(self.qid_text, table.qid)
        return first_of_each(table.source, first, self.qid_text.to_pylist())

    def __len__(self) -> int:
        return len(self.qids)

    def num_relevant(self, rel: float) -> Ints:
        """How many documents each query has with a grade of ``rel`` or more, shape (Q,)."""
        if rel not in self._relevant:
            self._relevant[rel] = self.num_graded(rel, np.inf)
        return self._relevant[rel]

    def num_graded(self, low: float, high: float) -> Ints:
        """How many documents each query has with low <= grade < high, shape (Q,)."""
        within = (self.grades >= max(low, 0)) & (self.grades < high)
        return np.bincount(self.queries[within], minlength=len(self)).astype(np.int64)

    def judge(self, run: Any) -> JudgedRun:
        """Puts a run in order and meets it with these judgements.

        Args:
            run: data frame or Arrow table (``query_id``, ``doc_id``, ``score``, or PyTerrier's
                ``qid``, ``docno``), dict of dicts, or iterable of ``ir_measures.ScoredDoc``.

        Raises:
            ValueError: for a missing column or id, a score that is no number, or NaN.

        Warns:
            UserWarning: of documents that stand twice in a ranking, with their count; of a run none
                of whose documents is judged.
        """
        return _judge(self, run_table(run))

    def judge_whole(self, run: Any) -> JudgedRun:
        """The same for a run that should be a whole answer: one that cannot be is an error.

        Raises:
            ValueError: where the run or the qrels are empty, or share no query or no document.
        """
        table = run_table(run)
        if not len(self):
            raise ValueError("the qrels are empty: there is nothing to judge by")
        if not len(table):
            raise ValueError("the run is empty: it has no rows")
        with warnings.catch_warnings():
            warnings.simplefilter("error", NothingJudged)
            try:
                judged = _judge(self, table)
            except NothingJudged as error:
                raise ValueError(str(error)) from None
        if not judged.retrieved.any():
            raise ValueError(
                f"the run answers none of the {len(self)} judged queries: its query ids look like "
                f"{table.qid[0].as_py()!r}, those of the qrels like {self.qid_text[0].as_py()!r}"
            )
        return judged


class NothingJudged(UserWarning):
    """None of a run's documents is judged."""


def rank(run: Any, depth: int | None = None) -> tuple[Table, pa.LargeStringArray, Ranking]:
    """Puts a run in order without judgements, all of its queries.

    Args:
        run: what :meth:`Judgements.judge` takes.
        depth: keep only the first ``depth`` of each query.

    Returns:
        The run by columns; its query ids in order of first appearance; its rows in ranking order.

    >>> table, qids, ranking = rank({"q": {"a": 1, "b": 2, "c": 2}})
    >>> table.docno.take(ranking.rows).to_pylist()
    ['c', 'b', 'a']
    """
    table = run_table(run)
    _, qids = codes(table.qid)
    rows, starts, queries = _blocks(table, qids)
    order, starts = _rank(table, rows, starts, _block(rows, starts), _take(table.docno, rows))
    ranking = _Order(rows[order], starts, queries, len(qids)).by_query
    return table, qids, ranking if depth is None else ranking.cut(depth)


@dataclass(frozen=True)
class Ranking:
    """Every row of a run that answers a known query, in the order of the ranking.

    Attributes:
        rows: row numbers of the run, query by query, best first.
        offsets: where each query's rows begin, shape (Q + 1,).
    """

    rows: Ints
    offsets: Ints

    def cut(self, k: int) -> Ranking:
        """The first ``k`` of each query."""
        sizes = np.diff(self.offsets)
        keep = _within(sizes) < k
        return Ranking(self.rows[keep], _cumulate(np.minimum(sizes, k)))


@dataclass(frozen=True)
class Relevant:
    """Where a run has its relevant documents: what most measures need and no more.

    Attributes:
        ranks: ranks from 1, query by query, ascending, one a retrieved relevant document.
        offsets: where each query's ranks begin, shape (Q + 1,).
        total: relevant documents of each query, retrieved or not, shape (Q,).
        retrieved: retrieved documents of each query, shape (Q,).
        pairs: which judged document each rank is of (a position in the judgements).
    """

    ranks: Ints
    offsets: Ints
    total: Ints
    retrieved: Ints
    pairs: Ints

    @cached_property
    def found(self) -> Ints:
        """Relevant documents retrieved, shape (Q,)."""
        return np.diff(self.offsets)

    @cached_property
    def queries(self) -> Ints:
        """The query number of each rank."""
        return np.repeat(np.arange(len(self.total)), self.found)


@dataclass(frozen=True)
class JudgedRun:
    """A run in order, met with judgements: one entry per retrieved judged document.

    Attributes:
        judgements: what it was met with; Q queries.
        table: the run by columns.
        retrieved: documents retrieved for each query, shape (Q,).
        queries: the query number of each entry, ascending, shape (E,).
        ranks: its rank from 1, ascending within a query, shape (E,).
        pairs: which judged document it is (a position in the judgements), shape (E,).
    """

    judgements: Judgements
    table: Table
    retrieved: Ints
    queries: Ints
    ranks: Ints
    pairs: Ints
    _ranking: _Order
    _cutoff: int | None = None
    _relevant: dict[float, Relevant] = field(default_factory=dict)
    _views: dict[tuple[int | None, bool], JudgedRun] = field(default_factory=dict)

    @cached_property
    def grades(self) -> Floats:
        """The grade of each entry, shape (E,)."""
        return self.judgements.grades[self.pairs]

    @cached_property
    def offsets(self) -> Ints:
        """Where each query's entries begin, shape (Q + 1,)."""
        return _offsets(self.queries, len(self.judgements))

    def view(self, cutoff: int | None = None, judged_only: bool = False) -> JudgedRun:
        """The same run without its unjudged documents, then only its first ``cutoff``."""
        if cutoff is None and not judged_only:
            return self
        key = (cutoff, judged_only)
        if key not in self._views:
            seen = self._without_unjudged() if judged_only else self
            self._views[key] = seen if cutoff is None else seen._cut(cutoff)
        return self._views[key]

    def _without_unjudged(self) -> JudgedRun:
        keep = self.grades >= 0
        queries, pairs = self.queries[keep], self.pairs[keep]
        retrieved = np.bincount(queries, minlength=len(self.judgements)).astype(np.int64)
        return JudgedRun(
            self.judgements, self.table, retrieved, queries, _within(retrieved) + 1, pairs,
            self._ranking,
        )  # fmt: skip

    def _cut(self, k: int) -> JudgedRun:
        keep = self.ranks <= k
        return JudgedRun(
            self.judgements, self.table, np.minimum(self.retrieved, k), self.queries[keep],
            self.ranks[keep], self.pairs[keep], self._ranking, k,
        )  # fmt: skip

    def relevant(self, rel: float = 1) -> Relevant:
        """The ranks of the documents with a grade of ``rel`` or more."""
        if rel not in self._relevant:
            keep = (self.grades >= rel) & (self.grades >= 0)
            self._relevant[rel] = Relevant(
                self.ranks[keep],
                _offsets(self.queries[keep], len(self.judgements)),
                self.judgements.num_relevant(rel),
                self.retrieved,
                self.pairs[keep],
            )
        return self._relevant[rel]

    @property
    def whole_ranking(self) -> Ranking:
        """Every retrieved document in rank order, whatever was cut or removed since."""
        return self._ranking.by_query

    @cached_property
    def ranking(self) -> Ranking:
        """Every retrieved document in rank order, for what needs them all (lengths, tables)."""
        whole = self.whole_ranking
        return whole if self._cutoff is None else whole.cut(self._cutoff)

    def docnos(self, rows: Ints) -> pa.LargeStringArray:
        """The document ids in these rows of the run."""
        return self.table.docno.take(pa.array(rows))


@dataclass(frozen=True)
class _Order:
    """A run's rows in ranking order, block by block; a block is the answer to one known query."""

    rows: Ints
    starts: Ints
    queries: Ints
    known: int

    @cached_property
    def sizes(self) -> Ints:
        """Rows of each block."""
        return np.diff(np.append(self.starts, len(self.rows)))

    @cached_property
    def by_query(self) -> Ranking:
        """The rows in the order of the known queries."""
        sizes, start = np.zeros((2, self.known), dtype=np.int64)
        sizes[self.queries], start[self.queries] = self.sizes, self.starts
        if np.all(np.diff(self.queries) > 0):
            return Ranking(self.rows, _cumulate(sizes))
        return Ranking(self.rows[np.repeat(start, sizes) + _within(sizes)], _cumulate(sizes))


def _judge(judgements: Judgements, table: Table) -> JudgedRun:
    rows, starts, queries = _blocks(table, judgements.qid_text)
    block = _block(rows, starts)
    docnos = _take(table.docno, rows)
    pairs = judgements.index.find(queries[block], docnos)
    if len(pairs) and len(judgements) and pairs.max() < 0:
        _warn_of_strangers(table, judgements)
    order, starts = _rank(table, rows, starts, block, docnos)
    ranking = _Order(rows[order], starts, queries, len(judgements))
    judged = np.flatnonzero(pairs[order] >= 0)
    block = block[order][judged]
    entries = (queries[block], judged - starts[block] + 1, pairs[order][judged])
    if np.any(np.diff(entries[0]) < 0):
        by_query = np.argsort(entries[0], kind="stable")
        entries = (entries[0][by_query], entries[1][by_query], entries[2][by_query])
    retrieved = np.zeros(len(judgements), dtype=np.int64)
    retrieved[queries] = ranking.sizes
    return JudgedRun(judgements, table, retrieved, *entries, ranking)


def _blocks(table: Table, known: pa.LargeStringArray) -> tuple[Ints, Ints, Ints]:
    """The rows that answer known queries, those of one query together.

    Returns:
        Row numbers; where in them each block begins; the query number of each block.
    """
    numbers, different = codes(table.qid)
    query_of = positions(different, known)
    queries = query_of[numbers]
    rows = np.arange(len(table))
    if len(query_of) and query_of.min() < 0:
        rows = np.flatnonzero(queries >= 0)
        queries = queries[rows]
    starts = _starts(queries)
    if len(starts) > len(np.unique(queries[starts])):  # a query's rows lie apart
        together = np.argsort(queries, kind="stable")
        rows, queries = rows[together], queries[together]
        starts = _starts(queries)
    return rows, starts, queries[starts]


def _block(rows: Ints, starts: Ints) -> Ints:
    """The number of the block that each row lies in."""
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))


def _rank(
    table: Table, rows: Ints, starts: Ints, block: Ints, docnos: pa.LargeStringArray
) -> tuple[Ints, Ints]:
    """The order in which rows are ranked within their blocks, each document once.

    Returns:
        Places in ``rows`` in ranking order; where in them each block begins.
    """
    with np.errstate(over="ignore"):  # beyond 32 bits is infinite, as in trec_eval
        scores = table.value[rows].astype(np.float32)
    order = _in_order(block, scores, docnos)
    return _without_repeats(order, block, docnos, starts)


def _in_order(
    block: Ints, scores: npt.NDArray[np.float32], docnos: pa.LargeStringArray
) -> Ints:
    """The order in which each block's rows are ranked: by score, then by id, both descending."""
    order = np.arange(len(block))
    within = block[1:] == block[:-1]
    rising = np.flatnonzero(within & (scores[1:] > scores[:-1]))
    if len(rising):
        unsorted = np.zeros(block[-1] + 1, dtype=bool)
        unsorted[block[rising]] = True
        part = np.flatnonzero(unsorted[block])
        order[part] = part[np.lexsort((-scores[part], block[part]))]
        scores = scores[order]
    tied = within & (scores[1:] == scores[:-1])
    if tied.any():
        _resolve_ties(order, tied, docnos)
    return order


def _resolve_ties(order: Ints, tied: npt.NDArray[np.bool_], docnos: pa.LargeStringArray) -> None:
    """Puts rows of equal score (``tied``: as the row before) by document id, descending."""
    member = np.zeros(len(order), dtype=bool)
    member[1:] |= tied
    member[:-1] |= tied
    places = np.flatnonzero(member)
    group = np.cumsum(np.concatenate(([True], ~tied)))[places]
    names = docnos.take(pa.array(order[places]))
    alphabetical = pc.rank(names, sort_keys="descending", tiebreaker="first").to_numpy()
    order[places] = order[places][np.lexsort((alphabetical, group))]


def _without_repeats(
    order: Ints, block: Ints, docnos: pa.LargeStringArray, starts: Ints
) -> tuple[Ints, Ints]:
    """Leaves each document of a block once, where it ranks best; warns of the others' number."""
    numbers, different = codes(docnos)
    keys = (block * len(different) + numbers)[order]
    _, first = np.unique(keys, return_index=True)
    extra = len(keys) - len(first)
    if not extra:
        return order, starts
    again = np.delete(np.arange(len(keys)), first)[0]
    warnings.warn(
        f"{extra} documents stand more than once in the ranking of one query (e.g. "
        f"{docnos[int(order[again])].as_py()!r}); each counts once, at its best rank",
        stacklevel=6,
    )
    order = order[np.sort(first)]
    return order, _starts(block[order])


def _warn_of_strangers(table: Table, judgements: Judgements) -> None:
    """A run that shares no document with the qrels is most often one with other document ids."""
    warnings.warn(
        f"none of the run's {len(table)} documents is judged: its ids look like "
        f"{table.docno[0].as_py()!r}, those of the qrels like "
        f"{judgements.docnos[0].as_py()!r}; truncated or prefixed ids, or other qrels?",
        NothingJudged,
        stacklevel=4,
    )


def _take(docnos: pa.LargeStringArray, rows: Ints) -> pa.LargeStringArray:
    """The ids in these rows; no copy where they are all rows in order."""
    if len(rows) == len(docnos) and (not len(rows) or np.array_equal(rows, np.arange(len(rows)))):
        return docnos
    return docnos.take(pa.array(rows))


def _starts(sorted_codes: Ints) -> Ints:
    """Where each stretch of equal codes begins."""
    if not len(sorted_codes):
        return np.empty(0, dtype=np.int64)
    return np.concatenate(([0], np.flatnonzero(np.diff(sorted_codes)) + 1))


def _cumulate(sizes: Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(sizes)))


def _offsets(sorted_codes: Ints, n: int) -> Ints:
    """Where each of the codes 0..n-1 begins in an ascending array of codes."""
    return _cumulate(np.bincount(sorted_codes, minlength=n).astype(np.int64))


def _within(sizes: Ints) -> Ints:
    """0, 1, 2, ... anew for each of stretches of these sizes."""
    return np.arange(sizes.sum()) - np.repeat(_cumulate(sizes)[:-1], sizes)
