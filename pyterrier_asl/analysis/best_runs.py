"""How much room is there at the top, and how much below? (Alex et al. 2022, Figures 1 to 4.)"""

from __future__ import annotations

from typing import Any, NamedTuple

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd

from ..charts.captions import captioned
from ..charts.forms import COLORS, STEP, figure, some_values
from ..evaluation.judged_runs import JudgedRuns
from ..evaluation.relevant_documents import relevant_documents
from ..evaluation.slices import Queries
from ..judging.judged_run import JudgedRun
from ..measures import ASL
from ..measures.names import higher_is_better, missing_of, with_options
from ..scoring.search_length import DEFAULT_DEPTH
from .places import rounded
from .registry import ALEX, analysis

Floats = npt.NDArray[np.float64]

#: Tracks whose best values are drawn one by one, and runs that are named.
FEW = 8
#: Where the bins of the chart end: shares by tenths, search lengths in steps that double or so.
_SHARES = np.round(np.arange(0.1, 1.01, 0.1), 1)
_LENGTHS = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, np.inf])


def asl_measures(
    rel: float = 1, cutoff: int | None = None, missing: str = "pad"
) -> dict[str, Any]:
    """The four measures of the paper's figures and of its Table 1, by the names of its columns.

    >>> asl_measures(rel=2)
    {'P@20': P(rel=2)@20, 'ASL@g1-10': ASL(rel=2,g=10), 'AP': AP(rel=2), 'ASL': ASL(rel=2)}
    """
    asl = with_options(ASL(missing=missing), rel, cutoff)
    return {
        "P@20": with_options(ir_measures.P @ 20, rel),
        "ASL@g1-10": asl(g=10),
        "AP": with_options(ir_measures.AP, rel, cutoff),
        "ASL": asl,
    }


@analysis("run-quality", ALEX, "Figures 1-4")
def run_quality(
    judged: JudgedRuns,
    queries: Queries,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
) -> pd.DataFrame:
    """Every run at the top and over all documents.

    Every run at the top and over all relevant documents, with what to read beside ASL.

    Args:
        cutoff: k, as in ``ASL@k``.

    Returns:
        One row for each run, best ASL first, with ``run``, ``P@20``, ``ASL@g1-10``, ``AP``, ``ASL``
        and, with k the cut-off, 1000 without one, ``R@k``; ``missing_share``, the share of its ASL
        that comes from documents it did not retrieve; ``Judged@k``, the judged share of what it
        retrieved; ``unjudged_share``, the share of the irrelevant documents above those it did
        retrieve that are not judged.

    Read with care: over deep pools ASL is mostly recall, and most irrelevant documents above a
    relevant one are unjudged rather than irrelevant; the last four columns say how much so.

    Source: Alex, Hall, Metzler 2022, Figures 1 to 4.

    >>> qrels = {"q": {"a": 1, "b": 1, "x": 0}}
    >>> runs = {"good": {"q": {"a": 2, "x": 1}}, "bad": {"q": {"x": 1}}}
    >>> run_quality(runs, qrels, cutoff=10)[["run", "ASL", "R@10", "missing_share"]].round(2)
        run   ASL  R@10  missing_share
    0  good   5.5   0.5           0.91
    1   bad  11.0   0.0           1.00
    """
    return _quality(judged, queries, rel, cutoff, missing_of(missing, as_published))


@run_quality.chart
def run_quality_chart(frame: pd.DataFrame) -> Any:
    """Every run by AP and by ASL, and how much of its ASL comes from missing documents."""
    import altair as alt

    beside = [name for name in frame.columns if name.startswith(("R@", "Judged@"))]
    base = alt.Chart(frame)
    points = base.mark_circle(size=50, opacity=0.8).encode(
        color=alt.Color("missing_share:Q", title="missing share of ASL",
                        scale=alt.Scale(scheme="viridis", domain=[0, 1]),
                        legend=alt.Legend(format="%", orient="bottom")),
        tooltip=["run", "P@20", "ASL@g1-10", "AP", "ASL", "missing_share", "unjudged_share",
                 *beside],
    )  # fmt: skip
    best = frame if len(frame) <= FEW else frame.iloc[[0, int(frame["AP"].argmax())]]
    left = best["AP"] < (frame["AP"].min() + frame["AP"].max()) / 2
    names = [
        alt.Chart(part.drop_duplicates("run")).mark_text(align=align, dx=dx, fontSize=10)
        for part, align, dx in ((best[left], "left", 6), (best[~left], "right", -6))
    ]
    return figure(
        alt.layer(points, *(each.encode(text="run:N") for each in names)),
        "At the top, and over all relevant documents",
        "Each point is a run; the best are at the upper right. The lighter, the more of its search "
        "length comes from relevant documents that it did not retrieve.",
        x=alt.X("AP:Q", title="AP", axis=alt.Axis(tickCount=6)),
        y=alt.Y("ASL:Q", title="ASL", scale=alt.Scale(reverse=True, zero=False)),
    )


