"""Comparison of runs with a baseline: means, tests, preferences, queries, documents that moved.

Every difference is a run's value less the baseline's, and a win is the run's. Of two runs the
baseline is A, the other B.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..common.notices import grouped, names_of
from ..common.parameters import check_name, check_probability, one_or_more, taking_other_names
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.labellings import measure_with_bounds
from ..evaluation.preferences import preferences_for
from ..evaluation.scores import ScoreTable
from ..evaluation.sources import (
    NOT_FOR_SCORES,
    QrelsLike,
    complete_measures,
    is_repeated,
    measures_for,
    on_grades,
    refuse,
)
from ..io.declared import SYNONYMS
from ..io.opening import local_path, open_file
from ..io.runs import run_name
from ..measures.parsing import (
    Measures,
    canonical_name,
    measure_named,
    named_measures,
    needs_pool,
    one_measure,
    unique,
    words,
)
from ..statistics.tests import CORRECTIONS, PairedTest
from .conditions import Condition, check_condition, parse_condition
from .differences import PREFERENCES, TESTS, Inputs
from .groups import groups_of
from .result import RunComparison


@taking_other_names
def compare(
    runs: Runs,
    qrels: QrelsLike | None = None,
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
    groups: Any = None,
    detect: float | None = None,
) -> RunComparison:
    """Compares runs with a baseline: means, intervals, tests, preferences, queries, documents.

    Args:
        runs: dict of name -> run (a data frame, such as the results of a pipeline, or a file), a
            folder of run files, or several files; two at least. A list of runs under one name is
            a system with repetitions, such as seeds: its values are means, and the t-test counts
            the variance of repetitions. Without qrels scores that
            :func:`~pyterrier_asl.read_scores` read: these have no preferences and documents.
        qrels: frame, file, ir_datasets id, or :class:`~pyterrier_asl.Qrels`.
        measures: measures or their names, and the preferences ``"rrLP"`` and ``"sgnLP"``. None:
            the measures of the conditions; without conditions those of
            :func:`~pyterrier_asl.measures.defaults.default_measures` and the preferences.
        baseline: the name of the baseline; None: the first run.
        conditions: one or several conditions of a guard, such as ``'nASL@1000 worse p<.05'``; see
            :func:`~pyterrier_asl.comparison.conditions.parse_condition`. A condition
            can have a measure by its name in ``measures``; other measures are added.
            :attr:`RunComparison.verdicts` holds the outcomes.
        allow_missing: whether conditions are tested where the baseline lacks queries that a run
            answers, which is an error otherwise, and whether a run may leave queries unanswered
            that the baseline answers.
        test: one of :data:`TESTS`, for pairs and two-sided; None: ``'t'``. sgnLP always has the
            sign test.
        correction: of the p-values over the runs, for each measure by itself: ``'holm'``,
            ``'bonferroni'``, ``'bh'`` or ``'none'``.
        alpha: the level of significance; intervals cover 1 - alpha.
        seed: seed of the draws of the randomization test; None: 0.
        rel: minimum grade of a relevant document, for preferences and for measures without one.
        pool: pool of the rareness measures that name none; None: the runs themselves.
        lengths: document lengths for TBG; what ``TBG(lengths=...)`` takes.
        groups: the group of each query, for :attr:`RunComparison.groups`: a dict, a file with lines
            ``qid<TAB>group``, a frame with ``qid`` and one more column, or the name of a column of
            the scores.
        detect: a difference, above 0; the table gets the number of queries with which a t-test
            finds it with probability .8.

    Returns:
        The comparison.

    Raises:
        ValueError: for invalid runs, qrels, measures or conditions, several collections, or an
            option that the input has no use for; with conditions also for qrels that give a
            document two grades for one query.
        OSError: for a file that cannot be read.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> old = {"q1": {"x": 3, "a": 2, "b": 1}, "q2": {"x": 2, "c": 1}}
    >>> new = {"q1": {"a": 3, "b": 2, "x": 1}, "q2": {"x": 2, "c": 1}}
    >>> compared = compare({"old": old, "new": new}, qrels, ["AP", "ASL@10"])
    >>> compared.table[["measure", "a", "b", "difference", "wins", "ties"]].round(3)
      measure      a     b  difference  wins  ties
    0      AP  0.542  0.75       0.208     1     1
    1  ASL@10  2.000  1.50      -0.500     1     1
    """
    check_name("test", test, [None, *TESTS])
    check_name("correction", correction, CORRECTIONS)
    check_probability("alpha", alpha)
    parsed = [parse_condition(text) for text in one_or_more(conditions)]
    if not parsed:
        refuse("is for conditions", allow_missing=allow_missing)
    of_measures: dict[str, Any] = {"rel": rel, "pool": pool, "lengths": lengths}
    if test != "randomization":
        refuse("is for test='randomization'", seed=seed)
    if detect is not None and not (isinstance(detect, (int, float)) and 0 < detect < math.inf):
        raise ValueError(f"detect={detect!r}: give a difference above 0, such as .02")
    _refuse_collections(runs, qrels)
    if isinstance(runs, ScoreTable):
        refuse(NOT_FOR_SCORES, qrels=qrels, **of_measures)
        inputs = of_scores(runs, measures, parsed, baseline)
    else:
        names, runs = _one_by_one(runs)
        judged = Evaluation.of(runs, qrels)
        systems = names or {name: [name] for name in judged.names}
        inputs = of_runs(judged, systems, measures, parsed, baseline, qrels=qrels, **of_measures)
    if isinstance(runs, ScoreTable) and isinstance(groups, str) and not Path(groups).exists():
        groups = _groups_of_scores(runs, groups)
    by_query = () if groups is None else groups_of(inputs.qids, groups)
    inputs = replace(inputs, detect=detect, groups=by_query)
    check_inputs(inputs, test or "t")
    return RunComparison(
        inputs, PairedTest(test or "t", correction, alpha, seed=seed), allow_missing
    )


def _refuse_collections(runs: Any, qrels: Any) -> None:
    """Raises ValueError for the runs or the scores of several collections."""
    names: list[str] = []
    if isinstance(runs, ScoreTable):
        names = runs.tracks if len(runs.tracks) > 1 else []
    elif qrels is None and isinstance(runs, Mapping):
        names = [str(name) for name, pair in runs.items() if isinstance(pair, (tuple, Evaluation))]
    if names:
        raise ValueError(
            f"compare is of one collection, and here are {names_of(names)}: call it for each, or "
            "use ranks, which takes several"
        )


def _groups_of_scores(scores: ScoreTable, column: str) -> dict[str, str]:
    """The group of each query in the column of groups of scores."""
    [names] = SYNONYMS["group"]
    if not scores.groups or column not in names:
        raise ValueError(
            f"groups={column!r} is neither a file nor the column of groups of the scores "
            f"({', '.join(names)}): declare another column with columns={{'group': {column!r}}} "
            f"(--columns group={column}), and write groups='group'"
        )
    return {qid: group for (_, qid), group in scores.groups.items()}


def _one_by_one(runs: Any) -> tuple[dict[str, list[str]], Any]:
    """The names of each system's runs, none without repetitions; and all runs by name."""
    if not isinstance(runs, Mapping) or not any(map(is_repeated, runs.values())):
        return {}, runs
    runs = {str(name): list(of) if is_repeated(of) else [of] for name, of in runs.items()}
    names = {
        name: [name] if len(of) == 1 else [f"{name} (run {at})" for at in range(1, len(of) + 1)]
        for name, of in runs.items()
    }
    return names, {run: of for name in runs for run, of in zip(names[name], runs[name])}


