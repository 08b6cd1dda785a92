"""Measures, estimates and intervals of ranks as plain loops, written from their definitions.

A ranking is a list of document ids, best first; ``grades`` maps judged documents to grades.
"""

import itertools
import math

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
    absent = {"pad": max(irrelevant, filled) + 1, "after": irrelevant + 1, "eq3": irrelevant}
    values = (values + [absent[missing]] * (len(wanted) - found))[:g]
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


def prediction_powered(h, f, rest, target) -> tuple[float, float, float, int]:
    """Estimate, variance, lambda and degrees of freedom.

    ``h``: people's values of the audited queries; ``f``, ``rest``: the machine's values of these
    and of the other queries.
    """
    n, unjudged = len(h), len(rest)
    everything = [*f, *rest]

    def mean(x):
        return sum(x) / len(x)

    def var(x):
        return sum((y - mean(x)) ** 2 for y in x) / (len(x) - 1)

    covariance = sum((a - mean(h)) * (b - mean(f)) for a, b in zip(h, f)) / (n - 1)
    if var(everything) == 0 or not unjudged and target != "these-queries":
        weight = 0.0
    elif target == "these-queries":
        weight = covariance / var(everything)
    else:
        weight = covariance / ((1 + n / unjudged) * var(everything))
    weight = min(max(weight, 0.0), 1.0)
    off = [a - weight * b for a, b in zip(h, f)]
    freedom = n - 2 if weight else n - 1
    if not unjudged and target == "queries-like-these":
        return mean(h), var(h) / n, weight, freedom
    if target == "queries-like-these":
        variation = var(rest) if unjudged > 1 else var(everything)
        theta = weight * mean(rest) + mean(off)
        return theta, weight**2 * variation / unjudged + var(off) / n, weight, freedom
    theta = mean(h) + weight * (mean(everything) - mean(f))
    left_out = 1 - n / len(everything)
    if not weight:
        return theta, left_out * var(h) / n, weight, freedom
    squares = sum((b - mean(f)) ** 2 for b in f)
    total = 0.0
    for o, b in zip(off, f):
        leverage = min(1 / n + (b - mean(f)) ** 2 / squares, 0.95)
        total += ((o - mean(off)) / (1 - leverage)) ** 2
    return theta, left_out * total / n**2, weight, freedom


def rank_intervals(values, collections=None, weights=None, alpha=0.05, lower=None, common=False):
    """Pairs ordered, critical values, possibly best, and p, by all sign vectors of the topics.

    ``values[j][q]``: higher is better; ``lower[j][k][q]``: the least difference of j and k.
    """
    if lower is None:
        lower = [[[a - b for a, b in zip(x, y)] for y in values] for x in values]
        scale = max(abs(v) for row in values for v in row)
    else:
        off = [(j, k) for j in range(len(lower)) for k in range(len(lower)) if j != k]
        scale = max((abs(v) for j, k in off for v in lower[j][k]), default=0)
    systems, topics = len(lower), len(lower[0][0])
    collections = collections or ["all"] * topics
    names = sorted(set(collections))
    members = {g: [q for q in range(topics) if collections[q] == g] for g in names}
    if weights is None:
        weights = [1 / (len(names) * len(members[g])) for g in collections]
    w = [x / sum(weights) for x in weights]
    pairs = [(j, k) for j in range(systems) for k in range(systems) if j != k]
    t, r, v = {}, {}, {}
    for j, k in pairs:
        a = lower[j][k]
        t[j, k] = sum(w[q] * a[q] for q in range(topics))
        t[j, k] = 0 if abs(t[j, k]) <= 1e-9 * scale else t[j, k]
        r[j, k] = [0.0] * topics
        for g in names:
            total = sum(w[q] for q in members[g])
            h = {q: w[q] / total for q in members[g]}
            mean = sum(h[q] * a[q] for q in members[g])
            for q in members[g]:
                factor = math.sqrt(1 - 2 * h[q] + sum(h[p] ** 2 for p in members[g]))
                residual = w[q] * (a[q] - mean) / factor
                r[j, k][q] = 0 if abs(residual) <= 1e-9 * scale * max(w) else residual
        v[j, k] = sum(x * x for x in r[j, k])
    if not pairs:
        return [], [], list(range(systems)), np.ones((systems, systems))
    mean_v = sum(v.values()) / len(v)

    def divided(t, v):
        size = mean_v if common else v / 4 + 3 * mean_v / 4
        return 0.0 if t == 0 else t / math.sqrt(size) if size > 0 else math.copysign(math.inf, t)

    observed = {pair: divided(t[pair], v[pair]) for pair in pairs}
    drawn = []
    for signs in itertools.product((1, -1), repeat=topics):
        drawn.append({})
        for pair in pairs:
            sums = [sum(signs[q] * r[pair][q] for q in members[g]) for g in names]
            error = v[pair] - sum(s * s / len(members[g]) for s, g in zip(sums, names))
            drawn[-1][pair] = divided(sum(sums), error) if v[pair] > 0 else 0.0

    def quantile(some, alpha):
        nth = math.ceil((1 - alpha) * len(drawn) - 1e-9) - 1
        return sorted(max(0, *(draw[pair] for pair in some)) for draw in drawn)[nth]

    def exceeds(pair, c):
        return observed[pair] > c * (1 + 1e-9) and t[pair] > 0

    unordered, better, critical = set(pairs), [], []
    while unordered:
        critical.append(quantile(unordered, alpha))
        rejected = {pair for pair in unordered if exceeds(pair, critical[-1])}
        if not rejected:
            break
        better += rejected
        unordered -= rejected | {(k, j) for j, k in rejected}

    def stays(j):
        if systems == 2:
            return (1 - j, j) not in better
        others = [k for k in range(systems) if k != j]
        ahead = quantile([(j, k) for k in others], alpha / 20)
        rivals = [(k, j) for k in others if not exceeds((j, k), ahead)]
        if not rivals:
            return True
        c = quantile(rivals, alpha / 2 - alpha / 20)
        return not any(exceeds(pair, c) for pair in rivals)

    def larger(statistics, pair):
        return max(0, statistics[pair], statistics[pair[::-1]])

    p, greatest = np.ones((systems, systems)), 0.0
    ordered = sorted(itertools.combinations(range(systems), 2), key=lambda x: -larger(observed, x))
    for at, pair in enumerate(ordered):
        size = larger(observed, pair) * (1 - 1e-9)
        rest = ordered[at:]
        share = sum(max(larger(draw, x) for x in rest) >= size for draw in drawn) / len(drawn)
        greatest = max(greatest, share)
        p[pair] = p[pair[::-1]] = greatest if larger(observed, pair) else 1
    return sorted(better), critical, [j for j in range(systems) if stays(j)], p


