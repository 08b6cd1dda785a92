"""Qrels, prepared once for any number of runs, and the rows that answer their queries.

:mod:`.judged_run` matches runs with them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..common.lazy import pc
from ..common.notices import counted, warn
from ..common.types import Floats, Ints
from ..io.columns import Columns, first_of_each, qrels_columns
from ..io.values import arrow_numbers, arrow_text, take
from ..scoring.arrays import offsets_of, order_by_query, queries_of
from .id_forms import other_form
from .pair_index import PairIndex, positions
from .ranking import rows_by_query
from .remembered import RESULTS, Remembering, copy_of, remembered

#: The settings by which runs are matched; see :class:`~pyterrier_asl.Qrels`.
MATCHING = ("duplicates", "drop_self", "collapse")


class Contradiction(NamedTuple):
    """A sentence on documents with two different grades, and one such document with its grades."""

    sentence: str
    example: str


class Judgements(Remembering):
    """Qrels, prepared once for any number of runs.

    Attributes:
        qids: the query ids, of the type that the qrels have, in order of first appearance.
        qid_text: the query ids as text.
        offsets: the beginning of each query's judged documents, shape (Q + 1,).
        docnos: the judged documents, query by query, J of them.
        grades: their grades, shape (J,).
        queries: the query number of each, shape (J,).
        duplicates: how runs are matched with them, like the next two: see
            :class:`~pyterrier_asl.Qrels`.
        drop_self: whether documents with the id of their query are left out.
        collapse: the separator at which ids of runs are cut, or None.

    Args:
        qrels: data frame or Arrow table (``query_id``, ``doc_id``, ``relevance``, or PyTerrier's
            ``qid``, ``docno``, ``label``), dict of dicts, or iterable of ``ir_measures.Qrel``.

    Raises:
        ValueError: for a missing column or id, or a grade that is not a number.

    >>> judgements = Judgements({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}})
    >>> judgements.qids, judgements.num_relevant(1).tolist()
    (['q1', 'q2'], [1, 1])
    """

    #: The documents with two different grades for a query; None: there are none.
    contradiction: Contradiction | None = None
    #: By query, the documents whose grades are added labels.
    labels: Mapping[str, Set[str]] = {}
    #: Sentences on added labels.
    notes: Sequence[str] = ()
    duplicates = "error"
    drop_self = False
    collapse: str | None = None
    #: All judgements with their subtopics (``iteration``); None: there are none.
    by_subtopic: pa.Table | None = None

    def __init__(self, qrels: Any) -> None:
        table = qrels_columns(qrels)
        answers, self.qid_text = rows_by_query(table)
        offsets, rows = answers.offsets, answers.rows
        docnos, grades = take(table.docno, rows), table.value[rows]
        index = PairIndex(offsets, docnos)
        subtopics = None if table.iteration is None else take(table.iteration, rows)
        if subtopics is not None:
            ids = {"query_id": take(table.qids, table.queries[rows]), "doc_id": docnos}
            self.by_subtopic = pa.table({**ids, "relevance": grades, "iteration": subtopics})
        repeated = index.repeated
        if len(repeated):
            grades = self._one_grade(index, repeated, grades, subtopics)
            keep = np.delete(np.arange(len(docnos)), repeated)
            docnos, grades = take(docnos, keep), grades[keep]
            index = PairIndex(np.searchsorted(keep, offsets), docnos)
        self.qids = first_of_each(table.source, rows[offsets[:-1]], self.qid_text.to_pylist())
        if isinstance(qrels, Mapping):  # only a dict can hold a query without a judgement
            own = {str(qid): qid for qid in qrels}
            self.qid_text = arrow_text(dict.fromkeys([*self.qid_text.to_pylist(), *own]))
            self.qids = [own[qid] for qid in self.qid_text.to_pylist()]
            ends = (0, len(own) + 1 - len(index.offsets))
            index = PairIndex(np.pad(index.offsets, ends, mode="edge"), docnos)
        self.docnos, self.grades, self.index, self.offsets = docnos, grades, index, index.offsets
        self.queries = queries_of(self.offsets)

    def _one_grade(
        self, index: PairIndex, repeated: Ints, grades: Floats, subtopics: pa.Array | None
    ) -> Floats:
        """The highest grade of a document judged for several subtopics, else the last."""
        queries = queries_of(index.offsets)
        last = index.find(queries, index.ids)
        has_subtopics = np.zeros(len(grades), dtype=bool)
        if subtopics is not None:
            other = pc.not_equal(subtopics, take(subtopics, last))
            has_subtopics[last[other.to_numpy(zero_copy_only=False)]] = True
        twice = repeated[~has_subtopics[last[repeated]]]
        differ = twice[grades[twice] != grades[last[twice]]]
        for row in differ[:1].tolist():
            example = (
                f"{index.ids[row].as_py()!r}, {grades[row]:g} and {grades[last[row]]:g} for query "
                f"{self.qid_text[int(queries[row])].as_py()!r}"
            )
            self.contradiction = Contradiction(
                f"the qrels judge {counted(len(np.unique(last[differ])), 'document')} twice, "
                f"differently: the last label counts (e.g. {example})",
                example,
            )
        highest, lowest = grades.copy(), grades.copy()
        np.maximum.at(highest, last, grades)
        np.minimum.at(lowest, last, grades)
        differ = np.flatnonzero(has_subtopics & (lowest < highest))
        if len(differ):
            warn(
                f"the qrels give {counted(len(differ), 'document')} different grades for subtopics "
                f"of one query (e.g. {index.ids[int(differ[0])].as_py()!r}): measures without "
                "subtopics use the highest"
            )
        return np.where(has_subtopics[last], highest[last], grades)

    @property
    def matching(self) -> dict[str, Any]:
        """How runs are matched with these judgements."""
        return {name: getattr(self, name) for name in MATCHING}

    def with_matching(self, matching: Mapping[str, Any]) -> Judgements:
        """The same judgements, with which runs are matched in another way."""
        if all(getattr(self, name) == value for name, value in matching.items()):
            return self
        other = copy_of(self)
        other.__dict__.update(matching)
        return other

    def of_queries(self, qids: Iterable[str]) -> Judgements:
        """The judgements of some of the queries.

        Warns of queries with judgements whose ids are written in another form.

        Raises:
            ValueError: where none of the queries is judged.
        """
        asked = arrow_text([*qids])
        rows = np.flatnonzero(np.isin(self.queries, positions(asked, self.qid_text)))
        if len(asked) and len(self) and not len(rows):
            raise ValueError(
                f"none of the {len(asked)} topics is judged: their ids look like "
                f"{asked[:1].to_pylist()}, the ids of the {len(self)} judged queries like "
                f"{self.qid_text[:1].to_pylist()}"
            )
        if form := other_form("query", asked, self.qid_text):
            warn(f"the frame of topics {form}")
        return self.select(rows)

    def select(self, rows: Ints) -> Judgements:
        """Some of the judgements, in their order, and the queries that have any of them."""
        columns = [take(self.qid_text, self.queries[rows]), take(self.docnos, rows)]
        names = ["query_id", "doc_id", "relevance"]
        other = Judgements(pa.table([*columns, arrow_numbers(self.grades[rows])], names))
        other.qids = [self.qids[query] for query in np.unique(self.queries[rows]).tolist()]
        if self.by_subtopic is not None:
            queries = positions(self.by_subtopic["query_id"].combine_chunks(), other.qid_text)
            docnos = self.by_subtopic["doc_id"].combine_chunks()
            other.by_subtopic = self.by_subtopic.filter(
                pa.array(other.index.find(queries, docnos) >= 0)
            )
        return other.with_matching(self.matching)

    def __getstate__(self) -> dict[str, Any]:
        """The state without cached results and without arrays that the index holds."""
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("docnos", "offsets", RESULTS)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.grades, self.queries = np.asarray(self.grades), np.asarray(self.queries)
        self.docnos, self.offsets = self.index.ids, self.index.offsets

    def regraded(self, grades: Mapping[float, float]) -> Judgements:
        """The same judgements with other grades for some of their grades."""
        other = copy_of(self)
        other.grades = self.grades.copy()
        for old, new in grades.items():
            other.grades[self.grades == old] = new
        return other

    def extended(self, queries: Ints, docnos: pa.LargeStringArray) -> tuple[Judgements, Ints]:
        """These judgements and unjudged documents, with grade -1.

        Args:
            queries: the query number of each new document, shape (U,).
            docnos: the new documents.

        Returns:
            The judgements, and the positions in them of these judgements and of the new documents,
            shape (J + U,).
        """
        queries = np.concatenate((self.queries, queries))
        order = order_by_query(queries)
        other, places = copy_of(self), np.empty_like(order)
        places[order] = np.arange(len(order))
        other.grades = np.concatenate((self.grades, np.full(len(docnos), -1.0)))[order]
        other.queries, other.offsets = queries[order], offsets_of(queries[order], len(self))
        other.docnos = take(pa.concat_arrays([self.docnos, docnos]), order)
        other.index = PairIndex(other.offsets, other.docnos)
        return other, places

    def __len__(self) -> int:
        return len(self.qids)

    @property
    def table(self) -> Columns:
        """The judgements by columns."""
        return Columns(self.queries.astype(np.int32), self.qid_text, self.docnos, self.grades, None)

    def relevant(self, rel: float) -> Ints:
        """The positions of the judged documents with a grade of ``rel`` or more, ascending."""
        return np.flatnonzero((self.grades >= rel) & (self.grades >= 0))

    @remembered
    def num_relevant(self, rel: float, below: float = np.inf) -> Ints:
        """The number of documents of each query with rel <= grade < below, shape (Q,)."""
        within = (self.grades >= max(rel, 0)) & (self.grades < below)
        return np.bincount(self.queries[within], minlength=len(self)).astype(np.int64)


def judgements_of(qrels: Any) -> Judgements:
    """Judgements from whatever :func:`~pyterrier_asl.evaluate` takes."""
    own: Any = qrels if isinstance(qrels, Judgements) else getattr(qrels, "judgements", None)
    if isinstance(own, Judgements):  # of Qrels
        return own
    if isinstance(qrels, (str, os.PathLike)):
        from ..io.qrels import read_qrels_table  # imports everything that reads files

        qrels = read_qrels_table(qrels)
    judgements = Judgements(qrels)
    pa.default_memory_pool().release_unused()  # the memory of the table
    return judgements


def shared_pairs(a: Judgements, b: Judgements) -> tuple[Ints, Ints]:
    """The pairs of query and document that both judged: their rows in each, in b's order.

    >>> a, b = Judgements({"q": {"d": 1, "e": 0}}), Judgements({"q": {"e": 2, "f": 1}})
    >>> [rows.tolist() for rows in shared_pairs(a, b)]
    [[1], [0]]
    """
    queries = positions(b.qid_text, a.qid_text)[b.queries]
    rows = np.flatnonzero(queries >= 0)
    at = a.index.find(queries[rows], b.docnos.take(pa.array(rows)))
    return at[at >= 0], rows[at >= 0]
