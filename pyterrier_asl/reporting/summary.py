"""The summary of a report: answers to the questions of its reader, with links into the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import numpy as np

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
    makers: dict[str, list[Callable[[Findings], Iterator[Sentence]]]] = {
        "Who wins?": [_best],
        "Is it real?": [_significance, _variances, _cycles],
        "Where?": [_queries, _agreement],
        "Why?": [_missing_share, _depth, _unjudged],
        "What is missed?": [_missed_by_all],
        "What to look at next": [_suggestions],
    }
    answers = [
        Answer(question, [sentence for make in of for sentence in make(findings)])
        for question, of in makers.items()
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


def _best(findings: Findings) -> Iterator[Sentence]:
    systems = len(findings.names)
    for ranking in _by_asl_and_ap(findings):
        best = int(ranking.order[0])
        value = number(ranking, ranking.means[best])
        name = _measure_link(ranking)
        if systems == 1:
            yield [findings.names[0], " has ", name, f" {value}."]
            continue
        second = int(ranking.order[1])
        yield [
            "By ", name, f" the best of {systems} systems is ", _system_link(findings, ranking, 0),
            f" ({value}), followed by ", _system_link(findings, ranking, 1),
            f" ({number(ranking, ranking.means[second])}).",
        ]  # fmt: skip


def _by_asl_and_ap(findings: Findings) -> list[SystemRanking]:
    """The deciding measure, then ASL and AP where they are shown."""
    shown = [each for each in findings.rankings if each.kind in ("ASL", "AP")]
    kinds = {each.kind: each for each in reversed(shown)}
    first = findings.first
    return [first, *(one for kind, one in kinds.items() if kind != first.kind)][:3]


def _significance(findings: Findings) -> Iterator[Sentence]:
    systems = len(findings.names)
    ranking = findings.first
    if systems < 2 or len(findings.runs.qids) < 2:
        return
    if ranking.own_p is None or ranking.comparisons is None:
        return
    best, second = ranking.order[:2].tolist()
    same = int((~ranking.differs[best]).sum()) - 1
    names = findings.names
    if same == 0:
        others = "is significantly better than every other system"
    elif same == systems - 1:
        others = "is not significantly better than any other system"
    else:
        others = f"is significantly better than {_plural(systems - 1 - same, 'system')}; {same} "
        others += f"{'is' if same == 1 else 'are'} not significantly different from it"
    yield [
        _system_link(findings, ranking, 0), f" {others} (",
        Link(f"letter {ranking.letters[best].split('–')[0]}", "leaderboard"),
        f"; {test_name(ranking)}).",
    ]  # fmt: skip
    own = compare_pair(ranking.values[best], ranking.values[second], alpha=ranking.alpha)
    at = _pair_index(best, second, systems)
    corrected = float(ranking.comparisons["p_corrected"].iloc[at])
    yield [
        _pair_link(findings, ranking, best, second), f": {names[best]} − {names[second]} = "
        f"{number(ranking, own.difference)} [{number(ranking, own.ci_low)}, "
        f"{number(ranking, own.ci_high)}] in {ranking.name}; {own_test_name(ranking)} of this pair "
        f"alone {p_value(float(ranking.own_p[at]))}, corrected {p_value(corrected)}.",
    ]  # fmt: skip


def _variances(findings: Findings) -> Iterator[Sentence]:
    ranking = findings.first
    if len(findings.names) < 3 or ranking.deviation_ratio < _UNEQUAL:
        return
    ratio = ranking.deviation_ratio
    factor = f"{ratio:.1f} times" if np.isfinite(ratio) else "infinitely"
    text = f"Variances differ much: one system scatters {factor} as widely as another"
    if ranking.test in _POOLED:
        yield [f"{text}, and this test takes one variance for all. Prefer the test t or "
               f"tukey-randomized."]  # fmt: skip
    else:
        yield [f"{text}; the test does not pool variances."]


def _cycles(findings: Findings) -> Iterator[Sentence]:
    if findings.preferences is None or len(findings.names) < 3:
        return
    matrix = findings.preferences.matrix
    triples = matrix.circular_triples()
    if triples:
        yield [
            "Lexicographic preferences (sgnLP) have ", Link("cycles", "pair"), f": "
            f"{_plural(triples, 'triple')} of systems prefer one another in turn, so no ranking "
            f"agrees with all preferences.",
        ]  # fmt: skip


def _queries(findings: Findings) -> Iterator[Sentence]:
    ranking, qids = findings.first, findings.runs.qids
    if len(qids) < 2:
        return
    values = ranking.values if ranking.higher_is_better is not False else -ranking.values
    hardest = int(np.median(values, axis=0).argmin())
    if len(findings.names) == 1:
        yield ["The hardest query by ", ranking.name, " is ", _query_link(findings, hardest), "."]
        return
    divided = int(ranking.values.std(axis=0).argmax())
    best, second = ranking.order[:2].tolist()
    gains = values[best] - values[second]
    names = findings.names
    wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
    yield [
        f"{names[best]} is better than {names[second]} on {_plural(wins, 'query')} and worse on "
        f"{losses}; the largest differences are on ", _query_link(findings, int(gains.argmax())),
        " and ", _query_link(findings, int(gains.argmin())), ".",
    ]  # fmt: skip
    if len(names) > 2:
        yield [
            "The hardest query for the median system is ", _query_link(findings, hardest),
            "; the systems differ most on ", _query_link(findings, divided), ".",
        ]  # fmt: skip


def _agreement(findings: Findings) -> Iterator[Sentence]:
    kinds = [each.kind for each in findings.reordered]
    if len(findings.names) < 3 or not {"AP", "ASL"} <= set(kinds):
        return
    at = kinds.index("AP"), kinds.index("ASL")
    ap, asl = (findings.reordered[one] for one in at)
    far = int(np.abs(ap.ranks - asl.ranks).argmax())
    yield [
        "The ", Link("rankings", "rankings"), f" by {ap.name} and {asl.name} agree with Kendall's "
        f"τ = {findings.taus[at]:.2f}; the largest move is that of {findings.names[far]}, from "
        f"rank {ap.ranks[far]} to {asl.ranks[far]}.",
    ]  # fmt: skip


def _missing_share(findings: Findings) -> Iterator[Sentence]:
    share = findings.quality["missing_share"]
    best = int(findings.asl.order[0])
    name = f"ASL@{findings.cutoff}"
    said: Sentence = [f"{findings.names[best]} gets {share.iloc[best]:.0%} of its {name} from "]
    said += [Link("relevant documents that it does not retrieve", "headroom")]
    if len(findings.names) > 2:
        said += [f", the median system {share.median():.0%}"]
    yield [*said, "."]


def _depth(findings: Findings) -> Iterator[Sentence]:
    depths, k = findings.depths, findings.cutoff
    if len(findings.names) < 2 or not depths.differ:
        return
    few, many = float(depths.retrieved.min()), float(depths.retrieved.max())
    asl, common = findings.asl, findings.asl_common
    said: Sentence = [
        Link("Runs differ in depth", "leaderboard"), f": {few:,.0f} to {many:,.0f} documents per "
        f"query. {asl.name} counts a missed document as if it came after rank {k}, so short runs "
        f"lose"
    ]  # fmt: skip
    far = _largest_fall(findings)
    if far is not None:
        said.append(
            f": {findings.names[far]} ({depths.retrieved[far]:,.0f} documents) has rank "
            f"{asl.ranks[far]} by {asl.name}, but {common.ranks[far]} by {common.name}, at the "
            f"depth that all systems reach"
        )
    yield [*said, "."]


def _largest_fall(findings: Findings) -> int | None:
    """The system that loses most ranks by being less deep than others."""
    depths = findings.depths
    shallow = depths.retrieved < 0.9 * depths.retrieved.max()
    falls = np.where(shallow, findings.asl.ranks - findings.asl_common.ranks, 0)
    return int(falls.argmax()) if falls.max() > 0 else None


def _unjudged(findings: Findings) -> Iterator[Sentence]:
    retrieved, every = findings.quality["unjudged_share"].to_numpy(), findings.depths.unjudged
    if np.isnan(every).all():
        return
    several = len(findings.names) > 1
    subject = "For the median system" if several else f"For {findings.names[0]}"
    said: Sentence = [f"{subject}, {np.nanmedian(every):.0%} of the irrelevant documents above its "
                      "relevant ones are ", Link("unjudged", "reliability")]  # fmt: skip
    if not np.isnan(retrieved).all():
        said.append(f" ({np.nanmedian(retrieved):.0%} for those that it retrieves)")
    tau = findings.tau_judged_only
    if len(findings.names) > 2 and np.isfinite(tau):
        said.append(f"; without unjudged documents the ranking by ASL agrees with τ = {tau:.2f}")
    yield [*said, "."]


def _missed_by_all(findings: Findings) -> Iterator[Sentence]:
    total, k = len(findings.finders), findings.cutoff
    if not total:
        return
    missed, one = (int((findings.finders == number).sum()) for number in (0, 1))
    if len(findings.names) == 1:
        yield [f"{missed:,} of {total:,} relevant documents ({missed / total:.0%}) are not "
               f"retrieved to depth {k}."]  # fmt: skip
    elif missed:
        worst = int(findings.missed_by_all(k).argmax())
        yield [
            f"{missed:,} of {total:,} relevant documents ({missed / total:.0%}) are ",
            Link("missed by all systems", "queries"), f" to depth {k}, "
            f"{findings.missed_by_all(k)[worst]} of them of ", _query_link(findings, worst),
            f"; {one:,} are found by only one system.",
        ]  # fmt: skip
    else:
        yield [
            f"No relevant document is missed by all systems: each of {total:,} is in the top {k} "
            f"of some system, {one:,} in that of only one."
        ]


def _suggestions(findings: Findings) -> Iterator[Sentence]:
    """Three to five pairs and queries that the numbers point to."""
    makers = (_next_pair, _next_other_measure, _next_short_run, _next_weakness, _next_missed)
    found = [sentence for make in makers for sentence in make(findings)]
    yield from found[:5]


def _next_pair(findings: Findings) -> Iterator[Sentence]:
    ranking = findings.first
    if len(findings.names) > 1:
        best, second = ranking.order[:2].tolist()
        yield [
            _pair_link(findings, ranking, best, second),
            ": the two best systems, query by query and document by document.",
        ]  # fmt: skip


def _next_other_measure(findings: Findings) -> Iterator[Sentence]:
    ranking = findings.first
    for other in _by_asl_and_ap(findings)[1:]:
        a, b = int(ranking.order[0]), int(other.order[0])
        if b not in ranking.order[:2]:
            yield [
                _pair_link(findings, other, a, b),
                f": best by {ranking.name} and best by {other.name}.",
            ]  # fmt: skip
            return


def _next_short_run(findings: Findings) -> Iterator[Sentence]:
    depths, asl, common = findings.depths, findings.asl, findings.asl_common
    far = _largest_fall(findings)
    if far is not None:
        yield [
            _pair_link(findings, asl, far, int(asl.order[0])),
            f": {findings.names[far]} retrieves {depths.retrieved[far]:,.0f} documents per query "
            f"and falls from rank {common.ranks[far]} by {common.name} to {asl.ranks[far]} by "
            f"{asl.name}.",
        ]  # fmt: skip


def _next_weakness(findings: Findings) -> Iterator[Sentence]:
    ranking = findings.first
    values = ranking.values if ranking.higher_is_better is not False else -ranking.values
    best = int(ranking.order[0])
    if len(findings.names) == 1:
        for query in values[0].argsort(kind="stable")[:2].tolist():
            value = number(ranking, ranking.values[0, query])
            yield [_query_link(findings, query), f": {ranking.name} of only {value}."]
        return
    gaps = values[best] - (np.median(values, axis=0) if len(values) > 2 else values.max(axis=0))
    query = int(gaps.argmin())
    if gaps[query] < 0:
        other = "the median system" if len(values) > 2 else "the other system"
        yield [
            _query_link(findings, query), f": {findings.names[best]} has {ranking.name} "
            f"{number(ranking, ranking.values[best, query])}, its largest loss against {other}.",
        ]  # fmt: skip


def _next_missed(findings: Findings) -> Iterator[Sentence]:
    missed = findings.missed_by_all(findings.cutoff)
    query = int(missed.argmax())
    if missed[query]:
        by = "missed by all systems" if len(findings.names) > 1 else "not retrieved"
        total = findings.relevant.total[query]
        yield [
            _query_link(findings, query),
            f": {missed[query]} of {_plural(int(total), 'relevant document')} {by}.",
        ]  # fmt: skip
    elif len(findings.names) > 1 and len(findings.runs.qids) > 1:
        divided = int(findings.first.values.std(axis=0).argmax())
        yield [_query_link(findings, divided), ": the query on which the systems differ most."]


def _measure_link(ranking: SystemRanking) -> Link:
    return Link(ranking.name, "leaderboard", {"measure": ranking.name})


def _system_link(findings: Findings, ranking: SystemRanking, at: int) -> Link:
    """The system at a place of a ranking, against the best other one."""
    system, best = int(ranking.order[at]), int(ranking.order[0 if at else 1])
    state = {"a": findings.names[system], "b": findings.names[best], "measure": ranking.name}
    return Link(findings.names[system], "pair", state)


def _pair_link(findings: Findings, ranking: SystemRanking, a: int, b: int) -> Link:
    names = findings.names
    state = {"a": names[a], "b": names[b], "measure": ranking.name}
    return Link(f"{names[a]} against {names[b]}", "pair", state)


def _query_link(findings: Findings, query: int) -> Link:
    qid = str(findings.runs.qids[query])
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


def number(ranking: SystemRanking, value: float) -> str:
    """A value with the decimals that its measure needs."""
    return f"{value:.{decimals(ranking)}f}".replace("-", "−")


def decimals(ranking: SystemRanking) -> int:
    """Decimals of a measure's values: one for search lengths, four for shares."""
    return 1 if float(np.abs(ranking.means).max(initial=0)) >= 10 else 4


def _plural(count: int, word: str) -> str:
    many = word.removesuffix("y") + "ies" if word.endswith("y") else word + "s"
    return f"{count:,} {word if count == 1 else many}"
