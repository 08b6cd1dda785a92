"""The first documents of every system for every query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..evaluation.judged_runs import JudgedRuns

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TopDocuments:
    """The top D of some systems for Q queries.

    Attributes:
        systems: the systems, T of them.
        docnos: the documents that occur.
        documents: which of them is at each rank, -1 beyond the end, shape (T, Q, D).
        state: 2 for a relevant document, 1 for one judged not relevant, 0 for an unjudged one,
            shape (T, Q, D).
    """

    systems: Ints
    docnos: list[str]
    documents: Ints
    state: Ints

    @classmethod
    def of(
        cls, runs: JudgedRuns, systems: Ints, *, rel: float, depth: int = 10
    ) -> TopDocuments:
        """Those of some of the runs.

        >>> runs = JudgedRuns.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"d": 1}})
        >>> tops = TopDocuments.of(runs, np.array([0]), rel=1, depth=3)
        >>> tops.docnos, tops.documents.tolist(), tops.state.tolist()
        (['x', 'd'], [[[0, 1, -1]]], [[[0, 2, 0]]])
        """
        shape = (len(systems), len(runs.qids), depth)
        documents, state = np.full(shape, -1), np.zeros(shape, dtype=np.int64)
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
            state[row, top.queries, top.ranks - 1] = (top.grades >= 0) * (1 + (top.grades >= rel))
        codes = pa.chunked_array(names, pa.large_string()).combine_chunks().dictionary_encode()
        documents.ravel()[np.concatenate(cells)] = codes.indices.to_numpy()
        return cls(systems, codes.dictionary.to_pylist(), documents, state)
