"""Why a guard cannot test a condition, and the queries that a run or the baseline lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..common.notices import counted
from ..common.types import Bools
from ..evaluation.facts import DEPTH, Facts
from ..evaluation.run_facts import UNANSWERED
from ..evaluation.ties import ends_over_ties
from ..measures.directions import value_range
from ..statistics.rounding import NO_DIFFERENCE
from .conditions import Condition, are_relevant
from .differences import PREFERENCES, Inputs, RunDifference
from .guard import Outcome, Verdict

#: What to do where queries or scores of a baseline are missing.
_REMEDY = "restore the baseline, or let that pass: allow_missing=True (--allow-missing)"


def untestable(
    inputs: Inputs,
    facts: Facts | None,
    condition: Condition,
    difference: RunDifference,
    least_p: float,
    allow_missing: bool,
) -> Iterator[str]:
    """The reasons why a condition cannot be tested.

    Args:
        inputs: what is compared.
        facts: what must be known of the runs and qrels; None of scores.
        condition: the condition.
        difference: the difference of a run, with the p-value of the condition.
        least_p: the smallest p-value that the test can have, corrected.
        allow_missing: whether missing queries are no reason.
    """
    faults = _faults(inputs, facts, difference.run, of_baseline=not condition.is_floor)
    for fault in [*(facts.contradictions if facts else []), *faults]:
        yield f"no test can be made: {fault}"
    if not (allow_missing or condition.is_floor):
        lacks = [*_lacks_queries(inputs, facts, difference), *_is_short(inputs, facts, difference)]
        for lack in lacks:
            yield f"{lack}; {_REMEDY}"
    yield from _nothing_relevant(inputs, difference.name)
    if condition.is_floor:
        yield from _beyond_range(inputs, condition, difference.name)
    else:
        yield from _no_difference(inputs, condition, difference)
        yield from _no_test(condition, difference, least_p)
        p = difference.result.p if condition.possibly else difference.p_corrected
        if condition.level is not None and p < condition.level and not condition.in_group:
            for reversed_sign in _ties(inputs, difference):
                yield f"no test can be made: {reversed_sign}"


def doubts_of(
    inputs: Inputs,
    facts: Facts | None,
    difference: RunDifference,
    allow_missing: bool = False,
) -> Iterator[str]:
    """The facts by which no verdict on a difference can be trusted."""
    yield from _faults(inputs, facts, difference.run)
    if not allow_missing:
        yield from _lacks_queries(inputs, facts, difference)
    if difference.is_significant:
        yield from _ties(inputs, difference)


def _faults(
    inputs: Inputs, facts: Facts | None, run: str, *, of_baseline: bool = True
) -> Iterator[str]:
    """Ids in another form, and scores that do not order the documents."""
    for name in [*_runs(inputs, inputs.names[0]) * of_baseline, *_runs(inputs, run)]:
        yield from facts.errors(name) if facts else ()


def _runs(inputs: Inputs, system: str) -> list[str]:
    """The names of the runs of a system."""
    return [inputs.judged.names[row] for row in inputs.rows(system)] if inputs.judged else []


def _answered(inputs: Inputs, system: str, *, by_all: bool = False) -> Bools:
    """Whether any run of a system, or all of them, answers each query."""
    runs: Any = inputs.judged
    answered = np.array([runs.runs[row].retrieved > 0 for row in inputs.rows(system)])
    return np.asarray(answered.all(axis=0) if by_all else answered.any(axis=0))


def _lacks_queries(inputs: Inputs, facts: Facts | None, difference: RunDifference) -> Iterator[str]:
    """Queries that the run answers and the baseline does not, or scores that were filled."""
    baseline = inputs.names[0]
    if inputs.judged and facts:
        if (_answered(inputs, difference.run) & ~_answered(inputs, baseline, by_all=True)).any():
            for name in _runs(inputs, baseline):
                yield from facts.sentences_on(name, UNANSWERED)
        return
    first, second = (_missing(inputs, difference.name, of) for of in (baseline, difference.run))
    if number := int((first & ~second).sum()):
        which = f"{counted(number, 'score')} of {difference.name} that {difference.run} has"
        yield f"{baseline} lacks {which}"


def _missing(inputs: Inputs, name: str, system: str) -> Bools:
    """Whether a score of a system was missing, of each query."""
    return np.asarray(inputs.missing[name][inputs.rows(system)].any(axis=0))


def _is_short(inputs: Inputs, facts: Facts | None, difference: RunDifference) -> Iterator[str]:
    """A baseline with fewer than half of the run's documents, and than the measure uses."""
    measure = inputs.measures.get(difference.name)
    cutoff = DEPTH if measure is None else measure.params.get("cutoff") or DEPTH
    if facts:
        names = [_runs(inputs, name)[0] for name in (inputs.names[0], difference.run)]
        baseline, run = (facts.of_runs[name].documents for name in names)
        if baseline < min(run / 2, cutoff):
            yield facts.depth_of(*names)


def _nothing_relevant(inputs: Inputs, name: str) -> Iterator[str]:
    if not inputs.judged:
        return
    measure: Any = inputs.measures.get(name)
    grades = inputs.judged.judgements.grades
    has_relevant = (
        bool((grades >= inputs.rel).any())
        if name in PREFERENCES
        else measure is None or are_relevant(measure, grades)
    )
    if not has_relevant:
        highest = f"{grades.max():g}" if len(grades) else "none"
        yield (
            "no test can be made: no judged document is relevant to it (the highest grade is "
            f"{highest}); check the qrels and rel"
        )


