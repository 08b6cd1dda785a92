"""Which of two systems is preferred, how do preferences rank all systems, and are there cycles?"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy  # its submodules load when first used

from ..charts import (
    COLORS,
    CROWDED,
    FEW_COLUMNS,
    MOST,
    POINT,
    WIDE_CAPTION,
    alt,
    around,
    better,
    captioned,
    category,
    figure,
    first_of,
    inline_rows,
    shape,
    square,
    tooltips,
    whole_numbers,
)
from ..common.lazy import pd
from ..common.types import Bools, Floats, Ints
from ..evaluation.evaluation import Runs
from ..evaluation.preferences import preference_cubes
from ..evaluation.sources import QrelsLike
from ..scoring.preferences import KINDS
from ..statistics.pairwise import cycle_numbers
from ..statistics.rounding import EQUAL, shared_ranks
from ..statistics.tests import compare_differences
from .inputs import read
from .registry import BETTER, DIAZ, analysis
from .tables import described

_COLUMNS = (
    "preference",
    "a",
    "b",
    "mean",
    "ci_low",
    "ci_high",
    "effect",
    "wins",
    "losses",
    "test",
    "p",
    "p_corrected",
    "family",
    "dropped",
    "significant",
)


@analysis(DIAZ, "section 5", question=BETTER, group_by="preference")
def system_preferences(
    runs: Runs,
    qrels: QrelsLike | None = None,
    preferences: Sequence[str] = ("rrLP", "sgnLP"),
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    correction: str = "auto",
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Which of every two systems is preferred?

    The mean preference of every pair of systems, exact, with a test: the t-test for pairs for rrLP,
    RPP and differences of reciprocal rank, the sign test for sgnLP and lexirecall, which are signs.

    Args:
        preferences: some of rrLP, sgnLP, lexirecall, RPP, RR.
        correction: over all pairs; ``'auto'`` is Holm's.

    Returns:
        A row for each kind and pair, with ``preference``, ``a``, ``b``, ``mean`` (positive prefers
        a) with ``ci_low`` and ``ci_high``, ``effect`` (see :mod:`pyterrier_asl.statistics.tests`),
        ``wins`` and ``losses`` of a in queries, ``test``, ``p``, ``p_corrected``, ``family``,
        ``dropped`` (pairs without any difference) and ``significant``.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Eq. 2 and 3; lexirecall: Diaz and Mitra,
    2023; RPP: Diaz and Ferraro, 2022.

    >>> runs = {"a": {"q": {"d": 3, "x": 2, "e": 1}}, "b": {"q": {"d": 3, "e": 2}}}
    >>> preferences = system_preferences(runs, {"q": {"d": 1, "e": 1}})
    >>> preferences[["preference", "a", "b", "mean", "wins", "losses"]].round(4)
      preference  a  b    mean  wins  losses
    0       rrLP  a  b -0.1667     0       1
    1      sgnLP  a  b -1.0000     0       1
    """
    judged, rel = read(runs, qrels, rel)

    tables = [
        tested.assign(
            preference=kind,
            mean=tested["difference"],
            wins=np.sum(values > 0, axis=1),
            losses=np.sum(values < 0, axis=1),
            **{name: tested.attrs[name] for name in ("test", "family", "dropped")},
        )
        for kind, cube in judged.once(preference_cubes, tuple(preferences), rel, cutoff).items()
        for tested, values in [
            compare_preferences(kind, cube, judged.names, correction=correction, alpha=alpha)
        ]
    ]
    frame = pd.concat(tables, ignore_index=True)[list(_COLUMNS)]
    return described(frame, correction=tables[0].attrs["correction"], alpha=alpha)


def compare_preferences(
    kind: str, cube: Floats, names: list[str], **options: Any
) -> tuple[pd.DataFrame, Floats]:
    """Tests the mean preference of every pair of systems.

    Args:
        kind: one of :data:`~pyterrier_asl.scoring.preferences.KINDS`; signs get the sign test, and
            the others the t-test for pairs.
        cube: the preferences, shape (Q, S, S).
        names: the systems, S of them.

        **options: options of :func:`~pyterrier_asl.statistics.tests.compare_differences`.

    Returns:
        The table of that function, and the preferences of each pair for each of the queries.
    """
    first, second = np.triu_indices(len(names), k=1)
    values, test = cube[:, first, second].T, "sign" if KINDS[kind] else "t"
    return compare_differences(values, [*combinations(names, 2)], test=test, **options), values


