"""Differences of two systems in groups of queries: do they depend on the group, and in which?

Question 1 permutes the differences over the queries, with Welch's H, which lets groups have
different variances. Question 2 gives each difference a random sign, with step-down maxima over the
groups. The estimates are shrunken towards their mean as DerSimonian and Laird pool studies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..common.types import Bools, Floats, Ints
from .pairwise import no_variance
from .random_signs import sign_vectors, step_down
from .rounding import EQUAL
from .settings import DRAWS, ArrayLike

#: The fewest queries of a group with a test: with 5 no p of random signs is below .06.
FEWEST_IN_GROUP = 6


class GroupDifferences(NamedTuple):
    """Differences by group of queries, G groups.

    Attributes:
        depends: the p-value of "the difference is the same in all groups"; NaN without two groups
            of at least :data:`FEWEST_IN_GROUP` queries.
        queries: the number of queries, shape (G,).
        difference: the mean difference.
        shrunken: the estimate that is drawn towards the mean of all groups; NaN for small groups.
        p: the p-value of no difference in the group, adjusted for all groups; NaN for small ones.
    """

    depends: float
    queries: Ints
    difference: Floats
    shrunken: Floats
    p: Floats


def group_differences(
    differences: ArrayLike, groups: ArrayLike, greatest: float = 0.0
) -> GroupDifferences:
    """Tests the differences of two systems in groups of queries.

    Args:
        differences: one difference per query, shape (Q,).
        groups: the number of each query's group, from 0, shape (Q,).
        greatest: the greatest absolute value of the two systems, of which 1e-9 is rounding.

    Returns:
        :class:`GroupDifferences`, groups by number.

    Sources: Welch (1951); Romano and Wolf (2005); DerSimonian and Laird (1986).

    >>> rng = np.random.default_rng(1)
    >>> groups = np.repeat([0, 1], 10)
    >>> found = group_differences(rng.normal(0, 0.1, 20) + np.where(groups, 0.3, 0), groups)
    >>> round(found.depends, 4), found.difference.round(2).tolist(), found.p.round(3).tolist()
    (0.0003, [0.02, 0.29], [0.304, 0.002])
    """
    d, codes = np.asarray(differences, np.float64), np.asarray(groups)
    queries = np.bincount(codes)
    means = np.bincount(codes, d) / queries
    tested = np.flatnonzero(queries >= FEWEST_IN_GROUP)
    shrunken, p = np.full((2, len(queries)), np.nan)
    if not len(tested):
        return GroupDifferences(np.nan, queries, means, shrunken, p)
    is_tested = np.isin(codes, tested)
    members = [codes[is_tested] == group for group in tested]
    d = d[is_tested]
    rounding = EQUAL * max(greatest, float(np.abs(d).max()))
    p[tested] = _signed(d, members, rounding)
    shrunken[tested] = _shrunken(d, members, rounding)
    return GroupDifferences(
        np.nan if len(tested) == 1 else _depends(d, members, rounding), queries, means, shrunken, p
    )


def _moments(values: Floats, rounding: float) -> tuple[Floats, Floats]:
    """Mean and sum of squared residuals of each row; up to the rounding both are 0."""
    means = values.mean(axis=-1)
    residuals = values - means[..., np.newaxis]
    residuals[np.abs(residuals) <= rounding] = 0
    return np.where(np.abs(means) <= rounding, 0.0, means), (residuals**2).sum(axis=-1)


@lru_cache(maxsize=2)
def _permutations(queries: int) -> Ints:
    """Permutations of so many queries, shape (N, Q): all runs and measures have the same."""
    rng = np.random.default_rng(0)
    return np.array([rng.permutation(queries) for _ in range(DRAWS)])


def _depends(d: Floats, members: list[Bools], rounding: float) -> float:
    """The p-value of equal means: the share of permutations with Welch's H as large."""
    if no_variance(d, rounding / EQUAL)[0]:
        return 1.0

    def statistic(values: Floats) -> Floats:
        means = np.array([values[:, group].mean(axis=1) for group in members])
        least = [np.maximum(values[:, own].var(axis=1, ddof=1), rounding**2) for own in members]
        weights = np.array([group.sum() / variance for group, variance in zip(members, least)])
        centre = (weights * means).sum(axis=0) / weights.sum(axis=0)
        return np.asarray((weights * (means - centre) ** 2).sum(axis=0))

    observed, drawn = statistic(d[np.newaxis])[0], statistic(d[_permutations(len(d))])
    return float(1 + np.count_nonzero(drawn >= observed * (1 - EQUAL))) / (DRAWS + 1)


def _signed(d: Floats, members: list[Bools], rounding: float) -> Floats:
    """The p-values of no difference in a group, by random signs, adjusted for all groups."""
    signs, sizes = sign_vectors(DRAWS, len(d), 0), [int(group.sum()) for group in members]
    common = float(
        np.mean([_moments(d[of], rounding)[1] / (size - 1) for of, size in zip(members, sizes)])
    )

    def statistic(number: int, values: Floats) -> Floats:
        (mean, squared), size = _moments(values, rounding), sizes[number]
        root = np.sqrt(squared / (size * (size - 1)) / 4 + 3 * common / (4 * size))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(mean == 0, 0.0, np.abs(mean) / root)

    def drawn(draws: slice) -> Callable[[int], Floats]:
        return lambda number: statistic(
            number, d[members[number]] * signs[members[number], draws].T
        )

    observed = np.array([statistic(number, d[group]) for number, group in enumerate(members)])
    return step_down(observed * (1 - EQUAL), drawn, signs.shape[1])[0]


def _shrunken(d: Floats, members: list[Bools], rounding: float) -> Floats:
    """The means of groups, drawn towards their mean by the variance that they have by chance."""
    raw = np.array([d[group].mean() for group in members])
    squares = sum(float(_moments(d[group], rounding)[1]) for group in members)
    if len(members) == 1 or squares == 0:
        return raw
    error = squares / (len(d) - len(members)) / np.array([group.sum() for group in members])
    weights = 1 / error
    centre = (weights * raw).sum() / weights.sum()
    excess = (weights * (raw - centre) ** 2).sum() - (len(members) - 1)
    between = max(0.0, excess / (weights.sum() - (weights**2).sum() / weights.sum()))
    pooled = 1 / (error + between)
    centre = (pooled * raw).sum() / pooled.sum()
    return np.asarray(centre + (raw - centre) * between / (between + error))
