"""Corrections of p-values for multiple comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .inputs import ArrayLike, Floats, check_name

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
        p: Corrected p-values, NaN where there was no p-value.
        family: The number of p-values that were corrected together.
        dropped: The number that were NaN and left out of the family.
    """

    p: Floats
    family: int
    dropped: int


def correct(p_values: ArrayLike, method: str = "holm") -> Corrected:
    """Corrects p-values for multiple comparisons.

    NaN means that there is no p-value. It is left out of the family, counted, and stays NaN.

    Args:
        p_values: All p-values of the family, of any shape. The family is everything that is
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
        frame: One row for each comparison, with its ``p``.
        test: The name of the test.
        method: The correction, one of :data:`CORRECTIONS`.
        alpha: The level of significance.

    Returns:
        The frame with ``p_corrected`` and ``significant``; its ``attrs`` hold ``test``,
        ``correction``, ``alpha``, ``family`` and ``dropped``.
    """
    p, family, dropped = correct(frame["p"], method)
    corrected = frame.assign(p_corrected=p, significant=p <= alpha)
    corrected.attrs = {
        "test": test,
        "correction": method,
        "alpha": alpha,
        "family": family,
        "dropped": dropped,
        **frame.attrs,
    }
    return corrected
