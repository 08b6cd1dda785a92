"""Prediction-powered estimates of means, from labels of a machine and some of people.

A machine has judged n + N queries, people have judged n of them, **drawn at random**. The machine's
values show how queries differ, people's values show the machine's error. Together they give an
estimate without bias, whatever the bias of the machine. Its variance is lower for better machines.

There are two targets. ``'queries-like-these'`` is the mean over a larger population that all judged
queries are a sample of. ``'these-queries'`` is the mean over the n + N queries, judged by people.

Sources: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Prediction-powered inference, 2023; the
choice of lambda: Angelopoulos, Duchi and Zrnic, PPI++, 2023; of these queries: the regression
estimator of survey sampling (Cochran, Sampling Techniques, 1977, chapter 7).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load when first used, so that importing this module is quick

from ..common.parameters import check_name
from ..common.types import Bools, Floats, Ints
from .rounding import rounded
from .settings import ArrayLike

#: Targets of a prediction-powered estimate.
TARGETS = ("queries-like-these", "these-queries")

#: The probabilities with which chi-squared exceeds the divisors of the lower and the upper limit.
LIMITS = (0.2, 0.8)

#: The greatest leverage of a query; greater ones, of small samples, are cut.
_MOST_LEVERAGE = 0.95


@dataclass(frozen=True)
class Estimate:
    """Means with their confidence intervals, each of shape (...).

    Attributes:
        mean: the estimates.
        variance: their variances.
        low: lower ends of the intervals; NaN without an interval.
        high: upper ends.
        p: two-sided p-values of a mean of 0, by the t of the intervals; NaN without an interval.
    """

    mean: Floats
    variance: Floats
    low: Floats
    high: Floats
    p: Floats

    @classmethod
    def by_t(
        cls,
        mean: Floats,
        variance: Floats,
        freedom: ArrayLike,
        alpha: float,
        has_variance: Bools | bool = True,
    ) -> Estimate:
        """Estimates with Student's intervals where the variance of the values is known."""
        error = np.where(has_variance, np.sqrt(variance), np.nan)
        margin = error * scipy.stats.t.isf(alpha / 2, freedom)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * scipy.stats.t.sf(np.abs(mean) / error, freedom)
        p = np.where((mean == 0) & (error == 0), 1.0, p)
        return cls(mean, variance, mean - margin, mean + margin, p)


@dataclass(frozen=True)
class PredictionPowered:
    """Estimates from people and machine together, from people alone, and from the machine alone.

    Attributes:
        both: the prediction-powered estimate.
        people: the estimate from the n queries that people judged.
        machine: the estimate from the machine's labels, used as if people had given them. For the
            target of these queries it has no interval: no query is left out, and the machine's
            error is unknown.
        lambda_: the weight of the machine, from 0 to 1, shape (...).
        saved: the number of further queries that people would have to judge for the same precision
            without the machine, shape (...); below 0 if the machine costs precision.
        saved_limits: what it would be at the ends of Fisher's interval of the correlation of
            people's and the machine's values, at least 0, shape (2, ...); rough for few queries.
        differing: the number of people's values that differ from their most frequent value, shape
            (...). At 0 nothing is known about other queries, and everything except the estimates
            is NaN.
    """

    both: Estimate
    people: Estimate
    machine: Estimate
    lambda_: Floats
    saved: Floats
    saved_limits: Floats
    differing: Ints


