"""Can a judge be trusted? People, crowds and machines against people, each with its uncertainty.

A judge is trusted as far as people agree with each other: how much a judge agrees with a person is
compared with how much other people agree with that person, on documents (kappa) and on the ranking
of systems (Kendall's tau). Intervals come from a bootstrap over queries, the same draws for all
judges, each interval centred on the observed value, because the bootstrap of tau is biased.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd

from ..evaluation.evaluate import judgements_of
from ..evaluation.slices import Queries
from ..judging.judgements import Judgements
from ..measures.names import least_grade, named_measures
from ..statistics.agreement import agreement_of_tables
from ..statistics.correlation import kendall_tau, overlaps_of_scores, taus_ap
from ..statistics.intervals import Interval, centred_interval
from .assessors import BOUNDS, OtherJudges
from .comparisons import PairedTest
from .judge_report import BELOW, MARGIN, UNDECIDED, UNKNOWN, WITHIN, JudgeReport
from .judges import judge_confusion
from .leaderboards_by_judge import Boards, own_gains, swap_counts
from .places import rounded
from .several_judges import relevant_by, shared_pairs

Floats = npt.NDArray[np.float64]

def judges(
    qrels: Any,
    judges: Mapping[str, Any],
    runs: Any = None,
    measures: Any = "AP",
    *,
    people: Iterable[str] = (),
    reference: str = "reference",
    rel: float = 1,
    judge_rel: Any = None,
    groups: Mapping[str, str] | None = None,
    test: str = "tukey-two-way",
    alpha: float = 0.05,
    n_resamples: int = 1000,
    seed: int = 0,
) -> JudgeReport:
    """Compares judges with people: on documents and, with runs, on the ranking of systems.

    Args:
        qrels: the judgements of the reference, a person's: frame, file, or ir_datasets id.
        judges: name -> qrels of the other judges.
        runs: dict of name -> run, folder, list of files, or JudgedRuns; None: documents only.
        measures: one measure or several, or their names; the leaderboards are by each of them.
        people: which of the judges are people, too. With two people or more, the reference among
            them, there is a human range.
        reference: what to call the reference.
        rel: minimum grade of a relevant document by the reference.
        judge_rel: the same for the others: a number, or name -> number; None: as ``rel``.
        groups: the group of runs, by name, to see which groups gain from a judge.
        test: of all pairs of systems under each judge, for reversals.
        alpha: the level of significance; intervals cover 1 - alpha.
        n_resamples: draws of the bootstrap over queries.
        seed: of those draws.

    Returns:
        :class:`JudgeReport`. A verdict is *within the human range* where a judge agrees with people
        at most :data:`MARGIN` less than they agree with each other, by the whole interval; *below*
        it where the whole interval is below that; else it *cannot be said*.

    Raises:
        ValueError: for a judge that has nothing in common with the reference or finds nothing
            relevant, a person that is none of the judges, or two of one name.

    Sources: kappa: Cohen 1960; tau: Kendall 1945; tau_AP: Yilmaz, Aslam and Robertson 2008; judges
    as systems: Trotman and Keeler 2011.

    >>> nist = {f"q{n}": {"a": 1, "b": 0, "c": n % 2} for n in range(20)}
    >>> model = {f"q{n}": {"a": 1, "b": 0, "c": int(n % 3 == 0)} for n in range(20)}
    >>> report = judges(nist, {"model": model}, reference="nist", n_resamples=200)
    >>> report.agreement[["judge", "agreement", "value", "verdict"]].round(3)
       judge  agreement  value        verdict
    0  model  agreement  0.817  range unknown
    1  model      kappa  0.633  range unknown
    """
    known = _read(qrels, judges, reference, rel, judge_rel)
    persons = [reference, *people]
    unknown = sorted(set(persons) - set(known))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no judge; there are {', '.join(map(repr, known))}")
    if len(set(persons)) < len(persons):
        raise ValueError(f"a person is named twice: {persons}")
    boards = [] if runs is None else _boards(runs, known, _several(measures))
    by_ap = next((board for board in boards if board.measure == "AP"), None)
    # Of a single run there is no ranking.
    boards = [b for b in boards[: len(_several(measures))] if len(b.systems) > 1]
    bootstrap = _Bootstrap(n_resamples, seed, alpha)
    rows = _rows(known, persons, "", bootstrap.documents(known))
    for board in boards:
        rows += _rows(known, persons, board.measure, bootstrap.systems(board))
    agreement = pd.DataFrame(rows)
    others = [name for name in known if name != reference]
    gains = [_gains(board, reference, others, None) for board in boards]
    of_groups = [_gains(board, reference, others, groups) for board in boards] if groups else []
    paired = PairedTest("t", "holm", alpha)
    read = {name: one.judgements for name, one in known.items()}
    confusion = judge_confusion(read)
    return JudgeReport(
        reference,
        persons,
        agreement,
        pd.DataFrame(
            [row for board in boards for row in _reversals(board, reference, others, test, alpha)]
        ) if boards else None,
        paired.corrected(pd.concat(gains, ignore_index=True)) if gains else None,
        paired.corrected(pd.concat(of_groups, ignore_index=True)) if of_groups else None,
        _leniency(known, reference),
        confusion[confusion["judge_a"] == reference].reset_index(drop=True),
        _as_systems(known, persons, by_ap),
    )  # fmt: skip


# Judges


@dataclass(frozen=True)
class _Judge:
    """A judge's judgements, and the least grade that it means relevant by."""

    judgements: Judgements
    rel: float


