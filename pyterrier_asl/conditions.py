"""Conditions on two runs, such as ``nASL@1000 worse p<.05``: what a guard of a search engine asks.

A condition is ``MEASURE HOW [by AMOUNT[%]] [p<LEVEL]``; HOW is one of :data:`HOW`. It speaks of the
second run beside the first, the baseline.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

#: What can be asked: better and worse know the direction of the measure, the others do not.
HOW = ("better", "worse", "lower", "higher", "different")

GRAMMAR = "MEASURE better|worse|lower|higher|different [by AMOUNT or AMOUNT%] [p<LEVEL]"

_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_CONDITION = re.compile(
    rf"(?P<measure>\S.*?)\s+(?P<how>{'|'.join(HOW)})"
    rf"(?:\s+by\s+(?P<amount>{_NUMBER})\s*(?P<percent>%)?)?"
    rf"(?:\s+p\s*<\s*(?P<level>{_NUMBER}))?"
)

#: Rounding errors: differences below this share of the values are none.
_NOTHING = 1e-12


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
    """

    text: str
    measure: str
    how: str
    amount: float = 0.0
    percent: bool = False
    level: float | None = None


@dataclass(frozen=True)
class Found:
    """How a measure, or a preference, came out for two runs.

    Attributes:
        mean_a: the first run's mean; NaN for a preference, which only has a difference.
        difference: second less first.
        higher_is_better: None where neither is better.
        p: two-sided; NaN where no test can be made.
    """

    mean_a: float
    difference: float
    higher_is_better: bool | None
    p: float


def parse_condition(text: str) -> Condition:
    """Reads a condition.

    Raises:
        ValueError: for what is none, with the grammar.

    >>> parse_condition("nASL@1000 worse by 2% p<.05")
    ... # doctest: +NORMALIZE_WHITESPACE
    Condition(text='nASL@1000 worse by 2% p<.05', measure='nASL@1000', how='worse', amount=2.0,
              percent=True, level=0.05)
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
    return Condition(
        text.strip(), found["measure"], found["how"], amount, bool(found["percent"]), level
    )


def check(condition: Condition, higher_is_better: bool | None, *, has_means: bool = True) -> None:
    """Whether a condition can be asked of a measure.

    Raises:
        ValueError: for better or worse where neither is, and percentages of what has no means.
    """
    if higher_is_better is None and condition.how in ("better", "worse"):
        raise ValueError(
            f"the condition {condition.text!r}: {condition.measure} only counts, more of it is "
            "neither better nor worse; write higher, lower or different"
        )
    if condition.percent and not has_means:
        raise ValueError(
            f"the condition {condition.text!r}: {condition.measure} is a difference between runs "
            "and has no value to take a percentage of; leave out the %"
        )


def holds(condition: Condition, found: Found) -> bool:
    """Whether a condition holds.

    >>> found = Found(mean_a=0.5, difference=-0.02, higher_is_better=True, p=0.01)
    >>> [holds(parse_condition(f"AP {rest}"), found)
    ...  for rest in ("worse", "worse by 4% p<.05", "worse by .03", "worse p<.01", "better")]
    [True, True, False, False, False]
    """
    size = abs(found.difference)
    base = 0.0 if math.isnan(found.mean_a) else abs(found.mean_a)
    least = condition.amount * base / 100 if condition.percent else condition.amount
    rounding = _NOTHING * max(base, size)
    if size <= _NOTHING * base or size == 0 or size < least - rounding:
        return False
    # NaN is below nothing: without a test nothing is significant.
    if condition.level is not None and not found.p < condition.level:
        return False
    up = found.difference > 0
    return {
        "higher": up,
        "lower": not up,
        "different": True,
        "better": up is found.higher_is_better,
        "worse": up is (not found.higher_is_better),
    }[condition.how]


def verdict(condition: Condition, found: Found, *, family: int, correction: str | None) -> str:
    """A line that says whether a condition holds, and by which numbers.

    Args:
        condition: what was asked.
        found: what came out.
        family: over how many p-values ``found.p`` was corrected.
        correction: by what; None: by nothing.
    """
    state = "holds" if holds(condition, found) else "does not hold"
    parts = [f"{found.difference:+.4g} from A to B"]
    if found.mean_a and not math.isnan(found.mean_a):
        parts[0] += f" ({100 * found.difference / abs(found.mean_a):+.2f} %)"
    if condition.level is not None:
        parts.append(_p(found.p, family, correction))
    return f"Condition {state}: {condition.text} [{', '.join(parts)}]"


def _p(p: float, family: int, correction: str | None) -> str:
    if math.isnan(p):
        return "no test can be made: no query differs, or there is only one"
    how = f" by {correction} over {family} conditions" if correction and family > 1 else ""
    return f"p = {p:.4g}{how}"


def measures_of(conditions: Iterable[Condition]) -> list[str]:
    """The names of the measures that conditions speak of, none twice."""
    return list(dict.fromkeys(condition.measure for condition in conditions))
