"""A cause of a difference, with what it shows and what is left of the difference without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...judging.judged_run import JudgedRun
from ...scoring.arrays import Bools

#: Baseline and run without the cause.
Repaired = tuple[JudgedRun, JudgedRun]


@dataclass(frozen=True)
class Cause:
    """A cause of a difference.

    Attributes:
        name: what it is called.
        where: what has it: ``'A'``, ``'B'``, ``'A and B'`` or ``'the qrels'``.
        share: the share of the documents or queries that have it.
        evidence: a sentence with its numbers and examples.
        remedy: what to do.
        comparable: whether the two runs can be compared all the same.
        is_fact: whether good runs have it, too: named only where it explains a tenth or more.
        queries: the queries that have it, shape (Q,); None: all.
        repaired: gives the runs without it; None: the other queries are what is left.
    """

    name: str
    where: str
    share: float
    evidence: str
    remedy: str
    comparable: bool = True
    is_fact: bool = False
    queries: Bools | None = None
    repaired: Callable[[], list[Repaired]] | None = None


def percent(share: float) -> str:
    """A share for people.

    >>> percent(0.5), percent(0.004), percent(1.0)
    ('50 %', '0.4 %', '100 %')
    """
    return f"{100 * share:.{0 if share >= 0.095 else 1}f} %"
