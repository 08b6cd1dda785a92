"""Runs compared with a baseline: means, tests, preferences, queries, the documents that moved.

Every difference is a run's value less the baseline's, and a win is the run's. Of two runs the
baseline is A, the other B.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..evaluation.files import completed, measures_for
from ..evaluation.grades import grades_hint
from ..evaluation.judged_runs import JudgedRuns
from ..evaluation.labellings import has_bounds
from ..evaluation.relevant_documents import RelevantDocuments
from ..io.files import local_path
from ..io.run_listing import run_name
from ..measures.names import NamedMeasure, named_measures, unique, words
from ..scoring.lexicographic import first_difference
from ..statistics.correction import correct
from ..statistics.intervals import detectable_difference
from ..statistics.tests import compare_pair
from .certainty import Limits, limits_of
from .guard import check, conditions_of
from .result import PREFERENCES, TESTS, HowTested, RunComparison

Floats = npt.NDArray[np.float64]


def compare(
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    baseline: str | None = None,
    conditions: Iterable[str] = (),
    test: str = "t",
    correction: str | None = "holm",
    alpha: float = 0.05,
    seed: int = 0,
    rel: float | None = None,
    pool: Any = None,
    lengths: Any = None,
    duplicates: str | None = None,
    bounds: bool = False,
) -> RunComparison:
    """Compares runs with a baseline: means, intervals, tests, preferences, queries, documents.

    Args:
        runs: dict of name -> run (a data frame, such as the results of a pipeline, or a file), a
            folder of run files, or several files; two at least.
        qrels: data frame, file, or ir_datasets id.
        measures: measures or their names. None: those of
            :func:`~pyterrier_asl.measures.names.default_measures`. The preferences rrLP and sgnLP
            are always there.
        baseline: the name of the baseline; None: the first run.
        conditions: conditions of a guard, such as ``'nASL@1000 worse p<.05'``; see
            :func:`~pyterrier_asl.comparison.guard.parse_condition`. Their measures are measured,
            and :attr:`RunComparison.verdicts` says how they came out.
        test: one of :data:`TESTS`, for pairs and two-sided; sgnLP always has the sign test.
        correction: of the p-values, over all measures and runs: ``'holm'``, ``'bonferroni'``,
            ``'bh'`` or None.
        alpha: intervals cover 1 - alpha.
        seed: of the draws of the randomization test.
        rel: minimum grade of a relevant document, for preferences and for measures that do not say
            it.
        pool: pool of the rareness measures that name none; None: the runs themselves.
        lengths: document lengths for TBG; what ``TBG(lengths=...)`` takes.
        duplicates: see :func:`~pyterrier_asl.evaluate`.
        bounds: also what each difference could be, whatever the unjudged documents are.

    Raises:
        ValueError: for what is no run, qrels, measure or condition.
        OSError: for a file that cannot be read.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> old = {"q1": {"x": 3, "a": 2, "b": 1}, "q2": {"x": 2, "c": 1}}
    >>> new = {"q1": {"a": 3, "b": 2, "x": 1}, "q2": {"x": 2, "c": 1}}
    >>> found = compare({"old": old, "new": new}, qrels, ["AP", "ASL@10"])
    >>> found.summary[["measure", "a", "b", "difference", "wins", "ties"]].round(3)
      measure      a     b  difference  wins  ties
    0      AP  0.542  0.75       0.208     1     1
    1  ASL@10  2.000  1.50      -0.500     1     1
    2    rrLP    NaN   NaN       0.250     1     1
    3   sgnLP    NaN   NaN       0.500     1     1
    """
    if test not in TESTS:
        raise ValueError(f"test {test!r} must be one of {', '.join(map(repr, TESTS))}")
    options = HowTested(test, correction, alpha, seed)
    asked = conditions_of(conditions)
    typed = None if measures is None else _without_preferences(measures)
    guarded = {one.measure: _guarded(one.measure) for one in asked}
    judged = JudgedRuns.of(runs, qrels, duplicates=duplicates)
    first, others = _baseline(judged, baseline)
    if typed is None:
        official = qrels if isinstance(qrels, str) else ""
        typed = measures_for(
            official, several=pool is not None, lengths=lengths is not None, rel=rel
        )
    both = [*typed, *(one for one in guarded.values() if one is not None)]
    given = completed(both, pool=pool, lengths=lengths, rel=rel)
    shown = unique(given)
    names = _names_of(guarded, given[len(typed) :], shown)
    higher: dict[str, bool | None] = {one.name: one.higher_is_better for one in shown}
    higher |= dict.fromkeys(PREFERENCES, True)
    for condition in asked:
        name = names[condition.measure]
        check(condition, higher[name], is_preference=name in PREFERENCES)
        if condition.certainly and condition.level is not None and test != "t":
            raise ValueError(f"the condition {condition.text!r}: p<LEVEL certainly needs test='t'")
    least = _least_grade(shown, rel)
    values = _values(judged, first, others, shown, least)
    summary, family, dropped = _summary(values, higher, options)
    sure = {names[condition.measure] for condition in asked if condition.certainly}
    limits = _limits(judged, first, others, shown, None if bounds else sure)
    if bounds:
        summary = _with_bounds(summary, limits)
    documents = _Documents(judged, first, shown, least)
    return RunComparison(
        first, others, len(judged.judgements), summary, _by_query(judged, values, higher),
        documents.moved(others), documents.retrieved(others), _unanswered(judged, first, others),
        higher, least, options, family, dropped,
        grades_hint(judged.judgements.grades, shown, rel=rel),
        [(condition, names[condition.measure]) for condition in asked], limits,
    )  # fmt: skip


def run_files(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Path]:
    """Run files by name; by the paths as they are given where two have one name.

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
    for number, path in enumerate(files):
        for other in files[:number]:
            if path.samefile(other):
                raise ValueError(f"{other} and {path} are one file: name two runs")
    names = [run_name(path) for path in files]
    if len(set(names)) < len(names):
        names = [str(path) for path in files]
    return dict(zip(names, files))


