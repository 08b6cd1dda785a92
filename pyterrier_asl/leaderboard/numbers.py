"""Numbers and words of the sentences on a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: The mark of a system if a system with the best mean is significantly better.
STAR = "*"


def confidence(alpha: float) -> str:
    """1 - alpha in words, such as 95 %."""
    return f"{100 * (1 - alpha):g} %"


def p_text(p: float, draws: int, alpha: float) -> str:
    """A p-value with its sign, if it is below 1 / draws with this limit.

    >>> p_text(0.03, 10_000, 0.05), p_text(1e-9, 10_000, 0.05), p_text(0.0, 1024, 0.05)
    ('p = 0.0300', 'p < 0.0001', 'p < 0.00098')
    """
    return f"p < {1 / draws:.2g}" if p < 1 / draws else f"p = {p:.{places_of_p(p, alpha, 4)}f}"


def places_of_p(p: float, alpha: float, least: int) -> int:
    """The decimal places of a p-value, so that the printed one is at most alpha if it is itself.

    >>> places_of_p(0.05005, 0.05, 4), places_of_p(0.0503, 0.05, 3), places_of_p(0.051, 0.05, 3)
    (5, 4, 3)
    """
    return next((n for n in range(least, 18) if (round(p, n) <= alpha) == (p <= alpha)), least)


def places_of_interval(ends: Sequence[float], least: int) -> int:
    """The decimal places of an interval without 0, so that no end is printed as 0.

    >>> places_of_interval((0.00002, 0.3), 4), places_of_interval((0.2, 0.3), 4)
    (5, 4)
    """
    return next((n for n in range(least, 18) if all(np.round(ends, n))), least)
