"""Retrieved documents: depths of the runs, search lengths of relevant documents, top tens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..analysis.best_runs import above_relevant
from ..charts.scales import bin_ends
from ..evaluation.evaluation import Evaluation
from ..evaluation.relevant_documents import relevant_documents
from ..scoring.arrays import Bools, Floats, Ints, queries_of, within_query

#: The least depth at which all systems are compared.
_LEAST = 10


@dataclass(frozen=True)
class RunDepths:
    """The depths of S runs; only the first k documents of a query count.

    Attributes:
        retrieved: documents retrieved for a query, at most k, mean over the queries, shape (S,).
        common: the median depth of the shallowest system over the queries, at least 10.
        unjudged: the unjudged share of the irrelevant documents above relevant documents, which
            may be missed; NaN without irrelevant documents, shape (S,).
    """

    retrieved: Floats
    common: int
    unjudged: Floats

    @classmethod
    def of(cls, runs: Evaluation, *, rel: float, cutoff: int) -> RunDepths:
        """Computes the depths of runs.

        A missed document comes after all retrieved ones, so all irrelevant ones are above it.

        >>> runs = Evaluation.of({"a": {"q": {"x": 3, "d": 2, "y": 1}}}, {"q": {"d": 1, "c": 1}})
        >>> RunDepths.of(runs, rel=1, cutoff=1000)
        RunDepths(retrieved=array([3.]), common=10, unjudged=array([1.]))
        """
        views = [run.view(cutoff) for run in runs.runs]
        retrieved = np.array([view.retrieved for view in views])
        common = max(_LEAST, int(np.median(retrieved, axis=1).min()))
        unjudged = []
        for view in views:
            relevant = view.relevant(rel)
            missed = relevant.total - relevant.found
            part, whole = above_relevant(view, rel)
            part += missed * (view.retrieved - np.diff(view.offsets))
            whole += missed * (view.retrieved - relevant.found)
            unjudged.append(part.sum() / whole.sum() if whole.any() else np.nan)
        return cls(retrieved.mean(axis=1), min(common, cutoff), np.array(unjudged))

    @property
    def short(self) -> Bools:
        """Flags of systems that retrieve less than half as much as the deepest, shape (S,)."""
        return np.asarray(self.retrieved < self.retrieved.max() / 2)

    @property
    def differ(self) -> bool:
        """Whether some system retrieves a tenth less than the deepest."""
        return bool(self.retrieved.min() < 0.9 * self.retrieved.max())


@dataclass(frozen=True)
class LengthHistogram:
    """Relevant documents of S systems by search length.

    Attributes:
        labels: the names of the B bins; the last is for missed documents.
        counts: the number of relevant documents in each bin, shape (S, B).
    """

    labels: list[str]
    counts: Ints

    @classmethod
    def of(cls, runs: Evaluation, *, rel: float, cutoff: int) -> LengthHistogram:
        """Counts the relevant documents of runs, each to depth ``cutoff``, by search length.

        >>> runs = Evaluation.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"c": 1, "d": 1}})
        >>> histogram = LengthHistogram.of(runs, rel=1, cutoff=10)
        >>> histogram.labels, histogram.counts.tolist()
        (['1', '2–3', '4–10', 'not retrieved'], [[0, 1, 0, 1]])
        """
        ends = bin_ends(cutoff)
        starts = [1] + [end + 1 for end in ends[:-1]]
        labels = [
            f"{start}" if start == end else f"{start}–{end}" for start, end in zip(starts, ends)
        ]
        rows = []
        for documents in runs.once(relevant_documents, rel, cutoff, "pad"):
            bins = np.searchsorted(ends, documents.lengths)
            bins = np.where(documents.found, bins, len(ends))
            rows.append(np.bincount(bins, minlength=len(ends) + 1))
        return cls([*labels, "not retrieved"], np.array(rows))


@dataclass(frozen=True)
class TopTens:
    """The top D of some systems for Q queries: P documents, counted per query.

    Attributes:
        systems: the numbers of the T systems.
        queries: the query of each document, ascending, shape (P,).
        docnos: the id of each document.
        grades: the grade of each document, -1 for unjudged, shape (P,).
        documents: the number of the document at each rank, -1 after the end, shape (T, Q, D).
    """

    systems: Ints
    queries: Ints
    docnos: list[str]
    grades: Floats
    documents: Ints

    @classmethod
    def of(cls, runs: Evaluation, order: Ints, *, depth: int = 10, most: int = 200_000) -> TopTens:
        """Collects the first documents of the best runs.

        Args:
            runs: all runs.
            order: the numbers of the systems, the best first.
            depth: the number of documents per query.
            most: the number of documents above which only the best systems are included, at least
                two.

        >>> runs = Evaluation.of({"a": {"q": {"x": 2, "d": 1}}}, {"q": {"d": 1}})
        >>> tops = TopTens.of(runs, np.array([0]), depth=3)
        >>> tops.docnos, tops.grades.tolist(), tops.documents.tolist()
        (['x', 'd'], [-1.0, 1.0], [[[0, 1, -1]]])
        """
        systems = np.sort(order[: max(2, most // (depth * max(len(runs.qids), 1)))])
        shape = (len(systems), len(runs.qids), depth)
        documents, grades = np.full(shape, -1), np.full(shape, -1.0)
        names, cells = [], []
        for row, system in enumerate(systems):
            run = runs.runs[system]
            ranking = run.whole_ranking.cut(depth)
            queries, ranks = queries_of(ranking.offsets), within_query(ranking.offsets)
            names.append(run.docnos(ranking))
            cells.append(np.ravel_multi_index((row, queries, ranks), shape))
            top = run.view(depth)
            grades[row, top.queries, top.ranks - 1] = np.maximum(top.grades, -1)
        codes = pa.chunked_array(names, pa.large_string()).combine_chunks().dictionary_encode()
        ids, cell = codes.dictionary, np.concatenate(cells)
        keys, first, documents.ravel()[cell] = np.unique(
            cell // depth % len(runs.qids) * len(ids) + codes.indices.to_numpy(),
            return_index=True,
            return_inverse=True,
        )
        queries, wanted = np.divmod(keys, len(ids))
        return cls(
            systems, queries, ids.take(wanted).to_pylist(), grades.ravel()[cell][first], documents
        )
