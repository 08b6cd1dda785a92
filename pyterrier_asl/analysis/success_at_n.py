"""How soon is a user satisfied? Success at n (Trotman and Keeler 2011, Figures 1 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..assessment.judges import QRELS, Judges, with_reference
from ..charts import COLORS, alt, better, category, figure, inline_rows, tooltips
from ..common.lazy import pd
from ..common.notices import counted, warn
from ..common.parameters import check_whole
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.sources import JudgeRel, QrelsLike
from ..scoring.assessor import expected_success
from ..scoring.standard import reciprocal_rank
from ..statistics.intervals import wilson_interval
from .inputs import RelOfTracks, read_tracks
from .judges_as_runs import judge_as_run
from .registry import TROTMAN, analysis
from .tables import per_track


@analysis(TROTMAN, "Figures 1, 3", tracks=True, group_by="system")
def satisfaction(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    judges: Mapping[str, QrelsLike] | None = None,
    rel: RelOfTracks = None,
    judge_rel: JudgeRel | None = None,
    depth: int = 10,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """How soon is a user satisfied (success at n)?

    S@n is the share of queries with a relevant document among the first n.

    Args:
        judges: other judges' judgements of the same queries, name -> qrels, for one track; then
            every curve is over the queries that all judges judged.
        depth: the largest n; a first page of results has 10.
        alpha: intervals cover 1 - alpha.

    Returns:
        One row for each track, system and n, with ``track``, ``system``, ``kind`` (``'run'`` or
        ``'judge'``), ``n``, ``S@n``, ``ci_low`` and ``ci_high`` (Wilson's score interval, over
        queries), ``queries``. A judge's documents have no order, so the value is the expected value
        of a random order.

    Source: Trotman and Keeler 2011, Figures 1 and 3.

    >>> runs = {"run": {"q1": {"a": 2, "x": 1}, "q2": {"x": 2, "a": 1}}}
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> satisfaction(runs, qrels, depth=2)[["system", "n", "S@n"]]
      system  n  S@n
    0    run  1  0.5
    1    run  2  1.0
    """
    check_whole("depth", depth)
    by_track = read_tracks(runs, qrels, 1 if rel is None and judge_rel is not None else rel)
    if judges is not None and len(by_track) > 1:
        raise ValueError(
            f"judges can be given for one track only, and there are {len(by_track)}: analyse each "
            "track separately"
        )

    def of_track(track: str, judged: Evaluation, rel: float) -> pd.DataFrame:
        sources = with_reference({} if judges is None else judges, QRELS, judged.judgements)
        panel = Judges.of(sources, judged, rel=rel, judge_rel=judge_rel)
        warn(*panel.notes_on())
        return _success(panel, depth, alpha)

    return per_track(of_track, by_track)


def _success(judges: Judges, depth: int, alpha: float) -> pd.DataFrame:
    """S@n of every run and judge."""
    runs, at = judges.runs_by(QRELS), judges.positions[QRELS]
    relevant = (run.relevant(judges.members[QRELS].rel) for run in runs.runs)
    # The first relevant document is among the first n where its rank is n at most.
    least = 1 / np.arange(1, depth + 1)[:, None]
    as_runs = {name: judge_as_run(judges, name, QRELS) for name in judges.names[1:]}
    curves: dict[tuple[str, str], Any] = {
        (name, "run"): (reciprocal_rank(run.ranks, run.offsets)[at] >= least).astype(np.float64)
        for name, run in zip(runs.names, relevant)
    } | {
        (name, "judge"): [
            expected_success(run["retrieved"], run["common"], n=n) for n in range(1, depth + 1)
        ]
        for name, run in as_runs.items()
    }
    return pd.DataFrame(
        [
            (*curve, n, *wilson_interval(success, alpha=alpha), len(judges.qids))
            for curve, values in curves.items()
            for n, success in enumerate(values, start=1)
        ],
        columns=["system", "kind", "n", "S@n", "ci_low", "ci_high", "queries"],
    )


@satisfaction.chart
def satisfaction_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """S@n of runs, and of judges in random order."""
    frame = frame.rename(columns={"S@n": "share"}).round(4)
    name = frame["system"] + np.where(frame["kind"] == "judge", " (judge)", "")
    frame["curve"] = frame["track"] + ": " + name if frame["track"].nunique() > 1 else name
    named = _curves_in_colour(frame)
    named_rows, others = frame[frame["curve"].isin(named)], frame[~frame["curve"].isin(named)]
    x = alt.X("n:Q", title="n, number of documents read", axis=alt.Axis(tickMinStep=1, format="d"))
    y = alt.Y(
        "share:Q",
        title=better("S@n, share of queries satisfied", "↑"),
        axis=alt.Axis(format="%"),
        scale=alt.Scale(domain=[0, 1]),
    )
    base = alt.Chart(named_rows).encode(x=x, color=category("curve", domain=named))
    least, most = int(frame["queries"].min()), int(frame["queries"].max())
    fewest = f"{least:,} to " if least < most else ""  # tracks can have different numbers
    kinds = named_rows.drop_duplicates("curve")["kind"].tolist()
    what = {
        "judge": counted(kinds.count("judge"), "judge"),
        "run": "the best, the median and the worst run by mean S@n",
    }
    coloured = " and ".join(text for kind, text in what.items() if kind in kinds)
    return figure(
        alt.layer(
            alt.Chart(inline_rows(others))
            .mark_line(color="lightgray", strokeWidth=0.7)
            .encode(
                x=x,
                y=y,
                detail=alt.Detail("curve:N"),
                tooltip=tooltips("curve:N", "n:Q", "share:Q"),
            ),
            base.mark_area(opacity=0.12).encode(y=alt.Y("ci_low:Q"), y2=alt.Y2("ci_high:Q")),
            base.mark_line(point=True).encode(
                y=y,
                tooltip=tooltips(
                    "curve:N", "kind:N", "n:Q", "share:Q", "ci_low:Q", "ci_high:Q", "queries:Q"
                ),
            ),
        ),
        "Success at n",
        "The share of queries with a relevant document among the first n, with its confidence "
        f"interval over {fewest}{counted(most, 'query', 'queries')}."
        + " A judge's documents have no order: its curve is expected of a random order."
        * ("judge" in frame["kind"].tolist())
        + f" In colours: {coloured}; in gray: {counted(others['curve'].nunique(), 'other')}."
        * bool(len(others)),
    )


def _curves_in_colour(frame: pd.DataFrame) -> list[str]:
    """The coloured curves: all of a few curves, else the curves of the judges and of three runs."""
    means = frame.groupby("curve", sort=False).agg(kind=("kind", "first"), share=("share", "mean"))
    if len(means) <= 4:
        return list(means.index)
    is_run = means["kind"] == "run"
    runs = means[is_run].sort_values("share", ascending=False, kind="stable").index
    some = list(runs[[0, len(runs) // 2, -1]]) if len(runs) else []
    return list(dict.fromkeys([*means.index[~is_run][: len(COLORS) - len(some)], *some]))