def _quality(
    judged: JudgedRuns, queries: Queries, rel: float, cutoff: int | None, missing: str
) -> pd.DataFrame:
    """The table of :func:`run_quality`."""
    beside = judged.once(_Beside.of, rel, cutoff, missing)
    frame = pd.DataFrame({"run": judged.names})
    for name, measure in asl_measures(rel, cutoff, missing).items():
        frame[name] = queries.mean(judged.values(measure))
    k = DEFAULT_DEPTH if cutoff is None else cutoff
    frame[f"R@{k}"] = queries.mean(beside.recall)
    frame["missing_share"] = queries.mean(beside.missing) / frame["ASL"]
    frame[f"Judged@{k}"] = queries.mean(beside.judged)
    frame["unjudged_share"] = _ratio(
        queries.mean(beside.unjudged_above), queries.mean(beside.irrelevant_above)
    )
    return frame.sort_values("ASL", key=rounded, kind="stable", ignore_index=True)


@analysis("headroom", ALEX, "Figures 1-4", tracks=True, group_by="track")
def headroom(
    judged: JudgedRuns,
    queries: Queries,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
) -> pd.DataFrame:
    """The best run of each track by four measures.

    The best run of each track by each of four measures: how near is the task to being solved?

    A track that looks solved by ``P@20`` or AP can have its relevant documents far down, and far
    down is where ``P@20`` cannot see an improvement.

    Args:
        cutoff: k, as in ``ASL@k``.

    Returns:
        Four rows for each track, with ``track``, ``measure`` (``P@20``, ``ASL@g1-10``, ``AP``,
        ``ASL``), ``runs``, ``best_run`` and its ``value``; and of that run ``R@k``,
        ``missing_share``, ``Judged@k`` and ``unjudged_share`` as in :func:`run_quality`.

    Tracks of different depth are not on one scale: a search length cannot exceed the depth much.

    Source: Alex, Hall, Metzler 2022, Figures 1 (``P@20``), 2 (``ASL@g1-10``), 3 (AP), 4 (ASL).

    >>> track = ({"good": {"q": {"a": 1}}, "bad": {"q": {"x": 2, "a": 1}}}, {"q": {"a": 1}})
    >>> headroom({"toy": track})[["track", "measure", "best_run", "value"]]
      track    measure best_run  value
    0   toy       P@20     good   0.05
    1   toy  ASL@g1-10     good   1.00
    2   toy         AP     good   1.00
    3   toy        ASL     good   1.00
    """
    return _best(_quality(judged, queries, rel, cutoff, missing_of(missing, as_published)))


def _best(quality: pd.DataFrame) -> pd.DataFrame:
    """The best run by each measure, and what to read beside ASL."""
    measures = asl_measures()
    columns = list(quality.columns)
    beside = columns[columns.index("ASL") + 1 :]
    rows = []
    for name, measure in measures.items():
        means = rounded(quality[name])
        best = int(means.argmin() if higher_is_better(measure) is False else means.argmax())
        row = quality.iloc[best]
        best_run = {"runs": len(quality), "best_run": row["run"], "value": row[name]}
        rows.append({"measure": name, **best_run, **row[beside]})
    return pd.DataFrame(rows)


@headroom.chart
def headroom_chart(frame: pd.DataFrame, *, columns: int = 2) -> Any:
    """Figures 1 to 4: tracks by the value of their best run, ``columns`` panels in a row."""
    import altair as alt

    few = frame["track"].nunique() <= FEW
    panel = _values if few else _histogram
    panels = [panel(str(measure), part) for measure, part in frame.groupby("measure", sort=False)]
    caption = (
        "The best of the runs by each measure. P@20 and AP make a task look solved whose relevant "
        "documents are far down; ASL says how far. A search length cannot be much larger than the "
        "runs are deep."
    )
    drawn = alt.concat(*panels, columns=columns).resolve_scale(x="independent")
    return captioned(drawn, "How much room is left", caption)


