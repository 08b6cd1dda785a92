"""Systems by one measure: means, intervals, and who cannot be told from whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..requested import Requested
from ..statistics import compare_all, confidence_interval

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Standing:
    """S systems by one measure on Q queries.

    Attributes:
        asked: the measure, and what it is called.
        values: shape (S, Q).
        names: the systems, S of them.
        test: of which systems differ; see :func:`~pyterrier_asl.statistics.compare_all`.
        alpha: its level; intervals cover 1 - alpha.
    """

    asked: Requested
    values: Floats
    names: list[str]
    test: str = "tukey-two-way"
    alpha: float = 0.05

    @property
    def name(self) -> str:
        """What the measure is called."""
        return self.asked.name

    @cached_property
    def means(self) -> Floats:
        """The mean of each system, shape (S,)."""
        means: Floats = self.values.mean(axis=1)
        return means

    @cached_property
    def margins(self) -> Floats:
        """Half the width of each mean's interval by Student's t, NaN for one query, (S,)."""
        intervals = [confidence_interval(row, alpha=self.alpha) for row in self.values]
        return np.array([each.high - each.mean for each in intervals])

    @cached_property
    def order(self) -> Ints:
        """The systems from best to worst; those that are equal in the order they came in."""
        lower = self.asked.higher_is_better is False
        return np.argsort(self.means if lower else -self.means, kind="stable")

    @cached_property
    def places(self) -> Ints:
        """The place of each system from 1; systems with one mean share the best of theirs."""
        ordered = self.means[self.order]
        new = np.append(True, ordered[1:] != ordered[:-1])
        places = np.empty(len(ordered), dtype=np.int64)
        places[self.order] = np.flatnonzero(new)[np.cumsum(new) - 1] + 1
        return places

    @cached_property
    def comparisons(self) -> pd.DataFrame | None:
        """Every pair; None where better means nothing, or there is but one system."""
        if self.asked.higher_is_better is None or len(self.names) < 2:
            return None
        return compare_all(self.values, self.names, test=self.test, alpha=self.alpha)

    @cached_property
    def differs(self) -> Bools:
        """Which two systems differ significantly, shape (S, S)."""
        differs = np.zeros((len(self.names),) * 2, dtype=bool)
        if self.comparisons is not None:
            differs[np.triu_indices(len(self.names), k=1)] = self.comparisons["significant"]
        return differs | differs.T

    @cached_property
    def groups(self) -> list[tuple[int, int]]:
        """Systems from best to worst that cannot be told apart: see :func:`groups`."""
        return groups(self.differs[np.ix_(self.order, self.order)])

    @cached_property
    def letters(self) -> list[str]:
        """The groups of each system, ``'b'`` or ``'b–d'``, in the order of :attr:`names`."""
        texts = [""] * len(self.names)
        for place, system in enumerate(self.order):
            of = [at for at, (first, last) in enumerate(self.groups) if first <= place <= last]
            ends = letter(of[0]), letter(of[-1])
            texts[system] = ends[0] if ends[0] == ends[1] else "–".join(ends)
        return texts


def groups(differs: Bools) -> list[tuple[int, int]]:
    """The longest stretches of neighbours in an order of which no two differ.

    After one of Tukey's tests, whose least significant difference is the same for all pairs, two
    systems differ exactly where no stretch holds both. After other tests systems of no common
    stretch may still not differ; those of one never do.

    Args:
        differs: which two differ, systems in order, shape (S, S).

    Returns:
        First and last of each stretch, from the top; each of the S is in one of them.

    >>> differs = np.zeros((4, 4), dtype=bool)
    >>> differs[0, 2:] = differs[2:, 0] = True
    >>> groups(differs)
    [(0, 1), (1, 3)]
    """
    found: list[tuple[int, int]] = []
    first = 0
    for last in range(len(differs)):
        while differs[first : last + 1, last].any():
            first += 1
        if found and found[-1][0] == first:
            found[-1] = (first, last)
        else:
            found.append((first, last))
    return found


def letter(number: int) -> str:
    """What a group is called: a, b, ... z, aa, ab, ...

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
