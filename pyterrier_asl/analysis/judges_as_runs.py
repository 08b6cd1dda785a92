"""Relevant documents of a judge, scored as a run by another judge (Trotman and Keeler 2011)."""

from __future__ import annotations

from typing import Any

import numpy as np
from ir_measures import AP
from numpy.typing import NDArray

from ..assessment.judges import Judges
from ..common.types import Floats
from ..judging.judgements import shared_pairs
from ..measures.parsing import with_options
from ..scoring import assessor as scoring

#: The scores of a judge, whose documents have no order, as Table 1 names them.
BOUNDS = ("upper", "expected", "lower")


def judge_as_run(judges: Judges, name: str, reference: str) -> dict[str, NDArray[Any]]:
    """A judge's relevant documents, scored as a run by another judge.

    Args:
        judges: both, and perhaps others; the queries are those that all of them judged.
        name: the judge whose documents are counted.
        reference: the judge who scores them.

    Returns:
        By query, shape (Q,) each: the documents that the judge finds relevant, ``retrieved``, that
        the reference finds relevant too, ``common``, and that the reference finds ``relevant``; AP
        by each of the :data:`BOUNDS`: best order, expected, worst order.

    Raises:
        ValueError: for a judge who finds nothing relevant.

    >>> judges = Judges.of({"a": {"q": {"d": 1, "e": 1}}, "b": {"q": {"d": 1, "f": 1, "g": 1}}})
    >>> {name: of.round(3).tolist() for name, of in judge_as_run(judges, "b", "a").items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'retrieved': [3], 'common': [1], 'relevant': [2], 'upper': [0.5], 'expected': [0.306],
     'lower': [0.167]}
    """
    by, judge = judges.members[reference], judges.members[name]
    for member in (by, judge):
        member.check_finds_relevant()
    at, rows = shared_pairs(by.judgements, judge.judgements)
    both = by.judgements.queries[at[by.relevant[at] & judge.relevant[rows]]]
    counts = (
        judge.judgements.num_relevant(judge.rel)[judges.positions[name]],
        np.bincount(both, minlength=len(by.judgements))[judges.positions[reference]],
        by.judgements.num_relevant(by.rel)[judges.positions[reference]],
    )
    return {
        **dict(zip(("retrieved", "common", "relevant"), counts)),
        "upper": scoring.best_average_precision(*counts),
        "expected": scoring.expected_average_precision(*counts),
        "lower": scoring.worst_average_precision(*counts),
    }


def precision_by(judges: Judges, reference: str) -> Floats:
    """AP of the runs by a judge, of the queries that all judged, shape (S, Q)."""
    return judges.values_by(reference, with_options(AP, judges.members[reference].rel))