def run_files(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Path]:
    """Run files by name, or by path where two have one name.

    Raises:
        OSError: where there is no such file, or it is a folder.
        ValueError: for an empty file, and where two are one file.
    """
    files = [local_path(path) for path in paths]
    for path in files:
        open_file(path).close()
    for other, path in combinations(files, 2):
        if path.samefile(other):
            raise ValueError(f"{other} and {path} are one file: name two runs")
    names = [run_name(path) for path in files]
    if len(set(names)) < len(names):
        names = [str(path) for path in files]
    return dict(zip(names, files))


def with_repetitions(files: Mapping[str, Path], separator: str) -> dict[str, Any]:
    """Run files by system: runs whose names differ only after the last separator are repetitions.

    Raises:
        ValueError: where no two runs are of one system.

    >>> files = {name: Path(f"{name}.run") for name in ("old", "new-1", "new-2")}
    >>> {name: len(runs) for name, runs in with_repetitions(files, "-").items()}
    {'old': 1, 'new': 2}
    """
    systems = grouped((name.rpartition(separator)[0] or name, of) for name, of in files.items())
    if len(systems) == len(files):
        raise ValueError(
            f"repetitions={separator!r}: no two of the runs {names_of([*files])} have one name "
            "before the last separator"
        )
    return dict(systems)


