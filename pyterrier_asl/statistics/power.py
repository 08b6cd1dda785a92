"""The difference that a paired t-test finds, and the queries that it needs for a difference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy  # its submodules load when first used, so that importing this module is quick

from .intervals import upper_t
from .pairwise import no_variance
from .settings import ArrayLike, finite_matrix, finite_vectors

#: The probability of finding the difference.
POWER = 0.8


def detectable_difference(differences: ArrayLike, *, alpha: float = 0.05) -> Any:
    """The mean difference that a paired t-test over these queries finds with probability .8.

    It is (t_(1-alpha/2) + t_.8) s / sqrt(Q), with quantiles of Student's t with Q - 1 degrees of
    freedom and the standard deviation s of the differences.

    Args:
        differences: one difference per query, shape (Q,), or (P, Q) of P pairs of systems.
        alpha: the level of significance.

    Returns:
        The difference, above 0, in the unit of the differences, of P pairs shape (P,); NaN if no
        test can be made: for fewer than two differences, or if all are equal.

    Raises:
        ValueError: for differences that are not finite.

    Source: Kieser and Wassmer (1996).

    >>> differences = [0.1, -0.2, 0.3, 0.0, 0.2, -0.1, 0.1, 0.0]
    >>> round(float(detectable_difference(differences)), 3)
    0.185
    """
    values = np.asarray(differences, dtype=np.float64)
    queries = finite_matrix(np.atleast_2d(values)).shape[1]
    if queries < 2:
        return np.full(values.shape[:-1], np.nan)[()]
    sizes = _quantiles(queries, alpha) * values.std(axis=-1, ddof=1) / math.sqrt(queries)
    return np.where(no_variance(values)[0], np.nan, sizes)[()]


def queries_needed(
    differences: ArrayLike, delta: float, *, alpha: float = 0.05
) -> tuple[float, float]:
    """The number of queries with which a paired t-test finds a true difference with probability .8.

    Args:
        differences: one difference per query, shape (Q,): a sample of the population of queries.
        delta: the true difference, above 0, in their unit.
        alpha: the level of significance.

    Returns:
        The least number n >= 3 by the upper 80 % limit of the standard deviation, which a sample
        may underestimate; and that by the standard deviation itself. Both NaN where
        :func:`detectable_difference` is.

    Source: Kieser and Wassmer (1996), On the use of the upper confidence limit for the variance
    from a pilot sample for sample size determination.

    >>> queries_needed([0.1, -0.2, 0.3, 0.0, 0.2, -0.1, 0.1, 0.0], 0.1)
    (39, 23)
    """
    values = finite_vectors(differences)[0]
    if no_variance(values)[0]:
        return math.nan, math.nan
    deviation, freedom = float(values.std(ddof=1)), values.size - 1
    # chi-squared is below this quantile with a probability of .2.
    upper = deviation * math.sqrt(freedom / float(scipy.special.chdtri(freedom, 0.8)))
    return _least(upper / delta, alpha), _least(deviation / delta, alpha)


def _quantiles(queries: int, alpha: float) -> float:
    return upper_t(alpha / 2, queries - 1) + upper_t(1 - POWER, queries - 1)


def _least(ratio: float, alpha: float) -> int:
    """The least n >= 3 with n at least (the sum of quantiles times a ratio) squared."""
    low, high = 2, 3
    while high < (_quantiles(high, alpha) * ratio) ** 2:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        is_enough = middle >= (_quantiles(middle, alpha) * ratio) ** 2
        low, high = (low, middle) if is_enough else (middle, high)
    return high
