"""Do two orders agree, and do two judges?

Orders of systems or documents: :func:`tau_ap` compares two score vectors,
:func:`rank_biased_overlap` two rankings that need not hold the same documents; both care more about
the top than the bottom.
Judges: :func:`confusion_table` and :func:`cohen_kappa`.

**Ties are broken at random, and the value is the expectation.** Equal scores say that nobody knows
which comes first, so each order of the tied ones counts alike, in closed form and without sampling.
It is one rule for both measures of order. A ranking with ties therefore agrees less than perfectly
even with itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ConfusionTable",
    "cohen_kappa",
    "confusion_table",
    "rank_biased_overlap",
    "rank_biased_overlap_of_scores",
    "tau_ap",
]

Floats = NDArray[np.float64]


def tau_ap(estimate: ArrayLike, reference: ArrayLike, *, symmetric: bool = False) -> float:
    r"""AP correlation: Kendall's tau that weighs disagreement at the top more.

    Walk down the estimated ranking. At rank i, the share of the items above that the reference has
    above as well is an accuracy; with C(i) their number,

    .. math:: \tau_{AP} = \frac{2}{N - 1} \sum_{i=2}^{N} \frac{C(i)}{i - 1} - 1

    Ties are broken at random and the value is the mean over all ways to do so: two items tied in
    the reference count one half, items tied in the estimate share the ranks that they take up.
    Without ties in the reference this is Urbano and Marrero's tau_AP,a.

    Args:
        estimate: One score for each item, larger is better, shape (N,).
        reference: The scores that give the true order, shape (N,), items in the same order.
        symmetric: Average both directions, for two orders of which neither is the truth.

    Returns:
        A number in [-1, 1]: 1 the same order, 0 as good as chance, -1 the reverse.

    Raises:
        ValueError: The two are not vectors of one length of at least 2, or hold NaN.

    Source: Yilmaz, Aslam and Robertson (2008), section 3; ties: Urbano and Marrero (2017).

    >>> tau_ap([4, 3, 2, 1], [4, 3, 2, 1])
    1.0
    >>> round(tau_ap([3, 4, 2, 1], [4, 3, 2, 1]), 4)  # exchanged at the top
    0.3333
    >>> round(tau_ap([4, 3, 1, 2], [4, 3, 2, 1]), 4)  # exchanged at the bottom
    0.7778
    """
    a, b = _same_items(estimate, reference)
    if symmetric:
        return (_tau_ap(a, b) + _tau_ap(b, a)) / 2
    return _tau_ap(a, b)


def _tau_ap(estimate: Floats, reference: Floats) -> float:
    order = np.argsort(-estimate, kind="stable")
    above_all = reference[order]
    starts = np.flatnonzero(np.diff(estimate[order], prepend=np.inf))
    total = 0.0
    for start, end in zip(starts, [*starts[1:], order.size]):
        if start == 0:
            continue
        # 2 C(i) / (i - 1) - 1 is a mean of signs: +1 in order, -1 not, 0 tied in the reference.
        signs = np.sign(above_all[:start, None] - above_all[None, start:end]).sum()
        # A tied item is at each rank of its group equally often. Its fellows that come to lie
        # above it add nothing: over the whole group their signs cancel.
        total += float(signs) * float(np.mean(1.0 / np.arange(start, end)))
    return total / (order.size - 1)


def rank_biased_overlap(
    a: ArrayLike,
    b: ArrayLike,
    *,
    p: float = 0.9,
    scores_a: ArrayLike | None = None,
    scores_b: ArrayLike | None = None,
) -> float:
    r"""Rank-biased overlap of two rankings, extrapolated: RBO_ext.

    A reader compares the two from the top and goes on to the next depth with probability p; RBO is
    the overlap to be expected, X_d / d at depth d, X_d the items that both have in the first d.
    Below the end of the rankings the agreement is assumed to go on as it was (equation 32, for
    lengths s <= l):

    .. math::
        \frac{1 - p}{p} \left( \sum_{d=1}^{l} \frac{X_d}{d} p^d
        + \sum_{d=s+1}^{l} \frac{X_s (d - s)}{s d} p^d \right)
        + \left( \frac{X_l - X_s}{l} + \frac{X_s}{s} \right) p^l

    Ties are broken at random and the value is the mean over all ways to do so: of a group of t tied
    items each is among the first k of the group with probability k/t (RBO^a of Corsi and Urbano).

    Args:
        a: Ids of one ranking, best first, shape (l,), no id twice.
        b: Ids of the other, shape (s,); it may hold other ids and be of another length.
        p: Persistence, 0 < p < 1. At .9 the first ten ranks have 86 % of the weight, at .98 the
            first fifty.
        scores_a: Scores of a's items, not ascending; equal scores are ties. Without scores none.
        scores_b: Scores of b's items.

    Returns:
        A number in [0, 1]: 1 the same ranking, 0 nothing in common. Two empty rankings have 1, an
        empty one and one that is not have 0.

    Raises:
        ValueError: p is out of range, an id occurs twice, or scores do not fit their ids.

    Source: Webber, Moffat and Zobel (2010), equation 32; ties: Corsi and Urbano (2024).

    >>> round(rank_biased_overlap([1, 2, 3], [1, 3, 2]), 4)
    0.955
    >>> rank_biased_overlap(["a", "b"], ["c", "d"])
    0.0
    """
    if not 0 < p < 1:
        raise ValueError(f"p is {p}, but it is a probability to go on: give 0 < p < 1")
    ids_a, above_a, size_a = _ranking("a", a, scores_a)
    ids_b, above_b, size_b = _ranking("b", b, scores_b)
    short, long = sorted((ids_a.size, ids_b.size))
    if short == 0:
        return float(long == 0)
    _, at_a, at_b = np.intersect1d(ids_a, ids_b, assume_unique=True, return_indices=True)
    overlap = _expected_overlap(
        above_a[at_a], size_a[at_a], above_b[at_b], size_b[at_b], depth=long
    )
    depths = np.arange(1, long + 1)
    x_short, x_long = overlap[short - 1], overlap[-1]
    unseen = x_short * np.maximum(depths - short, 0) / short
    seen_part = np.sum((overlap + unseen) / depths * p**depths) * (1 - p) / p
    return float(seen_part + ((x_long - x_short) / long + x_short / short) * p**long)


def rank_biased_overlap_of_scores(a: ArrayLike, b: ArrayLike, *, p: float = 0.9) -> float:
    """Rank-biased overlap of the two orders that two score vectors give the same items.

    Args:
        a: One score for each item, larger is better, shape (N,). Equal scores are ties.
        b: The other scores, shape (N,), items in the same order.
        p: Persistence, 0 < p < 1.

    Returns:
        :func:`rank_biased_overlap` of the two orders, in (0, 1].

    Raises:
        ValueError: The two are not vectors of one length of at least 2, hold NaN, or p is out of
            range.

    >>> round(rank_biased_overlap_of_scores([3, 2, 1], [3, 1, 2]), 4)
    0.955
    """
    first, second = _same_items(a, b)
    order_a, order_b = np.argsort(-first), np.argsort(-second)
    return rank_biased_overlap(
        order_a, order_b, p=p, scores_a=first[order_a], scores_b=second[order_b]
    )


def _expected_overlap(
    above_a: Floats, size_a: Floats, above_b: Floats, size_b: Floats, *, depth: int
) -> Floats:
    """X_d for d = 1, ..., depth: the items both rankings are expected to have in their first d.

    One entry in each argument for each item that both hold: how many items lie above its group of
    ties, and how many are in that group.
    """
    single = (size_a == 1) & (size_b == 1)
    arrivals = np.maximum(above_a, above_b)[single].astype(np.int64)
    overlap = np.cumsum(np.bincount(arrivals, minlength=depth)).astype(np.float64)
    depths = np.arange(1, depth + 1)
    tied = ~single
    for columns in zip(above_a[tied], size_a[tied], above_b[tied], size_b[tied]):
        start_a, group_a, start_b, group_b = columns
        overlap += np.clip((depths - start_a) / group_a, 0, 1) * np.clip(
            (depths - start_b) / group_b, 0, 1
        )
    return overlap


def _ranking(
    name: str, ids: ArrayLike, scores: ArrayLike | None
) -> tuple[NDArray[np.generic], Floats, Floats]:
    """Ids, and for each how many items are above its group of ties and how many are in it."""
    items = np.asarray(ids)
    unique, counts = np.unique(items, return_counts=True)
    if items.ndim != 1 or unique.size != items.size:
        twice = unique[counts > 1][:1].tolist()
        raise ValueError(f"{name} must list each id once, best first; it holds {twice} twice")
    if scores is None:
        return items, np.arange(items.size, dtype=np.float64), np.ones(items.size)
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != items.shape or np.any(np.diff(values) > 0) or np.isnan(values).any():
        raise ValueError(
            f"scores_{name} must hold one score for each of the {items.size} ids of {name}, "
            f"not ascending and without NaN: sort the ids by score"
        )
    starts = np.flatnonzero(np.diff(values, prepend=np.inf))
    sizes = np.diff(starts, append=items.size)
    return items, np.repeat(starts, sizes).astype(float), np.repeat(sizes, sizes).astype(float)


class ConfusionTable(NamedTuple):
    """How often one judge gave one grade and the other another.

    Attributes:
        grades: The grades, ascending, shape (G,).
        counts: Pairs with a's grade in rows and b's in columns, shape (G, G).
    """

    grades: Floats
    counts: NDArray[np.int64]


def confusion_table(a: ArrayLike, b: ArrayLike) -> ConfusionTable:
    """Two judges' grades of the same documents, counted against each other.

    Args:
        a: One judge's grades, one entry for each (query, document) pair, shape (N,). Fractions
            and negative grades are grades like others.
        b: The other's grades of the same pairs, shape (N,).

    Returns:
        The grades that either gave, and the table of counts.

    Raises:
        ValueError: The two are not vectors of one length of at least 1, or hold NaN.

    >>> grades, counts = confusion_table([0, 0, 1, 2], [0, 1, 1, 2])
    >>> grades
    array([0., 1., 2.])
    >>> counts
    array([[1, 1, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """
    first, second = _same_items(a, b, least=1)
    grades, codes = np.unique(np.concatenate((first, second)), return_inverse=True)
    rows, columns = codes.reshape(2, -1)
    counts = np.bincount(rows * grades.size + columns, minlength=grades.size**2)
    return ConfusionTable(grades, counts.reshape(grades.size, grades.size))


def cohen_kappa(a: ArrayLike, b: ArrayLike, *, weights: str | None = None) -> float:
    r"""Cohen's kappa: how far two judges agree beyond chance.

    :math:`\kappa = 1 - \sum w o / \sum w e`, o the observed shares of pairs of grades, e those of
    two judges who give their own grades as often but independently, w how bad a disagreement is.

    Args:
        a: One judge's grades, one entry for each (query, document) pair, shape (N,).
        b: The other's grades of the same pairs, shape (N,).
        weights: How bad a disagreement is. None: all alike; ``'linear'``: the difference of the
            grades; ``'quadratic'``: its square. Differences are those of the grades themselves, so
            a grade that nobody gave does not bring its neighbours together.

    Returns:
        At most 1, higher is better agreement: 1 they agree on everything, 0 as by chance, negative
        below it. NaN where both gave one and the same grade to everything: chance cannot be told
        from agreement then.

    Raises:
        ValueError: The two are not vectors of one length of at least 1, hold NaN, or ``weights`` is
            an unknown name.

    Source: Cohen (1960); weighted: Cohen (1968).

    >>> round(cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1]), 4)
    0.5
    >>> round(cohen_kappa([0, 1, 2, 2], [0, 2, 2, 1], weights="quadratic"), 4)
    0.6364
    """
    grades, counts = confusion_table(a, b)
    distance = np.abs(grades[:, None] - grades[None, :])
    penalties = {None: np.sign(distance), "linear": distance, "quadratic": distance**2}
    if weights not in penalties:
        allowed = ", ".join(map(repr, penalties))
        raise ValueError(f"weights is {weights!r}, which is unknown: give one of {allowed}")
    observed = counts / counts.sum()
    by_chance = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    expected = float(np.sum(penalties[weights] * by_chance))
    if expected == 0:
        return float("nan")
    return 1 - float(np.sum(penalties[weights] * observed)) / expected


def _same_items(a: ArrayLike, b: ArrayLike, least: int = 2) -> tuple[Floats, Floats]:
    """Two vectors of numbers about the same items, or an error that says what is wrong."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or first.size < least:
        raise ValueError(
            f"two vectors about the same items, at least {least} of them, are needed; "
            f"these have shapes {first.shape} and {second.shape}"
        )
    if np.isnan(first).any() or np.isnan(second).any():
        raise ValueError("NaN has no place in an order: drop the items that have no value")
    return first, second
