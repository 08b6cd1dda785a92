"""How long are the documents that a run puts first? (Clarke 2019: what TBG is about.)"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..judging import JudgedRun
from ..lengths import DocLengths
from .judged_runs import JudgedRuns
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]

#: The kinds of documents told apart.
_KINDS = ("relevant", "not relevant", "all")
#: The column of a run that has its documents' lengths, as in PyTerrier.
_COLUMN = "doc_len"


def lengths_by_rank(
    runs: Any,
    qrels: Any = None,
    *,
    lengths: Any = None,
    cutoff: int = 100,
    rel: float = 1,
    missing_length: float | None = None,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """Mean length of the retrieved documents, relevant and not, at each rank.

    A measure that is blind to length lets a ranking function win by preferring long documents,
    which are more often relevant; this shows whether a run does.

    Args:
        runs: dict of name -> run, folder, list of files, or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        lengths: :class:`~pyterrier_asl.DocLengths`, its file or name, or ``'irds:ID'``; None: the
            column ``doc_len`` of the runs.
        cutoff: the deepest rank.
        rel: minimum grade of a relevant document; unjudged documents are not relevant.
        missing_length: the length of documents whose length is not known; None: an error.
        weights: how much each query counts; see :func:`~pyterrier_asl.analysis.slices.slices`.
        by: slices of the queries, each with its own rows.

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
    known = None if lengths is None else DocLengths.resolve(lengths)
    judged = JudgedRuns.of(runs, qrels)
    tables = []
    for name, run in zip(judged.names, judged.runs):
        table = _documents(run.view(cutoff), rel, known)
        table.insert(0, "run", name)
        tables.append(_checked(table, run.view(cutoff), missing_length))
    documents = pd.concat(tables, ignore_index=True)

    def analyse(queries: Queries) -> pd.DataFrame:
        weight = np.zeros(len(judged.qids))
        weight[queries.at] = queries.each
        some = documents.assign(weight=weight[documents["query"]])
        some = some[some["weight"] > 0]
        some = some.assign(weighted=some["weight"] * some["length"])
        both = [some, some.assign(kind="all")]
        sums = (
            pd.concat(both)
            .groupby(["run", "rank", "kind"], sort=False)[["weighted", "weight", "length"]]
            .agg({"weighted": "sum", "weight": "sum", "length": "size"})
            .reset_index()
        )
        sums = sums.rename(columns={"length": "documents"})
        sums["length"] = sums["weighted"] / sums["weight"]
        return _ordered(sums, judged.names)

    return per_slice(judged.qids, analyse, weights, by)


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
