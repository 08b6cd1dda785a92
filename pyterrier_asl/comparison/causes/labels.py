"""Unjudged documents, and qrels of other documents or queries."""

from __future__ import annotations

from .cause import Cause, Repaired, percent
from .pair import Pair


def unjudged_documents(pair: Pair) -> list[Cause]:
    """Documents without a label, which count as not relevant."""
    shares = []
    for top in (pair.a, pair.b):
        first = top.ranks <= 10
        shares.append(float((~top.judged[first]).mean()) if first.any() else 0.0)
    if max(shares) == 0:
        return []

    def repaired() -> list[Repaired]:
        return [(pair.a.run.view(None, True), pair.b.run.view(None, True))]

    return [
        Cause(
            "unjudged documents",
            "A and B",
            max(shares),
            f"{percent(shares[0])} of the first 10 documents of A and {percent(shares[1])} of B's "
            "are unjudged and count as not relevant",
            "judge them, or ask for bounds (--bounds)",
            is_fact=True,
            repaired=repaired,
        )
    ]
