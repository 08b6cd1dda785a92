"""Charts into files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..io.atomic import check_replaceable, replacing
from .lazy import alt

#: Endings of the files that a chart can be saved to.
ENDINGS = (".html", ".svg", ".png", ".pdf")

#: Pixels of a picture for each of the chart, in each direction.
PIXELS = 3


def save_chart(
    chart: Any, path: str | Path, *, width: str | int | None = None, title: bool = True,
    force: bool = False,
) -> None:  # fmt: skip
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
        chart = _for_paper(chart, width, title)
    with replacing(path, force=force) as beside:
        chart.save(str(beside), format=ending.removeprefix("."), **how.get(ending, {}))


def _for_paper(chart: Any, width: str | int | None, title: bool) -> Any:
    """The chart in that width, with its title or without."""
    from .sizes import WIDTHS, drawn_width, fitted, without_titles

    spec = chart.to_dict()
    if not title:
        spec = without_titles(spec)
    if isinstance(width, str) and width not in WIDTHS:
        raise ValueError(f"width {width!r} is none of {', '.join(WIDTHS)}, and no number")
    if width is not None:
        points = WIDTHS[width] if isinstance(width, str) else width
        spec = fitted(spec, points, drawn_width)
    return alt.Chart.from_dict(spec)


def check_path(
    path: str | Path, *, inputs: Iterable[str | Path] = (), force: bool = False
) -> None:
    """That a chart can be saved there without destroying another file.

    Args:
        path: the file.
        inputs: files and folders that are read: none of them, and nothing in them, is written.
        force: whether a file of another kind is overwritten.

    Raises:
        ValueError: for another ending than those of :data:`ENDINGS`.
        OSError: where the file cannot be written, or is another one.
    """
    if Path(path).suffix not in ENDINGS:
        raise ValueError(f"{path} must end in one of {', '.join(ENDINGS)}")
    if not Path(path).resolve().parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {Path(path).parent}")
    check_replaceable(path, inputs=inputs, force=force)


class _ForPages(json.JSONEncoder):
    """What stands in a script of a page, which no name of a run may end."""

    def encode(self, o: Any) -> str:
        return super().encode(o).replace("<", "\\u003c")
