"""Two runs matched with the same qrels, and the first documents of each, numbered together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ...io.values import numpy_numbers, pc, take
from ...judging.judged_run import JudgedRun
from ...judging.judgements import Judgements
from ...judging.matching import codes, positions
from ...judging.remembered import cached_property
from ...scoring.arrays import Bools, Ints, queries_of, within_query

#: The number of first documents per run, and their least and greatest number per query.
_ROWS, _LEAST, _MOST = 5_000, 10, 50
#: The number of ids of the qrels whose form is looked at.
_QRELS_IDS = 2_000

#: The class of each byte of an id: digit (9), capital (A), other letter (a), or the byte.
_CLASS = np.arange(256, dtype=np.uint8)
_CLASS[ord("0") : ord("9") + 1] = ord("9")
_CLASS[ord("A") : ord("Z") + 1] = ord("A")
_CLASS[ord("a") : ord("z") + 1] = _CLASS[128:] = ord("a")


def forms_of(ids: pa.LargeStringArray) -> pa.LargeStringArray:
    """The form of each id: its groups of digits and letters, each as one character.

    >>> forms_of(pa.array(["FT911-1", "v2-77", "7"], pa.large_string())).to_pylist()
    ['A9-9', 'a9-9', '9']
    """
    ids = pa.concat_arrays([ids])  # without an offset
    ends = np.frombuffer(ids.buffers()[1], np.int64, len(ids) + 1)
    kinds = _CLASS[np.frombuffer(ids.buffers()[2] or b"", np.uint8)[: ends[-1]]]
    begins = np.concatenate(([0], kinds))[:-1] != kinds
    begins[ends[:-1][ends[:-1] < len(kinds)]] = True
    ends = np.concatenate(([0], np.cumsum(begins)))[ends]
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(kinds[begins].tobytes())]
    return pa.Array.from_buffers(pa.large_string(), len(ids), buffers)


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
        only: whether it is not among the other run's first documents for this query, shape (N,).
        itself: whether it is the query itself, shape (N,).
    """

    name: str
    run: JudgedRun
    queries: Ints
    ranks: Ints
    docs: Ints
    judged: Bools
    only: Bools
    itself: Bools

    @cached_property
    def unknown(self) -> Bools:
        """Which documents neither the other run nor the qrels have for their query."""
        return self.only & ~self.judged & ~self.itself


@dataclass(frozen=True)
class Pair:
    """A run, and the other run that it is compared with.

    Attributes:
        a: the first documents of the other run.
        b: the first documents of this run.
        ids: the different ids of these documents, D of them.
        forms: the number of the form of each of these ids, then of M other ids of the qrels, shape
            (D + M,).
        labels: query and document of evenly chosen labels; documents are numbers below D + M.
        orders: the documents in the order of their ids, and in that of ids as numbers.
    """

    a: Top
    b: Top
    ids: pa.LargeStringArray
    forms: Ints
    labels: tuple[Ints, Ints]
    orders: tuple[Ints, Ints]

    @classmethod
    def of(cls, a: JudgedRun, b: JudgedRun) -> Pair:
        """Numbers the first documents of two runs together."""
        judgements, tops = a.judgements, []
        depth = int(np.clip(_ROWS // max(1, len(judgements)), _LEAST, _MOST))
        rankings = [run.whole_ranking.cut(depth) for run in (a, b)]
        queries = np.concatenate([queries_of(ranking.offsets) for ranking in rankings])
        begin = len(rankings[0])
        docnos = [run.docnos(ranking) for run, ranking in zip((a, b), rankings)]
        chosen = slice(None, None, 1 + len(judgements.docnos) // _QRELS_IDS)
        docs, ids = codes(pa.concat_arrays([*docnos, judgements.docnos[chosen]]))
        forms, (docs, of_qrels) = codes(forms_of(ids))[0], np.split(docs, [len(queries)])
        labels = judgements.queries[chosen], of_qrels
        ids = ids[: docs.max(initial=-1) + 1]
        keys = [pa.array(part) for part in np.split(queries * len(ids) + docs, [begin])]
        only = [positions(keys[i], keys[1 - i]) < 0 for i in range(2)]
        itself = positions(ids, judgements.qid_text)[docs] == queries
        parts = zip(*(np.split(part, [begin]) for part in (queries, docs, itself)))
        for name, run, ranking, (query, doc, own), new in zip("AB", (a, b), rankings, parts, only):
            judged = np.zeros(len(doc), dtype=bool)
            shown = (run.ranks <= depth) & (run.grades >= 0)
            judged[ranking.offsets[run.queries[shown]] + run.ranks[shown] - 1] = True
            ranks = within_query(ranking.offsets) + 1
            tops.append(Top(name, run, query, ranks, doc, judged, new, own))
        by_text = numpy_numbers(pc.sort_indices(ids)).astype(np.int64)
        lengths = numpy_numbers(pc.binary_length(ids))[by_text]
        orders = by_text, by_text[np.argsort(lengths, kind="stable")]
        return cls(tops[0], tops[1], ids, forms, labels, orders)

    @property
    def judgements(self) -> Judgements:
        """The qrels of both."""
        return self.a.run.judgements

    @property
    def qids(self) -> list[Any]:
        """The ids of the queries."""
        return self.judgements.qids

    def docnos(self, docs: Ints) -> list[str]:
        """Ids by document number."""
        docnos: list[str] = take(self.ids, docs).to_pylist()
        return docnos

    @property
    def swapped(self) -> Pair:
        """The same pair with the runs exchanged."""
        return replace(self, a=self.b, b=self.a)

    @property
    def answered(self) -> Bools:
        """The queries that both answer, shape (Q,)."""
        return (self.a.run.retrieved > 0) & (self.b.run.retrieved > 0)

    @property
    def labelled(self) -> tuple[Ints, Ints]:
        """Query and document of all labels of the first documents, for any query."""
        docs = positions(self.judgements.docnos, self.ids)
        return self.judgements.queries[docs >= 0], docs[docs >= 0]
