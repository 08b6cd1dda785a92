"""How large are a collection and its runs?"""

from __future__ import annotations

import numpy as np

from ..charts import (
    GAP,
    LETTERS,
    POINT,
    RADIUS,
    alt,
    category,
    figure,
    powers_of_ten,
    tooltips,
)
from ..common.lazy import pd
from ..common.notices import counted
from ..evaluation.evaluation import Runs
from ..evaluation.sources import QrelsLike
from .inputs import read
from .registry import DIAZ, analysis


@analysis(DIAZ, "Table 1")
def collection_statistics(
    runs: Runs, qrels: QrelsLike | None = None, *, rel: float | None = None
) -> pd.DataFrame:
    """How large are the collection and its runs?

    Returns:
        One row, with ``requests``, ``runs``, ``rel/request``, ``docs/request`` (mean number of
        retrieved documents over runs and requests, 0 for a request that was not answered),
        ``judged/request``, ``without_relevant``, the number of requests without a relevant
        document, and ``unanswered``, the number of pairs of run and request without an answer.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 1 (the first four columns).

    >>> runs = {"a": {"q": {"d": 2, "x": 1}}, "b": {"q": {"d": 1}}}
    >>> collection_statistics(runs, {"q": {"d": 1, "e": 1}}).T[0].to_dict()
    ... # doctest: +NORMALIZE_WHITESPACE
    {'requests': 1.0, 'runs': 2.0, 'rel/request': 2.0, 'docs/request': 1.5, 'judged/request': 2.0,
     'without_relevant': 0.0, 'unanswered': 0.0}
    """
    judged, rel = read(runs, qrels, rel)
    total = judged.judgements.num_relevant(rel)
    retrieved = np.stack([run.retrieved for run in judged.runs])
    return pd.DataFrame(
        {
            "requests": [len(judged.qids)],
            "runs": [len(judged)],
            "rel/request": [total.mean(axis=-1)],
            "docs/request": [retrieved.mean(axis=-1).mean()],
            "judged/request": [judged.judgements.num_relevant(0).mean(axis=-1)],
            "without_relevant": [int(np.sum(total == 0))],
            "unanswered": [int(np.sum(retrieved == 0))],
        }
    )


@collection_statistics.chart
def collection_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Relevant, judged and retrieved documents per request, as points on a logarithmic axis."""
    keys = [name for name in ("collection", "requests", "runs") if name in frame]
    long = frame.melt(keys, ["rel/request", "judged/request", "docs/request"], "kind", "documents")
    long["kind"] = long["kind"].str.removesuffix("/request")
    if "collection" in frame:
        long["kind"] = long["collection"] + ": " + long["kind"]
    total = frame.sum(numeric_only=True).astype(int)
    base = alt.Chart(long).encode(
        x=alt.X(
            "documents:Q",
            title="documents per request, mean",
            scale=alt.Scale(type="symlog"),
            axis=alt.Axis(values=[0, *powers_of_ten(10**6)]),
        ),
        y=alt.Y("kind:N", title=None, sort=None),
        color=category("kind").legend(None),
    )
    return figure(
        alt.layer(
            base.mark_point(**POINT).encode(
                tooltip=tooltips(*keys, "kind", alt.Tooltip("documents", format=".1f"))
            ),
            base.mark_text(align="left", dx=RADIUS + GAP, fontSize=LETTERS).encode(
                text=alt.Text("documents:Q", format=",.1f"), color=alt.value("#444")
            ),
        ),
        "Documents per request",
        "Mean number of documents per request, on a logarithmic axis: relevant (rel), judged, "
        f"and retrieved per run (docs). {counted(total['requests'], 'request')}, "
        f"{total['without_relevant']} without relevant documents; {counted(total['runs'], 'run')}, "
        f"with {counted(total['unanswered'], 'request')} unanswered.",
        rows=1,
    )
