"""How much room is there at the top, and how much below? (Alex et al. 2022, Figures 1 to 4.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd

from ..judging import JudgedRun
from ..measures import ASL
from ..scoring.search_length import DEFAULT_DEPTH
from .judged_runs import JudgedRuns, per_track
from .measure_options import lower_is_better, missing_of, with_options
from .places import rounded
from .relevant_documents import RelevantDocuments
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]


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


def run_quality(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    missing: str = "pad",
    weights: Any = None,
    by: Any = None,
    as_published: bool = False,
) -> pd.DataFrame:
    """Every run at the top and over all relevant documents, with what to read beside ASL.

    Args:
        runs: dict of name -> run, folder, list of files, or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        cutoff: k, as in ``ASL@k``.
        missing: as in ``ASL(missing=...)``.
        weights: how much each query counts; see :func:`~pyterrier_asl.analysis.slices.slices`.
        by: slices of the queries, each with its own rows.
        as_published: the paper's choice: missing documents right after the list
            (``missing='after'``).

    Returns:
        One row for each run, best ASL first, with ``run``, ``P@20``, ``ASL@g1-10``, ``AP``, ``ASL``
        and, with k the cut-off, 1000 without one, ``R@k``; ``missing_share``, the share of its ASL
        that comes from documents it did not retrieve; ``Judged@k``, the judged share of what it
        retrieved; ``unjudged_share``, the share of the irrelevant documents above those it did
        retrieve that nobody judged.

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
    missing = missing_of(missing, as_published)
    judged = JudgedRuns.of(runs, qrels)
    return per_slice(judged.qids, _quality(judged, rel, cutoff, missing), weights, by)


def _quality(
    judged: JudgedRuns, rel: float, cutoff: int | None, missing: str
) -> Callable[[Queries], pd.DataFrame]:
    """What makes the table of :func:`run_quality` for some of the queries."""
    measures = asl_measures(rel, cutoff, missing)
    values = {name: judged.values(measure) for name, measure in measures.items()}
    beside = _Beside.of(judged, rel, cutoff, missing)

    def analyse(queries: Queries) -> pd.DataFrame:
        frame = pd.DataFrame({"run": judged.names})
        for name, value in values.items():
            frame[name] = queries.mean(value)
        k = DEFAULT_DEPTH if cutoff is None else cutoff
        frame[f"R@{k}"] = queries.mean(beside.recall)
        frame["missing_share"] = queries.mean(beside.missing) / frame["ASL"]
        frame[f"Judged@{k}"] = queries.mean(beside.judged)
        frame["unjudged_share"] = _ratio(
            queries.mean(beside.unjudged_above), queries.mean(beside.irrelevant_above)
        )
        return frame.sort_values("ASL", key=rounded, kind="stable", ignore_index=True)

    return analyse


def headroom(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    missing: str = "pad",
    weights: Any = None,
    by: Any = None,
    as_published: bool = False,
) -> pd.DataFrame:
    """The best run of each track by each of four measures: how near is the task to being solved?

    A track that looks solved by ``P@20`` or AP can have its relevant documents far down, and far
    down is where ``P@20`` cannot see an improvement.

    Args:
        runs: the runs of one track; or, without qrels, a dict of track -> (runs, qrels).
        qrels: the judgements of the one track.
        rel: minimum grade of a relevant document.
        cutoff: k, as in ``ASL@k``.
        missing: as in ``ASL(missing=...)``.
        weights: how much each query counts; for one track.
        by: slices of the queries; for one track.
        as_published: the paper's choice: missing documents right after the list
            (``missing='after'``).

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
    missing = missing_of(missing, as_published)

    def of_track(_: str, judged: JudgedRuns) -> pd.DataFrame:
        quality = _quality(judged, rel, cutoff, missing)
        return per_slice(judged.qids, lambda queries: _best(quality(queries)), weights, by)

    return per_track(of_track, runs, qrels, weights=weights, by=by)


def _best(quality: pd.DataFrame) -> pd.DataFrame:
    """The best run by each measure, and what to read beside ASL."""
    measures = asl_measures()
    columns = list(quality.columns)
    beside = columns[columns.index("ASL") + 1 :]
    rows = []
    for name, measure in measures.items():
        means = rounded(quality[name])
        best = int(means.argmin() if lower_is_better(measure) else means.argmax())
        row = quality.iloc[best]
        best_run = {"runs": len(quality), "best_run": row["run"], "value": row[name]}
        rows.append({"measure": name, **best_run, **row[beside]})
    return pd.DataFrame(rows)


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
        for run in judged.runs:
            documents = RelevantDocuments.of(run, rel=rel, cutoff=cutoff, missing=missing)
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
