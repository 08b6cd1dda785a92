"""Pairs of systems: compared by one test, and side by side under several judges."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.notices import counted
from ..measures.parsing import Measures
from ..statistics.tests import PairedTest, compare_all
from .judges import Judges, sign_of


def significance(frame: pd.DataFrame) -> str:
    """A sentence for a caption on how the comparisons of a frame were tested.

    >>> attrs = {"test": "t", "alpha": 0.05, "correction": "holm", "family": 3, "dropped": 1}
    >>> frame = pd.DataFrame({"p": [0.1, 0.2, 0.3, float("nan")]})
    >>> frame.attrs = attrs
    >>> significance(frame)
    'Significant: t test at 0.05, corrected over 3 comparisons (holm); 1 cannot be tested.'
    """
    about = frame.attrs
    family = int(about.get("family", frame["p"].notna().sum()))
    dropped = int(about.get("dropped", frame["p"].isna().sum()))
    if family == 0:
        return "No comparison can be tested: there is no difference, or a single query."
    method = about.get("correction", "none")
    over = f"over {counted(family, 'comparison')}"
    corrected = f"corrected {over} ({method})" if method != "none" else f"{over}, not corrected"
    untested = f"; {dropped} cannot be tested" if dropped else ""
    return (
        f"Significant: {about.get('test', 't')} test at {about.get('alpha', 0.05):g}, "
        f"{corrected}{untested}."
    )


def as_frame(rows: list[Any], columns: list[str] | None = None) -> pd.DataFrame:
    """Makes a frame of rows; ValueError where there are none."""
    if not rows:
        raise ValueError("there is nothing to compare: give at least one run and one measure")
    return pd.DataFrame(rows, columns=columns)


def reversals_of(judges: Judges, measure: Measures, paired: PairedTest) -> pd.DataFrame:
    """The number of pairs of systems that a judge orders in another way than the reference.

    Args:
        judges: the judges, with runs, the reference first.
        measure: the measure.
        paired: the test of each pair of systems under each judge.

    Returns:
        A row for each judge but the reference, with ``judge``, ``reference``, ``measure``,
        ``pairs``; ``reversed``, ``reversed_significant`` (by one of the two) and ``reversed_both``;
        ``significant_a``, ``significant_b``, ``significant_both`` (in the same order); and
        ``which`` are reversed and significant by both, the system that the reference prefers first.
    """
    compared = {
        name: compare_all(sign_of(measure) * values, judges.systems, **asdict(paired))
        for name, values in judges.values(measure).items()
    }
    a, *others = judges.names
    rows = []
    for b in others:
        both = compared[a].merge(compared[b], on=["a", "b"], suffixes=("_a", "_b"))
        by_a, by_b = both["significant_a"], both["significant_b"]
        signs = np.sign(both["difference_a"]) * np.sign(both["difference_b"])
        is_opposite = (signs < 0) & by_a & by_b
        first, second = both["a"], both["b"]
        names = (first + " over " + second).where(
            both["difference_a"] > 0, second + " over " + first
        )
        row = {
            "judge": b,
            "reference": a,
            "measure": judges.label(measure, [a, b]),
            "pairs": len(both),
            "reversed": (signs < 0).sum(),
            "reversed_significant": ((signs < 0) & (by_a | by_b)).sum(),
            "reversed_both": is_opposite.sum(),
            "significant_a": by_a.sum(),
            "significant_b": by_b.sum(),
            "significant_both": ((signs > 0) & by_a & by_b).sum(),
            "which": "; ".join(names[is_opposite]),
        }
        rows.append(row)
    return pd.DataFrame(rows)
