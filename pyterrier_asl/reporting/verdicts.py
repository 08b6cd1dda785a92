"""What unjudged documents could change between the best systems, and what to judge next."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from ..evaluation.evaluation import Evaluation
from ..evaluation.labellings import has_bounds, labelled_measures
from ..measures.computed import Computed
from ..measures.standard import computed
from ..scoring.arrays import Ints
from ..unjudged.holes import Holes, holes_between

#: The number of best systems whose pairs get bounds; of measures that look deep, two.
_BEST, _BEST_DEEP = 5, 2

#: The cut-off up to which a measure does not look deep.
_SHALLOW = 100


def bounds_of_best(
    runs: Evaluation, measures: Mapping[str, Any], order: Ints
) -> dict[str, dict[tuple[int, int], dict[str, Any]]]:
    """Bounds of the differences of the best systems, for measures that have them.

    Args:
        runs: the runs.
        measures: by name.
        order: the numbers of the systems, best first.

    Returns:
        Name of a measure that has bounds -> numbers of two systems, ascending -> what
        :meth:`~pyterrier_asl.unjudged.holes.Holes.to_dict` says of them, and ``unjudged``, the
        number of their unjudged documents.
    """
    own = {
        name: measure
        for name in measures
        if (measure := computed(measures[name])) and has_bounds(measure)
    }
    found: dict[str, dict[tuple[int, int], dict[str, Any]]] = {name: {} for name in own}
    for shallow, best in ((True, _BEST), (False, _BEST_DEEP)):
        chosen = {
            name: measure
            for name, measure in own.items()
            if looks_no_deeper(measure) == shallow
            and (measure.cutoff is not None or not measure.SLOW_DIFFERENCES)
        }
        for a, b in combinations(sorted(order[:best].tolist()), 2) if chosen else ():
            pair = runs.select([runs.names[a], runs.names[b]])
            for name, labelled in labelled_measures(pair, chosen).items():
                found[name][a, b] = _plain(holes_between(pair, labelled))
    return found


def looks_no_deeper(measure: Computed) -> bool:
    """Whether a measure has a cut-off of at most 100."""
    return measure.cutoff is not None and measure.cutoff <= _SHALLOW


def _plain(holes: Holes) -> dict[str, Any]:
    unjudged = int(holes.difference.by_query["unjudged"].sum())
    return {**holes.difference.row(), "unjudged": unjudged, "todo": holes.todo.head(10)}
