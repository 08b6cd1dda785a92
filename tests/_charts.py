"""What holds for all charts, as assertions about Vega-Lite specifications."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def assert_is_readable(spec: Any) -> None:
    """All that the other functions assert."""
    assert_ends_fit(spec)
    assert_categories_fit(spec)
    assert_ranks_begin_at_1(spec)
    assert_everything_is_visible(spec)
    assert_arrows_point_to_better_values(spec)
    assert_fields_exist(spec)


def views(
    spec: Any, datasets: Any, data: Any = None, encoding: Any = None
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The encodings of each view of a Vega-Lite specification, and its rows."""
    data = spec.get("data", data)
    facet = spec.get("facet", {})
    panels = {"facet": facet} if "field" in facet else facet
    encoding = {**(encoding or {}), **panels, **spec.get("encoding", {})}
    names = ("layer", "concat", "hconcat", "vconcat")
    parts = [part for name in names for part in spec.get(name, [])]
    for part in [*parts, *([spec["spec"]] if "spec" in spec else [])]:
        yield from views(part, datasets, data, encoding)
    if data and not parts:
        yield encoding, datasets[data["name"]] if "name" in data else data["values"]


def assert_ends_fit(spec: Any) -> None:
    """Scales with ends include all values, and end near them or where shares or ranks end."""
    shown: dict[Any, list[float]] = {}
    for encoding, rows in views(spec, spec.get("datasets", {})):
        for name, channel in encoding.items():
            axis = encoding[name.removesuffix("2")]  # x2 is on the axis of x
            scale = axis.get("scale") if isinstance(axis, dict) else None
            if scale and "domain" in scale and axis["type"] == "quantitative":
                values = [row.get(channel["field"]) for row in rows]
                unit = "%" if "%" in str(axis.get("title")) else axis["field"]
                key = *scale["domain"], "rank" in unit, unit == "%", scale.get("type")
                numbers = [value for value in values if isinstance(value, float | int)]
                shown.setdefault(key, []).extend(numbers)
    for (low, high, is_rank, is_percent, kind), values in shown.items():
        least, most = min(values, default=low), max(values, default=high)
        assert low <= least <= most <= high
        if kind == "log":
            assert low == 1 and high <= max(10 * most, 1000)
            continue
        room = 0.5 if is_rank else max(0.1 * (most - least), 0.1)
        assert low == (0 if least >= 0 else -1) or least - low <= room
        assert high == (100 if is_percent else 1) or high - most <= room


def assert_categories_fit(spec: Any) -> None:
    """Scales of names have all names of the data, and colours or shapes for all."""
    for encoding, rows in views(spec, spec.get("datasets", {})):
        for channel in encoding.values():
            scale = channel.get("scale") if isinstance(channel, dict) else None
            if scale and "domain" in scale and channel.get("type") in ("nominal", "ordinal"):
                domain = scale["domain"]
                names = {row.get(channel["field"]) for row in rows}
                assert names - {None} <= set(domain)
                assert len(scale.get("range", domain)) >= len(domain)


def assert_ranks_begin_at_1(spec: Any) -> None:
    """Axes of ranks show no rank below 1; axes upwards have rank 1 at the top."""
    scales: dict[str, list[dict[str, Any]]] = {"x": [], "y": []}
    for encoding, _ in views(spec, spec.get("datasets", {})):
        for name in {"x", "y"} & encoding.keys():
            channel = encoding[name]
            axis, scale = channel.get("axis") or {}, channel.get("scale") or {}
            if re.match("rank\\b", str(channel.get("title") or channel.get("field"))):
                assert min(axis.get("values", [1])) == 1
                assert name == "x" or scale.get("reverse"), channel
                scales[name] += [scale] * (channel["type"] == "quantitative")
    for of_axis in scales.values():  # one of the layers says where the axis begins
        ends = [scale.get("domainMin", min(scale.get("domain", [0]))) for scale in of_axis]
        assert not ends or max(ends) > 0


def parts(spec: Any) -> Iterator[dict[str, Any]]:
    """A specification and everything in it, except the data."""
    if isinstance(spec, dict):
        yield spec
        for name, value in spec.items():
            if name not in ("datasets", "data"):
                yield from parts(value)
    elif isinstance(spec, list):
        for part in spec:
            yield from parts(part)


#: Options of marks and axes, and between which values they can be seen and read.
VISIBLE = {"opacity": (0.1, 1), "columns": (1, 3)}
#: The sizes that charts share, in pixels: a chart or mark of another size is an exception.
SIZES = {
    "width": {240, 170, 220, 180, 260},  # a chart, beside names, of several, a matrix, two lists
    "height": {180, 220, 120},
    "step": {18, 12, 36, 60},  # a row, a crowded row, two rows, a cell with an interval
    "fontSize": {10},
    "labelLimit": {0, 120, 130},  # a whole, a short and a long name
    "size": {60, 5, 12},  # the area of a point, a bar below its name, the area of a dot in a cell
    "strokeWidth": {2, 0.7},  # a line, one of many lines
    "thickness": {3},
    "tickCount": {3},  # at the colours of a legend
    "padding": set(),
}
#: Options that are given to turn something off.
OFF = ("grid", "zero", "nice", "labelFlush", "labelOverlap")
#: Angles of names: horizontal, vertical, and diagonal.
ANGLES = {0, -90, -30, -35, -40, -45}


