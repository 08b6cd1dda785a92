"""How good are runs at the top, and over all documents? (Alex et al. 2022, Figures 1 to 4.)"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ..assessment.judges import sign_of
from ..charts import (
    BAR,
    COLORS,
    GAP,
    LETTERS,
    PANEL,
    POINT,
    STEP,
    WIDE_CAPTION,
    alt,
    around,
    better,
    captioned,
    figure,
    powers_of_ten,
    tooltips,
    undrawn,
    whole_numbers,
    without_outliers,
)
from ..common.lazy import pd
from ..common.types import Floats
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.relevant_documents import relevant_documents, unjudged_above
from ..evaluation.sources import QrelsLike
from ..scoring.arrays import divide
from ..statistics.rounding import EQUAL, rounded
from .asl_options import AslOptions, label_of
from .inputs import RelOfTracks, is_relevant, read, read_tracks
from .registry import ALEX, BETTER, LOST, analysis
from .tables import per_track

#: Tracks whose best values are drawn one by one.
FEW = 8
#: Upper ends of the bins of the chart: shares in tenths, search lengths in steps of about 2.
_SHARES = np.round(np.arange(0.1, 1.01, 0.1), 1)
_LENGTHS = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, np.inf])


@analysis(ALEX, "Figures 1-4", question=BETTER)
def run_quality(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
) -> pd.DataFrame:
    """How good is every run at the top, and over all documents?

    Every run at the top and over all relevant documents, with numbers that qualify its ASL.

    Args:
        cutoff: k, as in ``ASL@k``.

    Returns:
        One row for each run, best ASL first, with ``run``, ``P@20``, ``ASL@g1-10``, ``AP``, ``ASL``
        (with the grade, as ``P(rel=2)@20``, if ``rel`` is not 1) and, with k the cut-off, 1000
        without one, ``R@k``; ``missing_share``, the share of its ASL that comes from relevant
        documents that were not retrieved; ``Judged@k``, the judged share of the retrieved
        documents; ``unjudged_share``, the unjudged share of the irrelevant documents above the
        relevant documents that were retrieved.

    With deep pools ASL is mostly recall, and most irrelevant documents above a relevant document
    are unjudged. The last four columns show how much.

    Source: Alex, Hall, Metzler 2022, Figures 1 to 4.

    >>> qrels = {"q": {"a": 1, "b": 1, "x": 0}}
    >>> runs = {"good": {"q": {"a": 2, "x": 1}}, "bad": {"q": {"x": 1}}}
    >>> run_quality(runs, qrels, cutoff=10)[["run", "ASL", "R@10", "missing_share"]].round(2)
        run   ASL  R@10  missing_share
    0  good   5.5   0.5           0.91
    1   bad  11.0   0.0           1.00
    """
    judged, rel = read(runs, qrels, rel)
    options = AslOptions(rel, cutoff, missing, as_published)
    return quality_of(judged, options, options.label)


@run_quality.chart
def run_quality_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Every run by AP and by ASL; the colour is the share of ASL that missing documents cause."""
    names = {re.sub(r"\(rel=.*?\)", "", name): name for name in frame.columns}
    frame = frame.set_axis(list(names), axis=1)
    further = [name for name in frame.columns if name.startswith(("R@", "Judged@"))]
    by_ap, by_asl = frame["run"].iloc[[int(frame["AP"].argmax()), 0]]
    best = f"{by_ap} is the best by AP{' and' if by_ap == by_asl else f', {by_asl}'} by ASL."
    frame, far = without_outliers(frame, "AP", "ASL")
    return figure(
        alt.Chart(frame).mark_circle(size=POINT["size"], opacity=0.8),
        "At the top, and over all relevant documents",
        "Each point is a run; better is up and to the right. Light colours: a large share of its "
        f"search length comes from relevant documents that it did not retrieve. {best}"
        + undrawn(frame["missing_share"])
        + far,
        x=alt.X(
            "AP:Q", title=better(names["AP"], "→"), scale=alt.Scale(domain=around(frame["AP"]))
        ),
        y=alt.Y(
            "ASL:Q",
            title=better(names["ASL"], "↑"),
            scale=alt.Scale(domain=around(frame["ASL"]), reverse=True),
        ),
        color=alt.Color(
            "missing_share:Q",
            title="missing share of ASL",
            scale=alt.Scale(scheme="viridis", zero=False),
            legend=alt.Legend(format="%", orient="bottom", tickCount=3),
        ),
        tooltip=tooltips(
            "run", "P@20", "ASL@g1-10", "AP", "ASL", "missing_share", "unjudged_share", *further
        ),
    )


