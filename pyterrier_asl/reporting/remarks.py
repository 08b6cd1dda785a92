"""What a report says in words: sentences made from its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..statistics import PAIR_TESTS
from .gather import Findings
from .standings import Standing

#: What the tests are called in a sentence.
_TESTS = {
    "t": "paired t-tests",
    "wilcoxon": "Wilcoxon's signed-rank tests",
    "sign": "sign tests",
    "randomization": "randomization tests",
    "unpaired-t": "unpaired t-tests",
    "tukey": "Tukey's HSD",
    "tukey-two-way": "Tukey's HSD with topics as blocks",
    "tukey-randomized": "Tukey's HSD by randomization",
}
_CORRECTIONS = {"holm": "Holm's correction", "bonferroni": "Bonferroni's correction",
                "bh": "Benjamini and Hochberg's correction"}  # fmt: skip


def remarks(findings: Findings) -> list[str]:
    """The report in a few sentences, what matters most first."""
    makers: list[Callable[[Findings], Iterator[str]]] = [
        _best, _missing, _nobody, _topics, _orders, _circles, _unjudged,
    ]  # fmt: skip
    return [sentence for make in makers for sentence in make(findings)]


def test_name(standing: Standing) -> str:
    """The test behind the groups, as one says it.

    Holm's correction is named where a test of pairs was corrected.
    """
    name = _TESTS[standing.test]
    frame = standing.comparisons
    method = None if frame is None else frame.attrs["correction"]
    corrected = f" with {_CORRECTIONS[method]}" if method else ""
    return f"{name}{corrected} at {standing.alpha:g}"


def test_note(standing: Standing) -> str:
    """What to keep in mind about the test."""
    if standing.test in PAIR_TESTS:
        return (
            "Systems of no common letter may still not differ: after a test of pairs "
            "the letters show only stretches in which no two systems do."
        )
    return "Systems that share no letter differ significantly."


def _best(findings: Findings) -> Iterator[str]:
    if len(findings.names) < 2:
        return
    named = [each for each in findings.reordered if each.asked.measure.NAME in ("ASL", "AP")]
    for standing in named or findings.standings[:1]:
        best = int(standing.order[0])
        same = int((~standing.differs[best]).sum()) - 1
        yield (
            f"By {standing.name} the best of {len(findings.names)} systems is "
            f"{findings.names[best]} ({number(standing, standing.means[best])}); "
            + _told_apart(same, len(findings.names))
        )


def _told_apart(same: int, systems: int) -> str:
    if same == 0:
        return "it is significantly better than every other."
    if same == systems - 1:
        return "it is not significantly better than any other."
    return f"{same} {_plural(same, 'other')} cannot be told from it."


def _missing(findings: Findings) -> Iterator[str]:
    share = findings.quality["missing_share"]
    best = int(findings.asl.order[0])
    own = float(share.iloc[best])
    subject = "The median system gets" if len(findings.names) > 2 else "The best system gets"
    typical = float(share.median()) if len(findings.names) > 2 else own
    yield (
        f"{subject} {typical:.0%} of its ASL@{findings.cutoff} from relevant documents that it "
        f"does not retrieve"
        + (
            f", the best by ASL, {findings.names[best]}, {own:.0%}."
            if len(findings.names) > 2
            else "."
        )
    )


def _nobody(findings: Findings) -> Iterator[str]:
    total, k = len(findings.finders), findings.cutoff
    none = int(findings.found_by_none.sum())
    one = int((findings.finders == 1).sum())
    if not total or len(findings.names) < 2:
        return
    if none:
        yield (
            f"{none:,} of {total:,} relevant documents ({none / total:.0%}) are in no system's "
            f"first {k}, and {one:,} in only one's."
        )
    else:
        yield (
            f"No relevant document is missed by all: each of {total:,} is in some system's first "
            f"{k}, {one:,} in only one's."
        )


def _topics(findings: Findings) -> Iterator[str]:
    standing = findings.asl
    if len(findings.names) < 3 or len(findings.runs.qids) < 2:
        return
    hardest = int(np.median(standing.values, axis=0).argmax())
    divided = int(standing.values.std(axis=0).argmax())
    qids = findings.runs.qids
    other = "also" if hardest == divided else f"topic {qids[divided]}"
    yield (
        f"By {standing.name} topic {qids[hardest]} is the hardest for the median system and "
        f"{other} divides the systems most."
    )


def _orders(findings: Findings) -> Iterator[str]:
    named = {each.asked.measure.NAME: each for each in findings.reordered}
    if len(findings.names) < 3 or not {"AP", "ASL"} <= named.keys():
        return
    ap, asl = named["AP"], named["ASL"]
    kinds = [each.asked.measure.NAME for each in findings.reordered]
    tau = findings.taus[kinds.index("AP"), kinds.index("ASL")]
    moves = ap.places - asl.places
    far = int(np.abs(moves).argmax())
    yield (
        f"{ap.name} and {asl.name} order the systems with Kendall's τ = {tau:.2f}; the farthest "
        f"to move is {findings.names[far]}, from place {ap.places[far]} to {asl.places[far]}."
    )


def _circles(findings: Findings) -> Iterator[str]:
    if findings.duels is None or len(findings.names) < 3:
        return
    cycles = findings.duels.matrix.cycles()
    if not cycles:
        yield "Preferences by lexicographic precision (sgnLP) are transitive: they make one order."
        return
    triples = findings.duels.matrix.circular_triples()
    yield (
        f"Preferences by lexicographic precision (sgnLP) run in circles: "
        f"{triples:,} {_plural(triples, 'triple')} of systems "
        f"prefer one another in turn, so no order does them justice."
    )


def _unjudged(findings: Findings) -> Iterator[str]:
    share = findings.quality["unjudged_share"].median()
    if np.isnan(share):
        return
    tau = findings.tau_judged_only
    order = (
        f" Without the unjudged documents the order by ASL changes with τ = {tau:.2f}."
        if len(findings.names) > 2 and np.isfinite(tau)
        else ""
    )
    yield (
        f"For the median system, {share:.0%} of the irrelevant documents above its relevant ones "
        f"were never judged.{order}"
    )


def number(standing: Standing, value: float) -> str:
    """A value with the places that its measure needs."""
    return f"{value:.{places(standing)}f}"


def places(standing: Standing) -> int:
    """Decimal places for a measure's values: one for search lengths, four for shares."""
    return 1 if float(np.abs(standing.means).max(initial=0)) >= 10 else 4


def _plural(number: int, word: str) -> str:
    return word if number == 1 else f"{word}s"