def prediction_powered(
    people: ArrayLike,
    machine: ArrayLike,
    unaudited: ArrayLike,
    *,
    target: str = "queries-like-these",
    alpha: float = 0.05,
) -> PredictionPowered:
    """Estimates means from people's and a machine's values, h and f, of one or many systems.

    For queries like these, with N queries that only the machine judged:

    ::

        estimate = mean_N(lambda f) + mean_n(h - lambda f)
        variance = lambda² var_N(f)/N + var_n(h - lambda f)/n
        lambda   = cov_n(h, f) / ((1 + n/N) var_{n+N}(f))

    For these queries, with e the centred h - lambda f and v the leverages of f:

    ::

        estimate = mean_n(h) + lambda (mean_{n+N}(f) - mean_n(f))
        variance = (1 - n/(n + N)) 1/n² Σ (e_i / (1 - v_i))²
        lambda   = cov_n(h, f) / var_{n+N}(f)

    lambda is clipped to [0, 1]. If it is 0, the estimate is the one by people.

    Args:
        people: people's values for the queries that people judged, shape (..., n), n at least 3.
        machine: the machine's values for the same queries, in the same order, shape (..., n).
        unaudited: the machine's values for the queries that people did not judge, shape (..., N);
            N may be 0.
        target: one of :data:`TARGETS`.
        alpha: intervals cover 1 - alpha.

    Returns:
        :class:`PredictionPowered` with arrays of shape (...). Intervals are Student's, with n - 2
        degrees of freedom, or n - 1 if lambda is 0. If people's values are all equal, the intervals
        of both and of people, and ``saved``, are NaN.

    Raises:
        ValueError: For an unknown target, shapes that do not fit, fewer than 3 queries, or values
            that are not finite.

    >>> people, machine = [0.2, 0.5, 0.4, 0.9], [0.3, 0.5, 0.5, 0.8]
    >>> result = prediction_powered(people, machine, [0.4, 0.6, 0.7, 0.2, 0.5, 0.4])
    >>> print(f"{result.both.mean:.3f} [{result.both.low:.3f}, {result.both.high:.3f}]")
    0.442 [0.071, 0.812]
    >>> print(f"{result.people.mean:.3f} [{result.people.low:.3f}, {result.people.high:.3f}]")
    0.500 [0.032, 0.968]
    """
    check_name("target", target, TARGETS)
    h, f, rest = _values_of_both(people, machine, unaudited)
    n, unjudged = h.shape[-1], rest.shape[-1]
    everything = np.concatenate((f, rest), axis=-1)
    like_these = target == TARGETS[0]
    left_out = 1.0 if like_these else 1 - n / (n + unjudged)
    differing = differing_values(h)
    has_variance = (differing > 0) | (unjudged == 0 and not like_these)
    alone = Estimate.by_t(h.mean(-1), left_out * h.var(-1, ddof=1) / n, n - 1, alpha, has_variance)
    by_machine = Estimate.by_t(
        everything.mean(-1),
        everything.var(-1, ddof=1) / (n + unjudged if like_these else np.nan),
        n + unjudged - 1,
        alpha,
    )
    weight = _weight(
        h, f, everything, (1 + n / unjudged if unjudged else np.inf) if like_these else 1.0
    )
    mean, variance = (_like_these if like_these else _of_these)(h, f, rest, weight)
    alike = weight == 0
    both = Estimate.by_t(
        np.where(alike, alone.mean, mean),
        np.where(alike, alone.variance, variance),
        np.where(alike, n - 1, n - 2),
        alpha,
        has_variance,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        saved = n * (alone.variance / both.variance - 1)
    saved = np.select([differing == 0, alike & ~np.isnan(saved)], [np.nan, 0.0], saved)
    limits = _saved_limits(h, f, unjudged / (n + unjudged) if like_these else 1.0, alpha)
    limits = np.where(np.isnan(saved), np.nan, limits)
    return PredictionPowered(both, alone, by_machine, weight, saved, limits, differing)


def differing_values(values: ArrayLike) -> Ints:
    """The number of values that differ from the most frequent value, rounded, shape (...).

    >>> differing_values([[1, 1, 1, 0.5], [1, 1, 1, 1]]).tolist()
    [1, 0]
    """
    return np.apply_along_axis(
        lambda row: row.size - np.unique(row, return_counts=True)[1].max(),
        -1,
        rounded(np.asarray(values, dtype=np.float64)),
    )


def interval_widths(
    people: ArrayLike,
    machine: ArrayLike,
    unaudited: ArrayLike,
    *,
    target: str = "queries-like-these",
    alpha: float = 0.05,
) -> Floats:
    """The widths of intervals if people judge 3, 4, ... queries, by a pilot sample, with limits.

    A line h = a + b f + e through the values of the n0 queries of the pilot, with b at least 0, has
    residuals of variance s² = Σ e²/(n0 - 2). With n of Q queries the expected width is

    ::

        queries like these: 2 t_{n-2} sqrt(s²/n + b² var_Q(f)/Q)
        these queries:      2 t_{n-2} sqrt((1 - n/Q) s²/(n - 2))

    The limits have s² (n0 - 2)/χ² instead of s², with the χ² of n0 - 2 degrees of freedom that is
    exceeded with a probability of :data:`LIMITS`. No width rises with n.

    Args:
        people: people's values for the queries of the pilot, shape (n0,), n0 at least 3.
        machine: the machine's values for the same queries, shape (n0,).
        unaudited: the machine's values for the other queries, shape (N,).
        target: one of :data:`TARGETS`.
        alpha: intervals cover 1 - alpha.

    Returns:
        The lower limits, the expected widths and the upper limits for 3 to n0 + N queries, shape
        (3, n0 + N - 2).

    Raises:
        ValueError: See :func:`prediction_powered`; also for people's values that are all equal.

    >>> people, machine = [0.2, 0.5, 0.4, 0.9], [0.3, 0.5, 0.5, 0.8]
    >>> rest = [0.4, 0.6, 0.7, 0.2, 0.5, 0.4, 0.3, 0.8]
    >>> low, expected, high = interval_widths(people, machine, rest)
    >>> [widths[5 - 3].round(2).item() for widths in (low, expected, high)]
    [0.52, 0.53, 0.6]
    """
    check_name("target", target, TARGETS)
    h, f, rest = _values_of_both(people, machine, unaudited)
    if not differing_values(h):
        raise ValueError(
            f"people's values of all {h.size} queries are {h[0]:g}, so the variance is unknown: "
            "have people judge more queries"
        )
    everything, pilot = np.concatenate((f, rest)), h.size
    n, centred = np.arange(3, everything.size + 1), f - f.mean()
    slope = max(float(centred @ h) / float(centred @ centred), 0.0) if np.ptp(f) else 0.0
    residuals = h - h.mean() - slope * centred
    freedom = scipy.stats.chi2.isf(LIMITS, pilot - 2)
    variance = residuals @ residuals / np.array([freedom[0], pilot - 2, freedom[1]])[:, None]
    of_mean = (
        variance / n + slope**2 * everything.var(ddof=1) / everything.size
        if target == TARGETS[0]
        else (1 - n / everything.size) * variance / (n - 2)
    )
    return np.asarray(2 * np.sqrt(of_mean) * scipy.stats.t.isf(alpha / 2, n - 2))


def _values_of_both(*values: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """People's and the machine's values of the audited queries, the machine's of the others."""
    h, f, rest = (np.asarray(array, dtype=np.float64) for array in values)
    if h.shape != f.shape or h.ndim < 1 or rest.shape[:-1] != h.shape[:-1]:
        raise ValueError(
            f"people's values have shape {h.shape}, the machine's values for the same queries "
            f"{f.shape}, for the others {rest.shape}: the first two must be equal, and all three "
            "except for the last axis"
        )
    if h.shape[-1] < 3:
        raise ValueError(
            f"people have judged {h.shape[-1]} of the machine's queries: at least 3 are needed, "
            "and 10 for a reliable interval"
        )
    if not all(np.isfinite(array).all() for array in (h, f, rest)):
        raise ValueError("values must be finite: give every query a finite value")
    return h, f, rest


def _weight(h: Floats, f: Floats, everything: Floats, scale: Floats | float) -> Floats:
    """lambda, the weight of the machine; 0 if its values are all equal."""
    products = (h - h.mean(-1, keepdims=True)) * (f - f.mean(-1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = products.sum(-1) / (h.shape[-1] - 1) / (scale * everything.var(-1, ddof=1))
    is_constant = np.ptp(everything, axis=-1) == 0
    return np.where(is_constant | np.isnan(weight), 0.0, np.clip(weight, 0, 1))


def _saved_limits(h: Floats, f: Floats, share: float, alpha: float) -> Floats:
    """Queries saved at the limits of the correlation r; the variance is (1 - share r²) people's."""
    (a, b), n = (own - own.mean(-1, keepdims=True) for own in (h, f)), h.shape[-1]
    norms = np.sqrt(np.sum(a**2, axis=-1) * np.sum(b**2, axis=-1))
    r = np.divide(np.sum(a * b, axis=-1), norms, out=np.zeros_like(norms), where=norms > 0)
    with np.errstate(divide="ignore"):
        half = scipy.stats.norm.isf(alpha / 2) / np.sqrt(np.float64(n - 3))
        z = np.arctanh(np.clip(r, -1, 1))
        return np.asarray(n / (1 - share * np.maximum(np.tanh([z - half, z + half]), 0) ** 2) - n)


def _like_these(h: Floats, f: Floats, rest: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Estimate and variance of the mean of queries like these."""
    n, unjudged = h.shape[-1], max(rest.shape[-1], 1)  # with none lambda is 0
    off = h - weight[..., None] * f
    # A single query has no variance.
    spread = (rest if unjudged > 1 else np.concatenate((f, rest), axis=-1)).var(-1, ddof=1)
    mean: Floats = weight * (rest.sum(-1) / unjudged) + off.mean(-1)
    return mean, weight**2 * spread / unjudged + off.var(-1, ddof=1) / n


def _of_these(h: Floats, f: Floats, rest: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Estimate and variance of the mean of these queries."""
    n, everything = h.shape[-1], np.concatenate((f, rest), axis=-1)
    mean: Floats = h.mean(-1) + weight * (everything.mean(-1) - f.mean(-1))
    off = h - weight[..., None] * f
    centred = f - f.mean(-1, keepdims=True)
    squares = np.sum(centred**2, axis=-1, keepdims=True)
    leverage = 1 / n + np.divide(centred**2, squares, out=np.zeros_like(centred), where=squares > 0)
    left = (off - off.mean(-1, keepdims=True)) / (1 - np.minimum(leverage, _MOST_LEVERAGE))
    return mean, (1 - n / everything.shape[-1]) * np.sum(left**2, axis=-1) / n**2
