"""Queries that are not answered, or with the ranking of another query."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import stats

from ...io.tables import counted
from ...io.values import take
from ...judging.matching import positions
from ...scoring.arrays import Bools, Ints, cumulate, ranges_from
from .cause import Cause, percent
from .pair import ALPHA, Pair

#: A document that so many queries retrieve says little about a query.
_COMMON = 10
#: Two queries with so many equal first documents have the same ranking.
_FIRST = 10
#: How often a query of two unrelated real runs looks exchanged (TREC-8, pairs of two groups).
_RATE = 3e-4


def shared_documents(
    queries: Ints, docs: Ints, others: Ints, other_docs: Ints, size: int
) -> tuple[Ints, Ints, Ints]:
    """How many documents each query's ranking shares with rankings of others.

    Args:
        queries: the query of each document of one run, shape (N,).
        docs: the documents, shape (N,).
        others: the query of each document of another, shape (M,).
        other_docs: the documents, shape (M,).
        size: the number of queries Q.

    Returns:
        Of each query, shape (Q,): the documents shared with the other run's ranking of this query;
        the most that are shared with its ranking of a different query; that query.
    """
    order = np.argsort(other_docs, kind="stable")
    first = np.searchsorted(other_docs[order], docs)
    counts = np.searchsorted(other_docs[order], docs, side="right") - first
    counts[counts > _COMMON] = 0
    pairs = np.repeat(queries, counts) * size + others[order][ranges_from(first, cumulate(counts))]
    cells, shared = np.unique(pairs, return_counts=True)
    row, column = cells // size, cells % size
    own, most, which = np.zeros((3, size), dtype=np.int64)
    diagonal = row == column
    own[row[diagonal]] = shared[diagonal]
    best = np.argsort(np.where(diagonal, 0, shared), kind="stable")
    most[row[best]], which[row[best]] = np.where(diagonal, 0, shared)[best], column[best]
    return own, most, which


def exchanged(own: Ints, most: Ints) -> Bools:
    """Which queries share more documents with another query than with themselves.

    The test is binomial, over all other queries: equal chances for both are the most that a run
    that is right can lose.
    """
    size = len(own)
    p = stats.binom.sf(most - 1, own + most, 0.5) * max(1, size - 1) * size
    found: Bools = (most > own) & (p < 0.01)
    if stats.binom.sf(found.sum() - 1, size, _RATE) >= ALPHA:
        found[:] = False
    return found


def exchanged_queries(pair: Pair) -> list[Cause]:
    """Queries for which A, B or the qrels have what belongs to another query."""
    size = len(pair.judgements)
    sources = {top.name: (top.queries, top.docs) for top in (pair.a, pair.b)}
    sources["the qrels"] = pair.relevant
    shared, found = {}, {}
    for name, source in sources.items():
        others = [other for label, other in sources.items() if label != name]
        shared[name] = shared_documents(*source, *_union(others, len(pair.ids)), size)
        found[name] = exchanged(*shared[name][:2])
    # Where one source is exchanged, the others seem to be: it shares least with either.
    alone = sum(found[name] for name in sources)
    if not np.any(alone):
        return []
    some = np.asarray(alone) > 0
    links = {
        (x, y): shared_documents(*sources[x], *sources[y], size)[0][some].sum()
        for x, y in combinations(sources, 2)
    }
    name = min(sources, key=lambda name: sum(n for link, n in links.items() if name in link))
    if not found[name].any():
        return []
    own, most, which = shared[name]
    share, example, ids = (
        float(found[name].mean()),
        np.flatnonzero(found[name])[0],
        pair.judgements.qids,
    )
    what = "labels" if name == "the qrels" else "the ranking"
    verb = "have" if name == "the qrels" else "has"
    return [
        Cause(
            "exchanged queries",
            name,
            share,
            f"for {counted(int(found[name].sum()), 'query', 'queries')} ({percent(share)}) {name} "
            f"{verb} {what} of another query: for query {ids[example]!r} {verb} "
            f"{most[example]} documents that the others have for {ids[which[example]]!r}, and "
            f"{own[example]} that they have for {ids[example]!r}",
            f"check which query each ranking answers in {name}",
            comparable=False,
            queries=found[name],
        )
    ]


def _union(sources: list[tuple[Ints, Ints]], size: int) -> tuple[Ints, Ints]:
    """The documents that any of several sources has for each query, each once."""
    keys = np.unique(np.concatenate([queries * size + docs for queries, docs in sources]))
    return keys // size, keys % size


def repeated_rankings(pair: Pair) -> list[Cause]:
    """Queries for which B has the same first documents as for another query, and A has not."""
    size = len(pair.judgements)
    same = []
    for top in (pair.a, pair.b):
        keep = top.ranks <= _FIRST
        first = np.full((size, _FIRST), -1)
        first[top.queries[keep], top.ranks[keep] - 1] = top.docs[keep]
        _, group, counts = np.unique(first, axis=0, return_inverse=True, return_counts=True)
        same.append((counts[group.ravel()] > 1) & (first[:, 1] >= 0))
    found: Bools = same[1] & ~same[0]
    if not found.any():
        return []
    share, name = float(found.mean()), pair.b.name
    example = [pair.judgements.qids[q] for q in np.flatnonzero(found)[:3]]
    return [
        Cause(
            "repeated rankings",
            name,
            share,
            f"{name} has the same first {_FIRST} documents for several queries: "
            f"{counted(int(found.sum()), 'query', 'queries')} ({percent(share)}), e.g. "
            f"{', '.join(map(repr, example))}",
            f"check which query each ranking answers in {name}",
            is_fact=True,
            queries=found,
        )
    ]


def unanswered_queries(pair: Pair) -> list[Cause]:
    """Queries that A answers and B does not, and the ids that B has instead."""
    judgements = pair.judgements
    missing = (pair.a.run.retrieved > 0) & (pair.b.run.retrieved == 0)
    if not missing.any():
        return []
    share, name, top = float(missing.mean()), "unanswered queries", pair.b
    qids = take(judgements.qid_text, np.flatnonzero(missing)[:3]).to_pylist()
    evidence = (
        f"{top.name} does not answer {counted(int(missing.sum()), 'query', 'queries')} "
        f"({percent(share)}), e.g. {', '.join(map(repr, qids))}"
    )
    comparable, remedy = True, f"run {top.name} for all queries"
    table, other = top.run.table, pair.a.run.table
    unknown = np.flatnonzero(positions(table.qid, judgements.qid_text) < 0)
    if len(unknown):
        strange = dict.fromkeys(take(table.qid, unknown).to_pylist())
        known = set(other.qid.to_pylist())
        if only := [qid for qid in strange if qid not in known]:
            name, comparable, remedy = "query ids", False, "write query ids as the qrels have them"
            evidence += (
                f"; it answers {counted(len(only), 'query', 'queries')} that are in neither the "
                f"qrels nor {pair.a.name}, e.g. {', '.join(map(repr, only[:3]))}"
            )
    return [Cause(name, top.name, share, evidence, remedy, comparable=comparable, queries=missing)]