# What is compared


def of_scores(
    scores: ScoreTable,
    measures: Measures | None,
    conditions: Sequence[Condition],
    baseline: str | None,
) -> Inputs:
    """What scores hold; see `compare` for the arguments."""
    listed: list[str] = []
    left_out: list[str] = []
    if measures is not None:
        listed = scores.names_in(measures)
    elif not conditions:
        listed, left_out = scores.default_measures()
    given: dict[str, str] = {}
    for name in [*listed, *(condition.measure for condition in conditions)]:
        if name in PREFERENCES:
            raise ValueError(f"{name} needs runs and qrels, not scores")
        given.setdefault(canonical_name(name), name)
    labels = list(given.values())
    matrices = scores.matrices(labels, scores.tracks[0], repetitions=True)
    frames, note = matrices.frames, matrices.note
    systems = list(frames[labels[0]].index.get_level_values(0))
    names = _baseline_first(list(dict.fromkeys(systems)), baseline)
    rows = [row for name in names for row, system in enumerate(systems) if system == name]
    return Inputs(
        names=names,
        higher_is_better={label: scores.direction(label) for label in labels},
        measures={label: of for label in labels if (of := measure_named(label)) is not None},
        conditions=[(c, given[canonical_name(c.measure)]) for c in conditions],
        of_runs={label: frame.to_numpy(np.float64)[rows] for label, frame in frames.items()},
        qids=list(frames[labels[0]].columns),
        missing={label: filled[rows] for label, filled in matrices.filled.items()},
        notes=[*scores.notes, *left_out, *filter(None, [note])],
        missing_note=note,
        repetitions=[*map(systems.count, names)] if len(systems) > len(names) else (),
    )


def of_runs(
    runs: Evaluation,
    systems: Mapping[str, list[str]],
    measures: Measures | None,
    conditions: Sequence[Condition],
    baseline: str | None,
    *,
    qrels: Any,
    **options: Any,
) -> Inputs:
    """What runs and qrels hold; see `compare` for the arguments.

    Args:
        runs: the matched runs.
        systems: the names of each system's runs.
        measures: the measures and preferences; None: those of the conditions, or the default ones.
        conditions: the conditions.
        baseline: the name of the baseline; None: the first run.
        qrels: the qrels, as they were given.
        **options: ``rel``, ``pool`` and ``lengths``.
    """
    names = _baseline_first([*systems], baseline)
    judged = runs.select([run for name in names for run in systems[name]])
    repeated = len(judged) > len(names)
    asked = [] if conditions and measures is None else _asked(measures, qrels, options)
    if repeated and measures is None:
        asked = [measure for measure in asked if measure not in PREFERENCES]
    listed = [measure for measure in asked if measure not in PREFERENCES]
    guarded = [c.measure for c in conditions if c.measure not in PREFERENCES]
    own = {measure.name: measure for measure in listed}
    wanted = [*listed, *(own.get(name) or one_measure(name) for name in guarded)]
    completed = complete_measures(wanted, pool=options["pool"], lengths=options["lengths"])
    measured = [measure.with_params(rel=options["rel"]) for measure in completed]
    own_rows, of_guard = measured[: len(listed)], measured[len(listed) :]
    rows = {measure.key: measure for measure in reversed(measured)}
    shown = unique([*own_rows, *(rows[measure.key] for measure in of_guard)], "name")
    by_name = {measure.name: measure.measure for measure in shown}
    labels = {
        name: measure.name if measure.name in by_name else rows[measure.key].name
        for name, measure in zip(guarded, of_guard)
    }
    asked += [condition.measure for condition in conditions]
    shown_preferences = [name for name in PREFERENCES if name in asked]
    rel = _least_grade(by_name.values(), options["rel"])
    values = judged.columns_of(shown)
    if shown_preferences:
        preferred = preferences_for(judged, rel)
        values |= {name: preferred[name] for name in shown_preferences}
    return Inputs(
        names=names,
        higher_is_better={measure.name: measure.higher_is_better for measure in shown}
        | dict.fromkeys(shown_preferences, True),
        measures=by_name,
        conditions=[(c, labels.get(c.measure, c.measure)) for c in conditions],
        of_runs=values,
        qids=judged.qids,
        judged=judged,
        rel=rel,
        notes=on_grades(judged.judgements, by_name, options["rel"]),
        repetitions=[len(systems[name]) for name in names] if repeated else (),
    )


