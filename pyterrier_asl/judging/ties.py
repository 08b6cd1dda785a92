"""Documents with equal scores, and the rankings in other orders of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..scoring.arrays import Bools, Floats, Ints, cumulate, queries_of, within_query
from ..scoring.ties import TieGroups
from .judged_run import JudgedRun


@dataclass(frozen=True)
class TiedRun:
    """The queries of a run in which a judged document has the score of another document.

    Attributes:
        run: the run, without its rows and other queries.
        is_tied: whether a query is one of these, shape (Q,).
        first: the first rank with the score of each entry of the run, shape (E,).
        last: the last rank with this score.
    """

    run: JudgedRun
    is_tied: Bools
    first: Ints
    last: Ints

    @classmethod
    def of(cls, run: JudgedRun) -> TiedRun:
        """The queries of a run that has its rows.

        >>> from .judged_run import judge
        >>> from .judgements import Judgements
        >>> run = {"q": {"a": 2, "b": 1, "c": 1}, "r": {"a": 2, "b": 1}}
        >>> tied = TiedRun.of(judge(Judgements({"q": {"a": 1, "b": 1}, "r": {"a": 1}}), run))
        >>> tied.is_tied.tolist(), tied.first.tolist(), tied.last.tolist()
        ([True, False], [1, 2], [1, 3])
        """
        groups, queries = run.equal_scores, len(run.judgements)
        scale = run.retrieved.max(initial=0) + 1
        group = np.searchsorted(
            groups.queries * scale + groups.first, run.queries * scale + run.ranks, side="right"
        )
        no_group = np.full(1, -1)
        of_query, first, last = (np.concatenate((no_group, of))[group] for of in groups)
        is_in = (of_query == run.queries) & (run.ranks <= last)
        is_tied = np.bincount(run.queries[is_in], minlength=queries) > 0
        keep = is_tied[run.queries]
        first, last = (np.where(is_in, of, run.ranks)[keep] for of in (first, last))
        entries = (of[keep] for of in (run.queries, run.ranks, run.pairs))
        retrieved = np.where(is_tied, run.retrieved, 0)
        part = JudgedRun.from_entries(run.judgements, retrieved, *entries)
        return cls(part, is_tied, first, last)

    def ordered(self, gains: Floats | Bools, *, best_first: bool) -> JudgedRun:
        """The run with equal scores in the order of a gain of each entry, at least 0, shape (E,).

        Unjudged documents gain 0.
        """
        run, sign = self.run, -1.0 if best_first else 1.0
        order = np.lexsort((sign * gains, self.first, run.queries))
        place = within_query(self._offsets)  # groups are in the same order
        from_end = np.repeat(np.diff(self._offsets), np.diff(self._offsets)) - 1 - place
        ranks = self.first + place if best_first else self.last - from_end
        return JudgedRun.from_entries(
            run.judgements, run.retrieved, run.queries, ranks, run.pairs[order]
        )

    @property
    def _offsets(self) -> Ints:
        """The beginning of the entries of each group, and the end of the last."""
        is_new = np.ones(len(self.first) + 1, dtype=bool)
        queries = self.run.queries
        is_new[1:-1] = (queries[1:] != queries[:-1]) | (self.first[1:] != self.first[:-1])
        return np.flatnonzero(is_new)

    def groups(
        self, gains: Floats | Bools, cutoff: int | None, *, judged_only: bool = False
    ) -> TieGroups:
        """The groups of equal scores with a document that gains something.

        Args:
            gains: the gain of each entry, at least 0, shape (E,).
            cutoff: the rank below which nothing counts; None: no cut-off.
            judged_only: whether unjudged documents are removed.
        """
        run, first, last = self.run, self.first, self.last
        keep = gains > 0
        if judged_only:
            judged = run.grades >= 0
            group = queries_of(self._offsets)
            sizes = np.bincount(group[judged], minlength=len(self._offsets) - 1)
            begins = cumulate(sizes)
            before = cumulate(np.bincount(run.queries[judged], minlength=len(run.judgements)))
            first = begins[group] - before[run.queries] + 1
            last = first + sizes[group] - 1
            keep &= judged
        return TieGroups.of(
            run.queries[keep],
            first[keep],
            last[keep],
            gains[keep].astype(np.float64),
            len(run.judgements),
            cutoff,
        )
