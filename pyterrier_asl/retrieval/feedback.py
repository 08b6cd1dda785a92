"""Pseudo-relevance feedback by Robertson's term selection value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from ..scoring.arrays import Ints, cumulate, ranges_from
from ..statistics.inputs import check_name, check_whole
from ._feedback_kernels import TIE
from .bm25 import (
    HELP_URL,
    TERM_WEIGHTS,
    ParameterisedTransformer,
    check_number,
    queries_of_results,
    query_weights,
    validate_any,
)
from .index import TermIndex
from .terrier import TerrierTerms
from .weights import relevance_weights, robertson_weights

#: The kinds of term weights.
WEIGHTS = ("idf", "rsj")


def select_terms(
    candidates: pd.DataFrame, num_docs: int, fb_terms: int, *, weights: str = "idf"
) -> pd.DataFrame:
    """Selects the terms with the highest selection value r_t w_t for each query.

    Values that differ by 1e-9 of them or less are equal, and ordered by term, ascending. Terms with
    w_t <= 0, and terms that no feedback document contains, are never selected.

    Args:
        candidates: one row per query and candidate term: ``row``, the number of the query;
            ``term``; ``n``, the number of documents of the collection with the term; ``r``, the
            number of feedback documents of the query with the term; for ``weights='rsj'`` also
            ``m``, the number of feedback documents of the query.
        num_docs: N, the number of documents of the collection.
        fb_terms: the maximum number of selected terms per query.
        weights: ``'idf'`` or ``'rsj'``, see :class:`RobertsonPRF`.

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
    if weights == "rsj":
        w = relevance_weights(candidates["r"], candidates["n"], num_docs, candidates["m"])
    else:
        w = robertson_weights(candidates["n"], num_docs)
    table = candidates.assign(w=w, rw=candidates["r"] * w).sort_values(
        ["row", "rw"], ascending=[True, False], ignore_index=True
    )
    larger = table["rw"].shift()
    differs = (larger - table["rw"] > TIE * larger.abs()) | (table["row"].diff() != 0)
    table = table.assign(tie=differs.cumsum()).sort_values(["tie", "term"], ignore_index=True)
    first = table.groupby("row").cumcount() < fb_terms
    return table.drop(columns="tie").assign(selected=first & (table["rw"] > 0))


def grow_weights(query: Mapping[str, float], selected: list[str], gamma: float) -> dict[str, float]:
    """Adds gamma to the weight of every selected term: q_t <- q_t + gamma.

    The terms of the query come first, in their order, then the others, in the given order, unless
    gamma is 0.

    Examples:
        >>> grow_weights({"radio": 1.0, "the": 1.0}, ["radio", "wave"], gamma=0.5)
        {'radio': 1.5, 'the': 1.0, 'wave': 0.5}
    """
    grown = {term: float(weight) for term, weight in query.items()}
    for term in selected if gamma else ():
        grown[term] = grown.get(term, 0.0) + gamma
    return grown


