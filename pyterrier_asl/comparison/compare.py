"""Comparison of runs with a baseline: means, tests, preferences, queries, documents that moved.

Every difference is a run's value less the baseline's, and a win is the run's. Of two runs the
baseline is A, the other B.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..assessment.system_pairs import PairedTest
from ..evaluation.evaluation import Evaluation, tracks
from ..evaluation.inputs import (
    FOR_SEVERAL,
    NOT_FOR_SCORES,
    Qrels,
    Runs,
    measures_for,
    refuse,
    warn_of_grades,
)
from ..evaluation.labellings import has_bounds
from ..evaluation.relevant_documents import RelevantDocuments
from ..evaluation.scores import ScoreTable
from ..io.files import local_path
from ..io.runs import run_name
from ..judging.labels import qrels_with
from ..measures.directions import higher_is_better
from ..measures.lexip import LexiP
from ..measures.names import Measures, NamedMeasure
from ..scoring.lexicographic import first_difference
from ..statistics.correction import CORRECTIONS
from ..statistics.inputs import check_name, check_probability
from .answers import Answers
from .causes.find import causes_frame, causes_of_runs
from .conditions import Condition, check_condition, parse_condition
from .guard import limits_of
from .result import (
    PREFERENCES,
    TESTS,
    AllLimits,
    RunComparison,
    RunDifference,
    comparison_of,
)
from .values import (
    compare_values,
    rows_of,
    values_of_scores,
    values_of_tracks,
    without_preferences,
)


def compare(
    runs: Runs,
    qrels: Qrels | None = None,
    measures: Measures | None = None,
    *,
    baseline: str | None = None,
    conditions: str | Iterable[str] = (),
    allow_missing: bool = False,
    test: str | None = None,
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int | None = None,
    rel: float | None = None,
    pool: Any = None,
    lengths: Any = None,
    duplicates: str | None = None,
    drop_self: bool = False,
    bounds: bool = False,
    common: bool = False,
    labels: Any = None,
    causes: bool | None = None,
) -> RunComparison:
    """Compares runs with a baseline: means, intervals, tests, preferences, queries, documents.

    Args:
        runs: dict of name -> run (a data frame, such as the results of a pipeline, or a file), a
            folder of run files, or several files; two at least. Without qrels a dict of
            collection -> (runs, qrels), or scores that :func:`~pyterrier_asl.read_scores` read:
            these have no preferences, documents and bounds.
        qrels: data frame, file, or ir_datasets id.
        measures: measures or their names. None: those of
            :func:`~pyterrier_asl.measures.names.default_measures`. The preferences rrLP and sgnLP
            are always added.
        baseline: the name of the baseline; None: the first run.
        conditions: one or several conditions of a guard, such as ``'nASL@1000 worse p<.05'``; see
            :func:`~pyterrier_asl.comparison.conditions.parse_condition`. A condition
            can have a measure by its name in ``measures``; other measures are added.
            :attr:`RunComparison.verdicts` holds the outcomes.
        allow_missing: whether conditions are tested where the baseline lacks queries or documents
            that a run has, which is an error otherwise, and whether a run may leave queries
            unanswered that the baseline answers.
        test: one of :data:`TESTS`, for pairs and two-sided; None: ``'t'``. sgnLP always has the
            sign test, and several collections have a test of their own.
        correction: of the p-values, over all measures and runs: ``'holm'``, ``'bonferroni'``,
            ``'bh'`` or ``'none'``.
        alpha: intervals cover 1 - alpha.
        seed: of the draws of the randomization test, or of several collections; None: 0.
        rel: minimum grade of a relevant document, for preferences and for measures without one.
        pool: pool of the rareness measures that name none; None: the runs themselves.
        lengths: document lengths for TBG; what ``TBG(lengths=...)`` takes.
        duplicates: see :func:`~pyterrier_asl.evaluate`.
        drop_self: see :func:`~pyterrier_asl.evaluate`.
        bounds: also bounds of each difference over all labels of the unjudged documents.
        common: of several collections, leave out systems that any of them lacks.
        labels: labels of documents that the qrels do not judge, merged with them: what
            :func:`~pyterrier_asl.merge_labels` takes; of one collection.
        causes: whether to look for causes of the differences other than the systems, such as ids
            of another form (:attr:`RunComparison.causes`); None: yes, for runs.

    Returns:
        The comparison; over several collections a
        :class:`~pyterrier_asl.comparison.values.TrackComparison`, with p from random signs.

    Raises:
        ValueError: for invalid runs, qrels, measures or conditions, or an option that the input
            has no use for; with conditions also for qrels that give a document two grades for one
            query.
        OSError: for a file that cannot be read.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> old = {"q1": {"x": 3, "a": 2, "b": 1}, "q2": {"x": 2, "c": 1}}
    >>> new = {"q1": {"a": 3, "b": 2, "x": 1}, "q2": {"x": 2, "c": 1}}
    >>> compared = compare({"old": old, "new": new}, qrels, ["AP", "ASL@10"])
    >>> compared.table[["measure", "a", "b", "difference", "wins", "ties"]].round(3)
      measure      a     b  difference  wins  ties
    0      AP  0.542  0.75       0.208     1     1
    1  ASL@10  2.000  1.50      -0.500     1     1
    2    rrLP    NaN   NaN       0.250     1     1
    3   sgnLP    NaN   NaN       0.500     1     1
    """
    check_name("test", test, [None, *TESTS])
    check_name("correction", correction, CORRECTIONS)
    check_probability("alpha", alpha)
    conditions = [conditions] if isinstance(conditions, str) else list(conditions)
    if not conditions:
        refuse("is for conditions", allow_missing=allow_missing)
    parsed = [parse_condition(text) for text in conditions]
    options = PairedTest(test or "t", correction, alpha, seed=seed)
    of_runs: dict[str, Any] = {"pool": pool, "lengths": lengths, "bounds": bounds}
    of_matching: dict[str, Any] = {"duplicates": duplicates, "drop_self": drop_self}
    source = None
    if isinstance(runs, ScoreTable):
        refuse(NOT_FOR_SCORES, qrels=qrels, rel=rel, labels=labels, causes=causes)
        refuse(NOT_FOR_SCORES, **of_matching, **of_runs)
        several = len(runs.tracks) > 1
        source = values_of_scores(runs, measures, parsed)
    elif several := qrels is None and isinstance(runs, Mapping):
        refuse("is for one collection", labels=labels, **of_runs)
        source = values_of_tracks(tracks(runs, None, **of_matching), measures, parsed, rel)
    if several:
        refuse("is for one collection", test=test)
    else:
        refuse(FOR_SEVERAL, common=common)
        if test != "randomization":
            refuse("is for test='randomization'", seed=seed)
    if source is not None:
        of_values: dict[str, Any] = {"common": common, "causes": causes}
        of_values["allow_missing"] = allow_missing
        return compare_values(source, baseline, options, **of_values)
    with warnings.catch_warnings():
        if conditions:  # a guard ends with an error where judgements contradict each other
            warnings.filterwarnings("ignore", message="the qrels judge")
        merged = qrels_with(qrels, labels, duplicates)
        judged = Evaluation.of(runs, merged, **of_matching)
    of_runs |= {"qrels": qrels, "rel": rel, "allow_missing": allow_missing, "causes": causes}
    return _compare_runs(judged, measures, baseline, parsed, options, **of_runs)


def _compare_runs(
    judged: Evaluation,
    measures: Measures | None,
    baseline: str | None,
    conditions: list[Condition],
    options: PairedTest,
    *,
    qrels: Any,
    rel: float | None,
    pool: Any,
    lengths: Any,
    bounds: bool,
    allow_missing: bool,
    causes: bool | None,
) -> RunComparison:
    """Compares the runs of one collection; see `compare` for the arguments."""
    if len(judged) < 2:
        raise ValueError(f"there is only the run {judged.names[0]!r}: compare two at least")
    if baseline is not None:
        judged = judged.select([baseline, *(other for other in judged.names if other != baseline)])
    if measures is None:
        has_pool, has_lengths = pool is not None, lengths is not None
        listed = measures_for(qrels, several=has_pool, lengths=has_lengths, rel=rel)
    else:
        listed = without_preferences(measures)
    shown, named = rows_of(listed, conditions, rel=rel, pool=pool, lengths=lengths)
    by_name = {measure.name: measure.measure for measure in shown}
    warn_of_grades(judged.judgements, by_name, rel)
    for condition, name in named:
        measure = by_name.get(name)  # None of a preference
        higher = measure is None or higher_is_better(measure)
        check_condition(condition, measure, higher, test=options.test, systems=len(judged))
    least = _least_grade(shown, rel)
    answered = by_name | dict.fromkeys(PREFERENCES, LexiP(rel=least))
    guarded_names = [name for _, name in named]
    moved, retrieved = _documents(judged, shown, least)
    differences = list(_run_differences(judged, shown, least))
    found = [] if causes is False else causes_of_runs(judged, by_name, guarded_names)
    return comparison_of(
        judged.names[0],
        differences,
        options,
        limits=_limits(judged, shown, named, bounds),
        bounds=bounds,
        moved=moved,
        retrieved=retrieved,
        answers=Answers.of(
            judged, answered, is_guard=bool(conditions), allow_missing=allow_missing
        ),
        causes=causes_frame(found),
        rel=least,
        _measures=by_name,
        _conditions=named,
        _allow_missing=allow_missing,
    )


def run_files(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Path]:
    """Run files by name, or by path where two have one name.

    Raises:
        OSError: where there is no such file, or it is a folder.
        ValueError: where two are one file.
    """
    files = [local_path(path) for path in paths]
    for path in files:
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name run files")
    for other, path in combinations(files, 2):
        if path.samefile(other):
            raise ValueError(f"{other} and {path} are one file: name two runs")
    names = [run_name(path) for path in files]
    if len(set(names)) < len(names):
        names = [str(path) for path in files]
    return dict(zip(names, files))


def _least_grade(shown: Sequence[NamedMeasure], rel: float | None) -> float:
    """The lowest relevant grade for preferences, as for LexiP, which defines them."""
    grades = [measure.measure["rel"] for measure in shown if measure.measure.NAME == "LexiP"]
    return float(grades[0] if grades else 1 if rel is None else rel)


def _limits(
    judged: Evaluation,
    shown: Sequence[NamedMeasure],
    conditions: Iterable[tuple[Condition, str]],
    bounds: bool,
) -> AllLimits:
    """The bounds of differences: of every measure with bounds, or of those with ``certainly``."""
    certain = {name for condition, name in conditions if condition.certainly}
    first, *others = judged.names
    return {
        (run, measure.name): limits_of(judged, first, run, measure.measure)
        for run in others
        for measure in shown
        if (has_bounds(measure.measure) if bounds else measure.name in certain)
    }


# Results


def _run_differences(
    judged: Evaluation, shown: Sequence[NamedMeasure], rel: float
) -> Iterator[RunDifference]:
    """The differences of each run but the first in every measure, then its preferences."""
    reciprocal, total = judged.reciprocal_ranks(rel), judged.judgements.num_relevant(rel)
    none = np.full(len(total), np.nan)
    columns = judged.columns_of(shown)
    for row, run in enumerate(judged.names[1:], 1):
        for measure in shown:
            a, b = columns[measure.name][[0, row]]
            higher = measure.higher_is_better
            yield RunDifference(run, measure.name, higher, a, b, b - a, judged.qids)
        _, preferred = first_difference(reciprocal[row], reciprocal[0], total)
        for name, values in zip(PREFERENCES, (preferred, np.sign(preferred))):
            yield RunDifference(run, name, True, none, none, values, judged.qids)


def _documents(
    judged: Evaluation, shown: Sequence[NamedMeasure], rel: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The relevant documents that moved, and how many each run retrieved, by ASL's parameters."""
    asl = next((m.measure for m in shown if m.measure.NAME in ("ASL", "nASL")), None)
    view = {"rel": rel} if asl is None else {"rel": asl["rel"], "cutoff": asl["cutoff"]}
    a, *others = (RelevantDocuments.of(run, **view) for run in judged.runs)
    grades = judged.judgements.grades
    relevant = np.flatnonzero((grades >= view["rel"]) & (grades >= 0))
    docnos = judged.judgements.docnos.take(relevant).to_pandas()
    qids = pd.Series(judged.qids).iloc[a.queries].to_numpy()
    moved, retrieved = [], []
    for run, b in zip(judged.names[1:], others):
        both, change = a.found & b.found, b.lengths - a.lengths
        retrieved_by = np.select([both, a.found, b.found], ["both", "A", "B"], "").astype(object)
        frame = pd.DataFrame(
            {
                "run": run,
                "qid": qids,
                "docno": docnos,
                "a": a.lengths,
                "b": b.lengths,
                "change": change,
                "found": retrieved_by,
            }
        ).iloc[np.argsort(-np.abs(change), kind="stable")]
        moved.append(frame[(frame["change"] != 0) & (frame["found"] != "")])
        counts = {
            "both": both,
            "A": a.found & ~b.found,
            "B": b.found & ~a.found,
            "neither": ~a.found & ~b.found,
            "nearer": both & (change < 0),
            "farther": both & (change > 0),
        }
        retrieved.append(
            {"run": run} | {name: int(chosen.sum()) for name, chosen in counts.items()}
        )
    return pd.concat(moved, ignore_index=True), pd.DataFrame(retrieved)
