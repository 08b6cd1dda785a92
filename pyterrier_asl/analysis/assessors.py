"""Can a system still improve if it scores as high as a second judge? (Trotman and Keeler 2011.)

The relevant documents of another judge are scored as a ranking by the judgements of the original
judge. A system cannot be expected to reach 1 where two people disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from ..assessment.judges import QRELS, Judges
from ..charts import (
    DASHED,
    LONG_NAME,
    MOST,
    alt,
    captioned,
    category,
    figure,
    in_rows,
    ranges,
    shape,
    tooltips,
    yes_or_no,
)
from ..common.lazy import pd
from ..evaluation.evaluation import Runs
from ..evaluation.sources import JudgeRel, QrelsLike, refuse
from ..statistics.tests import PairedTest, with_corrected_p
from .asl_options import PUBLISHED
from .inputs import read_qrels_and_judges
from .judges_as_runs import BOUNDS, judge_as_run, precision_by
from .registry import TROTMAN, analysis
from .tables import as_frame, significance


@analysis(TROTMAN, "section 4")
def assessor_scores(
    qrels: QrelsLike,
    judges: Mapping[str, QrelsLike],
    *,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
) -> pd.DataFrame:
    """How do other judges score as runs?

    Their relevant documents have no order: the best, the expected and the worst score are given.

    Returns:
        One row for each judge, with ``judge``, ``topics`` (those that all judged),
        ``retrieved``, ``common`` and ``relevant`` (means over queries of R', r and N_R), and the
        MAP of the best order, ``upper``, of a random one, ``expected``, and of the worst,
        ``lower``. The paper samples 10,000 random orders; the closed form is exact.

    A judge cannot find documents that the judge was not shown: the score then holds for the sample
    of documents shown. A comparison is fair if ``qrels`` judge the same documents.

    Source: Trotman and Keeler 2011, section 4.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    >>> scores = assessor_scores(qrels, {"alt": {"q": {"a": 1, "b": 1, "d": 1}}})
    >>> scores.round(4)[["judge", *BOUNDS]]
      judge   upper  expected   lower
    0   alt  0.6667     0.537  0.3889
    """
    panel = read_qrels_and_judges(qrels, judges, rel, judge_rel)
    scores = {name: judge_as_run(panel, name, QRELS) for name in panel.names[1:]}
    return as_frame(
        [
            {"judge": name, "topics": len(panel.qids), **{of: v.mean() for of, v in by.items()}}
            for name, by in scores.items()
        ]
    )


@assessor_scores.chart
def assessor_scores_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The MAP of each judge's documents, from the worst order to the best (section 4)."""
    base = alt.Chart(frame).encode(
        y=alt.Y("judge:N", sort=None, title=None),
        tooltip=tooltips("judge", "lower", "expected", "upper", "topics", "retrieved", "common"),
    )
    return figure(
        ranges(base, "lower", "expected", "upper", "MAP"),
        "How other judges score as runs",
        "The relevant documents of another judge, scored as a run by the original judge: a line "
        "from the worst order to the best, a point at the expected score of a random order.",
        rows=2,
    )


@analysis(TROTMAN, "Table 1")
def compare_with_assessors(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    judges: Mapping[str, QrelsLike],
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    both_ways: bool = False,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    draws: int | None = None,
    seed: int | None = None,
    as_published: bool = False,
) -> pd.DataFrame:
    """Do runs score better than other judges, by AP?

    Args:
        both_ways: also score the documents of the original judge, and the runs, by each other
            judge (the paper's "T6 org").
        as_published: the paper's choice: the paired two-tailed t-test without correction.

    Returns:
        One row for each run, judge and bound, with ``judged_by`` (``'qrels'``, or who else with
        ``both_ways``), ``judge``, ``bound`` (``'upper'``, ``'expected'``, ``'lower'``), ``run``,
        ``run_AP``, ``judge_AP``, ``topics``, then run minus judge: ``difference``, ``ci_low``,
        ``ci_high``, ``effect``, ``statistic``, ``p``, ``p_corrected``, ``significant``. ``attrs``
        name the test, the correction and the size of its family.

    A difference that is not significant may still be large: with few queries few differences are
    significant, and the interval gives the range of possible differences.

    Source: Trotman and Keeler 2011, Table 1.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "x": 0}}
    >>> alt = {"q1": {"a": 1}, "q2": {"a": 1, "x": 1}}
    >>> runs = {"run": {"q1": {"a": 2, "b": 1}, "q2": {"x": 2, "a": 1}}}
    >>> compared = compare_with_assessors(runs, qrels, judges={"alt": alt})
    >>> compared[["bound", "run_AP", "judge_AP"]]
          bound  run_AP  judge_AP
    0     upper    0.75     0.750
    1  expected    0.75     0.625
    2     lower    0.75     0.500
    """
    refuse(PUBLISHED, correction=as_published and correction != "holm" and correction)
    panel = read_qrels_and_judges(qrels, judges, rel, judge_rel, runs=runs)
    paired = PairedTest(test, correction, alpha, draws, seed)

    pairs = _both_ways(panel) if both_ways else panel.pairs(QRELS)
    rows = [row for pair in pairs for row in _differences(panel, *pair, paired)]
    return with_corrected_p(as_frame(rows), test, "none" if as_published else correction, alpha)


@compare_with_assessors.chart
def compare_with_assessors_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The difference of every run from every judge, with its interval (Table 1).

    The best runs where there are many, so that all judges have room.
    """
    by_run = frame.groupby("run", sort=False)["run_AP"].first()
    most = max(3, MOST // frame[["judge", "judged_by"]].drop_duplicates().shape[0] - 1)
    best_runs = frame[frame["run"].isin(by_run.nlargest(most).index)]
    base = alt.Chart().encode(
        y=alt.Y("run:N", title=None, sort=None),
        color=yes_or_no("significant"),
        tooltip=tooltips(
            "run",
            "judge",
            "judged_by",
            "bound",
            "run_AP",
            "judge_AP",
            "difference",
            "ci_low",
            "ci_high",
            "p",
            "p_corrected",
            "effect",
            "topics",
        ),
    )
    layers = alt.layer(
        alt.Chart().mark_rule(color="gray", strokeDash=DASHED).encode(x=alt.datum(0)),
        ranges(base, "ci_low", "difference", "ci_high", "run minus judge"),
    )
    layers.layer[1].layer[1].encoding.shape = shape(
        "bound", "the judge's score", domain=BOUNDS
    ).legend(orient="bottom", columns=2)
    by = best_runs["judged_by"]
    against = best_runs["judge"] + (", judged by " + by if by.nunique() > 1 else "")
    return captioned(
        in_rows(layers.properties(data=best_runs.assign(against=against)), "against", against),
        "Runs against other judges",
        "AP of each run minus AP of the judge's documents in the best order, in a random order "
        f"(the expected value) and in the worst order, with its interval. {significance(frame)}"
        f"{f' The best {most} of {len(by_run)} runs.' * (len(by_run) > most)}",
    )


@analysis(TROTMAN, "Figure 2")
def human_range(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    judges: Mapping[str, QrelsLike] | None = None,
    rel: float | None = None,
    judge_rel: JudgeRel | None = None,
    system: str | None = None,
    run_types: Mapping[str, str] | pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Is a system's score within the range of human scores?

    Every other judge is scored as a run by the original judge, and the original judge by the other
    judge (the paper's "org"). With types of runs also the range of the manual runs, next to the
    best automatic run.

    Args:
        judges: the other judges, name -> qrels; None: the manual runs only.
        system: the run whose score is compared with the judges; by default the best automatic run,
            or the best run without types.
        run_types: ``'manual'`` or ``'automatic'`` of each run: Series or dict by name, or a frame
            with columns ``run`` and ``type``.

    Returns:
        Two rows for each other judge and, with ``run_types``, one for the manual runs, with
        ``who``, ``judged_by`` (``'qrels'`` or the other judge), ``kind`` (``'judge'``, ``'manual
        runs'``), ``low``, ``tick`` (the expected score of a judge, the mean of the manual runs),
        ``high``, ``bar`` and ``bar_run`` (the system; for the manual runs the best automatic run),
        ``topics``. All by AP.

    Raises:
        ValueError: without judges and without types.

    Source: Trotman and Keeler 2011, Figure 2.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"m": {"q": {"a": 1}}, "s": {"q": {"a": 2, "b": 1}}}
    >>> types = {"m": "manual", "s": "automatic"}
    >>> human_range(runs, qrels, judges={"alt": {"q": {"a": 1}}}, run_types=types)
               who judged_by         kind  low  tick  high  bar bar_run  topics
    0          alt     qrels        judge  0.5  0.50   0.5  1.0       s       1
    1        qrels       alt        judge  0.5  0.75   1.0  1.0       s       1
    2  manual runs     qrels  manual runs  0.5  0.50   0.5  1.0       s       1
    """
    if not judges and run_types is None:
        raise ValueError("there is nothing to compare with: give judges, or the types of the runs")
    panel = read_qrels_and_judges(qrels, judges, rel, judge_rel, runs=runs)
    kinds = _types(panel.systems, run_types)

    means = {
        name: pd.Series(precision_by(panel, name).mean(axis=-1), index=panel.systems)
        for name in panel.names
    }
    automatic, manual = means[QRELS][kinds == "automatic"], means[QRELS][kinds == "manual"]
    best = str(automatic.idxmax()) if len(automatic) else None
    bar = best if system is None else panel.systems[panel.runs_by(QRELS).row(system)]
    rows: list[Any] = []
    for judged_by, name in _both_ways(panel):
        scores = judge_as_run(panel, name, judged_by)
        ends = (scores[bound].mean() for bound in reversed(BOUNDS))
        rows.append((name, judged_by, "judge", *ends, means[judged_by].get(bar, np.nan), bar))
    if len(manual):
        rows.append(
            ("manual runs", QRELS, "manual runs", manual.min(), manual.mean(), manual.max())
            + (automatic.get(best, np.nan), best)
        )
    return as_frame(
        rows, ["who", "judged_by", "kind", "low", "tick", "high", "bar", "bar_run"]
    ).assign(topics=len(panel.qids))


def _both_ways(panel: Judges) -> list[tuple[str, str]]:
    """The original judge with every other: who judges, and who is judged; then exchanged."""
    pairs = panel.pairs(QRELS)
    return [*pairs, *((name, reference) for reference, name in pairs)]


@human_range.chart
def human_range_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Bars of the system, lines from the worst to the best of the judge, a tick where expected."""
    by = np.where(frame["judged_by"] == QRELS, "", ", judged by " + frame["judged_by"])
    base = alt.Chart(frame.assign(row=frame["who"] + by)).encode(
        y=alt.Y("row:N", sort=None, title=None, axis=alt.Axis(labelLimit=LONG_NAME)),
        tooltip=tooltips("who", "judged_by", "low", "tick", "high", "bar", "bar_run", "topics"),
    )
    return figure(
        alt.layer(
            base.mark_bar(opacity=0.5).encode(
                x=alt.X("bar:Q", title="MAP", scale=alt.Scale(domain=[0, 1])),
                color=category("bar_run", "system"),
            ),
            base.mark_rule(strokeWidth=2, color="black").encode(
                x=alt.X("low:Q"), x2=alt.X2("high:Q")
            ),
            base.mark_tick(thickness=3, color="black").encode(x=alt.X("tick:Q")),
        ),
        "Human scores and the system's",
        "Line: the relevant documents of a judge, scored as a run by the other judge, from "
        "the worst order to the best, with a tick at the expected score of a random order; for "
        "manual runs from the worst run to the best, with a tick at the mean. Bar: the system, or "
        "the best automatic run.",
        rows=2,
    )


def _differences(
    judges: Judges, judged_by: str, name: str, paired: PairedTest
) -> Iterator[dict[str, Any]]:
    """Runs against a judge, all scored by the judgements of another judge."""
    precision, scores = precision_by(judges, judged_by), judge_as_run(judges, name, judged_by)
    of_runs = zip(judges.systems, precision, precision.mean(axis=-1))
    for bound, (run, values, run_ap) in product(BOUNDS, of_runs):
        yield {
            "judged_by": judged_by,
            "judge": name,
            "bound": bound,
            "run": run,
            "run_AP": run_ap,
            "judge_AP": scores[bound].mean(),
            "topics": len(judges.qids),
            **paired.of(values, scores[bound]),
        }


def _types(names: list[str], run_types: Mapping[str, str] | pd.DataFrame | None) -> pd.Series[Any]:
    """The type of each run, ``'automatic'`` where there are no types."""
    if run_types is None:
        return pd.Series("automatic", names)
    if isinstance(run_types, pd.DataFrame):
        run_types = dict(zip(run_types["run"], run_types["type"]))
    types = pd.Series(dict(run_types)).rename(str).reindex(names)
    if types.isna().any():
        raise ValueError(
            f"run_types does not have the runs {types.index[types.isna()].tolist()}: give each its "
            "type"
        )
    return types
