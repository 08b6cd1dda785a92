"""One leaderboard under several judges, and what the judges say of each other."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned


def leaderboards(boards: pd.DataFrame) -> Any:
    """The place of every system under every judge.

    Args:
        boards: what :func:`~pyterrier_asl.analysis.leaderboards.leaderboards` returned, without
            slices.
    """
    judges = list(dict.fromkeys(boards["judge"]))
    height = max(200, min(700, 14 * boards["run"].nunique()))
    most = boards["rank_change"].abs().groupby(boards["run"]).transform("max")
    shown = boards.assign(change=most)
    places = alt.Scale(domain=[1, int(boards["rank"].max())], reverse=True)
    base = alt.Chart(shown, width=max(160, 110 * len(judges)), height=height).encode(
        x=alt.X("judge:N", sort=judges, title=None, axis=alt.Axis(labelAngle=-20, orient="top")),
        y=alt.Y("rank:Q", title="place", scale=places),
        detail="run:N",
        color=alt.Color("change:Q", title="places moved", scale=alt.Scale(scheme="viridis")),
        tooltip=["run", "judge", "rank", "rank_change", "value", "own_gain", "p_corrected"],
    )
    drawn = alt.layer(base.mark_line(opacity=0.6), base.mark_circle(size=40))
    caption = (
        f"Places by {boards.attrs.get('measure', 'the measure')} under each judge, best at the "
        f"top; a line is a system, its colour how many places it moves at most from its place "
        f"under {boards.attrs.get('reference', judges[0])}."
    )
    return captioned(drawn, "One leaderboard, several judges", caption)


def judges_agreement(agreement: pd.DataFrame, value: str = "tau") -> Any:
    """How far every two judges agree, on the order of the systems or on the documents.

    Args:
        agreement: what :func:`~pyterrier_asl.analysis.leaderboards.leaderboard_agreement` or
            :func:`~pyterrier_asl.analysis.judges.judge_agreement` returned.
        value: the column to show, such as ``tau``, ``tau_AP``, ``RBO`` or ``kappa``.
    """
    if value not in agreement.columns:
        raise ValueError(f"there is no column {value!r}; there are {list(agreement.columns)}")
    turned = agreement.rename(columns={"judge_a": "judge_b", "judge_b": "judge_a"})
    both = pd.concat([agreement, turned], ignore_index=True)
    judges = list(dict.fromkeys([*agreement["judge_a"], *agreement["judge_b"]]))
    base = alt.Chart(both, width=alt.Step(54), height=alt.Step(34)).encode(
        x=alt.X("judge_a:N", sort=judges, title=None, axis=alt.Axis(labelAngle=-35)),
        y=alt.Y("judge_b:N", sort=judges, title=None),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(f"{value}:Q", scale=alt.Scale(scheme="blues")),
        tooltip=["judge_a", "judge_b", value],
    )
    dark = both[value].quantile(0.6)
    text = base.mark_text().encode(
        text=alt.Text(f"{value}:Q", format=".2f"),
        color=alt.condition(f"datum.{value} > {dark}", alt.value("white"), alt.value("black")),
    )
    return captioned(
        alt.layer(cells, text), f"Agreement of judges: {value}",
        f"{value} of every two judges; 1 is complete agreement.", 60,
    )  # fmt: skip


def judge_confusion(confusion: pd.DataFrame, judge_a: str, judge_b: str) -> Any:
    """The grades of two judges against each other.

    Args:
        confusion: what :func:`~pyterrier_asl.analysis.judges.judge_confusion` returned.
        judge_a: one judge.
        judge_b: another, in the order of the frame.
    """
    part = confusion[(confusion["judge_a"] == judge_a) & (confusion["judge_b"] == judge_b)]
    if part.empty:
        known = sorted(set(zip(confusion["judge_a"], confusion["judge_b"])))
        raise ValueError(f"there is no pair ({judge_a!r}, {judge_b!r}); there are {known}")
    base = alt.Chart(part, width=alt.Step(64), height=alt.Step(40)).encode(
        x=alt.X("grade_b:O", title=f"grade by {judge_b}"),
        y=alt.Y("grade_a:O", title=f"grade by {judge_a}", sort="descending"),
        tooltip=["grade_a", "grade_b", "pairs", "share_of_a"],
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "share_of_a:Q", title="share of the row", scale=alt.Scale(scheme="blues", domain=[0, 1])
        )
    )
    text = base.mark_text().encode(
        text="pairs:Q",
        color=alt.condition("datum.share_of_a > 0.6", alt.value("white"), alt.value("black")),
    )
    return captioned(
        alt.layer(cells, text), f"{judge_a} against {judge_b}",
        "Documents that both judged, by grade. Rows are shaded by their shares: how the second "
        "judge grades what the first gave that grade.", 60,
    )  # fmt: skip
