"""What must be known of runs and qrels before a number is believed, and its sentences.

Facts are found where a run is matched with qrels. Every result carries their sentences as
``notes``, and every command prints them in the same words. A guard takes some of them for an error
(:data:`ERRORS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..common.lazy import pd
from ..common.notices import DoubtfulInput, counted, names_of, warn
from ..common.types import Ints
from ..io.values import take
from ..judging.id_forms import describe_form, find_form
from ..judging.judged_run import JudgedRun, TiedRun
from ..judging.judgements import Judgements
from ..judging.ranking import Ranking, equal_rows
from ..measures.formula import formula

UNANSWERED, IDS, ORDER = "unanswered", "ids", "order"
#: The facts of a run by which a guard cannot test a condition.
ERRORS = (IDS, ORDER)
#: The facts of a run, in the order of their sentences: a function with a plain frame as its result
#: warns of them.
_KINDS = (UNANSWERED, IDS, "repeated", ORDER, "ties", "own ids")
#: The name of the run in the sentence of a fact.
_RUN = "{run}"
#: The most runs with a sentence of their own on unanswered queries.
_MOST = 5
#: The queries whose document ids are looked at, evenly chosen, and the first documents of each. In
#: long rankings most other documents are not judged, whatever their ids; runs of so few rows are
#: looked at as a whole.
_QUERIES, _TOP, _FEW_ROWS = 20, 10, 2000
#: Change of a mean from which on ties are a fact; for a mean above 1, as a share of the mean.
_LEAST_CHANGE = 0.01
#: A query that is a document of the collection is among the first documents that it retrieves.
_NEAR_TOP = 3
#: Share of queries from which on equal ids of query and document are no coincidence.
_OWN_IDS = 0.1
#: The difference between two runs in their share of unjudged documents that is a fact.
_UNJUDGED = 0.1
#: The depth of a measure without a cut-off.
_DEPTH = 1000

Result = TypeVar("Result", bound="pd.DataFrame")


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
        likewise = f" (likewise {names_of(others)})" if others else ""
        return self.text.replace(_RUN, run) + likewise


@dataclass(frozen=True)
class RunFacts:
    """The facts of a run, and its numbers that are compared with those of other runs.

    Attributes:
        facts: the facts of the run by itself.
        documents: the median number of documents of the queries that it answers.
        unjudged: by cut-off, the share of its documents down to it that are unjudged.
    """

    facts: Sequence[Fact] = ()
    documents: float = 0.0
    unjudged: Mapping[int, float] = field(default_factory=dict)

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
        facts = run.once(_of_match)
        if not any(fact.kind == ORDER for fact in facts):
            facts = [*facts, *_ties(run, measures, values)]
        answered = run.retrieved[run.retrieved > 0]
        return cls(
            facts,
            float(np.median(answered)) if len(answered) else 0.0,
            {k: _share_unjudged(run, k) for k in _cutoffs(measures) if k is not None},
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
        f"{_RUN} does not answer {lacks.sum():,} of {counted(len(lacks), 'query', 'queries')} "
        f"(e.g. {str(run.judgements.qids[int(np.argmax(lacks))])!r}); each counts with the worst "
        "value"
    )
    known = set(run.judgements.qid_text.to_pylist())
    if unknown := [qid for qid in run.table.answered.to_pylist() if qid not in known]:
        text += (
            f", and {_RUN} has {counted(len(unknown), 'query', 'queries')} that the qrels lack "
            f"(e.g. {unknown[0]!r})"
        )
    yield Fact(UNANSWERED, text)


def _forms(run: JudgedRun) -> Iterator[Fact]:
    """Ids of queries and documents that the run writes otherwise than the qrels."""
    if (run.retrieved == 0).any():
        both = run.table.answered, run.judgements.qid_text
        if form := find_form(*(set(qids.to_pylist()) for qids in both)):
            yield Fact(IDS, f"{_RUN} {describe_form('query', *form)}")
    yield from _document_form(run, run.judgements.once(_some_judged), run.judgements.docnos)


def _document_form(run: JudgedRun, some: Set[str], every: Any) -> Iterator[Fact]:
    """The form of the document ids of a run that others lack.

    Documents of the first ranks of some queries are looked at. Where they have a form, the ids in
    this form are those of the whole run.

    Args:
        run: the run.
        some: ids of others, for some queries.
        every: all ids of others.
    """
    for depth in (_TOP, None) if len(run.whole_ranking.rows) <= _FEW_ROWS else (_TOP,):
        if found := find_form(_some_retrieved(run, depth), some):
            ours, theirs = (
                set(docnos.to_pylist()) for docnos in (run.docnos(run.whole_ranking), every)
            )
            pairs = found[0].pairs(ours, theirs)
            if pairs:  # otherwise the first ranks alone had the form
                yield Fact(IDS, f"{_RUN} {describe_form('document', found[0], pairs)}")
            return


def ids_against(run: JudgedRun, baseline: JudgedRun) -> list[Fact]:
    """The documents that a run writes in another form than the baseline, if the qrels do not show
    it."""
    if any(fact.kind == IDS for side in (run, baseline) for fact in side.once(_of_match)):
        return []
    every = baseline.docnos(baseline.whole_ranking)
    return list(_document_form(run, _some_retrieved(baseline), every))


def _some_judged(judgements: Judgements) -> frozenset[str]:
    """The judged documents of some queries."""
    return frozenset(take(judgements.docnos, _of_some_queries(judgements.offsets)).to_pylist())


def _some_retrieved(run: JudgedRun, depth: int | None = None) -> set[str]:
    """The documents of some queries down to a depth."""
    places = _of_some_queries(run.whole_ranking.offsets, depth)
    return set(take(run.table.docno, run.whole_ranking.rows[places]).to_pylist())


def _of_some_queries(offsets: Ints, depth: int | None = None) -> Ints:
    """The first places of some queries, evenly chosen."""
    step = 1 + (len(offsets) - 2) // _QUERIES
    ends = offsets[1:] if depth is None else np.minimum(offsets[1:], offsets[:-1] + depth)
    return np.concatenate([*map(np.arange, offsets[:-1:step], ends[::step])])


def _repeated(run: JudgedRun) -> Iterator[Fact]:
    if run.has_duplicates and run.judgements.collapse is None:
        yield Fact(
            "repeated",
            f"{_RUN} has a document twice in a ranking: it counts once, at its best rank",
        )


def _order(run: JudgedRun) -> Iterator[Fact]:
    """Scores that do not order the documents, or not as the ranks do."""
    if infinite := int(np.isinf(run.table.value).sum()):
        what = f"has {counted(infinite, 'infinite score')}: write scores that are numbers"
        yield Fact(ORDER, f"{_RUN} {what}")
    elif fault := run.constant_fault:
        yield Fact(ORDER, f"{_RUN} {fault}")
    elif run.ranks_contradict_scores:
        yield Fact(
            ORDER,
            f"the ranks of {_RUN} contradict the scores of most rows: as in trec_eval documents "
            "are ordered by their scores, descending, and ranks are ignored; write scores that "
            "fall with the rank",
        )


def _own_ids(run: JudgedRun) -> Iterator[Fact]:
    """Queries that retrieve a document with the query's own id, unless by coincidence: an id that
    is not a number is none."""
    near = _with_own_id(run, run.whole_ranking.cut(_NEAR_TOP))
    answered = int(np.count_nonzero(run.retrieved))
    is_rare = len(near) < 2 or len(near) < _OWN_IDS * answered
    if is_rare and all(str(run.judgements.qids[query]).isdigit() for query in near):
        return
    yield Fact(
        "own ids",
        f"{_RUN} retrieves a document with the query's own id in "
        f"{len(_with_own_id(run, run.whole_ranking)):,} of {counted(answered, 'query', 'queries')},"
        " as if the query were in the collection; leave it out with Qrels(..., drop_self=True) or "
        "--drop-self",
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
        computes = formula(measure)
        if computes is None:
            continue
        ends = computes.over_ties(tied, value)
        now, low, high = (float(of.mean()) for of in (value, *ends))
        change = max(now - low, high - now) / max(1.0, abs(now))
        if change >= _LEAST_CHANGE:
            expected = computes.mean_over_ties(tied, ends).mean()
            average = "" if np.isnan(expected) else f" ({expected:.3f} on average)"
            text = (
                f"{name} of {_RUN} is {now:.3f} in trec_eval's order of equal scores and between "
                f"{low:.3f} and {high:.3f} in any other{average}"
            )
            found.append((change, name, text))
    if found:
        _, most, text = max(found, key=lambda item: item[0])
        others = [name for _, name, _ in found if name != most]
        verb = "changes" if len(others) == 1 else "change"
        more = f"; {names_of(others)} {verb}, too" if others else ""
        yield Fact("ties", text + more)


def _share_unjudged(run: JudgedRun, cutoff: int) -> float:
    judged = int(((run.ranks <= cutoff) & (run.grades >= 0)).sum())
    return 1 - judged / max(1, int(np.minimum(run.retrieved, cutoff).sum()))


# Facts of the qrels, and of several runs


def _cutoffs(measures: Mapping[str, Any]) -> list[int | None]:
    """The different cut-offs of measures, the lowest first; None: a measure without one."""
    return sorted(
        {measure.params.get("cutoff") for measure in measures.values()}, key=lambda k: k or np.inf
    )


def only_relevant(judgements: Judgements, measures: Mapping[str, Any]) -> bool:
    """Whether no judged document is below the lowest grade that is relevant to a measure."""
    judged = judgements.grades[judgements.grades >= 0]
    least = [
        measure["rel"] if "rel" in measure.SUPPORTED_PARAMS else np.nextafter(0, 1)
        for measure in measures.values()
    ]
    lowest = min((rel for rel in least if isinstance(rel, (int, float))), default=1)
    return bool(len(judged) and (judged >= lowest).all())


@dataclass(frozen=True)
class Facts:
    """The facts of S runs and their qrels.

    Attributes:
        of_runs: name of a run -> its facts.
        judgements: the qrels.
        measures: measures by name.
    """

    of_runs: Mapping[str, RunFacts]
    judgements: Judgements
    measures: Mapping[str, Any]

    def with_facts(self, more: Mapping[str, Sequence[Fact]]) -> Facts:
        """The same with further facts of some runs."""
        return replace(
            self,
            of_runs={
                name: replace(of_run, facts=[*of_run.facts, *more.get(name, ())])
                for name, of_run in self.of_runs.items()
            },
        )

    def sentences_on(self, run: str, kind: str) -> list[str]:
        """The sentences of a kind on a run."""
        return [fact.sentence(run) for fact in self.of_runs[run].facts if fact.kind == kind]

    def errors(self, run: str) -> list[str]:
        """The sentences on a run by which a guard cannot test a condition."""
        return [text for kind in ERRORS for text in self.sentences_on(run, kind)]

    @property
    def doubts(self) -> list[str]:
        """A sentence on the runs with which no comparison can be trusted, if there are any."""
        texts = [text for kind, text in self._of_runs() if kind in ERRORS]
        of = "this run" if sum(map(bool, map(self.errors, self.of_runs))) == 1 else "these runs"
        return [f"No comparison with {of} can be trusted: {'; '.join(texts)}."] if texts else []

    @property
    def notes(self) -> list[str]:
        """All sentences: of each kind one, with the names of other runs of which it holds."""
        notes = [text for _, text in self._of_runs()] + self._depth()
        if not only_relevant(self.judgements, self.measures):
            return notes + self._unjudged()
        return [
            *notes,
            "the qrels list relevant documents only: unjudged documents cannot be told from "
            "documents judged not relevant",
        ]

    def warn(self) -> None:
        """Warns of the facts of runs, which make a number doubtful."""
        for _, text in self._of_runs():
            warn(text, DoubtfulInput)

    def _of_runs(self) -> list[tuple[str, str]]:
        """The sentences on facts of runs, with their kinds."""
        by_kind: dict[str, list[tuple[str, Fact]]] = {kind: [] for kind in _KINDS}
        for name, of_run in self.of_runs.items():
            for fact in of_run.facts:
                by_kind[fact.kind].append((name, fact))
        return [
            (kind, text)
            for kind, found in by_kind.items()
            if found
            for text in (_of_each if kind in (UNANSWERED, IDS) else _of_first)(kind, found)
        ]

    def _depth(self) -> list[str]:
        """The run with the shortest rankings, where a measure sees that they are."""
        sizes = {name: of_run.documents for name, of_run in self.of_runs.items()}
        deepest = max(sizes, key=sizes.__getitem__, default="")
        asked = max((k or _DEPTH for k in _cutoffs(self.measures)), default=_DEPTH)
        short = [name for name, size in sizes.items() if 0 < size < min(sizes[deepest], asked)]
        if not short:
            return []
        first, *others = sorted(short, key=sizes.__getitem__)
        text = (
            f"{_RUN} has {sizes[first]:,g} documents per query, {deepest} {sizes[deepest]:,g}: "
            "measures to a greater depth count the rest as not retrieved"
        )
        return [Fact("depth", text).sentence(first, others)]

    def _unjudged(self) -> list[str]:
        """The runs with the least and the greatest share of unjudged documents."""
        names = list(self.of_runs)
        for k in _cutoffs(self.measures) if names else ():
            shares = [self.of_runs[name].unjudged.get(k or 0, 0.0) for name in names]
            ends = sorted({int(np.argmin(shares)), int(np.argmax(shares))})
            if k is not None and max(shares) - min(shares) >= _UNJUDGED:
                both = " and ".join(f"{100 * shares[at]:.0f} % of {names[at]}" for at in ends)
                what = "document" if k == 1 else f"{k:,} documents"
                return [
                    f"of the first {what} {both} are unjudged and count as not relevant: see "
                    "`holes`"
                ]
        return []


def _of_each(kind: str, found: Sequence[tuple[str, Fact]]) -> list[str]:
    """A sentence for each of the first runs, and the number of the others."""
    sentences = [fact.sentence(name) for name, fact in found[:_MOST]]
    more = len({name for name, _ in found[_MOST:]})
    if not more:
        return sentences
    others = "does 1 other run" if more == 1 else f"do {more} other runs"
    what = "answer all queries" if kind == UNANSWERED else "write all ids as the qrels do"
    return [*sentences, f"nor {others} {what}"]


def _of_first(kind: str, found: Sequence[tuple[str, Fact]]) -> list[str]:
    """The sentence on the first run, with the names of the others."""
    (name, fact), *others = found
    return [fact.sentence(name, [other for other, _ in others])]


def joined_notes(by_track: Mapping[str, Iterable[str]]) -> list[str]:
    """The notes of several collections, each with the name of its collection.

    >>> joined_notes({"dl19": ["a"], "": ["b"]})
    ['dl19: a', 'b']
    """
    return [
        f"{track}: {note}" if track else note for track, notes in by_track.items() for note in notes
    ]


def with_notes(frame: Result, several: Mapping[str, Facts]) -> Result:
    """A frame with its notes in ``attrs``; warns of those on runs, as a frame does not print them.

    Args:
        frame: the result.
        several: the facts by collection.
    """
    for facts in several.values():
        facts.warn()
    frame.attrs["notes"] = joined_notes({track: of.notes for track, of in several.items()})
    return frame
