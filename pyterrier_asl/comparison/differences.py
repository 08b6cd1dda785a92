"""Values of runs by query, and their differences from a baseline, to corrected p-values.

The test is one of :data:`TESTS`; the p-values of a measure are corrected over the runs.
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
from ..statistics.groups import group_differences
from ..statistics.pairwise import no_variance
from ..statistics.power import detectable_difference, queries_needed
from ..statistics.repetitions import RepeatedComparison, compare_repetitions
from ..statistics.settings import DRAWS
from ..statistics.tests import Comparison, PairedTest, compare_pair, correct
from .conditions import Condition

#: Tests of two runs by name, with a description and the effect size.
TESTS = {
    "t": ("t-test for pairs", "Cohen's d_z"),
    "wilcoxon": ("Wilcoxon's signed-rank test", "rank-biserial r"),
    "sign": ("sign test", "(wins - losses) / both"),
    "randomization": ("randomization test", "Cohen's d_z"),
}


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
        of_runs: name -> values of all runs, system by system, shape (N, Q); preferences are those
            for each system over the baseline.
        qids: the queries, Q of them.
        judged: the N runs; None of scores.
        missing: of scores whether each was missing and is filled, as ``of_runs``.
        rel: the least grade of a relevant document, for preferences and documents.
        notes: sentences on how scores were read, or on the grades of the qrels.
        missing_note: of scores the sentence on missing values.
        repetitions: the number of runs of each system; none: one each.
        groups: the group of each query; none: there are no groups.
        detect: the difference whose number of queries is computed; None: none.
    """

    names: list[str]
    higher_is_better: dict[str, bool | None]
    measures: dict[str, Any]
    conditions: list[tuple[Condition, str]]
    of_runs: dict[str, Floats]
    qids: list[Any]
    judged: Evaluation | None = None
    missing: dict[str, Bools] = field(default_factory=dict)
    rel: float = 1
    notes: list[str] = field(default_factory=list)
    missing_note: str = ""
    repetitions: Sequence[int] = ()
    groups: Sequence[str] = ()
    detect: float | None = None

    @property
    def is_repeated(self) -> bool:
        """Whether a system has several runs."""
        return any(number > 1 for number in self.repetitions)

    def rows(self, system: str) -> list[int]:
        """The numbers of the runs of a system."""
        ends = np.cumsum(self.repetitions or [1] * len(self.names)).tolist()
        at = self.names.index(system)
        return list(range(ends[at - 1] if at else 0, ends[at]))


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
        options: the test, its correction and its level.
        repetitions: with several runs of a system the values of all runs of the baseline and of the
            run; ``a`` and ``b`` are their means.
        groups: see :class:`Inputs`.
        detect: see :class:`Inputs`.
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
    options: PairedTest = PairedTest()
    repetitions: tuple[Floats, ...] = ()
    groups: Sequence[str] = ()
    detect: float | None = None
    result: Comparison = Comparison(*[math.nan] * 6)
    p_corrected: float = math.nan
    family: int = 1

    @property
    def gain(self) -> Floats:
        """The gain by query: above 0 where the run is better, or of a count larger."""
        return -self.difference if self.higher_is_better is False else self.difference

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
        if self.is_equal or (self.repeated and not math.isnan(self.repeated.comparison.p)):
            return ""
        if len(self.qids) == 1:
            return "there is only one query"
        if not no_variance(self.difference, self.greatest)[0]:
            return ""
        return f"the difference is {self.difference[0]:.4g} in each of {len(self.qids)} queries"

    # Means

    @property
    def mean_a(self) -> float:
        """The baseline's mean; NaN for a preference, which only has a difference."""
        return float(self.a.mean())

    @property
    def mean_b(self) -> float:
        """The run's mean; NaN for a preference."""
        return float(self.b.mean())

    @property
    def mean(self) -> float:
        """The mean difference, 0 where the runs are equal."""
        return 0.0 if self.is_equal else float(self.difference.mean())

    @property
    def base(self) -> float:
        """The size of the baseline's mean; 0 for a preference."""
        return 0.0 if math.isnan(self.mean_a) else abs(self.mean_a)

    # Test

    @cached_property
    def repeated(self) -> RepeatedComparison | None:
        """The test with repetitions; None where each system has one run."""
        if not self.repetitions:
            return None
        return compare_repetitions(*self.repetitions, alpha=self.options.alpha)

    @property
    def test(self) -> str:
        """The name of the test; sgnLP, which is only a sign, always has the sign test."""
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
        is_drawn = self.test == "randomization" and 2**queries > DRAWS
        return 0.0 if self.is_equal or self.test == "t" or is_drawn else 2.0 ** (1 - queries)

    def made_test(self) -> Comparison:
        """The result of the test."""
        if self.repeated:
            return self.repeated.comparison
        zero = 0 * self.difference
        pair = (self.difference, zero) if np.isnan(self.a).all() else (self.b, self.a)
        seed = self.options.seed if self.test == "randomization" else None
        return compare_pair(*pair, self.test, alpha=self.options.alpha, seed=seed)

    # Tables

    def row(self) -> dict[str, Any]:
        """The row of the table."""
        alpha, repeated = self.options.alpha, self.repeated
        row = {
            "run": self.run,
            "measure": self.name,
            "a": self.mean_a,
            "b": self.mean_b,
            "difference": float(self.difference.mean()),
            "ci_low": self.result.ci_low,
            "ci_high": self.result.ci_high,
            "effect": self.result.effect,
            "wins": int((self.gain > 0).sum()),
            "losses": int((self.gain < 0).sum()),
            "ties": int((self.gain == 0).sum()),
            "p": self.result.p,
            "p_corrected": self.p_corrected,
            "test": self.test,
            "detectable": repeated.detectable
            if repeated
            else detectable_difference(self.difference, alpha=alpha),
            "family": self.family,
        }
        if repeated:
            row["repetitions"] = repeated.share
            row["half_any_repetitions"] = repeated.half_any_repetitions
            row["half_twice_queries"] = repeated.half_twice_queries
        if self.detect is not None:
            needed = queries_needed(self.difference, self.detect, alpha=alpha)
            row["queries_needed"], row["queries_needed_by_sd"] = needed
        return row

    def by_query(self) -> pd.DataFrame:
        """A row for each query, the largest loss first."""
        return pd.DataFrame(
            {
                "run": self.run,
                "qid": self.qids,
                "measure": self.name,
                "a": self.a,
                "b": self.b,
                "difference": self.difference,
            }
        ).iloc[np.argsort(self.gain, kind="stable")]

    # Groups

    @cached_property
    def by_group(self) -> list[dict[str, Any]]:
        """The rows of the table of groups, in the order of their first queries."""
        names = list(dict.fromkeys(self.groups))
        codes = [names.index(group) for group in self.groups]
        depends, *columns = group_differences(self.difference, codes, self.greatest)
        keys = ("group", "queries", "difference", "shrunken", "p")
        about = {"run": self.run, "measure": self.name}
        rows = zip(names, *(column.tolist() for column in columns))
        return [about | dict(zip(keys, row)) | {"depends": depends} for row in rows]

    def is_in(self, group: str) -> Bools:
        """Whether each query is in a group, shape (Q,)."""
        return np.array([own == group for own in self.groups])


