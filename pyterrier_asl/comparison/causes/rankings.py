"""Rankings that are short, reversed, tied or unjudged, or that contain the query itself."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

from ...io.values import take
from ...judging.judged_run import JudgedRun
from ...judging.matching import positions
from ...scoring.arrays import Floats, Ints
from .cause import ALPHA, Cause, at_least, of_queries, percent
from .pair import Pair
from .repairs import broken, cut_to, thinned

#: The standard errors by which the two correlations of a reversed query are below 0 on average,
#: and the rate of such queries in real runs (none of 10,000 on TREC-8, 200 pairs).
_REVERSED, _RATE = 6.0, 2e-4
#: The number of queries whose whole rankings are compared.
_SUSPECTS = 200
#: The number of first documents per query among which unjudged ones are counted.
_FIRST = 10


def short_rankings(pair: Pair) -> Cause | None:
    """Queries for which a run retrieves fewer documents than the other.

    The effect is the difference from the other run cut at the same depths. They are also named if
    the other run loses a tenth of the difference without as many documents chosen at random.
    """
    a, b = pair.a.run, pair.b.run
    short = (b.retrieved < a.retrieved) & (b.retrieved > 0)
    if not short.any():
        return None
    few, many = (np.median(run.retrieved[short]) for run in (b, a))
    depths = np.where(short, b.retrieved, a.retrieved)
    return Cause(
        "short rankings",
        pair.b.name,
        float(short.mean()),
        f"{pair.b.name} retrieves fewer documents than {pair.a.name} for "
        f"{of_queries(short, pair.qids)}: {few:g} and {many:g} (medians)",
        "retrieve as many documents with both systems",
        is_fact=True,
        queries=short,
        repaired=lambda: [(shorter(a, depths), b) for shorter in (cut_to, thinned)],
    )


def tied_scores(pair: Pair) -> Cause | None:
    """Documents of a run with equal scores, which are ordered by their ids."""
    run, ranking = pair.b.run, pair.b.run.whole_ranking
    with np.errstate(over="ignore"):  # as in Judgements.judge
        scores = ranking.take(run.table.value).astype(np.float32)
    begins = np.ones(len(scores) + 1, dtype=bool)
    begins[1:-1] = scores[1:] != scores[:-1]
    begins[ranking.offsets] = True
    tied = ~(begins[:-1] & begins[1:])
    if not tied[ranking.offsets[run.queries] + run.ranks - 1].any():
        return None
    share, starts = float(tied.mean()), np.flatnonzero(begins)
    return Cause(
        "ties",
        pair.b.name,
        share,
        f"{percent(share)} of the documents of {pair.b.name} have the score of another document "
        "of their query, and are in the order of their ids",
        "write scores with more digits",
        is_fact=True,
        repaired=lambda: [(pair.a.run, broken(run, starts, better)) for better in (True, False)],
    )


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
        "judge them, or ask for the bounds of the difference (--bounds)",
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
    """Queries with the reverse order of the other run, and relevant documents last.

    The binomial test of their number has the rate of real runs. Whole rankings are compared only
    for queries whose judged documents are in reverse order, and whose scores are not all equal.
    """
    a, b, size = pair.a.run, pair.b.run, len(pair.judgements)
    total = partial(np.bincount, b.queries, minlength=size)
    late = total() * total(b.grades * b.ranks) >= total(b.grades) * total(b.ranks)
    several = np.flatnonzero(b.retrieved > 1)
    ends = b.whole_ranking.offsets[several], b.whole_ranking.offsets[several + 1] - 1
    high, low = (b.table.value[b.whole_ranking.rows_at(places)] for places in ends)
    late &= np.isin(np.arange(size), several[high > low])  # equal scores have no order
    rows = np.flatnonzero(late[b.queries])
    queries, pairs, ranks = b.queries[rows], b.pairs[rows], b.ranks[rows]
    rank = np.zeros(len(pair.judgements.grades), dtype=np.int64)
    rank[a.pairs] = a.ranks
    both = rank[pairs] > 0
    relevance = -correlation(queries, b.grades[rows], ranks, size)
    agreement = correlation(queries[both], rank[pairs[both]], ranks[both], size)
    suspects = np.flatnonzero(late & (relevance + agreement < 0))[:_SUSPECTS]
    found = np.zeros(size, dtype=bool)
    z = relevance + correlation(*_common_documents(pair, suspects), size)
    found[suspects] = z[suspects] < -_REVERSED * np.sqrt(2)
    if at_least(int(found.sum()), int((b.retrieved > 0).sum()), _RATE) >= ALPHA:
        return None
    return Cause(
        "reversed scores",
        pair.b.name,
        float(found.mean()),
        f"{pair.b.name} has the documents of {pair.a.name} in the reverse order, and relevant "
        f"documents last, for {of_queries(found, pair.qids)}",
        f"give better documents higher scores in {pair.b.name}",
        queries=found,
    )


def _common_documents(pair: Pair, queries: Ints) -> tuple[Ints, Ints, Ints]:
    """Query and both ranks of each document that both runs retrieve for some queries."""
    parts = [np.zeros((3, 0), dtype=np.int64)]
    for q in queries.tolist():
        theirs, ours = (_docnos(top.run, q) for top in (pair.a, pair.b))
        ranks = positions(ours, theirs)
        rows = np.flatnonzero(ranks >= 0)
        parts.append(np.stack((np.full(len(rows), q), ranks[rows], rows)))
    query, x, y = np.concatenate(parts, axis=1)
    return query, x, y


def _docnos(run: JudgedRun, query: int) -> pa.LargeStringArray:
    """The documents of a query, best first."""
    first, last = run.whole_ranking.offsets[query : query + 2]
    return take(run.table.docno, run.whole_ranking.rows_at(np.arange(first, last)))
