"""Where are the relevant documents, and which move between two runs? (Alex et al. 2022, Fig. 5, 6.)

Search lengths document by document, which measures that couple a query's documents cannot show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.typing import ArrayLike

from ..measures import ASL
from ..scoring.search_length import DEFAULT_DEPTH
from .judged_runs import JudgedRuns
from .measure_options import missing_of
from .relevant_documents import RelevantDocuments

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def search_length_distribution(
    runs: Any,
    qrels: Any = None,
    *,
    run: str | None = None,
    edges: ArrayLike | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
) -> pd.DataFrame:
    """How many relevant documents have which search length in one run.

    Args:
        runs: dict of name -> run, folder, list of files, or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        run: the run to look at; by default the best by ASL.
        edges: where the bins begin and where the last ends, ascending; by default ten bins up to
            the cut-off (1000 without one).
        rel: minimum grade of a relevant document.
        cutoff: k, as in ``ASL@k``.
        missing: as in ``ASL(missing=...)``.
        as_published: the paper's choice: missing documents right after the list
            (``missing='after'``).

    Returns:
        One row for each bin, with ``low`` and ``high``, the search lengths it takes, both included;
        ``found``, how many retrieved relevant documents; ``missing``, how many that were not
        retrieved; ``documents``, both; ``share`` of all. The last bin takes what is longer still.
        ``attrs``: the ``run``, its ``ASL``, and how many are ``optimal``, of length 1.

    Documents that were not retrieved lie at the end only because the ranking ends there: nobody
    knows how far down they would be.

    Source: Alex, Hall, Metzler 2022, Figure 5.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> search_length_distribution({"one": {"q": {"a": 1}}}, qrels, cutoff=10, edges=[1, 6, 11])
       low  high  found  missing  documents  share
    0    1     5      1        0          1    0.5
    1    6    11      0        1          1    0.5
    """
    missing = missing_of(missing, as_published)
    judged = JudgedRuns.of(runs, qrels)
    measure = ASL(rel=rel, cutoff=cutoff, missing=missing)
    name = by_asl(judged, measure)[0] if run is None else run
    row = judged.row(name)
    documents = RelevantDocuments.of(judged.runs[row], rel=rel, cutoff=cutoff, missing=missing)
    depth = DEFAULT_DEPTH if cutoff is None else cutoff
    bounds = _edges(np.linspace(1, depth + 1, 11).round() if edges is None else edges)
    lengths = documents.lengths
    found = _counts(lengths[documents.found], bounds)
    lost = _counts(lengths[~documents.found], bounds)
    highs = np.append(bounds[1:-1] - 1, max(bounds[-1], lengths.max(initial=0)))
    frame = pd.DataFrame(
        {
            "low": bounds[:-1],
            "high": highs,
            "found": found,
            "missing": lost,
            "documents": found + lost,
            "share": (found + lost) / max(len(lengths), 1),
        }
    )
    frame.attrs = {
        "run": name,
        "ASL": float(judged.values(measure)[row].mean()),
        "optimal": int(np.sum(lengths == 1)),
    }
    return frame


def search_length_changes(
    runs: Any,
    qrels: Any = None,
    *,
    a: str | None = None,
    b: str | None = None,
    edges: ArrayLike | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
) -> pd.DataFrame:
    """By how much one run's search lengths differ from another's, document by document.

    Args:
        runs: dict of name -> run, folder, list of files, or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        a: one run; by default the best by ASL.
        b: another; by default the median by ASL, of two in the middle the worse.
        edges: sizes at which the bins of differences end, ascending; by default ten equal bins on
            each side, up to the cut-off (1000 without one).
        rel: minimum grade of a relevant document.
        cutoff: k, as in ``ASL@k``.
        missing: as in ``ASL(missing=...)``.
        as_published: the paper's choice: missing documents right after the list
            (``missing='after'``).

    Returns:
        One row for each bin of differences, a less b, with ``low`` and ``high``, both included;
        ``documents``; ``share`` of all; and ``from_missing``, how many of them one run found and
        the other did not. Negative differences are wins of ``a``; documents without any have a row
        of their own. ``attrs``: ``a``, ``b``, ``wins``, ``losses``, ``same``.

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
    missing = missing_of(missing, as_published)
    judged = JudgedRuns.of(runs, qrels)
    order = by_asl(judged, ASL(rel=rel, cutoff=cutoff, missing=missing))
    names = order[0] if a is None else a, order[len(order) // 2] if b is None else b
    first, second = (
        RelevantDocuments.of(
            judged.runs[judged.row(name)], rel=rel, cutoff=cutoff, missing=missing
        )
        for name in names
    )
    difference = first.lengths - second.lengths
    depth = DEFAULT_DEPTH if cutoff is None else cutoff
    ends = _edges(np.linspace(0, depth, 11)[1:].round() if edges is None else edges)
    frame = _both_sides(difference, first.found != second.found, ends)
    frame.attrs = {
        "a": names[0],
        "b": names[1],
        "wins": int(np.sum(difference < 0)),
        "losses": int(np.sum(difference > 0)),
        "same": int(np.sum(difference == 0)),
    }
    return frame


def by_asl(judged: JudgedRuns, measure: Any) -> list[str]:
    """The names of the runs, best ASL first; equal ones in their order."""
    means = judged.values(measure).mean(axis=1)
    return [judged.names[row] for row in np.argsort(means, kind="stable")]


def _both_sides(difference: Ints, lost: npt.NDArray[np.bool_], ends: Ints) -> pd.DataFrame:
    """Differences counted in bins of their size, on both sides of 0."""
    size = np.minimum(np.searchsorted(ends, np.abs(difference), side="left"), len(ends) - 1)
    places = np.where(difference == 0, 0, np.sign(difference) * (size + 1)) + len(ends)
    bins = 2 * len(ends) + 1
    outer = max(int(ends[-1]), int(np.abs(difference).max(initial=0)))
    lows = np.concatenate(([1], ends[:-1] + 1))
    highs = np.append(ends[:-1], outer)
    documents = np.bincount(places, minlength=bins)
    return pd.DataFrame(
        {
            "low": np.concatenate((-highs[::-1], [0], lows)),
            "high": np.concatenate((-lows[::-1], [0], highs)),
            "documents": documents,
            "share": documents / max(len(difference), 1),
            "from_missing": np.bincount(places[lost], minlength=bins),
        }
    )


def _edges(edges: ArrayLike) -> Ints:
    bounds = np.asarray(edges, dtype=np.float64)
    if bounds.ndim != 1 or not len(bounds) or np.any(bounds % 1) or np.any(np.diff(bounds) <= 0):
        raise ValueError(f"edges must be ascending whole numbers, not {edges!r}")
    if bounds[0] < 1:
        raise ValueError(f"edges begin at {bounds[0]:g}; the smallest length there is is 1")
    return bounds.astype(np.int64)


def _counts(lengths: Ints, bounds: Ints) -> Ints:
    """How many lengths each bin takes; the first and last also what lies beyond."""
    if len(bounds) < 2:
        raise ValueError("edges must be at least two: where a bin begins and where it ends")
    places = np.searchsorted(bounds[1:-1], lengths, side="right")
    return np.bincount(places, minlength=len(bounds) - 1).astype(np.int64)
