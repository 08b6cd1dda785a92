"""Tukey's HSD: tests of all pairs of systems together, which need no correction."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import scipy  # its submodules load when first used, so that importing this module is quick

from ..common.notices import progress_bar
from ..common.types import Floats, Ints
from .rounding import NO_DIFFERENCE
from .settings import CHUNK, Settings, TestResult, check_draws


def _tukey(
    values: Floats, first: Ints, second: Ints, options: Settings, *, two_way: bool
) -> TestResult:
    """Tukey's HSD with the residuals of systems (one-way), or of systems and queries (two-way)."""
    systems, queries = values.shape
    freedom = (systems - 1 if two_way else systems) * (queries - 1)
    mean_square = _two_way_error(values) if two_way else float(values.var(axis=1, ddof=1).mean())
    means = values.mean(axis=1)
    difference, error = means[first] - means[second], np.sqrt(mean_square / queries)
    statistic = difference / error
    margin = error * _studentized_range_isf(options.alpha, systems, freedom)
    effect = difference / np.sqrt(mean_square)
    p = _studentized_range_sf(np.abs(statistic), systems, freedom)
    return TestResult(difference - margin, difference + margin, effect, statistic, p)


def _tukey_randomized(values: Floats, first: Ints, second: Ints, options: Settings) -> TestResult:
    share = np.full(values.shape[1], 1 / values.shape[1])
    means = values @ share
    difference = means[first] - means[second]
    largest = _largest_differences(values, share, options)
    p = _share_as_large(largest, np.abs(difference), float(np.abs(values).max()))
    margin = np.quantile(largest, 1 - options.alpha, method="higher")
    effect = difference / np.sqrt(_two_way_error(values))
    return TestResult(difference - margin, difference + margin, effect, difference, p)


def randomized_hsd(
    preferences: Floats, *, draws: int = 1000, seed: int = 0, progress: bool | None = False
) -> Floats:
    """Randomised Tukey HSD of preferences: p-values of all pairs, which need no correction.

    If all systems are equal, they can exchange their rankings of a query. If the preferences are
    differences of a measure's values, the result equals the test ``'tukey-randomized'``, which
    exchanges values and is faster.

    Args:
        preferences: the preference for the row's system over the column's, for each query, shape
            (Q, S, S).
        draws: number of random exchanges.
        seed: seed of the draws.
        progress: whether to show a progress bar; None: only on a terminal.

    Returns:
        For each pair a < b, in the order of :func:`numpy.triu_indices`, the share of exchanges with
        a largest absolute mean preference at least as large. The observed rankings count as one
        exchange.

    Source: Carterette, 2012, section 4.
    """
    check_draws(draws, seed)
    queries, systems, _ = preferences.shape
    shares = preferences * (1 / queries)
    observed = np.abs(shares.sum(axis=0)[np.triu_indices(systems, k=1)])
    generator = np.random.default_rng(seed)
    labels = np.tile(np.arange(systems), (queries, 1))
    largest = np.empty(draws)
    for draw in progress_bar(range(draws), desc="exchanges", shown=progress, leave=False):
        total = np.zeros((systems, systems))
        for share_of_query, order in zip(shares, generator.permuted(labels, axis=1)):
            total += share_of_query.take(order, axis=0).take(order, axis=1)
        largest[draw] = total.max(initial=0)  # the matrix is antisymmetric
    return _share_as_large(largest, observed, max(1.0, float(np.abs(preferences).max())))


def _share_as_large(largest: Floats, observed: Floats, scale: float) -> Floats:
    """The share of exchanges with at least the observed value; the observed one counts as one."""
    # Just below the observed value, so that values equal to it count despite rounding.
    below = np.searchsorted(np.sort(largest), observed - NO_DIFFERENCE * scale)
    return (largest.size - below + 1) / (largest.size + 1)


def _largest_differences(values: Floats, share: Floats, options: Settings) -> Floats:
    """The largest difference of two means, for each random exchange of values within queries."""
    systems, queries = values.shape
    generator, by_query = np.random.default_rng(options.seed), np.ascontiguousarray(values.T)
    largest = np.empty(options.draws)
    for part in np.array_split(largest, 1 + options.draws * values.size // CHUNK):
        drawn = np.broadcast_to(by_query, (part.size, queries, systems))
        part[:] = np.ptp(np.einsum("rqs,q->rs", generator.permuted(drawn, axis=2), share), axis=1)
    return largest


def _two_way_error(values: Floats) -> float:
    """Residual mean square of the model value = system + query."""
    systems, queries = values.shape
    residuals = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    return float(np.sum(residuals**2) / ((systems - 1) * (queries - 1)))


#: The degree of the polynomial of :func:`_studentized_range_sf`.
_DEGREE = 128


def _studentized_range_sf(q: Floats, groups: int, freedom: int) -> Floats:
    """Upper tail of the studentized range distribution, for many values.

    SciPy integrates for each value, which takes some 15 ms. For more than 128 distinct values its
    distribution function is interpolated by a polynomial of degree 128 in Chebyshev points, up to
    the value where Bonferroni's bound of the tail is 1e-12. The absolute error is below 1e-9 for up
    to 300 groups, and below 1e-7 for 1000.
    """
    distinct, at = np.unique(q, return_inverse=True)
    if distinct.size <= _DEGREE:
        return np.asarray(scipy.stats.studentized_range.sf(distinct, groups, freedom))[at]
    curve = _studentized_range_curve(groups, freedom)
    top = curve.domain[1]
    p = np.where(q < top, 1 - curve(np.minimum(q, top)), 0)
    return np.where(np.isnan(q), np.nan, np.clip(p, 0, 1))


# Cached for comparisons of the same systems and queries by many measures.
@lru_cache(maxsize=32)
def _studentized_range_curve(groups: int, freedom: int) -> np.polynomial.Chebyshev:
    """The polynomial of :func:`_studentized_range_sf`."""
    top = np.sqrt(2) * scipy.stats.t.isf(1e-12 / (groups * (groups - 1)), freedom)
    return np.polynomial.Chebyshev.interpolate(
        lambda x: scipy.stats.studentized_range.cdf(x, groups, freedom), _DEGREE, domain=[0, top]
    )


@lru_cache(maxsize=32)
def _studentized_range_isf(alpha: float, groups: int, freedom: int) -> float:
    """The value that the studentized range exceeds with probability alpha."""
    return float(scipy.stats.studentized_range.isf(alpha, groups, freedom))


#: Tests of all pairs of systems together, by name.
TESTS: dict[str, Callable[[Floats, Ints, Ints, Settings], TestResult]] = {
    "tukey": partial(_tukey, two_way=False),
    "tukey-two-way": partial(_tukey, two_way=True),
    "tukey-randomized": _tukey_randomized,
}
