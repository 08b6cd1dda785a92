"""Reads what an analysis is about: runs matched with judgements, of one track or of several."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..evaluation.grades import grades_hint
from ..evaluation.judged_runs import JudgedRuns, tracks
from ..evaluation.judged_runs import per_track as per_track
from ..evaluation.slices import Queries
from ..evaluation.slices import per_slice as per_slice
from ..io.lazy import pd
from ..judging.judgements import Judgements
from ..measures.names import named_measures


def read(
    runs: Any, qrels: Any, duplicates: str | None, rel: float | None, measures: Any = None
) -> tuple[JudgedRuns, float]:
    """The runs of an analysis and the minimum grade of a relevant document.

    Warns its caller's caller where grades go beyond 1 and nothing says which are relevant.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        duplicates: what to do with a document that stands twice in a ranking.
        rel: the minimum grade; None: 1.
        measures: measures or their names, which can have a minimum grade of their own.

    >>> judged, rel = read({"a": {"q": {"d": 1}}}, {"q": {"d": 1}}, None, None)
    >>> judged.names, rel
    (['a'], 1)
    """
    judged = JudgedRuns.of(runs, qrels, duplicates=duplicates)
    hint_at_grades(judged.judgements, rel, measures=measures)
    return judged, 1 if rel is None else rel


def read_tracks(
    runs: Any, qrels: Any, duplicates: str | None, rel: float | None, measures: Any = None
) -> tuple[dict[str, JudgedRuns], float]:
    """The runs of each track by its name, '' for the only one; the rest as :func:`read`."""
    several = tracks(runs, qrels, duplicates)
    for judged in several.values():
        hint_at_grades(judged.judgements, rel, measures=measures)
    return several, 1 if rel is None else rel


def per_track_and_slice(
    several: dict[str, JudgedRuns],
    table: Callable[[str, JudgedRuns, Queries], pd.DataFrame],
    weights: Any,
    by: Any,
) -> pd.DataFrame:
    """One frame of the tables of every track and slice, with the columns ``track`` and ``by``.

    Args:
        several: the runs of each track.
        table: the rows of a track, by its name, and of some of its queries.
        weights: see :func:`~pyterrier_asl.evaluation.slices.slices`; for one track.
        by: the slices; for one track.
    """

    def of_track(name: str, judged: JudgedRuns) -> pd.DataFrame:
        return per_slice(judged.qids, lambda queries: table(name, judged, queries), weights, by)

    return per_track(of_track, several, weights=weights, by=by)


def hint_at_grades(
    judgements: Judgements, rel: float | None, judge_rel: Any = None, measures: Any = None
) -> None:
    """Warns where grades go beyond 1 and nothing says which are relevant.

    The warning is of the line that called the function that called the caller of this one.
    """
    if rel is None and judge_rel is None:
        asked = None if measures is None else named_measures(measures)
        if hint := grades_hint(judgements.grades, asked):
            warnings.warn(hint, stacklevel=4)
