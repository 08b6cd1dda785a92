"""Where are the relevant documents, and which do measures count? (Alex et al. 2022.)

Search lengths are shown per document, which measures per query cannot do. A mean of precisions is a
weighted mean of search lengths in which long ones have small weights, so the precisions of a few
documents at the top determine it.
"""

from __future__ import annotations

import numpy as np

from ..charts import CROWDED, DASHED, alt, by_collection, category, figure, tooltips
from ..common.lazy import pd
from ..common.notices import counted
from ..common.types import Floats, Ints
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.relevant_documents import relevant_documents
from ..evaluation.sources import QrelsLike
from ..scoring.search_length import bin_ends
from ..statistics.settings import ArrayLike
from .asl_options import AslOptions
from .inputs import RelOfTracks, is_relevant, read, read_tracks
from .registry import ALEX, LOST, analysis
from .tables import described, per_track


@analysis(ALEX, "Figure 5")
def search_length_distribution(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    run: str | None = None,
    edges: ArrayLike | None = None,
    rel: float | None = None,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
) -> pd.DataFrame:
    """How are the search lengths of one run distributed?

    Args:
        run: the run; by default the best by ASL.
        edges: the beginnings of the bins and the end of the last bin, ascending; by default
            logarithmic bins, 1, 2 to 3, 4 to 10, ..., up to the cut-off (1000 without one).
        cutoff: k, as in ``ASL@k``.

    Returns:
        One row for each bin, with ``low`` and ``high``, its least and greatest search length;
        ``found``, the number of relevant documents that were retrieved; ``missing``, the number
        that were not; ``documents``, both; ``share`` of all. The last bin includes longer lengths.
        ``attrs``: the ``run``, its ``ASL``, and ``optimal``, the number of documents of length 1.

    Documents that were not retrieved are at the end because the ranking ends there. Their true
    search lengths are unknown.

    Source: Alex, Hall, Metzler 2022, Figure 5.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> search_length_distribution({"one": {"q": {"a": 1}}}, qrels, cutoff=10, edges=[1, 6, 11])
       low  high  found  missing  documents  share
    0    1     5      1        0          1    0.5
    1    6    11      0        1          1    0.5
    """
    judged, rel = read(runs, qrels, rel)
    options = AslOptions(rel, cutoff, missing, as_published)
    name = by_asl(judged, options)[0] if run is None else run
    (documents,) = relevant_documents(judged.select([name]), *options.how)
    bounds = _edges(
        [1, *(end + 1 for end in bin_ends(options.depth))] if edges is None else edges, least=2
    )
    lengths = documents.lengths
    found, lost = (
        np.histogram(lengths[rows], [-np.inf, *bounds[1:-1], np.inf])[0]
        for rows in (documents.found, ~documents.found)
    )
    return described(
        pd.DataFrame(
            {
                "low": bounds[:-1],
                "high": np.append(bounds[1:-1] - 1, max(bounds[-1], lengths.max(initial=0))),
                "found": found,
                "missing": lost,
                "documents": found + lost,
                "share": (found + lost) / max(len(lengths), 1),
            }
        ),
        run=name,
        runs=len(judged) if run is None else 1,
        ASL=float(documents.asl.mean()),
        optimal=int(np.sum(lengths == 1)),
    )


@search_length_distribution.chart
def search_length_distribution_chart(distribution: pd.DataFrame) -> alt.TopLevelMixin:
    """Figure 5: how many relevant documents have which search length in one run."""
    long = _name_bins(distribution).melt(
        ["length", "low"], ["found", "missing"], "documents", "count"
    )
    about = distribution.attrs
    chosen = f" The best of {about['runs']} runs by ASL." * (about["runs"] > 1)
    missing = (
        " Missing documents were not retrieved: they are counted at the end of the ranking."
        if distribution["missing"].any()
        else ""
    )
    return figure(
        alt.Chart(long).mark_bar(),
        f"Search lengths of {about['run']}",
        f"{counted(int(distribution['documents'].sum()), 'relevant document')}, "
        f"{about['optimal']} without irrelevant documents above; the mean over queries, ASL, is "
        f"{about['ASL']:.1f}.{missing}{chosen}",
        rows=1,
        y=alt.Y("length:N", sort=alt.SortField("low"), title="search length"),
        x=alt.X("count:Q", title="relevant documents"),
        color=category("documents", domain=["found", "missing"]),
        tooltip=tooltips("length", "documents", "count"),
    )


