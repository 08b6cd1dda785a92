"""Measures in which the page says what unjudged documents could change.

The page computes differences of two systems, their bounds and what to judge next from the top tens
that it holds, so that labels given there count at once; here stands what else it needs to know.
"""

from __future__ import annotations

from typing import Any

import ir_measures

from ..evaluation.labellings import has_bounds
from ..measures import ASL
from ..measures.computed import Computed
from ..measures.standard import computed
from .collect import Findings


def verdict_measures(findings: Findings) -> list[dict[str, Any]]:
    """The report's measures that look no deeper than its top tens, then the usual ones."""
    deepest, rel = min(findings.tops.documents.shape[-1], findings.cutoff), findings.rel
    of_page: dict[str, dict[str, Any]] = {}
    for ranking in findings.rankings:
        own = computed(ranking.named.measure)
        cutoff = own and own.params.get("cutoff")
        if own is not None and own.page_kind and cutoff and cutoff <= deepest and has_bounds(own):
            of_page[ranking.name] = _of(findings, ranking.name, own, own.rel)
    for measure in (ir_measures.P, ir_measures.nDCG, ASL, ir_measures.RR):
        own = computed(measure @ deepest)
        if own is not None and str(own) not in of_page:
            of_page[str(own)] = _of(findings, str(own), own, rel)
    return list(of_page.values())


def _of(findings: Findings, name: str, measure: Computed, rel: float) -> dict[str, Any]:
    return {
        "name": name,
        "kind": measure.page_kind,
        "cutoff": measure.cutoff,
        "higher": measure.HIGHER_IS_BETTER,
        **measure.page_data(findings.runs.judgements, rel),
    }