def _read(
    qrels: Any, judges: Mapping[str, Any], reference: str, rel: float, judge_rel: Any
) -> dict[str, _Judge]:
    if not judges:
        raise ValueError("there is no judge to compare with the reference: name one at least")
    if reference in judges:
        raise ValueError(f"the reference and a judge are both called {reference!r}: rename one")
    known = {reference: _Judge(judgements_of(qrels), rel)}
    for name, source in judges.items():
        least = least_grade(judge_rel, str(name), rel)
        known[str(name)] = _Judge(judgements_of(source), least)
    for name, one in known.items():
        relevant_by(name, one.judgements, one.rel)
    return known


def _several(measures: Any) -> list[Any]:
    return [one.measure for one in named_measures(measures)]


def _boards(runs: Any, known: dict[str, _Judge], measures: list[Any]) -> list[Boards]:
    """The leaderboards by each measure and, at the end if it is not among them, by AP."""
    if "AP" not in map(str, measures):
        measures = [*measures, ir_measures.AP]
    return Boards.of_many(
        runs, {name: one.judgements for name, one in known.items()}, measures=measures,
        judge_rel={name: one.rel for name, one in known.items()},
    )  # fmt: skip


# Agreement, and its uncertainty


@dataclass(frozen=True)
class _Agreements:
    """The agreement of every two judges, observed and in each draw.

    Attributes:
        values: kind -> (judge, judge) -> the observed value, and those of B draws, shape (1 + B,).
        queries: (judge, judge) -> how many queries it is about.
    """

    values: dict[str, dict[tuple[str, str], Floats]]
    queries: dict[tuple[str, str], int]
    alpha: float

    def interval(self, draws: Floats) -> Interval:
        """Of the observed value, which is the first."""
        return centred_interval(float(draws[0]), draws[1:], alpha=self.alpha)


