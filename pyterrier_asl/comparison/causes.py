"""Causes of a difference between two runs that are not the systems.

A cause can be undone in the runs or the qrels at hand: each is undone alone, and the difference
computed again. It is reported where this takes away a tenth of the difference, or its sign. No
document is ever removed at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..io.lazy import pc
from ..io.notices import counted
from ..io.values import numpy_numbers, take
from ..judging.judged_run import JudgedRun
from ..judging.remembered import copy_of
from ..scoring.arrays import Bools, Floats, Ints, cumulate
from ..statistics.rounding import EQUAL
from .id_forms import find_writing, rewritten

#: The share of a difference that undoing a cause must take away.
_SHARE = 0.1
#: The name of the cause that bounds over all labels show.
UNJUDGED = "unjudged documents"

#: The differences by query of a measure without a cause, where the measure has them.
Undo = Callable[[Any], Iterable[Floats]]


@dataclass(frozen=True)
class Cause:
    """A cause of a difference of a run, B, from the baseline, A.

    Attributes:
        name: the name of the cause.
        where: where it was found: ``'A'``, ``'B'`` or ``'A and B'``.
        evidence: a sentence with its numbers and examples; where these depend on the measure, a
            function of its name.
        undone: the words for what was undone.
        remedy: what to do.
        differences: the differences by query of a measure without the cause: B less A.
        comparable: whether the two runs can be compared all the same.
        is_grave: whether it is reported for a difference that is not significant, too.
    """

    name: str
    where: str
    evidence: str | Callable[[str], str]
    undone: str
    remedy: str
    differences: Undo
    comparable: bool = True
    is_grave: bool = False


def causes_frame(rows: Sequence[Mapping[str, Any]] = ()) -> pd.DataFrame:
    """The rows of causes as a frame."""
    columns = "run measure cause where evidence difference effect undone comparable remedy"
    return pd.DataFrame(rows, columns=columns.split())


def sentence(row: Mapping[Any, Any]) -> str:
    """A sentence on a cause, from its row, which can begin with the name of a ``track``.

    >>> row = {"evidence": "B lacks x", "measure": "AP", "difference": -0.2, "effect": -0.01}
    >>> sentence(row | {"undone": "With x", "remedy": "add x"})
    'B lacks x. With x the difference in AP is -0.0100 instead of -0.2000. Add x.'
    """
    figures = (f"{round(row[name], 4) + 0:+.4f}" for name in ("effect", "difference"))
    effect = f"{row['undone']} the difference in {row['measure']} is {' instead of '.join(figures)}"
    parts = [row["evidence"], effect, row["remedy"]]
    first = parts[: bool(row.get("track"))]  # the name of a collection stays as it is
    rest = [f"{text[0].upper()}{text[1:]}" for text in parts[len(first) :]]
    return f"{'. '.join([*first, *rest])}."


def explains(difference: float, undone: float) -> bool:
    """Whether undoing a cause takes away a tenth of a difference, or turns its sign.

    >>> explains(0.1, 0.09), explains(0.1, 0.091), explains(1e-10, -1e-10)
    (True, False, True)
    """
    change = abs(difference - undone) * (1 + EQUAL)
    return change >= max(_SHARE * abs(difference), EQUAL) or difference * undone < 0


def difference_without(
    cause: Cause,
    name: str,
    differences: Floats,
    is_significant: Callable[[Floats | None], bool],
) -> float | None:
    """The difference of two runs without a cause, where the cause is to be reported; else None.

    Args:
        cause: the cause.
        name: the name of the measure.
        differences: its differences by query, shape (Q,).
        is_significant: whether the difference is significant with other differences by query of
            these two runs, or (None) as it is.
    """
    for undone in cause.differences(name):
        effect = float(undone.mean()) if len(undone) else 0.0
        if explains(float(differences.mean()), effect) and (
            cause.is_grave or is_significant(None) or is_significant(undone)
        ):
            return effect
    return None


def find_causes(
    a: JudgedRun,
    b: JudgedRun,
    differences: Mapping[str, Floats],
    difference_of: Callable[[str, JudgedRun, JudgedRun], Floats | None],
    bounds: Undo,
    measures: Mapping[str, Any],
) -> Iterator[Cause]:
    """The causes that a difference between two runs can have, whatever their effect.

    Args:
        a: the baseline.
        b: the run.
        differences: the differences by query of each measure, B less A, shape (Q,).
        difference_of: the same of two other runs, by the name of the measure; None where it needs
            more than judged documents.
        bounds: the least and the greatest differences of a measure by query, over all labels.
        measures: the measures by name; those with a cut-off can have such bounds.
    """

    def of(*pair: JudgedRun) -> Undo:
        return lambda name: (d for d in [difference_of(name, *pair)] if d is not None)

    writings = [find_writing(run) for run in (a, b)]
    if named := {name: how for name, how in zip("AB", writings) if how}:
        pair = [rewritten(run, how) for run, how in zip((a, b), writings)]
        evidence = "; ".join(
            f"documents of {name} have ids with {how.named}, and the qrels do not"
            if not how.in_qrels
            else f"the qrels have ids with {how.named}, and documents of {name} do not"
            for name, how in named.items()
        )
        parts = [how.text for how in named.values() if how.kind == "part"]
        remedy = (
            f"evaluate chunks as documents: collapse={parts[0]!r} (--collapse)" if parts else ""
        )
        remedy = remedy or "write the ids of documents in one form"
        undo, where = of(*pair), " and ".join(named)
        yield Cause("ids", where, evidence, "Written alike", remedy, undo, False, True)
    yield from _unanswered_queries(a, b, differences)
    yield from _cut_rankings(a, b, of)
    yield from _ties(a, b, of)
    yield from _query_itself(a, b, of)
    if any(run.retrieved.sum() > (run.grades >= 0).sum() for run in (a, b)):

        def evidence_of(name: str) -> str:
            cutoff = measures[name]["cutoff"]
            shares = [100 * (1 - _share_judged(run, cutoff)) for run in (a, b)]
            return (
                f"{shares[0]:.0f} % of the first {cutoff:,} documents of A and "
                f"{shares[1]:.0f} % of B are unjudged and count as not relevant"
            )

        yield Cause(
            UNJUDGED,
            "A and B",
            evidence_of,
            "With other labels of them",
            "judge them; 'holes' lists which",
            bounds,
        )


def _unanswered_queries(
    a: JudgedRun, b: JudgedRun, differences: Mapping[str, Floats]
) -> Iterator[Cause]:
    """Queries that one of the runs answers and the other does not."""
    answered = {"A": a.retrieved > 0, "B": b.retrieved > 0}
    missing = {name: answered["BA"[name == "B"]] & ~has for name, has in answered.items()}
    lacking = {name: queries for name, queries in missing.items() if queries.any()}
    if lacking:
        kept = ~(missing["A"] | missing["B"])
        evidence = "; ".join(
            f"{name} does not answer {_named(queries, a)}" for name, queries in lacking.items()
        )
        yield Cause(
            "unanswered queries",
            " and ".join(lacking),
            evidence,
            "Without these queries",
            f"run {' and '.join(lacking)} again for all queries",
            lambda name: [differences[name][kept]],
            is_grave=True,
        )


def _named(queries: Bools, run: JudgedRun) -> str:
    qids = [run.judgements.qids[q] for q in np.flatnonzero(queries)[:3]]
    number = counted(int(queries.sum()), "query", "queries")
    return f"{number} (e.g. {', '.join(map(repr, qids))})"


def _cut_rankings(a: JudgedRun, b: JudgedRun, of: Callable[..., Undo]) -> Iterator[Cause]:
    """Queries for which one of the runs retrieves fewer documents than the other."""
    both = (a.retrieved > 0) & (b.retrieved > 0)
    differ = both & (a.retrieved != b.retrieved)
    if differ.any():
        medians = [np.median(run.retrieved[differ]) for run in (a, b)]
        depths = np.minimum(a.retrieved, b.retrieved)
        pair = [_cut(run, np.where(both, depths, run.retrieved)) for run in (a, b)]
        yield Cause(
            "cut rankings",
            "A" if medians[0] < medians[1] else "B",
            f"A and B retrieve different numbers of documents for {_named(differ, a)}: "
            f"{medians[0]:g} and {medians[1]:g} (medians)",
            "With both cut at the same depth",
            "retrieve as many documents with both systems",
            of(*pair),
        )


def _cut(run: JudgedRun, depths: Ints) -> JudgedRun:
    """A run cut at a depth per query, shape (Q,)."""
    keep = run.ranks <= depths[run.queries]
    entries = (part[keep] for part in (run.queries, run.ranks, run.pairs))
    return JudgedRun.from_entries(run.judgements, np.minimum(run.retrieved, depths), *entries)


def _ties(a: JudgedRun, b: JudgedRun, of: Callable[..., Undo]) -> Iterator[Cause]:
    """Documents with equal scores, which are ordered by their ids."""
    tied = [name for name, run in zip("AB", (a, b)) if run.with_ties_reversed is not None]
    if tied:
        yield Cause(
            "ties",
            " and ".join(tied),
            f"documents of {' and of '.join(tied)} with equal scores are in the order of their "
            "ids, descending",
            "In the other order",
            "write different scores for different documents",
            of(_with_other_ties(a), _with_other_ties(b)),
        )


def _with_other_ties(run: JudgedRun) -> JudgedRun:
    """A run whose equal scores are in the other order."""
    if (other := run.with_ties_reversed) is None:
        return run
    kept = (other.retrieved == 0)[run.queries]
    both = ((run.queries, other.queries), (run.ranks, other.ranks), (run.pairs, other.pairs))
    entries = [np.concatenate((own[kept], new)) for own, new in both]
    order = np.argsort(entries[0], kind="stable")
    return JudgedRun.from_entries(
        run.judgements, run.retrieved, *(column[order] for column in entries)
    )


def _query_itself(a: JudgedRun, b: JudgedRun, of: Callable[..., Undo]) -> Iterator[Cause]:
    """Queries whose own id is retrieved as a document."""
    has = {name: _own_ids(run) for name, run in zip("AB", (a, b))}
    where = [name for name, own in has.items() if own.any()]
    if where:
        judgements = copy_of(a.judgements)
        docs, queries = a.judgements.docnos, a.judgements.queries
        own = pc.equal(docs, take(a.judgements.qid_text, queries))
        judgements.grades = np.where(_truths(own), -1.0, a.judgements.grades)
        pair = [_without(run, has[name], judgements) for name, run in zip("AB", (a, b))]
        yield Cause(
            "the query itself",
            " and ".join(where),
            f"{' and '.join(where)} retrieve{'s' * (len(where) == 1)} the query's own id as a "
            "document",
            "Without these documents",
            "drop_self=True (--drop-self) leaves them out",
            of(*pair),
        )


def _truths(values: Any) -> Bools:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=bool)


def _own_ids(run: JudgedRun) -> Bools:
    """Which documents of the whole ranking have the id of their query."""
    own = np.zeros(len(run.table), dtype=bool)
    same = pc.indices_nonzero(pc.equal(run.table.docno, run.table.qid))
    own[numpy_numbers(same).astype(np.int64)] = True
    return np.asarray(run.whole_ranking.take(own))[: len(run.whole_ranking)]


def _without(run: JudgedRun, gone: Bools, judgements: Any) -> JudgedRun:
    """A run without some of the rows of its whole ranking, by other judgements."""
    offsets = run.whole_ranking.offsets
    before = cumulate(~gone)
    first = offsets[run.queries]
    places = first + run.ranks - 1
    keep, ranks = ~gone[places], before[places] - before[first] + 1
    entries = (part[keep] for part in (run.queries, ranks, run.pairs))
    return JudgedRun.from_entries(judgements, np.diff(before[offsets]), *entries)


def _share_judged(run: JudgedRun, cutoff: int) -> float:
    """The share of the documents down to a cut-off that are judged."""
    first = int(np.minimum(run.retrieved, cutoff).sum())
    return float(((run.ranks <= cutoff) & (run.grades >= 0)).sum()) / max(1, first)