def run_differences(inputs: Inputs, options: PairedTest) -> list[RunDifference]:
    """The tested differences of each system but the first by each measure.

    Args:
        inputs: what is compared.
        options: the test, and its correction over the runs, for each measure by itself.
    """
    by_measure = []
    for name, higher_is_better in inputs.higher_is_better.items():
        values = (inputs.of_runs[name][inputs.rows(system)] for system in inputs.names)
        (base, a), *others = ((of_system, of_system.mean(axis=0)) for of_system in values)
        empty = np.full(len(a), np.nan)
        untested = (
            RunDifference(
                run=run,
                name=name,
                higher_is_better=higher_is_better,
                a=empty if name in PREFERENCES else a,
                b=empty if name in PREFERENCES else b,
                difference=b - a,
                qids=inputs.qids,
                options=options,
                repetitions=(base, of_run) if len(base) + len(of_run) > 2 else (),
                groups=inputs.groups,
                detect=inputs.detect,
            )
            for run, (of_run, b) in zip(inputs.names[1:], others)
        )
        own = [replace(of_run, result=of_run.made_test()) for of_run in untested]
        by_measure.append(with_p(own, [of_run.result.p for of_run in own]))
    return [of_run for of_measures in zip(*by_measure) for of_run in of_measures]


def with_p(differences: Sequence[RunDifference], p: Sequence[float]) -> list[RunDifference]:
    """Differences of all runs by a measure with these p-values, corrected over the runs."""
    corrected = correct(p, differences[0].options.correction)
    return [
        replace(of_run, p_corrected=float(own), family=corrected.family)
        for of_run, own in zip(differences, corrected.p)
    ]
