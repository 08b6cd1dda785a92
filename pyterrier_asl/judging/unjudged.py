"""The unjudged documents of several runs, with the same numbers in all runs."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..io.threads import map_parts
from ..io.values import arrow_numbers, take
from ..scoring.arrays import (
    Bools,
    Floats,
    Ints,
    cumulate,
    offsets_of,
    order_by_query,
    queries_of,
    ranges_from,
)
from .judged_run import JudgedRun
from .matching import Hashes, codes, hashes_of, of_groups
from .remembered import cached_property


@dataclass(frozen=True)
class Retrieved:
    """Some of the documents that a run retrieved.

    Attributes:
        offsets: the beginning of each query's documents, shape (Q + 1,).
        ranks: their ranks from 1, ascending within a query, shape (U,).
        rows: their rows in the run, shape (U,).
        codes: their numbers among the documents of all compared runs, shape (U,).
    """

    offsets: Ints
    ranks: Ints
    rows: Ints
    codes: Ints

    @cached_property
    def queries(self) -> Ints:
        """The query of each document, shape (U,)."""
        return queries_of(self.offsets)

    def cut(self, cutoff: int | None) -> Retrieved:
        """The documents in the first ``cutoff``."""
        if cutoff is None or not len(self.ranks) or self.ranks.max() <= cutoff:
            return self
        return self.where(self.ranks <= cutoff)

    def where(self, keep: Bools) -> Retrieved:
        """Some of the documents."""
        kept = cumulate(keep)
        return Retrieved(kept[self.offsets], self.ranks[keep], self.rows[keep], self.codes[keep])


class Unjudged:
    """The unjudged documents of S judged runs: D different (query, document) pairs.

    Documents without a judgement or with a negative grade are unjudged.

    Attributes:
        runs: the runs.
        offsets: the beginning of each query's documents, shape (Q + 1,).
        best: the best rank of each document in any run, shape (D,).

    Args:
        runs: runs, judged by the same judgements, with all their rows.
        depth: the depth of rankings to look at; None: all.
        keep_rows: whether the runs keep their rows, which hold the ids of documents.

    Documents are compared by hashes of their ids: two different documents of a query count as the
    same with a probability of 2^-64.

    >>> from pyterrier_asl.judging.judged_run import judge
    >>> from pyterrier_asl.judging.judgements import Judgements
    >>> judgements = Judgements({"q": {"a": 1}})
    >>> runs = [{"q": {"a": 3, "x": 2, "y": 1}}, {"q": {"y": 3, "a": 2}}]
    >>> unjudged = Unjudged([judge(judgements, run) for run in runs])
    >>> unjudged.best.tolist(), [documents.codes.tolist() for documents in unjudged.retrieved]
    ([2, 1], [[0, 1], [1]])
    """

    def __init__(
        self, runs: Iterable[JudgedRun], depth: int | None = None, *, keep_rows: bool = True
    ) -> None:
        self.runs: list[JudgedRun] = []
        shown: list[Retrieved] = []
        hashes: list[Hashes] = []
        for run in runs:
            shown.append(unjudged(run, depth))
            hashes.append(hashes_of(run.table.docno, rows=shown[-1].rows))
            self.runs.append(run if keep_rows else run.without_rows())
        sizes = np.array([np.diff(documents.offsets) for documents in shown])  # (S, Q)
        ranks = np.concatenate([documents.ranks for documents in shown])
        self.offsets, self.best, codes = _number_documents(np.concatenate(hashes), ranks, sizes)
        parts = np.split(codes, np.cumsum(sizes.sum(axis=1))[:-1])  # by run
        self.retrieved = [replace(documents, codes=part) for documents, part in zip(shown, parts)]
        self.is_open = np.ones(len(self.best), dtype=bool)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def queries(self) -> Ints:
        """The query of each document, shape (D,)."""
        return queries_of(self.offsets)

    def shown(self, depth: int | None) -> Ints:
        """The numbers of the documents in the first ``depth`` of some run."""
        return np.flatnonzero(self.is_open & (depth is None or self.best <= depth))

    def labelled(self, codes: Ints, grades: Floats) -> Unjudged:
        """The same runs with some of the documents judged.

        Args:
            codes: the numbers of these documents, each once, shape (L,).
            grades: their grades, 0 or more, shape (L,).
        """
        old = self.runs[0].judgements
        queries = np.concatenate((old.queries, self.queries[codes]))
        order = order_by_query(queries)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        judgements = old.extended(
            order, queries[order], np.concatenate((old.grades, grades)), self.docnos(codes)
        )
        label = np.full(len(self.best), -1, dtype=np.int64)
        label[codes] = place[len(old.queries) :]
        other = copy.copy(self)
        other.is_open = self.is_open.copy()
        other.is_open[codes] = False
        other.runs, other.retrieved = [], []
        for run, documents in zip(self.runs, self.retrieved):
            taken = label[documents.codes] >= 0
            entries = np.concatenate(
                (
                    (run.queries, run.ranks, place[run.pairs]),
                    (
                        documents.queries[taken],
                        documents.ranks[taken],
                        label[documents.codes[taken]],
                    ),
                ),
                axis=1,
            )
            queries, ranks, pairs = entries[:, np.lexsort(entries[1::-1])]
            other.runs.append(
                replace(run, judgements=judgements, queries=queries, ranks=ranks, pairs=pairs)
            )
            other.retrieved.append(documents.where(~taken))
        return other

    def docnos(self, codes: Ints) -> list[str]:
        """The ids of documents."""
        docnos: dict[int, str] = {}
        for run, retrieved in zip(self.runs, self.retrieved):
            places = np.flatnonzero(np.isin(retrieved.codes, codes))
            names = take(run.table.docno, retrieved.rows[places]).to_pylist()
            docnos.update(zip(retrieved.codes[places].tolist(), names))
        return [docnos[code] for code in np.asarray(codes).tolist()]


def unjudged(run: JudgedRun, depth: int | None = None) -> Retrieved:
    """The unjudged documents of one run, numbered 0, 1, 2, ...

    Args:
        run: the run, with all its rows.
        depth: the depth of rankings to look at; None: all.
    """
    ranking = run.whole_ranking.cut(depth)
    sizes = np.diff(ranking.offsets)
    is_unjudged = np.ones(len(ranking), dtype=bool)
    judged = (run.grades >= 0) & (run.ranks <= sizes[run.queries])
    is_unjudged[ranking.offsets[run.queries[judged]] + run.ranks[judged] - 1] = False
    places = np.flatnonzero(is_unjudged)
    offsets = np.searchsorted(places, ranking.offsets)
    ranks = places - np.repeat(ranking.offsets[:-1], np.diff(offsets)) + 1
    return Retrieved(offsets, ranks, ranking.rows[places], np.arange(len(ranks)))


def _number_documents(hashes: Hashes, ranks: Ints, sizes: Ints) -> tuple[Ints, Ints, Ints]:
    """Numbers the different documents of all runs, query by query, in order of appearance.

    Args:
        hashes: the hash of each retrieved document, run by run, query by query, shape (N,).
        ranks: its rank, shape (N,).
        sizes: the number of documents of each run for each query, shape (S, Q).

    Returns:
        The beginning of each query's documents, shape (Q + 1,); the best rank of each document,
        shape (D,); the number of each retrieved document, shape (N,).
    """
    of_run = cumulate(sizes.ravel())[:-1].reshape(sizes.shape)
    blocks = cumulate(sizes.T.ravel())
    rows = ranges_from(of_run.T.ravel(), blocks)  # query by query, run by run
    starts = blocks[:: len(sizes)]
    queries = queries_of(starts)

    def number_part(first: int, last: int) -> tuple[Ints, Ints, Ints]:
        part = slice(starts[first], starts[last])
        numbers, different = codes(arrow_numbers(of_groups(hashes[rows[part]], queries[part])))
        best = np.full(len(different), np.iinfo(np.int64).max)
        np.minimum.at(best, numbers, ranks[rows[part]])
        query_of = np.empty(len(different), dtype=np.int64)
        query_of[numbers] = queries[part]
        return query_of, best, numbers

    parts = list(zip(*map_parts(number_part, starts)))
    query_of, best = (np.concatenate(part) for part in parts[:2])
    before = np.cumsum([0, *map(len, parts[0])])
    numbered = np.empty(len(rows), dtype=np.int64)
    numbered[rows] = np.concatenate([part + first for part, first in zip(parts[2], before)])
    return offsets_of(query_of, sizes.shape[1]), best, numbered
