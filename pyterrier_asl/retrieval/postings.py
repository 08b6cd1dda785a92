"""Postings and weighted queries as arrays, and BM25's formula on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..common.types import Floats, Ints

Int32s = npt.NDArray[np.int32]


class ScoringArrays(NamedTuple):
    """The arrays of an index for scoring.

    Attributes:
        term_offsets: [V + 1] where the postings of a term begin.
        posting_docs: their documents, ascending by term.
        posting_tfs: frequency of the term in each.
        length_ratios: [N] l / l_avg, the documents' lengths over their mean.
    """

    term_offsets: Ints
    posting_docs: Int32s
    posting_tfs: Int32s
    length_ratios: Floats


class WeightedQueries(NamedTuple):
    """The terms of Q queries, as term numbers.

    Attributes:
        offsets: [Q + 1] where the terms of a query begin.
        terms: their numbers.
        weights: q_t, same shape.
        term_weights: w_t, same shape, NaN for the weight of the retriever; None: the weights are
            q_t w_t (k1 + 1).
    """

    offsets: Ints
    terms: Ints
    weights: Floats
    term_weights: Floats | None = None


def length_norm(k1: float, b: float, length_ratio: Any) -> Any:
    """The length normalization of BM25, of a document or an array of them."""
    return k1 * ((1.0 - b) + b * length_ratio)


def term_score(weight: float, tf: Any, norm: Any) -> Any:
    """The contribution of a term to BM25 scores, of a document or an array of them."""
    return weight * tf / (norm + tf)
