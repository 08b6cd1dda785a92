"""Pseudo-relevance feedback by Robertson's term selection value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from ..scoring.arrays import cumulate, ranges_from
from .bm25 import (
    HELP_URL,
    ParameterisedTransformer,
    check_count,
    check_not_negative,
    query_weights,
    robertson_weights,
    validate_any,
)
from .index import TermIndex
from .terrier import TerrierTerms


def select_terms(candidates: pd.DataFrame, num_docs: int, fb_terms: int) -> pd.DataFrame:
    """Selects the terms with the highest selection value r_t w_t for each query.

    Equal values are ordered by term, ascending. Terms with w_t <= 0, and terms that no feedback
    document contains, are never selected.

    Args:
        candidates: one row per query and candidate term: ``row``, the number of the query;
            ``term``; ``n``, the number of documents of the collection with the term; ``r``, the
            number of feedback documents of the query with the term.
        num_docs: N, the number of documents of the collection.
        fb_terms: the maximum number of selected terms per query.

    Returns:
        The candidates, the best of each query first, with ``w`` (w_t), ``rw`` (the selection value)
        and ``selected``.

    References:
        Robertson (1990), On term selection for query expansion; Clarke (2019), Length
        Normalization in the Era of Neural Rankers, section 4.1.

    Examples:
        >>> candidates = pd.DataFrame(
        ...     {"row": 0, "term": ["of", "radio", "wave"], "n": [600, 50, 20], "r": [5, 4, 3]}
        ... )
        >>> select_terms(candidates, 1000, 1)[["term", "selected"]].values.tolist()
        [['radio', True], ['wave', False], ['of', False]]
    """
    w = robertson_weights(candidates["n"], num_docs)
    table = candidates.assign(w=w, rw=candidates["r"] * w).sort_values(
        ["row", "rw", "term"], ascending=[True, False, True], ignore_index=True
    )
    first = table.groupby("row").cumcount() < fb_terms
    return table.assign(selected=first & (table["rw"] > 0))


def grow_weights(query: Mapping[str, float], selected: list[str], gamma: float) -> dict[str, float]:
    """Adds gamma to the weight of every selected term: q_t <- q_t + gamma.

    The terms of the query come first, in their order, then the others, in the given order.

    Examples:
        >>> grow_weights({"radio": 1.0, "the": 1.0}, ["radio", "wave"], gamma=0.5)
        {'radio': 1.5, 'the': 1.0, 'wave': 0.5}
    """
    grown = {term: float(weight) for term, weight in query.items()}
    for term in selected:
        grown[term] = grown.get(term, 0.0) + gamma
    return grown


class RobertsonPRF(ParameterisedTransformer):
    """Expands queries from their first results, by Robertson's selection value.

    r_t is the number of the first ``fb_docs`` documents that contain t. The ``fb_terms`` terms with
    the highest r_t w_t, w_t = ln((N - n + .5) / (n + .5)), are selected, whether or not they are in
    the query. Equal values are ordered by term, ascending; terms with w_t <= 0 are never selected.
    The query weight of each selected term grows by ``gamma``; other terms of the query keep their
    weights.

    The transformer turns results into queries, between two retrievers::

        bm25 = index.bm25()
        bm25 >> RobertsonPRF(index) >> bm25

    Over a :class:`~pyterrier_asl.TermIndex` the new query is in ``query_toks``. Over a Terrier
    index it is in ``query``, as ``applypipeline:off t1^w1 t2^w2 ...``, without ``query_toks``,
    whose terms Terrier would stem again. The original query is kept in ``query_0``
    (``pt.model.push_queries``); over a TermIndex ``query`` keeps the text for a reranker. The terms
    of a query come from ``query_toks`` if there are any, otherwise from its text. To return to the
    original query use ``pt.rewrite.reset()``, and over a TermIndex also drop ``query_toks``.

    The first documents have the lowest ``rank``, without a ``rank`` the highest ``score``, without
    both the first rows; a document that occurs twice counts once. A query keeps its weights if its
    documents have no term to select, or if it has no documents (a row without a docno).

    Args:
        index: a :class:`~pyterrier_asl.TermIndex`, or a Terrier index (with a direct index):
            ``pt.terrier.TerrierIndex``, a path, an IndexRef or an Index, or a
            :class:`~pyterrier_asl.retrieval.terrier.TerrierTerms` with another tokeniser.
        fb_docs: m, the number of feedback documents, 1 or more.
        fb_terms: n, the number of selected terms, 1 or more.
        gamma: the weight that is added to a selected term, 0 or more.

    Raises:
        ValueError: for a parameter out of its range.

    References:
        Robertson (1990), On term selection for query expansion; as used by Clarke (2019), Length
        Normalization in the Era of Neural Rankers, section 4.1, whose best settings for TREC 7 are
        m = 19, n = 25 and gamma = 0.198.

    Examples:
        >>> from pyterrier_asl.retrieval.index import TermIndex
        >>> index = TermIndex.from_documents(
        ...     [
        ...         {"docno": "d1", "text": "radio waves and the scattering of waves"},
        ...         {"docno": "d2", "text": "a radio receiver"},
        ...         {"docno": "d3", "text": "the voltage of a transistor"},
        ...         {"docno": "d4", "text": "ferrite cores"},
        ...         {"docno": "d5", "text": "transistor receiver"},
        ...     ],
        ...     verbose=False,
        ... )
        >>> bm25 = index.bm25()
        >>> feedback = bm25 >> RobertsonPRF(index, fb_docs=1, fb_terms=2, gamma=0.5)
        >>> feedback.search("waves")["query_toks"].tolist()
        [{'wave': 1.5, 'scatter': 0.5}]
    """

    schematic: ClassVar[dict[str, str]] = {"label": "Robertson", "help_url": HELP_URL}

    _attributes = ("statistics", "fb_docs", "fb_terms", "gamma")

    def __init__(
        self, index: Any, *, fb_docs: int = 10, fb_terms: int = 25, gamma: float = 0.2
    ) -> None:
        super().__init__()
        self.index = index
        self.fb_docs = fb_docs
        self.fb_terms = fb_terms
        self.gamma = gamma
        known = isinstance(index, (TermIndex, TerrierTerms))
        self.statistics: TermIndex | TerrierTerms = index if known else TerrierTerms(index)
        self._check()

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        queries, own, candidates = self._select(inp)
        chosen = candidates[candidates["selected"]].groupby("row")["term"].agg(list).to_dict()
        weights = [grow_weights(q, chosen.get(row, []), self.gamma) for row, q in enumerate(own)]
        column = self.statistics.query_column
        queries = queries.drop(columns="query_toks", errors="ignore")
        if "query" in queries.columns:
            queries = pt.model.push_queries(queries, keep_original=column != "query")
        new = list(map(self.statistics.weighted_query, weights))
        queries[column] = pd.Series(new, index=queries.index, dtype=object)
        return queries

    def expansion_terms(self, results: pd.DataFrame) -> pd.DataFrame:
        """The candidate terms of each query, with their statistics.

        Args:
            results: the input of :meth:`transform`.

        Returns:
            A frame with one row per query and candidate term, queries in the order of the results
            and the best terms first: ``qid``, ``term``, ``n`` (documents of the collection with the
            term), ``r`` (feedback documents with the term), ``w`` (w_t), ``rw`` (the selection
            value), ``weight`` (in the new query; 0: the term is not in it) and ``selected``.
        """
        queries, own, table = self._select(results)
        before = [own[row].get(term, 0.0) for row, term in zip(table["row"], table["term"])]
        table["weight"] = np.array(before, np.float64) + self.gamma * table["selected"]
        table["qid"] = queries["qid"].to_numpy()[table["row"].to_numpy()]
        return table[["qid", "term", "n", "r", "w", "rw", "weight", "selected"]]

    def compile(self) -> pt.Transformer:
        """This transformer after a rank cutoff at ``fb_docs``: it needs no more results."""
        return pt.RankCutoff(self.fb_docs) >> self

    def _select(
        self, results: pd.DataFrame
    ) -> tuple[pd.DataFrame, list[Mapping[str, float]], pd.DataFrame]:
        """The queries of results, their terms, and the candidate terms of feedback.

        Returns:
            The queries, one row each in the order of the results; the weights of the terms of each
            query; the terms of the feedback documents, as :func:`select_terms` returns them.
        """
        with validate_any(results, self) as v:
            v.result_frame(extra_columns=["query"], mode="query")
            v.result_frame(extra_columns=["query_toks"], mode="query_toks")
        self._check()
        columns = [c for c in results.columns if c in pt.model.query_columns(results)]
        queries = results[columns].drop_duplicates("qid").reset_index(drop=True)
        own = query_weights(queries, self.statistics.query_terms)
        feedback = _first_documents(results, queries, self.fb_docs)
        docnos, doc_of = np.unique(feedback["docno"].to_numpy(object), return_inverse=True)
        documents = self.statistics.doc_terms(docnos)
        sizes = np.diff(documents.offsets)[doc_of]
        entries = ranges_from(documents.offsets[doc_of], cumulate(sizes))
        rows = np.repeat(feedback["row"].to_numpy(np.int64), sizes)
        # Pairs of query and term are counted as numbers.
        base = int(documents.term_ids.max(initial=0)) + 1
        pairs, r = np.unique(rows * base + documents.term_ids[entries], return_counts=True)
        row, term_id = np.divmod(pairs, base)
        term_ids, term_of = np.unique(term_id, return_inverse=True)
        candidates = pd.DataFrame(
            {
                "row": row,
                "term": self.statistics.terms(term_ids)[term_of],
                "n": self.statistics.document_frequencies(term_ids)[term_of],
                "r": r,
            }
        )
        best = select_terms(candidates, self.statistics.num_docs, int(self.fb_terms))
        return queries, own, best

    def _check(self) -> None:
        check_count("fb_docs", self.fb_docs)
        check_count("fb_terms", self.fb_terms)
        check_not_negative("gamma", self.gamma)

    def subtransformers(self) -> dict[str, Any]:
        """No transformers; otherwise PyTerrier would list a Terrier index as one."""
        return {}


def _first_documents(results: pd.DataFrame, queries: pd.DataFrame, fb_docs: int) -> pd.DataFrame:
    """The first documents of each query: ``row``, its number in ``queries``, and ``docno``."""
    order: Any = 0  # the order of the results
    if "rank" in results.columns:
        order = pd.to_numeric(results["rank"])
    elif "score" in results.columns:
        order = -pd.to_numeric(results["score"])
    row = pd.Index(queries["qid"]).get_indexer(pd.Index(results["qid"]))
    documents = results[["docno"]].assign(row=row, order=order).dropna(subset="docno")
    documents = documents.astype({"docno": str}).astype({"docno": object})
    documents = documents.sort_values(["row", "order"], kind="stable")
    unique = documents.drop_duplicates(["row", "docno"])
    return unique.groupby("row", sort=False).head(int(fb_docs))
