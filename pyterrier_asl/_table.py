"""The table of an experiment: means, comparisons with baselines, corrections, highlights.

Everything is made from per-query values, which is how it can know which way each measure is better.
Columns are named as ``pt.Experiment`` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from ir_measures import Measure

from .preference import sign_test, t_test

Floats = npt.NDArray[np.float64]
#: Two samples, paired; the second item of the answer is the p-value.
Test = Callable[[Floats, Floats], Any]

_BETTER = {"bold": "font-weight: bold", "color": "background-color: lightgreen"}
_TIED = {"bold": "font-weight: bold", "color": "background-color: antiquewhite"}


@dataclass(frozen=True)
class Column:
    """One column of means.

    Attributes:
        label: what it is called.
        measure: what it is the mean of; of a preference LexiP, with its parameters.
        preference: ``'sgnLP'`` or ``'rrLP'``, None for a measure.
        baseline: whom a preference is against, by number.
    """

    label: str
    measure: Measure
    preference: str | None = None
    baseline: int | None = None

    @property
    def lower_is_better(self) -> bool:
        """Whether the smaller of two values is the better one."""
        return not getattr(self.measure, "HIGHER_IS_BETTER", True)

    def against(self, baseline: int, suffix: str) -> Column:
        """The same preference, against this system."""
        return replace(self, label=self.label + suffix, baseline=baseline)

    def mean(self, values: Floats) -> float:
        """The mean over queries, or the sum where ir_measures has one (the counts)."""
        total = self.measure.aggregator()
        for value in values.tolist():
            total.add(value)
        result: float = total.result()
        return result

    def p_value(self, values: Floats, baseline: Floats, test: Test) -> float:
        """How likely values and the baseline's lie as far apart by chance."""
        if self.preference == "sgnLP":
            return float(sign_test((values > 0).sum(), (values < 0).sum()))
        if self.preference == "rrLP":
            return float(t_test(values))
        return float(test(values, baseline)[1])


def suffix(baseline: int, baselines: Sequence[int], names: Sequence[str]) -> str:
    """What tells columns of one baseline from those of another; nothing where there is only one.

    >>> suffix(1, [0, 1], ["BM25", "DPH"]), suffix(1, [1], ["BM25", "DPH"])
    (' vs DPH', '')
    """
    return f" vs {names[baseline]}" if len(baselines) > 1 else ""


def compare(column: Column, values: Floats, baseline: int, label: str, test: Test) -> pd.DataFrame:
    """How every system compares with a baseline by one measure.

    Args:
        column: the measure.
        values: its values, shape (systems, queries).
        baseline: the row of the baseline.
        label: what the columns' names begin with.
        test: the significance test.

    Returns:
        ``+`` and ``-``, queries improved and degraded, and ``p-value``, one row a system; nothing
        for the baseline itself.
    """
    better = -values if column.lower_is_better else values
    if column.preference is None:
        better = better - better[baseline]
    rows = [
        (np.nan, np.nan, np.nan)
        if row == baseline
        else (
            float((better[row] > 0).sum()),
            float((better[row] < 0).sum()),
            column.p_value(values[row], values[baseline], test),
        )
        for row in range(len(values))
    ]
    return pd.DataFrame(rows, columns=[f"{label} +", f"{label} -", f"{label} p-value"])


def corrected(p_values: pd.Series[float], baseline: int, method: str, alpha: float) -> pd.DataFrame:
    """A family of p-values, all but the baseline's, corrected for being many.

    Two systems without any difference have no p-value; they count in the family as 1.

    Args:
        p_values: one a system; the name ends in ``p-value``.
        baseline: the row of the baseline.
        method: what statsmodels' ``multipletests`` takes.
        alpha: the family-wise error rate.

    Returns:
        ``reject`` and ``p-value corrected``, one row a system.
    """
    from statsmodels.stats.multitest import multipletests

    label = str(p_values.name)
    family = np.delete(np.arange(len(p_values)), baseline)
    reject, values = np.zeros(len(p_values), dtype=bool), np.full(len(p_values), np.nan)
    if len(family):
        known = p_values.to_numpy()[family]
        reject[family], adjusted, *_ = multipletests(
            np.where(np.isnan(known), 1.0, known), alpha=alpha, method=method
        )
        values[family] = np.where(np.isnan(known), np.nan, adjusted)
    names = (f"{label.removesuffix('p-value')}reject", f"{label} corrected")
    return pd.DataFrame(dict(zip(names, (reject, values))))


def highlighted(table: pd.DataFrame, how: str, lower_is_better: dict[str, bool]) -> Any:
    """The table with the best value of each column marked.

    Args:
        table: the table.
        how: ``'bold'``, ``'color'`` or ``'colour'``.
        lower_is_better: the columns to mark, and which way they are better.
    """
    how = "color" if how == "colour" else how

    def mark(values: pd.Series[Any]) -> list[str]:
        lower = lower_is_better.get(str(values.name))
        if lower is None:
            return [""] * len(values)
        best = np.flatnonzero(values == (values.min() if lower else values.max()))
        marks = [""] * len(values)
        for row in best:
            marks[row] = _BETTER[how] if row == best[-1] else _TIED[how]
        return marks

    return table.style.apply(mark, axis=0)
