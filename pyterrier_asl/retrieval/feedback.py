"""Pseudo-relevance feedback by Robertson's term selection value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyterrier as pt

from ..common.parameters import check_name, check_whole, taking_other_names
from ..common.types import Bools, Floats, Ints
from ..scoring.arrays import offsets_of, within_query
from .bm25 import (
    HELP_URL,
    TERM_WEIGHTS,
    ParameterisedTransformer,
    check_number,
    queries_of_results,
    query_weights,
    validate_any,
)
from .build import DocTerms
from .index import TermIndex
from .terrier import TerrierTerms
from .weights import relevance_weights, robertson_weights

#: The relative difference of selection values up to which they are equal.
TIE = 1e-9

K = TypeVar("K")


class Candidates(NamedTuple):
    """The terms that feedback could add to queries, by query, with their statistics.

    Attributes:
        rows: [C] the number of the query.
        terms: the number of the term; numbers are in alphabetical order.
        r: the number of feedback documents of the query with the term.
        n: the number of documents of the collection with the term.
        w: w_t.
        own: whether it is here as a term of the query, perhaps with r = 0.
    """

    rows: Ints
    terms: Ints
    r: Ints
    n: Ints
    w: Floats
    own: Bools

    def take(self, chosen: npt.NDArray[Any]) -> Candidates:
        """Some of the candidates."""
        return Candidates(*(column[chosen] for column in self))


def candidates_of(
    index: TermIndex | TerrierTerms,
    rows: Ints,
    documents: DocTerms,
    own: Sequence[Iterable[int | None]],
    weights: str,
) -> Candidates:
    """The candidate terms of feedback.

    Args:
        index: the index.
        rows: [D] the number of the query of each feedback document, ascending.
        documents: the terms of the D documents.
        own: the numbers of the terms of each query, which are candidates with ``'rsj'``, if the
            query has documents; None for a term that no document has.
        weights: ``'idf'`` or ``'rsj'``, see :class:`RobertsonPRF`.
    """
    m = np.bincount(rows, minlength=len(own))
    numbers = [
        (row, number)
        for row, query in enumerate(own if weights == "rsj" else [])
        for number in (query if m[row] else ())
        if number is not None
    ]
    of_queries = np.array(numbers, np.int64).reshape(-1, 2).T
    of_documents = (np.repeat(rows, np.diff(documents.offsets)), documents.term_ids)
    # A query and a term are one number, if possible of 32 bits, which NumPy sorts ten times faster.
    base = 1 + max(documents.term_ids.max(initial=0), of_queries[1].max(initial=0))
    dtype = np.int32 if len(own) * int(base) < 2**31 else np.int64
    keys_of_documents, keys_of_queries = (
        (of_rows * base + terms).astype(dtype) for of_rows, terms in (of_documents, of_queries)
    )
    keys, r = np.unique(np.append(keys_of_documents, keys_of_queries), return_counts=True)
    is_own = np.isin(keys, keys_of_queries)
    r[is_own] -= 1
    row, terms = np.divmod(keys.astype(np.int64), base)
    n = index.document_frequencies(terms)
    w = (
        relevance_weights(r, n, index.num_docs, m[row])
        if weights == "rsj"
        else robertson_weights(n, index.num_docs)
    )
    return Candidates(row, terms, r, n, w, is_own)


def select_terms(candidates: Candidates, fb_terms: int) -> tuple[Candidates, Bools]:
    """Selects the terms with the highest selection value r_t w_t for each query.

    Values that differ by 1e-9 of them or less are equal, and ordered by term, ascending. Terms with
    w_t <= 0, and terms that no feedback document contains, are never selected.

    Args:
        candidates: the candidates of all queries.
        fb_terms: the maximum number of selected terms per query.

    Returns:
        The candidates, the best of each query first, and which of them are selected.

    References:
        Robertson (1990), On term selection for query expansion; Clarke (2019), Length
        Normalization in the Era of Neural Rankers, section 4.1.
    """
    values = candidates.r * candidates.w
    offsets = offsets_of(candidates.rows, int(candidates.rows.max(initial=0)) + 1)
    # Terms ascend within a query, and keep this order where values are equal.
    of_queries = (np.argsort(-part, kind="stable") for part in np.split(values, offsets[1:-1]))
    order = np.concatenate([*of_queries]) + np.repeat(offsets[:-1], np.diff(offsets))
    value, places = values[order], within_query(offsets)
    larger = np.append(0.0, value[:-1])
    is_tie = (places > 0) & (larger - value <= TIE * np.abs(larger))
    if (is_tie & (value < larger)).any():
        order = order[np.lexsort((candidates.terms[order], np.cumsum(~is_tie)))]
    return candidates.take(order), (places < fb_terms) & (values[order] > 0)


def grow_weights(query: Mapping[K, float], selected: Iterable[K], gamma: float) -> dict[K, float]:
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

    @taking_other_names
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
        self.fb_docs, self.fb_terms = fb_docs, fb_terms
        self.gamma, self.weights = gamma, weights
        self._check()

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        queries, _, new = self._expanded(inp)
        column = self.index.query_column
        queries = queries.drop(columns=["query_toks", TERM_WEIGHTS], errors="ignore")
        if "query" in queries.columns:
            queries = pt.model.push_queries(queries, keep_original=column != "query")
        queries[column] = pd.Series(
            [self.index.weighted_query(q, w) for q, w in new], queries.index, object
        )
        if self.weights == "rsj" and column == "query_toks":
            queries[TERM_WEIGHTS] = pd.Series([w for _, w in new], queries.index, object)
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
        queries, candidates, new = self._expanded(results)
        best, selected = select_terms(candidates, self.fb_terms)
        terms = self.index.terms(best.terms)
        weights = [new[row][0].get(term, 0.0) for row, term in zip(best.rows, terms)]
        table = pd.DataFrame(
            {
                "qid": queries["qid"].to_numpy()[best.rows],
                "term": terms,
                "n": best.n,
                "r": best.r,
                "w": best.w,
                "rw": best.r * best.w,
                "weight": np.array(weights, np.float64),
                "selected": selected,
            }
        )
        return table[table["r"] > 0].reset_index(drop=True)

    def compile(self) -> pt.Transformer:
        """This transformer after a rank cutoff at ``fb_docs``: it needs no more results."""
        return pt.RankCutoff(self.fb_docs) >> self

    def _expanded(
        self, results: pd.DataFrame
    ) -> tuple[pd.DataFrame, Candidates, list[tuple[Mapping[str, float], dict[str, float] | None]]]:
        """The queries of results, one row each; the candidates; and the new queries."""
        with validate_any(results, self) as v:
            v.result_frame(extra_columns=["query"], mode="query")
            v.result_frame(extra_columns=["query_toks"], mode="query_toks")
        self._check()
        rows, first = queries_of_results(results)
        columns = [c for c in results.columns if c in pt.model.query_columns(results)]
        queries = first[columns].reset_index(drop=True)
        own = query_weights(queries, self.index.query_terms)
        rows, docnos = _first_documents(results, rows, self.fb_docs)
        documents = self.index.doc_terms(docnos)
        numbers = [map(self.index.term_id, query) for query in own]
        candidates = candidates_of(self.index, rows, documents, numbers, self.weights)
        return queries, candidates, expand_queries(own, candidates, self, self.index.terms)

    def _check(self) -> None:
        check_whole("fb_docs", self.fb_docs)
        check_whole("fb_terms", self.fb_terms)
        check_number("gamma", self.gamma)
        check_name("weights", self.weights, ("idf", "rsj"))

    def subtransformers(self) -> dict[str, Any]:
        """No transformers; otherwise PyTerrier would list a Terrier index as one."""
        return {}


def expand_queries(
    queries: Sequence[Mapping[K, float]],
    candidates: Candidates,
    feedback: RobertsonPRF,
    keys_of: Callable[[Ints], npt.NDArray[Any]],
) -> list[tuple[Mapping[K, float], dict[K, float] | None]]:
    """q_t and w_t of each new query; None for w_t: the weights of the retriever.

    Args:
        queries: q_t of each query, by the keys of terms.
        candidates: the candidate terms of the queries.
        feedback: the parameters.
        keys_of: the keys of the terms with these numbers.
    """
    best, selected = select_terms(candidates, feedback.fb_terms)
    best, selected = best.take(selected | best.own), selected[selected | best.own]
    keys, w = keys_of(best.terms).tolist(), best.w.tolist()
    bounds = np.searchsorted(best.rows, np.arange(len(queries) + 1)).tolist()
    new: list[tuple[Mapping[K, float], dict[K, float] | None]] = []
    for query, begin, end in zip(queries, bounds, bounds[1:]):
        grown = grow_weights(query, compress(keys[begin:end], selected[begin:end]), feedback.gamma)
        if feedback.weights == "idf":
            new.append((grown, None))
        else:
            weights = {
                term: weight for term, weight in zip(keys[begin:end], w[begin:end]) if weight > 0
            }
            kept = {term: weight for term, weight in grown.items() if term in weights}
            new.append((kept, {term: weights[term] for term in kept}) if kept else (query, None))
    return new


def _first_documents(
    results: pd.DataFrame, rows: Ints, fb_docs: int
) -> tuple[Ints, npt.NDArray[np.object_]]:
    """The first documents of each query: the number of the query, and the docno."""
    order: Any = 0  # the order of the results
    if "rank" in results.columns:
        order = pd.to_numeric(results["rank"])
    elif "score" in results.columns:
        order = -pd.to_numeric(results["score"])
    documents = results[["docno"]].assign(row=rows, order=order).dropna(subset="docno")
    documents["docno"] = documents["docno"].astype(str)
    ordered = documents.sort_values(["row", "order"], kind="stable")
    first = ordered.drop_duplicates(["row", "docno"]).groupby("row", sort=False).head(int(fb_docs))
    return first["row"].to_numpy(np.int64), first["docno"].to_numpy(object)
