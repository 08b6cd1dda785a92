"""Reads the inputs and options of an analysis, and goes through its tracks."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ..assessment.judges import QRELS, Judges, with_reference
from ..common.lazy import pc
from ..common.notices import warn
from ..common.parameters import check_names
from ..evaluation.evaluate import tracks
from ..evaluation.evaluation import Evaluation as Evaluation
from ..evaluation.evaluation import Runs
from ..evaluation.sources import JudgeRel, QrelsLike, complete_measures, warn_of_grades
from ..io.columns import Columns
from ..measures._base import check_from_0
from ..measures.parsing import Measures, named_measures
from ..scoring.arrays import within_query

#: The runs of each track, by its name, and the minimum grade of a relevant document.
Tracks: TypeAlias = "dict[str, tuple[Evaluation, float]]"

#: The minimum grade of a relevant document in calls, for all tracks or by track.
RelOfTracks: TypeAlias = "float | Mapping[str, float] | None"

#: The runs that the analysis of this context has read, with the names of their collections.
READ: ContextVar[list[tuple[str, Evaluation]] | None] = ContextVar("READ", default=None)


def _keep(track: str, judged: Evaluation) -> None:
    """Keeps runs for the notes of the analysis that reads them."""
    if (read := READ.get()) is not None:
        read.append((track, judged))


def read(
    runs: Runs,
    qrels: QrelsLike | None,
    rel: float | None,
    measures: Measures | None = None,
    *,
    double_scores: bool = False,
) -> tuple[Evaluation, float]:
    """Reads runs, and returns the minimum grade of a relevant document with them.

    Warns at the line that called the analysis if grades above 1 occur and no minimum is given.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation.
        qrels: frame, file, or ir_datasets id; None: the qrels of Evaluation.
        rel: the minimum grade; None: 1.
        measures: measures or their names, which can have minimum grades.
        double_scores: whether to rank by 64-bit scores; see :func:`by_double_scores`.

    >>> judged, rel = read({"a": {"q": {"d": 1}}}, {"q": {"d": 1}}, None)
    >>> judged.names, rel
    (['a'], 1)
    """
    judged = Evaluation.of(runs, qrels)
    rel = _check_rel(judged, rel, measures)
    return judged.once(by_double_scores) if double_scores else judged, rel


def read_tracks(
    runs: Runs, qrels: QrelsLike | None, rel: RelOfTracks, measures: Measures | None = None
) -> Tracks:
    """Reads the runs of each track by its name, '' for the only one, and its minimum grade."""
    evaluations = tracks(runs, qrels)
    by_track = rel if isinstance(rel, Mapping) else dict.fromkeys(evaluations, rel)
    check_names("rel", by_track, list(evaluations), "tracks")
    return {
        name: (judged, _check_rel(judged, by_track.get(name), measures, name))
        for name, judged in evaluations.items()
    }


def _check_rel(
    judged: Evaluation, rel: float | None, measures: Measures | None, track: str = ""
) -> float:
    """The minimum grade; warns of other grades, and if no document has it."""
    named = None if measures is None else {m.name: m.measure for m in named_measures(measures)}
    warn_of_grades(judged.judgements, named, rel)
    _keep(track, judged)
    least, grades = 1 if rel is None else check_from_0("rel", rel), judged.judgements.grades
    if not is_relevant(judged, least) and len(grades):
        warn(
            f"{f'{track}: ' if track else ''}no document is relevant: the highest grade is "
            f"{grades.max():g}, below {least:g}"
        )
    return least


def is_relevant(judged: Evaluation, rel: float) -> bool:
    """Whether any document has the minimum grade."""
    return bool((judged.judgements.grades >= rel).any())


def read_qrels_and_judges(
    qrels: QrelsLike | None,
    judges: Mapping[str, QrelsLike] | None,
    rel: float | None,
    judge_rel: JudgeRel | None,
    *,
    runs: Runs | None = None,
) -> Judges:
    """Reads the judge of ``qrels``, and other judges and runs if there are any."""
    judged = None if runs is None else Evaluation.of(runs, qrels)
    first: Any = qrels if judged is None else judged.judgements
    sources = with_reference({} if judges is None else judges, QRELS, first)
    panel = Judges.of(sources, judged, rel=1 if rel is None else rel, judge_rel=judge_rel)
    warn(*panel.notes_on())
    warn_of_grades(panel.judgements, None, rel, judge_rel)
    if judged is not None:
        _keep("", judged)
    return panel


def measures_with_rel(measures: Measures, rel: float | None) -> dict[str, Any]:
    """The measures by the names that the caller gave them.

    Measures without a minimum grade get ``rel``, which at least one must have.
    """
    return {
        named.name: named.measure for named in complete_measures(named_measures(measures), rel=rel)
    }


def by_double_scores(runs: Evaluation) -> Evaluation:
    """Ranks runs by their scores as 64-bit numbers.

    trec_eval compares 32-bit numbers, and so do all measures here: scores that differ in the eighth
    digit only are ties, and the document id decides. Programs that read scores as Python or NumPy
    numbers order such documents by score, which changes a few of TREC-8's runs.

    Args:
        runs: runs that were judged from their rows.

    >>> run = {"q": {"a": 1.00000002, "b": 1.00000001}}
    >>> runs = Evaluation.of({"run": run}, {"q": {"a": 1}})
    >>> [judged.runs[0].ranks.tolist() for judged in (runs, by_double_scores(runs))]
    [[2], [1]]
    """
    return Evaluation.of(
        {name: _rerank(run.table) for name, run in zip(runs.names, runs.runs)}, runs.judgements
    )


def _rerank(table: Columns) -> pa.Table:
    """A run whose scores are negative positions by 64-bit scores, which 32 bits hold exactly."""
    run = pa.table({"qid": table.qid, "docno": table.docno, "score": pa.array(table.value)})
    run = run.sort_by([("qid", "ascending"), ("score", "descending"), ("docno", "descending")])
    offsets = np.append(0, pc.run_end_encode(run["qid"].combine_chunks()).run_ends.to_numpy())
    return run.set_column(2, "score", pa.array(-within_query(offsets).astype(np.float64)))
