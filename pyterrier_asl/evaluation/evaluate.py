"""The function ``evaluate``: the runs of one collection or of several, measured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.parameters import taking_other_names
from ..judging.qrels import source_of
from ..measures.parsing import Measures, NamedMeasure
from .collections import shared_systems
from .evaluation import Evaluation
from .facts import with_notes
from .sources import FOR_SEVERAL, chosen_measures, refuse, warn_of_grades

# Collections


def collections_of(runs: Any, qrels: Any = None) -> dict[str, tuple[Any, Any]]:
    """The runs and the qrels of each collection by name; '' for a single collection.

    Args:
        runs: the runs of one collection; or, without qrels, a dict of collection -> (runs, qrels).
        qrels: the qrels of the single collection.

    Raises:
        ValueError: if qrels are missing.
    """
    if qrels is not None or isinstance(runs, Evaluation):
        return {"": (runs, qrels)}
    if not isinstance(runs, Mapping):
        raise ValueError(
            "qrels are needed: a frame, a file, or an ir_datasets id; without them runs are a dict "
            "of collection -> (runs, qrels)"
        )
    pairs = {}
    for name, pair in runs.items():
        pair = (pair, None) if isinstance(pair, Evaluation) else pair
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(
                f"qrels are needed: without them runs are a dict of collection -> (runs, qrels), "
                f"and {name!r} is a {type(pair).__name__}"
            )
        pairs[str(name)] = pair
    return pairs


def tracks(runs: Any, qrels: Any = None) -> dict[str, Evaluation]:
    """The matched runs of each track by its name; see :func:`collections_of`.

    >>> list(tracks({"toy": ({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})}))
    ['toy']
    """
    return {name: Evaluation.of(*pair) for name, pair in collections_of(runs, qrels).items()}


# Values


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
        ValueError: for empty qrels; for a system that a collection lacks, unless ``common``; for
            ``common`` with one collection.
    """
    by_track = {
        name: Evaluation.unread(*pair) for name, pair in collections_of(runs, qrels).items()
    }
    if "" in by_track:
        refuse(FOR_SEVERAL, common=common)
    else:
        shared = shared_systems({name: of.names for name, of in by_track.items()}, common=common)
        by_track = {name: replace(of.select(shared), whole=None) for name, of in by_track.items()}
    for track, unread in by_track.items():
        if not unread.judgements.qids:
            source = source_of(unread.source)
            place = f"{source}: " if isinstance(source, (str, os.PathLike)) else ""
            raise ValueError(f"{place}the qrels are empty: give qrels with judged documents")
        chosen = chosen_measures(measures, unread.source, several=len(unread.names) > 1, **options)
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


@taking_other_names
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
        progress: whether to show a progress bar; None: only on a terminal.

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
    frames = {
        track: long_frame(of, {name: {"value": values} for name, values in of.columns.items()})
        if long
        else of.frame()
        for track, of in done.items()
    }
    return with_notes(join_tracks(frames), {track: of.facts() for track, of in done.items()})


def long_frame(runs: Evaluation, columns: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each run, query and measure, in this order.

    Args:
        runs: S runs with Q queries.
        columns: measure -> column -> its values, shape (S, Q).
    """
    parts = {
        measure: runs.frame_of({name: np.array(values) for name, values in of_measure.items()})
        for measure, of_measure in columns.items()
    }
    frame = pd.concat(parts, names=["measure"]).reset_index("measure")
    frame.insert(2, "measure", frame.pop("measure"))
    return frame.sort_index(kind="stable", ignore_index=True)


def join_tracks(tables: Mapping[str, pd.DataFrame | Mapping[str, Any]]) -> pd.DataFrame:
    """The tables of several tracks as one with ``track`` first; the table of a single one."""
    frames = {track: pd.DataFrame(table) for track, table in tables.items()}
    if list(frames) == [""]:
        return frames[""]
    return pd.concat(frames, names=["track"]).reset_index("track").reset_index(drop=True)


def joined_by_run(
    tables: Mapping[str, pd.DataFrame], by_query: bool, how: Mapping[str, str]
) -> pd.DataFrame:
    """The long tables of several tracks as one, by query or aggregated for each run and measure."""
    frame = join_tracks(tables)
    keys = [key for key in ("track", "name", "measure") if key in frame]
    return frame if by_query else frame.groupby(keys, sort=False).agg(how).reset_index()
