"""Rounding tolerances of the package, and signs and ranks of values that respect them.

Values are sums and means of up to some thousand terms in double precision, with errors below 1e-12.
Sums by two programs, or over another order of queries, agree to 1e-9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.types import Floats, Ints

#: Differences of values, and bounds of them, this close to 0 are 0.
NO_DIFFERENCE = 1e-12

#: Means this close to each other are equal, and statistics relative to their size.
EQUAL = 1e-9


def signs(differences: Floats) -> Floats:
    """The signs of differences, 0 for differences by rounding.

    >>> signs(np.array([0.1 + 0.2 - 0.3, 0.5, -0.25])).tolist()
    [0.0, 1.0, -1.0]
    """
    return np.where(np.abs(differences) > NO_DIFFERENCE, np.sign(differences), 0.0)


def rounded(means: Any) -> Any:
    """The means, array or Series, rounded so that differences by rounding disappear.

    >>> float(rounded(np.array([0.1 + 0.2]))[0])
    0.3
    """
    return means.round(12)


def shared_ranks(values: Floats) -> Ints:
    """Ranks, 1 for the largest value; values that differ by rounding only share the best rank.

    >>> shared_ranks(np.array([0.3, 0.7, 0.1 + 0.2])).tolist()
    [2, 1, 2]
    """
    order = np.argsort(-values, kind="stable")
    new = np.diff(-values[order], prepend=-np.inf) > EQUAL
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = 1 + np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))
    return ranks