def quality_of(
    judged: Evaluation, options: AslOptions, label: Callable[[str], str] = str
) -> pd.DataFrame:
    """The table of :func:`run_quality`, with a label for each measure."""
    recall, missing, judged_share, unjudged, irrelevant = judged.once(_qualifications, options)
    means = {
        name: judged.values(measure).mean(axis=-1)
        for name, measure in options.measures(label).items()
    }
    return pd.DataFrame(
        {
            "run": judged.names,
            **means,
            label(f"R@{options.depth}"): recall,
            "missing_share": missing / means[label("ASL")],
            f"Judged@{options.depth}": judged_share,
            "unjudged_share": divide(unjudged, irrelevant, np.nan),
        }
    ).sort_values(label("ASL"), key=rounded, kind="stable", ignore_index=True)


@analysis(ALEX, "Figures 1-4", question=LOST, tracks=True, group_by="track")
def headroom(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    rel: RelOfTracks = None,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
) -> pd.DataFrame:
    """How good is the best run of each track, by four measures?

    The best run of each track by each of four measures: is the task nearly solved?

    A track that looks solved by ``P@20`` or AP can have relevant documents far down the rankings,
    where ``P@20`` cannot show an improvement.

    Args:
        cutoff: k, as in ``ASL@k``.

    Returns:
        Four rows for each track, with ``track``, ``measure`` (``P@20``, ``ASL@g1-10``, ``AP``,
        ``ASL``), ``runs``, ``best_run`` and its ``value``; and of that run ``R@k``,
        ``missing_share``, ``Judged@k`` and ``unjudged_share`` as in :func:`run_quality`.

    Search lengths of tracks with rankings of different depths are not comparable: a search length
    cannot be much larger than the depth.

    Source: Alex, Hall, Metzler 2022, Figures 1 (``P@20``), 2 (``ASL@g1-10``), 3 (AP), 4 (ASL).

    >>> track = ({"good": {"q": {"a": 1}}, "bad": {"q": {"x": 2, "a": 1}}}, {"q": {"a": 1}})
    >>> headroom({"toy": track})[["track", "measure", "best_run", "value"]]
      track    measure best_run  value
    0   toy       P@20     good   0.05
    1   toy  ASL@g1-10     good   1.00
    2   toy         AP     good   1.00
    3   toy        ASL     good   1.00
    """

    tracks = read_tracks(runs, qrels, rel)
    label = label_of(tracks)

    def of_track(track: str, judged: Evaluation, rel: float) -> pd.DataFrame:
        options = AslOptions(rel, cutoff, missing, as_published)
        quality, measures = quality_of(judged, options, label), options.measures(label)
        best = {
            name: quality.iloc[int((sign_of(measure) * rounded(quality[name])).argmax())]
            for name, measure in measures.items()
        }
        return pd.DataFrame(
            [
                {
                    "measure": name,
                    "runs": len(quality),
                    "best_run": row["run"] if is_relevant(judged, rel) else "",
                    "value": row[name],
                    **row.drop(["run", *measures]).to_dict(),
                }
                for name, row in best.items()
            ]
        )

    return per_track(of_track, tracks)


