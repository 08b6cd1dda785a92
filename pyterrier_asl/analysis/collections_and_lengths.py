"""How large are a collection and its runs, and how long are the documents ranked first?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..charts import (
    GAP,
    LETTERS,
    PANEL,
    POINT,
    RADIUS,
    WIDE_CAPTION,
    alt,
    captioned,
    category,
    figure,
    inline_rows,
    powers_of_ten,
    tooltips,
)
from ..common.lazy import pd
from ..common.notices import counted
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.sources import QrelsLike
from ..measures import TBG
from ..scoring.arrays import within_query
from .inputs import read
from .registry import CLARKE, DIAZ, analysis

#: The kinds of documents.
_KINDS = ("relevant", "not relevant", "all")
#: Panels of the chart.
MOST_PANELS = 6


@analysis(CLARKE, "sections 1, 4", group_by="run")
def lengths_by_rank(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    lengths: Any = None,
    cutoff: int = 100,
    rel: float | None = None,
    missing_length: float | None = None,
) -> pd.DataFrame:
    """How long are the documents that a run ranks first?

    Mean length of the retrieved documents, relevant and not, at each rank.

    By a measure that ignores length, a ranking function gains by preferring long documents, which
    are relevant more often. This table shows whether a run prefers long documents.

    Args:
        lengths: :class:`~pyterrier_asl.DocLengths`, its file or name, or ``'irds:ID'``; None: the
            column ``doc_len`` of the runs.
        cutoff: the deepest rank.
        rel: minimum grade of a relevant document; unjudged documents are not relevant.
        missing_length: value used for unknown lengths; None: an unknown length is an error.

    Returns:
        One row for each run, rank and ``kind`` (``'relevant'``, ``'not relevant'``, ``'all'``),
        with ``run``, ``rank``, ``kind``, ``length``, the mean over the queries with such a document
        at this rank, and ``documents``, their number.

    Raises:
        ValueError: where a document's length is not known.

    Source: the argument of Clarke, Length Normalization in the Era of Neural Rankers, 2019,
    sections 1 and 4; the paper has no such figure.

    >>> from pyterrier_asl import DocLengths
    >>> lengths = DocLengths.from_dict({"a": 100, "b": 30})
    >>> lengths_by_rank({"run": {"q": {"a": 2, "b": 1}}}, {"q": {"b": 1}}, lengths=lengths)
       run  rank          kind  length  documents
    0  run     1  not relevant   100.0          1
    1  run     1           all   100.0          1
    2  run     2      relevant    30.0          1
    3  run     2           all    30.0          1
    """
    judged, rel = read(runs, qrels, rel)
    documents = _all_documents(judged, cutoff, rel, lengths, missing_length)

    return (
        pd.concat([documents, documents.assign(kind="all")])
        .astype({"run": pd.CategoricalDtype(judged.names), "kind": pd.CategoricalDtype([*_KINDS])})
        .groupby(["run", "rank", "kind"], observed=True, as_index=False)
        .agg(length=("length", "mean"), documents=("length", "size"))
        .astype({"run": str, "kind": str})
    )


@lengths_by_rank.chart
def lengths_by_rank_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Mean length at each rank; the first 6 runs have a panel."""
    kinds, runs = _KINDS[:2], list(dict.fromkeys(frame["run"]))
    rows = frame[frame["kind"].isin(kinds) & frame["run"].isin(runs[:MOST_PANELS])]
    base = alt.Chart(inline_rows(rows.round(1)), width=PANEL, height=PANEL).encode(
        x=alt.X("rank:Q", title="rank", scale=alt.Scale(domainMin=1)),
        color=category("kind", domain=kinds),
        tooltip=tooltips("run:N", "rank:Q", "kind:N", "length:Q", "documents:Q"),
    )
    return captioned(
        alt.layer(
            base.mark_circle(opacity=0.4).encode(y=alt.Y("length:Q", title="mean length")),
            base.transform_loess("rank", "length", groupby=["run", "kind"])
            .mark_line()
            .encode(y=alt.Y("length:Q"), tooltip=alt.value(None)),
        ).facet(facet=alt.Facet("run:N", title=None, sort=runs), columns=2),
        "Lengths of the documents retrieved",
        "Mean over queries of the length of the document at each rank, and its trend. Users need "
        "time to read long documents, relevant or not. Measures that do not know lengths ignore it."
        f"{f' The first {MOST_PANELS} of {len(runs)} runs.' * (len(runs) > MOST_PANELS)}",
        WIDE_CAPTION,
    )


def _all_documents(
    judged: Evaluation, cutoff: int, rel: float, lengths: Any, missing_length: float | None
) -> pd.DataFrame:
    """The retrieved documents of all runs in ranking order: run, rank, kind, length."""
    time_biased_gain = TBG(lengths=lengths, missing_length=missing_length)
    tables = []
    for name, run in zip(judged.names, judged.runs):
        top = run.view(cutoff)
        offsets, relevant = top.ranking.offsets, top.relevant(rel)
        kinds = np.full(len(top.ranking), _KINDS[1], dtype=object)
        kinds[offsets[relevant.queries] + relevant.ranks - 1] = _KINDS[0]
        try:
            words = time_biased_gain.lengths_of(top)
        except ValueError as error:
            raise ValueError(f"run {name!r}: {error}") from None
        columns = {"rank": within_query(offsets) + 1, "kind": kinds, "length": words}
        tables.append(pd.DataFrame(columns).assign(run=name))
    return pd.concat(tables, ignore_index=True)


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
