"""Every system against every other by lexicographic precision, and query by query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..analysis.pairs import by_query, named_pairs, preferences
from ..preference import PreferenceMatrix
from ..statistics import compare_differences

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Duels:
    """All pairs of S systems on Q queries.

    Attributes:
        matrix: wins, losses and rrLP of every pair; p-values as they are.
        rrLP_p: p-values of mean rrLP (paired t-test) by Holm over all pairs, one a pair.
        sgnLP_p: p-values of wins against losses (sign test), likewise.
        levels: the place of each system's ranking in the lexicographic order of a query's, 0 best,
            equal rankings alike, shape (S, Q): the sign of a difference is sgnLP.
    """

    matrix: PreferenceMatrix
    rrLP_p: Floats
    sgnLP_p: Floats
    levels: Ints

    @classmethod
    def of(cls, names: list[str], reciprocal: Floats, total: Ints) -> Duels | None:
        """Those of systems whose reciprocal ranks are known; None where there is but one.

        Args:
            names: the systems.
            reciprocal: RR_1, RR_2, ... of each query's relevant documents, shape (S, R).
            total: relevant documents of each query, shape (Q,).
        """
        if len(names) < 2:
            return None
        _, rrlp = preferences(reciprocal, total)
        pairs = named_pairs(names)
        by_value = compare_differences(rrlp, pairs)
        by_sign = compare_differences(np.sign(rrlp), pairs, test="sign")
        wins = _square(len(names), (rrlp > 0).sum(axis=1), (rrlp < 0).sum(axis=1))
        value, sign = by_value["p"].to_numpy(), by_sign["p"].to_numpy()

        def table(values: npt.NDArray[np.generic]) -> pd.DataFrame:
            return pd.DataFrame(values, index=names, columns=names)

        mean = by_value["difference"].to_numpy()
        matrix = PreferenceMatrix(
            names, len(total), table(_square(len(names), mean, -mean)),
            table(_square(len(names), value, value)), table(wins), table(wins.T),
            table(_square(len(names), sign, sign)),
        )  # fmt: skip
        return cls(
            matrix,
            by_value["p_corrected"].to_numpy(dtype=np.float64),
            by_sign["p_corrected"].to_numpy(dtype=np.float64),
            lexicographic_places(reciprocal, total),
        )


def lexicographic_places(reciprocal: Floats, total: Ints) -> Ints:
    """The place of every ranking in the lexicographic order of a query's rankings.

    Args:
        reciprocal: RR_1, RR_2, ... of each query's relevant documents, shape (S, total.sum()).
        total: relevant documents of each query, shape (Q,).

    Returns:
        From 0, the best; rankings that no level tells apart have one place. Shape (S, Q).

    >>> lexicographic_places(np.array([[0.5, 0.0], [1.0, 0.0], [0.5, 0.0]]), np.array([2])).tolist()
    [[1], [0], [1]]
    """
    places = np.zeros((len(reciprocal), len(total)), dtype=np.int64)
    for query, part in enumerate(by_query(reciprocal, total)):
        if part.shape[1]:
            order = np.lexsort(-part.T[::-1])
            new = np.any(np.diff(part[order], axis=0) != 0, axis=1)
            places[order, query] = np.append(0, np.cumsum(new))
    return places


def _square(systems: int, above: npt.NDArray[np.generic], below: npt.NDArray[np.generic]) -> Ints:
    """A matrix from its two triangles, given as pairs a < b; 0 on the diagonal."""
    square = np.zeros((systems, systems), dtype=above.dtype)
    upper = np.triu_indices(systems, k=1)
    square[upper] = above
    square.T[upper] = below
    return square
