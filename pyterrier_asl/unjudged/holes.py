"""Comparison of two runs under all labels of unjudged documents; the documents to judge next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import pandas as pd

from ..charts.forms import CROWDED, alt, figure, inline_rows, ranges, tooltips
from ..evaluation.evaluation import Evaluation
from ..evaluation.inputs import Qrels, Runs
from ..evaluation.labellings import Labelled
from ..io.notices import counted
from ..io.printed import Part, Printed
from ..judging.labels import qrels_with
from ..measures.directions import higher_is_better
from ..measures.names import Measures
from ..scoring.arrays import Floats, Ints
from ..scoring.bounds import lexicographic_verdicts
from ..statistics.inputs import check_probability
from .pairs import (
    OPEN,
    AllPairs,
    Difference,
    all_pairs,
    changes_of_difference,
    difference_of,
    labelled_runs,
)


@overload
def holes(
    a: Any,
    b: None,
    qrels: Qrels,
    measure: Measures,
    *,
    rel: float | None = None,
    depth: int | None = None,
    highest: float | None = None,
    alpha: float = 0.05,
    duplicates: str | None = None,
    drop_self: bool = False,
    labels: Any = None,
) -> AllPairs: ...


@overload
def holes(
    a: Any,
    b: Any,
    qrels: Qrels,
    measure: Measures,
    *,
    runs: Runs | None = None,
    rel: float | None = None,
    depth: int | None = None,
    highest: float | None = None,
    alpha: float = 0.05,
    names: tuple[str, str] = ("A", "B"),
    duplicates: str | None = None,
    drop_self: bool = False,
    labels: Any = None,
) -> Holes: ...


def holes(
    a: Any,
    b: Any,
    qrels: Qrels,
    measure: Measures,
    *,
    runs: Runs | None = None,
    rel: float | None = None,
    depth: int | None = None,
    highest: float | None = None,
    alpha: float = 0.05,
    names: tuple[str, str] = ("A", "B"),
    duplicates: str | None = None,
    drop_self: bool = False,
    labels: Any = None,
) -> Holes | AllPairs:
    """Compares two runs, with the bounds over all labels of unjudged documents.

    Unjudged documents count as not relevant. The bounds are the least and the greatest mean
    difference over all *labellings* of V, the unjudged documents in the top k of these runs (and of
    ``runs``). The verdict is *settled* where all labellings agree on the better run, else *open*.
    Open does not mean doubtful: some labelling, perhaps an unlikely one, reverses the result. The
    bounds hold for these queries (the t-test is about other queries), and only for documents that
    a compared run retrieves.

    Args:
        a: run A: data frame (``qid``, ``docno``, ``score``), file, or dict of dicts.
        b: run B; None: ``a`` is a dict of name -> run, or a folder of run files, and all pairs of
            them are compared.
        qrels: data frame, file, ir_datasets id, dict of dicts.
        measure: one that has bounds (see :func:`~pyterrier_asl.bounds`), or its name.
        runs: further runs that are compared: dict of name -> run, or a folder of run files.
        rel: the least grade of a relevant document, for a measure without one.
        depth: rank down to which documents count as retrieved, if it is below the cut-off.
        highest: the highest grade of a label in nDCG; None: the highest grade of the qrels.
        alpha: the level of the t-test.
        names: the names of the two runs.
        duplicates: how to treat a document that occurs twice in a ranking; see
            :func:`~pyterrier_asl.evaluate`.
        drop_self: see :func:`~pyterrier_asl.evaluate`.
        labels: labels of documents that the qrels do not judge, as in
            :func:`~pyterrier_asl.merge_labels`; for one collection.

    Returns:
        The difference, its bounds, the verdicts, and the documents to judge next; for all pairs
        their verdicts, as frame, matrix and chart.

    Raises:
        ValueError: for a measure without bounds; for a depth that is not a whole number from 0 on,
            a level that is not a probability, two equal names, or ``runs`` or ``names`` without
            ``b``.

    >>> a, b = {"q": {"d": 2, "x": 1}}, {"q": {"y": 2, "d": 1}}
    >>> pair = holes(a, b, {"q": {"d": 1}}, "RR")
    >>> pair.difference.verdict, pair.difference.low, pair.todo["docno"].tolist()
    ('open', 0.0, ['y', 'x'])
    """
    qrels = qrels_with(qrels, labels, duplicates)
    if b is None:
        if runs is not None or names != ("A", "B"):
            raise ValueError("runs and names belong to a comparison of two runs: give b")
        return all_pairs(
            a,
            qrels,
            measure,
            rel=rel,
            depth=depth,
            highest=highest,
            alpha=alpha,
            duplicates=duplicates,
            drop_self=drop_self,
        )
    check_probability("alpha", alpha)
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(f"names must be two different names, of run A and of run B, not {names!r}")
    judged = Evaluation.of(
        dict(zip(names, (a, b))), qrels, duplicates=duplicates, drop_self=drop_self
    )
    if runs is not None:
        others = Evaluation.of(runs, judged.judgements)
        further = [name if name not in names else f"{name} (2)" for name in others.names]
        judged = Evaluation([*judged.names, *further], judged.runs + others.runs, judged.judgements)
    labelled = labelled_runs(judged, measure, rel=rel, depth=depth, highest=highest)
    return holes_between(judged, labelled, alpha)


@dataclass(frozen=True, repr=False, eq=False)
class Holes(Printed):
    """The comparison of two runs, with the bounds over all labels of unjudged documents.

    Attributes:
        difference: the difference of A and B, its bounds and verdicts.
        labelled: the compared runs, A first, B second.
        runs: the same with their names.
        alpha: the level of the t-test.
    """

    difference: Difference
    labelled: Labelled
    runs: Evaluation
    alpha: float

    @property
    def verdict(self) -> str:
        """``'A'``, ``'B'``, ``'equal'`` or ``'open'``."""
        return self.difference.verdict

    @property
    def is_open(self) -> bool:
        """Whether labellings disagree on the better run."""
        return self.verdict == OPEN

    @property
    def todo(self) -> pd.DataFrame:
        """The documents to judge next, in this order.

        First the documents whose relevance helps the run that is worse now, then the others, by the
        change of the mean difference if only this document is relevant; ties by best rank, qid and
        docno. Columns: ``qid``, ``docno``, ``weight`` (the change of A - B), ``rank_a``,
        ``rank_b``, and ``runs``, the number of runs that retrieve it.
        """
        return describe(self.labelled, self.order(), self.runs.qids)

    @property
    def higher_is_better(self) -> bool:
        """Whether a positive difference is good for A."""
        return higher_is_better(self.labelled.measure) is not False

    def order(self) -> Ints:
        """The numbers of the documents to judge next, in this order."""
        return judging_order(self.labelled)

    @property
    def preferences(self) -> pd.DataFrame:
        """The verdicts of sgnLP that labellings give: ``qid``, ``b_wins``, ``tie``, ``a_wins``."""
        documents = self.labelled.pair(0, 1).documents
        frame = pd.DataFrame(lexicographic_verdicts(documents), columns=["b_wins", "tie", "a_wins"])
        frame.insert(0, "qid", self.runs.qids)
        return frame

    def with_labels(self, codes: Ints, grades: Floats) -> Holes:
        """The comparison with labels of some documents added; a label of NaN is left out."""
        has_label = ~np.isnan(grades)
        if not has_label.any():
            return self
        labelled = add_labels(self.labelled, codes[has_label], grades[has_label])
        return holes_between(self.runs, labelled, self.alpha)

    def describe(self) -> str:
        """The difference, its bounds and its verdict, in a line."""
        return self.difference.describe()

    def sentences(self) -> list[str]:
        """The difference, its bounds and its verdict."""
        return [self.describe()]

    @property
    def table(self) -> pd.DataFrame:
        """The verdicts as a table of one row, with the number of unjudged documents."""
        unjudged = int(self.difference.by_query["unjudged"].sum())
        return pd.DataFrame([{**self.difference.row(), "unjudged": unjudged}])

    def parts(self) -> list[Part]:
        """The parts that ``pyterrier-asl holes`` prints."""
        shown = self.table.drop(columns=["measure", "exact"])
        return [*map(Part, self.sentences()), Part(table=shown)]

    def chart(self) -> Any:
        """The difference of each query with its bounds, the widest first."""
        by_query = self.difference.by_query
        order = np.argsort(by_query["low"] - by_query["high"], kind="stable")
        base = alt.Chart(inline_rows(by_query.iloc[order].astype({"qid": str}))).encode(
            y=alt.Y("qid:N", sort=None, title=None),
            tooltip=tooltips(
                "qid:N", "a:Q", "b:Q", "difference:Q", "low:Q", "high:Q", "unjudged:Q"
            ),
        )
        axis = f"{self.difference.a} - {self.difference.b}, {self.difference.measure}"
        caption = (
            f"{counted(len(by_query), 'query', 'queries')}. Line: from the least to the greatest "
            "difference over all labels of the unjudged documents. Dot: all of them irrelevant."
        )
        bars = ranges(base, "low", "difference", "high", axis)
        return figure(bars, "What unjudged documents could change", caption, rows=CROWDED)


def holes_between(runs: Evaluation, labelled: Labelled, alpha: float = 0.05) -> Holes:
    """The comparison of the first two runs, given the unjudged documents of all runs."""
    return Holes(difference_of(runs, labelled, 0, 1, alpha=alpha), labelled, runs, alpha)


def add_labels(labelled: Labelled, codes: Ints, grades: Floats) -> Labelled:
    """Adds labels of some of the documents."""
    unjudged = labelled.unjudged.labelled(codes, grades)
    return Labelled(
        unjudged,
        labelled.measure,
        name=labelled.name,
        depth=labelled.depth,
        highest=labelled.highest,
    )


def judging_order(labelled: Labelled) -> Ints:
    """The documents in the order in which they should be judged (see :attr:`Holes.todo`)."""
    codes, unjudged = labelled.documents, labelled.unjudged
    weights = changes_of_difference(labelled, 0, 1, codes)
    now = float((labelled.side(0).value - labelled.side(1).value).mean())
    hurts = ~(weights * now < 0)
    docnos = pd.Series(unjudged.docnos(codes)).rank(method="first")
    qids = labelled.judgements.qid_text.to_pandas().rank(method="first").to_numpy()
    ties = docnos, qids[unjudged.queries[codes]], unjudged.best[codes]
    return codes[np.lexsort((*ties, -np.abs(weights).round(15), hurts))]


def describe(labelled: Labelled, codes: Ints, qids: list[Any]) -> pd.DataFrame:
    """Documents as a frame (see :attr:`Holes.todo`), in this order."""
    unjudged = labelled.unjudged
    rank_a, rank_b = (
        pd.Series(documents.ranks, index=documents.codes).reindex(codes).astype("Int64").array
        for documents in unjudged.retrieved[:2]
    )
    runs = np.bincount(np.concatenate([documents.codes for documents in unjudged.retrieved]))
    return pd.DataFrame(
        {
            "qid": [qids[query] for query in unjudged.queries[codes]],
            "docno": unjudged.docnos(codes),
            "weight": changes_of_difference(labelled, 0, 1, codes),
            "rank_a": rank_a,
            "rank_b": rank_b,
            "runs": runs[codes],
        }
    )
