"""Results that print like their commands, and show the same in notebooks."""

from __future__ import annotations

import io
import shutil
import textwrap
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ..common.lazy import pd
from . import tables

#: The width of printed paragraphs.
WIDTH = 100


@dataclass(frozen=True)
class Part:
    """A paragraph of a result, or a table with a heading.

    Attributes:
        text: the paragraph, or the heading of the table, '' for none.
        table: the table; None: a paragraph without a table.
        style: the style of the table, see :class:`~pyterrier_asl.printing.tables.Style`.
    """

    text: str = ""
    table: pd.DataFrame | None = None
    style: Mapping[str, Any] = field(default_factory=dict)


class Printed:
    """A result that prints like its command; subclasses define its parts."""

    def parts(self) -> Iterable[Part]:
        """The paragraphs and tables, in order."""
        raise NotImplementedError

    def show(self, *, places: int = 4, wide: bool = False, all_rows: bool = False) -> None:
        """Prints the result to standard output.

        Args:
            places: decimal places in tables; -1: all digits.
            wide: whether a terminal shows all columns, even where lines wrap.
            all_rows: whether a terminal shows all rows of a long table.
        """
        print_parts(self.parts(), places=places, wide=wide, all_rows=all_rows)

    def to_latex(self, *, places: int = 4) -> str:
        """The tables as LaTeX: a ``tabular`` with rules of booktabs for each.

        Args:
            places: decimal places.
        """
        return "\n".join(
            tables.latex(part.table, places=places, **part.style)
            for part in self.parts()
            if part.table is not None
        )

    def __str__(self) -> str:
        text = io.StringIO()
        with redirect_stdout(text):
            self.show()
        return text.getvalue().rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The paragraphs and tables for notebooks."""
        return "".join(
            f"<p>{escape(part.text)}</p>" * bool(part.text)
            + ("" if part.table is None else tables.html(part.table, **part.style))
            for part in self.parts()
        )


def print_parts(parts: Iterable[Part], **style: Any) -> None:
    """Prints paragraphs (an empty one is a blank line) and tables to standard output.

    Args:
        parts: paragraphs and tables.
        **style: options of all tables; see :func:`.tables.show`.
    """
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)
    for number, part in enumerate(parts):
        if part.table is None:
            whole = part.text.replace(" %", "\N{NO-BREAK SPACE}%")  # a number keeps its unit
            filled = textwrap.fill(whole, width, subsequent_indent="  ", break_long_words=False)
            print(filled.replace("\N{NO-BREAK SPACE}%", " %"))
        else:
            if part.text:
                print(f"{'' if not number else chr(10)}{part.text}\n")
            tables.show(part.table, **style, **part.style)
