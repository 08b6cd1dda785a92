"""Saves charts to files, with or without titles."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..common.extras import install_command
from ..common.lazy import alt
from ..io.atomic import check_replaceable, replacing
from .drawing import POINTS

#: Endings of the files that a chart can be saved to.
ENDINGS = (".html", ".svg", ".png", ".pdf")

#: Pixels of a .png per pixel of the chart, in each direction.
PIXELS = 3


def save_chart(
    chart: alt.TopLevelMixin, path: str | Path, *, title: str | None = None, force: bool = False
) -> None:
    """Saves a chart in the format of its file's ending.

    An existing file is replaced only by a complete one.

    Args:
        chart: an Altair chart.
        path: the file; its ending is one of :data:`ENDINGS`. All except ``.html`` need vl-convert.
            With vl-convert a page contains its scripts and opens without a network. A ``.png`` has
            three pixels per pixel of the chart, enough for print.
        title: the heading; ``''`` draws neither heading nor caption.
        force: whether another kind of file is overwritten.

    Raises:
        ValueError: for another ending, or an ending that needs vl-convert without vl-convert.
    """
    check_path(path, force=force)
    ending, converts = Path(path).suffix, find_spec("vl_convert") is not None
    if not converts and ending != ".html":
        raise ValueError(f"{ending} needs vl-convert: {install_command('charts')}, or save .html")
    how: dict[str, dict[str, Any]] = {
        ".html": {"inline": converts},
        ".png": {"scale_factor": PIXELS},
        ".pdf": {"scale_factor": POINTS},
    }
    if title is not None:
        chart = chart.copy(deep=False)
        kept = chart.title._kwds if isinstance(chart.title, alt.TitleParams) else {}
        chart.title = alt.TitleParams(**{**kept, "text": title}) if title else alt.Undefined
    with replacing(path, force=force) as beside:
        chart.save(str(beside), format=ending.removeprefix("."), **how.get(ending, {}))


def check_path(path: str | Path, *, inputs: Iterable[str | Path] = (), force: bool = False) -> None:
    """Checks that a chart can be saved without destroying another file.

    Args:
        path: the file.
        inputs: files and folders that are read and must not be overwritten.
        force: whether another kind of file is overwritten.

    Raises:
        ValueError: for an ending that is not in :data:`ENDINGS`, or without Altair.
        OSError: if the file cannot be written, or is another kind of file.
    """
    if find_spec("altair") is None:
        raise ValueError(f"charts need Altair: {install_command('charts')}")
    if Path(path).suffix not in ENDINGS:
        raise ValueError(f"{path} must end in one of {', '.join(ENDINGS)}")
    if not Path(path).resolve().parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {Path(path).parent}")
    check_replaceable(path, inputs=inputs, force=force)
