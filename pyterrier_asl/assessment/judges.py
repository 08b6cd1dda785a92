"""Judges of the same queries: people, crowds and machines, with or without runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.notices import counted
from ..common.parameters import check_names
from ..common.types import Bools, Floats, Ints
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.facts import Facts
from ..evaluation.sources import JudgeRel, QrelsLike, refuse, with_rel
from ..io.columns import is_table, qrels_columns
from ..io.label_files import JUDGE
from ..io.qrels import read_qrels_table
from ..judging.id_forms import other_form
from ..judging.judgements import Judgements, judgements_of, shared_pairs
from ..judging.pair_index import positions
from ..judging.qrels import Qrels, judgements_of_documents, matching_of
from ..measures._base import check_from_0
from ..measures.parsing import Measures, NamedMeasure, named_measures, one_measure

#: The name of the judge whose judgements are given as ``qrels``.
QRELS = "qrels"

#: The number of queries below which intervals of agreements and audits cannot be relied on.
FEW_QUERIES = 10


def with_reference(judges: Any, reference: str, qrels: QrelsLike) -> dict[str, QrelsLike]:
    """The reference and the judges by name.

    Raises:
        TypeError: for judges that are not a dict from name to qrels.
        ValueError: for a judge with the name of the reference.
    """
    is_dict = isinstance(judges, Mapping)
    first = next(iter(judges.values()), None) if is_dict else None
    docs = next(iter(first.values()), None) if isinstance(first, Mapping) else {}
    is_qrels = docs is not None and not isinstance(docs, Mapping)
    if not is_dict or is_qrels:
        what = "one qrels" if is_qrels else f"a {type(judges).__name__}"
        raise TypeError(f"judges is a dict from name to qrels, not {what}: pass {{'name': qrels}}")
    if reference in judges:
        raise ValueError(
            f"the judge of the qrels and another are both called {reference!r}: rename one"
        )
    return {reference: qrels, **judges}


@dataclass(frozen=True, eq=False)
class Judge:
    """A judge: a person, a crowd or a machine.

    Attributes:
        name: what the judge is called.
        judgements: the judge's grades.
        rel: minimum grade of a document that the judge finds relevant.
        own_rel: the minimum grade of this judge in ``judge_rel``, if any; it replaces the ``rel``
            of a measure.
        is_person: whether the judge is a person; the agreement of people is the human range.
    """

    name: str
    judgements: Judgements
    rel: float = 1
    own_rel: float | None = None
    is_person: bool = False

    @cached_property
    def relevant(self) -> Bools:
        """Whether each judgement finds its document relevant, shape (judgements,)."""
        return np.asarray(self.judgements.grades >= max(self.rel, 0))

    def check_finds_relevant(self, rel: float | None = None, where: str = "") -> None:
        """Raises an error for a judge without a relevant document, whose scale may differ.

        Args:
            rel: the minimum grade; None: the judge's.
            where: which judgements these are, if they are not all.

        Raises:
            ValueError: naming the judge, the grade and the judge's largest grades.
        """
        rel, grades = self.rel if rel is None else rel, self.judgements.grades
        if not np.any(grades >= max(rel, 0)):
            largest = ", ".join(f"{grade:g}" for grade in np.unique(grades)[-4:]) or "none"
            who, remedy = "the qrels have", "check the qrels, and rel (--rel)"
            if self.name != QRELS:
                who = f"judge {self.name!r} finds"
                remedy = f"give a minimum grade for this judge, --judge-rel {self.name}=..."
            raise ValueError(
                f"{who} nothing relevant at rel={rel:g}{where}: the largest grades are {largest}; "
                f"{remedy}"
            )

    def notes_beside(self, reference: Judge, rel: float) -> Iterator[str]:
        """Sentences on ids that it writes, and labels that end, otherwise than the reference's.

        Args:
            reference: the judge to compare with.
            rel: the minimum grade of this judge's relevant documents.
        """
        for what, ids in (("query", "qid_text"), ("document", "docnos")):
            ours, theirs = (getattr(own.judgements, ids) for own in (self, reference))
            if form := other_form(what, ours, theirs):
                yield f"the judge {self.name!r} {form}"
        rows = shared_pairs(reference.judgements, self.judgements)
        highest, own_highest = (
            own.judgements.grades[at].max(initial=0) for own, at in zip((reference, self), rows)
        )
        if self.own_rel is None and len(rows[0]) and own_highest != highest:
            low, high = self.judgements.grades.min(), self.judgements.grades.max()
            yield (
                f"{self.name}'s labels go from {low:g} to {high:g}, {reference.name}'s to "
                f"{reference.judgements.grades.max():g}, and {self.name}'s are relevant from "
                f"{rel:g} on: --judge-rel {self.name}={(low + high) / 2:g}?"
            )


@dataclass(frozen=True, eq=False)
class Judges:
    """Judges of the same queries, the reference first, with or without runs.

    Attributes:
        members: the judges by name, the reference first.
        rel: minimum grade of a relevant document for measures without one; None: each measure's
            default.
        source: the runs as the caller passed them; None: there are none.
        are_cut: whether judgements were left out, so that a judge may find nothing relevant.
    """

    members: dict[str, Judge]
    rel: float | None = None
    source: Runs | None = None
    are_cut: bool = False
    _matched: dict[str, Evaluation] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        judges: Mapping[str, QrelsLike],
        runs: Runs | None = None,
        *,
        rel: float | None = None,
        judge_rel: JudgeRel | None = None,
        people: Iterable[str] = (),
    ) -> Judges:
        """Reads the judges' judgements.

        Args:
            judges: name -> qrels: frame, file, or ir_datasets id; the first is the reference.
                What one of them says of matching runs holds for all. Labels with a column of judges
                are those of several, called ``name/judge``; in ``judge_rel`` and ``people`` the
                name is for all of them. If one of them has the name itself, they have no other
                names, and this one is the first.
            runs: dict of name -> run, folder of run files, or list of them; or Evaluation; None:
                there are none.
            rel: minimum grade of a relevant document, for measures without one; None: each
                measure's default, and 1 on documents.
            judge_rel: minimum grade of a relevant document for the other judges: judge -> grade, or
                one number. It replaces ``rel`` and the ``rel`` of a measure.
            people: the names of the judges that are people.

        Raises:
            ValueError: where ``judge_rel`` or ``people`` names another judge.

        >>> judges = Judges.of({"nist": {"q": {"a": 2}}, "m": {"q": {"a": 1}}}, judge_rel={"m": 1})
        >>> [(judge.name, judge.rel, judge.own_rel) for judge in judges.members.values()]
        [('nist', 1, None), ('m', 1, 1)]
        """
        groups = {str(name): _by_judge(str(name), qrels) for name, qrels in judges.items()}
        sources = {name: qrels for group in groups.values() for name, qrels in group.items()}
        names = [*sources]
        if judge_rel is not None and not isinstance(judge_rel, Mapping):
            judge_rel = dict.fromkeys([*groups][1:], judge_rel)
        check_names("judge_rel", judge_rel or (), {**groups, **sources}, "judges")
        own = {
            name: check_from_0(f"the grade of {str(of)!r}", grade)
            for of, grade in (judge_rel or {}).items()
            for name in groups.get(str(of), [str(of)])
        }
        rel = None if rel is None else check_from_0("rel", rel)
        persons = [name for of in map(str, people) for name in groups.get(of, [of])]
        check_names("people", persons, names, "judges")
        matching = matching_of(*sources.values())
        if runs is None:
            refuse("is for judges with runs", **matching)
        if isinstance(runs, Evaluation):
            runs.check_matching(matching)
        members: dict[str, Judge] = {}
        for name, qrels in sources.items():
            if isinstance(runs, Evaluation) and runs.has_been_matched_with(qrels):
                qrels = runs.judgements
            judgements = judgements_of(qrels).with_matching(matching)
            if len(names) > 1 and judgements.grades.min(initial=0) < 0:  # labels of -1
                judgements = judgements.select(np.flatnonzero(judgements.grades >= 0))
            if len(names) > 1 and judgements.contradiction:
                raise ValueError(_contradictions(name, qrels, judgements.contradiction.example))
            first = members[names[0]].judgements if members else judgements
            if collapse := judgements.collapse or first.collapse:
                judgements = judgements_of_documents(judgements, first, collapse)
            least = own.get(name, 1 if rel is None else rel)
            members[name] = Judge(name, judgements, least, own.get(name), name in persons)
        return cls(members, rel, runs)

    @property
    def names(self) -> list[str]:
        """The judges, the reference first."""
        return list(self.members)

    def notes_on(self, measures: Sequence[NamedMeasure] = ()) -> list[str]:
        """Sentences on judges that write ids or scale labels otherwise than the reference.

        Args:
            measures: those whose minimum grades of relevant documents are said; none: the judge's.
        """
        reference, *others = self.members.values()
        notes = list[str]()
        for judge in others:
            rels = [self.least_relevant(measure, judge.name) for measure in measures]
            notes += judge.notes_beside(reference, min(rels, default=judge.rel))
        return notes

    @property
    def people(self) -> list[str]:
        """The judges that are people."""
        return [name for name, judge in self.members.items() if judge.is_person]

    @property
    def judgements(self) -> Judgements:
        """The judgements of the judge with the largest grade."""
        return max(
            (judge.judgements for judge in self.members.values()),
            key=lambda own: own.grades.max(initial=0),
        )

    def pairs(self, reference: str | None = None) -> list[tuple[str, str]]:
        """Every two judges; or the reference with each of the others."""
        return [pair for pair in combinations(self.names, 2) if reference in (None, *pair)]

    def select(self, names: Iterable[str]) -> Judges:
        """Some of the judges, in this order."""
        return replace(self, members={name: self.members[name] for name in names})

    # The queries, and the pairs of query and document, that all judged

    @cached_property
    def qids(self) -> list[Any]:
        """The queries that all judged, as the reference has them."""
        reference = self.members[self.names[0]].judgements
        return [reference.qids[number] for number in self.positions[self.names[0]]]

    @property
    def all_qids(self) -> set[str]:
        """The ids, as text, of the queries that any judge judged."""
        return {qid for own in self.members.values() for qid in own.judgements.qid_text.to_pylist()}

    @cached_property
    def positions(self) -> dict[str, Ints]:
        """The numbers of the :attr:`qids` among each judge's queries."""
        texts = {name: judge.judgements.qid_text for name, judge in self.members.items()}
        numbers = {name: positions(texts[self.names[0]], own) for name, own in texts.items()}
        shared = np.all([own >= 0 for own in numbers.values()], axis=0)
        if not shared.any():
            examples = {name: own[:1].to_pylist() for name, own in texts.items()}
            raise ValueError(
                f"no query was judged by all judges: are the ids alike? Their first are {examples}"
            )
        return {name: own[shared] for name, own in numbers.items()}

    @cached_property
    def on_shared_pairs(self) -> Judges | None:
        """The judges with only the pairs of query and document that all of them judged.

        None where there is no such pair; these judges where all judged the same pairs.
        """
        reference, *others = self.members.values()
        size = len(reference.judgements.grades)
        rows = {reference.name: np.arange(size)}
        for judge in others:
            at, own = shared_pairs(reference.judgements, judge.judgements)
            rows[judge.name] = np.full(size, -1)
            rows[judge.name][at] = own
        shared = np.flatnonzero(np.all([judged >= 0 for judged in rows.values()], axis=0))
        if not shared.size:
            return None
        if all(shared.size == len(own.judgements.grades) for own in self.members.values()):
            return self
        cut = {
            name: replace(own, judgements=own.judgements.select(np.sort(rows[name][shared])))
            for name, own in self.members.items()
        }
        runs = self.runs_by(self.names[0]) if self.source is not None else None
        return Judges(cut, self.rel, runs, are_cut=True)

    # Measures of the runs, by each judge

    def runs_by(self, name: str) -> Evaluation:
        """The runs, matched with the judgements of a judge; they are read once."""
        if name not in self._matched:
            read = next(iter(self._matched.values()), self.source)
            self._matched[name] = Evaluation.of(read, self.members[name].judgements)
        return self._matched[name]

    def facts(self, measures: Iterable[NamedMeasure] = (), name: str | None = None) -> Facts:
        """What must be known of the runs and of a judge's judgements.

        Args:
            measures: the measures.
            name: the judge; None: the reference.
        """
        name = name or self.names[0]
        by_judge = (self.measure_by(measure, name) for measure in measures)
        return self.runs_by(name).facts({named.name: named.measure for named in by_judge})

    @cached_property
    def systems(self) -> list[str]:
        """The names of the runs, S of them."""
        return self.runs_by(self.names[0]).names

    def measure_by(self, measure: Measures | NamedMeasure, name: str) -> NamedMeasure:
        """A measure with the minimum grade of a document that a judge finds relevant."""
        return with_rel(one_measure(measure), self.rel, self.members[name].own_rel)

    def label(self, measure: Measures, names: Iterable[str] | None = None) -> str:
        """The label of a measure: its name, and the minimum grades of judges that differ.

        Args:
            measure: the measure.
            names: the judges it is about, the reference first; None: all.

        >>> judges = Judges.of({"nist": {"q": {"a": 2}}, "m": {"q": {"a": 1}}}, judge_rel={"m": 1})
        >>> judges.label("AP(rel=2)"), judges.label("nDCG@10")
        ('AP(rel=2), m: rel=1', 'nDCG@10')
        """
        by_judge = [(name, self.measure_by(measure, name)) for name in names or self.members]
        _, reference = by_judge[0]
        return reference.name + "".join(
            f", {name}: rel={own.measure['rel']:g}"
            for name, own in by_judge
            if str(own.measure) != str(reference.measure)
        )

    def ranked_by(self, measures: Measures) -> list[NamedMeasure]:
        """The measures that rank the runs; none without several runs."""
        if self.source is None or len(self.systems) < 2:
            return []
        ranked = named_measures(measures)
        for measure in ranked:
            sign_of(measure)
        return ranked

    def values(self, measure: Measures) -> dict[str, Floats]:
        """The runs' values by each judge, of the queries that all judged, judge -> shape (S, Q).

        Raises:
            ValueError: for a judge who finds nothing relevant.
        """
        for name, judge in self.members.items() if not self.are_cut else ():
            judge.check_finds_relevant(self.least_relevant(measure, name))
        return {
            name: self.values_by(name, self.measure_by(measure, name).measure)
            for name in self.members
        }

    def least_relevant(self, measure: Measures, name: str) -> float:
        """The minimum grade of a relevant document by a judge for a measure."""
        own = self.measure_by(measure, name).measure
        least = own["rel"] if "rel" in own.SUPPORTED_PARAMS else 1
        # Graded measures, such as RBP without rel, have no number there.
        return least if isinstance(least, (int, float)) else 1

    def values_by(self, name: str, measure: Any) -> Floats:
        """The runs' values by one judge, of the queries that all judged, shape (S, Q)."""
        return self.runs_by(name).values(measure)[:, self.positions[name]]


