"""Another assessor as a system: the score of a second judge's relevant documents.

Two judges rarely agree on all relevant documents, and their disagreement limits the score of any
system. Trotman and Keeler (2011) treat the documents that a second assessor judged relevant as a
ranking and score it with the judgements of the first assessor. The assessor gives no order. The
best order has the documents that both judged relevant at the top, the worst order has them at the
bottom. The paper estimates the expected score of a random order from 10,000 permutations per topic;
here it is exact.

Three numbers per topic are enough:

* ``retrieved``, R': documents that the other assessor judged relevant,
* ``common``, r: documents that both assessors judged relevant,
* ``relevant``, N_R: documents that the original assessor judged relevant.

They can be numbers or arrays that broadcast against each other, usually one entry per topic.

Source: Andrew Trotman and David Keeler. 2011. Ad Hoc IR - Not Much Room for Improvement. SIGIR '11.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import cumulate, queries_of, sum_by_query, within_query


def best_average_precision(
    retrieved: ArrayLike, common: ArrayLike, relevant: ArrayLike
) -> NDArray[np.float64]:
    r"""Average precision of the other assessor's documents in their best order.

    The best order begins with the common documents, each at precision 1:
    :math:`r / N_R`.

    Args:
        retrieved: R', documents that the other assessor judged relevant.
        common: r, documents that both assessors judged relevant.
        relevant: N_R, documents that the original assessor judged relevant.

    Returns:
        One value per topic in [0, 1], higher is better; 0 if ``relevant`` is 0.

    Source: Trotman and Keeler (2011), section 4.

    >>> best_average_precision(retrieved=[3, 4], common=[2, 1], relevant=[3, 2]).round(4)
    array([0.6667, 0.5   ])
    """
    _, r, n = _counts(retrieved, common, relevant)
    return r / np.maximum(n, 1)


def worst_average_precision(
    retrieved: ArrayLike, common: ArrayLike, relevant: ArrayLike
) -> NDArray[np.float64]:
    r"""Average precision of the other assessor's documents in their worst order.

    The worst order ends with the common documents:
    :math:`\frac{1}{N_R} \sum_{j=1}^{r} \frac{j}{R' - r + j}`.

    Args:
        retrieved: R', documents that the other assessor judged relevant.
        common: r, documents that both assessors judged relevant.
        relevant: N_R, documents that the original assessor judged relevant.

    Returns:
        One value per topic in [0, 1], higher is better; 0 if ``relevant`` is 0.

    Source: Trotman and Keeler (2011), section 4.

    >>> worst_average_precision(retrieved=[3, 4], common=[2, 1], relevant=[3, 2]).round(4)
    array([0.3889, 0.125 ])
    """
    size, r, n = _counts(retrieved, common, relevant)
    # One entry per common document, by topic; j is its place among the common ones of the topic.
    # The closed form with harmonic numbers would lose digits if R' is much larger than r.
    offsets = cumulate(r.ravel())
    j = within_query(offsets) + 1
    sums = sum_by_query(j / ((size - r).ravel()[queries_of(offsets)] + j), offsets)
    return np.asarray(sums.reshape(r.shape) / np.maximum(n, 1))


def expected_average_precision(
    retrieved: ArrayLike, common: ArrayLike, relevant: ArrayLike
) -> NDArray[np.float64]:
    r"""Expected average precision of the other assessor's documents in random order.

    The mean over all orders with equal probability, in closed form:

    .. math::
        \frac{r}{R' N_R} \left[ H_{R'} + \frac{r - 1}{R' - 1} (R' - H_{R'}) \right]

    where :math:`H_m = \sum_{i=1}^{m} 1/i`. A common document has every rank with the same
    probability. At rank i it counts itself, and each of the r - 1 others is above it with
    probability (i - 1) / (R' - 1).

    Args:
        retrieved: R', documents that the other assessor judged relevant.
        common: r, documents that both assessors judged relevant.
        relevant: N_R, documents that the original assessor judged relevant.

    Returns:
        One value per topic in [0, 1], higher is better, between :func:`worst_average_precision`
        and :func:`best_average_precision`; 0 if ``relevant`` is 0.

    Source: Trotman and Keeler (2011), section 4, who sample 10,000 permutations.

    >>> expected_average_precision(retrieved=[3, 4], common=[2, 1], relevant=[3, 2]).round(4)
    array([0.537 , 0.2604])
    """
    size, r, n = _counts(retrieved, common, relevant)
    terms = 1.0 / np.arange(1, int(size.max(initial=0)) + 1)
    harmonic = np.concatenate(([0.0], np.cumsum(terms)))[size]  # H_R'
    # If R' is 1, r - 1 is 0 and so is the second term for any divisor.
    others = (r - 1) / np.maximum(size - 1, 1) * (size - harmonic)
    return np.asarray(r / (np.maximum(size, 1) * np.maximum(n, 1)) * (harmonic + others))


def expected_success(retrieved: ArrayLike, common: ArrayLike, n: int) -> NDArray[np.float64]:
    r"""Expected success at n of the other assessor's documents in random order.

    The probability that one of the first n documents is a common document, if all orders have the
    same probability: :math:`1 - \binom{R'-r}{n} / \binom{R'}{n}`, with n at most R'. The mean over
    topics is the expected S\@n.

    Args:
        retrieved: R', documents that the other assessor judged relevant.
        common: r, documents that both assessors judged relevant.
        n: The number of documents that the user looks at, at least 1.

    Returns:
        One value per topic in [0, 1], higher is better; 0 if ``common`` is 0, else 1 if n is at
        least R'.

    Source: Trotman and Keeler (2011), sections 3 and 5.

    >>> expected_success(retrieved=[3, 4], common=[2, 1], n=1).round(4)
    array([0.6667, 0.25  ])
    >>> expected_success(retrieved=[3, 4], common=[2, 1], n=3)
    array([1.  , 0.75])
    """
    size, r, _ = _counts(retrieved, common, common)
    # The ratio as a product of n factors, because the binomials themselves overflow.
    failure = np.ones(r.shape)
    for i in range(min(n, int(size.max(initial=0)))):
        left = size - i
        failure *= np.where(left > 0, np.maximum(left - r, 0) / np.maximum(left, 1), 1.0)
    return 1.0 - failure


def _counts(
    retrieved: ArrayLike, common: ArrayLike, relevant: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The three counts as arrays of one shape."""
    size, r, n = np.broadcast_arrays(
        *(np.asarray(number, dtype=np.int64) for number in (retrieved, common, relevant))
    )
    return size, r, n
