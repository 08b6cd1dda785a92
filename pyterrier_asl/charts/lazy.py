"""Altair, imported when a chart is first drawn: listing the analyses does not wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..io.lazy import Lazy

__all__ = ["alt"]

if TYPE_CHECKING:
    import altair as alt
else:
    alt = Lazy("altair")
