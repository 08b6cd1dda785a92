"""Can a judge be trusted? Agreement on documents and on systems: people, crowds, language models.

The tables come from :mod:`pyterrier_asl.assessment`, as the tables of ``pyterrier-asl judges``;
here they cover every two judges, with weights and slices of queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ..assessment.agreement import (
    agreement_on_documents,
    agreement_on_systems,
    binned_judges,
    confusion_of,
    counts_by_grade,
    draw_queries,
    judged_by_both,
)
from ..assessment.judges import JudgeRel
from ..assessment.system_pairs import PairedTest, as_frame, leaderboards_of, swaps_of
from ..charts import (
    COLORS,
    MOST,
    POINT,
    SHORT,
    STEP,
    alt,
    captioned,
    cells,
    coefficient_colors,
    first_of,
    in_rows,
    names_above,
    ranks_on_lists,
    tooltips,
    undrawn,
)
from ..io.lazy import pd
from ..io.names import check_names
from ..io.notices import counted
from ..measures.names import Measures
from ..statistics.correction import with_corrected_p
from ..statistics.tests import correction_for
from .registry import (
    JUDGES,
    TRUSTED,
    Qrels,
    Queries,
    Runs,
    Slices,
    Weights,
    analysis,
    per_slice,
    read_judges,
)

#: The width of a cell in pixels, enough for an interval such as [.41, .47].
_CELL = 60


@analysis(JUDGES, "documents", question=TRUSTED)
def judge_agreement(
    judges: Mapping[str, Qrels],
    *,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    alpha: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """How far do every two judges agree on documents (kappa)?

    Only documents that both judges judged count.

    Args:
        draws: draws of the bootstrap over queries.

    Returns:
        A row for every two judges and kind of agreement, with ``judge``, ``reference`` (the other),
        ``agreement``, ``value``, ``ci_low``, ``ci_high``, ``pairs`` (of query and document that
        both judged) and ``queries``. Kinds are ``agreement`` (share of the pairs with the same
        label, relevant or not), ``kappa`` of the labels, and of the grades, without an interval,
        ``kappa_grades``, ``kappa_linear``, ``kappa_quadratic``; these are NaN where the largest
        grades of the two judges differ, because their scales then differ.

    Raises:
        ValueError: for a judge who finds nothing relevant, or two with no document in common.

    Sources: Cohen 1960 and 1968.

    >>> judges = {"person": {"q": {"a": 2, "b": 0}}, "model": {"q": {"a": 1, "b": 0, "c": 1}}}
    >>> agreement = judge_agreement(judges, rel=2, judge_rel={"model": 1})
    >>> agreement[["judge", "reference", "agreement", "value", "pairs"]].head(3)
       judge reference     agreement  value  pairs
    0  model    person     agreement    1.0      2
    1  model    person         kappa    1.0      2
    2  model    person  kappa_grades    NaN      2
    """
    panel = read_judges(judges, None, rel, judge_rel)
    for judge in panel.members.values():
        judge.check_finds_relevant()
    draw = partial(draw_queries, draws=draws, seed=seed)
    agreements = agreement_on_documents(panel, draw, graded=True)
    rows: list[Any] = []
    for pair in panel.pairs():
        judged_by_both(panel, *pair)
        rows += agreements[frozenset(pair)].rows(*pair, alpha)
    return pd.DataFrame(rows)


@judge_agreement.chart
def judges_agreement_chart(agreement: pd.DataFrame) -> alt.TopLevelMixin:
    """The agreement of every two judges, on the ranking of systems or on the documents.

    Shows kappa or tau, or the first kind of agreement of a table without them.
    """
    kinds = list(agreement["agreement"])
    value = next((kind for kind in ("tau", "kappa") if kind in kinds), kinds[0])
    shown = agreement[agreement["agreement"] == value]
    transposed = shown.rename(columns={"judge": "reference", "reference": "judge"})
    both = pd.concat([shown, transposed], ignore_index=True)
    judges = list(dict.fromkeys([*shown["reference"], *shown["judge"]]))
    # A narrow cell has room for .44 and for its interval in the line below.
    both["text"] = [
        [_short(value), *([f"[{_short(low)}, {_short(high)}]"] if low == low else [])]
        for value, low, high in both[["value", "ci_low", "ci_high"]].to_numpy()
    ]
    axis = alt.Axis(labelAngle=0 if max(map(len, judges)) <= SHORT else -35, labelOverlap=False)
    base = alt.Chart(both, width=alt.Step(_CELL), height=alt.Step(2 * STEP)).encode(
        x=alt.X("reference:N", sort=judges, title=None, axis=axis),
        y=alt.Y("judge:N", sort=judges, title=None),
    )
    chart = cells(
        base,
        alt.Color("value:Q", scale=coefficient_colors(both["value"].dropna()), legend=None),
        alt.Text("text:N"),
        "abs(datum.value) > 0.74",
        ["reference", "judge", "value", "ci_low", "ci_high", "pairs", "queries"],
    )
    intervals = " Intervals are in brackets." if shown["ci_low"].notna().any() else ""
    return captioned(
        chart,
        f"Agreement of judges: {value}",
        f"{value} of every two judges over {_range(shown['queries'], 'query', 'queries')} and "
        f"{_range(shown['pairs'], 'document')} that both judged; 1 is complete agreement."
        + intervals
        + undrawn(shown["value"]),
    )


def _short(value: float) -> str:
    """A number with two decimals, without a leading 0; '' for NaN."""
    text = f"{value:.2f}".replace("0.", ".", 1).replace("-", "\N{MINUS SIGN}")
    return "" if np.isnan(value) else text


def _range(counts: pd.Series, singular: str, plural: str = "") -> str:
    """The least and the greatest number of things, in words."""
    least, most = int(counts.min()), int(counts.max())
    most_of = counted(most, singular, plural)
    return most_of if least == most else f"{least:,} to {most_of}"


@analysis(JUDGES, "documents")
def judge_confusion(judges: Mapping[str, Qrels]) -> pd.DataFrame:
    """Which grades do two judges give the same documents?

    Fractional grades, such as means of several labels, are in bins: from each whole number to the
    next, or of width .1 where no grade is above 1. The table has the lower end of each bin.

    Returns:
        One row for every two judges and every two grades that they gave, with ``reference``,
        ``judge``, ``grade_a``, ``grade_b``, ``pairs`` (of query and document), ``share_of_a`` (the
        share of the pairs with this grade by the reference). ``attrs['binned']`` names the judges
        with fractional grades.

    >>> judges = {"person": {"q": {"a": 1, "b": 0}}, "model": {"q": {"a": 1.7, "b": 1}}}
    >>> judge_confusion(judges)[["grade_a", "grade_b", "pairs", "share_of_a"]]
       grade_a  grade_b  pairs  share_of_a
    0      0.0      1.0      1         1.0
    1      1.0      1.0      1         1.0
    """
    panel = read_judges(judges, rel=1)
    confusion = confusion_of(panel)
    if binned := binned_judges(panel):
        confusion.attrs["binned"] = ", ".join(binned)
    return confusion


judge_confusion.shown(counts_by_grade)


@judge_confusion.chart
def judge_confusion_chart(confusion: pd.DataFrame) -> alt.TopLevelMixin:
    """The grades of every two judges against each other."""
    pairs = confusion.groupby(["reference", "judge"], sort=False)
    panels = [_grades_of_two(part, *map(str, pair)) for pair, part in pairs]
    names = confusion.attrs.get("binned")
    binned = f" Fractional grades ({names}) are in bins, by their lower ends." if names else ""
    several = len(panels) > 1
    return captioned(
        alt.concat(*panels, columns=3) if several else panels[0],
        "Grades of judges" if several else " against ".join(next(iter(pairs.groups))),
        "Documents that both judged, by grade. Colour: the share of the row, the second judge's "
        "grades of the documents with one grade of the first judge." + binned,
    )


def _grades_of_two(part: pd.DataFrame, reference: str, judge: str) -> alt.TopLevelMixin:
    base = alt.Chart(part, width=alt.Step(_CELL), height=alt.Step(2 * STEP)).encode(
        x=alt.X("grade_b:O", title=f"grade by {judge}", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("grade_a:O", title=f"grade by {reference}", sort="descending"),
    )
    shares, legend = alt.Scale(scheme="blues", domain=[0, 1]), alt.Legend(orient="bottom")
    return cells(
        base,
        alt.Color("share_of_a:Q", title="share of the row", scale=shares, legend=legend),
        alt.Text("pairs:Q"),
        "datum.share_of_a > 0.74",
        ["grade_a", "grade_b", "pairs", "share_of_a"],
    )


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
    draws: int | None = None,
    seed: int | None = None,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """How does every system score under every judge?

    A lenient judge raises the values of all systems. The gain of a system minus the mean gain of
    all systems is the effect of the judge on this system. It is tested.

    Args:
        reference: the judge with which others are compared; by default the first.
        correction: over all systems and judges but the reference.

    Returns:
        One row for each judge and run, best first, with ``judge``, ``measure``, ``run``, ``value``,
        ``rank`` (equal values share the best), ``rank_change`` (ranks up, by the reference's
        order), ``gain`` (value minus the reference's), ``own_gain`` (gain minus the mean gain of
        all systems; in units of the measure, so negative is better for ASL), its ``ci_low``,
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
    panel = read_judges(judges, runs, rel, judge_rel, duplicates=duplicates, measure=measure)
    paired = PairedTest(test, correction, alpha, draws, seed)
    base = panel.names[0] if reference is None else reference
    check_names("reference", [base], panel.names, "judges")

    def of_slice(queries: Queries) -> pd.DataFrame:
        board = leaderboards_of(panel, measure, queries, paired, reference=base)
        board.attrs = {"measure": panel.label(measure), "reference": base}
        return board

    frame = per_slice(panel.qids, of_slice, weights, by)
    return with_corrected_p(frame, test, correction, alpha)


