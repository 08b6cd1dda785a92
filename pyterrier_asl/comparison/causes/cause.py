"""A cause of a difference, with what it shows and what is left of the difference without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...io.tables import counted
from ...judging.judged_run import JudgedRun
from ...scoring.arrays import Bools


@dataclass(frozen=True)
class Cause:
    """A cause of a difference, as found by a test of two runs.

    Attributes:
        name: the name of the cause.
        where: what has it: ``'A'``, ``'B'``, ``'A and B'`` or ``'the qrels'``.
        share: the share of the documents or queries that have it.
        evidence: a sentence with its numbers and examples.
        remedy: what to do.
        comparable: whether the two runs can be compared in spite of it.
        is_fact: whether sound runs have it, too: named only where it explains a tenth or more.
        queries: the queries that have it, shape (Q,); None: it is not of some queries.
        repaired: gives pairs of the other run and this one, both without it; None: what is left
            is the difference over the other queries.
    """

    name: str
    where: str
    share: float
    evidence: str
    remedy: str
    comparable: bool = True
    is_fact: bool = False
    queries: Bools | None = None
    repaired: Callable[[], Sequence[tuple[JudgedRun, JudgedRun]]] | None = None


def percent(share: float) -> str:
    """A share for people.

    >>> percent(0.5), percent(0.004), percent(0)
    ('50 %', '0.4 %', '0 %')
    """
    return f"{100 * share:.{1 if 0 < share < 0.095 else 0}f} %"


def listed(values: Sequence[Any]) -> str:
    """The first values, for people.

    >>> listed(["a", "b", "c", "d"])
    "'a', 'b', 'c'"
    """
    return ", ".join(repr(value) for value in values[:3])


def of_queries(found: Bools, qids: Sequence[Any]) -> str:
    """How many queries, and which.

    >>> of_queries(np.array([True, False]), ["q1", "q2"])
    "1 query (50 %, e.g. 'q1')"
    """
    which = [qids[q] for q in np.flatnonzero(found)[:3]]
    number = counted(int(found.sum()), "query", "queries")
    return f"{number} ({percent(float(found.mean()))}, e.g. {listed(which)})"
