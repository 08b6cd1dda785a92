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

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .columns import Table, first_of_each, qrels_table, run_table
from .matching import PairIndex, codes, positions, stretches
from .ranking import Met, meet

T = TypeVar("T")
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
        answers, self.qid_text = _answers(table.qid, None)
        rows, starts = answers.rows, answers.starts
        first = starts[:-1] if rows is None else rows[starts[:-1]]
        docnos, grades = table.docno, table.value
        if rows is not None:
            docnos, grades = docnos.take(pa.array(rows)), grades[rows]
        index = PairIndex(starts, docnos)
        repeated = index.repeated()
        if len(repeated):
            warnings.warn(
                f"{len(repeated)} documents are judged twice for one query (e.g. "
                f"{docnos[int(repeated[0])].as_py()!r}); the last judgement counts",
                stacklevel=2,
            )
            keep = np.delete(np.arange(len(docnos)), repeated)
            docnos, grades = docnos.take(pa.array(keep)), grades[keep]
            index = PairIndex(np.searchsorted(keep, starts), docnos)
        self.qids = first_of_each(table.source, first, self.qid_text.to_pylist())
        if isinstance(qrels, Mapping):  # only a dict can hold a query without a judgement
            index = self._with_empty(qrels, index)
        self.docnos, self.grades, self.index, self.offsets = docnos, grades, index, index.offsets
        self.queries = np.repeat(np.arange(len(self.qid_text)), np.diff(self.offsets))
        self._relevant: dict[float, Ints] = {}
        self._made: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what was made of it since, and what the index has as well."""
        others = ("docnos", "offsets", "_relevant", "_made")
        return {name: value for name, value in self.__dict__.items() if name not in others}

    def __setstate__(self, state: dict[str, Any]) -> None:
        index = state["index"]
        arrays = {name: np.asarray(state[name]) for name in ("grades", "queries")}
        self.__dict__.update(
            state, **arrays, docnos=index.ids, offsets=index.offsets, _relevant={}, _made={}
        )

    def _with_empty(self, qrels: Mapping[Any, Any], index: PairIndex) -> PairIndex:
        """Adds the queries of a dict that have no judged document, behind the others."""
        known = set(self.qid_text.to_pylist())
        empty = [qid for qid in dict.fromkeys(map(str, qrels)) if qid not in known]
        if not empty:
            return index
        self.qids = [*self.qids, *empty]
        self.qid_text = pa.concat_arrays([self.qid_text, pa.array(empty, type=pa.large_string())])
        ends = np.full(len(empty), len(index), dtype=np.int64)
        return PairIndex(np.concatenate((index.offsets, ends)), index.ids)

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """What ``make`` makes of these judgements, made when first asked for by this key."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def regraded(self, grades: Mapping[float, float]) -> Judgements:
        """The same judgements with other grades for some of their grades."""

        def make() -> Judgements:
            other = copy.copy(self)
            other.grades = self.grades.copy()
            for old, new in grades.items():
                other.grades[self.grades == old] = new
            other._relevant, other._made = {}, {}
            return other

        return self.once(("regraded", *sorted(grades.items())), make)

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
        judged = _judge(self, run_table(run))
        if judged.retrieved.any() and len(self.docnos) and not len(judged.pairs):
            warnings.warn(_strangers(judged), NothingJudged, stacklevel=2)
        return judged

    def judge_whole(self, run: Any) -> JudgedRun:
        """The same for a run that should be a whole answer: one that cannot be is an error.

        Raises:
            ValueError: where the run or the qrels are empty, or share no query or no document.
        """
        return whole([self.judge_part(run)])

    def judge_part(self, run: Any) -> JudgedRun:
        """The same for some of the queries of a run; see :func:`whole`."""
        return _judge(self, run_table(run))


def whole(parts: Sequence[JudgedRun]) -> JudgedRun:
    """A run from its parts, if it is a whole answer: one that cannot be is an error.

    Args:
        parts: the run by queries, met with the same judgements, one part at least. Of several parts
            only the entries are kept, not the rows (see :meth:`JudgedRun.without_rows`).

    Raises:
        SplitQuery: where two parts answer a query.
        ValueError: where the run or the qrels are empty, or share no query or no document.
    """
    judgements = parts[0].judgements
    if not len(judgements):
        raise ValueError("the qrels are empty: there is nothing to judge by")
    some = next((part for part in parts if len(part.table)), None)
    if some is None:
        raise ValueError("the run is empty: it has no rows")
    judged = parts[0] if len(parts) == 1 else _joined(parts)
    if not judged.retrieved.any():
        raise ValueError(
            f"the run answers none of the {len(judgements)} judged queries: its query ids look "
            f"like {some.table.qid[0].as_py()!r}, those of the qrels like "
            f"{judgements.qid_text[0].as_py()!r}"
        )
    if len(judgements.docnos) and not len(judged.pairs):
        raise ValueError(_strangers(some))
    return judged


