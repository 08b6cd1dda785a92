"""The one-sided t-test of non-inferiority: is a system worse by less than a margin?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its submodules load when first used, so that importing this module is quick

from .inputs import ArrayLike, check_probability, finite_vectors
from .intervals import upper_t
from .rounding import NO_DIFFERENCE


class NonInferiority(NamedTuple):
    """Result of a test of non-inferiority.

    Attributes:
        statistic: t, the mean gain plus the margin over the standard error of the mean gain.
        p: the one-sided p-value of a loss of the margin or more; NaN for a single query.
        power: the probability that such a loss is rejected at ``alpha`` if there is no true
            difference; NaN if no test can be made, or if all gains are equal.
    """

    statistic: float
    p: float
    power: float


def non_inferiority(gains: ArrayLike, margin: float, *, alpha: float = 0.05) -> NonInferiority:
    """Tests whether a system loses the margin or more; a small p rejects this.

    If all gains are equal, p is 0 if they are above minus the margin, else 1.

    Args:
        gains: the gain of the system for each query, negative for a loss, shape (Q,).
        margin: the loss that is too large, above 0.
        alpha: the one-sided level, for the power.

    Raises:
        ValueError: for gains that are not finite, or a level that is no probability.

    Source: Wellek (2010), Testing Statistical Hypotheses of Equivalence and Noninferiority.

    >>> result = non_inferiority([0.01, -0.02, 0.0, 0.01, -0.01], 0.02)
    >>> [round(number, 4) for number in result]
    [3.087, 0.0183, 0.8746]
    """
    check_probability("alpha", alpha)
    values = finite_vectors(gains)[0]
    queries, mean = values.size, float(values.mean())
    if queries < 2:
        return NonInferiority(float("nan"), float("nan"), float("nan"))
    error = float(values.std(ddof=1) / np.sqrt(queries))
    scale = NO_DIFFERENCE * max(float(np.abs(values).max()), margin)
    if error <= scale:
        rejected = mean + margin > scale
        return NonInferiority(
            float("inf" if rejected else "-inf"), float(not rejected), float("nan")
        )
    statistic = (mean + margin) / error
    within = scipy.special.nctdtr(queries - 1, margin / error, upper_t(alpha, queries - 1))
    return NonInferiority(
        statistic, float(scipy.special.stdtr(queries - 1, -statistic)), float(1 - within)
    )
