"""Altair, imported for the first chart, so that listing the analyses is quick."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..io.lazy import Lazy

__all__ = ["alt"]

if TYPE_CHECKING:
    import altair as alt
else:
    alt = Lazy("altair")
