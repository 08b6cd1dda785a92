"""How far down each system has its relevant documents: a histogram of search lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..analysis.judged_runs import JudgedRuns
from ..analysis.relevant_documents import RelevantDocuments

Ints = npt.NDArray[np.int64]

#: Where the classes end: about three to a power of ten.
_ENDS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)


@dataclass(frozen=True)
class Lost:
    """Relevant documents of S systems by search length.

    Attributes:
        labels: the classes, B of them; the last is of documents that were not retrieved.
        counts: relevant documents in each, shape (S, B).
    """

    labels: list[str]
    counts: Ints

    @classmethod
    def of(cls, runs: JudgedRuns, *, rel: float, cutoff: int) -> Lost:
        """That of runs, each looked at to ``cutoff``.

        >>> runs = JudgedRuns.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"c": 1, "d": 1}})
        >>> lost = Lost.of(runs, rel=1, cutoff=10)
        >>> lost.labels, lost.counts.tolist()
        (['1', '2–3', '4–10', 'not retrieved'], [[0, 1, 0, 1]])
        """
        ends = [end for end in _ENDS if end < cutoff] + [cutoff]
        starts = [1] + [end + 1 for end in ends[:-1]]
        labels = [
            f"{start:d}" if start == end else f"{start:d}–{end:d}"
            for start, end in zip(starts, ends)
        ]
        rows = []
        for run in runs.runs:
            documents = RelevantDocuments.of(run, rel=rel, cutoff=cutoff)
            where = np.searchsorted(ends, documents.lengths[documents.found])
            counts = np.bincount(where, minlength=len(ends))
            rows.append([*counts.tolist(), int((~documents.found).sum())])
        return cls([*labels, "not retrieved"], np.array(rows, dtype=np.int64))
