"""The contents of a report besides rankings: its origin, search lengths, and first documents."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from ..common.types import Ints
from ..evaluation.evaluation import Evaluation
from ..evaluation.relevant_documents import relevant_documents
from ..io.digests import digest_of
from ..judging.qrels import OFFICIAL, Qrels
from ..scoring.arrays import within_query
from ..scoring.search_length import bin_ends


def search_length_classes(runs: Evaluation, rel: float, cutoff: int) -> dict[str, list[int]]:
    """The number of relevant documents in each class of search lengths, for each run.

    >>> runs = Evaluation.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"c": 1, "d": 1}})
    >>> search_length_classes(runs, rel=1, cutoff=10)
    {'1': [0], '2–3': [1], '4–10': [0], 'not retrieved': [1]}
    """
    ends = bin_ends(cutoff)
    starts = [1, *(end + 1 for end in ends[:-1])]
    labels = [f"{start}" if start == end else f"{start}–{end}" for start, end in zip(starts, ends)]
    classes = (
        np.where(documents.found, np.searchsorted(ends, documents.lengths), len(ends))
        for documents in runs.once(relevant_documents, rel, cutoff, "pad")
    )
    rows = [np.bincount(of_run, minlength=len(ends) + 1) for of_run in classes]
    return dict(zip([*labels, "not retrieved"], np.transpose(rows).tolist()))


def top_documents(runs: Evaluation, systems: Ints, depth: int) -> pd.DataFrame:
    """The first documents of some runs for each query.

    Columns: ``row`` (of ``systems``), ``query`` (its number), ``rank`` from 0, ``docno``, and
    ``grade``, -1 for unjudged.

    >>> runs = Evaluation.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"d": 1}})
    >>> top_documents(runs, np.array([0]), depth=3).values.tolist()
    [[0, 0, 0, 'x', -1.0], [0, 0, 1, 'd', 1.0]]
    """
    frames = []
    for row, system in enumerate(systems):
        run = runs.runs[system]
        ranking, top = run.whole_ranking.cut(depth), run.view(depth)
        queries, ranks = ranking.queries, within_query(ranking.offsets)
        grades = np.full((len(runs.qids), depth), -1.0)
        grades[top.queries, top.ranks - 1] = np.maximum(top.grades, -1)
        docnos, grades = run.docnos(ranking).to_pylist(), grades[queries, ranks]
        frames.append(
            pd.DataFrame(
                {"row": row, "query": queries, "rank": ranks, "docno": docnos, "grade": grades}
            )
        )
    return pd.concat(frames, ignore_index=True)


def digests(runs: Evaluation) -> tuple[str, list[str]]:
    """Digests (BLAKE2b, 128 bits) of the input.

    Of the ids and grades of the judgements as they were read, and of each run's query ids, document
    ids and scores in their order.
    """
    qrels, tables = runs.judgements, [run.table for run in runs.runs]
    return (
        digest_of([qrels.qid_text, qrels.offsets, qrels.docnos, qrels.grades]),
        [digest_of([of.qid, of.docno, of.value]) for of in tables],
    )


def merged_labels(runs: Evaluation) -> dict[str, int]:
    """The number of labels that are merged with the judgements, by their source."""
    merged = runs.source.merged if isinstance(runs.source, Qrels) else None
    labels = Counter([] if merged is None else merged["source"].astype(str))
    del labels[OFFICIAL]
    return dict(sorted(labels.items()))
