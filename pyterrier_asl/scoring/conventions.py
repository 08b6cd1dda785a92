"""Conventions by which programs compute nDCG, AP, RR, P and R: a table of options of each part.

A convention has one option of each part of its measure. The first option of a part is
trec_eval's. An option is a name and a function of matrices, one row per query, best first: an
option is added in one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, TypeAlias

import numpy as np

from ..common.types import Floats, Ints
from .arrays import divide

#: The options in which a convention differs from trec_eval's, by part.
Convention: TypeAlias = dict[str, Any]
#: The options of each part, trec_eval's first.
Parts: TypeAlias = dict[str, list[Any]]

#: The cut-offs that are tried. None: no cut-off.
CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 1000, None)
#: The rank of no cut-off: min(x, NO_CUTOFF) is x.
NO_CUTOFF = 1 << 40
#: From this grade on 2^grade is no number.
_MOST_BITS = 1000


@dataclass(frozen=True, eq=False)
class Ranks:
    """The documents with a grade above 0 that a run retrieved, in one order.

    Attributes:
        grades: their grades in rank order, 0 after the last of a query, shape (Q, E).
        ranks: their ranks from 1, shape (Q, E).
        first: the first of the ranks over which the gain of each is spread, shape (Q, E).
        last: the last of these ranks.
        retrieved: the number of documents that were retrieved, shape (Q,).
        judged: the grades above 0 of all judged documents, best first, shape (Q, J).
    """

    grades: Floats
    ranks: Ints
    first: Ints
    last: Ints
    retrieved: Ints
    judged: Floats


def _best_first(grades: Floats) -> Floats:
    return -np.sort(-grades, axis=1)


#: The functions of grades that are gains; ``1 from L`` for each grade L follows.
GAINS: dict[str, Callable[[Floats], Floats]] = {
    "grade": lambda grades: grades,
    "2^grade - 1": lambda grades: np.exp2(grades) - 1,
}

#: By what the gain at a rank is divided.
DISCOUNTS: dict[str, Callable[[Ints], Floats]] = {
    "log2(rank + 1)": lambda ranks: np.log2(ranks + 1),
    "log2(rank)": lambda ranks: np.log2(np.maximum(ranks, 2)),
}

#: The grades of the ideal ranking, from the run and k; None: k documents of gain 1.
IDEALS: dict[str, Callable[[Ranks, int], Floats] | None] = {
    "judged": lambda run, k: run.judged[:, :k],
    "retrieved": lambda run, k: _best_first(run.grades)[:, :k],
    "first k": lambda run, k: _best_first(np.where(run.ranks <= k, run.grades, 0)),
    "judged, as many as retrieved": lambda run, k: np.where(
        np.arange(run.judged.shape[1]) < np.minimum(run.retrieved, k)[:, np.newaxis], run.judged, 0
    ),
    "judged, not cut": lambda run, k: run.judged,
    "k of gain 1": None,
}


#: By what sums are divided: of the relevant documents, those among the first k, shape (G, Q) each,
#: the retrieved documents, shape (Q,), and k.
DIVISORS: dict[str, Callable[[Any, Any, Any, int], Any]] = {
    "relevant": lambda relevant, found, retrieved, k: relevant,
    "min(relevant, k)": lambda relevant, found, retrieved, k: np.minimum(relevant, k),
    "relevant retrieved": lambda relevant, found, retrieved, k: found,
    "1": lambda relevant, found, retrieved, k: np.maximum(found, 1),
    "k": lambda relevant, found, retrieved, k: k,
    "min(retrieved, k)": lambda relevant, found, retrieved, k: np.minimum(retrieved, k),
}

#: The measures besides nDCG: what is added up, or for RR the largest value that counts, from gains
#: of 0 and 1 and the ranks; and the names of their :data:`DIVISORS`.
SUMS: dict[str, tuple[Callable[[Floats, Ints], Floats], list[str]]] = {
    "AP": (
        lambda gains, ranks: (gains * gains.cumsum(axis=-1) / ranks).sum(axis=-1),
        ["relevant", "min(relevant, k)", "relevant retrieved", "k"],
    ),
    "R": (lambda gains, ranks: gains.sum(axis=-1), ["relevant", "min(relevant, k)", "1"]),
    "P": (lambda gains, ranks: gains.sum(axis=-1), ["k", "min(retrieved, k)"]),
    "RR": (lambda gains, ranks: (gains / ranks).max(axis=-1, initial=0), []),
}
#: The ideals and divisors that need a cut-off.
_OF_CUTOFFS = ("k of gain 1", "k")

#: Orders of equal scores, and of all documents where scores are not looked at: the numbers, row by
#: row, that ascend. ``mean gain`` has the mean gain of the equal scores at each of their ranks.
EQUAL_SCORES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "docno descending": lambda rows: rows["place"],
    "docno ascending": lambda rows: -rows["place"],
    "file": lambda rows: rows["row"],
    "file reversed": lambda rows: -rows["row"],
    "rank": lambda rows: rows["rank"],
    "mean gain": lambda rows: rows["place"],
}

#: The sets of queries whose mean is taken, from whether each is answered and has relevant ones.
QUERIES: dict[str, Callable[[Any, Any], Any]] = {
    "of the qrels": lambda answered, relevant: answered | True,
    "answered": lambda answered, relevant: answered,
    "with a relevant document": lambda answered, relevant: relevant,
    "both": lambda answered, relevant: answered & relevant,
}


def parts_of(measure: str, cutoff: int | None, grades: Iterable[float], *, ranks: bool) -> Parts:
    """The parts of a measure and their options, without the queries of means.

    Args:
        measure: ``nDCG``, ``AP``, ``RR``, ``P`` or ``R``.
        cutoff: k; None: no cut-off.
        grades: the grades above 0 of the qrels.
        ranks: whether the run has a column of ranks.

    >>> parts_of("RR", 20, [1, 2], ranks=False)["equal scores"]
    ['docno descending', 'docno ascending', 'file', 'file reversed']
    """
    levels = [int(grade) if grade == int(grade) else grade for grade in sorted(grades)]
    parts: Parts = {"relevant from": [1, *(level for level in levels if level != 1)]}
    if measure not in SUMS:
        scales = [name for name in GAINS if name == "grade" or max(levels, default=0) < _MOST_BITS]
        parts = {"gain": scales + [f"1 from {level}" for level in levels]}
        parts |= {"discount": list(DISCOUNTS), "ideal": list(IDEALS)}
    elif divisors := SUMS[measure][1]:
        parts["divided by"] = divisors
    lacks = ("rank" * (not ranks), "mean gain" * (measure in SUMS))
    return parts | {
        "equal scores": [name for name in EQUAL_SCORES if name not in lacks],
        "order": [name for name in ("scores", "file", "rank") if name not in lacks],
        "unjudged": ["not relevant", "left out"],
        "cut-off": [cutoff, *(k for k in CUTOFFS if k != cutoff)],
    }


def conventions(parts: Parts, changes: int) -> Iterator[Convention]:
    """The conventions that differ from trec_eval's in so many parts, earlier parts first.

    >>> list(conventions({"divided by": ["relevant", "k"], "cut-off": [5, 1, None]}, 1))
    [{'divided by': 'k'}, {'cut-off': 1}, {'cut-off': None}]
    >>> list(conventions({"divided by": ["relevant", "k"], "cut-off": [5, 1, None]}, 2))
    [{'divided by': 'k', 'cut-off': 1}]
    """
    for changed in combinations(parts, changes):
        for options in product(*(parts[part][1:] for part in changed)):
            convention = dict(zip(changed, options))
            if not {"equal scores", "order"} <= convention.keys() and (
                option_of(parts, convention, "cut-off") is not None
                or option_of(parts, convention, "ideal", "divided by") not in _OF_CUTOFFS
            ):
                yield convention


def option_of(parts: Parts, convention: Convention, *names: str) -> Any:
    """The option of the first of some parts that a measure has; '' for none of them."""
    options = {part: options[0] for part, options in parts.items()} | convention
    return next((options[name] for name in names if name in options), "")


def gains_of(parts: Parts, grades: Floats) -> Floats:
    """The gains of documents under each option of the first part, shape (G, *shape of grades).

    >>> gains_of({"relevant from": [1, 2]}, np.array([0.0, 2.0, 1.0])).tolist()
    [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]]
    """
    return np.array(
        [
            GAINS[option](grades)
            if option in GAINS
            else (grades >= float(str(option).rpartition(" ")[2])).astype(np.float64)
            for option in next(iter(parts.values()))
        ]
    )


def values_under(
    measure: str, parts: Parts, run: Ranks, how: str, discount: str, cutoff: int | None
) -> Floats:
    """The values under each option of the first part, shape (G, Q).

    Args:
        measure: the measure.
        parts: its parts.
        run: the run in an order.
        how: the option of the part ``ideal`` or ``divided by``; '' for RR.
        discount: the option of the part ``discount``; '' for all but nDCG.
        cutoff: k; None: no cut-off.
    """
    k = cutoff or NO_CUTOFF
    if measure in SUMS:
        gains = gains_of(parts, run.grades) * (run.ranks <= k)
        sums, found = SUMS[measure][0](gains, run.ranks), gains.sum(axis=-1)
        relevant = gains_of(parts, run.judged).sum(axis=-1)
        divisor = DIVISORS[how](relevant, found, run.retrieved, k) if how else 1
        return divide(sums, np.asarray(divisor))
    depth = max(int(run.last.max(initial=0)), run.judged.shape[1], cutoff or 0)
    weights = 1 / DISCOUNTS[discount](np.arange(1, depth + 1))
    running = np.append(0.0, np.cumsum(weights))
    spread = running[np.minimum(run.last, k)] - running[np.minimum(run.first - 1, k)]
    gains = gains_of(parts, run.grades)
    gained = np.einsum("gqe,qe->gq", gains, spread / (run.last - run.first + 1))
    grades = IDEALS[how]
    if grades is None:
        return np.asarray(gained / running[k])
    ideal = gains_of(parts, grades(run, k))
    return divide(gained, ideal @ weights[: ideal.shape[-1]])
