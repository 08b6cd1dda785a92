"""The figures of a report as Vega-Lite specifications without data, which the page has once.

Every figure draws the rows of a data set called ``data``. The page replaces the domain
:data:`SYSTEMS` and the ranges :data:`SYSTEM_COLORS`, :data:`SIDES` and :data:`NEUTRAL` of scales by
the colours of its theme, so that light and dark share one specification.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import altair as alt

from ..charts.forms import DASHED, GAP, POINT, RADIUS, tooltips
from ..charts.scales import powers_of_ten, whole_numbers

#: Placeholders of the systems shown, their colours, the colours of A and B, and the colours of
#: elements that are not systems.
SYSTEMS, SYSTEM_COLORS, SIDES, NEUTRAL = ["systems"], ["colours"], ["sides"], ["neutral"]

#: The short name of a system for axes and legends, from the page.
_SHORT = "shortNames[datum.label]"

#: The order of A, B and elements of neither, in comparisons of two systems.
_SIDES = ["A", "B", "equal"]

#: The number of systems up to which an axis shows names; above it shows ranks.
_FEW = 12

#: Pixels between the outermost points and the edges of a figure.
_PADDING = 12

#: A measure's name on several lines, for a quarter of the width of a phone.
_LINES = "split(replace(replace(replace(datum.label, '@', '¶@'), '(', '¶('), '_', '_¶'), '¶')"


# Cached for reports of the same number of systems: it takes a fifth of the time of a small report.
@cache
def specifications(systems: int, cutoff: int | None = None) -> dict[str, dict[str, Any]]:
    """The Vega-Lite specification of every figure, by name.

    Args:
        systems: the number of systems.
        cutoff: k, the depth to which runs are read; None: no runs and no documents.
    """
    charts = {
        "differences": _bars_by_query(documents=cutoff is not None),
        "queries": _difficulty(documents=cutoff is not None),
        "strip": _strip(),
    }
    if cutoff is not None:
        charts |= {
            "lengths": _lengths(),
            "loss": _parts_of_asl(systems),
            "bump": _bump(systems),
            "ranks": _ranks_in_both(cutoff),
            "matrix": _pair_matrix(systems),
            "judged": _judged_shares(systems),
        }
    # The page sets colours and schema.
    removed = ("config", "$schema")
    return {
        name: {key: value for key, value in chart.to_dict().items() if key not in removed}
        for name, chart in charts.items()
    }


def _chart(height: int = 280) -> alt.Chart:
    return alt.Chart(alt.NamedData(name="data")).properties(width="container", height=height)


def _rank_axis(systems: int, title: str | None, **more: Any) -> alt.Axis:
    """An axis of ranks, with the first."""
    return alt.Axis(
        values=whole_numbers(1, systems), title=title, format="d", ticks=False, labelAngle=0, **more
    )


def _systems(systems: int, rank: str, name: str, title: str) -> dict[str, Any]:
    """An axis of systems, best first: names of few systems, ranks of many."""
    if systems > _FEW:
        return {"shorthand": f"{rank}:O", "axis": _rank_axis(systems, f"{title} at rank")}
    angle = -30 if systems > 3 else 0
    names = alt.Axis(labelAngle=angle, ticks=False, labelExpr=_SHORT)
    return {"shorthand": f"{name}:N", "sort": _order(rank), "axis": names, "title": None}


def _order(field: str) -> alt.EncodingSortField:
    return alt.EncodingSortField(field=field, op="min")


def _lengths() -> alt.TopLevelMixin:
    """Relevant documents of some systems by search length."""
    return (
        _chart()
        .mark_bar()
        .encode(
            x=alt.X(
                "class:N",
                sort=_order("at"),
                title="search length (documents)",
                axis=alt.Axis(labelAngle=-30, labelOverlap=False),
            ),
            xOffset=alt.XOffset("system:N", sort=_order("rank")),
            y=alt.Y(
                "share:Q",
                title="share of the relevant documents of {queries}",
                axis=alt.Axis(format="%"),
            ),
            color=alt.Color(
                "system:N",
                title=None,
                scale=alt.Scale(domain=SYSTEMS, range=SYSTEM_COLORS),
                legend=alt.Legend(orient="top", columns=2, labelExpr=_SHORT),
            ),
            tooltip=tooltips(
                "system:N",
                alt.Tooltip("class:N", title="search length"),
                "documents:Q",
                _share("share:Q"),
            ),
        )
    )


def _parts_of_asl(systems: int) -> alt.TopLevelMixin:
    """ASL of every system, in two parts."""
    parts = ["documents not retrieved", "retrieved documents"]
    spacing = {"binSpacing": 0, "strokeWidth": 0} if systems > _FEW else {}
    return (
        _chart()
        .mark_bar(**spacing)
        .encode(
            x=alt.X(**_systems(systems, "rank", "system", "system")),
            y=alt.Y(
                "asl:Q",
                title="ASL (documents), {queries}",
                stack="zero",
            ),
            color=alt.Color(
                "part:N",
                sort=parts,
                title=None,
                scale=alt.Scale(domain=parts, range=NEUTRAL),
                legend=alt.Legend(orient="top", columns=1),
            ),
            order=alt.Order("part:N", sort="descending"),
            tooltip=tooltips(
                "system:N",
                "rank:O",
                "part:N",
                alt.Tooltip("asl:Q", format=".1f"),
                _share("share:Q", title="share of ASL"),
            ),
        )
    )


def _bump(systems: int) -> alt.TopLevelMixin:
    """The rank of every system by several measures; the lines of short runs are dashed."""
    near = alt.selection_point(
        name="near", fields=["system"], on="pointerover", clear="pointerout", empty=False
    )
    base = _chart(height=max(200, min(480, 22 * systems))).encode(
        x=alt.X(
            "measure:N",
            sort=_order("at"),
            title=None,
            axis=alt.Axis(
                labelAngle=0,
                domain=False,
                ticks=False,
                labelPadding=10,
                labelOverlap=False,
                labelExpr=_LINES,
            ),
            scale=alt.Scale(padding=0.3),
        ),
        y=alt.Y(
            "rank:Q",
            axis=_rank_axis(systems, f"rank of {systems}", grid=False, domain=False),
            scale=alt.Scale(reverse=True, domain=[1, max(2, systems)]),
        ),
        detail=alt.Detail("system:N"),
        tooltip=tooltips(
            "system:N",
            "measure:N",
            "rank:Q",
            _exact("value:Q"),
            alt.Tooltip("retrieved:Q", format=",.0f", title="documents per query"),
        ),
    )
    dashes = alt.Scale(domain=[False, True], range=[[1, 0], DASHED])
    dashed = alt.StrokeDash("shallow:N", legend=None, scale=dashes)
    grey = base.mark_line().encode(
        strokeDash=dashed,
        opacity=alt.condition(near, alt.value(1.0), alt.value(0.22)),
        strokeWidth=alt.condition(near, alt.value(3), alt.value(1)),
    )
    marked = base.transform_filter("datum.marked")
    colour = alt.Color(
        "system:N", legend=None, scale=alt.Scale(domain=SYSTEMS, range=SYSTEM_COLORS)
    )
    label = marked.transform_filter("datum.last").mark_text(
        align="left", dx=RADIUS + GAP, fontWeight=600
    )
    return alt.layer(
        grey,
        base.mark_point(**POINT | {"opacity": 0}).add_params(near),
        marked.mark_line().encode(color=colour, strokeDash=dashed),
        marked.mark_point(**POINT).encode(color=colour),
        label.encode(text=alt.Text("short:N"), color=colour, y=alt.Y("label:Q")),
    ).properties(width="container", padding={"left": 5, "right": 120, "top": 5, "bottom": 5})


def _bars_by_query(*, documents: bool) -> alt.TopLevelMixin:
    """A against B, query by query."""
    return (
        _chart()
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X(
                "query:N",
                sort=_order("at"),
                title="queries, the largest gain of A first",
                axis=alt.Axis(labels=False, ticks=False),
            ),
            y=alt.Y(
                "difference:Q",
                title="{measure}: gain of A over B, {queries}",
            ),
            color=_side(),
            tooltip=[*_query(documents), _exact("a:Q"), _exact("b:Q")],
        )
    )


def _side(field: str = "better:N", legend: alt.Legend | None = None) -> alt.Color:
    """A and B in their colours."""
    scale = alt.Scale(domain=_SIDES, range=SIDES)
    return alt.Color(field, scale=scale, title=None, legend=legend)


def _query(documents: bool) -> list[str]:
    return ["query:N", "text:N", *(["relevant:Q"] if documents else [])]


def _exact(field: str) -> alt.Tooltip:
    return alt.Tooltip(field, format=".4~f")


def _share(field: str, **title: str) -> alt.Tooltip:
    return alt.Tooltip(field, format=".1%", **title)


def _ranks_in_both(cutoff: int) -> alt.TopLevelMixin:
    """The rank of each relevant document in A and B; dotted lines where short runs end."""
    ticks = [rank for rank in powers_of_ten(cutoff) if rank <= cutoff]
    scale = alt.Scale(type="log", domain=[0.8, 2 * cutoff], nice=False)
    axis = alt.Axis(values=ticks, format="~d", grid=False)
    points = (
        _chart()
        .mark_circle(opacity=0.45)
        .encode(
            x=alt.X("x:Q", title="rank in A", scale=scale, axis=axis),
            y=alt.Y("y:Q", title="rank in B", scale=scale, axis=axis),
            color=_side(legend=alt.Legend(orient="top")),
            tooltip=tooltips(
                "query:N",
                "document:N",
                alt.Tooltip("in_a:N", title="rank in A"),
                alt.Tooltip("in_b:N", title="rank in B"),
            ),
        )
    )
    edge = alt.Chart(alt.InlineData(values=[{"at": cutoff * 1.12}]))
    ends = alt.Chart(alt.NamedData(name="ends"))
    dashes = {"strokeDash": DASHED, "opacity": 0.5}
    dots = {"strokeDash": [1, 3], "opacity": 0.9}
    return alt.layer(
        edge.mark_rule(**dashes).encode(x=alt.X("at:Q")),
        edge.mark_rule(**dashes).encode(y=alt.Y("at:Q")),
        ends.transform_filter("datum.side == 'A'").mark_rule(**dots).encode(x=alt.X("depth:Q")),
        ends.transform_filter("datum.side == 'B'").mark_rule(**dots).encode(y=alt.Y("depth:Q")),
        points,
    ).properties(width="container")


def _pair_matrix(systems: int) -> alt.TopLevelMixin:
    """Every system against every other."""
    return (
        _chart()
        .mark_rect(cursor="pointer")
        .encode(
            x=alt.X(**_systems(systems, "column", "against", "against the system")),
            y=alt.Y(**_systems(systems, "row", "system", "system")),
            color=alt.Color(
                "sgnLP:Q",
                scale=alt.Scale(domain=[-1, 1], domainMid=0, interpolate="rgb"),
                title="wins less losses, {queries}",
                legend=alt.Legend(orient="top", format=".0%", gradientLength=180, tickCount=3),
            ),
            tooltip=tooltips(
                "system:N",
                "against:N",
                "wins:Q",
                "losses:Q",
                alt.Tooltip("rrLP:Q", format="+.4f", title="mean rrLP"),
            ),
        )
    )


def _difficulty(*, documents: bool) -> alt.TopLevelMixin:
    """Queries by difficulty and by the spread of the systems, sized by relevant documents."""
    relevant = alt.Size(
        "relevant:Q",
        title="relevant documents",
        legend=alt.Legend(orient="top", tickCount=3),
        scale=alt.Scale(range=[30, 320]),
    )
    size = (
        {"size": relevant, "order": alt.Order("relevant:Q", sort="descending")} if documents else {}
    )
    return (
        _chart()
        .mark_circle(opacity=0.75, cursor="pointer")
        .encode(
            x=alt.X(
                "median:Q",
                title="{measure}: median of the systems",
                scale=alt.Scale(zero=False, nice=False, padding=_PADDING),
            ),
            y=alt.Y(
                "spread:Q",
                title="{measure}: standard deviation",
                scale=alt.Scale(nice=False, padding=_PADDING),
            ),
            **size,
            color=alt.Color("chosen:N", scale=alt.Scale(domain=[False, True]), legend=None),
            tooltip=[*_query(documents), _exact("median:Q"), _exact("spread:Q")],
        )
    )


def _strip() -> alt.TopLevelMixin:
    """Every system on one query; A and B in their colours."""
    return (
        _chart(height=64)
        .mark_tick(thickness=2, size=34)
        .encode(
            x=alt.X(
                "value:Q",
                title="{measure}",
                scale=alt.Scale(zero=False, nice=False, padding=_PADDING),
            ),
            color=_side("side:N"),
            opacity=alt.condition("datum.side == 'equal'", alt.value(0.5), alt.value(1)),
            tooltip=tooltips("system:N", _exact("value:Q"), "rank:Q"),
        )
    )


def _judged_shares(systems: int) -> alt.TopLevelMixin:
    """Judged and unjudged shares of every system."""
    return (
        _chart()
        .mark_point(**POINT)
        .encode(
            x=alt.X(**_systems(systems, "rank", "system", "system by {measure}")),
            y=alt.Y(
                "share:Q",
                title="share of documents, {queries}",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "what:N",
                sort=_order("at"),
                title=None,
                legend=alt.Legend(orient="top", columns=1, labelLimit=330),
            ),
            shape=alt.Shape("what:N", sort=_order("at"), title=None),
            tooltip=tooltips("system:N", "rank:Q", "what:N", _share("share:Q")),
        )
    )
