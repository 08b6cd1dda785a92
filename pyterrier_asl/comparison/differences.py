"""Differences of runs from the baseline in a measure, query by query, and their tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..scoring.arrays import Floats
from ..statistics.correction import Corrected, correct
from ..statistics.intervals import detectable_difference
from ..statistics.tests import compare_pair
from .result import PREFERENCES, AllLimits, HowTested


@dataclass(frozen=True)
class RunDifference:
    """A measure of a run and of the baseline for every query, or a preference of the run.

    Attributes:
        run: the name of the run.
        name: the name of the measure.
        higher_is_better: its direction; None of a count.
        a: the values of the baseline, NaN for a preference, shape (Q,).
        b: the values of the run.
        difference: the run's value less the baseline's, or the preference.
        qids: the ids of the queries.
        tracks: the collection of each query, where there are several.
    """

    run: str
    name: str
    higher_is_better: bool | None
    a: Floats
    b: Floats
    difference: Floats
    qids: list[Any]
    tracks: Sequence[str] = ()

    @property
    def gain(self) -> Floats:
        """By how much the run is better for each query, or of a count more."""
        return -self.difference if self.higher_is_better is False else self.difference

    def row(self, limits: AllLimits, options: HowTested) -> dict[str, Any]:
        """The row of the summary."""
        bounds = limits.get((self.run, self.name))
        low, high = bounds.means if bounds else (np.nan, np.nan)
        test = "sign" if self.name == "sgnLP" else options.test
        is_preference = self.name in PREFERENCES
        pair = (self.difference, np.zeros_like(self.a)) if is_preference else (self.b, self.a)
        tested = compare_pair(*pair, test, alpha=options.alpha, seed=options.seed)
        return {
            "run": self.run,
            "measure": self.name,
            "a": float(self.a.mean()),
            "b": float(self.b.mean()),
            "difference": tested.difference,
            "ci_low": tested.ci_low,
            "ci_high": tested.ci_high,
            "low": low,
            "high": high,
            "effect": tested.effect,
            "wins": int((self.gain > 0).sum()),
            "losses": int((self.gain < 0).sum()),
            "ties": int((self.gain == 0).sum()),
            "p": tested.p,
            "test": test,
            "detectable": detectable_difference(self.difference, alpha=options.alpha),
        }

    def by_query(self) -> pd.DataFrame:
        """A row for each query, the largest loss first."""
        frame = pd.DataFrame(
            {
                "run": self.run,
                "qid": self.qids,
                "measure": self.name,
                "a": self.a,
                "b": self.b,
                "difference": self.difference,
            }
        )
        return frame.iloc[np.argsort(self.gain, kind="stable")]


def test_differences(
    differences: Sequence[RunDifference], limits: AllLimits, options: HowTested
) -> tuple[pd.DataFrame, Corrected]:
    """Tests differences; returns the rows of the summary, and the correction of their p-values."""
    table = pd.DataFrame([values.row(limits, options) for values in differences])
    corrected = correct(table["p"], options.correction)
    table.insert(list(table).index("p") + 1, "p_corrected", corrected.p)
    # Equal values are fully compatible with no difference; a test gives NaN for them.
    table.loc[[not values.difference.any() for values in differences], ["p", "p_corrected"]] = 1.0
    return table, corrected
