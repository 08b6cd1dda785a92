"""P-values corrected for how many there are."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .inputs import ArrayLike, Floats, check_name

if TYPE_CHECKING:
    import pandas as pd


def _bonferroni(p: Floats) -> Floats:
    return p * len(p)


def _holm(p: Floats) -> Floats:
    return np.maximum.accumulate(p * np.arange(len(p), 0, -1))


def _benjamini_hochberg(p: Floats) -> Floats:
    shares = np.arange(1, len(p) + 1) / len(p)
    return np.minimum.accumulate((p / shares)[::-1])[::-1]


#: What corrections make of ascending p-values. (statsmodels' take a second to import.)
_METHODS = {"bonferroni": _bonferroni, "holm": _holm, "bh": _benjamini_hochberg}

#: Names of corrections; ``'auto'`` is for the functions that compare, which know the test.
CORRECTIONS: tuple[str | None, ...] = ("auto", None, *_METHODS)


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
    check_name("correction", method, (None, *_METHODS))
    p = np.array(p_values, dtype=np.float64)
    given = ~np.isnan(p)
    if np.any((p[given] < 0) | (p[given] > 1)):
        raise ValueError(
            f"p-values lie between 0 and 1, but these hold {p[given].min()} to {p[given].max()}"
        )
    if method is not None:
        rows = np.argsort(p, axis=None, kind="stable")[: int(given.sum())]  # NaN comes last
        p.ravel()[rows] = np.minimum(_METHODS[method](p.ravel()[rows]), 1)
    return Corrected(p, int(given.sum()), int((~given).sum()))


def with_corrected_p(
    frame: pd.DataFrame, test: str, method: str | None, alpha: float
) -> pd.DataFrame:
    """A frame of comparisons, corrected over all its rows: they are what is shown together.

    Args:
        frame: One row for each comparison, with its ``p``.
        test: What was tested by.
        method: As of :func:`correct`.
        alpha: The level of significance.

    Returns:
        The frame with ``p_corrected`` and ``significant``; ``attrs`` say what was done over how
        many.
    """
    p, family, dropped = correct(frame["p"], method)
    done: dict[Hashable, Any] = {
        "test": test,
        "correction": method,
        "alpha": alpha,
        "family": family,
        "dropped": dropped,
    }
    corrected = frame.assign(p_corrected=p, significant=p <= alpha)
    corrected.attrs = {**done, **frame.attrs}
    return corrected
