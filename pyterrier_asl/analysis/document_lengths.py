"""How long are the documents that a run puts first? (Clarke 2019: what TBG is about.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..charts.forms import WIDE_CAPTION, alt, captioned, category, inline_rows, tooltips
from ..io.lazy import pd
from ..judging.judged_run import JudgedRun
from ..measures.lengths import DocLengths
from ..scoring.arrays import queries_of, within_query
from .reading import per_slice, read
from .registry import CLARKE, Evaluation, Floats, Qrels, Queries, Runs, Slices, Weights, analysis

#: The kinds of documents.
_KINDS = ("relevant", "not relevant", "all")
#: The column of a run that has its documents' lengths, as in PyTerrier.
_COLUMN = "doc_len"
#: Panels of the chart.
MOST_PANELS = 6


@analysis(CLARKE, "sections 1, 4", group_by="run")
def lengths_by_rank(
    runs: Runs,
    qrels: Qrels | None = None,
    *,
    duplicates: str | None = None,
    lengths: Any = None,
    cutoff: int = 100,
    rel: float | None = None,
    missing_length: float | None = None,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """How long are the documents that a run ranks first?

    Mean length of the retrieved documents, relevant and not, at each rank.

    A measure that is blind to length lets a ranking function win by preferring long documents,
    which are more often relevant; this shows whether a run does.

    Args:
        lengths: :class:`~pyterrier_asl.DocLengths`, its file or name, or ``'irds:ID'``; None: the
            column ``doc_len`` of the runs.
        cutoff: the deepest rank.
        rel: minimum grade of a relevant document; unjudged documents are not relevant.
        missing_length: the length of documents whose length is not known; None: an error.

    Returns:
        One row for each run, rank and ``kind`` (``'relevant'``, ``'not relevant'``, ``'all'``),
        with ``run``, ``rank``, ``kind``, ``length``, the mean over the queries that have such a
        document there, and ``documents``, how many.

    Raises:
        ValueError: where a document's length is not known.

    Source: Clarke, Length Normalization in the Era of Neural Rankers, 2019, sections 1 and 4, whose
    argument it shows; the paper has no such figure.

    >>> lengths = DocLengths.from_dict({"a": 100, "b": 30})
    >>> lengths_by_rank({"run": {"q": {"a": 2, "b": 1}}}, {"q": {"b": 1}}, lengths=lengths)
       run  rank          kind  length  documents
    0  run     1  not relevant   100.0          1
    1  run     1           all   100.0          1
    2  run     2      relevant    30.0          1
    3  run     2           all    30.0          1
    """
    judged, rel = read(runs, qrels, duplicates, rel)
    documents = _all_documents(judged, cutoff, rel, lengths, missing_length)

    def of_slice(queries: Queries) -> pd.DataFrame:
        weight = queries.weights_of_all(len(judged.qids))
        some = documents.assign(weight=weight[documents["query"]])
        some = some[some["weight"] > 0]
        some = some.assign(weighted=some["weight"] * some["length"])
        some = pd.concat([some, some.assign(kind="all")])
        ordered = some.assign(
            run=pd.Categorical(some["run"], judged.names), kind=pd.Categorical(some["kind"], _KINDS)
        )
        sums = ordered.groupby(["run", "rank", "kind"], observed=True).agg(
            weighted=("weighted", "sum"), weight=("weight", "sum"), documents=("length", "size")
        )
        means = sums.reset_index().astype({"run": str, "kind": str})
        means.insert(3, "length", means["weighted"] / means["weight"])
        return means.drop(columns=["weighted", "weight"])

    return per_slice(judged.qids, of_slice, weights, by)


@lengths_by_rank.chart
def lengths_by_rank_chart(frame: pd.DataFrame, *, columns: int = 3) -> Any:
    """Mean length at each rank; the first 6 runs have a panel, ``columns`` panels in a row."""
    kinds = ["relevant", "not relevant"]
    runs = list(dict.fromkeys(frame["run"]))
    shown = frame[frame["kind"].isin(kinds) & frame["run"].isin(runs[:MOST_PANELS])]
    base = alt.Chart(inline_rows(shown.round(1)), width=260, height=150).encode(
        x=alt.X("rank:Q", title="rank"),
        color=category("kind", domain=kinds),
        tooltip=tooltips("run:N", "rank:Q", "kind:N", "length:Q", "documents:Q"),
    )
    points = base.mark_circle(opacity=0.4, size=18).encode(y=alt.Y("length:Q", title="mean length"))
    trend = (
        base.transform_loess("rank", "length", groupby=["run", "kind"])
        .mark_line()
        .encode(y=alt.Y("length:Q"), tooltip=alt.value(None))
    )
    drawn = alt.layer(points, trend).facet(
        facet=alt.Facet("run:N", title=None, sort=runs),
        columns=columns,
    )
    caption = (
        "Mean over queries of the length of the document at each rank, and its trend. Long "
        "documents take a user's time, relevant or not, which measures that do not know lengths "
        "do not count."
    )
    if len(runs) > MOST_PANELS:
        caption += f" The first {MOST_PANELS} of {len(runs)} runs."
    return captioned(drawn, "Lengths of the documents retrieved", caption, WIDE_CAPTION)


def _all_documents(
    judged: Evaluation, cutoff: int, rel: float, lengths: Any, missing_length: float | None
) -> pd.DataFrame:
    """The retrieved documents of all runs in ranking order: run, query, rank, kind, length."""
    sources = None if lengths is None else DocLengths.resolve(lengths)
    tables = []
    for name, run in zip(judged.names, judged.runs):
        top = run.view(cutoff)
        offsets, relevant = top.ranking.offsets, top.relevant(rel)
        kinds = np.full(len(top.ranking), _KINDS[1], dtype=object)
        kinds[offsets[relevant.queries] + relevant.ranks - 1] = _KINDS[0]
        table = {"query": queries_of(offsets), "rank": within_query(offsets) + 1, "kind": kinds}
        sizes = _lengths_of(name, top, sources, missing_length)
        tables.append(pd.DataFrame({**table, "run": name, "length": sizes}))
    return pd.concat(tables, ignore_index=True)


def _lengths_of(
    name: str, run: JudgedRun, source: DocLengths | None, missing_length: float | None
) -> Floats:
    """The lengths of a run's documents; ``missing_length``, or an error, for an unknown length."""
    ranking = run.ranking
    if source is not None:
        lengths = source.look_up(run.docnos(ranking))
    elif run.table.has(_COLUMN):
        lengths = ranking.take(run.table.numbers(_COLUMN, f"column {_COLUMN} of the run"))
    else:
        lengths = np.full(len(ranking), np.nan)
    unknown = np.isnan(lengths)
    if unknown.any() and missing_length is None:
        example = run.docnos(ranking)[int(unknown.argmax())].as_py()
        raise ValueError(
            f"run {name!r}: {int(unknown.sum())} of {len(lengths)} retrieved documents have no "
            f"known length (e.g. {example!r}): pass lengths= that know them, a column {_COLUMN!r} "
            "in the run, or missing_length="
        )
    return lengths if missing_length is None else np.where(unknown, missing_length, lengths)
