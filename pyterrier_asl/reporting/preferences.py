"""The rankings of a query in the order that lexicographic precision prefers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..scoring.preferences import by_query

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
