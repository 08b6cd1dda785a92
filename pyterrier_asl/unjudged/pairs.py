"""The difference of two runs over all labellings of the unjudged documents that they retrieve."""

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
from ..evaluation.inputs import Qrels, Runs, complete_measures, warn_of_grades
from ..evaluation.labellings import Labelled, unjudged_of
from ..io.notices import counted
from ..io.printed import Part, Printed
from ..measures.directions import higher_is_better
from ..measures.labelled import Candidates, LabelledPair, LabelledRankings, LabelledRun
from ..measures.names import Measures, one_measure
from ..scoring.arrays import Floats, Ints, cumulate, ranges_from
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
        difference: the mean difference if unjudged documents are irrelevant.
        low: the least mean difference over all labellings.
        high: the greatest mean difference.
        exact: whether some labellings reach ``low`` and ``high``; else they are outer bounds.
        verdict: the run that is better under every labelling: ``'A'``, ``'B'``, ``'equal'``, or
            ``'open'`` where labellings disagree, or where the bounds cannot exclude it.
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

        The last is the number of unjudged documents that either run retrieves.
        """
        a, b = self.pair.a.value, self.pair.b.value
        low, high = self.bounds
        return pd.DataFrame(
            {
                "qid": self.qids,
                "a": a,
                "b": b,
                "difference": a - b,
                "low": low,
                "high": high,
                "unjudged": np.diff(self.pair.offsets),
            }
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
        labelled.name,
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
    """Matches runs with the labellings of one measure; they are its pool if it has none."""
    [named] = complete_measures([one_measure(measure)], rel=rel)
    chosen = runs.with_pool({named.name: named.measure})
    warn_of_grades(runs.judgements, chosen)
    unjudged = unjudged_of(runs.runs, list(chosen.values()), depth)
    return Labelled(unjudged, *chosen.values(), name=named.name, depth=depth, highest=highest)


@dataclass(frozen=True, repr=False, eq=False)
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
        verdicts = ", ".join(f"{number} {what}" for what, number in rest)
        return [f"{self.measure}, {counted(pairs[1], 'pair')} of runs: {verdicts}."]

    def parts(self) -> list[Part]:
        """The counts, and the table of pairs."""
        return [*map(Part, self.sentences()), Part(table=self.table)]

    def matrix(self) -> pd.DataFrame:
        """The verdict on each run (rows) and other run: 1 better, -1 worse, 0 equal, NaN open."""
        values = np.full((len(self.names),) * 2, np.nan)
        np.fill_diagonal(values, 0.0)
        sign = self.table["verdict"].map({SETTLED_A: 1.0, SETTLED_B: -1.0, SETTLED_EQUAL: 0.0})
        a, b = (pd.Index(self.names).get_indexer(pd.Index(self.table[side])) for side in ("a", "b"))
        values[a, b], values[b, a] = sign, -sign
        return pd.DataFrame(values, index=pd.Index(self.names, name="name"), columns=self.names)

    def chart(self) -> Any:
        """The matrix as a chart, runs by the number of runs that they are certain to beat."""
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
            "Better and worse hold under every labelling of the unjudged documents. Open: the "
            "better run depends on the labels.",
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
        rel: the least grade of a relevant document, for a measure without one.
        depth: rank down to which documents count as retrieved, if it is below the cut-off.
        highest: the highest grade of a label in nDCG.
        alpha: the level of t-tests over the labellings of each pair; None: no tests.
        pairs: only these pairs, by the numbers of the runs; None: all.
        duplicates: see :func:`~pyterrier_asl.evaluate`.
        drop_self: see :func:`~pyterrier_asl.evaluate`.

    >>> runs = {"a": {"q": {"d": 2, "x": 1}}, "b": {"q": {"x": 2, "d": 1}}}
    >>> all_pairs(runs, {"q": {"d": 1}}, "RR").table["verdict"].tolist()
    ['open']
    """
    judged = Evaluation.of(runs, qrels, duplicates=duplicates, drop_self=drop_self)
    if len(judged) < 2:
        raise ValueError(f"there is only the run {judged.names[0]!r}: compare two at least")
    labelled = labelled_runs(judged, measure, rel=rel, depth=depth, highest=highest)
    rows = [
        difference_of(judged, labelled, a, b, alpha=alpha).row()
        for a, b in (combinations(range(len(judged)), 2) if pairs is None else pairs)
    ]
    columns = ["a", "b", "difference", "low", "high", "verdict"]
    if alpha is not None and len(judged.qids) > 1:  # a t-test needs two queries
        columns.append("significance")
    exact = labelled.measure.is_exact(pair=True)
    return AllPairs(pd.DataFrame(rows, columns=columns), labelled.name, exact, judged.names)


