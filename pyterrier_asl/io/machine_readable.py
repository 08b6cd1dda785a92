"""Machine-readable tables: tab-separated values and JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    import pandas as pd

#: A table: a frame, or its columns by name.
Columns: TypeAlias = "pd.DataFrame | Mapping[str, Sequence[Any]]"

#: The number of places for all digits, as in ir_measures.
EVERY_PLACE = -1

#: Columns of p-values, which are not rounded to 0.
P_VALUES = ("p", "p_corrected", "p_a", "p_b")
#: Columns of parameters, which are printed without further decimals.
_CHOSEN = ("alpha", "fraction", "grade", "level")


def column_lists(table: Columns) -> dict[Any, list[Any]]:
    """The columns of a table by name."""
    columns: dict[Any, Any] = {name: table[name] for name in cast(Any, table)}
    return {
        name: column.tolist() if hasattr(column, "tolist") else list(column)
        for name, column in columns.items()
    }


def rows_per_value(scores: Columns, *, with_run: bool = True) -> dict[str, list[Any]]:
    """Values of measures with one row per value, as the command of ir_measures prints them.

    Args:
        scores: columns ``run``, ``qid`` if there is one row per query, ``track`` if there are
            several, and one column per measure.
        with_run: whether rows begin with the run.

    Returns:
        Columns ``run``, ``query_id`` if there are queries, ``measure`` and ``value``.

    >>> scores = {"run": ["bm25"], "AP": [0.25], "ASL@1000": [186.4]}
    >>> list(tsv_lines(rows_per_value(scores), header=False, places=2))
    ['bm25\\tAP\\t0.25', 'bm25\\tASL@1000\\t186.40']
    """
    columns = column_lists(scores)
    keys = {"track": "track", "run": "run", "qid": "query_id"}
    measures = [name for name in columns if name not in keys]
    if not with_run:
        del keys["run"]
    rows = {
        title: [value for value in columns[key] for _ in measures]
        for key, title in keys.items()
        if key in columns
    }
    values = zip(*(columns[name] for name in measures))
    return {
        **rows,
        "measure": measures * len(columns["run"]),
        "value": [float(value) for row in values for value in row],
    }


def join_tracks(parts: Mapping[str, Columns]) -> dict[str, list[Any]]:
    """Tables with the same columns as one table, with their names in the column ``track``.

    Raises:
        ValueError: for different columns.

    >>> join_tracks({"x": {"run": ["a"], "AP": [0.5]}, "y": {"run": ["a"], "AP": [0.25]}})
    {'track': ['x', 'y'], 'run': ['a', 'a'], 'AP': [0.5, 0.25]}
    """
    tables = {track: column_lists(part) for track, part in parts.items()}
    first = next(iter(tables.values()))
    for track, columns in tables.items():
        if list(columns) != list(first):
            raise ValueError(f"{track} has other measures than the other tracks: name measures")
    joined = {
        name: [value for columns in tables.values() for value in columns[name]] for name in first
    }
    sizes = {track: len(next(iter(columns.values()))) for track, columns in tables.items()}
    return {"track": [track for track, size in sizes.items() for _ in range(size)], **joined}


def tsv_lines(table: Columns, *, header: bool = True, places: int = 4) -> Iterator[str]:
    r"""The names of the columns, then one line per row, with tabs; missing values are empty.

    In text, tabs, line feeds, carriage returns and backslashes are written as ``\t``, ``\n``,
    ``\r`` and a double backslash.

    >>> list(tsv_lines({"run": ["a"], "AP": [1 / 3], "p": [2e-7]}, places=2))
    ['run\tAP\tp', 'a\t0.33\t2e-07']
    """
    columns = {
        name: [_cell(value, name, places) for value in values]
        for name, values in column_lists(table).items()
    }
    if header:
        yield "\t".join(_escape(str(name)) for name in columns)
    yield from map("\t".join, zip(*columns.values()))


_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def _escape(text: str) -> str:
    """Text without tabs and line feeds, as escapes; a backslash is doubled."""
    return text.translate(_ESCAPES) if any(c in text for c in "\\\t\n\r") else text


_ESCAPED = re.compile(r"\\([\\tnr])")
_CHARACTERS = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def text_of_cell(cell: str) -> str:
    r"""The text of a cell of :func:`tsv_lines`, without escapes.

    >>> text_of_cell(r"a\tb"), text_of_cell(r"C:\\new")
    ('a\tb', 'C:\\new')
    """
    return _ESCAPED.sub(lambda escaped: _CHARACTERS[escaped[1]], cell)


def _cell(value: Any, column: str, places: int) -> str:
    plain = as_python(value)
    if column in P_VALUES and isinstance(plain, float) and places != EVERY_PLACE:
        return f"{plain:.{max(places, 1)}g}"
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, list):
        return _escape(" ".join(map(str, plain)))
    return "" if plain is None else _escape(number_or_text(plain, column, places))


def jsonl_lines(table: Columns) -> Iterator[str]:
    """One JSON object per row, with all digits; missing values are null.

    >>> for line in jsonl_lines({"run": ["a", "b"], "AP": [0.25, float("nan")]}):
    ...     print(line)
    {"run": "a", "AP": 0.25}
    {"run": "b", "AP": null}
    """
    columns = {
        str(name): list(map(as_python, values)) for name, values in column_lists(table).items()
    }
    for row in zip(*columns.values()):
        yield json.dumps(dict(zip(columns, row)), ensure_ascii=False)


def as_python(value: Any) -> Any:
    """A value as a Python text, number, bool or list; None for a missing value."""
    if isinstance(value, (str, int)):  # bool is an int
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [as_python(element) for element in value]
    if hasattr(value, "item"):
        value = value.item()
    try:
        missing = value is None or bool(value != value)
    except TypeError:  # pandas' NA has no truth value
        missing = True
    if missing:
        return None
    return value if isinstance(value, (bool, int, float)) else str(value)


def format_value(value: float, places: int) -> str:
    """A value with a number of decimal places; -1: all digits. A zero has no sign.

    >>> format_value(1 / 3, 4), format_value(1 / 3, -1), format_value(-1e-9, 4)
    ('0.3333', '0.3333333333333333', '0.0000')
    """
    if places == EVERY_PLACE:
        return str(float(value) + 0.0)
    return f"{round(value, places) + 0.0:.{places}f}"  # + 0.0 removes the sign of a zero


def number_or_text(value: Any, column: str, places: int) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:g}" if column in _CHOSEN else format_value(value, places)
