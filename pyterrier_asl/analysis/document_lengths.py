"""How long are the documents that a run puts first? (Clarke 2019: what TBG is about.)"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..charts.captions import captioned
from ..charts.forms import alt, category, rows
from ..judging.judged_run import JudgedRun
from ..measures.lengths import DocLengths
from .registry import CLARKE, JudgedRuns, Queries, analysis

#: The kinds of documents.
_KINDS = ("relevant", "not relevant", "all")
#: The column of a run that has its documents' lengths, as in PyTerrier.
_COLUMN = "doc_len"
#: Panels of the chart.
MOST_PANELS = 12


@analysis("lengths", CLARKE, "sections 1, 4", group_by="run")
def lengths_by_rank(
    judged: JudgedRuns,
    queries: Queries,
    *,
    lengths: Any = None,
    cutoff: int = 100,
    rel: float = 1,
    missing_length: float | None = None,
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
    documents = _all_documents(judged, cutoff, rel, lengths, missing_length)
    weight = np.zeros(len(judged.qids))
    weight[queries.at] = queries.each
    some = documents.assign(weight=weight[documents["query"]])
    some = some[some["weight"] > 0]
    some = some.assign(weighted=some["weight"] * some["length"])
    sums = (
        pd.concat([some, some.assign(kind="all")])
        .groupby(["run", "rank", "kind"], sort=False)[["weighted", "weight", "length"]]
        .agg({"weighted": "sum", "weight": "sum", "length": "size"})
        .reset_index()
    )
    sums = sums.rename(columns={"length": "documents"})
    sums["length"] = sums["weighted"] / sums["weight"]
    return _ordered(sums, judged.names)


@lengths_by_rank.chart
def lengths_by_rank_chart(frame: pd.DataFrame, *, columns: int = 3) -> Any:
    """Mean length at each rank; the first 12 runs have a panel, ``columns`` panels in a row."""
    kinds = ["relevant", "not relevant"]
    runs = list(dict.fromkeys(frame["run"]))
    shown = frame[frame["kind"].isin(kinds) & frame["run"].isin(runs[:MOST_PANELS])]
    base = alt.Chart(rows(shown.round(1)), width=260, height=180).encode(
        x=alt.X("rank:Q", title="rank"),
        color=category("kind", domain=kinds),
        tooltip=["run:N", "rank:Q", "kind:N", "length:Q", "documents:Q"],
    )
    points = base.mark_circle(opacity=0.4, size=18).encode(y=alt.Y("length:Q", title="mean length"))
    trend = base.transform_loess("rank", "length", groupby=["run", "kind"]).mark_line().encode(
        y="length:Q", tooltip=alt.value(None)
    )
    drawn = alt.layer(points, trend).facet(
        facet=alt.Facet("run:N", title=None, sort=runs),
        columns=columns,
    )
    caption = (
        "Mean over queries of the length of the document at each rank, and its trend. Where "
        "documents that are not relevant are long too, a user pays for them in time, which "
        "measures that do not know lengths never notice."
    )
    if len(runs) > MOST_PANELS:
        caption += f" The first {MOST_PANELS} of {len(runs)} runs."
    return captioned(drawn, "Lengths of the documents retrieved", caption)


def _all_documents(
    judged: JudgedRuns, cutoff: int, rel: float, lengths: Any, missing_length: float | None
) -> pd.DataFrame:
    """The retrieved documents of all runs."""
    known = None if lengths is None else DocLengths.resolve(lengths)
    tables = []
    for name, run in zip(judged.names, judged.runs):
        table = _documents(run.view(cutoff), rel, known)
        table.insert(0, "run", name)
        tables.append(_checked(table, run.view(cutoff), missing_length))
    return pd.concat(tables, ignore_index=True)


def _documents(seen: JudgedRun, rel: float, known: DocLengths | None) -> pd.DataFrame:
    """The retrieved documents of a run in ranking order: query, rank, kind, length."""
    ranking = seen.ranking
    queries = np.repeat(np.arange(len(seen.retrieved)), np.diff(ranking.offsets))
    ranks = np.arange(len(ranking)) - ranking.offsets[queries] + 1
    relevant = seen.relevant(rel)
    is_relevant = np.zeros(len(ranking), dtype=bool)
    is_relevant[ranking.offsets[relevant.queries] + relevant.ranks - 1] = True
    if known is not None:
        lengths = known.look_up(seen.docnos(ranking))
    elif seen.table.has(_COLUMN):
        lengths = ranking.take(seen.table.numbers(_COLUMN, f"column {_COLUMN} of the run"))
    else:
        lengths = np.full(len(ranking), np.nan)
    kinds = np.where(is_relevant, _KINDS[0], _KINDS[1])
    return pd.DataFrame({"query": queries, "rank": ranks, "kind": kinds, "length": lengths})


def _checked(
    documents: pd.DataFrame, seen: JudgedRun, missing_length: float | None
) -> pd.DataFrame:
    """With ``missing_length`` for lengths that are not known, or an error that names one."""
    unknown = documents["length"].isna().to_numpy()
    if unknown.any() and missing_length is None:
        example = seen.docnos(seen.ranking)[int(unknown.argmax())].as_py()
        raise ValueError(
            f"run {documents['run'].iloc[0]!r}: {int(unknown.sum())} of {len(documents)} retrieved "
            f"documents have no known length (e.g. {example!r}): pass lengths= that know them, a "
            f"column {_COLUMN!r} in the run, or missing_length="
        )
    return documents.fillna({"length": missing_length}) if unknown.any() else documents


def _ordered(sums: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """In the order of the runs, then by rank, then by kind."""
    run = sums["run"].map({name: place for place, name in enumerate(names)})
    kind = sums["kind"].map({kind: place for place, kind in enumerate(_KINDS)})
    order = np.lexsort((kind, sums["rank"], run))
    columns = ["run", "rank", "kind", "length", "documents"]
    return sums.iloc[order][columns].reset_index(drop=True)
