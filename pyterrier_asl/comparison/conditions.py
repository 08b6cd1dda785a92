"""Conditions on two runs, such as ``nASL@1000 worse p<.05``: their grammar and checks.

Two kinds are on the second run compared with the first, the baseline:

* ``MEASURE HOW [by AMOUNT[%]] [in any group] [p<LEVEL] [certainly]``, HOW one of :data:`HOW`,
  holds if the runs differ so, with ``p<`` if they differ significantly, with ``certainly`` if they
  do so under all labels of the unjudged documents, with ``in any group`` if they do so in a group
  of queries.
* ``MEASURE possibly worse by AMOUNT[%] p<LEVEL [certainly]`` holds unless a loss of the amount or
  more is rejected; with ``certainly`` unless it is rejected under all these labels.

A third kind is on the second run alone: ``MEASURE below|above VALUE`` (or ``<``, ``>``) holds if
its mean is.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from ..common.types import Floats
from ..measures.directions import higher_is_better
from ..measures.parsing import words

#: Kinds of differences: better and worse depend on the direction of the measure.
HOW = ("better", "worse", "lower", "higher", "different")

GRAMMAR = (
    "MEASURE better|worse|lower|higher|different [by AMOUNT or AMOUNT%] [in any group] [p<LEVEL] "
    "[certainly], or MEASURE possibly worse by AMOUNT or AMOUNT% p<LEVEL [certainly], or MEASURE "
    "below|above VALUE"
)

_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_CONDITION = re.compile(
    rf"(?P<measure>\S.*?)\s+(?P<possibly>possibly\s+)?(?P<how>{'|'.join(HOW)})"
    rf"(?:\s+by\s+(?P<amount>{_NUMBER})\s*(?P<percent>%)?)?"
    r"(?P<group>\s+in\s+any\s+group)?"
    rf"(?:\s+p\s*<\s*(?P<level>{_NUMBER})\s*(?P<of_level>%)?)?"
    r"(?P<certainly>\s+certainly)?"
)
_FLOOR = re.compile(
    rf"(?P<measure>\S.*?)\s*(?:\b(?P<how>below|above)\b|(?P<sign>[<>]=?))\s*(?P<amount>-?{_NUMBER})"
    r"(?P<rest>.*)"
)


@dataclass(frozen=True)
class Condition:
    """A condition on two runs.

    Attributes:
        text: the condition as it was written.
        measure: the measure's name.
        how: one of :data:`HOW`, or ``below`` or ``above``.
        amount: the least difference, 0: any; or the value that the mean is below or above.
        percent: whether ``amount`` is a percentage of the first run's value.
        level: the level that p must be below; None: no test.
        certainly: whether it must hold under every labelling of the unjudged documents.
        possibly: whether it holds unless a loss of ``amount`` or more is rejected.
        in_group: whether it holds if it does in any group of queries.
    """

    text: str
    measure: str
    how: str
    amount: float = 0.0
    percent: bool = False
    level: float | None = None
    certainly: bool = False
    possibly: bool = False
    in_group: bool = False

    @property
    def is_floor(self) -> bool:
        """Whether it is on the mean of the second run alone."""
        return self.how in ("below", "above")

    def least(self, value: float) -> float:
        """The least difference, where the first run has this value."""
        return self.amount * value / 100 if self.percent else self.amount

    def asks_for(self, up: bool, down: bool, higher_is_better: bool | None) -> bool:
        """Whether the condition asks for a difference that is up, down, or neither."""
        better, worse = (down, up) if higher_is_better is False else (up, down)
        return {
            "higher": up,
            "lower": down,
            "different": up or down,
            "better": better,
            "worse": worse,
        }[self.how]


def parse_condition(text: str) -> Condition:
    """Reads a condition.

    Raises:
        ValueError: for text that is no condition, with the grammar.

    >>> parse_condition("nASL@1000 worse by 2% p<.05")
    ... # doctest: +NORMALIZE_WHITESPACE
    Condition(text='nASL@1000 worse by 2% p<.05', measure='nASL@1000', how='worse', amount=2.0,
              percent=True, level=0.05, certainly=False, possibly=False, in_group=False)
    >>> parse_condition("nDCG@10 possibly worse by .02 p<.05").possibly
    True
    >>> [parse_condition(text).how for text in ("R@10 < .85", "ASL@1000 above 200")]
    ['below', 'above']
    """
    stripped = text.strip() if isinstance(text, str) else ""
    match = _CONDITION.fullmatch(stripped) or _FLOOR.fullmatch(stripped)
    if match is None or len(words(match["measure"])) > 1:
        raise ValueError(
            f"the condition {text!r} cannot be understood: write {GRAMMAR}, "
            "such as 'nASL@1000 worse p<.05'"
        )
    unsaid = dict.fromkeys([*_CONDITION.groupindex, *_FLOOR.groupindex])
    parts: dict[str, Any] = unsaid | match.groupdict()
    measure, sign, rest = parts["measure"], parts["sign"], (parts["rest"] or "").strip()
    how = parts["how"] or {"<": "below", ">": "above"}[sign[0]]
    level = None if parts["level"] is None else float(parts["level"])
    level = level / 100 if level is not None and parts["of_level"] else level
    amount, possibly = float(parts["amount"] or 0), parts["possibly"] is not None
    wrong = [
        (rest == "%", f": write '{measure} {how} {amount / 100:g}'"),
        (
            sign in ("<=", ">="),
            ": a condition says when the guard fails; write "
            f"'{measure} below {parts['amount']}' if it is to fail below {parts['amount']}, or "
            f"'{measure} above {parts['amount']}'",
        ),
        (
            bool(rest),
            ": a mean that must not be below or above a value has no test and no percentage; leave "
            f"out {rest!r}",
        ),
        (
            level is not None and not 0 < level <= 1,
            ": p is a probability, so LEVEL lies between 0 and 1",
        ),
        (math.isinf(amount), f" can never hold: {parts['amount']} is infinite"),
        (
            possibly and (how != "worse" or not amount or level is None or level >= 0.5),
            ": 'possibly' needs 'worse', an amount above 0 and a LEVEL below .5, such as 'nDCG@10 "
            "possibly worse by .02 p<.05'",
        ),
        (
            bool(parts["group"] and (possibly or parts["certainly"])),
            ": 'in any group' goes with neither possibly nor certainly",
        ),
    ]
    for reason in (reason for is_wrong, reason in wrong if is_wrong):
        raise ValueError(f"the condition {text!r}{reason}")
    return Condition(
        stripped,
        measure,
        how,
        amount,
        bool(parts["percent"]),
        level,
        bool(parts["certainly"]),
        possibly,
        bool(parts["group"]),
    )


def check_condition(
    condition: Condition, measure: Any, higher_is_better: bool | None, *, test: str = "t"
) -> None:
    """Checks that a condition can be tested on a measure, and by a test.

    Args:
        condition: the condition.
        measure: the measure; None for a preference, rrLP or sgnLP.
        higher_is_better: its direction.
        test: the test of differences.

    Raises:
        ValueError: for better or worse on a count, percentages of a preference, or a test without
            bounds or amounts.
    """
    is_preference = measure is None
    wrong = [
        (
            is_preference and condition.is_floor,
            "is a difference between runs and has no value of its own; name a measure",
        ),
        (
            higher_is_better is None and condition.how in ("better", "worse"),
            "has no direction: more is neither better nor worse; write higher, lower or different",
        ),
        (
            is_preference and condition.percent,
            "is a difference between runs and has no value to take a percentage of; leave out the "
            "%",
        ),
        (
            is_preference and condition.certainly,
            "has no bounds over unjudged documents; leave out certainly",
        ),
        (
            condition.measure == "sgnLP" and condition.possibly,
            "has the sign test, which has no amount; use rrLP",
        ),
    ]
    for reason in (reason for is_wrong, reason in wrong if is_wrong):
        raise ValueError(f"the condition {condition.text!r}: {condition.measure} {reason}")
    if condition.level is not None and test != "t" and (condition.certainly or condition.possibly):
        which = "possibly worse" if condition.possibly else "p<LEVEL certainly"
        raise ValueError(f"the condition {condition.text!r}: {which} needs test='t'")


def are_relevant(measure: Any, grades: Floats) -> bool:
    """Whether any judged document is relevant to a measure, which is equal in all runs otherwise.

    >>> import ir_measures, numpy as np
    >>> grades = np.array([0.0, -1.0, 1.0])
    >>> [are_relevant(measure, grades)
    ...  for measure in (ir_measures.AP, ir_measures.AP(rel=2), ir_measures.nDCG @ 10)]
    [True, False, True]
    """
    rel = measure["rel"] if "rel" in measure.SUPPORTED_PARAMS else None
    if isinstance(rel, (int, float)):  # else it has no value and no default
        return bool((grades >= rel).any())
    if higher_is_better(measure) is None:  # a count of what was retrieved
        return True
    gains = measure.params.get("gains") or {}
    return bool(any(gains.get(grade, grade) > 0 for grade in set(grades.tolist())))