def assert_everything_is_visible(
    spec: Any, sizes: dict[str, set[float]] = SIZES, hidden: Sequence[dict[str, Any]] = ()
) -> None:
    """Marks are neither transparent nor too small, and names are readable."""
    for part in parts(spec):
        for name, (least, most) in VISIBLE.items() if part not in hidden else ():
            if isinstance(part.get(name), float | int):
                assert least <= part[name] <= most, (name, part)
        # A matrix has as many pixels as it needs for its rows.
        is_square = part.get("width") == part.get("height") and part.get("width", 0) >= 160
        for name in sizes if not is_square and part not in hidden else ():
            if isinstance(part.get(name), float | int):
                assert part[name] in sizes[name], (name, part[name])
        angle = part.get("labelAngle", 0)
        turned = angle["expr"].split(" ? ")[1].split(" : ") if isinstance(angle, dict) else [angle]
        assert set(map(int, turned)) <= ANGLES
        is_mark = part.get("type") == "point" and "on" not in part  # a pointer has a type, too
        assert not is_mark or isinstance(part.get("filled"), bool), part
        assert not [name for name in OFF if part.get(name) is True], part
        assert part.get("datum", 0) == 0 or (part["datum"] == 1 and '"log"' in json.dumps(spec))


def assert_arrows_point_to_better_values(spec: Any) -> None:
    """Costs are better at the left, or at the top of a reversed axis; gains at the right or top."""
    for part in parts(spec):
        for name in {"x", "y"} & part.keys():
            title = str(part[name].get("title")) if isinstance(part[name], dict) else ""
            if "(better " not in title:
                continue
            is_cost = re.match(r"ASL|rank\b", title) is not None
            way = ("←" if is_cost else "→") if name == "x" else "↑"
            assert title.endswith(f"(better {way})")
            is_reversed = bool((part[name].get("scale") or {}).get("reverse"))
            assert is_reversed == (is_cost and name == "y")


def assert_fields_exist(spec: Any) -> None:
    """Channels and tooltips show columns of the data, or of a transform; numbers are numbers."""
    computed = {
        name
        for part in parts(spec)
        for transform in part.get("transform", ())
        for name in ([transform.get("as")] if isinstance(transform.get("as"), str) else [])
    }
    for encoding, rows in views(spec, spec.get("datasets", {})):
        channels = [c for channel in encoding.values() for c in np.atleast_1d(channel)]
        shown = [c for c in channels if "field" in c and c["field"] not in computed]
        assert not rows or {c["field"] for c in shown} <= rows[0].keys()
        for channel in shown if rows else ():
            values = {type(row.get(channel["field"])) for row in rows} - {type(None)}
            if channel.get("type") == "quantitative":
                assert values <= {int, float}, channel


def summary(chart: Any) -> str:
    """A chart as text: its caption, and by view the mark, channels with scales, and first rows."""
    spec = chart.to_dict()
    lines = [f"{spec['title']['text']}: {' '.join(spec['title']['subtitle'])}"]
    marked = [part for part in parts(spec) if "mark" in part]
    for view, (encoding, rows) in zip(marked, views(spec, spec.get("datasets", {}))):
        shown = {name: of for name, of in encoding.items() if "field" in of}
        channels = "; ".join(_channel(name, of) for name, of in shown.items())
        cells = (" ".join(_short(row.get(of["field"])) for of in shown.values()) for row in rows)
        mark, title = view["mark"], "" if view is spec else view.get("title", "")
        kind = mark["type"] if isinstance(mark, dict) else mark
        title = " ".join([title["text"], *title["subtitle"]]) if isinstance(title, dict) else title
        some = "; ".join([*cells][:: max(1, len(rows) // 4)][:4])
        lines.append(
            f"  {title} {kind}: {channels} | {len(rows)} rows: {some}".replace("   ", "  ")
        )
    return "\n".join(lines)


def _channel(name: str, channel: dict[str, Any]) -> str:
    """Its title, the values of its scale but for colours and sizes, and the order of its names."""
    scale = {key: value for key, value in (channel.get("scale") or {}).items() if key != "range"}
    order = {"sort": channel["sort"]} if isinstance(channel.get("sort"), list) else {}
    options = [f"{key} {_short(value)}" for key, value in (scale | order).items()]
    title = channel.get("title") or channel["field"]
    return f"{name} {title!r}" + f" ({', '.join(options)})" * bool(options)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_short, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
