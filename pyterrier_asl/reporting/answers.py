"""The sentences of a report by one measure, with links as data: who is best, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isnan
from typing import Any

import numpy as np

from ..common.notices import counted
from ..common.types import Floats
from ..comparison.result import RunComparison
from ..leaderboard.numbers import Words, confidence, p_text, places_of_interval
from ..leaderboard.result import conditions, headlines, linked_headlines
from ..statistics.rounding import EQUAL
from ..statistics.settings import DRAWS
from .findings import Findings, SystemFindings, SystemRanking


@dataclass(frozen=True)
class Link:
    """Words of a sentence that lead to a section of the page, where ``state`` is selected."""

    text: str
    section: str
    state: dict[str, str]


class Sentence:
    """A sentence of words and links.

    >>> Sentence("See ", Link("a", "pair", {}), ".").text
    'See a.'
    """

    def __init__(self, *parts: str | Link) -> None:
        self.parts = [part for part in parts if part != ""]

    @property
    def text(self) -> str:
        """The words, those of links among them."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)


@dataclass(frozen=True)
class Answers:
    """The verdict on systems by a measure, and the answers to further questions.

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
    def behind(self) -> Floats:
        """How much better the best system is than each system by query, shape (S, Q).

        0 where the difference is rounding only.
        """
        gains = self.ranking.gains
        differences: Floats = gains[self.two[0]] - gains
        differences[np.abs(differences) <= EQUAL * np.abs(gains).max()] = 0
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
        order = self.ranking.order.tolist()
        return next((at for at in order if self.behind[at].any()), self.two[1])

    @cached_property
    def next_pair(self) -> tuple[int, str, float] | None:
        """The comparison to decide next: the best system with another that could be the best.

        Of the pairs that are not ordered the one with the least p. Returns the system, the p, and
        the number of queries that would order the pair if the differences stay the same. None
        without such a system.
        """
        board, best = self.ranking.board, self.two[0]
        worse = self.ranking.better[best]
        rivals = [at for at in self.ranking.candidates if self.behind[at].any() and not worse[at]]
        if board is None or not rivals:
            return None
        p, statistics = (self.ranking.by_system(of)[best] for of in (board.p, board.statistic))
        rival = min(rivals, key=lambda at: (p[at], -statistics[at]))
        ratio = board.critical[-1] / statistics[rival] if statistics[rival] > 0 else np.inf
        text = p_text(p[rival], board.draws, board.alpha)
        return rival, text, ratio**2 * len(self.findings.qids)

    def verdict(self) -> list[Sentence]:
        """Who is best."""
        f, (first, *rest) = self.findings, self._verdict()
        notes = (
            _with_link(f"Note: {note}.", "`holes`", "reliability", "unjudged documents")
            for note in f.notes
        )
        doubts = map(Sentence, [] if f.comparison else f.doubts)
        scoped = Sentence(f"{f.scope}: " if f.scope else "", *first.parts)
        return [*doubts, *self._over_all(), scoped, *rest, *notes]

    def answers(self) -> dict[str, list[Sentence]]:
        """The answers by question, without questions that have none."""
        answers = {
            "Does a judge favour a run?": self._favoured(),
            "Is it real?": self._is_real(),
            "Do other measures agree?": self._agree(),
            "Where?": self._where(),
            "Why?": self._why(),
            "What is missed?": self._missed(),
            "What next?": self._next(),
        }
        return {question: given for question, of in answers.items() if (given := list(of))}

    def pair(self, a: int, b: int, text: str = "") -> Link:
        """A link to the comparison of two systems."""
        names = self.findings.names
        state = {"a": names[a], "b": names[b], "measure": self.ranking.name}
        return Link(text or names[a], "pair", state)

    def system(self, at: int) -> Link:
        """A link to the comparison of a system with the best one."""
        best, second = self.two
        return self.pair(at, second if at == best else best)

    def query(self, at: Any) -> Link:
        """A link to a query."""
        qid = str(self.findings.qids[at])
        return Link(f"query {qid}", "query", {"query": qid})

    def _over_all(self) -> Iterator[Sentence]:
        """Which judge agrees best, and who could be the best, whichever is right."""
        board = self.findings.of_all
        if board is not None and self.ranking is self.findings.first:
            for track, judges in board.judge_summaries.items():
                for text in judges.best:
                    said = f"{track}: {text}" if track else text
                    yield _with_link(said, r"(?<=\s)agrees best(?=\s)", "collections")
            where = "Whichever judge is right" if board.means is None else "Over all collections"
            yield Sentence(Link(where, "collections", {}), f": {headlines(board)[0]}")

    def _verdict(self) -> Iterator[Sentence]:
        f, ranking, best = self.findings, self.ranking, self.two[0]
        name, systems, mean = ranking.name, len(f.names), shown_value(ranking, ranking.means[best])
        if systems == 1:
            yield Sentence(f"{f.names[0]}, the only system here, has {name} {mean}.")
        elif ranking.higher_is_better is None:
            yield Sentence(f"{name} has no direction, so no system is the best by it.")
        elif self.all_equal:
            are = "Both" if systems == 2 else f"All {systems}"
            yield Sentence(f"{are} systems have the same {name} on every query, {mean} on average.")
        elif f.comparison is not None:
            yield self._of_two(f.comparison)
        elif ranking.board is not None:
            for parts in linked_headlines(ranking.board):
                yield Sentence(*map(self._linked, parts))
        else:
            yield Sentence(
                f"{counted(len(f.qids), 'query is', 'queries are')} too few to say who could be "
                f"the best by {name}: at least 10 are needed."
            )
            yield Sentence(self.system(best), f" has the best mean {name}, {mean}.")

    def _linked(self, part: str | Words) -> str | Link:
        """A part of a headline, with a link to the best system or to the systems that count."""
        if isinstance(part, str):
            return part
        if part.what == "best":
            return self.system(self.two[0])
        return Link(part.text, "leaderboard", {"measure": self.ranking.name})

    def _of_two(self, compared: RunComparison) -> Sentence:
        """The comparison of two systems in a sentence."""
        name, run, baseline = self.ranking.name, self.pair(1, 0), self.pair(0, 1)
        if doubt := compared.doubts[compared.runs[0], name]:
            end = f" by {name} can be trusted: {doubt}."
            return Sentence("No comparison of ", run, " with ", baseline, end)
        row: Any = compared.table.set_index("measure").loc[name]
        p, alpha = row["p_corrected"], compared.options.alpha
        ends = [row["difference"], row["ci_low"], row["ci_high"]]
        pair: list[str | Link] = ["No significant difference of ", run, " from ", baseline]
        places = None
        if p <= alpha:
            word = "better" if self.ranking.sample.sign * row["difference"] > 0 else "worse"
            pair = [run, f" is significantly {word} than ", baseline]
            places = places_of_interval(ends, decimals(self.ranking))
        difference, low, high = (shown_value(self.ranking, end, "+", places) for end in ends)
        test = f"{confidence(alpha)} interval [{low}, {high}], {planned_p(p, alpha)}"
        return Sentence(
            *pair, f" by {name}: {difference}, {'no test can be made' if isnan(p) else test}."
        )

    def _favoured(self) -> Iterator[Sentence]:
        """The runs that judges favour, by the measure that decides."""
        if self.ranking is self.findings.first:
            for text in self.findings.favoured[1]:
                yield _with_link(text, r"(?<=\s)favours(?=\s)", "collections")

    def _is_real(self) -> Iterator[Sentence]:
        f, ranking, best = self.findings, self.ranking, self.two[0]
        if self.all_equal:
            return
        if (compared := f.comparison) is not None:
            row: Any = compared.table.set_index("measure").loc[ranking.name]
            if not isnan(row["p"]):
                holds = "excludes" if row["p"] <= compared.options.alpha else "contains"
                yield Sentence(
                    f"The {confidence(f.alpha)} interval of the difference {holds} 0. A is "
                    f"{compared.baseline}, B is {compared.runs[0]}."
                )
            yield from (Sentence(note) for note in compared.remarks())
        if ranking.board is not None:
            worse = int(ranking.better[best].sum()) or "none"
            yield Sentence(
                self.system(best),
                f" is significantly better than {worse} of the {len(f.names) - 1} other systems by "
                f"{ranking.name} (all pairs).",
            )
            yield from (Sentence(text) for text in conditions(ranking.board))

    def _agree(self) -> Iterator[Sentence]:
        """What other measures say of the pairs of systems."""
        f, ranking = self.findings, self.ranking
        if f.comparison is not None:
            yield from (Sentence(text) for text in f.comparison.sentences())
        if ranking.board is not None and len(f.decisive) > 1:
            conflicts = [(f.conflicts(ranking, other), other) for other in f.decisive]
            conflicts = sorted((c for c in conflicts if len(c[0])), key=lambda c: -len(c[0]))
            for pairs, other in conflicts:
                a, b = pairs[0].tolist()
                differ = counted(len(pairs), "pair of systems differs", "pairs of systems differ")
                yield Sentence(
                    f"By {other.name} {differ} significantly the other way, such as ",
                    self.pair(a, b, f"{f.names[a]} and {f.names[b]}"),
                    ".",
                )
            if not conflicts:
                yield Sentence(
                    "No pair of systems differs significantly the other way by another measure."
                )

    def _where(self) -> Iterator[Sentence]:
        f, ranking, best, rival = self.findings, self.ranking, self.two[0], self.rival
        if len(f.names) > 1 and len(f.qids) > 1 and not self.all_equal:
            gained = self.behind[rival]
            ends = ((gained.argmax(), 1), (gained.argmin(), -1))
            links = [self.query(at) for at, sign in ends if sign * gained[at] > 0]
            most: list[str | Link] = ["most on ", *links[:1]]
            most += [" and ", links[1]] if len(links) > 1 else []
            if np.ptp(gained) <= EQUAL * np.abs(gained).max():
                most = ["by the same difference on each"]
            why = "the candidate that is nearest to being significantly worse"
            why = f" (rank {ranking.ranks[rival]}, {why})" if self.next_pair else ""
            yield Sentence(
                self.pair(best, rival),
                f" is better than {f.names[rival]}{why} on "
                f"{counted(int((gained > 0).sum()), 'query', 'queries')} and worse on "
                f"{(gained < 0).sum()}, ",
                *most,
                ".",
            )
        if len(f.names) != 2 and ranking.medians.min() < ranking.medians.max():
            system = "the median system" if len(f.names) > 2 else f.names[0]
            hardest = self.query(ranking.hardest_first[0])
            yield Sentence(f"The hardest query for {system} is ", hardest, ".")
        if len(f.names) > 2 and not self.all_equal:
            yield Sentence("The systems differ most on ", self.query(ranking.spreads.argmax()), ".")

    def _why(self) -> Iterator[Sentence]:
        f, best = self.findings, self.two[0]
        if not isinstance(f, Findings) or not len(f.finders):
            return
        own, missing = f.names[best], f.quality["missing_share"].to_numpy()
        median = f", the median system {shown_share(float(np.median(missing)))}"
        yield Sentence(
            f"{own} gets {shown_share(missing[best])} of its ASL@{f.cutoff} from ",
            Link("relevant documents that it does not retrieve", "headroom", {}),
            f"{median if len(f.names) > 2 else ''}.",
        )
        if f.judged_irrelevant and not isnan(unjudged := f.quality["unjudged_share"].iloc[best]):
            yield Sentence(
                f"{shown_share(unjudged)} of the irrelevant documents that {own} ranks above "
                "relevant documents are ",
                Link("unjudged", "reliability", {}),
                ".",
            )

    def _missed(self) -> Iterator[Sentence]:
        f = self.findings
        if not isinstance(f, Findings):
            return
        total, missed = len(f.finders), f.missed_by_all(f.cutoff)
        lost = int(missed.sum())
        by = "missed by all systems" if len(f.names) > 1 else "not retrieved"
        query, documents = self.query(missed.argmax()), counted(total, "relevant document")
        if not total:
            yield Sentence(f"No document has a grade of {f.rel} or more: nothing can be missed.")
        elif lost:
            yield Sentence(
                f"{lost:,} of {documents} ({shown_share(lost / total)}) are ",
                Link(by, "queries", {}),
                f" to depth {f.cutoff}, {missed.max()} of them of ",
                query,
                ".",
            )
        else:
            yield Sentence(f"Nothing: none of {documents} is {by} to depth {f.cutoff}.")

    def _next(self) -> Iterator[Sentence]:
        f, best, rival = self.findings, self.two[0], self.rival
        pair = self.pair(best, rival, f"{f.names[best]} against {f.names[rival]}")
        if self.next_pair is not None:
            _, p, needed = self.next_pair
            more = (
                f"the difference would be significant with about {ceil(needed):,} queries in all, "
                "if the differences stay the same"
                if needed < 100 * len(f.qids)
                else "more than a hundred times as many queries would be needed"
            )
            yield Sentence("Test ", pair, f" on more queries ({p}): {more}.")
        elif len(f.names) > 1 and not self.all_equal:
            yield Sentence("Look at ", pair, " query by query.")


def _with_link(text: str, pattern: str, section: str, shown: str = "") -> Sentence:
    """A sentence whose first words of this pattern, if any, lead to a section, or others do."""
    before, *parts = re.split(f"({pattern})", text, maxsplit=1)
    links = [Link(shown or words, section, {}) for words in parts[:1]]
    return Sentence(before, *links, *parts[1:])


def planned_p(p: float, alpha: float) -> str:
    """The p-value of a planned comparison.

    >>> planned_p(0.0321, 0.05), planned_p(1e-9, 0.05)
    ('p = 0.0321', 'p < 0.0001')
    """
    return p_text(p if p >= 1 / DRAWS else 0.0, DRAWS, alpha)


def shown_share(share: float) -> str:
    """A share in percent; only nothing is 0%, and only all is 100%.

    >>> shown_share(0.5), shown_share(0.9993), shown_share(0.001), shown_share(1), shown_share(0)
    ('50%', '>99%', '<1%', '100%', '0%')
    """
    if isnan(share):
        return "–"
    text = f"{share:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(text, text) if 0 < share < 1 else text


def shown_value(
    ranking: SystemRanking, value: float, sign: str = "", places: int | None = None
) -> str:
    """A value with the decimals of its measure; a positive value has ``sign``."""
    text = f"{value:{sign}.{decimals(ranking) if places is None else places}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("+-")


def decimals(ranking: SystemRanking) -> int:
    """Decimals of a measure's values: one for search lengths, four for shares."""
    return 1 if float(np.abs(ranking.means).max(initial=0)) >= 10 else 4
