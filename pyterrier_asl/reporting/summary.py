"""The numbers of a report's headline and answers, for each measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, isnan

import numpy as np
import pandas as pd

from ..leaderboard.sentences import places_of_interval, places_of_p
from ..scoring.arrays import Floats
from ..statistics.rounding import EQUAL
from .findings import Findings, SystemFindings, SystemRanking


@dataclass(frozen=True)
class Summary:
    """Numbers for the sentences on one measure.

    The sentences are in ``templates/verdict.html.j2`` and ``templates/answers.html.j2``.

    Attributes:
        findings: the findings of the page.
        ranking: the systems by the measure.
    """

    findings: SystemFindings
    ranking: SystemRanking

    @property
    def two(self) -> list[int]:
        """The two best systems; a single system twice."""
        return [int(self.ranking.order[0]), int(self.ranking.order[:2][-1])]

    @cached_property
    def gains(self) -> Floats:
        """The values by query with a sign so that higher is better, shape (S, Q)."""
        return self.ranking.sign * self.ranking.values

    @cached_property
    def behind(self) -> Floats:
        """How much better the best system is than each system by query, shape (S, Q).

        0 where the difference is rounding only.
        """
        differences: Floats = self.gains[self.two[0]] - self.gains
        differences[np.abs(differences) <= EQUAL * np.abs(self.gains).max()] = 0
        return differences

    @property
    def all_equal(self) -> bool:
        """Whether all systems have the same value on each query."""
        return not self.behind.any()

    @cached_property
    def rival(self) -> int:
        """The system to compare with the best: of :attr:`next_pair`, else the next unequal one."""
        if self.next_pair is not None:
            return self.next_pair[0]
        others = (at for at in self.ranking.order.tolist() if self.behind[at].any())
        return next(others, self.two[1])

    @property
    def has_one_gain(self) -> bool:
        """Whether the best system differs from :attr:`rival` by the same on every query."""
        gained = self.behind[self.rival]
        return bool(np.ptp(gained) <= EQUAL * np.abs(gained).max())

    def winner(self, ranking: SystemRanking) -> int | None:
        """The one of the two best systems that a measure orders above the other; None: neither."""
        a, b = self.two
        return a if ranking.better[a, b] else b if ranking.better[b, a] else None

    @property
    def other_winners(self) -> list[tuple[int, list[SystemRanking]]]:
        """The better one of two systems by other measures, unless this measure agrees.

        A system and the measures, the winner by most measures first.
        """
        others = [ranking for ranking in self.findings.decisive if ranking is not self.ranking]
        named: dict[int, list[SystemRanking]] = {}
        for other in others:
            winner = self.winner(other)
            if winner is not None and winner != self.winner(self.ranking):
                named.setdefault(winner, []).append(other)
        return sorted(named.items(), key=lambda item: -len(item[1]))

    @cached_property
    def conflict(self) -> tuple[int, list[int], list[list[SystemRanking]]] | None:
        """The pairs that any two measures order in opposite directions; None without such a pair.

        Their number, the two systems of one pair, the measures by which the first is better, and
        the measures by which the second is better.
        """
        decisive = self.findings.decisive
        better = np.array([ranking.better for ranking in decisive])
        measures_for = better.sum(axis=0)
        on_both_sides = np.minimum(measures_for, measures_for.T)
        pairs = np.argwhere(np.triu(on_both_sides))
        if not len(pairs):
            return None
        most = on_both_sides[tuple(pairs.T)]
        ranks = self.ranking.ranks[pairs]
        a, b = pairs[np.lexsort((ranks.max(axis=1), ranks.min(axis=1), -most))[0]].tolist()
        if self.ranking.ranks[b] < self.ranking.ranks[a]:
            a, b = b, a
        by = [[r for r in decisive if r.better[x, y]] for x, y in ((a, b), (b, a))]
        return len(pairs), [a, b], by

    @property
    def passed_over(self) -> tuple[int, int, str, str] | None:
        """A system that could not be the best with a better mean than one that could.

        Both systems, and for each the standard errors by which its best rival is ahead, '' if these
        are not fewer for the second: the test of each system has its own critical value. None
        without such systems.
        """
        ranking, candidates = self.ranking, self.ranking.candidates
        if ranking.intervals is None or len(ranking.names) < 3:
            return None
        ahead = np.where(ranking.intervals.difference > 0, ranking.intervals.statistic, 0)
        for system in ranking.order.tolist():
            below = [c for c in candidates if ranking.ranks[c] > ranking.ranks[system]]
            if system not in candidates and below:
                over, least = (float(ahead[:, at].max()) for at in (system, below[0]))
                places = next((n for n in (1, 2, 3) if round(over, n) > round(least, n)), None)
                shown = [f"{errors:.{places}f}" if places else "" for errors in (over, least)]
                return system, below[0], shown[0], shown[1]
        return None

    @property
    def ordered_candidate(self) -> tuple[int, int] | None:
        """A system that could be the best although another is ordered above it, and the other.

        Who could be the best is tested at half of the level. None without such systems.
        """
        for system in self.ranking.candidates if len(self.ranking.names) > 2 else ():
            if (above := np.flatnonzero(self.ranking.better[:, system])).size:
                return system, int(above[0])
        return None

    @property
    def ordered_first(self) -> tuple[int, int]:
        """The number of ordered pairs among the first ten systems, and the number of pairs."""
        first = self.ranking.order[:10]
        pairs = len(first) * (len(first) - 1) // 2
        return int(self.ranking.better[np.ix_(first, first)].sum()), pairs

    @property
    def next_pair(self) -> tuple[int, float, int | None] | None:
        """The comparison to decide next: the best system with another.

        The other system could be the best, too, and differs from the best on some query. Among the
        pairs with the best system that are not ordered, theirs has the least p. Returns the system,
        the p, and the number of topics that
        would order the pair if the differences stay the same: None for more than a hundred times
        the topics. None without such a system.
        """
        intervals, best = self.ranking.intervals, self.two[0]
        own = self.ranking.better[best]
        rivals = [at for at in self.ranking.candidates if self.behind[at].any() and not own[at]]
        if intervals is None or not rivals:
            return None
        rival = max(rivals, key=lambda at: (-intervals.p[best, at], intervals.statistic[best, at]))
        statistic, topics = float(intervals.statistic[best, rival]), len(self.findings.qids)
        factor = (intervals.critical[-1] / statistic) ** 2 if statistic > 0 else np.inf
        return (
            rival,
            float(intervals.p[best, rival]),
            ceil(factor * topics) if factor < 100 else None,
        )

    @cached_property
    def largest_fall(self) -> int | None:
        """The system that loses most ranks because its run is shorter than others."""
        if not isinstance(self.findings, Findings):
            return None
        retrieved, asl = self.findings.depths.retrieved, self.findings.asl
        shallow = retrieved < 0.9 * retrieved.max()
        falls = np.where(shallow, asl.ranks - self.findings.asl_common.ranks, 0)
        return int(falls.argmax()) if falls.max() > 0 else None

    def typical(self, shares: Floats) -> float:
        """The median of a share of the systems, of at most two the best system's; may be NaN."""
        return float(pd.Series(shares).median()) if len(shares) > 2 else float(shares[self.two[0]])

    @property
    def weak_queries(self) -> list[int]:
        """The query with the largest loss of the best system.

        The loss is against the median system, of two systems against the other. For a single
        system its two worst queries, without queries of its best value.
        """
        own, systems = self.gains[self.two[0]], len(self.gains)
        if systems == 1:
            worst = own.argsort(kind="stable")[:2]
            return [int(query) for query in worst if own[query] < own.max()]
        others = np.median(self.gains, axis=0) if systems > 2 else self.gains.max(axis=0)
        query = int((own - others).argmin())
        return [query] if own[query] < others[query] else []


