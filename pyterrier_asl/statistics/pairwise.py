"""Tests of pairs of systems, for many pairs at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy  # its submodules load when first used, so that importing this module is quick
from numpy.typing import NDArray

from ..common.parameters import check_probability
from ..common.types import Bools, Floats, Ints
from .intervals import sign_interval, upper_t
from .random_signs import sign_vectors
from .rounding import EQUAL, NO_DIFFERENCE
from .settings import CHUNK, ArrayLike, Settings, TestResult, finite_vectors, undefined_is_nan

#: The number of queries up to which Wilcoxon's test with zeros or ties is exact, as in SciPy, which
#: takes up to a second for it.
_MOST_SIGNED = 13


def no_variance(differences: ArrayLike, greatest: ArrayLike = 0.0) -> tuple[Bools, Bools]:
    """Which differences are equal on all queries, so that no test can be made, and which are all 0.

    Args:
        differences: shape (..., Q).
        greatest: the greatest absolute value of the two systems, of which 1e-9 is rounding, shape
            (...); the differences count too.

    Returns:
        Two arrays of shape (...). A difference on a single query has no variance.

    >>> no_variance([[0.5, 0.5], [0.0, 0.0], [0.5, 0.4]])
    (array([ True,  True, False]), array([False,  True, False]))
    """
    values = np.asarray(differences, dtype=np.float64)
    largest = np.abs(values).max(axis=-1)
    rounding = EQUAL * np.maximum(greatest, largest)
    return np.ptp(values, axis=-1) <= rounding, largest <= rounding


def t_test(differences: ArrayLike, greatest: ArrayLike = 0.0) -> Floats:
    """Two-sided p-values of Student's t-test for pairs, given the differences of the pairs.

    Args:
        differences: shape (..., Q).
        greatest: see :func:`no_variance`.

    Returns:
        Shape (...); NaN if all differences are equal, or if there is only one.

    >>> t_test([[1, 2, 3], [0, 0, 0]]).round(4)
    array([0.0742,    nan])
    """
    values = np.asarray(differences, dtype=np.float64)
    return np.where(no_variance(values, greatest)[0], np.nan, _student(values)[1])


def _student(differences: Floats) -> tuple[Floats, Floats]:
    """Student's t of the mean difference of each row, and its two-sided p-value."""
    n = differences.shape[-1]
    with undefined_is_nan():
        statistic = differences.mean(axis=-1) / np.sqrt(differences.var(axis=-1, ddof=1) / n)
    return statistic, 2 * scipy.special.stdtr(n - 1, -np.abs(statistic))


def sign_test(wins: ArrayLike, losses: ArrayLike) -> Floats:
    """Two-sided p-values of the sign test.

    Args:
        wins: how often the first system was better.
        losses: how often the second system was better, of the same shape. Ties do not count.

    Returns:
        Exact binomial p-values; NaN without wins and losses.

    >>> sign_test([8, 3, 0], [1, 3, 0]).round(4)
    array([0.0391, 1.    ,    nan])
    """
    won, both = np.asarray(wins), np.add(wins, losses)
    fewer = np.minimum(won, both - won)
    tail = scipy.special.betainc(both - fewer, fewer + 1, 0.5)  # the binomial distribution up to it
    return np.where(both > 0, np.minimum(1, 2 * tail), np.nan)


def _paired_t(a: Floats, b: Floats, options: Settings) -> TestResult:
    differences, queries = a - b, a.shape[1]
    mean, deviation = differences.mean(axis=1), differences.std(axis=1, ddof=1)
    statistic, p = _student(differences)
    margin = deviation / np.sqrt(queries) * upper_t(options.alpha / 2, queries - 1)
    return TestResult(mean - margin, mean + margin, mean / deviation, statistic, p)


