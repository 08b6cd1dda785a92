"""Several judges of the same queries, people or machines, each with grades of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..judging.judgements import Judgements
from ..measures.names import least_grade
from .registry import Bools, Ints

#: What the judge is called whose judgements are given as ``qrels``.
QRELS = "qrels"


def least_grades(judges: Iterable[str], rel: Any, judge_rel: Any) -> dict[str, Any]:
    """The minimum grade of a document that each judge finds relevant.

    Args:
        judges: their names.
        rel: what holds for those of whom ``judge_rel`` says nothing.
        judge_rel: judge -> minimum grade; or a number, for all but :data:`QRELS`; or None.

    Raises:
        ValueError: where ``judge_rel`` names another judge.

    >>> least_grades(["qrels", "crowd", "model"], 2, {"crowd": 1})
    {'qrels': 2, 'crowd': 1, 'model': 2}
    """
    names = [str(judge) for judge in judges]
    others = [name for name in names if name != QRELS]
    said = judge_rel if isinstance(judge_rel, Mapping) else dict.fromkeys(others, judge_rel)
    unknown = [name for name in said if name not in names]
    if unknown:
        raise ValueError(f"judge_rel names {unknown[0]!r}, which is none of the judges {names}")
    return {name: least_grade(said, name, rel) for name in names}


def relevant_by(name: str, judgements: Judgements, rel: float) -> Bools:
    """Which of its judgements a judge finds relevant, shape (judgements,).

    Raises:
        ValueError: where there are none: the judge grades on another scale.
    """
    relevant: Bools = (judgements.grades >= rel) & (judgements.grades >= 0)
    if not relevant.any():
        grades = ", ".join(f"{grade:g}" for grade in np.unique(judgements.grades)[-4:])
        raise ValueError(
            f"judge {name!r} finds nothing relevant at rel={rel:g}: its largest grades are "
            f"{grades}; give it a minimum grade of its own, judge_rel={{{name!r}: ...}} or "
            f"--judge-rel {name}=..."
        )
    return relevant


def queries_in(original: Judgements, other: Judgements) -> Ints:
    """The number that the query of each of another judge's judgements has; -1 for none."""
    numbers = pc.index_in(other.qid_text, original.qid_text).fill_null(-1)
    of_judgements: Ints = numbers.to_numpy().astype(np.int64)[other.queries]
    return of_judgements


def shared_pairs(a: Judgements, b: Judgements) -> tuple[Ints, Ints]:
    """Which pairs of query and document both judged: their rows in each, in b's order.

    >>> a, b = Judgements({"q": {"d": 1, "e": 0}}), Judgements({"q": {"e": 2, "f": 1}})
    >>> [each.tolist() for each in shared_pairs(a, b)]
    [[1], [0]]
    """
    queries = queries_in(a, b)
    rows = np.flatnonzero(queries >= 0)
    at = a.index.find(queries[rows], b.docnos.take(pa.array(rows)))
    return at[at >= 0], rows[at >= 0]