def _by_judge(name: str, qrels: Any) -> dict[str, Any]:
    """The labels of each judge in a column of judges, by name; without one all by one name."""
    source = qrels.declared if isinstance(qrels, Qrels) else qrels
    is_file = isinstance(source, (str, os.PathLike)) and Path(source).is_file()
    labels = read_qrels_table(source) if is_file or is_table(source) else None
    if labels is None or JUDGE not in labels.column_names:
        return {name: qrels}
    by_judge = dict(iter(labels.to_pandas().groupby(JUDGE, sort=False)))
    named = (
        {name: by_judge[name], **by_judge}
        if name in by_judge
        else {f"{name}/{judge}": rows for judge, rows in by_judge.items()}
    )
    given = qrels if isinstance(qrels, Qrels) else Qrels(qrels)
    return {
        judge: replace(given, source=rows.drop(columns=JUDGE), columns=None, grades=None)
        for judge, rows in named.items()
    }


def _contradictions(name: str, source: Any, example: str) -> str:
    """A sentence about different labels of one document by one judge, with their share."""
    source = source.declared if isinstance(source, Qrels) else source
    is_file = isinstance(source, (str, os.PathLike))
    labels = qrels_columns(read_qrels_table(source) if is_file else source)
    pairs = labels.frame("qid", "docno", "label").groupby(["qid", "docno"])["label"]
    table = pd.DataFrame({"labels": pairs.unique(), "times": pairs.size()}).query("times > 1")
    table["differs"] = table["labels"].map(len) > 1
    by_label = table.explode("labels").groupby("labels")["differs"].mean()
    shares = ", ".join(f"{100 * share:.0f} % of {label:g}" for label, share in by_label.items())
    return (
        f"judge {name!r}{f' ({source})' * is_file} labels {counted(len(table), 'pair')} of query "
        f"and document several times, {table['differs'].sum():,} of them differently (by label "
        f"{shares}), such as {example}. Keep one label of each pair, or name the judge of "
        "each label in a column 'judge'"
    )


def sign_of(measure: Measures) -> int:
    """1 where higher values of a measure are better, else -1.

    Raises:
        ValueError: for a measure without a direction.
    """
    named = one_measure(measure)
    if named.higher_is_better is None:
        raise ValueError(
            f"{named.name} has no direction, so it ranks no systems: use another measure"
        )
    return 1 if named.higher_is_better else -1
