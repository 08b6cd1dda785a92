"""The measures as plain loops, written from their definitions without code of the package.

A ranking is a list of document ids, best first; ``grades`` maps judged documents to grades.
"""

from __future__ import annotations

import itertools

import numpy as np


def ranking(scores: dict, grades: dict, judged_only: bool = False, k: int | None = None) -> list:
    """Score descending as 32-bit floats, then id descending; unjudged out; cut."""
    docs = sorted(scores, key=lambda d: (np.float32(scores[d]), d), reverse=True)
    if judged_only:
        docs = [d for d in docs if grades.get(d, -1) >= 0]
    return docs[:k]


def relevant(grades: dict, rel: float = 1) -> set:
    return {d for d, grade in grades.items() if grade >= rel and grade >= 0}


def asl(
    docs: list,
    grades: dict,
    rel: float = 1,
    k: int | None = None,
    missing: str = "pad",
    g: int | None = None,
    judged_only: bool = False,
) -> float:
    wanted = relevant(grades, rel)
    if not wanted:
        return 1.0
    depth = 1000 if k is None else k
    if not docs:
        return depth + 1.0
    values, irrelevant = [], 0
    for doc in docs:
        if doc in wanted:
            values.append(irrelevant + 1)
        else:
            irrelevant += 1
    found = len(values)
    filled = depth - found
    if judged_only:
        filled = min(filled, sum(0 <= grade < rel for grade in grades.values()))
    absent = {
        "pad": max(irrelevant, filled) + 1,
        "after": irrelevant + 1,
        "eq3": irrelevant,
    }[missing]
    values += [absent] * (len(wanted) - found)
    values = values[:g]
    return sum(values) / len(values)


def reciprocal_ranks(docs: list, grades: dict, rel: float = 1) -> list:
    wanted = relevant(grades, rel)
    found = [1 / rank for rank, doc in enumerate(docs, 1) if doc in wanted]
    return found + [0.0] * (len(wanted) - len(found))


def rr_lp(a: list, b: list) -> float:
    """rrLP, from the reciprocal ranks of all relevant documents of two rankings."""
    for x, y in itertools.zip_longest(a, b):
        if x != y:
            return x - y
    return 0.0


def lexip(docs: list, grades: dict, rel: float = 1, k: int | None = None) -> float:
    wanted = relevant(grades, rel)
    ranks = [rank for rank, doc in enumerate(docs, 1) if doc in wanted]
    if not ranks:
        return 0.0
    gaps = [b - a for a, b in zip([0, *ranks], ranks)]
    v = 1.0 if len(ranks) == len(wanted) else 1 / ((10**6 if k is None else k) + 2)
    for gap in reversed(gaps):
        v = min(1 / (gap + 1) + (1 / gap - 1 / (gap + 1)) * v, 1 / gap)
    return v


def rareness(
    docs: list,
    grades: dict,
    pool: list[list],
    k: int | None,
    alpha: float = 0.5,
    normalized: bool = False,
    depth: int | None = None,
    member: bool | None = None,
    rel: float = 1,
    groups: list | None = None,
) -> tuple[float, float]:
    """P_Rareness@k (none without k) and AP_Rareness@k; ``pool``: the rankings of this query,
    ``groups``: the group of each."""
    wanted = relevant(grades, rel)
    if not wanted:
        return 0.0, 0.0
    depth = depth or k
    tops = [set(other[:depth]) for other in pool]
    own = set(docs[:depth])
    if member is None:
        member = bool(docs) and own in tops
    if groups is not None:
        tops = [
            set().union(*(top for top, name in zip(tops, groups) if name == group))
            for group in sorted(set(groups))
        ]
    if not member:
        tops = [*tops, own]
    systems = len(tops)
    gain, total = 0.0, 0.0
    for rank, doc in enumerate(docs[:k], 1):
        if doc not in wanted:
            continue
        finders = sum(doc in top for top in tops)
        if normalized:
            rare = 1 - (max(finders, 1) - 1) / (systems - 1) if systems > 1 else 0.0
            gain += (1 - alpha) + alpha * rare
        else:
            gain += 1 + alpha * (1 - finders / systems)
        total += gain / rank
    return gain / (k or 1), total / len(wanted)


def tbg(
    docs: list,
    grades: dict,
    lengths: dict,
    h: float = 224,
    rel: float = 1,
    click: tuple[float, float] = (0.64, 0.39),
    save: float = 0.77,
    times: tuple[float, float, float] = (4.4, 0.018, 7.8),
) -> float:
    wanted = relevant(grades, rel)
    time, total = 0.0, 0.0
    for doc in docs:
        p = click[0] if doc in wanted else click[1]
        if doc in wanted:
            total += click[0] * save * 2 ** (-time / h)
        time += times[0] + (times[1] * lengths[doc] + times[2]) * p
    return total


def holm(p: list[float]) -> list[float]:
    """Holm's step-down procedure; corrected p-values never decrease from step to step."""
    corrected, worst = [0.0] * len(p), 0.0
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        worst = max(worst, min(1.0, (len(p) - step) * p[i]))
        corrected[i] = worst
    return corrected


def precisions(ranking, relevant):
    """Precision at each relevant document and its search length, by Eq. 6 and 2."""
    found = {}
    for rank, docno in enumerate(ranking, start=1):
        if docno in relevant:
            found[docno] = ((len(found) + 1) / rank, rank - len(found))
    return found