# What is asked for


def _baseline(judged: JudgedRuns, name: str | None) -> tuple[str, list[str]]:
    """The name of the baseline, and of the others."""
    if len(judged) < 2:
        raise ValueError(f"there is only the run {judged.names[0]!r}: compare two at least")
    first = judged.names[0] if name is None else judged.names[judged.row(name)]
    return first, [other for other in judged.names if other != first]


def _without_preferences(measures: Any) -> list[NamedMeasure]:
    """The measures named, without the preferences, which are there anyway."""
    if isinstance(measures, Mapping):
        return named_measures(measures)
    several = [measures] if isinstance(measures, str) or not _is_many(measures) else [*measures]
    wanted: list[Any] = []
    for one in several:
        wanted += words(one) if isinstance(one, str) else [one]
    wanted = [one for one in wanted if one not in PREFERENCES]
    return named_measures(wanted) if wanted else []


def _is_many(measures: Any) -> bool:
    return isinstance(measures, Iterable)


def _guarded(name: str) -> NamedMeasure | None:
    """The measure of a condition; None of a preference."""
    if name in PREFERENCES:
        return None
    found = named_measures(name)
    if len(found) != 1:
        raise ValueError(f"a condition speaks of one measure, but {name!r} is {len(found)}")
    return found[0]


def _names_of(
    guarded: Mapping[str, NamedMeasure | None],
    given: Sequence[NamedMeasure],
    shown: Sequence[NamedMeasure],
) -> dict[str, str]:
    """The row of each condition's measure."""
    rows = {one.key: one.name for one in shown}
    complete = iter(given)
    return {
        name: name if one is None else rows[next(complete).key] for name, one in guarded.items()
    }


def _least_grade(shown: Sequence[NamedMeasure], rel: float | None) -> float:
    """What preferences take for relevant: as LexiP, which stands for the same."""
    of_lexip = [one.measure["rel"] for one in shown if one.measure.NAME == "LexiP"]
    return float(of_lexip[0] if of_lexip else 1 if rel is None else rel)


# What comes out


@dataclass(frozen=True)
class _Values:
    """A measure of two runs for every query, or a preference, which only has differences."""

    run: str
    name: str
    a: Floats
    b: Floats
    difference: Floats
    sign_only: bool = False

    def row(self, higher_is_better: bool | None, options: HowTested) -> dict[str, Any]:
        """The row of the summary."""
        test = "sign" if self.sign_only else options.test
        known = not np.isnan(self.a).any()
        pair = (self.b, self.a) if known else (self.difference, np.zeros_like(self.difference))
        found = compare_pair(*pair, test, alpha=options.alpha, seed=options.seed)
        gain = -self.difference if higher_is_better is False else self.difference
        return {
            "run": self.run,
            "measure": self.name,
            "a": float(self.a.mean()),
            "b": float(self.b.mean()),
            "difference": found.difference,
            "ci_low": found.ci_low,
            "ci_high": found.ci_high,
            "effect": found.effect,
            "wins": int((gain > 0).sum()),
            "losses": int((gain < 0).sum()),
            "ties": int((gain == 0).sum()),
            "p": found.p,
            "test": test,
            "detectable": detectable_difference(self.difference, alpha=options.alpha),
        }


def _values(
    judged: JudgedRuns,
    baseline: str,
    others: Sequence[str],
    shown: Sequence[NamedMeasure],
    rel: float,
) -> list[_Values]:
    a = judged.row(baseline)
    reciprocal = judged.reciprocal_ranks(rel)
    total = judged.judgements.num_relevant(rel)
    none = np.full(len(judged.judgements), np.nan)
    found = []
    for run in others:
        b = judged.row(run)
        for one in shown:
            value = judged.values(one.measure)
            found.append(_Values(run, one.name, value[a], value[b], value[b] - value[a]))
        _, preferred = first_difference(reciprocal[b], reciprocal[a], total)
        found.append(_Values(run, "rrLP", none, none, preferred))
        found.append(_Values(run, "sgnLP", none, none, np.sign(preferred), sign_only=True))
    return found


