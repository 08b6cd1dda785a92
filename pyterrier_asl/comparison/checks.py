"""Why a guard cannot test a condition, and the queries that a run or the baseline lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..evaluation.facts import UNANSWERED, Facts, joined_notes
from ..io.notices import counted
from ..judging.judged_run import JudgedRun
from ..statistics.rounding import NO_DIFFERENCE
from .conditions import Condition, are_relevant
from .differences import RunDifference
from .guard import Observed, Outcome, Verdict
from .inputs import PREFERENCES, Inputs

#: What to do where queries or documents of a baseline are missing.
ALLOW = "or let that pass: allow_missing=True (--allow-missing)"
_REMEDY = f"restore the baseline, {ALLOW}"


@dataclass(frozen=True)
class Question:
    """A condition for a run, with what decides whether it can be tested.

    Attributes:
        inputs: what is compared.
        facts: what must be known of the runs and qrels of each collection.
        condition: the condition.
        difference: the difference that it is about.
        observed: the same as the verdict sees it.
        least_p: the smallest p-value that the test can have, corrected.
        allow_missing: whether missing queries are no reason.
    """

    inputs: Inputs
    facts: Mapping[str, Facts]
    condition: Condition
    difference: RunDifference
    observed: Observed
    least_p: float
    allow_missing: bool

    def pairs(self) -> Iterator[tuple[str, Facts, JudgedRun, JudgedRun]]:
        """For each collection the beginning of a reason, the facts, the baseline and the run."""
        for track, judged in self.inputs.judged.items():
            run = judged.runs[judged.row(self.difference.run)]
            yield (f"{track}: " if track else ""), self.facts[track], judged.runs[0], run

    @property
    def names(self) -> tuple[str, str]:
        """The names of the baseline and of the run."""
        return self.inputs.names[0], self.difference.run


def untestable(question: Question) -> str:
    """The first reason why a condition cannot be tested; '' where it can."""
    checks = CHECKS if question.allow_missing else (_faults, *MISSING, *CHECKS)
    return next(filter(None, (check(question) for check in checks)), "")


# Queries and documents that are missing


def _lacks_queries(question: Question) -> str:
    """Queries that the run answers and the baseline does not, or scores that were filled."""
    baseline, name = question.names
    for track, facts, a, b in question.pairs():
        if ((b.retrieved > 0) & (a.retrieved == 0)).any():
            [reason] = facts.sentences_on(baseline, UNANSWERED)
            return f"{track}{reason}; {_REMEDY}"
    measure, row = question.difference.name, question.inputs.names.index(name)
    for track, lacks in question.inputs.missing.items():
        if number := int((lacks[measure][0] & ~lacks[measure][row]).sum()):
            which = f"{counted(number, 'score')} of {measure} that {name} has"
            return f"{f'{track}: ' if track else ''}{baseline} lacks {which}; {_REMEDY}"
    return ""


# Other reasons


def _nothing_relevant(question: Question) -> str:
    name = question.difference.name
    for track, facts, *_ in question.pairs():
        grades = facts.judgements.grades
        measure = question.inputs.measures.get(name)
        has_relevant = (
            bool((grades >= question.inputs.rel).any())
            if name in PREFERENCES
            else measure is None or are_relevant(measure, grades)
        )
        if not has_relevant:
            highest = f"{grades.max():g}" if len(grades) else "none"
            return (
                f"{track}no test can be made: no judged document is relevant to it (the highest "
                f"grade is {highest}); check the qrels and rel"
            )
    return ""


def _faults(question: Question) -> str:
    """Ids in another form, and scores that do not order the documents."""
    for track, facts, *_ in question.pairs():
        for name in question.names:
            for error in facts.errors(name):
                return f"no test can be made: {track}{error}"
    return ""


def _no_amount(question: Question) -> str:
    condition, base = question.condition, question.observed.base
    has_amount = not condition.possibly or condition.least(base)
    return "" if has_amount else "no test can be made: the amount is a percentage of 0"


def _impossible(question: Question) -> str:
    """A difference that no run can have from this baseline."""
    condition, observed = question.condition, question.observed
    least, most = condition.least(observed.base), observed.greatest(condition)
    if not condition.amount or least <= most + NO_DIFFERENCE * max(least, observed.base):
        return ""
    what = condition.measure if np.isnan(observed.mean_a) else "the mean of A"
    return (
        f"no run can be {condition.how} by {least:.4g}, as {what} allows {most:.4g} at most; write "
        "a smaller amount"
    )


def _no_test(question: Question) -> str:
    """No variance, or too few queries for a p-value below the level."""
    level, queries = question.condition.level, len(question.difference.qids)
    if level is None:
        return ""
    if reason := question.difference.untestable:
        return f"no test can be made: {reason}; compare on other queries, or leave out p<"
    if not question.condition.possibly and question.least_p >= level:
        return (
            f"no test can be made: p cannot be below {question.least_p:.3g} over "
            f"{counted(queries, 'query', 'queries')}; raise the level, compare on more queries, or "
            "leave out p<"
        )
    if np.isnan(question.observed.p):
        few = "there is only one query" if queries == 1 else "there are too few queries"
        return f"no test can be made: {few}; compare on several queries, or leave out p<"
    return ""


#: The reasons, in this order; those of :data:`MISSING` first, unless missing data may pass.
MISSING: tuple[Callable[[Question], str], ...] = (_lacks_queries,)
CHECKS: tuple[Callable[[Question], str], ...] = (
    _faults,
    _nothing_relevant,
    _no_amount,
    _impossible,
    _no_test,
)


# Unanswered queries


def unanswered_queries(inputs: Inputs, run: str) -> list[str]:
    """The queries that the baseline answers and a run does not."""
    found, row = [], inputs.names.index(run)
    for track, qids in inputs.qids.items():
        if judged := inputs.judged.get(track):
            lacks = [np.array([judged.runs[at].retrieved == 0 for at in (0, row)])]
        else:
            lacks = [of_all[[0, row]] for of_all in inputs.missing[track].values()]
        gone = np.any([b & ~a for a, b in lacks], axis=0)
        where = f"{track}: " if track else ""
        found += [f"{where}{qids[query]}" for query in np.flatnonzero(gone)]
    return found


def answered_by_neither(inputs: Inputs, run: str) -> int:
    """The number of queries that neither a run nor the baseline answers."""
    row = inputs.names.index(run)
    pairs = ([judged.runs[at].retrieved for at in (0, row)] for judged in inputs.judged.values())
    return sum(int(((a == 0) & (b == 0)).sum()) for a, b in pairs)


def unanswered_verdict(inputs: Inputs, facts: Mapping[str, Facts], run: str) -> list[Verdict]:
    """A FAIL for a run that leaves queries unanswered which the baseline answers."""
    qids = unanswered_queries(inputs, run)
    known = {track: of.sentences_on(run, UNANSWERED) for track, of in facts.items()}
    reasons = joined_notes(known) or [
        f"{run} lacks scores of {counted(len(qids), 'query', 'queries')} that {inputs.names[0]} "
        f"has, e.g. {qids[0]!r}"
        for _ in qids[:1]
    ]
    message = f"{'; '.join(reasons)}; allow_missing=True (--allow-missing) lets that pass"
    what, numbers = "every query that A answers is answered", {"unanswered": float(len(qids))}
    return [Verdict(run, what, Outcome.FAIL, message, numbers)] if qids else []
