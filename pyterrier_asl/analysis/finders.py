"""Which relevant documents are rare, and who finds them?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..charts import (
    COLORS,
    alt,
    around,
    better,
    figure,
    some_values,
    tooltips,
    undrawn,
    without_outliers,
)
from ..common.lazy import pd
from ..common.notices import names_of
from ..common.parameters import check_names, check_whole
from ..common.types import Bools, Ints
from ..evaluation.evaluation import Runs
from ..evaluation.relevant_documents import RelevantRanks
from ..evaluation.sources import QrelsLike
from .inputs import read
from .registry import LOST, TURKMEN, analysis
from .tables import described


def group_codes(names: list[str], groups: Mapping[str, str]) -> Ints:
    """The group of each run as a number; a run without a group is a group of one run.

    Raises:
        ValueError: for a run in ``groups`` that does not exist.
    """
    check_names("groups", groups, names, "runs")
    # A run without a group must not be mixed up with a group of the same name.
    labels = [f"group {groups[name]}" if name in groups else f"run {name}" for name in names]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _by_group(
    names: list[str], retrieves: Bools, groups: Mapping[str, str] | None
) -> tuple[npt.NDArray[np.object_], Bools]:
    """The names of all runs, or groups, and which of them retrieve which document.

    Args:
        names: the runs, S of them.
        retrieves: which run retrieves which document, shape (S, R).
        groups: run -> group; None: each run is a group.
    """
    if groups is None:
        return np.array(names, dtype=object), retrieves
    codes = group_codes(names, groups)
    first = np.unique(codes, return_index=True)[1]
    labels = np.array([groups.get(names[run], names[run]) for run in first], dtype=object)
    return labels, np.array([retrieves[codes == code].any(axis=0) for code in range(len(first))])


def _depth(depth: int | None) -> str:
    """Where a run finds documents, in words."""
    return "the whole ranking" if depth is None else f"the first {depth}"


@analysis(TURKMEN, "Table 4", group_by="qid")
def rare_documents(
    runs: Runs,
    qrels: QrelsLike | None = None,
    qid: Any = None,
    *,
    few: int | None = None,
    depth: int | None = None,
    rel: float | None = None,
    groups: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Which relevant documents are rare, and which systems find them?

    The relevant documents, rarest first; those missed by all come last.

    Args:
        qid: the query; None: all of them.
        few: omit documents that more runs (or groups) than this find; None: omit none.
        depth: a run finds a document if the document is among its first ``depth`` documents: 100
            for the rareness of ``P_Rareness@100``; None: among all, as in the paper's Table 4 (its
            FBIS3-38782 has a rareness of .806 so, and of .992 with 100).
        groups: run -> group; count groups instead of runs.

    Returns:
        A row for each relevant document, with ``qid``, ``docno``, ``grade``, ``S_d`` runs (or
        groups) that find it, of ``S``, ``rareness`` = 1 - S_d/S, which is 1 for one missed by all,
        ``best_rank`` in any run (0: no run retrieves it), and ``found_by``, the names of the runs
        or groups that find it.

    Raises:
        ValueError: for a query that is not judged, or a run in ``groups`` that does not exist.

    Source: Türkmen, Lease and Kutlu, 2023, Eq. 2 and Table 4.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 1}}}
    >>> rare_documents(runs, {"q": {"d": 1, "e": 1}}, "q").drop(columns="qid")
      docno  grade  S_d  S  rareness  best_rank found_by
    0     e    1.0    1  2       0.5          2      [a]
    1     d    1.0    2  2       0.0          1   [a, b]
    """
    judged, rel = read(runs, qrels, rel)
    ranks = judged.once(RelevantRanks.of, rel)
    documents = ranks.documents_of(judged, qid)
    labels, retrieves = _by_group(judged.names, ranks.found(depth)[:, documents], groups)
    finders, at = retrieves.sum(axis=0), ranks.ranks[:, documents]
    judgements, pairs, queries = judged.judgements, ranks.pairs[documents], ranks.queries[documents]
    frame = pd.DataFrame(
        {
            "qid": [judged.qids[query] for query in queries],
            "docno": judgements.docnos.take(pa.array(pairs)).to_pylist(),
            "grade": judgements.grades[pairs],
            "S_d": finders,
            "S": len(retrieves),
            "rareness": 1 - finders / len(retrieves),
            "best_rank": np.where(
                at.any(axis=0), np.where(at > 0, at, np.iinfo(np.int64).max).min(axis=0), 0
            ),
            "found_by": [labels[column].tolist() for column in retrieves.T],
        }
    )
    frame = frame.iloc[np.lexsort((frame["docno"], finders, finders == 0, queries))]
    return described(
        (frame if few is None else frame[frame["S_d"] <= few]).reset_index(drop=True),
        depth=_depth(depth),
    )


