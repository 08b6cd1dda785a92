"""What must be known of runs and qrels before a number is believed, and its sentences.

Facts are found where a run is matched with qrels. Every result carries their sentences as
``notes``, and every command prints them in the same words. A guard takes some of them for an error
(:data:`ERRORS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from ..io.lazy import pd
from ..io.notices import DoubtfulInput, counted, names_of, warn
from ..judging.id_forms import Form, describe_form
from ..judging.judged_run import JudgedRun, OwnIds
from ..judging.judgements import Judgements
from ..judging.ties import TiedRun
from ..measures.formula import formula
from ..scoring.arrays import Bools, Floats
from .written_ids import document_form, query_form, query_ids

UNANSWERED, IDS, ORDER = "unanswered", "ids", "order"
#: The facts of a run by which a guard cannot test a condition.
ERRORS = (IDS, ORDER)
#: The facts of which a function warns whose result is a plain frame.
_GRAVE = (UNANSWERED, IDS, "repeated", ORDER, "ties", "own ids")
#: The name of the run in the sentence of a fact.
_RUN = "{run}"
#: The most runs with a sentence of their own on unanswered queries.
_MOST = 5
#: Change of a mean from which on ties are a fact; for a mean above 1, as a share of the mean.
_LEAST_CHANGE = 0.01
#: Share of queries from which on equal ids of query and document are no coincidence.
_OWN_IDS = 0.1
#: The difference between two runs in their share of unjudged documents that is a fact.
_UNJUDGED = 0.1
#: The depth of a measure without a cut-off.
_DEPTH = 1000

Result = TypeVar("Result", bound="pd.DataFrame")


@dataclass(frozen=True)
class Fact:
    """A fact of a run, or of the qrels.

    Attributes:
        kind: the kind, such as ``'unanswered'``.
        text: the sentence, in which ``{run}`` is the name of the run.
        number: of how many queries, documents or ids it holds.
        of: of how many it could hold; 0: that has no meaning.
        examples: ids of which it holds.
    """

    kind: str
    text: str
    number: int = 0
    of: int = 0
    examples: Sequence[str] = ()

    def sentence(self, run: str = "", others: Sequence[str] = ()) -> str:
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
        cls, run: JudgedRun, measures: Mapping[str, Any] | None = None, values: Sequence[Any] = ()
    ) -> RunFacts:
        """The facts of a matched run that has its rows.

        Args:
            run: the run.
            measures: measures by name.
            values: the values of each measure, shape (Q,), for ties; (): none.
        """
        of_match = run.once(_of_match)
        tied = () if any(fact.kind == ORDER for fact in of_match) else _ties(run, measures, values)
        answered = run.retrieved[run.retrieved > 0]
        unjudged = {k: _share_unjudged(run, k) for k in _cutoffs(measures) if k is not None}
        documents = float(np.median(answered)) if len(answered) else 0.0
        return cls([*of_match, *tied], documents, unjudged)


# Facts of a run


def _of_match(run: JudgedRun) -> list[Fact]:
    """The facts of a run that no measure changes."""
    found = (_unanswered(run), *_forms(run), _repeated(run), _order(run))
    return [*(fact for fact in found if fact), *_own_ids(run.own_ids, _answered(run))]


def _answered(run: JudgedRun) -> int:
    return int(np.count_nonzero(run.retrieved))


def _example(run: JudgedRun, queries: Bools) -> str:
    return repr(str(run.judgements.qids[int(np.argmax(queries))]))


def _unanswered(run: JudgedRun) -> Fact | None:
    lacks = run.retrieved == 0
    if not lacks.any():
        return None
    number, example = int(lacks.sum()), _example(run, lacks)
    text = (
        f"{_RUN} does not answer {number:,} of {counted(len(lacks), 'query', 'queries')} (e.g. "
        f"{example}); each counts with the worst value"
    )
    known = set(run.judgements.qid_text.to_pylist())
    if unknown := [qid for qid in query_ids(run) if qid not in known]:
        queries = counted(len(unknown), "query", "queries")
        text += f", and {_RUN} has {queries} that the qrels lack (e.g. {unknown[0]!r})"
    return Fact(UNANSWERED, text, number, len(lacks), [example])


def _forms(run: JudgedRun) -> list[Fact]:
    found = {"query": query_form(run), "document": document_form(run)}
    return [_form(what, *of) for what, of in found.items() if of is not None]


def _form(what: str, form: Form, pairs: Mapping[str, str]) -> Fact:
    text = f"{_RUN} {describe_form(what, form, pairs)}"
    return Fact(IDS, text, len(pairs), 0, list(pairs)[:3])


def ids_against(run: JudgedRun, baseline: JudgedRun) -> list[Fact]:
    """The documents that a run writes in another form than the baseline, if the qrels do not show
    it."""
    if any(fact.kind == IDS for side in (run, baseline) for fact in side.once(_of_match)):
        return []
    found = document_form(run, baseline)
    return [] if found is None else [_form("document", *found)]


def _repeated(run: JudgedRun) -> Fact | None:
    if not run.has_duplicates or run.judgements.collapse is not None:
        return None
    text = f"{_RUN} has a document twice in a ranking: it counts once, at its best rank"
    return Fact("repeated", text, 1)


def _order(run: JudgedRun) -> Fact | None:
    """Scores that do not order the documents, or not as the ranks do."""
    infinite = int(np.isinf(run.table.value).sum())
    if infinite:
        scores = counted(infinite, "infinite score")
        return Fact(ORDER, f"{_RUN} has {scores}: write scores that are numbers", infinite)
    if fault := run.constant_fault:
        return Fact(ORDER, f"{_RUN} {fault}", int(run.constant_scores.sum()), len(run.judgements))
    if run.ranks_contradict_scores:
        text = (
            f"the ranks of {_RUN} contradict the scores of most rows: as in trec_eval documents "
            "are ordered by their scores, descending, and ranks are ignored; write scores that "
            "fall with the rank"
        )
        return Fact(ORDER, text)
    return None


def _own_ids(own_ids: OwnIds, answered: int) -> list[Fact]:
    """Queries that retrieve a document with the query's own id, unless by coincidence.

    >>> [fact.sentence("B") for fact in _own_ids(OwnIds(near=2, queries=3, has_text=True), 4)]
    ["B retrieves a document with the query's own id in 3 of 4 queries, as if the query were in \
the collection; leave it out with Qrels(..., drop_self=True) or --drop-self"]
    """
    near = own_ids.near
    by_chance = near < 2 or near < _OWN_IDS * answered
    if not near or (by_chance and not own_ids.has_text):
        return []
    text = (
        f"{_RUN} retrieves a document with the query's own id in {own_ids.queries:,} of "
        f"{counted(answered, 'query', 'queries')}, as if the query were in the collection; leave "
        "it out with Qrels(..., drop_self=True) or --drop-self"
    )
    return [Fact("own ids", text, own_ids.queries, answered)]


def over_ties(measure: Any, tied: TiedRun, value: Floats) -> tuple[Floats, Floats, Floats]:
    """The least, the expected and the greatest value over all orders of equal scores, (Q,) each.

    They are NaN for the measures of other providers.

    Args:
        measure: a measure.
        tied: the queries of a run with equal scores.
        value: the values of the run, shape (Q,).
    """
    own = formula(measure)
    unknown = np.full(len(value), np.nan)
    return (unknown, unknown, unknown) if own is None else own.over_ties(tied, value)


def _ties(run: JudgedRun, measures: Mapping[str, Any] | None, values: Sequence[Any]) -> list[Fact]:
    """The measure whose mean the order of equal scores changes most, if by .01 or more."""
    if not measures or not (tied := TiedRun.of(run)).is_tied.any():
        return []
    found: list[tuple[float, str, str]] = []
    for (name, measure), value in zip(measures.items(), values):
        now = float(value.mean())
        low, expected, high = (float(end.mean()) for end in over_ties(measure, tied, value))
        change = max(now - low, high - now) / max(1.0, abs(now))
        if change >= _LEAST_CHANGE:
            average = "" if np.isnan(expected) else f" ({expected:.3f} on average)"
            text = (
                f"{name} of {_RUN} is {now:.3f} in trec_eval's order of equal scores and between "
                f"{low:.3f} and {high:.3f} in any other{average}"
            )
            found.append((change, name, text))
    if not found:
        return []
    _, most, text = max(found, key=lambda item: item[0])
    others = [name for _, name, _ in found if name != most]
    verb = "changes" if len(others) == 1 else "change"
    more = f"; {names_of(others)} {verb}, too" if others else ""
    return [Fact("ties", text + more, len(found))]


def _share_unjudged(run: JudgedRun, cutoff: int) -> float:
    shown = int(np.minimum(run.retrieved, cutoff).sum())
    judged = int(((run.ranks <= cutoff) & (run.grades >= 0)).sum())
    return 1 - judged / max(1, shown)


# Facts of the qrels, and of several runs


def _cutoffs(measures: Mapping[str, Any] | None) -> list[int | None]:
    """The different cut-offs of measures, the lowest first; None: a measure without one."""
    cutoffs = {measure.params.get("cutoff") for measure in (measures or {}).values()}
    return sorted(cutoffs, key=lambda k: np.inf if k is None else k)


def only_relevant(judgements: Judgements, measures: Mapping[str, Any] | None = None) -> bool:
    """Whether no judged document is below the lowest grade that is relevant to a measure."""
    judged = judgements.grades[judgements.grades >= 0]
    least = [
        measure["rel"] if "rel" in measure.SUPPORTED_PARAMS else np.nextafter(0, 1)
        for measure in (measures or {}).values()
    ]
    lowest = min((rel for rel in least if isinstance(rel, (int, float))), default=1)
    return bool(len(judged) and (judged >= lowest).all())


@dataclass(frozen=True)
class Facts:
    """The facts of S runs and their qrels.

    Attributes:
        of_runs: name of a run -> its facts.
        judgements: the qrels.
        measures: measures by name; None: none.
    """

    of_runs: Mapping[str, RunFacts]
    judgements: Judgements
    measures: Mapping[str, Any] | None = None

    @classmethod
    def without_ties(
        cls, runs: Mapping[str, JudgedRun], judgements: Judgements, measures: Mapping[str, Any]
    ) -> Facts:
        """The facts of matched runs that have their rows, without what ties change."""
        of_runs = {name: RunFacts.of(run, measures) for name, run in runs.items()}
        return cls(of_runs, judgements, measures)

    def with_facts(self, more: Mapping[str, Sequence[Fact]]) -> Facts:
        """The same with further facts of some runs."""
        changed = {
            name: replace(of_run, facts=[*of_run.facts, *more.get(name, ())])
            for name, of_run in self.of_runs.items()
        }
        return replace(self, of_runs=changed)

    def sentences_on(self, run: str, kind: str) -> list[str]:
        """The sentences of a kind on a run."""
        return [fact.sentence(run) for fact in self.of_runs[run].facts if fact.kind == kind]

    def errors(self, run: str) -> list[str]:
        """The sentences on a run by which a guard cannot test a condition."""
        return [text for kind in ERRORS for text in self.sentences_on(run, kind)]

    @property
    def doubts(self) -> list[str]:
        """A sentence on the runs with which no comparison can be trusted, if there are any."""
        texts = [text for kind, text in self._sentences() if kind in ERRORS]
        of = "this run" if sum(map(bool, map(self.errors, self.of_runs))) == 1 else "these runs"
        return [f"No comparison with {of} can be trusted: {'; '.join(texts)}."] if texts else []

    @property
    def notes(self) -> list[str]:
        """All sentences: of each kind one, with the names of other runs of which it holds."""
        return [text for _, text in self._sentences()]

    def warn(self) -> None:
        """Warns of the facts that make a number doubtful."""
        for kind, text in self._sentences():
            if kind in _GRAVE:
                warn(text, DoubtfulInput)

    def _sentences(self) -> list[tuple[str, str]]:
        by_kind: dict[str, list[tuple[str, Fact]]] = {kind: [] for kind in _GRAVE}
        for name, of_run in self.of_runs.items():
            for fact in of_run.facts:
                by_kind[fact.kind].append((name, fact))
        listed = [
            (kind, text)
            for kind, found in by_kind.items()
            for text in (_of_each if kind in (UNANSWERED, IDS) else _of_first)(kind, found)
        ]
        listed += [("depth", text) for text in self._depth()]
        if only_relevant(self.judgements, self.measures):
            text = (
                "the qrels list relevant documents only: unjudged documents cannot be told from "
                "documents judged not relevant"
            )
            return [*listed, ("positive-only", text)]
        return listed + [("unjudged", text) for text in self._unjudged()]

    def _depth(self) -> list[str]:
        """The run with the shortest rankings, where a measure sees that they are."""
        sizes = {name: of_run.documents for name, of_run in self.of_runs.items()}
        deepest = max(sizes, key=lambda name: sizes[name], default="")
        asked = max((k or _DEPTH for k in _cutoffs(self.measures)), default=_DEPTH)
        short = [name for name, size in sizes.items() if 0 < size < min(sizes[deepest], asked)]
        if not short:
            return []
        first, *others = sorted(short, key=lambda name: sizes[name])
        likewise = f" (likewise {names_of(others)})" if others else ""
        return [
            f"{first} has {sizes[first]:,g} documents per query, {deepest} {sizes[deepest]:,g}: "
            f"measures to a greater depth count the rest as not retrieved{likewise}"
        ]

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
    if not found:
        return []
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
    """A frame with its notes in ``attrs``; warns of the grave ones, as a frame does not print them.

    Args:
        frame: the result.
        several: the facts by collection.
    """
    for facts in several.values():
        facts.warn()
    frame.attrs["notes"] = joined_notes({track: of.notes for track, of in several.items()})
    return frame