def p_value(p: float, alpha: float = 0.05) -> str:
    """A p-value in the form that a report shows; it is rounded to the side of alpha where it is.

    >>> p_value(0.0004), p_value(0.0321), p_value(0.0503), p_value(1)
    ('p < .001', 'p = .032', 'p = .0503', 'p = 1')
    """
    if p < 0.001 or p >= 0.9995:
        return "p < .001" if p < 0.001 else "p = 1"
    return f"p = {p:.{places_of_p(p, alpha, 3)}f}".replace("0.", ".", 1)


def shown_share(share: float) -> str:
    """A share in percent; only nothing is 0%, and only all is 100%.

    >>> shown_share(0.5), shown_share(0.9993), shown_share(0.001), shown_share(1), shown_share(0)
    ('50%', '>99%', '<1%', '100%', '0%')
    """
    if isnan(share):
        return "–"
    text = f"{share:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(text, text) if 0 < share < 1 else text


def shown_value(ranking: SystemRanking, value: float, sign: str = "") -> str:
    """A value with the decimals of its measure; a positive value has ``sign``."""
    text = f"{value:{sign}.{decimals(ranking)}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("+-")


def shown_difference(
    ranking: SystemRanking, a: int, b: int, *, unit: bool = False, ends: bool = True
) -> str:
    """The difference of two systems with its p, and with its interval if there are only two.

    The interval comes from :func:`~pyterrier_asl.statistics.rank_intervals.rank_intervals`. It
    excludes 0 exactly where the pair is ordered.
    """
    text = shown_value(ranking, ranking.means[a] - ranking.means[b], "+")
    text += f" {ranking.name}" if unit else ""
    ranks = ranking.intervals
    if ranks is None:
        return text
    if ends and (limits := interval(ranking, a, b)) is not None:
        text += " [{}, {}]".format(*(shown_value(ranking, limit) for limit in limits))
    return f"{text}, {p_value(ranks.p[a, b], ranking.alpha)}"


def interval(ranking: SystemRanking, a: int, b: int) -> tuple[float, float] | None:
    """The interval of the difference of the means of two systems; None for more systems."""
    if ranking.intervals is None or ranking.intervals.least is None:
        return None
    low, high = ranking.intervals.least[a, b], -ranking.intervals.least[b, a]
    return (low, high) if ranking.sign == 1 else (-high, -low)


def drawn_interval(ranking: SystemRanking, a: int, b: int) -> list[float]:
    """The ends of the interval of a difference, and the difference, on a scale from 0 to 100.

    50 is no difference, higher is better for the first system; one end is 0 or 100.
    """
    assert ranking.intervals is not None and ranking.intervals.least is not None
    least, difference = ranking.intervals.least, ranking.intervals.difference
    ends = np.array([least[a, b], -least[b, a], difference[a, b]])
    largest = np.abs(ends).max()
    return [float(end) for end in 50 + 50 * ends / (largest or 1)]


def decimals(ranking: SystemRanking) -> int:
    """Decimals of a measure's values: one for search lengths, four for shares.

    More where the interval of an ordered pair would seem to contain 0.
    """
    usual = 1 if float(np.abs(ranking.means).max(initial=0)) >= 10 else 4
    ends = interval(ranking, 0, 1) if ranking.better.any() else None
    return usual if ends is None else places_of_interval(ends, usual)
