"""Conditions on two runs, such as ``nASL@1000 worse p<.05``: what a guard of a search engine asks.

A condition is ``MEASURE HOW [by AMOUNT[%]] [p<LEVEL] [certainly]``; HOW is one of :data:`HOW`. It
speaks of the second run beside the first, the baseline; ``certainly``: whatever the unjudged
documents are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..evaluation.bounds import labelled_measures
from ..evaluation.judged_runs import JudgedRuns
from ..evaluation.labellings import Labelled
from ..io.tables import counted
from ..scoring.arrays import Floats
from ..statistics.boxes import box_test

#: What can be asked: better and worse know the direction of the measure, the others do not.
HOW = ("better", "worse", "lower", "higher", "different")

GRAMMAR = "MEASURE better|worse|lower|higher|different [by AMOUNT or AMOUNT%] [p<LEVEL] [certainly]"

_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_CONDITION = re.compile(
    rf"(?P<measure>\S.*?)\s+(?P<how>{'|'.join(HOW)})"
    rf"(?:\s+by\s+(?P<amount>{_NUMBER})\s*(?P<percent>%)?)?"
    rf"(?:\s+p\s*<\s*(?P<level>{_NUMBER}))?"
    r"(?P<certainly>\s+certainly)?"
)

#: Rounding errors: differences below this share of the values are none.
NOTHING = 1e-12


@dataclass(frozen=True)
class Condition:
    """What is asked of two runs.

    Attributes:
        text: as it was written.
        measure: the measure's name.
        how: one of :data:`HOW`.
        amount: how far they must lie apart, at least; 0: at all.
        percent: whether ``amount`` is a percentage of the first run's value.
        level: p must be below it; None: whatever p is.
        certainly: whether it must hold whatever the unjudged documents are.
    """

    text: str
    measure: str
    how: str
    amount: float = 0.0
    percent: bool = False
    level: float | None = None
    certainly: bool = False

    def least(self, value: float) -> float:
        """The least difference that is asked for where the first run has this value."""
        return self.amount * value / 100 if self.percent else self.amount

    def asks_for(self, up: bool, down: bool, higher_is_better: bool | None) -> bool:
        """Whether it asks for what a difference is: up, down, or neither."""
        better, worse = (down, up) if higher_is_better is False else (up, down)
        return {
            "higher": up,
            "lower": down,
            "different": up or down,
            "better": better,
            "worse": worse,
        }[self.how]


@dataclass(frozen=True)
class Observed:
    """How a measure, or a preference, came out for a run and the baseline.

    Attributes:
        mean_a: the baseline's mean; NaN for a preference, which only has a difference.
        difference: the run's mean less the baseline's.
        higher_is_better: None where neither is better.
        p: two-sided; NaN where no test can be made.
        detectable: the smallest difference that a test over these queries would probably find.
    """

    mean_a: float
    difference: float
    higher_is_better: bool | None
    p: float
    detectable: float = math.nan


class Outcome(Enum):
    """How a guard comes out, with the exit status that says so."""

    PASS = 0
    FAIL = 1
    ERROR = 2


@dataclass(frozen=True)
class Verdict:
    """How a condition came out for a run.

    Attributes:
        run: the run.
        condition: the condition as it was written, or what else was checked.
        outcome: PASS where the condition does not hold, FAIL where it holds, ERROR where it
            cannot be tested.
        message: the numbers that say so.
        numbers: the same, by name, for programs.
    """

    run: str
    condition: str
    outcome: Outcome
    message: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.outcome.name}: {self.condition} [{self.message}]"


def parse_condition(text: str) -> Condition:
    """Reads a condition.

    Raises:
        ValueError: for what is none, with the grammar.

    >>> parse_condition("nASL@1000 worse by 2% p<.05")
    ... # doctest: +NORMALIZE_WHITESPACE
    Condition(text='nASL@1000 worse by 2% p<.05', measure='nASL@1000', how='worse', amount=2.0,
              percent=True, level=0.05, certainly=False)
    """
    found = _CONDITION.fullmatch(text.strip())
    if found is None:
        raise ValueError(
            f"the condition {text!r} cannot be understood: write {GRAMMAR}, "
            "such as 'nASL@1000 worse p<.05'"
        )
    level = None if found["level"] is None else float(found["level"])
    if level is not None and not 0 < level <= 1:
        raise ValueError(
            f"the condition {text!r}: p is a probability, so LEVEL lies between 0 and 1"
        )
    amount = float(found["amount"] or 0)
    if math.isinf(amount):
        raise ValueError(f"the condition {text!r} can never hold: {found['amount']} is infinite")
    return Condition(
        text.strip(),
        found["measure"],
        found["how"],
        amount,
        bool(found["percent"]),
        level,
        bool(found["certainly"]),
    )


def check_condition(
    condition: Condition, higher_is_better: bool | None, *, is_preference: bool, test: str = "t"
) -> None:
    """Whether a condition can be asked of a measure, and by a test.

    Raises:
        ValueError: for better or worse where neither is, and percentages of what has no means, an
            amount that no preference can reach, or a test that has no bounds.
    """
    wrong = ""
    if higher_is_better is None and condition.how in ("better", "worse"):
        wrong = (
            "only counts, more of it is neither better nor worse; write higher, lower or different"
        )
    elif is_preference and condition.percent:
        wrong = (
            "is a difference between runs and has no value to take a percentage of; leave out the %"
        )
    elif is_preference and condition.certainly:
        wrong = "has no bounds over unjudged documents; leave out certainly"
    elif is_preference and condition.amount > 1:
        wrong = (
            "lies between -1 and 1, so the condition can never hold; write an amount of 1 or less"
        )
    if wrong:
        raise ValueError(f"the condition {condition.text!r}: {condition.measure} {wrong}")
    if condition.certainly and condition.level is not None and test != "t":
        raise ValueError(f"the condition {condition.text!r}: p<LEVEL certainly needs test='t'")


def holds(condition: Condition, found: Observed) -> bool:
    """Whether a condition holds; one that asks for a p-value does not where there is none.

    >>> found = Observed(mean_a=0.5, difference=-0.02, higher_is_better=True, p=0.01)
    >>> [holds(parse_condition(f"AP {rest}"), found)
    ...  for rest in ("worse", "worse by 4% p<.05", "worse by .03", "worse p<.01", "better")]
    [True, True, False, False, False]
    """
    size = abs(found.difference)
    base = 0.0 if math.isnan(found.mean_a) else abs(found.mean_a)
    rounding = NOTHING * max(base, size)
    if size <= NOTHING * base or size == 0 or size < condition.least(base) - rounding:
        return False
    if condition.level is not None and not found.p < condition.level:
        return False
    up = found.difference > 0
    return condition.asks_for(up, not up, found.higher_is_better)


@dataclass(frozen=True)
class Limits:
    """What a run's difference from the baseline can be, whatever the unjudged documents are.

    Attributes:
        low: the least difference of each query, run less baseline, shape (Q,).
        high: the greatest, shape (Q,).
        most: the greatest size that the baseline's mean can have.
    """

    low: Floats
    high: Floats
    most: float

    @property
    def means(self) -> tuple[float, float]:
        """The bounds of the mean difference."""
        return float(self.low.mean()), float(self.high.mean())


def limits_of(judged: JudgedRuns, baseline: str, run: str, measure: Any) -> Limits:
    """The bounds of a difference, over the unjudged documents that either run shows.

    Raises:
        ValueError: for a measure that has no bounds.
    """
    labelled: Labelled = labelled_measures(judged.select([baseline, run]), {"": measure})[""]
    low, high = labelled.difference(1, 0)
    return Limits(low, high, max(abs(float(bound.mean())) for bound in labelled.bounds(0)))


def holds_certainly(
    condition: Condition, limits: Limits, higher_is_better: bool | None, *, family: int = 1
) -> bool:
    """Whether a condition holds under every labelling.

    Args:
        condition: what is asked.
        limits: the bounds of the difference.
        higher_is_better: the direction of the measure.
        family: over how many conditions p-values are corrected; by Bonferroni here, which is never
            more lenient than Holm.

    >>> import numpy as np
    >>> limits = Limits(np.array([-0.3, -0.2]), np.array([-0.1, 0.0]), 0.5)
    >>> [holds_certainly(parse_condition(f"AP {how} certainly"), limits, True)
    ...  for how in ("worse", "worse by .04", "worse by .06", "better")]
    [True, True, False, False]
    """
    least, (low, high) = max(condition.least(limits.most), NOTHING), limits.means
    up, down = low >= least, high <= -least
    if condition.level is not None:
        test = box_test(limits.low, limits.high, condition.level / family)
        up, down = up and test.sign > 0, down and test.sign < 0
    return condition.asks_for(up, down, higher_is_better)


def verdict_on(
    condition: Condition,
    run: str,
    found: Observed,
    *,
    family: int,
    correction: str | None,
    limits: Limits | None,
) -> Verdict:
    """How a condition came out, and by which numbers.

    Args:
        condition: what was asked.
        run: the run that it was asked of.
        found: what came out.
        family: over how many p-values ``found.p`` was corrected.
        correction: by what; None: by nothing.
        limits: the bounds of the difference, where the condition must hold certainly.
    """
    numbers = {"difference": found.difference, "p": found.p, "detectable": found.detectable}
    parts = [f"{found.difference + 0:+.4g} from A to B"]
    if found.mean_a and not math.isnan(found.mean_a):
        parts[0] += f" ({100 * found.difference / abs(found.mean_a) + 0:+.2f} %)"
    if condition.level is not None and math.isnan(found.p):
        parts.append(
            "no test can be made: there is only one query; compare on several queries, or leave "
            "out p<"
        )
        return Verdict(run, condition.text, Outcome.ERROR, ", ".join(parts), numbers)
    outcome = Outcome.FAIL if holds(condition, found) else Outcome.PASS
    if condition.level is not None:
        how = f" by {correction} over {family} conditions" if correction and family > 1 else ""
        parts.append(f"p = {found.p:.4g}{how}")
        if not math.isnan(found.detectable):
            parts.append(
                f"a t-test over these queries finds a difference of {found.detectable:.3g} with "
                "probability .8"
            )
    if limits and outcome is Outcome.FAIL:
        family = family if correction else 1
        if holds_certainly(condition, limits, found.higher_is_better, family=family):
            parts.append("whatever the unjudged documents are")
        else:
            outcome = Outcome.PASS
            parts.append("which the unjudged documents could change: possible, not certain")
    return Verdict(run, condition.text, outcome, ", ".join(parts), numbers)


def outcome_of(verdicts: Iterable[Verdict]) -> Outcome:
    """The outcome of a guard: ERROR if a condition cannot be tested, else FAIL if one holds."""
    return max((one.outcome for one in verdicts), default=Outcome.PASS, key=lambda one: one.value)


def unanswered_verdicts(unanswered: Mapping[str, Sequence[str]], baseline: str) -> list[Verdict]:
    """A FAIL for each run that leaves queries unanswered which the baseline answered."""
    return [
        Verdict(
            run,
            "every query that A answers is answered",
            Outcome.FAIL,
            f"{counted(len(qids), 'query', 'queries')} that {baseline} answers unanswered, "
            f"e.g. {qids[0]!r}; --allow-missing lets that pass",
            {"unanswered": len(qids)},
        )
        for run, qids in unanswered.items()
        if qids
    ]
