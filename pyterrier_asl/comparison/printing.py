"""Printing of comparisons of runs with a baseline, human-readable and machine-readable."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..io import table_forms, tables
from ..io.printed import Part, print_parts

if TYPE_CHECKING:
    from .result import RunComparison

#: The default number of moved documents in a table.
MOVED = 5

_TITLES = {
    "a": "A",
    "b": "B",
    "difference": "B - A",
    "ci_low": "from",
    "ci_high": "to",
    "low": "least",
    "high": "greatest",
    "p_corrected": "p",
    "qid": "query",
    "docno": "relevant document",
    "found": "retrieved by",
}


def print_comparison(
    compared: RunComparison,
    form: str,
    *,
    places: int = 4,
    by_query: bool = False,
    moved: int | None = None,
    texts: Mapping[str, str] | None = None,
    wide: bool = False,
    all_rows: bool = False,
) -> None:
    """Prints a comparison.

    Args:
        compared: the comparison.
        form: one of :data:`.io.tables.FORMS`. A table comes with notes and moved documents; the
            other forms print one frame: the queries with ``by_query``, the documents with
            ``moved``, else the measures.
        places: decimal places; -1: all digits.
        by_query: whether to print the queries.
        moved: how many documents to print; None: in a table :data:`MOVED`, else none.
        texts: the text of queries, by id.
        wide: whether a terminal shows all columns, even where lines wrap.
        all_rows: whether a terminal shows all rows of a long table.
    """
    size: dict[str, Any] = {"places": places, "wide": wide, "all_rows": all_rows}
    if form == "table":
        parts = means_parts(compared)
        if by_query:
            frame = _with_text(compared.differences(), texts)
            what = "B - A by query, the largest loss by the first measure first:"
            parts.append(Part(what, frame, {"titles": _TITLES}))
        if moved != 0:
            parts += moved_parts(compared, MOVED if moved is None else moved)
        print_parts(parts, **size)
    elif by_query:
        tables.write(_with_text(_of_one(compared, compared.by_query), texts), form, places=places)
    elif moved is not None:
        tables.write(_of_one(compared, compared.moved).head(moved), form, places=places)
    elif form == "latex":
        print(compared.to_latex(places=places), end="")
    elif form == "markdown":
        tables.write(_human_readable(compared), form, places=places, **_style(compared))
    elif compared.by_track is not None:
        tables.write(compared.by_track, form, places=places)
    else:
        tables.write(_of_one(compared, compared.table), form, places=places)


def means_parts(compared: RunComparison) -> list[Part]:
    """The names of the runs, the table of measures, and its notes.

    Of several collections the table has the means of all together, then of each.
    """
    head = [*compared.sentences(), "", f"A: {compared.baseline} (baseline)"]
    if len(compared.runs) == 1:
        head.append(f"B: {compared.runs[0]}")
    frame = _human_readable(compared)
    ascii_only = not table_forms.has_arrows(sys.stdout)
    frame["measure"] = [
        f"{name} {tables.arrow(compared.higher_is_better[name], ascii_only)}".rstrip()
        for name in frame["measure"]
    ]
    group = "track" if "track" in frame else "run"
    means = Part(table=frame, style={**_style(compared), "group_by": group})
    return [*map(Part, head), Part(), means, Part(), *map(Part, compared.notes())]


def moved_parts(compared: RunComparison, moved: int = MOVED) -> list[Part]:
    """The numbers of relevant documents that each run retrieved, and those that moved farthest."""
    parts = [Part()] if len(compared.retrieved) else []
    for row in compared.retrieved.to_dict("records"):
        total = row["both"] + row["A"] + row["B"] + row["neither"]
        of = "" if len(compared.runs) == 1 else f" ({row['run']})"
        sentence = (
            f"Relevant documents{of}: {total:,}. Retrieved by both runs: {row['both']:,} (in B "
            f"with fewer irrelevant documents above: {row['nearer']:,}; with more: "
            f"{row['farther']:,}). "
            f"Retrieved by A only: {row['A']:,}; by B only: {row['B']:,}; by neither: "
            f"{row['neither']:,}."
        )
        parts.append(Part(sentence))
    if moved and len(compared.moved):
        what = "Those that moved farthest, by search length (irrelevant documents above, + 1):"
        frame = _of_one(compared, compared.moved).head(moved)
        parts += [Part(what), Part(), Part(table=frame, style={"titles": _TITLES})]
    return parts


def _of_one(compared: RunComparison, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame, for a single run without the column that names it."""
    return frame.drop(columns="run") if len(compared.runs) == 1 else frame


def _with_text(frame: pd.DataFrame, texts: Mapping[str, str] | None) -> pd.DataFrame:
    return frame.assign(query=frame["qid"].map(str).map(texts).fillna("")) if texts else frame


def _human_readable(compared: RunComparison) -> pd.DataFrame:
    """The measures with one p-value, which comes first of what fits no narrow terminal."""
    p = "p" if compared.options.correction == "none" else "p_corrected"
    table = compared.table if compared.by_track is None else compared.by_track
    names = [
        "track",
        "run",
        "measure",
        "a",
        "b",
        "difference",
        "ci_low",
        "ci_high",
        p,
        "low",
        "high",
    ]
    names += ["effect", "wins", "losses", "ties"]
    return _of_one(compared, table[[name for name in names if name in table]])


def _style(compared: RunComparison) -> dict[str, Any]:
    titles = {**_TITLES, "p_corrected": f"p ({compared.options.correction})"}
    return {"titles": titles, "zero_p": compared.zero_p}
