"""Rankings that are short, reversed, tied or unjudged, or that contain the query itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from ...io.values import take
from ...judging.judged_run import JudgedRun
from ...judging.matching import positions
from ...scoring.arrays import Floats, Ints
from .cause import ALPHA, Cause, Pair, at_least, broken, cut_to, of_queries, percent, thinned

#: Limits of the statistic of a reversed query, in standard errors, and the rates of queries below
#: them in real runs (TREC-8, 40 pairs: .0005 and .0075, rankings of 10 documents 0 and .0045).
_REVERSED = ((-4.0, 0.003), (-2.5, 0.03))
#: The number of queries whose whole rankings are compared.
_SUSPECTS = 200
#: The number of first documents per query among which unjudged ones are counted.
_FIRST = 10


def short_rankings(pair: Pair) -> Cause | None:
    """Queries for which a run retrieves fewer documents than the other.

    The effect is the difference from the other run cut at the same depths. They are also named if
    the other run loses a tenth of the difference without as many documents chosen at random, unless
    half of the short rankings or more end at the same, greatest depth: these were cut.
    """
    a, b = pair.a.run, pair.b.run
    short = (b.retrieved < a.retrieved) & (b.retrieved > 0)
    if not short.any():
        return None
    few, many = (np.median(run.retrieved[short]) for run in (b, a))
    depths = np.where(short, b.retrieved, a.retrieved)
    ways = (cut_to,) if few == b.retrieved[short].max() else (cut_to, thinned)
    return Cause(
        "short rankings",
        pair.b.name,
        float(short.mean()),
        f"{pair.b.name} retrieves fewer documents than {pair.a.name} for "
        f"{of_queries(short, pair.qids)}: {few:g} and {many:g} (medians)",
        "retrieve as many documents with both systems",
        is_fact=True,
        queries=short,
        repaired=lambda: ((shorter(a, depths), b) for shorter in ways),
    )


def tied_scores(pair: Pair) -> Cause | None:
    """Documents of a run with equal scores, which are ordered by their ids."""
    run, starts = pair.b.run, _groups_of_ties(pair.b.run)
    tied = np.repeat(np.diff(starts) > 1, np.diff(starts))
    if not tied[run.whole_ranking.offsets[run.queries] + run.ranks - 1].any():
        return None
    share = float(tied.mean())
    return Cause(
        "ties",
        pair.b.name,
        share,
        f"{percent(share)} of the documents of {pair.b.name} have the score of another document "
        "of their query, and are in the order of their ids",
        "write scores with more digits",
        is_fact=True,
        repaired=lambda: ((pair.a.run, other) for other in broken(run, starts)),
    )


def _groups_of_ties(run: JudgedRun) -> Ints:
    """The beginning of each group of equal scores in the ranking, and the end of the last."""
    ranking = run.whole_ranking
    with np.errstate(over="ignore"):  # as in Judgements.judge
        scores = ranking.take(run.table.value).astype(np.float32)
    begins = np.ones(len(scores) + 1, dtype=bool)
    begins[1:-1] = scores[1:] != scores[:-1]
    begins[ranking.offsets] = True
    return np.flatnonzero(begins)


def _shared_ranks(run: JudgedRun) -> Ints:
    """The rank of each document of the whole ranking; equal scores share the first rank."""
    starts, offsets = _groups_of_ties(run), run.whole_ranking.offsets
    return 1 + np.repeat(starts[:-1], np.diff(starts)) - np.repeat(offsets[:-1], np.diff(offsets))


def own_queries(pair: Pair) -> Cause | None:
    """Queries whose own id a run retrieves as a document and the other run does not.

    By chance, a document has the id of its query as often as that of another query. The binomial
    test is of the first documents, and of all.
    """
    size, top = len(pair.judgements), pair.b
    own = top.only & top.itself
    if not own.any():
        return None
    is_query = positions(pair.ids, pair.judgements.qid_text) >= 0
    others = sum((is_query[side.docs] & ~side.itself).sum() for side in (pair.a, pair.b))
    rate = (others + 1) / (len(pair.a.docs) + len(pair.b.docs) + 2) / max(1, size - 1)
    found, is_first = np.zeros((2, size), dtype=bool)
    found[top.queries[own]] = is_first[top.queries[own & (top.ranks == 1)]] = True
    tests = (is_first, min(1.0, rate)), (found, min(1.0, rate * len(top.docs) / size))
    if min(at_least(int(queries.sum()), size, chance) for queries, chance in tests) >= ALPHA:
        return None
    return Cause(
        "the query itself",
        pair.b.name,
        float(found.mean()),
        f"{pair.b.name} retrieves the query's own id as a document for "
        f"{of_queries(found, pair.qids)}",
        "leave the query out of its ranking",
        queries=found,
    )


def unjudged_documents(pair: Pair) -> Cause:
    """Documents without a label; the effect is the difference without them."""
    first = [top.judged[top.ranks <= _FIRST] for top in (pair.a, pair.b)]
    a, b = (1 - float(judged.sum()) / max(1, len(judged)) for judged in first)
    rest = pair.a.run.view(None, True), pair.b.run.view(None, True)
    return Cause(
        "unjudged documents",
        "A and B",
        max(a, b),
        f"{percent(a)} of the first {_FIRST} documents of A and {percent(b)} of B are "
        "unjudged and count as not relevant",
        "judge them; bounds=True (--bounds) shows what their labels could change",
        is_fact=True,
        repaired=lambda: [rest],
    )


def correlation(queries: Ints, x: Floats | Ints, y: Floats | Ints, size: int) -> Floats:
    """The correlation of x and y in each query, in standard errors, shape (Q,); 0: undefined.

    >>> correlation(np.zeros(10, dtype=int), np.arange(10), -np.arange(10), 1).round(6).tolist()
    [-3.0]
    """
    total = partial(np.bincount, queries, minlength=size)
    n = total()
    a, b = (values - (total(values) / np.maximum(n, 1))[queries] for values in (x, y))
    scale = np.sqrt(total(a * a) * total(b * b))
    z: Floats = total(a * b) / np.where(scale > 1e-9, scale, np.inf) * np.sqrt(np.maximum(n - 1, 0))
    return z


def reversed_scores(pair: Pair) -> Cause | None:
    """Queries in which A and B have reverse orders, and one has relevant documents last.

    The statistic of a query is the correlation of the rankings plus the lower relevance. Documents
    with equal scores share their first rank: the order of their ids says nothing about the scores.
    The binomial tests have the rates of real runs. The reversed run is that with the lower
    relevance in these queries. Whole rankings are compared only where the judged documents do not
    rule out a low statistic, and only if not all scores are equal.
    """
    a, b, size = pair.a.run, pair.b.run, len(pair.judgements)
    ranks = [_shared_ranks(run) for run in (a, b)]
    of_a, of_b = (
        shared[run.whole_ranking.offsets[run.queries] + run.ranks - 1]
        for run, shared in zip((a, b), ranks)
    )
    relevances = np.stack([_relevance(a, of_a), _relevance(b, of_b)])
    relevance = relevances.min(axis=0)
    rank = np.zeros(len(pair.judgements.grades), dtype=np.int64)
    rank[a.pairs] = of_a
    both = np.flatnonzero(rank[b.pairs] > 0)
    agreement = correlation(b.queries[both], rank[b.pairs[both]], of_b[both], size)
    late = (relevance + agreement < 0) & pair.answered & ~a.constant_scores & ~b.constant_scores
    suspects, z = np.flatnonzero(late)[:_SUSPECTS], np.zeros(size)
    answered, found = int(pair.answered.sum()), np.zeros(size, dtype=bool)
    if at_least(len(suspects), answered, min(rate for _, rate in _REVERSED)) >= ALPHA:
        return None
    z[suspects] = (relevance + correlation(*_common_documents(pair, ranks, suspects), size))[
        suspects
    ]
    for limit, rate in _REVERSED:
        if at_least(int((z < limit).sum()), answered, rate) < ALPHA:
            found |= z < limit
    if not found.any():
        return None
    is_baseline = bool(np.subtract(*relevances)[found].sum() < 0)
    name, other = ("A", "B") if is_baseline else ("B", "A")
    return Cause(
        "reversed scores",
        name,
        float(found.mean()),
        f"{name} has the documents of {other} in the reverse order, and relevant documents last, "
        f"for {of_queries(found, pair.qids)}",
        f"give better documents higher scores in {name}",
        comparable=not is_baseline,
        queries=found,
    )


def _relevance(run: JudgedRun, ranks: Ints) -> Floats:
    """The mean distance of relevant documents from the middle of their ranking, shape (Q,).

    In standard errors of random rankings, above 0 where relevant documents come first.
    """
    size, rows = len(run.judgements), run.grades > 0
    queries = run.queries[rows]
    number = np.bincount(queries, minlength=size)
    distance = 0.5 - (ranks[rows] - 0.5) / run.retrieved[queries]
    total = np.bincount(queries, distance, minlength=size)
    return np.asarray(np.sqrt(12 / np.maximum(number, 1)) * total)


def _common_documents(pair: Pair, ranks: Sequence[Ints], queries: Ints) -> tuple[Ints, Ints, Ints]:
    """Query and both ranks of each document that both runs retrieve for some queries."""
    parts = [np.zeros((3, 0), dtype=np.int64)]
    for q in queries.tolist():
        (theirs, x), (ours, y) = (
            _ranking(top.run, shared, q) for top, shared in zip((pair.a, pair.b), ranks)
        )
        places = positions(ours, theirs)
        rows = np.flatnonzero(places >= 0)
        parts.append(np.stack((np.full(len(rows), q), x[places[rows]], y[rows])))
    query, x, y = np.concatenate(parts, axis=1)
    return query, x, y


def _ranking(run: JudgedRun, ranks: Ints, query: int) -> tuple[pa.LargeStringArray, Ints]:
    """The documents of a query, best first, and their ranks."""
    ranking, ids = run.whole_ranking, run.table.docno
    part = slice(*ranking.offsets[query : query + 2])
    docnos = ids[part] if ranking.moved is None else take(ids, ranking.moved[part])
    return docnos, ranks[part]
