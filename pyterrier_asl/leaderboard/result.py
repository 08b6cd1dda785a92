"""A leaderboard with intervals of ranks that prints itself: sentences, chart, LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..charts.forms import (
    BESIDE_NAMES,
    CROWDED,
    ROW,
    alt,
    category,
    figure,
    inline_rows,
    ranges,
    tooltips,
)
from ..charts.scales import around, whole_numbers
from ..io.lazy import pd
from ..io.names import OVERALL
from ..io.notices import counted
from ..io.printed import Part, Printed
from ..io.tables import latex
from ..statistics.inputs import check_name
from ..statistics.rank_intervals import RankIntervals, joint_ranks
from .board import Board
from .samples import Sample
from .sentences import STAR, caption, conditions, confidence, headlines

#: The most pixels of a chart of topics; of more topics some have no names.
_MOST_WIDE = 2400

#: The charts of a leaderboard.
KINDS = ("ranks", "queries")


@dataclass(frozen=True, repr=False, eq=False)
class Leaderboard(Board, Printed):
    """The result of :func:`~pyterrier_asl.ranks`. Frames by system have the best mean first.

    Attributes:
        table: one row per system, the best mean first: ``name``, ``mean`` (by the first judge),
            ``rank`` (equal means share a rank), ``low`` and ``high``, the ranks that the system
            could have, from 1; ``possibly_first`` (``low`` is 1); ``could_be_best``. With several
            collections first ``track``: ``overall``, or the collection.
        better: whether the row's system is better than the column's.
        p: the p-value of each pair, adjusted for all pairs: at most ``alpha`` exactly where the
            pair is ordered. 0 means less than ``1 / draws``. With several judges the greatest, and
            1 if the judges disagree on which of the two is better.
        critical: the critical value of each step; with several judges one list per judge.
        measure: the name of the measure.
        higher_is_better: the direction of the measure.
        names: the systems, the best mean first.
        topics: the number of topics.
        alpha: the probability that any pair is put in the wrong order.
        statistic: the difference, row's less column's, higher being better, divided by its standard
            error; with several judges by the first, with unjudged documents the least difference.
        draws: the number of sign vectors behind each p-value.
        judges: the judges; the result holds whichever of them is right.
        values: the value of each system (rows) for each topic, by the first judge.
        difference_interval: for two systems the confidence interval of the difference in
            :meth:`pairs`, in the unit of the measure; it excludes 0 exactly where the pair is
            ordered. None for more systems. With several judges from the lowest to the highest end
            of their intervals.
        unjudged: whether the result holds for all labels of the unjudged documents.
        left_out: the number of topics that a judge lacks.
        tracks: with several collections the leaderboard of each that has 10 topics.
        better_everywhere: whether the row's system is better than the column's in each collection;
            None for a single collection, or if a collection has fewer than 10 topics.
        means: the mean of each system (rows) in each collection; None for a single collection.
        simultaneous: whether the tables of all collections hold at once.
        judged_runs: with several judges the runs and judges by collection.
        named_measure: the measure with its name; None without runs.
        notes: sentences on what must be known of the runs and the qrels.
    """

    def sentences(self) -> list[str]:
        """Sentences on who could be the best, and on the conditions of the intervals."""
        return [*headlines(self), *conditions(self)]

    def shown(self) -> pd.DataFrame:
        """The table for readers: systems, means (also of several collections), and ranks."""
        rows = self.overall
        columns: dict[str, Any] = {"name": rows["name"]}
        if self.means is not None:
            columns |= {str(track): self.means[track].to_numpy() for track in self.means}
        columns |= {"mean": rows["mean"], STAR: [STAR * star for star in self.stars]}
        columns["rank"] = rows["rank"]
        columns["ranks"] = [interval(*ends) for ends in zip(rows["low"], rows["high"])]
        columns["could be the best"] = rows["could_be_best"]
        return pd.DataFrame(columns)

    def parts(self) -> Iterator[Part]:
        """Who could be the best, the table, then the conditions of the intervals."""
        yield from map(Part, headlines(self))
        yield Part()
        yield Part(table=self.shown(), style={"higher_is_better": self.directions()})
        if rest := [*conditions(self), *self.notes]:
            yield from map(Part, ["", *rest])

    def directions(self) -> dict[str, bool]:
        """The direction of each column of means."""
        tracks = [] if self.means is None else list(map(str, self.means))
        return dict.fromkeys([*tracks, "mean"], self.higher_is_better)

    def to_latex(self, *, places: int = 4) -> str:
        """The table with a caption: a ``table`` with a ``tabular`` with rules of booktabs.

        Args:
            places: decimal places.
        """
        up, above = self.directions(), caption(self)
        return latex(self.shown(), places=places, higher_is_better=up, caption=above)

    def chart(self, kind: str | None = None) -> alt.TopLevelMixin:
        """The ranks that systems could have, or their values for each topic.

        Args:
            kind: ``'ranks'``, the default: a bar from the best to the worst rank of each system, a
                dot at its rank by the mean, and a star if it is significantly worse than a system
                with the best mean; ``'queries'``: the value of each system for each topic.
        """
        check_name("kind", kind, [None, *KINDS])
        return self._chart_of_queries() if kind == "queries" else self._chart_of_ranks()

    def _chart_of_queries(self) -> alt.TopLevelMixin:
        order = [str(topic) for topic in self.values.median().sort_values(kind="stable").index]
        cells = self.values.set_axis(list(map(str, self.values)), axis=1)
        cells = cells.melt(ignore_index=False, var_name="topic").reset_index()
        drawn = (
            alt.Chart(inline_rows(cells))
            .mark_rect()
            .encode(
                x=alt.X("topic:N", sort=order, axis=alt.Axis(labelAngle=-90, ticks=False)),
                y=alt.Y("name:N", sort=self.names, title=None),
                color=alt.Color("value:Q", title=self.measure),
                tooltip=tooltips("name:N", "topic:N", "value:Q"),
            )
        )
        text = f"{counted(self.topics, 'topic')}, the lowest median at the left."
        width = max(BESIDE_NAMES, min(ROW * self.topics, _MOST_WIDE))
        return figure(drawn, f"{self.measure} by topic", text, rows=CROWDED, width=width)

    def _chart_of_ranks(self) -> alt.TopLevelMixin:
        rows = self.overall.assign(low=self.overall["low"].astype(int))
        rows["star"] = [STAR * star for star in self.stars]
        rows["could_be_best"] = np.where(rows["could_be_best"], "yes", "no")
        base = alt.Chart(inline_rows(rows)).encode(
            y=alt.Y("name:N", sort=self.names, title=None),
            color=category("could_be_best", "could be the best", domain=("yes", "no")),
            tooltip=tooltips("name:N", "mean:Q", "rank:Q", "low:Q", "high:Q", "could_be_best:N"),
        )
        text = (
            f"{counted(self.topics, 'topic')}; with {confidence(self.alpha)} confidence all "
            "intervals hold at once. Dot: the rank by the mean."
        )
        if any(self.stars):
            text += f" {STAR}: significantly worse than a system with the best mean."
        stars = base.mark_text(align="left", dx=7, dy=3).encode(
            x=alt.X("high:Q", title="rank"), text="star:N"
        )
        most = int(rows["high"].max())
        axis = alt.Axis(values=whole_numbers(1, most), format="d")
        scale = alt.Scale(domain=around([1, most]))
        bars = ranges(base, "low", "rank", "high", "rank", axis=axis, scale=scale) + stars
        return figure(bars, f"Ranks by {self.measure}", text, rows=CROWDED)


def interval(low: int, high: int) -> str:
    """The ranks from low to high.

    >>> interval(1, 21), interval(3, 3)
    ('1-21', '3')
    """
    return str(low) if low == high else f"{low}-{high}"


def board_of(
    sample: Sample, measure: str, alpha: float, by_judge: Mapping[str, RankIntervals]
) -> Leaderboard:
    """The leaderboard of a sample, by the intervals of each judge."""
    several = list(by_judge.values())
    intervals = joint_ranks(several) if len(several) > 1 else several[0]
    rank = sample.ranks
    order = np.argsort(rank, kind="stable")
    names = [sample.names[system] for system in order]
    best = intervals.possibly_best
    assert best is not None
    table = pd.DataFrame(
        {
            "name": names,
            "mean": sample.means[order],
            "rank": rank[order],
            "low": intervals.low[order],
            "high": intervals.high[order],
            "possibly_first": intervals.low[order] == 1,
            "could_be_best": best[order],
        }
    )

    def frame(matrix: Any) -> pd.DataFrame:
        return pd.DataFrame(matrix[np.ix_(order, order)], pd.Index(names, name="name"), names)

    between = None
    if intervals.least is not None:
        first, second = order
        ends = intervals.least[first, second], -intervals.least[second, first]
        low, high = sorted(sample.sign * end for end in ends)
        between = (float(low), float(high))
    return Leaderboard(
        table=table,
        better=frame(intervals.better),
        p=frame(intervals.p),
        critical=intervals.critical,
        measure=measure,
        higher_is_better=sample.higher_is_better,
        names=names,
        topics=len(sample.qids),
        alpha=alpha,
        statistic=frame(intervals.statistic),
        draws=intervals.draws,
        judges=list(by_judge),
        values=pd.DataFrame(
            next(iter(sample.values.values()))[order], pd.Index(names, name="name"), sample.qids
        ),
        difference_interval=between,
        unjudged=bool(sample.lower),
        left_out=sample.left_out,
    )


def with_tracks(
    board: Leaderboard, tracks: dict[str, Leaderboard], means: pd.DataFrame, simultaneous: bool
) -> Leaderboard:
    """Adds the leaderboards of single collections to that of all together."""
    names, everywhere = board.names, None
    if len(tracks) == means.shape[1]:
        better = [own.better.loc[names, names].to_numpy() for own in tracks.values()]
        everywhere = pd.DataFrame(np.all(better, axis=0), board.better.index, names)
    tables = {
        OVERALL: board.table,
        **{track: own.table for track, own in tracks.items()},
    }
    table = pd.concat(tables, names=["track"]).reset_index("track").reset_index(drop=True)
    return replace(
        board,
        table=table,
        tracks=tracks,
        better_everywhere=everywhere,
        means=means.loc[names],
        simultaneous=simultaneous,
    )
