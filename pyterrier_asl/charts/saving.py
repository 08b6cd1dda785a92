"""Saves charts to files, for papers as wide as a column or a page, with or without titles."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..io.atomic import check_replaceable, replacing
from ..io.lazy import alt
from ..io.processes import check_address_space

#: Endings of the files that a chart can be saved to.
ENDINGS = (".html", ".svg", ".png", ".pdf")

#: Pixels of a .png per pixel of the chart, in each direction.
PIXELS = 3

#: Widths by name, in points: a column and the text of a page of two columns (ACM, IEEE, LNCS).
WIDTHS = {"column": 241, "page": 506}

#: The height of the text of a page, in points.
PAGE_HEIGHT = 660

#: Below this width, panels and the entries of legends are one below the other.
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


def save_chart(
    chart: alt.TopLevelMixin,
    path: str | Path,
    *,
    width: str | int | None = None,
    title: bool = True,
    force: bool = False,
) -> None:
    """Saves a chart in the format of its file's ending.

    An existing file is replaced only by a complete one.

    Args:
        chart: an Altair chart.
        path: the file; its ending is one of :data:`ENDINGS`. All except ``.html`` need vl-convert.
            With vl-convert a page contains its scripts and opens without a network. A ``.png`` has
            three pixels per pixel of the chart, enough for print.
        width: the width of the whole picture: ``'column'`` or ``'page'`` of a paper, or points;
            None: the width of the chart.
        title: whether to draw title and caption.
        force: whether another kind of file is overwritten.

    Raises:
        ValueError: for another ending, or an ending that needs vl-convert without vl-convert.
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


def for_paper(chart: alt.TopLevelMixin, width: str | int | None, title: bool) -> alt.TopLevelMixin:
    """The chart in a width, no higher than a page, with or without its title.

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
        spec = fitted(spec, points, partial(drawn, side="width"))
        spec = lowered(spec, PAGE_HEIGHT, partial(drawn, side="height"))
    return alt.Chart.from_dict(spec)


def check_path(path: str | Path, *, inputs: Iterable[str | Path] = (), force: bool = False) -> None:
    """Checks that a chart can be saved without destroying another file.

    Args:
        path: the file.
        inputs: files and folders that are read and must not be overwritten.
        force: whether another kind of file is overwritten.

    Raises:
        ValueError: for an ending that is not in :data:`ENDINGS`, or without Altair.
        OSError: if the file cannot be written, or is another kind of file.
        MemoryError: where ``ulimit -v`` leaves vl-convert too little address space.
    """
    if find_spec("altair") is None:
        raise ValueError("charts need Altair: pip install 'pyterrier-asl[charts]'")
    check_converter("a chart")
    if Path(path).suffix not in ENDINGS:
        raise ValueError(f"{path} must end in one of {', '.join(ENDINGS)}")
    if not Path(path).resolve().parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {Path(path).parent}")
    check_replaceable(path, inputs=inputs, force=force)


def check_converter(what: str) -> None:
    """Checks that vl-convert, if it is installed, has the address space that it reserves.

    With less it would end the process.

    Args:
        what: the part of this package that needs it.

    Raises:
        MemoryError: where ``ulimit -v`` leaves too little.
    """
    if find_spec("vl_convert") is not None:
        check_address_space(72, what)


class _ForPages(json.JSONEncoder):
    """Writes JSON for a script of a page so that no name of a run can end the script."""

    def encode(self, o: Any) -> str:
        return super().encode(o).replace("<", "\\u003c")


def without_titles(spec: Spec) -> Spec:
    """The Vega-Lite specification without title and caption; slices keep their names.

    >>> without_titles({"title": {"text": "Ties", "subtitle": ["How to read it."]}, "mark": "bar"})
    {'mark': 'bar'}
    """
    bare = {name: deepcopy(value) for name, value in spec.items() if name != "title"}
    for part in bare.get("vconcat", []):
        if isinstance(part.get("title"), dict) and "subtitle" in part["title"]:
            part["title"] = part["title"]["text"].rpartition(": ")[2]
    return bare


def fitted(spec: Spec, width: int, measured: Callable[[Spec], float]) -> Spec:
    """The specification drawn in a width; views become narrower or wider, letters do not.

    Args:
        spec: the specification in Vega-Lite.
        width: the width of the picture with axes and legends, in pixels.
        measured: gives the width in which a specification is drawn.
    """
    whole = _wrapped(deepcopy(spec), width)
    if width < _NARROW:
        whole = _one_below_the_other(whole)
    while "columns" in whole and whole["columns"] > 1 and measured(_scaled(whole, 0.35)) > width:
        whole["columns"] -= 1
    return _scaled(whole, _factor(whole, width, measured))


def lowered(spec: Spec, height: int, measured: Callable[[Spec], float]) -> Spec:
    """The specification with lower views if the picture is higher than ``height``."""
    for factor in _LOWER:
        lower = _scaled(spec, factor, "height") if factor < 1 else spec
        if measured(lower) <= height:
            break
    return lower


def _factor(spec: Spec, width: int, measured: Callable[[Spec], float]) -> float:
    """The factor for the widths of the views that makes the picture as wide as ``width``.

    Letters and legends do not shrink, so the factor is searched. The width of the picture is nearly
    linear in the factor, hence false position. Names next to narrow views can make it constant,
    hence bisection in every second step.
    """

    def excess(factor: float) -> float:
        return measured(_scaled(spec, factor)) - width

    low = high = 1.0
    below = above = excess(1.0)
    # The text centred over a very narrow view can extend beyond it: the widest view goes first.
    for factor in _NARROWER if above > 0 else (_MOST,):
        if (over := excess(factor)) <= 0:
            low, below = factor, over
            break
        high, above = factor, over
    if below > 0:
        return _NARROWER[0]
    for step in range(8):
        if below >= -_CLOSE or above <= 0:
            break
        chord = low - below * (high - low) / (above - below)
        factor = (low + high) / 2 if step % 2 else chord
        if (over := excess(factor)) > 0:
            high, above = factor, over
        else:
            low, below = factor, over
    return low


def _one_below_the_other(spec: Any) -> Any:
    """The specification with panels and entries of legends in one column."""
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
    """The specification with titles and captions broken into lines that fit."""
    for part in _parts(spec):
        title = part.get("title")
        if isinstance(title, dict) and "subtitle" in title:
            caption = title["subtitle"]
            joined = caption if isinstance(caption, str) else " ".join(caption)
            title["subtitle"] = textwrap.wrap(joined, int(width / _CAPTION))
            title["text"] = textwrap.wrap(title["text"], int(width / _TITLE))
    return spec


def _scaled(spec: Spec, factor: float, side: str = "width") -> Spec:
    """The specification with one side of all views times a factor; squares stay squares."""
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
    """A specification and the views in it, except the layers of a view."""
    yield spec
    for name in ("concat", "hconcat", "vconcat"):
        for part in spec.get(name, []):
            yield from _parts(part)
    if "spec" in spec:
        yield from _parts(spec["spec"])


def drawn(spec: Spec, side: str) -> float:
    """The width or the height with which vl-convert draws a specification, in pixels."""
    import vl_convert

    size = re.search(rf'<svg[^>]*? {side}="([\d.]+)"', vl_convert.vegalite_to_svg(spec))
    assert size is not None
    return float(size.group(1))
