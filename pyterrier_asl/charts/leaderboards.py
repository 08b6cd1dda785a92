"""One leaderboard under several judges, and what the judges say of each other."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .captions import captioned
from .forms import CAPTION, COLORS, STEP, WIDTH, cells, first_of, places


def leaderboards(boards: pd.DataFrame) -> Any:
    """The place of every system under every judge.

    Args:
        boards: what :func:`~pyterrier_asl.analysis.leaderboards` returned, without
            slices.
    """
    shown = ["run", "judge", "rank", "rank_change", "value", "own_gain", "p_corrected"]
    drawn = places(boards, "judge", "rank_change", tooltip=shown)
    caption = (
        f"Places by {boards.attrs.get('measure', 'the measure')} under each judge, best at the "
        f"top; a line is a system, its colour how many places it moves at most from its place "
        f"under {boards.attrs.get('reference', boards['judge'].iloc[0])}."
    )
    return captioned(drawn, "One leaderboard, several judges", caption)


def judges_agreement(agreement: pd.DataFrame, value: str | None = None) -> Any:
    """How far every two judges agree, on the order of the systems or on the documents.

    Args:
        agreement: what :func:`~pyterrier_asl.analysis.leaderboard_agreement` or
            :func:`~pyterrier_asl.analysis.judge_agreement` returned.
        value: the column to show, such as ``tau``, ``tau_AP``, ``RBO`` or ``kappa``; None: ``tau``
            of orders, ``kappa`` of documents.
    """
    if value is None:
        value = "tau" if "tau" in agreement else "kappa"
    if value not in agreement.columns:
        raise ValueError(f"there is no column {value!r}; there are {list(agreement.columns)}")
    turned = agreement.rename(columns={"judge_a": "judge_b", "judge_b": "judge_a"})
    both = pd.concat([agreement, turned], ignore_index=True)
    judges = list(dict.fromkeys([*agreement["judge_a"], *agreement["judge_b"]]))
    base = alt.Chart(both, width=alt.Step(54), height=alt.Step(34)).encode(
        x=alt.X("judge_a:N", sort=judges, title=None, axis=alt.Axis(labelAngle=-35)),
        y=alt.Y("judge_b:N", sort=judges, title=None),
    )
    drawn = cells(
        base,
        alt.Color(f"{value}:Q", scale=alt.Scale(scheme="blues")),
        alt.Text(f"{value}:Q", format=".2f"),
        f"datum.{value} > {both[value].quantile(0.6) if both[value].notna().any() else 1}",
        ["judge_a", "judge_b", value],
    )
    return captioned(
        drawn, f"Agreement of judges: {value}",
        f"{value} of every two judges; 1 is complete agreement.", 60,
    )  # fmt: skip


def leaderboard_swaps(swaps: pd.DataFrame) -> Any:
    """The differences that a judge reverses, by each of two judges.

    Args:
        swaps: what :func:`~pyterrier_asl.analysis.leaderboard_swaps` returned.
    """
    shown, rest = first_of(swaps, "swaps")
    pairs = [f"{better} over {worse}" for better, worse in zip(shown["better"], shown["worse"])]
    between = [f"{a} against {b}" for a, b in zip(shown["judge_a"], shown["judge_b"])]
    base = alt.Chart(shown.assign(pair=pairs, judges=between)).encode(
        y=alt.Y("pair:N", title=None, sort=None, axis=alt.Axis(labelLimit=300)),
        tooltip=["judges:N", "better:N", "worse:N", "difference_a:Q", "difference_b:Q", "p_a:Q",
                 "p_b:Q"],
    )  # fmt: skip
    x = alt.X("difference_a:Q", title="difference of the two runs")
    layers = alt.layer(
        base.mark_rule(color="gray").encode(x=x, x2="difference_b:Q"),
        base.mark_point(filled=True, size=60, opacity=1, color=COLORS[0]).encode(x=x),
        base.mark_point(size=60, opacity=1, color=COLORS[4]).encode(x="difference_b:Q"),
    )
    drawn = layers.properties(width=WIDTH, height=alt.Step(STEP)).facet(
        row=alt.Row("judges:N", title=None, sort=None, header=alt.Header(labelOrient="top"))
    ).resolve_scale(y="independent")  # fmt: skip
    caption = (
        "Pairs of systems that are significantly different under one judge, and the other way "
        "round under the other: filled by the first judge, hollow by the second." if pairs else
        "There are none: no significant difference under one judge is reversed under another."
    )  # fmt: skip
    return captioned(drawn, "Swaps that matter", caption + rest, CAPTION)


def judge_confusion(
    confusion: pd.DataFrame, judge_a: str | None = None, judge_b: str | None = None
) -> Any:
    """The grades of two judges against each other.

    Args:
        confusion: what :func:`~pyterrier_asl.analysis.judge_confusion` returned.
        judge_a: one judge; None: every two judges.
        judge_b: another, in the order of the frame.
    """
    known = list(dict.fromkeys(zip(confusion["judge_a"], confusion["judge_b"])))
    wanted = known if judge_a is None and judge_b is None else [(judge_a, judge_b)]
    if wanted[0] not in known:
        raise ValueError(f"there is no pair {wanted[0]}; there are {sorted(known)}")
    panels = [_confused(confusion, *map(str, pair)) for pair in wanted]
    title = f"{wanted[0][0]} against {wanted[0][1]}" if len(wanted) == 1 else "Grades of judges"
    return captioned(
        panels[0] if len(panels) == 1 else alt.concat(*panels, columns=3), title,
        "Documents that both judged, by grade. Rows are shaded by their shares: how the second "
        "judge grades what the first gave that grade.", 60,
    )  # fmt: skip


def _confused(confusion: pd.DataFrame, judge_a: str, judge_b: str) -> Any:
    part = confusion[(confusion["judge_a"] == judge_a) & (confusion["judge_b"] == judge_b)]
    base = alt.Chart(part, width=alt.Step(64), height=alt.Step(40)).encode(
        x=alt.X("grade_b:O", title=f"grade by {judge_b}"),
        y=alt.Y("grade_a:O", title=f"grade by {judge_a}", sort="descending"),
    )
    shares = alt.Scale(scheme="blues", domain=[0, 1])
    return cells(
        base,
        alt.Color("share_of_a:Q", title="share of the row", scale=shares),
        alt.Text("pairs:Q"),
        "datum.share_of_a > 0.6",
        ["grade_a", "grade_b", "pairs", "share_of_a"],
    )
