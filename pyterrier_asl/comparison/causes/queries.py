"""Queries without an answer, or with the ranking of another query."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ...io.values import take
from ...judging.matching import positions
from ...scoring.arrays import Bools, Ints, cumulate, ranges_from
from .cause import ALPHA, Cause, Pair, Top, at_least, listed, of_queries

#: Documents that more queries retrieve are left out: they say little about a query.
_COMMON = 10
#: Queries with this many equal first documents have the same ranking.
_FIRST = 10
#: The level of the test of a query, corrected for all pairs of queries, and of that against the
#: second other query; and rates of significant queries that real runs do not have (none of 10,000
#: queries on TREC-8 is significant in either test).
_LEVELS, _RATES = (0.01, 0.05), (3e-4, 3e-3)

#: Query and number of each document.
Documents = tuple[Ints, Ints]


def shared_documents(
    ours: Documents, theirs: Documents, size: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """The numbers of documents that each query shares with queries of another source.

    Args:
        ours: the documents of one source.
        theirs: the documents of the other source.
        size: the number of queries Q.

    Returns:
        For each query, shape (Q,): the number that it shares with itself, the largest and the
        second largest number that it shares with a different query, and the first of these.
    """
    (queries, docs), (others, other_docs) = ours, theirs
    order = np.argsort(other_docs, kind="stable")
    first, last = (np.searchsorted(other_docs[order], docs, side) for side in ("left", "right"))
    counts = np.where(last - first > _COMMON, 0, last - first)
    other = others[order][ranges_from(first, cumulate(counts))]
    cells, shared = np.unique(np.repeat(queries, counts) * size + other, return_counts=True)
    row, column = np.divmod(cells, size)
    own, most, second, which = np.zeros((4, size), dtype=np.int64)
    is_own = row == column
    own[row[is_own]] = shared[is_own]
    order = np.flatnonzero(~is_own)[np.argsort(shared[~is_own], kind="stable")]
    most[row[order]], which[row[order]] = shared[order], column[order]
    order = order[column[order] != which[row[order]]]
    second[row[order]] = shared[order]
    return own, most, second, which


def look_exchanged(own: Ints, most: Ints, second: Ints) -> Bools:
    """Which queries share more documents with another query than with themselves.

    The binomial test of equal shares is corrected for all pairs of queries. Without a correction
    it is made against the larger number of the query itself and of the second other query, which
    shows what different queries share. Both must find more queries than in real runs.
    """
    found, pairs = np.zeros(len(own), dtype=bool), len(own) * (len(own) - 1)
    for less, number, level, rate in zip(
        (own, np.maximum(own, second)), (pairs, 1), _LEVELS, _RATES
    ):
        is_more = (most > less) & (at_least(most, less + most, 0.5) * number < level)
        found |= is_more & are_more_than_real(is_more, rate)
    return found


def are_more_than_real(found: Bools, rate: float = _RATES[0]) -> bool:
    """Whether queries are more than those that look exchanged in real runs: binomial test."""
    return bool(at_least(int(found.sum()), len(found), rate) < ALPHA)


def exchanged_queries(pair: Pair) -> Cause | None:
    """Queries for which A, B or the qrels have the documents of another query.

    The source with exchanged queries is the one without which the other two share most documents.
    If no two sources share documents in these queries, it is the qrels. A run with one ranking for
    several of these queries has repeated rankings.
    """
    suspects = {name: few for name, few in _suspects(pair).items() if are_more_than_real(few)}
    if not suspects:
        return None
    size, shared, found = len(pair.judgements), {}, {}
    sources = {top.name: (top.queries, top.docs) for top in (pair.a, pair.b)}
    sources["the qrels"] = pair.labelled
    for name, few in suspects.items():
        queries, docs = sources[name]
        others = [other for label, other in sources.items() if label != name]
        rows = few[queries]
        some_docs, theirs = (queries[rows], docs[rows]), _union(others, len(pair.ids))
        shared[name] = shared_documents(some_docs, theirs, size)
        own, most, second, _ = shared[name]
        # The labels of a query are more than one ranking, and can be about several subjects.
        second = most if name == "the qrels" else second
        found[name] = look_exchanged(own, most, second) & pair.answered
    some = np.any(list(found.values()), axis=0)
    if not some.any():
        return None

    def agreement(name: str) -> int:
        """The number of documents that the other two sources share in these queries."""
        x, y = (source for label, source in sources.items() if label != name)
        number = int(shared_documents(x, y, size)[0][some].sum())
        return max(number, int(some.sum())) if name == "the qrels" else number

    name = max((name for name in found if found[name].any()), key=agreement)
    top = {"A": pair.a, "B": pair.b}.get(name)
    if top is not None and 2 * _repeated(pair, top)[found[name]].sum() > found[name].sum():
        return replace(_repeated_rankings(pair, top, found[name]), comparable=False, is_fact=False)
    own, most, _, which = (of_query[found[name]][0] for of_query in shared[name])
    qid, other = (pair.qids[q] for q in (np.flatnonzero(found[name])[0], which))
    return Cause(
        "exchanged queries",
        name,
        float(found[name].mean()),
        f"{of_queries(found[name], pair.qids)} in {name} belong to another query: "
        f"{name} and the others share {most} documents between {qid!r} and {other!r}, and {own} "
        f"for {qid!r} itself",
        f"check the query ids of {name}",
        comparable=False,
        queries=found[name],
    )


def _suspects(pair: Pair) -> dict[str, Bools]:
    """The queries that share so few documents with themselves that they can look exchanged.

    For runs these are at most a third; for the qrels, few enough for the corrected test.
    """
    of = partial(np.bincount, minlength=len(pair.judgements))
    a, b = pair.a, pair.b
    judged = of(a.queries[a.judged]) + of(b.queries[b.judged & pair.b.only])
    most = of(a.queries) + of(b.queries[pair.b.only])
    shared = {
        "A": (of(a.queries[~pair.a.unknown]), of(a.queries)),
        "B": (of(b.queries[~pair.b.unknown]), of(b.queries)),
    }
    few = {name: 3 * own <= number for name, (own, number) in shared.items()}
    pairs, most = len(most) * (len(most) - 1), np.full_like(most, most.max(initial=0))
    few["the qrels"] = at_least(most, judged + most, 0.5) * pairs < _LEVELS[0]
    return few


def _union(sources: list[Documents], size: int) -> Documents:
    """The different documents of several sources."""
    keys = np.sort(np.concatenate([queries * size + docs for queries, docs in sources]))
    keys = keys[np.diff(keys, prepend=-1) > 0]  # np.unique is slower
    return keys // size, keys % size


def _repeated(pair: Pair, top: Top) -> Bools:
    """The queries with the same first documents as another query, shape (Q,)."""
    first = np.full((len(pair.judgements), _FIRST), -1)
    keep = top.ranks <= _FIRST
    first[top.queries[keep], top.ranks[keep] - 1] = top.docs[keep]
    several = first[:, 1] >= 0
    of_first = np.bincount(first[several, 0], minlength=len(pair.ids))
    rows = np.flatnonzero(several & (of_first[first[:, 0]] > 1))
    repeated = np.zeros(len(first), dtype=bool)
    if len(rows):
        _, group, counts = np.unique(first[rows], axis=0, return_inverse=True, return_counts=True)
        repeated[rows] = counts[group.ravel()] > 1
    return repeated


def repeated_rankings(pair: Pair) -> Cause | None:
    """Queries with the same first documents as another query, but not in the other run."""
    found = _repeated(pair, pair.b) & pair.answered
    if found.any():
        found &= ~_repeated(pair, pair.a)
    return _repeated_rankings(pair, pair.b, found) if found.any() else None


def _repeated_rankings(pair: Pair, top: Top, found: Bools) -> Cause:
    return Cause(
        "repeated rankings",
        top.name,
        float(found.mean()),
        f"{top.name} has the same first {_FIRST} documents as for another query for "
        f"{of_queries(found, pair.qids)}",
        f"check the query ids of {top.name}, and its cache",
        is_fact=True,
        queries=found,
    )


def unanswered_queries(pair: Pair) -> Cause | None:
    """Queries that the other run answers and this run does not."""
    judgements, name = pair.judgements, pair.b.name
    missing = (pair.a.run.retrieved > 0) & (pair.b.run.retrieved == 0)
    if not missing.any():
        return None
    evidence = f"{name} does not answer {of_queries(missing, judgements.qids)}"
    rows = np.flatnonzero(positions(pair.b.run.table.qid, judgements.qid_text) < 0)
    strange = dict.fromkeys(take(pair.b.run.table.qid, rows).to_pylist())
    known = set(pair.a.run.table.qid.to_pylist()) if strange else set()
    if others := [qid for qid in strange if qid not in known]:
        evidence += (
            f", and has queries that neither {pair.a.name} nor the qrels have, e.g. "
            f"{listed(others)}"
        )
    return Cause(
        "query ids" if others else "unanswered queries",
        name,
        float(missing.mean()),
        evidence,
        f"write the query ids of {name} as in the qrels" if others else f"run {name} again",
        comparable=not others,
        queries=missing,
    )
