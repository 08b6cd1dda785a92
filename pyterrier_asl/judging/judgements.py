"""Qrels, and how runs are ordered and matched with them: ties, duplicates, cut-offs, ids.

Only this package orders runs and matches them with judgements. Every measure, preference and
analysis starts from a :class:`JudgedRun`, so that all of them see the same ranking:

1. by score, descending, compared as 32-bit floats (as trec_eval does); equal scores by document id,
   descending, in plain string order; a ``rank`` column is ignored;
2. a document that occurs twice in a ranking is an error, or is counted once, at its best rank;
3. ``judged_only`` removes unjudged documents (negative grades count as unjudged);
4. a cut-off cuts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..io.columns import Columns, first_of_each, qrels_columns, run_columns
from ..io.lazy import pc
from ..io.notices import counted, warn
from ..io.values import arrow_text, take
from ..scoring.arrays import (
    Floats,
    Ints,
    cumulate,
    offsets_of,
    order_by_query,
    queries_of,
    ranges_from,
)
from .judged_run import (
    CONSTANT_SCORES,
    AnswerRows,
    JudgedRun,
    Ranking,
    check_answers,
    in_query_order,
    none_judged,
)
from .matching import PairIndex, codes, equal_groups, positions
from .ranking import Match, match
from .remembered import RESULTS, Remembering, copy_of, remembered

#: Rows looked at to find out whether rows of a query are adjacent.
_FIRST = 1000


class Judgements(Remembering):
    """Qrels, prepared once for any number of runs.

    Attributes:
        qids: the query ids, of the type that the qrels have, in order of first appearance.
        qid_text: the query ids as text.
        offsets: the beginning of each query's judged documents, shape (Q + 1,).
        docnos: the judged documents, query by query, J of them.
        grades: their grades, shape (J,).
        queries: the query number of each, shape (J,).

    Args:
        qrels: data frame or Arrow table (``query_id``, ``doc_id``, ``relevance``, or PyTerrier's
            ``qid``, ``docno``, ``label``), dict of dicts, or iterable of ``ir_measures.Qrel``.
        duplicates: how to treat a document that occurs twice in a ranking: ``'error'`` as in
            trec_eval, or ``'best'``: it is counted once, at its best rank.
        drop_self: whether documents with the id of the query are left out of its ranking.
        collapse: the separator at whose last occurrence ids of runs are cut, so that a document is
            counted once, with the score of its best passage; None: ids are not cut.

    Raises:
        ValueError: for a missing column or id, or a grade that is not a number.

    >>> judgements = Judgements({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}})
    >>> judgements.qids, judgements.num_relevant(1).tolist()
    (['q1', 'q2'], [1, 1])
    """

    #: A sentence about the first document with two different grades for a query; '' for none.
    contradiction = ""

    def __init__(
        self,
        qrels: Any,
        *,
        duplicates: str = "error",
        drop_self: bool = False,
        collapse: str | None = None,
    ) -> None:
        self.duplicates, self.drop_self = _policy(duplicates), drop_self
        self.collapse = _separator(collapse)
        table = qrels_columns(qrels)
        answers, self.qid_text = _answer_rows(table.qid, None)
        docnos = answers.take(table.docno)
        grades: Floats = answers.take(table.value)
        index = PairIndex(answers.offsets, docnos)
        repeated = index.repeated
        if len(repeated):
            self.contradiction = self._contradiction(answers.offsets, index, repeated, grades)
            warn(
                f"the qrels judge {counted(len(repeated), 'document')} twice for one query (e.g. "
                f"{docnos[int(repeated[0])].as_py()!r}): measures use the last judgement",
            )
            keep = np.delete(np.arange(len(docnos)), repeated)
            docnos, grades = take(docnos, keep), grades[keep]
            index = PairIndex(np.searchsorted(keep, answers.offsets), docnos)
        first = answers.rows_at(answers.offsets[:-1])
        self.qids = first_of_each(table.source, first, self.qid_text.to_pylist())
        if isinstance(qrels, Mapping):  # only a dict can hold a query without a judgement
            index = self._with_empty(qrels, index)
            own = {str(qid): qid for qid in qrels}
            self.qids = [own[qid] for qid in self.qid_text.to_pylist()]
        self.docnos, self.grades, self.index, self.offsets = docnos, grades, index, index.offsets
        self.queries = queries_of(self.offsets)

    def _contradiction(
        self, offsets: Ints, index: PairIndex, repeated: Ints, grades: Floats
    ) -> str:
        """The first repeated judgement whose grade differs from the last of its document."""
        queries = queries_of(offsets)[repeated]
        last = index.find(queries, index.ids.take(pa.array(repeated)))
        wrong = np.flatnonzero(grades[repeated] != grades[last])
        if not len(wrong):
            return ""
        row = wrong[0]
        return (
            f"document {index.ids[int(last[row])].as_py()!r} has the grades "
            f"{grades[repeated[row]]:g} and {grades[last[row]]:g} for query "
            f"{self.qid_text[int(queries[row])].as_py()!r}"
        )

    @classmethod
    def of(
        cls,
        qrels: Any,
        duplicates: str | None = None,
        drop_self: bool = False,
        collapse: str | None = None,
    ) -> Judgements:
        """Judgements from whatever :func:`~pyterrier_asl.evaluate` takes.

        Args:
            qrels: qrels of a form above, a file, an ir_datasets id, or ``Judgements``.
            duplicates: see ``Judgements``; None: the setting of the judgements, else ``'error'``.
            drop_self: see ``Judgements``; False: the setting of the judgements.
            collapse: see ``Judgements``; None: the setting of the judgements.
        """
        from ..io.qrels import load_qrels  # imports everything that reads files

        if not isinstance(qrels, Judgements):
            options: dict[str, Any] = {"drop_self": drop_self, "collapse": collapse}
            new = cls(load_qrels(qrels), duplicates=duplicates or "error", **options)
            pa.default_memory_pool().release_unused()  # the memory of the table
            return new
        changes = (duplicates, qrels.duplicates), (collapse, qrels.collapse)
        if drop_self in (False, qrels.drop_self) and all(
            new in (None, old) for new, old in changes
        ):
            return qrels
        other = copy_of(qrels)
        other.duplicates = _policy(duplicates or qrels.duplicates)
        other.drop_self |= drop_self
        other.collapse = _separator(collapse or qrels.collapse)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """The state without cached results and without arrays that the index holds."""
        others = ("docnos", "offsets", RESULTS)
        return {name: value for name, value in self.__dict__.items() if name not in others}

    def __setstate__(self, state: dict[str, Any]) -> None:
        index = state["index"]
        arrays = {name: np.asarray(state[name]) for name in ("grades", "queries")}
        self.__dict__.update(state, **arrays, docnos=index.ids, offsets=index.offsets)

    def _with_empty(self, qrels: Mapping[Any, Any], index: PairIndex) -> PairIndex:
        """Adds the queries of a dict without a judged document, after the others."""
        judged = set(self.qid_text.to_pylist())
        empty = [qid for qid in dict.fromkeys(map(str, qrels)) if qid not in judged]
        if not empty:
            return index
        self.qid_text = pa.concat_arrays([self.qid_text, arrow_text(empty)])
        ends = np.full(len(empty), len(index), dtype=np.int64)
        return PairIndex(np.concatenate((index.offsets, ends)), index.ids)

    def regraded(self, grades: Mapping[float, float]) -> Judgements:
        """The same judgements with other grades for some of their grades."""
        return self._regraded(*sorted(grades.items()))

    @remembered
    def _regraded(self, *grades: tuple[float, float]) -> Judgements:
        other = copy_of(self)
        other.grades = self.grades.copy()
        for old, new in grades:
            other.grades[self.grades == old] = new
        return other

    def extended(
        self, order: Ints, queries: Ints, grades: Floats, docnos: Sequence[str]
    ) -> Judgements:
        """These judgements and new ones, for runs that are already matched.

        Args:
            order: the place of each judgement in these judgements followed by the new ones.
            queries: the query number of each, ascending.
            grades: the grades of these judgements and of the new ones.
            docnos: the documents of the new judgements.
        """
        other = copy_of(self)
        other.docnos = take(pa.concat_arrays([self.docnos, arrow_text(docnos)]), order)
        other.queries, other.grades = queries, grades[order]
        other.offsets = offsets_of(queries, len(self))
        return other

    def __len__(self) -> int:
        return len(self.qids)

    @property
    def table(self) -> Columns:
        """The judgements by columns."""
        return Columns(take(self.qid_text, self.queries), self.docnos, self.grades, None)

    def relevant(self, rel: float) -> Ints:
        """The positions of the judged documents with a grade of ``rel`` or more, ascending."""
        return np.flatnonzero((self.grades >= rel) & (self.grades >= 0))

    def num_relevant(self, rel: float) -> Ints:
        """The number of documents of each query with a grade of ``rel`` or more, shape (Q,)."""
        return self.num_graded(rel, np.inf)

    @remembered
    def num_graded(self, low: float, high: float) -> Ints:
        """The number of documents of each query with low <= grade < high, shape (Q,)."""
        within = (self.grades >= max(low, 0)) & (self.grades < high)
        return np.bincount(self.queries[within], minlength=len(self)).astype(np.int64)

    def judge(self, run: Any) -> JudgedRun:
        """Puts a run in order and matches it with these judgements.

        Args:
            run: data frame or Arrow table (``query_id``, ``doc_id``, ``score``, or PyTerrier's
                ``qid``, ``docno``), dict of dicts, or iterable of ``ir_measures.ScoredDoc``.

        Raises:
            ValueError: for a missing column or id, a score that is not a number.

        Warns:
            UserWarning: for documents that occur twice in a ranking, which are counted once, at
                their best rank; for a run without judged documents or with constant scores.
        """
        judged = _judge(self, run_columns(run), "warn")
        if judged.retrieved.any() and len(self.docnos) and not len(judged.pairs):
            warn(none_judged(judged), NothingJudged)
        if judged.has_constant_scores:
            warn(CONSTANT_SCORES)
        return judged

    def judge_whole(self, run: Any) -> JudgedRun:
        """Judges a whole run; a run that cannot be an answer to the queries is an error.

        Raises:
            ValueError: where the run or the qrels are empty, or share no query or no document.
        """
        judged = self.judge_part(run)
        check_answers(judged)
        return judged

    def judge_part(self, run: Any) -> JudgedRun:
        """Judges a part of a run, such as some of its queries.

        Raises:
            ValueError: for a document that occurs twice in a ranking, if that is an error.
        """
        return _judge(self, run_columns(run), self.duplicates)


class NothingJudged(UserWarning):
    """None of a run's documents is judged."""