# Values under many labellings at once: a virtual query for each query and labelling


def _values_with(
    run: LabelledRun,
    candidates: Candidates,
    queries: Ints,
    virtual: Ints,
    chosen: Ints,
    extra: Ints,
) -> Floats:
    """The values of virtual queries, each a query under a labelling.

    Args:
        run: the run.
        candidates: the documents that are or could be relevant.
        queries: the query of each of the M virtual queries, shape (M,).
        virtual: the virtual query of each relevant document retrieved, ascending.
        chosen: its number among the candidates, in rank order.
        extra: the number of relevant unjudged documents in each, retrieved or not, shape (M,).
    """
    rankings = LabelledRankings(
        queries,
        candidates.ranks[chosen],
        candidates.gains[chosen],
        cumulate(np.bincount(virtual, minlength=len(queries))),
        run.relevant.total[queries] + extra,
        extra,
    )
    return run.measure.labelled_values(run, rankings)


def values_if_only_relevant(labelled: Labelled, side: LabelledRun, codes: Ints) -> Floats:
    """The value of each document's query if it is the only relevant unjudged document.

    Args:
        labelled: the measure.
        side: the run.
        codes: the documents, shape (M,).
    """
    candidates = labelled.measure.candidates(side)
    queries, number = labelled.unjudged.queries[codes], _numbers(labelled, candidates, codes)
    relevant = np.flatnonzero(candidates.codes < 0)
    starts = np.searchsorted(candidates.queries[relevant], np.arange(len(labelled.judgements) + 1))
    sizes = np.diff(starts)[queries]
    virtual = np.repeat(np.arange(len(codes)), sizes)
    chosen = relevant[ranges_from(starts[:-1][queries], cumulate(sizes))]
    own = np.flatnonzero(number >= 0)
    virtual = np.concatenate((virtual, number[own]))
    chosen = np.concatenate((chosen, own))
    order = np.lexsort((chosen, virtual))
    return _values_with(
        side,
        candidates,
        queries,
        virtual[order],
        chosen[order],
        np.ones(len(codes), dtype=np.int64),
    )


def _numbers(labelled: Labelled, candidates: Candidates, codes: Ints) -> Ints:
    """The number of each candidate among some unjudged documents; -1: it is not among them."""
    number = np.full(len(labelled.unjudged), -1, dtype=np.int64)
    number[codes] = np.arange(len(codes))
    is_unjudged = candidates.codes >= 0
    numbers = np.full(len(is_unjudged), -1, dtype=np.int64)
    numbers[is_unjudged] = number[candidates.codes[is_unjudged]]
    return numbers


def changes_of_difference(labelled: Labelled, a: int, b: int, codes: Ints) -> Floats:
    """The change of the mean difference A - B if one document alone is relevant, shape (M,)."""
    queries, run_a, run_b = labelled.unjudged.queries[codes], labelled.side(a), labelled.side(b)
    now: Any = run_a.value - run_b.value
    values_a, values_b = (values_if_only_relevant(labelled, run, codes) for run in (run_a, run_b))
    change: Floats = (values_a - values_b - now[queries]) / len(labelled.judgements)
    return change