@system_preferences.chart
def system_preferences_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The mean preference of every two systems, as a matrix for each kind."""
    first = frame[frame["preference"] == frame["preference"].iloc[0]] if len(frame) else frame
    gains = first.set_index("a")["mean"], -first.set_index("b")["mean"]
    order = pd.concat(gains).groupby(level=0).mean().sort_values(ascending=False).index.tolist()
    panels = [
        _panel(str(kind), str(test), part, order)
        for (kind, test), part in frame.groupby(["preference", "test"], sort=False)
    ]
    significant = "with a dot" if len(order) <= MOST else "with a colour other than gray"
    return captioned(
        alt.concat(*panels, columns=2),
        "Which of two systems is preferred",
        "The mean preference for the row's system over the column's, as a share of the largest "
        f"one of the panel. Significant after correction: cells {significant}. Systems are in the "
        f"order of {', '.join(frame['preference'].head(1)) or 'the caller'}"
        f"{', columns in the order of rows' if len(order) > FEW_COLUMNS else ''}.",
        WIDE_CAPTION,
    )


#: What each kind of preference is, for the titles of panels.
_MEANINGS = {
    "rrLP": "difference of 1/rank at the first relevant documents that differ",
    "sgnLP": "queries won less queries lost at the first difference",
    "lexirecall": "queries won less lost at the last relevant documents that differ",
    "RPP": "relevant documents ranked higher less lower, per query",
    "RR": "difference of reciprocal ranks",
}


def _panel(kind: str, test: str, frame: pd.DataFrame, order: list[str]) -> alt.TopLevelMixin:
    """One kind of preference: two systems have one row, and the other is its mirror image."""
    rounded = frame[["a", "b", "mean", "wins", "losses", "p_corrected", "significant"]].round(4)
    most = max(float(rounded["mean"].abs().max()), 1e-9)
    legend = [*textwrap.wrap(_MEANINGS[kind], 36), f"largest: {most:.2g}; {test} test"]
    base = square(
        alt.Chart(inline_rows(rounded.assign(part=rounded["mean"] / most)))
        .properties(title=alt.TitleParams(kind, subtitle=legend, anchor="start"))
        .transform_calculate(swapped="[false, true]")
        .transform_flatten(["swapped"])
        .transform_calculate(
            row="datum.swapped ? datum.b : datum.a",
            column="datum.swapped ? datum.a : datum.b",
            preference="datum.swapped ? -datum.mean : datum.mean",
            share="datum.swapped ? -datum.part : datum.part",
            won="datum.swapped ? datum.losses : datum.wins",
            lost="datum.swapped ? datum.wins : datum.losses",
        ),
        "row",
        "column",
        order,
    )
    color = alt.Color(
        "share:Q",
        title="row preferred (blue)",
        scale=alt.Scale(scheme="blueorange", reverse=True, domain=[-1, 1]),
        legend=alt.Legend(orient="bottom", format=".0%", values=[-1, 0, 1]),
    )
    few = len(order) <= MOST  # a dot would cover the cells of many
    shade = base.mark_rect().encode(
        color=color if few else alt.condition("datum.significant", color, alt.value("#eee")),
        tooltip=tooltips(
            "row:N",
            "column:N",
            alt.Tooltip("preference:Q", format=".4f"),
            "won:Q",
            "lost:Q",
            alt.Tooltip("p_corrected:Q", format=".4f"),
        ),
    )
    dot = base.mark_circle(size=12, color="black").transform_filter("datum.significant")
    return alt.layer(shade, dot) if few else shade


@analysis(DIAZ, "section 5")
def system_order(
    runs: Runs,
    qrels: QrelsLike | None = None,
    preference: str = "sgnLP",
    *,
    rel: float | None = None,
    cutoff: int | None = None,
) -> pd.DataFrame:
    """How do preferences rank the systems?

    By three ways to aggregate preferences:

    * ``mean``: the mean preference over all other systems and all queries.
    * ``borda``: in each query a system gets a point for each system it is preferred to and half a
      point for each tie; the mean over queries. With sgnLP it is the order of ``mean``.
    * ``mc4``: a random walk over the systems. At each step another system is drawn evenly, and the
      walk moves there if more queries prefer it. The systems where the walk stays in the long run
      come first; the walk is then repeated among the others, and so on, because it ends at a system
      that beats all others and does not order the rest.

    Systems that a method does not distinguish share a rank.

    Args:
        preference: rrLP, sgnLP, lexirecall, RPP or RR.

    Returns:
        A row for each system, by ``mc4_rank`` and ``mean``, with ``system``, ``mean`` and
        ``mean_rank``, ``borda`` and ``borda_rank``, ``mc4_round`` (from 1, the round in which the
        walk stays at the system), ``mc4`` (the share of the time) and ``mc4_rank``, and ``cycle``:
        the number, from 1, of the cycle of mean preferences that the system is in, 0 for none. See
        :func:`cycles`.

    Source: Borda (1781); MC4: Dwork, Kumar, Naor and Sivakumar, Rank Aggregation Methods for the
    Web, 2001; both for preferences between rankings: Diaz and Ferraro, 2022.

    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> def run(*ranks):
    ...     return {f"q{q}": {**{f"x{i}": 9 - i for i in range(r - 1)}, "a": 1}
    ...             for q, r in enumerate(ranks, 1)}
    >>> runs = {"A": run(1, 2, 3), "B": run(2, 3, 1), "C": run(3, 1, 2), "D": run(4, 4, 4)}
    >>> order = system_order(runs, qrels)
    >>> order[["system", "mean_rank", "borda", "mc4_round", "mc4_rank", "cycle"]]
      system  mean_rank  borda  mc4_round  mc4_rank  cycle
    0      A          1    2.0          1         1      1
    1      B          1    2.0          1         1      1
    2      C          1    2.0          1         1      1
    3      D          4    0.0          2         4      0
    """
    judged, rel = read(runs, qrels, rel)
    cube = judged.once(preference_cubes, (preference,), rel, cutoff)[preference]

    mean, signs = cube.mean(axis=0), np.sign(cube).mean(axis=0)
    by_mean = mean.sum(axis=1) / max(len(judged) - 1, 1)
    # A win is a point and a tie half a point, so the tie with itself is subtracted.
    points = (signs.sum(axis=1) + len(signs)) / 2 - 0.5
    rounds, stays = mc4(signs < -EQUAL)
    return pd.DataFrame(
        {
            "system": judged.names,
            "mean": by_mean,
            "mean_rank": shared_ranks(by_mean),
            "borda": points,
            "borda_rank": shared_ranks(points),
            "mc4_round": rounds,
            "mc4": stays,
            "mc4_rank": shared_ranks(stays - rounds),
            "cycle": cycle_numbers(mean > EQUAL),
        }
    ).sort_values(["mc4_rank", "mean_rank", "system"], ignore_index=True, kind="stable")


@system_order.chart
def system_order_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The systems' ranks by mean preference, Borda and MC4."""
    methods = {"mean_rank": "mean", "borda_rank": "Borda", "mc4_rank": "MC4"}
    shown, rest = first_of(frame, "systems, by MC4")
    long = shown.melt(["system", "cycle"], list(methods), "method", "rank").replace(
        {"method": methods}
    )
    in_cycles = int((frame["cycle"] > 0).sum())
    cyclic = (
        f"{in_cycles} of {len(frame)} systems are preferred to each other in a cycle, with which "
        "no ranking agrees."
        if in_cycles
        else "No systems are preferred to each other in a cycle."
    )
    return figure(
        alt.Chart(long).mark_point(**POINT | {"filled": False}),
        "The ranking of systems by preferences",
        "Ranks by three ways to aggregate preferences; systems that a method does not distinguish "
        f"share a rank. {cyclic}{rest}",
        rows=1 if len(frame) <= MOST // 2 else CROWDED,
        x=alt.X(
            "rank:Q",
            title=better("rank", "←"),
            axis=alt.Axis(values=whole_numbers(1, int(long["rank"].max()))),
            scale=alt.Scale(domain=around([1, *long["rank"]])),
        ),
        y=alt.Y("system:N", title=None, sort=None),
        color=category("method", domain=list(methods.values())).legend(orient="top"),
        shape=shape("method", domain=list(methods.values())),
        tooltip=tooltips("system", "method", "rank", "cycle"),
    )


