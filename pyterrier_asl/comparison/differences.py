"""Differences of runs from a baseline by query, and their tests.

In a single collection the test is one of :data:`TESTS`. Over several collections the difference is
the mean of the collections' mean differences, and p is from random signs within collections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..assessment.system_pairs import PairedTest
from ..io.names import OVERALL
from ..leaderboard.samples import FEWEST
from ..scoring.arrays import Floats
from ..statistics.inputs import DRAWS
from ..statistics.intervals import detectable_difference
from ..statistics.pairwise import no_variance
from ..statistics.rank_intervals import rank_intervals
from ..statistics.tests import Comparison, compare_pair, correct
from .inputs import PREFERENCES, Inputs

#: Tests of two runs by name, with a description and the effect size.
TESTS = {
    "t": ("t-test for pairs", "Cohen's d_z"),
    "wilcoxon": ("Wilcoxon's signed-rank test", "rank-biserial r"),
    "sign": ("sign test", "(wins - losses) / both"),
    "randomization": ("randomization test", "Cohen's d_z"),
}
#: The name of the test over several collections.
SIGNS = "sign vectors"


@dataclass(frozen=True)
class RunDifference:
    """The values of a run and of the baseline by query in a measure, or a preference.

    Attributes:
        run: the name of the run.
        name: the name of the measure.
        higher_is_better: its direction; None of a count.
        a: the values of the baseline, NaN for a preference, shape (Q,).
        b: the values of the run.
        difference: the run's value less the baseline's, or the preference.
        qids: the ids of the queries.
        tracks: the collection of each query; '' for a single one.
    """

    run: str
    name: str
    higher_is_better: bool | None
    a: Floats
    b: Floats
    difference: Floats
    qids: Sequence[Any]
    tracks: Sequence[str]

    @property
    def gain(self) -> Floats:
        """The gain by query: above 0 where the run is better, or of a count larger."""
        return -self.difference if self.higher_is_better is False else self.difference

    @property
    def several(self) -> bool:
        """Whether there are several collections."""
        return self.tracks[:1] != [""]

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

    def of_track(self, track: str) -> RunDifference:
        """The same in one collection, or in all of them (:data:`OVERALL`)."""
        if track == OVERALL or not self.several:
            return self
        rows = np.flatnonzero(np.array(self.tracks) == track)
        qids = [self.qids[row] for row in rows.tolist()]
        return replace(
            self,
            a=self.a[rows],
            b=self.b[rows],
            difference=self.difference[rows],
            qids=qids,
            tracks=[track] * len(rows),
        )

    def row(self, options: PairedTest) -> dict[str, Any]:
        """The row of the table."""
        names = {"run": self.run, "measure": self.name}
        counts = {
            "wins": int((self.gain > 0).sum()),
            "losses": int((self.gain < 0).sum()),
            "ties": int((self.gain == 0).sum()),
        }
        if self.several:
            weights = self._weights()
            means = {
                part: float(getattr(self, part) @ weights) for part in ("a", "b", "difference")
            }
            return names | means | counts | {"p": self.p(options), "test": SIGNS}
        tested = self._compared(options)
        return {
            **names,
            "a": float(self.a.mean()),
            "b": float(self.b.mean()),
            "difference": tested.difference,
            "ci_low": tested.ci_low,
            "ci_high": tested.ci_high,
            "effect": tested.effect,
            **counts,
            "p": tested.p,
            "test": self.test(options),
            "detectable": detectable_difference(self.difference, alpha=options.alpha),
        }

    def test(self, options: PairedTest) -> str:
        """The name of the test; sgnLP, which is only a sign, always has the sign test."""
        return SIGNS if self.several else "sign" if self.name == "sgnLP" else options.test

    def p(self, options: PairedTest) -> float:
        """The p-value, not corrected."""
        if not self.several:
            return self._compared(options).p
        if self.is_equal:
            return 1.0
        if self.untestable or len(self.qids) < FEWEST:
            return float("nan")
        pair = [0 * self.difference, self.difference]
        found = rank_intervals(pair, collections=list(self.tracks), seed=options.seed or 0)
        return float(found.p[0, 1])

    def _compared(self, options: PairedTest) -> Comparison:
        """The result of the test in a single collection."""
        test, zero = self.test(options), 0 * self.difference
        pair = (self.difference, zero) if np.isnan(self.a).all() else (self.b, self.a)
        seed = options.seed if test == "randomization" else None
        return compare_pair(*pair, test, alpha=options.alpha, seed=seed)

    def with_differences(self, differences: Floats) -> RunDifference:
        """The same of a single collection with other differences by query, perhaps fewer."""
        nothing = np.full(len(differences), np.nan)
        return replace(self, a=nothing, b=nothing, difference=differences)

    def _weights(self) -> Floats:
        """The weight of each query: collections count the same."""
        _, codes, counts = np.unique(self.tracks, return_inverse=True, return_counts=True)
        return np.asarray(1 / counts[codes] / len(counts))

    def by_query(self) -> pd.DataFrame:
        """A row for each query, the largest loss first."""
        columns = {"run": self.run, "track": self.tracks, "qid": self.qids, "measure": self.name}
        frame = pd.DataFrame(columns | {"a": self.a, "b": self.b, "difference": self.difference})
        frame = frame if self.several else frame.drop(columns="track")
        return frame.iloc[np.argsort(self.gain, kind="stable")]


def run_differences(inputs: Inputs, names: Iterable[str]) -> Iterator[RunDifference]:
    """The differences of each system but the first by these measures, over all collections."""
    tracks = [track for track, qids in inputs.qids.items() for _ in qids]
    qids = [qid for of_track in inputs.qids.values() for qid in of_track]
    columns = {
        name: np.concatenate([inputs.values_of(name, track) for track in inputs.qids], axis=1)
        for name in names
    }
    for row, run in enumerate(inputs.names[1:], 1):
        for name, values in columns.items():
            higher = inputs.higher_is_better.get(name, True)
            a, b = values[[0, row]]
            difference = b - a
            if name in PREFERENCES:
                a = b = np.full(len(qids), np.nan)
            yield RunDifference(run, name, higher, a, b, difference, qids, tracks)


def tested(differences: Sequence[RunDifference], options: PairedTest) -> pd.DataFrame:
    """A row for each difference; p is corrected over the runs, for each measure by itself."""
    table = pd.DataFrame([difference.row(options) for difference in differences])
    p = table.groupby("measure", sort=False)["p"]
    corrected = p.transform(lambda values: correct(values, options.correction).p)
    table.insert(list(table).index("p") + 1, "p_corrected", corrected)
    return table.assign(family=p.transform("count").astype(int))


def least_p(test: str, queries: int) -> float:
    """The smallest p-value that a test over so many queries can have: of all signs 2 of 2^Q.

    >>> least_p("t", 5), least_p("sign", 5), least_p("randomization", 20)
    (0.0, 0.0625, 0.0)
    """
    is_drawn = test in ("randomization", SIGNS) and 2**queries > DRAWS
    return 0.0 if test == "t" or is_drawn else 2.0 ** (1 - queries)
