"""The summary of a report: answers to the questions of its reader, with links into the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import urlencode

import numpy as np

from ..io.tables import counted
from ..statistics.tests import PAIR_TESTS, compare_pair
from .collect import Findings
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
_CORRECTIONS = {"holm": "Holm's correction", "bonferroni": "Bonferroni's correction",
                "bh": "Benjamini and Hochberg's correction"}  # fmt: skip
#: Tests that take one variance for all systems.
_POOLED = ("tukey", "tukey-two-way")
#: The ratio of two standard deviations from which on they differ much.
_UNEQUAL = 2


@dataclass(frozen=True)
class Link:
    """A link into the page.

    Attributes:
        text: what is shown.
        section: the id of the section.
        state: what is chosen there: ``a``, ``b``, ``measure``, ``query``.
    """

    text: str
    section: str
    state: Mapping[str, str] = field(default_factory=dict)

    @property
    def chosen(self) -> str:
        """The state as it stands in the address."""
        return urlencode(self.state)


#: A sentence, some parts of which are links.
Sentence = list[str | Link]


@dataclass(frozen=True)
class Answer:
    """A question and the sentences that answer it."""

    question: str
    sentences: list[Sentence]


def summary(findings: Findings) -> list[Answer]:
    """The answers, those without a sentence left out."""
    of = _Sentences(findings)
    makers = {
        "Who wins?": [of.best],
        "Is it real?": [of.significance, of.variances, of.cycles],
        "Where?": [of.notable_queries, of.agreement],
        "Why?": [of.missing_share, of.depth, of.unjudged_share],
        "What is missed?": [of.missed_by_all],
        "What to look at next": [of.suggestions],
    }
    answers = [
        Answer(question, [sentence for make in each for sentence in make()])
        for question, each in makers.items()
    ]
    return [answer for answer in answers if answer.sentences]


def test_name(ranking: SystemRanking) -> str:
    """The test behind the groups, with its level and, where there is one, its correction."""
    frame = ranking.comparisons
    method = None if frame is None else frame.attrs["correction"]
    corrected = f" with {_CORRECTIONS[method]} over all pairs" if method else ""
    return f"{_TESTS[ranking.test]}{corrected} at {ranking.alpha:g}"


def own_test_name(ranking: SystemRanking) -> str:
    """The test behind the p-value of a pair by itself."""
    own = ranking.test if ranking.test in PAIR_TESTS else "t"
    return _TESTS[own].removesuffix("s")


def test_note(ranking: SystemRanking) -> str:
    """How to read the letters after this test."""
    if ranking.test in PAIR_TESTS:
        return (
            "Systems without a common letter may still not differ: after a test of pairs "
            "the letters show only groups of neighbours in which no two systems do."
        )
    return "Systems that share no letter differ significantly."


class _Sentences:
    """Sentences on findings, each where there is something to say."""

    def __init__(self, findings: Findings) -> None:
        self.findings, self.first, self.names = findings, findings.first, findings.names
        self.systems, self.queries = len(findings.names), len(findings.runs.qids)
        self.winner, self.second = map(int, self.first.order[[0, min(1, self.systems - 1)]])
        # With a sign so that higher is better, shape (S, Q)
        self.gains = self.first.values * (-1 if self.first.higher_is_better is False else 1)
        self.divided = int(self.first.values.std(axis=0).argmax()) if self.queries else 0

    def best(self) -> Iterator[Sentence]:
        for ranking in self._by_asl_and_ap():
            values = [shown_value(ranking, ranking.means[of]) for of in ranking.order[:2]]
            name = Link(ranking.name, "leaderboard", {"measure": ranking.name})
            if self.systems == 1:
                yield [self.names[0], " has ", name, f" {values[0]}."]
                continue
            yield [
                "By ", name, f" the best of {self.systems} systems is ", self._system(ranking, 0),
                f" ({values[0]}), followed by ", self._system(ranking, 1), f" ({values[1]}).",
            ]  # fmt: skip

    def _by_asl_and_ap(self) -> list[SystemRanking]:
        """The deciding measure, then ASL and AP where they are shown."""
        shown = [each for each in self.findings.rankings if each.kind in ("ASL", "AP")]
        kinds = {each.kind: each for each in reversed(shown)}
        others = [one for kind, one in kinds.items() if kind != self.first.kind]
        return [self.first, *others][:3]

    def significance(self) -> Iterator[Sentence]:
        ranking, best, second = self.first, self.winner, self.second
        if self.queries < 2 or ranking.own_p is None or ranking.comparisons is None:
            return
        same = int((~ranking.differs[best]).sum()) - 1
        if same == 0:
            others = "is significantly better than every other system"
        elif same == self.systems - 1:
            others = "is not significantly better than any other system"
        else:
            others = (
                f"is significantly better than {counted(self.systems - 1 - same, 'system')}; "
                f"{same} {'is' if same == 1 else 'are'} not significantly different from it"
            )
        yield [
            self._system(ranking, 0), f" {others} (",
            Link(f"letter {ranking.letters[best].split('–')[0]}", "leaderboard"),
            f"; {test_name(ranking)}).",
        ]  # fmt: skip
        own = compare_pair(ranking.values[best], ranking.values[second], alpha=ranking.alpha)
        difference, low, high = (
            shown_value(ranking, of) for of in (own.difference, own.ci_low, own.ci_high)
        )
        at = _pair_index(best, second, self.systems)
        corrected = float(ranking.comparisons["p_corrected"].iloc[at])
        yield [
            self._pair(ranking, best, second), f": {self.names[best]} − {self.names[second]} = "
            f"{difference} [{low}, {high}] in {ranking.name}; {own_test_name(ranking)} of this "
            f"pair alone {p_value(float(ranking.own_p[at]))}, corrected {p_value(corrected)}.",
        ]  # fmt: skip

    def variances(self) -> Iterator[Sentence]:
        ratio = self.first.deviation_ratio
        if self.systems < 3 or ratio < _UNEQUAL:
            return
        factor = f"{ratio:.1f} times" if np.isfinite(ratio) else "infinitely"
        advice = (
            ", and this test takes one variance for all. Prefer the test t or tukey-randomized."
            if self.first.test in _POOLED else "; the test does not pool variances."
        )  # fmt: skip
        yield [f"Variances differ much: one system scatters {factor} as widely as another{advice}"]

    def cycles(self) -> Iterator[Sentence]:
        if self.findings.preferences is None or self.systems < 3:
            return
        triples = self.findings.preferences.circular_triples()
        if triples:
            yield [
                "Lexicographic preferences (sgnLP) have ", Link("cycles", "pair"), f": "
                f"{counted(triples, 'triple')} of systems prefer one another in turn, so no "
                "ranking agrees with all preferences.",
            ]  # fmt: skip

    def notable_queries(self) -> Iterator[Sentence]:
        if self.queries < 2:
            return
        hardest = self._query(int(np.median(self.gains, axis=0).argmin()))
        if self.systems == 1:
            yield ["The hardest query by ", self.first.name, " is ", hardest, "."]
            return
        more = self.gains[self.winner] - self.gains[self.second]
        yield [
            f"{self.names[self.winner]} is better than {self.names[self.second]} on "
            f"{counted(int((more > 0).sum()), 'query', 'queries')} and worse on "
            f"{int((more < 0).sum())}; the largest differences are on ",
            self._query(int(more.argmax())), " and ", self._query(int(more.argmin())), ".",
        ]  # fmt: skip
        if self.systems > 2:
            yield [
                "The hardest query for the median system is ", hardest,
                "; the systems differ most on ", self._query(self.divided), ".",
            ]  # fmt: skip

    def agreement(self) -> Iterator[Sentence]:
        kinds = [each.kind for each in self.findings.reordered]
        if self.systems < 3 or not {"AP", "ASL"} <= set(kinds):
            return
        at = kinds.index("AP"), kinds.index("ASL")
        ap, asl = (self.findings.reordered[one] for one in at)
        far = int(np.abs(ap.ranks - asl.ranks).argmax())
        yield [
            "The ", Link("rankings", "rankings"), f" by {ap.name} and {asl.name} agree with "
            f"Kendall's τ = {self.findings.taus[at]:.2f}; the largest move is that of "
            f"{self.names[far]}, from rank {ap.ranks[far]} to {asl.ranks[far]}.",
        ]  # fmt: skip

    def missing_share(self) -> Iterator[Sentence]:
        share = self.findings.quality["missing_share"]
        best = int(self.findings.asl.order[0])
        median = f", the median system {share.median():.0%}" if self.systems > 2 else ""
        yield [
            f"{self.names[best]} gets {share.iloc[best]:.0%} of its ASL@{self.findings.cutoff} "
            "from ",
            Link("relevant documents that it does not retrieve", "headroom"), f"{median}.",
        ]  # fmt: skip

    def depth(self) -> Iterator[Sentence]:
        depths, asl, common = self.findings.depths, self.findings.asl, self.findings.asl_common
        if self.systems < 2 or not depths.differ:
            return
        far, fallen = self._largest_fall(), ""
        if far is not None:
            fallen = (
                f": {self.names[far]} ({depths.retrieved[far]:,.0f} documents) has rank "
                f"{asl.ranks[far]} by {asl.name}, but {common.ranks[far]} by {common.name}, at the "
                f"depth that all systems reach"
            )
        yield [
            Link("Runs differ in depth", "leaderboard"),
            f": {depths.retrieved.min():,.0f} to {depths.retrieved.max():,.0f} documents per "
            f"query. {asl.name} counts a missed document as if it came after rank "
            f"{self.findings.cutoff}, so short runs lose{fallen}.",
        ]  # fmt: skip

    def _largest_fall(self) -> int | None:
        """The system that loses most ranks by being less deep than others."""
        retrieved, asl = self.findings.depths.retrieved, self.findings.asl
        shallow = retrieved < 0.9 * retrieved.max()
        falls = np.where(shallow, asl.ranks - self.findings.asl_common.ranks, 0)
        return int(falls.argmax()) if falls.max() > 0 else None

    def unjudged_share(self) -> Iterator[Sentence]:
        retrieved = self.findings.quality["unjudged_share"].to_numpy()
        every, tau = self.findings.depths.unjudged, self.findings.tau_judged_only
        if np.isnan(every).all():
            return
        said = "" if np.isnan(retrieved).all() else (
            f" ({np.nanmedian(retrieved):.0%} for those that it retrieves)"
        )  # fmt: skip
        if self.systems > 2 and np.isfinite(tau):
            said += f"; without unjudged documents the ranking by ASL agrees with τ = {tau:.2f}"
        yield [
            f"For {'the median system' if self.systems > 1 else self.names[0]}, "
            f"{np.nanmedian(every):.0%} of the irrelevant documents above its relevant ones are ",
            Link("unjudged", "reliability"), f"{said}.",
        ]  # fmt: skip

    def missed_by_all(self) -> Iterator[Sentence]:
        finders, k = self.findings.finders, self.findings.cutoff
        if not len(finders):
            return
        total, missed, one = len(finders), int((finders == 0).sum()), int((finders == 1).sum())
        share = f"{missed:,} of {total:,} relevant documents ({missed / total:.0%}) are "
        if self.systems == 1:
            yield [f"{share}not retrieved to depth {k}."]
        elif missed:
            by_query = self.findings.missed_by_all(k)
            yield [
                share, Link("missed by all systems", "queries"),
                f" to depth {k}, {by_query.max()} of them of ", self._query(int(by_query.argmax())),
                f"; {one:,} are found by only one system.",
            ]  # fmt: skip
        else:
            yield [
                f"No relevant document is missed by all systems: each of {total:,} is in the top "
                f"{k} of some system, {one:,} in that of only one."
            ]

    def suggestions(self) -> Iterator[Sentence]:
        """Three to five pairs and queries that the numbers point to."""
        makers = (self._two_best, self._other_best, self._short_run, self._weakness, self._missed)
        yield from islice((sentence for make in makers for sentence in make()), 5)

    def _two_best(self) -> Iterator[Sentence]:
        if self.systems > 1:
            yield [
                self._pair(self.first, self.winner, self.second),
                ": the two best systems, query by query and document by document.",
            ]  # fmt: skip

    def _other_best(self) -> Iterator[Sentence]:
        for other in self._by_asl_and_ap()[1:]:
            best = int(other.order[0])
            if best not in (self.winner, self.second):
                yield [
                    self._pair(other, self.winner, best),
                    f": best by {self.first.name} and best by {other.name}.",
                ]  # fmt: skip
                return

    def _short_run(self) -> Iterator[Sentence]:
        asl, common, far = self.findings.asl, self.findings.asl_common, self._largest_fall()
        if far is not None:
            yield [
                self._pair(asl, far, int(asl.order[0])),
                f": {self.names[far]} retrieves {self.findings.depths.retrieved[far]:,.0f} "
                f"documents per query and falls from rank {common.ranks[far]} by {common.name} to "
                f"{asl.ranks[far]} by {asl.name}.",
            ]  # fmt: skip

    def _weakness(self) -> Iterator[Sentence]:
        own = self.gains[self.winner]
        values = [shown_value(self.first, value) for value in self.first.values[self.winner]]
        if self.systems == 1:
            for query in own.argsort(kind="stable")[:2].tolist():
                yield [self._query(query), f": {self.first.name} of only {values[query]}."]
            return
        median = self.systems > 2
        gaps = own - (np.median(self.gains, axis=0) if median else self.gains.max(axis=0))
        query = int(gaps.argmin())
        if gaps[query] < 0:
            yield [
                self._query(query), f": {self.names[self.winner]} has {self.first.name} "
                f"{values[query]}, its largest loss against the {'median' if median else 'other'} "
                "system.",
            ]  # fmt: skip

    def _missed(self) -> Iterator[Sentence]:
        missed = self.findings.missed_by_all(self.findings.cutoff)
        query = int(missed.argmax())
        if missed[query]:
            by = "missed by all systems" if self.systems > 1 else "not retrieved"
            total = counted(int(self.findings.relevant.total[query]), "relevant document")
            yield [self._query(query), f": {missed[query]} of {total} {by}."]
        elif self.systems > 1 and self.queries > 1:
            yield [self._query(self.divided), ": the query on which the systems differ most."]

    def _system(self, ranking: SystemRanking, at: int) -> Link:
        """The system at a rank from 0, against the best other one."""
        system = self.names[ranking.order[at]]
        state = {"a": system, "b": self.names[ranking.order[0 if at else 1]]}
        return Link(system, "pair", state | {"measure": ranking.name})

    def _pair(self, ranking: SystemRanking, a: int, b: int) -> Link:
        state = {"a": self.names[a], "b": self.names[b], "measure": ranking.name}
        return Link(f"{self.names[a]} against {self.names[b]}", "pair", state)

    def _query(self, query: int) -> Link:
        qid = str(self.findings.runs.qids[query])
        return Link(f"query {qid}", "query", {"query": qid})


def _pair_index(a: int, b: int, systems: int) -> int:
    """The row of a pair among all pairs a < b."""
    a, b = min(a, b), max(a, b)
    return a * systems - a * (a + 1) // 2 + b - a - 1


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
