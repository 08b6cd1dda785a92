"""What does a mean of precisions hide? (Alex et al. 2022, Appendix A.1.)

A mean of precisions is a weighted mean of search lengths, in which each is weighted down by its own
size: the precisions of a few documents at the top say nearly all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.typing import ArrayLike

from .judged_runs import JudgedRuns, per_track
from .relevant_documents import RelevantDocuments
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]


def equivalents(search_lengths: ArrayLike) -> Floats:
    """The lengths whose plain mean is what the mean of precisions makes of these.

    :math:`e_i = 1 + H (1 - 1/SL_i)`, H the harmonic mean of the lengths. Their mean is H.

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
    """How many of the documents a mean of precisions is in effect about.

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


def effective_share(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """The share of the relevant documents that AP is in effect about, for each run.

    The paper: over its tracks AP was the average precision of the top 57 % ± 16 of the documents.

    Args:
        runs: the runs of one track; or, without qrels, a dict of track -> (runs, qrels).
        qrels: the judgements of the one track.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents of a ranking.
        weights: how much each query counts in ``AP`` and ``share``; for one track.
        by: slices of the queries; for one track.

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

    def of_track(_: str, judged: JudgedRuns) -> pd.DataFrame:
        documents = [RelevantDocuments.of(run, rel=rel, cutoff=cutoff) for run in judged.runs]
        return _of_track(judged, documents, weights, by)

    return per_track(of_track, runs, qrels, weights=weights, by=by)


def _of_track(
    judged: JudgedRuns, documents: list[RelevantDocuments], weights: Any, by: Any
) -> pd.DataFrame:
    precisions = np.array([each.mean(each.precision, 0.0) for each in documents])
    shares = np.array([_by_query(each) for each in documents])

    def analyse(queries: Queries) -> pd.DataFrame:
        some = queries.where(documents[0].total > 0)
        share = some.mean(shares) if some.each.any() else np.full(len(documents), np.nan)
        pooled = [_pooled(each, queries) for each in documents]
        means = {"run": judged.names, "AP": queries.mean(precisions)}
        return pd.DataFrame({**means, "share": share, "pooled": pooled})

    return per_slice(judged.qids, analyse, weights, by)


def _by_query(documents: RelevantDocuments) -> Floats:
    """The effective share of each query, NaN where nothing is relevant, shape (Q,)."""
    bounds = np.concatenate(([0], np.cumsum(documents.total)))
    effective = [
        effective_documents(documents.precision[low:high])
        for low, high in zip(bounds[:-1], bounds[1:])
    ]
    shares = np.full(len(effective), np.nan)
    np.divide(effective, documents.total, out=shares, where=documents.total > 0)
    return shares


def _pooled(documents: RelevantDocuments, queries: Queries) -> float:
    """The effective share of all documents of these queries together."""
    precision = documents.precision[np.isin(documents.queries, queries.at)]
    return effective_documents(precision) / len(precision) if len(precision) else float("nan")
