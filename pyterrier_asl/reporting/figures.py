"""The figures of the page, as Altair charts.

Rows that depend on what the reader selects come from the scripts, as the data sets ``queries``,
``systems``, ``pairs`` and ``documents``. The scripts also set parameters: ``measure``, ``sign``
(-1 where lower is better), ``ranks`` (system -> rank by the measure), ``query``, the systems ``a``
and ``b`` with the depths of their runs, the ``coloured`` systems, colours, and short names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode
from ir_measures import Judged

from ..common.notices import counted
from .contents import search_length_classes
from .findings import Findings
from .page import json_numbers

#: The number of systems up to which an axis shows names; above it shows ranks.
FEW = 12

#: Rows that the scripts choose.
_CHOSEN = alt.Chart(alt.NamedData("data"))

#: The colours of A and B, and of at most eleven systems: the best by eight measures and three more.
_SIDES = alt.Scale(
    domain=["A", "B", "equal"],
    range=[alt.ExprRef(name) for name in ("colourA", "colourB", "soft")],
)
_COLOURED = alt.Scale(
    domain=alt.ExprRef("coloured"), range=[alt.ExprRef(f"colours[{at}]") for at in range(11)]
)

#: Options of a point, and the label of a system.
_POINT: dict[str, Any] = {"filled": True, "size": 60}
_SHORT = "shortNames[datum.label]"


def figures(findings: Findings) -> dict[str, Any]:
    """The Vega-Lite specification of each figure of a page."""
    f = findings
    with debug_mode(False):  # without checks of each row by Altair's schema
        charts = {
            **({"favoured": _favoured(f)} if len(f.favoured[0]) else {}),
            "differences": _differences(f),
            "queries": _queries(),
            "strip": _strip(),
            "lengths": _lengths(f),
            "loss": _loss(f),
            "judged": _judged(f),
            "bump": _bump(f),
            "ranks": _ranks(f.cutoff),
            "matrix": _matrix(f),
        }
        return {name: _specification(chart) for name, chart in charts.items()}


def _specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """A chart in Vega-Lite, without a version: the page has the version of vl-convert."""
    # Titles of axes are expressions, which Vega-Lite accepts and its schema does not.
    made = chart.properties(width="container").to_dict(validate=False)
    return {"height": 280} | {n: part for n, part in made.items() if n not in ("$schema", "config")}


def _rows(rows: Iterable[dict[str, Any]]) -> alt.Chart:
    """A chart of rows that do not depend on the selection."""
    return alt.Chart(alt.InlineData(values=list(rows)))


def _by_measure(text: str) -> dict[str, Any]:
    """The title of an axis that begins with the selected measure."""
    return {"title": {"expr": f"measure + {text!r}"}}


def _tips(**formats: str) -> list[alt.Tooltip]:
    """Columns of a tooltip with their formats; '' for text."""
    return [
        alt.Tooltip(f"{name}:Q", format=form) if form else alt.Tooltip(f"{name}:N")
        for name, form in formats.items()
    ]


def _query(**formats: str) -> list[alt.Tooltip]:
    """The tooltip of a query."""
    return _tips(query="", text="", relevant="d", **formats)


def _systems(f: Findings, channel: Any, rank: str, name: str, title: Any) -> Any:
    """An axis of systems in the order of their ranks: their names, or the ranks of many."""
    sort, systems = alt.EncodingSortField(rank, op="min"), len(f.names)
    if systems > FEW:
        axis = {"labelAngle": 0, "ticks": False, "labelOverlap": "parity", "title": title}
        return channel(f"{rank}:O", sort=sort, axis=axis)
    axis = {"labelAngle": -30 if systems > 3 else 0, "ticks": False, "labelExpr": _SHORT}
    return channel(f"{name}:N", sort=sort, title=None, axis=axis)


def _differences(f: Findings) -> alt.Chart:
    return (
        _CHOSEN.transform_calculate(difference="sign * (datum.b - datum.a)")
        .transform_calculate(
            better="datum.difference > 0 ? 'B' : datum.difference < 0 ? 'A' : 'equal'"
        )
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X(
                "query:N",
                sort=alt.EncodingSortField("difference", op="min", order="descending"),
                title="queries, the largest gain of B first",
                axis=alt.Axis(labels=False, ticks=False),
            ),
            y=alt.Y("difference:Q", axis=_by_measure(f": gain of B over A, {_queries_of(f)}")),
            color=alt.Color("better:N", scale=_SIDES, legend=None),
            tooltip=_query(a=".4~f", b=".4~f"),
        )
    )


def _queries_of(f: Findings) -> str:
    return counted(len(f.qids), "query", "queries")


def _queries() -> alt.Chart:
    return (
        _CHOSEN.transform_calculate(chosen="datum.query == query")
        .mark_circle(opacity=0.75, cursor="pointer")
        .encode(
            x=alt.X(
                "median:Q",
                axis=_by_measure(": median of the systems"),
                scale=alt.Scale(zero=False, nice=False, padding=12),
            ),
            y=alt.Y(
                "spread:Q",
                axis=_by_measure(": standard deviation"),
                scale=alt.Scale(nice=False, padding=12),
            ),
            color=alt.Color("chosen:N", scale=alt.Scale(domain=[False, True]), legend=None),
            tooltip=_query(median=".4~f", spread=".4~f"),
            size=alt.Size(
                "relevant:Q",
                title="relevant documents",
                scale=alt.Scale(range=[30, 320]),
                legend=alt.Legend(orient="top", tickCount=3),
            ),
            order=alt.Order("relevant:Q", sort="descending"),
        )
    )


def _strip() -> alt.Chart:
    return (
        _CHOSEN.transform_calculate(
            side="datum.system == a ? 'A' : datum.system == b ? 'B' : 'equal'"
        )
        .mark_tick(thickness=2, size=34)
        .encode(
            x=alt.X(
                "value:Q",
                axis=_by_measure(""),
                scale=alt.Scale(zero=False, nice=False, padding=12),
            ),
            color=alt.Color("side:N", scale=_SIDES, legend=None),
            opacity=alt.condition("datum.side == 'equal'", alt.value(0.5), alt.value(1)),
            order=alt.Order("side:N", sort="descending"),
            tooltip=_tips(system="", value=".4~f"),
        )
        .properties(height=64)
    )


def _favoured(f: Findings) -> alt.LayerChart:
    columns = ["judge", "run", "people", "value", "expected", "favour", "p", "judged"]
    value = alt.Y("value:Q", title="value by the judge", scale=alt.Scale(zero=False))
    base = _rows(alt.to_values(f.favoured[0].reindex(columns=columns).round(6))["values"]).encode(
        x=alt.X("people:Q", title="value by people", scale=alt.Scale(zero=False)),
        y=value,
        color=alt.Color("judge:N", title=None, legend=alt.Legend(orient="top")),
        tooltip=[
            *_tips(judge="", run="", value=".4~f", people=".4~f", favour="+.4~f", p=".4~f"),
            alt.Tooltip("judged:Q", format=".0%", title="judged by people"),
        ],
    )
    return alt.layer(
        base.mark_line().encode(y=alt.Y("expected:Q", title=value["title"], scale=value["scale"])),
        base.mark_point(opacity=0.8, **_POINT),
        base.transform_filter(f"isValid(datum.p) && datum.p <= {f.alpha}")
        .encode(text="run:N")
        .mark_text(align="right", dx=-7, fontWeight=600),
    )


def _lengths(f: Findings) -> alt.Chart:
    counts = search_length_classes(f.runs, f.rel, f.cutoff)
    return (
        _rows(
            {"system": f.names[at], "rank": rank, "class": label, "documents": of[at]}
            | {"share": round(of[at] / max(1, len(f.finders)), 9)}
            for rank, at in enumerate(f.first.order, 1)
            for label, of in counts.items()
        )
        .transform_filter("indexof(coloured, datum.system) >= 0")
        .mark_bar()
        .encode(
            x=alt.X(
                "class:N",
                sort=list(counts),
                title="search length (documents)",
                axis=alt.Axis(labelAngle=-30, labelOverlap=False),
            ),
            xOffset=alt.XOffset("system:N", sort=alt.EncodingSortField("rank", op="min")),
            y=alt.Y(
                "share:Q",
                title=f"share of the relevant documents of {_queries_of(f)}",
                axis=alt.Axis(format="%"),
            ),
            color=alt.Color(
                "system:N",
                title=None,
                scale=_COLOURED,
                legend=alt.Legend(orient="top", columns=2, labelExpr=_SHORT),
            ),
            tooltip=[
                alt.Tooltip("system:N"),
                alt.Tooltip("class:N", title="search length"),
                *_tips(documents="d", share=".1%"),
            ],
        )
    )


def _loss(f: Findings) -> alt.Chart:
    parts = ["documents not retrieved", "retrieved documents"]
    shares = f.quality["missing_share"].fillna(0)
    return (
        _rows(
            {"system": f.names[at], "rank": rank}
            | dict(zip(("ASL", *parts), json_numbers([mean, mean * share, mean * (1 - share)])))
            for rank, at in enumerate(f.asl.order, 1)
            for mean, share in [(f.asl.means[at], shares.iloc[at])]
        )
        .transform_fold(parts, as_=["part", "asl"])
        .transform_calculate(share="datum.ASL ? datum.asl / datum.ASL : 0")
        .mark_bar(**{"binSpacing": 0, "strokeWidth": 0} if len(f.names) > FEW else {})
        .encode(
            x=_systems(f, alt.X, "rank", "system", "system at rank"),
            y=alt.Y("asl:Q", stack="zero", title=f"ASL (documents), {_queries_of(f)}"),
            color=alt.Color(
                "part:N",
                sort=parts,
                title=None,
                scale=alt.Scale(domain=parts, range=[alt.ExprRef("soft"), alt.ExprRef("mid")]),
                legend=alt.Legend(orient="top", columns=1),
            ),
            order=alt.Order("part:N", sort="descending"),
            tooltip=[
                *_tips(system="", rank="", part="", asl=".1f"),
                alt.Tooltip("share:Q", format=".1%", title="share of ASL"),
            ],
        )
    )


def _judged(f: Findings) -> alt.Chart:
    shares = {
        f"judged share of the first {k}": json_numbers(f.runs.values(Judged @ k).mean(axis=1))
        for k in (f.top, f.cutoff)
    } | {"unjudged above retrieved relevant documents": json_numbers(f.quality["unjudged_share"])}
    shown = [name for name, of in shares.items() if len(of) == 1 or len(set(of)) > 1]
    scale = alt.Scale(domain=shown)
    return (
        _rows(
            {"system": system} | {name: shares[name][at] for name in shown}
            for at, system in enumerate(f.names)
            if shown
        )
        .transform_fold(shown, as_=["what", "share"])
        .transform_calculate(rank="ranks[datum.system]")
        .mark_point(opacity=1, **_POINT)
        .encode(
            x=_systems(f, alt.X, "rank", "system", {"expr": "'system by ' + measure + ' at rank'"}),
            y=alt.Y(
                "share:Q",
                title=f"share of documents, {_queries_of(f)}",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "what:N",
                title=None,
                scale=scale,
                legend=alt.Legend(orient="top", columns=1, labelLimit=330),
            ),
            shape=alt.Shape("what:N", title=None, scale=scale),
            tooltip=_tips(system="", rank="d", what="", share=".1%"),
        )
    )


def _matrix(f: Findings) -> alt.Chart:
    return (
        _CHOSEN.transform_calculate(
            row="ranks[datum.system]",
            column="ranks[datum.against]",
            sgnLP=f"(datum.wins - datum.losses) / {len(f.qids)}",
        )
        .mark_rect(cursor="pointer")
        .encode(
            x=_systems(f, alt.X, "column", "against", "against the system at rank"),
            y=_systems(f, alt.Y, "row", "system", "system at rank"),
            color=alt.Color(
                "sgnLP:Q",
                title=f"wins less losses, {_queries_of(f)}",
                scale=alt.Scale(domain=[-1, 1], domainMid=0, interpolate="rgb"),
                legend=alt.Legend(orient="top", format=".0%", gradientLength=180, tickCount=3),
            ),
            tooltip=[
                *_tips(system="", against="", wins="d", losses="d"),
                alt.Tooltip("rrLP:Q", format="+.4f", title="mean rrLP"),
            ],
        )
    )


def _ranks(cutoff: int) -> alt.LayerChart:
    """The ranks of documents in A and B; missed documents are half a ranking after its end."""
    axis = alt.Axis(values=[10**n for n in range(6) if 10**n <= cutoff], format="~d", grid=False)
    scale = alt.Scale(type="log", domain=[0.8, 2 * cutoff], nice=False)
    end = _rows([{"at": 1.12 * cutoff}]).mark_rule(strokeDash=[4, 3], opacity=0.5)
    layers = []
    for channel, side in ((alt.X, "A"), (alt.Y, "B")):
        depth = (
            _rows([{}])
            .transform_calculate(at=f"depth{side}")
            .transform_filter("datum.at")
            .mark_rule(strokeDash=[1, 3], opacity=0.9)
        )
        layers += [rule.encode(channel("at:Q")) for rule in (end, depth)]
    points = _CHOSEN.mark_circle(opacity=0.45).encode(
        x=alt.X("x:Q", title="rank in A", scale=scale, axis=axis),
        y=alt.Y("y:Q", title="rank in B", scale=scale, axis=axis),
        color=alt.Color("better:N", title=None, scale=_SIDES, legend=alt.Legend(orient="top")),
        tooltip=[
            *_tips(query="", document=""),
            alt.Tooltip("in_a:N", title="rank in A"),
            alt.Tooltip("in_b:N", title="rank in B"),
        ],
    )
    return alt.layer(*layers, points)


def _ranks_by_measure(f: Findings) -> alt.Chart:
    """The rank of each system by each measure, without a mark."""
    systems = len(f.names)
    lines = {each.name: re.split(r"(?=[@(])|(?<=_)", each.name) for each in f.reordered}
    letters = [max(map(len, of)) for of in lines.values()]
    beside = max((a + b for a, b in pairwise(letters)), default=0) / 2
    # Names that would touch are upright: a letter has 6.2 pixels, the names of systems and of the
    # other axis have 165. The width without these is not known when Vega makes room for the names.
    upright = f"containerSize()[0] < {165 + 6.2 * beside * len(letters)}"
    return _rows(
        {"system": system, "measure": ranking.name, "rank": rank, "value": mean}
        | {"retrieved": retrieved, "shallow": short}
        for ranking in f.reordered
        for system, rank, mean, retrieved, short in zip(
            f.names,
            ranking.ranks.tolist(),
            json_numbers(ranking.means),
            json_numbers(f.retrieved),
            f.short.tolist(),
        )
    ).encode(
        x=alt.X(
            "measure:N",
            sort=list(lines),
            title=None,
            scale=alt.Scale(padding=0.3),
            axis={
                "labelAngle": {"expr": f"{upright} ? -90 : 0"},
                "labelAlign": {"expr": f"{upright} ? 'right' : 'center'"},
                "labelBaseline": {"expr": f"{upright} ? 'middle' : 'top'"},
                "labelExpr": f"{upright} ? datum.label : {json.dumps(lines)}[datum.label]",
                "domain": False,
                "ticks": False,
                "labelPadding": 10,
                "labelOverlap": False,
            },
        ),
        y=alt.Y(
            "rank:Q",
            title=f"rank of {systems}",
            axis=alt.Axis(format="d", tickMinStep=1, grid=False, domain=False, ticks=False),
            scale=alt.Scale(reverse=True, domain=[1, max(2, systems)], nice=False),
        ),
        detail=alt.Detail("system:N"),
        tooltip=[
            *_tips(system="", measure="", rank="d", value=".4~f"),
            alt.Tooltip("retrieved:Q", format=",.0f", title="documents per query"),
        ],
    )


def _bump(f: Findings) -> alt.LayerChart:
    """The same as lines, the systems in colour with their names, which are moved apart."""
    height = max(200, min(480, 22 * len(f.names)))
    apart = 12 * (len(f.names) - 1) / height  # names of 12 pixels
    base = _ranks_by_measure(f)
    dashes = alt.StrokeDash(
        "shallow:N", legend=None, scale=alt.Scale(domain=[False, True], range=[[1, 0], [4, 3]])
    )
    near = alt.selection_point(
        name="near", fields=["system"], on="pointerover", clear="pointerout", empty=False
    )
    marked = base.transform_filter("indexof(coloured, datum.system) >= 0").encode(
        color=alt.Color("system:N", scale=_COLOURED, legend=None)
    )
    return alt.layer(
        base.mark_line().encode(
            strokeDash=dashes,
            opacity=alt.condition(near, alt.value(1), alt.value(0.22)),
            strokeWidth=alt.condition(near, alt.value(3), alt.value(1)),
        ),
        base.mark_point(**_POINT, opacity=0).add_params(near).properties(name="pointers"),
        marked.mark_line().encode(strokeDash=dashes),
        marked.mark_point(**_POINT, opacity=1),
        marked.transform_filter(f"datum.measure == {f.reordered[-1].name!r}")
        .transform_window(number="row_number()", sort=[alt.SortField("rank")])
        .transform_calculate(first=f"datum.rank - {apart} * datum.number")
        .transform_window(first="max(first)", sort=[alt.SortField("number")], frame=[None, 0])
        .transform_calculate(label=f"datum.first + {apart} * datum.number")
        .transform_calculate(short="shortNames[datum.system]")
        .mark_text(align="left", dx=7, fontWeight=600)
        .encode(y=alt.Y("label:Q"), text=alt.Text("short:N")),
    ).properties(height=height, padding={"left": 5, "right": 120, "top": 5, "bottom": 5})
