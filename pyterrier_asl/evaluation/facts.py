"""What must be known of runs and qrels before a number is believed, and its sentences.

Facts are found where a run is matched with qrels. Every result carries their sentences as
``notes``, and every command prints them in the same words. A guard takes some of them for an error
(:data:`ERRORS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.notices import DoubtfulInput, counted, names_of, warn
from ..judging.judgements import Judgements
from ..judging.ranking import equal_rows
from .run_facts import (
    BESIDE,
    IDS,
    ORDER,
    RUN,
    UNANSWERED,
    Fact,
    RunFacts,
    cutoffs,
    first_cutoff,
    shown,
)

#: The facts of a run by which a guard cannot test a condition.
ERRORS = (IDS, BESIDE, ORDER)
#: The facts of a run, in the order of their sentences: a function with a plain frame as its result
#: warns of them.
_KINDS = (UNANSWERED, IDS, BESIDE, "repeated", ORDER, "ties", "own ids")
#: The most runs with a sentence of their own on unanswered queries.
_MOST = 5
#: The difference between two runs in their share of unjudged documents that is a fact.
_UNJUDGED = 0.1
#: The depth of a measure without a cut-off.
DEPTH = 1000
#: The share of the deepest run's documents from which on a run is as deep.
_AS_DEEP = 0.9
#: The least number of queries without a judged document that is a fact, and the least share.
_FEWEST, _LEAST = 2, 0.05

# Facts of the qrels, and of several runs


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
    def contradictions(self) -> list[str]:
        """The sentence on different grades of a document, if there is any."""
        return [self.judgements.contradiction.sentence] if self.judgements.contradiction else []

    @property
    def doubts(self) -> list[str]:
        """A sentence on the runs with which no comparison can be trusted, if there are any."""
        texts = [text for kind, text in self._of_runs() if kind in ERRORS]
        of = "this run" if sum(map(bool, map(self.errors, self.of_runs))) == 1 else "these runs"
        return [f"No comparison with {of} can be trusted: {'; '.join(texts)}."] if texts else []

    @property
    def notes(self) -> list[str]:
        """All sentences: of each kind one, with the names of other runs of which it holds."""
        notes = [text for _, text in self._of_runs()] + self._depth() + self._of_qrels()
        if not only_relevant(self.judgements, self.measures):
            return notes + self._unjudged() + self._unjudged_queries()
        return [
            *notes,
            "the qrels list relevant documents only: unjudged documents cannot be told from "
            "documents judged not relevant",
        ]

    def warn(self) -> None:
        """Warns of what makes a number doubtful: facts of runs, and different grades."""
        warn(*(text for _, text in self._of_runs()), *self.contradictions, category=DoubtfulInput)

    def _of_runs(self) -> list[tuple[str, str]]:
        """The sentences on facts of runs, with their kinds."""
        facts = [(name, fact) for name, of_run in self.of_runs.items() for fact in of_run.facts]
        by_kind = {kind: [found for found in facts if found[1].kind == kind] for kind in _KINDS}
        return [
            (kind, text)
            for kind, found in by_kind.items()
            if found
            for text in (_of_each if kind in (UNANSWERED, IDS) else _of_first)(
                kind, found[:1] if kind == BESIDE else found
            )
        ]

    def _of_qrels(self) -> list[str]:
        """What must be known of the qrels, whatever the runs are."""
        judgements = self.judgements
        sentences = [*self.contradictions, *judgements.notes]
        sentences += without_relevant(judgements, self.measures)
        if judgements.drop_self:
            own_ids = equal_rows(judgements.docnos, judgements.table.qid)
            if len(rows := own_ids[judgements.grades[own_ids] > 0]):
                number = counted(len(rows), "relevant document")
                sentences.append(
                    f"drop_self (--drop-self) leaves out {number} with the id of the query (e.g. "
                    f"{judgements.docnos[int(rows[0])].as_py()!r}): no run can retrieve them"
                )
        return sentences

    def _depth(self) -> list[str]:
        """The run with the shortest rankings, where a measure sees that they are."""
        sizes = {name: of_run.documents for name, of_run in self.of_runs.items()}
        deepest = max(sizes, key=sizes.__getitem__, default="")
        asked = max((k or DEPTH for k in cutoffs(self.measures)), default=DEPTH)
        least = min(_AS_DEEP * sizes[deepest], asked) if sizes else 0
        short = [name for name, size in sizes.items() if 0 < size < least]
        if not short:
            return []
        first, *others = sorted(short, key=sizes.__getitem__)
        return [self.depth_of(first, deepest, others)]

    def depth_of(self, run: str, deeper: str, others: Sequence[str] = ()) -> str:
        """The sentence on a run with fewer documents per query than another, and others such."""
        size, most = (self.of_runs[name].documents for name in (run, deeper))
        return Fact(
            "depth",
            f"{RUN} has {size:,g} {'document' if size == 1 else 'documents'} per query, "
            f"{shown(deeper)} {most:,g}: measures to a greater depth count the rest as not "
            "retrieved",
        ).sentence(run, others)

    def _unjudged(self) -> list[str]:
        """The runs with the least and the greatest share of unjudged documents."""
        names = list(self.of_runs)
        for k in cutoffs(self.measures) if names else ():
            shares = [self.of_runs[name].unjudged.get(k or 0, 0.0) for name in names]
            low, high = int(np.argmin(shares)), int(np.argmax(shares))
            if k is not None and shares[high] - shares[low] >= _UNJUDGED:
                ends = {low: " (the least)", high: " (the most)"}
                both = " and ".join(
                    f"{100 * shares[at]:.0f} % of {shown(names[at])}{ends[at] * (len(names) > 2)}"
                    for at in sorted(ends)
                )
                return [
                    f"of {_first(k)} {both} are unjudged and count as not relevant: see `holes`"
                ]
        return []

    def _unjudged_queries(self) -> list[str]:
        """The run with the most queries of which another run alone has judged documents."""
        of_all = np.array([of_run.judged for of_run in self.of_runs.values()])
        if len(of_all) < 2 or not of_all.size:
            return []
        numbers = ((of_all == 0) & (of_all == 1).any(axis=0)).sum(axis=1)
        queries = of_all.shape[1]
        least = max(_FEWEST, _LEAST * queries)
        by_name = {n: int(number) for n, number in zip(self.of_runs, numbers) if number >= least}
        if not by_name:
            return []
        first, *others = sorted(by_name, key=by_name.__getitem__, reverse=True)
        return [
            Fact(
                "unjudged queries",
                f"in {by_name[first]:,} of {counted(queries, 'query', 'queries')} none of "
                f"{_first(first_cutoff(self.measures))} of {RUN} is judged",
            ).sentence(first, others)
        ]


def _first(k: int) -> str:
    return "the first document" if k == 1 else f"the first {k:,} documents"


def without_relevant(judgements: Judgements, measures: Mapping[str, Any]) -> list[str]:
    """The queries without a document that is relevant, by the measures with a minimum grade."""
    graded = {
        name: of["rel"]
        for name, of in measures.items()
        if "rel" in of.SUPPORTED_PARAMS and isinstance(of["rel"], (int, float))
    }
    rel = max(graded.values(), default=np.nextafter(0, 1))
    lacks = judgements.num_relevant(rel) == 0
    if not lacks.any():
        return []
    grade = f"a grade of {rel:g} or more" if graded else "a grade above 0"
    names = [name for name, least in graded.items() if least == rel]
    same = f": all runs have the same value there by {names_of(names)}" if names else ""
    return [
        f"{lacks.sum():,} of {counted(len(lacks), 'query', 'queries')} "
        f"{'has' if lacks.sum() == 1 else 'have'} no document with {grade} (e.g. "
        f"{str(judgements.qids[int(np.argmax(lacks))])!r}){same}"
    ]


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


def with_notes(frame: pd.DataFrame, by_track: Mapping[str, Facts]) -> pd.DataFrame:
    """A frame with its notes in ``attrs``; warns of those on runs, as a frame does not print them.

    Args:
        frame: the result.
        by_track: the facts by collection.
    """
    for facts in by_track.values():
        facts.warn()
    frame.attrs["notes"] = joined_notes({track: of.notes for track, of in by_track.items()})
    return frame
