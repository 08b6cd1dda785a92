"""Collects the findings of a report from the analyses."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..analysis import discrimination
from ..analysis.best_runs import run_quality
from ..assessment.judges import JudgeRel
from ..evaluation.evaluation import Evaluation, collections_of
from ..evaluation.inputs import (
    common_rel,
    default_rel,
    official_of,
    refuse,
    refuse_unused,
    warn_of_grades,
)
from ..evaluation.labellings import has_bounds, labelled_measures
from ..evaluation.preferences import PreferenceMatrix
from ..evaluation.relevant_documents import RelevantRanks
from ..evaluation.scores import ScoreTable, canonical_name
from ..judging.labels import merge_labels
from ..leaderboard.ranks import ranks
from ..leaderboard.result import Leaderboard
from ..measures import ASL
from ..measures.formula import Formula
from ..measures.names import (
    NamedMeasure,
    default_measures,
    measure_named,
    named_measures,
    unique,
)
from ..measures.standard import formula
from ..scoring.arrays import Ints
from ..unjudged.holes import Holes
from .findings import (
    Findings,
    SystemFindings,
    SystemRanking,
    deciding,
    ranking_of,
)
from .provenance import Provenance
from .retrieved import LengthHistogram, RunDepths, TopTens

#: The number of pairs times queries up to which bounds are always computed.
_FEW_BOUNDS = 20_000

#: The number of best systems whose pairs have bounds, by shallow and by deep measures.
_BEST, _BEST_DEEP = 5, 2

#: The greatest cut-off of a shallow measure.
_SHALLOW = 100


def collect(
    runs: Any,
    qrels: Any = None,
    measures: Any = None,
    *,
    dataset: str | None = None,
    labels: Any = None,
    rel: float | None = None,
    cutoff: int = 1000,
    alpha: float = 0.05,
    lengths: Any = None,
    groups: Mapping[str, str] | None = None,
    duplicates: str | None = None,
    drop_self: bool = False,
    unjudged: bool = False,
    stability: bool = False,
    command: str = "",
    **of_judges: Any,
) -> Findings:
    """Evaluates and compares systems.

    Args:
        runs: dict of name -> run, folder of run files, list of them, or Evaluation; without qrels
            a dict of collection -> (runs, qrels).
        qrels: frame, file, or ir_datasets id.
        measures: names, measures, or None for the default measures.
        dataset: an ir_datasets id, whose official measure decides by default.
        **of_judges: ``judges``, ``judge_rel`` and ``people``.

    The other arguments are those of :func:`~pyterrier_asl.report`.

    Raises:
        ValueError: for runs, qrels or measures that cannot be used.
    """
    (track, (sources, qrels)), *others = collections_of(runs, qrels).items()
    if labels is not None and others:
        raise ValueError("labels are of one collection, and there are several: merge them before")
    merged = None if labels is None else merge_labels(qrels, labels)
    policy: dict[str, Any] = {"duplicates": duplicates, "drop_self": drop_self}
    judged = Evaluation.of(sources, qrels if merged is None else merged, **policy)
    if len(judged) < 2:
        refuse("is for several systems", stability=stability)
    full, least = _measures(judged, qrels, measures, dataset, rel, cutoff, lengths, groups)
    pooled = judged.with_pool({measure.name: measure.measure for measure in full}, groups)
    named = [NamedMeasure(*item) for item in pooled.items()]
    judged.columns_of(named)  # warns of ties in one sentence for each run
    rankings = [ranking_of(judged, measure, alpha) for measure in named]
    first, without = deciding(rankings), ASL(rel=least, judged_only=True) @ cutoff
    relevant = RelevantRanks.of(judged, rel=least, cutoff=cutoff)
    matched = {track: judged, **{name: Evaluation.of(*pair, **policy) for name, pair in others}}
    for of_track in matched.values():
        warn_of_grades(of_track.judgements, {named.name: named.measure for named in full}, rel)
    # Each collection has its own pool.
    measure = next(m for m in full if m.name == first.name) if others else first.named
    return Findings(
        judged.names,
        judged.qids,
        alpha,
        rankings,
        Provenance.of(judged, command, sources, qrels, merged),
        _whatever_unjudged(judged, rankings, unjudged),
        *_of_all(matched, measure, alpha, **policy, **of_judges),
        judged,
        least,
        cutoff,
        run_quality(judged, rel=least, cutoff=cutoff).set_index("run").loc[judged.names],
        LengthHistogram.of(judged, rel=least, cutoff=cutoff),
        relevant,
        PreferenceMatrix.of(judged.names, relevant.reciprocal(), relevant.total)
        if len(judged) > 1
        else None,
        ranking_of(judged, NamedMeasure(str(without), without), alpha),
        RunDepths.of(judged, rel=least, cutoff=cutoff),
        TopTens.of(judged, deciding(rankings).order),
        bounds_of_best(judged, pooled, first.order),
        _stability(judged, rankings) if stability else None,
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
) -> tuple[list[NamedMeasure], float]:
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
    return unique(full), rel


def _defaults(
    runs: Evaluation, qrels: Any, dataset: str | None, lengths: bool, cutoff: int
) -> list[NamedMeasure]:
    """The default measures of a report.

    The first is the official measure of the collection, else nDCG@10 if relevant documents have
    different grades, else AP. ASL is the second.
    """
    official = [NamedMeasure(str(m), m) for m in official_of(qrels) or official_of(dataset)]
    usual = default_measures(several=len(runs) > 1, lengths=lengths, cutoff=cutoff, brief=True)
    grades = runs.judgements.grades
    usual_first = "nDCG@10" if len(np.unique(grades[grades > 0])) > 1 else "AP"
    first = official[:1] or [measure for measure in usual if measure.name == usual_first]
    return unique([*first, *usual, *official])


def _whatever_unjudged(
    runs: Evaluation, rankings: list[SystemRanking], wanted: bool
) -> dict[str, Leaderboard]:
    """Measure -> the ranks that systems could have for all labels of unjudged documents."""
    if not wanted and len(runs) ** 2 * len(runs.qids) > _FEW_BOUNDS:
        return {}
    ranked = [
        ranking
        for ranking in rankings
        if ranking.intervals is not None
        and has_bounds(ranking.named.measure)
        and (own := formula(ranking.named.measure)) is not None
        and looks_no_deeper(own)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page has the cautions of each ranking
        return {
            r.name: ranks(runs, measures=r.named.measure, unjudged=True, alpha=r.alpha)
            for r in ranked
        }


def bounds_of_best(
    runs: Evaluation, measures: Mapping[str, Any], order: Ints
) -> dict[str, dict[tuple[int, int], dict[str, Any]]]:
    """Bounds of the differences of the best systems, for measures that have them.

    Args:
        runs: the runs.
        measures: by name.
        order: the numbers of the systems, best first.

    Returns:
        Name of a measure that has bounds -> numbers of two systems, ascending -> the row of
        :class:`~pyterrier_asl.unjudged.holes.Holes`, ``unjudged``, the number of their unjudged
        documents, and ``todo``, the ten documents to judge next.
    """
    own = {
        name: measure
        for name in measures
        if (measure := formula(measures[name])) and has_bounds(measure)
    }
    bounds: dict[str, dict[tuple[int, int], dict[str, Any]]] = {name: {} for name in own}
    for shallow, best in ((True, _BEST), (False, _BEST_DEEP)):
        chosen = {
            name: measure
            for name, measure in own.items()
            if looks_no_deeper(measure) == shallow
            and (measure.cutoff is not None or not measure.SLOW_DIFFERENCES)
        }
        for a, b in combinations(sorted(order[:best].tolist()), 2) if chosen else ():
            pair = runs.select([runs.names[a], runs.names[b]])
            for name, labelled in labelled_measures(pair, chosen).items():
                bounds[name][a, b] = _bounds_of(Holes(pair, labelled))
    return bounds


def looks_no_deeper(measure: Formula) -> bool:
    """Whether a measure has a cut-off of at most 100."""
    return measure.cutoff is not None and measure.cutoff <= _SHALLOW


def _bounds_of(holes: Holes) -> dict[str, Any]:
    unjudged = int(holes.difference.by_query["unjudged"].sum())
    return {**holes.difference.row(), "unjudged": unjudged, "todo": holes.todo.head(10)}


def _of_all(
    collections: dict[str, Evaluation],
    measure: NamedMeasure,
    alpha: float,
    *,
    judges: Mapping[str, Any] | None = None,
    judge_rel: JudgeRel | None = None,
    people: Iterable[str] | None = None,
    **policy: Any,
) -> tuple[Leaderboard | None, list[str]]:
    """Who could be the best over all collections, whichever judge is right, with cautions.

    None for one collection with one judge.

    Args:
        collections: the matched runs by collection.
        measure: the measure that decides.
        alpha: level of significance.
        **policy: how the runs were matched with the qrels.
    """
    if judges is None or len(judges) == 0:
        refuse("is for judges", judge_rel=judge_rel, people=people)
        if len(collections) < 2:
            return None, []
    policy |= {"judges": judges, "judge_rel": judge_rel, "people": people or ()}
    board, cautions = _with_cautions(collections, measure.measure, alpha, **policy)
    return replace(board, measure=measure.name), cautions


def _with_cautions(
    runs: Any, measure: Any, alpha: float, **how: Any
) -> tuple[Leaderboard, list[str]]:
    """A leaderboard, and its warnings for the page."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        board = ranks(runs, measures=measure, alpha=alpha, **how)
    return board, [str(warning.message) for warning in caught]


