"""Which relevant documents of a query are rare, and who finds them?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from .judged_runs import JudgedRuns
from .rareness_values import group_codes
from .relevant_ranks import RelevantRanks

Bools = npt.NDArray[np.bool_]


def rare_documents(
    runs: Any,
    qrels: Any = None,
    qid: Any = None,
    *,
    depth: int | None = None,
    rel: float = 1,
    groups: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The relevant documents by rareness, rarest first (Table 4).

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        qid: the query; None: all of them.
        depth: how deep a run must have a document to be one that finds it; None: anywhere, as in
            the paper's table. ``P_Rareness@k`` counts to depth k: give that to see what it sees.
        rel: minimum grade of a relevant document.
        groups: run -> group; count groups instead of runs.

    Returns:
        A row for each relevant document, with ``qid``, ``docno``, ``grade``, ``S_d`` runs (or
        groups) that find it, of ``S``, ``rareness`` = 1 - S_d/S, which is 1 where nobody does,
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
    judged = JudgedRuns.of(runs, qrels)
    ranks = RelevantRanks.of(judged, rel=rel)
    here = np.arange(len(ranks.pairs)) if qid is None else _documents_of(judged, ranks, qid)
    labels, found = _finders(judged.names, ranks.found(depth)[:, here], groups)
    ranked = np.where(ranks.ranks > 0, ranks.ranks, np.iinfo(np.int64).max)[:, here].min(axis=0)
    judgements, pairs = judged.judgements, ranks.pairs[here]
    frame = pd.DataFrame(
        {
            "qid": [judged.qids[query] for query in ranks.queries[here]],
            "docno": judgements.docnos.take(pa.array(pairs)).to_pylist(),
            "grade": judgements.grades[pairs],
            "S_d": found.sum(axis=0),
            "S": len(found),
            "rareness": 1 - found.sum(axis=0) / len(found),
            "best_rank": np.where(ranks.ranks[:, here].any(axis=0), ranked, 0),
            "found_by": [labels[column].tolist() for column in found.T],
        }
    )
    frame["_query"] = ranks.queries[here]
    frame = frame.sort_values(["_query", "S_d", "docno"], ignore_index=True)
    return frame.drop(columns="_query")


def _documents_of(judged: JudgedRuns, ranks: RelevantRanks, qid: Any) -> Any:
    known = [str(each) for each in judged.qids]
    if str(qid) not in known:
        raise ValueError(f"query {qid!r} is not judged; those that are look like {known[0]!r}")
    return np.flatnonzero(ranks.queries == known.index(str(qid)))


def _finders(
    names: list[str], found: Bools, groups: Mapping[str, str] | None
) -> tuple[Any, Bools]:
    """The names of all runs, or groups, and which of them have which document."""
    codes = group_codes(names, groups)
    if groups is None or codes is None:
        return np.array(names, dtype=object), found
    first = np.unique(codes, return_index=True)[1]
    labels = [groups.get(names[run], names[run]) for run in first]
    together = np.zeros((len(labels), found.shape[1]), dtype=bool)
    np.logical_or.at(together, codes, found)
    return np.array(labels, dtype=object), together
