"""The sentences of a comparison, from its differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..common.notices import counted, grouped, names_of
from ..leaderboard.numbers import p_text
from ..measures.directions import added_up
from ..measures.parsing import measure_named
from ..statistics.groups import FEWEST_IN_GROUP
from ..statistics.rounding import EQUAL
from ..statistics.settings import DRAWS
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
        reasons = grouped((doubts[run, of_run.name], of_run.name) for of_run in own)
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
    for way, start in {
        **{way: f"{run} is significantly {way} than {baseline} by " for way in _WAYS},
        "no": f"No significant difference of {run} from {baseline} by ",
        "equal": f"{run} is equal to {baseline} in every query by ",
    }.items():
        if of_way := _without_equal(names.get(way, []), all_of_them):
            each = " (one test per measure)" if way in _WAYS and len(of_way) > 1 else ""
            yield f"{start}{names_of(of_way, 8)}{each}."
    untested = [(d.untestable, d.name) for d in own if d.name in names.get("", [])]
    for reason, of_reason in grouped(untested).items():
        yield f"No test can be made of {run} by {names_of(of_reason, 8)}: {reason}."


def way_of(difference: RunDifference, mean: float | None = None) -> str:
    """``better`` or ``worse``; of a count ``higher`` or ``lower``; of another mean difference."""
    up, mean = difference.higher_is_better, difference.mean if mean is None else mean
    words = ("lower", "higher") if up is None else ("worse", "better")
    return words[(mean > 0) == (up is not False)]


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


def correction_over(correction: str, runs: int) -> str:
    """The correction of p over the runs; '' where there is nothing to correct.

    >>> correction_over("holm", 2), correction_over("holm", 1), correction_over("none", 1)
    ('corrected (holm) over 2 runs', '', 'not corrected, 1 run')
    """
    if correction == "none":
        return f"not corrected, {counted(runs, 'run')}"
    return "" if runs == 1 else f"corrected ({correction}) over {runs} runs"


def how_tested(differences: Differences) -> str:
    """The test, and its correction over the runs."""
    options, runs = differences[0].options, len({of_run.run for of_run in differences})
    test = (
        TESTS[options.test][0]
        + " (sgnLP: sign test)" * any(of_run.test != options.test for of_run in differences)
        + " with random effects of repetitions" * any(d.repetitions for d in differences)
    )
    return ", ".join(filter(None, [test, "two-sided", correction_over(options.correction, runs)]))


def planned_p(p: float, alpha: float, family: int = 1) -> str:
    """The p-value of a planned comparison, corrected over a family; 0 is less than 1 / draws.

    >>> planned_p(0.0321, 0.05), planned_p(1e-9, 0.05), planned_p(0, 0.05, 2)
    ('p = 0.0321', 'p < 0.0001', 'p < 0.0002')
    """
    return p_text(p if p >= 1 / DRAWS else 0.0, DRAWS if p else DRAWS // family, alpha)


def remarks(differences: Differences, preferences: pd.DataFrame, baseline: str) -> list[str]:
    """How the numbers were computed.

    Args:
        differences: of all runs and measures.
        preferences: in how many queries every measure of ranks prefers each run.
        baseline: the name of the baseline.
    """
    measures = {of_run.name: measure_named(of_run.name) for of_run in differences}
    sums = names_of([name for name, of in measures.items() if of and added_up(of)] or [""])
    return [
        *(_on_groups(difference, baseline) for difference in differences if difference.groups),
        *_on_small_groups(differences[0]),
        _on_test(differences),
        *_on_repetitions(differences, baseline),
        *_on_queries(differences),
        *(_on_dominance(row, baseline) for row in preferences.to_dict("records")),
        *([f"{sums}: means over queries; 'evaluate' prints sums."] if sums else []),
        *([PLANNED] if any(of_run.result.p < 1 for of_run in differences) else []),
    ]


def _on_groups(difference: RunDifference, baseline: str) -> str:
    """Whether a difference depends on the group, and the groups with a difference."""
    run, alpha, rows = difference.run, difference.options.alpha, difference.by_group
    depends, tested = rows[0]["depends"], [r for r in rows if r["queries"] >= FEWEST_IN_GROUP]
    start = f"The difference of {run} from {baseline} in {difference.name}"
    if np.isnan(depends):
        few = "only one group has" if tested else "no group has"
        return f"{start}: {few} {FEWEST_IN_GROUP} queries or more, so groups are not compared."
    p = planned_p(depends, alpha)
    if depends > alpha:
        return (
            f"{start} does not depend on the group ({p}): the mean over all queries stands for "
            f"each of the {len(tested)} groups."
        )
    ways = grouped(
        (
            way_of(difference, row["difference"]),
            f"{row['group']} ({row['difference']:+.4g}, {row['queries']} queries)",
        )
        for row in tested
        if row["p"] <= alpha
    )
    named = [f"{way} in {names_of(groups, 8)}" for way, groups in ways.items()]
    return f"{start} depends on the group ({p})" + (
        f": {run} is {', '.join(named)}." if named else "; no group is named."
    )


def _on_small_groups(difference: RunDifference) -> Iterator[str]:
    """The groups with too few queries for a test."""
    sizes = {group: difference.groups.count(group) for group in dict.fromkeys(difference.groups)}
    if small := [group for group, size in sizes.items() if size < FEWEST_IN_GROUP]:
        have = "has" if len(small) == 1 else "have"
        yield f"{names_of(small, 8)} {have} fewer than {FEWEST_IN_GROUP} queries: no test."


def _on_test(differences: Differences) -> str:
    """The interval, and the test with its correction."""
    alpha, number = differences[0].options.alpha, len(differences[0].qids)
    directions = {of_run.name: of_run.higher_is_better for of_run in differences}
    only = " (not corrected)" if len(differences) > len(directions) else ""
    counts = names_of([name for name, up in directions.items() if up is None] or [""])
    counts = counts and f" ({counts}: higher, lower, equal)"
    interval = f" with its {100 * (1 - alpha):g} % interval{only}" if number > 1 else ""
    return (
        f"B - A{interval} over {counted(number, 'query', 'queries')}. "
        f"p: {how_tested(differences)}; significant: p at most {alpha:g}. "
        f"W/L/T: queries in which B is better, worse, equal{counts}."
    )


def _on_repetitions(differences: Differences, baseline: str) -> Iterator[str]:
    """What repetitions are of the variance, by the first measure, and whose are not known."""
    unknown: dict[str, None] = {}
    for run, of_run in {d.run: d for d in reversed(differences) if d.repeated}.items():
        repeated: Any = of_run.repeated
        lengths = zip((baseline, run), map(len, of_run.repetitions))
        unknown |= {name: None for name, length in lengths if length == 1}
        result = repeated.comparison
        halves = (result.ci_high - result.ci_low) / 2, *repeated[3:]
        now, any_number, twice = (f"\N{PLUS-MINUS SIGN}{half:.4g}" for half in halves)
        if not np.isnan(repeated.share):
            yield (
                f"{of_run.name} of {run}: repetitions are {100 * repeated.share:.0f} % of the "
                f"variance: {now}; with any number of them {any_number}, with twice the queries "
                f"{twice}."
            )
    if unknown:
        systems = names_of([*unknown], 8)
        yield f"The noise between repetitions of {systems} is not known and not counted."


def _on_queries(differences: Differences) -> Iterator[str]:
    """How many queries a difference needs."""
    if (delta := differences[0].detect) is None:
        return
    for run in dict.fromkeys(d.run for d in differences):
        rows = [(d.name, d.row()["queries_needed"]) for d in differences if d.run == run]
        needed = [f"{queries:,} by {name}" for name, queries in rows if not np.isnan(queries)]
        if needed:
            yield (
                f"A t-test finds a difference of {delta:g} of {run} with probability .8 over this "
                f"many queries: {names_of(needed, 20)}."
            )


def _on_dominance(row: Mapping[Any, Any], baseline: str) -> str:
    """In how many queries every measure of ranks prefers a run."""
    wins = counted(row["wins"], "query", "queries") if row["wins"] else "no query"
    note = f"prefers {row['run']} in {wins} and {baseline} in {row['losses'] or 'none'}"
    equal, depends = row["equal"], row["depends"]
    rest = [f"{equal} {'is' if equal == 1 else 'are'} equal"] if equal else []
    rest += [f"in {depends} it depends on the measure"] if depends else []
    return f"Every measure of ranks {note}{'; ' if rest else ''}{', '.join(rest)}."
