"""Runs in ranking order, matched with judgements: ties, duplicates, cut-offs.

Every measure and preference starts from a :class:`JudgedRun`, so that all of them see the same
ranking:

1. by score, descending, compared as 32-bit floats (as trec_eval does); equal scores by document id,
   descending, in plain string order; a ``rank`` column is ignored;
2. a document that occurs twice in a ranking is an error, or is counted once, at its best rank;
3. ``judged_only`` removes unjudged documents (negative grades count as unjudged);
4. a cut-off cuts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa

from ..common.notices import counted
from ..common.types import Bools, Floats, Ints
from ..io.columns import Columns, run_columns
from ..io.values import take
from ..scoring.arrays import cumulate, offsets_of, queries_of, within_query
from ..scoring.ties import TieGroups
from .judgements import Judgements
from .ranking import Ranking
from .remembered import Remembering, cached_property, remembered

#: Rows whose ranks and scores are compared.
_COMPARED_ROWS = 1 << 17
#: Fewer documents, in all queries or in one, can have the same score by chance.
_MIN_CONSTANT_DOCUMENTS, _MIN_CONSTANT_RANKING = 20, 10
#: Share of queries from which on equal scores of all their documents are a fault: more than in any
#: of 205 runs of TREC.
_CONSTANT = 0.25


@dataclass(frozen=True)
class Relevant:
    """The ranks of a run's relevant documents: most measures need nothing else.

    Attributes:
        ranks: the rank of each retrieved relevant document, from 1, query by query, ascending.
        offsets: the beginning of each query's ranks, shape (Q + 1,).
        total: relevant documents of each query, retrieved or not, shape (Q,).
        pairs: the position of each document in the judgements.
    """

    ranks: Ints
    offsets: Ints
    total: Ints
    pairs: Ints

    @property
    def queries(self) -> Ints:
        """The query number of each rank."""
        return queries_of(self.offsets)


@dataclass(frozen=True)
class JudgedRun(Remembering):
    """A run in order, matched with judgements: one entry per retrieved judged document.

    Attributes:
        judgements: the judgements that it was matched with, Q queries.
        table: the run by columns.
        whole_ranking: every retrieved document in rank order, without the effects of a view.
        retrieved: documents retrieved for each query, shape (Q,).
        queries: the query number of each entry, ascending, shape (E,).
        ranks: its rank from 1, ascending within a query, shape (E,).
        pairs: its position in the judgements, shape (E,).
        is_tied: whether the next place of ``whole_ranking`` has the same score, shape (N,).
        has_duplicates: whether a document occurs twice in the ranking of a query.
    """

    judgements: Judgements
    table: Columns
    whole_ranking: Ranking
    retrieved: Ints
    queries: Ints
    ranks: Ints
    pairs: Ints
    is_tied: Bools
    has_duplicates: bool = False
    _cutoff: int | None = None

    @classmethod
    def from_entries(
        cls, judgements: Judgements, retrieved: Ints, queries: Ints, ranks: Ints, pairs: Ints
    ) -> JudgedRun:
        """A JudgedRun without rows."""
        return cls(
            judgements=judgements,
            table=_no_table(),
            whole_ranking=Ranking(np.zeros(len(retrieved) + 1, dtype=np.int64), retrieved[:0]),
            retrieved=retrieved,
            queries=queries,
            ranks=ranks,
            pairs=pairs,
            is_tied=np.zeros(0, dtype=bool),
        )

    def without_rows(self) -> JudgedRun:
        """The same without its rows, which may be many: the table keeps only the first."""
        return replace(
            self,
            table=self.table.take(np.arange(len(self.table))[:1]),
            whole_ranking=Ranking(0 * self.whole_ranking.offsets, self.whole_ranking.rows[:0]),
            is_tied=self.is_tied[:0],
        )

    @property
    def constant_fault(self) -> str:
        """What is wrong if all documents of many queries have the same score; '' if few do."""
        offsets, constant = self.whole_ranking.offsets, np.zeros(len(self.retrieved), dtype=bool)
        is_longer = np.diff(offsets) > 1
        ends = np.stack((offsets[:-1][is_longer], offsets[1:][is_longer] - 1))
        with np.errstate(over="ignore"):  # as in `match`
            high, low = self.table.value[self.whole_ranking.rows[ends]].astype(np.float32)
        constant[is_longer] = high == low
        documents, long = self.retrieved[is_longer].sum(), self.retrieved >= _MIN_CONSTANT_RANKING
        in_all = documents >= _MIN_CONSTANT_DOCUMENTS and constant.sum() == is_longer.sum()
        many = (constant & long).sum()
        if not (in_all or (many and many >= _CONSTANT * long.sum())):
            return ""
        return (
            f"has the same score for all documents of {constant.sum():,} of "
            f"{counted(len(constant), 'query', 'queries')} (e.g. "
            f"{str(self.judgements.qids[int(np.argmax(constant))])!r}): as in trec_eval they are "
            "ordered by their ids, descending, and ranks are ignored; write scores that fall with "
            "the rank"
        )

    @property
    def ranks_contradict_scores(self) -> bool:
        """Whether ranks and scores order most pairs of adjacent rows of a query differently.

        Only the first 131,072 rows are compared. A run without numbers as ranks has no ranks.
        """
        ranks = self.table.ranks(_COMPARED_ROWS)
        queries, scores = self.table.queries[: len(ranks)], self.table.value[: len(ranks)]
        same = queries[1:] == queries[:-1]
        falls, rises = ranks[1:] < ranks[:-1], ranks[1:] > ranks[:-1]
        wrong = (rises & (scores[1:] > scores[:-1])) | (falls & (scores[1:] < scores[:-1]))
        return bool(2 * np.sum(wrong & same) > np.sum((falls | rises) & same))

    def tied_documents(self, cutoff: int | None = None) -> Ints:
        """The number of documents of each query with the score of another, shape (Q,).

        Args:
            cutoff: only documents down to this rank are counted; None: all are.
        """
        is_in, ranking = self.is_tied | np.append(False, self.is_tied[:-1]), self.whole_ranking
        if cutoff is not None:
            is_in = is_in & (within_query(ranking.offsets) < cutoff)
        return np.bincount(ranking.queries[is_in], minlength=len(self.retrieved))

    @cached_property
    def equal_scores(self) -> tuple[Ints, Ints, Ints]:
        """The groups of several documents of a query with equal scores, ascending: the query of
        each, its first rank, and its last."""
        changes = np.diff(self.is_tied, prepend=False, append=False)
        begins, ends = np.flatnonzero(changes).reshape(-1, 2).T
        queries = np.searchsorted(self.whole_ranking.offsets, begins, side="right") - 1
        before = self.whole_ranking.offsets[queries] - 1
        return queries, begins - before, ends - before

    @property
    def judged_depth(self) -> int | None:
        """The rank to which all documents are judged in all queries; None: all are."""
        in_order = self.ranks == within_query(self.offsets) + 1
        judged = np.bincount(self.queries[in_order], minlength=len(self.retrieved))
        cut = judged[judged < self.retrieved]
        return int(cut.min()) if len(cut) else None

    @cached_property
    def grades(self) -> Floats:
        """The grade of each entry, shape (E,)."""
        return self.judgements.grades[self.pairs]

    @cached_property
    def offsets(self) -> Ints:
        """The beginning of each query's entries, shape (Q + 1,)."""
        return offsets_of(self.queries, len(self.retrieved))

    @remembered
    def view(self, cutoff: int | None = None, judged_only: bool = False) -> JudgedRun:
        """The run without its unjudged documents, if asked, then cut to its first ``cutoff``."""
        run = self
        if judged_only:
            run = self.where(self.grades >= 0)
            run = replace(run, retrieved=np.diff(run.offsets), ranks=within_query(run.offsets) + 1)
        if cutoff is not None and np.any(run.retrieved > cutoff):
            retrieved = np.minimum(run.retrieved, cutoff)
            run = replace(run.where(run.ranks <= cutoff), retrieved=retrieved, _cutoff=cutoff)
        return run

    def where(self, keep: Bools) -> JudgedRun:
        """The same run with some of its entries."""
        return replace(
            self, queries=self.queries[keep], ranks=self.ranks[keep], pairs=self.pairs[keep]
        )

    def regraded(self, grades: Mapping[float, float]) -> JudgedRun:
        """The same run, with other grades for some grades of its judgements."""
        return replace(self, judgements=self.judgements.regraded(grades))

    @remembered
    def relevant(self, rel: float = 1) -> Relevant:
        """The ranks of the documents with a grade of ``rel`` or more."""
        keep = (self.grades >= rel) & (self.grades >= 0)
        offsets = offsets_of(self.queries[keep], len(self.retrieved))
        total = self.judgements.num_relevant(rel)
        return Relevant(self.ranks[keep], offsets, total, self.pairs[keep])

    @cached_property
    def ranking(self) -> Ranking:
        """Every retrieved document in rank order, down to the cut-off."""
        return self.whole_ranking.cut(self._cutoff)

    def docnos(self, ranking: Ranking) -> pa.LargeStringArray:
        """The document ids of a ranking of this run."""
        return take(self.table.docno, ranking.rows)


