"""The verdicts of a guard of a search engine: whether conditions on two runs hold.

How conditions are written is in :mod:`~pyterrier_asl.comparison.conditions`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from ..evaluation.bounds import labelled_measures
from ..evaluation.judged_runs import JudgedRuns
from ..evaluation.labellings import Labelled
from ..io.tables import counted
from ..scoring.arrays import Floats
from ..statistics.boxes import box_test
from ..statistics.intervals import detectable_difference
from ..statistics.noninferiority import non_inferiority
from ..statistics.rounding import NO_DIFFERENCE
from .conditions import Condition


@dataclass(frozen=True)
class Observed:
    """How a measure, or a preference, came out for a run and the baseline.

    Attributes:
        mean_a: the baseline's mean; NaN for a preference, which only has a difference.
        difference: the run's mean less the baseline's.
        higher_is_better: None where neither is better.
        p: corrected; of a condition with ``possibly`` one-sided, else two-sided; NaN where no test
            can be made.
        by_query: the run's value less the baseline's for each query, shape (Q,).
    """

    mean_a: float
    difference: float
    higher_is_better: bool | None
    p: float
    by_query: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def base(self) -> float:
        """The size of the baseline's mean; 0 for a preference."""
        return 0.0 if math.isnan(self.mean_a) else abs(self.mean_a)

    @property
    def gains(self) -> Floats:
        """By how much the run is better, for each query."""
        return -self.by_query if self.higher_is_better is False else self.by_query


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
        note: what a PASS does not say, '' for nothing.
    """

    run: str
    condition: str
    outcome: Outcome
    message: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    def __str__(self) -> str:
        return self.line()

    def line(self, *, name_run: bool = False) -> str:
        """The verdict in a line, with the name of the run where there are several."""
        run = f"run {self.run}: " if name_run else ""
        return f"{self.outcome.name}: {self.condition} [{run}{self.message}]"


def holds(condition: Condition, found: Observed) -> bool:
    """Whether a condition holds; one that asks for a p-value does not where there is none, unless
    it has ``possibly``.

    >>> from .conditions import parse_condition
    >>> found = Observed(mean_a=0.5, difference=-0.02, higher_is_better=True, p=0.01)
    >>> [holds(parse_condition(f"AP {rest}"), found)
    ...  for rest in ("worse", "worse by 4% p<.05", "worse by .03", "worse p<.01", "better")]
    [True, True, False, False, False]
    """
    if condition.possibly:
        return not found.p < (condition.level or 0)
    size, base = abs(found.difference), found.base
    rounding = NO_DIFFERENCE * max(base, size)
    if size <= NO_DIFFERENCE * base or size == 0 or size < condition.least(base) - rounding:
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
        least: the least size.
    """

    low: Floats
    high: Floats
    most: float
    least: float = 0.0

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
    least, most = sorted(abs(float(bound.mean())) for bound in labelled.bounds(0))
    return Limits(low, high, most, least)


def holds_certainly(
    condition: Condition, limits: Limits, higher_is_better: bool | None, *, family: int = 1
) -> bool:
    """Whether a condition without ``possibly`` holds under every labelling.

    Args:
        condition: what is asked.
        limits: the bounds of the difference.
        higher_is_better: the direction of the measure.
        family: over how many conditions p-values are corrected; by Bonferroni here, which is never
            more lenient than Holm.

    >>> from .conditions import parse_condition
    >>> limits = Limits(np.array([-0.3, -0.2]), np.array([-0.1, 0.0]), 0.5)
    >>> [holds_certainly(parse_condition(f"AP {how} certainly"), limits, True)
    ...  for how in ("worse", "worse by .04", "worse by .06", "better")]
    [True, True, False, False]
    """
    least, (low, high) = max(condition.least(limits.most), NO_DIFFERENCE), limits.means
    up, down = low >= least, high <= -least
    if condition.level is not None:
        test = box_test(limits.low, limits.high, condition.level / family)
        up, down = up and test.sign > 0, down and test.sign < 0
    return condition.asks_for(up, down, higher_is_better)


def rejected_certainly(
    condition: Condition, limits: Limits, higher_is_better: bool | None, *, family: int = 1
) -> bool:
    """Whether the loss of a condition with ``possibly`` is rejected under every labelling.

    Args:
        condition: what is asked.
        limits: the bounds of the difference.
        higher_is_better: the direction of the measure.
        family: see :func:`holds_certainly`.

    >>> from .conditions import parse_condition
    >>> limits = Limits(np.array([-0.01, -0.01, 0.0]), np.array([0.0, 0.01, 0.0]), 0.5)
    >>> [rejected_certainly(parse_condition(f"AP possibly worse by {by} p<.05"), limits, True)
    ...  for by in (".01", ".02")]
    [False, True]
    """
    low, high = limits.low, limits.high
    if higher_is_better is False:
        low, high = -high, -low
    margin, level = condition.least(limits.least), (condition.level or 0) / family
    return box_test(low + margin, high + margin, 2 * level).sign > 0


