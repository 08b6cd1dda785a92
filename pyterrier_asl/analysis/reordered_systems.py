"""How far does another measure reorder the systems? (Alex et al. 2022, Table 2.)"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import ir_measures
import numpy as np

from ..charts.forms import STEP, WIDE_CAPTION, alt, captioned, category, ranges, tooltips, undrawn
from ..charts.scales import whole_numbers
from ..evaluation.relevant_documents import RelevantDocuments, relevant_documents
from ..io.lazy import pd
from ..measures.names import with_options
from ..statistics.correlation import kendall_tau
from ..statistics.rounding import rounded
from ..statistics.tests import compare_all
from .reading import AslOptions, per_track_and_slice, read_tracks
from .registry import (
    ALEX,
    Evaluation,
    Floats,
    Ints,
    Qrels,
    Queries,
    Runs,
    Slices,
    Weights,
    analysis,
)

#: Changes of measure: the steps from AP to ASL, all of them together, and of measures of the top.
CHANGES = (
    ("atomize P", "AP", "mean 1/ASL(q,d)"),
    ("documents", "mean 1/ASL(q,d)", "mean 1/ASL(q)"),
    ("queries", "mean 1/ASL(q)", "ASL"),
    ("cumulative", "AP", "ASL"),
    ("P@20 to ASL@g1-10", "P@20", "ASL@g1-10"),
    ("RR to ASL@g1", "RR", "ASL@g1"),
)


@dataclass(frozen=True)
class SystemScores:
    """The values of systems by a measure, and how it is reported.

    Attributes:
        values: one row per system, one column per query, in the space it is reported in.
        lower_is_better: whether a smaller value is the better one.
    """

    values: Floats
    lower_is_better: bool = False

    def rates(self, queries: Queries) -> Floats:
        """The means as rates, larger is better: 1/ASL for ASL."""
        means = np.asarray(queries.mean(self.values))
        return 1 / means if self.lower_is_better else means


@dataclass(frozen=True)
class Better:
    """The condition under which a system is better than another.

    Their means differ significantly, and by at least ``margin`` of the worse one's.

    Attributes:
        margin: the least difference, relative to the mean of the worse system.
        alpha: the level of significance.
        test: a test for pairs.
        correction: over all pairs; the paper has none.
    """

    margin: float = 0.1
    alpha: float = 0.05
    test: str = "t"
    correction: str = "none"


#: As the paper has it.
BETTER = Better()


def num_better(scored: SystemScores, queries: Queries, better: Better = BETTER) -> Ints:
    """Counts the systems that are better than each.

    Args:
        scored: the systems, S of them.
        queries: the queries to look at.
        better: the condition.

    Returns:
        Counts, shape (S,).

    >>> values = np.array([[0.5, 0.6, 0.7], [0.1, 0.2, 0.4], [0.5, 0.6, 0.6]])
    >>> num_better(SystemScores(values), Queries(np.arange(3))).tolist()
    [0, 2, 0]
    """
    systems = len(scored.values)
    pairs = compare_all(
        queries.of(scored.values),
        [*map(str, range(systems))],
        test=better.test,
        correction=better.correction,
        alpha=better.alpha,
        weights=queries.weights,
    )
    first, second = np.triu_indices(systems, k=1)
    means = queries.mean(scored.values)
    a, b = means[first], means[second]
    a_wins = (a < b) if scored.lower_is_better else (a > b)
    worse = np.where(a_wins, b, a)
    real = (np.abs(a - b) >= better.margin * np.abs(worse)) & pairs["significant"].to_numpy()
    losers = np.where(a_wins, second, first)[real]
    return np.bincount(losers, minlength=systems).astype(np.int64)


def from_ap_to_asl(documents: list[RelevantDocuments]) -> dict[str, SystemScores]:
    """AP, the measures in which it is changed step by step, and ASL, the last.

    *atomize P*: the precision at a document is replaced by 1/ASL(q, d). *documents*: harmonic
    instead of arithmetic mean over the documents of a query, 1/ASL(q). *queries*: harmonic instead
    of arithmetic mean over queries, which is 1/ASL and reported as ASL. A query without relevant
    documents has AP 0 and ASL 1, as everywhere, so 1 in between.
    """
    asl = np.array([run.asl for run in documents])
    if not asl.all() or any(not run.lengths.all() for run in documents):
        raise ValueError(
            "a search length of 0 has no reciprocal: missing='eq3' gives such; use 'pad' or 'after'"
        )
    precision = np.array([run.mean(run.precision, 0.0) for run in documents])
    atomized = np.array([run.mean(1 / run.lengths, 1.0) for run in documents])
    return {
        "AP": SystemScores(precision),
        "mean 1/ASL(q,d)": SystemScores(atomized),
        "mean 1/ASL(q)": SystemScores(1 / asl),
        "ASL": SystemScores(asl, lower_is_better=True),
    }


@analysis(ALEX, "Table 2", tracks=True)
def reordering(
    runs: Runs,
    qrels: Qrels | None = None,
    *,
    duplicates: str | None = None,
    rel: float | None = None,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
    margin: float = 0.1,
    alpha: float = 0.05,
    test: str = "t",
    correction: str = "none",
    each: bool = False,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """How far do systems move, step by step, from AP to ASL?

    What changing the measure does to the order of the systems, step by step.

    Args:
        cutoff: k, as in ``ASL@k``.
        missing: ``'pad'`` or ``'after'``, as in ``ASL(missing=...)``.
        margin: the least difference of a better system, relative to the worse one's mean.
        alpha: the level of significance of being better.
        test: the test for pairs of being better.
        correction: of that test over all pairs. dSort is defined without one, and so it is by
            default: a count of systems, not a claim about one pair.
        each: one row for each system instead.
        as_published: the paper's choice: missing documents right after the list
            (``missing='after'``), and no correction.

    Returns:
        One row for each change, with ``change``, ``from``, ``to``; ``dSort``, the largest of the
        track's systems, averaged over tracks, and ``dSort_sd``, one standard deviation over tracks;
        ``tau`` (Kendall's tau-b of the two orders) and ``tau_sd`` over tracks; ``dValue``, new/old
        averaged over all systems, and ``dValue_sd``; ``moved``, the system with the largest dSort,
        and ``tracks``, ``systems``. dSort is in percent of the systems; a standard deviation over
        one track is NaN. *cumulative* compares AP with ASL; then ``P@20`` with ``ASL@g1-10`` and RR
        with ``ASL@g1``. With ``each``: ``track``, ``change``, ``run``, ``old`` and ``new`` (as
        rates, 1/ASL for ASL), ``dValue``, ``better_before``, ``better_after``, ``dSort``.

    One of many systems that moves far is to be expected of any change of measure: the largest dSort
    says that something moves, not that the order is another.

    Source: Alex, Hall, Metzler 2022, Table 2 and section 4.4.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    >>> runs = {"top": {"q1": {"a": 2, "x": 1}, "q2": {"a": 1}}}
    >>> runs["deep"] = {"q1": {"x": 3, "a": 2, "b": 1}, "q2": {"x": 2, "a": 1}}
    >>> reordering(runs, qrels, cutoff=10)[["change", "tau"]]
                  change  tau
    0          atomize P  1.0
    1          documents  1.0
    2            queries -1.0
    3         cumulative -1.0
    4  P@20 to ASL@g1-10  1.0
    5       RR to ASL@g1  1.0
    """
    tracks, rel = read_tracks(runs, qrels, duplicates, rel)
    options = AslOptions(rel, cutoff, missing, as_published)
    better = Better(margin, alpha, test, "none" if as_published else correction)

    def of_slice(track: str, judged: Evaluation, queries: Queries) -> pd.DataFrame:
        scored = judged.once(_scored, options)
        counts = {name: num_better(of, queries, better) for name, of in scored.items()}
        rates = {name: of.rates(queries) for name, of in scored.items()}
        parts = []
        for change, before, after in CHANGES:
            moved = np.abs(counts[before] - counts[after])
            start, end = (_label(name, options) for name in (before, after))
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = rates[after] / rates[before]
            parts.append(
                pd.DataFrame(
                    {
                        "change": change.replace(f"{before} to {after}", f"{start} to {end}"),
                        "from": start,
                        "to": end,
                        "run": judged.names,
                        "old": rates[before],
                        "new": rates[after],
                        "dValue": ratio,
                        "better_before": counts[before],
                        "better_after": counts[after],
                        "dSort": 100 * moved / len(judged),
                    }
                )
            )
        whole = pd.concat(parts, ignore_index=True)
        whole.attrs.update(asdict(better))
        return whole

    systems = per_track_and_slice(tracks, of_slice, weights, by)
    return systems if each else _over_tracks(systems)


def _label(name: str, options: AslOptions) -> str:
    """The name of a measure with the minimum grade; a mean of rates keeps its formula."""
    return name if name.startswith("mean") else options.label(name)


def _scored(judged: Evaluation, options: AslOptions) -> dict[str, SystemScores]:
    """The values of the systems by each measure of :data:`CHANGES`."""
    measures, rel = options.measures(), options.rel
    rr = with_options(ir_measures.RR, rel, options.cutoff)
    return {
        **from_ap_to_asl(judged.once(relevant_documents, *options.how)),
        "P@20": SystemScores(judged.values(measures["P@20"])),
        "ASL@g1-10": SystemScores(judged.values(measures["ASL@g1-10"]), lower_is_better=True),
        "RR": SystemScores(judged.values(rr)),
        "ASL@g1": SystemScores(judged.values(options.asl(g=1)), lower_is_better=True),
    }


def _over_tracks(systems: pd.DataFrame) -> pd.DataFrame:
    """One row for each slice and change: over tracks, and for dValue over systems."""
    until = list(systems.columns).index("change") + 1
    keys = [column for column in systems.columns[:until] if column != "track"]
    rows = []
    for group, part in systems.groupby(keys, sort=False):
        by_track = part.groupby("track", sort=False)
        largest = part.iloc[int(part["dSort"].argmax())]
        dsort = by_track["dSort"].max()
        tau = pd.Series([_tau(track) for _, track in by_track])
        ratio = part["dValue"].replace(np.inf, np.nan)
        rows.append(
            {
                **dict(zip(keys, group)),
                "from": largest["from"],
                "to": largest["to"],
                "dSort": dsort.mean(),
                "dSort_sd": dsort.std(),
                "tau": tau.mean(),
                "tau_sd": tau.std(),
                "dValue": ratio.mean(),
                "dValue_sd": ratio.std(),
                "moved": largest["run"],
                "tracks": len(by_track),
                "systems": len(part),
            }
        )
    return pd.DataFrame(rows)


def _tau(track: pd.DataFrame) -> float:
    if len(track) < 2:
        return float("nan")
    return kendall_tau(rounded(track["old"]), rounded(track["new"]))


@reordering.shown
def _readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The table without the names of the measures, and without deviations over a single track."""
    if "dSort_sd" not in frame:
        return frame
    return frame.drop(columns=["from", "to", "tracks", "systems"]).dropna(axis="columns", how="all")


@reordering.chart
def reordering_chart(frame: pd.DataFrame, *, columns: int = 3) -> Any:
    """The moves of systems by each change of measure; with ``each=True``, of every system."""
    return _systems_chart(frame, columns) if "better_before" in frame else _summary_chart(frame)


def _summary_chart(frame: pd.DataFrame) -> Any:
    """The largest dSort and tau of each change, with one standard deviation over tracks."""
    names = alt.Axis(labelLimit=200)
    panels: list[Any] = []
    least = float((frame["tau"] - frame["tau_sd"].fillna(0)).min())
    scales = {
        "dSort": alt.Scale(domain=[0, 100]),
        "tau": alt.Scale(domain=[-1 if least < 0 else 0, 1]),
    }
    for value, title in (("dSort", "dSort (% of the systems)"), ("tau", "Kendall's τ")):
        spread = frame[f"{value}_sd"].fillna(0)
        ends = frame.assign(low=frame[value] - spread, high=frame[value] + spread)
        base = alt.Chart(ends, width=200, height=alt.Step(STEP)).encode(
            y=alt.Y("change:N", title=None, sort=None, axis=None if panels else names),
            tooltip=tooltips(
                "change", "from", "to", value, f"{value}_sd", "moved", "tracks", "systems"
            ),
        )
        panels.append(ranges(base, "low", value, "high", title, scale=scales[value]))
    tracks = int(frame["tracks"].max())
    caption = (
        "By how much the system that moves farthest moves, as a share of the systems, and how far "
        "the orders before and after agree"
    )
    caption += f"; lines are one standard deviation over {tracks} tracks." if tracks > 1 else "."
    caption += undrawn(frame["tau"])
    return captioned(alt.hconcat(*panels), "From AP to ASL, step by step", caption, WIDE_CAPTION)


def _systems_chart(systems: pd.DataFrame, columns: int) -> Any:
    """Systems significantly better than each, before and after each change of measure."""
    legend = alt.Legend(title="track") if systems["track"].nunique() > 1 else None
    most = int(systems[["better_before", "better_after"]].to_numpy().max())
    scale = alt.Scale(domain=[0, max(most, 1)], nice=False)
    whole = alt.Axis(values=whole_numbers(0, max(most, 1)), format="d")
    line = pd.DataFrame({"at": [0, max(most, 1)]})
    panels = []
    for change, part in systems.groupby("change", sort=False):
        points = (
            alt.Chart(part, width=200, height=200)
            .mark_circle(opacity=0.6)
            .encode(
                x=alt.X(
                    "better_before:Q",
                    scale=scale,
                    axis=whole,
                    title=f"systems better by {part['from'].iloc[0]}",
                ),
                y=alt.Y(
                    "better_after:Q",
                    scale=scale,
                    axis=whole,
                    title=f"systems better by {part['to'].iloc[0]}",
                ),
                color=category("track", "track").legend(legend),
                tooltip=tooltips("track", "run", "better_before", "better_after", "dSort"),
            )
        )
        diagonal = (
            alt.Chart(line)
            .mark_line(color="gray", strokeDash=[3, 3])
            .encode(x=alt.X("at"), y=alt.Y("at"))
        )
        panels.append(alt.layer(diagonal, points).properties(title=str(change)))
    about, how = systems.attrs, ""
    if "margin" in about:
        method = about["correction"]
        corrected = "not corrected" if method == "none" else f"corrected by {method}"
        how = (
            f" (by {about['margin']:.0%} or more, and significantly: {about['test']} test at "
            f"{about['alpha']:g}, {corrected})"
        )
    caption = (
        f"For every system, how many others are better than it{how}, before and after the change "
        "of measure. On the dashed line nothing changes; the vertical distance from it, in percent "
        "of the systems, is dSort."
    )
    drawn = alt.concat(*panels, columns=columns)
    return captioned(drawn, "From AP to ASL, step by step", caption, WIDE_CAPTION)
