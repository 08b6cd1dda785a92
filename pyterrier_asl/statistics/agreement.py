"""Agreement of two judges and of two rankings.

* Of two judges of the same documents: Cohen's kappa.
* Of two rankings of the same items: Kendall's tau, tau AP, rank-biased overlap. The last two give
  more weight to the top of the rankings.

**Ties in tau_ap and rank-biased overlap are broken at random, and the value is the expectation**
over all orders of the tied items, computed without sampling. Therefore a ranking with ties does not
agree perfectly with itself.
"""

from __future__ import annotations

import numpy as np
import scipy  # its submodules load when first used, so that importing this module is quick

from ..common.parameters import check_name, check_probability
from ..common.types import Floats, Ints
from .settings import CHUNK, ArrayLike, finite_vectors


def cohen_kappa(a: ArrayLike, b: ArrayLike, *, weights: str | None = None) -> float:
    """Cohen's kappa: the agreement of two judges beyond chance.

    kappa = 1 - Σ w o / Σ w e, with o the observed shares of pairs of grades, e the shares expected
    of two independent judges who use each grade as often, and w the weight of a disagreement.

    Args:
        a: one judge's grades, one entry for each (query, document) pair, shape (N,).
        b: the other's grades of the same pairs, shape (N,).
        weights: the weight of a disagreement. None: 1; ``'linear'``: the difference of the two
            grades; ``'quadratic'``: its square. The distance of two grades does not depend on
            whether the grades between them occur.

    Returns:
        At most 1: 1 is complete agreement, 0 is agreement by chance, negative values are below
        chance. NaN if both judges gave the same single grade to everything, so that agreement by
        chance is complete.

    Raises:
        ValueError: The two are not vectors of one length of at least 1, hold values that are not
            finite, or ``weights`` is an unknown name.

    Source: Cohen (1960); weighted: Cohen (1968).

    >>> round(cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1]), 4)
    0.5
    >>> round(cohen_kappa([0, 1, 2, 2], [0, 2, 2, 1], weights="quadratic"), 4)
    0.6364
    """
    check_name("weights", weights, [None, "linear", "quadratic"])
    grades, codes = np.unique(finite_vectors(a, b), return_inverse=True)
    rows, columns = codes.reshape(2, -1)
    counts = np.bincount(rows * grades.size + columns, minlength=grades.size**2)
    distance = np.abs(np.subtract.outer(grades, grades))
    disagreement = {None: distance > 0, "linear": distance, "quadratic": distance**2}[weights]
    return float(agreement_of_tables(counts.reshape(distance.shape), disagreement)[1])


def agreement_of_tables(
    tables: ArrayLike, disagreement: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Share of agreement and Cohen's kappa of many tables of two judges at once.

    Args:
        tables: how often the first judge gave the row's grade and the second the column's, shape
            (..., G, G).
        disagreement: the weight of each pair of grades, shape (G, G); None: 1 if they differ.

    Returns:
        The shares on the diagonal, and kappa, both of shape (...). Kappa is NaN if both judges gave
        the same single grade to everything. Both are NaN for an empty table.

    >>> [value.round(4).tolist() for value in agreement_of_tables([[[1, 1], [0, 2]]])]
    [[0.75], [0.5]]
    """
    counts = np.asarray(tables, dtype=np.float64)
    weights = 1 - np.eye(counts.shape[-1]) if disagreement is None else np.asarray(disagreement)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = counts / counts.sum(axis=(-2, -1), keepdims=True)
        agreed = np.trace(shares, axis1=-2, axis2=-1)
        observed = np.sum(shares * weights, axis=(-2, -1))
        rows, columns = shares.sum(axis=-1), shares.sum(axis=-2)
        by_chance = np.einsum("...i,...j,ij->...", rows, columns, weights)
        return agreed, np.where(by_chance == 0, np.nan, 1 - observed / by_chance)


def kendall_tau(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b of two score vectors: the usual agreement of two rankings of systems.

    Pairs tied in either vector count as neither agreeing nor disagreeing, and the divisor is
    smaller by them. :func:`tau_ap` gives more weight to the top.

    Args:
        a: one score for each item, shape (N,).
        b: the other scores, shape (N,), items in the same order.

    Returns:
        A number in [-1, 1], 1 for the same order; NaN if all scores of one vector are equal.

    Raises:
        ValueError: The two are not vectors of one length of at least 2, or hold values that are not
            finite.

    Source: Kendall (1945).

    >>> round(kendall_tau([4, 3, 2, 1], [4, 3, 1, 2]), 4)
    0.6667
    """
    return float(scipy.stats.kendalltau(*_score_vectors(a, b)).statistic)


def kendall_taus(a: Floats, b: Floats) -> Floats:
    """:func:`kendall_tau` of many pairs of score vectors at once.

    Args:
        a: scores of the same items in rows, finite, shape (B, N).
        b: the other scores, shape (B, N).

    Returns:
        One value for each row, shape (B,).
    """
    agreeing, ordered_by_a, ordered_by_b = np.zeros((3, len(a)))
    for item in range(1, a.shape[1]):
        sign_a = np.sign(a[:, item:] - a[:, item - 1, None])
        sign_b = np.sign(b[:, item:] - b[:, item - 1, None])
        agreeing += np.sum(sign_a * sign_b, axis=1)
        ordered_by_a += np.count_nonzero(sign_a, axis=1)
        ordered_by_b += np.count_nonzero(sign_b, axis=1)
    with np.errstate(invalid="ignore"):
        return np.clip(agreeing / np.sqrt(ordered_by_a) / np.sqrt(ordered_by_b), -1.0, 1.0)


def tau_ap(estimate: ArrayLike, reference: ArrayLike) -> float:
    """AP correlation: Kendall's tau with more weight on disagreement at the top.

    C(i) is the number of items above rank i of the estimated ranking that are above the item at
    rank i in the reference, too:

    ::

        tau_AP = 2/(N - 1) Σ C(i)/(i - 1) - 1   over i = 2 ... N

    Ties are broken at random and the value is the mean over all ways to do so: two items tied in
    the reference count one half, and items tied in the estimate share their ranks. Without ties in
    the reference this is tau_AP,a of Urbano and Marrero.

    Args:
        estimate: one score for each item, larger is better, shape (N,).
        reference: the scores of the true order, shape (N,), items in the same order.

    Returns:
        A number in [-1, 1]: 1 for the same order, 0 for chance, -1 for the reverse order.

    Raises:
        ValueError: The two are not vectors of one length of at least 2, or hold values that are not
            finite.

    Source: Yilmaz, Aslam and Robertson (2008), section 3; ties: Urbano and Marrero (2017).

    >>> tau_ap([4, 3, 2, 1], [4, 3, 2, 1])
    1.0
    >>> round(tau_ap([3, 4, 2, 1], [4, 3, 2, 1]), 4)  # exchanged at the top
    0.3333
    >>> round(tau_ap([4, 3, 1, 2], [4, 3, 2, 1]), 4)  # exchanged at the bottom
    0.7778
    """
    return float(taus_ap(*_score_vectors(estimate, reference)[:, None])[0])


def taus_ap(estimates: Floats, references: Floats) -> Floats:
    """:func:`tau_ap` of many pairs of score vectors at once.

    Args:
        estimates: scores of the same items in rows, finite, shape (B, N).
        references: the scores of the true orders, shape (B, N).

    Returns:
        One value for each row, shape (B,); NaN for a single item.
    """
    items = estimates.shape[1]
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, items + 1))))
    above, tied = _tie_groups(estimates)
    # A tied item has each rank of its group equally often. The items of its group above it add
    # nothing, as their signs cancel over the whole group.
    mean_share = (harmonic[above + tied - 1] - harmonic[np.maximum(above, 1) - 1]) / tied
    total = np.zeros(len(estimates))
    for item in range(items):
        # 2 C(i) / (i - 1) - 1 is a mean of signs: +1 in the reference's order, 0 tied, else -1.
        signs = np.sign(references - references[:, item, None])
        is_above = estimates > estimates[:, item, None]
        total += np.sum(signs * is_above, axis=1) * mean_share[:, item]
    return total / (items - 1) if items > 1 else np.full(len(total), np.nan)


