"""Can a judge be trusted? People, crowds and machines against people, each with its uncertainty.

A judge is trusted as far as people agree with each other: how much a judge agrees with a person is
compared with how much other people agree with that person, on documents (kappa) and on the ranking
of systems (Kendall's tau). Intervals come from a bootstrap over queries, the same draws for all
judges, each interval centred on the observed value, because the bootstrap of tau is biased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import Any

import ir_measures
import numpy as np

from ..io.lazy import pd
from ..io.names import check_names
from ..judging.judgements import Judgements
from ..measures.names import least_grade, named_measures
from ..statistics.agreement import agreement_of_tables
from ..statistics.correlation import kendall_tau, overlaps_of_scores, taus_ap
from ..statistics.intervals import Interval, centred_interval
from .comparisons import T_TEST, PairedTest, corrected
from .judge_report import BELOW, MARGIN, UNDECIDED, UNKNOWN, WITHIN, JudgeReport
from .judges import judge_confusion
from .leaderboards_by_judge import Boards, own_gains, swap_counts
from .ranks import rounded
from .registry import Floats, JudgedRuns, Queries
from .several_judges import BOUNDS, OtherJudges, relevant_by, shared_pairs


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
    duplicates: str | None = None,
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
        duplicates: what a document is that stands twice in a ranking; see
            :func:`~pyterrier_asl.evaluate`.

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
    known, least = _read(qrels, judges, reference, rel, judge_rel, duplicates)
    persons = [reference, *people]
    check_names("people", persons, known, "judges")
    if len(set(persons)) < len(persons):
        raise ValueError(f"a person is named twice: {persons}")
    if groups and runs is not None:
        runs = JudgedRuns.of(runs, known[reference])
        check_names("groups", groups, runs.names, "runs")
    wanted = [one.measure for one in named_measures(measures)]
    boards, by_ap = ([], None) if runs is None else _boards(runs, known, least, wanted)
    draws = partial(_times_drawn, n_resamples, seed)
    agreements = [_on_documents(known, least, draws), *(_on_systems(b, draws) for b in boards)]
    rows = [row for each in agreements for row in _agreement_rows(each, known, persons, alpha)]
    reversals = [row for board in boards for row in _reversals(board, reference, test, alpha)]
    confusion = judge_confusion(known)
    return JudgeReport(
        reference,
        persons,
        pd.DataFrame(rows),
        pd.DataFrame(reversals) if boards else None,
        _gains_by_judge(boards, reference, alpha),
        _gains_by_judge(boards, reference, alpha, groups) if groups else None,
        _leniency(known, least, reference),
        confusion[confusion["judge_a"] == reference].reset_index(drop=True),
        _as_systems(known, least, persons, by_ap),
    )


def _read(
    qrels: Any,
    judges: Mapping[str, Any],
    reference: str,
    rel: float,
    judge_rel: Any,
    duplicates: str | None,
) -> tuple[dict[str, Judgements], dict[str, float]]:
    """Each judge's judgements, the reference first, and the least grade that means relevant."""
    if not judges:
        raise ValueError("there is no judge to compare with the reference: name one at least")
    if reference in judges:
        raise ValueError(f"the reference and a judge are both called {reference!r}: rename one")
    sources = {reference: qrels, **{str(name): source for name, source in judges.items()}}
    known = {name: Judgements.of(source, duplicates) for name, source in sources.items()}
    if isinstance(judge_rel, Mapping):
        check_names("judge_rel", judge_rel, judges, "judges")
    least = {name: least_grade(judge_rel, name, rel) for name in known} | {reference: rel}
    for name, judgements in known.items():
        relevant_by(name, judgements, least[name])
    return known, least


def _boards(
    runs: Any, known: dict[str, Judgements], least: dict[str, float], measures: list[Any]
) -> tuple[list[Boards], Boards]:
    """The leaderboards by each measure, where there are several systems; and the one by AP."""
    asked = measures if "AP" in map(str, measures) else [*measures, ir_measures.AP]
    boards = Boards.of_many(runs, known, measures=asked, judge_rel=least)
    by_ap = next(board for board in boards if board.measure == "AP")
    return [board for board in boards[: len(measures)] if len(board.systems) > 1], by_ap


# Agreement, and its uncertainty


