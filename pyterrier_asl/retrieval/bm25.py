"""BM25 over a TermIndex: scores and retriever, and what all transformers over an index share."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
import pyterrier as pt

from ..common.parameters import check_whole
from ..common.types import Floats, Ints
from ..io.values import check_queries
from ..scoring.arrays import cumulate, offsets_of, queries_of, within_query
from .loops import best_documents, document_scores
from .postings import Int32s, WeightedQueries
from .stored import StoredIndex
from .weights import idf_weights

K = TypeVar("K")


def number_terms(
    term_id: Callable[[K], int | None],
    queries: Sequence[Mapping[K, float]],
    *,
    k3: float | None = None,
    term_weights: Sequence[Mapping[K, float]] | None = None,
) -> WeightedQueries:
    """The terms of queries as numbers, without the terms that the index does not have.

    Args:
        term_id: the number of a term; None if the index does not have it.
        queries: the index terms of each query and their weights q_t.
        k3: None: q_t is not changed; otherwise it becomes (k3 + 1) q / (k3 + |q|), where
            q = q_t / max |q_t|.
        term_weights: w_t of the terms of each query; None, or a term that is not among them: the
            weight of the retriever.

    Raises:
        ValueError: for a weight that is not a finite number.
    """
    own_weights = term_weights or [{}] * len(queries)
    entries = [
        (number, term_number, weight, own_weights[number].get(term, math.nan))
        for number, query in enumerate(queries)
        for term, weight in query.items()
        if (term_number := term_id(term)) is not None
    ]
    columns = np.array(entries, np.float64).reshape(-1, 4).T
    query_of, terms = columns[:2].astype(np.int64)
    weights, w = columns[2:]
    if not np.isfinite(weights).all():
        number, _, weight, _ = entries[int(np.flatnonzero(~np.isfinite(weights))[0])]
        raise ValueError(
            f"query {dict(queries[number])!r} has a term of weight {weight!r}: give finite weights"
        )
    if k3 is not None:
        largest = [max(map(abs, query.values()), default=0) or 1.0 for query in queries]
        q = weights / np.array(largest, np.float64)[query_of]
        weights = (k3 + 1) * q / (k3 + np.abs(q))
    offsets = np.searchsorted(query_of, np.arange(len(queries) + 1)).astype(np.int64)
    return WeightedQueries(offsets, terms, weights, w)


@np.errstate(over="ignore")
def scoring_weights(
    index: StoredIndex, queries: WeightedQueries, *, k1: float, idf: str
) -> WeightedQueries:
    """Queries with the weights q_t w_t (k1 + 1), without terms of weight 0.

    Raises:
        ValueError: if scores could overflow.
    """
    term_weights = idf_weights(idf, index.document_frequencies(queries.terms), index.num_docs)
    if queries.term_weights is not None:
        term_weights = np.where(np.isnan(queries.term_weights), term_weights, queries.term_weights)
    weights = queries.weights * term_weights * (k1 + 1.0)
    # A term adds at most its weight to a score, and two scores are subtracted.
    if not np.isfinite(2 * np.abs(weights).sum()):
        raise ValueError(f"query weights are too large with k1={k1!r}: give smaller ones")
    counts = weights != 0
    offsets = cumulate(counts)[queries.offsets]
    return WeightedQueries(offsets, queries.terms[counts], weights[counts])


def top_documents(
    index: StoredIndex,
    queries: WeightedQueries,
    *,
    b: float,
    k1: float,
    num_results: int,
    idf: str = "robertson",
) -> tuple[Ints, Int32s, Floats]:
    """The documents with the highest BM25 scores; equal scores are ordered by docid, ascending.

    ``sum_t q_t w_t f (k1 + 1) / (k1 ((1 - b) + b l / l_avg) + f)``

    Args:
        index: the index.
        queries: their terms.
        b: length normalization, 0 to 1.
        k1: term saturation, 0 or more.
        num_results: the maximum number of documents per query.
        idf: see :func:`~pyterrier_asl.retrieval.weights.idf_weights`.

    Returns:
        Where each query's documents begin; their docids, best first; their scores.

    References:
        Clarke (2019), Length Normalization in the Era of Neural Rankers, Eq. 1.
    """
    return best_documents(
        index.scoring_arrays,
        scoring_weights(index, queries, k1=k1, idf=idf),
        float(k1),
        float(b),
        min(int(num_results), index.num_docs),
    )


#: The column of w_t by term, which replace the weights of the retriever. As its name begins with a
#: "q", PyTerrier treats it as a column of the query.
TERM_WEIGHTS = "query_tok_weights"

HELP_URL = "https://pyterrier.readthedocs.io/en/latest/ext/pyterrier-asl/index.html"


class ParameterisedTransformer(pt.Transformer):  # type: ignore[misc]
    """A transformer that equals another with the same index and parameters."""

    def _values(self) -> list[Any]:
        """The index, then the parameters."""
        return [attribute.value for attribute in pt.inspect.transformer_attributes(self)]

    def __repr__(self) -> str:
        index, *parameters = pt.inspect.transformer_attributes(self)
        keywords = (f"{parameter.name}={parameter.value!r}" for parameter in parameters)
        return f"{type(self).__name__}({', '.join([repr(index.value), *keywords])})"

    def __str__(self) -> str:
        """A name for tables and files: the parameters that are not the default."""
        changed = [
            f"{parameter.name}={parameter.value!r}"
            for parameter in pt.inspect.transformer_attributes(self)[1:]
            if parameter.value != parameter.init_default_value
        ]
        return type(self).__name__ + (f"({', '.join(changed)})" if changed else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._values() == other._values()

    def __hash__(self) -> int:
        # Without the parameters, which a grid search changes while this is the key of a dict.
        return hash((type(self).__name__, self._values()[0]))


def validate_any(inp: pd.DataFrame, transformer: pt.Transformer) -> Any:
    """``pt.validate.any``; from PyTerrier 1.1 on its errors name the transformer."""
    takes_context = "context" in inspect.signature(pt.validate.any).parameters
    return pt.validate.any(inp, **({"context": transformer} if takes_context else {}))


def check_number(
    name: str, value: Any, *, most: float = sys.float_info.max, optional: bool = False
) -> None:
    """Raises ValueError unless the value is a number from 0 to ``most``, or None if ``optional``.

    >>> check_number("b", "0.4", most=1)
    Traceback (most recent call last):
        ...
    ValueError: b is '0.4'; it must be a number from 0 to 1
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (optional if value is None else is_number and 0 <= value <= most):
        which = f"number from 0 to {most}" if most == 1 else "finite number, 0 or more"
        raise ValueError(f"{name} is {value!r}; it must be {'None or ' * optional}a {which}")