@leaderboards.chart
def leaderboards_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The rank of every system under every judge."""
    return ranks_on_lists(
        frame,
        "One leaderboard, several judges",
        f"Ranks by {frame.attrs.get('measure', 'the measure')} under each judge, best at the top; "
        "one line per system, its colour the largest number of ranks that it moves from its rank "
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
        p: persistence of RBO; with .9 the first ten systems have 86 % of the weight.
        draws: draws of the bootstrap over queries.

    Returns:
        A row for every two judges and kind of agreement, with ``judge``, ``reference`` (the other),
        ``measure``, ``agreement``, ``value``, ``ci_low``, ``ci_high``, ``pairs`` (of query and
        document that both judged) and ``queries``. Kinds are ``tau`` (Kendall's tau-b), ``tau_AP``
        (mean of both directions, because neither judge is the truth) and ``RBO``. All values are on
        the pairs of query and document that both judged.

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
    panel = read_judges(judges, runs, rel, judge_rel, duplicates=duplicates, measure=measure)
    panel.check_find_relevant(measure)
    draw = partial(draw_queries, draws=draws, seed=seed)
    qids = panel.all_qids
    on_shared = {pair: panel.select(pair).on_shared_pairs for pair in panel.pairs()}

    def of_slice(queries: Queries) -> pd.DataFrame:
        rows, weight = [], dict(zip(qids, queries.weights_of_all(len(qids))))
        for pair, both in on_shared.items():
            if both is None:
                judged_by_both(panel, *pair)  # the error for such judges
                continue
            used = Queries(np.arange(len(both.qids)), np.array([weight[str(q)] for q in both.qids]))
            if used.each.any():
                agreed = agreement_on_systems(both, measure, draw, queries=used, p=p)
                label = panel.label(measure, pair)
                rows += [
                    {**row, "measure": label} for row in agreed[frozenset(pair)].rows(*pair, alpha)
                ]
        frame = as_frame(rows)
        frame.insert(2, "measure", frame.pop("measure"))
        return frame

    return per_slice(qids, of_slice, weights, by)


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
    draws: int | None = None,
    seed: int | None = None,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """Which significant differences does another judge reverse?

    Args:
        test: of all pairs of systems under each judge; with weights ``'tukey-randomized'``,
            ``'t'`` or ``'randomization'``.
        correction: of a test of pairs, over all pairs of systems of one judge; Tukey tests have
            none.

    Returns:
        One row for every such swap, by the smaller of both p-values, then by the smaller of both
        differences, largest first: ``reference``, ``judge``, ``better`` (the run that the reference
        prefers), ``worse``, the ``difference_a`` and ``difference_b`` of the means, the p-values
        ``p_a`` and ``p_b``, ``significant_a`` and ``significant_b``. Empty without a swap.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"e": 2, "d": 1}}}
    >>> judges = {"person": {"q": {"d": 1, "e": 0}}, "model": {"q": {"d": 0, "e": 1}}}
    >>> len(leaderboard_swaps(runs, judges))  # of a single query nothing is significant
    0
    """
    panel = read_judges(judges, runs, rel, judge_rel, duplicates=duplicates, measure=measure)
    paired = PairedTest(test, correction, alpha, draws, seed)
    swaps = per_slice(
        panel.qids, lambda queries: swaps_of(panel, measure, queries, paired), weights, by
    )
    smallest = swaps[["p_a", "p_b"]].min(axis=1)
    size = swaps[["difference_a", "difference_b"]].abs().min(axis=1)
    ordered = swaps.iloc[np.lexsort((-size, smallest))].reset_index(drop=True)
    tested = {"test": test, "alpha": alpha, "correction": correction_for(test, correction)}
    ordered.attrs = {"measure": panel.label(measure)} | tested | swaps.attrs
    return ordered


@leaderboard_swaps.chart
def leaderboard_swaps_chart(swaps: pd.DataFrame) -> alt.TopLevelMixin:
    """The differences that a judge reverses, by each of two judges."""
    shown, rest = first_of(swaps, "swaps", MOST // 2)
    pairs = [f"{better} over {worse}" for better, worse in zip(shown["better"], shown["worse"])]
    between = [f"{a} against {b}" for a, b in zip(shown["reference"], shown["judge"])]
    base = alt.Chart(shown.assign(pair=pairs, judges=between)).encode(
        y=alt.Y("pair:N", title=None, sort=None, axis=None),
        tooltip=tooltips(
            *("judges:N", "better:N", "worse:N", "difference_a:Q", "difference_b:Q", "p_a:Q"),
            "p_b:Q",
        ),
    )
    x = alt.X("difference_a:Q", title="difference of the two runs")
    layers = alt.layer(
        base.mark_rule(color="gray").encode(x=x, x2=alt.X2("difference_b:Q")),
        base.mark_point(**POINT, color=COLORS[0]).encode(x=x),
        base.mark_point(**POINT | {"filled": False}, color=COLORS[4]).encode(
            x=alt.X("difference_b:Q")
        ),
        names_above(base, "pair", alt.value(0)),
    )
    chart = in_rows(layers, "judges", between, rows=2).resolve_scale(y="independent")
    caption = (
        "Pairs of systems with a significant difference under one judge that has the opposite sign "
        "under the other judge: filled points by the first judge, hollow points by the second."
        if pairs
        else "No significant difference under one judge is reversed under another judge."
    )
    return captioned(chart, "Swaps that matter", caption + rest)
