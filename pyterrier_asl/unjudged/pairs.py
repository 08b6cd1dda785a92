"""Differences of two runs over all labellings of the unjudged documents that they retrieve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..common.types import Floats
from ..evaluation.evaluation import Evaluation
from ..evaluation.labellings import Labelled
from ..measures.directions import higher_is_better
from ..measures.formula import LabelledRun
from ..scoring.arrays import cumulate, ranges_from
from ..scoring.bounds import PairDocuments
from ..scoring.matrices import Bounds
from ..statistics.boxes import BoxTest, box_test
from ..statistics.rounding import NO_DIFFERENCE

SETTLED_A, SETTLED_B, SETTLED_EQUAL, OPEN = "A", "B", "equal", "open"


@dataclass(frozen=True)
class Difference:
    """The difference of two runs in a measure, B less A, its bounds and its verdict.

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
        sides: the two runs in the measure, A first.
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
    sides: tuple[LabelledRun, LabelledRun] = field(repr=False)
    bounds: Bounds = field(repr=False)

    @cached_property
    def documents(self) -> PairDocuments:
        """The documents of the two runs, those of B first."""
        return self.sides[1].beside(self.sides[0])

    @cached_property
    def by_query(self) -> pd.DataFrame:
        """``qid``, ``a``, ``b``, ``difference``, ``low``, ``high``, ``unjudged``.

        The last is the number of unjudged documents that either run retrieves.
        """
        a, b = (side.value for side in self.sides)
        return pd.DataFrame(
            {
                "qid": self.qids,
                "a": a,
                "b": b,
                "difference": b - a,
                "low": self.bounds[0],
                "high": self.bounds[1],
                "unjudged": np.diff(self.documents.offsets),
            }
        )

    def row(self) -> dict[str, Any]:
        """The difference, its bounds, the verdict, and the verdict on the t-test."""
        names = ("a", "b", "measure", "difference", "low", "high", "exact", "verdict")
        numbers = {name: getattr(self, name) for name in names}
        return numbers | {"significance": self.test and self.test.verdict}

    def describe(self) -> str:
        """The difference, its bounds and its verdict, in a line."""
        kind = "bounds" if self.exact else "outer bounds"
        verdicts = {OPEN: "open", SETTLED_EQUAL: "settled, equal"}
        verdicts |= {SETTLED_A: f"settled for {self.a}", SETTLED_B: f"settled for {self.b}"}
        test = "" if self.test is None else f"; significance {self.test.verdict}"
        return (
            f"{self.measure}: {self.b} - {self.a} = {self.difference:+.4f}, {kind} "
            f"{self.low:+.4f} to {self.high:+.4f}: {verdicts[self.verdict]}{test}"
        )


def difference_of(
    runs: Evaluation, labelled: Labelled, a: int, b: int, *, alpha: float | None = 0.05
) -> Difference:
    """The second of two runs, by their numbers, less the first; with alpha None without a test."""
    sides, bounds = (labelled.sides[a], labelled.sides[b]), labelled.difference(b, a)
    low, high = (float(bound.mean()) for bound in bounds)
    return Difference(
        a=runs.names[a],
        b=runs.names[b],
        measure=labelled.name,
        difference=float((sides[1].value - sides[0].value).mean()),
        low=low,
        high=high,
        exact=labelled.measure.is_exact(pair=True),
        verdict=verdict_of(low, high, higher_is_better(labelled.measure) is not False),
        test=None if alpha is None or len(runs.qids) < 2 else box_test(*bounds, alpha),
        qids=runs.qids,
        sides=sides,
        bounds=bounds,
    )


def verdict_of(low: float, high: float, higher_is_better: bool = True) -> str:
    """The verdict on a pair by the bounds of its mean difference, B less A.

    >>> verdict_of(0.01, 0.2), verdict_of(0.01, 0.2, higher_is_better=False), verdict_of(-1, 1)
    ('B', 'A', 'open')
    """
    if max(abs(low), abs(high)) <= NO_DIFFERENCE:
        return SETTLED_EQUAL
    if not (low > NO_DIFFERENCE or high < -NO_DIFFERENCE):
        return OPEN
    return SETTLED_B if (low > 0) == higher_is_better else SETTLED_A


def values_if_only_relevant(labelled: Labelled, side: LabelledRun) -> Floats:
    """The value of each document's query if it is the only relevant unjudged document.

    A virtual query is a query under a labelling. Each query has one in which a document that the
    run does not retrieve is relevant, and one for each unjudged document that it retrieves.

    Args:
        labelled: the measure.
        side: the run.

    Returns:
        The values in the order of ``labelled.documents``, shape (V,).
    """
    documents, gains = labelled.measure.candidates(side)
    every = np.arange(len(labelled.judgements))
    judged, unjudged = (np.flatnonzero((documents.grades < 0) == new) for new in (False, True))
    queries = np.concatenate((every, documents.queries[unjudged]))
    starts = np.searchsorted(documents.queries[judged], [*every, len(every)])
    sizes = np.diff(starts)[queries]
    chosen = np.append(judged[ranges_from(starts[:-1][queries], cumulate(sizes))], unjudged)
    numbers = np.arange(len(queries))
    virtual = np.append(np.repeat(numbers, sizes), numbers[len(every) :])
    chosen = chosen[np.lexsort((chosen, virtual))]
    relevant = replace(
        side.relevant,
        ranks=documents.ranks[chosen],
        offsets=cumulate(np.bincount(virtual, minlength=len(queries))),
        total=side.relevant.total[queries] + 1,
        pairs=documents.pairs[chosen],
    )
    values = side.measure.labelled_values(side, queries, relevant, gains[chosen])
    by_document = values[labelled.judgements.queries]
    by_document[documents.pairs[unjudged]] = values[len(every) :]
    return by_document[labelled.documents]


def changes_of_difference(
    labelled: Labelled, run_pairs: Iterable[Sequence[int]]
) -> Iterator[Floats]:
    """The change of each pair's mean difference if one document alone is relevant, shape (V,)."""
    queries = labelled.judgements.queries[labelled.documents]
    now = [side.value for side in labelled.sides]
    alone = [values_if_only_relevant(labelled, side) for side in labelled.sides]
    for a, b in run_pairs:
        yield (alone[b] - alone[a] - (now[b] - now[a])[queries]) / len(labelled.judgements)