def rank(run: Any, depth: int | None = None) -> tuple[Columns, pa.LargeStringArray, Ranking]:
    """Orders all queries of a run, without judgements.

    Args:
        run: a run of a form of :meth:`Judgements.judge`.
        depth: keep only the first ``depth`` of each query.

    Returns:
        The run by columns; its query ids in order of first appearance; its rows in ranking order.

    >>> table, qids, ranking = rank({"q": {"a": 1, "b": 2, "c": 2}})
    >>> table.docno.take(ranking.rows).to_pylist()
    ['c', 'b', 'a']
    """
    table = run_columns(run)
    answers, qids = _answer_rows(table.qid, None)
    unknown = PairIndex(np.zeros(len(qids) + 1, dtype=np.int64), table.docno[:0])
    return table, qids, _rank(table, answers, unknown, "warn")[0].by_query.cut(depth)


def _judge(judgements: Judgements, table: Columns, duplicates: str) -> JudgedRun:
    if judgements.collapse is not None:
        table, duplicates = table.collapsed(judgements.collapse), "best"
    answers, _ = _answer_rows(table.qid, judgements.qid_text)
    if judgements.drop_self:
        answers = answers.without_own_ids(table)
    answers, matched = _rank(table, answers, judgements.index, duplicates)
    entries = in_query_order(answers.queries[matched.blocks], matched.ranks, matched.pairs)
    return JudgedRun(judgements, table, answers.retrieved, *entries, answers)


