"""What are the collections like that a question is asked of?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..charts.forms import alt, category, figure, tooltips
from ..io.lazy import pd
from ..io.tables import counted
from .reading import per_slice, read
from .registry import DIAZ, Qrels, Queries, Runs, Slices, Weights, analysis


@analysis(DIAZ, "Table 1")
def collection_statistics(
    runs: Runs,
    qrels: Qrels | None = None,
    *,
    duplicates: str | None = None,
    rel: float | None = None,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """How large are the collection and its runs?

    Weights change the means; counts are as they are.

    Returns:
        One row, with ``requests``, ``runs``, ``rel/request``, ``docs/request`` (retrieved documents
        in the mean over runs and requests, none counting for a request that was not answered),
        ``judged/request``, ``without_relevant``, requests that have no relevant document, and
        ``unanswered``, pairs of run and request without an answer.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Table 1 (the first four columns).

    >>> runs = {"a": {"q": {"d": 2, "x": 1}}, "b": {"q": {"d": 1}}}
    >>> collection_statistics(runs, {"q": {"d": 1, "e": 1}}).T[0].to_dict()
    ... # doctest: +NORMALIZE_WHITESPACE
    {'requests': 1.0, 'runs': 2.0, 'rel/request': 2.0, 'docs/request': 1.5, 'judged/request': 2.0,
     'without_relevant': 0.0, 'unanswered': 0.0}
    """
    judged, rel = read(runs, qrels, duplicates, rel)
    total = judged.judgements.num_relevant(rel)
    retrieved = np.stack([run.retrieved for run in judged.runs])
    documents = np.bincount(judged.judgements.queries, minlength=len(total))

    def of_slice(queries: Queries) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "requests": [len(queries)],
                "runs": [len(judged)],
                "rel/request": [queries.mean(total)],
                "docs/request": [queries.mean(retrieved).mean()],
                "judged/request": [queries.mean(documents)],
                "without_relevant": [int(np.sum(queries.of(total) == 0))],
                "unanswered": [int(np.sum(queries.of(retrieved) == 0))],
            }
        )

    return per_slice(judged.qids, of_slice, weights, by)


@collection_statistics.chart
def collection_chart(frame: pd.DataFrame) -> Any:
    """Relevant, judged and retrieved documents per request, as points on a logarithmic axis."""
    kinds = ["rel/request", "judged/request", "docs/request"]
    keys = [name for name in ("collection", "requests", "runs") if name in frame]
    long = frame.melt(keys, kinds, "kind", "documents")
    long["kind"] = long["kind"].str.removesuffix("/request")
    if "collection" in frame:
        long["kind"] = long["collection"] + ": " + long["kind"]
    empty = int(frame["without_relevant"].sum()), int(frame["unanswered"].sum())
    x = alt.X(
        "documents:Q",
        title="documents per request, mean",
        scale=alt.Scale(type="symlog"),
        axis=alt.Axis(values=[0, *(10**power for power in range(7))]),
    )
    base = alt.Chart(long).encode(
        x=x, y=alt.Y("kind:N", title=None, sort=None), color=category("kind").legend(None)
    )
    number = base.mark_text(align="left", dx=7, fontSize=10)
    drawn = alt.layer(
        base.mark_point(filled=True, size=60, opacity=1).encode(
            tooltip=tooltips(*keys, "kind", alt.Tooltip("documents", format=".1f"))
        ),
        number.encode(text=alt.Text("documents:Q", format=",.1f"), color=alt.value("#444")),
    )
    return figure(
        drawn,
        "Documents per request",
        f"Mean number of documents per request, on a logarithmic axis: relevant (rel), judged, "
        f"and retrieved per run (docs). {counted(int(frame['requests'].sum()), 'request')}, "
        f"{empty[0]} without relevant documents; {counted(int(frame['runs'].sum()), 'run')}, with "
        f"{counted(empty[1], 'request')} unanswered.",
        rows=1,
    )
