"""The function ``evaluate``, and the tables and sentences that its command prints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import compress
from typing import Any

import numpy as np

from ..io.lazy import pd
from ..io.notices import counted, names_of
from ..io.tables import ALL
from ..judging.qrels import source_of
from ..measures.names import Measures, NamedMeasure, measure_named
from ..statistics.rounding import shared_ranks
from .evaluation import Evaluation
from .facts import with_notes
from .inputs import chosen_measures, warn_of_grades
from .tracks import listed_collections


def unread_tracks(
    runs: Any,
    qrels: Any,
    measures: Measures | None,
    *,
    common: bool = False,
    **options: Any,
) -> Iterator[tuple[str, Evaluation, list[NamedMeasure]]]:
    """Each track with its unread runs and its measures, '' for the only track.

    For the arguments see :func:`evaluate`.

    Raises:
        ValueError: for empty qrels.
    """
    for track, (sources, judged_by) in listed_collections(runs, qrels, common=common).items():
        unread = Evaluation.unread(sources, judged_by)
        if not len(unread.judgements):
            source = source_of(unread.source)
            place = f"{source}: " if isinstance(source, (str, os.PathLike)) else ""
            raise ValueError(f"{place}the qrels are empty: give qrels with judged documents")
        chosen = chosen_measures(measures, unread.source, several=len(unread) > 1, **options)
        warn_of_grades(unread.judgements, {named.name: named.measure for named in chosen})
        yield track, unread, chosen


def measured(
    runs: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    *,
    jobs: int = 1,
    backend: str = "loky",
    progress: bool | None = None,
    keep_going: bool = False,
    **options: Any,
) -> dict[str, Evaluation]:
    """The values of the runs of each track, '' for the only track.

    Args:
        keep_going: whether a run that cannot be measured is left out.

    For the other arguments see :func:`evaluate`.
    """
    return {
        track: unread.measure(
            chosen, jobs=jobs, backend=backend, progress=progress, keep_going=keep_going
        )
        for track, unread, chosen in unread_tracks(runs, qrels, measures, **options)
    }


def evaluate(
    runs: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    *,
    rel: float | None = None,
    pool: Any = None,
    lengths: Any = None,
    common: bool = False,
    long: bool = False,
    jobs: int = 1,
    backend: str = "loky",
    progress: bool | None = None,
) -> pd.DataFrame:
    """The value of each run, query and measure.

    Each run is read once, and matched once for all measures. A rareness measure without a pool gets
    the pool of these runs.

    Args:
        runs: dict of name -> run (data frame, Arrow table, file, or whatever ir_measures takes), a
            folder of run files, one file, or several; a single data frame or dict of dicts is one
            run, called ``run``. Without qrels: a dict of track -> (runs, qrels).
        qrels: data frame, file, ir_datasets id, dict of dicts, or :class:`~pyterrier_asl.Qrels`,
            which add labels and say how runs are matched.
        measures: measures or their names, or a dict from the name of a column to either. None: the
            measures of :func:`~pyterrier_asl.measures.defaults.default_measures`.
        rel: minimum grade of a relevant document, for measures without ``rel``; None: 1.
        pool: pool of the rareness measures without a pool: a pool, its name or file, or runs; None:
            the measured runs.
        lengths: document lengths for TBG; what ``TBG(lengths=...)`` takes.
        common: whether systems that one of several tracks lacks are left out; otherwise they are an
            error.
        long: one row per value, instead of one column per measure.
        jobs: number of runs to measure at a time; -1: the number of cores.
        backend: processes on this machine (``'loky'``), threads (``'threading'``), or the nodes of
            a Ray cluster (``'ray'``), which need the files at the same paths. The result is the
            same, byte for byte.
        progress: whether to show a progress bar; None: on a terminal.

    Returns:
        A frame with runs in the given order and queries in the order of the qrels: ``name``,
        ``qid`` (with the type that the qrels have), and a column per measure; with ``long``
        ``name``, ``qid``, ``measure``, ``value``. There is exactly one value per run, query and
        measure. With several tracks the first column is ``track``.

    Raises:
        ValueError: for no runs, empty qrels, a system that a track lacks, unknown measures; for a
            run that is empty, shares no query or no document with the qrels, or cannot be measured,
            with its name; for ``common`` with one collection.

    >>> runs = {"good": {"q": {"a": 2, "x": 1}}, "bad": {"q": {"x": 2, "a": 1}}}
    >>> evaluate(runs, {"q": {"a": 1}}, ["ASL@10", "LexiP"])
       name qid  ASL@10  LexiP
    0  good   q     1.0    1.0
    1   bad   q     2.0    0.5
    """
    done = measured(
        runs,
        qrels,
        measures,
        rel=rel,
        pool=pool,
        lengths=lengths,
        common=common,
        jobs=jobs,
        backend=backend,
        progress=progress,
    )
    frames = {track: evaluation.frame() for track, evaluation in done.items()}
    table = join_tracks({t: to_long(frame) for t, frame in frames.items()} if long else frames)
    return with_notes(table, {track: evaluation.facts() for track, evaluation in done.items()})


def to_long(evaluation: pd.DataFrame) -> pd.DataFrame:
    """One row per value: name, qid, measure, value; ordered by run, query, and measure.

    >>> import pandas as pd
    >>> to_long(pd.DataFrame({"name": ["a"], "qid": ["q"], "AP": [0.5], "RR": [1.0]}))
      name qid measure  value
    0    a   q      AP    0.5
    1    a   q      RR    1.0
    """
    rows = evaluation.melt(["name", "qid"], var_name="measure", ignore_index=False)
    return rows.sort_index(kind="stable", ignore_index=True)


def join_tracks(tables: Mapping[str, pd.DataFrame | Mapping[str, Any]]) -> pd.DataFrame:
    """The tables of several tracks as one with ``track`` first; the table of a single one."""
    frames = {track: pd.DataFrame(table) for track, table in tables.items()}
    if list(frames) == [""]:
        return frames[""]
    return pd.concat(frames, names=["track"]).reset_index("track").reset_index(drop=True)


# What the command prints


def answers(evaluation: Evaluation) -> list[str]:
    """Sentences that name the runs with the best means; the run with most of them comes first."""
    names, queries = evaluation.names, counted(len(evaluation.qids), "query", "queries")
    if len(names) < 2:
        return []
    measures: dict[tuple[str, ...], list[str]] = {}
    for name, up in evaluation.higher_is_better.items():
        if up is not None:
            means = evaluation.means[name]
            best = (shared_ranks(means if up else -means) == 1).tolist()
            measures.setdefault(tuple(compress(names, best)), []).append(name)
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
        sign = 1 if directions[sort] is False else -1
        order.sort(key=(sign * means[sort]).tolist().__getitem__)
    runs = [evaluation.names[row] for row in order]
    if not by_query:
        return {"run": runs} | {name: mean[order].tolist() for name, mean in means.items()}
    qids = list(evaluation.qids)
    if summary and any(str(qid) == ALL for qid in qids):
        raise ValueError(
            f"the qrels have a query {ALL!r}, which is the name of the rows of means: leave out "
            "these rows (-n), or rename the query"
        )
    rows = [*qids, *([ALL] if summary else [])]
    table: dict[str, list[Any]] = {
        "run": [run for run in runs for _ in rows],
        "qid": rows * len(runs),
    }
    for name, values in evaluation.columns.items():
        if summary:
            values = np.column_stack((values, means[name]))
        table[name] = values[order].ravel().tolist()
    return table
