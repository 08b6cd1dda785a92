"""The sweep: settings of BM25 and feedback over a TermIndex, scored without building frames.

``bm25`` or ``bm25 >> RobertsonPRF(index) >> bm25`` needs no pipeline to be run for every setting.
What does not change is made once: the terms of the queries, the first results while only feedback
is tuned, the new queries while only the last retrieval is. A setting is then arithmetic on the
postings, and ranks of the judged documents, from which most measures follow. Scores, ties and
values are those of the pipeline.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.compute as pc
import pyterrier as pt

from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements
from ..retrieval.bm25 import (
    BM25,
    TopDocuments,
    WeightedQueries,
    number_terms,
    query_weights,
    robertson_weights,
    scoring_weights,
    top_documents,
)
from ..retrieval.feedback import RobertsonPRF
from ..retrieval.index import TermIndex
from .objective import Objective, TuningTask, ids_as_text
from .ranked import JudgedRanks, follows_from_ranks, known_lengths, score_ranks
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


class Sweep(Objective):
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

    def __init__(self, pipeline: pt.Transformer, space: Space, task: TuningTask) -> None:
        for measure in task.measures.values():
            if not follows_from_ranks(measure):
                raise NotSwept(f"{measure} is not one of the sweep's measures")
        self.stages = _stages(pipeline)
        self.space = space
        _check_parameters(self.stages, space)
        self.index: TermIndex = self.stages[0].index
        self.task = task
        self.judgements = Judgements(task.qrels)
        self.query_terms = _query_terms(task.topics, self.judgements, self.index)
        self.own = number_terms(self.index, self.query_terms)
        self._prepare()
        self._made: dict[str, tuple[Any, Any]] = {}

    def _prepare(self) -> None:
        """What every setting needs of the index, as plain arrays."""
        index, judgements = self.index, self.judgements
        docids = pd.Index(index.docnos, dtype=object).get_indexer(
            pd.Index(judgements.docnos.to_pylist(), dtype=object)
        )
        self.judged_docs = docids.astype(np.int32)
        self.id_order = np.empty(index.num_docs, np.uint32)
        self.id_order[pc.sort_indices(index.docno_strings)] = np.arange(index.num_docs)
        lengths = _doc_lengths(self.task.measures.values(), index)
        self.lengths = np.zeros(index.num_docs) if lengths is None else lengths
        self.own_lengths = np.where(docids >= 0, self.lengths[docids], 0.0)
        n = np.diff(index.array("term_offsets"))
        self.selection_weights = robertson_weights(n, index.num_docs)

    def per_query(self, setting: Setting) -> dict[str, Floats]:
        """The value of each measure for each query, in the order of the judgements."""
        ranked = self.rank(setting)
        return {name: score_ranks(one, ranked) for name, one in self.task.measures.items()}

    def rank(self, setting: Setting) -> JudgedRanks:
        """Where the judged documents are ranked at this setting."""
        stages = [self._with(stage, setting) for stage in self.stages]
        queries = self._given(stages[0].k3) if len(stages) == 1 else self._expanded(*stages[:2])
        return self._retrieve(stages[-1], queries)

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

    def _given(self, k3: float | None) -> WeightedQueries:
        """The queries as they are given."""
        return self._once("own", k3, lambda: number_terms(self.index, self.query_terms, k3=k3))

    def _retrieve(self, bm25: BM25, queries: WeightedQueries) -> JudgedRanks:
        from ..retrieval import _kernels

        retrieved, offsets, which, ranks, above = _kernels.rank_judged(
            self.index.scoring_arrays,
            scoring_weights(self.index, queries, k1=bm25.k1, idf=bm25.idf),
            float(bm25.k1),
            float(bm25.b),
            min(int(bm25.num_results), self.index.num_docs),
            self.id_order,
            self.lengths,
            self.judgements.offsets,
            self.judged_docs,
        )
        numbers = np.repeat(np.arange(len(retrieved)), np.diff(offsets))
        judged = JudgedRun.from_entries(self.judgements, retrieved, numbers, ranks, which)
        lengths_above = np.zeros(len(self.judged_docs))
        lengths_above[which] = above
        return JudgedRanks(judged, lengths_above, self.own_lengths)

    def _expanded(self, first: BM25, feedback: RobertsonPRF) -> WeightedQueries:
        """The queries with feedback."""
        from ..retrieval import _kernels

        before = (first.b, first.k1, first.num_results, first.idf, first.k3)
        settings = (int(feedback.fb_docs), int(feedback.fb_terms), float(feedback.gamma))
        # Kept to the largest depth so far, so that a deeper one is not retrieved again and again.
        depth = max(settings[0], self._made.get("depth", (None, 0))[1])
        self._made["depth"] = (None, depth)

        def retrieve() -> TopDocuments:
            return top_documents(
                self.index, self._given(first.k3), b=first.b, k1=first.k1, idf=first.idf,
                num_results=min(depth, first.num_results),
            )  # fmt: skip

        def expand() -> WeightedQueries:
            offsets, term_ids, _ = self.index.forward_arrays
            return WeightedQueries(
                *_kernels.expand(
                    top, offsets, term_ids, self.selection_weights, self.own, *settings
                )
            )

        top = self._once("top", (before, depth), retrieve)
        return self._once("new", (before, settings), expand)


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


def _doc_lengths(measures: Any, index: TermIndex) -> Floats | None:
    """The lengths that TBG wants, the same for all of the measures."""
    wanted = [m for m in measures if "lengths" in m.SUPPORTED_PARAMS]
    first = None
    for measure in wanted:
        lengths = known_lengths(measure, index.docno_strings)
        if lengths is None or np.isnan(lengths).any():
            raise NotSwept(f"{measure} does not know the length of every document of the index")
        if first is not None and not np.array_equal(lengths, first):
            raise NotSwept("the measures take documents for differently long")
        first = lengths
    return first


def _query_terms(topics: pd.DataFrame, judgements: Judgements, index: TermIndex) -> list[Any]:
    """The weighted terms of each judged query; none for one that is not among the topics."""
    qids = ids_as_text(topics["qid"], "qid of the topics").tolist()
    if len(set(qids)) < len(qids):
        raise NotSwept("a query is among the topics twice")
    given = dict(zip(qids, query_weights(topics, index.query_terms)))
    return [given.get(qid, {}) for qid in judgements.qid_text.to_pylist()]
