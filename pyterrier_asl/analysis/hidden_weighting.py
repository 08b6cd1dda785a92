"""What does a mean of precisions hide? (Alex et al. 2022, Appendix A.1.)

A mean of precisions is a weighted mean of search lengths, in which each is weighted down by its own
size: the precisions of a few documents at the top say nearly all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..charts.forms import alt, by_collection, figure, tooltips
from ..evaluation.relevant_documents import relevant_documents
from ..io.lazy import pd
from ..statistics.inputs import ArrayLike
from .reading import per_track_and_slice, read_tracks
from .registry import ALEX, Evaluation, Floats, Qrels, Queries, Runs, Slices, Weights, analysis

#: The share that the paper found over its tracks: mean, and one standard deviation.
PUBLISHED = (0.57, 0.16)


def equivalents(search_lengths: ArrayLike) -> Floats:
    """Search lengths whose plain mean is the harmonic mean of the search lengths of documents.

    e_i = 1 + H (1 - 1/SL_i), H the harmonic mean of the lengths. Their mean is H.

    Args:
        search_lengths: lengths from 1 on, shape (n,).

    Returns:
        As many, in their order. A document ten thousand ranks down counts little more than one ten
        ranks down.

    Source: Alex, Hall, Metzler 2022, Appendix A.1. The paper prints 2.9 for the 5 of this example.

    >>> equivalents([1, 1, 1, 2, 4, 5, 10, 10000, 10000]).round(3).tolist()
    [1.0, 1.0, 1.0, 2.111, 2.667, 2.778, 3.0, 3.222, 3.222]
    """
    lengths = np.asarray(search_lengths, dtype=np.float64)
    if lengths.ndim != 1 or not len(lengths) or not np.all(lengths >= 1):
        raise ValueError("search lengths are a list of numbers from 1 on, at least one of them")
    harmonic = len(lengths) / np.sum(1 / lengths)
    return np.asarray(1 + harmonic * (1 - 1 / lengths))


def effective_documents(precision: ArrayLike) -> int:
    """The number of documents that in effect determine a mean of precisions.

    Sorted by precision, the n whose mean of 1/P is closest to 1/(mean of P) of all; of two equally
    close the smaller. A document with P = 0 counts among all, but never among the n.

    Args:
        precision: the precision at each relevant document, 0 where it was not retrieved, shape
            (n,).

    Returns:
        n, 0 where no document was retrieved.

    >>> effective_documents([1, 1, 1, 1/2, 1/4, 1/5, 1/10, 1/10000, 1/10000])
    6
    """
    values = np.sort(np.asarray(precision, dtype=np.float64))[::-1]
    above = values[values > 0]
    if not len(above):
        return 0
    means = np.cumsum(1 / above) / np.arange(1, len(above) + 1)
    return int(np.argmin(np.abs(means - len(values) / above.sum()))) + 1


@analysis(ALEX, "Appendix A.1", tracks=True, group_by="track")
def effective_share(
    runs: Runs,
    qrels: Qrels | None = None,
    *,
    duplicates: str | None = None,
    rel: float | None = None,
    cutoff: int | None = None,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """What share of the relevant documents is AP in effect about?

    The paper: over its tracks AP was the average precision of the top 57 % ± 16 of the documents.

    Args:
        weights: how much each query counts in ``AP`` and ``share``; for one track.

    Returns:
        One row for each run, with ``track``, ``run``, ``AP``, ``share``, the mean over queries of
        :func:`effective_documents` over all relevant documents of the query, and ``pooled``, the
        same over the documents of all queries together (the paper does not say which it took).
        Queries without relevant documents have no share and are left out of it.

    Source: Alex, Hall, Metzler 2022, Appendix A.1.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> effective_share({"run": {"q": {"a": 3, "x": 2, "b": 1}}}, qrels).round(3)
      track  run     AP  share  pooled
    0        run  0.556  0.667   0.667
    """
    tracks, rel = read_tracks(runs, qrels, duplicates, rel)

    def of_slice(track: str, judged: Evaluation, queries: Queries) -> pd.DataFrame:
        documents = judged.once(relevant_documents, rel, cutoff)
        precisions, shares = judged.once(_precisions_and_shares, rel, cutoff)
        some = queries.where(documents[0].total > 0)
        share = some.mean(shares) if some.each.any() else np.full(len(documents), np.nan)
        kept = np.isin(documents[0].queries, queries.at)
        pooled = [_effective_share(run.precision[kept]) for run in documents]
        means = {"run": judged.names, "AP": queries.mean(precisions)}
        return pd.DataFrame({**means, "share": share, "pooled": pooled})

    return per_track_and_slice(tracks, of_slice, weights, by)


@effective_share.chart
def effective_share_chart(frame: pd.DataFrame) -> Any:
    """Runs by AP and by the share of the relevant documents that it is about."""
    mean, deviation = PUBLISHED
    paper = pd.DataFrame({"low": [mean - deviation], "high": [mean + deviation], "mean": [mean]})
    shares, percent = alt.Scale(domain=[0, 1]), alt.Axis(format="%")
    band = (
        alt.Chart(paper)
        .mark_rect(opacity=0.15)
        .encode(y=alt.Y("low:Q", scale=shares), y2=alt.Y2("high:Q"))
    )
    line = alt.Chart(paper).mark_rule(strokeDash=[4, 3]).encode(y=alt.Y("mean:Q"))
    points = (
        alt.Chart(frame)
        .mark_circle(opacity=0.7)
        .encode(
            x=alt.X("AP:Q", title="AP", axis=alt.Axis(tickCount=6)),
            y=alt.Y("share:Q", title="share of the relevant documents", axis=percent),
            **by_collection(frame, "track"),
            tooltip=tooltips("track", "run", "AP", "share", "pooled"),
        )
    )
    return figure(
        alt.layer(band, line, points),
        "The documents that AP is about",
        "AP is a mean over all relevant documents, but its value is what the top share of them "
        "gives as a plain mean of search lengths. Each point is a run; dashed and shaded is what "
        f"the paper found over its tracks, {mean:.0%} ± {100 * deviation:.0f}.",
    )


def _precisions_and_shares(
    judged: Evaluation, rel: float, cutoff: int | None
) -> tuple[Floats, Floats]:
    """AP, and the share of the relevant documents that in effect determine it, each (S, Q)."""
    documents = judged.once(relevant_documents, rel, cutoff)
    precisions = np.array([run.mean(run.precision, 0.0) for run in documents])
    ends = np.cumsum(documents[0].total)[:-1]
    shares = [
        [_effective_share(part) for part in np.split(run.precision, ends)] for run in documents
    ]
    return precisions, np.array(shares)


def _effective_share(precision: Floats) -> float:
    """:func:`effective_documents` as a share of all documents, NaN where there are none."""
    return effective_documents(precision) / len(precision) if len(precision) else float("nan")
