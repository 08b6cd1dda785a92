"""Comparison of runs under all labels of unjudged documents; the documents to judge next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd

from ..charts.drawing import CROWDED, alt, captioned, figure, inline_rows, ranges, square, tooltips
from ..common.notices import counted
from ..common.parameters import check_name, check_names, check_probability
from ..common.types import Bools, Floats, Ints
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.facts import only_relevant
from ..evaluation.labellings import Labelled, check_cutoff, unjudged_of
from ..evaluation.sources import QrelsLike, complete_measures, on_grades
from ..io.values import take
from ..measures.parsing import Measures, one_measure
from ..printing.printed import Part, Printed
from ..scoring.pair_bounds import lexicographic_verdicts
from .pairs import (
    OPEN,
    SETTLED_A,
    SETTLED_B,
    SETTLED_EQUAL,
    Difference,
    changes_of_difference,
    difference_of,
)

#: The charts of a comparison, the usual one of two runs last.
KINDS = ("pairs", "queries")

_VERDICTS = {SETTLED_A: 1.0, SETTLED_B: -1.0, SETTLED_EQUAL: 0.0}


def holes(
    runs: Runs,
    qrels: QrelsLike,
    measure: Measures,
    *,
    rel: float | None = None,
    depth: int | None = None,
    highest: float | None = None,
    alpha: float = 0.05,
) -> Holes:
    """Compares runs, with the bounds over all labels of unjudged documents.

    Unjudged documents count as not relevant. The bounds are the least and the greatest mean
    difference over all *labellings* of V, the unjudged documents in the top k of these runs. A pair
    is *settled* where all labellings agree on the better run, else *open*. Open does not mean
    doubtful: some labelling, perhaps an unlikely one, reverses the result. The bounds hold for
    these queries and only for documents that one of the runs retrieves.

    Two runs get a second verdict, on a paired t-test: it is significant under every labelling
    (*certain*), under none (*impossible*), or that depends on the labels (*possible*). All pairs of
    three or more runs are not tested: see ``ranks(..., unjudged=True)``.

    Args:
        runs: dict of name -> run, a folder of run files, a list of files; two runs or more.
        qrels: data frame, file, ir_datasets id, dict of dicts, :class:`~pyterrier_asl.Qrels`.
        measure: one that has bounds (see :func:`~pyterrier_asl.bounds`), or its name.
        rel: the least grade of a relevant document, for a measure without one.
        depth: rank down to which documents count as retrieved, if it is below the cut-off.
        highest: the highest grade of a label in nDCG; None: the highest grade of the qrels.
        alpha: the level of significance.

    Returns:
        The differences, their bounds, the verdicts, and the documents to judge next.

    Raises:
        ValueError: for a measure without bounds, a depth that is not a whole number from 0 on, a
            level that is not a probability, or a single run; for AP or AP_Rareness without a
            cut-off, which take seconds per pair, of three runs or more.

    >>> runs = {"a": {"q": {"d": 2, "x": 1}}, "b": {"q": {"y": 2, "d": 1}}}
    >>> found = holes(runs, {"q": {"d": 1, "n": 0}}, "RR")
    >>> found.difference.verdict, found.difference.low, found.todo["docno"].tolist()
    ('open', -0.5, ['y', 'x'])
    """
    check_probability("alpha", alpha)
    judged = Evaluation.of(runs, qrels)
    if len(judged) < 2:
        raise ValueError(f"there is only the run {judged.names[0]!r}: compare two at least")
    [named] = complete_measures([one_measure(measure)], rel=rel)
    if len(judged) > 2:
        check_cutoff(named.measure, named.name)
    [measured] = judged.with_pool({named.name: named.measure}).values()
    unjudged = unjudged_of(judged.runs, [measured], depth)
    labelled = Labelled(unjudged, measured, name=named.name, depth=depth, highest=highest)
    facts = judged.facts({labelled.name: measured})
    grades = on_grades(judged.judgements, {named.name: measured})
    return Holes(judged, labelled, alpha, [*grades, *facts.notes], facts.doubts)


@dataclass(frozen=True, repr=False, eq=False)
class Holes(Printed):
    """The comparison of runs, with the bounds over all labels of unjudged documents.

    Attributes:
        runs: the runs with their names.
        labelled: the same with the labellings of the measure.
        alpha: the level of significance.
        notes: sentences on what must be known of the runs and the qrels.
        doubts: a sentence on the runs with which no comparison can be trusted, if there are any.
    """

    runs: Evaluation
    labelled: Labelled
    alpha: float = 0.05
    notes: Sequence[str] = ()
    doubts: Sequence[str] = ()

    @property
    def are_two(self) -> bool:
        """Whether there are two runs: they are tested, and have a difference by query."""
        return len(self.runs) == 2

    @cached_property
    def difference(self) -> Difference:
        """The difference of two runs, its bounds and verdicts.

        Raises:
            ValueError: for three runs or more.
        """
        if not self.are_two:
            raise ValueError(
                f"{len(self.runs)} runs have {len(self.table)} differences: name two by pair()"
            )
        return difference_of(self.runs, self.labelled, 0, 1, alpha=self.alpha)

    def pair(self, a: str, b: str) -> Difference:
        """The difference of two of the runs, over all labels of documents of all the runs."""
        check_names("pair", (a, b), self.runs.names, "runs")
        return difference_of(
            self.runs, self.labelled, self.runs.row(a), self.runs.row(b), alpha=self.alpha
        )

    @property
    def verdict(self) -> str:
        """Of two runs ``'A'``, ``'B'``, ``'equal'`` or ``'open'``."""
        return self.difference.verdict

    @property
    def is_open(self) -> bool:
        """Whether labellings disagree on the better run of some pair."""
        return bool(self._open_pairs)

    @cached_property
    def _rows(self) -> list[tuple[int, int, dict[str, Any]]]:
        """The numbers of two runs and their verdict, for each pair, open pairs first."""
        if self.are_two:
            unjudged = int(self.difference.by_query["unjudged"].sum())
            return [(0, 1, {**self.difference.row(), "unjudged": unjudged})]
        rows = [
            (a, b, difference_of(self.runs, self.labelled, a, b, alpha=None).row())
            for a, b in combinations(range(len(self.runs)), 2)
        ]
        return sorted(rows, key=lambda row: row[2]["verdict"] != OPEN)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The verdicts, a row per pair, open pairs first.

        Columns: ``a``, ``b``, ``difference`` (B - A), ``low``, ``high``, ``verdict``. Two runs have
        ``measure``, ``exact``, ``significance`` and ``unjudged``, the number of unjudged documents,
        too.
        """
        columns = None if self.are_two else ["a", "b", "difference", "low", "high", "verdict"]
        return pd.DataFrame([row for _, _, row in self._rows], columns=columns)

    def counts(self) -> dict[str, int]:
        """The numbers of pairs that are settled, equal, and open."""
        verdicts = self.table["verdict"]
        return {
            "pairs": len(verdicts),
            "settled": int(verdicts.isin([SETTLED_A, SETTLED_B]).sum()),
            "equal": int((verdicts == SETTLED_EQUAL).sum()),
            "open": int((verdicts == OPEN).sum()),
        }

    @property
    def todo(self) -> pd.DataFrame:
        """The documents to judge next, in this order.

        Of two runs first the documents whose relevance helps the run that is worse now, then the
        others, by the change of the mean difference if only this document is relevant. Of more runs
        the documents by the sum of these changes, without signs, over open pairs: first over the
        pairs of :attr:`contenders`, then the other documents over all open pairs; no document if no
        pair is open. None if the qrels list relevant documents only. Ties by best rank, qid and
        docno. Columns: ``qid``, ``docno``, ``weight`` (the change of B - A, or this sum),
        ``rank_a`` and ``rank_b``, or ``rank`` (the best rank in the runs of these pairs) and
        ``contenders`` (whether it is one of the first), and ``runs``, the number of runs that
        retrieve it.
        """
        return self.describe_documents(self.order)

    @property
    def _open_pairs(self) -> list[tuple[int, int]]:
        return [(a, b) for a, b, row in self._rows if row["verdict"] == OPEN]

    @cached_property
    def contenders(self) -> list[str]:
        """The runs that no other run is certain to beat."""
        beaten = {b for _, b, row in self._rows if row["verdict"] == SETTLED_A}
        beaten |= {a for a, _, row in self._rows if row["verdict"] == SETTLED_B}
        return [name for row, name in enumerate(self.runs.names) if row not in beaten]

    @cached_property
    def _pairs_of_contenders(self) -> list[tuple[int, int]]:
        """The open pairs of two contenders."""
        contenders = {self.runs.row(name) for name in self.contenders}
        return [pair for pair in self._open_pairs if contenders.issuperset(pair)]

    @cached_property
    def _sums(self) -> Floats:
        """The changes of open pairs, without signs, added up over the pairs of contenders and over
        all, shape (2, V)."""
        sums, first = np.zeros((2, len(self.labelled.documents))), {*self._pairs_of_contenders}
        for pair, change in zip(
            self._open_pairs, changes_of_difference(self.labelled, self._open_pairs)
        ):
            sums[0 if pair in first else 1] += np.abs(change)
        return np.cumsum(sums, axis=0).round(12)

    @property
    def _is_first(self) -> Bools:
        """Whether each document can change a difference of contenders, shape (V,)."""
        return np.asarray(self._sums[0] > 0)

    @cached_property
    def _weights(self) -> Floats:
        """The weight of each document, shape (V,); see :attr:`todo`."""
        if self.are_two:
            return next(changes_of_difference(self.labelled, [(0, 1)]))
        return np.asarray(np.where(self._is_first, self._sums[0], self._sums[1]))

    @cached_property
    def _best(self) -> Ints:
        """The best rank of each document in two runs, or in the runs of its open pairs."""
        if self.are_two:
            return self.labelled.unjudged.best(range(2))
        of_contenders, of_all = (
            self.labelled.unjudged.best(frozenset(chain.from_iterable(pairs)) or range(2))
            for pairs in (self._pairs_of_contenders, self._open_pairs)
        )
        first = self.labelled.documents[self._is_first]
        of_all[first] = of_contenders[first]
        return of_all

    @cached_property
    def order(self) -> Ints:
        """The documents to judge next, in this order, as positions in the judgements."""
        documents, judgements = self.labelled.documents, self.labelled.judgements
        is_settled = not self.are_two and not self._open_pairs
        if is_settled or only_relevant(judgements, {self.labelled.name: self.labelled.measure}):
            return documents[:0]
        # Of two runs a positive weight helps B.
        first = self._weights * self.difference.difference < 0 if self.are_two else self._is_first
        docnos = take(judgements.docnos, documents).to_pandas().rank(method="first")
        qids = judgements.qid_text.to_pandas().rank(method="first").to_numpy()
        ties = docnos, qids[judgements.queries[documents]], self._best[documents]
        return documents[np.lexsort((*ties, -np.abs(self._weights).round(12), ~first))]

    def describe_documents(self, documents: Ints) -> pd.DataFrame:
        """Some of the documents of :attr:`order` as a frame (see :attr:`todo`)."""
        judgements, runs = self.labelled.judgements, self.labelled.unjudged.runs
        of_runs = [pd.Series(run.ranks, run.pairs).reindex(documents) for run in runs]
        if self.are_two:
            ranks = dict(zip(("rank_a", "rank_b"), of_runs))
        else:
            best = pd.Series(self._best[documents], documents)
            ranks = {"rank": best.mask(best == np.iinfo(np.int64).max)}
        frame = pd.DataFrame(
            {
                "qid": [self.runs.qids[query] for query in judgements.queries[documents]],
                "docno": take(judgements.docnos, documents).to_pylist(),
                "weight": pd.Series(self._weights, self.labelled.documents)[documents].to_numpy(),
                **{name: column.astype("Int64").array for name, column in ranks.items()},
                "runs": sum(column.notna().to_numpy(dtype=np.int64) for column in of_runs),
            }
        )
        if not self.are_two:
            frame["contenders"] = np.isin(documents, self.labelled.documents[self._is_first])
        return frame

    @property
    def preferences(self) -> pd.DataFrame:
        """Of two runs the verdicts of sgnLP that labellings give.

        Columns: ``qid``, ``a_wins``, ``tie``, ``b_wins``.
        """
        verdicts = lexicographic_verdicts(self.difference.documents)
        frame = pd.DataFrame(verdicts, columns=["a_wins", "tie", "b_wins"])
        frame.insert(0, "qid", self.runs.qids)
        return frame

    def describe(self) -> str:
        """The answer in a line: of two runs difference, bounds and verdicts, else the counts."""
        if self.are_two:
            return self.difference.describe()
        pairs, settled, equal, open_pairs = self.counts().values()
        return (
            f"{self.labelled.name}: {open_pairs:,} open of {counted(pairs, 'pair')} of runs, "
            f"{settled:,} settled, {equal:,} equal."
        )

    def sentences(self) -> list[str]:
        """The answer in a line, and what open means, if a pair of many runs is."""
        legend = "Open: some labels of the unjudged documents make the other run better."
        answer = [*self.doubts, self.describe()]
        if self.are_two or not self.is_open:
            return answer
        return [*answer, legend, *self._what_to_judge_first()]

    def _what_to_judge_first(self) -> list[str]:
        """How many documents and open pairs of contenders there are, if documents are listed."""
        if not len(self.order):
            return []
        pairs = len(self._pairs_of_contenders)
        runs = f"{counted(len(self.contenders), 'run')} that no other run is certain to beat"
        if not pairs:
            return [f"No open pair is one of contenders ({runs})."]
        documents = counted(int(self._is_first.sum()), "document")
        open_pairs = counted(pairs, "open pair")
        return [f"Judge first: {documents} of {open_pairs} of contenders ({runs})."]

    def parts(self) -> list[Part]:
        """The answer, and the table."""
        shown = self.table.drop(columns=["measure", "exact"], errors="ignore")
        notes = ["", *self.notes] if self.notes else []
        return [*map(Part, self.sentences()), Part(table=shown), *map(Part, notes)]

    def matrix(self) -> pd.DataFrame:
        """The verdict on each run (rows) and other run: 1 better, -1 worse, 0 equal, NaN open."""
        names = self.runs.names
        values = np.full((len(names),) * 2, np.nan)
        np.fill_diagonal(values, 0.0)
        for a, b, row in self._rows:
            values[a, b] = _VERDICTS.get(row["verdict"], np.nan)
            values[b, a] = -values[a, b]
        return pd.DataFrame(values, index=pd.Index(names, name="name"), columns=names)

    def chart(self, kind: str | None = None) -> Any:
        """The verdicts or the bounds as a chart.

        Args:
            kind: ``'queries'``: the difference of two runs on each query with its bounds;
                ``'pairs'``: the verdicts on all pairs. None: for two runs the first.
        """
        check_name("kind", kind, [None, *KINDS])
        kind = kind or KINDS[self.are_two]
        return self._chart_of_queries() if kind == "queries" else self._chart_of_pairs()

    def _chart_of_queries(self) -> Any:
        """The difference of each query with its bounds, the widest first."""
        by_query = self.difference.by_query
        order = np.argsort(by_query["low"] - by_query["high"], kind="stable")
        base = alt.Chart(inline_rows(by_query.iloc[order].astype({"qid": str}))).encode(
            y=alt.Y("qid:N", sort=None, title=None),
            tooltip=tooltips(
                "qid:N", "a:Q", "b:Q", "difference:Q", "low:Q", "high:Q", "unjudged:Q"
            ),
        )
        axis = f"{self.difference.b} - {self.difference.a}, {self.difference.measure}"
        caption = (
            f"{counted(len(by_query), 'query', 'queries')}. Line: from the least to the greatest "
            "difference over all labels of the unjudged documents. Dot: all of them irrelevant. "
            "First: the widest line."
        )
        bars = ranges(base, "low", "difference", "high", axis)
        return figure(bars, "What unjudged documents could change", caption, rows=CROWDED)

    def _chart_of_pairs(self) -> Any:
        """The matrix, runs by the number of runs that they are certain to beat."""
        matrix = self.matrix()
        order = matrix.gt(0).sum(axis=1).sort_values(ascending=False, kind="stable").index.tolist()
        cells = matrix.reset_index(names="run").melt("run", var_name="other", value_name="verdict")
        cells["verdict"] = cells["verdict"].map(
            {1.0: "better", -1.0: "worse", 0.0: "equal", np.nan: "open"}
        )
        scale = alt.Scale(
            domain=["open", "better", "worse", "equal"],
            range=["#d55e00", "#c6dbef", "#e3e3e3", "#f7f7f7"],
        )
        drawn = (
            alt.Chart(inline_rows(cells))
            .mark_rect()
            .encode(
                color=alt.Color(
                    "verdict:N",
                    scale=scale,
                    title="the row's run is",
                    legend=alt.Legend(orient="bottom", columns=2),
                ),
                tooltip=tooltips("run:N", "other:N", "verdict:N"),
            )
        )
        return captioned(
            square(drawn, "run", "other", order),
            f"What unjudged documents leave open: {self.labelled.name}",
            "Open: which run is better depends on the labels of the unjudged documents. Better and "
            "worse hold under all labels. First: the run that is certainly better than most.",
        )
