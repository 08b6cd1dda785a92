"""Intervals of the ranks of systems, by runs or scores, of one collection or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..assessment.judges import QRELS, Judges, sign_of, with_reference
from ..common.lazy import pd
from ..common.notices import warn
from ..common.parameters import taking_other_names
from ..common.types import Floats
from ..evaluation.collections import OVERALL
from ..evaluation.evaluate import tracks
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.facts import joined_notes
from ..evaluation.scores import ScoreTable
from ..evaluation.sources import (
    FOR_SEVERAL,
    NOT_FOR_SCORES,
    JudgeRel,
    QrelsLike,
    on_grades,
    refuse,
    refuse_unused,
)
from ..measures.parsing import Measures, one_measure
from ..statistics.rank_intervals import RankIntervals, joint_ranks, rank_intervals
from ..statistics.settings import DRAWS, FEWEST
from .numbers import STAR
from .odd_runs import odd_runs
from .result import Leaderboard
from .samples import (
    Sample,
    checked_sample,
    joined,
    sample_of_runs,
    sample_of_scores,
    together,
)

#: The measure of runs by default.
_MEASURE = "nDCG@10"

#: The number of pairs times draws above which a progress bar is shown.
_MANY = 10**9


@taking_other_names
def ranks(
    runs: Runs | ScoreTable,
    qrels: QrelsLike | None = None,
    measures: Measures | None = None,
    *,
    unjudged: bool = False,
    judges: Mapping[str, Any] | None = None,
    judge_rel: JudgeRel | None = None,
    rel: float | None = None,
    people: Iterable[str] = (),
    depth: int | None = None,
    highest: float | None = None,
    variance: str = "averaged",
    alpha: float = 0.05,
    draws: int = DRAWS,
    seed: int = 0,
    simultaneous: bool = False,
    common: bool = False,
) -> Leaderboard:
    """Intervals of the ranks of systems, which hold for all systems at once.

    The topics are a sample. With 95 % confidence all intervals contain the rank that their system
    has by the mean over the population of topics: the probability that any pair of systems is put
    in the wrong order is at most ``alpha``. A system *could be the best* unless a separate test of
    this system shows that another system is better.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or Evaluation; without
            qrels a dict of collection -> (runs, qrels), or scores that
            :func:`~pyterrier_asl.read_scores` read.
        qrels: frame, file, ir_datasets id, or :class:`~pyterrier_asl.Qrels`.
        measures: one measure or its name, with a direction; None: the only measure of scores, else
            ``nDCG@10``.
        unjudged: whether the intervals hold for all labels of these runs' unjudged documents, by
            the bounds of every pair (see :func:`~pyterrier_asl.bounds`).
        judges: name -> qrels of other judges: the intervals hold whichever of them, or ``qrels``,
            is right. For several collections: collection -> name -> qrels. Topics that a judge
            lacks are left out.
        judge_rel: minimum grade of a relevant document for the other judges: judge -> grade, or one
            number. It replaces ``rel`` and the ``rel`` of a measure.
        rel: minimum grade of a relevant document, for a measure without one.
        people: the judges that are people, besides the judge of ``qrels``. Two people or more, with
            that judge, give a human range.
        depth: with ``unjudged``, the depth to which unjudged documents are considered, if it is
            deeper than the cut-off.
        highest: with ``unjudged``, the best grade that a label can give in nDCG.
        variance: ``'averaged'``: the squared error of a pair is averaged with the mean over all
            pairs; ``'common'``: all pairs have the mean squared error of all pairs.
        alpha: the probability that any pair is put in the wrong order.
        draws: number of random sign vectors; all 2^Q if these are not more.
        seed: seed of the sign vectors.
        simultaneous: whether the tables of all collections hold at once, each at ``alpha`` divided
            by their number.
        common: whether systems that a collection lacks are left out; else they are an error.

    Returns:
        A :class:`~pyterrier_asl.leaderboard.result.Leaderboard`.

    Raises:
        ValueError: for fewer than 10 topics, a collection of a single one, values that are not
            finite, a measure without a direction, too many bounds, a system that a collection
            lacks, or judges without a common topic; with its name and what to do.

    >>> qrels = {f"q{n}": {"d": 1} for n in range(30)}
    >>> good = {qid: {"d": 2, "x": 1} for qid in qrels}
    >>> bad = {qid: {"x": 2, "d": 1} for qid in qrels}
    >>> board = ranks({"bad": bad, "good": good}, qrels, "RR")
    >>> board.table[["name", "mean", "rank", "low", "high", "could_be_best"]]
       name  mean  rank  low  high  could_be_best
    0  good   1.0     1    1     1           True
    1   bad   0.5     2    2     2          False
    """
    options = {"alpha": alpha, "variance": variance, "draws": draws, "seed": seed}
    if not unjudged:
        refuse("is for unjudged=True", depth=depth, highest=highest)
    if judges is None and not isinstance(judge_rel, Mapping):
        refuse("is for judges", judge_rel=judge_rel, people=tuple(people))
    if isinstance(runs, ScoreTable):
        refuse(NOT_FOR_SCORES, qrels=qrels, unjudged=unjudged, judges=judges, rel=rel)
        return _of_scores(runs, measures, options, simultaneous=simultaneous, common=common)
    if measures in ("sgnLP", "rrLP"):
        raise ValueError(f"{measures} compares pairs and gives no system a value: use LexiP or RR")
    chosen = one_measure(_MEASURE if measures is None else measures)
    sign_of(chosen)  # systems cannot be ranked by a count
    if judges is None:  # their agreement depends on the grade
        refuse_unused([chosen], "rel", rel=rel)
    evaluations = tracks(runs, qrels)
    of_judges: dict[str, Any] = {"rel": rel, "judge_rel": judge_rel, "people": [QRELS, *people]}
    by_track = _judges_by_track(evaluations, judges, of_judges)
    samples = {
        track: sample_of_runs(members, chosen, unjudged=unjudged, depth=depth, highest=highest)
        for track, members in by_track.items()
    }
    board = ranks_of(samples, chosen.name, options, simultaneous=simultaneous, common=common)
    facts = {track: of.facts([chosen]) for track, of in by_track.items()}
    return replace(
        board,
        judged_runs=by_track if judges else {},
        named_measure=chosen,
        notes=joined_notes(
            {
                track: [
                    *members.notes_on([chosen]),
                    *on_grades(evaluations[track].judgements, of.measures, rel),
                    *of.notes,
                    *odd_runs(members.runs_by(members.names[0]), of.measures),
                ]
                for (track, members), of in zip(by_track.items(), facts.values())
            }
        ),
        doubts=joined_notes({track: of.doubts for track, of in facts.items()}),
    )


def _of_scores(
    table: ScoreTable, measures: Measures | None, options: dict[str, Any], **of_tracks: bool
) -> Leaderboard:
    """The leaderboard of scores that another program computed."""
    shared, left_out = ([], []) if measures is not None else table.default_measures()
    name = str(measures or (shared[0] if len(shared) == 1 else _MEASURE))
    scores = {track: sample_of_scores(table, name, track) for track in table.tracks}
    samples = {track: sample for track, (sample, _) in scores.items()}
    board = ranks_of(samples, name, options, **of_tracks)
    missing = joined_notes({track: [note] * bool(note) for track, (_, note) in scores.items()})
    return replace(board, notes=[*table.notes, *left_out, *missing])


def _judges_by_track(
    evaluations: Mapping[str, Evaluation], judges: Mapping[str, Any] | None, options: dict[str, Any]
) -> dict[str, Judges]:
    """The judge of the qrels and the other judges of each collection."""
    if "" not in evaluations and judges is not None and set(judges) != set(evaluations):
        raise ValueError(
            f"judges are given for {', '.join(map(repr, judges))}, the collections are "
            f"{', '.join(evaluations)}: give collection -> name -> qrels"
        )
    by_track = {}
    for track, judged in evaluations.items():
        others = {} if judges is None else judges[track] if track else judges
        sources = with_reference(others, QRELS, judged.judgements)
        by_track[track] = Judges.of(sources, judged, **options)
    return by_track


def ranks_of(
    samples: Mapping[str, Sample],
    measure: str,
    options: dict[str, Any],
    *,
    simultaneous: bool = False,
    common: bool = False,
) -> Leaderboard:
    """The leaderboard of one sample or of several, by the name of the collection ('': the only)."""
    if len(samples) == 1:
        refuse(FOR_SEVERAL, common=common, simultaneous=simultaneous)
    samples = joined(samples, common=common)
    whole = together(samples) if len(samples) > 1 else next(iter(samples.values()))
    limits = checked_sample(whole, measure)
    board = replace(_board_of(whole, measure, options), limits=limits)
    if len(samples) == 1:
        return board
    level = options["alpha"] / len(samples) if simultaneous else options["alpha"]
    tracks = {
        track: _board_of(sample, measure, options | {"alpha": level})
        for track, sample in samples.items()
        if len(sample.qids) >= FEWEST
    }
    names, everywhere = board.names, None
    if len(tracks) == len(samples):
        better = [own.better.loc[names, names].to_numpy() for own in tracks.values()]
        everywhere = pd.DataFrame(np.all(better, axis=0), board.better.index, names)
    means = pd.DataFrame({track: sample.means for track, sample in samples.items()}, whole.names)
    tables = {track: own.table for track, own in {OVERALL: board, **tracks}.items()}
    return replace(
        board,
        table=pd.concat(tables, names=["track"]).reset_index("track").reset_index(drop=True),
        tracks=tracks,
        better_everywhere=everywhere,
        means=means.loc[names],
    )


def _intervals(sample: Sample, judge: str, options: dict[str, Any]) -> RankIntervals:
    lower = sample.lower.get(judge)
    return rank_intervals(
        sample.sign * sample.values[judge] if lower is None else None,
        lower=lower,
        collections=sample.collections,
        **options,
        progress=None if len(sample.names) ** 2 * options.get("draws", 1) >= _MANY else False,
    )


def with_rank_columns(
    columns: Mapping[str, list[Any]],
    names: Sequence[str],
    qids: Sequence[Any],
    values: Mapping[str, Floats],
    higher_is_better: Mapping[str, bool | None],
    *,
    stars: bool = True,
) -> dict[str, list[Any]]:
    """Adds the ranks that each system could have to columns of means.

    Args:
        columns: one row per system, with its means by measure, and other columns.
        names: the system of each row.
        qids: the topics.
        values: measure -> values by topic, shape (S, Q), systems in the order of the rows.
        higher_is_better: the direction of each measure; without a direction there are no ranks.
        stars: whether to mark systems if a system with the best mean is better.

    Returns:
        The columns. After each measure follow ``*``, with the stars, and ``rank low`` and
        ``rank high``, the best and the worst rank.
    """
    shown: dict[str, list[Any]] = {}
    for label, column in columns.items():
        shown[label] = column
        up = higher_is_better.get(label)
        if up is not None and label in values:
            sample = Sample(list(names), list(qids), up, {QRELS: values[label]})
            warn(*checked_sample(sample, label))
            intervals = _intervals(sample, QRELS, {"possibly_best": False})
            if stars:
                shown[f"{label} {STAR}"] = [
                    STAR * bool(star) for star in intervals.better[sample.ranks == 1].any(axis=0)
                ]
            shown[f"{label} rank low"] = intervals.low.tolist()
            shown[f"{label} rank high"] = intervals.high.tolist()
    return shown


def _board_of(sample: Sample, measure: str, options: dict[str, Any]) -> Leaderboard:
    """The leaderboard of a sample, by the intervals of all judges."""
    by_judge = [_intervals(sample, judge, options) for judge in sample.values]
    intervals = joint_ranks(by_judge) if len(by_judge) > 1 else by_judge[0]
    rank = sample.ranks
    order = np.argsort(rank, kind="stable")
    names = [sample.names[system] for system in order]
    best = intervals.possibly_best
    assert best is not None

    def frame(matrix: Any) -> pd.DataFrame:
        return pd.DataFrame(matrix[np.ix_(order, order)], pd.Index(names, name="name"), names)

    between = None
    if intervals.least is not None:
        ends = intervals.least[tuple(order)], -intervals.least[tuple(order[::-1])]
        between = tuple(sorted(float(sample.sign * end) for end in ends))
    return Leaderboard(
        table=pd.DataFrame(
            {
                "name": names,
                "mean": sample.means[order],
                "rank": rank[order],
                "low": intervals.low[order],
                "high": intervals.high[order],
                "possibly_first": intervals.low[order] == 1,
                "could_be_best": best[order],
            }
        ),
        better=frame(intervals.better),
        p=frame(intervals.p),
        critical=intervals.critical,
        measure=measure,
        higher_is_better=sample.higher_is_better,
        names=names,
        topics=len(sample.qids),
        alpha=options["alpha"],
        statistic=frame(intervals.statistic),
        draws=intervals.draws,
        judges=list(sample.values),
        values=pd.DataFrame(
            next(iter(sample.values.values()))[order], pd.Index(names, name="name"), sample.qids
        ),
        difference_interval=between,
        unjudged=bool(sample.lower),
        alone=sample.alone,
        left_out=sample.left_out,
    )
