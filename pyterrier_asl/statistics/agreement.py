"""Agreement of two judges: confusion tables and Cohen's kappa."""

from __future__ import annotations

import numpy as np

from .inputs import ArrayLike, Floats, Ints, check_name, same_items


def confusion_table(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Ints]:
    """Counts how often two judges gave each pair of grades to the same documents.

    Args:
        a: One judge's grades, one entry for each (query, document) pair, shape (N,). Fractions
            and negative grades count as grades.
        b: The other's grades of the same pairs, shape (N,).

    Returns:
        The grades that either judge gave, ascending, shape (G,), and the counts with the grade of
        the first judge in rows and of the second in columns, shape (G, G).

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
    first, second = same_items(a, b, least=1)
    grades, codes = np.unique(np.concatenate((first, second)), return_inverse=True)
    rows, columns = codes.reshape(2, -1)
    counts = np.bincount(rows * grades.size + columns, minlength=grades.size**2)
    return grades, counts.reshape(grades.size, grades.size)


def cohen_kappa(a: ArrayLike, b: ArrayLike, *, weights: str | None = None) -> float:
    """Cohen's kappa: the agreement of two judges beyond chance.

    kappa = 1 - Σ w o / Σ w e, with o the observed shares of pairs of grades, e the shares expected
    of two independent judges who use each grade as often, and w the weight of a disagreement.

    Args:
        a: One judge's grades, one entry for each (query, document) pair, shape (N,).
        b: The other's grades of the same pairs, shape (N,).
        weights: The weight of a disagreement. None: 1; ``'linear'``: the difference of the two
            grades; ``'quadratic'``: its square. The distance of two grades does not depend on
            whether the grades between them occur.

    Returns:
        At most 1: 1 is complete agreement, 0 is agreement by chance, negative values are below
        chance. NaN if both judges gave the same single grade to everything, so that agreement by
        chance is complete.

    Raises:
        ValueError: The two are not vectors of one length of at least 1, hold NaN, or ``weights`` is
            an unknown name.

    Source: Cohen (1960); weighted: Cohen (1968).

    >>> round(cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1]), 4)
    0.5
    >>> round(cohen_kappa([0, 1, 2, 2], [0, 2, 2, 1], weights="quadratic"), 4)
    0.6364
    """
    check_name("weights", weights, [None, "linear", "quadratic"])
    grades, counts = confusion_table(a, b)
    distance = np.abs(np.subtract.outer(grades, grades))
    disagreement = {None: distance > 0, "linear": distance, "quadratic": distance**2}[weights]
    return float(agreement_of_tables(counts, disagreement)[1])


def agreement_of_tables(
    tables: ArrayLike, disagreement: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Share of agreement and Cohen's kappa of many tables of two judges at once.

    Args:
        tables: How often the first judge gave the row's grade and the second the column's, shape
            (..., G, G).
        disagreement: The weight of each pair of grades, shape (G, G); None: 1 if they differ.

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
