"""Does the leaderboard depend on the judge? People, crowds and language models, side by side.

The same runs are measured under several judgements of the same queries. Whether two judges agree on
documents is another question: :mod:`~pyterrier_asl.analysis.judges`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..assessment.judges import JudgeRel, sign_of
from ..assessment.system_pairs import (
    PairedTest,
    as_frame,
    compared_systems,
    own_gains,
    scores_by_judge,
    swap_counts,
)
from ..charts.forms import COLORS, alt, captioned, first_of, in_rows, ranks_on_lists, tooltips
from ..io.lazy import pd
from ..io.names import check_names
from ..measures.names import Measures
from ..statistics.correction import with_corrected_p
from ..statistics.correlation import kendall_tau, rank_biased_overlap_of_scores, tau_ap
from ..statistics.rounding import shared_ranks
from .judges import judges_agreement_chart
from .reading import per_slice, read_judges
from .registry import JUDGES, TRUSTED, Qrels, Queries, Runs, Slices, Weights, analysis


@analysis("leaderboards", JUDGES, "systems", group_by="judge")
def leaderboards(
    runs: Runs,
    judges: Mapping[str, Qrels],
    *,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    duplicates: str | None = None,
    measure: Measures = "AP",
    reference: str | None = None,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """How does every system score under every judge?

    A lenient judge raises every system. What a system gains beyond what all of them gain on average
    is what the judge does for *it*, and that is tested.

    Args:
        rel: minimum grade of a relevant document, for measures that do not say it; None: each
            measure's default.
        reference: the judge that others are compared with; by default the first.
        correction: over all systems and judges but the reference.

    Returns:
        One row for each judge and run, best first, with ``judge``, ``run``, ``value``, ``rank``
        (equal values share the best), ``rank_change`` (ranks up, by the reference's order),
        ``gain`` (value less the reference's), ``own_gain`` (gain less the mean gain of all systems;
        in the measure's space, so negative is better for ASL), its ``ci_low``, ``ci_high``,
        ``effect``, ``statistic``, ``p``, ``p_corrected``, ``significant``. NaN for the reference.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"e": 2, "d": 1}}}
    >>> judges = {"person": {"q": {"d": 1, "e": 0}}, "model": {"q": {"d": 0, "e": 1}}}
    >>> leaderboards(runs, judges)[["judge", "run", "value", "rank", "rank_change", "gain"]]
        judge run  value  rank  rank_change  gain
    0  person   a    1.0     1            0   0.0
    1  person   b    0.5     2            0   0.0
    2   model   b    1.0     1            1   0.5
    3   model   a    0.5     2           -1  -0.5
    """
    read = read_judges(
        judges, runs, rel=rel, judge_rel=judge_rel, duplicates=duplicates, measure=measure
    )
    paired = PairedTest(test, correction, alpha, n_resamples, seed)

    def of_slice(queries: Queries) -> pd.DataFrame:
        base = read.names[0] if reference is None else reference
        check_names("reference", [base], read.names, "judges")
        values, scores = read.values(measure), scores_by_judge(read, measure, queries)
        ranks = {judge: shared_ranks(means) for judge, means in scores.items()}
        parts = []
        for judge in read.names:
            frame = pd.DataFrame({"judge": judge, "run": read.systems})
            frame["value"] = sign_of(measure) * scores[judge]
            frame["rank"] = ranks[judge]
            frame["rank_change"] = ranks[base] - ranks[judge]
            gains = values[judge] - values[base]
            tests = own_gains(gains, gains.mean(axis=0), queries, paired)
            parts.append(pd.concat([frame, tests], axis=1).sort_values("rank", kind="stable"))
        board = pd.concat(parts, ignore_index=True)
        board.attrs = {"measure": read.label(measure), "reference": base}
        return board

    frame = per_slice(read.qids, of_slice, weights, by)
    return with_corrected_p(frame, test, correction, alpha)


@leaderboards.chart
def leaderboards_chart(frame: pd.DataFrame) -> Any:
    """The rank of every system under every judge."""
    return ranks_on_lists(
        frame,
        "One leaderboard, several judges",
        f"Ranks by {frame.attrs.get('measure', 'the measure')} under each judge, best at the "
        f"top; a line is a system, its colour how many ranks it moves at most from its rank "
        f"under {frame.attrs.get('reference', frame['judge'].iloc[0])}.",
        across="judge",
        moved="rank_change",
        tooltip=["run", "judge", "rank", "rank_change", "value", "own_gain", "p_corrected"],
    )


@analysis("leaderboard-agreement", JUDGES, "systems", question=TRUSTED)
def leaderboard_agreement(
    runs: Runs,
    judges: Mapping[str, Qrels],
    *,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    duplicates: str | None = None,
    measure: Measures = "AP",
    p: float = 0.9,
    test: str = "tukey-two-way",
    correction: str = "auto",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """How far do every two judges agree on the ranking of systems?

    Args:
        rel: minimum grade of a relevant document, for measures that do not say it; None: each
            measure's default.
        p: persistence of RBO; at .9 the first ten systems have 86 % of the weight.
        test: of all pairs of systems under each judge; with weights ``'tukey-randomized'``,
            ``'t'`` or ``'randomization'``.
        correction: of a test of pairs, over all pairs of systems of one judge; Tukey tests have
            none.
        alpha: the level of significance.

    Returns:
        One row for every two judges, with ``judge_a``, ``judge_b``, ``tau`` (Kendall's tau-b),
        ``tau_AP`` (both directions averaged: neither judge is the truth), ``RBO``, ``pairs`` of
        systems, and how many of them are ``reversed``; ``reversed_significant`` (significant under
        one of the two), ``reversed_both`` (significant under both, in opposite directions),
        ``significant_a``, ``significant_b`` and ``significant_both`` (and in the same direction).

    Sources: Kendall 1945; Yilmaz, Aslam and Robertson 2008; Webber, Moffat and Zobel 2010.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"e": 2, "d": 1}}}
    >>> judges = {"person": {"q": {"d": 1, "e": 0}}, "model": {"q": {"d": 0, "e": 1}}}
    >>> leaderboard_agreement(runs, judges)[["judge_a", "judge_b", "tau", "reversed"]]
      judge_a judge_b  tau  reversed
    0  person   model -1.0         1
    """
    read = read_judges(
        judges, runs, rel=rel, judge_rel=judge_rel, duplicates=duplicates, measure=measure
    )
    paired = PairedTest(test, correction, alpha, n_resamples, seed)

    def of_slice(queries: Queries) -> pd.DataFrame:
        rows, scores = [], scores_by_judge(read, measure, queries)
        for a, b, both in compared_systems(read, measure, queries, paired):
            both_scores = scores[a], scores[b]
            agreement = {
                "tau": kendall_tau(*both_scores),
                "tau_AP": tau_ap(*both_scores, symmetric=True),
                "RBO": rank_biased_overlap_of_scores(*both_scores, p=p),
            }
            rows.append({"judge_a": a, "judge_b": b, **agreement, **swap_counts(both)})
        frame = as_frame(rows)
        frame.attrs = {
            "measure": read.label(measure),
            "test": paired.test,
            "alpha": paired.alpha,
            "RBO p": p,
        }
        return frame

    return per_slice(read.qids, of_slice, weights, by)


leaderboard_agreement.chart(judges_agreement_chart)


@analysis("leaderboard-swaps", JUDGES, "systems")
def leaderboard_swaps(
    runs: Runs,
    judges: Mapping[str, Qrels],
    *,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    duplicates: str | None = None,
    measure: Measures = "AP",
    test: str = "tukey-two-way",
    correction: str = "auto",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """Which significant differences does another judge reverse?

    Args:
        rel: minimum grade of a relevant document, for measures that do not say it; None: each
            measure's default.
        test: of all pairs of systems under each judge; with weights ``'tukey-randomized'``,
            ``'t'`` or ``'randomization'``.
        correction: of a test of pairs, over all pairs of systems of one judge; Tukey tests have
            none.
        alpha: the level of significance.

    Returns:
        One row for every such swap, by the smaller p, then by the smaller difference, largest
        first: ``judge_a``, ``judge_b``, ``better`` (the run that judge a prefers), ``worse``, the
        ``difference_a`` and ``difference_b`` of the two runs' means, the tests' ``p_a`` and
        ``p_b``, ``significant_a`` and ``significant_b``. Empty where there is none.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"e": 2, "d": 1}}}
    >>> judges = {"person": {"q": {"d": 1, "e": 0}}, "model": {"q": {"d": 0, "e": 1}}}
    >>> len(leaderboard_swaps(runs, judges))  # of a single query nothing is significant
    0
    """
    read = read_judges(
        judges, runs, rel=rel, judge_rel=judge_rel, duplicates=duplicates, measure=measure
    )
    paired = PairedTest(test, correction, alpha, n_resamples, seed)

    def of_slice(queries: Queries) -> pd.DataFrame:
        sign = sign_of(measure)
        compared = compared_systems(read, measure, queries, paired)
        parts = [_swaps(sign, *two_judges) for two_judges in compared]
        swaps = pd.concat(parts, ignore_index=True)
        swaps.attrs = {"measure": read.label(measure), "test": paired.test, "alpha": paired.alpha}
        return swaps

    return _by_size(per_slice(read.qids, of_slice, weights, by))


def _by_size(swaps: pd.DataFrame) -> pd.DataFrame:
    """The swaps of all slices, by the smaller p and then by the smaller difference."""
    smallest = swaps[["p_a", "p_b"]].min(axis=1)
    size = swaps[["difference_a", "difference_b"]].abs().min(axis=1)
    ordered = swaps.iloc[np.lexsort((-size, smallest))].reset_index(drop=True)
    ordered.attrs = swaps.attrs
    return ordered


@leaderboard_swaps.chart
def leaderboard_swaps_chart(swaps: pd.DataFrame) -> Any:
    """The differences that a judge reverses, by each of two judges."""
    shown, rest = first_of(swaps, "swaps")
    pairs = [f"{better} over {worse}" for better, worse in zip(shown["better"], shown["worse"])]
    between = [f"{a} against {b}" for a, b in zip(shown["judge_a"], shown["judge_b"])]
    base = alt.Chart(shown.assign(pair=pairs, judges=between)).encode(
        y=alt.Y("pair:N", title=None, sort=None, axis=None),
        tooltip=tooltips(
            "judges:N",
            "better:N",
            "worse:N",
            "difference_a:Q",
            "difference_b:Q",
            "p_a:Q",
            "p_b:Q",
        ),
    )
    x = alt.X("difference_a:Q", title="difference of the two runs")
    layers = alt.layer(
        base.mark_rule(color="gray").encode(x=x, x2=alt.X2("difference_b:Q")),
        base.mark_point(filled=True, size=60, opacity=1, color=COLORS[0]).encode(x=x),
        base.mark_point(size=60, opacity=1, color=COLORS[4]).encode(x=alt.X("difference_b:Q")),
        base.mark_text(align="left", dy=-10, fontSize=9).encode(
            x=alt.value(2), text=alt.Text("pair:N")
        ),
    )
    drawn = in_rows(layers, "judges", between, rows=1.5).resolve_scale(y="independent")
    caption = (
        "Pairs of systems that are significantly different under one judge, and the other way "
        "round under the other: filled by the first judge, hollow by the second."
        if pairs
        else "There are none: no significant difference under one judge is reversed under another."
    )
    return captioned(drawn, "Swaps that matter", caption + rest)


def _swaps(sign: int, judge_a: str, judge_b: str, both: pd.DataFrame) -> pd.DataFrame:
    """The swaps between two judges, the run that judge a prefers first."""
    swapped = both[both["reversed"] & (both["significant_a"] | both["significant_b"])]
    turn = sign * np.sign(swapped["difference_a"])
    systems, significant = ["better", "worse"], ["significant_a", "significant_b"]
    differences = swapped[["difference_a", "difference_b"]].mul(turn, axis=0)
    p = swapped[["p_corrected_a", "p_corrected_b"]].set_axis(["p_a", "p_b"], axis=1)
    swaps = pd.concat([swapped[systems], differences, p, swapped[significant]], axis=1)
    swaps.insert(0, "judge_a", judge_a)
    swaps.insert(1, "judge_b", judge_b)
    return swaps
