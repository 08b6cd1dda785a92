"""The difference of two systems with several runs each, such as seeds: two-way random effects.

Queries and repetitions are both drawn from populations. The variance of a mean difference has a
part of the queries and a part of the repetitions of each system, and its degrees of freedom are
Satterthwaite's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy  # its submodules load when first used, so that importing this module is quick

from ..common.parameters import check_probability
from ..common.types import Floats
from .intervals import upper_t
from .pairwise import no_variance
from .rounding import EQUAL
from .settings import ArrayLike, finite_matrix
from .tests import Comparison


class RepeatedComparison(NamedTuple):
    """Result of a test of two systems with repetitions.

    Attributes:
        comparison: the test and its interval; ``effect`` is Cohen's d_z of the means by query.
        share: the share of the variance that is of repetitions, in [0, 1].
        detectable: the difference that this test finds with probability .8.
        half_any_repetitions: half the width of the interval with any number of repetitions.
        half_twice_queries: half the width with twice as many queries.
    """

    comparison: Comparison
    share: float
    detectable: float
    half_any_repetitions: float
    half_twice_queries: float


def compare_repetitions(a: ArrayLike, b: ArrayLike, *, alpha: float = 0.05) -> RepeatedComparison:
    """Compares two systems whose values for a query are means over repetitions.

    With d_q = mean b_q - mean a_q, v is the variance of the mean of d over the queries. A system
    with S >= 2 repetitions adds u = max(0, MS_S - MS_R)/(S Q), from the mean squares of repetitions
    and of residuals; the noise of a single run is not known, and counts as 0. Var = v + u_a + u_b,
    with Var^2/(v^2/(Q - 1) + sum of u^2/(S - 1)) degrees of freedom.

    Args:
        a: the values of the baseline, shape (S_a, Q), at least one repetition.
        b: the values of the run, shape (S_b, Q), queries in the same order.
        alpha: intervals cover 1 - alpha.

    Returns:
        A :class:`RepeatedComparison` of b less a. Where v and u are 0 there is no test: p is 1 for
        systems without a difference, else NaN.

    Raises:
        ValueError: values that are not finite, or systems with different queries.

    Source: Owen (2007), The pigeonhole bootstrap; Satterthwaite (1946).

    >>> a = [[0.5, 0.7, 0.4, 0.9], [0.4, 0.6, 0.5, 0.8]]
    >>> b = [[0.7, 0.9, 0.4, 1.0], [0.6, 0.7, 0.5, 1.0]]
    >>> found = compare_repetitions(a, b)
    >>> round(found.comparison.difference, 3), round(found.comparison.p, 3), round(found.share, 3)
    (0.125, 0.063, 0.889)
    """
    check_probability("alpha", alpha)
    systems = [finite_matrix(a), finite_matrix(b)]
    difference = systems[1].mean(axis=0) - systems[0].mean(axis=0)
    greatest, queries = max(float(np.abs(of).max()) for of in systems), len(difference)
    parts = [_variances(of, greatest) for of in systems]
    repeated = [(u, len(of) - 1) for (u, _), of in zip(parts, systems) if u > 0]
    constant, equal = no_variance(difference, greatest)
    mean, nan = 0.0 if equal else float(difference.mean()), math.nan
    if (constant and not repeated) or queries == 1:
        p = 1.0 if equal and not repeated else nan
        return RepeatedComparison(Comparison(mean, nan, nan, nan, nan, p), nan, nan, nan, nan)
    v = 0.0 if constant else float(difference.var(ddof=1)) / queries
    added, residual = sum(u for u, _ in repeated), sum(own for _, own in parts)
    variance, of_queries = v + added, max(0.0, v - residual)
    freedom = variance**2 / (v**2 / (queries - 1) + sum(u**2 / s for u, s in repeated))
    error, critical = math.sqrt(variance), upper_t(alpha / 2, freedom)
    t = mean / error
    return RepeatedComparison(
        Comparison(
            mean,
            mean - critical * error,
            mean + critical * error,
            mean / math.sqrt(v * queries) if v else nan,
            t,
            float(2 * scipy.special.stdtr(freedom, -abs(t))),
        ),
        1 - of_queries / variance,
        (critical + upper_t(0.2, freedom)) * error,
        upper_t(alpha / 2, queries - 1) * math.sqrt(of_queries),
        critical * math.sqrt(v / 2 + added),
    )


def _variances(values: Floats, greatest: float) -> tuple[float, float]:
    """u of a system, and the variance of its mean by residuals; 0 for a single repetition."""
    repetitions, queries = values.shape
    if repetitions == 1:
        return 0.0, 0.0
    of_repetitions = values.mean(axis=1, keepdims=True) - values.mean()
    residuals = values - values.mean(axis=0) - of_repetitions
    ms_r = float((residuals**2).sum()) / ((repetitions - 1) * (queries - 1) or math.nan)
    excess = queries * float((of_repetitions**2).sum()) / (repetitions - 1) - ms_r
    scale = repetitions * queries
    return (excess / scale if excess > queries * (EQUAL * greatest) ** 2 else 0.0), ms_r / scale
