"""Two runs matched with the same qrels, and the first documents of each, numbered together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ...io.kernels import pc
from ...io.values import numpy_numbers, take
from ...judging.judged_run import JudgedRun
from ...judging.judgements import Judgements
from ...judging.matching import codes, positions
from ...judging.remembered import cached_property
from ...scoring.arrays import Bools, Ints, queries_of, within_query
from .forms import forms_of

#: How many documents per run are looked at, and how many per query at least and at most.
_ROWS, _LEAST, _MOST = 5_000, 10, 50


@dataclass(frozen=True)
class Ids:
    """The different ids of the documents that are looked at.

    Attributes:
        texts: the ids, N of them.
        of_qrels: ids of judged documents, evenly chosen, M of them.
    """

    texts: pa.LargeStringArray
    of_qrels: pa.LargeStringArray

    def of(self, docs: Ints) -> list[str]:
        """The ids of documents."""
        ids: list[str] = take(self.texts, docs).to_pylist()
        return ids

    @cached_property
    def forms(self) -> Ints:
        """The number of the form of each id, and of each one of the qrels, shape (N + M,)."""
        return codes(forms_of(pa.concat_arrays([self.texts, self.of_qrels])))[0]

    @cached_property
    def orders(self) -> list[Ints]:
        """The documents in the order of their ids, and in that of ids as numbers."""
        by_text = numpy_numbers(pc.sort_indices(self.texts)).astype(np.int64)
        lengths = numpy_numbers(pc.binary_length(self.texts))
        return [by_text, by_text[np.argsort(lengths[by_text], kind="stable")]]


@dataclass(frozen=True)
class Top:
    """The first documents of a run for each query, N of them.

    Attributes:
        name: ``'A'`` or ``'B'``.
        run: the run.
        queries: the query of each document, ascending, shape (N,).
        ranks: its rank from 1, shape (N,).
        docs: its number in :attr:`Pair.ids`, shape (N,).
        judged: whether it is judged for this query, shape (N,).
    """

    name: str
    run: JudgedRun
    queries: Ints
    ranks: Ints
    docs: Ints
    judged: Bools


@dataclass(frozen=True)
class Pair:
    """A run, and the other one that it is compared with.

    Attributes:
        a: the first documents of the other run, at first the baseline A.
        b: those of the run that is looked at, at first B.
        ids: the ids of both.
    """

    a: Top
    b: Top
    ids: Ids

    @classmethod
    def of(cls, a: JudgedRun, b: JudgedRun) -> Pair:
        """Numbers the first documents of two runs together."""
        judgements = a.judgements
        depth = int(np.clip(_ROWS // max(1, len(judgements)), _LEAST, _MOST))
        rankings = [run.whole_ranking.cut(depth) for run in (a, b)]
        docs, ids = codes(pa.concat_arrays([run.docnos(k) for run, k in zip((a, b), rankings)]))
        parts = np.split(docs, [len(rankings[0])])
        tops = []
        for name, run, ranking, part in zip("AB", (a, b), rankings, parts):
            judged = np.zeros(len(part), dtype=bool)
            shown = (run.ranks <= depth) & (run.grades >= 0)
            judged[ranking.offsets[run.queries[shown]] + run.ranks[shown] - 1] = True
            ranks = within_query(ranking.offsets) + 1
            tops.append(Top(name, run, queries_of(ranking.offsets), ranks, part, judged))
        of_qrels = judgements.docnos[:: 1 + len(judgements.docnos) // _ROWS]
        return cls(tops[0], tops[1], Ids(ids, of_qrels))

    @property
    def judgements(self) -> Judgements:
        """The qrels of both."""
        return self.a.run.judgements

    @property
    def labelled(self) -> tuple[Ints, Ints]:
        """Query and document of the labels of documents that are looked at."""
        docs = positions(self.judgements.docnos, self.ids.texts)
        return self.judgements.queries[docs >= 0], docs[docs >= 0]

    @cached_property
    def swapped(self) -> Pair:
        """The same pair, where the other run is looked at."""
        return replace(self, a=self.b, b=self.a)

    @cached_property
    def answered(self) -> Bools:
        """The queries that both answer, shape (Q,)."""
        return (self.a.run.retrieved > 0) & (self.b.run.retrieved > 0)

    @cached_property
    def only(self) -> Bools:
        """Which first documents of the run are not among the other's for their query."""
        size = len(self.ids.texts)
        a, b = (top.queries * size + top.docs for top in (self.a, self.b))
        return np.isin(b, a, invert=True)

    @cached_property
    def itself(self) -> Bools:
        """Which first documents of the run are the query itself."""
        query = positions(self.ids.texts, self.judgements.qid_text)
        return np.asarray(query[self.b.docs] == self.b.queries)

    @cached_property
    def unknown(self) -> Bools:
        """Which first documents neither the other run nor the qrels have for their query."""
        return self.only & ~self.b.judged & ~self.itself