@dataclass(frozen=True)
class _Bootstrap:
    """How queries are drawn."""

    n_resamples: int
    seed: int
    alpha: float

    def counts(self, queries: int) -> Floats:
        """How often each query is drawn: once as observed, then in each draw, (1 + B, Q)."""
        generator = np.random.default_rng(self.seed)
        drawn = generator.multinomial(queries, np.full(queries, 1 / queries), self.n_resamples)
        return np.vstack((np.ones(queries), drawn)).astype(np.float64)

    def documents(self, known: dict[str, _Judge]) -> _Agreements:
        """On documents that two judges both judged."""
        each = [one.judgements.qid_text.to_pylist() for one in known.values()]
        qids = sorted(set().union(*each))
        counts = self.counts(len(qids))
        values: dict[str, dict[tuple[str, str], Floats]] = {"agreement": {}, "kappa": {}}
        queries = {}
        for a, b in _pairs(list(known)):
            table = _tables(known[a], known[b], qids)
            queries[a, b] = int((table.sum(axis=(1, 2)) > 0).sum())
            drawn = np.tensordot(counts, table, axes=1)
            values["agreement"][a, b], values["kappa"][a, b] = agreement_of_tables(drawn)
        return _Agreements(values, queries, self.alpha)

    def systems(self, board: Boards) -> _Agreements:
        """On the ranking of systems."""
        counts = self.counts(len(board.qids)) / len(board.qids)
        scores = {
            judge: np.asarray(rounded(board.sign * (counts @ of_judge.T)))
            for judge, of_judge in board.values.items()
        }
        values: dict[str, dict[tuple[str, str], Floats]] = {"tau": {}, "tau_AP": {}, "RBO": {}}
        queries = {}
        for a, b in _pairs(list(scores)):
            x, y = scores[a], scores[b]
            queries[a, b] = len(board.qids)
            values["tau"][a, b] = np.array([kendall_tau(*both) for both in zip(x, y)])
            values["tau_AP"][a, b] = (taus_ap(x, y) + taus_ap(y, x)) / 2
            values["RBO"][a, b] = overlaps_of_scores(x, y)
        return _Agreements(values, queries, self.alpha)


def _pairs(names: list[str]) -> list[tuple[str, str]]:
    return [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]


def _tables(a: _Judge, b: _Judge, qids: list[str]) -> Floats:
    """For each query how often both judges said what, relevant or not, shape (Q, 2, 2)."""
    place = {qid: number for number, qid in enumerate(qids)}
    at_a, at_b = shared_pairs(a.judgements, b.judgements)
    queries = b.judgements.queries[at_b]
    at = np.array([place[qid] for qid in b.judgements.qid_text.to_pylist()])[queries]
    first = a.judgements.grades[at_a] >= max(a.rel, 0)
    second = b.judgements.grades[at_b] >= max(b.rel, 0)
    cell = at * 4 + first * 2 + second
    counted = np.bincount(cell, minlength=4 * len(qids)).astype(np.float64)
    return counted.reshape(len(qids), 2, 2)


def _rows(
    known: dict[str, _Judge], people: list[str], measure: str, found: _Agreements
) -> list[dict[str, Any]]:
    """A row for each judge but the reference, and kind of agreement."""
    reference = people[0]
    rows = []
    for judge in known:
        if judge == reference:
            continue
        for kind, pairs in found.values.items():

            def of(a: str, b: str, pairs: dict[tuple[str, str], Floats] = pairs) -> Floats:
                return pairs[(a, b) if (a, b) in pairs else (b, a)]

            own = found.interval(of(reference, judge))
            human = [float(of(a, b)[0]) for a, b in _pairs(people)]
            row = {
                "judge": judge, "reference": reference, "measure": measure, "agreement": kind,
                "value": own.mean, "ci_low": np.maximum(own.low, -1.0),
                "ci_high": np.minimum(own.high, 1.0),
                "human_low": min(human, default=np.nan), "human_high": max(human, default=np.nan),
            }  # fmt: skip
            less = _less_human(judge, people, of)
            beside = Interval(np.nan, np.nan, np.nan) if less is None else found.interval(less)
            rows.append(
                {
                    **row, "less_human": beside.mean, "less_low": beside.low,
                    "less_high": beside.high, "verdict": _verdict(beside),
                    "queries": found.queries[(reference, judge)],
                }
            )  # fmt: skip
    return rows


def _less_human(judge: str, people: list[str], of: Any) -> Floats | None:
    """The judge's agreement with a person less that of the other people, averaged over people."""
    parts = []
    for person in people:
        others = [other for other in people if other not in (person, judge)]
        if person != judge and others:
            among = np.mean([of(person, other) for other in others], axis=0)
            parts.append(of(person, judge) - among)
    return np.mean(parts, axis=0) if parts else None


