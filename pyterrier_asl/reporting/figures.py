"""The figures of the page, in Vega-Lite.

Rows that depend on what the reader selects come from the scripts, as the data sets ``queries``,
``systems``, ``pairs`` and ``documents``. The scripts also set parameters: ``measure``, ``sign``
(-1 where lower is better), ``ranks`` (system -> rank by the measure), ``query``, the systems ``a``
and ``b`` with the depths of their runs, the ``coloured`` systems, colours, and short names.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

from ir_measures import Judged

from ..io.notices import counted
from .channels import Part, by_measure, calculated, names, numbers, rows, tips
from .contents import search_length_classes
from .findings import Findings, SystemFindings
from .page import json_numbers

#: The number of systems up to which an axis shows names; above it shows ranks.
FEW = 12

#: Rows that the scripts choose.
_CHOSEN = {"name": "data"}

#: The colours of A and B, and of at most nine systems: the best by eight measures, and another.
_SIDES = {
    "domain": ["A", "B", "equal"],
    "range": [{"expr": name} for name in ("colourA", "colourB", "soft")],
}
_COLOURED = {
    "domain": {"expr": "coloured"},
    "range": [{"expr": f"colours[{at}]"} for at in range(9)],
}
_IS_COLOURED = {"filter": "indexof(coloured, datum.system) >= 0"}

#: A point, and the label of a system.
_POINT = {"type": "point", "filled": True, "size": 60}
_SHORT = "shortNames[datum.label]"

#: An axis of values, which need not begin at 0.
_VALUES = {"zero": False, "nice": False, "padding": 12}


def figures(findings: SystemFindings) -> dict[str, Part]:
    """The specification of each figure of a page."""
    f = findings
    charts = {"differences": _differences(f), "queries": _queries(f), "strip": _strip()}
    if len(f.favoured[0]):
        charts["favoured"] = _favoured(f)
    if isinstance(f, Findings):
        charts |= {"lengths": _lengths(f), "loss": _loss(f), "judged": _judged(f)}
        charts |= {"bump": _bump(f), "ranks": _ranks(f.cutoff), "matrix": _matrix(f)}
    return {name: {"height": 280, "width": "container"} | of for name, of in charts.items()}


def _query(f: SystemFindings, **formats: str) -> list[Part]:
    """The tooltip of a query."""
    relevant = {"relevant": "d"} if isinstance(f, Findings) else {}
    return tips(query="", text="", **relevant, **formats)


def _systems(f: SystemFindings, rank: str, name: str, title: Any) -> Part:
    """An axis of systems in the order of their ranks: their names, or the ranks of many."""
    sort, systems = {"field": rank, "op": "min"}, len(f.names)
    if systems > FEW:
        axis = {"labelAngle": 0, "ticks": False, "labelOverlap": "parity", "title": title}
        return {"field": rank, "type": "ordinal", "sort": sort, "axis": axis}
    axis = {"labelAngle": -30 if systems > 3 else 0, "ticks": False, "labelExpr": _SHORT}
    return names(name, sort=sort, title=None, axis=axis)


def _differences(f: SystemFindings) -> Part:
    return {
        "data": _CHOSEN,
        "transform": calculated(
            difference="sign * (datum.b - datum.a)",
            better="datum.difference > 0 ? 'B' : datum.difference < 0 ? 'A' : 'equal'",
        ),
        "mark": {"type": "bar", "cursor": "pointer"},
        "encoding": {
            "x": names(
                "query",
                sort={"field": "difference", "op": "min", "order": "descending"},
                title="queries, the largest gain of B first",
                axis={"labels": False, "ticks": False},
            ),
            "y": numbers("difference", axis=by_measure(f": gain of B over A, {_queries_of(f)}")),
            "color": names("better", scale=_SIDES, legend=None),
            "tooltip": _query(f, a=".4~f", b=".4~f"),
        },
    }


def _queries_of(f: SystemFindings) -> str:
    return counted(len(f.qids), "query", "queries")


def _queries(f: SystemFindings) -> Part:
    documents = {
        "size": numbers(
            "relevant",
            title="relevant documents",
            scale={"range": [30, 320]},
            legend={"orient": "top", "tickCount": 3},
        ),
        "order": numbers("relevant", sort="descending"),
    }
    return {
        "data": _CHOSEN,
        "transform": calculated(chosen="datum.query == query"),
        "mark": {"type": "circle", "opacity": 0.75, "cursor": "pointer"},
        "encoding": {
            "x": numbers("median", axis=by_measure(": median of the systems"), scale=_VALUES),
            "y": numbers(
                "spread",
                axis=by_measure(": standard deviation"),
                scale={"nice": False, "padding": 12},
            ),
            "color": names("chosen", scale={"domain": [False, True]}, legend=None),
            "tooltip": _query(f, median=".4~f", spread=".4~f"),
            **(documents if isinstance(f, Findings) else {}),
        },
    }


def _strip() -> Part:
    return {
        "data": _CHOSEN,
        "transform": calculated(side="datum.system == a ? 'A' : datum.system == b ? 'B' : 'equal'"),
        "mark": {"type": "tick", "thickness": 2, "size": 34},
        "encoding": {
            "x": numbers("value", axis=by_measure(""), scale=_VALUES),
            "color": names("side", scale=_SIDES, legend=None),
            "opacity": {"condition": {"test": "datum.side == 'equal'", "value": 0.5}, "value": 1},
            "order": names("side", sort="descending"),
            "tooltip": tips(system="", value=".4~f"),
        },
        "height": 64,
    }


def _favoured(f: SystemFindings) -> Part:
    columns = ["judge", "run", "people", "value", "expected", "favour", "p", "judged"]
    shown = f.favoured[0].reindex(columns=columns).round(6)
    value = {"title": "value by the judge", "scale": {"zero": False}}
    base = {
        "x": numbers("people", title="value by people", scale={"zero": False}),
        "y": numbers("value", **value),
        "color": names("judge", title=None, legend={"orient": "top"}),
        "tooltip": [
            *tips(judge="", run="", value=".4~f", people=".4~f", favour="+.4~f", p=".4~f"),
            numbers("judged", format=".0%", title="judged by people"),
        ],
    }
    return {
        **rows(shown.astype(object).where(shown.notna(), None).to_dict("records")),
        "layer": [
            {"mark": {"type": "line"}, "encoding": base | {"y": numbers("expected", **value)}},
            {"mark": {**_POINT, "opacity": 0.8}, "encoding": base},
            {
                "transform": [{"filter": f"isValid(datum.p) && datum.p <= {f.alpha}"}],
                "mark": {"type": "text", "align": "right", "dx": -7, "fontWeight": 600},
                "encoding": base | {"text": names("run")},
            },
        ],
    }


def _lengths(f: Findings) -> Part:
    counts = search_length_classes(f.runs, f.rel, f.cutoff)
    shown = [
        {"system": f.names[at], "rank": rank, "class": label, "documents": of[at]}
        | {"share": round(of[at] / max(1, len(f.finders)), 9)}
        for rank, at in enumerate(f.first.order, 1)
        for label, of in counts.items()
    ]
    return {
        **rows(shown),
        "transform": [_IS_COLOURED],
        "mark": {"type": "bar"},
        "encoding": {
            "x": names(
                "class",
                sort=list(counts),
                title="search length (documents)",
                axis={"labelAngle": -30, "labelOverlap": False},
            ),
            "xOffset": names("system", sort={"field": "rank", "op": "min"}),
            "y": numbers(
                "share",
                title=f"share of the relevant documents of {_queries_of(f)}",
                axis={"format": "%"},
            ),
            "color": names(
                "system",
                title=None,
                scale=_COLOURED,
                legend={"orient": "top", "columns": 2, "labelExpr": _SHORT},
            ),
            "tooltip": [
                names("system"),
                names("class", title="search length"),
                *tips(documents="d", share=".1%"),
            ],
        },
    }


def _loss(f: Findings) -> Part:
    parts = ["documents not retrieved", "retrieved documents"]
    shares = f.quality["missing_share"].fillna(0)
    shown = [
        {"system": f.names[at], "rank": rank}
        | dict(zip(("ASL", *parts), json_numbers([mean, mean * share, mean * (1 - share)])))
        for rank, at in enumerate(f.asl.order, 1)
        for mean, share in [(f.asl.means[at], shares.iloc[at])]
    ]
    return {
        **rows(shown),
        "transform": [
            {"fold": parts, "as": ["part", "asl"]},
            *calculated(share="datum.ASL ? datum.asl / datum.ASL : 0"),
        ],
        "mark": {
            "type": "bar",
            **({"binSpacing": 0, "strokeWidth": 0} if len(f.names) > FEW else {}),
        },
        "encoding": {
            "x": _systems(f, "rank", "system", "system at rank"),
            "y": numbers("asl", stack="zero", title=f"ASL (documents), {_queries_of(f)}"),
            "color": names(
                "part",
                sort=parts,
                title=None,
                scale={"domain": parts, "range": [{"expr": "soft"}, {"expr": "mid"}]},
                legend={"orient": "top", "columns": 1},
            ),
            "order": names("part", sort="descending"),
            "tooltip": [
                *tips(system="", rank="", part="", asl=".1f"),
                numbers("share", format=".1%", title="share of ASL"),
            ],
        },
    }


def _judged(f: Findings) -> Part:
    shares = {
        f"judged share of the first {k}": json_numbers(f.runs.values(Judged @ k).mean(axis=1))
        for k in (f.top, f.cutoff)
    } | {"unjudged above retrieved relevant documents": json_numbers(f.quality["unjudged_share"])}
    shown = [name for name, of in shares.items() if len(of) == 1 or len(set(of)) > 1]
    by_system = [
        {"system": system} | {name: shares[name][at] for name in shown}
        for at, system in enumerate(f.names)
        if shown
    ]
    scale = {"domain": shown}
    return {
        **rows(by_system),
        "transform": [
            {"fold": shown, "as": ["what", "share"]},
            *calculated(rank="ranks[datum.system]"),
        ],
        "mark": {**_POINT, "opacity": 1},
        "encoding": {
            "x": _systems(f, "rank", "system", {"expr": "'system by ' + measure + ' at rank'"}),
            "y": numbers(
                "share",
                title=f"share of documents, {_queries_of(f)}",
                axis={"format": "%"},
                scale={"domain": [0, 1]},
            ),
            "color": names(
                "what",
                title=None,
                scale=scale,
                legend={"orient": "top", "columns": 1, "labelLimit": 330},
            ),
            "shape": names("what", title=None, scale=scale),
            "tooltip": tips(system="", rank="d", what="", share=".1%"),
        },
    }


def _matrix(f: Findings) -> Part:
    return {
        "data": _CHOSEN,
        "transform": calculated(
            row="ranks[datum.system]",
            column="ranks[datum.against]",
            sgnLP=f"(datum.wins - datum.losses) / {len(f.qids)}",
        ),
        "mark": {"type": "rect", "cursor": "pointer"},
        "encoding": {
            "x": _systems(f, "column", "against", "against the system at rank"),
            "y": _systems(f, "row", "system", "system at rank"),
            "color": numbers(
                "sgnLP",
                title=f"wins less losses, {_queries_of(f)}",
                scale={"domain": [-1, 1], "domainMid": 0, "interpolate": "rgb"},
                legend={"orient": "top", "format": ".0%", "gradientLength": 180, "tickCount": 3},
            ),
            "tooltip": [
                *tips(system="", against="", wins="d", losses="d"),
                numbers("rrLP", format="+.4f", title="mean rrLP"),
            ],
        },
    }


def _ranks(cutoff: int) -> Part:
    """The ranks of documents in A and B; missed documents are half a ranking after its end."""
    axis = {"values": [10**n for n in range(6) if 10**n <= cutoff], "format": "~d", "grid": False}
    scale = {"type": "log", "domain": [0.8, 2 * cutoff], "nice": False}
    rules = [
        rule | {"encoding": {channel: numbers("at")}}
        for channel, side in (("x", "A"), ("y", "B"))
        for rule in (
            {
                "data": {"name": "end"},
                "mark": {"type": "rule", "strokeDash": [4, 3], "opacity": 0.5},
            },
            {
                "data": {"name": "one"},
                "transform": [*calculated(at=f"depth{side}"), {"filter": "datum.at"}],
                "mark": {"type": "rule", "strokeDash": [1, 3], "opacity": 0.9},
            },
        )
    ]
    points = {
        "data": _CHOSEN,
        "mark": {"type": "circle", "opacity": 0.45},
        "encoding": {
            "x": numbers("x", title="rank in A", scale=scale, axis=axis),
            "y": numbers("y", title="rank in B", scale=scale, axis=axis),
            "color": names("better", title=None, scale=_SIDES, legend={"orient": "top"}),
            "tooltip": [
                *tips(query="", document=""),
                names("in_a", title="rank in A"),
                names("in_b", title="rank in B"),
            ],
        },
    }
    return {"layer": [*rules, points], "datasets": {"end": [{"at": 1.12 * cutoff}], "one": [{}]}}


def _ranks_by_measure(f: Findings) -> Part:
    """The channels of the ranks of systems by several measures."""
    lines = {each.name: re.split(r"(?=[@(])|(?<=_)", each.name) for each in f.reordered}
    letters = [max(map(len, of)) for of in lines.values()]
    beside = max((a + b for a, b in pairwise(letters)), default=0) / 2
    # Names that would touch are upright: a letter has 6.2 pixels, the names of systems and of the
    # other axis have 165. The width without these is not known when Vega makes room for the names.
    upright = f"containerSize()[0] < {165 + 6.2 * beside * len(letters)}"
    return {
        "x": names(
            "measure",
            sort=list(lines),
            title=None,
            scale={"padding": 0.3},
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
        "y": numbers(
            "rank",
            title=f"rank of {len(f.names)}",
            axis={"format": "d", "tickMinStep": 1, "grid": False, "domain": False, "ticks": False},
            scale={"reverse": True, "domain": [1, max(2, len(f.names))], "nice": False},
        ),
        "detail": names("system"),
        "tooltip": [
            *tips(system="", measure="", rank="d", value=".4~f"),
            numbers("retrieved", format=",.0f", title="documents per query"),
        ],
    }


def _bump(f: Findings) -> Part:
    """The ranks as lines, the systems in colour with their names, which are moved apart."""
    height = max(200, min(480, 22 * len(f.names)))
    apart = 12 * (len(f.names) - 1) / height  # names of 12 pixels
    retrieved, short = json_numbers(f.retrieved), f.short.tolist()
    shown = [
        {"system": system, "measure": ranking.name, "rank": rank, "value": mean}
        | {"retrieved": depth, "shallow": is_short}
        for ranking in f.reordered
        for system, rank, mean, depth, is_short in zip(
            f.names, ranking.ranks.tolist(), json_numbers(ranking.means), retrieved, short
        )
    ]
    base = _ranks_by_measure(f)
    dashed = {
        "strokeDash": names(
            "shallow", legend=None, scale={"domain": [False, True], "range": [[1, 0], [4, 3]]}
        )
    }
    marked = base | {"color": names("system", scale=_COLOURED, legend=None)}
    near = {
        name: {"condition": {"param": "near", "value": most, "empty": False}, "value": usual}
        for name, most, usual in (("opacity", 1, 0.22), ("strokeWidth", 3, 1))
    }
    apart_from_others = [
        _IS_COLOURED,
        {"filter": f"datum.measure == {f.reordered[-1].name!r}"},
        {
            "window": [{"op": "row_number", "as": "number", "field": ""}],
            "sort": [{"field": "rank"}],
        },
        *calculated(first=f"datum.rank - {apart} * datum.number"),
        {
            "window": [{"op": "max", "field": "first", "as": "first"}],
            "sort": [{"field": "number"}],
            "frame": [None, 0],
        },
        *calculated(
            label=f"datum.first + {apart} * datum.number", short="shortNames[datum.system]"
        ),
    ]
    hover = {"type": "point", "fields": ["system"], "on": "pointerover", "clear": "pointerout"}
    return {
        **rows(shown),
        "layer": [
            {"mark": {"type": "line"}, "encoding": base | dashed | near},
            {"mark": {**_POINT, "opacity": 0}, "encoding": base, "name": "pointers"},
            {"transform": [_IS_COLOURED], "mark": {"type": "line"}, "encoding": marked | dashed},
            {"transform": [_IS_COLOURED], "mark": {**_POINT, "opacity": 1}, "encoding": marked},
            {
                "transform": apart_from_others,
                "mark": {"type": "text", "align": "left", "dx": 7, "fontWeight": 600},
                "encoding": marked | {"y": numbers("label"), "text": names("short")},
            },
        ],
        "params": [{"name": "near", "select": hover, "views": ["pointers"]}],
        "height": height,
        "padding": {"left": 5, "right": 120, "top": 5, "bottom": 5},
    }
