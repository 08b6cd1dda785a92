"""The sweep: settings of BM25 and feedback over a TermIndex, scored without building frames.

``bm25`` and ``bm25 >> RobertsonPRF(index) >> bm25`` need not be run for every setting. Results that
do not change are kept: the terms of the queries, the first results while only feedback is tuned,
the new queries while only the last retrieval is tuned. A setting is then arithmetic on the postings
and gives the ranks of the judged documents, from which most measures are computed. Scores, ties and
values equal the pipeline's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyterrier as pt
from ir_measures import Measure

from ..common.extras import install_command
from ..common.types import Floats, Ints
from ..judging.judged_run import JudgedRun
from ..measures.directions import added_up
from ..measures.formula import Formula, formula
from ..retrieval.bm25 import BM25, number_terms, query_weights, scoring_weights, top_documents
from ..retrieval.feedback import RobertsonPRF, candidates_of, expand_queries
from ..retrieval.index import TermIndex
from ..retrieval.postings import Int32s, WeightedQueries
from ..scoring.arrays import cumulate, queries_of, within_query
from .objective import Objective, TuningTask, ids_as_text
from .space import Setting, Space

T = TypeVar("T")


class NotSwept(ValueError):
    """The error of a search that cannot be swept, with the reason."""


class Sweep(Objective):
    """An objective for BM25 and feedback over a TermIndex, with the values of the pipeline itself.

    Args:
        pipeline: ``bm25`` or ``bm25 >> RobertsonPRF(index) >> bm25``, all over one TermIndex.
        space: parameters of these transformers.
        task: the topics, judgements and measures. ASL, nASL, LexiP, TBG and most measures of
            pytrec_eval (AP, nDCG, P, R, RR, ...) can be swept.

    Raises:
        NotSwept: for any other pipeline, parameter or measure.
    """

    #: The loops release Python's lock.
    backend = "threading"

    def __init__(self, pipeline: pt.Transformer, space: Space, task: TuningTask) -> None:
        super().__init__(pipeline, space, task)
        try:
            from ..retrieval._kernels import rank_judged
        except ImportError:
            raise NotSwept(f"the sweep needs Numba: {install_command('fast')}") from None
        self._rank_judged = rank_judged
        self.measures = {name: _sweepable(measure) for name, measure in task.measures.items()}
        self.stages = _stages(pipeline, space)
        self.index: TermIndex = self.stages[0].index
        qids = ids_as_text(task.topics["qid"], "qid of the topics")
        terms = dict(zip(qids, query_weights(task.topics, self.index.query_terms)))
        # Of each judged query, which may be no topic.
        self.query_terms = [terms.get(qid, {}) for qid in task.judgements.qid_text.to_pylist()]
        self.own = [
            {
                number: q
                for term, q in query.items()
                if (number := self.index.term_id(term)) is not None
            }
            for query in self.query_terms
        ]
        self._kept: dict[str, tuple[Any, Any]] = {}
        self._depth = 0
        docids = pd.Index(self.index.docnos, dtype=object).get_indexer(
            pd.Index(task.judgements.docnos.to_pylist(), dtype=object)
        )
        self.judged_docs = docids.astype(np.int32)
        self.id_order = np.empty(self.index.num_docs, np.uint32)
        self.id_order[pc.sort_indices(self.index.docno_strings)] = np.arange(self.index.num_docs)
        self.lengths = _doc_lengths(self.measures.values(), self.index)
        self.own_lengths = np.where(docids >= 0, self.lengths[docids], 0.0)

    def per_query(self, setting: Setting) -> dict[str, Floats]:
        """The value of each measure for each query, in the order of the judgements."""
        stages = [
            pt.inspect.transformer_apply_attributes(
                stage,
                **{
                    parameter.name: value
                    for parameter, value in zip(self.space.parameters, setting)
                    if parameter.transformer is stage
                },
            )
            for stage in self.stages
        ]
        queries = self._queries(stages[0].k3) if len(stages) == 1 else self._expand(*stages[:2])
        judged, lengths_above = self._retrieve(stages[-1], queries)
        return {
            name: self._timed_values(measure, judged, lengths_above)
            if measure.NEEDS_LENGTHS
            else measure.values(judged)
            for name, measure in self.measures.items()
        }

    def _once(self, what: str, key: object, make: Callable[[], T]) -> T:
        """The result of ``make``, kept until the key changes."""
        if what not in self._kept or self._kept[what][0] != key:
            self._kept[what] = (key, make())
        return self._kept[what][1]  # type: ignore[no-any-return]

    def _queries(self, k3: float | None) -> WeightedQueries:
        """The queries without feedback."""
        return self._once(
            "own", k3, lambda: number_terms(self.index.term_id, self.query_terms, k3=k3)
        )

    def _retrieve(self, bm25: BM25, queries: WeightedQueries) -> tuple[JudgedRun, Floats]:
        """The ranks of the judged documents, and the number of words of all documents above each
        judged document that was retrieved, shape (J,)."""
        retrieved, offsets, which, ranks, above = self._rank_judged(
            self.index.scoring_arrays,
            scoring_weights(self.index, queries, k1=bm25.k1, idf=bm25.idf),
            float(bm25.k1),
            float(bm25.b),
            min(int(bm25.num_results), self.index.num_docs),
            self.id_order,
            self.lengths,
            self.task.judgements.offsets,
            self.judged_docs,
        )
        lengths_above = np.zeros(len(self.judged_docs))
        lengths_above[which] = above
        entries = retrieved, queries_of(offsets), ranks, which
        return JudgedRun.from_entries(self.task.judgements, *entries), lengths_above

    def _timed_values(self, measure: Any, judged: JudgedRun, lengths_above: Floats) -> Floats:
        """The values of a measure of lengths, from the words above each relevant document.

        Documents between two relevant documents count by the sum of their words, so this sum is the
        length of one of them, and the others have length 0.
        """
        view = measure.view(judged)
        relevant = view.relevant(measure.rel)
        offsets = cumulate(view.retrieved)
        place = offsets[relevant.queries] + relevant.ranks - 1
        above, own = lengths_above[relevant.pairs], self.own_lengths[relevant.pairs]
        is_first = within_query(relevant.offsets) == 0
        lengths = np.zeros(offsets[-1])
        lengths[place - 1] = above - np.where(is_first, 0.0, np.roll(above + own, 1))
        lengths[place] = own  # after the line above, because the document above may be relevant
        return measure.from_lengths(view, lengths, offsets)  # type: ignore[no-any-return]

    def _expand(self, first: BM25, feedback: RobertsonPRF) -> WeightedQueries:
        """The queries with feedback."""
        before = (first.b, first.k1, first.num_results, first.idf, first.k3)
        settings = (feedback.fb_docs, feedback.fb_terms, feedback.gamma, feedback.weights)
        # The largest depth so far is kept, so that deep results are retrieved once.
        depth = self._depth = max(feedback.fb_docs, self._depth)

        def retrieve() -> tuple[Ints, Int32s, Floats]:
            return top_documents(
                self.index,
                self._queries(first.k3),
                b=first.b,
                k1=first.k1,
                idf=first.idf,
                num_results=min(depth, first.num_results),
            )

        def expand() -> WeightedQueries:
            is_first = within_query(offsets) < feedback.fb_docs
            rows = queries_of(offsets)[is_first]
            # A query without documents has no results, as in the pipeline.
            own = [q if n else {} for q, n in zip(self.own, np.diff(offsets))]
            documents = self.index.terms_of_docids(docs[is_first])
            candidates = candidates_of(self.index, rows, documents, own, feedback.weights)
            queries, weights = zip(*expand_queries(own, candidates, feedback, np.asarray))
            return number_terms(int, queries, term_weights=[of_query or {} for of_query in weights])

        offsets, docs, _ = self._once("top", (before, depth), retrieve)
        return self._once("new", (before, settings), expand)


def _stages(pipeline: pt.Transformer, space: Space) -> list[Any]:
    """``[bm25]`` or ``[bm25, feedback, bm25]``, whose parameters of the space can be swept."""
    stages = list(pipeline) if isinstance(pipeline, pt.Compose) else [pipeline]
    if [type(stage) for stage in stages] not in ([BM25], [BM25, RobertsonPRF, BM25]):
        raise NotSwept(
            f"{pipeline!r} is neither a TermIndex's BM25 nor BM25 >> RobertsonPRF >> BM25"
        )
    if any(stage.index != stages[0].index for stage in stages):
        raise NotSwept("the stages of the pipeline are not over one TermIndex")
    if any(parameter.name == "index" for parameter in space.parameters):
        raise NotSwept("'index' is not a parameter of the sweep")
    if len(stages) > 1 and (
        stages[-1].k3 is not None
        or "k3" in [p.name for p in space.parameters if p.transformer is stages[-1]]
    ):
        raise NotSwept("the last retrieval saturates query weights (k3)")
    return stages


def _doc_lengths(measures: Iterable[Formula], index: TermIndex) -> Floats:
    """The words of documents that measures need, the same for all of the measures."""
    lengths_of_measures: list[Floats] = []
    for measure in measures:
        if measure.NEEDS_LENGTHS:
            own, other = measure["lengths"], measure["missing_length"]
            known = (
                own.look_up(index.docno_strings)
                if own is not None
                else np.full(index.num_docs, np.nan)
            )
            lengths = np.where(np.isnan(known), np.nan if other is None else other, known)
            if np.isnan(lengths).any():
                raise NotSwept(f"{measure} does not know the length of every document of the index")
            if lengths_of_measures and not np.array_equal(lengths, lengths_of_measures[0]):
                raise NotSwept("the measures have different lengths of the documents")
            lengths_of_measures.append(lengths)
    return lengths_of_measures[0] if lengths_of_measures else np.zeros(index.num_docs)


def _sweepable(measure: Measure) -> Formula:
    """The object that computes a measure from the ranks of judged documents.

    Raises:
        NotSwept: for any other measure.
    """
    computes = formula(measure)
    if (
        computes is None
        or added_up(measure)
        or (computes.needs_rows() and not computes.NEEDS_LENGTHS)
    ):
        raise NotSwept(f"{measure} is not one of the sweep's measures")
    return computes
