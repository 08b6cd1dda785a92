"""How far does another measure reorder the systems? (Alex et al. 2022, Table 2.)"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import ir_measures
import numpy as np

from ..charts import PANEL, STEP, WIDE_CAPTION, alt, captioned, ranges, tooltips, undrawn
from ..common.lazy import pd
from ..common.types import Floats, Ints
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.relevant_documents import RelevantDocuments, relevant_documents
from ..evaluation.sources import QrelsLike
from ..measures._base import check_from_0
from ..measures.parsing import with_options
from ..statistics.agreement import kendall_tau
from ..statistics.rounding import rounded
from ..statistics.tests import compare_all
from .asl_options import AslOptions, label_of
from .inputs import RelOfTracks, read_tracks
from .registry import ALEX, analysis
from .tables import described, per_track

#: Changes of measure: the steps from AP to ASL, all of them together, and of measures of the top.
CHANGES = (
    ("atomize P", "AP", "mean 1/ASL(q,d)"),
    ("documents", "mean 1/ASL(q,d)", "mean 1/ASL(q)"),
    ("queries", "mean 1/ASL(q)", "ASL"),
    ("cumulative", "AP", "ASL"),
    ("P@20 to ASL@g1-10", "P@20", "ASL@g1-10"),
    ("RR to ASL@g1", "RR", "ASL@g1"),
)


#: The measures of which a lower value is the better one; their means are reported as rates, 1/ASL.
COSTS = ("ASL", "ASL@g1-10", "ASL@g1")


def num_better(
    values: Floats,
    *,
    is_cost: bool = False,
    margin: float = 0.1,
    test: str = "t",
    correction: str = "none",
    alpha: float = 0.05,
) -> Ints:
    """Counts the systems that are better than each system.

    A system is better if the means differ significantly, and by at least ``margin``.

    Args:
        values: shape (S, Q).

        is_cost: whether a lower value is the better one.
        margin: the least difference, relative to the mean of the worse system.
        test: a test for pairs.
        correction: over all pairs; the paper has none.
        alpha: the level of significance.

    Returns:
        Counts, shape (S,).

    >>> values = np.array([[0.5, 0.6, 0.7], [0.1, 0.2, 0.4], [0.5, 0.6, 0.6]])
    >>> num_better(values).tolist()
    [0, 2, 0]
    """
    systems = len(values)
    pairs = compare_all(
        values, [*map(str, range(systems))], test=test, correction=correction, alpha=alpha
    )
    first, second = np.triu_indices(systems, k=1)
    a, b = values.mean(axis=-1)[[first, second]]
    a_wins = (a < b) if is_cost else (a > b)
    enough = np.abs(a - b) >= margin * np.abs(np.where(a_wins, b, a))
    losers = np.where(a_wins, second, first)[enough & pairs["significant"].to_numpy()]
    return np.bincount(losers, minlength=systems).astype(np.int64)


def from_ap_to_asl(documents: list[RelevantDocuments]) -> dict[str, Floats]:
    """AP, the measures that lead from it to ASL step by step, and ASL, each of shape (S, Q).

    *atomize P*: the precision at a document is replaced by 1/ASL(q, d). *documents*: harmonic
    instead of arithmetic mean over the documents of a query, 1/ASL(q). *queries*: harmonic instead
    of arithmetic mean over queries, which is 1/ASL and reported as ASL. A query without relevant
    documents has AP 0 and ASL 1, as everywhere, so 1 in between.
    """
    asl = np.array([run.asl for run in documents])
    if not asl.all() or any(not run.lengths.all() for run in documents):
        raise ValueError(
            "a search length of 0 has no reciprocal, and missing='eq3' gives search lengths of 0: "
            "use 'pad' or 'after'"
        )
    return {
        "AP": np.array([run.mean(run.precision, 0.0) for run in documents]),
        "mean 1/ASL(q,d)": np.array([run.mean(1 / run.lengths, 1.0) for run in documents]),
        "mean 1/ASL(q)": 1 / asl,
        "ASL": asl,
    }


@analysis(ALEX, "Table 2", tracks=True, hidden=("from", "to", "tracks", "systems"))
def reordering(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: RelOfTracks = None,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
    margin: float = 0.1,
    alpha: float = 0.05,
    test: str = "t",
    correction: str = "none",
    each: bool = False,
) -> pd.DataFrame:
    """How far do systems move, step by step, from AP to ASL?

    The change of the order of the systems when the measure changes, step by step.

    Args:
        cutoff: k, as in ``ASL@k``.
        missing: ``'pad'`` or ``'after'``, as in ``ASL(missing=...)``.
        margin: the least difference of a better system, relative to the mean of the worse system.
        alpha: the level of significance.
        correction: of that test over all pairs. The default is none, as in the definition of dSort:
            dSort is a count of systems, not a claim about one pair.
        each: return one row for each system.

    Returns:
        One row for each change, with ``change``, ``from``, ``to``; ``dSort``, the largest of the
        track's systems, averaged over tracks, and ``dSort_sd``, one standard deviation over tracks;
        ``tau`` (Kendall's tau-b of the two orders) and ``tau_sd`` over tracks; ``dValue``, new/old
        averaged over all systems, and ``dValue_sd``; ``moved``, the system with the largest dSort,
        '' where no system moves, and ``tracks``, ``systems``. dSort is in percent of the systems; a
        standard deviation over one track is NaN. *cumulative* compares AP with ASL; then ``P@20``
        with ``ASL@g1-10`` and RR with ``ASL@g1``. With ``each``: ``track``, ``change``, ``run``,
        ``old`` and ``new`` (as rates, 1/ASL for ASL), ``dValue``, ``better_before``,
        ``better_after``, ``dSort``.

    With many systems, one moves far at any change of measure: a large dSort does not mean that the
    whole order differs.

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
    check_from_0("margin", margin)
    tracks = read_tracks(runs, qrels, rel)
    label = label_of(tracks)
    better: dict[str, Any] = {
        "margin": margin,
        "alpha": alpha,
        "test": test,
        "correction": correction,
    }

    def of_track(track: str, judged: Evaluation, rel: float) -> pd.DataFrame:
        counts, rates = {}, {}
        for name, values in judged.once(
            _values_by_name, AslOptions(rel, cutoff, missing, as_published)
        ).items():
            is_cost, means = name in COSTS, np.asarray(values.mean(axis=-1))
            counts[name] = num_better(values, is_cost=is_cost, **better)
            rates[name] = 1 / means if is_cost else means
        parts = []
        for change, before, after in CHANGES:
            # A mean of rates keeps its formula as its name.
            start, end = (
                name if name.startswith("mean") else label(name) for name in (before, after)
            )
            columns = {
                "change": change.replace(f"{before} to {after}", f"{start} to {end}"),
                "from": start,
                "to": end,
                "run": judged.names,
                "old": rates[before],
                "new": rates[after],
                "dValue": pd.Series(rates[after]) / rates[before],
                "better_before": counts[before],
                "better_after": counts[after],
                "dSort": 100 * np.abs(counts[before] - counts[after]) / len(judged),
            }
            parts.append(pd.DataFrame(columns))
        return described(pd.concat(parts, ignore_index=True), **better)

    systems = per_track(of_track, tracks)
    return systems if each else _over_tracks(systems)


def _values_by_name(judged: Evaluation, options: AslOptions) -> dict[str, Floats]:
    """The values of the systems by each measure of :data:`CHANGES`."""
    top = {name: options.measures()[name] for name in ("P@20", "ASL@g1-10")}
    top["RR"] = with_options(ir_measures.RR, options.rel, options.cutoff)
    top["ASL@g1"] = options.asl(g=1)
    steps = from_ap_to_asl(judged.once(relevant_documents, *options.how))
    return steps | {name: judged.values(measure) for name, measure in top.items()}


def _over_tracks(systems: pd.DataFrame) -> pd.DataFrame:
    """One row for each change: over tracks with relevant documents, and for dValue over systems."""
    rows = []
    for change, whole in systems.groupby("change", sort=False):
        with_values = whole.dropna(subset="old")
        part = whole if with_values.empty else with_values
        by_track = part.groupby("track")
        largest = part.iloc[int(part["dSort"].fillna(0).argmax())]
        over = {
            "dSort": by_track["dSort"].max(),
            "tau": pd.Series([_tau(track) for _, track in by_track]),
            "dValue": part["dValue"].replace(np.inf, np.nan),
        }
        moments = product(over.items(), {"": "mean", "_sd": "std"}.items())
        rows.append(
            {
                "change": change,
                "from": largest["from"],
                "to": largest["to"],
                **{f"{name}{end}": values.agg(of) for (name, values), (end, of) in moments},
                "moved": largest["run"] if largest["dSort"] > 0 else "",
                "tracks": len(by_track),
                "systems": len(part),
            }
        )
    frame = pd.DataFrame(rows)
    frame.attrs = systems.attrs
    return frame


def _tau(track: pd.DataFrame) -> float:
    has_order = len(track) > 1 and track["old"].notna().all()
    return kendall_tau(rounded(track["old"]), rounded(track["new"])) if has_order else float("nan")


@reordering.chart
def reordering_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The largest dSort and tau of each change, with one standard deviation over tracks."""
    frame = _over_tracks(frame) if "better_before" in frame else frame
    panels: list[Any] = []
    least = float((frame["tau"] - frame["tau_sd"].fillna(0)).min())
    for value, title, domain in (
        ("dSort", "dSort (% of the systems)", [0, 100]),
        ("tau", "Kendall's τ", [-1 if least < 0 else 0, 1]),
    ):
        spread = frame[f"{value}_sd"].fillna(0)
        base = alt.Chart(
            frame.assign(low=frame[value] - spread, high=frame[value] + spread),
            width=PANEL,
            height=alt.Step(STEP),
        ).encode(
            y=alt.Y(
                "change:N", title=None, sort=None, axis=None if panels else alt.Axis(labelLimit=0)
            ),
            tooltip=tooltips(
                "change", "from", "to", value, f"{value}_sd", "moved", "tracks", "systems"
            ),
        )
        panels.append(ranges(base, "low", value, "high", title, scale=alt.Scale(domain=domain)))
    tracks = int(frame["tracks"].max())
    return captioned(
        alt.hconcat(*panels),
        "From AP to ASL, step by step",
        "The largest move of a system, as a share of the systems, and the agreement of the orders "
        "before and after"
        + (f"; lines are one standard deviation over {tracks} tracks." if tracks > 1 else ".")
        + _how(frame.attrs)
        + undrawn(frame["tau"]),
        WIDE_CAPTION,
    )


def _how(about: Mapping[Any, Any]) -> str:
    """A sentence for the caption: when a system is better than another; '' if unknown."""
    if "margin" not in about:
        return ""
    method = about["correction"]
    corrected = "not corrected" if method == "none" else f"corrected by {method}"
    return (
        f" Better systems are better by {about['margin']:.0%} or more, and significantly: "
        f"{about['test']} test at {about['alpha']:g}, {corrected}."
    )