class SplitQuery(ValueError):
    """Two parts of a run answer the same query."""


def _joined(parts: Sequence[JudgedRun]) -> JudgedRun:
    judgements = parts[0].judgements
    answered = sum((part.retrieved > 0).astype(np.int64) for part in parts)
    if np.any(answered > 1):
        qid = judgements.qids[int(np.argmax(answered > 1))]
        raise SplitQuery(f"the answers to query {qid!r} do not lie together")
    queries, ranks, pairs = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("queries", "ranks", "pairs")
    )
    if np.any(queries[1:] < queries[:-1]):
        order = np.argsort(queries, kind="stable")
        queries, ranks, pairs = queries[order], ranks[order], pairs[order]
    retrieved = np.sum([part.retrieved for part in parts], axis=0)
    return JudgedRun.from_entries(judgements, retrieved, queries, ranks, pairs)


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
    answers, qids = _answers(table.qid, None)
    unknown = PairIndex(np.zeros(len(qids) + 1, dtype=np.int64), table.docno[:0])
    ranking = _rank(table, answers, unknown)[0].by_query
    return table, qids, ranking if depth is None else ranking.cut(depth)


@dataclass(frozen=True)
class Ranking:
    """Every row of a run that answers a known query, in the order of the ranking.

    Attributes:
        offsets: where each query's rows begin, shape (Q + 1,).
    """

    offsets: Ints
    _rows: Ints | None

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def as_it_stands(self) -> bool:
        """Whether the ranking is all rows of the run in their order: nothing need be moved."""
        return self._rows is None

    @cached_property
    def rows(self) -> Ints:
        """Row numbers of the run, query by query, best first."""
        return np.arange(self.offsets[-1]) if self._rows is None else self._rows

    def take(self, column: Floats) -> Floats:
        """The values of a column of the run in the order of the ranking."""
        return column if self._rows is None else column[self._rows]

    def cut(self, k: int) -> Ranking:
        """The first ``k`` of each query."""
        sizes = np.diff(self.offsets)
        if not np.any(sizes > k):
            return self
        kept = np.minimum(sizes, k)
        places = np.repeat(self.offsets[:-1], kept) + _within(kept)
        return Ranking(_cumulate(kept), places if self._rows is None else self._rows[places])


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

    @classmethod
    def from_entries(
        cls, judgements: Judgements, retrieved: Ints, queries: Ints, ranks: Ints, pairs: Ints
    ) -> JudgedRun:
        """A run of which nothing is known but these: its rows are forgotten, or elsewhere."""
        nothing = np.empty(0, dtype=np.int64)
        rows = _Order(nothing, np.zeros(1, dtype=np.int64), nothing, len(judgements))
        return cls(judgements, run_table({}), retrieved, queries, ranks, pairs, rows)

    def met_with(self, judgements: Judgements) -> JudgedRun:
        """The same entries, where a copy of these judgements is theirs."""
        return replace(self, judgements=judgements, _relevant={}, _views={})

    def without_rows(self) -> JudgedRun:
        """The same, but for the rows, which may be many: of the table only the first is left."""
        first = pa.array([0] if len(self.table) else [], pa.int64())
        table = Table(
            self.table.qid.take(first), self.table.docno.take(first), self.table.value[:1].copy(),
            None,
        )  # fmt: skip
        bare = JudgedRun.from_entries(
            self.judgements, self.retrieved, self.queries, self.ranks, self.pairs
        )
        return replace(bare, table=table)

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

    def regraded(self, grades: Mapping[float, float]) -> JudgedRun:
        """The same run, met with the same judgements of other grades."""
        return self.met_with(self.judgements.regraded(grades))

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

    def docnos(self, ranking: Ranking) -> pa.LargeStringArray:
        """The document ids of a ranking of this run."""
        if ranking.as_it_stands:
            return self.table.docno
        return self.table.docno.take(pa.array(ranking.rows))


@dataclass(frozen=True)
class _Answers:
    """A run's rows query by query, those that answer a known one.

    Attributes:
        rows: row numbers of the run, those of one query together; None: all of them in order.
        starts: where in them each query's begin, and where the last's end, shape (B + 1,).
        queries: the query each block answers, shape (B,).
        known: how many queries are known.
    """

    rows: Ints | None
    starts: Ints
    queries: Ints
    known: int


