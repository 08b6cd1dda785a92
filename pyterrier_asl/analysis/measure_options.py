"""Measures given what counts as relevant and where to cut, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..measures._base import grade


def with_options(measure: Any, rel: float | None = None, cutoff: int | None = None) -> Any:
    """The measure for documents of grade ``rel`` or more, at ``cutoff``; None: as it is.

    A measure without grades of relevance, such as nDCG, keeps looking at all of them.

    Raises:
        ValueError: for a grade that the measure does not take.

    >>> import ir_measures
    >>> with_options(ir_measures.AP, rel=2.0, cutoff=100)
    AP(rel=2)@100
    >>> with_options(ir_measures.nDCG @ 10, rel=2)
    nDCG@10
    """
    options: dict[str, Any] = {} if cutoff is None else {"cutoff": cutoff}
    if rel is not None and "rel" in measure.SUPPORTED_PARAMS:
        options["rel"] = grade(rel)
    try:
        made = measure(**options)
        made.validate_params()
    except AssertionError:
        raise ValueError(
            f"{measure} does not take rel={rel}: standard measures take whole grades; round the "
            "judgements, or use a measure of this package"
        ) from None
    return made


def missing_of(missing: str, as_published: bool) -> str:
    """``missing=`` of ASL; the numbers that Alex et al. published are ``'after'``."""
    return "after" if as_published else missing


def least_grade(rel: Any, judge: str, otherwise: Any) -> Any:
    """The minimum grade of a document that a judge finds relevant.

    Args:
        rel: a number, or judge -> number.
        judge: the name of the judge.
        otherwise: for a judge of whom ``rel`` says nothing.

    >>> least_grade({"crowd": 2}, "crowd", 1), least_grade(None, "crowd", 1)
    (2, 1)
    """
    least = rel.get(judge) if isinstance(rel, Mapping) else rel
    return otherwise if least is None else least


def lower_is_better(measure: Any) -> bool:
    """Whether a smaller value of the measure is the better one.

    >>> from pyterrier_asl import ASL, nASL
    >>> lower_is_better(ASL), lower_is_better(nASL)
    (True, False)
    """
    return not getattr(measure, "HIGHER_IS_BETTER", True)
