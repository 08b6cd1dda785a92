"""What is compared: the values of systems by collection, measure and query, from runs or scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..evaluation.collections import shared_systems
from ..evaluation.evaluation import Evaluation
from ..evaluation.labellings import measure_with_bounds
from ..evaluation.preferences import preferences_for
from ..evaluation.scores import ScoreTable
from ..evaluation.sources import complete_measures, measures_for, warn_of_grades
from ..measures.parsing import (
    Measures,
    canonical_name,
    measure_named,
    named_measures,
    one_measure,
    unique,
    words,
)
from ..statistics.settings import Bools, Floats
from .conditions import Condition, check_condition

#: Preferences of lexicographic precision (Diaz 2023), which are defined for pairs of runs.
PREFERENCES = ("rrLP", "sgnLP")


@dataclass(frozen=True)
class Inputs:
    """The values of S systems, the baseline first.

    Attributes:
        names: the systems.
        higher_is_better: the direction of each measure and preference; None of a count.
        measures: the measures that ir_measures knows, by name; no preferences.
        conditions: the conditions, with the names of their measures here.
        values: collection ('' for a single one) -> name -> values, shape (S, Q); preferences are
            those for each system over the baseline.
        qids: the queries of each collection.
        judged: the runs of each collection; none of scores.
        missing: of scores whether each was missing and is filled, as ``values``.
        rel: the least grade of a relevant document, for preferences and documents.
    """

    names: list[str]
    higher_is_better: dict[str, bool | None]
    measures: dict[str, Any]
    conditions: list[tuple[Condition, str]]
    values: dict[str, dict[str, Floats]]
    qids: dict[str, list[Any]]
    judged: dict[str, Evaluation] = field(default_factory=dict)
    missing: dict[str, dict[str, Bools]] = field(default_factory=dict)
    rel: float = 1


def of_scores(
    scores: ScoreTable,
    measures: Measures | None,
    conditions: Sequence[Condition],
    baseline: str | None,
    common: bool,
) -> Inputs:
    """What scores hold; see `compare` for the arguments."""
    listed = [] if conditions else scores.measures
    listed = listed if measures is None else scores.names_in(measures)
    given: dict[str, str] = {}
    for name in [*listed, *(condition.measure for condition in conditions)]:
        if name in PREFERENCES:
            raise ValueError(f"{name} needs runs and qrels, not scores")
        given.setdefault(canonical_name(name), name)
    labels = list(given.values())
    frames = {
        track: {label: scores.matrix(label, track) for label in labels} for track in scores.tracks
    }
    systems = {
        track: list(dict.fromkeys(name for frame in by.values() for name in frame.index))
        for track, by in frames.items()
    }
    names = _systems(systems, baseline, common)
    unfilled = replace(scores, fill=np.nan)
    known = {label: measure_named(label) for label in labels}
    return Inputs(
        names,
        {label: scores.direction(label) for label in labels},
        {label: measure for label, measure in known.items() if measure is not None},
        [(condition, given[canonical_name(condition.measure)]) for condition in conditions],
        {
            track: {label: frame.loc[names].to_numpy(np.float64) for label, frame in by.items()}
            for track, by in frames.items()
        },
        {track: list(by[labels[0]].columns) for track, by in frames.items()},
        missing={
            track: {
                label: unfilled.matrix(label, track).loc[names].isna().to_numpy() for label in by
            }
            for track, by in frames.items()
        },
    )


def of_runs(
    tracks: Mapping[str, Evaluation],
    measures: Measures | None,
    conditions: Sequence[Condition],
    baseline: str | None,
    common: bool,
    *,
    qrels: Any,
    **options: Any,
) -> Inputs:
    """What runs and qrels hold; see `compare` for the arguments.

    Args:
        tracks: the matched runs of each collection.
        measures: the measures and preferences; None: those of the conditions, or the default ones.
        conditions: the conditions.
        baseline: the name of the baseline; None: the first run.
        common: whether systems that a collection lacks are left out.
        qrels: the qrels of a single collection, as they were given.
        **options: ``rel``, ``pool`` and ``lengths``.
    """
    names = _systems({track: judged.names for track, judged in tracks.items()}, baseline, common)
    judged = {track: runs.select(names) for track, runs in tracks.items()}
    asked = [] if conditions and measures is None else _asked(measures, qrels, options)
    preferences = [name for name in asked if name in PREFERENCES]
    listed = [measure for measure in asked if measure not in PREFERENCES]
    guarded = [c.measure for c in conditions if c.measure not in PREFERENCES]
    own = {measure.name: measure for measure in listed}
    wanted = [*listed, *(own.get(name) or one_measure(name) for name in guarded)]
    pool_and_lengths = {name: options[name] for name in ("pool", "lengths")}
    completed = complete_measures(wanted, **pool_and_lengths)
    measured = [measure.with_params(rel=options["rel"]) for measure in completed]
    shown = unique(measured[: len(listed)], "name")
    rows = {measure.key: measure.name for measure in reversed(shown)}
    for measure in measured[len(listed) :]:
        if rows.setdefault(measure.key, measure.name) == measure.name:
            shown = unique([*shown, measure], "name")
    by_name = {measure.name: measure.measure for measure in shown}
    labels = {
        name: measure.name if measure.name in by_name else rows[measure.key]
        for name, measure in zip(guarded, measured[len(listed) :])
    }
    for runs in judged.values():
        warn_of_grades(runs.judgements, by_name, options["rel"])
    asked_for = {*preferences, *(c.measure for c in conditions)}
    shown_preferences = [name for name in PREFERENCES if name in asked_for]
    rel = _least_grade(by_name.values(), options["rel"])
    values = {track: runs.columns_of(shown) for track, runs in judged.items()}
    for track, runs in judged.items() if shown_preferences else ():
        preferred = preferences_for(runs, rel)
        values[track] |= {name: preferred[name] for name in shown_preferences}
    return Inputs(
        names,
        {measure.name: measure.higher_is_better for measure in shown}
        | dict.fromkeys(shown_preferences, True),
        by_name,
        [(c, labels.get(c.measure, c.measure)) for c in conditions],
        values,
        {track: runs.qids for track, runs in judged.items()},
        judged,
        rel=rel,
    )


def _systems(names: Mapping[str, Sequence[str]], baseline: str | None, common: bool) -> list[str]:
    """The systems that all collections have, the baseline first."""
    shared = shared_systems(names, common=common)
    first = shared[0] if baseline is None else baseline
    if first not in shared:
        raise ValueError(f"there is no system {first!r}; there are {', '.join(shared)}")
    if len(shared) < 2:
        raise ValueError(f"there is only the run {first!r}: compare two at least")
    return [first, *(name for name in shared if name != first)]


def _asked(measures: Measures | None, qrels: Any, options: Mapping[str, Any]) -> list[Any]:
    """The measures that were asked for, and the names of preferences."""
    if measures is None:
        has_pool, has_lengths = (options[name] is not None for name in ("pool", "lengths"))
        default = measures_for(qrels, several=has_pool, lengths=has_lengths, rel=options["rel"])
        return [*default, *PREFERENCES]
    if isinstance(measures, Mapping):
        return list(named_measures(measures))
    several = not isinstance(measures, str) and isinstance(measures, Iterable)
    listed = measures if several else [measures]
    asked = [word for m in listed for word in (words(m) if isinstance(m, str) else [m])]
    others = [word for word in asked if word not in PREFERENCES]
    named = named_measures(others) if others or not asked else []
    return [*named, *dict.fromkeys(word for word in asked if word in PREFERENCES)]


def _least_grade(measures: Iterable[Any], rel: float | None) -> float:
    """The lowest relevant grade for preferences, as for LexiP, which defines them."""
    grades = [measure["rel"] for measure in measures if measure.NAME == "LexiP"]
    return float(grades[0] if grades else 1 if rel is None else rel)


def check_inputs(inputs: Inputs, test: str) -> None:
    """Checks that the conditions can be tested on the inputs by a test."""
    for condition, name in inputs.conditions:
        if condition.certainly and len(inputs.judged) != 1:
            needs = "certainly needs the runs of one collection"
            raise ValueError(f"the condition {condition.text!r}: {needs}")
        if condition.possibly and len(inputs.values) > 1:
            needs = "possibly is of one collection only"
            raise ValueError(f"the condition {condition.text!r}: {needs}")
        measure = inputs.measures.get(name)
        if condition.certainly and measure is not None:
            measure_with_bounds(inputs.judged[""].with_pool({name: measure})[name])
        if measure is not None or name in PREFERENCES:
            check_condition(condition, measure, inputs.higher_is_better[name], test=test)
