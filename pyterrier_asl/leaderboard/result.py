"""A leaderboard with intervals of ranks: tables, sentences, chart, LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..assessment.human_range import verdicts
from ..assessment.judges import Judges
from ..charts.forms import CROWDED, alt, category, figure, inline_rows, ranges, tooltips
from ..charts.scales import around, whole_numbers
from ..io.lazy import pd
from ..io.names import OVERALL, check_names
from ..io.notices import counted
from ..io.printed import Part, Printed
from ..measures.names import NamedMeasure
from ..statistics.rank_intervals import RankIntervals, joint_ranks
from .samples import Sample
from .sentences import STAR, conditions, confidence, headlines


@dataclass(frozen=True, repr=False, eq=False)
class Leaderboard(Printed):
    """The result of :func:`~pyterrier_asl.ranks`. Frames by system have the best mean first.

    Attributes:
        table: one row per system, the best mean first: ``name``, ``mean`` (by the first judge),
            ``rank`` (equal means share a rank), ``low`` and ``high``, the ranks that the system
            could have, from 1; ``possibly_first`` (``low`` is 1); ``could_be_best``, missing if it
            was not computed. With several collections first ``track``: ``overall``, or the
            collection.
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
        board_by: makes the leaderboard by some of the judges.
    """

    table: pd.DataFrame
    better: pd.DataFrame
    p: pd.DataFrame
    critical: list[Any]
    measure: str
    higher_is_better: bool
    names: list[str]
    topics: int
    alpha: float
    statistic: pd.DataFrame
    draws: int
    judges: list[str]
    difference_interval: tuple[float, float] | None = None
    unjudged: bool = False
    left_out: int = 0
    tracks: dict[str, Leaderboard] = field(default_factory=dict)
    better_everywhere: pd.DataFrame | None = None
    means: pd.DataFrame | None = None
    simultaneous: bool = False
    judged_runs: dict[str, Judges] = field(default_factory=dict)
    named_measure: NamedMeasure | None = None
    board_by: Callable[[Sequence[str]], Leaderboard] | None = None

    @property
    def overall(self) -> pd.DataFrame:
        """The rows of the table for all topics together."""
        if "track" not in self.table:
            return self.table
        rows = self.table[self.table["track"] == OVERALL]
        return rows.drop(columns="track").reset_index(drop=True)

    def pairs(self) -> pd.DataFrame:
        """A row for each pair of systems, the one with the better mean first.

        Returns:
            ``a``, ``b``, ``difference`` (of the means, by the first judge), ``statistic``, ``p``,
            adjusted for all pairs (0 means less than 1 / :attr:`draws`), and ``ordered``: a is
            better than b, as p is at most :attr:`alpha`. For two systems
            :attr:`difference_interval` is the confidence interval of the difference.
        """
        a, b = np.triu_indices(len(self.names), k=1)
        names, means = np.array(self.names, dtype=object), self.overall["mean"].to_numpy()
        return pd.DataFrame(
            {
                "a": names[a],
                "b": names[b],
                "difference": means[a] - means[b],
                "statistic": self.statistic.to_numpy()[a, b],
                "p": self.p.to_numpy()[a, b],
                "ordered": self.better.to_numpy()[a, b],
            }
        )

    def sentences(self) -> list[str]:
        """Sentences on who could be the best, and on the conditions of the intervals."""
        return [*headlines(self), *conditions(self)]

    @property
    def stars(self) -> list[bool]:
        """For each system: whether a system with the best mean is better (the pair is ordered)."""
        leads = (self.overall["rank"] == 1).to_numpy()
        return [bool(self.better.loc[leads, name].any()) for name in self.names]

    def shown(self) -> pd.DataFrame:
        """The table for readers: systems, means (also of several collections), and ranks."""
        rows = self.overall
        columns: dict[str, Any] = {"name": rows["name"]}
        if self.means is not None:
            columns |= {str(track): self.means[track].to_numpy() for track in self.means}
        columns |= {"mean": rows["mean"], STAR: [STAR * star for star in self.stars]}
        columns["rank"] = rows["rank"]
        columns["ranks"] = [interval(*ends) for ends in zip(rows["low"], rows["high"])]
        if rows["could_be_best"].notna().all():
            columns["could be the best"] = rows["could_be_best"]
        return pd.DataFrame(columns)

    def parts(self) -> Iterator[Part]:
        """Who could be the best, the table, then the conditions of the intervals."""
        yield from map(Part, headlines(self))
        yield Part()
        yield Part(table=self.shown(), style={"higher_is_better": self.directions()})
        if rest := conditions(self):
            yield from map(Part, ["", *rest])

    @cached_property
    def verdicts(self) -> pd.DataFrame | None:
        """Kappa and tau of each further judge with the judge of the qrels, and the human range.

        For the columns see :func:`~pyterrier_asl.assessment.human_range.verdicts`; with several
        collections ``track`` comes first. None without further judges.
        """
        if len(self.judges) < 2 or self.named_measure is None:
            return None
        measure = {self.named_measure.name: self.named_measure.measure}
        tables = {
            track: verdicts(judges.select(self.judges), measure)
            for track, judges in self.judged_runs.items()
        }
        table = pd.concat(tables, names=["track"]).reset_index("track").reset_index(drop=True)
        return table if self.tracks or len(tables) > 1 else table.drop(columns="track")

    def without(self, *judges: str) -> Leaderboard:
        """The leaderboard without some of the judges.

        Raises:
            ValueError: for a name that is not a judge's, or for all judges.
        """
        check_names("without", judges, self.judges, "judges")
        kept = [judge for judge in self.judges if judge not in judges]
        if not kept or self.board_by is None:
            raise ValueError("all judges are left out: keep at least one")
        board = self.board_by(kept)
        return replace(board, judged_runs=self.judged_runs, named_measure=self.named_measure)

    def directions(self) -> dict[str, bool]:
        """The direction of each column of means."""
        tracks = [] if self.means is None else list(map(str, self.means))
        return dict.fromkeys([*tracks, "mean"], self.higher_is_better)

    def chart(self) -> alt.TopLevelMixin:
        """A bar from the best to the worst rank of each system, a dot at its rank by the mean.

        A star after the bar: a system with the best mean is better.
        """
        rows = self.overall.assign(low=self.overall["low"].astype(int))
        rows["star"] = [STAR * star for star in self.stars]
        shown, color = ["name:N", "mean:Q", "rank:Q", "low:Q", "high:Q"], alt.Undefined
        if rows["could_be_best"].notna().all():
            rows["could_be_best"] = np.where(rows["could_be_best"].astype(bool), "yes", "no")
            shown.append("could_be_best:N")
            color = category("could_be_best", "could be the best", domain=("yes", "no"))
        base = alt.Chart(inline_rows(rows)).encode(
            y=alt.Y("name:N", sort=self.names, title=None), color=color, tooltip=tooltips(*shown)
        )
        caption = (
            f"{counted(self.topics, 'topic')}; with {confidence(self.alpha)} confidence all "
            "intervals hold at once. Dot: the rank by the mean."
        )
        if any(self.stars):
            caption += f" {STAR}: significantly worse than a system with the best mean."
        stars = base.mark_text(align="left", dx=7, dy=3).encode(
            x=alt.X("high:Q", title="rank"), text="star:N"
        )
        most = int(rows["high"].max())
        axis = alt.Axis(values=whole_numbers(1, most), format="d")
        scale = alt.Scale(domain=around([1, most]))
        bars = ranges(base, "low", "rank", "high", "rank", axis=axis, scale=scale) + stars
        return figure(bars, f"Ranks by {self.measure}", caption, rows=CROWDED)


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
    table = pd.DataFrame(
        {
            "name": names,
            "mean": sample.means[order],
            "rank": rank[order],
            "low": intervals.low[order],
            "high": intervals.high[order],
            "possibly_first": intervals.low[order] == 1,
            "could_be_best": pd.array([pd.NA] * len(names), "boolean")
            if best is None
            else best[order],
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
