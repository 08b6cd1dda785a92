"""Parts of figures in Vega-Lite: rows, columns, channels and tooltips."""

from __future__ import annotations

from typing import Any, TypeAlias

#: A part of a specification.
Part: TypeAlias = dict[str, Any]


def rows(shown: list[Any]) -> Part:
    """The data of a figure with rows that do not depend on the selection."""
    return {"data": {"name": "rows"}, "datasets": {"rows": shown}}


def calculated(**columns: str) -> list[Part]:
    """New columns by their expressions."""
    return [{"calculate": expression, "as": name} for name, expression in columns.items()]


def numbers(field: str, **how: Any) -> Part:
    """A channel of numbers."""
    return {"field": field, "type": "quantitative", **how}


def names(field: str, **how: Any) -> Part:
    """A channel of names."""
    return {"field": field, "type": "nominal", **how}


def by_measure(text: str) -> Part:
    """An axis whose title begins with the selected measure."""
    return {"title": {"expr": f"measure + {text!r}"}}


def tips(**formats: str) -> list[Part]:
    """Columns of a tooltip with their formats; '' for text."""
    return [numbers(name, format=form) if form else names(name) for name, form in formats.items()]
