"""Directions and ranges of measures of all providers."""

from __future__ import annotations

import math
from typing import Any

from ir_measures import Measure, NumQ, NumRel, NumRet, SetAP, SetF, SetP, SetR
from ir_measures.measures.base import SumAgg

from .formula import formula

#: Measures of other providers that are the same for every order of the retrieved documents.
OF_SETS = tuple(map(type, (NumQ, NumRel, NumRet, SetAP, SetF, SetP, SetR)))


def higher_is_better(measure: Any) -> bool | None:
    """Whether higher is better; None for a count and if neither direction is better.

    >>> from ir_measures import AP, NumRet
    >>> from pyterrier_asl import ASL
    >>> [higher_is_better(measure) for measure in (AP, ASL, NumRet)]
    [True, False, None]
    """
    computes = formula(measure)
    if computes is not None:
        return computes.HIGHER_IS_BETTER
    return None if added_up(measure) else True


def value_range(measure: Measure, systems: float = math.inf) -> tuple[float, float]:
    """The lowest and the highest value of a measure for a query; perhaps infinite.

    Args:
        measure: a measure.
        systems: the number of runs among which a document is rare, for a measure without a pool.

    >>> from ir_measures import infAP, NumRet
    >>> from pyterrier_asl import ASL
    >>> value_range(infAP), value_range(ASL @ 10), value_range(NumRet)
    ((0.0, 1.0), (1.0, 11.0), (0.0, inf))
    """
    own = formula(measure)
    if own is None:
        return 0.0, math.inf if added_up(measure) or measure.NAME == "alpha_DCG" else 1.0
    return own.value_range(systems)


def added_up(measure: Measure) -> bool:
    """Whether values of a measure are summed over the queries, not averaged: a count's.

    >>> from ir_measures import AP, NumRet
    >>> added_up(NumRet), added_up(AP)
    (True, False)
    """
    return isinstance(measure.aggregator(), SumAgg)
