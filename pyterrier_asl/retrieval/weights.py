"""Weights of terms: Robertson's, those of relevance, and BM25's by name."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..common.parameters import check_name
from ..common.types import Floats


def robertson_weights(document_frequencies: npt.ArrayLike, num_docs: int) -> Floats:
    """Robertson's relevance weight of terms: w_t = ln((N - n + .5) / (n + .5)).

    Args:
        document_frequencies: n, the number of documents with each term; any shape.
        num_docs: N, the number of documents.

    Returns:
        w_t, same shape; it is positive for a term in less than half of the documents.

    References:
        Clarke (2019), Length Normalization in the Era of Neural Rankers, Eq. 1; Robertson and
        Walker (1994), Some simple effective approximations to the 2-Poisson model.

    Examples:
        >>> robertson_weights([50, 600], 1000).round(4).tolist()
        [2.935, -0.405]
    """
    n = np.asarray(document_frequencies, np.float64)
    return np.asarray(np.log((num_docs - n + 0.5) / (n + 0.5)))


def relevance_weights(
    r: npt.ArrayLike, document_frequencies: npt.ArrayLike, num_docs: int, m: npt.ArrayLike
) -> Floats:
    """The relevance weight of Robertson and Sparck Jones, from documents taken as relevant.

    ``w_t = ln( (r + .5) (N - n - m + r + .5) / ((n - r + .5) (m - r + .5)) )``

    Args:
        r: the number of the m documents that contain the term; any shape.
        document_frequencies: n, the number of documents of the collection with the term.
        num_docs: N, the number of documents of the collection.
        m: the number of documents taken as relevant.

    Returns:
        w_t, same shape; with r = m = 0 the weight is that of :func:`robertson_weights`.

    References:
        Robertson and Sparck Jones (1976), Relevance weighting of search terms, F4.

    Examples:
        >>> relevance_weights([4, 0], [50, 600], 1000, 5).round(4).tolist()
        [4.1151, -2.8155]
    """
    r, n, m = (np.asarray(counts, np.float64) for counts in (r, document_frequencies, m))
    absent = num_docs - n - m + r
    # This quotient is above 1 where the numerator is above the denominator.
    return np.asarray(np.log((r + 0.5) * (absent + 0.5) / ((n - r + 0.5) * (m - r + 0.5))))


def idf_weights(idf: str, document_frequencies: npt.ArrayLike, num_docs: int) -> Floats:
    """The weight w_t of terms by the name of the formula; 0 for a term that is ignored.

    Args:
        idf: ``'robertson'``: :func:`robertson_weights`, or 0 if they are negative; ``'terrier'``:
            the same with the logarithm to base 2, including negative weights.
        document_frequencies: n of each term.
        num_docs: N.

    Raises:
        ValueError: for an unknown formula.
    """
    check_name("idf", idf, ("robertson", "terrier"))
    weights = robertson_weights(document_frequencies, num_docs)
    return np.maximum(weights, 0.0) if idf == "robertson" else weights / math.log(2)
