"""Comparison of judges, people, crowds and machines, with a person.

A judge is trusted as far as people agree with each other: on documents (kappa), on the ranking of
systems (Kendall's tau), and by what the judge does to single systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..evaluation.inputs import Qrels, Runs
from ..evaluation.slices import Queries
from ..io.lazy import pd
from ..io.names import check_names
from ..measures.names import Measures
from ..statistics.correction import with_corrected_p
from .confusion import are_binned, confusion_of, leniency_of
from .human_range import agreement_with_people
from .judge_as_run import judges_as_runs, precision_by
from .judge_report import JudgeReport
from .judges import JudgeRel, Judges
from .system_pairs import PairedTest, leaderboards_of, reversals_of


def judges(
    qrels: Qrels,
    judges: Mapping[str, Qrels],
    runs: Runs | None = None,
    measures: Measures = "AP",
    *,
    people: Iterable[str] = (),
    reference: str = "reference",
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    groups: Mapping[str, str] | None = None,
    test: str = "tukey-two-way",
    alpha: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
    duplicates: str | None = None,
    drop_self: bool = False,
) -> JudgeReport:
    """Compares judges with people: on documents and, with runs, on the ranking of systems.

    Args:
        qrels: the judgements of the reference, a person's: frame, file, or ir_datasets id.
        judges: name -> qrels of the other judges.
        runs: dict of name -> run, folder, list of files, or Evaluation; None: documents only.
        measures: one measure or several, or their names; the leaderboards are by each of them.
        people: which of the judges are people, too. With two people or more, the reference among
            them, there is a human range.
        reference: what to call the reference.
        rel: minimum grade of a relevant document, for measures that do not say it; None: each
            measure's default, and 1 on documents.
        judge_rel: the same for judges but the reference: a number, or name -> number. It beats
            ``rel`` and the ``rel`` of a measure, and is then shown after the name of the measure.
        groups: the group of runs, by name, to see which groups gain from a judge.
        test: of all pairs of systems under each judge, for reversals.
        alpha: the level of significance; intervals cover 1 - alpha.
        draws: draws of the bootstrap over queries.
        seed: of those draws.
        duplicates: how to treat a document that occurs twice in a ranking; see
            :func:`~pyterrier_asl.evaluate`.
        drop_self: see :func:`~pyterrier_asl.evaluate`.

    Returns:
        :class:`~pyterrier_asl.assessment.judge_report.JudgeReport`. A verdict is *within the human
        range* where a judge agrees with people at most
        :data:`~pyterrier_asl.assessment.human_range.MARGIN` less than they agree with each other,
        by the whole interval; *below* it where the whole interval is below that; else it *cannot be
        said*. All agreements of a verdict are on the same pairs of query and document: those that
        the judge and all people judged.

    Raises:
        ValueError: for a judge that has nothing in common with the reference or finds nothing
            relevant, names in ``people``, ``judge_rel`` or ``groups`` that do not exist, or two
            judges of one name.

    Sources: kappa: Cohen 1960; tau: Kendall 1945; tau_AP: Yilmaz, Aslam and Robertson 2008; judges
    as systems: Trotman and Keeler 2011.

    >>> nist = {f"q{n}": {"a": 1, "b": 0, "c": n % 2} for n in range(20)}
    >>> model = {f"q{n}": {"a": 1, "b": 0, "c": int(n % 3 == 0)} for n in range(20)}
    >>> report = judges(nist, {"model": model}, reference="nist", draws=200)
    >>> report.agreement[["judge", "agreement", "value", "verdict"]].round(3)
       judge  agreement  value        verdict
    0  model  agreement  0.817  range unknown
    1  model      kappa  0.633  range unknown
    """
    if not judges:
        raise ValueError("there is no judge to compare with the reference: name one at least")
    if reference in judges:
        raise ValueError(f"the reference and a judge are both called {reference!r}: rename one")
    if isinstance(judge_rel, Mapping):
        check_names("judge_rel", judge_rel, judges, "judges")
    elif judge_rel is not None:
        judge_rel = dict.fromkeys(judges, judge_rel)
    compared = Judges.of(
        {reference: qrels, **judges},
        runs,
        rel=rel,
        judge_rel=judge_rel,
        people=[reference, *people],
        duplicates=duplicates,
        drop_self=drop_self,
    )
    for judge in compared.members.values():
        judge.check_finds_relevant()
    if groups and compared.has_runs:
        check_names("groups", groups, compared.systems, "runs")
    ranked = compared.ranked_by(measures)
    grades = {name: judge.judgements.grades for name, judge in compared.members.items()}
    return JudgeReport(
        reference,
        compared.people,
        agreement_with_people(compared, ranked, alpha=alpha, draws=draws, seed=seed),
        _reversals(compared, ranked, test, alpha),
        _gains_by_judge(compared, ranked, alpha),
        _gains_by_judge(compared, ranked, alpha, groups) if groups else None,
        leniency_of(compared, reference),
        confusion_of(compared, reference),
        _as_systems(compared),
        tuple(name for name, values in grades.items() if are_binned(values)),
    )


def _all_queries(judges: Judges) -> Queries:
    return Queries(np.arange(len(judges.qids)))


def _gains_by_judge(
    judges: Judges, measures: list[Any], alpha: float, groups: Mapping[str, str] | None = None
) -> pd.DataFrame | None:
    """The systems, or groups, by each judge but the reference, those first that gain or lose most.

    By all measures, which are shown together; None where there are none.
    """
    reference = judges.names[0]
    options: dict[str, Any] = {"reference": reference, "groups": groups}
    queries, paired = _all_queries(judges), PairedTest()
    parts = [leaderboards_of(judges, name, queries, paired, **options) for name in measures]
    if not parts:
        return None
    board = pd.concat(part[part["judge"] != reference] for part in parts)
    size = board["own_gain"].abs().to_numpy()
    block = board.groupby(["judge", "measure"], sort=False).ngroup().to_numpy()
    order = np.lexsort((-size, block))
    return with_corrected_p(board.iloc[order].reset_index(drop=True), "t", "holm", alpha)


def _reversals(judges: Judges, measures: list[Any], test: str, alpha: float) -> pd.DataFrame | None:
    """The pairs of systems that each judge puts in another order than the reference."""
    options: tuple[Any, ...] = _all_queries(judges), PairedTest(test, "auto", alpha)
    reference = judges.names[0]
    rows = [
        row
        for measure in measures
        for row in reversals_of(judges, measure, *options, reference=reference)
    ]
    return pd.DataFrame(rows) if rows else None


def _as_systems(judges: Judges) -> pd.DataFrame:
    """Each judge's relevant documents as a run, scored by every other judge."""
    rows = []
    for truth in judges.members:
        best: dict[str, Any] = {}
        if judges.has_runs:
            means = precision_by(judges, truth).mean(axis=1)
            best = {"best_run": judges.systems[means.argmax()], "best_AP": float(means.max())}
        for other in judges_as_runs(judges, truth):
            is_person = judges.members[other.name].is_person
            about = {"judged_by": truth, "judge": other.name, "person": is_person}
            rows.append({**about, **other.means(_all_queries(judges)), **best})
    return pd.DataFrame(rows)
