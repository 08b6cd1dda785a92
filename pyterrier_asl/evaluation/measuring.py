"""Runs one by one: matched with qrels, or measured.

Workers use this module. :func:`values_of` has the values of measures without a pool. For a
measure that another provider of ir_measures computes, it returns the values that the provider gives
for the scores of the run and the grades of the qrels, and the measure's default for a query for
which the provider gives no value, or NaN for a measure with ``rel`` (trec_eval's IPrec).
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from threading import Lock
from typing import Any

import ir_measures
import numpy as np

from ..common.lazy import pd
from ..common.notices import progress_bar
from ..common.threads import cores, map_ahead, map_at_once
from ..common.types import Floats
from ..io.runs import iter_runs, load_run
from ..judging.judged_run import JudgedRun
from ..judging.judgements import Judgements
from ..judging.matching import judge_whole
from ..measures.formula import formula
from ..measures.parsing import has_subtopics, needs_pool
from ..measures.rareness import Pools, check_pooled, warn_of_few
from .run_facts import RunFacts

#: Number of runs from which on a progress bar is shown while they are read.
_MANY = 20
#: The least size in bytes of a file that is not read together with others.
_LARGE = 1 << 23
#: Held while a provider computes. Runs are matched on threads, but providers need not be
#: thread-safe.
_PROVIDERS = Lock()


@dataclass(frozen=True)
class MeasuredRun:
    """The values of a run.

    Attributes:
        name: the name of the run.
        values: by label, shape (Q,); without the measures that need the pool of all runs.
        judged: the matched run, for the measures that need the pool; None: no measure does.
        error: the reason why the run could not be measured; None: it was measured.
        facts: the facts of the run.
    """

    name: str
    values: dict[str, Floats] = field(default_factory=dict)
    judged: JudgedRun | None = None
    error: Exception | None = None
    facts: RunFacts = field(default_factory=RunFacts)


class Measuring:
    """Qrels and measures, prepared for any run; each worker gets it once.

    Args:
        judgements: the qrels.
        measures: measures by the names of their columns.
    """

    def __init__(self, judgements: Judgements, measures: Mapping[str, Any]) -> None:
        self.judgements = judgements
        self._pooled = {label: m for label, m in measures.items() if needs_pool(m)}
        for measure in self._pooled.values():
            check_pooled(measure)
        self._others = {label: m for label, m in measures.items() if label not in self._pooled}

    def run(self, name: str, source: Any) -> MeasuredRun:
        """The values of a run, or the reason why it cannot be measured.

        Args:
            name: the name of the run.
            source: a file, or a run of a form that :func:`.matching.judge` takes.
        """
        try:
            judged = judge_whole(self.judgements, load_run(source))
            values = values_of([*self._others.values()], judged)
        except (ValueError, OSError) as error:
            return MeasuredRun(name, error=error)
        return MeasuredRun(
            name,
            dict(zip(self._others, values)),
            judged.without_rows() if self._pooled else None,
            facts=RunFacts.of(judged, self._others, values),
        )

    def runs(self, sources: Mapping[str, Any]) -> Generator[MeasuredRun]:
        """The runs in this process: several small files at a time, large ones one by one."""

        def is_small_file(item: tuple[str, Any]) -> bool:
            path = item[1] if isinstance(item[1], (str, os.PathLike)) else ""
            return os.path.isfile(path) and os.path.getsize(path) < _LARGE

        for are_small, some in groupby(sources.items(), is_small_file):
            if are_small:
                done = map_ahead(lambda item: self.run(*item), some, ahead=2 * cores())
                yield from (run for _, run in done)
            else:
                yield from (self.run(*item) for item in some)

    def join(self, runs: Sequence[MeasuredRun]) -> dict[str, Floats]:
        """The values of all runs by label, shape (S, Q), also of measures with their pool."""
        values = {label: np.array([run.values[label] for run in runs]) for label in self._others}
        if self._pooled:
            judged = [run.judged for run in runs if run.judged is not None]
            warn_of_few(self._pooled, len(judged))
            values |= {label: Pools(m, judged).values() for label, m in self._pooled.items()}
        return values


def iter_judged(
    names: Sequence[str], sources: Sequence[Any], judgements: Judgements
) -> Iterator[JudgedRun]:
    """Matched runs one after the other, read and matched on threads before they are needed.

    Raises:
        ValueError: for a run that cannot be matched with these queries, with its name.
    """

    def judge(name: str, run: Any) -> JudgedRun:
        try:
            return judge_whole(judgements, run.table if isinstance(run, JudgedRun) else run)
        except ValueError as error:
            raise ValueError(f"run {name!r}: {error}") from None

    judged = iter_runs(dict(zip(names, sources)), then=judge)
    is_shown = False if len(names) < _MANY else None
    for _, run in progress_bar(judged, total=len(names), desc="runs", shown=is_shown, leave=False):
        yield run


# Values of a run


def values_of(measures: Sequence[Any], judged: JudgedRun) -> list[Floats]:
    """The values of measures, of this package or of other providers, shape (Q,) each."""
    ours = [formula(measure) for measure in measures]
    others = values_by_others([m for m, own in zip(measures, ours) if own is None], judged)
    values = iter(
        map_at_once(
            lambda own: own.values(judged),
            [own for own in ours if own is not None],
            len(judged.table.value),
        )
    )
    return [others[m] if own is None else next(values) for m, own in zip(measures, ours)]


def values_by_others(measures: Sequence[Any], judged: JudgedRun) -> dict[Any, Floats]:
    """The values of measures that other providers of ir_measures compute.

    Args:
        measures: measures of other providers.
        judged: the run, with its rows.

    Returns:
        By measure, one value per query of the qrels, in their order, shape (Q,).

    Raises:
        ValueError: for a measure that no installed provider computes from this run and these
            qrels.

    >>> qrels = Judgements({"q": {"a": 1, "b": 0}, "unanswered": {"a": 1}})
    >>> run = judge_whole(qrels, {"q": {"a": 1.0, "b": 1.0}})
    >>> values_by_others([ir_measures.Compat(p=0.8)], run)[ir_measures.Compat(p=0.8)].tolist()
    [1.0, 0.0]
    """
    judgements = judged.judgements
    values = {measure: np.full(len(judgements), float(measure.DEFAULT)) for measure in measures}
    answered = np.flatnonzero(judged.retrieved)
    if not values or not len(answered):
        return values
    number = {judgements.qid_text[row].as_py(): row for row in answered.tolist()}
    # The best row of a document that occurs twice.
    rows = judged.table.take(np.sort(judged.whole_ranking.rows)).frame(
        "query_id", "doc_id", "score"
    )
    # Measures with subtopics have other qrels, and ir_measures gives 0 for several at once.
    alone = [m for m in values if has_subtopics(m) or _needs_binary(m, judgements)]
    with _PROVIDERS:
        for group in filter(None, [[m for m in values if m not in alone], *([m] for m in alone)]):
            for metric in _calculated(group, judged, rows):
                measure = metric.measure if len(group) > 1 else group[0]
                # trec_eval divides 0 by 0 in IPrec of a query without relevant documents.
                is_undefined = "rel" in measure.SUPPORTED_PARAMS and metric.value != metric.value
                if metric.query_id in number and not is_undefined:
                    values[measure][number[metric.query_id]] = metric.value
    return values


def check_provided(measures: Sequence[Any], judgements: Judgements) -> None:
    """Checks that a provider computes each of these measures from these judgements.

    Raises:
        ValueError: for a measure that none computes.
    """
    for measure in measures:
        try:
            judgements.once(_evaluator, measure)
        except Exception as error:  # of a provider: of any type
            raise _not_provided(measure, judgements, error) from error


def _calculated(measures: list[Any], judged: JudgedRun, run: pd.DataFrame) -> list[Any]:
    """The metrics of the providers; an error names the measure."""
    judgements = judged.judgements
    try:
        return list(judgements.once(_evaluator, *measures).iter_calc(run))
    except Exception as error:  # of a provider, or of a program that it starts: of any type
        if len(measures) > 1:
            return [metric for m in measures for metric in _calculated([m], judged, run)]
        raise _not_provided(measures[0], judgements, error) from error


def _not_provided(measure: Any, judgements: Judgements, error: Exception) -> ValueError:
    if len(fractions := judgements.grades[judgements.grades % 1 != 0]):
        return ValueError(
            f"{measure} cannot be computed by ir_measures from fractional grades such as "
            f"{fractions[0]:g}: round the grades, or use a measure that takes fractions, for "
            "example AP, nDCG, ASL or LexiP"
        )
    return ValueError(
        f"{measure} cannot be computed by ir_measures, which raised {type(error).__name__} "
        f"({str(error) or 'without a reason'}): leave it out, or install another provider"
    )


def _needs_binary(measure: Any, judgements: Judgements) -> bool:
    """Whether a measure gets grades of 0 and 1: few providers take fractions, or any ``rel``."""
    rel = measure["rel"] if "rel" in measure.SUPPORTED_PARAMS else None
    return isinstance(rel, (int, float)) and (rel != 1 or judgements.once(_has_fractions))


def _has_fractions(judgements: Judgements) -> bool:
    return bool(np.any(judgements.grades % 1))


def _evaluator(judgements: Judgements, *measures: Any) -> Any:
    """ir_measures' evaluator of these measures; some providers need whole grades as integers."""
    qrels = (
        judgements.by_subtopic.to_pandas()
        if judgements.by_subtopic is not None and all(map(has_subtopics, measures))
        else judgements.table.frame("query_id", "doc_id", "relevance")
    )
    if len(measures) == 1 and _needs_binary(measures[0], judgements):
        grades = qrels["relevance"]
        qrels["relevance"] = np.where(grades < 0, -1, grades >= measures[0]["rel"])
        measures = (measures[0](rel=1),)
    elif not judgements.once(_has_fractions):
        qrels = qrels.astype({"relevance": np.int64})
    return ir_measures.evaluator(measures, qrels)
