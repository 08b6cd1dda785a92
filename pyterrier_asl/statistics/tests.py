"""Significance tests of systems, with corrections and confidence intervals.

Each test has a name and returns p, statistic, effect size and the confidence interval of the mean
difference, quickly for all pairs of a hundred systems. Distributions are SciPy's.

Values are arrays: two vectors with one entry per query for a pair of systems, a matrix
``values[systems, queries]`` for many. A difference is first minus second, whether or not the
measure is better if higher.

======================  =========================================================== ===============
test                    description                                                 effect size
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

**Corrected by default.** Many comparisons find differences by chance. The Tukey tests are tests of
all pairs together and need no correction. The others get Holm's correction over all comparisons of
the call. ``frame.attrs`` has the test, the correction, the size of the family and the number of
comparisons dropped from it.

**Without variance there is no test**: where two systems differ by the same on every query, or there
is a single query, p is NaN, and the comparison is dropped from the family, counted, and never
significant. Two systems that differ on no query are equal: :func:`compare_pair` gives 1, and the
tests of all pairs NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..common.parameters import check_name
from ..common.types import Floats, Ints
from . import pairwise, tukey
from .settings import (
    ArrayLike,
    Settings,
    TestResult,
    finite_matrix,
    finite_vectors,
    settings_of,
    undefined_is_nan,
)

if TYPE_CHECKING:
    import pandas as pd


#: Corrections of ascending p-values by name. (statsmodels' take a second to import.)
_METHODS: dict[str, Callable[[Floats], Floats]] = {
    "none": lambda p: p,
    "bonferroni": lambda p: p * len(p),
    "holm": lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)),
    "bh": lambda p: np.minimum.accumulate((p / (np.arange(1, len(p) + 1) / len(p)))[::-1])[::-1],
}

#: Names of corrections.
CORRECTIONS = tuple(_METHODS)


class Corrected(NamedTuple):
    """Corrected p-values.

    Attributes:
        p: corrected p-values, NaN where there was no p-value.
        family: the number of p-values that were corrected together.
        dropped: the number that were NaN and left out of the family.
    """

    p: Floats
    family: int
    dropped: int


def correct(p_values: ArrayLike, method: str = "holm") -> Corrected:
    """Corrects p-values for multiple comparisons.

    NaN means that there is no p-value. It is left out of the family, counted, and stays NaN.

    Args:
        p_values: all p-values of the family, of any shape. The family is everything that is
            reported together: all pairs, all measures.
        method: ``'holm'`` (Holm, 1979) and ``'bonferroni'`` bound the probability of any false
            rejection, ``'bh'`` (Benjamini and Hochberg, 1995) the expected share of false ones
            among the rejections; ``'none'`` corrects nothing.

    Returns:
        :class:`Corrected`, with p-values in the same shape.

    Raises:
        ValueError: An unknown method, or p-values outside [0, 1].

    >>> correct([0.01, 0.04, float("nan"), 0.03])
    Corrected(p=array([0.03, 0.06,  nan, 0.06]), family=3, dropped=1)
    """
    check_name("correction", method, CORRECTIONS)
    p = np.array(p_values, dtype=np.float64)
    is_number = ~np.isnan(p)
    if np.any((p[is_number] < 0) | (p[is_number] > 1)):
        raise ValueError(
            "p-values lie between 0 and 1, but these hold "
            f"{p[is_number].min()} to {p[is_number].max()}"
        )
    rows = np.argsort(p, axis=None, kind="stable")[: int(is_number.sum())]  # NaN comes last
    p.ravel()[rows] = np.minimum(_METHODS[method](p.ravel()[rows]), 1)
    return Corrected(p, int(is_number.sum()), int((~is_number).sum()))


def with_corrected_p(frame: pd.DataFrame, test: str, method: str, alpha: float) -> pd.DataFrame:
    """Corrects the p-values of a frame of comparisons, all its rows being one family.

    Args:
        frame: one row for each comparison, with its ``p``.
        test: the name of the test.
        method: the correction, one of :data:`CORRECTIONS`.
        alpha: the level of significance.

    Returns:
        The frame with ``p_corrected`` and ``significant``; its ``attrs`` hold ``test``,
        ``correction``, ``alpha``, ``family`` and ``dropped``.
    """
    p, family, dropped = correct(frame["p"], method)
    corrected = frame.assign(p_corrected=p, significant=p <= alpha)
    attrs = {"test": test, "correction": method, "alpha": alpha}
    corrected.attrs = attrs | {"family": family, "dropped": dropped} | frame.attrs
    return corrected


class Comparison(NamedTuple):
    """Result of a test of two systems.

    Attributes:
        difference: mean of the first system minus mean of the second.
        ci_low: lower end of the confidence interval of the difference.
        ci_high: upper end.
        effect: effect size, of the kind in the table of this module.
        statistic: the test's own statistic: t, the smaller sum of ranks, wins, or the difference.
        p: two-sided p-value; 1 where the systems differ on no query, NaN where no test can be made.
    """

    difference: float
    ci_low: float
    ci_high: float
    effect: float
    statistic: float
    p: float


#: Tests of two systems.
PAIR_TESTS: tuple[str, ...] = tuple(pairwise.TESTS)

#: Tests of all pairs of systems together, which need no correction.
TUKEY_TESTS: tuple[str, ...] = tuple(tukey.TESTS)


def compare_pair(
    a: ArrayLike,
    b: ArrayLike,
    test: str = "t",
    *,
    alpha: float = 0.05,
    draws: int | None = None,
    seed: int | None = None,
) -> Comparison:
    """Compares two systems on the same queries.

    The confidence interval of the mean difference is the interval of the t-test for pairs, or of
    ``'unpaired-t'``. The rank, sign and randomization tests have no interval of the mean. For these
    tests the interval may include 0 although p is below alpha, or exclude 0 although p is above.

    Args:
        a: values of the first system, shape (queries,).
        b: values of the second, shape (queries,), queries in the same order.
        test: one of :data:`PAIR_TESTS`. ``'unpaired-t'`` ignores that both systems have the same
            queries. Türkmen et al. (2023) published it as Tukey's HSD of each pair.
        alpha: intervals cover 1 - alpha.
        draws: number of random assignments of ``'randomization'``; the test is exact if there are
            not more assignments than this. None: 10,000.
        seed: seed of the draws; None: 0.

    Returns:
        A :class:`Comparison`. In a test for pairs p is 1 if the two systems differ on no query;
        p, statistic, effect and interval are NaN if they differ by the same on every query, or for
        a single query.

    Raises:
        ValueError: An unknown test, vectors that do not fit, values that are not finite, a test
            without draws given ``draws`` or ``seed``, or options out of range.

    Source: Smucker, Allan and Carterette (2007) compare these tests for retrieval.

    >>> result = compare_pair([0.5, 0.7, 0.4, 0.9], [0.4, 0.6, 0.1, 0.7])
    >>> print(f"{result.difference:.3f} [{result.ci_low:.3f}, {result.ci_high:.3f}]")
    0.175 [0.023, 0.327]
    >>> round(result.p, 4)
    0.0354
    >>> compare_pair([0.5, 0.7, 0.4, 0.9], [0.4, 0.6, 0.1, 0.7], "sign").p
    0.125
    """
    check_name("test", test, PAIR_TESTS)
    values, options = finite_vectors(a, b), settings_of(alpha, test, draws, seed)
    result = _test_pairs(test, values, np.array([0]), np.array([1]), options)
    mean_a, mean_b = values.mean(axis=1).tolist()
    tested = Comparison(mean_a - mean_b, *(float(column[0]) for column in result))
    if test == pairwise.UNPAIRED:
        return tested
    constant, equal = pairwise.no_variance(values[0] - values[1], np.abs(values).max())
    if equal:
        return tested._replace(p=1.0)
    return Comparison(tested.difference, *[np.nan] * 5) if constant else tested


def compare_all(
    values: ArrayLike,
    names: Sequence[str],
    *,
    test: str = "tukey-two-way",
    correction: str = "auto",
    alpha: float = 0.05,
    draws: int | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """Compares all pairs of many systems on the same queries.

    The Tukey tests are about all pairs together: their p-values are corrected, and their confidence
    intervals contain all true differences together. ``'tukey'`` ignores that all systems have the
    same queries. ``'tukey-two-way'`` uses queries as blocks. ``'tukey-randomized'`` also does, and
    assumes no normal distribution: it exchanges the systems' values within each query at random and
    uses the largest difference. For the 129 runs of TREC-8 by ``AP@100``, the three tests find
    1200, 3091 and 2434 of 8256 pairs significant. The two-way test gains by removing the
    difficulty of queries. It assumes that all systems have the same variance, which differs
    between the best and the worst runs.

    Args:
        values: one row per system, one column per query, shape (systems, queries).
        names: different names of the systems, shape (systems,).
        test: one of :data:`TUKEY_TESTS` or :data:`PAIR_TESTS`.
        correction: one of :data:`CORRECTIONS`. ``'auto'`` is Holm's for a test of pairs and none
            for a Tukey test, which accepts no other.
        alpha: the level of significance; intervals cover 1 - alpha.
        draws: number of random draws; None: 10,000.
        seed: seed of the draws; None: 0.

    Returns:
        One row for each pair, in the order of ``names``, with ``a``, ``b``, ``mean_a``, ``mean_b``,
        ``difference``, ``ci_low``, ``ci_high``, ``effect``, ``statistic``, ``p``, ``p_corrected``,
        ``significant``. ``attrs``: ``test``, ``correction``, ``alpha``, ``family`` (the number of
        p-values corrected together), ``dropped`` (the number of p-values that are NaN).

    Raises:
        ValueError: An unknown test or correction, a correction of a Tukey test, names that do not
            fit, values that are not finite, ``draws`` or
            ``seed`` for a test without draws, or options out of range.

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
    check_name("test", test, TUKEY_TESTS + PAIR_TESTS)
    matrix, options = finite_matrix(values), settings_of(alpha, test, draws, seed)
    pairs = list(combinations(_labels_of(names, len(matrix)), 2))
    first, second = np.triu_indices(len(matrix), k=1)
    return _compare_pairs(matrix, first, second, pairs, test, correction, options)


