"""Scales of charts: ends of axes, logarithmic bins, and directions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import count

from ..common.lazy import alt, pd
from ..common.notices import names_of


def better(title: str, way: str) -> str:
    """The title of an axis, with an arrow towards its better values.

    >>> better("ASL", "↑")
    'ASL (better ↑)'
    """
    return f"{title} (better {way})"


def up_to_1(values: Iterable[float]) -> alt.Scale:
    """From a round tenth below the values, .9 at most, to 1: for shares and coefficients.

    Panels that pass the values of all panels get the same ends.
    """
    low = min((value for value in values if not math.isnan(value)), default=0.9)
    return alt.Scale(domain=[min(0.9, math.floor(10 * low) / 10), 1])


def coefficient_colors(values: Iterable[float]) -> alt.Scale:
    """From white at 0 to blue at 1, and to orange at -1 if a value is negative.

    The ends do not depend on the values, so that equal coefficients have equal colours.
    """
    if min(values, default=0) < 0:
        return alt.Scale(scheme="blueorange", reverse=True, domain=[-1, 1])
    return alt.Scale(scheme="blues", domain=[0, 1])


def around(values: Iterable[float]) -> list[float]:
    """The ends of an axis with room around the values, so that no point lies on an edge.

    >>> around([10, 20])
    [9.5, 20.5]
    >>> around([3, 3])
    [2.95, 3.05]
    """
    finite = [float(value) for value in values if math.isfinite(value)] or [0.0]
    room = 0.05 * ((max(finite) - min(finite)) or 1.0)
    return [min(finite) - room, max(finite) + room]


def without_outliers(frame: pd.DataFrame, *columns: str) -> tuple[pd.DataFrame, str]:
    """The rows to draw, and a sentence for the caption on those far from the others.

    These lie more than three times the distance of the quartiles outside them, so that they would
    press all others together. Of fewer than ten rows all are drawn.

    Args:
        frame: a row per system, whose name is in the first column.
        columns: the columns of the axes.
    """
    values = frame[[*columns]]
    low, high = (values.quantile(share) for share in (0.25, 0.75))
    room = 3 * (high - low)
    far = (((values < low - room) | (values > high + room)) & (room > 0)).any(axis=1)
    if len(frame) < 10 or not far.any():
        return frame, ""
    names = frame[far].iloc[:, 0].astype(str)
    return frame[~far], f" Far from the others and not drawn: {names_of(names.tolist(), 3)}."


def whole_numbers(least: int, most: int) -> list[int]:
    """The ticks of counts or ranks: the ends, and round numbers in at most twelve steps.

    >>> whole_numbers(0, 2), whole_numbers(1, 129)
    ([0, 1, 2], [1, 20, 40, 60, 80, 100, 120])
    """
    steps = (digit * 10**power for power in count() for digit in (1, 2, 5))
    step = next(step for step in steps if (most - least) / step <= 12)
    return [least] * (least % step > 0) + [*range(math.ceil(least / step) * step, most + 1, step)]


def powers_of_ten(most: float) -> list[int]:
    """1, 10, 100, ..., up to the first that is at least the largest value."""
    return [10**power for power in range(math.ceil(math.log10(max(most, 2))) + 1)]
