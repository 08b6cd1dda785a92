"""Reads the runs, judgements and judges of an analysis, and goes through tracks and slices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ..assessment.judges import QRELS, JudgeRel, Judges
from ..evaluation.evaluation import Evaluation, tracks
from ..evaluation.inputs import Qrels, Runs, grades_hint
from ..evaluation.slices import Queries, Slices, Weights, per_slice
from ..io.kernels import pc
from ..io.lazy import pd
from ..judging.judgements import Judgements
from ..measures.names import Measures, named_measures
from ..scoring.arrays import within_query

__all__ = [
    "by_double_scores",
    "hint_at_grades",
    "per_slice",
    "per_track",
    "per_track_and_slice",
    "read",
    "read_judges",
    "read_qrels_and_judges",
    "read_tracks",
]


def read(
    runs: Runs,
    qrels: Qrels | None,
    duplicates: str | None,
    rel: float | None,
    measures: Measures | None = None,
) -> tuple[Evaluation, float]:
    """Reads runs, and returns the minimum grade of a relevant document with them.

    Warns its caller's caller where grades go beyond 1 and nothing says which are relevant.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation.
        qrels: frame, file, or ir_datasets id; None: those of Evaluation.
        duplicates: what to do with a document that stands twice in a ranking.
        rel: the minimum grade; None: 1.
        measures: measures or their names, which can have a minimum grade of their own.

    >>> judged, rel = read({"a": {"q": {"d": 1}}}, {"q": {"d": 1}}, None, None)
    >>> judged.names, rel
    (['a'], 1)
    """
    judged = Evaluation.of(runs, qrels, duplicates=duplicates)
    hint_at_grades(judged.judgements, rel, measures=measures)
    return judged, 1 if rel is None else rel


def read_tracks(
    runs: Runs,
    qrels: Qrels | None,
    duplicates: str | None,
    rel: float | None,
    measures: Measures | None = None,
) -> tuple[dict[str, Evaluation], float]:
    """Reads the runs of each track by its name, '' for the only one; the rest as :func:`read`."""
    several = tracks(runs, qrels, duplicates)
    for judged in several.values():
        hint_at_grades(judged.judgements, rel, measures=measures)
    return several, 1 if rel is None else rel


def read_judges(
    judges: Mapping[str, Qrels],
    runs: Runs | None = None,
    *,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    duplicates: str | None = None,
    measure: Measures | None = None,
) -> Judges:
    """Reads two judges or more, and runs to measure by each; arguments as :meth:`.Judges.of`.

    Raises:
        ValueError: for fewer than two judges.
    """
    if len(judges) < 2:
        raise ValueError(f"there are {len(judges)} judges: comparing takes at least two")
    read = Judges.of(judges, runs, rel=rel, judge_rel=judge_rel, duplicates=duplicates)
    hint_at_grades(read.judgements, rel, judge_rel, measure)
    return read


def read_qrels_and_judges(
    qrels: Qrels | None,
    judges: Mapping[str, Qrels] | None,
    rel: float | None,
    judge_rel: JudgeRel | None,
    *,
    runs: Runs | None = None,
    duplicates: str | None = None,
) -> Judges:
    """Reads the judge of ``qrels``, perhaps others beside, and perhaps runs."""
    judged = None if runs is None else Evaluation.of(runs, qrels, duplicates=duplicates)
    sources: dict[str, Any] = {
        QRELS: qrels if judged is None else judged.judgements,
        **(judges or {}),
    }
    read = Judges.of(sources, judged, rel=1 if rel is None else rel, judge_rel=judge_rel)
    hint_at_grades(read.judgements, rel, judge_rel)
    return read


def per_track(
    analyse: Callable[[str, Evaluation], pd.DataFrame],
    runs: Any,
    qrels: Any = None,
    duplicates: str | None = None,
    **of_one_track: Any,
) -> pd.DataFrame:
    """The frames that ``analyse`` gives of each track, as one; its first column is ``track``.

    Args:
        analyse: the frame of a track, by its name ('' for the one that has none).
        runs: see :func:`~pyterrier_asl.evaluation.evaluation.tracks`.
        qrels: see :func:`~pyterrier_asl.evaluation.evaluation.tracks`.
        duplicates: see :func:`~pyterrier_asl.evaluate`.
        **of_one_track: what is about the queries of one track, such as weights; None: not given.

    Raises:
        ValueError: where something of one track is given for several.

    >>> import pandas as pd
    >>> track = ({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
    >>> per_track(lambda _, judged: pd.DataFrame({"runs": [len(judged)]}), {"toy": track})
      track  runs
    0   toy     1
    """
    several = tracks(runs, qrels, duplicates)
    options = [name for name, value in of_one_track.items() if value is not None]
    if len(several) > 1 and options:
        raise ValueError(
            f"{', '.join(options)} can be given for the queries of one track, and there are "
            f"{len(several)}: call it for each"
        )
    parts = {name: analyse(name, judged) for name, judged in several.items()}
    whole = pd.concat(parts, names=["track"]).reset_index(level="track").reset_index(drop=True)
    whole.attrs = next(iter(parts.values())).attrs
    return whole


def per_track_and_slice(
    several: dict[str, Evaluation],
    table: Callable[[str, Evaluation, Queries], pd.DataFrame],
    weights: Weights | None,
    by: Slices | None,
) -> pd.DataFrame:
    """One frame of the tables of every track and slice, with the columns ``track`` and ``by``.

    Args:
        several: the runs of each track.
        table: the rows of a track, by its name, and of some of its queries.
        weights: see :func:`~pyterrier_asl.evaluation.slices.slices`; for one track.
        by: the slices; for one track.
    """

    def of_track(name: str, judged: Evaluation) -> pd.DataFrame:
        return per_slice(judged.qids, lambda queries: table(name, judged, queries), weights, by)

    return per_track(of_track, several, weights=weights, by=by)


def hint_at_grades(
    judgements: Judgements,
    rel: float | None,
    judge_rel: JudgeRel | None = None,
    measures: Measures | None = None,
) -> None:
    """Warns where grades go beyond 1 and nothing says which are relevant.

    The warning is of the line that called the function that called the caller of this one.
    """
    if rel is None and judge_rel is None:
        asked = None if measures is None else named_measures(measures)
        if hint := grades_hint(judgements.grades, asked):
            warnings.warn(hint, stacklevel=4)


def by_double_scores(runs: Evaluation) -> Evaluation:
    """Ranks runs by their scores as 64-bit numbers.

    trec_eval compares 32-bit ones, and so do all measures here: scores that differ in the eighth
    digit only tie, and the document id decides. Programs that read scores as Python or NumPy do
    rank such documents otherwise, which changes a few of TREC-8's runs.

    Args:
        runs: runs that were judged from their rows.

    >>> run = {"q": {"a": 1.00000002, "b": 1.00000001}}
    >>> runs = Evaluation.of({"run": run}, {"q": {"a": 1}})
    >>> [judged.runs[0].ranks.tolist() for judged in (runs, by_double_scores(runs))]
    [[2], [1]]
    """
    judged = [runs.judgements.judge_whole(_reranked(run.table)) for run in runs.runs]
    return Evaluation(runs.names, judged, runs.judgements, runs.source)


def _reranked(table: object) -> pa.Table:
    """A run whose scores are positions by 64-bit scores, which 32 bits hold exactly."""
    columns = {name: getattr(table, name) for name in ("qid", "docno")}
    run = pa.table({**columns, "score": pa.array(table.value)})  # type: ignore[attr-defined]
    order = pc.sort_indices(
        run, sort_keys=[("qid", "ascending"), ("score", "descending"), ("docno", "descending")]
    )
    run = run.take(order)
    is_first = pc.not_equal(run["qid"][1:], run["qid"][:-1]).to_numpy()
    offsets = np.concatenate(([0], np.flatnonzero(is_first) + 1, [len(run)]))
    return run.set_column(2, "score", pa.array(-within_query(offsets).astype(np.float64)))