def _labels_of(names: Sequence[str], systems: int) -> list[str]:
    """The names of systems as a list; ValueError unless each system has a different name."""
    labels = list(names)
    if len(labels) != systems:
        raise ValueError(f"there are {len(labels)} names for {systems} systems: name each row")
    for twice in (name for name in labels if labels.count(name) > 1):
        raise ValueError(f"the name {twice!r} occurs twice: give every system its own")
    return labels


def compare_differences(
    differences: ArrayLike,
    names: Sequence[tuple[str, str]],
    *,
    test: str = "t",
    correction: str = "auto",
    alpha: float = 0.05,
    draws: int | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """Tests preferences such as rrLP and sgnLP, which are not differences of two values.

    Args:
        differences: one row per pair of systems, one column per query, positive for the first
            system, shape (pairs, queries).
        names: the two systems of each row, shape (pairs, 2).
        test: one of :data:`PAIR_TESTS` except ``'unpaired-t'``.
        correction: one of :data:`CORRECTIONS`, over these pairs; ``'auto'`` is Holm's.
        alpha: the level of significance; intervals cover 1 - alpha.
        draws: number of random draws; None: 10,000.
        seed: seed of the draws; None: 0.

    Returns:
        The columns of :func:`compare_all` without ``mean_a`` and ``mean_b``.

    Raises:
        ValueError: See :func:`compare_all`.

    >>> frame = compare_differences([[1, 1, 0, 1, 1, 1]], [("bm25", "tfidf")], test="sign")
    >>> float(frame.loc[0, "p"])
    0.0625
    """
    check_name("test", test, [name for name in PAIR_TESTS if name != pairwise.UNPAIRED])
    matrix, options = finite_matrix(differences), settings_of(alpha, test, draws, seed)
    rows = np.arange(len(matrix))
    with_zero = np.vstack((matrix, np.zeros((1, matrix.shape[1]))))
    return _compare_pairs(
        with_zero, rows, np.full_like(rows, -1), names, test, correction, options
    ).drop(columns=["mean_a", "mean_b"])


def _compare_pairs(
    values: Floats,
    first: Ints,
    second: Ints,
    pairs: Sequence[tuple[str, ...]],
    test: str,
    correction: str,
    options: Settings,
) -> pd.DataFrame:
    """Compares the systems of ``first`` with those of ``second``, whose names are ``pairs``."""
    import pandas as pd

    check_name("correction", correction, ("auto", *CORRECTIONS))
    if test in TUKEY_TESTS and correction not in ("auto", "none"):
        raise ValueError(
            f"correction {correction!r} would correct twice: {test!r} is a test of all pairs "
            "together, so leave correction out"
        )
    if correction == "auto":
        correction = "none" if test in TUKEY_TESTS else "holm"
    a, b = values.mean(axis=1)[np.stack((first, second))]
    frame = pd.DataFrame(pairs, columns=["a", "b"]).assign(
        mean_a=a,
        mean_b=b,
        difference=a - b,
        **_test_pairs(test, values, first, second, options)._asdict(),
    )
    return with_corrected_p(frame, test, correction, options.alpha)


def _test_pairs(
    test: str, values: Floats, first: Ints, second: Ints, options: Settings
) -> TestResult:
    """A test of the systems of ``first`` against those of ``second``."""
    if values.shape[1] == 1 or len(first) == 0:
        return TestResult(*np.full((len(TestResult._fields), len(first)), np.nan))
    with undefined_is_nan():
        return (
            tukey.TESTS[test](values, first, second, options)
            if test in tukey.TESTS
            else pairwise.compare_rows(test, values[first], values[second], options)
        )


@dataclass(frozen=True)
class PairedTest:
    """A test of two systems, and its correction over all comparisons of a table.

    Attributes:
        test: one of :data:`PAIR_TESTS`.
        correction: one of :data:`CORRECTIONS`.
        alpha: the level of significance; intervals cover 1 - alpha.
        draws: number of random draws; None: 10,000.
        seed: seed of the draws; None: 0.
    """

    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    draws: int | None = None
    seed: int | None = None

    def of(self, a: Floats, b: Floats) -> dict[str, float]:
        """Tests the difference of two systems' values, first minus second, over the queries."""
        return compare_pair(
            a, b, self.test, alpha=self.alpha, draws=self.draws, seed=self.seed
        )._asdict()
