"""Runs whose unjudged documents are judgements of grade -1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..io.values import arrow_numbers, take
from ..scoring.arrays import Ints, queries_of, within_query
from .judged_run import JudgedRun
from .matching import codes, hashes_of, of_groups

#: The best rank of a document that no run retrieved.
_NEVER = np.iinfo(np.int64).max


class Unjudged:
    """S judged runs, in which every retrieved document is an entry, the unjudged ones too.

    Documents without a judgement or with a negative grade are unjudged. In the judgements of these
    runs, J judgements, unjudged documents have a negative grade.

    Attributes:
        runs: the runs, cut at the depth.
        judgements: their judgements.
        best: the best rank of each judged or unjudged document in any run, shape (J,).

    Args:
        runs: runs, judged by the same judgements, with all their rows.
        depth: the depth of rankings to look at; None: all.
        keep_rows: whether the runs keep their rows.

    Documents are compared by hashes of their ids: two different documents of a query count as the
    same with a probability of 2^-64.

    >>> from pyterrier_asl.judging.judged_run import judge
    >>> from pyterrier_asl.judging.judgements import Judgements
    >>> judgements = Judgements({"q": {"a": 1}})
    >>> runs = [{"q": {"a": 3, "x": 2, "y": 1}}, {"q": {"y": 3, "a": 2}}]
    >>> unjudged = Unjudged([judge(judgements, run) for run in runs])
    >>> unjudged.judgements.docnos.to_pylist(), unjudged.best.tolist()
    (['a', 'x', 'y'], [1, 2, 1])
    """

    def __init__(
        self, runs: Iterable[JudgedRun], depth: int | None = None, *, keep_rows: bool = True
    ) -> None:
        parts: list[JudgedRun] = []
        docnos: list[pa.LargeStringArray] = []
        for run in runs:
            view = run.view(depth)
            offsets, rows = view.ranking.offsets, view.ranking.rows
            pairs = np.full(len(rows), -1)
            pairs[offsets[view.queries] + view.ranks - 1] = view.pairs
            docnos.append(take(run.table.docno, rows[pairs < 0]))
            queries, ranks = queries_of(offsets), within_query(offsets) + 1
            kept = view if keep_rows else view.without_rows()
            parts.append(replace(kept, queries=queries, ranks=ranks, pairs=pairs))
        new = pa.concat_arrays(docnos)
        queries = np.concatenate([part.queries[part.pairs < 0] for part in parts])
        numbers, different = codes(arrow_numbers(of_groups(hashes_of(new), queries)))
        first = np.empty(len(different), dtype=np.int64)
        first[numbers[::-1]] = np.arange(len(numbers))[::-1]
        old = parts[0].judgements
        self.judgements, places = old.extended(queries[first], take(new, first))
        self.best = np.full(len(places), _NEVER)
        self.runs = []
        for part in parts:
            is_new = part.pairs < 0
            number = int(is_new.sum())
            part.pairs[is_new] = len(old.grades) + numbers[:number]
            numbers, pairs = numbers[number:], places[part.pairs]
            self.best[pairs] = np.minimum(self.best[pairs], part.ranks)
            self.runs.append(replace(part, judgements=self.judgements, pairs=pairs))

    def shown(self, depth: int | None) -> Ints:
        """The unjudged documents in the first ``depth`` of some run, as positions, ascending."""
        most = _NEVER - 1 if depth is None else depth
        return np.flatnonzero((self.judgements.grades < 0) & (self.best <= most))
