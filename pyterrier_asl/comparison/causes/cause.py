"""A cause of a difference between two runs, and the tests of counts that find causes.

The tests use scipy.special, which loads in half the time of scipy.stats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its submodules load when first used

from ...io.tables import counted
from ...judging.judged_run import JudgedRun
from ...scoring.arrays import Bools, Floats, Ints

#: The level of each test.
ALPHA = 1e-4


@dataclass(frozen=True)
class Cause:
    """A cause of a difference, as found by a test of two runs.

    Attributes:
        name: the name of the cause.
        where: where it was found: ``'A'``, ``'B'``, ``'A and B'`` or ``'the qrels'``.
        share: the share of the documents or queries that have it.
        evidence: a sentence with its numbers and examples.
        remedy: what to do.
        comparable: whether the two runs can still be compared.
        is_fact: whether undamaged runs have it, too. A fact is named only where it explains a
            tenth of the difference or more.
        queries: the queries that have it, shape (Q,); None: it does not belong to queries.
        repaired: returns pairs of the other run and this run, both without the cause.
    """

    name: str
    where: str
    share: float
    evidence: str
    remedy: str
    comparable: bool = True
    is_fact: bool = False
    queries: Bools | None = None
    repaired: Callable[[], Sequence[tuple[JudgedRun, JudgedRun]]] = list


def percent(share: float) -> str:
    """A share as a percentage.

    >>> percent(0.5), percent(0.004), percent(0)
    ('50 %', '0.4 %', '0 %')
    """
    return f"{100 * share:.{1 if 0 < share < 0.095 else 0}f} %"


def listed(values: Sequence[Any]) -> str:
    """The first three values.

    >>> listed(["a", "b", "c", "d"])
    "'a', 'b', 'c'"
    """
    return ", ".join(repr(value) for value in values[:3])


def of_queries(found: Bools, qids: Sequence[Any]) -> str:
    """The number of queries, their share, and the first of them.

    >>> of_queries(np.array([True, False]), ["q1", "q2"])
    "1 query (50 %, e.g. 'q1')"
    """
    which = [qids[q] for q in np.flatnonzero(found)[:3]]
    number = counted(int(found.sum()), "query", "queries")
    return f"{number} ({percent(float(found.mean()))}, e.g. {listed(which)})"


def at_least(number: Ints | int, of: Ints | int, rate: float) -> Floats:
    """Binomial probability of ``number`` or more successes in ``of`` trials with this rate.

    >>> at_least(np.array([0, 1, 2]), 2, 0.5).round(2).tolist()
    [1.0, 0.75, 0.25]
    """
    some = np.maximum(number, 1)
    tail = scipy.special.betainc(some, np.maximum(of, some) - some + 1, rate)
    return np.asarray(np.where(np.asarray(number) > 0, tail, 1.0))


def is_spread_less(counts: Ints, of: Ints, dispersion: float, level: float) -> bool:
    """Whether the variance of counts is below a multiple of the binomial one: chi-squared test.

    Args:
        counts: the counts, shape (Q,).
        of: the number of trials of each count, shape (Q,).
        dispersion: the multiple.
        level: the level of the test.
    """
    rate = counts.sum() / of.sum()
    statistic = ((counts - of * rate) ** 2 / (of * rate * (1 - rate))).sum()
    return bool(scipy.special.chdtr(len(of) - 1, statistic / dispersion) < level)