class RobertsonPRF(ParameterisedTransformer):
    """Expands queries from their first results, by Robertson's selection value.

    r_t is the number of the first ``fb_docs`` documents that contain t. The ``fb_terms`` terms with
    the highest r_t w_t are selected, whether or not they are in the query. Equal values (up to 1e-9
    of them) are ordered by term, ascending; terms with w_t <= 0 are never selected. The query
    weight of each selected term grows by ``gamma``; other terms of the query keep their weights.

    w_t is the weight of BM25, ln((N - n + .5) / (n + .5)), with ``weights='idf'``. With
    ``weights='rsj'`` it is the relevance weight of Robertson and Sparck Jones from the m feedback
    documents, ln((r_t + .5)(N - n - m + r_t + .5) / ((n - r_t + .5)(m - r_t + .5))), also in the
    next retrieval: a term of the query that no feedback document contains has r_t = 0, and terms
    with w_t <= 0 are dropped. If no term is left, or there is no feedback document, the query is
    retrieved as before. (Clarke names term selection and gamma; both w_t and adding gamma to q_t
    are choices of this package.)

    The transformer turns results into queries, between two retrievers::

        bm25 = index.bm25()
        bm25 >> RobertsonPRF(index) >> bm25

    Over a :class:`~pyterrier_asl.TermIndex` the new query is in ``query_toks``. Over a Terrier
    index it is in ``query``, as ``applypipeline:off t1^w1 t2^w2 ...``, without ``query_toks``,
    whose terms Terrier would stem again. With ``weights='rsj'`` the weights w_t are in
    ``query_tok_weights``, which :class:`~pyterrier_asl.retrieval.bm25.BM25` takes; over Terrier the
    weights in ``query`` are such that Terrier's BM25 (k3 = 8) ranks by q_t w_t, which it cannot for
    terms of half of all documents or more: they are dropped. The original query is kept in
    ``query_0`` (``pt.model.push_queries``); over a TermIndex ``query`` keeps the text for a
    reranker. The terms of a query come from ``query_toks`` if there are any, otherwise from its
    text. To return to the original query use ``pt.rewrite.reset()``, and over a TermIndex also drop
    ``query_toks`` and ``query_tok_weights``.

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
        weights: ``'idf'`` or ``'rsj'``, w_t in selection and in the next retrieval.

    Raises:
        ValueError: for a parameter out of its range, or two queries of one qid.

    References:
        Robertson (1990), On term selection for query expansion; Robertson and Sparck Jones (1976),
        Relevance weighting of search terms; as used by Clarke (2019), Length
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

    def __init__(
        self,
        index: Any,
        *,
        fb_docs: int = 10,
        fb_terms: int = 25,
        gamma: float = 0.2,
        weights: str = "idf",
    ) -> None:
        super().__init__()
        is_read = isinstance(index, (TermIndex, TerrierTerms))
        self.index: TermIndex | TerrierTerms = index if is_read else TerrierTerms(index)
        self.fb_docs = fb_docs
        self.fb_terms = fb_terms
        self.gamma = gamma
        self.weights = weights
        self._check()

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        queries, own, candidates = self._select(inp)
        new = self._new_queries(own, candidates)
        column = self.index.query_column
        queries = queries.drop(columns=["query_toks", TERM_WEIGHTS], errors="ignore")
        if "query" in queries.columns:
            queries = pt.model.push_queries(queries, keep_original=column != "query")
        columns: dict[str, list[Any]] = {column: [self.index.weighted_query(q, w) for q, w in new]}
        if self.weights == "rsj" and column == "query_toks":
            columns[TERM_WEIGHTS] = [w for _, w in new]
        for name, values in columns.items():
            queries[name] = pd.Series(values, index=queries.index, dtype=object)
        return queries

    def _new_queries(
        self, own: list[Mapping[str, float]], candidates: pd.DataFrame
    ) -> list[tuple[Mapping[str, float], dict[str, float] | None]]:
        """q_t and w_t of each new query; None for w_t: the weights of the retriever."""
        chosen = candidates[candidates["selected"]].groupby("row")["term"].agg(list).to_dict()
        grown = [grow_weights(q, chosen.get(row, []), self.gamma) for row, q in enumerate(own)]
        if self.weights == "idf":
            return [(query, None) for query in grown]
        positive = candidates[candidates["w"] > 0]
        w = dict(zip(zip(positive["row"], positive["term"]), positive["w"]))
        new: list[tuple[Mapping[str, float], dict[str, float] | None]] = []
        for row, query in enumerate(grown):
            kept = {term: weight for term, weight in query.items() if (row, term) in w}
            new.append((kept, {t: w[row, t] for t in kept}) if kept else (own[row], None))
        return new

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
        new = self._new_queries(own, table)
        table = table[table["r"] > 0].reset_index(drop=True)
        weights = [new[row][0].get(term, 0.0) for row, term in zip(table["row"], table["term"])]
        table["weight"] = np.array(weights, np.float64)
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
            query; the terms of the feedback documents, as :func:`select_terms` returns them. With
            ``weights='rsj'`` the terms of the query are among them.
        """
        with validate_any(results, self) as v:
            v.result_frame(extra_columns=["query"], mode="query")
            v.result_frame(extra_columns=["query_toks"], mode="query_toks")
        self._check()
        columns = [c for c in results.columns if c in pt.model.query_columns(results)]
        queries = queries_of_results(results)[columns].reset_index(drop=True)
        own = query_weights(queries, self.index.query_terms)
        feedback = _first_documents(results, queries, self.fb_docs)
        docnos, doc_of = np.unique(feedback["docno"].to_numpy(object), return_inverse=True)
        documents = self.index.doc_terms(docnos)
        sizes = np.diff(documents.offsets)[doc_of]
        entries = ranges_from(documents.offsets[doc_of], cumulate(sizes))
        rows = np.repeat(feedback["row"].to_numpy(np.int64), sizes)
        m = np.bincount(feedback["row"].to_numpy(np.int64), minlength=len(queries))
        own_rows, own_ids = self._own_terms(own, m)
        ids = np.concatenate([documents.term_ids[entries], own_ids])
        # Pairs of query and term are counted as numbers.
        base = int(ids.max(initial=0)) + 1
        pairs, pair_of = np.unique(np.append(rows, own_rows) * base + ids, return_inverse=True)
        r = np.bincount(pair_of[: len(rows)], minlength=len(pairs))
        row, term_id = np.divmod(pairs, base)
        term_ids, term_of = np.unique(term_id, return_inverse=True)
        candidates = pd.DataFrame(
            {
                "row": row,
                "term": self.index.terms(term_ids)[term_of],
                "n": self.index.document_frequencies(term_ids)[term_of],
                "r": r,
                "m": m[row],
            }
        )
        best = select_terms(
            candidates, self.index.num_docs, int(self.fb_terms), weights=self.weights
        )
        return queries, own, best

    def _own_terms(self, own: list[Mapping[str, float]], m: Ints) -> tuple[Ints, Ints]:
        """The queries and the numbers of the original terms that have a relevance weight."""
        number = self.index.term_id
        pairs = [
            (row, term_id)
            for row, query in enumerate(own if self.weights == "rsj" else [])
            for term in (query if m[row] else ())
            if (term_id := number(term)) is not None
        ]
        rows, ids = np.array(pairs, np.int64).reshape(-1, 2).T
        return rows, ids

    def _check(self) -> None:
        check_whole("fb_docs", self.fb_docs)
        check_whole("fb_terms", self.fb_terms)
        check_number("gamma", self.gamma)
        check_name("weights", self.weights, WEIGHTS)

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
