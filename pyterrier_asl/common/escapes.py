"""Escapes in the cells of tables: text that would break lines, or that spreadsheets would run."""

from __future__ import annotations

import re
from typing import Any

_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
_ESCAPED = re.compile(r"\\([\\tnr])")
#: A cell that :func:`escape_cell` does not write: a path of Windows, other escapes.
_UNESCAPED = re.compile(r"[A-Za-z]:\\(?!\\)|(?:[^\\]|\\[\\tnr])*\\(?![\\tnr])")
_CHARACTERS = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}

#: Text that a spreadsheet would run: an apostrophe is written before it, and removed again.
_FORMULA = re.compile(r"'*(=|[+\-@].*[(|])", re.DOTALL)


def escape_formula(text: Any) -> Any:
    """Text that no spreadsheet takes for a formula; other values do not change.

    >>> escape_formula("=HYPERLINK(1)"), escape_formula("-1")
    ("'=HYPERLINK(1)", '-1')
    """
    return f"'{text}" if isinstance(text, str) and _FORMULA.match(text) else text


def text_of_formula(text: Any) -> Any:
    """The text before :func:`escape_formula`.

    >>> text_of_formula("'=HYPERLINK(1)"), text_of_formula("'90s")
    ('=HYPERLINK(1)', "'90s")
    """
    is_escaped = isinstance(text, str) and text.startswith("'") and _FORMULA.match(text)
    return text[1:] if is_escaped else text


def escape_cell(text: str) -> str:
    """Text without tabs, line feeds and formulas, as escapes; a backslash is doubled."""
    text = escape_formula(text)
    return text.translate(_ESCAPES) if any(c in text for c in "\\\t\n\r") else text


def text_of_cell(cell: str) -> str:
    r"""The text before :func:`escape_cell`.

    >>> text_of_cell(r"a\tb"), text_of_cell(r"C:\\new"), text_of_cell(r"C:\new")
    ('a\tb', 'C:\\new', 'C:\\new')
    """
    if _UNESCAPED.match(cell):
        return cell
    return str(text_of_formula(_ESCAPED.sub(lambda escaped: _CHARACTERS[escaped[1]], cell)))