class BM25(ParameterisedTransformer):
    """Retrieves from a :class:`~pyterrier_asl.TermIndex` with BM25, or reranks documents.

    ``score(q, d) = sum_t q_t w_t f (k1 + 1) / (k1 ((1 - b) + b l / l_avg) + f)``, where f is the
    frequency of t in d, l the length of d in tokens, and q_t the weight of t in the query.

    The input has queries in a column ``query``, which is tokenised like the index, so that q_t is
    the frequency of a term; or in ``query_toks``, a dict of index terms and weights, which has
    priority (a row with None in it falls back to ``query``). A dict of terms and weights in
    ``query_tok_weights``, which :class:`~pyterrier_asl.RobertsonPRF` gives with ``weights='rsj'``,
    replaces w_t. The output has ``docid``, ``docno``,
    ``rank`` (from 0) and ``score``, best first, and the columns of the query.

    Input with documents (a column ``docno``) is reranked, as by PyTerrier's retrievers: the same
    documents get new scores and ranks. A document without a term of the query scores 0.

    Terms that no document has, and terms of weight 0, are ignored. The results are the documents
    with a term that is not ignored; without such a term a query has no results. Equal scores are
    ordered by docid, the order of indexing, as in Terrier. (Evaluation tools break ties by docno
    instead.) Each row is a query: a qid that occurs twice is answered twice, but documents of two
    queries of one qid are not reranked.

    Args:
        index: the index.
        b: length normalization, in [0, 1].
        k1: term saturation, 0 or more.
        num_results: the maximum number of results per query, 1 or more.
        idf: ``'robertson'``, w_t = ln((N - n + .5) / (n + .5)), where terms with w_t <= 0 are
            ignored; or ``'terrier'``, with the logarithm to base 2 and negative weights.
        k3: saturation of a term's weight in the query: (k3 + 1) q / (k3 + q), where q is the weight
            divided by the largest weight in the query, as in Terrier; None: no saturation.
            ``idf='terrier', k3=8`` gives the scores of Terrier's BM25.

    Raises:
        ValueError: for a parameter out of its range.

    References:
        Clarke (2019), Length Normalization in the Era of Neural Rankers, Eq. 1. The defaults are
        Terrier's.

    Examples:
        >>> from pyterrier_asl.retrieval.index import TermIndex
        >>> index = TermIndex.from_documents(
        ...     [
        ...         {"docno": "d1", "text": "radio waves and the scattering of waves"},
        ...         {"docno": "d2", "text": "a radio receiver"},
        ...         {"docno": "d3", "text": "the voltage of a transistor"},
        ...         {"docno": "d4", "text": "ferrite cores"},
        ...         {"docno": "d5", "text": "radio"},
        ...     ],
        ...     verbose=False,
        ... )
        >>> bm25 = index.bm25(k1=0.9, b=0.4)
        >>> bm25.search("scattering of waves")[["docno", "score"]].round(4).values.tolist()
        [['d1', 2.258]]
        >>> bm25
        BM25(TermIndex(5 documents, ...), b=0.4, k1=0.9, num_results=1000, idf='robertson', k3=None)
    """

    schematic: ClassVar[dict[str, str]] = {"label": "BM25", "help_url": HELP_URL}

    def __init__(
        self,
        index: StoredIndex,
        *,
        b: float = 0.75,
        k1: float = 1.2,
        num_results: int = 1000,
        idf: str = "robertson",
        k3: float | None = None,
    ) -> None:
        super().__init__()
        self.index = index
        self.b, self.k1, self.num_results = b, k1, num_results
        self.idf, self.k3 = idf, k3
        self._check()

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        with validate_any(inp, self) as v:
            v.query_frame(extra_columns=["query"], mode="query")
            v.query_frame(extra_columns=["query_toks"], mode="query_toks")
            v.result_frame(extra_columns=["query"], mode="query of documents")
            v.result_frame(extra_columns=["query_toks"], mode="query_toks of documents")
        # Parameters are attributes, which set_parameter() changes without a check.
        self._check()
        if "docno" in inp.columns:
            return self._rerank(inp)
        offsets, docs, scores = top_documents(
            self.index,
            self._queries(inp),
            b=self.b,
            k1=self.k1,
            num_results=self.num_results,
            idf=self.idf,
        )
        return (
            inp.drop(columns=["docid", "docno", "rank", "score"], errors="ignore")
            .take(queries_of(offsets))
            .reset_index(drop=True)
            .assign(
                docid=docs.astype(np.int64),
                docno=self.index.docno_strings.take(docs).to_pandas(),
                rank=within_query(offsets),
                score=scores,
            )
        )

    def _queries(self, frame: pd.DataFrame) -> WeightedQueries:
        """The terms of the queries with their weights."""
        return number_terms(
            self.index.term_id,
            query_weights(frame, self.index.query_terms),
            k3=self.k3,
            term_weights=[w if isinstance(w, Mapping) else {} for w in frame.get(TERM_WEIGHTS, ())],
        )

    def _rerank(self, inp: pd.DataFrame) -> pd.DataFrame:
        """The documents of each query with new scores and ranks, best first."""
        query, first = queries_of_results(inp)
        frame = inp.take(np.argsort(query, kind="stable")).reset_index(drop=True)
        offsets = offsets_of(query, len(first))
        queries = scoring_weights(self.index, self._queries(first), k1=self.k1, idf=self.idf)
        docids = self.index.docids(frame["docno"].astype(str).to_numpy(object))
        scores = document_scores(
            self.index.scoring_arrays, queries, float(self.k1), float(self.b), docids, offsets
        )
        frame["docid"], frame["score"] = docids, scores
        order = np.lexsort((docids, -scores, queries_of(offsets)))
        frame = frame.take(order).reset_index(drop=True)
        frame["rank"] = within_query(offsets)
        return frame[frame["rank"] < self.num_results].reset_index(drop=True)

    def fuse_rank_cutoff(self, k: int) -> BM25:
        """This retriever with ``num_results=k``, for a pipeline with a rank cutoff after it."""
        return pt.inspect.transformer_apply_attributes(  # type: ignore[no-any-return]
            self, num_results=min(k, self.num_results)
        )

    def _check(self) -> None:
        check_number("b", self.b, most=1)
        check_number("k1", self.k1)
        check_whole("num_results", self.num_results)
        check_number("k3", self.k3, optional=True)
        idf_weights(self.idf, [], 0)