@analysis(DIAZ, "section 5")
def cycles(
    runs: Runs,
    qrels: QrelsLike | None = None,
    preference: str = "sgnLP",
    *,
    rel: float | None = None,
    cutoff: int | None = None,
) -> pd.DataFrame:
    """Which systems are preferred to each other in a cycle?

    Mean preferences need not be transitive. Exceptions are differences of one value per system,
    such as RR. No order of the systems in a cycle agrees with all preferences.

    Args:
        preference: rrLP, sgnLP, lexirecall, RPP or RR.

    Returns:
        A row for each cycle of three, with ``a``, ``b``, ``c``, each preferred to the next and c
        to a, and ``weakest``, the smallest of the three mean preferences; largest first. Any cycle
        of more systems contains such a triple if all its pairs are decided.
    """
    judged, rel = read(runs, qrels, rel)
    cube = judged.once(preference_cubes, (preference,), rel, cutoff)[preference]

    mean, names = cube.mean(axis=0), np.array(judged.names, dtype=object)
    preferred = mean > EQUAL
    # b and c are after a in the list of systems, so that each cycle is found once.
    to_b, from_c = np.triu(preferred, 1)[:, :, None], np.triu(preferred.T, 1)[:, None]
    a, b, c = np.nonzero(to_b & preferred & from_c)
    weakest = np.min([mean[a, b], mean[b, c], mean[c, a]], axis=0)
    frame = pd.DataFrame({"a": names[a], "b": names[b], "c": names[c], "weakest": weakest})
    return described(
        frame.sort_values("weakest", ascending=False, ignore_index=True, kind="stable"),
        preference=preference,
    )


