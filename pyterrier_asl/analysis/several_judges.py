"""Several judges of the same queries, and other judges' relevant documents as runs.

A judge is a person or a machine, each with grades of its own. Other judges' relevant documents are
counted against the original's, alone or beside runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from ir_measures import AP

from ..io.names import check_names
from ..judging.judgements import Judgements
from ..measures.names import least_grade, with_options
from ..scoring import assessor as scoring
from .registry import Bools, Floats, Ints, JudgedRuns

#: What the judge is called whose judgements are given as ``qrels``.
QRELS = "qrels"


def least_grades(judges: Iterable[str], rel: Any, judge_rel: Any) -> dict[str, Any]:
    """The minimum grade of a document that each judge finds relevant.

    Args:
        judges: their names.
        rel: what holds for those of whom ``judge_rel`` says nothing.
        judge_rel: judge -> minimum grade; or a number, for all but :data:`QRELS`; or None.

    Raises:
        ValueError: where ``judge_rel`` names another judge.

    >>> least_grades(["qrels", "crowd", "model"], 2, {"crowd": 1})
    {'qrels': 2, 'crowd': 1, 'model': 2}
    """
    names = [str(judge) for judge in judges]
    others = [name for name in names if name != QRELS]
    grades = judge_rel if isinstance(judge_rel, Mapping) else dict.fromkeys(others, judge_rel)
    check_names("judge_rel", grades, names, "judges")
    return {name: least_grade(grades, name, rel) for name in names}


def relevant_by(name: str, judgements: Judgements, rel: float) -> Bools:
    """Which of its judgements a judge finds relevant, shape (judgements,).

    Raises:
        ValueError: where there are none: the judge grades on another scale.
    """
    relevant: Bools = (judgements.grades >= rel) & (judgements.grades >= 0)
    if not relevant.any():
        grades = ", ".join(f"{grade:g}" for grade in np.unique(judgements.grades)[-4:])
        raise ValueError(
            f"judge {name!r} finds nothing relevant at rel={rel:g}: its largest grades are "
            f"{grades}; give it a minimum grade of its own, judge_rel={{{name!r}: ...}} or "
            f"--judge-rel {name}=..."
        )
    return relevant


def queries_in(original: Judgements, other: Judgements) -> Ints:
    """The number that the query of each of another judge's judgements has; -1 for none."""
    numbers = pc.index_in(other.qid_text, original.qid_text).fill_null(-1)
    of_judgements: Ints = numbers.to_numpy().astype(np.int64)[other.queries]
    return of_judgements


def shared_pairs(a: Judgements, b: Judgements) -> tuple[Ints, Ints]:
    """Which pairs of query and document both judged: their rows in each, in b's order.

    >>> a, b = Judgements({"q": {"d": 1, "e": 0}}), Judgements({"q": {"e": 2, "f": 1}})
    >>> [each.tolist() for each in shared_pairs(a, b)]
    [[1], [0]]
    """
    queries = queries_in(a, b)
    rows = np.flatnonzero(queries >= 0)
    at = a.index.find(queries[rows], b.docnos.take(pa.array(rows)))
    return at[at >= 0], rows[at >= 0]


#: The scores of a judge, whose documents have no order, as Table 1 names them.
BOUNDS = ("upper", "expected", "lower")


@dataclass(frozen=True)
class Assessed:
    """Another judge's documents of Q topics, counted against the original's.

    Attributes:
        name: the other judge.
        rel: minimum grade of a document that the other finds relevant.
        retrieved: R', documents the other found relevant, shape (Q,).
        common: r, those that the original found relevant too, shape (Q,).
        relevant: N_R, documents the original found relevant, shape (Q,).
    """

    name: str
    rel: float
    retrieved: Ints
    common: Ints
    relevant: Ints

    @property
    def counts(self) -> tuple[Ints, Ints, Ints]:
        """R', r and N_R."""
        return self.retrieved, self.common, self.relevant

    def average_precision(self) -> dict[str, Floats]:
        """AP of each topic by each of the :data:`BOUNDS`: best order, expected, worst order."""
        return {
            "upper": scoring.best_average_precision(*self.counts),
            "expected": scoring.expected_average_precision(*self.counts),
            "lower": scoring.worst_average_precision(*self.counts),
        }


