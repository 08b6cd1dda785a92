"""Charts for a paper: as wide as a column or a page, and without their titles."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

#: Widths by name, in points: a column and the text of a page of two columns (ACM, IEEE, LNCS).
WIDTHS = {"column": 241, "page": 505}

#: Below this, panels side by side stand one below the other, and so do the entries of legends.
_NARROW = 400

#: Mean width of a character of a title and of a caption, in pixels.
_TITLE, _CAPTION = 7.4, 6.4

#: The least factors of the widths of views, the first that fits, and the largest.
_LEAST, _MOST = (0.02, 0.2, 0.4), 4.0

#: Pixels by which a picture may be narrower than wanted.
_CLOSE = 2

Spec = dict[str, Any]


def without_titles(spec: Spec) -> Spec:
    """The Vega-Lite specification without title and caption; of slices their names stay.

    >>> without_titles({"title": {"text": "Ties", "subtitle": ["How to read it."]}, "mark": "bar"})
    {'mark': 'bar'}
    """
    bare = {name: deepcopy(value) for name, value in spec.items() if name != "title"}
    for part in bare.get("vconcat", []):
        if isinstance(part.get("title"), dict) and "subtitle" in part["title"]:
            part["title"] = part["title"]["text"].rpartition(": ")[2]
    return bare


def fitted(spec: Spec, width: int, measured: Callable[[Spec], float]) -> Spec:
    """The specification drawn as wide as ``width``: its views change, its letters do not.

    Args:
        spec: in Vega-Lite.
        width: of the whole picture with its axes and legends, in pixels.
        measured: how wide a specification is drawn.
    """
    whole = _wrapped(deepcopy(spec), width)
    if width < _NARROW:
        whole = _one_below_the_other(whole)
    panels = int(whole.get("columns", 1))
    while panels > 1 and measured(_scaled({**whole, "columns": panels}, 0.5)) > width:
        panels -= 1
    if "columns" in whole:
        whole["columns"] = panels
    return _scaled(whole, _factor(whole, width, measured))


def _factor(spec: Spec, width: int, measured: Callable[[Spec], float]) -> float:
    """The factor for the widths of the views with which the whole is as wide as ``width``.

    Letters and legends do not shrink, so it is looked for: by false position, because the width of
    the whole is nearly linear in the factor, in turn with bisection, because names beside narrow
    views can make it constant.
    """

    def excess(factor: float) -> float:
        return measured(_scaled(spec, factor)) - width

    high, above = 1.0, excess(1.0)
    if above <= 0:
        low, below = high, above
        high, above = _MOST, excess(_MOST)
        if above <= 0:
            return high
    else:
        # What is centred over a view that is too narrow can stick out of it.
        for low in _LEAST:
            if (below := excess(low)) <= 0:
                break
    for step in range(8):
        if not -below > _CLOSE:
            break
        chord = low - below * (high - low) / (above - below)
        factor = (low + high) / 2 if step % 2 else chord
        if (found := excess(factor)) > 0:
            high, above = factor, found
        else:
            low, below = factor, found
    return low


def _one_below_the_other(spec: Any) -> Any:
    """Panels that stand side by side, and entries of legends, in one column."""
    if isinstance(spec, list):
        return [_one_below_the_other(each) for each in spec]
    if not isinstance(spec, dict):
        return spec
    narrow = {
        "vconcat" if name == "hconcat" else name: _one_below_the_other(value)
        for name, value in spec.items()
    }
    if isinstance(narrow.get("legend"), dict) and "columns" in narrow["legend"]:
        narrow["legend"]["columns"] = 1
    return narrow


def _wrapped(spec: Spec, width: int) -> Spec:
    """Titles and captions in lines that fit."""
    for part in _parts(spec):
        title = part.get("title")
        if isinstance(title, dict) and "subtitle" in title:
            caption = title["subtitle"]
            joined = caption if isinstance(caption, str) else " ".join(caption)
            title["subtitle"] = textwrap.wrap(joined, int(width / _CAPTION))
            title["text"] = textwrap.wrap(title["text"], int(width / _TITLE))
    return spec


def _scaled(spec: Spec, factor: float) -> Spec:
    """The widths of all views times a factor; square views stay square."""
    scaled = deepcopy(spec)
    for part in _parts(scaled):
        width = part.get("width")
        square = width is not None and width == part.get("height")
        if isinstance(width, dict):
            part["width"] = {"step": max(8.0, width["step"] * factor)}
        elif isinstance(width, (int, float)):
            part["width"] = max(30.0, width * factor)
        elif "mark" in part:
            part["width"] = max(30.0, 300 * factor)
        if square:
            part["height"] = part["width"]
    return scaled


def _parts(spec: Spec) -> Iterator[Spec]:
    """A specification and the views in it, but for the layers of a view."""
    yield spec
    for name in ("concat", "hconcat", "vconcat"):
        for part in spec.get(name, []):
            yield from _parts(part)
    if "spec" in spec:
        yield from _parts(spec["spec"])


def drawn_width(spec: Spec) -> float:
    """How wide vl-convert draws a specification, in pixels."""
    import vl_convert

    found = re.search(r'<svg[^>]*? width="([\d.]+)"', vl_convert.vegalite_to_svg(spec))
    assert found is not None
    return float(found.group(1))
