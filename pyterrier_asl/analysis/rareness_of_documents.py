"""Which relevant documents of a query are rare, and who finds them?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ..charts.forms import alt, figure
from ..evaluation.rareness_values import by_group
from ..evaluation.relevant_documents import RelevantRanks
from .registry import TURKMEN, JudgedRuns, analysis


@analysis("rare-documents", TURKMEN, "Table 4", group_by="qid")
def rare_documents(
    judged: JudgedRuns,
    qid: Any = None,
    *,
    few: int | None = None,
    depth: int | None = None,
    rel: float = 1,
    groups: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Which relevant documents are rare, and which systems find them?

    The relevant documents by rareness, rarest first.

    Args:
        qid: the query; None: all of them.
        few: leave out documents that more than so many runs (or groups) find; None: none.
        depth: how deep a run must have a document to be one that finds it; None: anywhere, as in
            the paper's table. ``P_Rareness@k`` counts to depth k: give that to see what it sees.
        groups: run -> group; count groups instead of runs.

    Returns:
        A row for each relevant document, with ``qid``, ``docno``, ``grade``, ``S_d`` runs (or
        groups) that find it, of ``S``, ``rareness`` = 1 - S_d/S, which is 1 for one missed by all,
        ``best_rank`` in any run (0: none has it at all), and ``found_by``, the names of those runs
        or groups.

    Raises:
        ValueError: for a query that is not judged, or a group of a run that is not there.

    Source: Türkmen, Lease and Kutlu, 2023, Eq. 2 and Table 4.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 1}}}
    >>> rare_documents(runs, {"q": {"d": 1, "e": 1}}, "q").drop(columns="qid")
      docno  grade  S_d  S  rareness  best_rank found_by
    0     e    1.0    1  2       0.5          2      [a]
    1     d    1.0    2  2       0.0          1   [a, b]
    """
    ranks = judged.once(RelevantRanks.of, rel)
    here = ranks.documents_of(judged, qid)
    labels, found = by_group(judged.names, ranks.found(depth)[:, here], groups)
    finders, at = found.sum(axis=0), ranks.ranks[:, here]
    best = np.where(at > 0, at, np.iinfo(np.int64).max).min(axis=0)
    judgements, pairs, queries = judged.judgements, ranks.pairs[here], ranks.queries[here]
    frame = pd.DataFrame(
        {
            "qid": [judged.qids[query] for query in queries],
            "docno": judgements.docnos.take(pa.array(pairs)).to_pylist(),
            "grade": judgements.grades[pairs],
            "S_d": finders,
            "S": len(found),
            "rareness": 1 - finders / len(found),
            "best_rank": np.where(at.any(axis=0), best, 0),
            "found_by": [labels[column].tolist() for column in found.T],
        }
    )
    frame = frame.iloc[np.lexsort((frame["docno"], finders, queries))]
    rare = frame if few is None else frame[frame["S_d"] <= few]
    return rare.reset_index(drop=True)


@rare_documents.chart
def rare_documents_chart(frame: pd.DataFrame) -> Any:
    """How rare the relevant documents of the queries are, as bars."""
    counts = pd.cut(frame["rareness"], [i / 20 for i in range(21)], include_lowest=True)
    bars = counts.value_counts(sort=False).reset_index(drop=True).rename("documents").to_frame()
    bars = bars.assign(low=[i / 20 for i in range(20)], high=[i / 20 for i in range(1, 21)])
    return figure(
        alt.Chart(bars).mark_bar(),
        "How rare relevant documents are",
        "R(d) = 1 − S_d/S of every relevant document; 1: missed by all.",
        x=alt.X("low:Q", title="rareness R(d)", bin="binned"),
        x2="high:Q",
        y=alt.Y("documents:Q", title="relevant documents"),
        tooltip=["low", "high", "documents"],
    )
