"""The sweep: settings of BM25 and feedback over a TermIndex, scored without building frames.

``bm25`` or ``bm25 >> RobertsonPRF(index) >> bm25`` needs no pipeline to be run for every setting.
What does not change is made once: the terms of the queries, the first results while only feedback
is tuned, the new queries while only the last retrieval is. A setting is then arithmetic on the
postings, and ranks of the judged documents, from which most measures follow. Scores, ties and
values are those of the pipeline.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.compute as pc
import pyterrier as pt
from ir_measures import Measure

from ..judging import Judgements
from ..retrieval.bm25 import (
    BM25,
    bm25_scores,
    fetch_postings,
    idf_weights,
    query_weights,
    robertson_weights,
    top_documents,
)
from ..retrieval.feedback import RobertsonPRF
from ..retrieval.index import TermIndex
from .objective import Task
from .ranked import Ranked, Scorer, lengths_of, ranked, scorer
from .space import Setting, Space

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
T = TypeVar("T")

_PARAMETERS = {
    BM25: {"b", "k1", "num_results", "idf", "k3"},
    RobertsonPRF: {"fb_docs", "fb_terms", "gamma"},
}


class NotSwept(ValueError):
    """This search cannot be swept; the message says why."""


class Queries(NamedTuple):
    """The terms of Q queries, by number.

    Attributes:
        offsets: [Q + 1] where the terms of each query begin.
        terms: their numbers.
        weights: q_t.
    """

    offsets: Ints
    terms: Ints
    weights: Floats


class TopRanked(NamedTuple):
    """The first documents of Q queries: where each query's begin, [Q + 1], and their docids."""

    offsets: Ints
    docs: npt.NDArray[np.int32]


