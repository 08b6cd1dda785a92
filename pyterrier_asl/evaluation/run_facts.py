"""Facts of a run: what must be known of it before a number is believed.

They are found where the run is matched with qrels; :mod:`.facts` has those of several runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..common.notices import counted, names_of
from ..common.types import Ints
from ..io.values import take
from ..judging.id_forms import describe_form, find_form, other_form
from ..judging.judged_run import JudgedRun, TiedRun
from ..judging.judgements import Judgements
from ..judging.ranking import Ranking, equal_rows
from ..measures.formula import formula

UNANSWERED, IDS, BESIDE, ORDER = "unanswered", "ids", "ids beside", "order"
#: The name of the run in the sentence of a fact.
RUN = "{run}"
#: The queries whose document ids are looked at, evenly chosen, and the first documents of each. In
#: long rankings most other documents are not judged, whatever their ids; runs of so few rows are
#: looked at as a whole.
_QUERIES, _TOP, _FEW_ROWS = 20, 10, 2000
#: The most documents with lengths whose ids are looked at.
_MOST_LENGTHS = 10**6
#: Change of a mean from which on ties are a fact; for a mean above 1, as a share of the mean.
_LEAST_CHANGE = 0.01
#: A query that is a document of the collection is among the first documents that it retrieves.
_NEAR_TOP = 3
#: Share of queries from which on equal ids of query and document are no coincidence.
_OWN_IDS = 0.1


def shown(name: str) -> str:
    """A name as sentences have it: a number in quotation marks."""
    return repr(name) if re.fullmatch(r"[-+\d.,]+", name) else name


class Fact(NamedTuple):
    """A fact of a run.

    Attributes:
        kind: the kind, such as ``'unanswered'``.
        text: the sentence, in which ``{run}`` is the name of the run.
    """

    kind: str
    text: str

    def sentence(self, run: str, others: Sequence[str] = ()) -> str:
        """The sentence on a run, with the names of other runs that have the same kind of fact."""
        likewise = f" (likewise {names_of([*map(shown, others)])})" if others else ""
        return self.text.replace(RUN, shown(run)) + likewise


@dataclass(frozen=True)
class RunFacts:
    """The facts of a run, and its numbers that are compared with those of other runs.

    Attributes:
        facts: the facts of the run by itself.
        documents: the median number of documents of the queries that it answers.
        unjudged: by cut-off, the share of its documents down to it that are unjudged.
        judged: for each query, 1 if one of the first documents (:func:`first_cutoff`) is judged, 0
            if none is, -1 if there are none, shape (Q,).
    """

    facts: Sequence[Fact] = ()
    documents: float = 0.0
    unjudged: Mapping[int, float] = field(default_factory=dict)
    judged: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def of(
        cls, run: JudgedRun, measures: Mapping[str, Any], values: Sequence[Any] = ()
    ) -> RunFacts:
        """The facts of a matched run that has its rows.

        Args:
            run: the run.
            measures: measures by name.
            values: the values of each measure, shape (Q,), for ties; (): none.
        """
        facts = [*run.once(_of_match), *_beside(run, measures)]
        if not any(fact.kind == ORDER for fact in facts):
            facts = [*facts, *_ties(run, measures, values)]
        answered = run.retrieved[run.retrieved > 0]
        is_judged = (run.ranks <= first_cutoff(measures)) & (run.grades >= 0)
        judged = np.bincount(run.queries[is_judged], minlength=len(run.retrieved))
        return cls(
            facts,
            float(np.median(answered)) if len(answered) else 0.0,
            {k: _share_unjudged(run, k) for k in cutoffs(measures) if k is not None},
            np.where(run.retrieved > 0, np.minimum(judged, 1), -1),
        )


# Facts of a run


def _of_match(run: JudgedRun) -> list[Fact]:
    """The facts of a run that no measure changes."""
    return [*_unanswered(run), *_forms(run), *_repeated(run), *_order(run), *_own_ids(run)]


def _unanswered(run: JudgedRun) -> Iterator[Fact]:
    lacks = run.retrieved == 0
    if not lacks.any():
        return
    text = (
        f"{RUN} does not answer {lacks.sum():,} of {counted(len(lacks), 'query', 'queries')} "
        f"(e.g. {str(run.judgements.qids[int(np.argmax(lacks))])!r}); each counts with the worst "
        "value"
    )
    known = set(run.judgements.qid_text.to_pylist())
    if unknown := [qid for qid in run.table.answered.to_pylist() if qid not in known]:
        text += (
            f", and {RUN} has {counted(len(unknown), 'query', 'queries')} that the qrels lack "
            f"(e.g. {unknown[0]!r})"
        )
    yield Fact(UNANSWERED, text)


class _Ids(NamedTuple):
    """Ids of documents: for some queries, and all."""

    some: Set[str]
    every: Callable[[], Set[str]]


def _forms(run: JudgedRun) -> Iterator[Fact]:
    """Ids of queries and documents that the run writes otherwise than the qrels."""
    if (run.retrieved == 0).any() and (
        text := other_form("query", run.table.answered, run.judgements.qid_text)
    ):
        yield Fact(IDS, f"{RUN} {text}")
    yield from _form_of_run(run, run.judgements.once(_of_qrels))


def _form_of_run(run: JudgedRun, others: _Ids) -> Iterator[Fact]:
    """The form of the first documents of some queries, and of whole runs of few rows."""
    for depth in (_TOP, None) if len(run.whole_ranking.rows) <= _FEW_ROWS else (_TOP,):
        if text := _document_form(_of_run(run, depth), others):
            yield Fact(IDS, f"{RUN} {text}")
            return


def _document_form(ours: _Ids, others: _Ids) -> str:
    """The form of ids that others lack, in words; '' if there is none.

    Where the documents of some queries have a form, all ids in this form are counted.
    """
    if not (found := find_form(ours.some, others.some)):
        return ""
    pairs = found[0].pairs(ours.every(), others.every())
    # Without a pair the first ranks alone have the form.
    return describe_form("document", found[0], pairs) if pairs else ""


def ids_against(run: JudgedRun, baseline: JudgedRun) -> list[Fact]:
    """The documents that a run writes in another form than the baseline, if the qrels do not show
    it."""
    if any(fact.kind == IDS for side in (run, baseline) for fact in side.once(_of_match)):
        return []
    return list(_form_of_run(run, _of_run(baseline)))


def _beside(run: JudgedRun, measures: Mapping[str, Any]) -> Iterator[Fact]:
    """The documents of pools, lengths and labels that are written otherwise than in the run."""
    if any(fact.kind == IDS for fact in run.once(_of_match)):
        return
    named = {
        f"the {what} {held.name!r}": run.judgements.once(of, held)
        for name, what, of in _HOLD_IDS
        for held in (measure.params.get(name) for measure in measures.values())
        if held is not None
    }
    if run.judgements.labels:
        named["the source of the labels"] = run.judgements.once(_of_labels)
    for subject, ids in named.items():
        if text := _document_form(ids, _of_run(run, None if "labels" in subject else _TOP)):
            yield Fact(BESIDE, f"{subject} {text}")


def _of_pool(judgements: Judgements, pool: Any) -> _Ids:
    pool = pool.matched(judgements.collapse, judgements.drop_self)
    return _Ids(pool.documents(_some_queries(judgements), _TOP), pool.documents)


def _of_lengths(judgements: Judgements, lengths: Any) -> _Ids:
    every = frozenset(lengths.docnos.to_pylist() if len(lengths) <= _MOST_LENGTHS else ())
    return _Ids(every, lambda: every)


def _of_labels(judgements: Judgements) -> _Ids:
    labels = judgements.labels
    every = frozenset().union(*labels.values())
    some = (labels.get(qid, ()) for qid in _some_queries(judgements).to_pylist())
    return _Ids(frozenset().union(*some), lambda: every)


#: The parameters of measures that hold ids of documents, their names in sentences, and their ids.
_HOLD_IDS = ("pool", "pool", _of_pool), ("lengths", "table of lengths", _of_lengths)


def _of_qrels(judgements: Judgements) -> _Ids:
    docnos, labels = judgements.docnos, frozenset().union(*judgements.labels.values())
    some = frozenset(take(docnos, _of_some_queries(judgements.offsets)).to_pylist())
    return _Ids(some - labels, lambda: {*docnos.to_pylist()} - labels)


def _of_run(run: JudgedRun, depth: int | None = None) -> _Ids:
    """The ids of a run; of some queries those down to a depth."""
    rows = run.whole_ranking.rows
    some = take(run.table.docno, rows[_of_some_queries(run.whole_ranking.offsets, depth)])
    return _Ids(set(some.to_pylist()), lambda: set(take(run.table.docno, rows).to_pylist()))


def _some_queries(judgements: Judgements) -> pa.Array:
    return judgements.qid_text[:: _step(judgements.offsets)]


def _step(offsets: Ints) -> int:
    return 1 + (len(offsets) - 2) // _QUERIES


def _of_some_queries(offsets: Ints, depth: int | None = None) -> Ints:
    """The first places of some queries, evenly chosen."""
    step = _step(offsets)
    ends = offsets[1:] if depth is None else np.minimum(offsets[1:], offsets[:-1] + depth)
    return np.concatenate([*map(np.arange, offsets[:-1:step], ends[::step])])


def _repeated(run: JudgedRun) -> Iterator[Fact]:
    if run.has_duplicates and run.judgements.collapse is None:
        yield Fact(
            "repeated", f"{RUN} has a document twice in a ranking: it counts once, at its best rank"
        )


def _order(run: JudgedRun) -> Iterator[Fact]:
    """Scores that do not order the documents, or not as the ranks do."""
    if infinite := int(np.isinf(run.table.value).sum()):
        what = f"has {counted(infinite, 'infinite score')}: write scores that are numbers"
        yield Fact(ORDER, f"{RUN} {what}")
    elif fault := run.constant_fault:
        yield Fact(ORDER, f"{RUN} {fault}")
    elif run.ranks_contradict_scores:
        yield Fact(
            ORDER,
            f"the ranks of {RUN} contradict the scores of most rows: as in trec_eval documents "
            "are ordered by their scores, descending, and ranks are ignored; write scores that "
            "fall with the rank",
        )


def _own_ids(run: JudgedRun) -> Iterator[Fact]:
    """Queries that retrieve a document with the query's own id, unless by coincidence: an id that
    is not a number is none."""
    near = _with_own_id(run, run.whole_ranking.cut(_NEAR_TOP))
    answered = int(np.count_nonzero(run.retrieved))
    is_rare = len(near) < 2 or len(near) < _OWN_IDS * answered
    if not (is_rare and all(str(run.judgements.qids[query]).isdigit() for query in near)):
        yield Fact(
            "own ids",
            f"{RUN} retrieves a document with the query's own id in "
            f"{len(_with_own_id(run, run.whole_ranking)):,} of "
            f"{counted(answered, 'query', 'queries')}, as if the query were in the collection; "
            "leave it out with Qrels(..., drop_self=True) or --drop-self",
        )


def _with_own_id(run: JudgedRun, ranking: Ranking) -> Ints:
    """The queries with an irrelevant document of their own id in a ranking."""
    docnos = take(run.table.docno, ranking.rows)
    places = equal_rows(docnos, take(run.table.qids, run.table.queries[ranking.rows]))
    queries = np.searchsorted(ranking.offsets, places, side="right") - 1
    pairs = run.judgements.index.find(queries, take(docnos, places))
    is_relevant = (pairs >= 0) & (np.append(run.judgements.grades, 0)[pairs] > 0)
    return np.flatnonzero(np.bincount(queries[~is_relevant]))


def _ties(run: JudgedRun, measures: Mapping[str, Any], values: Sequence[Any]) -> Iterator[Fact]:
    """The measure whose mean the order of equal scores changes most, if by .01 or more."""
    if not values or not (tied := TiedRun.of(run)).is_tied.any():
        return
    found: list[tuple[float, str, str]] = []
    for (name, measure), value in zip(measures.items(), values):
        if (computes := formula(measure)) is None:
            continue
        ends = computes.over_ties(tied, value)
        now, low, high = (float(of.mean()) for of in (value, *ends))
        change = max(now - low, high - now) / max(1.0, abs(now))
        if change >= _LEAST_CHANGE:
            expected = computes.mean_over_ties(tied, ends).mean()
            average = "" if np.isnan(expected) else f" ({expected:.3f} on average)"
            text = (
                f"{name} of {RUN} is {now:.3f} in trec_eval's order of equal scores and between "
                f"{low:.3f} and {high:.3f} in any other{average}"
            )
            found.append((change, name, text))
    if found:
        _, most, text = max(found, key=lambda item: item[0])
        others = [name for _, name, _ in found if name != most]
        if others:
            text += f"; {names_of(others)} {'changes' if len(others) == 1 else 'change'}, too"
        yield Fact("ties", text)


def _share_unjudged(run: JudgedRun, cutoff: int) -> float:
    judged = int(((run.ranks <= cutoff) & (run.grades >= 0)).sum())
    return 1 - judged / max(1, int(np.minimum(run.retrieved, cutoff).sum()))


def cutoffs(measures: Mapping[str, Any]) -> list[int | None]:
    """The different cut-offs of measures, the lowest first; None: a measure without one."""
    return sorted({of.params.get("cutoff") for of in measures.values()}, key=lambda k: k or np.inf)


def first_cutoff(measures: Mapping[str, Any]) -> int:
    """The lowest cut-off of measures, 10 if there is none."""
    return cutoffs(measures)[0] or _TOP if measures else _TOP
