"""Reads judges, with or without runs, as the analyses of several judges take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..assessment.judges import QRELS, Judges
from .reading import hint_at_grades
from .registry import JudgedRuns


def read_judges(
    judges: Mapping[str, Any],
    runs: Any = None,
    *,
    rel: float | None = None,
    judge_rel: Any = None,
    duplicates: str | None = None,
    measure: Any = None,
) -> Judges:
    """Two judges or more, and runs to measure by each; arguments as :meth:`.Judges.of`.

    Raises:
        ValueError: for fewer than two judges.
    """
    if len(judges) < 2:
        raise ValueError(f"there are {len(judges)} judges: comparing takes at least two")
    read = Judges.of(judges, runs, rel=rel, judge_rel=judge_rel, duplicates=duplicates)
    hint_at_grades(read.judgements, rel, judge_rel, measure)
    return read


def read_qrels_and_judges(
    qrels: Any, judges: Mapping[str, Any], rel: float | None, judge_rel: Any
) -> Judges:
    """The judge of ``qrels``, and others beside."""
    least = 1 if rel is None else rel
    read = Judges.of({QRELS: qrels, **judges}, rel=least, judge_rel=judge_rel)
    hint_at_grades(read.judgements, rel, judge_rel)
    return read


def read_runs_and_judges(
    runs: Any,
    qrels: Any,
    duplicates: str | None,
    judges: Mapping[str, Any] | None,
    rel: float | None,
    judge_rel: Any,
) -> Judges:
    """Runs, the judge of ``qrels``, and others beside, who may be none."""
    judged = JudgedRuns.of(runs, qrels, duplicates=duplicates)
    sources = {QRELS: judged.judgements, **(judges or {})}
    read = Judges.of(sources, judged, rel=1 if rel is None else rel, judge_rel=judge_rel)
    hint_at_grades(read.judgements, rel, judge_rel)
    return read
