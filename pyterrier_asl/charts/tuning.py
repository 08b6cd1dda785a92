"""What becomes of length normalisation when one tunes for a measure (Clarke 2019, Figures 1, 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    from ..tuning import StagedResult

#: The stages of which b and k1 are tuned.
_RETRIEVALS = ("initial retrieval", "final retrieval")


def scores_by_parameters(results: Mapping[str, StagedResult]) -> Any:
    """Score against b and k1, for each measure and retrieval stage; the best trial in red.

    Args:
        results: what :func:`~pyterrier_asl.staged_tuning.tune_for_each` returned.
    """
    rows = [
        alt.hconcat(*(_scatter(result, stage, metric, x) for x in ("b", "k1")))
        for stage in _RETRIEVALS
        for metric, result in results.items()
    ]
    return alt.vconcat(*rows)


def _scatter(result: StagedResult, stage: str, metric: str, parameter: str) -> Any:
    trials = result.trials[stage]
    row = result.table
    best = row[(row["stage"] == stage) & (row["which"] == "best")]["trial"].iloc[0]
    points = trials[["trial", "b", "k1"]].assign(
        # Names of measures hold dots and brackets, which Vega-Lite takes for paths.
        score=trials[metric], best=trials["trial"] == best
    )  # fmt: skip
    scale = alt.Scale(type="log" if parameter == "k1" else "linear", nice=False)
    return (
        alt.Chart(alt.Data(values=points.sort_values("best").to_dict("records")))
        .mark_circle()
        .encode(
            x=alt.X(f"{parameter}:Q", scale=scale),
            y=alt.Y("score:Q", title=metric, scale=alt.Scale(zero=False)),
            color=alt.Color("best:N", legend=None).scale(
                domain=[False, True], range=["steelblue", "crimson"]
            ),
            size=alt.Size("best:N", legend=None).scale(domain=[False, True], range=[12, 120]),
            tooltip=["trial:Q", "b:Q", "k1:Q", "score:Q"],
        )
        .properties(width=330, height=200, title=f"{stage}, tuned on {metric}")
    )
