"""Comparison of systems with a baseline by values: scores without runs, several collections.

Over several collections the overall difference is the mean of the collections' mean differences.
Its p is from random signs of the differences by topic, within collections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..assessment.system_pairs import PairedTest
from ..evaluation.evaluation import Evaluation
from ..evaluation.inputs import complete_measures, measures_for, refuse_unused, warn_of_grades
from ..evaluation.scores import ScoreTable, canonical_name
from ..io.names import OVERALL, shared_systems
from ..io.notices import counted, names_of
from ..leaderboard.samples import FEWEST
from ..measures.names import Measures, NamedMeasure, measure_named, named_measures, unique, words
from ..statistics.correction import correct
from ..statistics.inputs import DRAWS
from ..statistics.rank_intervals import rank_intervals
from .answers import Answers, join_answers
from .causes.find import causes_frame, causes_of_runs
from .conditions import Condition, check_condition
from .result import PLANNED, PREFERENCES, RunComparison, RunDifference, comparison_of

#: The name of the test over several collections.
_TEST = "sign vectors"


@dataclass(frozen=True)
class SystemValues:
    """Values of systems by collection and measure.

    Attributes:
        by_track: collection -> measure -> values, systems in rows and topics in columns.
        higher_is_better: by measure; None of a count.
        measures: the measures by name; None where ir_measures does not know it.
        conditions: the conditions, with the names of their measures here.
        missing: where scores are missing and were filled, as ``by_track``; none of runs.
        judged: the runs by collection; none of scores.
    """

    by_track: dict[str, dict[str, pd.DataFrame]]
    higher_is_better: dict[str, bool | None]
    measures: Mapping[str, Any]
    conditions: list[tuple[Condition, str]]
    missing: dict[str, dict[str, pd.DataFrame]] = field(default_factory=dict)
    judged: Mapping[str, Evaluation] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class TrackComparison(RunComparison):
    """Systems compared with a baseline over several collections.

    Attributes:
        by_track: a row for each run, measure and collection, first ``overall``: ``run``,
            ``measure``, ``track``, ``a``, ``b``, ``difference``, ``wins``, ``losses``, ``ties``,
            ``p`` and ``p_corrected``, which is corrected over the rows of the same collection.
    """

    by_track: pd.DataFrame = field(default_factory=pd.DataFrame)

    def notes(self) -> list[str]:
        """Notes on the numbers, and the collections that disagree."""
        rows = self.by_track[self.by_track["track"] != OVERALL]
        tracks = counted(rows["track"].nunique(), "collection")
        small = rows.loc[rows["p"].isna(), "track"].unique().tolist()
        have = "has" if len(small) == 1 else "have"
        few = f"{have} fewer than {FEWEST} topics, too few for a test."
        kind = self.options.correction
        return [
            f"Overall: B - A averaged over {tracks}, {self.queries:,} topics in all; p by random "
            "signs of the differences within collections, "
            + ("not corrected" if kind == "none" else f"corrected ({kind})")
            + f"; significant: p at most {self.options.alpha:g}.",
            *([f"{names_of(small)} {few}"] if small else []),
            *self._notes_on_sums(),
            *self._disagreements(rows),
            *self.answers.notes,
            *self.causes_notes(),
            "These collections were chosen, not drawn: the result does not extend to others.",
            PLANNED,
        ]

    def _disagreements(self, rows: pd.DataFrame) -> list[str]:
        """Sentences on runs that are significantly better in a collection and worse in another."""
        significant = rows[rows["p_corrected"] <= self.options.alpha]
        sentences = []
        for (run, measure), group in significant.groupby(["run", "measure"], sort=False):
            up = self.higher_is_better[str(measure)]
            ways = ("lower", "higher") if up is None else ("worse", "better")
            better, worse = (
                group["track"][group["difference"] * (-1 if up is False else 1) * sign > 0].tolist()
                for sign in (1, -1)
            )
            if better and worse:
                sentences.append(
                    f"{run} is significantly {ways[1]} than {self.baseline} by {measure} in "
                    f"{names_of(better)}, and significantly {ways[0]} in {names_of(worse)}."
                )
        none = "No two collections put a pair in significantly opposite orders."
        return sentences or [none] * (rows.dropna(subset="p")["track"].nunique() > 1)


def values_of_scores(
    scores: ScoreTable, measures: Measures | None, conditions: Sequence[Condition]
) -> SystemValues:
    """The values of scores; see `compare` for the arguments."""
    listed = scores.measures if measures is None else scores.names_in(measures)
    names: dict[str, str] = {}
    for name in [*listed, *(condition.measure for condition in conditions)]:
        _refuse_preference(name)
        names.setdefault(canonical_name(name), name)
    labels = list(names.values())
    values = {
        track: {label: scores.matrix(label, track) for label in labels} for track in scores.tracks
    }
    unfilled = replace(scores, fill=np.nan)
    missing = {
        track: {label: unfilled.matrix(label, track).isna() for label in labels}
        for track in scores.tracks
    }
    return SystemValues(
        values,
        {label: scores.direction(label) for label in labels},
        {label: measure_named(label) for label in labels},
        [(condition, names[canonical_name(condition.measure)]) for condition in conditions],
        missing,
    )


def values_of_tracks(
    several: Mapping[str, Evaluation],
    measures: Measures | None,
    conditions: Sequence[Condition],
    rel: float | None,
) -> SystemValues:
    """The values of runs of several collections; see `compare` for the arguments."""
    for name in [*_words(measures), *(condition.measure for condition in conditions)]:
        _refuse_preference(name)
    if measures is not None:
        listed = without_preferences(measures)
    else:
        listed = [] if conditions else measures_for(None, several=False, lengths=False, rel=rel)
    shown, named = rows_of(listed, conditions, rel=rel)
    refuse_unused(shown, "rel", rel=rel)
    measured = {measure.name: measure.measure for measure in shown}
    for judged in several.values():
        warn_of_grades(judged.judgements, measured, rel)
    values = {
        track: {
            name: pd.DataFrame(values, judged.names, judged.qids)
            for name, values in judged.columns_of(shown).items()
        }
        for track, judged in several.items()
    }
    higher = {measure.name: measure.higher_is_better for measure in shown}
    return SystemValues(values, higher, measured, named, judged=several)


def _refuse_preference(name: Any) -> None:
    if name in PREFERENCES:
        raise ValueError(f"{name} needs the runs and qrels of one collection")


def _words(measures: Measures | None) -> list[Any]:
    """Measures as given, but text as the names in it."""
    if measures is None or isinstance(measures, Mapping):
        return []
    several = not isinstance(measures, str) and isinstance(measures, Iterable)
    listed = measures if several else [measures]
    return [word for m in listed for word in (words(m) if isinstance(m, str) else [m])]


def without_preferences(measures: Measures) -> list[NamedMeasure]:
    """Parses measures, leaving out the preferences, which are always added."""
    if isinstance(measures, Mapping):
        return named_measures(measures)
    wanted = [measure for measure in _words(measures) if measure not in PREFERENCES]
    return named_measures(wanted) if wanted else []


def rows_of(
    listed: Sequence[NamedMeasure],
    conditions: Sequence[Condition],
    *,
    rel: float | None,
    pool: Any = None,
    lengths: Any = None,
) -> tuple[list[NamedMeasure], list[tuple[Condition, str]]]:
    """The measures that have rows: those listed, and of conditions.

    Args:
        listed: the measures without those of conditions.
        conditions: the conditions.
        rel: see `compare`.
        pool: see `compare`.
        lengths: see `compare`.

    Returns:
        The measures, and the conditions with the names of their rows.
    """
    guarded = [c.measure for c in conditions if c.measure not in PREFERENCES]
    own = {measure.name: measure for measure in listed}
    wanted = [*listed, *(own.get(name) or _one_measure(name) for name in guarded)]
    completed = complete_measures(wanted, pool=pool, lengths=lengths)
    measured = [measure.with_params(rel=rel) for measure in completed]  # and of preferences
    shown = unique(measured)
    rows = {measure.key: measure.name for measure in shown}
    names = dict(zip(guarded, (rows[measure.key] for measure in measured[len(listed) :])))
    return shown, [(c, names.get(c.measure, c.measure)) for c in conditions]


def _one_measure(name: str) -> NamedMeasure:
    measures = named_measures(name)
    if len(measures) != 1:
        raise ValueError(f"a condition has one measure, but {name!r} names {len(measures)}")
    return measures[0]


def compare_values(
    values: SystemValues,
    baseline: str | None,
    options: PairedTest,
    *,
    common: bool = False,
    allow_missing: bool = False,
    causes: bool | None = None,
) -> RunComparison:
    """Compares systems with a baseline by their values; see `compare` for the arguments."""
    names = shared_systems(
        {
            track: [str(n) for t in by.values() for n in t.index]
            for track, by in values.by_track.items()
        },
        common=common,
    )
    first = names[0] if baseline is None else baseline
    if first not in names:
        raise ValueError(f"there is no system {first!r}; there are {', '.join(names)}")
    others = [name for name in names if name != first]
    if not others:
        raise ValueError(f"there is only the system {first!r}: compare two at least")
    for condition, label in values.conditions:
        _check_condition(condition, label, values, options.test)
    differences = [
        _difference(values, first, run, label)
        for run in others
        for label in values.higher_is_better
    ]
    judged = {track: runs.select([first, *others]) for track, runs in values.judged.items()}
    answers = {
        track: Answers.of(
            runs, values.measures, is_guard=bool(values.conditions), allow_missing=allow_missing
        )
        for track, runs in judged.items()
    } | {
        track: Answers.of_scores(missing, first, others, allow_missing=allow_missing)
        for track, missing in values.missing.items()
    }
    found = [
        cause
        for track, runs in judged.items()
        if causes is not False
        for cause in causes_of_runs(runs, {}, track=track)
    ]
    compared = comparison_of(
        first,
        differences,
        options,
        answers=join_answers(answers),
        causes=causes_frame(found),
        _measures=values.measures,
        _conditions=values.conditions,
        _allow_missing=allow_missing,
    )
    return _over_tracks(compared, differences) if len(values.by_track) > 1 else compared


def _difference(values: SystemValues, first: str, run: str, label: str) -> RunDifference:
    """The difference of a run from the baseline in a measure, over all collections."""
    tables = {track: by[label] for track, by in values.by_track.items()}
    a, b = (np.concatenate([t.loc[name] for t in tables.values()]) for name in (first, run))
    tracks = [track for track, table in tables.items() for _ in table]
    qids = [qid for table in tables.values() for qid in table]
    return RunDifference(run, label, values.higher_is_better[label], a, b, b - a, qids, tracks)


def _track_row(values: RunDifference, track: str, options: PairedTest) -> dict[str, Any]:
    """The comparison in a collection, or overall."""
    chosen = np.array([track in (name, OVERALL) for name in values.tracks])
    tracks = np.array(values.tracks)[chosen]
    a, b, gain = values.a[chosen], values.b[chosen], values.gain[chosen]
    names, codes, counts = np.unique(tracks, return_inverse=True, return_counts=True)
    weights = 1 / counts[codes] / len(names)
    p = np.nan
    if len(tracks) >= FEWEST:
        collections = tracks.tolist()
        p = float(rank_intervals([a, b], collections=collections, seed=options.seed or 0).p[0, 1])
    return {
        "track": track,
        "run": values.run,
        "measure": values.name,
        "a": float(a @ weights),
        "b": float(b @ weights),
        "difference": float((b - a) @ weights),
        "wins": int((gain > 0).sum()),
        "losses": int((gain < 0).sum()),
        "ties": int((gain == 0).sum()),
        "p": p,
    }


def _over_tracks(compared: RunComparison, differences: list[RunDifference]) -> TrackComparison:
    """Adds the comparison in each collection, and takes the means of the collections as table."""
    options, parts = compared.options, []
    if len(differences[0].qids) < FEWEST:
        raise ValueError(f"there are fewer than {FEWEST} topics in all: too few for a test")
    for track in [OVERALL, *dict.fromkeys(differences[0].tracks)]:
        part = pd.DataFrame([_track_row(values, track, options) for values in differences])
        parts.append(part.assign(p_corrected=correct(part["p"], options.correction).p))
    by_track = pd.concat(parts, ignore_index=True)
    whole = parts[0].drop(columns="track").assign(test=_TEST, detectable=np.nan)
    zero_p = (1 if options.correction == "none" else len(whole)) / DRAWS
    of_tracks = {"table": whole, "by_track": by_track, "family": len(whole), "zero_p": zero_p}
    return TrackComparison(**vars(compared) | of_tracks)


def _check_condition(condition: Condition, label: str, values: SystemValues, test: str) -> None:
    """Checks that a condition can be tested on values, by the name of its measure's row."""
    if condition.certainly:
        raise ValueError(
            f"the condition {condition.text!r}: certainly needs the runs of one collection"
        )
    if condition.possibly and len(values.by_track) > 1:
        raise ValueError(f"the condition {condition.text!r}: possibly is of one collection only")
    if (measure := values.measures[label]) is not None:
        check_condition(condition, measure, values.higher_is_better[label], test=test)
