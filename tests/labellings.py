"""Bounds by enumeration of all labellings, written from the definitions without the package.

``A`` and ``B`` are rankings of one query, best first; ``grades`` maps judged documents to grades.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import brute_force

Value = Callable[[list, dict], float]


def value_of(name: str, k: int | None, **given) -> Value:
    """A measure cut at k as a function of ranking and grades."""

    def of(docs: list, grades: dict) -> float:
        docs, wanted = docs[:k], brute_force.relevant(grades)
        ranks = [rank for rank, doc in enumerate(docs, 1) if doc in wanted]
        if name == "P":
            return len(ranks) / k
        if name == "R":
            return len(ranks) / len(wanted) if wanted else 0.0
        if name == "RR":
            return 1 / ranks[0] if ranks else 0.0
        if name == "Success":
            return float(bool(ranks))
        if name == "AP":
            found = sum(i / rank for i, rank in enumerate(ranks, 1))
            return found / len(wanted) if wanted else 0.0
        if name == "RBP":
            return 0.2 * sum(0.8 ** (rank - 1) for rank in ranks)
        if name == "nDCG":
            return ndcg(docs, grades, k)
        if name == "ASL":
            return brute_force.asl(docs, grades, k=k, **given)
        if name == "nASL":
            return 1 - (brute_force.asl(docs, grades, k=k, **given) - 1) / k
        if name == "LexiP":
            return brute_force.lexip(docs, grades, k=k)
        if name == "TBG":
            return brute_force.tbg(docs, grades, **given)
        kind = ("P_Rareness", "AP_Rareness").index(name)
        return brute_force.rareness(docs, grades, k=k, **given)[kind]

    return of


def ndcg(docs: list, grades: dict, k: int | None) -> float:
    def dcg(gains: Sequence[float]) -> float:
        return sum(max(gain, 0) / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))

    ideal = dcg(sorted(grades.values(), reverse=True)[:k])
    return dcg([grades.get(doc, 0) for doc in docs]) / ideal if ideal else 0.0


def unjudged(rankings: Sequence[list], grades: dict, depth: int | None) -> list:
    """V: the unjudged documents among the first ``depth`` of a ranking."""
    seen = {doc for docs in rankings for doc in docs[:depth]}
    return sorted(doc for doc in seen if grades.get(doc, -1) < 0)


def labelled(grades: dict, documents: Sequence, labels: Sequence[float] = (0, 1)) -> Iterator[dict]:
    """The grades with each labelling of the documents."""
    for given in itertools.product(labels, repeat=len(documents)):
        yield {**grades, **dict(zip(documents, given))}


def sgn_lp(a: list, b: list, grades: dict, k: int | None) -> int:
    one, two = (brute_force.reciprocal_ranks(docs[:k], grades) for docs in (a, b))
    difference = brute_force.rr_lp(one, two)
    return (difference > 0) - (difference < 0)