class Sweep:
    """What :class:`.objective.PipelineObjective` does, for BM25 and feedback over a TermIndex.

    Args:
        pipeline: ``bm25`` or ``bm25 >> RobertsonPRF(index) >> bm25``, all over one TermIndex.
        space: parameters of these.
        task: what to judge by: most measures that pytrec_eval computes (AP, nDCG, P, R, RR, ...),
            ASL, nASL, LexiP, TBG.

    Raises:
        NotSwept: for any other pipeline, parameter or measure.
    """

    #: The loops let go of Python's lock.
    backend = "threading"

    def __init__(self, pipeline: pt.Transformer, space: Space, task: Task) -> None:
        self.stages = _stages(pipeline)
        self.space = space
        _check_parameters(self.stages, space)
        self.index: TermIndex = self.stages[0].index
        self.scorers = {name: _scorer(measure) for name, measure in task.measures.items()}
        self.judgements = Judgements(task.qrels)
        self.query_terms = _query_terms(task.topics, self.judgements, self.index)
        self.own = _numbered(self.index, self.query_terms)
        self._prepare(task)
        self._made: dict[str, tuple[Any, Any]] = {}

    def _prepare(self, task: Task) -> None:
        """What every setting needs of the index, as plain arrays."""
        index, judgements = self.index, self.judgements
        docids = pd.Index(index.docnos, dtype=object).get_indexer(
            pd.Index(judgements.docnos.to_pylist(), dtype=object)
        )
        self.judged_docs = docids.astype(np.int32)
        self.id_order = np.empty(index.num_docs, np.uint32)
        self.id_order[pc.sort_indices(index.docno_strings)] = np.arange(index.num_docs)
        words = _words(task.measures.values(), index)
        self.words = np.zeros(index.num_docs) if words is None else words
        self.own_words = np.where(docids >= 0, self.words[docids], 0.0)
        names = "term_offsets", "posting_docs", "posting_tfs", "doc_offsets", "doc_term_ids"
        self.arrays = {name: np.asarray(index.array(name)) for name in names}
        self.length_ratios = index.doc_lengths / index.avg_doc_length
        n = np.diff(self.arrays["term_offsets"])
        self.idf = {idf: idf_weights(idf, n, index.num_docs) for idf in ("robertson", "terrier")}
        self.selection_weights = robertson_weights(n, index.num_docs)

    def __call__(self, setting: Setting) -> dict[str, float]:
        ranked = self.rank(setting)
        return {
            name: math.fsum(score(ranked)) / len(self.judgements)
            for name, score in self.scorers.items()
        }

    def per_query(self, setting: Setting) -> dict[str, Floats]:
        """The value of each measure for each query, in the order of the judgements."""
        ranked = self.rank(setting)
        return {name: score(ranked) for name, score in self.scorers.items()}

    def rank(self, setting: Setting) -> Ranked:
        """Where the judged documents are ranked at this setting."""
        stages = [self._with(stage, setting) for stage in self.stages]
        final = stages[-1]
        if len(stages) == 1:
            queries = self._once("saturated", final.k3, lambda: self._saturated(final.k3))
        else:
            queries = self._expanded(*stages[:2])
        return self._retrieve(final, queries)

    def _with(self, stage: Any, setting: Setting) -> Any:
        """The transformer with its parameters of this setting, the original left as it is."""
        chosen = {
            p.name: value for p, value in zip(self.space.parameters, setting)
            if p.transformer is stage
        }  # fmt: skip
        return pt.inspect.transformer_apply_attributes(stage, **chosen)

    def _once(self, what: str, key: Any, make: Callable[[], T]) -> T:
        """What ``make`` gives, kept until another key comes."""
        made = self._made.get(what)
        if made is None or made[0] != key:
            made = self._made[what] = (key, make())
        kept: T = made[1]
        return kept

    def _retrieve(self, bm25: BM25, queries: Queries) -> Ranked:
        from . import _kernels

        weights = queries.weights * self.idf[bm25.idf][queries.terms]
        b, k1 = float(bm25.b), float(bm25.k1)
        retrieved, offsets, which, ranks, words = _kernels.rank_judged(
            self.arrays["term_offsets"],
            self.arrays["posting_docs"],
            self.arrays["posting_tfs"],
            k1 * ((1.0 - b) + b * self.length_ratios),
            *_weighing(queries, weights * (k1 + 1.0)),
            int(bm25.num_results),
            self.id_order,
            self.words,
            self.judgements.offsets,
            self.judged_docs,
        )
        return ranked(self.judgements, retrieved, offsets, which, ranks, words, self.own_words)

    def _expanded(self, first: BM25, feedback: RobertsonPRF) -> Queries:
        before = (first.b, first.k1, first.num_results, first.idf, first.k3)
        settings = (int(feedback.fb_docs), int(feedback.fb_terms), float(feedback.gamma))
        # Kept to the largest depth so far, so that a deeper one is not retrieved again and again.
        depth = max(settings[0], self._made.get("depth", (None, 0))[1])
        self._made["depth"] = (None, depth)
        top = self._once("top", (before, depth), lambda: self._top(first, depth))
        return self._once("new", (before, settings), lambda: self._feedback(top, *settings))

    def _top(self, first: BM25, depth: int) -> TopRanked:
        postings = fetch_postings(self.index, self.query_terms, idf=first.idf, k3=first.k3)
        scores = bm25_scores(postings, b=first.b, k1=first.k1)
        top = top_documents(postings, scores, min(depth, first.num_results))
        return TopRanked(top.offsets, top.docs)

    def _feedback(self, top: TopRanked, fb_docs: int, fb_terms: int, gamma: float) -> Queries:
        from . import _kernels

        return Queries(
            *_kernels.expand(
                top.offsets,
                top.docs,
                self.arrays["doc_offsets"],
                self.arrays["doc_term_ids"],
                self.selection_weights,
                *self.own,
                fb_docs,
                fb_terms,
                gamma,
            )
        )

    def _saturated(self, k3: float | None) -> Queries:
        """The queries as they are, their weights saturated as the retriever does it."""
        if k3 is None:
            return self.own
        largest = [max(map(abs, query.values()), default=1.0) for query in self.query_terms]
        q = self.own.weights / np.repeat(largest, np.diff(self.own.offsets))
        return self.own._replace(weights=(k3 + 1) * q / (k3 + np.abs(q)))


