"""Values of another program, and the conventions that give them.

:mod:`~pyterrier_asl.scoring.conventions` has the conventions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..common.types import Bools, Floats, Ints
from ..judging.judged_run import JudgedRun
from ..judging.remembered import Remembering, remembered
from ..scoring.arrays import offsets_of, within_query
from ..scoring.conventions import (
    EQUAL_SCORES,
    QUERIES,
    Convention,
    Parts,
    Ranks,
    conventions,
    gains_of,
    option_of,
    values_under,
)
from ..scoring.matrices import rows_of

#: Values that differ by no more are equal.
EQUAL = 1e-9
#: By how much values may differ that do not show to how many decimals they were rounded.
OF_NUMBERS = 1e-6
#: Fewer decimals of a mean explain nothing; the most changes by which one mean, or several, explain
#: something: more changes fit numbers that were made up.
_FEWEST_DECIMALS, _OF_ONE_MEAN, _OF_MEANS = 4, 1, 2
#: The most changes of a convention that is called near.
_OF_NEAR = 2


@dataclass(frozen=True, eq=False)
class Asked(Remembering):
    """The values that another program gives a run.

    Attributes:
        name: the name of the run.
        run: the run, with its rows.
        measure: ``nDCG``, ``AP``, ``RR``, ``P`` or ``R``.
        parts: the parts of its conventions.
        values: the values, shape (M,); one mean has shape (1,).
        queries: their queries, shape (M,); None: the value is a mean.
        decimals: the decimals of the value with the most; 0: not known.
        ignored: the number of values of queries that the qrels lack.
    """

    name: str
    run: JudgedRun
    measure: str
    parts: Parts
    values: Floats = field(default_factory=partial(np.zeros, 0))
    queries: Ints | None = None
    decimals: int = 0
    ignored: int = 0

    @remembered
    def ranks(self, equal: str, order: str, unjudged: str) -> Ranks:
        """The documents with a grade above 0 in an order of the rows of the run."""
        run, ranking, judgements = self.run, self.run.whole_ranking, self.run.judgements
        place, queries = np.arange(len(ranking)), ranking.queries
        grades = np.full(len(ranking), -1.0)
        grades[ranking.offsets[run.queries] + run.ranks - 1] = run.grades
        group = np.cumsum(~np.append(False, run.is_tied[:-1])) if len(place) else place
        rows: dict[str, Any] = {"place": place, "row": ranking.rows}
        if run.table.has("rank"):
            rows["rank"] = run.table.numbers("rank", "rank of the run")[ranking.rows]
        key = EQUAL_SCORES[equal if order == "scores" else order](rows)
        ordered = np.lexsort((place, key, group if order == "scores" else queries))
        if unjudged == "left out":
            ordered = ordered[grades[ordered] >= 0]
        offsets = offsets_of(queries[ordered], len(judgements))
        rank, of_group = within_query(offsets) + 1, group[ordered]
        first = last = rank
        if equal == "mean gain":
            first = rank[np.searchsorted(of_group, of_group)]
            last = rank[np.searchsorted(of_group, of_group, side="right") - 1]
        gains = grades[ordered] > 0
        of_queries = offsets_of(queries[ordered][gains], len(judgements))
        best = np.lexsort((-judgements.grades, judgements.queries))
        best = best[judgements.grades[best] > 0]
        judged = offsets_of(judgements.queries[best], len(judgements))
        return Ranks(
            rows_of(grades[ordered][gains], of_queries, 0.0),
            rows_of(rank[gains], of_queries, 1),
            rows_of(first[gains], of_queries, 1),
            rows_of(last[gains], of_queries, 1),
            np.diff(offsets),
            rows_of(judgements.grades[best], judged, 0.0),
        )

    @remembered
    def _under(self, how: str, discount: str, cutoff: int | None, *order: str) -> Floats:
        return values_under(self.measure, self.parts, self.ranks(*order), how, discount, cutoff)

    def by_query(self, convention: Convention) -> Floats:
        """The value of each query of the qrels, shape (Q,)."""
        option = partial(option_of, self.parts, convention)
        how, order = option("ideal", "divided by"), ("equal scores", "order", "unjudged")
        values = self._under(how, option("discount"), option("cut-off"), *map(option, order))
        return np.asarray(values[self._level(convention)])

    def _level(self, convention: Convention) -> int:
        """The number of the option of the first part."""
        part = next(iter(self.parts))
        return self.parts[part].index(option_of(self.parts, convention, part))

    def are_of(self, queries: str, convention: Convention) -> Bools:
        """Whether each query is one of :data:`~.QUERIES`, shape (Q,)."""
        judged = self.ranks("docno descending", "scores", "not relevant").judged
        relevant = (gains_of(self.parts, judged)[self._level(convention)] > 0).any(axis=-1)
        return np.asarray(QUERIES[queries](self.run.retrieved > 0, relevant))

    def gives(self, convention: Convention) -> Floats:
        """What a convention gives instead of the values, shape (M,)."""
        values = self.by_query(convention)
        if self.queries is not None:
            return values[self.queries]
        chosen = values[self.are_of(convention.get("queries", "of the qrels"), convention)]
        return np.array([chosen.mean() if len(chosen) else 0.0])

    def fit(self, convention: Convention) -> Bools:
        """Whether each value fits, shape (M,)."""
        most = 0.5 * 10.0**-self.decimals if self.decimals else OF_NUMBERS
        return np.asarray(np.abs(self.gives(convention) - self.values) <= most + EQUAL)


@dataclass(frozen=True, eq=False)
class Search:
    """The conventions of some runs, in the order of their changes.

    Attributes:
        asked: the values of each run.
        parts: the options of each part.
    """

    asked: Sequence[Asked]
    parts: Parts

    @property
    def are_means(self) -> bool:
        """Whether the values are means."""
        return self.asked[0].queries is None

    @property
    def most(self) -> int:
        """The most changes that explain something."""
        if not self.are_means:
            return len(self.parts)
        if min(of.decimals for of in self.asked) < _FEWEST_DECIMALS:
            return 0
        return _OF_ONE_MEAN if len(self.asked) == 1 else _OF_MEANS

    def fits(self, convention: Convention) -> bool:
        """Whether all values of all runs fit."""
        return all(of.fit(convention).all() for of in self.asked)

    def deviations(self, convention: Convention) -> Floats:
        """By how much the values of all runs differ, shape (sum of M,)."""
        return np.concatenate([np.abs(of.gives(convention) - of.values) for of in self.asked])

    def different(self, some: Iterable[Convention], known: list[Floats]) -> list[Convention]:
        """The conventions with other values than those before; their values are added to these."""
        by, new = Asked.gives if self.are_means else Asked.by_query, []
        for convention in some:
            values = np.concatenate([by(of, convention) for of in self.asked])
            if not known or np.abs(np.array(known) - values).max(axis=1).min() > EQUAL:
                known.append(values)
                new.append(convention)
        return new

    def explaining(self) -> tuple[list[Convention], tuple[int, int] | None]:
        """The conventions that fit with the fewest changes; for means how many, of how many."""
        known: list[Floats] = []
        for changes in range(self.most + 1):
            some: Iterator[Convention] = conventions(self.parts, changes)
            new = self.different(some if self.are_means else filter(self.fits, some), known)
            if fitting := [*filter(self.fits, new)]:
                return fitting, (len(fitting), len(new)) if self.are_means else None
        return [], None

    def near(self, most: int) -> list[Convention]:
        """The nearest conventions with few changes and different values, at most so many."""
        few = range(min(max(self.most, 1), _OF_NEAR) + 1)
        some = sorted(
            (convention for n in few for convention in conventions(self.parts, n)),
            key=lambda convention: self.deviations(convention).mean(),
        )
        return self.different(some, [])[:most]

    def more_changes(self) -> int | None:
        """The least number of changes, too many to explain something, with which all values fit."""
        more = range(self.most + 1, len(self.parts) + 1)
        return next((n for n in more if any(map(self.fits, conventions(self.parts, n)))), None)

    def queries(self, convention: Convention) -> str | None:
        """Whose values were given, of :data:`~.QUERIES`; None: other queries', or means."""
        for name in () if self.are_means else QUERIES:
            chosen = [np.flatnonzero(of.are_of(name, convention)).tolist() for of in self.asked]
            if chosen == [sorted(np.asarray(of.queries).tolist()) for of in self.asked]:
                return name
        return None