def _values(measure: str, part: pd.DataFrame) -> Any:
    """The value of the best run of each track, and its name."""
    import altair as alt

    lengths = measure.startswith("ASL")
    label = part.assign(
        label=[f"{value:.{1 if lengths else 3}f} {run}"
               for value, run in zip(part["value"], part["best_run"])],
        least=1 if lengths else 0,
    )  # fmt: skip
    most = max(10.0, float(part["value"].max())) if lengths else 1.0
    scale = alt.Scale(type="log", domain=[1, most]) if lengths else alt.Scale(domain=[0, 1])
    axis = alt.Axis(tickCount=5, format="~g", grid=False)
    named = bool(part["track"].astype(bool).any())
    base = alt.Chart(label, title=measure, width=220, height=alt.Step(2 * STEP)).encode(
        y=alt.Y("track:N", sort=None, title=None, axis=alt.Axis() if named else None),
        tooltip=["track", "best_run", "value", "runs"],
    )
    bar = base.mark_bar(opacity=0.5).encode(
        x=alt.X("least:Q", scale=scale, title=None, axis=axis),
        x2="value:Q",
    )
    text = base.mark_text(align="left", dx=4, fontSize=11).encode(
        x=alt.XDatum(1 if lengths else 0), text="label:N"
    )
    return alt.layer(bar, text)


def _histogram(measure: str, part: pd.DataFrame) -> Any:
    """How many tracks have a best run of about which value, the best possible one at the left."""
    import altair as alt

    lengths = measure.startswith("ASL")
    codes, names = _bins(part["value"], lengths)
    binned = part.assign(bin=[names[code] for code in codes]).groupby("bin")
    counts = binned["track"].agg(tracks="size", which=lambda each: ", ".join(map(str, each)))
    shown = counts.reindex(names).rename_axis("bin").reset_index()
    shown = shown.fillna({"tracks": 0, "which": ""})
    axis = alt.Axis(format="d", values=some_values(shown["tracks"]))
    return (
        alt.Chart(shown, title=measure, width=220, height=160)
        .mark_bar(color=COLORS[0])
        .encode(
            x=alt.X("bin:N", sort=names, title=None, axis=alt.Axis(labelAngle=-45)),
            y=alt.Y("tracks:Q", title="tracks", axis=axis),
            tooltip=["bin", "tracks", "which"],
        )
    )


def _bins(values: pd.Series[float], lengths: bool) -> tuple[Any, list[str]]:
    """The bin of each value, and the bins' names, best first."""
    if lengths:
        codes = np.searchsorted(_LENGTHS, values.to_numpy(), side="left")
        names = ["1", *(f"to {end:g}" for end in _LENGTHS[1:-1]), "more"]
        return codes, names
    codes = np.searchsorted(_SHARES, values.to_numpy() - 1e-9, side="left")
    names = [f"{end - 0.1:.1f} to {end:.1f}" for end in _SHARES]
    return len(names) - 1 - np.minimum(codes, len(names) - 1), names[::-1]


class _Beside(NamedTuple):
    """What to read beside ASL, each of shape (S, Q)."""

    recall: Floats
    missing: Floats
    judged: Floats
    unjudged_above: Floats
    irrelevant_above: Floats

    @classmethod
    def of(cls, judged: JudgedRuns, rel: float, cutoff: int | None, missing: str) -> _Beside:
        """Computes them for every run."""
        rows = []
        all_documents = judged.once(relevant_documents, rel, cutoff, missing)
        for run, documents in zip(judged.runs, all_documents):
            seen = run.view(DEFAULT_DEPTH if cutoff is None else cutoff)
            share = _ratio(np.bincount(seen.queries, minlength=len(seen.retrieved)), seen.retrieved)
            above = _above(run.view(cutoff), rel)
            rows.append((documents.recall, documents.asl_of_missing, share, *above))
        return cls(*(np.array(column) for column in zip(*rows)))


def _above(run: JudgedRun, rel: float) -> tuple[Any, Any]:
    """Unjudged and irrelevant documents above the retrieved relevant ones, summed by query."""
    relevant = run.relevant(rel)
    within = np.arange(len(run.ranks)) - run.offsets[run.queries]
    is_relevant = (run.grades >= rel) & (run.grades >= 0)
    queries, size = run.queries[is_relevant], len(relevant.total)
    unjudged = (run.ranks - 1 - within)[is_relevant]
    first = np.arange(len(relevant.ranks)) - relevant.offsets[relevant.queries]
    irrelevant = relevant.ranks - 1 - first
    return (
        np.bincount(queries, weights=unjudged, minlength=size),
        np.bincount(queries, weights=irrelevant, minlength=size),
    )


def _ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> Floats:
    """part / whole, NaN where there is nothing to take a part of."""
    result = np.full(np.shape(part), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result