def _stages(pipeline: pt.Transformer) -> list[Any]:
    """``[bm25]`` or ``[bm25, feedback, bm25]``."""
    stages = list(pipeline) if isinstance(pipeline, pt.Compose) else [pipeline]
    kinds = [type(stage) for stage in stages]
    if kinds not in ([BM25], [BM25, RobertsonPRF, BM25]):
        raise NotSwept(
            f"{pipeline!r} is neither a TermIndex's BM25 nor BM25 >> RobertsonPRF >> BM25"
        )
    if any(stage.index != stages[0].index for stage in stages):
        raise NotSwept("the stages of the pipeline are not over one TermIndex")
    return stages


def _check_parameters(stages: list[Any], space: Space) -> None:
    for parameter in space.parameters:
        if not any(parameter.transformer is stage for stage in stages):
            raise NotSwept(f"{parameter.transformer!r} is not one of the pipeline's own")
        if parameter.name not in _PARAMETERS[type(parameter.transformer)]:
            raise NotSwept(f"{parameter.name!r} is not a parameter of the sweep")
    tuned = {(id(p.transformer), p.name) for p in space.parameters}
    if len(stages) > 1 and (stages[-1].k3 is not None or (id(stages[-1]), "k3") in tuned):
        raise NotSwept("the last retrieval saturates query weights (k3)")


def _scorer(measure: Measure) -> Scorer:
    found = scorer(measure)
    if found is None:
        raise NotSwept(f"{measure} is not one of the sweep's measures")
    return found


def _words(measures: Any, index: TermIndex) -> Floats | None:
    """The lengths that TBG wants, the same for all of the measures."""
    wanted = [m for m in measures if "lengths" in m.SUPPORTED_PARAMS]
    first = None
    for measure in wanted:
        lengths = lengths_of(measure, index.docno_strings)
        if lengths is None or np.isnan(lengths).any():
            raise NotSwept(f"{measure} does not know the length of every document of the index")
        if first is not None and not np.array_equal(lengths, first):
            raise NotSwept("the measures take documents for differently long")
        first = lengths
    return first


def _query_terms(topics: pd.DataFrame, judgements: Judgements, index: TermIndex) -> list[Any]:
    """The weighted terms of each judged query; none for one that is not among the topics."""
    qids = topics["qid"].astype(str).tolist()
    if len(set(qids)) < len(qids):
        raise NotSwept("a query is among the topics twice")
    given = dict(zip(qids, query_weights(topics, index.query_terms)))
    return [given.get(qid, {}) for qid in judgements.qid_text.to_pylist()]


def _numbered(index: TermIndex, query_terms: list[Any]) -> Queries:
    """The terms that the index has, by number."""
    found = [
        [
            (term_id, weight)
            for term, weight in query.items()
            if (term_id := index.term_id(term)) is not None
        ]
        for query in query_terms
    ]
    pairs = [pair for query in found for pair in query]
    weights = np.array([weight for _, weight in pairs], np.float64)
    if not np.isfinite(weights).all():
        raise NotSwept("a query's term weighs what is not a finite number")
    return Queries(
        np.concatenate(([0], np.cumsum([len(query) for query in found]))).astype(np.int64),
        np.array([term_id for term_id, _ in pairs], np.int64),
        weights,
    )


def _weighing(queries: Queries, weights: Floats) -> tuple[Ints, Ints, Floats]:
    """Offsets, terms and weights of the terms that weigh something: others make no candidates."""
    counts = weights != 0
    if counts.all():
        return queries.offsets, queries.terms, weights
    offsets = np.concatenate(([0], np.cumsum(counts)))[queries.offsets]
    return offsets, queries.terms[counts], weights[counts]