@cache
def _no_table() -> Columns:
    """The table of a run without rows."""
    return run_columns({})


# Runs in other orders of equal scores


@dataclass(frozen=True)
class TiedRun:
    """The queries of a run in which a judged document has the score of another document.

    Attributes:
        run: the run, without its rows and other queries.
        is_tied: whether a query is one of these, shape (Q,).
        first: the first rank with the score of each entry of the run, shape (E,).
        last: the last rank with this score.
    """

    run: JudgedRun
    is_tied: Bools
    first: Ints
    last: Ints

    @classmethod
    def of(cls, run: JudgedRun) -> TiedRun:
        """The queries of a run that has its rows.

        >>> from pyterrier_asl.judging.matching import judge
        >>> run = {"q": {"a": 2, "b": 1, "c": 1}, "r": {"a": 2, "b": 1}}
        >>> tied = TiedRun.of(judge(Judgements({"q": {"a": 1, "b": 1}, "r": {"a": 1}}), run))
        >>> tied.is_tied.tolist(), tied.first.tolist(), tied.last.tolist()
        ([True, False], [1, 2], [1, 3])
        """
        groups, queries = run.equal_scores, len(run.retrieved)
        scale = run.retrieved.max(initial=0) + 1
        group = np.searchsorted(
            groups[0] * scale + groups[1], run.queries * scale + run.ranks, side="right"
        )
        of_query, first, last = (np.append(-1, of)[group] for of in groups)
        is_in = (of_query == run.queries) & (run.ranks <= last)
        is_tied = np.bincount(run.queries[is_in], minlength=queries) > 0
        keep = is_tied[run.queries]
        first, last = (np.where(is_in, of, run.ranks)[keep] for of in (first, last))
        entries = (of[keep] for of in (run.queries, run.ranks, run.pairs))
        part = JudgedRun.from_entries(run.judgements, np.where(is_tied, run.retrieved, 0), *entries)
        return cls(part, is_tied, first, last)

    def ordered(self, gains: Floats | Bools, *, best_first: bool) -> JudgedRun:
        """The run with equal scores in the order of a gain of each entry, at least 0, shape (E,).

        Unjudged documents gain 0.
        """
        run, sign = self.run, -1.0 if best_first else 1.0
        place = within_query(self._offsets)  # groups are in the same order
        from_end = np.repeat(np.diff(self._offsets), np.diff(self._offsets)) - 1 - place
        ranks = self.first + place if best_first else self.last - from_end
        return replace(
            run, ranks=ranks, pairs=run.pairs[np.lexsort((sign * gains, self.first, run.queries))]
        )

    @property
    def _offsets(self) -> Ints:
        """The beginning of the entries of each group, and the end of the last."""
        is_new = np.ones(len(self.first) + 1, dtype=bool)
        is_new[1:-1] = (np.diff(self.run.queries) != 0) | (np.diff(self.first) != 0)
        return np.flatnonzero(is_new)

    def groups(
        self, gains: Floats | Bools, cutoff: int | None, *, judged_only: bool = False
    ) -> TieGroups:
        """The groups of equal scores with a document that gains something.

        Args:
            gains: the gain of each entry, at least 0, shape (E,).
            cutoff: the rank below which nothing counts; None: no cut-off.
            judged_only: whether unjudged documents are removed.
        """
        run, first, last = self.run, self.first, self.last
        keep = gains > 0
        if judged_only:
            judged = run.grades >= 0
            group = queries_of(self._offsets)
            sizes = np.bincount(group[judged], minlength=len(self._offsets) - 1)
            begins = cumulate(sizes)
            before = cumulate(np.bincount(run.queries[judged], minlength=len(run.judgements)))
            first = begins[group] - before[run.queries] + 1
            last = first + sizes[group] - 1
            keep &= judged
        return TieGroups.of(
            run.queries[keep],
            first[keep],
            last[keep],
            gains[keep].astype(np.float64),
            len(run.judgements),
            cutoff,
        )
