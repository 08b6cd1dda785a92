"""A title and a caption over a chart: what it shows, and how to read it."""

from __future__ import annotations

import textwrap
from typing import Any

from .lazy import alt


def captioned(chart: Any, title: str, caption: str, width: int = 90) -> Any:
    """The chart under a title and a caption.

    Args:
        chart: an Altair chart.
        title: what it shows, in a few words.
        caption: how to read it; it is broken into lines.
        width: characters a line.
    """
    lines = textwrap.wrap(caption, width)
    return chart.properties(
        title=alt.TitleParams(
            title, subtitle=lines, anchor="start", subtitleColor="gray", offset=12
        )
    )
