"""The sentences of a comparison, from its differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..common.notices import counted, names_of
from ..measures.directions import added_up
from ..measures.parsing import measure_named
from ..statistics.rounding import EQUAL
from ..statistics.settings import FEWEST
from ..statistics.tests import PairedTest
from .differences import TESTS, RunDifference

#: A note on the comparisons that the p-values are for.
PLANNED = (
    "The p-values are for comparisons planned before looking at the results; 'ranks' says which "
    "run could be the best."
)

Differences = Sequence[RunDifference]

#: How a run can differ significantly: by a measure, or by a count.
_WAYS = ("better", "worse", "higher", "lower")


def findings(
    differences: Differences, doubts: Mapping[tuple[str, str], str], baseline: str
) -> Iterator[str]:
    """For each run by which measures it is significantly better or worse than the baseline.

    Args:
        differences: of all runs and measures.
        doubts: by run and measure, why no verdict can be trusted; '' where it can.
        baseline: the name of the baseline.
    """
    for run in dict.fromkeys(of_run.run for of_run in differences):
        own = [d for d in differences if d.run == run]
        reasons: dict[str, list[str]] = {}
        for difference in own:
            reasons.setdefault(doubts[run, difference.name], []).append(difference.name)
        trusted = reasons.pop("", [])
        for reason, names in reasons.items():
            by = f" by {names_of(names, 8)}" if len(names) < len(own) else ""
            yield f"No comparison of {run} with {baseline}{by} can be trusted: {reason}."
        if trusted:
            yield from _of_run([d for d in own if d.name in trusted], differences, baseline)


def _of_run(own: Differences, all_of_them: Differences, baseline: str) -> Iterator[str]:
    run, names = own[0].run, dict[str, list[str]]()
    for difference in own:
        kind = "equal" if difference.is_equal else "no"
        kind = way_of(difference) if difference.is_significant else kind
        names.setdefault("" if np.isnan(difference.result.p) else kind, []).append(difference.name)
    starts = {
        **{way: f"{run} is significantly {way} than {baseline} by " for way in _WAYS},
        "no": f"No significant difference of {run} from {baseline} by ",
        "equal": f"{run} is equal to {baseline} in every query by ",
    }
    for way, start in starts.items():
        if of_way := _without_equal(names.get(way, []), all_of_them):
            each = " (one test per measure)" if way in _WAYS and len(of_way) > 1 else ""
            yield f"{start}{names_of(of_way, 8)}{each}."
    reasons: dict[str, list[str]] = {}
    for difference in own:
        if difference.name in names.get("", []):
            few = f"there are fewer than {FEWEST} topics"
            reasons.setdefault(difference.untestable or few, []).append(difference.name)
    for reason, of_reason in reasons.items():
        yield f"No test can be made of {run} by {names_of(of_reason, 8)}: {reason}."


def way_of(difference: RunDifference) -> str:
    """``better`` or ``worse``; of a count ``higher`` or ``lower``."""
    up = difference.higher_is_better
    words = ("lower", "higher") if up is None else ("worse", "better")
    return words[(difference.mean > 0) == (up is not False)]


def _without_equal(names: Sequence[str], differences: Differences) -> list[str]:
    """The names of measures; those with the values of another in every query are with it."""
    values = {
        name: np.array([(d.a, d.b, d.difference) for d in differences if d.name == name])
        for name in names
    }
    found: dict[str, list[str]] = {}
    for name in names:
        same = (first for first in found if _are_equal(values[first], values[name]))
        found.setdefault(next(same, name), []).append(name)
    return [
        f"{first} ({names_of(rest, 8)}: equal here)" if rest else first
        for first, *rest in found.values()
    ]


def _are_equal(first: np.ndarray, second: np.ndarray) -> bool:
    greatest = float(np.nanmax(np.abs((first, second)), initial=0))
    return np.allclose(first, second, rtol=0, atol=EQUAL * greatest, equal_nan=True)


def correction_of(differences: Differences) -> str:
    """The correction of p over the runs."""
    options, number = differences[0].options, len({of_run.run for of_run in differences})
    if options.correction == "none":
        return f"not corrected, {counted(number, 'run')}"
    return "" if number == 1 else f"corrected ({options.correction}) over {number} runs"


def remarks(
    differences: Differences,
    by_track: Mapping[str, Differences],
    preferences: pd.DataFrame,
    baseline: str,
) -> list[str]:
    """How the numbers were computed.

    Args:
        differences: of all runs and measures.
        by_track: those of each collection; of a single one none.
        preferences: in how many queries every measure of ranks prefers each run.
        baseline: the name of the baseline.
    """
    measures = {of_run.name: measure_named(of_run.name) for of_run in differences}
    counts = [name for name, measure in measures.items() if measure and added_up(measure)]
    sums = names_of(counts or [""])
    return [
        *(_on_tracks(differences, by_track, baseline) if by_track else [_on_test(differences)]),
        *(_on_dominance(row, baseline) for row in preferences.to_dict("records")),
        *([f"{sums}: means over queries; 'evaluate' prints sums."] if sums else []),
        *([PLANNED] if any(of_run.result.p < 1 for of_run in differences) else []),
    ]


def _on_test(differences: Differences) -> str:
    """The interval, the test and its correction, in a single collection."""
    options: PairedTest = differences[0].options
    directions = {of_run.name: of_run.higher_is_better for of_run in differences}
    number = len(differences[0].qids)
    other = "sgnLP" in directions and options.test != "sign"
    corrected = ", ".join(filter(None, ["two-sided", correction_of(differences)]))
    only = " (not corrected)" if len(differences) > len(directions) else ""
    counts = names_of([name for name, up in directions.items() if up is None] or [""])
    counts = counts and f" ({counts}: higher, lower, equal)"
    interval = f" with its {100 * (1 - options.alpha):g} % interval{only}" if number > 1 else ""
    return (
        f"B - A{interval} over {counted(number, 'query', 'queries')}. p: {TESTS[options.test][0]}"
        f"{' (sgnLP: sign test)' if other else ''}, {corrected}; significant: p at most "
        f"{options.alpha:g}. W/L/T: queries in which B is better, worse, equal{counts}."
    )


def _on_dominance(row: Mapping[Any, Any], baseline: str) -> str:
    """In how many queries every measure of ranks prefers a run."""
    wins = counted(row["wins"], "query", "queries") if row["wins"] else "no query"
    note = f"prefers {row['run']} in {wins} and {baseline} in {row['losses'] or 'none'}"
    equal, depends = row["equal"], row["depends"]
    rest = [f"{equal} {'is' if equal == 1 else 'are'} equal"] if equal else []
    rest += [f"in {depends} it depends on the measure"] if depends else []
    return f"Every measure of ranks {note}{'; ' if rest else ''}{', '.join(rest)}."


def _on_tracks(
    differences: Differences, by_track: Mapping[str, Differences], baseline: str
) -> list[str]:
    """Notes on several collections, and those that disagree."""
    sizes = {track: len(of_track[0].qids) for track, of_track in by_track.items()}
    small = [track for track, size in sizes.items() if size < FEWEST]
    few = f"{'has' if len(small) == 1 else 'have'} fewer than {FEWEST} topics: no test."
    corrected, options = correction_of(differences), differences[0].options
    queries = counted(len(differences[0].qids), "query", "queries")
    return [
        f"Overall: B - A averaged over {counted(len(sizes), 'collection')}, {queries} in all; "
        f"p by random signs of the differences within collections"
        f"{corrected and f', {corrected}'}; significant: p at most {options.alpha:g}.",
        *([f"{names_of(small)} {few}"] if small else []),
        *_disagreements(differences, by_track, baseline),
        "These collections were chosen, not drawn: the result does not extend to others.",
    ]


def _disagreements(
    differences: Differences, by_track: Mapping[str, Differences], baseline: str
) -> list[str]:
    """Sentences on runs that are significantly better in a collection and worse in another."""
    sentences = []
    for at, overall in enumerate(differences):
        ways: dict[str, list[str]] = {}
        for track, of_track in by_track.items():
            if of_track[at].is_significant:
                ways.setdefault(way_of(of_track[at]), []).append(track)
        if len(ways) > 1:
            up, down = ("higher", "lower") if "higher" in ways else ("better", "worse")
            sentences.append(
                f"{overall.run} is significantly {up} than {baseline} by {overall.name} in "
                f"{names_of(ways[up])}, and significantly {down} in {names_of(ways[down])}."
            )
    none = "No two collections put a pair in significantly opposite orders."
    testable = [of for of in by_track.values() if any(not np.isnan(d.result.p) for d in of)]
    return sentences or [none] * (len(testable) > 1)
