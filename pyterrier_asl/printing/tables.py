"""Tables for the terminal, in LaTeX, Markdown or HTML, or as machine-readable lines."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.lazy import pd
from .table_lines import (
    EVERY_PLACE,
    Columns,
    TextColumn,
    as_python,
    column_lists,
    format_value,
    has_arrows,
    has_bold,
    is_p_value,
    is_terminal,
    jsonl_lines,
    number_or_text,
    printable,
    separated_lines,
    table_lines,
    width_of,
)

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

#: The forms of printed tables.
FORMS = ("table", "tsv", "csv", "jsonl", "latex", "markdown")

#: The forms for programs.
MACHINE_READABLE = ("tsv", "csv", "jsonl")

#: The query id of a row of means, as in ir_measures and trec_eval.
ALL = "all"

#: The most rows in a terminal, and the number of rows of a longer table.
MOST_ROWS, _ROWS = 15, 10

#: The most rows of a table of LaTeX on one page.
_ROWS_OF_PAGE = 45

#: The most blocks of columns in a terminal.
_BLOCKS = 2

#: Decimal places by default; a terminal then shows costs above 1, such as ASL, with one.
_PLACES = 4

#: Characters that LaTeX prints in math mode only.
_IN_MATH = {ord(character): f"${character}$" for character in "<>|"}

#: What Markdown does not print, or prints in other ways.
_MARKS = re.compile(r"[|*`\[\]]|<(?=[a-zA-Z/!?])|(?<![^\W_])_|_(?![^\W_])|\\(?=[^\w\s])")

#: The most elements of a list in a human-readable cell; machine-readable cells have all.
_NAMED = 4


@dataclass(frozen=True)
class Style:
    """The style of a printed table.

    Attributes:
        places: decimal places; -1: all digits, as JSON lines always have.
        titles: titles of columns in human-readable tables, if they differ from the names.
        group_by: a column of groups: a group is named in its first row, and an empty line separates
            groups.
        higher_is_better: the columns of measures with their directions, None for no direction. The
            best values of several runs are bold, and arrows show directions.
        wide: whether a terminal shows all columns, even where lines wrap.
        all_rows: whether a terminal shows all rows of a long table.
        zero_p: the bound of a p-value of 0, a share of random draws; 0: it is less than any bound.
    """

    places: int = _PLACES
    titles: Mapping[str, str] = field(default_factory=dict)
    group_by: str = ""
    higher_is_better: Mapping[str, bool | None] = field(default_factory=dict)
    wide: bool = False
    all_rows: bool = False
    zero_p: float = 0.0


def write(table: Columns, form: str, *, header: bool = True, **style: Any) -> None:
    """Prints a table, without the index of a frame.

    Args:
        table: the table.
        form: one of :data:`FORMS`.
        header: whether tab-separated lines begin with the names of the columns.
        style: the attributes of a :class:`Style`.
    """
    if form == "table":
        show(table, **style)
    elif form in ("latex", "markdown"):
        print({"latex": latex, "markdown": markdown}[form](table, **style), end="")
    else:
        for line in lines_of(table, form, header=header, places=style.get("places", _PLACES)):
            print(line)


def lines_of(
    table: Columns, form: str, *, header: bool = True, places: int = _PLACES
) -> Iterator[str]:
    """The lines of a table in one of :data:`MACHINE_READABLE`; see :func:`write`."""
    if form == "jsonl":
        return jsonl_lines(table)
    separator, header = ("\t", header) if form == "tsv" else (",", True)
    return separated_lines(table, separator, header=header, places=places)


def arrow(higher_is_better: bool | None, ascii_only: bool = False) -> str:
    """An arrow in the better direction; nothing for no direction.

    >>> arrow(True), arrow(False, ascii_only=True), arrow(None)
    ('↑', 'v', '')
    """
    up, down = "^v" if ascii_only else "↑↓"
    return {True: up, False: down, None: ""}[higher_is_better]


def show(table: Columns, **style: Any) -> None:
    """Prints a table; see :func:`write`.

    A terminal shows the first rows of a long table, and two blocks of columns of a wide table, or,
    if they fit, runs as columns and measures as rows. A last line tells what is left out. A table
    in a file or a pipe is complete; its text is folded only if COLUMNS is set.
    """
    looks = Style(**style)
    if is_terminal(sys.stdout):
        _show_in_terminal(table, looks)
        return
    shown = _shown_columns(table, looks, missing="-")
    columns = os.environ.get("COLUMNS", "")
    _print(_text_columns(shown, looks), shown, looks, int(columns) if columns.isdigit() else None)


def _print(
    columns: list[TextColumn],
    shown: Mapping[Any, TextColumn],
    style: Style,
    width: int | None = None,
) -> None:
    """Prints columns, folded to a width; empty lines separate groups."""
    lines = table_lines(
        columns,
        shown[style.group_by].texts if style.group_by in shown else [],
        width=width,
        rule="─" if has_arrows(sys.stdout) else "-",
        is_bold=has_bold(sys.stdout),
    )
    print("\n".join(lines), flush=True)


def _show_in_terminal(table: Columns, style: Style) -> None:
    """Prints the rows and columns that fit a terminal, and a note on all others."""
    shown = _shown_columns(table, style, missing="-", in_terminal=True)
    number = len(next(iter(shown.values())).texts) if shown else 0
    rows = _kept_rows(shown, style, number)
    shown = {name: column.at(rows) for name, column in shown.items()}
    width = shutil.get_terminal_size().columns

    def block_of(names: Iterable[Any]) -> list[TextColumn]:
        return _text_columns({name: shown[name] for name in names}, style, narrow=True)

    left_out: list[str] = []
    columns = _text_columns(shown, style)
    is_measures = list(table) == ["run", *style.higher_is_better]
    if style.wide or width_of(columns) <= width:
        _print(columns, shown, style)
    elif is_measures and width_of(transposed := _transposed(shown, style)) <= width:
        _print(transposed, {}, style)
    else:
        names = takewhile(lambda name: not shown[name].is_number, shown)
        keys = list(names)[: len(shown) - 1] or list(shown)[:1]
        blocks: list[list[Any]] = [[]]
        for name in list(shown)[len(keys) :]:
            if blocks[-1] and width_of(block_of([*keys, *blocks[-1], name])) > width:
                blocks.append([])
            blocks[-1].append(name)
        for number_of_block, block in enumerate(blocks[:_BLOCKS]):
            print("\n" * bool(number_of_block), end="")
            _print(block_of([*keys, *block]), shown, style, width)
        left_out = [shown[name].title for block in blocks[_BLOCKS:] for name in block]
    if len(rows) < number:
        print(f" ... {number - len(rows):,} more (--all)")
    if left_out:
        print(f" Columns not shown (--all): {', '.join(left_out)}")


def _kept_rows(shown: Mapping[Any, TextColumn], style: Style, number: int) -> list[int]:
    """The first rows of a long table; with a few groups, the first rows of each."""
    if style.all_rows or number <= MOST_ROWS:
        return list(range(number))
    groups = shown[style.group_by].texts if style.group_by in shown else [""] * number
    names = set(groups)
    if len(names) > _ROWS // 2:
        return list(range(_ROWS))
    rows_of = {name: [row for row in range(number) if groups[row] == name] for name in names}
    return sorted(row for rows in rows_of.values() for row in rows[: _ROWS // len(names)])


def _text_columns(
    shown: Mapping[Any, TextColumn], style: Style, *, narrow: bool = False
) -> list[TextColumn]:
    """The columns as text; measures have an arrow of direction.

    Args:
        shown: the columns.
        style: their style.
        narrow: whether parameters of measures are on a separate line.
    """
    columns = []
    for name, column in shown.items():
        if name in style.higher_is_better:
            column = column._replace(
                title=_title_lines(column.title, _arrow(name, style), narrow), is_number=True
            )
        if name == style.group_by:
            pairs = zip(column.texts, ["", *column.texts])
            column = column._replace(texts=["" if new == old else new for new, old in pairs])
        columns.append(column)
    return columns


def _transposed(shown: Mapping[Any, TextColumn], style: Style) -> list[TextColumn]:
    """The table with one row per measure and one column per run."""
    names = [f"{name} {_arrow(name, style)}".rstrip() for name in style.higher_is_better]
    measures = [shown[name] for name in style.higher_is_better]
    return [
        TextColumn("measure", names, [False] * len(names), False),
        *(
            TextColumn(run, [c.texts[row] for c in measures], [c.best[row] for c in measures], True)
            for row, run in enumerate(shown["run"].texts)
        ),
    ]


def _arrow(name: str, style: Style) -> str:
    return arrow(style.higher_is_better[name], not has_arrows(sys.stdout))


def _title_lines(measure: str, arrow: str, narrow: bool) -> str:
    """The name of a measure on several lines, with its cut-off below, for narrow columns."""
    name, at, cutoff = measure.rpartition("@")
    name, below = (name, f"@{cutoff} {arrow}") if at else (measure, arrow)
    return "\n".join((name.replace("(", "\n(", narrow), below))


def latex(table: Columns, *, caption: str = "", label: str = "", **style: Any) -> str:
    """A ``tabular`` with rules of booktabs, with the best value of each measure in bold.

    It needs ``\\usepackage{booktabs}``. With a caption it is in a ``table``, or, with more rows
    than a page has, a ``longtable`` of the package of this name.
    """
    shown = _shown_columns(table, Style(**style), missing="--").values()
    cells = pd.DataFrame({column.title: column.texts for column in shown}, dtype=object)
    marks = pd.DataFrame(
        {column.title: np.where(column.best, "textbf:--rwrap;", "") for column in shown}
    )
    styler = cells.style.hide(axis="index").format(escape="latex")
    styler.format_index(escape="latex", axis="columns").apply(lambda _: marks, axis=None)
    sides = "".join("r" if column.is_number else "l" for column in shown)
    is_long = len(cells) > _ROWS_OF_PAGE
    form: dict[str, Any] = (
        {"environment": "longtable"} if is_long else {"position_float": "centering"}
    )
    above = form | {"caption": latex_text(caption), "label": label or None} if caption else {}
    return typeset(styler, column_format=sides, **above)


@dataclass(frozen=True)
class MarkedMeans:
    """Means of a measure, with the signs of significant differences from the first.

    Attributes:
        values: the means.
        higher_is_better: the direction; None: there is none.
        signs: 1 significantly better, -1 worse, 0 neither.
    """

    values: list[float]
    higher_is_better: bool | None
    signs: list[int]


#: The legend of :func:`latex_of_means`.
SIGNS = (
    "arrows: the better direction; bold: the best of each measure; $^{+}$ and $^{-}$: "
    "significantly better and worse than the first row"
)


def latex_of_means(
    names: list[str], measures: Mapping[str, MarkedMeans], caption: str, places: int
) -> str:
    """A ``table`` with a caption and rules of booktabs: a row per system, a column per measure."""
    columns, heads = {}, {}
    for name, of in measures.items():
        up = of.higher_is_better
        best = None if up is None else max(of.values) if up else min(of.values)
        columns[name] = [
            (rf"\textbf{{{text}}}" if value == best else text) + ("", "$^{+}$", "$^{-}$")[sign]
            for value, sign in zip(of.values, of.signs)
            if (text := format_value(value, places))
        ]
        head = f" & {name.replace('_', chr(92) + '_')}"
        heads[head] = {True: r"$\uparrow$", False: r"$\downarrow$", None: ""}[up]
    styler = pd.DataFrame(columns, index=pd.Index(names)).style.format_index(escape="latex")
    styler.format_index(escape="latex", axis=1)
    sides = "l" + "r" * len(columns)
    text = typeset(styler, column_format=sides, caption="CAPTION", position_float="centering")
    for head, arrow in heads.items():
        text = text.replace(head, f"{head} {arrow}".rstrip(), 1)
    return text.replace("CAPTION", caption)


def latex_text(text: str) -> str:
    r"""Text without commands of LaTeX.

    >>> print(latex_text("95 % of bm25_a"))
    95 \% of bm25\_a
    """
    return re.sub(r"([%&#$_{}])", r"\\\1", text)


def typeset(styler: Styler, **options: Any) -> str:
    """The LaTeX of a styler; text fonts print other characters for <, > and |."""
    return str(styler.to_latex(hrules=True, **options)).translate(_IN_MATH)


def markdown(table: Columns, **style: Any) -> str:
    """A table in GitHub's Markdown, with the best value of each measure in bold.

    >>> print(markdown({"run": ["a|b"], "AP": [0.25]}), end="")
    | run | AP |
    | :-- | --: |
    | a\\|b | 0.2500 |
    """
    shown = _shown_columns(table, Style(**style), missing="-").values()
    columns = [
        [f"**{escaped(text)}**" if best else escaped(text) for text, best in zip(c.texts, c.best)]
        for c in shown
    ]
    sides = ["--:" if column.is_number else ":--" for column in shown]
    rows = [[escaped(column.title) for column in shown], sides, *zip(*columns)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def html(frame: pd.DataFrame, **style: Any) -> str:
    """A table for notebooks, with the best values of measures in bold and arrows of direction.

    >>> import pandas as pd
    >>> html(pd.DataFrame({"run": ["a<b"]}))
    '<table><thead><tr><th>run</th></tr></thead><tbody><tr><td>a&lt;b</td></tr></tbody></table>'
    """
    from html import escape

    looks = Style(**style)
    shown = _shown_columns(frame, looks, missing="-")
    columns = [
        [
            f"<td><b>{text}</b></td>" if best else f"<td>{text}</td>"
            for text, best in zip(map(escape, column.texts), column.best)
        ]
        for column in shown.values()
    ]
    head = "".join(
        f"<th>{escape(f'{column.title} {arrow(looks.higher_is_better.get(name))}'.rstrip())}</th>"
        for name, column in shown.items()
    )
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*columns))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def escaped(text: str) -> str:
    r"""Text that Markdown prints as it is.

    >>> print(escaped("a|b*_ <b> p<.05 bm_25"))
    a\|b\*\_ \<b> p<.05 bm_25
    """
    return _MARKS.sub(r"\\\g<0>", printable(text))


def _shown_columns(
    table: Columns, style: Style, missing: str, *, in_terminal: bool = False
) -> dict[Any, TextColumn]:
    """The columns by name; ``missing`` is the text of a missing value."""
    shown, lists = {}, column_lists(table)
    groups = lists.get(style.group_by)
    for name, column in lists.items():
        values = list(map(as_python, column))
        numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
        up, places = style.higher_is_better.get(name), style.places
        if in_terminal and up is False and places == _PLACES and max(numbers, default=0) > 1:
            places = 1
        shown[name] = TextColumn(
            style.titles.get(name, str(name)),
            [_human_readable(value, name, places, missing, style.zero_p) for value in values],
            _are_best(values, None if "qid" in table else up, groups),
            bool(numbers) and len(numbers) == len(values) - values.count(None),
        )
    return shown


def _are_best(column: list[Any], up: bool | None, groups: list[Any] | None) -> list[bool]:
    """Flags of the best values of a measure, of each group; none for one run, or no direction."""
    best, of_rows = np.zeros(len(column), dtype=bool), groups or [""] * len(column)
    for group in dict.fromkeys(of_rows) if up is not None else ():
        rows = np.flatnonzero([name == group for name in of_rows])
        if len(rows) > 1:
            values = np.array(column, dtype=float)[rows]
            best[rows] = values == (np.fmax if up else np.fmin).reduce(values)  # ignore NaN
    return best.tolist()


def _human_readable(plain: Any, column: str, places: int, missing: str, zero_p: float) -> str:
    if plain is None:
        return missing
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, list):
        named = ", ".join(map(str, plain[:_NAMED])) or missing
        return named + f" and {len(plain) - _NAMED} more" * (len(plain) > _NAMED)
    is_p = is_p_value(plain, column)
    if is_p and zero_p and plain == 0:
        return f"<{max(zero_p, 10**-places if places > 0 else 0):g}"
    if is_p and places != EVERY_PLACE and 0 <= plain < 10**-places:
        return f"<{10**-places:.{places}f}" if places else f"{plain:.2g}"
    return number_or_text(plain, column, places)
