"""Charts into files: for a paper as wide as a column or a page, and without their titles."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..io.atomic import check_replaceable, replacing
from ..io.processes import check_address_space
from .lazy import alt

#: Endings of the files that a chart can be saved to.
ENDINGS = (".html", ".svg", ".png", ".pdf")

#: Pixels of a picture for each of the chart, in each direction.
PIXELS = 3

#: Widths by name, in points: a column and the text of a page of two columns (ACM, IEEE, LNCS).
WIDTHS = {"column": 241, "page": 505}

#: The height of the text of a page, in points.
PAGE_HEIGHT = 660

#: Below this, panels side by side stand one below the other, and so do the entries of legends.
_NARROW = 400

#: Mean width of a character of a title and of a caption, in pixels.
_TITLE, _CAPTION = 7.4, 6.4

#: Factors of the widths of views that are tried until the picture fits, and the largest factor.
_NARROWER, _MOST = (0.4, 0.2, 0.02), 4.0

#: Factors of the heights of views that are tried until a picture is no higher than a page.
_LOWER = (1, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2)

#: Pixels by which a picture may be narrower than wanted.
_CLOSE = 2

Spec = dict[str, Any]


#: Gigabytes of address space that vl-convert reserves; with less it ends the process.
CONVERTER_SPACE = 72


def save_chart(
    chart: Any,
    path: str | Path,
    *,
    width: str | int | None = None,
    title: bool = True,
    force: bool = False,
) -> None:
    """Saves a chart as its file's ending says; a page that opens without a network if it can.

    A file that is there is replaced by a whole one or not at all.

    Args:
        chart: an Altair chart.
        path: the file; its ending is one of :data:`ENDINGS`. All but ``.html`` need vl-convert,
            and with it a page holds the code that it draws with. A ``.png`` has three pixels for
            each of the chart, enough for print.
        width: of the whole picture: ``'column'`` or ``'page'`` of a paper, or points; None: as the
            chart says.
        title: whether to draw title and caption.
        force: whether a file of another kind is overwritten.

    Raises:
        ValueError: for another ending, or one that needs vl-convert where there is none.
        MemoryError: where ``ulimit -v`` leaves vl-convert too little address space.
    """
    check_path(path, force=force)
    ending = Path(path).suffix
    converts = find_spec("vl_convert") is not None
    if not converts and (ending != ".html" or width is not None):
        what = ending if width is None else f"width={width!r}"
        raise ValueError(
            f"{what} needs vl-convert: pip install 'pyterrier-asl[charts]', or save .html"
        )
    how: dict[str, dict[str, Any]] = {
        ".html": {"inline": converts, "json_kwds": {"cls": _ForPages}},
        ".png": {"scale_factor": PIXELS},
    }
    if width is not None or not title:
        chart = for_paper(chart, width, title)
    with replacing(path, force=force) as beside:
        chart.save(str(beside), format=ending.removeprefix("."), **how.get(ending, {}))


def for_paper(chart: Any, width: str | int | None, title: bool) -> Any:
    """The chart in that width, no higher than a page, with its title or without.

    Args:
        chart: an Altair chart.
        width: see :func:`save_chart`.
        title: whether to draw title and caption.
    """
    spec = chart.to_dict()
    if not title:
        spec = without_titles(spec)
    if isinstance(width, str) and width not in WIDTHS:
        raise ValueError(f"width {width!r} is none of {', '.join(WIDTHS)}, and no number")
    if width is not None:
        points = WIDTHS[width] if isinstance(width, str) else width
        spec = lowered(fitted(spec, points, drawn_width), PAGE_HEIGHT, drawn_height)
    return alt.Chart.from_dict(spec)


def check_path(path: str | Path, *, inputs: Iterable[str | Path] = (), force: bool = False) -> None:
    """That a chart can be saved there without destroying another file.

    Args:
        path: the file.
        inputs: files and folders that are read: none of them, and nothing in them, is written.
        force: whether a file of another kind is overwritten.

    Raises:
        ValueError: for another ending than those of :data:`ENDINGS`, or where there is no Altair.
        OSError: where the file cannot be written, or is another one.
        MemoryError: where ``ulimit -v`` leaves vl-convert too little address space.
    """
    if find_spec("altair") is None:
        raise ValueError("charts need Altair: pip install 'pyterrier-asl[charts]'")
    if find_spec("vl_convert") is not None:
        check_address_space(CONVERTER_SPACE, "a chart")
    if Path(path).suffix not in ENDINGS:
        raise ValueError(f"{path} must end in one of {', '.join(ENDINGS)}")
    if not Path(path).resolve().parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {Path(path).parent}")
    check_replaceable(path, inputs=inputs, force=force)


class _ForPages(json.JSONEncoder):
    """What stands in a script of a page, which no name of a run may end."""

    def encode(self, o: Any) -> str:
        return super().encode(o).replace("<", "\\u003c")


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
    while panels > 1 and measured(_scaled({**whole, "columns": panels}, 0.35)) > width:
        panels -= 1
    if "columns" in whole:
        whole["columns"] = panels
    return _scaled(whole, _factor(whole, width, measured))


def lowered(spec: Spec, height: int, measured: Callable[[Spec], float]) -> Spec:
    """The specification with lower views, if it is drawn higher than ``height``."""
    for factor in _LOWER:
        lower = _scaled(spec, factor, "height") if factor < 1 else spec
        if measured(lower) <= height:
            break
    return lower


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
        # The text centred over a very narrow view can extend beyond it: the widest view goes first.
        for low in _NARROWER:
            if (below := excess(low)) <= 0:
                break
            high, above = low, below
        else:
            low = _NARROWER[0]
    for step in range(8):
        if not -below > _CLOSE:
            break
        chord = low - below * (high - low) / (above - below)
        factor = (low + high) / 2 if step % 2 else chord
        if (over := excess(factor)) > 0:
            high, above = factor, over
        else:
            low, below = factor, over
    return low


def _one_below_the_other(spec: Any) -> Any:
    """Panels that stand side by side, and entries of legends, in one column."""
    if isinstance(spec, list):
        return [_one_below_the_other(part) for part in spec]
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


def _scaled(spec: Spec, factor: float, side: str = "width") -> Spec:
    """One side of all views times a factor; square views stay square."""
    least, usual, other = (8.0, 300, "height") if side == "width" else (9.0, 200, "width")
    scaled = deepcopy(spec)
    for part in _parts(scaled):
        size = part.get(side)
        square = size is not None and size == part.get(other)
        if isinstance(size, dict):
            part[side] = {"step": max(min(least, size["step"]), size["step"] * factor)}
        elif isinstance(size, (int, float)):
            part[side] = max(30.0, size * factor)
        elif "mark" in part:
            part[side] = max(30.0, usual * factor)
        if square:
            part[other] = part[side]
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
    return _drawn(spec, "width")


def drawn_height(spec: Spec) -> float:
    """How high vl-convert draws a specification, in pixels."""
    return _drawn(spec, "height")


def _drawn(spec: Spec, side: str) -> float:
    import vl_convert

    size = re.search(rf'<svg[^>]*? {side}="([\d.]+)"', vl_convert.vegalite_to_svg(spec))
    assert size is not None
    return float(size.group(1))
