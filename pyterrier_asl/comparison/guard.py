"""Verdicts of a guard of a search engine: which conditions on two runs hold.

The grammar of conditions is in :mod:`~pyterrier_asl.comparison.conditions`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from ..io.notices import counted
from ..scoring.arrays import Floats
from ..statistics.boxes import box_test
from ..statistics.inputs import DRAWS
from ..statistics.pairwise import non_inferiority
from ..statistics.rounding import NO_DIFFERENCE
from .conditions import Condition
from .inputs import Limits


@dataclass(frozen=True)
class Observed:
    """The values of a measure, or a preference, for a run and the baseline.

    Attributes:
        mean_a: the baseline's mean; NaN for a preference, which only has a difference.
        difference: the run's mean less the baseline's.
        higher_is_better: the direction of the measure; None of a count.
        p: corrected; of a condition with ``possibly`` one-sided, else two-sided; NaN where no test
            can be made.
        by_query: the run's value less the baseline's for each query, shape (Q,).
        extremes: the lowest and the highest value that the measure can have, or the preference.
        unanswered: the number of queries that neither run answers.
    """

    mean_a: float
    difference: float
    higher_is_better: bool | None
    p: float
    by_query: Floats = field(default_factory=lambda: np.empty(0))
    extremes: tuple[float, float] = (-math.inf, math.inf)
    unanswered: int = 0

    @property
    def base(self) -> float:
        """The size of the baseline's mean; 0 for a preference."""
        return 0.0 if math.isnan(self.mean_a) else abs(self.mean_a)

    @property
    def is_equal(self) -> bool:
        """Whether the runs have equal values in every query."""
        return bool(len(self.by_query)) and not self.by_query.any()

    @property
    def gains(self) -> Floats:
        """The gain of the run by query: its difference, positive where it is better."""
        return -self.by_query if self.higher_is_better is False else self.by_query

    def greatest(self, condition: Condition) -> float:
        """The greatest difference of a condition's kind that the baseline's mean allows."""
        mean = 0.0 if math.isnan(self.mean_a) else self.mean_a
        low, high = self.extremes
        sizes = {True: high - mean, False: mean - low}
        ups = [up for up in sizes if condition.asks_for(up, not up, self.higher_is_better)]
        return max(sizes[up] for up in ups)


class Outcome(Enum):
    """The outcome of a guard, whose value is its exit status."""

    PASS = 0
    FAIL = 1
    ERROR = 2


@dataclass(frozen=True)
class Verdict:
    """The outcome of a condition for a run.

    Attributes:
        run: the run.
        condition: the condition as it was written, or another check.
        outcome: PASS where the condition does not hold, FAIL where it holds, ERROR where it
            cannot be tested.
        message: the reason, with its numbers.
        numbers: the numbers by name, machine-readable.
    """

    run: str
    condition: str
    outcome: Outcome
    message: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.line()

    def line(self, *, name_run: bool = False) -> str:
        """The verdict in a line, with the name of the run where there are several."""
        run = f"run {self.run}: " if name_run else ""
        return f"{self.outcome.name}: {self.condition} [{run}{self.message}]"


def holds(condition: Condition, observed: Observed) -> bool:
    """Whether a condition holds; without a p-value only one with ``possibly`` can.

    >>> from .conditions import parse_condition
    >>> observed = Observed(mean_a=0.5, difference=-0.02, higher_is_better=True, p=0.01)
    >>> [holds(parse_condition(f"AP {rest}"), observed)
    ...  for rest in ("worse", "worse by 4% p<.05", "worse by .03", "worse p<.01", "better")]
    [True, True, False, False, False]
    """
    if condition.possibly:
        return not observed.p < (condition.level or 0)
    size, base = abs(observed.difference), observed.base
    rounding = NO_DIFFERENCE * max(base, size)
    if size <= NO_DIFFERENCE * base or size == 0 or size < condition.least(base) - rounding:
        return False
    if condition.level is not None and not observed.p < condition.level:
        return False
    up = observed.difference > 0
    return condition.asks_for(up, not up, observed.higher_is_better)


