"""Unjudged documents."""

from __future__ import annotations

from .cause import Cause, percent
from .pair import Pair

#: The first documents of a query that are counted.
_FIRST = 10


def unjudged_documents(pair: Pair) -> Cause | None:
    """Documents without a label, which count as not relevant; the difference is without them."""
    first = [top.judged[top.ranks <= _FIRST] for top in (pair.a, pair.b)]
    a, b = (1 - float(judged.sum()) / max(1, len(judged)) for judged in first)
    rest = pair.a.run.view(None, True), pair.b.run.view(None, True)
    return Cause(
        "unjudged documents",
        "A and B",
        max(a, b),
        f"{percent(a)} of the first {_FIRST} documents of A and {percent(b)} of those of B are "
        "unjudged and count as not relevant",
        "judge them, or ask for the bounds of the difference (--bounds)",
        is_fact=True,
        repaired=lambda: [rest],
    )