def _answer_rows(
    qid: pa.LargeStringArray, known: pa.LargeStringArray | None
) -> tuple[AnswerRows, pa.LargeStringArray]:
    """The rows that answer known queries (None: all queries), and the known queries.

    Rows that are already adjacent are not moved.
    """
    first = qid.slice(0, _FIRST)
    are_adjacent = len(first) < _FIRST or 2 * len(equal_groups(first)[1]) < _FIRST
    bounds, group_ids = equal_groups(qid) if are_adjacent else (None, qid)
    if known is None:
        query, known = codes(group_ids)
    else:
        query = positions(group_ids, known)
    counts = np.bincount(query + 1, minlength=len(known) + 1)
    unknown, counts = counts[0], counts[1:]
    if bounds is not None and not unknown and np.all(counts <= 1):
        return AnswerRows(bounds, None, query, len(known)), known
    groups = order_by_query(query)[unknown:]
    answered = np.flatnonzero(counts)
    starts = cumulate(counts[answered])
    if bounds is None:
        return AnswerRows(starts, groups, answered, len(known)), known
    offsets = cumulate(np.diff(bounds)[groups])
    rows = ranges_from(bounds[groups], offsets)
    return AnswerRows(offsets[starts], rows, answered, len(known)), known


def _rank(
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


def _separator(collapse: str | None) -> str | None:
    if collapse is not None and not (isinstance(collapse, str) and collapse):
        raise ValueError(f"collapse must be a separator such as '#', not {collapse!r}")
    return collapse


def _policy(duplicates: str) -> str:
    if duplicates not in ("error", "best"):
        raise ValueError(f"duplicates must be 'error' or 'best', not {duplicates!r}")
    return duplicates
