"""Tables as lines of text, for terminals, files and pipes."""

from __future__ import annotations

import os
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

#: The smallest width of folded text.
_LEAST = 4


class TextColumn(NamedTuple):
    """A column of text: the lines of its heading, its cells, flags of bold cells, its side."""

    header: Sequence[str]
    texts: Sequence[str]
    best: Sequence[bool]
    to_the_right: bool


def is_terminal(file: Any) -> bool:
    """Whether a file is a terminal."""
    return hasattr(file, "isatty") and bool(file.isatty())


def has_arrows(file: Any) -> bool:
    """Whether the encoding of a file has arrows."""
    return (getattr(file, "encoding", None) or "utf-8").lower().startswith("utf")


def has_bold(file: Any) -> bool:
    """Whether bold text is shown, as on most terminals."""
    if "FORCE_COLOR" in os.environ:
        return True
    is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return is_terminal(file) and not is_plain and sys.platform != "win32"


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

    >>> table_lines([TextColumn(["run"], ["a", "bm25"], [False] * 2, False)])
    [' run  ', '──────', ' a    ', ' bm25 ']
    """
    if not columns:
        return [""]
    widths = [_natural_width(column) for column in columns]
    while width is not None and _total(widths) > width:
        foldable = [
            number
            for number, column in enumerate(columns)
            if not column.to_the_right and widths[number] > _LEAST
        ]
        if not foldable:
            break
        widths[max(foldable, key=widths.__getitem__)] -= 1
    lines = _row(columns, widths, [column.header for column in columns])
    lines.append(rule * _total(widths))
    texts, best = zip(*(column.texts for column in columns)), zip(*(c.best for c in columns))
    for number, (cells, are_best) in enumerate(zip(texts, best)):
        if number and groups and groups[number] != groups[number - 1]:
            lines.append(" " * _total(widths))
        folded = [_folded(text, cell_width) for text, cell_width in zip(cells, widths)]
        height = max(map(len, folded))
        filled = [[*cell, *[""] * (height - len(cell))] for cell in folded]
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
        pairs = zip(blanks, texts) if column.to_the_right else zip(texts, blanks)
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
    return max(_cells(printable(text).rstrip()) for text in [*column.header, *column.texts])


def _cells(text: str) -> int:
    """The width of a text on a terminal, in cells.

    >>> _cells("abc"), _cells("漢字"), _cells("e" + chr(0x301))
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)
