"""Rankings that are cut, in reverse, tied, or that contain their own query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

from ...io.tables import counted
from ...judging.judged_run import JudgedRun
from ...judging.matching import positions
from ...scoring.arrays import Floats, Ints, queries_of
from .cause import Cause, Repaired, percent
from .pair import ALPHA, Pair, cut_to

#: How often a query of two unrelated real runs has a correlation below minus this many standard
#: errors (TREC-8, 8,000 pairs of different groups).
_REVERSED, _RATE = 4.0, 0.0015
#: How many queries are looked at in full.
_SUSPECTS = 200


def short_rankings(pair: Pair) -> list[Cause]:
    """Queries for which B retrieves fewer documents than A."""
    a, b = pair.a.run.retrieved, pair.b.run.retrieved
    short = (b < a) & (b > 0)
    if not short.any():
        return []
    depths = np.minimum(a, b)
    share = float(short.mean())

    def repaired() -> list[Repaired]:
        where = np.where(short, depths, np.maximum(a, b))
        runs = (cut_to(pair.a.run, where), cut_to(pair.b.run, where))
        return [runs if pair.b.name == "B" else runs[::-1]]

    return [
        Cause(
            "short rankings",
            pair.b.name,
            share,
            f"{pair.b.name} has fewer documents than {pair.a.name} for "
            f"{counted(int(short.sum()), 'query', 'queries')} ({percent(share)}): "
            f"{np.median(b[short]):g} instead of {np.median(a[short]):g} (medians)",
            "retrieve as many documents with both systems",
            is_fact=True,
            queries=short,
            repaired=repaired,
        )
    ]


def tied_scores(pair: Pair) -> list[Cause]:
    """Documents of B with equal scores, which another order of their ids would put otherwise."""
    run = pair.b.run
    ranking = run.whole_ranking
    with np.errstate(over="ignore"):
        scores = ranking.take(run.table.value).astype(np.float32)
    queries = queries_of(ranking.offsets)
    begins = np.ones(len(scores) + 1, dtype=bool)
    begins[1:-1] = (scores[1:] != scores[:-1]) | (queries[1:] != queries[:-1])
    tied = ~(begins[:-1] & begins[1:])
    if not tied.any():
        return []
    starts = np.flatnonzero(begins)
    group = np.cumsum(begins[:-1]) - 1
    share = float(tied.mean())

    def repaired() -> list[Repaired]:
        runs = [broken(run, group, starts, ranking.offsets, better) for better in (False, True)]
        return [(pair.a.run, r) if pair.b.name == "B" else (r, pair.a.run) for r in runs]

    return [
        Cause(
            "ties",
            pair.b.name,
            share,
            f"{percent(share)} of the documents of {pair.b.name} have the score of another "
            f"document of their query; their order is that of their ids",
            "write scores with more digits",
            is_fact=True,
            repaired=repaired,
        )
    ]


def broken(run: JudgedRun, group: Ints, starts: Ints, offsets: Ints, better: bool) -> JudgedRun:
    """A run whose ties are broken in favour of relevant documents, or against them.

    Args:
        run: the run.
        group: the number of equal scores of each document, in the order of the ranking.
        starts: where each group begins, and where the last ends.
        offsets: where each query begins.
        better: in favour.
    """
    places = offsets[run.queries] + run.ranks - 1
    groups = group[places]
    order = np.lexsort((-run.grades if better else run.grades, groups))
    first = np.searchsorted(groups, groups)
    at = np.arange(len(groups)) - first
    if not better:
        at += (
            starts[groups + 1] - starts[groups] - (np.searchsorted(groups, groups, "right") - first)
        )
    ranks = starts[groups] + at - offsets[run.queries] + 1
    return replace(run, ranks=ranks, pairs=run.pairs[order])


def own_queries(pair: Pair) -> list[Cause]:
    """Queries for which B retrieves the query's own id as a document, and A does not."""
    qids = pair.judgements.qid_text
    place = positions(pair.ids, qids)
    if not (place >= 0).any():
        return []
    has = []
    for top in (pair.a, pair.b):
        own = np.zeros(len(qids), dtype=bool)
        own[top.queries[place[top.docs] == top.queries]] = True
        has.append(own)
    found = has[1] & ~has[0]
    if not found.any():
        return []
    share = float(found.mean())
    return [
        Cause(
            "the query itself",
            pair.b.name,
            share,
            f"{pair.b.name} retrieves the query's own id as a document for "
            f"{counted(int(found.sum()), 'query', 'queries')} ({percent(share)})",
            "leave the query out of its ranking (--drop-self)",
            queries=found,
        )
    ]


