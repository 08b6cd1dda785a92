"""A histogram of search lengths: how far down each system has its relevant documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..evaluation.judged_runs import JudgedRuns
from ..evaluation.relevant_documents import RelevantDocuments

#: The upper ends of the bins: about three to a power of ten.
_ENDS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)


@dataclass(frozen=True)
class LengthHistogram:
    """Relevant documents of S systems by search length.

    Attributes:
        labels: the bins, B of them; the last is of missed documents, which were not retrieved.
        counts: relevant documents in each, shape (S, B).
    """

    labels: list[str]
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, runs: JudgedRuns, *, rel: float, cutoff: int) -> LengthHistogram:
        """That of runs, each to depth ``cutoff``.

        >>> runs = JudgedRuns.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"c": 1, "d": 1}})
        >>> histogram = LengthHistogram.of(runs, rel=1, cutoff=10)
        >>> histogram.labels, histogram.counts.tolist()
        (['1', '2–3', '4–10', 'not retrieved'], [[0, 1, 0, 1]])
        """
        ends = [end for end in _ENDS if end < cutoff] + [cutoff]
        starts = [1] + [end + 1 for end in ends[:-1]]
        labels = [
            f"{start}" if start == end else f"{start}–{end}" for start, end in zip(starts, ends)
        ]
        rows = []
        for run in runs.runs:
            documents = RelevantDocuments.of(run, rel=rel, cutoff=cutoff)
            bins = np.searchsorted(ends, documents.lengths[documents.found])
            counts = np.bincount(bins, minlength=len(ends))
            rows.append([*counts, np.count_nonzero(~documents.found)])
        return cls([*labels, "not retrieved"], np.array(rows, dtype=np.int64))