@dataclass(frozen=True)
class OtherJudges:
    """Some judges counted against the original, over the topics that it and all of them judged.

    Attributes:
        qids: the topics.
        at: their numbers among the original's.
        each: the other judges.
        rel: minimum grade of a document that the original finds relevant.
        judgements: the original's.
    """

    qids: list[Any]
    at: Ints
    each: list[Assessed]
    rel: float
    judgements: Judgements

    @classmethod
    def of(
        cls, qrels: Any, judges: Mapping[str, Any], *, rel: float = 1, judge_rel: Any = None
    ) -> OtherJudges:
        """Counts other judges' judgements against the original's.

        Args:
            qrels: the original's judgements, to score by: frame, file, or ir_datasets id.
            judges: the other judges', name -> qrels.
            rel: minimum grade of a document that the original finds relevant.
            judge_rel: the same for the others: a number, or name -> number; None: as ``rel``.

        Raises:
            ValueError: where there is no topic that all judged, or for a judge who finds nothing
                relevant.
        """
        original = Judgements.of(qrels)
        others = {str(name): Judgements.of(each) for name, each in judges.items()}
        least = least_grades([QRELS, *others], rel, judge_rel)
        relevant = relevant_by(QRELS, original, least[QRELS])
        at = _shared_topics(original, others)
        each = []
        for name, other in others.items():
            found = relevant_by(name, other, least[name])
            counts = _counts_by_topic(original, relevant, other, found)
            each.append(Assessed(name, least[name], *(count[at] for count in counts)))
        qids = [original.qids[topic] for topic in at]
        return cls(qids, at, each, least[QRELS], original)


@dataclass(frozen=True)
class RunsAndJudges:
    """Runs, and other judges whose relevant documents are scored as they are.

    Attributes:
        runs: the runs, judged by the original.
        others: the other judges.
        qids: the topics that all judged.
        judgements: the original's.
    """

    runs: JudgedRuns
    others: OtherJudges
    qids: list[Any]
    judgements: Judgements

    @classmethod
    def of(
        cls,
        runs: Any,
        qrels: Any = None,
        *,
        duplicates: str | None = None,
        judges: Any = None,
        rel: float = 1,
        judge_rel: Any = None,
    ) -> RunsAndJudges:
        """Reads them; arguments as of :meth:`OtherJudges.of`, ``judges`` may be None or empty."""
        judged = JudgedRuns.of(runs, qrels, duplicates=duplicates)
        others = OtherJudges.of(judged.judgements, judges or {}, rel=rel, judge_rel=judge_rel)
        return cls(judged, others, others.qids, judged.judgements)

    def turned(self, name: str, qrels: Any) -> RunsAndJudges:
        """The same runs, and the original, by the judgements of one of the other judges."""
        rel = next(each.rel for each in self.others.each if each.name == name)
        return RunsAndJudges.of(
            self.runs.judged_by(qrels),
            judges={QRELS: self.judgements},
            rel=rel,
            judge_rel={QRELS: self.others.rel},
        )

    @cached_property
    def precision(self) -> Floats:
        """AP of the runs, shape (runs, topics that all judged)."""
        return self.runs.values(with_options(AP, self.others.rel))[:, self.others.at]


def _shared_topics(original: Judgements, others: Mapping[str, Judgements]) -> Ints:
    """Which of the original's topics all judged, by their numbers."""
    topics = original.qid_text.to_pylist()
    judged_by_all = set(topics).intersection(*(o.qid_text.to_pylist() for o in others.values()))
    at = np.flatnonzero([topic in judged_by_all for topic in topics])
    if not at.size:
        first = {name: other.qid_text[:1].to_pylist() for name, other in others.items()}
        raise ValueError(
            f"no topic was judged by all of them: the qrels' topics look like {topics[:1]}, the "
            f"other judges' like {first}"
        )
    return at


def _counts_by_topic(
    original: Judgements, relevant: Bools, other: Judgements, found: Bools
) -> tuple[Ints, Ints, Ints]:
    """R', r and N_R of each of the original's topics; 0 where the other did not judge it."""
    topics = queries_in(original, other)
    at, rows = shared_pairs(original, other)
    agreed = original.queries[at[relevant[at] & found[rows]]]
    counted = topics[found & (topics >= 0)], agreed, original.queries[relevant]
    retrieved, common, total = (np.bincount(each, minlength=len(original)) for each in counted)
    return retrieved, common, total
