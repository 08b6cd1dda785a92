"""Random signs of residuals: sign vectors, and p-values by step-down maxima over them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..common.notices import progress_bar
from ..common.types import Floats

#: The number of draws in a chunk; one statistic at a time is computed in it.
_DRAWS = 10_000


def step_down(
    observed: Floats,
    statistics: Callable[[slice], Callable[[int], Floats]],
    draws: int,
    progress: bool | None = False,
) -> tuple[Floats, Floats]:
    """The p-values of n statistics, adjusted for all of them by step-down maxima.

    Args:
        observed: the statistics, less what counts as equal; 0 and below are not significant.
        statistics: gives, for some draws, a function from the number of a statistic to its values
            with random signs in these draws.
        draws: number of draws, N.
        progress: whether to show a progress bar; None: only on a terminal.

    Returns:
        The p-values, shape (n,), and the largest statistic, at least 0, of each draw, shape (N,).

    Source: Romano and Wolf 2005.

    >>> values = np.array([[3.0, 1.0, 0.0, 2.0], [0.0, 2.0, 1.0, 1.0]])
    >>> p, largest = step_down(np.array([3.0, 2.0]), lambda some: lambda i: values[i, some], 4)
    >>> p.tolist(), largest.tolist()
    ([0.25, 0.25], [3.0, 2.0, 1.0, 2.0])
    """
    order = np.argsort(observed, kind="stable")
    ascending = list(zip(order.tolist(), observed[order].tolist()))
    at_least, largest = np.zeros(len(order), np.int64), []
    for start in range(0, draws, _DRAWS):
        drawn = statistics(slice(start, start + _DRAWS))
        count = min(_DRAWS, draws - start)
        maxima, least = np.zeros(count), 0.0
        for position, (number, value) in enumerate(
            progress_bar(ascending, desc="ranks", shown=progress, leave=False)
        ):
            np.maximum(maxima, drawn(number), out=maxima)
            if value > least:
                count = int(np.count_nonzero(maxima >= value))
                least = float(maxima.min()) if count == len(maxima) else 0.0
            at_least[position] += count
        largest.append(maxima)
    p = np.ones(len(order))
    p[order] = np.maximum.accumulate(at_least[::-1])[::-1] / draws
    return p, np.concatenate(largest)


@lru_cache(maxsize=1)
def sign_vectors(draws: int, topics: int, seed: int) -> NDArray[np.int8]:
    """Sign vectors, shape (Q, N): all of them, or random ones.

    The last result is kept, read-only: the measures and judges of a collection share it.
    """
    bits = (
        np.arange(2**topics) >> np.arange(topics)[:, np.newaxis] & 1
        if 2**topics <= draws
        else np.random.default_rng(seed).integers(0, 2, (draws, topics)).T
    )
    signs = np.ascontiguousarray(1 - 2 * bits.astype(np.int8))
    signs.setflags(write=False)
    return signs
