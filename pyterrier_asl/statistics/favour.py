"""The runs that a judge favours: values by the judge above what values by people let expect.

The means of runs by a judge's and by people's labels lie near a line. Its slope is the median slope
of two runs (Theil and Sen), which a single bad run hardly moves. The favour of a run is how far it
is above this line. The residual of a query is the change of the favour without this query, with the
line estimated again. Random signs of the residuals show how large the favour of any run is by
chance, with the sign vectors and step-down maxima of :mod:`~pyterrier_asl.statistics.random_signs`.
"""

from __future__ import annotations

import numpy as np

from ..common.types import Floats
from .random_signs import sign_vectors, step_down
from .rank_intervals import VARIANCES
from .rounding import EQUAL
from .settings import DRAWS, ArrayLike, check_draws


def favours(
    judge: ArrayLike, people: ArrayLike, *, draws: int = DRAWS, seed: int = 0
) -> tuple[float, Floats, Floats]:
    """How far a judge's value of each run is above what its value by people lets expect.

    Args:
        judge: the value of each run and query by the judge's labels, higher is better, shape
            (S, Q), at least 2 queries.
        people: the same by people's labels.
        draws: number of random sign vectors; all 2^Q if these are not more.
        seed: seed of the sign vectors.

    Returns:
        The slope of the line of the judge's means on people's (0 or less: they do not agree); the
        favour of each run, its distance above this line, shape (S,); and its one-sided
        p-value, adjusted for all runs, shape (S,): 1 for a favour of 0 or less, NaN for a favour
        without variance, 0 where it is less than 1 / N.

    >>> people = np.array([[0.2, 0.4] * 5, [0.5, 0.6] * 5, [0.7, 0.9] * 5, [0.3, 0.2] * 5])
    >>> judge = people + np.outer([0.4, 0, 0, 0], np.linspace(0.9, 1.1, 10))
    >>> slope, favour, p = favours(judge, people)
    >>> round(slope, 3), favour.round(3).tolist(), p.round(3).tolist()
    (1.0, [0.3, -0.1, -0.1, -0.1], [0.0, 1.0, 1.0, 1.0])
    """
    check_draws(draws, seed)
    by_judge, by_people = (np.asarray(values, dtype=np.float64) for values in (judge, people))
    queries = by_judge.shape[-1]
    rounding = EQUAL * max(np.abs(by_judge).max(), np.abs(by_people).max())
    slope, favour = _line(by_judge.mean(axis=1), by_people.mean(axis=1), rounding)
    # The means without each query, shape (S, Q)
    rest = [(own.sum(axis=1, keepdims=True) - own) / (queries - 1) for own in (by_judge, by_people)]
    without = np.stack(
        [_line(m, p, rounding)[1] for m, p in zip(*(others.T for others in rest))], axis=1
    )
    residuals = (favour[:, np.newaxis] - without) * np.sqrt((queries - 1) / queries)
    residuals -= residuals.mean(axis=1, keepdims=True)
    favour[np.abs(favour) <= rounding] = 0
    residuals[np.abs(residuals) <= rounding / queries] = 0
    own, share = np.sum(residuals**2, axis=1), VARIANCES["averaged"]
    common = (1 - share) * own.mean()
    if not common:
        return slope, favour, np.where(favour > 0, np.nan, 1.0)
    signs = sign_vectors(draws, queries, seed)
    totals = residuals @ signs
    drawn = totals / np.sqrt(share * (own[:, np.newaxis] - totals**2 / queries) + common)
    observed = favour / np.sqrt(share * own + common) * (1 - EQUAL)
    p, _ = step_down(observed, lambda some: lambda run: drawn[run, some], signs.shape[1])
    return slope, favour, p


def _line(judge: Floats, people: Floats, rounding: float) -> tuple[float, Floats]:
    """The median slope of two runs' means, and the favour of each run.

    Pairs whose means by people differ by rounding only have no slope; without any, it is 0.
    """
    a, b = np.triu_indices(len(people), k=1)
    apart = np.abs(across := people[a] - people[b]) > rounding
    slope = float(np.median((judge[a] - judge[b])[apart] / across[apart])) if apart.any() else 0.0
    above = judge - slope * people
    return slope, above - above.mean()