def _verdict(less: Interval) -> str:
    if np.isnan(less.low):
        return UNKNOWN
    if less.low >= -MARGIN:
        return WITHIN
    return BELOW if less.high < -MARGIN else UNDECIDED


# What a judge does to systems


def _gains(
    board: Boards, reference: str, others: list[str], groups: Mapping[str, str] | None
) -> pd.DataFrame:
    """What each system, or group, gains from each judge beyond what all gain on average."""
    queries = Queries(np.arange(len(board.qids)))
    names = board.systems
    if groups is not None:
        labels = [groups.get(name, name) for name in board.systems]
        names = list(dict.fromkeys(labels))
    parts = []
    for judge in others:
        gains = board.values[judge] - board.values[reference]
        average = gains.mean(axis=0)
        if groups is not None:
            gains = np.array(
                [gains[[label == name for label in labels]].mean(axis=0) for name in names]
            )
        part = own_gains(gains, average, queries, PairedTest("t", None))
        part.insert(0, "group" if groups is not None else "run", names)
        part.insert(0, "measure", board.measure)
        part.insert(0, "judge", judge)
        parts.append(part.sort_values("own_gain", key=np.abs, ascending=False, kind="stable"))
    return pd.concat(parts, ignore_index=True)


def _reversals(
    board: Boards, reference: str, others: list[str], test: str, alpha: float
) -> list[dict[str, Any]]:
    """For each judge the pairs of systems that it puts in another order than the reference."""
    queries = Queries(np.arange(len(board.qids)))
    compared = board.compared(queries, test, "auto", alpha, 10_000, 0)
    return [
        {
            "judge": judge, "measure": board.measure,
            **swap_counts(compared[reference], compared[judge]),
            "which": "; ".join(_reversed_by_both(compared[reference], compared[judge])),
        }
        for judge in others
    ]  # fmt: skip


def _reversed_by_both(reference: pd.DataFrame, judge: pd.DataFrame) -> list[str]:
    """The pairs of runs that are significant under both, the other way round."""
    a, b = reference["difference"], judge["difference"]
    both = (a * b < 0) & reference["significant"] & judge["significant"]
    return [
        f"{first} over {second}" if better else f"{second} over {first}"
        for first, second, better in zip(reference["a"][both], reference["b"][both], a[both] > 0)
    ]


def _leniency(known: dict[str, _Judge], reference: str) -> pd.DataFrame:
    """What each judge makes of the documents of each grade of the reference."""
    parts = []
    for name, one in known.items():
        if name == reference:
            continue
        at, rows = shared_pairs(known[reference].judgements, one.judgements)
        first, second = known[reference].judgements.grades[at], one.judgements.grades[rows]
        frame = pd.DataFrame(
            {"grade": first, "relevant": second >= max(one.rel, 0), "given": second}
        )
        found = frame.groupby("grade", as_index=False).agg(
            documents=("given", "size"), relevant=("relevant", "mean"),
            mean_grade=("given", "mean"),
        )  # fmt: skip
        found.insert(0, "judge", name)
        parts.append(found)
    return pd.concat(parts, ignore_index=True)


def _as_systems(
    known: dict[str, _Judge], people: list[str], board: Boards | None
) -> pd.DataFrame:
    """Each judge's relevant documents as a run, scored by every other judge."""
    rows = []
    sources = {name: one.judgements for name, one in known.items()}
    rels = {name: one.rel for name, one in known.items()}
    for truth, one in known.items():
        others = {name: source for name, source in sources.items() if name != truth}
        rest = {name: least for name, least in rels.items() if name != truth}
        assessed = OtherJudges.of(one.judgements, others, rel=one.rel, judge_rel=rest)
        best: dict[str, Any] = {}
        if board is not None:
            means = board.values[truth].mean(axis=1)
            place = int(means.argmax())
            best = {"best_run": board.systems[place], "best_AP": float(means[place])}
        for each in assessed.each:
            scores = each.average_precision()
            row = {"judged_by": truth, "judge": each.name, "person": each.name in people}
            row |= {bound: float(scores[bound].mean()) for bound in reversed(BOUNDS)}
            rows.append(row | best)
    return pd.DataFrame(rows)
