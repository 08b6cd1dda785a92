"""Values of runs by query, and their differences from a baseline, to corrected p-values.

In a single collection the test is one of :data:`TESTS`. Over several collections the difference is
the mean of the collections' mean differences, and p is from random signs within collections.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..common.types import Bools, Floats
from ..evaluation.evaluation import Evaluation
from ..statistics.intervals import detectable_difference
from ..statistics.pairwise import no_variance
from ..statistics.rank_intervals import rank_intervals
from ..statistics.settings import DRAWS, FEWEST
from ..statistics.tests import Comparison, PairedTest, compare_pair, correct
from .conditions import Condition

#: Tests of two runs by name, with a description and the effect size.
TESTS = {
    "t": ("t-test for pairs", "Cohen's d_z"),
    "wilcoxon": ("Wilcoxon's signed-rank test", "rank-biserial r"),
    "sign": ("sign test", "(wins - losses) / both"),
    "randomization": ("randomization test", "Cohen's d_z"),
}
#: The name of the test over several collections.
SIGNS = "sign vectors"
#: The result of a test that was not made.
_UNTESTED = Comparison(*[math.nan] * 6)


#: Preferences of lexicographic precision (Diaz 2023), which are defined for pairs of runs.
PREFERENCES = ("rrLP", "sgnLP")


@dataclass(frozen=True)
class Inputs:
    """The values of S systems, the baseline first.

    Attributes:
        names: the systems.
        higher_is_better: the direction of each measure and preference; None of a count.
        measures: the measures that ir_measures knows, by name; no preferences.
        conditions: the conditions, with the names of their measures here.
        values: collection ('' for a single one) -> name -> values, shape (S, Q); preferences are
            those for each system over the baseline.
        qids: the queries of each collection.
        judged: the runs of each collection; none of scores.
        missing: of scores whether each was missing and is filled, as ``values``.
        rel: the least grade of a relevant document, for preferences and documents.
    """

    names: list[str]
    higher_is_better: dict[str, bool | None]
    measures: dict[str, Any]
    conditions: list[tuple[Condition, str]]
    values: dict[str, dict[str, Floats]]
    qids: dict[str, list[Any]]
    judged: dict[str, Evaluation] = field(default_factory=dict)
    missing: dict[str, dict[str, Bools]] = field(default_factory=dict)
    rel: float = 1


@dataclass(frozen=True)
class RunDifference:
    """A run less the baseline by a measure or preference: values, test, corrected p-value.

    Attributes:
        run: the name of the run.
        name: the name of the measure.
        higher_is_better: its direction; None of a count.
        a: the values of the baseline, NaN for a preference, shape (Q,).
        b: the values of the run.
        difference: the run's value less the baseline's, or the preference.
        qids: the ids of the queries.
        tracks: the collection of each query; '' for a single one.
        options: the test, its correction and its level.
        result: the result of the test; see :func:`run_differences`.
        p_corrected: p, corrected over the runs; of a condition of a guard with its own p-value that
            one, corrected.
        family: how many p-values were corrected together.
    """

    run: str
    name: str
    higher_is_better: bool | None
    a: Floats
    b: Floats
    difference: Floats
    qids: Sequence[Any]
    tracks: Sequence[str] = ()
    options: PairedTest = PairedTest()
    result: Comparison = _UNTESTED
    p_corrected: float = math.nan
    family: int = 1

    @property
    def gain(self) -> Floats:
        """The gain by query: above 0 where the run is better, or of a count larger."""
        return -self.difference if self.higher_is_better is False else self.difference

    @property
    def several(self) -> bool:
        """Whether there are several collections."""
        return bool(self.tracks) and self.tracks[0] != ""

    @cached_property
    def greatest(self) -> float:
        """The greatest absolute value of the two runs, or of the preference."""
        return float(np.nanmax(np.abs((self.a, self.b, self.difference)), initial=0.0))

    @property
    def is_equal(self) -> bool:
        """Whether the runs have equal values in every query."""
        return bool(no_variance(self.difference, self.greatest)[1])

    @property
    def untestable(self) -> str:
        """The reason why no test can be made; '' where one can, or the runs are equal."""
        if self.is_equal:
            return ""
        if len(self.qids) == 1:
            return "there is only one query"
        tracks = np.array(self.tracks)
        if not all(
            no_variance(self.difference[tracks == track], self.greatest)[0]
            for track in np.unique(tracks)
        ):
            return ""
        if len(np.unique(tracks)) > 1:
            return "the difference is the same in every query of a collection"
        return f"the difference is {self.difference[0]:.4g} in each of {len(self.qids)} queries"

    # Means: collections count the same

    def _mean(self, values: Floats) -> float:
        if not self.several:
            return float(values.mean())
        _, codes, counts = np.unique(self.tracks, return_inverse=True, return_counts=True)
        return float(values @ (1 / counts[codes] / len(counts)))

    @property
    def mean_a(self) -> float:
        """The baseline's mean; NaN for a preference, which only has a difference."""
        return self._mean(self.a)

    @property
    def mean_b(self) -> float:
        """The run's mean; NaN for a preference."""
        return self._mean(self.b)

    @property
    def mean(self) -> float:
        """The mean difference, 0 where the runs are equal."""
        return 0.0 if self.is_equal else self._mean(self.difference)

    @property
    def base(self) -> float:
        """The size of the baseline's mean; 0 for a preference."""
        return 0.0 if math.isnan(self.mean_a) else abs(self.mean_a)

    # Test

    @property
    def test(self) -> str:
        """The name of the test; sgnLP, which is only a sign, always has the sign test."""
        if self.several:
            return SIGNS
        return "sign" if self.name == "sgnLP" else self.options.test

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is at most alpha, and the run better or worse."""
        return self.p_corrected <= self.options.alpha and self.mean != 0

    @property
    def least_p(self) -> float:
        """The smallest p-value that the test can have: of all signs 2 of 2^Q.

        >>> ten = np.arange(10.0)
        >>> RunDifference("b", "sgnLP", True, ten, ten, ten, list("abcde")).least_p
        0.0625
        """
        queries = len(self.qids)
        is_drawn = self.test in ("randomization", SIGNS) and 2**queries > DRAWS
        return 0.0 if self.is_equal or self.test == "t" or is_drawn else 2.0 ** (1 - queries)

    def made_test(self) -> Comparison:
        """The result of the test; over several collections only p."""
        if self.several:
            return _UNTESTED._replace(p=self._p_of_collections())
        zero = 0 * self.difference
        pair = (self.difference, zero) if np.isnan(self.a).all() else (self.b, self.a)
        seed = self.options.seed if self.test == "randomization" else None
        return compare_pair(*pair, self.test, alpha=self.options.alpha, seed=seed)

    def _p_of_collections(self) -> float:
        if self.is_equal:
            return 1.0
        if self.untestable or len(self.qids) < FEWEST:
            return math.nan
        pair = [0 * self.difference, self.difference]
        found = rank_intervals(pair, collections=list(self.tracks), seed=self.options.seed or 0)
        return float(found.p[0, 1])

    # Tables

    def row(self) -> dict[str, Any]:
        """The row of the table."""
        row = {
            "run": self.run,
            "measure": self.name,
            "a": self.mean_a,
            "b": self.mean_b,
            "difference": self._mean(self.difference),
            "ci_low": self.result.ci_low,
            "ci_high": self.result.ci_high,
            "effect": self.result.effect,
            "wins": int((self.gain > 0).sum()),
            "losses": int((self.gain < 0).sum()),
            "ties": int((self.gain == 0).sum()),
            "p": self.result.p,
            "p_corrected": self.p_corrected,
            "test": self.test,
        }
        if self.several:
            row = {name: row[name] for name in row if name not in ("ci_low", "ci_high", "effect")}
        else:
            row["detectable"] = detectable_difference(self.difference, alpha=self.options.alpha)
        return row | {"family": self.family}

    def by_query(self) -> pd.DataFrame:
        """A row for each query, the largest loss first."""
        frame = pd.DataFrame(
            {
                "run": self.run,
                "track": self.tracks,
                "qid": self.qids,
                "measure": self.name,
                "a": self.a,
                "b": self.b,
                "difference": self.difference,
            }
        )
        frame = frame if self.several else frame.drop(columns="track")
        return frame.iloc[np.argsort(self.gain, kind="stable")]


def run_differences(
    inputs: Inputs, options: PairedTest, tracks: Sequence[str] = ()
) -> list[RunDifference]:
    """The tested differences of each system but the first by each measure.

    Args:
        inputs: what is compared.
        options: the test, and its correction over the runs, for each measure by itself.
        tracks: the collections; none: all.
    """
    chosen = tracks or list(inputs.qids)
    several = [track for track in chosen for _ in inputs.qids[track]]
    qids = [qid for track in chosen for qid in inputs.qids[track]]
    by_measure = []
    for name, higher_is_better in inputs.higher_is_better.items():
        a, *others = np.concatenate([inputs.values[track][name] for track in chosen], axis=1)
        own = []
        for run, b in zip(inputs.names[1:], others):
            pair = [np.full(len(qids), np.nan)] * 2 if name in PREFERENCES else [a, b]
            about = higher_is_better, *pair, b - a, qids, several, options
            untested = RunDifference(run, name, *about)
            own.append(replace(untested, result=untested.made_test()))
        by_measure.append(with_p(own, [of_run.result.p for of_run in own]))
    return [of_run for of_measures in zip(*by_measure) for of_run in of_measures]


def with_p(differences: Sequence[RunDifference], p: Sequence[float]) -> list[RunDifference]:
    """Differences of all runs by a measure with these p-values, corrected over the runs."""
    corrected = correct(p, differences[0].options.correction)
    return [
        replace(of_run, p_corrected=float(own), family=corrected.family)
        for of_run, own in zip(differences, corrected.p)
    ]
