"""A comparison as a chart and in LaTeX, from its differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..charts.drawing import (
    alt,
    captioned,
    in_rows,
    inline_rows,
    ranges,
    tooltips,
    undrawn,
)
from ..common.notices import counted
from ..common.parameters import check_name
from ..printing import tables
from .differences import PREFERENCES, RunDifference
from .sentences import how_tested

#: The kinds of charts.
KINDS = ("means", "queries")


def chart(differences: Sequence[RunDifference], baseline: str, kind: str | None = None) -> Any:
    """The difference of each run from the baseline by each measure.

    Args:
        differences: of all runs and measures.
        baseline: the name of the baseline.
        kind: one of :data:`KINDS`; None: ``'means'``.
    """
    check_name("kind", kind, [None, *KINDS])
    title = f"difference from {baseline}"
    first, by_query = differences[0], kind == "queries"
    ways = {of_run.name: tables.arrow(of_run.higher_is_better) for of_run in differences}
    if by_query:
        rows = pd.concat([of_run.by_query() for of_run in differences], ignore_index=True)
        rows["order"] = rows.groupby(["run", "measure"]).cumcount()
        layers: Any = (
            alt.Chart()
            .mark_bar()
            .encode(
                x=alt.X("order:O", title="queries, the largest loss first", axis=None),
                y=alt.Y("difference:Q", title=title),
                tooltip=tooltips("run:N", "qid:N", "measure:N", "a:Q", "b:Q", "difference:Q"),
            )
        )
    else:
        rows = pd.DataFrame([of_run.row() for of_run in differences])
        base = alt.Chart().encode(
            y=alt.Y("run:N", sort=list(dict.fromkeys(rows["run"])), title=None),
            tooltip=tooltips("run:N", "measure:N", "a:Q", "b:Q", "difference:Q", "p_corrected:Q"),
        )
        zero = alt.Chart().mark_rule(color="gray").encode(x=alt.datum(0))
        layers = alt.layer(zero, ranges(base, "ci_low", "difference", "ci_high", title))
    rows["panel"] = [
        f"{run}, " * by_query + f"{name} {ways[name]}".rstrip()
        for run, name in zip(rows["run"], rows["measure"])
    ]
    layers.data = inline_rows(rows)
    panels = in_rows(layers, "panel", rows["panel"])
    level = f", with {100 * (1 - first.options.alpha):g} % intervals" * (not by_query)
    what = "Values" if by_query else "Means"
    caption = f"{what} over {counted(len(first.qids), 'query', 'queries')}{level}."
    panels = panels.resolve_scale(**{"y" if by_query else "x": "independent"})
    return captioned(panels, f"Runs compared with {baseline}", caption)


def groups_chart(groups: pd.DataFrame, baseline: str) -> Any:
    """The difference of each run from the baseline in each group of queries.

    Args:
        groups: see :attr:`~pyterrier_asl.RunComparison.groups`.
        baseline: the name of the baseline.
    """
    if groups.empty:
        raise ValueError("there are no groups of queries: give groups")
    rows = groups.assign(panel=groups["run"] + ", " + groups["measure"])
    base = alt.Chart().encode(
        y=alt.Y("group:N", sort=list(dict.fromkeys(rows["group"])), title=None),
        tooltip=tooltips("group:N", "queries:Q", "difference:Q", "shrunken:Q", "p:Q"),
    )
    layers: Any = alt.layer(
        alt.Chart().mark_rule(color="gray").encode(x=alt.datum(0)),
        ranges(base, "difference", "shrunken", "shrunken", f"difference from {baseline}"),
    )
    layers.data = inline_rows(rows)
    return captioned(
        in_rows(layers, "panel", rows["panel"]).resolve_scale(x="independent"),
        f"Runs compared with {baseline} in groups of queries",
        "Lines go from the mean difference in a group to its shrunken estimate (mark)."
        + undrawn(rows["shrunken"]),
    )


def latex(differences: Sequence[RunDifference], baseline: str, places: int) -> str:
    """A ``table`` with a caption and booktabs' rules: one row per run, the baseline first."""
    own = [of_run for of_run in differences if of_run.name not in PREFERENCES]
    if not own:
        raise ValueError("a LaTeX table has no rrLP and sgnLP: name a measure of each run")
    measures: dict[str, tables.MarkedMeans] = {}
    for of_run in own:
        up = of_run.higher_is_better
        means = measures.setdefault(of_run.name, tables.MarkedMeans([of_run.mean_a], up, [0]))
        means.values.append(of_run.mean_b)
        means.signs.append(
            (1 if (of_run.mean > 0) == up else -1) * (of_run.is_significant and up is not None)
        )
    caption = (
        f"Means over {counted(len(own[0].qids), 'query', 'queries')}; {tables.SIGNS} "
        f"({how_tested(own)}, $p \\leq {own[0].options.alpha:g}$)."
    )
    names = [baseline, *dict.fromkeys(of_run.run for of_run in differences)]
    return tables.latex_of_means(names, measures, caption, places)
