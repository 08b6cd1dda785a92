"""Do the relevant documents after the first predict which of two rankings has the first higher?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..charts.forms import STEP, alt, bars, category, figure
from ..evaluation.preferences import recall_levels
from ..scoring.preferences import difference, pairwise_preferences
from .registry import DIAZ, Ints, JudgedRuns, Queries, analysis


@analysis("suffixes", DIAZ, "Table 2")
def prediction_from_suffixes(
    judged: JudgedRuns, queries: Queries, *, rel: float = 1, cutoff: int | None = None
) -> pd.DataFrame:
    """Do later relevant documents predict the first?

    How often the sign of δRR_1 is predicted from the ranks p_2, ..., p_m alone, over the pairs of
    rankings of a query whose reciprocal ranks differ: first by sgnLP of the ranks from the second
    on, then by δRR_2. A predictor that ties does not predict: ``percent``, the paper's number,
    counts it as wrong.

    Args:
        rel: minimum grade of a relevant document. The paper's table has 1 on all collections.

    Returns:
        A row for each predictor, with ``predictor``, ``pairs`` of rankings, ``right``, ``ties``,
        ``percent`` right, and ``percent_of_untied`` right among those the predictor does not tie.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 2.

    >>> runs = {"a": {"q": {"d": 3, "e": 2}}, "b": {"q": {"x": 3, "d": 2, "e": 1}}}
    >>> prediction_from_suffixes(runs, {"q": {"d": 1, "e": 1}})
      predictor  pairs  right  ties  percent  percent_of_untied
    0     sgnLP      1      1     0    100.0              100.0
    1     δRR_2      1      1     0    100.0              100.0
    """
    compared, right, tied = (
        queries.of(counts) for counts in judged.once(_predictions, rel, cutoff)
    )
    weighted = [counts @ queries.each for counts in (compared, right, tied)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return pd.DataFrame(
            {
                "predictor": ["sgnLP", "δRR_2"],
                "pairs": compared.sum(),
                "right": right.sum(axis=1),
                "ties": tied.sum(axis=1),
                "percent": 100 * weighted[1] / weighted[0],
                "percent_of_untied": 100 * weighted[1] / (weighted[0] - weighted[2]),
            }
        )


def _predictions(judged: JudgedRuns, rel: float, cutoff: int | None) -> tuple[Ints, Ints, Ints]:
    """Pairs whose RR differs, (Q,); of those, right and tied ones of each predictor, (2, Q)."""
    reciprocal, total = recall_levels(judged, rel, cutoff)
    first, second = (difference(reciprocal, total, i) for i in (1, 2))
    after = np.delete(reciprocal, (np.cumsum(total) - total)[total > 0], axis=1)
    _, suffix = pairwise_preferences(after, np.maximum(total - 1, 0))
    predicted = np.stack([suffix, second])
    right = np.sum(predicted * first > 0, axis=1)
    return np.sum(first != 0, axis=0), right, np.sum((predicted == 0) & (first != 0), axis=1)


@prediction_from_suffixes.chart
def suffixes_chart(frame: pd.DataFrame) -> Any:
    """How often later relevant documents predict the first, as bars."""
    kinds = {"percent": "all", "percent_of_untied": "those it does not tie"}
    long = frame.melt(["predictor", "pairs"], list(kinds), "of", "share").replace({"of": kinds})
    drawn = bars(
        long, "share", ".1f",
        x=alt.X("share:Q", title="right (%)", scale=alt.Scale(domain=[0, 100])),
        y=alt.Y("predictor:N", title=None, sort=None),
        yOffset=alt.YOffset("of:N", sort=list(kinds.values())),
        color=category("of", "pairs", domain=list(kinds.values())).legend(orient="bottom"),
        tooltip=["predictor", "of", "pairs", alt.Tooltip("share", format=".2f")],
    )  # fmt: skip
    return figure(
        drawn,
        "The first relevant document, predicted",
        "How often the relevant documents after the first predict which of two rankings has the "
        "first one higher: of all pairs of rankings whose reciprocal ranks differ, and of those "
        "that the predictor distinguishes. By chance: 50.",
        height=alt.Step(STEP),
    )
