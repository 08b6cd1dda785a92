"""Sentences on a leaderboard: who could be the best, and which systems are better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..io.notices import counted, names_of
from ..io.table_forms import format_value
from ..statistics.inputs import FEWEST
from .board import Board

#: The mark of a system if a system with the best mean is significantly better.
STAR = "*"


def headlines(board: Board) -> list[str]:
    """Sentences on the best systems and on significantly better ones."""
    return ["".join(map(str, parts)) for parts in linked_headlines(board)]


@dataclass(frozen=True)
class Words:
    """Words of a headline that a page can link: ``'best'``, the best system, or ``'count'``."""

    text: str
    what: str

    def __str__(self) -> str:
        return self.text


def linked_headlines(board: Board) -> list[list[str | Words]]:
    """The parts of each headline."""
    if len(board.names) == 1:
        return [[f"There is a single system, {board.names[0]}: its rank is 1."]]
    if len(board.names) == 2:
        return [[_two(board)]]
    return [*_best(board), *_leader(board), _better(board)]


def conditions(board: Board) -> list[str]:
    """Sentences on the conditions of the answers."""
    if len(board.names) == 1:
        return []
    sentences = [*legend(board), *_holds_for(board)]
    return sentences if board.means is None else [*sentences, *_collections(board)]


def confidence(alpha: float) -> str:
    """1 - alpha in words, such as 95 %."""
    return f"{100 * (1 - alpha):g} %"


def p_text(p: float, draws: int, alpha: float) -> str:
    """A p-value with its sign; 0 means less than 1 / draws.

    >>> p_text(0.03, 10_000, 0.05), p_text(0.0, 10_000, 0.05), p_text(0.0, 1024, 0.05)
    ('p = 0.0300', 'p < 0.0001', 'p < 0.00098')
    """
    return f"p = {p:.{places_of_p(p, alpha, 4)}f}" if p else f"p < {1 / draws:.2g}"


def places_of_p(p: float, alpha: float, least: int) -> int:
    """The decimal places of a p-value, so that the printed one is at most alpha if it is itself.

    >>> places_of_p(0.05005, 0.05, 4), places_of_p(0.0503, 0.05, 3), places_of_p(0.051, 0.05, 3)
    (5, 4, 3)
    """
    return next((n for n in range(least, 18) if (round(p, n) <= alpha) == (p <= alpha)), least)


def places_of_interval(ends: Sequence[float], least: int) -> int:
    """The decimal places of an interval without 0, so that no end is printed as 0.

    >>> places_of_interval((0.00002, 0.3), 4), places_of_interval((0.2, 0.3), 4)
    (5, 4)
    """
    return next((n for n in range(least, 18) if all(np.round(ends, n))), least)


def _two(board: Board) -> str:
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
    p = p_text(float(pair["p"]), board.draws, board.alpha)
    several = len(board.judges) > 1
    by = f" by {board.judges[0]}" if several else ""
    over = f" over all {len(board.judges)} judges" if several else ""
    return (
        f"{answer}: the difference of the means{by} is {numbers[0]}, its {confidence(board.alpha)} "
        f"interval{over} [{numbers[1]}, {numbers[2]}], {p} (sign flips)."
    )


def _best(board: Board) -> Iterator[list[str | Words]]:
    rows = board.overall
    best = rows[rows["could_be_best"]]
    systems, by = len(rows), f"by {board.measure} ({counted(board.topics, 'topic')})"
    if len(best) == 1:
        only = Words(best["name"].iloc[0], "best")
        yield ["Only ", only, f" could be the best of {systems} systems {by}."]
    elif len(best) == systems:
        yield [f"Each of the {systems} systems could be the best {by}."]
    else:
        count = Words(f"{len(best)} of {systems} systems", "count")
        yield [count, f" could be the best {by}."]
    if later := best["name"][best["low"] > 1].tolist():
        yield [
            f"Rank 1 is outside the interval of {names_of(later)}: the intervals are about all "
            "pairs together, but who could be the best is tested system by system, at level "
            f"{board.alpha / 2:g}."
        ]


def _better(board: Board) -> list[str | Words]:
    systems, number = len(board.names), int(board.better.to_numpy().sum())
    pairs = systems * (systems - 1) // 2
    share = f"all {pairs:,}" if number == pairs else f"{number:,} of {pairs:,}"
    better = f"One system is significantly better than the other in {share} pairs"
    return [
        f"{better if number else 'No two systems are significantly different'} (all pairs: "
        f"corrected p at most {board.alpha:g}). With {confidence(board.alpha)} confidence all "
        f"{systems} intervals of ranks hold at once."
    ]


def _leader(board: Board) -> Iterator[list[str | Words]]:
    leaders = board.overall[board.overall["rank"] == 1]
    low, high = int(leaders["low"].min()), int(leaders["high"].max())
    ranks = f"{low}" if low == high else f"between {low} and {high}"
    if len(leaders) == 1:
        leader = Words(leaders["name"].iloc[0], "best")
        yield [leader, f" has the best mean {board.measure}; its rank is {ranks}."]
    elif len(leaders) == len(board.names):
        yield [f"All systems have the same mean {board.measure}."]
    else:
        share = f"{names_of(leaders['name'].tolist())} share the best mean {board.measure}"
        yield [f"{share}; their ranks are {ranks}."]


def legend(board: Board) -> Iterator[str]:
    """The meaning of the stars, if there are any."""
    if any(board.stars):
        yield (
            f"{STAR}: significantly worse than a system with the best mean (all pairs: corrected p "
            f"at most {board.alpha:g})."
        )


def caption(board: Board) -> str:
    """The caption of a table: contents, number of topics, test, family, and legend."""
    systems = len(board.names)
    over = "" if board.means is None else f" over {board.means.shape[1]} collections"
    sentences = [
        f"Ranks by {board.measure}{over}, {counted(board.topics, 'topic')}. Bold: the best mean."
    ]
    if systems > 1:
        pairs = counted(systems * (systems - 1) // 2, "pair")
        sentences += [
            f"Ranks: {confidence(board.alpha)} intervals that hold for all systems at once.",
            "Could be the best: no other system is shown to be better.",
            *legend(board),
            f"Test: sign flips of the topics' differences, {pairs}, step-down maxima.",
        ]
    return " ".join(sentences)


def pairs_caption(board: Board) -> str:
    """The caption of a table of all pairs."""
    pairs = counted(len(board.names) * (len(board.names) - 1) // 2, "pair")
    return (
        f"{pairs} of systems by {board.measure}, {counted(board.topics, 'topic')}: difference of "
        "the means, a less b. p is corrected for all pairs (sign flips of the topics' differences, "
        f"step-down maxima); ordered: p at most {board.alpha:g}."
    )


def _holds_for(board: Board) -> Iterator[str]:
    if board.unjudged:
        yield "This holds for all labels of the unjudged documents of these runs."
    if len(board.judges) > 1:
        yield (
            f"This holds whichever of these judges is right: {', '.join(board.judges)}. If no "
            "judge is right, the intervals say nothing."
        )
        yield f"Means and their differences are by {board.judges[0]}."
        for track, judges in board.judge_summaries.items():
            for sentence in [*judges.best, *judges.lines().values(), *judges.unknown]:
                yield f"{track}: {sentence}" if track else sentence
    if board.left_out:
        topics, verb = counted(board.left_out, "topic"), "is" if board.left_out == 1 else "are"
        yield f"{topics} that not every judge has {verb} left out."
    yield (
        f"The intervals are about the population of topics that these {board.topics} are a sample "
        "of. They account for choosing a system after looking at the table, not for tuning on the "
        "same topics."
    )


def _collections(board: Board) -> Iterator[str]:
    assert board.means is not None
    tracks = list(map(str, board.means))
    yield (
        f"Overall is the mean of the means of {len(tracks)} collections. The collections were "
        "chosen, not drawn, so the intervals are about these collections only."
    )
    if small := [track for track in tracks if track not in board.tracks]:
        has = "has" if len(small) == 1 else "have"
        yield (
            f"{names_of(small)} {has} fewer than {FEWEST} topics, too few for intervals, so pairs "
            "are not compared in every collection."
        )
    if board.better_everywhere is not None:
        number, systems = int(board.better_everywhere.to_numpy().sum()), len(board.names)
        has, pairs = "has" if number == 1 else "have", counted(systems * (systems - 1) // 2, "pair")
        yield (
            f"{number:,} of {pairs} {has} the same significantly better system in every collection."
            if number
            else "No system is significantly better than another in every collection."
        )
    if board.tracks:
        yield (
            f"The intervals of all collections hold at once with {confidence(board.alpha)} "
            "confidence."
            if board.simultaneous
            else f"The intervals of each single collection hold with {confidence(board.alpha)} "
            "confidence."
        )
