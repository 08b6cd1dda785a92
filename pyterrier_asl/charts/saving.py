"""Charts into files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: Endings of the files that a chart can be saved to.
ENDINGS = (".html", ".svg", ".png", ".pdf")


def save_chart(chart: Any, path: str | Path) -> None:
    """Saves a chart as its file's ending says; a page that opens without a network if it can.

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
        chart.save(str(path))
    else:
        chart.save(str(path), **({"inline": True} if ending == ".html" else {}))