def _baseline_first(names: Sequence[str], baseline: str | None) -> list[str]:
    """The names of the systems, the baseline first."""
    first = names[0] if baseline is None else baseline
    if first not in names:
        raise ValueError(f"there is no system {first!r}; there are {', '.join(names)}")
    if len(names) < 2:
        raise ValueError(f"there is only the run {first!r}: compare two at least")
    return [first, *(name for name in names if name != first)]


def _asked(measures: Measures | None, qrels: Any, options: Mapping[str, Any]) -> list[Any]:
    """The measures that were asked for, and the names of preferences."""
    if measures is None:
        has_pool, has_lengths = (options[name] is not None for name in ("pool", "lengths"))
        default = measures_for(qrels, several=has_pool, lengths=has_lengths, rel=options["rel"])
        return [*default, *PREFERENCES]
    if isinstance(measures, Mapping):
        return list(named_measures(measures))
    listed = one_or_more(measures)
    asked = [word for m in listed for word in (words(m) if isinstance(m, str) else [m])]
    others = [word for word in asked if word not in PREFERENCES]
    named = named_measures(others) if others or not asked else []
    return [*named, *dict.fromkeys(word for word in asked if word in PREFERENCES)]


def _least_grade(measures: Iterable[Any], rel: float | None) -> float:
    """The lowest relevant grade for preferences, as for LexiP, which defines them."""
    grades = [measure["rel"] for measure in measures if measure.NAME == "LexiP"]
    return float(grades[0] if grades else 1 if rel is None else rel)


def check_inputs(inputs: Inputs, test: str) -> None:
    """Checks that the inputs and the conditions can be tested by a test."""
    if inputs.is_repeated:
        _check_repetitions(inputs, test)
    for condition, name in inputs.conditions:
        if condition.in_group and not inputs.groups:
            raise ValueError(f"the condition {condition.text!r} needs groups of queries: groups=")
        measure = inputs.measures.get(name)
        if condition.certainly and inputs.judged is None:
            raise ValueError(f"the condition {condition.text!r}: certainly needs runs and qrels")
        if condition.certainly and inputs.judged and measure is not None:
            measure_with_bounds(inputs.judged.with_pool({name: measure})[name])
        if measure is not None or name in PREFERENCES:
            check_condition(condition, measure, inputs.higher_is_better[name], test=test)


def _check_repetitions(inputs: Inputs, test: str) -> None:
    """Raises ValueError for what systems with several runs have no answer to."""
    alone = "is for systems with one run each"
    conditions = [c.text for c, _ in inputs.conditions if c.certainly or c.possibly]
    pooled = [name for name, measure in inputs.measures.items() if needs_pool(measure)]
    wrong = [
        *(f"{of} {alone}: leave it out" for of in ("detect", "groups") if getattr(inputs, of)),
        *(f"the condition {text!r} {alone}" for text in conditions),
        *(f"{n} would count the runs of one system as several: give a pool" for n in pooled),
        *(
            f"{n} prefers one run to another: leave it out"
            for n in PREFERENCES
            if n in inputs.of_runs
        ),
        *[f"test={test!r} {alone}: use 't'"] * (test != "t"),
    ]
    if wrong:
        repeated = next(name for name in inputs.names if len(inputs.rows(name)) > 1)
        raise ValueError(f"{repeated} has several runs, and {wrong[0]}")