def _beyond_range(inputs: Inputs, condition: Condition, name: str) -> Iterator[str]:
    """A value that every mean, or none, is below or above."""
    if name not in inputs.measures:
        return
    low, high = value_range(inputs.measures[name], len(inputs.names) if inputs.judged else np.inf)
    amount, is_below = condition.amount, condition.how == "below"
    never = amount <= low if is_below else amount >= high
    if never or (amount > high if is_below else amount < low):
        which = "no mean" if never else "every mean"
        yield f"{which} is {condition.how} {amount:g}: {name} lies between {low:g} and {high:g}"


def _no_difference(
    inputs: Inputs, condition: Condition, difference: RunDifference
) -> Iterator[str]:
    """An amount of 0, or a difference that no run can have from this baseline."""
    least = condition.least(difference.base)
    if condition.possibly and not least:
        yield "no test can be made: the amount is a percentage of 0"
    mean = 0.0 if np.isnan(difference.mean_a) else difference.mean_a
    low, high = (-1.0, 1.0) if difference.name in PREFERENCES else (-np.inf, np.inf)
    if difference.name in inputs.measures:
        low, high = value_range(
            inputs.measures[difference.name], len(inputs.names) if inputs.judged else np.inf
        )
    sizes = {True: high - mean, False: mean - low}
    up = difference.higher_is_better
    most = max(size for rises, size in sizes.items() if condition.asks_for(rises, not rises, up))
    if condition.amount and least > most + NO_DIFFERENCE * max(least, difference.base):
        what = condition.measure if np.isnan(difference.mean_a) else "the mean of A"
        yield (
            f"no run can be {condition.how} by {least:.4g}, as {what} allows {most:.4g} at most; "
            "write a smaller amount"
        )


def _no_test(condition: Condition, difference: RunDifference, least_p: float) -> Iterator[str]:
    """No variance, or too few queries for a p-value below the level."""
    level, queries = condition.level, len(difference.qids)
    if level is None or condition.in_group:
        return
    if reason := difference.untestable:
        yield f"no test can be made: {reason}; compare on other queries, or leave out p<"
    if not condition.possibly and least_p >= level:
        yield (
            f"no test can be made: p cannot be below {least_p:.3g} over "
            f"{counted(queries, 'query', 'queries')}; raise the level, compare on more queries, or "
            "leave out p<"
        )
    if np.isnan(difference.p_corrected):
        few = "there is only one query" if queries == 1 else "there are too few queries"
        yield f"no test can be made: {few}; compare on several queries, or leave out p<"


def _ties(
    inputs: Inputs, difference: RunDifference, queries: Bools | slice = slice(None)
) -> Iterator[str]:
    """A difference whose sign another order of equal scores reverses, over some queries or all."""
    name, judged = difference.name, inputs.judged
    if name not in inputs.measures or not judged:
        return
    (low_a, high_a), (low_b, high_b) = (
        np.mean(
            [
                ends_over_ties(inputs.measures[name], judged.runs[at], inputs.of_runs[name][at])
                for at in inputs.rows(system)
            ],
            axis=0,
        )[:, queries].mean(axis=1)
        for system in (inputs.names[0], difference.run)
    )
    low, high, mean = low_b - high_a, high_b - low_a, difference.difference[queries].mean()
    if (mean > 0 and low < 0) or (mean < 0 and high > 0):
        yield (
            "in other orders of equal scores the difference is between "
            f"{low:+.4g} and {high:+.4g}; write different scores for different documents"
        )


def ties_in_groups(
    inputs: Inputs, condition: Condition, difference: RunDifference
) -> Iterator[str]:
    """The groups with a difference whose sign another order of equal scores reverses."""
    for row in difference.by_group:
        if row["p"] < (condition.level or 0):
            for text in _ties(inputs, difference, difference.is_in(row["group"])):
                yield f"no test can be made: in the group {row['group']!r} {text}"


# Unanswered queries


def answered_by_neither(inputs: Inputs, run: str) -> int:
    """The number of queries that neither a run nor the baseline answers."""
    if not inputs.judged:
        return 0
    return int((~_answered(inputs, inputs.names[0]) & ~_answered(inputs, run)).sum())


def unanswered_verdict(inputs: Inputs, facts: Facts | None, run: str) -> list[Verdict]:
    """A FAIL for a run that leaves queries unanswered which the baseline answers."""
    baseline = inputs.names[0]
    if inputs.judged:
        gone = _answered(inputs, baseline) & ~_answered(inputs, run, by_all=True)
    else:
        lacks = [[_missing(inputs, name, of) for of in (baseline, run)] for name in inputs.missing]
        gone = np.any([b & ~a for a, b in lacks], axis=0)
    qids = [str(inputs.qids[query]) for query in np.flatnonzero(gone)]
    if not qids:
        return []
    queries = counted(len(qids), "query", "queries")
    reason = f"{run} lacks scores of {queries} that {baseline} has, e.g. {qids[0]!r}"
    if facts:
        reason = "; ".join(
            s for of in _runs(inputs, run) for s in facts.sentences_on(of, UNANSWERED)
        )
    message = f"{reason}; allow_missing=True (--allow-missing) lets that pass"
    what, numbers = "every query that A answers is answered", {"unanswered": float(len(qids))}
    return [Verdict(run, what, Outcome.FAIL, message, numbers)]