def overlaps_of_scores(a: Floats, b: Floats, *, p: float = 0.9) -> Floats:
    """Rank-biased overlap of the two orders that two score vectors give the same items.

    A reader compares the two rankings from the top and goes on to the next depth with probability
    p. The overlap is the expected share of items that both rankings have down to the depth where
    the reader stops, extrapolated below the last item:

    ::

        (1 - p)/p Σ X_d/d p^d + X_N/N p^N   over d = 1 ... N

    with X_d the number of items that both have among the first d. Ties are broken at random and the
    value is the mean over all ways to do so: of a group of t tied items each is among the first k
    of the group with probability k/t (RBO^a of Corsi and Urbano).

    Args:
        a: scores of the same items in rows, finite, larger is better, shape (B, N). Equal scores
            are ties.
        b: the other scores, shape (B, N).
        p: persistence, 0 < p < 1. At .9 the first ten ranks have 86 % of the weight, at .98 the
            first fifty.

    Returns:
        The overlap of the two orders of each row, in (0, 1], 1 for the same order without ties,
        shape (B,).

    Raises:
        ValueError: p is out of range.

    Source: Webber, Moffat and Zobel (2010), equation 32; ties: Corsi and Urbano (2024).

    >>> overlaps_of_scores(np.array([[3, 2, 1]]), np.array([[3, 1, 2]])).round(4).tolist()
    [0.955]
    """
    check_probability("p", p)
    items = a.shape[1]
    depths = np.arange(1, items + 1)
    overlap = np.zeros((len(a), items))
    step = max(1, CHUNK // overlap.size)
    groups = _tie_groups(a), _tie_groups(b)
    for start in range(0, items, step):
        some = (..., slice(start, start + step), None)
        # The share of an item's ties that are among the first d.
        in_a, in_b = (np.clip((depths - above[some]) / tied[some], 0, 1) for above, tied in groups)
        overlap += np.sum(in_a * in_b, axis=-2)
    within = (overlap / depths * p**depths).sum(axis=1) * (1 - p) / p
    return np.asarray(within + overlap[:, -1] / items * p**items)


def _score_vectors(a: ArrayLike, b: ArrayLike) -> Floats:
    """The scores of the same items in two rows; ValueError for a single item."""
    matrix = finite_vectors(a, b)
    if matrix.shape[1] < 2:
        raise ValueError("there is only 1 item: an order needs at least 2")
    return matrix


def _tie_groups(scores: Floats) -> tuple[Ints, Ints]:
    """The numbers of items above each item's group of ties, and in it."""
    first, last = (
        scipy.stats.rankdata(-scores, method, axis=-1).astype(np.intp) for method in ("min", "max")
    )
    return first - 1, last - first + 1