@cycles.chart
def cycles_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Cycles of three systems, by the weakest of the preferences."""
    shown, rest = first_of(frame, "cycles", MOST // 2)
    names = [f"{a} > {b} > {c}" for a, b, c in zip(shown["a"], shown["b"], shown["c"])]
    caption = (
        "Each of three systems is preferred to the next, and the last to the first; the bar is the "
        "weakest of the three mean preferences."
        if names
        else "No three systems are preferred to each other in a cycle."
    )
    return figure(
        alt.Chart(shown.assign(cycle=names)).mark_bar(color=COLORS[0]),
        "Systems preferred in a cycle",
        caption + rest,
        rows=1,
        x=alt.X("weakest:Q", title=f"weakest mean {frame.attrs.get('preference', 'preference')}"),
        y=alt.Y("cycle:N", title=None, sort=None, axis=alt.Axis(labelLimit=0)),
        tooltip=tooltips("a:N", "b:N", "c:N", alt.Tooltip("weakest:Q", format=".4f")),
    )


def mc4(majority: Bools) -> tuple[Ints, Floats]:
    """MC4, repeated until every system has a rank.

    Args:
        majority: whether most queries prefer the column's system to the row's, shape (S, S); False
            on the diagonal.

    Returns:
        The round, from 1, in which the walk stays at a system in the long run, when it starts
        anywhere among the systems of no earlier round, and the share of the time; shape (S,).

    >>> rounds, stays = mc4(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=bool))
    >>> rounds.tolist(), stays.tolist()
    ([1, 2, 3], [1.0, 1.0, 1.0])
    """
    rounds, stays = np.zeros(len(majority), dtype=np.int64), np.zeros(len(majority))
    left = np.arange(len(majority))
    while left.size:
        share = _long_run(majority[np.ix_(left, left)])
        stayed = share > 0
        rounds[left[stayed]] = rounds.max() + 1
        stays[left[stayed]] = share[stayed]
        left = left[~stayed]
    return rounds, stays


def _long_run(majority: Bools) -> Floats:
    """The long-run distribution of a walk that starts anywhere, exactly 0 where it never stays."""
    moves = majority / len(majority)
    np.fill_diagonal(moves, 1 - moves.sum(axis=1))
    # Squared often enough for 2^50 steps; the rows are kept distributions.
    for _ in range(50):
        moves = moves @ moves
        moves /= moves.sum(axis=1, keepdims=True)
    _, part = scipy.sparse.csgraph.connected_components(majority, connection="strong")
    leaves = np.zeros(part.max() + 1, dtype=bool)
    leaves[part[np.nonzero(majority & (part[:, None] != part))[0]]] = True
    return np.where(leaves[part], 0.0, moves.mean(axis=0))
