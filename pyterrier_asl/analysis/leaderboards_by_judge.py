"""Does the leaderboard depend on the judge? People, crowds and language models, side by side.

The same runs are measured under several judgements of the same queries. Whether two judges agree on
documents is another question: :mod:`~pyterrier_asl.analysis.judges`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ..assessment.agreement import agreement_on_systems, draw_queries
from ..assessment.judges import JudgeRel, sign_of
from ..assessment.system_pairs import PairedTest, as_frame, compared_systems, leaderboards_of
from ..charts.forms import COLORS, MOST, alt, captioned, first_of, in_rows, ranks_on_lists, tooltips
from ..io.lazy import pd
from ..io.names import check_names
from ..measures.names import Measures
from ..statistics.correction import with_corrected_p
from .judges import judges_agreement_chart
from .reading import per_slice, read_judges
from .registry import JUDGES, TRUSTED, Qrels, Queries, Runs, Slices, Weights, analysis


@analysis(JUDGES, "systems", group_by="judge")
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
    draws: int = 10_000,
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
        One row for each judge and run, best first, with ``judge``, ``measure``, ``run``, ``value``,
        ``rank`` (equal values share the best), ``rank_change`` (ranks up, by the reference's
        order), ``gain`` (value less the reference's), ``own_gain`` (gain less the mean gain of all
        systems; in the measure's space, so negative is better for ASL), its ``ci_low``,
        ``ci_high``, ``effect``, ``statistic``, ``p``, ``p_corrected``, ``significant``. NaN for the
        reference.

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
    paired = PairedTest(test, correction, alpha, draws, seed)

    base = read.names[0] if reference is None else reference
    check_names("reference", [base], read.names, "judges")

    def of_slice(queries: Queries) -> pd.DataFrame:
        board = leaderboards_of(read, measure, queries, paired, reference=base)
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


@analysis(JUDGES, "systems", question=TRUSTED)
def leaderboard_agreement(
    runs: Runs,
    judges: Mapping[str, Qrels],
    *,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    duplicates: str | None = None,
    measure: Measures = "AP",
    p: float = 0.9,
    alpha: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """How far do every two judges agree on the ranking of systems?

    Args:
        rel: minimum grade of a relevant document, for measures that do not say it; None: each
            measure's default.
        p: persistence of RBO; at .9 the first ten systems have 86 % of the weight.
        alpha: intervals cover 1 - alpha.
        draws: draws of the bootstrap over queries.
        seed: of those draws.

    Returns:
        A row for every two judges and kind of agreement, with ``judge``, ``reference`` (the other),
        ``measure``, ``agreement``, ``value``, ``ci_low``, ``ci_high``, ``pairs`` (of query and
        document that both judged) and ``queries``. Kinds are ``tau`` (Kendall's tau-b), ``tau_AP``
        (both directions averaged: neither judge is the truth) and ``RBO``.

    Sources: Kendall 1945; Yilmaz, Aslam and Robertson 2008; Webber, Moffat and Zobel 2010.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"e": 2, "d": 1}}}
    >>> judges = {"person": {"q": {"d": 1, "e": 0}}, "model": {"q": {"d": 0, "e": 1}}}
    >>> agreement = leaderboard_agreement(runs, judges)
    >>> agreement[["judge", "reference", "measure", "agreement", "value"]].round(3)
       judge reference measure agreement  value
    0  model    person      AP       tau   -1.0
    1  model    person      AP    tau_AP   -1.0
    2  model    person      AP       RBO    0.9
    """
    read = read_judges(
        judges, runs, rel=rel, judge_rel=judge_rel, duplicates=duplicates, measure=measure
    )
    draw = partial(draw_queries, draws=draws, seed=seed)

    def of_slice(queries: Queries) -> pd.DataFrame:
        agreements = agreement_on_systems(read, measure, draw, queries=queries, p=p)
        of_pairs = ((pair, agreements[frozenset(pair)]) for pair in read.pairs())
        frame = as_frame([row for pair, both in of_pairs for row in both.rows(*pair, alpha)])
        labels = [read.label(measure, pair) for pair in zip(frame["reference"], frame["judge"])]
        frame.insert(2, "measure", labels)
        return frame

    return per_slice(read.qids, of_slice, weights, by)


leaderboard_agreement.chart(judges_agreement_chart)


@analysis(JUDGES, "systems")
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
    draws: int = 10_000,
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
        first: ``reference``, ``judge``, ``better`` (the run that the reference prefers), ``worse``,
        the ``difference_a`` and ``difference_b`` of the two runs' means, the tests' ``p_a`` and
        ``p_b``, ``significant_a`` and ``significant_b``. Empty where there is none.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"e": 2, "d": 1}}}
    >>> judges = {"person": {"q": {"d": 1, "e": 0}}, "model": {"q": {"d": 0, "e": 1}}}
    >>> len(leaderboard_swaps(runs, judges))  # of a single query nothing is significant
    0
    """
    read = read_judges(
        judges, runs, rel=rel, judge_rel=judge_rel, duplicates=duplicates, measure=measure
    )
    paired = PairedTest(test, correction, alpha, draws, seed)

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
    shown, rest = first_of(swaps, "swaps", MOST // 2)
    pairs = [f"{better} over {worse}" for better, worse in zip(shown["better"], shown["worse"])]
    between = [f"{a} against {b}" for a, b in zip(shown["reference"], shown["judge"])]
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
    drawn = in_rows(layers, "judges", between, rows=1.8).resolve_scale(y="independent")
    caption = (
        "Pairs of systems that are significantly different under one judge, and the other way "
        "round under the other: filled by the first judge, hollow by the second."
        if pairs
        else "There are none: no significant difference under one judge is reversed under another."
    )
    return captioned(drawn, "Swaps that matter", caption + rest)


def _swaps(sign: int, reference: str, judge: str, both: pd.DataFrame) -> pd.DataFrame:
    """The swaps between two judges, the run that the reference prefers first."""
    swapped = both[both["reversed"] & (both["significant_a"] | both["significant_b"])]
    turn = sign * np.sign(swapped["difference_a"])
    systems, significant = ["better", "worse"], ["significant_a", "significant_b"]
    differences = swapped[["difference_a", "difference_b"]].mul(turn, axis=0)
    p = swapped[["p_corrected_a", "p_corrected_b"]].set_axis(["p_a", "p_b"], axis=1)
    swaps = pd.concat([swapped[systems], differences, p, swapped[significant]], axis=1)
    swaps.insert(0, "reference", reference)
    swaps.insert(1, "judge", judge)
    return swaps
