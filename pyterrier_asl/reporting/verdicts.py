"""Bounds over labels of unjudged documents of the difference of two systems, for the page.

For the measures that its script knows the page computes differences, bounds and what to judge next
from the top tens that it holds, so that labels given there count at once. For other measures that
have bounds they are computed here, for the pairs of the best systems.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations
from typing import Any

import ir_measures

from ..evaluation.bounds import labelled_measures
from ..evaluation.labellings import has_bounds
from ..measures import ASL
from ..measures.computed import Computed
from ..measures.standard import computed
from .findings import Findings

#: The number of best systems for whose pairs bounds are computed here.
BEST = 5


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
    return [*of_page.values(), *_computed_bounds(findings, of_page)]


def _computed_bounds(findings: Findings, of_page: Collection[str]) -> list[dict[str, Any]]:
    """The report's other measures that have bounds, with those of the pairs of the best systems."""
    measures: dict[str, Computed] = {}
    for ranking in findings.rankings:
        own = computed(ranking.named.measure)
        if ranking.name in of_page or own is None or not has_bounds(own):
            continue
        if own.cutoff is not None or not own.SLOW_DIFFERENCES:
            measures[ranking.name] = own
    bounds: dict[str, dict[str, list[float]]] = {name: {} for name in measures}
    best = sorted(findings.rankings[0].order[:BEST].tolist()) if measures else []
    for a, b in combinations(best, 2):
        pair = findings.runs.select([findings.names[a], findings.names[b]])
        for name, labelled in labelled_measures(pair, measures).items():
            now = labelled.side(0).value - labelled.side(1).value
            means = [float(part.mean()) for part in (now, *labelled.difference(0, 1))]
            bounds[name][f"{a},{b}"] = means
    return [
        {
            "name": name,
            "kind": None,
            "cutoff": measure.cutoff,
            "higher": measure.HIGHER_IS_BETTER,
            "exact": measure.is_exact(pair=True),
            "best": BEST,
            "bounds": bounds[name],
        }
        for name, measure in measures.items()
    ]


def _of(findings: Findings, name: str, measure: Computed, rel: float) -> dict[str, Any]:
    return {
        "name": name,
        "kind": measure.page_kind,
        "cutoff": measure.cutoff,
        "higher": measure.HIGHER_IS_BETTER,
        **measure.page_data(findings.runs.judgements, rel),
    }
