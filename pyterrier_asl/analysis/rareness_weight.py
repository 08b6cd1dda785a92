"""How does the ranking of systems change with the weight of rareness?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ..charts.captions import captioned
from ..charts.forms import CAPTION, HEIGHT, WIDTH, alt, category, labelled_lines
from ..evaluation.rareness_values import rareness_parts
from ..measures import AP_Rareness, P_Rareness
from ..statistics.correlation import kendall_tau, tau_ap
from .double_scores import by_double_scores
from .ranks import rounded
from .registry import TURKMEN, JudgedRuns, Queries, analysis

#: 0, 0.1, ..., 1.
ALPHAS: tuple[float, ...] = tuple(i / 10 for i in range(11))

_TITLES = {"tau": "Kendall's τ", "tau_AP": "τ AP"}


@analysis("alpha", TURKMEN, "Figure 2", group_by="measure")
def agreement_by_alpha(
    judged: JudgedRuns,
    queries: Queries,
    measures: Sequence[Any] | None = None,
    *,
    rel: float | None = None,
    alphas: Sequence[float] = ALPHAS,
    as_published: bool = False,
) -> pd.DataFrame:
    """How does the ranking of systems depend on the weight of rareness?

    Agreement of the ranking of systems with the one at alpha 0, that of P or AP (Figure 2).
    The runs are the pool.

    Args:
        measures: rareness measures without a pool, or their names; their own alpha does not
            matter. None: ``P_Rareness@100`` and ``AP_Rareness@100``.
        rel: minimum grade of a relevant document, for measures that do not say it themselves.
        alphas: weights of rareness.
        as_published: on rankings by 64-bit scores.

    Returns:
        A row for each measure and alpha, with ``measure``, ``alpha``, ``tau`` (Kendall's tau-b) and
        ``tau_AP``, with the ranking at alpha 0 as the true one.

    Source: Türkmen, Lease and Kutlu, 2023, Figure 2.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 2, "x": 1}}}
    >>> agreement_by_alpha(runs, {"q": {"d": 1, "e": 1}}, ["P_Rareness@2"], alphas=[0, 1])
            measure  alpha  tau  tau_AP
    0  P_Rareness@2    0.0  1.0     1.0
    1  P_Rareness@2    1.0  1.0     1.0
    """
    judged = judged.once(by_double_scores) if as_published else judged
    measures = [P_Rareness @ 100, AP_Rareness @ 100] if measures is None else measures
    rows = []
    for name, parts in rareness_parts(judged, measures, rel).items():
        plain, *means = (
            rounded(queries.mean(replace(parts, alpha=alpha).of_pool()))
            for alpha in (0.0, *alphas)
        )
        for alpha, mean in zip(alphas, means):
            rows.append((name, float(alpha), kendall_tau(mean, plain), tau_ap(mean, plain)))
    return pd.DataFrame(rows, columns=["measure", "alpha", "tau", "tau_AP"])


@agreement_by_alpha.chart
def alpha_chart(frame: pd.DataFrame, coefficient: str | None = None) -> Any:
    """Agreement with the ranking without rareness, by its weight.

    Args:
        frame: the table; of several collections with a column ``collection``.
        coefficient: ``'tau'`` or ``'tau_AP'``; None: both.
    """
    if coefficient not in (None, *_TITLES):
        raise ValueError(f"coefficient is {coefficient!r}, but it is 'tau' or 'tau_AP'")
    several = [frame["measure"], frame["collection"]] if "collection" in frame else []
    named = frame.assign(line=several[0] + ", " + several[1] if several else frame["measure"])
    panels = []
    for column in _TITLES if coefficient is None else [coefficient]:
        lines = labelled_lines(
            named,
            x=alt.X("alpha:Q", title="α"),
            y=alt.Y(f"{column}:Q", title=_TITLES[column], scale=alt.Scale(zero=False)),
            color=category("line"),
            tooltip=["line", "alpha", alt.Tooltip(column, format=".3f")],
            point=True,
        )
        panels.append(lines.properties(width=WIDTH * 2 / 3, height=HEIGHT))
    caption = "Agreement with the ranking at α = 0, that of plain precision or average precision."
    title = "The ranking of systems by the weight of rareness"
    return captioned(alt.hconcat(*panels), title, caption, CAPTION)
