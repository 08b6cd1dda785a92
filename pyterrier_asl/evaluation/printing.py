"""The table and the sentences that the command ``evaluate`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import Any

import numpy as np

from ..common.notices import counted, grouped, names_of
from ..measures.parsing import NamedMeasure, measure_named
from ..printing.tables import ALL
from ..statistics.rounding import shared_ranks
from .evaluation import Evaluation


def headlines(evaluation: Evaluation) -> list[str]:
    """Sentences that name the runs with the best means; the run with most of them comes first."""
    names, queries = evaluation.names, counted(len(evaluation.qids), "query", "queries")
    if len(names) < 2:
        return []
    measures = grouped(
        (tuple(compress(names, shared_ranks(means if up else -means) == 1)), name)
        for name, up in evaluation.higher_is_better.items()
        if up is not None
        for means in [evaluation.means[name]]
    )
    return [
        f"All runs have the same mean {names_of(by)} over {queries}."
        if len(best) == len(names)
        else f"{names_of(best)} {'has' if len(best) == 1 else 'share'} the best mean "
        f"{names_of(by, len(by))} over {queries}."
        for best, by in sorted(measures.items(), key=lambda item: -len(item[1]))
    ]


def sort_of_many(evaluation: Evaluation, few: int) -> str:
    """The first measure with a direction if there are more than ``few`` runs; otherwise ''."""
    directed = (name for name, up in evaluation.higher_is_better.items() if up is not None)
    return next(directed, "") if len(evaluation) > few else ""


def printed_columns(
    evaluation: Evaluation, *, by_query: bool = False, summary: bool = True, sort: str = ""
) -> dict[str, list[Any]]:
    """The values of an evaluation as columns of a table to print.

    Args:
        evaluation: measured runs.
        by_query: one row per run and query instead of one per run.
        summary: with ``by_query``, whether a row of means, ``all``, follows each run's queries.
        sort: the measure that orders the runs, best first, with or without the ``rel`` of its
            column; '': the given order.

    Returns:
        Columns ``run``, with ``by_query`` also ``qid``, and one per measure.

    Raises:
        ValueError: if ``sort`` is not one of the measures, or a query has the id ``all``.
    """
    directions = evaluation.higher_is_better
    asked = measure_named(sort) if sort and sort not in directions else None
    for named in evaluation.measures if asked is not None else ():
        completed = NamedMeasure(sort, asked).with_params(rel=named.measure.params.get("rel"))
        sort = named.name if completed.key == named.key else sort
    if sort and sort not in directions:
        raise ValueError(f"cannot sort by {sort!r}, only by one of {', '.join(directions)}")
    means = evaluation.means
    order = list(range(len(evaluation)))
    if sort:
        order.sort(key=means[sort].tolist().__getitem__, reverse=directions[sort] is not False)
    runs = [evaluation.names[row] for row in order]
    if not by_query:
        return {"run": runs} | {name: mean[order].tolist() for name, mean in means.items()}
    if summary and any(str(qid) == ALL for qid in evaluation.qids):
        raise ValueError(
            f"the qrels have a query {ALL!r}, which is the name of the rows of means: leave out "
            "these rows (-n), or rename the query"
        )
    rows = [*evaluation.qids, *([ALL] if summary else [])]
    table: dict[str, list[Any]] = {
        "run": [run for run in runs for _ in rows],
        "qid": rows * len(runs),
    }
    for name, values in evaluation.columns.items():
        if summary:
            values = np.column_stack((values, means[name]))
        table[name] = values[order].ravel().tolist()
    return table


def caption(evaluations: Mapping[str, Evaluation], *, by_query: bool = False) -> str:
    """The legend of the table in LaTeX.

    Args:
        evaluations: the measured runs of each collection; '' for a single one.
        by_query: whether the table has values by query.
    """
    queries = [
        counted(len(evaluation.qids), "query", "queries") + f" of {track}" * bool(track)
        for track, evaluation in evaluations.items()
    ]
    texts = [f"{'Values' if by_query else 'Means'} over {names_of(queries, len(queries))}"]
    directions = [up for of in evaluations.values() for up in of.higher_is_better.values()]
    if max(map(len, evaluations.values())) > 1 and directions != [None] * len(directions):
        texts.append("bold: the best of each measure")
    return "; ".join(texts) + "."
