"""Queries and documents that the baseline or a run lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..evaluation.evaluation import Evaluation, unanswered_notes
from ..io.notices import counted
from ..judging.judgements import Judgements
from ..judging.matching import codes
from ..scoring.arrays import Bools
from .conditions import are_relevant
from .guard import Outcome, Verdict

#: What to do where queries or documents of a baseline are missing.
ALLOW = "or let that pass: allow_missing=True (--allow-missing)"
_REMEDY = f"restore the baseline, {ALLOW}"
#: Fewer documents than this can be a damage, and say little about scores.
_TOP = 10
#: The share of queries with a damage from which on a baseline is damaged: more than in any of
#: 20,206 pairs of real runs.
_SHARE = 0.25


@dataclass(frozen=True)
class Answers:
    """The queries and documents of a baseline and other runs that one of them lacks.

    Attributes:
        notes: sentences on queries that runs leave unanswered, and on queries that are not judged.
        unanswered: for each run the queries that the baseline answers and the run does not.
        neither: for each run the number of queries that neither it nor the baseline answers.
        untestable: the reason why a guard cannot compare a run with the baseline by a measure, by
            run and measure.
    """

    notes: list[str] = field(default_factory=list)
    unanswered: dict[str, list[str]] = field(default_factory=dict)
    untestable: dict[tuple[str, str], str] = field(default_factory=dict)
    neither: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, judged: Evaluation, measures: Mapping[str, Any], *, is_guard: bool, allow_missing: bool
    ) -> Answers:
        """Finds the queries and documents that are missing.

        Args:
            judged: the runs, the baseline first.
            measures: the measures by name.
            is_guard: whether to look for reasons not to compare.
            allow_missing: whether missing queries and documents of the baseline are no reason.

        Raises:
            ValueError: of a guard, for qrels that give a document two grades for one query.
        """
        baseline, *others = judged.runs
        names = judged.names[1:]
        unanswered = {
            name: _ids(judged, (baseline.retrieved > 0) & (run.retrieved == 0))
            for name, run in zip(names, others)
        }
        neither = {
            name: int(((baseline.retrieved == 0) & (run.retrieved == 0)).sum())
            for name, run in zip(names, others)
        }
        untestable: dict[tuple[str, str], str] = {}
        if is_guard:
            if judged.judgements.contradiction:
                raise ValueError(
                    f"the qrels contradict themselves: {judged.judgements.contradiction}; keep one "
                    "of them"
                )
            for name in names:
                damage = "" if allow_missing else _damage(judged, name)
                for label, measure in measures.items():
                    cut = "" if allow_missing else _cut_short(judged, name, measure)
                    reason = _nothing_relevant(judged.judgements, measure) or damage or cut
                    untestable |= {(name, label): reason} if reason else {}
        return cls(_notes(judged), unanswered, untestable, neither)

    @classmethod
    def of_scores(
        cls,
        missing: Mapping[str, pd.DataFrame],
        baseline: str,
        runs: Sequence[str],
        *,
        allow_missing: bool,
    ) -> Answers:
        """Finds the scores that were missing and are filled.

        Args:
            missing: whether each system (rows) lacks the score of each topic (columns), by measure.
            baseline: the name of the baseline.
            runs: the names of the others.
            allow_missing: see :meth:`of`.
        """
        answers = cls()
        for measure, lacks in missing.items():
            for run in runs:
                of_both = lacks.loc[[baseline, run]].to_numpy()
                topics = answers.unanswered.setdefault(run, [])
                gone = map(str, lacks.columns[of_both[1] & ~of_both[0]])
                topics.extend(qid for qid in gone if qid not in topics)
                number = int((of_both[0] & ~of_both[1]).sum())
                if number and not allow_missing:
                    which = f"{counted(number, 'score')} of {measure} that {run} has"
                    answers.untestable[run, measure] = f"{baseline} lacks {which}; {_REMEDY}"
        return answers

    def verdicts(self, baseline: str) -> list[Verdict]:
        """A FAIL for each run that leaves queries unanswered which the baseline answers."""
        return [
            Verdict(
                run,
                "every query that A answers is answered",
                Outcome.FAIL,
                f"{run} leaves {counted(len(qids), 'query', 'queries')} unanswered that {baseline} "
                f"answers, e.g. {qids[0]!r}; allow_missing=True (--allow-missing) lets that pass",
                {"unanswered": len(qids)},
            )
            for run, qids in self.unanswered.items()
            if qids
        ]


def join_answers(by_track: Mapping[str, Answers]) -> Answers:
    """The answers of several collections as one."""
    joined = Answers()
    for track, answers in by_track.items():
        where = f"{track}: " if track else ""
        joined.notes.extend(f"{where}{note}" for note in answers.notes)
        for run, qids in answers.unanswered.items():
            joined.unanswered.setdefault(run, []).extend(f"{where}{qid}" for qid in qids)
        for run, number in answers.neither.items():
            joined.neither[run] = joined.neither.get(run, 0) + number
        for key, reason in answers.untestable.items():
            joined.untestable.setdefault(key, f"{where}{reason}")
    return joined


def _notes(judged: Evaluation) -> list[str]:
    """Sentences on queries that are not answered, or not judged."""
    unanswered, numbers = {}, {}
    for name, run in zip(judged.names, judged.runs):
        numbers[name] = len(codes(run.table.qid)[1])
        if missing := int((run.retrieved == 0).sum()):
            unanswered[name] = missing
    queries, most = len(judged.qids), max(numbers, key=lambda name: numbers[name])
    notes = unanswered_notes(unanswered, queries)
    if numbers[most] >= 2 * queries:
        notes.append(
            f"{most} answers {numbers[most]:,} queries and the qrels judge {queries:,}: only "
            "judged queries count"
        )
    return notes


def _nothing_relevant(judgements: Judgements, measure: Any) -> str:
    """The reason why no test can be made by a measure to which no document is relevant."""
    if are_relevant(measure, judgements.grades):
        return ""
    highest = f"{judgements.grades.max():g}" if len(judgements.grades) else "none"
    return (
        "no test can be made: no judged document is relevant to it (the highest grade is "
        f"{highest}); check the qrels and rel"
    )


def _damage(judged: Evaluation, name: str) -> str:
    """The reason why the baseline seems to be damaged, compared with a run; '' for none."""
    baseline, run = judged.runs[0], judged.runs[judged.row(name)]
    missing = _ids(judged, (run.retrieved > 0) & (baseline.retrieved == 0))
    if missing:
        queries = counted(len(missing), "query", "queries")
        which = f"{queries} that {name} answers, e.g. {missing[0]!r}"
        return f"{judged.names[0]} lacks {which}; {_REMEDY}"
    constant = baseline.constant_scores & (baseline.retrieved >= _TOP) & ~run.constant_scores
    if constant.any() and constant.sum() >= _SHARE * (baseline.retrieved >= _TOP).sum():
        queries = counted(int(constant.sum()), "query", "queries")
        return (
            f"{judged.names[0]} has the same score for all documents of {queries}, e.g. "
            f"{_ids(judged, constant)[0]!r}, so they are in the order of their ids; write the "
            f"scores of {judged.names[0]} again, {ALLOW}"
        )
    return ""


def _cut_short(judged: Evaluation, name: str, measure: Any) -> str:
    """The numbers of documents where the baseline has far fewer than a run; '' where not."""
    baseline, run = judged.runs[0], judged.runs[judged.row(name)]
    both = np.stack((baseline.retrieved, run.retrieved))[:, baseline.retrieved > 0]
    short = (both[0] < min(_TOP, measure.params.get("cutoff") or _TOP)) & (20 * both[0] <= both[1])
    if not short.any() or short.sum() < _SHARE * len(short):
        return ""
    few, many = np.median(both[:, short], axis=1)
    documents = "document" if few == 1 else "documents"
    return (
        f"{judged.names[0]} retrieves {few:g} {documents} per query (median) and {name} {many:g}, "
        f"for {short.sum()} of {counted(len(short), 'query', 'queries')}; {_REMEDY}"
    )


def _ids(judged: Evaluation, queries: Bools) -> list[str]:
    return [str(judged.qids[q]) for q in np.flatnonzero(queries)]
