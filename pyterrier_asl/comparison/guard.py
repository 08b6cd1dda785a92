"""Verdicts of a guard of a search engine: which conditions on two runs hold.

The grammar of conditions is in :mod:`~pyterrier_asl.comparison.conditions`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from ..common.notices import counted, names_of
from ..common.types import Floats
from ..evaluation.labellings import labelled_measures
from ..statistics.boxes import box_test
from ..statistics.groups import FEWEST_IN_GROUP
from ..statistics.pairwise import non_inferiority
from ..statistics.rounding import NO_DIFFERENCE
from .conditions import Condition
from .differences import Inputs, RunDifference, with_p
from .sentences import correction_over, planned_p


@dataclass(frozen=True)
class Limits:
    """Bounds of a run's difference from the baseline over the labels of unjudged documents.

    Attributes:
        low: the least difference of each query, run less baseline, shape (Q,).
        high: the greatest, shape (Q,).
        most: the greatest absolute value of the baseline's mean.
        least: the least.
    """

    low: Floats
    high: Floats
    most: float
    least: float = 0.0


def limits_of(inputs: Inputs, run: str, name: str) -> Limits:
    """The bounds of a run's difference from the baseline.

    Raises:
        ValueError: for a measure that has no bounds.
    """
    judged: Any = inputs.judged
    measures = judged.with_pool({name: inputs.measures[name]})
    labelled = labelled_measures(judged.select([inputs.names[0], run]), measures)[name]
    least, most = sorted(abs(float(bound.mean())) for bound in labelled.sides[0].bounds)
    return Limits(*labelled.difference(1, 0), most, least)


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
        cases: of a condition in any group the verdict on each group, whose name is its ``run``.
    """

    run: str
    condition: str
    outcome: Outcome
    message: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    cases: Sequence[Verdict] = ()

    def __str__(self) -> str:
        return self.line()

    def line(self, *, name_run: bool = False) -> str:
        """The verdict in a line, with the name of the run where there are several."""
        run = f"run {self.run}: " if name_run else ""
        return f"{self.outcome.name}: {self.condition} [{run}{self.message}]"


def holds(condition: Condition, difference: RunDifference) -> bool:
    """Whether a condition holds; without a p-value only one with ``possibly`` can.

    >>> import numpy as np
    >>> from .conditions import parse_condition
    >>> worse = np.array([0.5]), np.array([0.48]), np.array([-0.02])
    >>> found = RunDifference("new", "AP", True, *worse, ["q"], p_corrected=0.01)
    >>> [holds(parse_condition(f"AP {rest}"), found) for rest in ("worse", "worse by 4% p<.05",
    ...  "worse by .03", "worse p<.01", "better", "below .48", "below .481")]
    [True, True, False, False, False, False, True]
    """
    if condition.is_floor:
        gap = difference.mean_b - condition.amount
        is_equal = abs(gap) <= NO_DIFFERENCE * max(1.0, abs(condition.amount))
        return not is_equal and (gap < 0) == (condition.how == "below")
    if condition.possibly:
        return not difference.p_corrected < (condition.level or 0)
    up, p = difference.higher_is_better, difference.p_corrected
    return differs(condition, difference.mean, difference.base, p, up)


