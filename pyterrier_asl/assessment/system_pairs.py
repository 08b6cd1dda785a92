"""Pairs of systems: compared by one test, and side by side under several judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..evaluation.slices import Queries
from ..io.lazy import pd
from ..io.tables import counted
from ..measures.names import Measures
from ..scoring.arrays import Floats
from ..statistics.rounding import rounded
from ..statistics.tests import compare_all, compare_pair
from .judges import Judges, sign_of

#: The numbers of a comparison that a table shows.
_SHOWN = ("difference", "ci_low", "ci_high", "effect", "statistic", "p")


@dataclass(frozen=True)
class PairedTest:
    """A test of two systems, and its correction over all comparisons of a table.

    Attributes:
        test: one of :data:`~pyterrier_asl.statistics.tests.PAIR_TESTS`.
        correction: one of :data:`~pyterrier_asl.statistics.correction.CORRECTIONS`.
        alpha: the level of significance; intervals cover 1 - alpha.
        n_resamples: draws of a randomisation test.
        seed: of those draws.
    """

    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    n_resamples: int = 10_000
    seed: int = 0

    def of(self, a: Floats, b: Floats, queries: Queries) -> dict[str, float]:
        """Tests the difference of two systems' values, first minus second, over some queries."""
        comparison = compare_pair(
            queries.of(a),
            queries.of(b),
            self.test,
            alpha=self.alpha,
            weights=queries.weights,
            n_resamples=self.n_resamples,
            seed=self.seed,
        )
        return {name: getattr(comparison, name) for name in _SHOWN}


def significance(frame: pd.DataFrame) -> str:
    """A sentence for a caption on how the comparisons of a frame were tested.

    >>> attrs = {"test": "t", "alpha": 0.05, "correction": "holm", "family": 3, "dropped": 1}
    >>> frame = pd.DataFrame({"p": [0.1, 0.2, 0.3, float("nan")]})
    >>> frame.attrs = attrs
    >>> significance(frame)
    'Significant: t test at 0.05, corrected over 3 comparisons (holm); 1 cannot be tested.'
    """
    about = frame.attrs
    family = int(about.get("family", frame["p"].notna().sum()))
    dropped = int(about.get("dropped", frame["p"].isna().sum()))
    if family == 0:
        return "No comparison can be tested: there is no difference, or a single query."
    method = about.get("correction", "none")
    over = f"over {counted(family, 'comparison')}"
    corrected = f"corrected {over} ({method})" if method != "none" else f"{over}, not corrected"
    untested = f"; {dropped} cannot be tested" if dropped else ""
    return (
        f"Significant: {about.get('test', 't')} test at {about.get('alpha', 0.05):g}, "
        f"{corrected}{untested}."
    )


def as_frame(rows: list[Any], columns: list[str] | None = None) -> pd.DataFrame:
    """Makes a frame of rows; ValueError where there are none."""
    if not rows:
        raise ValueError("there is nothing to compare: give at least one run and one measure")
    return pd.DataFrame(rows, columns=columns)


def scores_by_judge(judges: Judges, measure: Measures, queries: Queries) -> dict[str, Floats]:
    """The systems' means by each judge, larger is better, judge -> shape (S,)."""
    return {
        name: np.asarray(rounded(sign_of(measure) * queries.mean(values)))
        for name, values in judges.values(measure).items()
    }


def compared_systems(
    judges: Judges,
    measure: Measures,
    queries: Queries,
    paired: PairedTest,
    *,
    reference: str | None = None,
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yields every two judges, with the differences of all pairs of systems by both.

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
    by_a, by_b = both["significant_a"], both["significant_b"]
    counts = {
        "reversed": both["reversed"],
        "reversed_significant": both["reversed"] & (by_a | by_b),
        "reversed_both": both["reversed"] & by_a & by_b,
        "significant_a": by_a,
        "significant_b": by_b,
        "significant_both": both["same"] & by_a & by_b,
    }
    return {"pairs": len(both), **{name: int(of.sum()) for name, of in counts.items()}}


def own_gains(gains: Floats, average: Floats, queries: Queries, paired: PairedTest) -> pd.DataFrame:
    """The gain of each system from a judge, and its own gain: beyond the mean of all systems.

    Args:
        gains: the differences of the values by two judges, shape (S, Q).
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