def robertson_feedback(
    docs: dict, query: dict, ranking: list, m: int, n: int, gamma: float, kind: str
) -> tuple[dict, dict]:
    """q_t and w_t of the expanded query; ``docs``: the terms of each document, ``ranking``: the
    documents of the first retrieval."""

    def w(kind, term, fed):
        """By the parts of a fraction, compared before the logarithm; 0: the term is dropped."""
        r, frequency = (sum(term in docs[d] for d in of) for of in (fed, docs))
        rest, others = len(fed) - r, frequency - r
        above, below = len(docs) - frequency + 0.5, frequency + 0.5
        if kind == "rsj":
            above, below = (r + 0.5) * (above - rest), (others + 0.5) * (rest + 0.5)
        return math.log(above / below) if above > below else 0.0

    fed = ranking[:m]
    values = {}
    for term in {term for doc in fed for term in docs[doc]}:
        value = sum(term in docs[doc] for doc in fed) * w(kind, term, fed)
        if value > 0:
            values[term] = value
    selected = []
    while values and len(selected) < n:
        best = max(values.values())
        first = min(term for term, value in values.items() if value >= best * (1 - 1e-9))
        selected.append(first)
        del values[first]
    grown = dict(query)
    for term in selected:
        if gamma > 0:
            grown[term] = grown.get(term, 0.0) + gamma
    in_index = {term: q for term, q in grown.items() if any(term in docs[d] for d in docs)}
    if kind == "idf":
        return grown, {term: w("idf", term, fed) for term in in_index}
    weights = {term: w("rsj", term, fed) for term in in_index if w("rsj", term, fed) > 0}
    if not fed or not weights:
        return dict(query), {term: w("idf", term, fed) for term in query}
    return {term: grown[term] for term in weights}, weights


def bm25_scores(docs: dict, query: dict, weights: dict, b: float, k1: float) -> dict:
    """Scores of Clarke's Eq. 1; ``docs``: the list of terms of each document."""
    mean = sum(map(len, docs.values())) / len(docs)
    scores: dict = {}
    for term, q in query.items():
        for doc, terms in docs.items():
            f, w = terms.count(term), weights.get(term, 0.0)
            if f and q * w:
                norm = k1 * ((1 - b) + b * len(terms) / mean)
                scores[doc] = scores.get(doc, 0.0) + q * w * f * (k1 + 1) / (norm + f)
    return scores
