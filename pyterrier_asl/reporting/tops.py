"""The first documents of every system for every query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..evaluation.judged_runs import JudgedRuns

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TopTens:
    """The top D of some systems for Q queries: P different documents of a query.

    Attributes:
        systems: the systems, T of them.
        queries: the query of each document, ascending, shape (P,).
        docnos: its id.
        grades: its grade, -1 where it is unjudged, shape (P,).
        documents: which of them is at each rank, -1 beyond the end, shape (T, Q, D).
    """

    systems: Ints
    queries: Ints
    docnos: list[str]
    grades: Floats
    documents: Ints

    @classmethod
    def of(cls, runs: JudgedRuns, systems: Ints, *, depth: int = 10) -> TopTens:
        """Those of some of the runs.

        >>> runs = JudgedRuns.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"d": 1}})
        >>> tops = TopTens.of(runs, np.array([0]), depth=3)
        >>> tops.docnos, tops.grades.tolist(), tops.documents.tolist()
        (['x', 'd'], [-1.0, 1.0], [[[0, 1, -1]]])
        """
        shape = (len(systems), len(runs.qids), depth)
        documents, grades = np.full(shape, -1), np.full(shape, -1.0)
        names, cells = [], []
        for row, system in enumerate(systems):
            run = runs.runs[system]
            ranking = run.whole_ranking.cut(depth)
            sizes = np.diff(ranking.offsets)
            queries = np.repeat(np.arange(len(sizes)), sizes)
            ranks = np.arange(len(queries)) - ranking.offsets[queries]
            names.append(run.docnos(ranking))
            cells.append(np.ravel_multi_index((row, queries, ranks), shape))
            top = run.view(depth)
            grades[row, top.queries, top.ranks - 1] = np.maximum(top.grades, -1)
        codes = pa.chunked_array(names, pa.large_string()).combine_chunks().dictionary_encode()
        ids, cell = codes.dictionary, np.concatenate(cells)
        keys, first, documents.ravel()[cell] = np.unique(
            cell // depth % len(runs.qids) * max(len(ids), 1) + codes.indices.to_numpy(),
            return_index=True, return_inverse=True,
        )  # fmt: skip
        queries, wanted = np.divmod(keys, max(len(ids), 1))
        return cls(systems, queries, ids.take(wanted).to_pylist(), grades.ravel()[cell][first],
                   documents)  # fmt: skip
