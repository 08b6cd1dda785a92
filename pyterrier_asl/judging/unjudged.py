"""Runs whose unjudged documents are judgements of grade -1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..common.types import Ints
from ..io.values import arrow_numbers, take
from ..scoring.arrays import order_by_query, queries_of, within_query
from .judged_run import JudgedRun
from .pair_index import Hashes, codes, hashes_of, of_groups
from .remembered import remembered

#: The best rank of a document that no run retrieved.
_NEVER = np.iinfo(np.int64).max


class Unjudged:
    """S judged runs, in which every retrieved document is an entry, the unjudged ones too.

    Documents without a judgement or with a negative grade are unjudged. In the judgements of these
    runs, J judgements, unjudged documents have a negative grade.

    Attributes:
        runs: the runs, cut at the depth.
        judgements: their judgements.

    Args:
        runs: runs, judged by the same judgements, with all their rows.
        depth: the depth of rankings to look at; None: all.
        keep_rows: whether the runs keep their rows.

    Documents are compared by hashes of their ids: two different documents of a query count as the
    same with a probability of 2^-64.

    >>> from pyterrier_asl.judging.matching import judge
    >>> from pyterrier_asl.judging.judgements import Judgements
    >>> judgements = Judgements({"q": {"a": 1}})
    >>> runs = [{"q": {"a": 3, "x": 2, "y": 1}}, {"q": {"y": 3, "a": 2}}]
    >>> unjudged = Unjudged([judge(judgements, run) for run in runs])
    >>> unjudged.judgements.docnos.to_pylist(), unjudged.best(range(2)).tolist()
    (['a', 'x', 'y'], [1, 2, 1])
    """

    def __init__(
        self, runs: Iterable[JudgedRun], depth: int | None = None, *, keep_rows: bool = True
    ) -> None:
        parts: list[JudgedRun] = []
        docnos: list[pa.LargeStringArray] = []
        of_new: list[Ints] = []
        keys: list[Hashes] = []
        end = 0  # of the new documents, which are numbered after the judged ones
        for run in runs:
            view = run.view(depth)
            offsets, rows = view.ranking.offsets, view.ranking.rows
            pairs = np.full(len(rows), -1)
            pairs[offsets[view.queries] + view.ranks - 1] = view.pairs
            new = np.flatnonzero(pairs < 0)
            queries, ranks = queries_of(offsets), within_query(offsets) + 1
            docnos.append(take(run.table.docno, rows[new]))
            of_new.append(queries[new])
            keys.append(of_groups(hashes_of(docnos[-1]), of_new[-1]))
            pairs[new] = len(run.judgements.grades) + end + np.arange(len(new))
            end += len(new)
            view = view if keep_rows else view.without_rows()
            parts.append(replace(view, queries=queries, ranks=ranks, pairs=pairs))
        queries = np.concatenate(of_new)
        order = order_by_query(queries)  # the cache holds the documents of one query
        numbers, different = codes(arrow_numbers(np.concatenate(keys)[order]))
        first, rows = np.empty(len(different), dtype=np.int64), np.empty_like(order)
        first[numbers[::-1]], rows[order] = order[::-1], numbers
        old = parts[0].judgements
        different = take(pa.concat_arrays(docnos), first)
        self.judgements, places = old.extended(queries[first], different)
        places = np.append(places[: len(old.grades)], places[len(old.grades) + rows])
        self.runs = [
            replace(part, judgements=self.judgements, pairs=places[part.pairs]) for part in parts
        ]

    @remembered
    def best(self, runs: range | frozenset[int]) -> Ints:
        """The best rank of each document in some of the runs, shape (J,).

        It is the largest integer for a document that none of them retrieves.
        """
        best = np.full(len(self.judgements.grades), _NEVER)
        for run in runs:
            ranks, pairs = self.runs[run].ranks, self.runs[run].pairs
            best[pairs] = np.minimum(best[pairs], ranks)
        return best

    def shown(self, depth: int | None) -> Ints:
        """The unjudged documents in the first ``depth`` of some run, as positions, ascending."""
        best, most = self.best(range(len(self.runs))), _NEVER - 1 if depth is None else depth
        return np.flatnonzero((self.judgements.grades < 0) & (best <= most))
