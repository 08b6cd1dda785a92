"""Conditions that must hold whatever the unjudged documents are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..evaluation.bounds import labelled_measures
from ..evaluation.judged_runs import JudgedRuns
from ..evaluation.labellings import Labelled
from ..statistics.boxes import box_test
from .guard import NOTHING, Condition

Floats = npt.NDArray[np.float64]


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

    >>> from .guard import parse_condition
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