@rare_documents.chart
def rare_documents_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The rareness of the relevant documents, as a histogram."""
    ends = [i / 20 for i in range(21)]
    counts = pd.cut(frame["rareness"], ends, include_lowest=True).value_counts(sort=False)
    return figure(
        alt.Chart(
            pd.DataFrame({"documents": counts.to_numpy(), "low": ends[:-1], "high": ends[1:]})
        ).mark_bar(),
        "How rare relevant documents are",
        "R(d) = 1 − S_d/S of every relevant document; 1: missed by all. Documents found in "
        f"{frame.attrs.get('depth', _depth(None))}.",
        x=alt.X("low:Q", title="rareness R(d)", bin="binned"),
        x2=alt.X2("high:Q"),
        y=alt.Y("documents:Q", title="relevant documents"),
        tooltip=tooltips("low", "high", "documents"),
    )


#: The least and the greatest area of a system.
_AREAS = [12, 320]


@analysis(TURKMEN, "Eq. 2", question=LOST)
def rare_finds(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    few: int = 3,
    depth: int | None = None,
    rel: float | None = None,
    groups: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Which systems find relevant documents that others miss?

    Args:
        few: the largest number of systems that find a rare document.
        depth: a system finds a document if the document is among its first ``depth`` documents: 100
            for the rareness of ``P_Rareness@100``; None: among all.
        groups: run -> group; count groups instead of runs: runs of one group are one system.

    Returns:
        A row for each system, by ``alone``, largest first, with ``system``, ``found``, the number
        of relevant documents that it finds, ``alone``, the number of documents that no other system
        finds, ``few``, the number of rare documents, ``mean_rareness`` of the documents that it
        finds (R = 1 - S_d/S; NaN where it finds none), ``recall``, its share of all relevant
        documents, and of all systems together: ``pool``, the number of relevant documents that at
        least one system finds, and ``coverage``, their share of all relevant documents.

    Raises:
        ValueError: where ``few`` is below 1, or for a run in ``groups`` that does not exist.

    Source: after Türkmen, Lease and Kutlu, 2023, Eq. 2.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 1}}}
    >>> finders = rare_finds(runs, {"q": {"d": 1, "e": 1, "f": 1}}, few=1)
    >>> finders[["system", "found", "alone", "mean_rareness", "pool"]]
      system  found  alone  mean_rareness  pool
    0      a      2      1           0.25     2
    1      b      1      0           0.00     2
    """
    judged, rel = read(runs, qrels, rel)
    check_whole("few", few)
    systems, retrieves = _by_group(
        judged.names, judged.once(RelevantRanks.of, rel).found(depth), groups
    )
    finders = retrieves.sum(axis=0)
    with np.errstate(invalid="ignore"):
        rareness = retrieves @ (1 - finders / len(systems)) / retrieves.sum(axis=1)
    relevant, pool = retrieves.shape[1], int(np.sum(finders > 0))
    frame = pd.DataFrame(
        {
            "system": systems,
            "found": retrieves.sum(axis=1),
            "alone": retrieves[:, finders == 1].sum(axis=1),
            "few": retrieves[:, finders <= few].sum(axis=1),
            "mean_rareness": rareness,
            "recall": retrieves.sum(axis=1) / max(relevant, 1),
            "pool": pool,
            "coverage": pool / max(relevant, 1),
        }
    ).sort_values(
        ["alone", "few", "mean_rareness"], ascending=False, ignore_index=True, kind="stable"
    )
    return described(frame, depth=_depth(depth), few=few)


@rare_finds.chart
def rare_finds_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Systems by the documents that they find and the rareness of these, as points."""
    finders = frame[frame["alone"] > 0]["system"].tolist()
    which = f" Most by {names_of(finders, 3)}." if finders else ""
    together = f"All {len(frame)} together find" if len(frame) > 1 else "It finds"
    frame, far = without_outliers(frame, "found", "mean_rareness")
    return figure(
        alt.Chart(frame).mark_circle(opacity=0.6, color=COLORS[0]),
        "Relevant documents that other systems miss",
        "Each point is a system; its area grows with the number of relevant documents that only "
        f"this system finds.{which} {together} {frame['coverage'].iloc[0]:.1%} of the relevant "
        "documents." + undrawn(frame["mean_rareness"]) + far,
        x=alt.X(
            "found:Q",
            title=better("relevant documents found", "→"),
            axis=alt.Axis(tickMinStep=1, format=",d"),
            scale=alt.Scale(domain=around(frame["found"])),
        ),
        y=alt.Y(
            "mean_rareness:Q",
            title="mean rareness of these documents",
            scale=alt.Scale(domain=around(frame["mean_rareness"])),
        ),
        size=alt.Size(
            "alone:Q",
            title="found by no other",
            scale=alt.Scale(domain=[0, max(1, int(frame["alone"].max()))], range=_AREAS),
            legend=alt.Legend(orient="bottom", values=some_values(frame["alone"])),
        ),
        tooltip=tooltips(
            "system",
            "found",
            "alone",
            "few",
            alt.Tooltip("mean_rareness", format=".3f"),
            alt.Tooltip("recall", format=".3f"),
        ),
    )