@analysis(ALEX, "Figure 6", question=LOST)
def search_length_changes(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    a: str | None = None,
    b: str | None = None,
    edges: ArrayLike | None = None,
    rel: float | None = None,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
) -> pd.DataFrame:
    """By how much do two runs' search lengths differ, by document?

    The differences of the search lengths of two runs, per document.

    Args:
        a: one run; by default the first of two runs, and of more the best by ASL.
        b: another; by default the second of two runs, and of more the median by ASL, the worse of
            two in the middle.
        edges: ends of the bins of absolute differences, ascending; by default logarithmic on each
            side, 1, 3, 10, ..., up to the cut-off (1000 without one).
        cutoff: k, as in ``ASL@k``.

    Returns:
        One row for each bin of differences, a minus b, of the documents that a run retrieved, with
        ``low`` and ``high``, its least and greatest difference; ``documents``; ``share`` of all;
        the numbers of documents that ``both`` runs, ``only_a`` and ``only_b`` retrieved; and
        ``from_missing``, the number that exactly one run retrieved. Negative differences are wins
        of ``a``; documents without a difference have a separate row. ``attrs``: ``a``, ``b``, the
        sums ``wins``, ``losses``, ``same``, ``both``, ``only_a``, ``only_b``, and ``neither``, the
        number of documents that neither run retrieved.

    Raises:
        ValueError: if a and b are one run, and for edges that do not ascend.

    Documents that neither run retrieved are left out: their search length is longer where a run
    retrieves fewer relevant documents of the query.

    Source: Alex, Hall, Metzler 2022, Figure 6.

    >>> qrels = {"q": {"d": 1, "e": 1}}
    >>> runs = {"near": {"q": {"d": 2, "e": 1}}, "far": {"q": {"d": 3, "x": 2, "e": 1}}}
    >>> search_length_changes(runs, qrels, edges=[5, 10])[["low", "high", "documents"]]
       low  high  documents
    0  -10    -6          0
    1   -5    -1          1
    2    0     0          1
    3    1     5          0
    4    6    10          0
    """
    judged, rel = read(runs, qrels, rel)
    options = AslOptions(rel, cutoff, missing, as_published)
    are_two = len(judged) == 2
    order = judged.names if are_two else by_asl(judged, options)
    middle = order[int(a in (None, order[0]))] if are_two else order[len(order) // 2]
    names = order[int(are_two and order[0] == b)] if a is None else a, middle if b is None else b
    if names[0] == names[1]:
        raise ValueError(f"both runs are {names[0]!r}: give two different runs as a and b")
    first, second = relevant_documents(judged.select(names), *options.how)
    retrieved = first.found | second.found
    difference = (first.lengths - second.lengths)[retrieved]
    ends = _edges(bin_ends(options.depth) if edges is None else edges)
    inner = np.concatenate((-ends[-2::-1], [0, 1], ends[:-1] + 1))
    outer = max(int(ends[-1]), int(np.abs(difference).max(initial=0)))
    by_a, by_b = first.found[retrieved], second.found[retrieved]
    kinds = {"both": by_a & by_b, "only_a": ~by_b, "only_b": ~by_a}
    parts = {
        name: np.histogram(difference[of], [-np.inf, *inner, np.inf])[0]
        for name, of in kinds.items()
    }
    documents = sum(parts.values())
    return described(
        pd.DataFrame(
            {
                "low": np.concatenate(([-outer], inner)),
                "high": np.concatenate((inner - 1, [outer])),
                "documents": documents,
                "share": documents / max(len(difference), 1),
                **parts,
                "from_missing": parts["only_a"] + parts["only_b"],
            }
        ),
        a=names[0],
        b=names[1],
        **{
            name: int(np.sum(of))
            for name, of in {
                "wins": difference < 0,
                "losses": difference > 0,
                "same": difference == 0,
                **kinds,
                "neither": ~retrieved,
            }.items()
        },
        chosen=[name for name, run in zip(names, (a, b)) if run is None and not are_two],
        runs=len(judged),
    )


@search_length_changes.chart
def search_length_changes_chart(changes: pd.DataFrame) -> alt.TopLevelMixin:
    """Figure 6: by how much one run's search lengths differ from another's."""
    about = changes.attrs
    a, b = about["a"], about["b"]
    neither = (
        f" Not shown: {about['neither']:,} that neither run retrieved." if about["neither"] else ""
    )
    by_asl_chosen = [
        f"{name} is {'the best' if name == a else 'the median'}" for name in about["chosen"]
    ]
    chosen = f" Of {about['runs']} runs by ASL {' and '.join(by_asl_chosen)}." * bool(by_asl_chosen)
    names = {"both": "both", "only_a": f"only {a}", "only_b": f"only {b}"}
    long = _name_bins(changes.rename(columns=names)).melt(
        ["length", "low"], list(names.values()), "retrieved by", "count"
    )
    long["nearest"] = long["retrieved by"].map(list(names.values()).index)
    return figure(
        alt.Chart(long).mark_bar(),
        f"{a} minus {b}",
        f"Search length in {a} minus search length in {b}, for each relevant document that one of "
        f"them retrieved: {about['wins']:,} are shorter in {a}, {about['losses']:,} longer, "
        f"{about['same']:,} equal.{neither}" + chosen,
        rows=CROWDED,
        y=alt.Y("length:N", sort=alt.SortField("low"), title="difference of search lengths"),
        x=alt.X("count:Q", title="relevant documents"),
        color=category("retrieved by", domain=list(names.values())),
        order=alt.Order("nearest:Q"),
        tooltip=tooltips("length", "retrieved by", "count"),
    )


def by_asl(judged: Evaluation, options: AslOptions) -> list[str]:
    """The names of the runs, best ASL first; equal ones in their order."""
    means = judged.values(options.asl).mean(axis=1)
    return [judged.names[row] for row in np.argsort(means, kind="stable")]


def _edges(edges: ArrayLike, *, least: int = 1) -> Ints:
    bounds = np.asarray(edges, dtype=np.float64)
    if (
        bounds.ndim != 1
        or len(bounds) < least
        or np.any(bounds % 1)
        or np.any(np.diff(bounds, prepend=0) <= 0)
    ):
        raise ValueError(
            f"edges must be {least} or more ascending whole numbers from 1 on, not {edges!r}"
        )
    return bounds.astype(np.int64)


def _name_bins(frame: pd.DataFrame) -> pd.DataFrame:
    """Names the bins, such as 1 to 100."""
    ends = zip(frame["low"], frame["high"])
    return frame.assign(
        length=[f"{low}" if low == high else f"{low} to {high}" for low, high in ends]
    )


#: The share in the paper over its tracks: mean, and one standard deviation.
PUBLISHED = (0.57, 0.16)


def equivalents(search_lengths: ArrayLike) -> Floats:
    """Search lengths whose plain mean is the harmonic mean of the search lengths of documents.

    e_i = 1 + H (1 - 1/SL_i), H the harmonic mean of the lengths. Their mean is H.

    Args:
        search_lengths: lengths from 1 on, shape (n,).

    Returns:
        One per length, in their order. A document at rank 10,000 counts little more than a document
        at rank 10.

    Source: Alex, Hall, Metzler 2022, Appendix A.1. The paper prints 2.9 for the 5 in this example.

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

    The documents are sorted by precision P. The result is the number n whose mean of 1/P over the
    first n documents is closest to 1/(mean of P) of all documents; the smaller of two equally close
    numbers. A document with P = 0 is one of all documents, but never one of the first n.

    Args:
        precision: the precision at each relevant document, 0 where it was not retrieved, shape
            (R,).

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
    qrels: QrelsLike | None = None,
    *,
    rel: RelOfTracks = None,
    cutoff: int | None = None,
) -> pd.DataFrame:
    """What share of the relevant documents determines AP?

    In the paper the top 57 % ± 16 of the relevant documents determine AP, over its tracks.

    Returns:
        One row for each run, with ``track``, ``run``, ``AP``, ``share``, the mean over queries of
        :func:`effective_documents` divided by the number of relevant documents, and ``pooled``, the
        same over the documents of all queries together (the paper does not say which one it used).
        Queries without relevant documents are left out of ``share``.

    Source: Alex, Hall, Metzler 2022, Appendix A.1.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> effective_share({"run": {"q": {"a": 3, "x": 2, "b": 1}}}, qrels).round(3)
      track  run     AP  share  pooled
    0        run  0.556  0.667   0.667
    """

    def of_track(track: str, judged: Evaluation, rel: float) -> pd.DataFrame:
        documents = judged.once(relevant_documents, rel, cutoff)
        ends = np.cumsum(documents[0].total)[:-1]
        shares = np.array(
            [[*map(_effective_share, np.split(run.precision, ends))] for run in documents]
        )
        return pd.DataFrame(
            {
                "run": judged.names,
                "AP": np.array([run.mean(run.precision, 0.0) for run in documents]).mean(axis=-1),
                "share": np.nanmean(shares, axis=1) if is_relevant(judged, rel) else np.nan,
                "pooled": [_effective_share(run.precision) for run in documents],
            }
        )

    return per_track(of_track, read_tracks(runs, qrels, rel))


@effective_share.chart
def effective_share_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Runs by AP and by the share of the relevant documents that determines it."""
    mean, deviation = PUBLISHED
    paper = pd.DataFrame({"low": [mean - deviation], "high": [mean + deviation], "mean": [mean]})
    low, percent = alt.Y("low:Q", scale=alt.Scale(domain=[0, 1])), alt.Axis(format="%")
    return figure(
        alt.layer(
            alt.Chart(paper).mark_rect(opacity=0.15).encode(y=low, y2=alt.Y2("high:Q")),
            alt.Chart(paper).mark_rule(strokeDash=DASHED).encode(y=alt.Y("mean:Q")),
            alt.Chart(frame)
            .mark_circle(opacity=0.7)
            .encode(
                x=alt.X("AP:Q", title="AP"),
                y=alt.Y("share:Q", title="share of the relevant documents", axis=percent),
                **by_collection(frame, "track"),
                tooltip=tooltips("track", "run", "AP", "share", "pooled"),
            ),
        ),
        "The documents that determine AP",
        "AP is a mean over all relevant documents, but the plain mean of search lengths of a top "
        "share of them has the same value. Each point is a run; dashed line and shade: the share "
        f"over the tracks of the paper, {mean:.0%} ± {100 * deviation:.0f}.",
    )


def _effective_share(precision: Floats) -> float:
    """:func:`effective_documents` as a share of all documents, NaN where there are none."""
    return effective_documents(precision) / len(precision) if len(precision) else float("nan")
