"""Which of two systems is preferred, for all pairs and kinds of preferences?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..charts.captions import captioned
from ..charts.forms import MOST, ROW, alt, inline_rows
from ..evaluation.preferences import preference_cubes
from ..scoring.preferences import KINDS, named_pairs
from ..statistics.tests import compare_differences
from .registry import DIAZ, Floats, JudgedRuns, Queries, analysis

_COLUMNS = (
    "preference", "a", "b", "mean", "ci_low", "ci_high", "effect", "wins", "losses", "test", "p",
    "p_corrected", "family", "dropped", "significant",
)  # fmt: skip


@analysis("system-preferences", DIAZ, "section 5", group_by="preference")
def system_preferences(
    judged: JudgedRuns,
    queries: Queries,
    preferences: Sequence[str] = ("rrLP", "sgnLP", "lexirecall", "RPP"),
    *,
    rel: float = 1,
    cutoff: int | None = None,
    correction: str | None = "auto",
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Which of every two systems is preferred?

    The mean preference of every pair of systems, exact, with a test: the t-test for pairs for rrLP,
    RPP and differences of reciprocal rank, the sign test for sgnLP and lexirecall, which are signs;
    with weights, which that test cannot take, the t-test.

    Args:
        preferences: some of rrLP, sgnLP, lexirecall, RPP, RR.
        correction: over all pairs of one kind; ``'auto'`` is Holm's.
        alpha: the level of significance.

    Returns:
        A row for each kind and pair, with ``preference``, ``a``, ``b``, ``mean`` (positive prefers
        a) with ``ci_low`` and ``ci_high``, ``effect`` (see :mod:`pyterrier_asl.statistics.tests`),
        ``wins`` and ``losses`` of a in queries, ``test``, ``p``, ``p_corrected``, ``family``,
        ``dropped`` (pairs without any difference) and ``significant``.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Eq. 2 and 3; lexirecall: Diaz and Mitra,
    2023; RPP: Diaz and Ferraro, 2022.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> found = system_preferences(runs, {"q": {"d": 1, "e": 1}})
    >>> found[["preference", "a", "b", "mean", "wins", "losses"]].round(4)
       preference  a  b    mean  wins  losses
    0        rrLP  a  b -0.1667     0       1
    1       sgnLP  a  b -1.0000     0       1
    2  lexirecall  a  b -1.0000     0       1
    3         RPP  a  b -0.5000     0       1
    """
    tables = []
    for kind, cube in judged.once(preference_cubes, tuple(preferences), rel, cutoff).items():
        found, values = compare_preferences(
            kind, cube, judged.names, queries, correction=correction, alpha=alpha
        )
        wins, losses = (np.sum(preferred, axis=1) for preferred in (values > 0, values < 0))
        how = {name: found.attrs[name] for name in ("test", "family", "dropped")}
        found = found.rename(columns={"difference": "mean"})
        tables.append(found.assign(preference=kind, wins=wins, losses=losses, **how))
    return pd.concat(tables, ignore_index=True)[list(_COLUMNS)]


def compare_preferences(
    kind: str, cube: Floats, names: list[str], queries: Queries, **options: Any
) -> tuple[pd.DataFrame, Floats]:
    """Tests the mean preference of every pair of systems.

    Args:
        kind: one of :data:`~pyterrier_asl.evaluation.pairs.KINDS`; signs get the sign test, unless
            queries have weights, and the others the t-test for pairs.
        cube: the preferences, shape (Q, S, S).
        names: the systems, S of them.
        queries: which of the Q queries, and how much each counts.
        **options: as of :func:`~pyterrier_asl.statistics.tests.compare_differences`.

    Returns:
        What that function says, and the preferences of each pair for each of the queries.
    """
    first, second = np.triu_indices(len(names), k=1)
    values = cube[queries.at][:, first, second].T
    test = "sign" if KINDS[kind] and queries.weights is None else "t"
    found = compare_differences(
        values, named_pairs(names), test=test, weights=queries.weights, **options
    )
    return found, values


@system_preferences.chart
def system_preferences_chart(frame: pd.DataFrame) -> Any:
    """The mean preference of every two systems, as a matrix for each kind."""
    first = frame[frame["preference"] == frame["preference"].iloc[0]] if len(frame) else frame
    gains = first.set_index("a")["mean"], -first.set_index("b")["mean"]
    order = pd.concat(gains).groupby(level=0).mean().sort_values(ascending=False).index.tolist()
    panels = [
        _panel(f"{kind}, test: {test}", part, order)
        for (kind, test), part in frame.groupby(["preference", "test"], sort=False)
    ]
    caption = (
        "The mean preference for the row's system over the column's: blue prefers the row, orange "
        f"the column; {'a dot marks' if len(order) <= MOST else 'gray hides'} what is "
        f"{'' if len(order) <= MOST else 'not '}significant after correction. Systems stand in the "
        "order of the first kind."
    )
    drawn = alt.concat(*panels, columns=2).resolve_scale(color="independent")
    return captioned(drawn, "Which of two systems is preferred", caption)


def _panel(title: str, frame: pd.DataFrame, order: list[str]) -> Any:
    """One kind of preference: two systems have one row, and the other is its mirror image."""
    told = frame[["a", "b", "mean", "wins", "losses", "p_corrected", "significant"]].round(4)
    most = max(float(told["mean"].abs().max()), 1e-9)
    side = max(160, ROW * len(order))
    axis = {"sort": order, "title": None}
    every = {"labelOverlap": "parity", "labelFontSize": 9, "labelLimit": 120}
    base = (
        alt.Chart(inline_rows(told), title=title, width=side, height=side)
        .transform_calculate(turned="[false, true]")
        .transform_flatten(["turned"])
        .transform_calculate(
            row="datum.turned ? datum.b : datum.a",
            column="datum.turned ? datum.a : datum.b",
            preference="datum.turned ? -datum.mean : datum.mean",
            won="datum.turned ? datum.losses : datum.wins",
            lost="datum.turned ? datum.wins : datum.losses",
        )
        .encode(
            x=alt.X("column:N", axis=alt.Axis(labelAngle=-90, **every), **axis),
            y=alt.Y("row:N", axis=alt.Axis(**every), **axis),
        )
    )
    scale = alt.Scale(scheme="blueorange", reverse=True, domain=[-most, most])
    color = alt.Color("preference:Q", title="mean", scale=scale, legend=alt.Legend(orient="bottom"))
    few = len(order) <= MOST  # a dot would cover the cells of many
    shade = base.mark_rect().encode(
        color=color if few else alt.condition("datum.significant", color, alt.value("#eee")),
        tooltip=["row:N", "column:N", alt.Tooltip("preference:Q", format=".4f"), "won:Q", "lost:Q",
                 alt.Tooltip("p_corrected:Q", format=".4f")],
    )  # fmt: skip
    if not few:
        return shade
    dot = base.mark_circle(size=12, color="black").transform_filter("datum.significant")
    return alt.layer(shade, dot)
