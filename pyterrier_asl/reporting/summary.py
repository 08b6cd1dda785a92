"""The verdict of a report and the answers to the questions of its reader, for each measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..scoring.arrays import Floats
from ..statistics.correlation import kendall_tau
from ..statistics.tests import PAIR_TESTS, Comparison, compare_pair
from .findings import Findings, SystemFindings
from .ranking import SystemRanking

#: The names of the tests in a sentence.
_TESTS = {
    "t": "paired t-tests",
    "wilcoxon": "Wilcoxon's signed-rank tests",
    "sign": "sign tests",
    "randomization": "randomization tests",
    "unpaired-t": "unpaired t-tests",
    "tukey": "Tukey's HSD",
    "tukey-two-way": "Tukey's HSD with queries as blocks",
    "tukey-randomized": "Tukey's HSD by randomization",
}
_CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg's correction",
}


@dataclass(frozen=True)
class Summary:
    """Numbers for the sentences on one measure.

    The sentences stand in ``templates/verdict.html.j2`` and ``templates/answers.html.j2``.

    Attributes:
        findings: the findings of the page.
        ranking: the systems by the measure.
    """

    findings: SystemFindings
    ranking: SystemRanking

    @property
    def two(self) -> list[int]:
        """The two best systems; of one system that one, twice."""
        return [int(self.ranking.order[0]), int(self.ranking.order[:2][-1])]

    @cached_property
    def gains(self) -> Floats:
        """The values by query with a sign so that higher is better, shape (S, Q)."""
        return self.ranking.values * (-1 if self.ranking.higher_is_better is False else 1)

    @property
    def all_equal(self) -> bool:
        """Whether all systems have the same value on each query."""
        return bool((self.ranking.values == self.ranking.values[0]).all())

    @property
    def tied(self) -> int:
        """The number of systems that share the best mean."""
        return int((self.ranking.ranks == 1).sum())

    @property
    def best_conflicts(self) -> list[tuple[SystemRanking, int]]:
        """Measures by which the best system is significantly worse than some others.

        Counted are those than which it is significantly better by this measure.
        """
        best, own = self.two[0], self.ranking.better
        others = [ranking for ranking in self.findings.decisive if ranking is not self.ranking]
        counts = [int((own[best] & other.better[:, best]).sum()) for other in others]
        return [(other, count) for other, count in zip(others, counts) if count]

    @cached_property
    def other(self) -> SystemRanking | None:
        """The ranking to compare this one with: by ASL, of ASL by AP; None where not shown."""
        kind = "AP" if self.ranking.kind == "ASL" else "ASL"
        shown = (ranking for ranking in self.findings.decisive if ranking.kind == kind)
        return next(shown, None)

    @property
    def other_best(self) -> int | None:
        """The best system by :attr:`other` where it is the only one, and not of the two best."""
        if self.other is None or self.all_equal or (self.other.ranks == 1).sum() != 1:
            return None
        best = int(self.other.order[0])
        return None if best in self.two else best

    @cached_property
    def tau(self) -> float:
        """Kendall's tau of this ranking and :attr:`other`; NaN where all systems are equal."""
        if self.other is None or len(self.findings.names) < 2:
            return float("nan")
        return kendall_tau(self.ranking.gains, self.other.gains)

    @property
    def largest_move(self) -> tuple[int, int, int]:
        """The system whose rank changes most from this ranking to :attr:`other`, and its ranks."""
        assert self.other is not None
        ranks, others = self.ranking.ranks, self.other.ranks
        system = int(np.abs(ranks - others).argmax())
        return system, int(ranks[system]), int(others[system])

    @property
    def two_best(self) -> Comparison:
        """The two best systems compared by themselves."""
        return compare_pair(*self.ranking.values[self.two], alpha=self.ranking.alpha)

    @property
    def p_of_two_best(self) -> tuple[float, float]:
        """The p-value of their difference by itself, and corrected."""
        pairs, own = self.ranking.comparisons, self.ranking.own_p
        assert pairs is not None and own is not None
        two = [self.findings.names[system] for system in self.two]
        at = int((pairs["a"].isin(two) & pairs["b"].isin(two)).argmax())
        return float(own[at]), float(pairs["p_corrected"].iloc[at])

    @cached_property
    def largest_fall(self) -> int | None:
        """The system that loses most ranks by being less deep than others."""
        if not isinstance(self.findings, Findings):
            return None
        retrieved, asl = self.findings.depths.retrieved, self.findings.asl
        shallow = retrieved < 0.9 * retrieved.max()
        falls = np.where(shallow, asl.ranks - self.findings.asl_common.ranks, 0)
        return int(falls.argmax()) if falls.max() > 0 else None

    @property
    def unjudged_share(self) -> float:
        """The median over systems of the unjudged share above relevant documents, or NaN."""
        assert isinstance(self.findings, Findings)
        return float(pd.Series(self.findings.depths.unjudged).median())

    @property
    def weak_queries(self) -> list[int]:
        """The query where the best system loses most against the median one, or the other; of one
        system its two worst queries."""
        own, systems = self.gains[self.two[0]], len(self.gains)
        if systems == 1:
            return [int(query) for query in own.argsort(kind="stable")[:2]]
        others = np.median(self.gains, axis=0) if systems > 2 else self.gains.max(axis=0)
        query = int((own - others).argmin())
        return [query] if own[query] < others[query] else []


def test_name(ranking: SystemRanking) -> str:
    """The test behind the groups, with its level and, where there is one, its correction."""
    frame = ranking.comparisons
    method = "none" if frame is None else frame.attrs["correction"]
    corrected = "" if method == "none" else f" with {_CORRECTIONS[method]} over all pairs"
    return f"{_TESTS[ranking.test]}{corrected} at {ranking.alpha:g}"


def own_test_name(ranking: SystemRanking) -> str:
    """The test behind the p-value of a pair by itself."""
    own = ranking.test if ranking.test in PAIR_TESTS else "t"
    return _TESTS[own].removesuffix("s")


def p_value(p: float) -> str:
    """A p-value as a report shows it.

    >>> p_value(0.0004), p_value(0.0321), p_value(float("nan"))
    ('p < .001', 'p = .032', 'p undefined')
    """
    if np.isnan(p):
        return "p undefined"
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)


def shown_value(ranking: SystemRanking, value: float) -> str:
    """A value with the decimals that its measure needs."""
    return f"{value:.{decimals(ranking)}f}".replace("-", "−")


def decimals(ranking: SystemRanking) -> int:
    """Decimals of a measure's values: one for search lengths, four for shares."""
    return 1 if float(np.abs(ranking.means).max(initial=0)) >= 10 else 4