def holds_certainly(
    condition: Condition, limits: Limits, higher_is_better: bool | None, *, family: int = 1
) -> bool:
    """Whether a condition without ``possibly`` holds under every labelling.

    Args:
        condition: the condition.
        limits: the bounds of the difference.
        higher_is_better: the direction of the measure.
        family: over how many runs p-values are corrected; by Bonferroni here, which is never more
            lenient than Holm.

    >>> from .conditions import parse_condition
    >>> limits = Limits(np.array([-0.3, -0.2]), np.array([-0.1, 0.0]), 0.5)
    >>> [holds_certainly(parse_condition(f"AP {how} certainly"), limits, True)
    ...  for how in ("worse", "worse by .05", "worse by .06", "better")]
    [True, True, False, False]
    >>> other = Limits(-limits.high, -limits.low, 0.5)
    >>> [holds_certainly(parse_condition(f"AP {how} certainly"), other, True)
    ...  for how in ("better by .05", "better by .06")]
    [True, False]
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
        condition: the condition.
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


def uncorrected_p(condition: Condition, observed: Observed) -> float:
    """The p-value of a condition before the correction, one-sided with ``possibly``."""
    if condition.possibly:
        return non_inferiority(observed.gains, condition.least(observed.base)).p
    return observed.p


def verdict_on(
    condition: Condition,
    run: str,
    observed: Observed,
    *,
    family: int,
    correction: str,
    limits: Limits | None,
    untestable: str = "",
) -> Verdict:
    """The outcome of a condition, with its reason.

    Args:
        condition: the condition.
        run: the run.
        observed: the values of its measure.
        family: over how many p-values ``observed.p`` was corrected.
        correction: the name of the correction.
        limits: the bounds of the difference, where the condition must hold certainly.
        untestable: the reason why the condition cannot be tested, '' where it can.
    """
    family = 1 if correction == "none" else family
    change = f"{observed.difference + 0:+.4g} from A to B"
    if observed.base:
        change += f" ({100 * observed.difference / observed.base + 0:+.2f} %)"
    parts, queries = [change], len(observed.by_query)
    numbers = {"difference": observed.difference, "p": observed.p, "queries": queries}
    if queries:
        neither = f" ({observed.unanswered:,} of them answered by neither run)"
        neither *= observed.unanswered > 0
        parts.append(f"over {counted(queries, 'query', 'queries')}{neither}")
    if condition.amount:
        numbers["amount"] = condition.least(observed.base)
    if untestable:
        message = ", ".join([*parts, untestable])
        return Verdict(run, condition.text, Outcome.ERROR, message, numbers)
    outcome = Outcome.FAIL if holds(condition, observed) else Outcome.PASS
    if condition.level is not None:
        how = f" by {correction} over {family} runs" if family > 1 else ""
        one_sided = "one-sided " * condition.possibly
        value = f"= {observed.p:.4g}" if observed.p else f"< {family / DRAWS:g}"
        p = f"{one_sided}p {value}{how}"
        if observed.is_equal:
            p = "equal values in every query, so there is no difference to test"
        if condition.possibly:
            parts += _rejection(condition, observed, p, condition.level / family, numbers)
        else:
            parts.append(p)
    if limits:
        outcome, more = _certain_outcome(condition, outcome, limits, observed, family)
        parts += more
    return Verdict(run, condition.text, outcome, ", ".join(parts), numbers)


def _rejection(
    condition: Condition, observed: Observed, p: str, level: float, numbers: dict[str, float]
) -> list[str]:
    """Whether the loss of a condition with ``possibly`` is rejected, and the power of that."""
    margin = condition.least(observed.base)
    rejected = "not rejected" if holds(condition, observed) else "rejected"
    test = non_inferiority(observed.gains, margin, alpha=level)
    numbers["power"] = test.power
    parts = [f"a loss of {margin:.4g} or more is {rejected}", p]
    if not math.isnan(test.power):
        parts.append(f"where B truly equals A it is rejected with probability {test.power:.2g}")
    return parts


def _certain_outcome(
    condition: Condition, outcome: Outcome, limits: Limits, observed: Observed, family: int
) -> tuple[Outcome, list[str]]:
    """The outcome of a condition with ``certainly``, and its reason."""
    unless_certain = Outcome.FAIL if condition.possibly else Outcome.PASS
    if outcome is unless_certain:
        return outcome, []
    is_certain = rejected_certainly if condition.possibly else holds_certainly
    if is_certain(condition, limits, observed.higher_is_better, family=family):
        return outcome, ["under all labels of the unjudged documents"]
    return unless_certain, ["which the unjudged documents could change: possible, not certain"]


def outcome_of(verdicts: Iterable[Verdict]) -> Outcome:
    """The outcome of a guard: ERROR if a condition cannot be tested, else FAIL if one holds."""
    outcomes = (verdict.outcome for verdict in verdicts)
    return max(outcomes, default=Outcome.PASS, key=lambda outcome: outcome.value)
