"""Values of runs over all orders of equal scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.types import Floats
from ..judging.judged_run import JudgedRun, TiedRun
from ..measures.formula import formula
from ..measures.parsing import Measures
from .evaluate import joined_by_run, long_frame, unread_tracks
from .facts import Facts, with_notes
from .run_facts import RunFacts

#: The columns of a table by query, and how they are aggregated.
_HOW = dict.fromkeys(("low", "expected", "value", "high"), "mean") | dict.fromkeys(
    ("tied", "documents"), "sum"
)


def ties(
    runs: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    *,
    rel: float | None = None,
    pool: Any = None,
    lengths: Any = None,
    common: bool = False,
    by_query: bool = False,
) -> pd.DataFrame:
    """The least, the expected and the greatest value over all orders of equal scores.

    Scores that are equal as 32-bit floats have no order. The value of a run has trec_eval's: by
    document id, descending. Queries are independent, so the ends and the expectation of a mean are
    the means of those of the queries.

    Args:
        runs: see :func:`~pyterrier_asl.evaluate`.
        qrels: see :func:`~pyterrier_asl.evaluate`.
        measures: see :func:`~pyterrier_asl.evaluate`.
        rel: see :func:`~pyterrier_asl.evaluate`.
        pool: see :func:`~pyterrier_asl.evaluate`.
        lengths: see :func:`~pyterrier_asl.evaluate`.
        common: see :func:`~pyterrier_asl.evaluate`.
        by_query: one row per query, instead of the means.

    Returns:
        A frame with ``name``, (``qid``,) ``measure``, ``low``, ``expected`` (the mean if every
        order is equally likely), ``value``, ``high``, and ``tied``, the share of the documents down
        to the cut-off of the measure that have the score of another document of their query.
        ``expected`` is NaN for measures without a closed form (LexiP, ERR, ``ASL(g=...)``),
        and so are ``low`` and ``high`` for measures that depend on more than grades by rank, such
        as TBG and rareness. With several tracks the first column is ``track``.

    Source: McSherry and Najork, Computing Information Retrieval Performance Measures Efficiently in
    the Presence of Tied Scores, 2008.

    >>> run = {"q": {"a": 1, "b": 1, "c": 0}}
    >>> ties(run, {"q": {"a": 1}}, ["RR", "P@2"])
      name measure  low  expected  value  high      tied
    0  run      RR  0.5      0.75    0.5   1.0  0.666667
    1  run     P@2  0.5      0.50    0.5   0.5  1.000000
    """
    frames, facts = {}, {}
    for track, unread, chosen in unread_tracks(
        runs, qrels, measures, rel=rel, pool=pool, lengths=lengths, common=common
    ):
        columns = unread.columns_of(chosen)
        tied_runs = [TiedRun.of(run) for run in unread.runs]
        by_measure: dict[str, Any] = {}
        for named in chosen:
            value, k = columns[named.name], named.measure.params.get("cutoff")
            ends = [_over_ties(named.measure, *run) for run in zip(tied_runs, value)]
            low, expected, high = np.array(ends).swapaxes(0, 1)
            tied = [run.tied_documents(k) for run in unread.runs]
            seen = [np.minimum(run.retrieved, k or run.retrieved) for run in unread.runs]
            by_measure[named.name] = dict(zip(_HOW, (low, expected, value, high, tied, seen)))
        frames[track] = long_frame(unread, by_measure)
        asked = {named.name: named.measure for named in chosen}
        of_runs = {name: RunFacts.of(run, asked) for name, run in zip(unread.names, unread.runs)}
        facts[track] = Facts(of_runs, unread.judgements, asked)
    frame = joined_by_run(frames, by_query, _HOW)
    frame["tied"] = frame["tied"] / frame["documents"].clip(lower=1)
    return with_notes(frame.drop(columns="documents"), facts)


def ends_over_ties(measure: Any, run: JudgedRun, value: Floats) -> Floats:
    """The least and the greatest values of a run over all orders of equal scores, shape (2, Q).

    They are NaN for the measures of other providers.

    Args:
        measure: a measure.
        run: the run, with its rows.
        value: the values of the run, shape (Q,).
    """
    low, _, high = _over_ties(measure, TiedRun.of(run), value)
    return np.array([low, high])


def _over_ties(measure: Any, tied: TiedRun, value: Floats) -> tuple[Floats, Floats, Floats]:
    """The least, the expected and the greatest value over all orders of equal scores, (Q,) each."""
    if (computes := formula(measure)) is None:
        return (np.full(len(value), np.nan),) * 3
    low, high = computes.over_ties(tied, value)
    return low, computes.mean_over_ties(tied, (low, high)), high
