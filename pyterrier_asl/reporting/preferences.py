"""Pairwise preferences: every system against every other by lexicographic precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..evaluation.preferences import PreferenceMatrix
from ..scoring.preferences import by_query

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairwisePreferences:
    """All pairs of S systems on Q queries.

    Attributes:
        matrix: wins, losses and rrLP of every pair, with each pair's own p-values.
        levels: the rank of each system in the lexicographic order of a query's rankings, from 0,
            equal rankings alike, shape (S, Q): the sign of a difference is sgnLP.
    """

    matrix: PreferenceMatrix
    levels: Ints

    @classmethod
    def of(cls, names: list[str], reciprocal: Floats, total: Ints) -> PairwisePreferences | None:
        """Those of systems whose reciprocal ranks are known; None for a single system.

        Args:
            names: the systems.
            reciprocal: RR_1, RR_2, ... of each query's relevant documents, shape (S, R).
            total: relevant documents of each query, shape (Q,).
        """
        if len(names) < 2:
            return None
        matrix = PreferenceMatrix.of(names, reciprocal, total)
        return cls(matrix, lexicographic_levels(reciprocal, total))


def lexicographic_levels(reciprocal: Floats, total: Ints) -> Ints:
    """The rank of every ranking in the lexicographic order of a query's rankings.

    Args:
        reciprocal: RR_1, RR_2, ... of each query's relevant documents, shape (S, total.sum()).
        total: relevant documents of each query, shape (Q,).

    Returns:
        From 0, the best; rankings that no recall level distinguishes share one. Shape (S, Q).

    >>> lexicographic_levels(np.array([[0.5, 0.0], [1.0, 0.0], [0.5, 0.0]]), np.array([2])).tolist()
    [[1], [0], [1]]
    """
    levels = np.zeros((len(reciprocal), len(total)), dtype=np.int64)
    for query, part in enumerate(by_query(reciprocal, total)):
        if part.shape[1]:
            order = np.lexsort(-part.T[::-1])
            new = np.any(np.diff(part[order], axis=0) != 0, axis=1)
            levels[order, query] = np.append(0, np.cumsum(new))
    return levels
