"""How the command prints a comparison."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..io import table_forms, tables
from ..io.printed import Part, print_parts
from .result import TITLES, RunComparison


def print_comparison(
    compared: RunComparison,
    form: str,
    *,
    places: int = 4,
    show: str | None = None,
    texts: Mapping[str, str] | None = None,
    wide: bool = False,
    all_rows: bool = False,
) -> None:
    """Prints a comparison.

    Args:
        compared: the comparison.
        form: one of :data:`.io.tables.FORMS`. A table comes with sentences and notes, of a guard
            only with ``all_rows``; the other forms print one frame.
        places: decimal places; -1: all digits.
        show: ``'queries'``, ``'documents'`` (the relevant documents that moved), or the means.
        texts: the text of queries, by id.
        wide: whether a table has all columns, even where lines wrap.
        all_rows: whether a terminal shows all rows of a long table, and a guard its notes.
    """
    size: dict[str, Any] = {"places": places, "wide": wide, "all_rows": all_rows}
    if form == "table":
        ascii_only = not table_forms.has_arrows(sys.stdout)
        means = compared.means(ascii_only=ascii_only)
        is_short = compared.inputs.conditions and not all_rows
        short = [Part(), means, *map(Part, ["", *compared.notes] if compared.notes else [])]
        parts = short if is_short else compared.parts(means)
        if show == "queries":
            frame = _with_text(compared.differences(), texts)
            what = "B - A by query, the largest loss by the first measure first:"
            parts.append(Part(what, frame, {"titles": TITLES}))
        if show == "documents":
            parts += compared.documents(None) if all_rows else compared.documents()
        print_parts(parts, **size)
    elif show == "queries":
        frame = _with_text(compared.of_one(compared.by_query), texts)
        tables.write(frame, form, places=places)
    elif show == "documents":
        tables.write(compared.of_one(compared.moved), form, places=places)
    elif form == "latex":
        print(compared.to_latex(places=places), end="")
    elif form == "markdown":
        means = compared.means()
        assert means.table is not None
        tables.write(means.table, form, places=places, **means.style)
    else:
        table = compared.table if compared.by_track is None else compared.by_track
        tables.write(compared.of_one(table), form, places=places)


def _with_text(frame: pd.DataFrame, texts: Mapping[str, str] | None) -> pd.DataFrame:
    return frame.assign(query=frame["qid"].map(str).map(texts).fillna("")) if texts else frame