def _times_drawn(n_resamples: int, seed: int, queries: int) -> Floats:
    """How often each query is drawn: once as observed, then in each draw, (1 + B, Q)."""
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(queries, np.full(queries, 1 / queries), n_resamples)
    return np.vstack((np.ones(queries), drawn)).astype(np.float64)


@dataclass(frozen=True)
class _Agreements:
    """The agreement of every two judges, observed and in each draw.

    Attributes:
        measure: what systems are ranked by; '' on documents.
        values: kind -> two judges -> the observed value, and those of B draws, shape (1 + B,).
        queries: two judges -> how many queries it is about.
    """

    measure: str
    values: dict[str, dict[frozenset[str], Floats]]
    queries: dict[frozenset[str], int]


def _on_documents(
    known: dict[str, Judgements], least: dict[str, float], draws: Callable[[int], Floats]
) -> _Agreements:
    """The agreement on documents that two judges both judged."""
    qids = sorted({qid for judgements in known.values() for qid in judgements.qid_text.to_pylist()})
    counts = draws(len(qids))
    found = _Agreements("", {"agreement": {}, "kappa": {}}, {})
    for a, b in combinations(known, 2):
        table = _tables(known[a], known[b], least[a], least[b], qids)
        two = frozenset((a, b))
        found.queries[two] = int((table.sum(axis=(1, 2)) > 0).sum())
        of_draws = agreement_of_tables(np.tensordot(counts, table, axes=1))
        found.values["agreement"][two], found.values["kappa"][two] = of_draws
    return found


def _on_systems(board: Boards, draws: Callable[[int], Floats]) -> _Agreements:
    """The agreement on the ranking of systems."""
    counts = draws(len(board.qids)) / len(board.qids)
    scores = {
        judge: np.asarray(rounded(board.sign * (counts @ values.T)))
        for judge, values in board.values.items()
    }
    found = _Agreements(board.measure, {"tau": {}, "tau_AP": {}, "RBO": {}}, {})
    for (a, x), (b, y) in combinations(scores.items(), 2):
        two = frozenset((a, b))
        found.queries[two] = len(board.qids)
        found.values["tau"][two] = np.array([kendall_tau(*both) for both in zip(x, y)])
        found.values["tau_AP"][two] = (taus_ap(x, y) + taus_ap(y, x)) / 2
        found.values["RBO"][two] = overlaps_of_scores(x, y)
    return found


def _tables(
    a: Judgements, b: Judgements, least_a: float, least_b: float, qids: list[str]
) -> Floats:
    """For each query how often both judges said what, relevant or not, shape (Q, 2, 2)."""
    at_a, at_b = shared_pairs(a, b)
    number = {qid: number for number, qid in enumerate(qids)}
    queries = np.array([number[qid] for qid in b.qid_text.to_pylist()])[b.queries[at_b]]
    first, second = a.grades[at_a] >= max(least_a, 0), b.grades[at_b] >= max(least_b, 0)
    counts = np.zeros((len(qids), 2, 2))
    np.add.at(counts, (queries, first.astype(int), second.astype(int)), 1)
    return counts


def _agreement_rows(
    found: _Agreements, judges: Iterable[str], people: list[str], alpha: float
) -> list[dict[str, Any]]:
    """A row for each judge but the reference, and kind of agreement."""
    reference = people[0]
    rows = []
    for judge, (kind, values) in product(judges, found.values.items()):
        if judge == reference:
            continue
        two = frozenset((judge, reference))
        own = _interval(values[two], alpha)
        human = [float(values[frozenset(pair)][0]) for pair in combinations(people, 2)]
        beside = _interval(_less_human(judge, people, values), alpha)
        rows.append(
            {
                "judge": judge,
                "reference": reference,
                "measure": found.measure,
                "agreement": kind,
                "value": own.mean,
                "ci_low": np.maximum(own.low, -1.0),
                "ci_high": np.minimum(own.high, 1.0),
                "human_low": min(human, default=np.nan),
                "human_high": max(human, default=np.nan),
                "less_human": beside.mean,
                "less_low": beside.low,
                "less_high": beside.high,
                "verdict": _verdict(beside),
                "queries": found.queries[two],
            }
        )
    return rows


def _interval(draws: Floats, alpha: float) -> Interval:
    """Of the observed value, which is the first."""
    return centred_interval(float(draws[0]), draws[1:], alpha=alpha)


