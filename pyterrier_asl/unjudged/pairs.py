"""The difference of two runs, over all labellings of the unjudged documents that they show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..charts.forms import alt, captioned, inline_rows, square, tooltips
from ..evaluation.evaluation import Evaluation
from ..evaluation.inputs import Qrels, Runs, with_rel
from ..evaluation.labellings import Labelled, unjudged_of
from ..io.printed import Part, Printed
from ..io.tables import counted
from ..measures.directions import higher_is_better
from ..measures.labelled import LabelledPair
from ..measures.names import Measures, NamedMeasure, parse_measure
from ..scoring.bounds import Bounds
from ..statistics.boxes import BoxTest, box_test
from ..statistics.rounding import NO_DIFFERENCE

SETTLED_A, SETTLED_B, SETTLED_EQUAL, OPEN = "A", "B", "equal", "open"


@dataclass(frozen=True)
class Difference:
    """The difference A - B of two runs in a measure, its bounds and its verdict.

    Attributes:
        a: the name of run A.
        b: the name of run B.
        measure: the measure.
        difference: the mean difference with unjudged documents as irrelevant.
        low: the least mean difference over all labellings.
        high: the greatest.
        exact: whether labellings give ``low`` and ``high``; else they are outer bounds.
        verdict: which run is better under every labelling: ``'A'``, ``'B'``, ``'equal'``, or
            ``'open'`` where labellings disagree (or it was not shown that they do not).
        test: a paired t-test under every labelling; None for a single query.
        qids: the queries.
        pair: the two runs in the measure.
        bounds: the bounds of each query, shape (Q,) each.
    """

    a: str
    b: str
    measure: str
    difference: float
    low: float
    high: float
    exact: bool
    verdict: str
    test: BoxTest | None
    qids: list[Any] = field(repr=False)
    pair: LabelledPair = field(repr=False)
    bounds: Bounds = field(repr=False)

    @cached_property
    def by_query(self) -> pd.DataFrame:
        """``qid``, ``a``, ``b``, ``difference``, ``low``, ``high``, ``unjudged``.

        The last is the number of unjudged documents that either run shows.
        """
        a, b = self.pair.a.value, self.pair.b.value
        columns = {"qid": self.qids, "a": a, "b": b, "difference": a - b}
        low, high = self.bounds
        return pd.DataFrame(
            {**columns, "low": low, "high": high, "unjudged": np.diff(self.pair.offsets)}
        )

    def row(self) -> dict[str, Any]:
        """The difference, its bounds, the verdict, and the verdict on the t-test."""
        names = ("a", "b", "measure", "difference", "low", "high", "exact", "verdict")
        test = None if self.test is None else self.test.verdict
        return {**{name: getattr(self, name) for name in names}, "significance": test}

    @property
    def better(self) -> str | None:
        """The name of the run that is certain to be better, None where neither is."""
        return {SETTLED_A: self.a, SETTLED_B: self.b}.get(self.verdict)

    def describe(self) -> str:
        """The difference, its bounds and its verdict, in a line."""
        kind = "bounds" if self.exact else "outer bounds"
        what = {OPEN: "open", SETTLED_EQUAL: "settled, equal"}.get(
            self.verdict, f"settled for {self.better}"
        )
        test = "" if self.test is None else f"; significance {self.test.verdict}"
        return (
            f"{self.measure}: {self.a} - {self.b} = {self.difference:+.4f}, {kind} "
            f"{self.low:+.4f} to {self.high:+.4f}: {what}{test}"
        )


def difference_of(
    runs: Evaluation, labelled: Labelled, a: int, b: int, *, alpha: float | None = 0.05
) -> Difference:
    """The difference of two of the runs, by their numbers; with alpha None without a t-test."""
    pair = labelled.pair(a, b)
    bounds = labelled.measure.difference_bounds(pair)
    low, high = (float(bound.mean()) for bound in bounds)
    return Difference(
        runs.names[a],
        runs.names[b],
        str(labelled.measure),
        float((pair.a.value - pair.b.value).mean()),
        low,
        high,
        labelled.measure.is_exact(pair=True),
        verdict_of(low, high, higher_is_better(labelled.measure) is not False),
        None if alpha is None or len(runs.qids) < 2 else box_test(*bounds, alpha),
        runs.qids,
        pair,
        bounds,
    )


def verdict_of(low: float, high: float, higher_is_better: bool = True) -> str:
    """The verdict on a pair by the bounds of its mean difference A - B.

    >>> verdict_of(0.01, 0.2), verdict_of(0.01, 0.2, higher_is_better=False), verdict_of(-1, 1)
    ('A', 'B', 'open')
    """
    if max(abs(low), abs(high)) <= NO_DIFFERENCE:
        return SETTLED_EQUAL
    if not (low > NO_DIFFERENCE or high < -NO_DIFFERENCE):
        return OPEN
    return SETTLED_A if (low > 0) == higher_is_better else SETTLED_B


def labelled_runs(
    runs: Evaluation,
    measure: Measures,
    *,
    rel: float | None = None,
    depth: int | None = None,
    highest: float | None = None,
) -> Labelled:
    """Matches runs with the labellings of one measure; they are the pool that it may lack."""
    parsed = parse_measure(measure)
    named = with_rel(NamedMeasure(str(parsed), parsed), rel)
    chosen = runs.with_pool({"": named.measure})[""]
    unjudged = unjudged_of(runs.runs, [chosen], depth)
    return Labelled(unjudged, chosen, depth=depth, highest=highest)


@dataclass(frozen=True, repr=False)
class AllPairs(Printed):
    """The verdicts on all pairs of runs.

    Attributes:
        table: ``a``, ``b``, ``difference``, ``low``, ``high``, ``verdict``, and with t-tests
            ``significance``; a row per pair.
        measure: the measure.
        exact: whether the bounds are reached.
        names: the runs.
    """

    table: pd.DataFrame
    measure: str
    exact: bool
    names: list[str]

    def counts(self) -> dict[str, int]:
        """The numbers of pairs that are settled, equal, and open."""
        verdicts = self.table["verdict"]
        return {
            "pairs": len(verdicts),
            "settled": int(verdicts.isin([SETTLED_A, SETTLED_B]).sum()),
            "equal": int((verdicts == SETTLED_EQUAL).sum()),
            "open": int((verdicts == OPEN).sum()),
        }

    def sentences(self) -> list[str]:
        """How many pairs are settled, equal, and open."""
        pairs, *rest = self.counts().items()
        found = ", ".join(f"{number} {what}" for what, number in rest)
        return [f"{self.measure}, {counted(pairs[1], 'pair')} of runs: {found}."]

    def parts(self) -> list[Part]:
        """The counts, and the table of pairs."""
        return [*map(Part, self.sentences()), Part(table=self.table)]

    def matrix(self) -> pd.DataFrame:
        """The verdict on each run (rows) and other run: 1 better, -1 worse, 0 equal, NaN open."""
        number = {name: row for row, name in enumerate(self.names)}
        values = np.full((len(self.names),) * 2, np.nan)
        np.fill_diagonal(values, 0.0)
        sign = self.table["verdict"].map({SETTLED_A: 1.0, SETTLED_B: -1.0, SETTLED_EQUAL: 0.0})
        a, b = (self.table[side].map(number).to_numpy() for side in ("a", "b"))
        values[a, b], values[b, a] = sign, -sign
        index = pd.Index(self.names, name="name")
        return pd.DataFrame(values, index=index, columns=self.names)

    def chart(self) -> Any:
        """The matrix as a chart, runs by how many others they are certain to beat."""
        matrix = self.matrix()
        order = matrix.gt(0).sum(axis=1).sort_values(ascending=False, kind="stable").index.tolist()
        words = {1.0: "better", -1.0: "worse", 0.0: "equal"}
        cells = matrix.reset_index(names="run").melt("run", var_name="other", value_name="verdict")
        cells["verdict"] = cells["verdict"].map(words).fillna("open")
        scale = alt.Scale(
            domain=["better", "worse", "equal", "open"],
            range=["#0072b2", "#d55e00", "#999999", "#f0f0f0"],
        )
        legend = alt.Legend(orient="bottom", columns=2)
        drawn = (
            alt.Chart(inline_rows(cells))
            .mark_rect()
            .encode(
                color=alt.Color("verdict:N", scale=scale, title="the row's run is", legend=legend),
                tooltip=tooltips("run:N", "other:N", "verdict:N"),
            )
        )
        return captioned(
            square(drawn, "run", "other", order),
            f"What unjudged documents leave open: {self.measure}",
            "Each run against each other. Better and worse hold under every labelling of the "
            "unjudged documents; open pairs depend on them.",
        )


def all_pairs(
    runs: Runs,
    qrels: Qrels,
    measure: Measures,
    *,
    rel: float | None = None,
    depth: int | None = None,
    highest: float | None = None,
    alpha: float | None = None,
    pairs: Iterable[tuple[int, int]] | None = None,
    duplicates: str | None = None,
    drop_self: bool = False,
) -> AllPairs:
    """The verdicts on all pairs of runs.

    Args:
        runs: dict of name -> run, or a folder of run files.
        qrels: data frame, file, ir_datasets id, or dict of dicts.
        measure: one that has bounds (see :func:`~pyterrier_asl.bounds`).
        rel: the least grade of a relevant document, for a measure that does not say it.
        depth: look as deep as this for unjudged documents, where that is deeper than the cut-off.
        highest: the best grade that a label can give in nDCG.
        alpha: the level of t-tests over the labellings of each pair; None, or one query: none.
        pairs: only these, by the numbers of the runs.
        duplicates: see :func:`~pyterrier_asl.evaluate`.
        drop_self: see :func:`~pyterrier_asl.evaluate`.

    >>> runs = {"a": {"q": {"d": 2, "x": 1}}, "b": {"q": {"x": 2, "d": 1}}}
    >>> all_pairs(runs, {"q": {"d": 1}}, "RR").table["verdict"].tolist()
    ['open']
    """
    judged = Evaluation.of(runs, qrels, duplicates=duplicates, drop_self=drop_self)
    labelled = labelled_runs(judged, measure, rel=rel, depth=depth, highest=highest)
    rows = [
        difference_of(judged, labelled, a, b, alpha=alpha).row()
        for a, b in (combinations(range(len(judged)), 2) if pairs is None else pairs)
    ]
    columns = ["a", "b", "difference", "low", "high", "verdict"]
    if alpha is not None and len(judged.qids) > 1:  # a t-test needs two queries
        columns.append("significance")
    exact = labelled.measure.is_exact(pair=True)
    return AllPairs(pd.DataFrame(rows, columns=columns), str(labelled.measure), exact, judged.names)
