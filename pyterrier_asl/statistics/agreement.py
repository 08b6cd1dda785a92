"""Agreement of two judges and of two rankings.

* Of two judges of the same documents: Cohen's kappa.
* Of two rankings of the same items: Kendall's tau, and tau AP, which gives more weight to the top.

**Ties in tau_ap are broken at random, and the value is the expectation** over all orders of the
tied items, computed without sampling. Therefore a ranking with ties does not agree perfectly with
itself.
"""

from __future__ import annotations

import numpy as np
import scipy  # its submodules load when first used, so that importing this module is quick

from ..common.types import Floats
from .settings import ArrayLike, finite_vectors


def agreement_of_tables(tables: ArrayLike) -> tuple[Floats, Floats]:
    """Share of agreement and Cohen's kappa of many tables of two judges at once.

    kappa = 1 - o / e, with o the observed share of pairs with two labels, and e the share expected
    of two independent judges who use each label as often: 1 is complete agreement, 0 agreement by
    chance.

    Args:
        tables: how often the first judge gave the row's label and the second the column's, shape
            (..., G, G).

    Returns:
        The shares on the diagonal, and kappa, both of shape (...). Kappa is NaN if both judges gave
        the same single label to everything. Both are NaN for an empty table.

    Source: Cohen (1960).

    >>> [value.round(4).tolist() for value in agreement_of_tables([[[1, 1], [0, 2]]])]
    [[0.75], [0.5]]
    """
    counts = np.asarray(tables, dtype=np.float64)
    weights = 1 - np.eye(counts.shape[-1])  # of a disagreement
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
    a, b = _score_vectors(estimate, reference)
    return float(taus_ap(a[None], b[None])[0])


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
    # The first and the last rank of each item's group of ties
    first, last = (
        scipy.stats.rankdata(-estimates, method, axis=-1).astype(np.intp)
        for method in ("min", "max")
    )
    # A tied item has each rank of its group equally often. The items of its group above it add
    # nothing, as their signs cancel over the whole group.
    share = harmonic[last - 1] - harmonic[np.maximum(first - 1, 1) - 1]
    mean_share = share / (last - first + 1)
    total = np.zeros(len(estimates))
    for item in range(items):
        # 2 C(i) / (i - 1) - 1 is a mean of signs: +1 in the reference's order, 0 tied, else -1.
        signs = np.sign(references - references[:, item, None])
        is_above = estimates > estimates[:, item, None]
        total += np.sum(signs * is_above, axis=1) * mean_share[:, item]
    return total / (items - 1) if items > 1 else np.full(len(total), np.nan)


def _score_vectors(a: ArrayLike, b: ArrayLike) -> Floats:
    """The scores of the same items in two rows; ValueError for a single item."""
    matrix = finite_vectors(a, b)
    if matrix.shape[1] < 2:
        raise ValueError("there is only 1 item: an order needs at least 2")
    return matrix
