"""Another assessor as a system: how well would a second judge's relevant documents score?

Two judges rarely agree on what is relevant, and what they disagree on bounds what a system can be
asked to do. Trotman and Keeler (2011) take the documents that a second assessor found relevant for
a ranking, and score it by the judgements of the first. A judge gives a set and no order, so the
score depends on an order that nobody chose: the best has the documents that both found relevant at
the top, the worst has them at the bottom. Between the two lies what to expect of an order drawn at
random, which the paper estimates from 10,000 permutations for each topic. Here it is exact.

For each topic three numbers say all that matters:

* ``retrieved``, R': documents that the other assessor found relevant,
* ``common``, r: those of them that the original assessor found relevant too,
* ``relevant``, N_R: documents that the original assessor found relevant.

They may be numbers or arrays that broadcast against each other, usually one entry per topic.

Source: Andrew Trotman and David Keeler. 2011. Ad Hoc IR - Not Much Room for Improvement. SIGIR '11.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import cumulate, queries_of, sum_by_query, within_query

__all__ = [
    "best_average_precision",
    "expected_average_precision",
    "expected_success",
    "worst_average_precision",
]


def best_average_precision(
    retrieved: ArrayLike, common: ArrayLike, relevant: ArrayLike
) -> NDArray[np.float64]:
    r"""Average precision of the other assessor's documents in their best order.

    The best order begins with the documents that both found relevant, each at precision 1:
    :math:`r / N_R`.

    Args:
        retrieved: R', documents that the other assessor found relevant.
        common: r, those that the original assessor found relevant too.
        relevant: N_R, documents that the original assessor found relevant.

    Returns:
        One value per topic in [0, 1], higher is better; 0 where ``relevant`` is 0.

    Raises:
        ValueError: A count is negative or no whole number, or ``common`` is larger than
            ``retrieved`` or ``relevant``.

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

    The worst order ends with the documents that both found relevant:
    :math:`\frac{1}{N_R} \sum_{j=1}^{r} \frac{j}{R' - r + j}`.

    Args:
        retrieved: R', documents that the other assessor found relevant.
        common: r, those that the original assessor found relevant too.
        relevant: N_R, documents that the original assessor found relevant.

    Returns:
        One value per topic in [0, 1], higher is better; 0 where ``relevant`` is 0.

    Raises:
        ValueError: A count is negative or no whole number, or ``common`` is larger than
            ``retrieved`` or ``relevant``.

    Source: Trotman and Keeler (2011), section 4.

    >>> worst_average_precision(retrieved=[3, 4], common=[2, 1], relevant=[3, 2]).round(4)
    array([0.3889, 0.125 ])
    """
    size, r, n = _counts(retrieved, common, relevant)
    # One entry for each common document, by topic; j is its place among the topic's common ones.
    # The closed form with harmonic numbers would lose digits where R' is much larger than r.
    offsets = cumulate(r.ravel())
    j = within_query(offsets) + 1
    precision = j / ((size - r).ravel()[queries_of(offsets)] + j)
    return np.asarray(sum_by_query(precision, offsets).reshape(r.shape) / np.maximum(n, 1))


def expected_average_precision(
    retrieved: ArrayLike, common: ArrayLike, relevant: ArrayLike
) -> NDArray[np.float64]:
    r"""Average precision to expect of the other assessor's documents in random order.

    The mean over all orders, each as likely as any other, in closed form:

    .. math::
        \frac{r}{R' N_R} \left[ H_{R'} + \frac{r - 1}{R' - 1} (R' - H_{R'}) \right]

    where :math:`H_m = \sum_{i=1}^{m} 1/i`. A common document is as likely at one rank as at
    another; at rank i it counts itself, and each of the r - 1 others lies above it with
    probability (i - 1) / (R' - 1).

    Args:
        retrieved: R', documents that the other assessor found relevant.
        common: r, those that the original assessor found relevant too.
        relevant: N_R, documents that the original assessor found relevant.

    Returns:
        One value per topic in [0, 1], higher is better, never above
        :func:`best_average_precision` nor below :func:`worst_average_precision`; 0 where
        ``relevant`` is 0.

    Raises:
        ValueError: A count is negative or no whole number, or ``common`` is larger than
            ``retrieved`` or ``relevant``.

    Source: Trotman and Keeler (2011), section 4, who sample 10,000 permutations.

    >>> expected_average_precision(retrieved=[3, 4], common=[2, 1], relevant=[3, 2]).round(4)
    array([0.537 , 0.2604])
    """
    size, r, n = _counts(retrieved, common, relevant)
    terms = 1.0 / np.arange(1, int(size.max(initial=0)) + 1)
    harmonic = np.concatenate(([0.0], np.cumsum(terms)))[size]  # H_R'
    # Where R' is 1 there are no others: r - 1 is 0 and so is the second term, whatever it is over.
    others = (r - 1) / np.maximum(size - 1, 1) * (size - harmonic)
    expected = r / (np.maximum(size, 1) * np.maximum(n, 1)) * (harmonic + others)
    return np.asarray(expected, dtype=np.float64)


def expected_success(retrieved: ArrayLike, common: ArrayLike, n: int) -> NDArray[np.float64]:
    r"""Success at n to expect of the other assessor's documents in random order.

    The probability that one of the first n documents is also relevant to the original assessor,
    when every order is as likely as any other: :math:`1 - \binom{R'-r}{n} / \binom{R'}{n}`, with n
    at most R'. The mean over topics is the expected S\@n, the share of topics so satisfied.

    Args:
        retrieved: R', documents that the other assessor found relevant.
        common: r, those that the original assessor found relevant too.
        n: How many documents the user looks at, at least 1.

    Returns:
        One value per topic in [0, 1], higher is better; 0 where ``common`` is 0, 1 where it is not
        and n is at least R'.

    Raises:
        ValueError: A count is negative or no whole number, ``common`` is larger than ``retrieved``,
            or ``n`` is less than 1.

    Source: Trotman and Keeler (2011), sections 3 and 5.

    >>> expected_success(retrieved=[3, 4], common=[2, 1], n=1).round(4)
    array([0.6667, 0.25  ])
    >>> expected_success(retrieved=[3, 4], common=[2, 1], n=3)
    array([1.  , 0.75])
    """
    if n < 1:
        raise ValueError(f"n is {n}, but a user looks at 1 document or more: give n >= 1")
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
    """The three counts as whole numbers of one shape, or an error that says what is wrong."""
    named = {"retrieved": retrieved, "common": common, "relevant": relevant}
    arrays = np.broadcast_arrays(*(np.asarray(counts, dtype=float) for counts in named.values()))
    for name, array in zip(named, arrays):
        wrong = (array < 0) | (array != np.floor(array)) | ~np.isfinite(array)
        if wrong.any():
            raise ValueError(
                f"{name} holds {array[wrong][0]}: it counts documents, so give whole numbers >= 0"
            )
    size, r, n = (array.astype(np.int64) for array in arrays)
    for name, limit in (("retrieved", size), ("relevant", n)):
        if (r > limit).any():
            raise ValueError(
                f"common is {r[r > limit][0]} where {name} is {limit[r > limit][0]}: "
                f"the common documents are among the {name} ones, so give common <= {name}"
            )
    return size, r, n