def _wilcoxon(a: Floats, b: Floats, options: Settings) -> TestResult:
    differences = a - b
    # Zeros have the lowest ranks. Without them every rank is lower by their number.
    ranks = scipy.stats.rankdata(np.abs(differences), axis=1)
    ranks -= np.sum(differences == 0, axis=1, keepdims=True)
    plus, minus = (np.sum(ranks * of, axis=1) for of in (differences > 0, differences < 0))
    p = np.full(len(a), np.nan)
    rows, special = _rows_with_ties(differences)
    few = a.shape[1] <= _MOST_SIGNED
    for row in rows[special & few]:
        p[row] = _signed_rank_p(ranks[row, differences[row] != 0], plus[row])
    for group in (rows[~special], *rows[special & (not few), None]):
        if len(group):
            p[group] = scipy.stats.wilcoxon(differences[group], axis=1).pvalue
    return _paired_t(a, b, options)._replace(
        effect=(plus - minus) / (plus + minus), statistic=np.minimum(plus, minus), p=p
    )


def _signed_rank_p(ranks: Floats, plus: float) -> float:
    """Two-sided p-value of the sum of positive ranks, over all signs of the n ranks: exact."""
    sums = np.zeros(1)
    for rank in ranks:
        sums = np.concatenate((sums, sums + rank))
    return 2 * min(0.5, float(np.mean(sums <= plus)), float(np.mean(sums >= plus)))


def _sign(a: Floats, b: Floats, options: Settings) -> TestResult:
    wins, losses = np.sum(a > b, axis=1), np.sum(a < b, axis=1)
    result = _paired_t(a, b, options)
    for row in np.flatnonzero(np.isin(a - b, (-1, 0, 1)).all(axis=1) & (wins + losses > 0)):
        # Differences that are signs, such as sgnLP: a t interval can leave [-1, 1].
        _, result.ci_low[row], result.ci_high[row] = sign_interval(
            int(wins[row]), int(losses[row]), a.shape[1], alpha=options.alpha
        )
    return result._replace(
        effect=(wins - losses) / (wins + losses),
        statistic=wins.astype(float),
        p=sign_test(wins, losses),
    )