@dataclass(frozen=True)
class _Order:
    """A run's rows in ranking order, block by block; a block is the answer to one known query."""

    rows: Ints | None
    starts: Ints
    queries: Ints
    known: int

    @cached_property
    def retrieved(self) -> Ints:
        """How many documents were retrieved for each known query, shape (Q,)."""
        retrieved = np.zeros(self.known, dtype=np.int64)
        retrieved[self.queries] = np.diff(self.starts)
        return retrieved

    @cached_property
    def by_query(self) -> Ranking:
        """The rows in the order of the known queries."""
        offsets = _cumulate(self.retrieved)
        if np.all(np.diff(self.queries) > 0):
            return Ranking(offsets, self.rows)
        start = np.zeros(self.known, dtype=np.int64)
        start[self.queries] = self.starts[:-1]
        places = np.repeat(start, self.retrieved) + _within(self.retrieved)
        return Ranking(offsets, places if self.rows is None else self.rows[places])


def _judge(judgements: Judgements, table: Table) -> JudgedRun:
    answers, _ = _answers(table.qid, judgements.qid_text)
    order, met = _rank(table, answers, judgements.index)
    entries = (order.queries[met.blocks], met.ranks, met.pairs)
    if np.any(np.diff(order.queries) < 0):
        by_query = np.argsort(entries[0], kind="stable")
        entries = (entries[0][by_query], entries[1][by_query], entries[2][by_query])
    return JudgedRun(judgements, table, order.retrieved, *entries, order)


def _answers(
    qid: pa.LargeStringArray, known: pa.LargeStringArray | None
) -> tuple[_Answers, pa.LargeStringArray]:
    """The rows that answer known queries (None: all that there are), and the known queries.

    Rows that already lie together stay where they are.
    """
    bounds, each = stretches(qid)
    numbers, different = codes(each)
    known = different if known is None else known
    query = positions(different, known)[numbers]
    if len(different) == len(each) and not np.any(query < 0):
        return _Answers(None, bounds, query, len(known)), known
    sizes = np.diff(bounds)
    together = np.flatnonzero(query >= 0)
    together = together[np.argsort(query[together], kind="stable")]
    sizes = sizes[together]
    rows = np.repeat(bounds[together], sizes) + _within(sizes)
    answered = np.bincount(query[together], weights=sizes, minlength=len(known)).astype(np.int64)
    queries = np.flatnonzero(answered)
    return _Answers(rows, _cumulate(answered[queries]), queries, len(known)), known


def _rank(table: Table, answers: _Answers, known: PairIndex) -> tuple[_Order, Met]:
    """The rows in ranking order, each document once, and the known documents among them."""
    rows, docnos, values = answers.rows, table.docno, table.value
    if rows is not None:
        docnos, values = docnos.take(pa.array(rows)), values[rows]
    with np.errstate(over="ignore"):  # beyond 32 bits is infinite, as in trec_eval
        scores = values.astype(np.float32)
    met = meet(scores, docnos, answers.starts, answers.queries, known)
    if len(met.repeated):
        warnings.warn(
            f"{len(met.repeated)} documents stand more than once in the ranking of one query (e.g. "
            f"{docnos[int(met.repeated[0])].as_py()!r}); each counts once, at its best rank",
            stacklevel=4,
        )
    if rows is None:
        rows = met.order
    elif met.order is not None:
        rows = rows[met.order]
    return _Order(rows, met.starts, answers.queries, answers.known), met


def _strangers(judged: JudgedRun) -> str:
    """A run that shares no document with the qrels is most often one with other document ids."""
    table, judgements = judged.table, judged.judgements
    return (
        f"none of the run's {len(table)} documents is judged: its ids look like "
        f"{table.docno[0].as_py()!r}, those of the qrels like "
        f"{judgements.docnos[0].as_py()!r}; truncated or prefixed ids, or other qrels?"
    )


def _cumulate(sizes: Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(sizes)))


def _offsets(sorted_codes: Ints, n: int) -> Ints:
    """Where each of the codes 0..n-1 begins in an ascending array of codes."""
    return _cumulate(np.bincount(sorted_codes, minlength=n).astype(np.int64))


def _within(sizes: Ints) -> Ints:
    """0, 1, 2, ... anew for each of stretches of these sizes."""
    return np.arange(sizes.sum()) - np.repeat(_cumulate(sizes)[:-1], sizes)
