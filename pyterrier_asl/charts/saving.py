"""Charts into files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .._atomic import replacing

#: Endings of the files that a chart can be saved to.
ENDINGS = (".html", ".svg", ".png", ".pdf")


def save_chart(chart: Any, path: str | Path) -> None:
    """Saves a chart as its file's ending says; a page that opens without a network if it can.

    A file that is there is replaced by a whole one or not at all.

    Args:
        chart: an Altair chart.
        path: the file; its ending is one of :data:`ENDINGS`. All but ``.html`` need vl-convert,
            and with it a page holds the code that it draws with.

    Raises:
        ValueError: for another ending, or one that needs vl-convert where there is none.
    """
    ending = Path(path).suffix
    if ending not in ENDINGS:
        raise ValueError(f"{path} must end in one of {', '.join(ENDINGS)}")
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        if ending != ".html":
            raise ValueError(
                f"{ending} needs vl-convert: pip install 'pyterrier-asl[charts]', or save .html"
            ) from None
        how: dict[str, Any] = {}
    else:
        how = {"inline": True} if ending == ".html" else {}
    if ending == ".html":
        how["json_kwds"] = {"cls": _ForPages}
    with replacing(path) as beside:
        chart.save(str(beside), format=ending.removeprefix("."), **how)


class _ForPages(json.JSONEncoder):
    """What stands in a script of a page, which no name of a run may end."""

    def encode(self, o: Any) -> str:
        return super().encode(o).replace("<", "\\u003c")