def _less_human(judge: str, people: list[str], values: dict[frozenset[str], Floats]) -> Floats:
    """The judge's agreement with a person less that of the other people, averaged over people."""
    parts = []
    for person in people:
        others = [other for other in people if other not in (person, judge)]
        if person != judge and others:
            among = np.mean([values[frozenset((person, other))] for other in others], axis=0)
            parts.append(values[frozenset((judge, person))] - among)
    return np.mean(parts, axis=0) if parts else np.array([np.nan])


def _verdict(less: Interval) -> str:
    if np.isnan(less.low):
        return UNKNOWN
    if less.low >= -MARGIN:
        return WITHIN
    return BELOW if less.high < -MARGIN else UNDECIDED


# What a judge does to systems


def _gains_by_judge(
    boards: list[Boards], reference: str, alpha: float, groups: Mapping[str, str] | None = None
) -> pd.DataFrame | None:
    """What each system, or group, gains from each judge beyond what all gain on average.

    By all measures, which are shown together; None where there are none.
    """
    what, parts = "run" if groups is None else "group", []
    for board in boards:
        queries = Queries(np.arange(len(board.qids)))
        labels = pd.Index([(groups or {}).get(name, name) for name in board.systems], name=what)
        for judge in board.others(reference):
            gains = board.values[judge] - board.values[reference]
            by_label = pd.DataFrame(gains, index=labels).groupby(level=0, sort=False).mean()
            part = own_gains(by_label.to_numpy(), gains.mean(axis=0), queries, T_TEST)
            about = {"judge": judge, "measure": board.measure, what: by_label.index}
            part = pd.concat([pd.DataFrame(about), part], axis=1)
            parts.append(part.sort_values("own_gain", key=np.abs, ascending=False, kind="stable"))
    return corrected(pd.concat(parts, ignore_index=True), "t", "holm", alpha) if parts else None


def _reversals(board: Boards, reference: str, test: str, alpha: float) -> list[dict[str, Any]]:
    """For each judge the pairs of systems that it puts in another order than the reference."""
    queries = Queries(np.arange(len(board.qids)))
    rows = []
    paired = PairedTest(test, "auto", alpha)
    for _, judge, both in board.pairs(queries, paired, reference=reference):
        reversed_ = both[both["reversed"] & both["significant_a"] & both["significant_b"]]
        which = "; ".join(reversed_["better"] + " over " + reversed_["worse"])
        row = {"judge": judge, "measure": board.measure, **swap_counts(both), "which": which}
        rows.append(row)
    return rows


def _leniency(
    known: dict[str, Judgements], least: dict[str, float], reference: str
) -> pd.DataFrame:
    """What each judge makes of the documents of each grade of the reference."""
    parts = []
    for name, judgements in known.items():
        if name == reference:
            continue
        at, rows = shared_pairs(known[reference], judgements)
        given = judgements.grades[rows]
        frame = pd.DataFrame(
            {
                "judge": name,
                "grade": known[reference].grades[at],
                "relevant": given >= max(least[name], 0),
                "given": given,
            }
        )
        parts.append(
            frame.groupby(["judge", "grade"], as_index=False).agg(
                documents=("given", "size"),
                relevant=("relevant", "mean"),
                mean_grade=("given", "mean"),
            )
        )
    return pd.concat(parts, ignore_index=True)


def _as_systems(
    known: dict[str, Judgements], least: dict[str, float], people: list[str], board: Boards | None
) -> pd.DataFrame:
    """Each judge's relevant documents as a run, scored by every other judge."""
    rows = []
    for truth, judgements in known.items():
        others = {name: other for name, other in known.items() if name != truth}
        rest = {name: least[name] for name in others}
        scored = OtherJudges.of(judgements, others, rel=least[truth], judge_rel=rest)
        best: dict[str, Any] = {}
        if board is not None:
            means = board.values[truth].mean(axis=1)
            best = {"best_run": board.systems[means.argmax()], "best_AP": float(means.max())}
        for each in scored.each:
            scores = each.average_precision()
            row = {"judged_by": truth, "judge": each.name, "person": each.name in people}
            row |= {bound: float(scores[bound].mean()) for bound in reversed(BOUNDS)}
            rows.append(row | best)
    return pd.DataFrame(rows)