def correlation(queries: Ints, x: Floats | Ints, y: Floats | Ints, size: int) -> Floats:
    """The correlation of each query in standard errors, 0 where there is none, shape (Q,).

    >>> correlation(np.zeros(10, dtype=int), np.arange(10), -np.arange(10), 1).round(6).tolist()
    [-3.0]
    """
    n = np.bincount(queries, minlength=size)
    parts = []
    for values in (x, y):
        mean = np.bincount(queries, values, size) / np.maximum(n, 1)
        parts.append(values - mean[queries])
    a, b = parts
    products, of_a, of_b = (np.bincount(queries, v, size) for v in (a * b, a * a, b * b))
    scale = np.sqrt(of_a * of_b)
    z: Floats = products / np.where(scale > 1e-9, scale, np.inf) * np.sqrt(np.maximum(n - 1, 0))
    return z


def reversed_scores(pair: Pair) -> list[Cause]:
    """Queries for which B ranks documents in the reverse order of A and of relevance.

    The number of queries whose correlation is so low is tested as binomial, with the rate of
    unrelated real runs. Queries are looked at if their judged documents are in reverse order.
    """
    a, b, size = pair.a.run, pair.b.run, len(pair.judgements)
    of_a = np.zeros(len(pair.judgements.grades), dtype=np.int64)
    of_a[a.pairs] = a.ranks
    both = of_a[b.pairs] > 0
    relevance = -correlation(b.queries, b.grades, b.ranks, size)
    agreement = correlation(b.queries[both], of_a[b.pairs[both]], b.ranks[both], size)
    suspects = np.flatnonzero(relevance + agreement < 0)[:_SUSPECTS]
    found = np.zeros(size, dtype=bool)
    found[suspects] = (relevance + _agreement(pair, suspects))[suspects] < -_REVERSED * np.sqrt(2)
    if stats.binom.sf(found.sum() - 1, max(1, int(pair.answered.sum())), _RATE) >= ALPHA:
        return []
    share, name, other = float(found.mean()), pair.b.name, pair.a.name
    return [
        Cause(
            "reversed scores",
            name,
            share,
            f"for {counted(int(found.sum()), 'query', 'queries')} ({percent(share)}) {name} has "
            f"the documents of {other} in the reverse order, and relevant documents last",
            f"write scores of {name} that are higher for better documents",
            queries=found,
        )
    ]


def _agreement(pair: Pair, queries: Ints) -> Floats:
    """The correlation of the ranks of all documents that both runs have for some queries."""
    rankings = [
        (run.whole_ranking, run.docnos(run.whole_ranking)) for run in (pair.a.run, pair.b.run)
    ]
    entries = []
    for q in queries.tolist():
        of_a, of_b = (ids[k.offsets[q] : k.offsets[q + 1]] for k, ids in rankings)
        ranks = positions(of_b, of_a)
        rows = np.flatnonzero(ranks >= 0)
        entries.append(np.stack((np.full(len(rows), q), rows, ranks[rows])))
    if not entries:
        return np.zeros(len(pair.judgements))
    which, x, y = np.concatenate(entries, axis=1)
    return correlation(which, x, y, len(pair.judgements))
