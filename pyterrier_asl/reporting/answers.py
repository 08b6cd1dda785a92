"""The sentences of a report by one measure: who is best, is it real, what is missed, and what
unjudged documents could change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Any

from ..common.notices import counted
from ..comparison.result import RunComparison
from ..leaderboard.numbers import confidence, p_text, places_of_interval
from ..leaderboard.result import headlines, remarks
from ..statistics.settings import DRAWS
from ..unjudged.pairs import OPEN
from .findings import Findings, SystemRanking


@dataclass(frozen=True)
class Answers:
    """The verdict on systems by a measure, and the answers to further questions.

    Attributes:
        findings: the findings of the page.
        ranking: the systems by the measure.
    """

    findings: Findings
    ranking: SystemRanking

    @property
    def best(self) -> str:
        """The system with the best mean."""
        return self.ranking.names[int(self.ranking.order[0])]

    def verdict(self) -> list[str]:
        """Who is best."""
        f, (first, *rest) = self.findings, self._verdict()
        doubts = [] if f.comparison else f.doubts
        return [*doubts, *self._over_all(), f"{f.scope}: {first}" if f.scope else first, *rest]

    def answers(self) -> dict[str, list[str]]:
        """The answers by question, without questions that have none."""
        missed = "by all" if len(self.findings.names) > 1 else "here"
        answers = {
            "Is it real?": self._is_real(),
            f"What is missed {missed}?": self._missed(),
            "What could unjudged documents change?": self._unjudged(),
        }
        return {question: texts for question, of in answers.items() if (texts := [*of])}

    def _over_all(self) -> Iterator[str]:
        """Which judge agrees best, and who could be the best by :attr:`.Findings.of_all`."""
        board = self.findings.of_all
        if board is not None and self.ranking is self.findings.first:
            for track, judges in board.judge_summaries.items():
                yield from (f"{track}: {text}" if track else text for text in judges.best)
            yield f"{self.findings.of_all_scope}: {headlines(board)[0]}"

    def _verdict(self) -> Iterator[str]:
        f, ranking = self.findings, self.ranking
        name, systems = ranking.name, len(f.names)
        mean = ranking.shown(ranking.means[ranking.order[0]])
        if systems == 1:
            yield f"{self.best}, the only system here, has {name} {mean}."
        elif ranking.higher_is_better is None:
            yield f"{name} has no direction, so no system is the best by it."
        elif ranking.are_equal:
            are = "Both" if systems == 2 else f"All {systems}"
            yield f"{are} systems have the same {name} on every query, {mean} on average."
        elif f.comparison is not None:
            yield self._of_two(f.comparison)
        elif ranking.board is not None:
            yield from headlines(ranking.board)
        else:
            yield (
                f"{counted(len(f.qids), 'query is', 'queries are')} too few to say who could be "
                f"the best by {name}: at least 10 are needed."
            )
            yield f"{self.best} has the best mean {name}, {mean}."

    def _of_two(self, compared: RunComparison) -> str:
        """The comparison of two systems in a sentence."""
        name, run, baseline = self.ranking.name, compared.runs[0], compared.baseline
        if doubt := compared.doubts[run, name]:
            return f"No comparison of {run} with {baseline} by {name} can be trusted: {doubt}."
        row: Any = compared.table.set_index("measure").loc[name]
        p, alpha = row["p_corrected"], compared.options.alpha
        ends = [row["difference"], row["ci_low"], row["ci_high"]]
        pair, places = f"No significant difference of {run} from {baseline}", None
        if p <= alpha:
            word = "better" if self.ranking.sample.sign * ends[0] > 0 else "worse"
            pair = f"{run} is significantly {word} than {baseline}"
            places = places_of_interval(ends, self.ranking.decimals)
        difference, low, high = (self.ranking.shown(end, "+", places) for end in ends)
        test = f"{confidence(alpha)} interval [{low}, {high}], {p_text(p, DRAWS, alpha)}"
        return f"{pair} by {name}: {difference}, {'no test can be made' if isnan(p) else test}."

    def _is_real(self) -> Iterator[str]:
        f, ranking = self.findings, self.ranking
        if ranking.are_equal:
            return
        if f.comparison is not None:
            yield from f.comparison.sentences()
            yield from f.comparison.remarks()
        if ranking.board is not None:
            yield (
                f"{self.best} is significantly better than "
                f"{int(ranking.better[ranking.order[0]].sum()) or 'none'} of the "
                f"{len(f.names) - 1} other systems by {ranking.name} (all pairs)."
            )
            yield from self._conflicts()
            yield from remarks(ranking.board)

    def _conflicts(self) -> Iterator[str]:
        """Other measures that order pairs of systems significantly the other way."""
        f = self.findings
        conflicts = [(f.conflicts(self.ranking, other), other.name) for other in f.decisive]
        for pairs, name in sorted(conflicts, key=lambda conflict: -len(conflict[0])):
            if len(pairs):
                differ = counted(len(pairs), "pair of systems differs", "pairs of systems differ")
                a, b = (f.names[system] for system in pairs[0])
                yield f"By {name} {differ} significantly the other way, such as {a} and {b}."
        if len(f.decisive) > 1 and not any(len(pairs) for pairs, _ in conflicts):
            yield "No pair of systems differs significantly the other way by another measure."

    def _missed(self) -> Iterator[str]:
        f = self.findings
        total, missed = len(f.finders), f.missed_by_all(f.cutoff)
        lost, documents = int(missed.sum()), counted(total, "relevant document")
        by = "missed by all systems" if len(f.names) > 1 else "not retrieved"
        if not total:
            yield f"No document has a grade of {f.rel} or more: nothing can be missed."
        elif lost:
            yield (
                f"{lost:,} of {documents} ({shown_share(lost / total)}) are {by} to depth "
                f"{f.cutoff}, {missed.max()} of them of query {f.qids[missed.argmax()]}."
            )
        else:
            yield f"Nothing: none of {documents} is {by} to depth {f.cutoff}."

    def _unjudged(self) -> Iterator[str]:
        """The bounds of the differences of the best systems."""
        f = self.findings
        pairs = [pair.difference for pair in f.bounds.get(self.ranking.name, {}).values()]
        if not pairs or not f.judged_irrelevant:
            return
        if not any(pair.by_query["unjudged"].any() for pair in pairs):
            yield f"Nothing: all documents are judged down to the cut-off of {pairs[0].measure}."
            return
        turned = sum(pair.verdict == OPEN for pair in pairs)
        which = f"{turned or 'any'} of {len(pairs)} differences"
        between = f" between the best systems by {f.first.name}" if len(f.names) > 2 else ""
        yield (
            f"{'Some' if turned else 'No'} labels of them would reverse "
            f"{which if len(pairs) > 1 else 'the difference'} in {pairs[0].measure}{between}."
        )
        yield from (f"{pair.describe()}." for pair in pairs)


def shown_share(share: float) -> str:
    """A share in percent; only nothing is 0%, and only all is 100%.

    >>> shown_share(0.5), shown_share(0.9993), shown_share(0.001), shown_share(1), shown_share(0)
    ('50%', '>99%', '<1%', '100%', '0%')
    """
    if isnan(share):
        return "–"
    text = f"{share:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(text, text) if 0 < share < 1 else text
