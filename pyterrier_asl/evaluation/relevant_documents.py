"""The relevant documents of one run, with their search lengths, or of many runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..common.lazy import pd
from ..common.parameters import check_whole
from ..common.types import Bools, Floats, Ints
from ..io.runs import load_run
from ..judging.judged_run import JudgedRun
from ..judging.judgements import judgements_of
from ..judging.matching import judge_whole
from ..measures import ASL
from ..scoring import search_length as scoring
from ..scoring.arrays import cumulate, divide, queries_of, sum_by_query, within_query
from .facts import Facts, with_notes
from .run_facts import RunFacts
from .sources import warn_of_grades

if TYPE_CHECKING:
    from .evaluation import Evaluation


@dataclass(frozen=True)
class RelevantDocuments:
    """The R relevant documents of Q queries in one run, in the order of the judgements.

    The order does not depend on the run, so two runs compare document by document.

    Attributes:
        pairs: position of each in the judgements, shape (R,).
        queries: query number of each, ascending, shape (R,).
        total: relevant documents of each query, shape (Q,).
        ranks: rank of each, 0 if it was not retrieved, shape (R,).
        lengths: search length of each (Eq. 1, 2), shape (R,).
        precision: precision at the rank of each, 0 if it was not retrieved (Eq. 6), shape (R,).
    """

    pairs: Ints
    queries: Ints
    total: Ints
    ranks: Ints
    lengths: Ints
    precision: Floats

    @classmethod
    def of(
        cls,
        run: JudgedRun,
        *,
        rel: float = 1,
        cutoff: int | None = None,
        missing: str = "pad",
        judged_only: bool = False,
    ) -> RelevantDocuments:
        """The relevant documents of a run.

        Args:
            run: the whole run.
            rel: minimum grade of a relevant document.
            cutoff: k, as in ``ASL@k``.
            missing: see :data:`~pyterrier_asl.ASL`.
            judged_only: whether unjudged documents are removed first.
        """
        measure = ASL(rel=rel, cutoff=cutoff, missing=missing, judged_only=judged_only)  # checks
        view = run.view(measure["cutoff"], measure["judged_only"])
        relevant, pairs = view.relevant(measure["rel"]), run.judgements.relevant(measure["rel"])
        queries = run.judgements.queries[pairs]
        at = np.searchsorted(pairs, relevant.pairs)
        ranks, precision = np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs))
        ranks[at] = relevant.ranks
        precision[at] = (within_query(relevant.offsets) + 1) / relevant.ranks
        lengths = (measure.missing_costs(view) - np.diff(relevant.offsets))[queries]
        lengths[at] = scoring.search_lengths(relevant.ranks, relevant.offsets)
        return cls(pairs, queries, relevant.total, ranks, lengths, precision)

    @cached_property
    def found(self) -> Bools:
        """Whether each was retrieved, shape (R,)."""
        return self.ranks > 0

    def mean(self, values: npt.NDArray[np.generic], without: float) -> Floats:
        """The mean over each query's documents, ``without`` if it has none, shape (Q,)."""
        return divide(sum_by_query(values, cumulate(self.total)), self.total, without)

    @cached_property
    def asl(self) -> Floats:
        """ASL of each query (Eq. 4), shape (Q,)."""
        return self.mean(self.lengths, 1.0)

    @cached_property
    def recall(self) -> Floats:
        """R@k of each query, shape (Q,)."""
        return self.mean(self.found, 0.0)


@dataclass(frozen=True)
class RelevantRanks:
    """The ranks of all relevant documents in S runs; R documents, query by query.

    Attributes:
        ranks: rank of each document in each run, 0 if it was not retrieved, shape (S, R).
        pairs: position of each document in the judgements, shape (R,).
        total: relevant documents of each query, shape (Q,).
    """

    ranks: Ints
    pairs: Ints
    total: Ints

    @classmethod
    def of(cls, runs: Evaluation, rel: float = 1, cutoff: int | None = None) -> RelevantRanks:
        """The ranks of the relevant documents in the runs.

        >>> from pyterrier_asl.evaluation.evaluation import Evaluation
        >>> runs = Evaluation.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"c": 1, "d": 1}})
        >>> RelevantRanks.of(runs).ranks.tolist()
        [[0, 2]]
        """
        documents = relevant_documents(runs, rel, cutoff)
        return cls(
            np.array([run.ranks for run in documents]), documents[0].pairs, documents[0].total
        )

    @cached_property
    def queries(self) -> Ints:
        """The query number of each document, shape (R,)."""
        return queries_of(cumulate(self.total))

    def documents_of(self, runs: Evaluation, qid: Any = None) -> Ints:
        """The columns of the documents of a query; None: of all queries.

        Raises:
            ValueError: for a query without judgements.
        """
        if qid is None:
            return np.arange(len(self.pairs))
        qids = list(map(str, runs.qids))
        if str(qid) not in qids:
            raise ValueError(f"query {qid!r} is not in the qrels, whose ids look like {qids[0]!r}")
        return np.flatnonzero(self.queries == qids.index(str(qid)))

    def found(self, depth: int | None = None) -> Bools:
        """Whether each run has each document among its first ``depth``, shape (S, R)."""
        if depth is not None:
            check_whole("depth", depth)
        there = self.ranks > 0
        return there if depth is None else there & (self.ranks <= depth)

    def reciprocal(self, labelled: Bools | None = None) -> Floats:
        """RR_1, RR_2, ... of each query in turn, shape (S, R).

        Args:
            labelled: which documents are known to be relevant, shape (R,). The others have 0 at the
                end of each query, like missed documents, so that runs do not differ there.
        """
        there = self.found() if labelled is None else self.found() & labelled
        beyond = int(self.ranks.max(initial=0)) + 1
        # One sort orders each query, as the queries have disjoint ranges of numbers.
        start = self.queries * (beyond + 1)
        ranks = np.sort(start + np.where(there, self.ranks, beyond), axis=1) - start
        return np.where(ranks < beyond, 1 / ranks, 0.0)