def _randomization(a: Floats, b: Floats, options: Settings) -> TestResult:
    shares = (a - b) * (1 / a.shape[1])
    # Just below the observed value, so that values equal to it count despite rounding.
    observed = (1 - EQUAL) * np.abs(shares.sum(axis=1)) - NO_DIFFERENCE * np.abs(shares).sum(axis=1)
    signs, as_large = sign_vectors(options.draws, a.shape[1], options.seed), np.zeros(len(a))
    step = max(1, CHUNK // max(a.shape))
    for start in range(0, signs.shape[1], step):
        as_large += np.sum(
            np.abs(shares @ signs[:, start : start + step]) >= observed[:, np.newaxis], axis=1
        )
    return _paired_t(a, b, options)._replace(
        statistic=(a - b).mean(axis=1), p=as_large / signs.shape[1]
    )


def _unpaired_t(a: Floats, b: Floats, options: Settings) -> TestResult:
    test = scipy.stats.ttest_ind(a, b, axis=1)
    pooled = np.sqrt((a.var(axis=1, ddof=1) + b.var(axis=1, ddof=1)) / 2)
    effect = (a.mean(axis=1) - b.mean(axis=1)) / pooled
    low, high = test.confidence_interval(1 - options.alpha)
    return TestResult(low, high, effect, test.statistic, test.pvalue)


def _rows_with_ties(differences: Floats) -> tuple[Ints, Bools]:
    """The rows with a difference, and whether each has zeros or ties and needs a call of its own.

    ``scipy.stats.wilcoxon`` chooses between exact and approximate p-values for a whole array, by
    the zeros and ties in it, so that p would depend on other pairs. From 51 queries on all p-values
    are approximate. Not every version of SciPy accepts rows without any difference.
    """
    rows = np.flatnonzero(np.any(differences, axis=1))
    sizes = np.sort(np.abs(differences[rows]), axis=1)
    special = (sizes[:, 0] == 0) | np.any(np.diff(sizes, axis=1) == 0, axis=1)
    return rows, special & (differences.shape[1] <= 50)


#: The test of two systems that does not use the differences per query.
UNPAIRED = "unpaired-t"

#: Tests of the rows of two matrices by name.
TESTS: dict[str, Callable[[Floats, Floats, Settings], TestResult]] = {
    "t": _paired_t,
    "wilcoxon": _wilcoxon,
    "sign": _sign,
    "randomization": _randomization,
    UNPAIRED: _unpaired_t,
}


def compare_rows(test: str, a: Floats, b: Floats, options: Settings) -> TestResult:
    """A test of the rows of two matrices, in chunks."""
    step = max(1, CHUNK // a.shape[1])
    parts = [
        TESTS[test](a[at : at + step], b[at : at + step], options) for at in range(0, len(a), step)
    ]
    result = TestResult(*map(np.concatenate, zip(*parts)))
    if test == UNPAIRED:
        return result
    constant, equal = no_variance(a - b, np.maximum(np.abs(a), np.abs(b)).max(axis=1))
    if test == "sign":  # which counts queries, and is no test of the variance of differences
        constant = equal
    low, high = (np.where(constant & ~equal, np.nan, end) for end in result[:2])
    return TestResult(low, high, *(np.where(constant, np.nan, column) for column in result[2:]))


def cycle_numbers(preferred: NDArray[np.bool_]) -> Ints:
    """The number of each system's cycle, in which each system is preferred to the next.

    Args:
        preferred: whether the row's system is preferred to the column's, shape (S, S).

    Returns:
        0 for a system in no cycle, else the number of its cycle from 1, largest cycle first, shape
        (S,). Cycles that share systems count as one.

    >>> wins = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0]])
    >>> cycle_numbers(wins > 0).tolist()
    [1, 1, 1, 0]
    """
    _, labels = scipy.sparse.csgraph.connected_components(preferred, connection="strong")
    _, first, part, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    numbers = np.empty(len(sizes), dtype=np.int64)
    numbers[np.lexsort((first, -sizes))] = np.arange(1, len(sizes) + 1)
    return np.where(sizes > 1, numbers, 0)[part]


class NonInferiority(NamedTuple):
    """Result of a test of non-inferiority.

    Attributes:
        statistic: t, the mean gain plus the margin over the standard error of the mean gain.
        p: the one-sided p-value of a loss of the margin or more; NaN if no test can be made.
        power: the probability that such a loss is rejected at ``alpha`` if there is no true
            difference; NaN if no test can be made, or if all gains are equal.
    """

    statistic: float
    p: float
    power: float


def non_inferiority(gains: ArrayLike, margin: float, *, alpha: float = 0.05) -> NonInferiority:
    """Tests whether a system loses the margin or more; a small p rejects this.

    If all gains are 0, p is 0; no test can be made if they are equal and not 0.

    Args:
        gains: the gain of the system for each query, negative for a loss, shape (Q,).
        margin: the loss that is too large, above 0.
        alpha: the one-sided level of significance, for the power.

    Raises:
        ValueError: for gains that are not finite, or a level that is no probability.

    Source: Wellek (2010), Testing Statistical Hypotheses of Equivalence and Noninferiority.

    >>> result = non_inferiority([0.01, -0.02, 0.0, 0.01, -0.01], 0.02)
    >>> [round(number, 4) for number in result]
    [3.087, 0.0183, 0.8746]
    """
    check_probability("alpha", alpha)
    values = finite_vectors(gains)[0]
    freedom, nan = values.size - 1, float("nan")
    constant, equal = no_variance(values, margin)
    if freedom and equal:
        return NonInferiority(float("inf"), 0.0, nan)
    if constant:
        return NonInferiority(nan, nan, nan)
    error = float(values.std(ddof=1) / np.sqrt(values.size))
    statistic = (float(values.mean()) + margin) / error
    within = scipy.special.nctdtr(freedom, margin / error, upper_t(alpha, freedom))
    return NonInferiority(
        statistic, float(scipy.special.stdtr(freedom, -statistic)), float(1 - within)
    )