def differs(
    condition: Condition, mean: float, base: float, p: float, higher_is_better: bool | None
) -> bool:
    """Whether a condition of a difference holds for a mean, the baseline's size and a p-value."""
    size = abs(mean)
    rounding = NO_DIFFERENCE * max(base, size)
    if size <= NO_DIFFERENCE * base or size == 0 or size < condition.least(base) - rounding:
        return False
    if condition.level is not None and not p < condition.level:
        return False
    return condition.asks_for(mean > 0, mean <= 0, higher_is_better)


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

    >>> import numpy as np
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
    least = max(condition.least(limits.most), NO_DIFFERENCE)
    up, down = bool(limits.low.mean() >= least), bool(limits.high.mean() <= -least)
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

    >>> import numpy as np
    >>> from .conditions import parse_condition
    >>> limits = Limits(np.array([-0.01, -0.01, 0.0]), np.array([0.0, 0.01, 0.0]), 0.5)
    >>> [rejected_certainly(parse_condition(f"AP possibly worse by {by} p<.05"), limits, True)
    ...  for by in (".01", ".02")]
    [False, True]
    """
    low, high = (
        (-limits.high, -limits.low) if higher_is_better is False else (limits.low, limits.high)
    )
    margin, level = condition.least(limits.least), (condition.level or 0) / family
    return box_test(low + margin, high + margin, 2 * level).sign > 0


def for_condition(
    condition: Condition, differences: Sequence[RunDifference]
) -> list[RunDifference]:
    """The differences of all runs with the p-value of a condition: one-sided with ``possibly``."""
    if not condition.possibly:
        return list(differences)
    return with_p(
        differences, [non_inferiority(of.gain, condition.least(of.base)).p for of in differences]
    )


def verdict_on(
    condition: Condition,
    difference: RunDifference,
    *,
    limits: Limits | None = None,
    untestable: str = "",
    neither: int = 0,
) -> Verdict:
    """The outcome of a condition, with its reason.

    Args:
        condition: the condition.
        difference: the difference of the run, with the p-value of the condition.
        limits: the bounds of the difference, where the condition must hold certainly.
        untestable: the reason why the condition cannot be tested, '' where it can.
        neither: the number of queries that neither run answers.
    """
    correction = difference.options.correction
    family = 1 if correction == "none" else difference.family
    queries = len(difference.qids)
    numbers = {"difference": difference.mean, "p": difference.p_corrected, "queries": queries}
    change = f"{difference.mean + 0:+.4g} from A to B"
    if condition.is_floor:
        change, numbers = f"mean {difference.mean_b:.4g}", {"mean": difference.mean_b, **numbers}
    elif difference.base:
        change += f" ({100 * difference.mean / difference.base + 0:+.2f} %)"
    unanswered = f" ({neither:,} of them answered by neither run)" * bool(neither)
    parts = [change, f"over {counted(queries, 'query', 'queries')}{unanswered}"]
    if condition.amount:
        numbers["amount"] = condition.least(difference.base)
    if untestable:
        return Verdict(
            difference.run, condition.text, Outcome.ERROR, ", ".join([*parts, untestable]), numbers
        )
    outcome = Outcome.FAIL if holds(condition, difference) else Outcome.PASS
    if condition.level is not None:
        text = (
            "one-sided " * condition.possibly
            + planned_p(difference.p_corrected, condition.level, family)
            + f", {correction_over(correction, family)}" * (family > 1)
        )
        if difference.is_equal:
            text = "equal values in every query, so there is no difference to test"
        if condition.possibly:
            parts += _rejection(condition, difference, text, condition.level / family, numbers)
        else:
            parts.append(text)
    unless_certain = Outcome.FAIL if condition.possibly else Outcome.PASS
    if limits and outcome is not unless_certain:
        is_certain = rejected_certainly if condition.possibly else holds_certainly
        if is_certain(condition, limits, difference.higher_is_better, family=family):
            parts.append("under all labels of the unjudged documents")
        else:
            outcome = unless_certain
            parts.append("which the unjudged documents could change: possible, not certain")
    return Verdict(difference.run, condition.text, outcome, ", ".join(parts), numbers)


def group_verdict(condition: Condition, difference: RunDifference, untestable: str = "") -> Verdict:
    """The outcome of a condition that holds if it does in any group, with one for each group.

    Args:
        condition: the condition.
        difference: the difference of the run.
        untestable: the reason why the condition cannot be tested, '' where it can.
    """
    run, level, rows = difference.run, condition.level, difference.by_group
    largest = max(row["queries"] for row in rows)
    if level is not None and not untestable:
        if largest < FEWEST_IN_GROUP:
            untestable = f"no test can be made: no group has {FEWEST_IN_GROUP} queries or more"
        elif (least := 2.0 ** (1 - largest)) >= level:
            untestable = (
                f"no test can be made: p cannot be below {least:.3g} in any group; raise the level"
            )
    if untestable:
        return Verdict(run, condition.text, Outcome.ERROR, untestable)
    cases = []
    for row in rows:
        mean, p, group = row["difference"], row["p"], row["group"]
        base = float(np.nan_to_num(np.abs(difference.a[difference.is_in(group)].mean())))
        parts = [f"{mean + 0:+.4g} from A to B", counted(row["queries"], "query", "queries")]
        if level is not None:
            parts.append("too few for a test" if math.isnan(p) else planned_p(p, level))
        fails = differs(condition, mean, base, p, difference.higher_is_better)
        outcome = Outcome.FAIL if fails else Outcome.PASS
        cases.append(Verdict(group, condition.text, outcome, ", ".join(parts)))
    failing = [f"{case.run}: {case.message}" for case in cases if case.outcome is Outcome.FAIL]
    few = [row["group"] for row in rows if level is not None and row["queries"] < FEWEST_IN_GROUP]
    parts = failing or [f"in none of {counted(len(cases), 'group')}"]
    parts += [f"not tested: {names_of(few, 8)}"] if few else []
    outcome = Outcome.FAIL if failing else Outcome.PASS
    numbers = {f"p in {row['group']}": row["p"] for row in rows}
    numbers |= {f"difference in {row['group']}": row["difference"] for row in rows}
    return Verdict(run, condition.text, outcome, "; ".join(parts), numbers, cases)


def _rejection(
    condition: Condition, difference: RunDifference, p: str, level: float, numbers: dict[str, float]
) -> list[str]:
    """Whether the loss of a condition with ``possibly`` is rejected, and the power of that."""
    margin = condition.least(difference.base)
    gain = 0 * difference.gain if difference.is_equal else difference.gain
    test = non_inferiority(gain, margin, alpha=level)
    numbers["power"] = test.power
    is_not = "is not" if holds(condition, difference) else "is"
    parts = [f"a loss of {margin:.4g} or more {is_not} rejected", p]
    if not math.isnan(test.power):
        parts.append(f"where B truly equals A it is rejected with probability {test.power:.2g}")
    return parts
