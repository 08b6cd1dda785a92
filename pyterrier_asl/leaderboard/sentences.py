"""Sentences on a leaderboard: who could be the best, and which pairs are ordered."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from ..assessment.human_range import BELOW
from ..io.names import names_of
from ..io.tables import counted
from .samples import FEWEST

if TYPE_CHECKING:
    from .result import Leaderboard


def sentences_of(board: Leaderboard) -> list[str]:
    """Sentences on the best systems, on the ordered pairs, and on what both hold for."""
    if len(board.names) == 1:
        return [f"There is a single system, {board.names[0]}: its rank is 1."]
    parts = [_best(board), _ranks(board), _leader(board), _holds_for(board)]
    if board.means is not None:
        parts.append(_collections(board))
    return [sentence for part in parts for sentence in part]


def confidence(alpha: float) -> str:
    """1 - alpha in words, such as 95 %."""
    return f"{100 * (1 - alpha):g} %"


def _best(board: Leaderboard) -> Iterator[str]:
    rows = board.overall
    if rows["could_be_best"].isna().any():
        return
    best, topics = rows["name"][rows["could_be_best"].astype(bool)], board.topics
    if len(best) == 1:
        yield f"{topics} topics say who is best of {len(rows)} systems: {best.iloc[0]}."
    else:
        candidates = (
            f"each of the {len(rows)}" if len(best) == len(rows) else f"{len(best)} of {len(rows)}"
        )
        yield f"{topics} topics do not say who is best: {candidates} systems could be."


def _ranks(board: Leaderboard) -> Iterator[str]:
    first = board.overall["name"][board.overall["possibly_first"]]
    systems, ordered = len(board.names), int(board.better.to_numpy().sum())
    pairs = systems * (systems - 1) // 2
    could = (
        f"only {first.iloc[0]} could be first"
        if len(first) == 1
        else f"{'each' if len(first) == systems else len(first)} of them could be first"
    )
    which = (
        f"the only pair is {'' if ordered else 'not '}ordered"
        if pairs == 1
        else "no pair is ordered"
        if not ordered
        else f"all {pairs:,} pairs are ordered"
        if ordered == pairs
        else f"{ordered:,} of {pairs:,} pairs {'is' if ordered == 1 else 'are'} ordered"
    )
    yield (
        f"With {confidence(board.alpha)} confidence the intervals of all {systems} systems hold at "
        f"once: {could}, and {which}."
    )


def _leader(board: Leaderboard) -> Iterator[str]:
    leaders = board.overall[board.overall["rank"] == 1]
    low, high = int(leaders["low"].min()), int(leaders["high"].max())
    ranks = f"{low}" if low == high else f"between {low} and {high}"
    if len(leaders) == 1:
        yield f"{leaders['name'].iloc[0]} has the best mean {board.measure}; its rank is {ranks}."
    elif len(leaders) == len(board.names):
        yield f"All systems have the same mean {board.measure}."
    else:
        share = f"{names_of(leaders['name'].tolist())} share the best mean {board.measure}"
        yield f"{share}; their ranks are {ranks}."


def _holds_for(board: Leaderboard) -> Iterator[str]:
    if board.unjudged:
        yield "This holds whatever the unjudged documents of these runs are."
    if len(board.judges) > 1:
        yield (
            f"This holds whichever of these judges is right: {', '.join(board.judges)}. It says "
            "nothing if none is."
        )
        yield from _verdicts(board)
    if board.left_out:
        topics, verb = counted(board.left_out, "topic"), "is" if board.left_out == 1 else "are"
        yield f"{topics} that not every judge has {verb} left out."
    yield (
        "It speaks of topics like these, if they are a random sample, and of systems that were not "
        "tuned on them."
    )


def _verdicts(board: Leaderboard) -> Iterator[str]:
    """The verdict on each judge; the pairs that are ordered without one below the human range."""
    verdicts = board.verdicts
    if verdicts is None:
        return
    several = "track" in verdicts
    for row in verdicts.itertuples():
        yield f"{row.track}: {row.sentence}" if several else str(row.sentence)
    for judge, rows in verdicts[verdicts["verdict"] == BELOW].groupby("judge", sort=False):
        rest = board.without(str(judge))
        could = counted(int(rest.overall["possibly_first"].sum()), "system")
        kinds = " and ".join(dict.fromkeys(rows["agreement"]))
        yield (
            f"{judge} is below the human range ({kinds}). Without {judge} {could} could be first, "
            f"and {int(rest.better.to_numpy().sum()):,} pairs are ordered."
        )


def _collections(board: Leaderboard) -> Iterator[str]:
    assert board.means is not None
    tracks = list(map(str, board.means))
    yield (
        f"Overall is the mean of the means of {len(tracks)} collections. These were chosen, not "
        "drawn: nothing is said of others."
    )
    if small := [track for track in tracks if track not in board.tracks]:
        yield (
            f"There are fewer than {FEWEST} topics in {names_of(small)}, so nothing is said of "
            "every collection."
        )
    if board.better_everywhere is not None:
        number, systems = int(board.better_everywhere.to_numpy().sum()), len(board.names)
        pairs = counted(systems * (systems - 1) // 2, "pair")
        ordered = f"{number:,} of {pairs}" if number else f"none of {pairs}"
        yield f"In every collection one system is better than the other in {ordered}."
    yield from _disagreements(board)
    if board.tracks:
        what = "The tables of all collections hold at once"
        if not board.simultaneous:
            what = "The table of each collection holds by itself"
        yield f"{what} with {confidence(board.alpha)} confidence."


def _disagreements(board: Leaderboard) -> Iterator[str]:
    """The collections that put pairs in opposite orders, two by two."""
    disagree = False
    for (first, a), (second, b) in combinations(board.tracks.items(), 2):
        by_second = b.better.loc[a.names, a.names].to_numpy()
        opposite = (a.better.to_numpy() & by_second.T).nonzero()
        if number := len(opposite[0]):
            disagree = True
            x, y = (a.names[at[0]] for at in opposite)
            yield (
                f"{first} and {second} put {counted(number, 'pair')} in opposite orders, such as "
                f"{x} and {y}."
            )
    if len(board.tracks) > 1 and not disagree:
        yield "No two collections put a pair in opposite orders."
