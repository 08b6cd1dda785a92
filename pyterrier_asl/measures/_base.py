"""Base class of our measures: checked parameters, one value per query."""

from __future__ import annotations

import math
import numbers
import reprlib
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure, ParamInfo

from ..common.types import Floats
from .formula import Formula
from .named import Named

if TYPE_CHECKING:
    from ..judging.judged_run import JudgedRun

_OWN = __name__.partition(".")[0]


class Param(ParamInfo):  # type: ignore[misc]
    """A parameter that checks its values and converts them to plain Python values.

    Args:
        check: returns the value to keep, or raises ValueError with the allowed values.
        default: the default value, which is not printed.
        required: whether the measure needs the parameter.
        desc: the description in the documentation.
    """

    def __init__(
        self,
        check: Callable[[object], Any],
        *,
        default: object = None,
        required: bool = False,
        desc: str,
    ) -> None:
        super().__init__(default=default, required=required, desc=desc)
        self.check = check


#: The deepest cut-off: no ranking is longer, and sums of ranks stay whole numbers.
DEEPEST = 2**31 - 1

#: The most words or seconds: above it a sum could become infinite, and a value no number.
MOST = 1e9


def count(value: Any) -> int:
    """A whole number from 1 to :data:`DEEPEST`."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or not 1 <= value <= DEEPEST:
        raise ValueError(f"a whole number from 1 to {DEEPEST}")
    return int(value)


def real(low: float, high: float = math.inf, *, above: bool = False) -> Callable[[object], float]:
    """A check for a number from ``low`` to ``high``; with ``above`` not ``low`` itself."""

    def check(value: Any) -> float:
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        most = min(high, sys.float_info.max)  # a whole number can be larger
        if is_number and (value > low if above else value >= low) and value <= most:
            return float(value)
        start = f"above {low:g}" if above else f"from {low:g}"
        raise ValueError(f"a number {start}" + ("" if high == math.inf else f" to {high:g}"))

    return check


def grade(value: object) -> float:
    """A grade: a number from 0 on, an ``int`` where it is whole."""
    number = real(0)(value)
    return int(number) if number.is_integer() else number


def check_from_0(name: str, value: object) -> float:
    """A number from 0, such as a minimum grade; the error has the name of its argument.

    >>> check_from_0("rel", 2.0)
    2
    """
    try:
        return grade(value)
    except ValueError as error:
        raise ValueError(f"{name} is {value!r}: it must be {error}") from None


def flag(value: object) -> bool:
    """True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError("True or False")


def one_of(*choices: str) -> Callable[[object], str]:
    """A check for one of several words."""

    def check(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return str(value)
        raise ValueError("one of " + ", ".join(map(repr, choices)))

    return check


REL = Param(grade, default=1, desc="minimum grade of a relevant document (inclusive)")
CUTOFF = Param(count, desc="ranking cutoff threshold")
JUDGED_ONLY = Param(
    flag, default=False, desc="ignore returned documents that do not have relevance judgments"
)


class PluginMeasure(Measure, Formula):  # type: ignore[misc]
    """A measure of this package, an :class:`ir_measures.Measure`.

    * Its parameters are checked when it is built; errors name the allowed values.
    * It defines all its properties (see :class:`~pyterrier_asl.measures.formula.Formula`).
    * It gives a :class:`~pyterrier_asl.judging.judged_run.JudgedRun` one value per query of the
    qrels.
    """

    SUPPORTED_PARAMS: dict[str, Param] = {}
    #: The value of a query without any relevant document, for every run.
    WITHOUT_RELEVANT = 0.0

    def __init__(self, **params: Any) -> None:
        for name in params.keys() - self.SUPPORTED_PARAMS.keys():
            raise ValueError(
                f"{self.NAME} has no parameter {name!r}; it has {', '.join(self.SUPPORTED_PARAMS)}"
            )
        checked = {}
        # In one order, so that equal measures print the same.
        for name, param in self.SUPPORTED_PARAMS.items():
            if (value := params.get(name)) is not None:  # None: the same as not given
                try:
                    checked[name] = param.check(value)
                except ValueError as error:
                    raise ValueError(
                        f"{self.NAME}: {name} must be {error}, not {reprlib.repr(value)}"
                    ) from None
        super().__init__(**checked)
        self._printed: str = super().__repr__()

    def validate_params(self) -> None:
        """Raises ValueError for a missing parameter that the measure needs."""
        check_required(self, self.params)

    def _param_repr(self, value: object) -> str:
        return repr(value.id) if isinstance(value, Named) else str(super()._param_repr(value))

    def __repr__(self) -> str:
        return self._printed

    def values(self, judged: JudgedRun) -> Floats:
        """Computes one finite value per query of the qrels, in their order, shape (Q,).

        Args:
            judged: the run, matched with the qrels.
        """
        self.validate_params()
        view = self.view(judged)
        has_relevant = view.relevant(self["rel"]).total > 0
        return np.where(has_relevant, self._score(view), self.WITHOUT_RELEVANT)


def check_required(measure: Measure, params: Iterable[str]) -> None:
    """Raises ValueError for a measure of any package without a parameter that it needs.

    Args:
        measure: the measure.
        params: the names of its parameters that have a value.
    """
    for name, param in measure.SUPPORTED_PARAMS.items():
        if param.required and name not in params:
            raise ValueError(
                f"{measure.NAME} needs {name} ({param.desc}): write {measure.NAME}"
                + ("@k" if name == measure.AT_PARAM else f"({name}=...)")
            )


def own_measures() -> list[PluginMeasure]:
    """The registered measures of this package."""
    registered = ir_measures.measures.registry.values()
    return [m for m in registered if type(m).__module__.partition(".")[0] == _OWN]


def register(*measures: PluginMeasure) -> None:
    """Registers measures with ir_measures; they replace earlier measures of this package."""
    registry = ir_measures.measures.registry
    for measure in measures:
        module = type(registry.setdefault(measure.NAME, measure)).__module__
        if module.partition(".")[0] != _OWN:
            raise RuntimeError(
                f"ir_measures has another measure {measure.NAME!r} ({module}); only one of the two "
                "packages can be imported"
            )
        registry[measure.NAME] = measure
