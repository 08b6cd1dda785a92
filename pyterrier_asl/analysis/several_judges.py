"""Reads judges, with or without runs, as the analyses of several judges take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..assessment.judges import QRELS, Judges
from .registry import JudgedRuns


def read_judges(judges: Mapping[str, Any], *, rel: float = 1, judge_rel: Any = None) -> Judges:
    """Two judges or more."""
    _check_several(judges)
    return Judges.of(judges, rel=rel, judge_rel=judge_rel)


def read_judges_with_runs(
    runs: Any,
    judges: Mapping[str, Any],
    *,
    rel: float | None = None,
    judge_rel: Any = None,
    duplicates: str | None = None,
) -> Judges:
    """Two judges or more, and runs to measure by each."""
    _check_several(judges)
    return Judges.of(judges, runs, rel=rel, judge_rel=judge_rel, duplicates=duplicates)


def read_qrels_and_judges(
    qrels: Any, judges: Mapping[str, Any], *, rel: float = 1, judge_rel: Any = None
) -> Judges:
    """The judge of ``qrels``, and others beside."""
    return Judges.of({QRELS: qrels, **judges}, rel=rel, judge_rel=judge_rel)


def read_runs_and_judges(
    runs: Any,
    qrels: Any = None,
    *,
    duplicates: str | None = None,
    judges: Any = None,
    rel: float = 1,
    judge_rel: Any = None,
) -> Judges:
    """Runs, the judge of ``qrels``, and others beside, who may be none."""
    judged = JudgedRuns.of(runs, qrels, duplicates=duplicates)
    sources = {QRELS: judged.judgements, **(judges or {})}
    return Judges.of(sources, judged, rel=rel, judge_rel=judge_rel)


def _check_several(judges: Mapping[str, Any]) -> None:
    if len(judges) < 2:
        raise ValueError(f"there are {len(judges)} judges: comparing takes at least two")