def _stability(runs: Evaluation, rankings: list[SystemRanking]) -> pd.DataFrame | None:
    """The stability of the measures with a direction; None for a single system or query."""
    directed = [ranking for ranking in rankings if ranking.higher_is_better is not None]
    if len(runs) < 2 or not directed or len(runs.qids) < 2:
        return None
    frame = discrimination.stability(
        runs, runs.judgements, [ranking.named.measure for ranking in directed]
    )
    frame["measure"] = [ranking.name for ranking in directed]
    frame["ordered"] = [int(ranking.better.sum()) for ranking in directed]
    frame["pairs"] = len(runs) * (len(runs) - 1) // 2
    return frame


def collect_scores(
    scores: ScoreTable,
    measures: Any = None,
    *,
    alpha: float = 0.05,
    command: str = "",
) -> SystemFindings:
    """Compares systems by scores that others computed.

    Args:
        scores: the scores; of several collections the page is about the first.
        measures: names of measures; None: all with a direction, nDCG@10 and AP first.
        alpha: level of significance.
        command: the command line of the report.

    Raises:
        ValueError: for a measure that the scores lack, that has no direction, or that has a value
            that is not finite.
    """
    names = scores.names_in(measures or []) or _of_scores(scores)
    tables = {name: scores.matrix(name, scores.tracks[0]) for name in names}
    first = next(iter(tables.values()))
    rankings: list[SystemRanking] = []
    for name, table in tables.items():
        if list(table.index) != list(first.index) or set(table) != set(first):
            raise ValueError(
                f"{name} has other systems or topics than {names[0]}: name measures with the same"
            )
        values = table[list(first)].to_numpy(dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(f"{name} has values that are not finite: leave them out")
        named, up = NamedMeasure(name, measure_named(name)), scores.direction(name)
        rankings.append(SystemRanking(named, values, list(table.index), up, alpha))
    systems = list(first.index)
    provenance = Provenance.of_scores(scores, systems, command)
    measure = deciding(rankings).name
    several = len(scores.tracks) > 1
    of_all = _with_cautions(scores, measure, alpha) if several else (None, [])
    return SystemFindings(systems, list(first), alpha, rankings, provenance, {}, *of_all)


def _of_scores(scores: ScoreTable) -> list[str]:
    """The measures of scores with a direction, the usual measures first."""
    names = []
    for name in scores.measures:
        with contextlib.suppress(ValueError):
            scores.direction(name)
            names.append(name)
    if not names:
        scores.direction(scores.measures[0])  # raises an error with a remedy
    order = {"nDCG@10": 0, "AP": 1}
    return sorted(names, key=lambda name: order.get(canonical_name(name), 2))
