"""A leaderboard with intervals of ranks that prints itself: sentences, chart, LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..assessment.compare_judges import JudgeReport, summary_of
from ..assessment.judges import Judges
from ..common.lazy import pd
from ..common.notices import counted, names_of
from ..common.parameters import check_name
from ..evaluation.collections import OVERALL
from ..evaluation.facts import joined_notes
from ..printing.printed import Part, Printed
from ..printing.table_lines import format_value
from ..printing.tables import latex
from ..statistics.settings import FEWEST
from . import charts
from .numbers import STAR, confidence, p_text, places_of_interval
from .odd_runs import topics_without_difference

if TYPE_CHECKING:
    from ..charts.drawing import alt

#: The charts of a leaderboard.
KINDS = ("ranks", "queries")


@dataclass(frozen=True, repr=False, eq=False)
class Leaderboard(Printed):
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
        alone: with unjudged documents, sentences on the runs that alone retrieved most of them.
        left_out: the number of topics that a judge lacks.
        tracks: with several collections the leaderboard of each that has 10 topics.
        better_everywhere: whether the row's system is better than the column's in each collection;
            None for a single collection, or if a collection has fewer than 10 topics.
        means: the mean of each system (rows) in each collection; None for a single collection.
        judged_runs: with several judges the runs and judges by collection.
        named_measure: the measure with its name; None without runs.
        limits: sentences on why the intervals may hold less often than their level.
        notes: sentences on what must be known of the runs and the qrels.
        doubts: a sentence on the runs with which no comparison can be trusted, if there are any.
        top: the number of systems in printed tables, the first ones; None: all. Frames, intervals
            and sentences are of all systems.
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
    values: pd.DataFrame
    difference_interval: tuple[float, ...] | None = None
    unjudged: bool = False
    alone: list[str] = field(default_factory=list)
    left_out: int = 0
    tracks: dict[str, Leaderboard] = field(default_factory=dict)
    better_everywhere: pd.DataFrame | None = None
    means: pd.DataFrame | None = None
    judged_runs: dict[str, Judges] = field(default_factory=dict)
    named_measure: Any = None
    limits: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    top: int | None = None

    @property
    def overall(self) -> pd.DataFrame:
        """The rows of the table for all topics together."""
        if "track" not in self.table:
            return self.table
        return self.table.set_index("track").loc[[OVERALL]].reset_index(drop=True)

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

    @property
    def stars(self) -> list[bool]:
        """For each system: whether a system with the best mean is better (the pair is ordered)."""
        leads = (self.overall["rank"] == 1).to_numpy()
        return [bool(self.better.loc[leads, name].any()) for name in self.names]

    @cached_property
    def judge_summaries(self) -> dict[str, JudgeReport]:
        """The judges of each collection compared with the judge of the qrels, if there are more."""
        return {
            track: summary_of(judges.select(self.judges), [self.named_measure], alpha=self.alpha)
            for track, judges in self.judged_runs.items()
        }

    def sentences(self) -> list[str]:
        """Sentences on who could be the best, and on the conditions of the intervals."""
        return [*self.doubts, *headlines(self), *remarks(self)]

    def shown(self) -> pd.DataFrame:
        """The table for readers: the first systems, their means (by collection, too), and ranks."""
        rows = self.overall
        return pd.DataFrame(
            {
                "name": rows["name"],
                **({} if self.means is None else dict(zip(self.means, self.means.to_numpy().T))),
                "mean": rows["mean"],
                STAR: [STAR * star for star in self.stars],
                "rank": rows["rank"],
                "ranks": [
                    f"{low}" if low == high else f"{low}-{high}"
                    for low, high in zip(rows["low"], rows["high"])
                ],
                "could be the best": rows["could_be_best"],
            }
        ).head(self.top or len(rows))

    def parts(self) -> Iterator[Part]:
        """Who could be the best, the table, then the conditions of the intervals."""
        yield from map(Part, [*self.doubts, *headlines(self), ""])
        yield Part(table=self.shown(), style={"higher_is_better": self.directions()})
        if rest := [*remarks(self), *self.limits, *self.notes]:
            yield from map(Part, ["", *rest])

    def directions(self) -> dict[str, bool]:
        """The direction of each column of means."""
        tracks = () if self.means is None else map(str, self.means)
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
        if kind == "queries":
            return charts.chart_of_queries(self.values, self.measure)
        rows = self.overall.assign(star=[STAR * star for star in self.stars])
        return charts.chart_of_ranks(rows, self.measure, self.topics, self.alpha)


# Sentences


def headlines(board: Leaderboard) -> list[str]:
    """Sentences on the best systems and on significantly better ones."""
    if len(board.names) == 1:
        return [f"There is a single system, {board.names[0]}: its rank is 1."]
    if len(board.names) == 2:
        return [_two(board)]
    return [*_best(board), *_leader(board), _better(board)]


def remarks(board: Leaderboard) -> list[str]:
    """Sentences on the conditions of the headlines."""
    if len(board.names) == 1:
        return []
    return [
        *legend(board),
        *topics_without_difference(board.values.to_numpy(), board.measure),
        *_holds_for(board),
        *_collections(board),
    ]


def _two(board: Leaderboard) -> str:
    """Of two systems: whether one is better, with the interval that belongs to the p-value."""
    pair, between = board.pairs().iloc[0], board.difference_interval or (math.nan, math.nan)
    # Only for systems that are equal for every topic both ends are 0.
    if not any(between):
        return (
            f"{pair['a']} and {pair['b']} have the same {board.measure} for each of "
            f"{counted(board.topics, 'topic')}."
        )
    places = places_of_interval(between, 4) if pair["ordered"] else 4
    numbers = [format_value(value, places) for value in (float(pair["difference"]), *between)]
    answer = (
        f"{pair['a']} is significantly better than {pair['b']} by {board.measure}"
        if pair["ordered"]
        else f"{counted(board.topics, 'topic')} do not show whether {pair['a']} or {pair['b']} is "
        f"better by {board.measure}"
    )
    judges = len(board.judges)
    by, over = f" by {board.judges[0]}" * (judges > 1), f" over all {judges} judges" * (judges > 1)
    return (
        f"{answer}: the difference of the means{by} is {numbers[0]}, its {confidence(board.alpha)} "
        f"interval{over} [{numbers[1]}, {numbers[2]}], "
        f"{p_text(float(pair['p']), board.draws, board.alpha)} (sign flips)."
    )


def _best(board: Leaderboard) -> Iterator[str]:
    rows = board.overall
    best = rows[rows["could_be_best"]]
    systems, by = len(rows), f"by {board.measure} ({counted(board.topics, 'topic')})"
    if len(best) == 1:
        yield f"Only {best['name'].iloc[0]} could be the best of {systems} systems {by}."
    elif len(best) == systems:
        yield f"Each of the {systems} systems could be the best {by}."
    else:
        yield f"{len(best)} of {systems} systems could be the best {by}."
    if later := best["name"][best["low"] > 1].tolist():
        yield (
            f"Rank 1 is outside the interval of {names_of(later)}: the intervals are about all "
            "pairs together, but who could be the best is tested system by system, at level "
            f"{board.alpha / 2:g}."
        )


def _better(board: Leaderboard) -> str:
    systems, number = len(board.names), int(board.better.to_numpy().sum())
    pairs = math.comb(systems, 2)
    share = f"all {pairs:,}" if number == pairs else f"{number:,} of {pairs:,}"
    better = f"One system is significantly better than the other in {share} pairs"
    return (
        f"{better if number else 'No two systems are significantly different'} (all pairs: "
        f"corrected p at most {board.alpha:g}). With {confidence(board.alpha)} confidence all "
        f"{systems} intervals of ranks hold at once."
    )


def _leader(board: Leaderboard) -> Iterator[str]:
    leaders = board.overall[board.overall["rank"] == 1]
    low, high = int(leaders["low"].min()), int(leaders["high"].max())
    ranks = f"{low}" if low == high else f"between {low} and {high}"
    if len(leaders) == 1:
        yield f"{board.names[0]} has the best mean {board.measure}; its rank is {ranks}."
    elif len(leaders) == len(board.names):
        yield f"All systems have the same mean {board.measure}."
    else:
        share = f"{names_of(leaders['name'].tolist())} share the best mean {board.measure}"
        yield f"{share}; their ranks are {ranks}."


def legend(board: Leaderboard) -> Iterator[str]:
    """What the table leaves out, and the meaning of the stars, if there are any."""
    if board.top and board.top < len(board.names):
        yield f"The table has the first {board.top} of {len(board.names)} systems."
    if any(board.stars[: board.top]):
        yield (
            f"{STAR}: significantly worse than a system with the best mean (all pairs: corrected p "
            f"at most {board.alpha:g})."
        )


def caption(board: Leaderboard) -> str:
    """The caption of a table: contents, number of topics, test, family, and legend."""
    over = "" if board.means is None else f" over {board.means.shape[1]} collections"
    sentences = [
        f"Ranks by {board.measure}{over}, {counted(board.topics, 'topic')}. Bold: the best mean."
    ]
    if len(board.names) > 1:
        sentences += [
            f"Ranks: {confidence(board.alpha)} intervals that hold for all systems at once.",
            "Could be the best: no other system is shown to be better.",
            *legend(board),
            f"Test: sign flips of the topics' differences, {_counted_pairs(board)}, step-down "
            "maxima.",
        ]
    return " ".join(sentences)


def pairs_caption(board: Leaderboard) -> str:
    """The caption of a table of all pairs."""
    return (
        f"{_counted_pairs(board)} of systems by {board.measure}, {counted(board.topics, 'topic')}: "
        "difference of the means, a less b. p is corrected for all pairs (sign flips of the "
        f"topics' differences, step-down maxima); ordered: p at most {board.alpha:g}."
    )


def _counted_pairs(board: Leaderboard) -> str:
    return counted(math.comb(len(board.names), 2), "pair")


def _holds_for(board: Leaderboard) -> Iterator[str]:
    if board.unjudged:
        yield "This holds for all labels of the unjudged documents of these runs."
        yield from board.alone
    if len(board.judges) > 1:
        yield (
            f"This holds whichever of these judges is right: {', '.join(board.judges)}. If no "
            "judge is right, the intervals say nothing."
        )
        yield f"Means and their differences are by {board.judges[0]}."
        yield from joined_notes(
            {
                track: [*judges.best, *judges.lines().values(), *judges.unknown]
                for track, judges in board.judge_summaries.items()
            }
        )
    if board.left_out:
        topics, verb = counted(board.left_out, "topic"), "is" if board.left_out == 1 else "are"
        yield f"{topics} that not every judge has {verb} left out."
    yield (
        f"The intervals are about the population of topics that these {board.topics} are a sample "
        "of. They account for choosing a system after looking at the table, not for tuning on the "
        "same topics."
    )


def _collections(board: Leaderboard) -> Iterator[str]:
    if board.means is None:
        return
    tracks = list(map(str, board.means))
    yield (
        f"Overall is the mean of the means of {len(tracks)} collections. The collections were "
        "chosen, not drawn, so the intervals are about these collections only."
    )
    if small := [track for track in tracks if track not in board.tracks]:
        yield (
            f"{names_of(small)} {'has' if len(small) == 1 else 'have'} fewer than {FEWEST} topics, "
            "too few for intervals, so pairs are not compared in every collection."
        )
    if board.better_everywhere is not None:
        number = int(board.better_everywhere.to_numpy().sum())
        yield (
            f"{number:,} of {_counted_pairs(board)} {'has' if number == 1 else 'have'} the same "
            "significantly better system in every collection."
            if number
            else "No system is significantly better than another in every collection."
        )
    if board.tracks:
        is_alone = {of_track.alpha for of_track in board.tracks.values()} == {board.alpha}
        which = "each single collection hold" if is_alone else "all collections hold at once"
        yield f"The intervals of {which} with {confidence(board.alpha)} confidence."
