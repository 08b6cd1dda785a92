"""Any frame, printed: as a table for the terminal, as LaTeX, or as lines for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from .tables import EVERY_PLACE, formatted, print_whole, printable

if TYPE_CHECKING:
    from rich.table import Table

#: What frames can be printed as.
FORMS = ("table", "tsv", "jsonl", "latex")

#: Columns of p-values, which many places or few must not turn into 0.
_P = ("p", "p_corrected")
#: Columns of numbers that someone chose, which stand as they are.
_CHOSEN = ("alpha", "fraction", "grade", "level")


def write(
    frame: pd.DataFrame,
    form: str,
    *,
    places: int = 4,
    titles: Mapping[str, str] | None = None,
    group_by: str = "",
) -> None:
    """Prints a frame.

    Args:
        frame: what to print; its index is not.
        form: one of :data:`FORMS`.
        places: decimal places; -1: all digits, as JSON lines always have.
        titles: what to call columns before the eye. Programs get the names as they are.
        group_by: a column whose equal neighbours are shown once, with a line between groups.
    """
    if form == "table":
        show(frame, places=places, titles=titles, group_by=group_by)
    elif form == "latex":
        print(latex(frame, places=places, titles=titles), end="")
    elif form == "tsv":
        print(tsv(frame, places=places), end="")
    else:
        print(jsonl(frame), end="")


# For programs


def tsv(frame: pd.DataFrame, *, places: int = 4) -> str:
    """The names of the columns, then a line per row, between tabs; nothing where a value is none.

    >>> tsv(pd.DataFrame({"run": ["a"], "AP": [1 / 3], "p": [2e-7]}), places=2)
    'run\\tAP\\tp\\na\\t0.33\\t2e-07\\n'
    """
    columns = [
        [_for_programs(value, column, places) for value in frame[column]]
        for column in frame.columns
    ]
    lines = [list(map(str, frame.columns)), *map(list, zip(*columns))]
    return "".join("\t".join(line) + "\n" for line in lines)


def _for_programs(value: Any, column: Any, places: int) -> str:
    if column in _P and isinstance(value, float) and not pd.isna(value) and places != EVERY_PLACE:
        return f"{value:.{max(places, 1)}g}"
    plain = _plain(value)
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, list):
        return " ".join(map(str, plain))
    return "" if plain is None else _number_or_text(plain, column, places)


def jsonl(frame: pd.DataFrame) -> str:
    """A JSON object per row, all digits; null where a value is none.

    >>> print(jsonl(pd.DataFrame({"run": ["a", "b"], "AP": [0.25, float("nan")]})), end="")
    {"run": "a", "AP": 0.25}
    {"run": "b", "AP": null}
    """
    columns = {str(name): [_plain(value) for value in frame[name]] for name in frame.columns}
    rows = (dict(zip(columns, row)) for row in zip(*columns.values()))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _plain(value: Any) -> Any:
    """A value as Python's own text, number, truth or list; None for what is missing."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    if pd.isna(value):
        return None
    if hasattr(value, "item"):
        value = value.item()
    return value if isinstance(value, (bool, int, float)) else str(value)


# For papers


def latex(
    frame: pd.DataFrame, *, places: int = 4, titles: Mapping[str, str] | None = None
) -> str:
    """A ``tabular`` with booktabs' rules. It needs ``\\usepackage{booktabs}``."""
    cells = _cells(frame, places, missing="--").rename(columns=dict(titles or {}))
    styler = cells.style.hide(axis="index")
    styler.format(escape="latex")
    styler.format_index(escape="latex", axis="columns")
    layout = "".join("r" if _is_number(frame[name]) else "l" for name in frame.columns)
    # As text these two are other characters in LaTeX's default encoding.
    text = str(styler.to_latex(hrules=True, column_format=layout))
    return text.replace("<", "$<$").replace(">", "$>$")


# For the eye


def show(
    frame: pd.DataFrame,
    *,
    places: int = 4,
    titles: Mapping[str, str] | None = None,
    group_by: str = "",
) -> None:
    """Prints a table as wide as it is; see :func:`write`."""
    from rich.console import Console

    print_whole(
        Console(file=sys.stdout), rich_table(frame, places=places, titles=titles, group_by=group_by)
    )


def rich_table(
    frame: pd.DataFrame,
    *,
    places: int = 4,
    titles: Mapping[str, str] | None = None,
    group_by: str = "",
) -> Table:
    """The table that `show` prints."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for name in frame.columns:
        justify: Any = "right" if _is_number(frame[name]) else "left"
        title = (titles or {}).get(name, str(name))
        table.add_column(Text(title, justify=justify), justify=justify, no_wrap=True)
    cells = _cells(frame, places, missing="-")
    before = None
    for row in cells.to_dict("records"):
        if group_by:
            group = row[group_by]
            if before not in (None, group):
                table.add_section()
            row[group_by] = "" if group == before else group
            before = group
        table.add_row(*(Text(printable(text)) for text in row.values()))
    return table


def _cells(frame: pd.DataFrame, places: int, missing: str) -> pd.DataFrame:
    """What stands in each cell, as text."""
    columns = {
        name: pd.Series(
            [_for_the_eye(value, name, places, missing) for value in frame[name]], dtype=object
        )
        for name in frame.columns
    }
    return pd.DataFrame(columns)


def _for_the_eye(value: Any, column: Any, places: int, missing: str) -> str:
    plain = _plain(value)
    if plain is None:
        return missing
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, list):
        return ", ".join(map(str, plain)) or missing
    if column in _P and isinstance(plain, float) and 0 <= plain < 10**-places:
        return f"<{10**-places:.{max(places, 0)}f}" if places > 0 else f"{plain:.2g}"
    return _number_or_text(plain, column, places)


def _number_or_text(value: Any, column: Any, places: int) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:g}" if column in _CHOSEN else formatted(value, places)


def _is_number(column: pd.Series[Any]) -> bool:
    """Whether a column is set to the right: numbers, also among objects."""
    if pd.api.types.is_bool_dtype(column):
        return False
    if pd.api.types.is_numeric_dtype(column):
        return True
    known = [value for value in map(_plain, column) if value is not None]
    return bool(known) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in known
    )
