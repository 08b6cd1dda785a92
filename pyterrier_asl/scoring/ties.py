"""Expected values of measures over all orders of equal scores, in closed form.

McSherry and Najork: Computing Information Retrieval Performance Measures Efficiently in the
Presence of Tied Scores, 2008; for ASL the number of relevant documents above a cut is
hypergeometric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.types import Floats, Ints
from .arrays import cumulate, divide, queries_of, sum_by_query, within_query


@dataclass(frozen=True)
class TieGroups:
    """The groups of documents with equal scores that hold documents with a gain.

    A document without an equal is a group. Every order of a group is equally likely.

    Attributes:
        queries: the query of each group, ascending, shape (G,).
        above: documents above the group.
        size: its documents.
        relevant: those with a gain.
        found: documents with a gain above the group.
        gains: the sum of the gains of the group.
        places: its places that are not cut.
        num_queries: Q.
    """

    queries: Ints
    above: Ints
    size: Ints
    relevant: Ints
    found: Ints
    gains: Floats
    places: Ints
    num_queries: int

    @classmethod
    def of(
        cls,
        queries: Ints,
        first: Ints,
        last: Ints,
        gains: Floats,
        num_queries: int,
        cut: int | None,
    ) -> TieGroups:
        """Groups from their documents with a gain, ascending by query and rank.

        Args:
            queries: the query of each document, shape (E,).
            first: the first rank of its group.
            last: the last rank of its group.
            gains: its gain, above 0.
            num_queries: Q.
            cut: the cut-off; None: no cut-off.

        >>> some = np.array([0, 0, 0]), np.array([1, 1, 3]), np.array([2, 2, 5]), np.ones(3)
        >>> groups = TieGroups.of(*some, 1, 4)
        >>> groups.relevant.tolist(), groups.found.tolist(), groups.places.tolist()
        ([2, 1], [0, 2], [2, 2])
        """
        is_new = np.ones(len(queries), dtype=bool)
        is_new[1:] = (queries[1:] != queries[:-1]) | (first[1:] != first[:-1])
        begins = np.flatnonzero(is_new)
        queries, above, size = queries[begins], first[begins] - 1, (last - first + 1)[begins]
        return cls(
            queries=queries,
            above=above,
            size=size,
            relevant=np.diff(begins, append=len(first)),
            found=begins - begins[np.searchsorted(queries, queries)],  # the query's first group
            gains=np.add.reduceat(gains, begins) if len(begins) else gains,
            places=size if cut is None else np.clip(cut - above, 0, size),
            num_queries=num_queries,
        )

    def sum(self, values: Floats) -> Floats:
        """The sum of a value of each group, by query, shape (Q,)."""
        return np.bincount(self.queries, values, self.num_queries).astype(np.float64, copy=False)

    def between(self, values: Callable[[Ints], Any]) -> Floats:
        """The sum of a value of each rank over the places of each group, shape (G,)."""
        deepest = int((self.above + self.places).max(initial=0))
        running = np.concatenate(([0.0], np.cumsum(values(np.arange(1, deepest + 1)))))
        return np.asarray(
            running[self.above + self.places] - running[np.minimum(self.above, deepest)]
        )


def no_relevant(size: Ints, relevant: Ints, places: Ints) -> Floats:
    """The probability that the first places of a group have no relevant document.

    >>> no_relevant(np.array([4, 2]), np.array([2, 1]), np.array([1, 2])).round(9).tolist()
    [0.5, 0.0]
    """
    rest = size - relevant - places
    logs = np.cumsum(np.log(np.maximum(np.arange(size.max(initial=0) + 1), 1)))  # of factorials
    arranged = logs[size - relevant] - logs[np.maximum(rest, 0)]
    return np.where(rest >= 0, np.exp(arranged + (logs[size - places] - logs[size])), 0.0)


def gain(groups: TieGroups, rank_weights: Callable[[Ints], Floats]) -> Floats:
    """The expected sum of gains times weights of ranks: each place has the group's mean gain.

    >>> groups = TieGroups.of(*np.array([[0], [1], [4]]), np.ones(1), 1, 2)
    >>> gain(groups, lambda ranks: 1 / ranks).tolist()
    [0.375]
    """
    return groups.sum(groups.gains / groups.size * groups.between(rank_weights))


def success(groups: TieGroups) -> Floats:
    """The probability of a relevant document down to the cut-off.

    >>> success(TieGroups.of(*np.array([[0], [1], [4]]), np.ones(1), 1, 2)).round(9).tolist()
    [0.5]
    """
    failed = no_relevant(groups.size, groups.relevant, groups.places)
    return groups.sum(np.where(groups.found == 0, 1 - failed, 0.0))


def reciprocal_rank(groups: TieGroups) -> Floats:
    """The expected reciprocal rank of the first relevant document.

    >>> reciprocal_rank(TieGroups.of(*np.array([[0], [1], [2]]), np.ones(1), 1, 2)).tolist()
    [0.75]
    """
    first = np.flatnonzero(groups.found == 0)
    offsets = cumulate(groups.places[first])
    group, place = first[queries_of(offsets)], within_query(offsets)
    size, relevant = groups.size[group], groups.relevant[group]
    chance = no_relevant(size, relevant, place) - no_relevant(size, relevant, place + 1)
    values = np.zeros(len(groups.queries))
    values[first] = sum_by_query(chance / (groups.above[group] + place + 1), offsets)
    return groups.sum(values)


def average_precision(groups: TieGroups) -> Floats:
    """The expected sum of the precisions at relevant documents.

    >>> average_precision(TieGroups.of(*np.array([[0], [1], [2]]), np.ones(1), 1, 2)).tolist()
    [0.75]
    """
    slope = (groups.relevant - 1) / np.maximum(groups.size - 1, 1)
    constant = groups.found + 1 - (groups.above + 1) * slope
    values = constant * groups.between(lambda ranks: 1 / ranks) + slope * groups.places
    return groups.sum(groups.relevant / groups.size * values)


def search_length(groups: TieGroups, total: Ints, missing_cost: Ints) -> Floats:
    """The expected mean search length of all relevant documents.

    Args:
        groups: the groups.
        total: relevant documents of each query, shape (Q,).
        missing_cost: the search length of a missing document plus the relevant documents retrieved,
            which is the same in every order, shape (Q,).

    >>> groups = TieGroups.of(*np.array([[0], [1], [2]]), np.ones(1), 1, 1)
    >>> search_length(groups, np.array([1]), np.array([2])).tolist()
    [1.5]
    """
    share = groups.relevant / groups.size
    seen = groups.places * share
    spread = seen * (1 - share) * (groups.size - groups.places) / np.maximum(groups.size - 1, 1)
    start = groups.above - groups.found + 1 + groups.places / 2
    found = groups.sum(seen)
    squares = groups.sum(spread) + found**2
    missing = total * missing_cost - (total + missing_cost) * found + squares
    return divide(groups.sum(seen * start - (spread + seen**2) / 2) + missing, total, 1.0)