def verdict_on(
    condition: Condition,
    run: str,
    found: Observed,
    *,
    family: int,
    correction: str | None,
    limits: Limits | None,
    untestable: str = "",
) -> Verdict:
    """How a condition came out, and by which numbers.

    Args:
        condition: what was asked.
        run: the run that it was asked of.
        found: what came out.
        family: over how many p-values ``found.p`` was corrected.
        correction: by what; None: by nothing.
        limits: the bounds of the difference, where the condition must hold certainly.
        untestable: why the condition cannot be tested, '' where it can.
    """
    family = family if correction and family > 1 else 1
    change = f"{found.difference + 0:+.4g} from A to B"
    if found.base:
        change += f" ({100 * found.difference / found.base + 0:+.2f} %)"
    parts, numbers, note = [change], {"difference": found.difference, "p": found.p}, ""
    if condition.amount:
        numbers["amount"] = condition.least(found.base)
    numbers["detectable"] = math.nan
    if condition.level is not None and math.isnan(found.p) and not untestable:
        untestable = (
            "no test can be made: there is only one query; compare on several queries, or leave "
            "out p<"
        )
    if condition.possibly and not condition.least(found.base):
        untestable = untestable or "no test can be made: the amount is a percentage of 0"
    if untestable:
        message = f"{change}, {untestable}"
        return Verdict(run, condition.text, Outcome.ERROR, message, numbers)
    outcome = Outcome.FAIL if holds(condition, found) else Outcome.PASS
    if condition.level is not None:
        how = f" by {correction} over {family} conditions" if family > 1 else ""
        p = f"p = {found.p:.4g}{how}"
        if condition.possibly:
            parts += _rejection(condition, found, p, condition.level / family, numbers)
        else:
            power = _power(found, condition.level / family, family, numbers)
            parts += [p, *power]
            note = _little_power(condition, numbers) if outcome is Outcome.PASS else ""
    if limits:
        outcome, more = _certain_outcome(condition, outcome, limits, found, family)
        parts += more
    return Verdict(run, condition.text, outcome, ", ".join(parts), numbers, note)


def _power(found: Observed, level: float, family: int, numbers: dict[str, float]) -> list[str]:
    """What a test at the corrected level could find, and that as ``detectable`` among the numbers.

    Nothing is said of a level of 1, which is no test.
    """
    if len(found.by_query) and not found.by_query.any():
        return ["no test can be made: B has the value of A in every query"]
    if len(found.by_query) < 2 or level >= 1:
        return []
    numbers["detectable"] = detectable_difference(found.by_query, alpha=level)
    if math.isnan(numbers["detectable"]):
        return ["the difference is the same in every query"]
    return [
        f"a t-test over these queries finds a difference of {numbers['detectable']:.3g} with "
        "probability .8" + (f" at p<{level:.3g}" if family > 1 else "")
    ]


def _little_power(condition: Condition, numbers: Mapping[str, float]) -> str:
    """That a condition could not have found the difference that it asks about; '' if it could."""
    asked, detectable = numbers.get("amount", 0.0), numbers["detectable"]
    if not 0 < asked < detectable:
        return ""
    instead = ""
    if condition.how == "worse" and condition.measure != "sgnLP":
        other = condition.text.replace(" worse", " possibly worse", 1)
        instead = f"; '{other}' asks for proof that there is no such loss"
    return (
        f"'{condition.text}' could not have found the difference of {asked:.3g} that it asks "
        f"about: over these queries a t-test finds {detectable:.3g} with probability .8, and less "
        f"more rarely{instead}"
    )


def _rejection(
    condition: Condition, found: Observed, p: str, level: float, numbers: dict[str, float]
) -> list[str]:
    """Whether the loss that a condition with ``possibly`` names is rejected, and how likely."""
    margin = condition.least(found.base)
    rejected = "not rejected" if holds(condition, found) else "rejected"
    test = non_inferiority(found.gains, margin, alpha=level)
    numbers["power"] = test.power
    parts = [f"a loss of {margin:.4g} or more is {rejected}", f"one-sided {p}"]
    if not math.isnan(test.power):
        parts.append(f"where B truly equals A it is rejected with probability {test.power:.2g}")
    return parts


def _certain_outcome(
    condition: Condition, outcome: Outcome, limits: Limits, found: Observed, family: int
) -> tuple[Outcome, list[str]]:
    """The outcome of a condition that must be certain, and what to say of it."""
    direction, certain = found.higher_is_better, ["whatever the unjudged documents are"]
    open_ = ["which the unjudged documents could change: possible, not certain"]
    if condition.possibly:
        if outcome is Outcome.FAIL:
            return outcome, []
        is_rejected = rejected_certainly(condition, limits, direction, family=family)
        return (outcome, certain) if is_rejected else (Outcome.FAIL, open_)
    if outcome is Outcome.PASS:
        return outcome, []
    is_certain = holds_certainly(condition, limits, direction, family=family)
    return (outcome, certain) if is_certain else (Outcome.PASS, open_)


def outcome_of(verdicts: Iterable[Verdict]) -> Outcome:
    """The outcome of a guard: ERROR if a condition cannot be tested, else FAIL if one holds."""
    outcomes = (verdict.outcome for verdict in verdicts)
    return max(outcomes, default=Outcome.PASS, key=lambda outcome: outcome.value)


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
