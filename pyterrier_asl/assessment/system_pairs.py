"""Pairs of systems under several judges: which are reversed, and what a system gains by a judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from ..evaluation.slices import Queries
from ..io.lazy import pd
from ..scoring.arrays import Floats
from ..statistics.rounding import rounded
from ..statistics.tests import compare_all
from .judges import Judges, sign_of
from .paired_tests import PairedTest


def scores_by_judge(judges: Judges, measure: Any, queries: Queries) -> dict[str, Floats]:
    """The systems' means by each judge, larger is better, judge -> shape (S,)."""
    return {
        name: np.asarray(rounded(sign_of(measure) * queries.mean(values)))
        for name, values in judges.values(measure).items()
    }


def compared_systems(
    judges: Judges,
    measure: Any,
    queries: Queries,
    paired: PairedTest,
    *,
    reference: str | None = None,
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Every two judges, and the difference of each pair of systems by both.

    Differences are positive where the first system is better.

    Args:
        judges: the judges, with runs.
        measure: the measure.
        queries: those that the means are over, of the queries that all judged.
        paired: the test of each pair of systems under each judge.
        reference: only this judge with each of the others.
    """
    compared = {
        name: compare_all(
            sign_of(measure) * queries.of(values),
            judges.systems,
            weights=queries.weights,
            **asdict(paired),
        )
        for name, values in judges.values(measure).items()
    }
    for a, b in judges.pairs(reference):
        yield a, b, side_by_side(compared[a], compared[b])


def side_by_side(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """Each pair of systems by two judges; ``better`` is the system that judge a prefers."""
    both = a.merge(b, on=["a", "b"], suffixes=("_a", "_b"))
    signs = np.sign(both["difference_a"]) * np.sign(both["difference_b"])
    first = both["difference_a"] > 0
    return both.assign(
        reversed=signs < 0,
        same=signs > 0,
        better=both["a"].where(first, both["b"]),
        worse=both["b"].where(first, both["a"]),
    )


def swap_counts(both: pd.DataFrame) -> dict[str, int]:
    """Counts of the pairs of systems of :func:`side_by_side`: reversed, significant, or both."""
    of_a, of_b = both["significant_a"], both["significant_b"]
    counts = {
        "reversed": both["reversed"],
        "reversed_significant": both["reversed"] & (of_a | of_b),
        "reversed_both": both["reversed"] & of_a & of_b,
        "significant_a": of_a,
        "significant_b": of_b,
        "significant_both": both["same"] & of_a & of_b,
    }
    return {"pairs": len(both), **{name: int(of.sum()) for name, of in counts.items()}}


def own_gains(gains: Floats, average: Floats, queries: Queries, paired: PairedTest) -> pd.DataFrame:
    """What each system gains, and what of it is its own: beyond what all gain on average.

    Args:
        gains: what a judge adds to each system's values, shape (S, Q).
        average: the mean of all systems' gains, shape (Q,).
        queries: the queries that the means are over.
        paired: the test of each gain against the average.

    Returns:
        ``gain``, ``own_gain``, ``ci_low``, ``ci_high``, ``effect``, ``statistic``, ``p``, one row a
        system.
    """
    own = pd.DataFrame([paired.of(gain, average, queries) for gain in gains])
    own.insert(0, "gain", queries.mean(gains))
    return own.rename(columns={"difference": "own_gain"})
