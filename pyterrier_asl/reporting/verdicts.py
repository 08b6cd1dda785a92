"""Measures in which the page says what unjudged documents could change.

The page computes differences of two systems, their bounds and what to judge next from the top tens
that it holds, so that labels given there count at once; here stands what else it needs to know.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from ir_measures import nDCG

from ..evaluation.labellings import Labelled, has_bounds, unjudged_of
from ..evaluation.standard import gains_of
from .collect import Findings

#: The measures that the page can bound, with the parameters that it knows.
_BOUNDED = {
    "P": {"rel"},
    "R": {"rel"},
    "RR": {"rel"},
    "Success": {"rel"},
    "ASL": {"rel"},
    "nASL": {"rel"},
    "nDCG": {"dcg", "gains"},
}
#: Those that stand beside the report's own.
_ALWAYS = ("P", "nDCG", "ASL", "RR")

#: The highest label that the page has a button for.
_HIGHEST_LABEL = 2


def verdict_measures(findings: Findings) -> list[dict[str, Any]]:
    """The report's measures that look no deeper than its top tens, then the usual ones."""
    deepest = min(findings.tops.documents.shape[-1], findings.cutoff)
    found: dict[str, dict[str, Any]] = {}
    for ranking in findings.rankings:
        measure, kind = ranking.named.measure, ranking.kind
        cutoff = measure.params.get("cutoff") or findings.cutoff + 1
        known = {"cutoff", *_BOUNDED.get(kind, ())} >= measure.params.keys()
        if kind in _BOUNDED and known and cutoff <= deepest and has_bounds(measure):
            rel = measure.params.get("rel", 1)
            found[ranking.name] = _of(findings, ranking.name, kind, cutoff, rel, measure)
    for kind in _ALWAYS:
        name = f"{kind}@{deepest}"
        if name not in found:
            found[name] = _of(findings, name, kind, deepest, findings.rel, nDCG @ deepest)
    return list(found.values())


def _of(
    findings: Findings, name: str, kind: str, cutoff: int, rel: float, measure: Any
) -> dict[str, Any]:
    about = {"name": name, "kind": kind, "cutoff": cutoff, "higher": kind != "ASL"}
    if kind == "nDCG":
        return about | _gains(findings, measure)
    return about | {"rel": rel, "relevant": findings.runs.judgements.num_relevant(rel).tolist()}


def _gains(findings: Findings, measure: Any) -> dict[str, Any]:
    """The gain of every grade and label, and how many documents have each gain or more."""
    judgements = findings.runs.judgements
    highest = max(1.0, float(judgements.grades.max(initial=1)))
    one = Labelled(
        unjudged_of(findings.runs.runs[:1], [measure]),
        measure,
        highest=max(highest, _HIGHEST_LABEL),
    )
    levels, _, counts = one.gains
    labels = np.append(np.arange(max(highest, _HIGHEST_LABEL) + 1), judgements.grades)
    grades = np.unique(labels[labels >= 0])
    regraded = measure.params.get("gains") or {}
    gains = gains_of(measure, np.array([regraded.get(one, one) for one in grades.tolist()], float))
    return {
        "grades": grades.tolist(),
        "gains": gains.tolist(),
        "highest": highest,
        "levels": levels.tolist(),
        "counts": counts.tolist(),
    }
