"""Ranks of systems; values that differ by rounding only share a rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from .inputs import Floats, Ints
from .rounding import EQUAL


def rounded(means: Any) -> Any:
    """Means, array or Series, of which those that differ by rounding only are equal.

    >>> float(rounded(np.array([0.1 + 0.2]))[0])
    0.3
    """
    return means.round(12)


def shared_ranks(values: Floats) -> Ints:
    """1 for the largest value; values that are equal but for rounding share the best rank.

    >>> shared_ranks(np.array([0.3, 0.7, 0.1 + 0.2])).tolist()
    [2, 1, 2]
    """
    order = np.argsort(-values, kind="stable")
    new = np.diff(-values[order], prepend=-np.inf) > EQUAL
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = 1 + np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))
    return ranks
