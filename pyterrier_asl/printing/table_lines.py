"""Forms of tables: lines of text for terminals, tab-separated values and JSON lines."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple, TypeAlias, cast

from ..common.lazy import pd

#: A table: a frame, or its columns by name.
Columns: TypeAlias = "pd.DataFrame | Mapping[str, Sequence[Any]]"

#: The number of places for all digits, as in ir_measures.
EVERY_PLACE = -1

#: Columns of p-values, which are not rounded to 0.
_P_COLUMNS = ("p", "p_corrected", "p_a", "p_b")


class PValue(float):
    """A p-value in a column of other numbers."""


#: Columns of parameters, which are printed without further decimals.
_CHOSEN = ("alpha", "fraction", "grade", "level")

#: The smallest width of folded text.
_LEAST = 4


class TextColumn(NamedTuple):
    """A column of text: its heading, its cells, flags of the best ones, its side."""

    title: str  # in one or several lines
    texts: list[str]
    best: list[bool]
    is_number: bool  # aligned to the right

    def at(self, rows: list[int]) -> TextColumn:
        """The column in some of the rows."""
        return self._replace(
            texts=[self.texts[row] for row in rows], best=[self.best[row] for row in rows]
        )


def is_terminal(file: Any) -> bool:
    """Whether a file is a terminal."""
    return hasattr(file, "isatty") and bool(file.isatty())


def has_arrows(file: Any) -> bool:
    """Whether the encoding of a file has arrows."""
    return (getattr(file, "encoding", None) or "utf-8").lower().startswith("utf")


def has_bold(file: Any) -> bool:
    """Whether bold text is shown, as on most terminals."""
    is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    is_shown = is_terminal(file) and not is_plain and sys.platform != "win32"
    return is_shown or "FORCE_COLOR" in os.environ


def printable(text: str) -> str:
    r"""Text without control characters, which could move a terminal's cursor or change colours.

    >>> print(printable("bm25" + chr(27) + "[31m"))
    bm25\x1b[31m
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def width_of(columns: Sequence[TextColumn]) -> int:
    """The width of a table without folded text."""
    return _total([_natural_width(column) for column in columns])


def table_lines(
    columns: Sequence[TextColumn],
    groups: Sequence[str] = (),
    *,
    width: int | None = None,
    rule: str = "─",
    is_bold: bool = False,
) -> list[str]:
    """The lines of a table.

    Args:
        columns: its columns.
        groups: the group of each row; an empty line separates groups.
        width: the width to which columns of text are folded; None: no folding.
        rule: the character of the line below the heading.
        is_bold: whether the best values are bold.

    >>> table_lines([TextColumn("run", ["a", "bm25 b"], [False] * 2, False)], width=8)
    [' run    ', '────────', ' a      ', ' bm25 b ']
    >>> table_lines([TextColumn("run", ["a", "bm25 b"], [False] * 2, False)], width=7)
    [' run   ', '───────', ' a     ', ' bm25  ', ' b     ']
    """
    if not columns:
        return [""]
    widths = [_natural_width(column) for column in columns]
    while width is not None and _total(widths) > width:
        foldable = [
            number
            for number, column in enumerate(columns)
            if not column.is_number and widths[number] > _LEAST
        ]
        if not foldable:
            break
        widths[max(foldable, key=widths.__getitem__)] -= 1
    lines = _row(columns, widths, [column.title.split("\n") for column in columns])
    lines.append(rule * _total(widths))
    texts, best = zip(*(column.texts for column in columns)), zip(*(c.best for c in columns))
    for number, (cells, are_best) in enumerate(zip(texts, best)):
        if number and groups and groups[number] != groups[number - 1]:
            lines.append(" " * _total(widths))
        folded = [_folded(text, cell_width) for text, cell_width in zip(cells, widths)]
        filled = [*zip(*zip_longest(*folded, fillvalue=""))]  # all cells have as many lines
        lines += _row(columns, widths, filled, are_best if is_bold else ())
    return lines


def _row(
    columns: Sequence[TextColumn],
    widths: Sequence[int],
    cells: Sequence[Sequence[str]],
    bold: Sequence[bool] = (),
) -> list[str]:
    """The lines of a row or of the heading; cells are aligned at their last lines."""
    height = max(map(len, cells))
    padded = []
    for number, (column, width, lines) in enumerate(zip(columns, widths, cells)):
        texts = [*[""] * (height - len(lines)), *map(str.rstrip, lines)]
        blanks = [" " * (width - _cells(text)) for text in texts]
        if bold and bold[number]:
            texts = [f"\x1b[1m{text}\x1b[0m" for text in texts]
        pairs = zip(blanks, texts) if column.is_number else zip(texts, blanks)
        padded.append(["".join(pair) for pair in pairs])
    return [f" {'   '.join(parts)} " for parts in zip(*padded)]


def _folded(text: str, width: int) -> list[str]:
    """A text in lines of at most a width."""
    text = printable(text)
    if _cells(text) <= width:
        return [text]
    return textwrap.wrap(text, width if _cells(text) == len(text) else width // 2)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 3 * len(widths) - 1


def _natural_width(column: TextColumn) -> int:
    return max(
        _cells(printable(text).rstrip()) for text in [*column.title.split("\n"), *column.texts]
    )


def _cells(text: str) -> int:
    """The width of a text on a terminal, in cells.

    >>> _cells("abc"), _cells("漢字"), _cells("e" + chr(0x301))
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def column_lists(table: Columns) -> dict[Any, list[Any]]:
    """The columns of a table by name."""
    return {name: list(table[name]) for name in cast(Any, table)}


def rows_per_value(scores: Columns, *, with_run: bool = True) -> dict[str, list[Any]]:
    """Values of measures with one row per value, as the command of ir_measures prints them.

    Args:
        scores: columns ``run``, ``qid`` if there is one row per query, ``track`` if there are
            several, and one column per measure.
        with_run: whether rows begin with the run.

    Returns:
        Columns ``run``, ``query_id`` if there are queries, ``measure`` and ``value``.

    >>> scores = {"run": ["bm25"], "AP": [0.25], "ASL@1000": [186.4]}
    >>> list(separated_lines(rows_per_value(scores), header=False, places=2))
    ['bm25\\tAP\\t0.25', 'bm25\\tASL@1000\\t186.40']
    """
    columns = column_lists(scores)
    keys = {"track": "track", "run": "run", "qid": "query_id"}
    measures = [name for name in columns if name not in keys]
    if not with_run:
        del keys["run"]
    return {
        title: [value for value in columns[key] for _ in measures]
        for key, title in keys.items()
        if key in columns
    } | {
        "measure": measures * len(columns["run"]),
        "value": [*chain(*zip(*(columns[name] for name in measures)))],
    }


def separated_lines(
    table: Columns, separator: str = "\t", *, header: bool = True, places: int = 4
) -> Iterator[str]:
    r"""The names of the columns, then one line per row; missing values are empty.

    Text with a separator, a line feed or a quotation mark is in quotation marks.

    >>> list(separated_lines({"run": ["a"], "AP": [1 / 3], "p": [2e-7]}, places=2))
    ['run\tAP\tp', 'a\t0.33\t2e-07']
    >>> list(separated_lines({"run": ["a, b", "c"], "AP": [1 / 3, 0.5]}, ",", places=2))
    ['run,AP', '"a, b",0.33', 'c,0.50']
    """
    columns = {
        str(name): [_cell(value, name, places) for value in values]
        for name, values in column_lists(table).items()
    }
    for row in chain([columns] * header, zip(*columns.values())):
        line = io.StringIO()
        csv.writer(line, delimiter=separator).writerow(row)
        yield line.getvalue().removesuffix("\r\n")


def _cell(value: Any, column: str, places: int) -> str:
    plain = as_python(value)
    if is_p_value(plain, column) and places != EVERY_PLACE:
        return f"{plain:.{max(places, 1)}g}"
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, list):
        return " ".join(map(str, plain))
    return "" if plain is None else number_or_text(plain, column, places)


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
    if value is None or (value == value) is not True:  # NaN, NaT, and NA, which has no truth value
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


def is_p_value(value: Any, column: str) -> bool:
    """Whether a cell is a p-value, by its column or its type."""
    return isinstance(value, float) and (column in _P_COLUMNS or isinstance(value, PValue))


def number_or_text(value: Any, column: str, places: int) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:g}" if column in _CHOSEN else format_value(value, places)