def _summary(
    values: Sequence[_Values], higher: dict[str, bool | None], options: HowTested
) -> tuple[pd.DataFrame, int, int]:
    frame = pd.DataFrame([one.row(higher[one.name], options) for one in values])
    corrected = correct(frame["p"], options.correction)
    frame.insert(list(frame.columns).index("p") + 1, "p_corrected", corrected.p)
    # Nothing is more compatible with no difference; a test has nothing to compute it from.
    equal = [not one.difference.any() for one in values]
    frame.loc[equal, ["p", "p_corrected"]] = 1.0
    return frame, corrected.family, corrected.dropped


def _limits(
    judged: JudgedRuns, baseline: str, others: Sequence[str], shown: Sequence[NamedMeasure],
    wanted: set[str] | None,
) -> dict[tuple[str, str], Limits]:  # fmt: skip
    """The bounds of each run's difference in these measures; None: in all that have bounds."""
    measures = {
        one.name: one.measure for one in shown
        if (has_bounds(one.measure) if wanted is None else one.name in wanted)
    }  # fmt: skip
    return {
        (run, name): limits_of(judged, baseline, run, measure)
        for run in others for name, measure in measures.items()
    }  # fmt: skip


def _with_bounds(
    summary: pd.DataFrame, limits: Mapping[tuple[str, str], Limits]
) -> pd.DataFrame:
    """The summary with the bounds of each difference."""
    rows = zip(summary["run"], summary["measure"])
    means = [limits[row].means if row in limits else (np.nan, np.nan) for row in rows]
    place = list(summary.columns).index("ci_high") + 1
    for which, values in zip(("high", "low"), list(zip(*means))[::-1]):
        summary.insert(place, which, values)
    return summary


def _by_query(
    judged: JudgedRuns, values: Sequence[_Values], higher: dict[str, bool | None]
) -> pd.DataFrame:
    parts = []
    for one in values:
        gain = -one.difference if higher[one.name] is False else one.difference
        order = np.argsort(gain, kind="stable")
        parts.append(
            pd.DataFrame(
                {
                    "run": one.run,
                    "qid": pd.Series(judged.qids).iloc[order].to_numpy(),
                    "measure": one.name,
                    "a": one.a[order],
                    "b": one.b[order],
                    "difference": one.difference[order],
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _unanswered(
    judged: JudgedRuns, baseline: str, others: Sequence[str]
) -> dict[str, list[str]]:
    answered = judged.runs[judged.row(baseline)].retrieved > 0
    return {
        run: [
            str(judged.qids[i])
            for i in np.flatnonzero(answered & (judged.runs[judged.row(run)].retrieved == 0))
        ]
        for run in others
    }


class _Documents:
    """The relevant documents of runs, by their search lengths in ASL's view of the runs."""

    def __init__(
        self, judged: JudgedRuns, baseline: str, shown: Sequence[NamedMeasure], rel: float
    ) -> None:
        asl = next((one.measure for one in shown if one.measure.NAME in ("ASL", "nASL")), None)
        self._view: dict[str, Any] = {"rel": rel if asl is None else asl["rel"]}
        if asl is not None:
            self._view["cutoff"] = asl["cutoff"]
        self._judged, self._baseline = judged, self._of(judged, baseline)

    def _of(self, judged: JudgedRuns, run: str) -> RelevantDocuments:
        return RelevantDocuments.of(judged.runs[judged.row(run)], **self._view)

    def moved(self, others: Sequence[str]) -> pd.DataFrame:
        """Every document that one of two runs retrieved and that moved."""
        known = self._judged.judgements
        wanted = np.flatnonzero((known.grades >= self._view["rel"]) & (known.grades >= 0))
        docnos = known.docnos.take(wanted).to_pandas()
        a, parts = self._baseline, []
        for run in others:
            b = self._of(self._judged, run)
            found = np.select([a.found & b.found, a.found, b.found], ["both", "A", "B"], "")
            frame = pd.DataFrame(
                {
                    "run": run,
                    "qid": pd.Series(self._judged.qids).iloc[a.queries].to_numpy(),
                    "docno": docnos,
                    "a": a.lengths,
                    "b": b.lengths,
                    "change": b.lengths - a.lengths,
                    "found": found.astype(object),
                }
            )
            order = np.argsort(-frame["change"].abs().to_numpy(), kind="stable")
            frame = frame.iloc[order]
            parts.append(frame[(frame["change"] != 0) & (frame["found"] != "")])
        return pd.concat(parts, ignore_index=True)

    def retrieved(self, others: Sequence[str]) -> pd.DataFrame:
        """How many documents which of two runs retrieved, and which way they moved."""
        a, rows = self._baseline, []
        for run in others:
            b = self._of(self._judged, run)
            both = a.found & b.found
            rows.append(
                {
                    "run": run,
                    "both": int(both.sum()),
                    "A": int((a.found & ~b.found).sum()),
                    "B": int((b.found & ~a.found).sum()),
                    "neither": int((~a.found & ~b.found).sum()),
                    "nearer": int((both & (b.lengths < a.lengths)).sum()),
                    "farther": int((both & (b.lengths > a.lengths)).sum()),
                }
            )
        return pd.DataFrame(rows)