def relevant_documents(
    judged: Evaluation, rel: float = 1, cutoff: int | None = None, missing: str = "pad"
) -> list[RelevantDocuments]:
    """The relevant documents in each run; for the arguments see :meth:`RelevantDocuments.of`."""
    return [
        RelevantDocuments.of(run, rel=rel, cutoff=cutoff, missing=missing) for run in judged.runs
    ]


def search_lengths(
    run: Any,
    qrels: Any,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    missing: str = "pad",
    judged_only: bool = False,
) -> pd.DataFrame:
    """The search lengths that ASL averages: one row per relevant document, retrieved or not.

    Args:
        run: file, data frame (``qid``, ``docno``, ``score``, or ir_measures' names), dict of dicts,
            or iterable of ``ir_measures.ScoredDoc``.
        qrels: file, ir_datasets id, data frame (``qid``, ``docno``, ``label``, or ir_measures'
            names), dict of dicts, iterable of ``ir_measures.Qrel``, or
            :class:`~pyterrier_asl.Qrels`.
        rel: minimum grade of a relevant document; None: 1.
        cutoff: k, as in ``ASL@k``.
        missing: ``'pad'``, ``'after'`` or ``'eq3'``, see :data:`~pyterrier_asl.ASL`.
        judged_only: whether unjudged documents are removed first.

    Returns:
        A frame ordered by query and rank, with missed documents last: ``qid``; ``docno``;
        ``grade``; ``rank`` (from 1; none if the document was not retrieved); ``search_length``
        (irrelevant documents above, + 1); ``unjudged_above`` (the number of unjudged documents
        above; for a missed document, the number of unjudged documents of the query).

    Raises:
        ValueError: for parameters out of range, bad columns or values, an empty run or empty qrels,
            a run that shares no document with the qrels.

    Source: Alex, Hall, Metzler 2022, Eq. 1-3.

    >>> qrels = {"q": {"a": 1, "b": 1, "x": 0}}
    >>> search_lengths({"q": {"a": 3, "x": 2, "y": 1}}, qrels, cutoff=10)
      qid docno  grade  rank  search_length  unjudged_above
    0   q     a      1     1              1               0
    1   q     b      1  <NA>             10               1
    """
    judgements = judgements_of(qrels)
    judged = judge_whole(judgements, load_run(run))
    warn_of_grades(judgements, None, rel)
    least = 1 if rel is None else rel
    documents = RelevantDocuments.of(
        judged, rel=least, cutoff=cutoff, missing=missing, judged_only=judged_only
    )
    grades = judgements.grades[documents.pairs]
    if np.all((grades % 1 == 0) & (np.abs(grades) < 2**53)):
        grades = grades.astype(np.int64)
    frame = pd.DataFrame(
        {
            "qid": pd.Series(judgements.qids).iloc[documents.queries].to_numpy(),
            "docno": judgements.docnos.take(documents.pairs).to_pandas(),
            "grade": grades,
            "rank": pd.Series(documents.ranks, dtype="Int64").where(documents.found),
            "search_length": documents.lengths,
            "unjudged_above": unjudged_above(judged.view(cutoff, judged_only), documents),
        }
    )
    last = np.where(documents.found, documents.ranks, np.iinfo(np.int64).max)
    ordered = frame.iloc[np.lexsort((last, documents.queries))].reset_index(drop=True)
    measures = {"": ASL(rel=least, cutoff=cutoff)}
    return with_notes(
        ordered, {"": Facts({"run": RunFacts.of(judged, measures)}, judgements, measures)}
    )


def unjudged_above(view: JudgedRun, documents: RelevantDocuments) -> Ints:
    """Number of unjudged documents above each relevant one, or in the ranking if it was missed."""
    counted = view.grades >= 0
    pairs, ranks = view.pairs[counted], view.ranks[counted]
    offsets = cumulate(counted)[view.offsets]
    above = (view.retrieved - np.diff(offsets))[documents.queries]
    is_relevant = np.isin(pairs, documents.pairs)
    at = np.searchsorted(documents.pairs, pairs[is_relevant])
    above[at] = (ranks - 1 - within_query(offsets))[is_relevant]
    return above
