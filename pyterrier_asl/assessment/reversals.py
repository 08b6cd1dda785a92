"""Pairs of systems that judges order in different ways."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from ..common.lazy import pd
from ..measures.parsing import Measures
from ..statistics.tests import PairedTest, compare_all
from .judges import Judges, sign_of


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
        rows.append(
            {
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
        )
    return pd.DataFrame(rows)
