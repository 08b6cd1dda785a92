"""Minimum grade of a relevant document (``rel``): one rule for all commands and functions.

A judge's own grade (``judge_rel``, ``machine_rel``) beats the ``rel`` of a measure, as in
``AP(rel=2)``, and that beats the option ``rel``; without any of them a grade of 1 or more is
relevant. The default measures take the grade that the makers of a known ir_datasets collection
take. Where grades go beyond 1 and no ``rel`` is given, one hint says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ..io.qrels import official_measures
from ..measures.names import NamedMeasure, official_rel, parse_measure, with_options
from ..scoring.arrays import Floats


def official_of(qrels: Any) -> list[Any]:
    """The measures that the makers of an ir_datasets collection report; none of anything else.

    Args:
        qrels: whatever judgements are read from; an id is a str that is no file.
    """
    if not isinstance(qrels, str) or os.path.exists(qrels):
        return []
    return [parse_measure(name) for name in official_measures(qrels)]


def with_rel(
    measure: NamedMeasure, rel: float | None = None, judge_rel: float | None = None
) -> NamedMeasure:
    """The measure with the minimum grade of a relevant document, and the name that shows it.

    A measure without grades of relevance, such as nDCG, stays as it is.

    Args:
        measure: the measure, perhaps with a ``rel`` of its own.
        rel: for measures without a ``rel`` of their own; None: the measure's default.
        judge_rel: of the judge by whose judgements it is computed; beats both. None: the judge has
            no grade of its own.

    Raises:
        ValueError: for a grade that the measure does not take.

    >>> from ir_measures import AP
    >>> own, plain = NamedMeasure("AP(rel=3)", AP(rel=3)), NamedMeasure("AP", AP)
    >>> [with_rel(measure, 2).name for measure in (own, plain)]
    ['AP(rel=3)', 'AP(rel=2)']
    >>> [with_rel(measure, 2, judge_rel=4).name for measure in (own, plain)]
    ['AP(rel=4)', 'AP(rel=4)']
    """
    if judge_rel is None:
        return measure.with_params(rel=rel)
    if "rel" not in measure.measure.SUPPORTED_PARAMS:
        return measure
    by_judge = with_options(measure.measure, judge_rel)
    return NamedMeasure(str(by_judge), by_judge)


def default_rel(qrels: Any, rel: float | None = None) -> float:
    """``rel`` where it is given, else that of a known collection, else 1.

    Args:
        qrels: whatever judgements are read from.
        rel: the option; None: it is not given.

    >>> default_rel({"q": {"d": 3}}), default_rel({"q": {"d": 3}}, 2)
    (1, 2)
    """
    if rel is not None:
        return rel
    official = official_rel(official_of(qrels))
    return 1 if official is None else official


def rel_beside(measures: Iterable[Any]) -> float | None:
    """The ``rel`` that all measures with this parameter have in common; None where there is none.

    Preferences, which have no ``rel`` of their own, take the same.

    >>> from ir_measures import AP, RR, nDCG
    >>> rel_beside([AP(rel=2), nDCG, RR(rel=2)]), rel_beside([AP(rel=2), RR]), rel_beside([nDCG])
    (2, None, None)
    """
    graded = [measure for measure in measures if "rel" in measure.SUPPORTED_PARAMS]
    rels = {measure.params.get("rel") for measure in graded}
    return rels.pop() if len(rels) == 1 else None


def grades_hint(
    grades: Floats,
    measures: Iterable[NamedMeasure] | None = None,
    *,
    rel: float | None = None,
) -> str:
    """A hint where grades exceed 1 and no ``rel`` is given.

    Args:
        grades: those of the judged documents.
        measures: the measures; None: something that takes ``rel``.
        rel: the option, or the grade of the collection; None: there is none.

    Returns:
        The hint; '' where none is needed.

    >>> import numpy as np
    >>> from pyterrier_asl.measures.names import parse_measures
    >>> grades_hint(np.array([0, 1, 1, 3]), parse_measures("AP ASL"))[:70]
    '2 of 4 judged documents have a grade from 1 to below 2 and count as re'
    >>> grades_hint(np.array([0, 1, 3]), parse_measures("AP ASL(rel=2)"))
    ''
    >>> grades_hint(np.array([0, 1, 1])) + grades_hint(np.array([1, 2]), rel=1)
    ''
    """
    highest = grades.max(initial=0)
    if highest <= 1 or rel is not None:
        return ""
    if measures is not None:
        graded = [named.measure for named in measures if "rel" in named.measure.SUPPORTED_PARAMS]
        if not graded or any("rel" in measure.params for measure in graded):
            return ""
    low = int(((grades >= 1) & (grades < 2)).sum())
    return (
        f"{low} of {len(grades)} judged documents have a grade from 1 to below 2 and count as "
        f"relevant: grades go up to {highest:g}, and nothing says from which on a document is "
        "relevant (for the passages of TREC DL: --rel 2, or ASL(rel=2))"
    )