def queries_of_results(results: pd.DataFrame) -> tuple[Ints, pd.DataFrame]:
    """The number of the query of each row, and the first row of each query.

    Raises:
        ValueError: where rows of one qid have different queries.
    """
    rows, qids = pd.factorize(results["qid"])
    first = results.drop_duplicates("qid")
    for name in ("query", "query_toks"):
        if name in results.columns:
            of_first = first[name].tolist()
            for row, query in zip(rows.tolist(), results[name].tolist()):
                # The rows of a query usually share one object.
                if query is not of_first[row] and query != of_first[row]:
                    check_queries([qids[row]] * 2)
    return rows, first


def query_weights(
    queries: pd.DataFrame, tokenise: Callable[[str], Mapping[str, float]]
) -> list[Mapping[str, float]]:
    """The index terms of each row and their weights; ``query_toks`` has priority over ``query``.

    Args:
        queries: a frame with ``query``, ``query_toks`` or both.
        tokenise: a function from a query to its index terms and their weights.

    Raises:
        ValueError: for ``query_toks`` that are not a dict, or a query that is not a string.
    """
    tokens, texts = (queries.get(name, [None] * len(queries)) for name in ("query_toks", "query"))
    weights: list[Mapping[str, float]] = []
    for qid, toks, text in zip(queries["qid"], tokens, texts):
        if isinstance(toks, Mapping):
            weights.append(toks)
        elif isinstance(text, str) and pd.isna(toks):
            weights.append(tokenise(text))
        else:
            raise ValueError(
                f"query {qid!r} has neither query_toks, a dict of index terms and weights, nor a "
                f"query, a string: query_toks is {toks!r}, query is {text!r}"
            )
    return weights
