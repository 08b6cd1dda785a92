"""Altair, imported when a chart is first drawn: listing the analyses does not wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["alt"]

if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        """Stands for the module until something of it is asked for."""

        def __getattr__(self, name: str) -> Any:
            import altair

            return getattr(altair, name)

    alt = _Altair()
