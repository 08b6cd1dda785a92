"""Collects the findings of a report from the analyses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from ..common.types import Ints
from ..comparison.compare import compare
from ..evaluation.evaluate import collections_of
from ..evaluation.evaluation import Evaluation
from ..evaluation.facts import joined_notes
from ..evaluation.labellings import has_bounds, labelled_measures, measure_with_bounds
from ..evaluation.sources import (
    JudgeRel,
    common_rel,
    default_rel,
    official_of,
    on_grades,
    refuse_unused,
)
from ..leaderboard.odd_runs import odd_runs
from ..leaderboard.ranks import ranks
from ..measures.defaults import default_measures
from ..measures.formula import formula
from ..measures.parsing import NamedMeasure, named_measures, unique
from ..scoring.rareness import FEW
from ..unjudged.holes import Holes
from .findings import Findings, deciding, ranking_of

#: The number of best systems whose pairs have bounds, by shallow and by deep measures.
_BEST, _BEST_DEEP = 3, 2

#: The greatest cut-off of a shallow measure, and the cut-off of bounds of a measure without one.
SHALLOW = 100


def collect(
    runs: Any,
    qrels: Any = None,
    measures: Any = None,
    *,
    dataset: str | None = None,
    rel: float | None = None,
    cutoff: int = 1000,
    alpha: float = 0.05,
    lengths: Any = None,
    groups: Mapping[str, str] | None = None,
    command: str = "",
    judges: Mapping[str, Any] | None = None,
    judge_rel: JudgeRel | None = None,
    people: Iterable[str] = (),
    unjudged: bool = False,
) -> Findings:
    """Evaluates and compares systems.

    Args:
        runs: dict of name -> run, folder of run files, list of them, or Evaluation; without qrels
            a dict of collection -> (runs, qrels).
        qrels: frame, file, or ir_datasets id.
        measures: names, measures, or None for the default measures.
        dataset: an ir_datasets id, whose official measure decides by default.

    The other arguments are those of :func:`~pyterrier_asl.report`.

    Raises:
        ValueError: for runs, qrels or measures that cannot be used.
    """
    (track, (sources, qrels)), *others = collections_of(runs, qrels).items()
    judged = Evaluation.of(sources, qrels)
    full, least = _measures(judged, qrels, measures, dataset, rel, cutoff, lengths, groups)
    matched = {track: judged, **{name: Evaluation.of(*pair) for name, pair in others}}
    grades = {name: on_grades(of_track.judgements, full, rel) for name, of_track in matched.items()}
    pooled = judged.with_pool(full, groups)
    named = [NamedMeasure(*item) for item in pooled.items()]
    judged.columns_of(named)  # warns of ties in one sentence for each run
    rankings = [ranking_of(judged, measure, alpha) for measure in named]
    first = deciding(rankings)
    shown_rel = None if least == 1 else least
    measured = full if others else pooled  # each collection has its own pool
    options: dict[str, Any] = {"alpha": alpha, "unjudged": unjudged}
    has_judges = judges is not None and len(judges) > 0
    if has_judges:
        options |= {"judges": judges, "judge_rel": judge_rel, "people": people, "rel": shown_rel}
    of_all = None
    if has_judges or others or unjudged:
        of_all = ranks(matched, measures={first.name: measured[first.name]}, **options)
    facts = {name: of_track.facts(measured) for name, of_track in matched.items()}
    notes = {name: of_track.notes for name, of_track in facts.items()}
    decides = {first.name: first.named.measure}
    odd = {name: odd_runs(of_track, decides) for name, of_track in matched.items()}
    by_judges = of_all.judged_runs if of_all else {}
    of_judges = {name: of.notes_on([first.named]) for name, of in by_judges.items()}
    comparison = None
    if len(judged) == 2:
        comparison = compare(judged, judged.judgements, pooled, alpha=alpha, rel=shown_rel or rel)
        # With documents that one of the two writes otherwise.
        notes[track] = [note for note in comparison.notes if note not in grades[track]]
    return Findings(
        runs=judged,
        alpha=alpha,
        rel=least,
        cutoff=cutoff,
        rankings=rankings,
        command=command,
        comparison=comparison,
        of_all=of_all,
        notes=[text for of in (of_judges, grades, notes, odd) for text in joined_notes(of)],
        doubts=joined_notes({name: of_track.doubts for name, of_track in facts.items()}),
        bounds=bounds_of_best(judged, pooled, first.order, alpha),
    )


def _measures(
    runs: Evaluation,
    qrels: Any,
    measures: Any,
    dataset: str | None,
    rel: float | None,
    cutoff: int,
    lengths: Any,
    groups: Any,
) -> tuple[dict[str, Any], float]:
    """The measures of a report with all their parameters, and the minimum relevant grade."""
    if measures is None:
        rel = default_rel(qrels, rel)
        named = _defaults(runs, qrels, dataset, lengths is not None, cutoff)
    else:
        named = named_measures(measures)
        rel = common_rel(measure.measure for measure in named) if rel is None else rel
    rel = 1 if rel is None else int(rel) if float(rel).is_integer() else rel  # for ir_measures
    refuse_unused(named, "lengths", lengths=lengths)
    refuse_unused(named, "pool", groups=groups)
    # The page shows rel once, not in every name.
    params = {"rel": rel if rel != 1 else None, "lengths": lengths}
    full = (NamedMeasure(asked.name, asked.with_params(**params).measure) for asked in named)
    return {measure.name: measure.measure for measure in unique(full)}, rel


def _defaults(
    runs: Evaluation, qrels: Any, dataset: str | None, lengths: bool, cutoff: int
) -> list[NamedMeasure]:
    """The default measures of a report.

    The first is the official measure of the collection, else nDCG@10 if relevant documents have
    different grades, else AP. ASL is the second.
    """
    official = [NamedMeasure(str(m), m) for m in official_of(qrels) or official_of(dataset)]
    usual = default_measures(several=len(runs) >= FEW, lengths=lengths, cutoff=cutoff, brief=True)
    grades = runs.judgements.grades
    usual_first = "nDCG@10" if len(np.unique(grades[grades > 0])) > 1 else "AP"
    first = official[:1] or [measure for measure in usual if measure.name == usual_first]
    return unique([*first, *usual, *official])


def bounds_of_best(
    runs: Evaluation, measures: Mapping[str, Any], order: Ints, alpha: float
) -> dict[str, dict[tuple[int, int], Holes]]:
    """Bounds of the differences of the best systems, for measures that have them.

    Args:
        runs: the runs.
        measures: by name; one without a cut-off is cut at :data:`SHALLOW`.
        order: the numbers of the systems, best first.
        alpha: the level of significance.

    Returns:
        Name of a measure that has bounds -> numbers of two systems, ascending -> bounds, verdict
        and the documents to judge next.
    """
    bounds: dict[str, dict[tuple[int, int], Holes]] = {}
    for name, measure in measures.items():
        own = formula(measure)
        is_cut = own is None or own.cutoff is not None or "cutoff" not in measure.SUPPORTED_PARAMS
        cut = measure if is_cut else measure @ SHALLOW  # of whole rankings they take long
        if not has_bounds(cut):
            continue
        best = _BEST if (measure_with_bounds(cut).cutoff or SHALLOW) <= SHALLOW else _BEST_DEEP
        label = name if cut is measure else f"{name}@{SHALLOW}"
        bounds[name] = {
            (a, b): Holes(pair, labelled_measures(pair, {label: cut})[label], alpha)
            for a, b in combinations(sorted(order[:best].tolist()), 2)
            for pair in [runs.select([runs.names[a], runs.names[b]])]
        }
    return bounds
