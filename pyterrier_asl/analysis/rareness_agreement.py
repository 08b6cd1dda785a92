"""Does the ranking by rareness depend on the weight of rareness, and on the number of systems?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..charts import HEIGHT, PANEL, alt, captioned, category, figure, tooltips, undrawn, up_to_1
from ..common.lazy import pd
from ..common.notices import counted
from ..common.parameters import check_whole
from ..common.types import Floats, Ints
from ..evaluation.evaluation import Runs
from ..evaluation.sources import QrelsLike
from ..scoring.rareness import gains
from ..statistics.agreement import kendall_tau, kendall_taus, tau_ap
from ..statistics.rounding import rounded, shared_ranks
from ..statistics.settings import CHUNK, check_draws
from .inputs import read
from .rareness_pools import pools_by_measure
from .registry import TURKMEN, analysis

#: 0, 0.1, ..., 1.
ALPHAS: tuple[float, ...] = tuple(i / 10 for i in range(11))

_TITLES = {"tau": "Kendall's τ", "tau_AP": "τ AP"}


@analysis(TURKMEN, "Figure 2", group_by="measure")
def agreement_by_alpha(
    runs: Runs,
    qrels: QrelsLike | None = None,
    measures: Sequence[Any] | None = None,
    *,
    rel: float | None = None,
    alphas: Sequence[float] = ALPHAS,
    as_published: bool = False,
) -> pd.DataFrame:
    """How does the ranking of systems depend on the weight of rareness?

    Agreement of the ranking of systems with the ranking by P or AP, which has alpha 0 (Figure 2).
    The runs are the pool.

    Args:
        measures: rareness measures without a pool, or their names; their alpha is not used. None:
            ``P_Rareness@100`` and ``AP_Rareness@100``.
        rel: minimum grade of a relevant document, for measures without one.
        alphas: weights of rareness.
        as_published: use rankings by 64-bit scores.

    Returns:
        A row for each measure and alpha, with ``measure``, ``alpha``, ``tau`` (Kendall's tau-b) and
        ``tau_AP``, with the ranking at alpha 0 as the true ranking. Equal rankings, ties included,
        have 1 in both; NaN where all systems tie.

    Raises:
        ValueError: for fewer than two runs.

    Source: Türkmen, Lease and Kutlu, 2023, Figure 2.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 2, "x": 1}}}
    >>> agreement_by_alpha(runs, {"q": {"d": 1, "e": 1}}, ["P_Rareness@2"], alphas=[0, 1])
            measure  alpha  tau  tau_AP
    0  P_Rareness@2    0.0  1.0     1.0
    1  P_Rareness@2    1.0  1.0     1.0
    """
    judged, _ = read(runs, qrels, rel, measures, double_scores=as_published)
    if len(judged) < 2:
        raise ValueError(f"a ranking needs two systems or more, but there is only {judged.names}")
    measures = ["P_Rareness@100", "AP_Rareness@100"] if measures is None else measures

    rows = []
    for name, pools in pools_by_measure(judged, measures, rel).items():
        plain, *means = (
            rounded(judged.values(pools.measure(alpha=alpha)).mean(axis=-1))
            for alpha in (0.0, *alphas)
        )
        rows += [
            (name, float(alpha), *_agreement(mean, plain)) for alpha, mean in zip(alphas, means)
        ]
    return pd.DataFrame(rows, columns=["measure", "alpha", "tau", "tau_AP"])


def _agreement(estimate: Floats, reference: Floats) -> tuple[float, float]:
    """tau and tau_AP of two rankings of systems.

    The expected tau_AP over random orders of tied systems is below 1 even for equal rankings; here
    equal rankings, ties included, have 1.
    """
    if np.array_equal(shared_ranks(estimate), shared_ranks(reference)):
        same = 1.0 if np.ptp(reference) > 0 else float("nan")
        return same, same
    return kendall_tau(estimate, reference), tau_ap(estimate, reference)


@agreement_by_alpha.chart
def alpha_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """Agreement with the ranking without rareness, by its weight, also of several collections."""
    line = frame["measure"] + (", " + frame["collection"] if "collection" in frame else "")
    scale = up_to_1(frame[list(_TITLES)].to_numpy(dtype=np.float64).ravel())
    panels = [
        alt.Chart(frame.assign(line=line), width=PANEL, height=HEIGHT)
        .mark_line(point=True)
        .encode(
            x=alt.X("alpha:Q", title="α"),
            y=alt.Y(f"{column}:Q", title=title, scale=scale),
            color=category("line"),
            tooltip=tooltips("line", "alpha", alt.Tooltip(column, format=".3f")),
        )
        for column, title in _TITLES.items()
    ]
    return captioned(
        alt.hconcat(*panels),
        "The ranking of systems by the weight of rareness",
        "Agreement with the ranking at α = 0, by the measure without rareness"
        f"{'; 1: the same ranking' * bool(frame['tau'].notna().any())}." + undrawn(frame["tau"]),
    )


@analysis(TURKMEN, "Table 3", group_by="measure")
def agreement_by_number_of_systems(
    runs: Runs,
    qrels: QrelsLike | None = None,
    measures: Sequence[Any] | None = None,
    *,
    rel: float | None = None,
    sizes: Sequence[int] = (2, 4, 8, 16, 32, 64),
    draws: int = 1000,
    seed: int = 0,
    as_published: bool = False,
) -> pd.DataFrame:
    """How far does rareness among few systems agree with rareness among all?

    Kendall's tau between the ranking of N sampled systems and their ranking among all (Table 3).

    Algorithm 1: N systems are drawn, S_d and S are counted over these systems, and their ranking is
    compared with the ranking of the same systems when all systems are counted. The order of two
    systems is either equal or reversed: tau of N = 2 has a large variance over draws.

    Args:
        measures: rareness measures without a pool, or their names; None: ``P_Rareness@100`` and
            ``AP_Rareness@100`` with alpha 1, as in the paper.
        rel: minimum grade of a relevant document, for measures without one.
        sizes: numbers N of systems; numbers above the number of runs are left out.
        draws: the number of draws for each.
        as_published: use rankings by 64-bit scores.

    Returns:
        A row for each measure and N, with ``measure``, ``systems``, ``tau`` (tau-b, mean over
        draws), ``standard_error`` of this mean, ``draws``, and ``undefined``, the number of draws
        in which all systems are tied, which are left out.

    Raises:
        ValueError: if all of ``sizes`` are above the number of runs.

    Source: Türkmen, Lease and Kutlu, 2023, Algorithm 1 and Table 3.
    """
    judged, _ = read(runs, qrels, rel, measures, double_scores=as_published)
    check_draws(draws, seed)
    for size in sizes:
        check_whole("a number of systems", size, 2)
    drawable = [size for size in sizes if size <= len(judged)]
    if not drawable:
        raise ValueError(
            f"none of the numbers of systems {[*sizes]} can be drawn from "
            f"{counted(len(judged), 'run')}: give more runs, or smaller sizes (--sizes)"
        )
    if measures is None:
        measures = ["P_Rareness(alpha=1)@100", "AP_Rareness(alpha=1)@100"]

    systems = np.tile(np.arange(len(judged)), (draws, 1))
    rows = []
    for name, pools in pools_by_measure(judged, measures, rel).items():
        parts = pools.mean_parts()
        for size in drawable:
            drawn = np.random.default_rng(seed + size).permuted(systems, axis=1)[:, :size]
            tau = pd.Series(_taus(pools.measure, *parts, drawn))
            rows.append((name, size, tau.mean(), tau.sem(), draws, int(tau.isna().sum())))
    return pd.DataFrame(
        rows, columns=["measure", "systems", "tau", "standard_error", "draws", "undefined"]
    )


@agreement_by_number_of_systems.chart
def number_of_systems_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """tau of sampled systems with their ranking among all, with its standard error."""
    low, high = (frame["tau"] + side * frame["standard_error"] for side in (-1, 1))
    sizes = alt.Axis(values=sorted(set(frame["systems"].tolist())), format="d")
    base = alt.Chart(frame.assign(low=low, high=high)).encode(
        x=alt.X("systems:Q", title="systems N", scale=alt.Scale(type="log", base=2), axis=sizes),
        color=category("measure"),
    )
    return figure(
        alt.layer(
            base.mark_rule().encode(y=alt.Y("low:Q", title="Kendall's τ"), y2=alt.Y2("high:Q")),
            base.mark_line(point=True).encode(
                y=alt.Y("tau:Q", title="Kendall's τ", scale=alt.Scale(zero=False)),
                tooltip=tooltips("measure", "systems", alt.Tooltip("tau", format=".4f")),
            ),
        ),
        "Rareness among a few systems",
        "Agreement of the ranking of sampled systems with their ranking among all systems, with "
        "its standard error." + undrawn(frame["tau"]),
    )


def _taus(measure: Any, base: Floats, shared: Floats, drawn: Ints) -> Floats:
    """tau of each draw; ``base`` and ``shared`` are those of ``Pools.mean_parts``."""
    size = drawn.shape[1]
    a, b = _gain_line(measure, len(base))
    among_all = a * base - b * shared.sum(axis=1)
    a, b = _gain_line(measure, size)
    taus = []
    for some in np.array_split(drawn, 1 + len(drawn) * size**2 // CHUNK):
        among_some = a * base[some] - b * shared[some[:, :, None], some[:, None, :]].sum(axis=2)
        taus.append(kendall_taus(rounded(among_some), rounded(among_all[some])))
    return np.concatenate(taus)


def _gain_line(measure: Any, systems: int) -> tuple[float, float]:
    """a and b of the gain a - b S_d of a document that S_d of two systems or more find."""
    first, second = gains(
        np.array([1, 2]),
        np.full(2, systems),
        np.arange(3),
        alpha=measure["alpha"],
        normalized=measure["normalized"],
    ).tolist()
    return 2 * first - second, first - second