@headroom.chart
def headroom_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Figures 1 to 4: tracks by the value of their best run."""
    tracks = frame["track"].nunique()
    panel = _best_values if tracks <= FEW else _histogram
    panels = [panel(str(measure), part) for measure, part in frame.groupby("measure", sort=False)]
    return captioned(
        alt.concat(*panels, columns=2).resolve_scale(x="independent"),
        "How much room is left",
        f"The best run {'of each track ' if tracks > 1 else ''}by each measure; 1 is the best "
        "value of all four. ASL is the mean number of irrelevant documents above a relevant one, "
        "plus 1, and cannot be much larger than the depth of the runs"
        f"{', so do not compare tracks with different depths' if tracks > 1 else ''}."
        + undrawn(frame["value"]),
        WIDE_CAPTION,
    )


def _best_values(measure: str, part: pd.DataFrame) -> alt.TopLevelMixin:
    """The value of the best run of each track, and its name."""
    lengths = measure.startswith("ASL")
    form, least = (".1f", 1) if lengths else (".3f", 0)
    best = zip(part["value"], part["best_run"])
    labels = [f"{value:{form}} {run}" if run else "nothing is relevant" for value, run in best]
    powers = powers_of_ten(float(part["value"].fillna(1).max()))
    scale = alt.Scale(type="log", domain=[1, powers[-1]]) if lengths else alt.Scale(domain=[0, 1])
    axis = alt.Axis(format="~g", grid=False, values=powers if lengths else alt.Undefined)
    rows = alt.Chart(part.assign(label=labels, least=least))
    base = rows.properties(width=PANEL, height=alt.Step(2 * STEP)).encode(
        y=alt.Y("track:N", sort=None, title=None, axis=alt.Axis() if any(part["track"]) else None),
        tooltip=tooltips("track", "best_run", "value", "runs"),
    )
    x = alt.X("least:Q", scale=scale, title=better(measure, "←" if lengths else "→"), axis=axis)
    return alt.layer(
        base.mark_bar(size=BAR, color=COLORS[0]).encode(x=x, x2=alt.X2("value:Q")),
        # Above the bars, so that names do not cover them
        base.mark_text(align="left", dx=GAP, dy=-LETTERS, fontSize=LETTERS).encode(
            x=alt.XDatum(least), text=alt.Text("label:N")
        ),
    )


def _histogram(measure: str, part: pd.DataFrame) -> alt.TopLevelMixin:
    """A histogram of the best runs' values, one per track, the best possible value at the left."""
    part = part.dropna(subset="value")
    if measure.startswith("ASL"):
        values, ends = part["value"], _LENGTHS
        names = best_first = ["1", *(f"to {end:g}" for end in ends[1:-1]), "more"]
    else:
        values, ends = part["value"] - EQUAL, _SHARES
        names = [f"{end - 0.1:.1f} to {end:.1f}" for end in ends]
        best_first = names[::-1]
    bins = pd.cut(values, [-np.inf, *ends], labels=names).astype(str).rename("bin")
    counts = part.groupby(bins)["track"].agg(
        tracks="size", which=lambda names: ", ".join(map(str, names))
    )
    named = counts.reindex(best_first).reset_index().fillna({"tracks": 0, "which": ""})
    axis = alt.Axis(format="d", values=whole_numbers(0, int(named["tracks"].max())))
    bars = alt.Chart(named, title=measure, width=PANEL, height=PANEL).mark_bar(color=COLORS[0])
    return bars.encode(
        x=alt.X("bin:N", sort=best_first, title=None, axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("tracks:Q", title="tracks", axis=axis),
        tooltip=tooltips("bin", "tracks", "which"),
    )


def _qualifications(judged: Evaluation, options: AslOptions) -> Floats:
    """Five means that qualify the ASL of each run, shape (5, S).

    Recall; the part of ASL that missing documents cause; the judged share of the retrieved
    documents; the unjudged, and all irrelevant documents above the retrieved relevant documents of
    a query, summed.
    """
    rows = []
    for run, documents in zip(judged.runs, judged.once(relevant_documents, *options.how)):
        top = run.view(options.depth)
        judged_documents = np.bincount(top.queries[top.grades >= 0], minlength=len(top.retrieved))
        above = unjudged_above(run.view(options.cutoff), documents), documents.lengths - 1
        rows.append(
            (
                documents.recall.mean(),
                documents.mean(np.where(documents.found, 0, documents.lengths), 0.0).mean(),
                divide(judged_documents, top.retrieved, np.nan).mean(),
                *(of[documents.found].sum() / len(documents.total) for of in above),
            )
        )
    return np.transpose(rows)
