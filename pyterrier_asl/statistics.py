"""Is one system better than another? Tests, corrections and intervals, by name.

SciPy and statsmodels do the statistics. This module gives them names, gives every test the same
answer (p, statistic, effect size, confidence interval of the mean difference), and makes them quick
enough for all pairs of a hundred systems.

Values are arrays: for a pair of systems two vectors with one entry per query, for many a matrix
``values[systems, queries]``. A difference is always first minus second; whether larger is better
only the measure knows.

======================  =========================================================== ===============
test                    what it is                                                  effect size
======================  =========================================================== ===============
``'t'``                 Student's t-test for pairs                                  Cohen's d_z
``'wilcoxon'``          Wilcoxon's signed-rank test, zeros left out                 rank-biserial r
``'sign'``              sign test: exact binomial over the queries that differ      (wins - losses)
                                                                                    / both
``'randomization'``     random exchange of the two systems' values in each query    Cohen's d_z
``'unpaired-t'``        t-test of two groups with pooled variance                   Cohen's d
``'tukey'``             Tukey's HSD over all systems, one way                       d by Tukey's MSE
``'tukey-two-way'``     Tukey's HSD over all systems, queries as blocks             d by Tukey's MSE
``'tukey-randomized'``  HSD with a randomization distribution, queries as blocks    d by Tukey's MSE
======================  =========================================================== ===============

d_z is the mean difference over the standard deviation of the differences, d the mean difference
over the pooled standard deviation of the two systems, and the last three divide by the square root
of the residual mean square (Sakai, 2018: chapters 5 and 6). r is the difference of the two rank
sums over their sum (Kerby, 2014).

**Honest by default.** Many comparisons find differences by chance. The Tukey tests are about all
pairs at once and need no correction; the others get Holm's over all comparisons of the call. What
was done is on the result: ``frame.attrs`` holds the test, the correction, the size of the family
and how many comparisons were dropped from it.

**Two systems that do not differ on any query** leave a test for pairs nothing to work on, and a
single query leaves nothing to any test: p is NaN, such a comparison is dropped from the family,
counted, and never significant.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy  # its scipy.stats loads when first used, so that importing this module is quick
from numpy.polynomial import Chebyshev
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CORRECTIONS",
    "PAIR_TESTS",
    "TUKEY_TESTS",
    "Comparison",
    "Corrected",
    "Interval",
    "compare_all",
    "compare_differences",
    "compare_pair",
    "compare_with_baseline",
    "confidence_interval",
    "correct",
    "kendall_tau",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Numbers held at once, in one array, by what is computed in chunks: 32 MB.
_CHUNK = 2**22


# --- What comes out ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """Two systems compared by one test.

    Attributes:
        test: Name of the test.
        queries: How many queries it is about; those of weight 0 do not count.
        mean_a: Mean of the first system.
        mean_b: Mean of the second system.
        difference: ``mean_a - mean_b``.
        ci_low: Lower end of the confidence interval of the difference.
        ci_high: Upper end.
        effect: Effect size; the table at the top of this module says which.
        statistic: The test's own statistic: t, the smaller sum of ranks, wins, or the difference.
        p: Two-sided p-value, NaN where the systems differ on no query.
    """

    test: str
    queries: int
    mean_a: float
    mean_b: float
    difference: float
    ci_low: float
    ci_high: float
    effect: float
    statistic: float
    p: float


class Corrected(NamedTuple):
    """P-values after a correction for how many there are.

    Attributes:
        p: Corrected p-values, NaN where there was none to correct.
        family: How many p-values the correction is about.
        dropped: How many were NaN and left out of the family.
    """

    p: Floats
    family: int
    dropped: int


class Interval(NamedTuple):
    """A mean and its confidence interval."""

    mean: float
    low: float
    high: float


class _Columns(NamedTuple):
    """What a test says about many pairs, one entry per pair."""

    statistic: Floats
    p: Floats
    effect: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class _Options:
    """What tests need to know besides the values."""

    alpha: float
    weights: Floats | None
    n_resamples: int
    seed: int


# --- The tests for pairs: first and second system in rows, queries in columns -------------------


def _paired_t(a: Floats, b: Floats, options: _Options) -> _Columns:
    differences = a - b
    mean, error, deviation, freedom = _moments(differences, options.weights)
    if options.weights is None:
        test = scipy.stats.ttest_1samp(differences, 0, axis=1)
        statistic, p = test.statistic, test.pvalue
    else:
        statistic = mean / error
        p = 2 * scipy.stats.t.sf(np.abs(statistic), freedom)
    margin = _t_margin(error, freedom, options.alpha)
    return _Columns(statistic, p, mean / deviation, mean - margin, mean + margin)


def _wilcoxon(a: Floats, b: Floats, options: _Options) -> _Columns:
    differences = a - b
    statistic, p = np.full((2, len(a)), np.nan)
    for rows in _rows_that_scipy_treats_alike(differences):
        test = scipy.stats.wilcoxon(differences[rows], axis=1)
        statistic[rows], p[rows] = test.statistic, test.pvalue
    # Zeros take the lowest ranks, so ranks without them are ranks less their number.
    ranks = scipy.stats.rankdata(np.abs(differences), axis=1)
    ranks -= np.sum(differences == 0, axis=1, keepdims=True)
    plus = np.sum(ranks * (differences > 0), axis=1)
    minus = np.sum(ranks * (differences < 0), axis=1)
    return _Columns(statistic, p, (plus - minus) / (plus + minus), *_t_interval(a, b, options))


def _sign(a: Floats, b: Floats, options: _Options) -> _Columns:
    wins, losses = np.sum(a > b, axis=1), np.sum(a < b, axis=1)
    tail = scipy.stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5)
    effect = (wins - losses) / (wins + losses)
    return _Columns(
        wins.astype(float), np.minimum(1, 2 * tail), effect, *_t_interval(a, b, options)
    )


def _randomization(a: Floats, b: Floats, options: _Options) -> _Columns:
    differences = a - b
    mean, _, deviation, _ = _moments(differences, options.weights)
    weights = np.ones(a.shape[1]) if options.weights is None else options.weights
    shares = differences * (weights / weights.sum())
    # A hair below the observed value, so that rounding does not part what is equal.
    observed = np.abs(shares.sum(axis=1)) - 1e-12 * np.abs(shares).sum(axis=1)
    exact = a.shape[1] < 63 and 2 ** a.shape[1] <= options.n_resamples
    as_large = np.zeros(len(a))
    for signs in _sign_patterns(a.shape[1], len(a), exact, options):
        as_large += np.sum(np.abs(signs @ shares.T) >= observed, axis=0)
    # The observed assignment is one more random one, so that p is never 0 and the test keeps its
    # level (Phipson and Smyth, 2010); among all assignments it is there already.
    p = as_large / 2 ** a.shape[1] if exact else (as_large + 1) / (options.n_resamples + 1)
    return _Columns(mean, p, mean / deviation, *_t_interval(a, b, options))


def _unpaired_t(a: Floats, b: Floats, options: _Options) -> _Columns:
    test = scipy.stats.ttest_ind(a, b, axis=1)
    interval = test.confidence_interval(1 - options.alpha)
    pooled = np.sqrt((a.var(axis=1, ddof=1) + b.var(axis=1, ddof=1)) / 2)
    effect = (a.mean(axis=1) - b.mean(axis=1)) / pooled
    return _Columns(test.statistic, test.pvalue, effect, interval.low, interval.high)


def _t_interval(a: Floats, b: Floats, options: _Options) -> tuple[Floats, Floats]:
    mean, error, _, freedom = _moments(a - b, options.weights)
    margin = _t_margin(error, freedom, options.alpha)
    return mean - margin, mean + margin


def _t_margin(error: Floats, freedom: int, alpha: float) -> Floats:
    return np.asarray(error * scipy.stats.t.isf(alpha / 2, freedom), dtype=np.float64)


def _moments(values: Floats, weights: Floats | None) -> tuple[Floats, Floats, Floats, int]:
    """Mean, its standard error, standard deviation and degrees of freedom of each row.

    A weight is how much a query counts in the mean; only ratios of weights matter. The mean is then
    a ratio of two sums over sampled queries, and its error that of a ratio (Cochran, 1977; Gatz and
    Smith, 1995, find it closest to the bootstrap): that of weighted least squares on a constant
    with the HC1 covariance. With equal weights it is the usual one.
    """
    n = values.shape[1]
    share = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    mean = values @ share
    squares = (values - mean[:, None]) ** 2
    error = np.sqrt(n / (n - 1) * (squares @ share**2))
    deviation = np.sqrt(n / (n - 1) * (squares @ share))
    return mean, error, deviation, n - 1


def _sign_patterns(
    queries: int, pairs: int, exact: bool, options: _Options
) -> Iterator[Floats]:
    """Rows of +1 and -1, one per reassignment of the systems' values, in chunks."""
    total = 2**queries if exact else options.n_resamples
    step = max(1, _CHUNK // max(queries, pairs))
    generator = np.random.default_rng(options.seed)
    for start in range(0, total, step):
        size = min(step, total - start)
        if exact:
            minus = np.arange(start, start + size)[:, None] >> np.arange(queries) & 1 == 1
        else:
            # One double for each sign: what is drawn does not depend on the size of the chunks.
            minus = generator.random((size, queries)) < 0.5
        yield np.where(minus, -1.0, 1.0)


def _rows_that_scipy_treats_alike(differences: Floats) -> Iterator[Ints]:
    """Rows that may be given to ``scipy.stats.wilcoxon`` together.

    Whether it computes exactly it decides for a whole array, by zeros and ties anywhere in it. So
    that a pair's p does not depend on other pairs, rows with either go alone; from 51 queries on it
    never computes exactly. Rows without any difference it does not take in every version.
    """
    rows = np.flatnonzero(np.any(differences, axis=1))
    sizes = np.sort(np.abs(differences[rows]), axis=1)
    special = (sizes[:, 0] == 0) | np.any(np.diff(sizes, axis=1) == 0, axis=1)
    if differences.shape[1] > 50:
        special[:] = False
    if not special.all():
        yield rows[~special]
    yield from rows[special, None]


@dataclass(frozen=True)
class _PairTest:
    """How a test for pairs is run, and what it can take."""

    run: Callable[[Floats, Floats, _Options], _Columns]
    weighted: bool = False
    paired: bool = True


_PAIR_TESTS = {
    "t": _PairTest(_paired_t, weighted=True),
    "wilcoxon": _PairTest(_wilcoxon),
    "sign": _PairTest(_sign),
    "randomization": _PairTest(_randomization, weighted=True),
    "unpaired-t": _PairTest(_unpaired_t, paired=False),
}


def _run_pair_test(name: str, a: Floats, b: Floats, options: _Options) -> _Columns:
    """A test for pairs over the rows of two matrices, in chunks."""
    test = _PAIR_TESTS[name]
    if options.weights is not None and not test.weighted:
        able = [other for other, candidate in _PAIR_TESTS.items() if candidate.weighted]
        raise ValueError(
            f"test {name!r} has no form for weighted queries: "
            f"leave out weights or use one of {', '.join(map(repr, able))}"
        )
    if a.shape[1] == 1:
        return _nothing(len(a))
    step = max(1, _CHUNK // a.shape[1])
    with _undefined_is_nan():
        parts = [
            _without_identical(
                test.run(a[at : at + step], b[at : at + step], options),
                a[at : at + step] - b[at : at + step],
                test.paired,
            )
            for at in range(0, len(a), step)
        ]
    return _Columns(*(np.concatenate([np.empty(0), *column]) for column in zip(*parts)))


def _nothing(pairs: int) -> _Columns:
    """What a single query says about any pair."""
    return _Columns(*(np.full(pairs, np.nan) for _ in _Columns._fields))


def _without_identical(columns: _Columns, differences: Floats, paired: bool) -> _Columns:
    """NaN for the pairs that differ on no query, whatever a paired test makes of them."""
    if not paired:
        return columns
    same = ~np.any(differences, axis=1)
    statistic, p, effect = (np.where(same, np.nan, column) for column in columns[:3])
    return _Columns(statistic, p, effect, columns.low, columns.high)


# --- The tests over all systems at once ---------------------------------------------------------


def _tukey(values: Floats, first: Ints, second: Ints, options: _Options) -> _Columns:
    systems, queries = values.shape
    mean_square = float(values.var(axis=1, ddof=1).mean())
    return _tukey_columns(values, first, second, mean_square, systems * (queries - 1), options)


def _tukey_two_way(values: Floats, first: Ints, second: Ints, options: _Options) -> _Columns:
    systems, queries = values.shape
    freedom = (systems - 1) * (queries - 1)
    return _tukey_columns(values, first, second, _two_way_error(values), freedom, options)


def _tukey_columns(
    values: Floats,
    first: Ints,
    second: Ints,
    mean_square: float,
    freedom: int,
    options: _Options,
) -> _Columns:
    """Tukey's HSD, from the residual mean square and its degrees of freedom."""
    systems, queries = values.shape
    means = values.mean(axis=1)
    difference = means[first] - means[second]
    error = np.sqrt(mean_square / queries)
    statistic = difference / error
    p = _studentized_range_sf(np.abs(statistic), systems, freedom)
    margin = error * _studentized_range_isf(options.alpha, systems, freedom)
    effect = difference / np.sqrt(mean_square)
    return _Columns(statistic, p, effect, difference - margin, difference + margin)


def _tukey_randomized(values: Floats, first: Ints, second: Ints, options: _Options) -> _Columns:
    queries = values.shape[1]
    weights = np.ones(queries) if options.weights is None else options.weights
    share = weights / weights.sum()
    means = values @ share
    difference = means[first] - means[second]
    largest = np.sort(_largest_differences(values, share, options))
    # A hair below the observed value, so that rounding does not part what is equal.
    observed = np.abs(difference) - 1e-12 * np.abs(values).max()
    as_large = options.n_resamples - np.searchsorted(largest, observed, side="left")
    p = (as_large + 1) / (options.n_resamples + 1)
    margin = np.quantile(largest, 1 - options.alpha, method="higher")
    effect = difference / np.sqrt(_two_way_error(values))
    return _Columns(difference, p, effect, difference - margin, difference + margin)


def _largest_differences(values: Floats, share: Floats, options: _Options) -> Floats:
    """The largest difference of two means, for each random exchange of values within queries."""
    systems, queries = values.shape
    step = max(1, _CHUNK // values.size)
    generator = np.random.default_rng(options.seed)
    largest = np.empty(options.n_resamples)
    by_query = np.ascontiguousarray(values.T)
    for start in range(0, options.n_resamples, step):
        size = min(step, options.n_resamples - start)
        drawn = np.broadcast_to(by_query, (size, queries, systems))
        means = np.einsum("rqs,q->rs", generator.permuted(drawn, axis=2), share)
        largest[start : start + size] = np.ptp(means, axis=1)
    return largest


def _two_way_error(values: Floats) -> float:
    """Residual mean square of the model value = system + query."""
    systems, queries = values.shape
    residuals = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    return float(np.sum(residuals**2) / ((systems - 1) * (queries - 1)))


#: The degree at which the polynomial is as exact as :func:`_studentized_range_sf` says.
_DEGREE = 128


def _studentized_range_sf(q: Floats, groups: int, freedom: int) -> Floats:
    """Upper tail of the studentized range distribution, for many values.

    SciPy integrates each value anew, some 15 ms a time. Up to 128 values are left to it. For more,
    its distribution function is interpolated by a polynomial of degree 128 in Chebyshev points up
    to where Bonferroni's bound puts the tail below 1e-12. Absolute error: below 1e-9 for up to 300
    groups, below 1e-7 for 1000.
    """
    known = np.unique(q[np.isfinite(q)])
    if known.size <= _DEGREE:
        tails = scipy.stats.studentized_range.sf(known, groups, freedom)
        p = tails[np.minimum(np.searchsorted(known, q), known.size - 1)] if known.size else 0 * q
    else:
        curve = _studentized_range_curve(groups, freedom)
        top = curve.domain[1]
        p = np.where(q < top, 1 - curve(np.minimum(q, top)), 0)
    p = np.where(np.isnan(q), np.nan, np.where(np.isinf(q), 0, p))
    return np.clip(p, 0, 1)


# The same systems and queries are compared by many measures, and these two do not know the values.
@lru_cache(maxsize=32)
def _studentized_range_curve(groups: int, freedom: int) -> Chebyshev:
    """The polynomial of :func:`_studentized_range_sf`."""
    top = np.sqrt(2) * scipy.stats.t.isf(1e-12 / (groups * (groups - 1)), freedom)
    return Chebyshev.interpolate(
        lambda x: scipy.stats.studentized_range.cdf(x, groups, freedom), _DEGREE, domain=[0, top]
    )


@lru_cache(maxsize=32)
def _studentized_range_isf(alpha: float, groups: int, freedom: int) -> float:
    """The value that the studentized range exceeds with probability alpha."""
    return float(scipy.stats.studentized_range.isf(alpha, groups, freedom))


_TUKEY_TESTS: dict[str, Callable[[Floats, Ints, Ints, _Options], _Columns]] = {
    "tukey": _tukey,
    "tukey-two-way": _tukey_two_way,
    "tukey-randomized": _tukey_randomized,
}


def _run_tukey_test(
    name: str, values: Floats, first: Ints, second: Ints, options: _Options
) -> _Columns:
    if options.weights is not None and name != "tukey-randomized":
        raise ValueError(
            f"test {name!r} has no form for weighted queries: "
            f"leave out weights or use 'tukey-randomized'"
        )
    if values.shape[1] == 1:
        return _nothing(len(first))
    with _undefined_is_nan():
        return _TUKEY_TESTS[name](values, first, second, options)


#: Tests of two systems by themselves.
PAIR_TESTS: tuple[str, ...] = tuple(_PAIR_TESTS)
#: Tests of all pairs of systems at once, which need no correction.
TUKEY_TESTS: tuple[str, ...] = tuple(_TUKEY_TESTS)


# --- What the public calls ----------------------------------------------------------------------


def compare_pair(
    a: ArrayLike,
    b: ArrayLike,
    test: str = "t",
    *,
    alpha: float = 0.05,
    weights: ArrayLike | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compares two systems on the same queries.

    The confidence interval of the mean difference is the t-test's for pairs, with
    ``'unpaired-t'`` that test's own. The rank, sign and randomization tests have none of the mean
    themselves, so theirs may include 0 where p is below alpha, and the other way round.

    Args:
        a: Values of the first system, shape (queries,).
        b: Values of the second, shape (queries,), queries in the same order.
        test: One of :data:`PAIR_TESTS`. ``'unpaired-t'`` ignores that queries are the same; it is
            what Türkmen et al. (2023) published as Tukey's HSD of each pair.
        alpha: The interval covers 1 - alpha.
        weights: How much each query counts, shape (queries,), only ratios matter; for ``'t'`` and
            ``'randomization'``. Queries of weight 0 are left out.
        n_resamples: How many random assignments ``'randomization'`` draws; all there are, exactly,
            if they are not more.
        seed: Of those draws.

    Returns:
        A :class:`Comparison`. Its p is NaN if the two differ on no query (except with
        ``'unpaired-t'``) or there is only one.

    Raises:
        ValueError: An unknown test, vectors that do not fit, values that are not finite, a test
            without weights given weights, or options out of range.

    Source: Smucker, Allan and Carterette (2007) compare these tests for retrieval.

    >>> result = compare_pair([0.5, 0.7, 0.4, 0.9], [0.4, 0.6, 0.1, 0.7])
    >>> print(f"{result.difference:.3f} [{result.ci_low:.3f}, {result.ci_high:.3f}]")
    0.175 [0.023, 0.327]
    >>> round(result.p, 4)
    0.0354
    >>> compare_pair([0.5, 0.7, 0.4, 0.9], [0.4, 0.6, 0.1, 0.7], "sign").p
    0.125
    """
    _check_name("test", test, PAIR_TESTS)
    values, options = _prepare(_vectors(a, b), alpha, weights, n_resamples, seed)
    columns = _run_pair_test(test, values[:1], values[1:], options)
    mean_a, mean_b = _means(values, options.weights).tolist()
    statistic, p, effect, low, high = (float(column[0]) for column in columns)
    return Comparison(
        test=test,
        queries=values.shape[1],
        mean_a=mean_a,
        mean_b=mean_b,
        difference=mean_a - mean_b,
        ci_low=low,
        ci_high=high,
        effect=effect,
        statistic=statistic,
        p=p,
    )


def compare_all(
    values: ArrayLike,
    names: Sequence[str],
    *,
    test: str = "tukey-two-way",
    correction: str | None = "auto",
    alpha: float = 0.05,
    weights: ArrayLike | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compares every two of many systems on the same queries.

    The Tukey tests are about all pairs at once: their p-values are already corrected, and the
    confidence intervals cover all true differences together. Of the three, ``'tukey'`` ignores that
    queries are the same for all, ``'tukey-two-way'`` takes queries as blocks, and
    ``'tukey-randomized'`` does so without assuming a normal distribution: it exchanges the systems'
    values within each query at random and looks at the largest difference. On TREC-8's 129 runs by
    AP at 100 they find 1200, 3091 and 2434 of 8256 pairs: two-way gains by taking out how hard a
    query is, but takes all systems to scatter alike, which the best and the worst runs do not.

    Args:
        values: One row per system, one column per query, shape (systems, queries).
        names: Names of the systems, shape (systems,), no two alike.
        test: One of :data:`TUKEY_TESTS` or :data:`PAIR_TESTS`.
        correction: One of :data:`CORRECTIONS`. ``'auto'`` is Holm's for a test of pairs and none
            for a Tukey test, which takes no other.
        alpha: The level of significance; intervals cover 1 - alpha.
        weights: How much each query counts, shape (queries,); for ``'t'``, ``'randomization'`` and
            ``'tukey-randomized'``.
        n_resamples: Draws of the tests that draw at random.
        seed: Of those draws; the same seed gives the same numbers.

    Returns:
        One row for each pair, in the order of ``names``, with ``a``, ``b``, ``mean_a``, ``mean_b``,
        ``difference``, ``ci_low``, ``ci_high``, ``effect``, ``statistic``, ``p``, ``p_corrected``,
        ``significant``. ``attrs``: ``test``, ``correction``, ``alpha``, ``family`` (how many
        p-values were corrected together), ``dropped`` (how many were NaN).

    Raises:
        ValueError: An unknown test or correction, a correction of a Tukey test, names that do not
            fit, values that are not finite, weights a test cannot take, or options out of range.

    Sources: Tukey (1949); two-way and randomized: Carterette (2012), Sakai (2018).

    >>> values = [[0.5, 0.7, 0.4, 0.9], [0.4, 0.6, 0.1, 0.7], [0.5, 0.6, 0.4, 0.9]]
    >>> frame = compare_all(values, ["bm25", "tfidf", "dph"], test="t")
    >>> frame[["a", "b", "difference", "p_corrected"]].round(4)
           a      b  difference  p_corrected
    0   bm25  tfidf       0.175       0.1061
    1   bm25    dph       0.025       0.3910
    2  tfidf    dph      -0.150       0.2055
    >>> frame.attrs["correction"], frame.attrs["family"]
    ('holm', 3)
    """
    _check_name("test", test, TUKEY_TESTS + PAIR_TESTS)
    matrix = _matrix(values)
    labels = _labels(names, len(matrix))
    matrix, options = _prepare(matrix, alpha, weights, n_resamples, seed)
    first, second = np.triu_indices(len(matrix), k=1)
    return _compare(matrix, labels, first, second, test, correction, options)


def compare_with_baseline(
    values: ArrayLike,
    names: Sequence[str],
    baseline: str,
    *,
    test: str = "t",
    correction: str | None = "auto",
    alpha: float = 0.05,
    weights: ArrayLike | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compares every system with one of them.

    Args:
        values: One row per system, one column per query, shape (systems, queries).
        names: Names of the systems, shape (systems,), no two alike.
        baseline: The name of the one.
        test: One of :data:`PAIR_TESTS`.
        correction: One of :data:`CORRECTIONS`, over these comparisons; ``'auto'`` is Holm's.
        alpha: The level of significance; intervals cover 1 - alpha.
        weights: How much each query counts; see :func:`compare_pair`.
        n_resamples: Draws of ``'randomization'``.
        seed: Of those draws.

    Returns:
        As of :func:`compare_all`, one row for each other system ``a``; ``b`` is the baseline.

    Raises:
        ValueError: As of :func:`compare_all`, or the baseline is none of the names.

    >>> values = [[0.5, 0.7, 0.4, 0.9], [0.4, 0.6, 0.1, 0.7], [0.5, 0.6, 0.4, 0.9]]
    >>> frame = compare_with_baseline(values, ["bm25", "tfidf", "dph"], "tfidf")
    >>> frame[["a", "b", "difference", "p_corrected"]].round(4)
          a      b  difference  p_corrected
    0  bm25  tfidf       0.175       0.0707
    1   dph  tfidf       0.150       0.1027
    """
    _check_name("test", test, PAIR_TESTS)
    matrix = _matrix(values)
    labels = _labels(names, len(matrix))
    _check_name("baseline", baseline, labels)
    matrix, options = _prepare(matrix, alpha, weights, n_resamples, seed)
    at = labels.index(baseline)
    others = np.delete(np.arange(len(labels)), at)
    return _compare(matrix, labels, others, np.full_like(others, at), test, correction, options)


def compare_differences(
    differences: ArrayLike,
    names: Sequence[tuple[str, str]],
    *,
    test: str = "t",
    correction: str | None = "auto",
    alpha: float = 0.05,
    weights: ArrayLike | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Tests preferences: differences that are not those of two values, such as rrLP and sgnLP.

    Args:
        differences: One row per pair of systems, one column per query, positive for the first
            system, shape (pairs, queries).
        names: The two systems of each row, shape (pairs, 2).
        test: One of :data:`PAIR_TESTS` but ``'unpaired-t'``.
        correction: One of :data:`CORRECTIONS`, over these pairs; ``'auto'`` is Holm's.
        alpha: The level of significance; intervals cover 1 - alpha.
        weights: How much each query counts; see :func:`compare_pair`.
        n_resamples: Draws of ``'randomization'``.
        seed: Of those draws.

    Returns:
        As of :func:`compare_all`, without ``mean_a`` and ``mean_b``, which preferences do not have.

    Raises:
        ValueError: As of :func:`compare_all`, or ``names`` does not fit ``differences``.

    >>> frame = compare_differences([[1, 1, 0, 1, 1, 1]], [("bm25", "tfidf")], test="sign")
    >>> float(frame.loc[0, "p"])
    0.0625
    """
    _check_name("test", test, [name for name, one in _PAIR_TESTS.items() if one.paired])
    matrix = _matrix(differences)
    pairs = [tuple(pair) for pair in names]
    if len(pairs) != len(matrix) or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"names has {len(pairs)} entries for {len(matrix)} rows of differences: "
            f"give the two systems of each row"
        )
    matrix, options = _prepare(matrix, alpha, weights, n_resamples, seed)
    columns = _run_pair_test(test, matrix, np.zeros_like(matrix), options)
    frame = pd.DataFrame(
        {
            "a": [pair[0] for pair in pairs],
            "b": [pair[1] for pair in pairs],
            "difference": _means(matrix, options.weights),
        }
    )
    return _complete(frame, columns, test, correction, options)


def _compare(
    values: Floats,
    labels: list[str],
    first: Ints,
    second: Ints,
    test: str,
    correction: str | None,
    options: _Options,
) -> pd.DataFrame:
    """Compares the systems of ``first`` with those of ``second``."""
    if len(first) == 0:
        columns = _nothing(0)
    elif test in _TUKEY_TESTS:
        columns = _run_tukey_test(test, values, first, second, options)
    else:
        columns = _run_pair_test(test, values[first], values[second], options)
    means = _means(values, options.weights)
    frame = pd.DataFrame(
        {
            "a": [labels[i] for i in first],
            "b": [labels[i] for i in second],
            "mean_a": means[first],
            "mean_b": means[second],
            "difference": means[first] - means[second],
        }
    )
    return _complete(frame, columns, test, correction, options)


def _complete(
    frame: pd.DataFrame, columns: _Columns, test: str, correction: str | None, options: _Options
) -> pd.DataFrame:
    """Adds what the test says, corrected, and a note of how it came about."""
    method = _correction_for(test, correction)
    corrected = correct(columns.p, method)
    if test == "randomization" and method in ("bonferroni", "holm"):
        _warn_if_too_few_draws(corrected.family, options)
    frame = frame.assign(
        ci_low=columns.low,
        ci_high=columns.high,
        effect=columns.effect,
        statistic=columns.statistic,
        p=columns.p,
        p_corrected=corrected.p,
        significant=corrected.p <= options.alpha,
    )
    frame.attrs = {
        "test": test,
        "correction": method,
        "alpha": options.alpha,
        "family": corrected.family,
        "dropped": corrected.dropped,
    }
    return frame


def _warn_if_too_few_draws(family: int, options: _Options) -> None:
    """The smallest p that draws can give must be able to survive the correction."""
    if family > options.alpha * (options.n_resamples + 1):
        needed = int(np.ceil(family / options.alpha))
        warnings.warn(
            f"{options.n_resamples} draws cannot make one of {family} comparisons significant at "
            f"{options.alpha} after correction: give n_resamples={needed} or more, or use "
            f"'tukey-randomized'",
            stacklevel=5,
        )


# --- Corrections --------------------------------------------------------------------------------

#: What statsmodels calls the corrections.
_STATSMODELS = {"bonferroni": "bonferroni", "holm": "holm", "bh": "fdr_bh"}
#: Names of corrections; ``'auto'`` is for the functions that compare, which know the test.
CORRECTIONS: tuple[str | None, ...] = ("auto", None, *_STATSMODELS)


def correct(p_values: ArrayLike, method: str | None = "holm") -> Corrected:
    """Corrects p-values for how many there are.

    NaN is no p-value: it is dropped from the family, counted, and stays NaN.

    Args:
        p_values: All p-values of the family, of any shape. The family is what is shown together:
            all pairs, all measures.
        method: ``'holm'`` (Holm, 1979) and ``'bonferroni'`` bound the probability of any false
            difference, ``'bh'`` (Benjamini and Hochberg, 1995) the share of false ones among those
            found; None corrects nothing.

    Returns:
        :class:`Corrected`, with p-values in the same shape, the size of the family, how many
        dropped.

    Raises:
        ValueError: An unknown method, or p-values outside [0, 1].

    >>> correct([0.01, 0.04, float("nan"), 0.03])
    Corrected(p=array([0.03, 0.06,  nan, 0.06]), family=3, dropped=1)
    """
    _check_name("correction", method, (None, *_STATSMODELS))
    p = np.array(p_values, dtype=np.float64)
    given = ~np.isnan(p)
    if np.any((p[given] < 0) | (p[given] > 1)):
        raise ValueError(f"p-values lie between 0 and 1, but these hold {p[given].min()} "
                         f"to {p[given].max()}")
    if method is not None and given.any():
        # Imported here because it takes a second that whoever compares nothing should not wait.
        from statsmodels.stats.multitest import multipletests

        p[given] = multipletests(p[given], method=_STATSMODELS[method])[1]
    return Corrected(p, int(given.sum()), int((~given).sum()))


def _correction_for(test: str, correction: str | None) -> str | None:
    """What ``'auto'`` means for this test, and an error for what would correct twice."""
    _check_name("correction", correction, CORRECTIONS)
    if test in _TUKEY_TESTS:
        if correction not in ("auto", None):
            raise ValueError(
                f"correction {correction!r} would correct twice: {test!r} is about all pairs "
                f"already, so leave correction out"
            )
        return None
    return "holm" if correction == "auto" else correction


# --- Intervals and correlation ------------------------------------------------------------------


def confidence_interval(
    values: ArrayLike,
    *,
    alpha: float = 0.05,
    method: str = "t",
    weights: ArrayLike | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """The mean of a system's values and a confidence interval of it.

    Args:
        values: One value per query, shape (queries,).
        alpha: The interval covers 1 - alpha.
        method: ``'t'``, by Student's distribution, or ``'bootstrap'``, SciPy's bias-corrected and
            accelerated bootstrap over queries, for values that are far from normal.
        weights: How much each query counts, shape (queries,); only ratios matter, queries of
            weight 0 are left out.
        n_resamples: Draws of the bootstrap.
        seed: Of those draws.

    Returns:
        :class:`Interval`, with mean, low, high. Values that are all equal have an interval of
        length 0, a single one has NaN for ends.

    Raises:
        ValueError: An unknown method, no values or some that are not finite, weights that do not
            fit, or options out of range.

    >>> mean, low, high = confidence_interval([0.5, 0.7, 0.4, 0.9])
    >>> print(f"{mean:.3f} [{low:.3f}, {high:.3f}]")
    0.625 [0.272, 0.978]
    """
    _check_name("method", method, ("t", "bootstrap"))
    matrix, options = _prepare(_vectors(values), alpha, weights, n_resamples, seed)
    mean = float(_means(matrix, options.weights)[0])
    if matrix.shape[1] == 1:
        return Interval(mean, float("nan"), float("nan"))
    if np.ptp(matrix) == 0:
        return Interval(mean, mean, mean)
    if method == "bootstrap":
        return Interval(mean, *_bootstrap(matrix[0], options))
    _, error, _, freedom = _moments(matrix, options.weights)
    margin = float(_t_margin(error, freedom, alpha)[0])
    return Interval(mean, mean - margin, mean + margin)


def _bootstrap(values: Floats, options: _Options) -> tuple[float, float]:
    weights = np.ones(values.size) if options.weights is None else options.weights
    result = scipy.stats.bootstrap(
        (values, weights),
        lambda v, w, axis: np.sum(v * w, axis=axis) / np.sum(w, axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=options.n_resamples,
        batch=max(1, _CHUNK // values.size),
        confidence_level=1 - options.alpha,
        method="BCa",
        random_state=np.random.default_rng(options.seed),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def kendall_tau(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b of two score vectors: the usual agreement of two orders of systems.

    Ties are taken out of the scale: pairs tied in either vector count for neither side, and the
    divisor shrinks by them. For an agreement that weighs the top more, see
    :func:`pyterrier_asl.scoring.agreement.tau_ap`.

    Args:
        a: One score for each item, shape (N,).
        b: The other scores, shape (N,), items in the same order.

    Returns:
        A number in [-1, 1], 1 for the same order; NaN where all scores of one vector are equal.

    Raises:
        ValueError: The two are not vectors of one length of at least 2, or hold values that are not
            finite.

    Source: Kendall (1945).

    >>> round(kendall_tau([4, 3, 2, 1], [4, 3, 1, 2]), 4)
    0.6667
    """
    matrix = _vectors(a, b)
    if matrix.shape[1] < 2:
        raise ValueError("an order needs at least 2 items, got 1")
    return float(scipy.stats.kendalltau(matrix[0], matrix[1]).statistic)


# --- What goes in -------------------------------------------------------------------------------


def _matrix(values: ArrayLike) -> Floats:
    """Values as a matrix of finite numbers, or an error that names the first that is not."""
    try:
        matrix = np.asarray(values, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"rows of values must be numbers and of one length: {error}") from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(
            f"values have shape {matrix.shape}, but one row per system and one column per query, "
            f"at least one, are needed"
        )
    wrong = np.argwhere(~np.isfinite(matrix))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(
            f"the value of row {row}, query {column} is {matrix[row, column]}, one of {len(wrong)} "
            f"that are not finite: give every query a value"
        )
    return matrix


def _vectors(*vectors: ArrayLike) -> Floats:
    return _matrix([np.asarray(vector) for vector in vectors])


def _prepare(
    values: Floats, alpha: float, weights: ArrayLike | None, n_resamples: int, seed: int
) -> tuple[Floats, _Options]:
    """Checked options, and the values of the queries that have a weight."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}, but it is a probability: give 0 < alpha < 1")
    if n_resamples < 1:
        raise ValueError(f"n_resamples is {n_resamples}: give at least 1")
    if weights is None:
        return values, _Options(alpha, None, n_resamples, seed)
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != values.shape[1:]:
        raise ValueError(
            f"weights have shape {array.shape}, but there are {values.shape[1]} queries: "
            f"give one weight for each"
        )
    if not np.isfinite(array).all() or array.min() < 0 or array.max() == 0:
        raise ValueError(
            "weights must be finite, none below 0 and one of them above: "
            f"these go from {array.min()} to {array.max()}"
        )
    return values[:, array > 0], _Options(alpha, array[array > 0], n_resamples, seed)


def _means(values: Floats, weights: Floats | None) -> Floats:
    return np.asarray(np.average(values, axis=1, weights=weights), dtype=np.float64)


def _labels(names: Sequence[str], systems: int) -> list[str]:
    labels = list(names)
    if len(labels) != systems:
        raise ValueError(f"there are {len(labels)} names for {systems} systems: name each row")
    if len(set(labels)) != len(labels):
        twice = next(name for name in labels if labels.count(name) > 1)
        raise ValueError(f"the name {twice!r} occurs twice: give every system its own")
    return labels


def _check_name(what: str, name: str | None, allowed: Sequence[str | None]) -> None:
    if name not in allowed:
        raise ValueError(
            f"{what} {name!r} is unknown: use one of {', '.join(map(repr, allowed))}"
        )


@contextmanager
def _undefined_is_nan() -> Iterator[None]:
    """Lets a test that has nothing to work on answer NaN in silence; the caller counts them."""
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        # SciPy before 1.13 tells by a UserWarning which form of Wilcoxon's test it falls back to.
        warnings.simplefilter("ignore", UserWarning)
        yield
