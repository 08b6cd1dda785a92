"""Why a guard cannot test a condition, and the queries that a run or the baseline lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..evaluation.evaluation import Evaluation, unanswered_notes
from ..io.notices import counted
from ..judging.judged_run import JudgedRun
from ..judging.matching import codes
from ..scoring.arrays import Bools
from ..statistics.rounding import NO_DIFFERENCE
from .conditions import Condition, are_relevant
from .differences import RunDifference
from .guard import Observed, Outcome, Verdict
from .inputs import PREFERENCES, Inputs

#: What to do where queries or documents of a baseline are missing.
ALLOW = "or let that pass: allow_missing=True (--allow-missing)"
_REMEDY = f"restore the baseline, {ALLOW}"
#: Fewer documents than this can be a damage, and say little about scores.
_TOP = 10
#: The share of queries with a damage from which on a baseline is damaged: more than in any of
#: 20,206 pairs of real runs.
_SHARE = 0.25


@dataclass(frozen=True)
class Question:
    """A condition for a run, with what decides whether it can be tested.

    Attributes:
        inputs: what is compared.
        condition: the condition.
        difference: the difference that it is about.
        observed: the same as the verdict sees it.
        least_p: the smallest p-value that the test can have, corrected.
        ids: why the ids of the runs cannot be compared; '' where they can.
        allow_missing: whether missing queries and documents are no reason.
    """

    inputs: Inputs
    condition: Condition
    difference: RunDifference
    observed: Observed
    least_p: float
    ids: str
    allow_missing: bool

    def pairs(self) -> Iterator[tuple[str, Evaluation, JudgedRun, JudgedRun]]:
        """For each collection the beginning of a reason, the runs, the baseline and the run."""
        for track, judged in self.inputs.judged.items():
            run = judged.runs[judged.row(self.difference.run)]
            yield (f"{track}: " if track else ""), judged, judged.runs[0], run

    @property
    def names(self) -> tuple[str, str]:
        """The names of the baseline and of the run."""
        return self.inputs.names[0], self.difference.run


def untestable(question: Question) -> str:
    """The first reason why a condition cannot be tested; '' where it can."""
    checks = [] if question.allow_missing else MISSING
    return next(filter(None, (check(question) for check in (*checks, *CHECKS))), "")


# Queries and documents that are missing


def _lacks_queries(question: Question) -> str:
    """Queries that the run answers and the baseline does not, or scores that were filled."""
    baseline, name = question.names
    for track, judged, a, b in question.pairs():
        missing = _ids(judged, (b.retrieved > 0) & (a.retrieved == 0))
        if missing:
            queries = counted(len(missing), "query", "queries")
            which = f"{queries} that {name} answers, e.g. {missing[0]!r}"
            return f"{track}{baseline} lacks {which}; {_REMEDY}"
    measure, row = question.difference.name, question.inputs.names.index(name)
    for track, lacks in question.inputs.missing.items():
        if number := int((lacks[measure][0] & ~lacks[measure][row]).sum()):
            which = f"{counted(number, 'score')} of {measure} that {name} has"
            return f"{f'{track}: ' if track else ''}{baseline} lacks {which}; {_REMEDY}"
    return ""


def _order_of_ids(question: Question) -> str:
    """A run with one score for all documents, or with ranks that contradict its scores."""
    for track, judged, *runs in question.pairs():
        for name, run in zip(question.names, runs):
            constant = run.constant_scores & (run.retrieved >= _TOP)
            if constant.any() and constant.sum() >= _SHARE * (run.retrieved >= _TOP).sum():
                queries = counted(int(constant.sum()), "query", "queries")
                return (
                    f"{track}{name} has the same score for all documents of {queries}, e.g. "
                    f"{_ids(judged, constant)[0]!r}, so they are in the order of their ids; write "
                    f"the scores of {name} again, {ALLOW}"
                )
            if run.ranks_contradict_scores:
                return (
                    f"{track}the ranks of {name} contradict its scores, which decide the order; "
                    f"write scores of {name} that fall with the rank, {ALLOW}"
                )
    return ""


def _cut_short(question: Question) -> str:
    """A baseline with far fewer documents than the run."""
    baseline, name = question.names
    measure = question.inputs.measures.get(question.difference.name)
    top = min(_TOP, (measure and measure.params.get("cutoff")) or _TOP)
    for track, _, a, b in question.pairs():
        both = np.stack((a.retrieved, b.retrieved))[:, a.retrieved > 0]
        short = (both[0] < top) & (20 * both[0] <= both[1])
        if short.any() and short.sum() >= _SHARE * len(short):
            few, many = np.median(both[:, short], axis=1)
            documents = "document" if few == 1 else "documents"
            return (
                f"{track}{baseline} retrieves {few:g} {documents} per query (median) and {name} "
                f"{many:g}, for {short.sum()} of {counted(len(short), 'query', 'queries')}; "
                f"{_REMEDY}"
            )
    return ""


# Other reasons


def _nothing_relevant(question: Question) -> str:
    name = question.difference.name
    for track, judged, *_ in question.pairs():
        grades = judged.judgements.grades
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


def _other_ids(question: Question) -> str:
    certainly = question.condition.certainly
    if not question.ids or (question.allow_missing and not certainly):
        return ""
    return f"the runs cannot be compared: {question.ids}{'' if certainly else f', {ALLOW}'}"


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
MISSING: tuple[Callable[[Question], str], ...] = (_lacks_queries, _order_of_ids, _cut_short)
CHECKS: tuple[Callable[[Question], str], ...] = (
    _nothing_relevant,
    _other_ids,
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


def unanswered_verdict(inputs: Inputs, run: str) -> list[Verdict]:
    """A FAIL for a run that leaves queries unanswered which the baseline answers."""
    qids = unanswered_queries(inputs, run)
    message = (
        f"{run} leaves {counted(len(qids), 'query', 'queries')} unanswered that {inputs.names[0]} "
        f"answers, e.g. {qids[0]!r}; allow_missing=True (--allow-missing) lets that pass"
        if qids
        else ""
    )
    what, numbers = "every query that A answers is answered", {"unanswered": float(len(qids))}
    return [Verdict(run, what, Outcome.FAIL, message, numbers)] if qids else []


def notes_on_queries(inputs: Inputs) -> list[str]:
    """Sentences on queries that are not answered, or not judged."""
    notes = []
    for track, judged in inputs.judged.items():
        unanswered, numbers = {}, {}
        for name, run in zip(judged.names, judged.runs):
            numbers[name] = len(codes(run.table.qid)[1])
            unanswered[name] = int((run.retrieved == 0).sum())
        queries, most = len(judged.qids), max(numbers, key=lambda name: numbers[name])
        found = unanswered_notes(unanswered, queries)
        if numbers[most] >= 2 * queries:
            found.append(
                f"{most} answers {numbers[most]:,} queries and the qrels judge {queries:,}: only "
                "judged queries count"
            )
        notes += [f"{track}: {note}" if track else note for note in found]
    return notes


def _ids(judged: Evaluation, queries: Bools) -> list[str]:
    return [str(judged.qids[q]) for q in np.flatnonzero(queries)]
